/*
 * Layer normalisation over the last dims, and its gradients.
 *
 *   h   = (x - mean) * rstd,   rstd = 1 / sqrt(var + eps)         (var divides by K)
 *   out = h * w + b
 *   dx  = rstd * (gw - mean_j gw - h * mean_j (gw * h)),   gw = g * w
 *   dw  = sum_r g * h,   db = sum_r g
 *
 * x: (rows, K). The moments take two passes over a row that is in cache: no cancellation. dw and db add rows in the fold order, in
 * tiles of columns, so threads do not change them. Source: Ba, Kiros, Hinton, Layer Normalization (2016).
 */
#ifndef T
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "../parallel.h"
#include "norm.h"
#include "norm_short.h"

int fc_get_num_threads(void);

#define FC_TALLY_WIDTH 256 /* columns at a time: of rows that come from memory, stretches of 1 KB; with 64, 1.6 times slower */

typedef struct {
    const void *g, *x, *mean, *rstd, *w, *b;
    void *out, *mean_out, *rstd_out, *dx, *dw, *db;
    int64_t rows, n;
    double eps;
    int64_t from, until; /* rows of this chunk */
    void *kept;          /* NULL, or sums of dw and db for each tile of columns, from chunk to chunk */
} job;

/* Backward reads x and g for dx by rows, then for dw and db by columns: where they come from memory, chunk by chunk while they are in L2. */
#define CHUNK_BYTES (512 << 10)
#define CHUNKED_FROM (4 * CHUNK_BYTES)
#define CHUNKED_ROWS 1024 /* fewer are less than what the sums take */
static int in_chunks(int64_t rows, int64_t n, int64_t size) { return rows >= CHUNKED_ROWS && 2 * rows * n * size > CHUNKED_FROM; }

#define T f32
#include "layer_norm.c"
#define T f64
#include "layer_norm.c"

#if FC_ISA_ONCE
/* input, weight, bias; dims; eps */
int fc_infer__layer_norm(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int lead = x->ndim - (int)c->i[0];
    int bad = fc_check_normed(x, c->i[0]);
    bad = bad ? bad : fc_check_affine(x, c->t[1], 1, lead, x->ndim);
    bad = bad ? bad : fc_check_affine(x, c->t[2], 2, lead, x->ndim);
    c->slabs = fc_dims_below(lead);
    c->cut = 1;
    c->whole = 0;
    bad = bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    bad = bad ? bad : fc_declare(c, 1, fc_stat_dtype(x->dtype), lead, x->shape);
    return bad ? bad : fc_declare(c, 2, fc_stat_dtype(x->dtype), lead, x->shape);
}

/* g, input, mean, rstd, weight; dims. dw and db are empty without a weight. */
int fc_infer__layer_norm_backward(fc_call *c)
{
    const fc_tensor *x = c->t[1];
    const int lead = x->ndim - (int)c->i[0];
    const int64_t none = 0;
    const int nd = c->t[4] ? (int)c->i[0] : 1;
    const int64_t *shape = c->t[4] ? x->shape + lead : &none;
    int bad = fc_check_normed(x, c->i[0]);
    if (bad)
        return bad; /* lead is no dim */
    bad = fc_check_same(c, 1, 0);
    bad = bad ? bad : fc_check_part(c, x, 2, fc_extent(x, 0, lead));
    bad = bad ? bad : fc_check_part(c, x, 3, fc_extent(x, 0, lead));
    bad = bad ? bad : fc_check_affine(x, c->t[4], 4, lead, x->ndim);
    c->slabs = c->t[4] ? 0 : fc_dims_below(lead); /* dw and db are sums over all rows */
    c->cut = 15;
    c->whole = 6;
    const int64_t n = fc_extent(x, lead, x->ndim), tiles = (n + FC_TALLY_WIDTH - 1) / FC_TALLY_WIDTH;
    if (!bad && c->t[4] && in_chunks(fc_extent(x, 0, lead), n, fc_dt_size[x->dtype]))
        c->scratch_bytes = (size_t)tiles * 2 * (x->dtype == FC_F64 ? sizeof(tally_f64) : sizeof(tally_f32));
    bad = bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    bad = bad ? bad : fc_declare(c, 1, x->dtype, nd, shape);
    return bad ? bad : fc_declare(c, 2, x->dtype, nd, shape);
}
#endif

int FC_ISA_NAME(fc_cpu__layer_norm)(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int lead = x->ndim - (int)c->i[0];
    job q = {.x = x->data, .w = c->t[1] ? c->t[1]->data : NULL, .b = c->t[2] ? c->t[2]->data : NULL, .out = c->out[0]->data,
             .mean_out = c->out[1]->data, .rstd_out = c->out[2]->data, .rows = fc_extent(x, 0, lead),
             .n = fc_extent(x, lead, x->ndim), .eps = c->d[0]};
    if (fc_norm_is_short(q.rows, q.n)) {
        fc_norm_short s = {.x = q.x, .w = q.w, .b = q.b, .out = q.out, .mean_out = q.mean_out, .rstd_out = q.rstd_out, .rows = q.rows, .n = q.n, .eps = q.eps};
        return FC_ISA_NAME(fc_norm_short_forward)(&s, x->dtype);
    }
    fc_parallel(q.rows, 1 + 8192 / (q.n + 1), x->dtype == FC_F32 ? forward_f32 : forward_f64, &q);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_layer_norm)

