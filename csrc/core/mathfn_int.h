/* Integer arithmetic that is defined for every input: division by zero sets *fault (PyTorch raises), the most negative number wraps. */
#ifndef FC_MATHFN_INT_H
#define FC_MATHFN_INT_H

#include <stdint.h>

/* signed S and its unsigned U, name t */
#define FC_INT_SIGNED(S, U, t)                                                                                    \
    static inline S fc_neg_##t(S x)  { return (S)(0 - (U)x); }                                                           \
    static inline S fc_abs_##t(S x)  { return x < 0 ? (S)(0 - (U)x) : x; }                                               \
    static inline S fc_sign_##t(S x) { return (S)((S)(x > 0) | -(S)(x < 0)); } /* in S: gcc would narrow to int between */ \
    static inline int fc_signbit_##t(S x) { return x < 0; }                                                              \
    /* 1 / x**n truncated: only 1 and -1 leave anything */                                                               \
    static inline S fc_pow_##t(S x, S y)                                                                                 \
    {                                                                                                                    \
        if (y < 0)                                                                                                       \
            return x == 1 ? 1 : x == -1 ? (S)(y % 2 ? -1 : 1) : 0;                                                       \
        uint64_t result = 1, square = (uint64_t)(int64_t)x;                                                              \
        for (; y; y = (S)(y >> 1), square *= square)                                                                     \
            result *= y & 1 ? square : 1;                                                                                \
        return (S)result;                                                                                                \
    }                                                                                                                    \
    static inline S fc_gcd_##t(S x, S y)                                                                                 \
    {                                                                                                                    \
        S a = x < 0 ? (S)(0 - (U)x) : x, b = y < 0 ? (S)(0 - (U)y) : y; /* the least one stays negative, as PyTorch has it */ \
        while (a) { const S r = a == -1 ? 0 : (S)(b % a); b = a; a = r; }                                                \
        return b;                                                                                                        \
    }

#define FC_INT_UNSIGNED(U, t)                                                                                     \
    static inline U fc_neg_##t(U x)  { return (U)(0 - x); }                                                              \
    static inline U fc_abs_##t(U x)  { return x; }                                                                       \
    static inline U fc_sign_##t(U x) { return x > 0; }                                                                   \
    static inline int fc_signbit_##t(U x) { (void)x; return 0; }                                                         \
    static inline U fc_pow_##t(U x, U y)                                                                                 \
    {                                                                                                                    \
        uint64_t result = 1, square = x;                                                                                 \
        for (; y; y = (U)(y >> 1), square *= square)                                                                     \
            result *= y & 1 ? square : 1;                                                                                \
        return (U)result;                                                                                                \
    }                                                                                                                    \
    static inline U fc_gcd_##t(U x, U y)                                                                                 \
    {                                                                                                                    \
        while (y) { const U r = (U)(x % y); x = y; y = r; }                                                              \
        return x;                                                                                                        \
    }

#define FC_INT_ANY(I, t)                                                                                                 \
    static inline I fc_maximum_##t(I x, I y) { return x > y ? x : y; }                                                   \
    static inline I fc_minimum_##t(I x, I y) { return x < y ? x : y; }                                                   \
    static inline I fc_fmax_##t(I x, I y) { return x > y ? x : y; }                                                      \
    static inline I fc_fmin_##t(I x, I y) { return x < y ? x : y; }                                                      \
    static inline I fc_clamp_##t(I x, I low, I high) { return fc_minimum_##t(fc_maximum_##t(x, low), high); }            \
    static inline I fc_heaviside_##t(I x, I y) { return x == 0 ? y : (I)(x > 0); }                                       \
    static inline I fc_sgn_##t(I x) { return fc_sign_##t(x); }                                                           \
    static inline I fc_lcm_##t(I x, I y)                                                                                 \
    {                                                                                                                    \
        const I g = fc_gcd_##t(x, y);                                                                                    \
        const uint64_t part = (I)-1 < (I)1 && g == (I)-1 ? 0 - (uint64_t)x : g == 0 ? 0 : (uint64_t)(x / g); /* the least integer by -1 has no quotient */ \
        if (sizeof(I) < 4) { /* in int, of which the low bits are kept: PyTorch's way round */                          \
            const int64_t whole = (int64_t)(part * (uint64_t)y);                                                         \
            return (I)(whole < 0 ? -whole : whole);                                                                      \
        }                                                                                                                \
        return fc_abs_##t((I)(part * (uint64_t)y));                                                                      \
    }

