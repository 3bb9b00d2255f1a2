/*
 * Tensors joined along one dim, which they have (cat) or get (stack), the other sizes agreeing, or as one vector (_cat_flat). Dtypes are promoted.
 *
 * Of cat a 1-d tensor of no elements is skipped whatever the others' rank, as in PyTorch.
 */
#include "facula.h"
#include "../core/call.h"
#include "../core/cast.h"
#include "../core/move.h"
#include "../core/promote.h"
#include "parallel.h"
#include "part.h"

static int fc_is_skipped(const fc_tensor *t) { return t->ndim == 1 && t->shape[0] == 0; }

int fc_infer_cat(fc_call *c)
{
    const fc_tensor *first = NULL;
    fc_promotion p = FC_PROMOTION_START;
    int64_t shape[FC_MAX_DIMS];
    if (!c->nt)
        return fc_fail(FC_ARG, 0, 0, 1, 0);
    for (int k = 0; k < c->nt; ++k) {
        fc_promotion_add(&p, c->t[k]);
        if (!first && !fc_is_skipped(c->t[k]))
            first = c->t[k];
    }
    const int dtype = fc_promotion_result(&p);
    if (dtype < 0)
        return fc_fail(FC_MIXED, 0, c->t[0]->dtype, 1, c->t[c->nt - 1]->dtype);
    if (!first) {
        shape[0] = 0;
        return fc_declare(c, 0, dtype, 1, shape);
    }
    if (first->ndim == 0)
        return fc_fail(FC_RANK, 0, 0, 1, 0);
    const int64_t dim = fc_wrap_dim(c->i[0], first->ndim);
    if (dim < 0 || dim >= first->ndim)
        return fc_fail(FC_DIM, c->i[0], first->ndim, 0, 0);
    for (int d = 0; d < first->ndim; ++d)
        shape[d] = first->shape[d];
    shape[dim] = 0;
    for (int k = 0; k < c->nt; ++k) {
        const fc_tensor *t = c->t[k];
        if (fc_is_skipped(t))
            continue;
        if (t->ndim != first->ndim)
            return fc_fail(FC_RANK, k, t->ndim, first->ndim, 0);
        for (int d = 0; d < t->ndim; ++d)
            if (d != dim && t->shape[d] != first->shape[d])
                return fc_fail(FC_SHAPE, d, first->shape[d], t->shape[d], k);
        if (t->shape[dim] > INT64_MAX - shape[dim]) /* expanded ones are this long */
            return fc_fail(FC_MEMORY, INT64_MAX, 0, 0, 0);
        shape[dim] += t->shape[dim];
    }
    c->i[0] = dim;
    return fc_declare(c, 0, dtype, first->ndim, shape);
}

/* Two dense tensors element by element, as stack(..., -1) of two and complex() ask: out = a0 b0 a1 b1 ... */
#define INTERLEAVE(T)                                                                   \
    for (int64_t k = 0; k < n; ++k) {                                                   \
        ((T *)out)[2 * k] = ((const T *)a)[k];                                          \
        ((T *)out)[2 * k + 1] = ((const T *)b)[k];                                      \
    }                                                                                   \
    return

/* Not inlined: what restrict says would be lost on the way, and with it the vectors (33 us become 57). */
static __attribute__((noinline)) void interleave(char *restrict out, const char *restrict a, const char *restrict b, int size, int64_t n)
{
    switch (size) {
    case 1: INTERLEAVE(uint8_t);
    case 2: INTERLEAVE(uint16_t);
    case 4: INTERLEAVE(uint32_t);
    case 8: INTERLEAVE(uint64_t);
    default: INTERLEAVE(c128);
    }
}

#undef INTERLEAVE

int fc_infer_stack(fc_call *c)
{
    if (!c->nt)
        return fc_fail(FC_ARG, 0, 0, 1, 0);
    const fc_tensor *first = c->t[0];
    fc_promotion p = FC_PROMOTION_START;
    int64_t shape[FC_MAX_DIMS];
    for (int k = 0; k < c->nt; ++k) {
        const fc_tensor *t = c->t[k];
        fc_promotion_add(&p, c->t[k]);
        if (t->ndim != first->ndim)
            return fc_fail(FC_RANK, k, t->ndim, first->ndim, 0);
        for (int d = 0; d < t->ndim; ++d)
            if (t->shape[d] != first->shape[d])
                return fc_fail(FC_SHAPE, d, first->shape[d], t->shape[d], k);
    }
    const int dtype = fc_promotion_result(&p), n = first->ndim + 1;
    if (dtype < 0)
        return fc_fail(FC_MIXED, 0, first->dtype, 1, c->t[c->nt - 1]->dtype);
    const int64_t dim = fc_wrap_dim(c->i[0], n);
    if (n > FC_MAX_DIMS)
        return fc_fail(FC_RANK, 0, n, FC_MAX_DIMS, 0);
    if (dim < 0 || dim >= n)
        return fc_fail(FC_DIM, c->i[0], n, 0, 0);
    for (int d = 0; d < n; ++d)
        shape[d] = d == dim ? c->nt : first->shape[d - (d > dim)];
    c->i[0] = dim;
    return fc_declare(c, 0, dtype, n, shape);
}

