/*
 * A line of places along one dim made from another: every interpolation that is a product of ones along each dim.
 *
 *   out[..., k, ...] = sum_j weights[k, j] x[..., places[k, j], ...]        places of -1 take no part
 *   dx[..., p, ...]  = sum over (k, j) with places[k, j] == p of weights[k, j] g[..., k, ...], in the order of k
 *
 * x: (outer, size, inner); places, weights: (out, taps). An element's bits depend on its own line.
 */
#ifndef T
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../parallel.h"
#include "format.h"

typedef struct {
    int64_t outer, size, inner, out, taps;
    const int64_t *places;
    const void *weights, *from;
    void *to;
} job;

enum { CHUNK = 512 }; /* elements of inner that one task of the gradient takes */

#define T f32
#include "resample.c"
#define T f64
#include "resample.c"

#if FC_ISA_ONCE
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
    return bad ? bad : fc_keep_format(c, 0, x, NULL, 1);
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

/* x: the tensor that has the places */
static int prepare(job *q, const fc_call *c, const fc_tensor *x, int64_t dim)
{
    const fc_tensor *places = c->t[1];
    const int64_t d = fc_wrap_dim(dim, x->ndim);
    *q = (job){.outer = 1, .inner = 1, .size = x->shape[d], .out = places->shape[0], .taps = places->shape[1], .places = FC_DATA(const int64_t, places),
               .weights = c->t[2]->data, .from = c->t[0]->data, .to = c->out[0]->data};
    for (int k = 0; k < x->ndim; ++k)
        *(k < d ? &q->outer : k > d ? &q->inner : &(int64_t){0}) *= x->shape[k];
    for (int64_t k = 0; k < places->numel; ++k)
        if (q->places[k] < -1 || q->places[k] >= q->size)
            return fc_fail(FC_INDEX, q->places[k], q->size, d, 0);
    return FC_OK;
}

int FC_ISA_NAME(fc_cpu__resample)(fc_call *c)
{
    job q;
    const int bad = prepare(&q, c, c->t[0], c->i[0]);
    const int is32 = c->t[0]->dtype == FC_F32;
    if (!bad && q.inner == 1)
        fc_parallel(q.outer, 1 + 8192 / (q.out * q.taps + 1), is32 ? rows_f32 : rows_f64, &q);
    else if (!bad)
        fc_parallel(q.outer * q.out, 1 + 8192 / (q.inner * q.taps + 1), is32 ? lines_f32 : lines_f64, &q);
    return bad;
}
FC_OWN_TWO_LEVELS(_resample)

int FC_ISA_NAME(fc_cpu__resample_backward)(fc_call *c)
{
    job q;
    const int bad = prepare(&q, c, c->out[0], c->i[1]);
    const int64_t chunks = (q.inner + CHUNK - 1) / CHUNK, width = q.inner < CHUNK ? q.inner : CHUNK;
    const int is32 = c->t[0]->dtype == FC_F32;
    if (!bad && q.inner == 1)
        fc_parallel(q.outer, 1 + 8192 / (q.out * q.taps + 1), is32 ? row_gradients_f32 : row_gradients_f64, &q);
    else if (!bad)
        fc_parallel(q.outer * chunks, 1 + 8192 / (width * q.out * q.taps + 1), is32 ? gradients_f32 : gradients_f64, &q);
    return bad;
}
FC_OWN_TWO_LEVELS(_resample_backward)

#else
#include "../typed.h"

/* The last dim: whole lines of it. */
static void N(rows)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    for (int64_t o = begin; o < end; ++o) {
        const T *restrict x = (const T *)q->from + o * q->size, *restrict w = q->weights;
        T *restrict out = (T *)q->to + o * q->out;
        const int64_t *restrict at = q->places;
        for (int64_t k = 0; k < q->out; ++k, at += q->taps, w += q->taps) {
            T sum = q->taps && at[0] >= 0 ? w[0] * x[at[0]] : 0; /* a product keeps the sign of a zero */
            for (int64_t j = 1; j < q->taps; ++j)
                sum = at[j] < 0 ? sum : M(fma)(w[j], x[at[j]], sum);
            out[k] = sum;
        }
    }
}

/* Task k: one place of one outer index, a line of inner. */
static void N(lines)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t *at = q->places + k % q->out * q->taps;
        const T *w = (const T *)q->weights + k % q->out * q->taps, *x = (const T *)q->from + k / q->out * q->size * q->inner;
        T *restrict out = (T *)q->to + k * q->inner;
        if (q->taps && at[0] >= 0)
            for (int64_t i = 0; i < q->inner; ++i)
                out[i] = w[0] * x[at[0] * q->inner + i];
        else
            for (int64_t i = 0; i < q->inner; ++i)
                out[i] = 0;
        for (int64_t j = 1; j < q->taps; ++j) {
            const T *restrict x_j = x + at[j] * q->inner;
            if (at[j] >= 0)
                for (int64_t i = 0; i < q->inner; ++i)
                    out[i] = M(fma)(w[j], x_j[i], out[i]);
        }
    }
}

static void N(row_gradients)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    for (int64_t o = begin; o < end; ++o) {
        const T *restrict g = (const T *)q->from + o * q->out, *restrict w = q->weights;
        T *restrict dx = (T *)q->to + o * q->size;
        const int64_t *restrict at = q->places;
        for (int64_t p = 0; p < q->size; ++p)
            dx[p] = 0;
        for (int64_t k = 0; k < q->out; ++k, at += q->taps, w += q->taps)
            for (int64_t j = 0; j < q->taps; ++j)
                if (at[j] >= 0)
                    dx[at[j]] = M(fma)(w[j], g[k], dx[at[j]]);
    }
}

static void N(gradients)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t chunks = (q->inner + CHUNK - 1) / CHUNK;
    for (int64_t t = begin; t < end; ++t) {
        const int64_t i0 = t % chunks * CHUNK, width = q->inner - i0 < CHUNK ? q->inner - i0 : CHUNK;
        const T *g = (const T *)q->from + t / chunks * q->out * q->inner + i0;
        T *dx = (T *)q->to + t / chunks * q->size * q->inner + i0;
        for (int64_t p = 0; p < q->size; ++p)
            for (int64_t i = 0; i < width; ++i)
                dx[p * q->inner + i] = 0;
        for (int64_t k = 0; k < q->out; ++k)
            for (int64_t j = 0; j < q->taps; ++j) {
                const int64_t p = q->places[k * q->taps + j];
                if (p < 0)
                    continue;
                const T w = ((const T *)q->weights)[k * q->taps + j];
                T *restrict dx_p = dx + p * q->inner;
                const T *restrict g_k = g + k * q->inner;
                for (int64_t i = 0; i < width; ++i)
                    dx_p[i] = M(fma)(w, g_k[i], dx_p[i]);
            }
    }
}

#include "../typed_done.h"
#endif
