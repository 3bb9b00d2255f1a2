/*
 * Conversions that are defined for every input, the same bytes at every ISA level: what the plain C cast leaves undefined (NaN,
 * infinities, out of range) gets the values that PyTorch 2.13 shows on x86.
 *
 *   int8, int16, uint16     through int32: the low bits of it
 *   uint8, uint32           through int64
 *   int32, int64            out of range and NaN give the most negative number
 *   uint64                  through int64; from 2**63 on, through int64 of x - 2**63, top bit flipped
 *   bool                    x != 0; NaN is true
 *
 * (PyTorch's own vector loop for uint32 differs from its scalar one out of range; this is the scalar one.)
 * Halves: half.h, here under the names that say both ends.
 */
#ifndef FC_CONVERT_H
#define FC_CONVERT_H

#include <stdint.h>

#include "dtype.h"
#include "half.h"

static inline f32 fc_f16_to_f32(uint16_t h)  { return fc_f32_of_f16(h); }
static inline uint16_t fc_f32_to_f16(f32 x)  { return fc_f16_of_f32(x); }
static inline f32 fc_bf16_to_f32(uint16_t h) { return fc_f32_of_bf16(h); }
static inline uint16_t fc_f32_to_bf16(f32 x) { return fc_bf16_of_f32(x); }

/* LOW: the largest T that int32 truncation cannot take. Doubles reach halves through float: two roundings, as PyTorch. */
#define FC_TO_INTEGERS(T, t, LOW)                                                                                        \
    static inline int32_t fc_##t##_to_i32(T x)                                                                           \
    {                                                                                                                    \
        return x > (T)LOW && x < (T)0x1p31 ? (int32_t)x : INT32_MIN;                                                     \
    }                                                                                                                    \
    static inline int64_t fc_##t##_to_i64(T x)                                                                           \
    {                                                                                                                    \
        return x >= (T)-0x1p63 && x < (T)0x1p63 ? (int64_t)x : INT64_MIN;                                                \
    }                                                                                                                    \
    static inline int8_t fc_##t##_to_i8(T x)     { return (int8_t)fc_##t##_to_i32(x); }                                  \
    static inline int16_t fc_##t##_to_i16(T x)   { return (int16_t)fc_##t##_to_i32(x); }                                 \
    static inline uint16_t fc_##t##_to_u16(T x)  { return (uint16_t)fc_##t##_to_i32(x); }                                \
    static inline uint8_t fc_##t##_to_u8(T x)    { return (uint8_t)fc_##t##_to_i64(x); }                                 \
    static inline uint32_t fc_##t##_to_u32(T x)  { return (uint32_t)fc_##t##_to_i64(x); }                                \
    static inline uint64_t fc_##t##_to_u64(T x)                                                                          \
    {                                                                                                                    \
        return x >= (T)0x1p63 ? (uint64_t)fc_##t##_to_i64(x - (T)0x1p63) ^ UINT64_C(1) << 63                             \
                              : (uint64_t)fc_##t##_to_i64(x);                                                            \
    }                                                                                                                    \
    static inline uint8_t fc_##t##_to_bool(T x)  { return x != 0; }

FC_TO_INTEGERS(f32, f32, -2147483904.0)
FC_TO_INTEGERS(f64, f64, -2147483649.0)
#undef FC_TO_INTEGERS

#endif
