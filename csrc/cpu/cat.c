/*
 * Tensors joined along one dim; the other sizes agree, dtypes are promoted.
 *
 * A 1-d tensor of no elements is skipped whatever the others' rank, as in PyTorch.
 */
#include "facula.h"
#include "../core/call.h"
#include "../core/cast.h"
#include "../core/copy_nest.h"
#include "../core/promote.h"

static int fc_is_skipped(const fc_tensor *t) { return t->ndim == 1 && t->shape[0] == 0; }

int fc_infer_cat(fc_call *c)
{
    const fc_tensor *first = NULL;
    fc_promotion p = FC_PROMOTION_START;
    int64_t shape[FC_MAX_DIMS];
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

static void interleave(char *restrict out, const char *restrict a, const char *restrict b, int size, int64_t n)
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

/* Each tensor is copied to its part of the result, through a view of that part. Tensors come as they are: see fc_takes_as_is. */
int fc_cpu_cat(fc_call *c)
{
    fc_tensor *out = c->out[0];
    const int64_t dim = c->i[0];
    const int size = fc_dt_size[out->dtype];
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
    for (int k = 0; k < c->nt; ++k) {
        fc_tensor *t = c->t[k];
        if (fc_is_skipped(t) || !t->numel)
            continue;
        char *to = out->data + at * inner * size;
        at += t->shape[dim];
        if (outer == 1 && t->contiguous && t->numel <= 4096) {
            fc_convert(out->dtype, to, t->dtype, t->data, t->numel);
            continue;
        }
        struct { fc_tensor head; int64_t room[2 * FC_MAX_DIMS]; } part = { .head = *out };
        part.head.data = to;
        part.head.numel = t->numel;
        part.head.contiguous = outer == 1;
        part.head.stride = part.room + FC_MAX_DIMS;
        for (int d = 0; d < t->ndim; ++d) {
            part.room[d] = t->shape[d];
            part.head.stride[d] = out->stride[d];
        }
        fc_copy_nest(&part.head, t);
    }
    return FC_OK;
}