/* Division: from the quotient cut, in integers W that hold it. */
#define FC_INT_DIVIDE(S, W, CUT, UNLIKE, t)                                                                                      \
    static inline S fc_trunc_divide_##t(S x, S y, int *fault)                                                            \
    {                                                                                                                    \
        *fault |= y == 0;                                                                                                \
        return (S)(y == 0 ? 0 : CUT(x, y));                                                                              \
    }                                                                                                                    \
    static inline S fc_fmod_##t(S x, S y, int *fault)                                                                    \
    {                                                                                                                    \
        *fault |= y == 0;                                                                                                \
        return (S)(y == 0 ? 0 : x - CUT(x, y) * y);                                                                      \
    }                                                                                                                    \
    static inline S fc_remainder_##t(S x, S y, int *fault)                                                               \
    {                                                                                                                    \
        const W r = fc_fmod_##t(x, y, fault);                                                                            \
        return (S)(r + (UNLIKE(r, y) ? y : 0));                                                                         \
    }                                                                                                                    \
    static inline S fc_floor_divide_##t(S x, S y, int *fault)                                                            \
    {                                                                                                                    \
        *fault |= y == 0;                                                                                                \
        const W q = y == 0 ? 0 : CUT(x, y), r = y == 0 ? 0 : x - q * y;                                                  \
        (void)r;                                                                                                         \
        return (S)(q - UNLIKE(r, y));                                                                                    \
    }

/* No vector divides integers, floats it does. A quotient x / y that is no integer lies 1 / |y| from the next one at least, and rounding
 * moves it by |x / y| 2**-24 in float32, 2**-53 in float64: by less, where |x| is below 2**24, or 2**53. So cutting it is exact. */
static inline int32_t fc_cut_f32(f32 x, f32 y) { return (int32_t)(x / y); }

static inline int32_t fc_cut_f64(f64 x, f64 y)
{
    const f64 q = x / y;
    return (int32_t)(q == 0x1p31 ? -0x1p31 : q); /* the least by -1 wraps */
}

#define FC_UNLIKE(r, y) (((r) != 0) & (((r) < 0) != ((y) < 0))) /* a remainder and a divisor of two signs */
#define FC_ALIKE(r, y) 0
#define FC_CUT_SINGLE(x, y) fc_cut_f32(x, (f32)((y) + ((y) == 0)))
#define FC_CUT_DOUBLE(x, y) fc_cut_f64(x, (f64)(y) + ((y) == 0))
#define FC_CUT_SIGNED(x, y) ((y) == -1 ? fc_neg_i64(x) : (x) / (y))
#define FC_CUT_UNSIGNED(x, y) ((x) / (y))

/* A shift by the width or more leaves nothing, or the sign; negative amounts count as too many. */
#define FC_SHIFT_SIGNED(S, U, WIDTH, t)                                                                                  \
    static inline S fc_lshift_##t(S x, S y) { return (U)y >= WIDTH ? 0 : (S)((U)x << y); }                               \
    static inline S fc_rshift_##t(S x, S y) { return (S)(x >> ((U)y >= WIDTH ? WIDTH - 1 : y)); }
#define FC_SHIFT_UNSIGNED(U, WIDTH, t)                                                                                   \
    static inline U fc_lshift_##t(U x, U y) { return y >= WIDTH ? 0 : (U)(x << y); }                                     \
    static inline U fc_rshift_##t(U x, U y) { return y >= WIDTH ? 0 : (U)(x >> y); }
FC_SHIFT_SIGNED(int32_t, uint32_t, 32, i32)
FC_SHIFT_SIGNED(int64_t, uint64_t, 64, i64)
FC_SHIFT_UNSIGNED(uint32_t, 32, u32)
FC_SHIFT_UNSIGNED(uint64_t, 64, u64)

