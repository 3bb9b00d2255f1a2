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
    int64_t width; /* of short rows: those that are turned together */
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
    if (fc_is_short(q.rows, q.n)) {
        q.width = fc_short_width(q.rows, q.n);
        return fc_parallel_scratch((q.rows - 1) / q.width + 1, 1 + 8192 / (q.n * q.width), (size_t)(q.n * q.width * fc_dt_size[x->dtype]),
                                   x->dtype == FC_F32 ? forward_short_f32 : forward_short_f64, &q);
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
    const int64_t rows = x->numel ? q.rows : 0, es = fc_dt_size[x->dtype];
    int bad;
    if (fc_is_short(rows, q.n)) {
        q.width = fc_short_width(rows, q.n);
        bad = fc_parallel_scratch((rows - 1) / q.width + 1, 1 + 8192 / (q.n * q.width), (size_t)(2 * q.n * q.width * es), f ? rows_short_f32 : rows_short_f64, &q);
        if (q.w && q.n <= FC_SHORT_TALLY && !bad)
            return fc_parallel_scratch(1, 1, (size_t)(3 * q.n * FC_LINES * es), f ? columns_short_f32 : columns_short_f64, &q);
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
#include "strip.h"

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

static void N(forward_short)(void *ctx, int64_t begin, int64_t end, void *tile)
{
    const job *q = ctx;
    const T *w = q->w;
    const int64_t n = q->n, width = q->width;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t first = k * width, rows = q->rows - first < width ? q->rows - first : width;
        fc_short_tile(tile, q->x, first, rows, width, n, sizeof(T));
        for (int64_t at = 0; at < rows; at += FC_LINES) {
            T *x = (T *)tile + at, r[FC_LINES];
            N(strip) sum;
            N(strip_begin)(&sum, n);
            for (int64_t i = 0; i < n; ++i)
                FOR_LINES
                    sum.lane[i % FC_FOLD_LANES][l] += x[i * width + l] * x[i * width + l];
            N(strip_end)(&sum, n);
            FOR_LINES
                r[l] = K(1) / M(sqrt)(sum.lane[0][l] / (T)n + (T)q->eps);
            for (int64_t i = 0; i < n; ++i) {
                const T w_i = w ? w[i] : K(1);
                FOR_LINES
                    x[i * width + l] = x[i * width + l] * r[l] * w_i;
            }
            memcpy((T *)q->r_out + first + at, r, (size_t)(rows - at < FC_LINES ? rows - at : FC_LINES) * sizeof(T));
        }
        fc_short_rows(q->out, tile, first, rows, width, n, sizeof(T));
    }
}

static void N(rows_short)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const T *w = q->w;
    const int64_t n = q->n, width = q->width;
    T *xs = scratch, *gs = xs + n * width;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t first = k * width, rows = q->rows - first < width ? q->rows - first : width;
        fc_short_tile(xs, q->x, first, rows, width, n, sizeof(T));
        fc_short_tile(gs, q->g, first, rows, width, n, sizeof(T));
        for (int64_t at = 0; at < rows; at += FC_LINES) {
            T *restrict x = xs + at, *restrict g = gs + at, r[FC_LINES] = {0};
            memcpy(r, (const T *)q->r + first + at, (size_t)(rows - at < FC_LINES ? rows - at : FC_LINES) * sizeof(T));
            N(strip) h;
            N(strip_begin)(&h, n);
            for (int64_t i = 0; i < n; ++i) {
                const T w_i = w ? w[i] : K(1);
                T *restrict x_i = x + i * width, *restrict g_i = g + i * width, *restrict of_h = h.lane[i % FC_FOLD_LANES];
                FOR_LINES {
                    x_i[l] *= r[l];
                    g_i[l] *= w_i;
                    of_h[l] += g_i[l] * x_i[l];
                }
            }
            N(strip_end)(&h, n);
            FOR_LINES
                h.lane[0][l] /= (T)n;
            for (int64_t i = 0; i < n; ++i)
                FOR_LINES
                    x[i * width + l] = r[l] * (g[i * width + l] - x[i * width + l] * h.lane[0][l]);
        }
        fc_short_rows(q->dx, xs, first, rows, width, n, sizeof(T));
    }
}

static void N(columns_short)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t n = q->n, size = n * FC_LINES;
    T *x = scratch, *g = x + size, *in_w = g + size;
    N(tally) dw;
    (void)begin, (void)end; /* all of it */
    N(tally_begin)(&dw, n);
    memset(in_w, 0, (size_t)size * sizeof(T));
    for (int64_t k = 0; k < q->rows; k += FC_LINES) {
        const int64_t rows = q->rows - k < FC_LINES ? q->rows - k : FC_LINES;
        T r[FC_LINES] = {0};
        memcpy(r, (const T *)q->r + k, (size_t)rows * sizeof(T));
        fc_short_tile(x, q->x, k, rows, FC_LINES, n, sizeof(T));
        fc_short_tile(g, q->g, k, rows, FC_LINES, n, sizeof(T));
        for (int64_t i = 0; i < size; i += FC_LINES)
            FOR_LINES
                in_w[i + l] += g[i + l] * (x[i + l] * r[l]);
        if ((k + rows) % FC_FOLD_BLOCK == 0 || k + rows == q->rows)
            N(tally_lanes)(&dw, in_w, (k + rows - 1) % FC_FOLD_BLOCK + 1);
    }
    N(tally_end)(&dw, q->dw);
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
