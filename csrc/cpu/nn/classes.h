/*
 * What cross_entropy and nll_loss share: input (N, C, d1, ...) or (C), target (N, d1, ...) or (), int64, optional weight (C).
 * Seen as input (outer, classes, inner) and target (outer, inner).
 */
#ifndef FC_CLASSES_H
#define FC_CLASSES_H

#include "../../core/call.h"
#include "../parallel.h"

enum { FC_REDUCE_NONE, FC_REDUCE_MEAN, FC_REDUCE_SUM };

typedef struct { int64_t outer, classes, inner; } fc_classes;

static inline fc_classes fc_classes_of(const fc_tensor *input)
{
    fc_classes s = {1, 1, 1};
    if (input->ndim == 1)
        s.classes = input->shape[0];
    else {
        s.outer = input->shape[0];
        s.classes = input->shape[1];
        for (int k = 2; k < input->ndim; ++k)
            s.inner *= input->shape[k];
    }
    return s;
}

/* Statistics of halves are kept in float32. */
static inline int fc_wide(int dtype) { return fc_is_half(dtype) ? FC_F32 : dtype; }

/* Arguments: 0 input, 1 target, weight (may be NULL) as number `w` of the signature. */
static inline int fc_check_classes(const fc_tensor *input, const fc_tensor *target, const fc_tensor *weight, int w)
{
    if (!fc_is_float(input->dtype))
        return fc_fail(FC_DTYPE, input->dtype, 0, 0, 0);
    if (target->dtype != FC_I64)
        return fc_fail(FC_DTYPE, target->dtype, 1, 0, 0);
    if (input->ndim < 1)
        return fc_fail(FC_RANK, 0, input->ndim, 1, 0);
    const int skip = input->ndim == 1 ? 0 : 1;
    if (target->ndim != input->ndim - 1)
        return fc_fail(FC_RANK, 1, target->ndim, input->ndim - 1, 0);
    for (int k = 0; k < target->ndim; ++k) {
        const int64_t size = input->shape[k < skip ? k : k + 1];
        if (target->shape[k] != size)
            return fc_fail(FC_SIZE, 0, size, 1, target->shape[k]);
    }
    if (!weight)
        return FC_OK;
    if (weight->dtype != input->dtype)
        return fc_fail(FC_MIXED, 0, input->dtype, w, weight->dtype);
    const int64_t classes = input->shape[skip];
    if (weight->ndim != 1 || weight->shape[0] != classes)
        return fc_fail(FC_SIZE, 0, classes, w, weight->ndim == 1 ? weight->shape[0] : -1);
    return FC_OK;
}

/* FC_INDEX for the first target that is no class and not ignored. */
static inline int fc_check_targets(const fc_tensor *target, int64_t classes, int64_t ignore)
{
    const int64_t *t = FC_DATA(const int64_t, target);
    for (int64_t k = 0; k < target->numel; ++k)
        if ((uint64_t)t[k] >= (uint64_t)classes && t[k] != ignore)
            return fc_fail(FC_INDEX, t[k], classes, 1, 0);
    return FC_OK;
}

#endif
