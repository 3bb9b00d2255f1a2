/*
 * A line of places along one dim made from another: every interpolation that is a product of ones along each dim.
 *
 *   out[..., k, ...] = sum_j weights[k, j] x[..., places[k, j], ...]        places of -1 take no part
 *   dx[..., p, ...]  = sum over (k, j) with places[k, j] == p of weights[k, j] g[..., k, ...], in the order of k
 *
 * x: (outer, size, inner); places, weights: (out, taps). An element's bits depend on its own line. Tensors that lie channels_last
 * are read and written so: the line's neighbours are then others', the sums are the same.
 */
#ifndef T
#include <string.h>

#include "../../core/copy_nest.h"
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../parallel.h"
#include "format.h"

/* The gradient is a line made from another too: `start` says where each place's taps begin in the lists, which are then turned round. */
typedef struct {
    int64_t outer, inner, from_n, to_n, taps; /* from_n, to_n: places of what is read and of what is written */
    const int64_t *places, *start;            /* start: NULL where every place has `taps` of them */
    const void *weights, *from;
    void *to;
} job;

enum { ON, ZERO, PRODUCT }; /* how a chain opens */
enum { LANES = 16 }; /* lines that are turned at a time */

#define T f32
#include "resample.c"
#define T f64
#include "resample.c"

#if FC_ISA_ONCE
/* size: of the dim in the gradient, -1 for the values */
static int infer(fc_call *c, int64_t dim, int64_t size)
{
    const fc_tensor *x = c->t[0], *places = c->t[1], *weights = c->t[2];
    if (!fc_is_float(x->dtype))
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    if (places->dtype != FC_I64)
        return fc_fail(FC_DTYPE, places->dtype, 1, 0, 0);
    if (weights->dtype != x->dtype)
        return fc_fail(FC_MIXED, 0, x->dtype, 2, weights->dtype);
    const int64_t d = fc_wrap_dim(dim, x->ndim);
    if (x->ndim == 0 || d < 0 || d >= x->ndim)
        return fc_fail(FC_DIM, dim, x->ndim, 0, 0);
    if (places->ndim != 2 || weights->ndim != 2)
        return fc_fail(FC_RANK, places->ndim != 2 ? 1 : 2, places->ndim != 2 ? places->ndim : weights->ndim, 2, 0);
    for (int k = 0; k < 2; ++k)
        if (places->shape[k] != weights->shape[k])
            return fc_fail(FC_SIZE, 1, places->shape[k], 2, weights->shape[k]);
    int64_t shape[FC_MAX_DIMS];
    for (int k = 0; k < x->ndim; ++k)
        shape[k] = x->shape[k];
    shape[d] = size < 0 ? places->shape[0] : size;
    if (size >= 0 && x->shape[d] != places->shape[0])
        return fc_fail(FC_SIZE, 0, x->shape[d], 1, places->shape[0]);
    const int bad = fc_declare(c, 0, x->dtype, x->ndim, shape);
    if (bad)
        return bad;
    if (fc_reads_last(c->t[0], 1))
        c->as_is = 1, c->spec[0].direct = 1;
    if (size >= 0)
        c->scratch_bytes = (size_t)(size + 1 + 2 * places->numel) * 8;
    return fc_keep_format(c, 0, x, NULL, 1);
}

/* input, places, weights; dim */
int fc_infer__resample(fc_call *c) { return infer(c, c->i[0], -1); }

/* g, places, weights; size, dim */
int fc_infer__resample_backward(fc_call *c)
{
    if (c->i[0] < 0)
        return fc_fail(FC_ARG, 3, c->i[0], 0, 0);
    return infer(c, c->i[1], c->i[0]);
}
#endif

/* size: of the dim that the places are in */
static int prepare(job *q, const fc_call *c, int64_t dim, int64_t size)
{
    const fc_tensor *x = c->t[0], *places = c->t[1];
    const int64_t d = fc_wrap_dim(dim, x->ndim);
    *q = (job){ .outer = 1, .inner = 1, .from_n = x->shape[d], .to_n = c->out[0]->shape[d], .taps = places->shape[1],
                .places = FC_DATA(const int64_t, places), .weights = c->t[2]->data, .from = x->data, .to = c->out[0]->data };
    for (int k = 0; k < x->ndim; ++k) {
        const int before = c->as_is && (k == 1) != (d == 1) ? k != 1 : k < d; /* channels_last: every dim is before them */
        if (k != d) *(before ? &q->outer : &q->inner) *= x->shape[k];
    }
    for (int64_t k = 0; k < places->numel; ++k)
        if (q->places[k] < -1 || q->places[k] >= size)
            return fc_fail(FC_INDEX, q->places[k], size, d, 0);
    return FC_OK;
}

