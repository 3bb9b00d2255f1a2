/* fc_dot: matrix products. Shapes are brought to (batch, M, K) x (batch, K, N), strides and all, for cpu/gemm.h. */
#include "facula.h"
#include "../cpu/gemm.h"
#include "nest.h"
#include "verb.h"

static fc_tensor *fc_dot_fail(fc_code code, int64_t a, int64_t b, int64_t c, int64_t d)
{
    fc_fail(code, a, b, c, d);
    return NULL;
}

/* Batch dims of both broadcast; when they merge to one stride per operand the whole product is one call, else one per batch index. */
typedef struct { int n; int64_t size[FC_MAX_DIMS], a[FC_MAX_DIMS], b[FC_MAX_DIMS], c[FC_MAX_DIMS]; } fc_batch;

static void fc_batch_add(fc_batch *t, int64_t size, int64_t a, int64_t b, int64_t c)
{
    if (size == 1)
        return;
    if (t->n) {
        const int k = t->n - 1;
        if (t->a[k] == size * a && t->b[k] == size * b && t->c[k] == size * c) {
            t->size[k] *= size;
            t->a[k] = a;
            t->b[k] = b;
            t->c[k] = c;
            return;
        }
    }
    t->size[t->n] = size;
    t->a[t->n] = a;
    t->b[t->n] = b;
    t->c[t->n++] = c;
}

static int fc_product(int dtype, const fc_batch *t, int level, char *a, char *b, char *c, int64_t M, int64_t N, int64_t K,
                      const int64_t *step, const fc_tensor *bias)
{
    const int size = fc_dt_size[dtype];
    if (t->n - level > 1) {
        for (int64_t i = 0; i < t->size[level]; ++i) {
            const int bad = fc_product(dtype, t, level + 1, a + i * t->a[level] * size, b + i * t->b[level] * size,
                                       c + i * t->c[level] * size, M, N, K, step, bias);
            if (bad)
                return bad;
        }
        return FC_OK;
    }
    const int last = t->n > level;
    return fc_gemm(dtype, last ? t->size[level] : 1, M, N, K, a, last ? t->a[level] : 0, step[0], step[1],
                   b, last ? t->b[level] : 0, step[2], step[3], c, last ? t->c[level] : 0, N, 1,
                   bias ? bias->data : NULL, bias ? bias->stride[0] : 0, 0);
}

static fc_tensor *fc_matmul(fc_tensor *out, fc_tensor *x, fc_tensor *y)
{
    if (!x->ndim || !y->ndim)
        return fc_dot_fail(FC_RANK, x->ndim ? 1 : 0, 0, 1, 0);
    const int xv = x->ndim == 1, yv = y->ndim == 1;
    const int64_t M = xv ? 1 : x->shape[x->ndim - 2], K = x->shape[x->ndim - 1];
    const int64_t N = yv ? 1 : y->shape[y->ndim - 1], L = yv ? y->shape[0] : y->shape[y->ndim - 2];
    if (K != L)
        return fc_dot_fail(FC_SIZE, 0, K, 1, L);
    if (x->dtype != y->dtype)
        return fc_dot_fail(FC_MIXED, 0, x->dtype, 1, y->dtype);
    const int64_t step[4] = { xv ? 0 : x->stride[x->ndim - 2], x->stride[x->ndim - 1],
                              yv ? y->stride[0] : y->stride[y->ndim - 2], yv ? 0 : y->stride[y->ndim - 1] };
    const int xb = xv ? 0 : x->ndim - 2, yb = yv ? 0 : y->ndim - 2, nb = xb > yb ? xb : yb;
    int64_t shape[FC_MAX_DIMS];
    for (int d = 0; d < nb; ++d) {
        const int64_t a = d < nb - xb ? 1 : x->shape[d - (nb - xb)], b = d < nb - yb ? 1 : y->shape[d - (nb - yb)];
        if (a != b && a != 1 && b != 1)
            return fc_dot_fail(FC_SHAPE, d, a, b, 1);
        shape[d] = a == 1 ? b : a;
    }
    int ndim = nb;
    if (!xv)
        shape[ndim++] = M;
    if (!yv)
        shape[ndim++] = N;
    if (out && fc_check_out(out, x->dtype, x->device, ndim, shape))
        return NULL;
    fc_tensor *t = fc_new(x->dtype, x->device, ndim, shape);
    if (!t || x->device == FC_META)
        return fc_deliver(out, t);
    fc_batch batch = { .n = 0 };
    int64_t cs[FC_MAX_DIMS], run = M * N;
    for (int d = nb - 1; d >= 0; --d) {
        cs[d] = run;
        run *= shape[d];
    }
    for (int d = 0; d < nb; ++d) {
        const int dx = d - (nb - xb), dy = d - (nb - yb);
        fc_batch_add(&batch, shape[d], dx < 0 || x->shape[dx] == 1 ? 0 : x->stride[dx], dy < 0 || y->shape[dy] == 1 ? 0 : y->stride[dy], cs[d]);
    }
    if (t->numel && fc_product(x->dtype, &batch, 0, x->data, y->data, t->data, M, N, K, step, NULL)) {
        fc_free(t);
        return NULL;
    }
    return fc_deliver(out, t);
}

