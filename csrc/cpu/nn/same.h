/* Argument checks of gradient rows: they are called by derivative rules, but what reaches C is checked in C. */
#ifndef FC_SAME_H
#define FC_SAME_H

#include "../../core/call.h"

/* Tensors a and b (numbers in the call) have one shape, and one dtype where kernels see them: halves come as float32. */
static inline int fc_check_same(const fc_call *c, int a, int b)
{
    const fc_tensor *x = c->t[a], *y = c->t[b];
    if ((fc_is_half(x->dtype) ? FC_F32 : x->dtype) != (fc_is_half(y->dtype) ? FC_F32 : y->dtype))
        return fc_fail(FC_MIXED, a, x->dtype, b, y->dtype);
    if (x->ndim != y->ndim)
        return fc_fail(FC_RANK, b, y->ndim, x->ndim, 0);
    for (int k = 0; k < x->ndim; ++k)
        if (x->shape[k] != y->shape[k])
            return fc_fail(FC_SIZE, a, x->shape[k], b, y->shape[k]);
    return FC_OK;
}

/* Tensor k has dtype x's, or x's float32 statistics' where x is a half; and n elements. */
static inline int fc_check_part(const fc_call *c, const fc_tensor *x, int k, int64_t n)
{
    const fc_tensor *t = c->t[k];
    if (t->dtype != x->dtype && !(fc_is_half(x->dtype) && t->dtype == FC_F32))
        return fc_fail(FC_MIXED, 0, x->dtype, k, t->dtype);
    if (t->numel != n)
        return fc_fail(FC_SIZE, 0, n, k, t->numel);
    return FC_OK;
}

#endif