int fc_infer__cat_flat(fc_call *c)
{
    fc_promotion p = FC_PROMOTION_START;
    int64_t n = 0;
    if (!c->nt)
        return fc_fail(FC_ARG, 0, 0, 1, 0);
    for (int k = 0; k < c->nt; ++k) {
        fc_promotion_add(&p, c->t[k]);
        if (c->t[k]->numel > INT64_MAX - n) /* expanded ones are this long */
            return fc_fail(FC_MEMORY, INT64_MAX, 0, 0, 0);
        n += c->t[k]->numel;
    }
    const int dtype = fc_promotion_result(&p);
    if (dtype < 0)
        return fc_fail(FC_MIXED, 0, c->t[0]->dtype, 1, c->t[c->nt - 1]->dtype);
    return fc_declare(c, 0, dtype, 1, &n);
}

enum { MOST_JOINED = 64, BLOCK_BYTES = 8 << 10, LONG_STRETCH = 512, GRAIN_BYTES = 64 << 10, SHORT = 4096 };

typedef struct {
    char *out;
    int count;
    int64_t row;
    const char *from[MOST_JOINED];
    int64_t bytes[MOST_JOINED];
} stretches;

/* Many short rows of one tensor after the other, so many that what is written of them stays in L1; long ones as they come. */
static void join_rows(void *ctx, int64_t begin, int64_t end)
{
    const stretches *q = ctx;
    const int64_t rows = BLOCK_BYTES / q->row + 1;
    for (int64_t o = begin, n; o < end; o += n) {
        char *to = q->out + o * q->row;
        n = end - o < rows ? end - o : rows;
        for (int k = 0; k < q->count; to += q->bytes[k++])
            if (q->bytes[k] >= LONG_STRETCH)
                for (int64_t r = 0; r < n; ++r)
                    fc_move_bytes(to + r * q->row, q->from[k] + (o + r) * q->bytes[k], (size_t)q->bytes[k]);
            else if (q->bytes[k])
                fc_packs(to, q->row, q->from[k] + o * q->bytes[k], q->bytes[k], q->bytes[k], n);
    }
}

/* Dense tensors side by side: the result is written from its begin to its end. 0 where they are not of that kind. */
static int join_dense(fc_call *c, int64_t outer)
{
    fc_tensor *out = c->out[0];
    stretches q = { .out = out->data, .count = c->nt };
    if (outer < 2 || c->nt > MOST_JOINED || !out->contiguous)
        return 0;
    for (int k = 0; k < c->nt; ++k) {
        const fc_tensor *t = c->t[k];
        q.from[k] = t->data;
        q.bytes[k] = t->numel / outer * fc_dt_size[t->dtype];
        q.row += q.bytes[k];
        if (!t->contiguous || t->dtype != out->dtype)
            return 0;
    }
    if (q.row)
        fc_parallel(outer, GRAIN_BYTES / q.row, join_rows, &q);
    return 1;
}

/* Each tensor is copied to its part of the result. Tensors come as they are: AS_IT_LIES in ops.def. */
static int join(fc_call *c, int stacked)
{
    fc_tensor *out = c->out[0];
    const int dim = (int)c->i[0], size = fc_dt_size[out->dtype];
    if (c->nt == 2 && out->ndim && dim == out->ndim - 1 && out->shape[dim] == 2) {
        const fc_tensor *a = c->t[0], *b = c->t[1];
        if (a->contiguous && b->contiguous && a->numel == b->numel && a->dtype == out->dtype && b->dtype == out->dtype) {
            interleave(out->data, a->data, b->data, size, a->numel);
            return FC_OK;
        }
    }
    int64_t outer = 1, inner = 1, at = 0;
    for (int d = 0; d < out->ndim; ++d)
        if (d < dim)
            outer *= out->shape[d];
        else if (d > dim)
            inner *= out->shape[d];
    if (join_dense(c, outer))
        return FC_OK;
    for (int k = 0; k < c->nt; ++k) {
        fc_tensor *t = c->t[k];
        if ((!stacked && fc_is_skipped(t)) || !t->numel)
            continue;
        const int64_t count = stacked ? 1 : t->shape[dim], from = at;
        at += count;
        if (outer == 1 && t->contiguous && t->numel <= SHORT) {
            fc_convert(out->dtype, out->data + from * inner * size, t->dtype, t->data, t->numel);
            continue;
        }
        fc_part part;
        fc_part_of(&part, out);
        fc_part_slice(&part, dim, from, count, 1);
        if (stacked)
            fc_part_drop(&part, dim);
        fc_copy_nest(&part.head, t);
    }
    return FC_OK;
}

int fc_cpu_cat(fc_call *c) { return join(c, 0); }

int fc_cpu_stack(fc_call *c) { return join(c, 1); }

int fc_cpu__cat_flat(fc_call *c)
{
    fc_tensor *out = c->out[0];
    char *to = out->data;
    for (int k = 0; k < c->nt; ++k) {
        fc_tensor *t = c->t[k];
        fc_part part;
        if (t->contiguous && t->numel <= SHORT)
            fc_convert(out->dtype, to, t->dtype, t->data, t->numel);
        else {
            fc_part_dense(&part, out, to, t);
            fc_copy_nest(&part.head, t);
        }
        to += t->numel * fc_dt_size[out->dtype];
    }
    return FC_OK;
}