int FC_ISA_NAME(fc_cpu__layer_norm_backward)(fc_call *c)
{
    const fc_tensor *x = c->t[1];
    const int lead = x->ndim - (int)c->i[0], f = x->dtype == FC_F32;
    job q = {.g = c->t[0]->data, .x = x->data, .mean = c->t[2]->data, .rstd = c->t[3]->data, .w = c->t[4] ? c->t[4]->data : NULL,
             .dx = c->out[0]->data, .dw = c->out[1]->data, .db = c->out[2]->data, .rows = fc_extent(x, 0, lead),
             .n = fc_extent(x, lead, x->ndim)};
    if (fc_norm_is_short(q.rows, q.n)) {
        fc_norm_short s = {.x = q.x, .g = q.g, .mean = q.mean, .rstd = q.rstd, .w = q.w, .dx = q.dx, .dw = q.dw, .db = q.db, .rows = q.rows, .n = q.n};
        const int bad = FC_ISA_NAME(fc_norm_short_backward)(&s, x->dtype);
        if (bad || !q.w || q.n <= FC_SHORT_TALLY)
            return bad;
        q.until = q.rows;
        fc_parallel(1, 1, f ? columns_f32 : columns_f64, &q);
        return FC_OK;
    }
    int64_t chunk = q.rows;
    if (q.w && in_chunks(q.rows, q.n, fc_dt_size[x->dtype])) {
        q.kept = c->scratch;
        chunk = 16 + CHUNK_BYTES * fc_get_num_threads() / (2 * q.n * fc_dt_size[x->dtype]);
    }
    int bad = FC_OK;
    do {
        q.until = q.rows - q.from < chunk ? q.rows : q.from + chunk;
        if (x->numel)
            bad = fc_parallel_scratch(q.until - q.from, 1 + 8192 / (q.n + 1), (size_t)(2 * q.n) * sizeof(f64), f ? rows_f32 : rows_f64, &q);
        if (q.w && !bad)
            fc_parallel((q.n + FC_TALLY_WIDTH - 1) / FC_TALLY_WIDTH, 1 + 8192 / ((q.until - q.from) * FC_TALLY_WIDTH + 1), f ? columns_f32 : columns_f64, &q);
        q.from = q.until;
    } while (q.from < q.rows && !bad);
    return bad;
}
FC_OWN_TWO_LEVELS(_layer_norm_backward)

#else
#include "../typed.h"
#include "../tally.h"

static void N(forward)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const T *w = q->w, *b = q->b;
    const int64_t n = q->n;
    for (int64_t r = begin; r < end; ++r) {
        const T *restrict x = (const T *)q->x + r * n;
        T *restrict out = (T *)q->out + r * n;
        const T mean = M(row_sum)(x, n) / (T)n;
        const T rstd = K(1) / M(sqrt)(M(row_dev)(x, mean, n) / (T)n + (T)q->eps);
        if (w && b)
            for (int64_t j = 0; j < n; ++j)
                out[j] = (x[j] - mean) * rstd * w[j] + b[j];
        else
            for (int64_t j = 0; j < n; ++j)
                out[j] = (x[j] - mean) * rstd * (w ? w[j] : K(1)) + (b ? b[j] : K(0));
        ((T *)q->mean_out)[r] = mean;
        ((T *)q->rstd_out)[r] = rstd;
    }
}

static void N(rows)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const T *w = q->w;
    const int64_t n = q->n;
    T *restrict gw = scratch, *restrict h = gw + n;
    for (int64_t r = q->from + begin; r < q->from + end; ++r) {
        const T *restrict x = (const T *)q->x + r * n, *restrict g = (const T *)q->g + r * n;
        T *restrict dx = (T *)q->dx + r * n;
        const T mean = ((const T *)q->mean)[r], rstd = ((const T *)q->rstd)[r];
        for (int64_t j = 0; j < n; ++j)
            h[j] = (x[j] - mean) * rstd;
        for (int64_t j = 0; j < n; ++j)
            gw[j] = g[j] * (w ? w[j] : K(1));
        const T along_one = M(row_sum)(gw, n) / (T)n, along_h = M(row_dot)(gw, h, n) / (T)n;
        for (int64_t j = 0; j < n; ++j)
            dx[j] = rstd * (gw[j] - along_one - h[j] * along_h);
    }
}

static void N(columns)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t n = q->n;
    for (int64_t tile = begin; tile < end; ++tile) {
        N(tally) here[2], *dw = q->kept ? (N(tally) *)q->kept + 2 * tile : here, *db = dw + 1;
        const int64_t from = tile * FC_TALLY_WIDTH, width = n - from < FC_TALLY_WIDTH ? n - from : FC_TALLY_WIDTH;
        if (q->from == 0) {
            N(tally_begin)(dw, width);
            N(tally_begin)(db, width);
        }
        for (int64_t r = q->from; r < q->until; ++r) {
            const T *x = (const T *)q->x + r * n + from, *g = (const T *)q->g + r * n + from;
            const T mean = ((const T *)q->mean)[r], rstd = ((const T *)q->rstd)[r];
            T *restrict a = N(tally_lane)(dw), *restrict b = N(tally_lane)(db);
            for (int64_t c = 0; c < width; ++c) {
                a[c] += g[c] * ((x[c] - mean) * rstd);
                b[c] += g[c];
            }
            N(tally_next)(dw);
            N(tally_next)(db);
        }
        if (q->until == q->rows) {
            N(tally_end)(dw, (T *)q->dw + from);
            N(tally_end)(db, (T *)q->db + from);
        }
    }
}

#include "../typed_done.h"
#endif