static fc_tensor *fc_linear(fc_tensor *out, fc_tensor *x, fc_tensor *w, fc_tensor *bias)
{
    if (!x->ndim || w->ndim < 1 || w->ndim > 2)
        return fc_dot_fail(FC_RANK, x->ndim ? 1 : 0, x->ndim ? w->ndim : 0, x->ndim ? 2 : 1, 0);
    const int64_t K = x->shape[x->ndim - 1], N = w->ndim == 2 ? w->shape[0] : 1;
    if (K != w->shape[w->ndim - 1])
        return fc_dot_fail(FC_SIZE, 0, K, 1, w->shape[w->ndim - 1]);
    if (x->dtype != w->dtype)
        return fc_dot_fail(FC_MIXED, 0, x->dtype, 1, w->dtype);
    if (bias && bias->dtype != x->dtype)
        return fc_dot_fail(FC_MIXED, 0, x->dtype, 2, bias->dtype);
    if (bias && (bias->ndim > 1 || (bias->ndim == 1 && bias->shape[0] != N)))
        return fc_dot_fail(FC_SIZE, 1, N, 2, bias->ndim ? bias->shape[0] : 1);
    int64_t shape[FC_MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < x->ndim - 1; ++d)
        shape[ndim++] = x->shape[d];
    if (w->ndim == 2)
        shape[ndim++] = N;
    if (out && fc_check_out(out, x->dtype, x->device, ndim, shape))
        return NULL;
    fc_tensor *t = fc_new(x->dtype, x->device, ndim, shape);
    if (!t || x->device == FC_META || !t->numel)
        return fc_deliver(out, t);
    /* the rows of x must walk with one stride */
    fc_tensor *dense = x->ndim <= 2 ? (fc_retain(x), x) : fc_dense(x, x->dtype);
    if (!dense) {
        fc_free(t);
        return NULL;
    }
    /* of more dims it is contiguous, but a dim of size 1 may have any stride: do not read them */
    const int64_t row = x->ndim > 2 ? K : x->ndim == 2 ? dense->stride[0] : 0, col = x->ndim > 2 ? 1 : dense->stride[x->ndim - 1];
    const int bad = fc_gemm(x->dtype, 1, t->numel / N, N, K, dense->data, 0, row, col, w->data, 0, w->stride[w->ndim - 1],
                            w->ndim == 2 ? w->stride[0] : 0, t->data, 0, N, 1, bias ? bias->data : NULL,
                            bias && bias->ndim ? bias->stride[0] : 0, 0);
    fc_free(dense);
    if (bad) {
        fc_free(t);
        return NULL;
    }
    return fc_deliver(out, t);
}

fc_tensor *fc_dot(int op, fc_tensor *out, fc_tensor *x, fc_tensor *y, fc_tensor *z)
{
    fc_tensor *ops[3] = { x, y, z };
    int device;
    if (fc_check_operands(3, ops, &device))
        return NULL;
    if (!fc_op_takes(op, x->dtype))
        return fc_dot_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    switch (op) {
    case FC_OP_matmul: return fc_matmul(out, x, y);
    case FC_OP_linear: return fc_linear(out, x, y, z);
    default: return fc_dot_fail(FC_ARG, 0, op, 0, 0);
    }
}