/* Is every place of the result one of x, as it is? */
static int picks(const job *q, int is32)
{
    int plain = q->taps == 1 && !q->start;
    for (int64_t k = 0; plain && k < q->to_n; ++k)
        plain = q->places[k] >= 0 && (is32 ? ((const f32 *)q->weights)[k] == 1 : ((const f64 *)q->weights)[k] == 1);
    return plain;
}

/* Turning moves every element twice, which some taps repay. */
static int run(job *q, int is32)
{
    const int64_t work = q->inner * (q->taps + 2), lines = q->outer * q->to_n;
    const int64_t all = q->start ? q->start[q->to_n] : q->to_n * q->taps;
    if (q->inner >= LANES || (q->inner > 1 && q->outer < LANES / 2)) {
        fc_parallel(lines, 1 + 8192 / work, is32 ? lines_f32 : lines_f64, q);
        return FC_OK;
    }
    if (q->inner == 1 && picks(q, is32)) {
        fc_parallel(q->outer, 1 + 8192 / (q->to_n + 1), is32 ? picked_f32 : picked_f64, q);
        return FC_OK;
    }
    if (q->outer < LANES / 2 || all * 4 < q->from_n + q->to_n) {
        fc_parallel(q->outer, 1 + 8192 / (work * q->to_n + 1), is32 ? rows_f32 : rows_f64, q);
        return FC_OK;
    }
    const size_t bytes = (size_t)((q->from_n + q->to_n) * q->inner * LANES) * (is32 ? 4 : 8);
    return fc_parallel_scratch((q->outer + LANES - 1) / LANES, 1 + 8192 / (work * LANES * q->to_n + 1), bytes, is32 ? turned_f32 : turned_f64, q);
}

int FC_ISA_NAME(fc_cpu__resample)(fc_call *c)
{
    job q;
    const int bad = prepare(&q, c, c->i[0], c->t[0]->shape[fc_wrap_dim(c->i[0], c->t[0]->ndim)]);
    return bad ? bad : run(&q, c->t[0]->dtype == FC_F32);
}
FC_OWN_TWO_LEVELS(_resample)

int FC_ISA_NAME(fc_cpu__resample_backward)(fc_call *c)
{
    job q;
    const int bad = prepare(&q, c, c->i[1], c->i[0]), is32 = c->t[0]->dtype == FC_F32;
    if (bad)
        return bad;
    (is32 ? turn_round_f32 : turn_round_f64)(&q, c->scratch);
    return run(&q, is32);
}
FC_OWN_TWO_LEVELS(_resample_backward)

#else
#include "../typed.h"

/* room: to_n + 1 and from_n * taps of int64, and as many T. Taps of a place stay in the order of what they were taps of. */
static void N(turn_round)(job *q, int64_t *room)
{
    const int64_t all = q->from_n * q->taps;
    int64_t *start = room, *places = start + q->to_n + 1, here = 0;
    T *weights = (T *)(places + all);
    memset(start, 0, (size_t)(q->to_n + 1) * sizeof *start);
    for (int64_t k = 0; k < all; ++k)
        if (q->places[k] >= 0) ++start[q->places[k]];
    for (int64_t p = 0; p <= q->to_n; ++p) {
        const int64_t count = start[p];
        start[p] = here;
        here += count;
    }
    for (int64_t k = 0; k < all; ++k)
        if (q->places[k] >= 0) {
            const int64_t at = start[q->places[k]]++;
            places[at] = k / q->taps;
            weights[at] = ((const T *)q->weights)[k];
        }
    for (int64_t p = q->to_n; p > 0; --p) start[p] = start[p - 1];
    start[0] = 0;
    q->start = start, q->places = places, q->weights = weights;
}

/* out[i] = a chain over `count` taps: PRODUCT opens it with the first one's product, ZERO with +0, ON goes on from out[i]. */
static inline __attribute__((always_inline)) void N(blend)(T *restrict out, const T *const *x, const T *w, int64_t n, int count, int open)
{
    const T *restrict a = x[0], *restrict b = x[count > 1], *restrict c = x[count > 2 ? 2 : 0], *restrict d = x[count > 3 ? 3 : 0];
    for (int64_t i = 0; i < n; ++i) {
        T sum = open == PRODUCT ? w[0] * a[i] : M(fma)(w[0], a[i], open == ON ? out[i] : 0);
        if (count > 1) sum = M(fma)(w[1], b[i], sum);
        if (count > 2) sum = M(fma)(w[2], c[i], sum);
        if (count > 3) sum = M(fma)(w[3], d[i], sum);
        out[i] = sum;
    }
}

