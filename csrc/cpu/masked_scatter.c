/*
 * masked_scatter(input, mask, source): input with the elements of source, in order, where mask is true. input and mask have one shape.
 */
#include <string.h>

#include "../core/call.h"
#include "../core/move.h"

/* input, mask, source */
int fc_infer_masked_scatter(fc_call *c)
{
    const fc_tensor *x = c->t[0], *mask = c->t[1], *source = c->t[2];
    if (mask->dtype != FC_BOOL)
        return fc_fail(FC_DTYPE, mask->dtype, 1, 0, 0);
    if (source->dtype != x->dtype)
        return fc_fail(FC_MIXED, 0, x->dtype, 2, source->dtype);
    if (mask->ndim != x->ndim)
        return fc_fail(FC_RANK, 1, mask->ndim, x->ndim, 0);
    for (int d = 0; d < x->ndim; ++d)
        if (mask->shape[d] != x->shape[d])
            return fc_fail(FC_SHAPE, d, x->shape[d], mask->shape[d], 1);
    return fc_declare(c, 0, x->dtype, x->ndim, x->shape);
}

/* Up to the last true element, without a branch on the mask; `left` of them are still to come, so source is never left. */
#define SCATTER(T)                                                             \
    for (int64_t j = 0; left > 0; ++k) {                                       \
        ((T *)out)[k] = mask[k] ? ((const T *)source)[j] : ((const T *)x)[k];  \
        j += mask[k] != 0;                                                     \
        left -= mask[k] != 0;                                                  \
    }                                                                          \
    break

int fc_cpu_masked_scatter(fc_call *c)
{
    const fc_tensor *t = c->t[0];
    const uint8_t *mask = FC_DATA(uint8_t, c->t[1]);
    const char *x = t->data, *source = c->t[2]->data;
    char *out = c->out[0]->data;
    const int size = fc_dt_size[t->dtype];
    int64_t left = 0, k = 0;
    for (int64_t i = 0; i < t->numel; ++i)
        left += mask[i] != 0;
    if (left > c->t[2]->numel)
        return fc_fail(FC_ARG, 2, c->t[2]->numel, left, 0);
    switch (size) {
    case 1: SCATTER(uint8_t);
    case 2: SCATTER(uint16_t);
    case 4: SCATTER(uint32_t);
    case 8: SCATTER(uint64_t);
    default: SCATTER(c128);
    }
    if (out != x) /* in place the rest is there */
        fc_move_bytes(out + k * size, x + k * size, (size_t)((t->numel - k) * size));
    return FC_OK;
}

#undef SCATTER
