/* What the normalisations share: argument checks. */
#ifndef FC_NORM_H
#define FC_NORM_H

#include "../../core/call.h"
#include "same.h"

/* A sum over a plane or a channel of: x, (x - mean)^2, g, or g * (x - mean). */
typedef enum { SUM_X, SUM_DEV, SUM_G, SUM_GX } fc_plane_sum;

enum { FC_SMALL_PLANE = 16 }; /* elements; planes.h */

/* Statistics of halves are kept in float32. */
static inline int fc_stat_dtype(int dtype) { return fc_is_half(dtype) ? FC_F32 : dtype; }

/* Argument number `k` (may be NULL): of x's dtype, with the sizes of x's dims first .. last - 1. */
static inline int fc_check_affine(const fc_tensor *x, const fc_tensor *w, int k, int first, int last)
{
    if (!w)
        return FC_OK;
    if (w->dtype != x->dtype)
        return fc_fail(FC_MIXED, 0, x->dtype, k, w->dtype);
    if (w->ndim != last - first)
        return fc_fail(FC_RANK, k, w->ndim, last - first, 0);
    for (int j = 0; j < w->ndim; ++j)
        if (w->shape[j] != x->shape[first + j])
            return fc_fail(FC_SIZE, 0, x->shape[first + j], k, w->shape[j]);
    return FC_OK;
}

/* x: floating, with at least `least` dims. */
static inline int fc_check_normed(const fc_tensor *x, int64_t least)
{
    if (!fc_is_float(x->dtype))
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    if (least < 1 || x->ndim < least)
        return fc_fail(FC_RANK, 0, x->ndim, least < 1 ? 1 : least, 0);
    return FC_OK;
}

/* The product of dims first .. last - 1. */
static inline int64_t fc_extent(const fc_tensor *x, int first, int last)
{
    int64_t n = 1;
    for (int k = first; k < last; ++k)
        n *= x->shape[k];
    return n;
}

#endif