/* Place k of one line: n neighbours, of which x's places have as many. A product keeps the sign of a zero; the gradient's chains never did. */
static inline __attribute__((always_inline)) void N(line)(const job *q, T *restrict out, const T *x, int64_t k, int64_t n)
{
    const int64_t from = q->start ? q->start[k] : k * q->taps, end = q->start ? q->start[k + 1] : from + q->taps;
    const T *w = q->weights;
    int open = q->start || (from < end && q->places[from] < 0) ? ZERO : PRODUCT;
    if (from == end)
        memset(out, 0, (size_t)n * sizeof(T));
    for (int64_t j = from; j < end;) {
        const T *x_j[4];
        T w_j[4];
        int count = 0;
        for (; j < end && count < 4; ++j)
            if (q->places[j] >= 0) w_j[count] = w[j], x_j[count++] = x + q->places[j] * n;
        if (count == 4 && open == PRODUCT) N(blend)(out, x_j, w_j, n, 4, PRODUCT);
        else if (count == 4) {
            if (open == ZERO) memset(out, 0, (size_t)n * sizeof(T));
            N(blend)(out, x_j, w_j, n, 4, ON);
        } else if (count == 2 && open == PRODUCT) N(blend)(out, x_j, w_j, n, 2, PRODUCT);
        else if (count == 2 && open == ZERO) N(blend)(out, x_j, w_j, n, 2, ZERO);
        else if (count == 1 && open == PRODUCT && w_j[0] == 1) memcpy(out, x_j[0], (size_t)n * sizeof(T));
        else if (count == 0 && open == ZERO) memset(out, 0, (size_t)n * sizeof(T));
        else
            for (int t = 0; t < count; ++t) {
                if (t || open == ON) N(blend)(out, x_j + t, w_j + t, n, 1, ON);
                else if (open == ZERO) N(blend)(out, x_j, w_j, n, 1, ZERO);
                else N(blend)(out, x_j, w_j, n, 1, PRODUCT);
            }
        open = ON;
    }
}

/* Task o: one line, of which no place is a sum. */
static void N(picked)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t *restrict places = q->places, n = q->to_n;
    for (int64_t o = begin; o < end; ++o) {
        const T *restrict x = (const T *)q->from + o * q->from_n;
        T *restrict out = (T *)q->to + o * n;
        for (int64_t k = 0; k < n; ++k)
            out[k] = x[places[k]];
    }
}

/* Task k: one place of one outer index, a line of inner. */
static void N(lines)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    for (int64_t k = begin; k < end; ++k)
        N(line)(q, (T *)q->to + k * q->inner, (const T *)q->from + k / q->to_n * q->from_n * q->inner, k % q->to_n, q->inner);
}

/* Task o: one outer index, element by element; for few taps, or few lines. */
static void N(rows)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    for (int64_t o = begin; o < end; ++o) {
        const T *restrict x = (const T *)q->from + o * q->from_n * q->inner, *restrict w = q->weights;
        T *restrict out = (T *)q->to + o * q->to_n * q->inner;
        const int64_t *restrict at = q->places, n = q->inner;
        for (int64_t k = 0, j = 0; k < q->to_n; ++k) {
            const int64_t first = j, last = q->start ? q->start[k + 1] : j + q->taps;
            for (int64_t i = 0; i < n; ++i, ++out) {
                T sum = 0;
                j = first;
                if (!q->start && first < last && at[j] >= 0) sum = w[j] * x[at[j] * n + i], ++j;
                for (; j < last; ++j) sum = at[j] < 0 ? sum : M(fma)(w[j], x[at[j] * n + i], sum);
                *out = sum;
            }
        }
    }
}

/* Few neighbours: LANES outer indices are turned to lie side by side. Task b: so many of them. */
static void N(turned)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t pitch = LANES * (int64_t)sizeof(T), from_n = q->from_n * q->inner, to_n = q->to_n * q->inner, n = LANES * q->inner;
    T *x = scratch, *out = x + from_n * LANES;
    if (end * LANES > q->outer) memset(x, 0, (size_t)(from_n * pitch)); /* lanes that do not exist */
    for (int64_t b = begin; b < end; ++b) {
        const int64_t o = b * LANES, rows = q->outer - o < LANES ? q->outer - o : LANES;
        fc_turn((char *)x, pitch, (const char *)((const T *)q->from + o * from_n), from_n * (int64_t)sizeof(T), rows, from_n, sizeof(T));
        for (int64_t k = 0; k < q->to_n; ++k)
            if (q->inner == 1) N(line)(q, out + k * LANES, x, k, LANES);
            else N(line)(q, out + k * n, x, k, n);
        fc_turn((char *)((T *)q->to + o * to_n), to_n * (int64_t)sizeof(T), (const char *)out, pitch, to_n, rows, sizeof(T));
    }
}

#include "../typed_done.h"
#endif
