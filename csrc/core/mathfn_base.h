/* What every mathfn file stands on: the element types, bit casts, and one spelling of fused multiply-add. */
#ifndef FC_MATHFN_BASE_H
#define FC_MATHFN_BASE_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "dtype.h"
#include "half.h"
#include "isa.h"

/* Always inlined: a loop that calls does not vectorise, and gcc gives up inlining at the size of these bodies. But where size is
 * all (level v2), one function serves every loop. */
#if defined(__GNUC__) && !defined(__OPTIMIZE_SIZE__)
#define FC_MATH static inline __attribute__((always_inline))
#define FC_MATH_CALLED static __attribute__((noinline, unused)) /* too long to be copied into every loop */
#else
#define FC_MATH static inline
#define FC_MATH_CALLED static inline
#endif

/* a * b + c. One rounding where the machine has the instruction (v3 and up: part of the promise); below, two roundings, because
 * fma() there is a library call a hundred times slower. */
FC_MATH f32 fc_fma_f32(f32 a, f32 b, f32 c)
{
#if FC_HAS_FMA
    return fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

FC_MATH f64 fc_fma_f64(f64 a, f64 b, f64 c)
{
#if FC_HAS_FMA
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* a mod b for a / b below FC_QUOTIENT_LIMIT, both positive: a - trunc(a / b) b has no rounding (float: in double; double: by fma), and
 * the quotient is at most one off. */
#define FC_QUOTIENT_LIMIT 0x1p28f

static inline f32 fc_small_fmod_f32(f32 a, f32 b)
{
    const f64 r = a - trunc((f64)a / b) * b;
    return (f32)(r < 0 ? r + b : r >= b ? r - b : r);
}

static inline f64 fc_small_fmod_f64(f64 a, f64 b)
{
#if FC_HAS_FMA
    const f64 r = fma(-trunc(a / b), b, a);
    return r < 0 ? r + b : r >= b ? r - b : r;
#else
    return fmod(a, b);
#endif
}

#endif
