/*
 * The float8 dtypes to and from float32, as PyTorch 2.13 has them: to nearest, ties to even, every input defined. One line of FC_FLOAT8
 * says all that sets a format apart:
 *
 *   fraction   bits of the significand without the hidden one
 *   bias       of the exponent
 *   largest    code of what is too large: the largest number (e4m3fn saturates), infinity (e5m2), NaN (the fnuz ones)
 *   nan        code of NaN; with a sign where the format has signed zeros, too
 *   first_nan  the least magnitude that is none, 0x80 where only the code 0x80 is NaN
 *
 * Of the fnuz formats zero has no sign: its code would be NaN's. e8m0fnu is an exponent alone, without sign and zero (float8.c).
 */
#ifndef FC_FLOAT8_H
#define FC_FLOAT8_H

#include <stdint.h>

#include "dtype.h"

/*         name, dtype                   fraction bias largest nan  first_nan */
#define FC_FLOAT8(X)                                                  \
    X(f8e4m3fn, FC_F8E4M3FN,             3, 7,  0x7e, 0x7f, 0x7f)     \
    X(f8e5m2, FC_F8E5M2,                 2, 15, 0x7c, 0x7f, 0x7d)     \
    X(f8e4m3fnuz, FC_F8E4M3FNUZ,         3, 8,  0x80, 0x80, 0x80)     \
    X(f8e5m2fnuz, FC_F8E5M2FNUZ,         2, 16, 0x80, 0x80, 0x80)

#define FC_DECLARE_FLOAT8(name, ...)                                  \
    void fc_##name##_to_f32(void *to, const void *from, int64_t n);   \
    void fc_f32_to_##name(void *to, const void *from, int64_t n);
FC_FLOAT8(FC_DECLARE_FLOAT8)
FC_DECLARE_FLOAT8(f8e8m0fnu)
#undef FC_DECLARE_FLOAT8

#endif
