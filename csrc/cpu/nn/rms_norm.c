/*
 * Root-mean-square normalisation over the last dims, and its gradients.
 *
 *   out = x * r * w,   r = 1 / sqrt(mean_j x^2 + eps)
 *   dx  = r * (gw - h * mean_j (gw * h)),   h = x * r,  gw = g * w
 *   dw  = sum over rows of g * h
 *
 * Source: Zhang, Sennrich, Root Mean Square Layer Normalization (2019).
 */
#ifndef T
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "../parallel.h"
#include "format.h"
#include "norm.h"
#include "norm_short.h"

#define FC_TALLY_WIDTH 256 /* columns at a time: of rows that come from memory, stretches of 1 KB; with 64, 1.6 times slower */

typedef struct {
    const void *g, *x, *r, *w;
    void *out, *r_out, *dx, *dw;
    int64_t rows, n;
    double eps;
} job;

#define T f32
#include "rms_norm.c"
#define T f64
#include "rms_norm.c"

#if FC_ISA_ONCE
/* input, weight; dims; eps */
int fc_infer__rms_norm(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int lead = x->ndim - (int)c->i[0];
    int bad = fc_check_normed(x, c->i[0]);
    bad = bad ? bad : fc_check_affine(x, c->t[1], 1, lead, x->ndim);
    c->slabs = fc_dims_below(lead);
    c->cut = 1;
    c->whole = 0;
    bad = bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    bad = bad ? bad : fc_keep_format(c, 0, x, NULL, 1);
    return bad ? bad : fc_declare(c, 1, fc_stat_dtype(x->dtype), lead, x->shape);
}

/* g, input, r, weight; dims. dw is empty without a weight. */
int fc_infer__rms_norm_backward(fc_call *c)
{
    const fc_tensor *x = c->t[1];
    const int lead = x->ndim - (int)c->i[0];
    const int64_t none = 0;
    int bad = fc_check_normed(x, c->i[0]);
    bad = bad ? bad : fc_check_same(c, 1, 0);
    bad = bad ? bad : fc_check_part(c, x, 2, fc_extent(x, 0, lead));
    bad = bad ? bad : fc_check_affine(x, c->t[3], 3, lead, x->ndim);
    bad = bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    c->slabs = c->t[3] ? 0 : fc_dims_below(lead);
    c->cut = 7;
    c->whole = 2;
    if (!bad && fc_format_of(c->t[0], 1)) /* it comes by elementwise ops in PyTorch: both have a say */
        bad = fc_keep_format(c, 0, x, NULL, 1);
    return bad ? bad : fc_declare(c, 1, x->dtype, c->t[3] ? (int)c->i[0] : 1, c->t[3] ? x->shape + lead : &none);
}
#endif

int FC_ISA_NAME(fc_cpu__rms_norm)(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int lead = x->ndim - (int)c->i[0];
    job q = {.x = x->data, .w = c->t[1] ? c->t[1]->data : NULL, .out = c->out[0]->data, .r_out = c->out[1]->data,
             .rows = fc_extent(x, 0, lead), .n = fc_extent(x, lead, x->ndim), .eps = c->d[0]};
    if (fc_norm_is_short(q.rows, q.n)) {
        fc_norm_short s = {.x = q.x, .w = q.w, .out = q.out, .rstd_out = q.r_out, .rows = q.rows, .n = q.n, .eps = q.eps};
        return FC_ISA_NAME(fc_norm_short_forward)(&s, x->dtype);
    }
    fc_parallel(q.rows, 1 + 8192 / (q.n + 1), x->dtype == FC_F32 ? forward_f32 : forward_f64, &q);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_rms_norm)

int FC_ISA_NAME(fc_cpu__rms_norm_backward)(fc_call *c)
{
    const fc_tensor *x = c->t[1];
    const int lead = x->ndim - (int)c->i[0], f = x->dtype == FC_F32;
    job q = {.g = c->t[0]->data, .x = x->data, .r = c->t[2]->data, .w = c->t[3] ? c->t[3]->data : NULL, .dx = c->out[0]->data,
             .dw = c->out[1]->data, .rows = fc_extent(x, 0, lead), .n = fc_extent(x, lead, x->ndim)};
    const int64_t rows = x->numel ? q.rows : 0;
    int bad;
    if (fc_norm_is_short(rows, q.n)) {
        fc_norm_short s = {.x = q.x, .g = q.g, .rstd = q.r, .w = q.w, .dx = q.dx, .dw = q.dw, .rows = rows, .n = q.n};
        bad = FC_ISA_NAME(fc_norm_short_backward)(&s, x->dtype);
        if (q.n <= FC_SHORT_TALLY)
            return bad;
    } else
        bad = fc_parallel_scratch(rows, 1 + 8192 / (q.n + 1), (size_t)(2 * q.n) * sizeof(f64), f ? rows_f32 : rows_f64, &q);
    if (q.w && !bad)
        fc_parallel((q.n + FC_TALLY_WIDTH - 1) / FC_TALLY_WIDTH, 1 + 8192 / (q.rows * FC_TALLY_WIDTH + 1), f ? columns_f32 : columns_f64, &q);
    return bad;
}
FC_OWN_TWO_LEVELS(_rms_norm_backward)

#else
#include "../typed.h"
#include "../tally.h"

static void N(forward)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const T *w = q->w;
    const int64_t n = q->n;
    for (int64_t k = begin; k < end; ++k) {
        const T *restrict x = (const T *)q->x + k * n;
        T *restrict out = (T *)q->out + k * n;
        const T r = K(1) / M(sqrt)(M(row_dev)(x, 0, n) / (T)n + (T)q->eps);
        for (int64_t j = 0; j < n; ++j)
            out[j] = x[j] * r * (w ? w[j] : K(1));
        ((T *)q->r_out)[k] = r;
    }
}

static void N(rows)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const T *w = q->w;
    const int64_t n = q->n;
    T *restrict gw = scratch, *restrict h = gw + n;
    for (int64_t k = begin; k < end; ++k) {
        const T *restrict x = (const T *)q->x + k * n, *restrict g = (const T *)q->g + k * n;
        T *restrict dx = (T *)q->dx + k * n;
        const T r = ((const T *)q->r)[k];
        for (int64_t j = 0; j < n; ++j)
            h[j] = x[j] * r;
        for (int64_t j = 0; j < n; ++j)
            gw[j] = g[j] * (w ? w[j] : K(1));
        const T along = M(row_dot)(gw, h, n) / (T)n;
        for (int64_t j = 0; j < n; ++j)
            dx[j] = r * (gw[j] - h[j] * along);
    }
}

static void N(columns)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t n = q->n;
    for (int64_t tile = begin; tile < end; ++tile) {
        N(tally) dw;
        const int64_t from = tile * FC_TALLY_WIDTH, width = n - from < FC_TALLY_WIDTH ? n - from : FC_TALLY_WIDTH;
        N(tally_begin)(&dw, width);
        for (int64_t k = 0; k < q->rows; ++k) {
            const T *x = (const T *)q->x + k * n + from, *g = (const T *)q->g + k * n + from;
            const T r = ((const T *)q->r)[k];
            T *restrict a = N(tally_lane)(&dw);
            for (int64_t c = 0; c < width; ++c)
                a[c] += g[c] * (x[c] * r);
            N(tally_next)(&dw);
        }
        N(tally_end)(&dw, (T *)q->dw + from);
    }
}

#include "../typed_done.h"
#endif
