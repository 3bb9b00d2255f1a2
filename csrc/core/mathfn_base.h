/* What every mathfn file stands on: the element types, bit casts, and one spelling of fused multiply-add. */
#ifndef FC_MATHFN_BASE_H
#define FC_MATHFN_BASE_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "dtype.h"
#include "half.h"
#include "isa.h"

/* a * b + c. One rounding where the machine has the instruction (v3 and up: part of the promise); below, two roundings, because
 * fma() there is a library call a hundred times slower. */
static inline f32 fc_fma_f32(f32 a, f32 b, f32 c)
{
#if FC_HAS_FMA
    return fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

static inline f64 fc_fma_f64(f64 a, f64 b, f64 c)
{
#if FC_HAS_FMA
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

#endif