/* Of bytes and of 16 bits below AVX-512 vectors have shifts by one amount alone, if any: shifts by constants, of which the bits of y choose. */
#define FC_SHIFTED(x, y, places, shift) ((y) & (places) ? (x) shift (places) : (x))
#define FC_SHIFT_NARROW(S, U, WIDTH, t, ut)                                                                              \
    FC_MATH U fc_lshift_##ut(U x, U y)                                                                                   \
    {                                                                                                                    \
        const U a = (U)FC_SHIFTED(x, y, 1, <<), b = (U)FC_SHIFTED(a, y, 2, <<), c = (U)FC_SHIFTED(b, y, 4, <<);          \
        return y >= WIDTH ? 0 : (U)FC_SHIFTED(c, y, WIDTH - 8, <<);                                                      \
    }                                                                                                                    \
    FC_MATH U fc_rshift_##ut(U x, U y)                                                                                   \
    {                                                                                                                    \
        const U a = (U)FC_SHIFTED(x, y, 1, >>), b = (U)FC_SHIFTED(a, y, 2, >>), c = (U)FC_SHIFTED(b, y, 4, >>);          \
        return y >= WIDTH ? 0 : (U)FC_SHIFTED(c, y, WIDTH - 8, >>);                                                      \
    }                                                                                                                    \
    FC_MATH S fc_lshift_##t(S x, S y) { return (S)fc_lshift_##ut((U)x, (U)y); }                                          \
    FC_MATH S fc_rshift_##t(S x, S y)                                                                                    \
    {                                                                                                                    \
        const U sign = x < 0 ? (U)-1 : 0;                                                                                \
        return (S)(fc_rshift_##ut((U)(x ^ sign), (U)y) ^ sign);                                                          \
    }
FC_SHIFT_NARROW(int8_t, uint8_t, 8, i8, u8) /* WIDTH - 8 places: none */
FC_SHIFT_NARROW(int16_t, uint16_t, 16, i16, u16)
#undef FC_SHIFTED
#undef FC_SHIFT_NARROW

FC_INT_SIGNED(int8_t,  uint8_t, i8)
FC_INT_SIGNED(int16_t, uint16_t, i16)
FC_INT_SIGNED(int32_t, uint32_t, i32)
FC_INT_SIGNED(int64_t, uint64_t, i64)
FC_INT_UNSIGNED(uint8_t, u8)
FC_INT_UNSIGNED(uint16_t, u16)
FC_INT_UNSIGNED(uint32_t, u32)
FC_INT_UNSIGNED(uint64_t, u64)
FC_INT_DIVIDE(int8_t, int32_t, FC_CUT_SINGLE, FC_UNLIKE, i8)
FC_INT_DIVIDE(int16_t, int32_t, FC_CUT_SINGLE, FC_UNLIKE, i16)
FC_INT_DIVIDE(int32_t, int32_t, FC_CUT_DOUBLE, FC_UNLIKE, i32)
FC_INT_DIVIDE(int64_t, int64_t, FC_CUT_SIGNED, FC_UNLIKE, i64)
FC_INT_DIVIDE(uint8_t, int32_t, FC_CUT_SINGLE, FC_ALIKE, u8)
FC_INT_DIVIDE(uint16_t, int32_t, FC_CUT_SINGLE, FC_ALIKE, u16)
FC_INT_DIVIDE(uint32_t, uint32_t, FC_CUT_UNSIGNED, FC_ALIKE, u32)
FC_INT_DIVIDE(uint64_t, uint64_t, FC_CUT_UNSIGNED, FC_ALIKE, u64)
FC_INT_ANY(int8_t, i8)
FC_INT_ANY(int16_t, i16)
FC_INT_ANY(int32_t, i32)
FC_INT_ANY(int64_t, i64)
FC_INT_ANY(uint8_t, u8)
FC_INT_ANY(uint16_t, u16)
FC_INT_ANY(uint32_t, u32)
FC_INT_ANY(uint64_t, u64)

#undef FC_INT_DIVIDE
#undef FC_UNLIKE
#undef FC_ALIKE
#undef FC_CUT_SINGLE
#undef FC_CUT_DOUBLE
#undef FC_CUT_SIGNED
#undef FC_CUT_UNSIGNED
#undef FC_INT_SIGNED
#undef FC_INT_UNSIGNED
#undef FC_INT_ANY
#undef FC_SHIFT_SIGNED
#undef FC_SHIFT_UNSIGNED

#endif
