/*
 * _plus_product(input, x, y, beta, alpha, over): result = beta * input + alpha * (x @ y), input broadcast to it; not read where beta is 0
 *
 *   (M, K) (K, N)       -> (M, N)       (B, M, K) (B, K, N) -> (B, M, N), or over: (M, N), products added in the order of the batch
 *   (M, K) (K)          -> (M)
 *
 * The product is cpu/gemm.h's, and input its bias; the result may be input itself.
 */
#include "../core/call.h"
#include "../include/facula.h"
#include "gemm_args.h"

/* Sizes and strides of the product in c's terms, batch first. */
typedef struct { int64_t batch, M, N, K; } sizes;

static sizes sizes_of(const fc_call *c)
{
    const fc_tensor *x = c->t[1], *y = c->t[2];
    const int b = x->ndim == 3;
    return (sizes){ b ? x->shape[0] : 1, x->shape[b], y->ndim == 1 ? 1 : y->shape[y->ndim - 1], x->shape[b + 1] };
}

int fc_infer__plus_product(fc_call *c)
{
    const fc_tensor *t = c->t[0], *x = c->t[1], *y = c->t[2];
    const int batches = x->ndim == 3, over = (int)c->i[0];
    if (x->ndim < 2 || x->ndim > 3 || (over && !batches))
        return fc_fail(FC_RANK, 1, x->ndim, over ? 3 : 2, 0);
    if (x->ndim == 2 ? y->ndim != 1 && y->ndim != 2 : y->ndim != x->ndim)
        return fc_fail(FC_RANK, 2, y->ndim, x->ndim, 0);
    for (int k = 1; k < 3; ++k)
        if (c->t[k]->dtype != t->dtype)
            return fc_fail(FC_MIXED, 0, t->dtype, k, c->t[k]->dtype);
    const sizes s = sizes_of(c);
    if (y->shape[batches] != s.K)
        return fc_fail(FC_SIZE, 1, s.K, 2, y->shape[batches]);
    if (batches && y->shape[0] != s.batch)
        return fc_fail(FC_SIZE, 1, s.batch, 2, y->shape[0]);
    int64_t shape[3];
    int n = 0;
    if (batches && !over)
        shape[n++] = s.batch;
    shape[n++] = s.M;
    if (y->ndim > 1)
        shape[n++] = s.N;
    if (t->ndim > n)
        return fc_fail(FC_SHAPE, 0, t->shape[0], 1, 0);
    for (int d = 0; d < t->ndim; ++d)
        if (t->shape[d] != 1 && t->shape[d] != shape[n - t->ndim + d])
            return fc_fail(FC_SHAPE, d, t->shape[d], shape[n - t->ndim + d], 0);
    c->as_is = 7; /* any strides will do */
    const int bad = fc_declare(c, 0, t->dtype, n, shape);
    c->spec[0].strided = 1;
    if (!over) { /* the sum over a batch is rounded once, so its halves are staged */
        c->halves = 7;
        c->spec[0].half = fc_is_half(t->dtype);
    }
    return bad;
}

/* Rows of the result would read columns of t, a cache line for each element: turned first, 1e5 floats take a third of the time. */
static int lies_across(const fc_tensor *t, const fc_tensor *out)
{
    enum { WORTH_A_COPY = 4096 };
    const int last = t->ndim - 1;
    return t->ndim > 1 && t->ndim == out->ndim && t->numel >= WORTH_A_COPY && t->stride[last] > 1 && t->shape[last] > 1 && out->stride[last] == 1 && t->data != out->data;
}

/* One product with t for its bias, which may be where the result goes: then of a long sum, whose blocks are written before t is read, t is copied. */
static int add(fc_gemm_args g, fc_tensor *t, const fc_tensor *out)
{
    fc_tensor *own = NULL;
    static const double nothing[2] = { 0 }; /* of any dtype */
    if (!g.factors[1]) {
        g.bias = nothing;
        return fc_gemm_shaped(&g);
    }
    if (t->data == out->data && g.K > FC_GEMM_BLOCK && !(t = own = fc_to(t, t->dtype, 1, 1)))
        return fc_status();
    if (!own && lies_across(t, out) && !(t = own = fc_to(t, t->dtype, 0, 1)))
        return fc_status();
    g.bias = t->data;
    int64_t *const step[3] = { &g.bias_batch, &g.bias_row, &g.bias_col };
    const int first = out->ndim < 3; /* a vector has rows */
    for (int d = 0; d < t->ndim; ++d)
        if (t->shape[d] > 1)
            *step[first + out->ndim - t->ndim + d] = t->stride[d];
    const int bad = fc_gemm_shaped(&g);
    fc_free(own);
    return bad;
}

int fc_cpu__plus_product(fc_call *c)
{
    const fc_tensor *x = c->t[1], *y = c->t[2], *out = c->out[0];
    const sizes s = sizes_of(c);
    if (!out->numel)
        return FC_OK;
    const int b = x->ndim == 3, over = (int)c->i[0], size = fc_dt_size[out->dtype], row = out->ndim == 3;
    double factors[2] = { s.K && s.batch ? c->d[1] : 1, c->d[0] }; /* of no product there is nothing to scale */
    fc_gemm_args g = { .dtype = out->dtype, .split = 1, .batch = s.batch, .M = s.M, .N = s.N, .K = s.batch ? s.K : 0, .factors = factors,
                       .a = x->data, .a_batch = b ? x->stride[0] : 0, .a_row = x->stride[b], .a_col = x->stride[b + 1],
                       .b = y->data, .b_batch = b ? y->stride[0] : 0, .b_row = y->stride[b], .b_col = y->ndim == 1 ? 0 : y->stride[y->ndim - 1],
                       .c = out->data, .c_batch = row ? out->stride[0] : 0, .c_row = out->stride[row], .c_col = y->ndim == 1 ? 1 : out->stride[row + 1] };
    if (!over)
        return add(g, c->t[0], out);
    g.batch = 1;
    int bad = add(g, c->t[0], out);
    factors[1] = 1;
    for (int64_t i = 1; i < s.batch && !bad; ++i) {
        g.a = (const char *)x->data + i * x->stride[0] * size;
        g.b = (const char *)y->data + i * y->stride[0] * size;
        bad = add(g, c->out[0], out);
    }
    return bad;
}
