/* Conversion between element types: every pair is one loop, and every input has one defined result (PyTorch's on x86), which a
 * plain C cast does not give: there float to integer out of range is undefined and differs between ISA levels. */
#include "cast_pairs.h"
#include "half.h"
#include "mathfn.h"

/* Out of range and NaN give the most negative number, as cvttsd2si does; narrower types take the low bits. */
static inline int32_t fc_int32_of(double v) { return v > -2147483649.0 && v < 2147483648.0 ? (int32_t)v : INT32_MIN; }
static inline int64_t fc_int64_of(double v) { return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : INT64_MIN; }
/* uint64: values from 2^63 on are reached from 2^63 below, then the same rule */
static inline uint64_t fc_uint64_of(double v)
{
    return v < 9223372036854775808.0 ? (uint64_t)fc_int64_of(v) : (uint64_t)fc_int64_of(v - 9223372036854775808.0) ^ (1ull << 63);
}

#define AS_bool(v) ((uint8_t)((v) != 0))
#define AS_f32(v) ((f32)(v))
#define AS_f64(v) ((f64)(v))
#define AS_f16(v) fc_f16_of_f32((f32)(v))
#define AS_bf16(v) fc_bf16_of_f32((f32)(v))
#define AS_c64(v) fc_make_c64((f32)(v), 0)
#define AS_c128(v) fc_make_c128((f64)(v), 0)

/* from integers: wrap; from floats: the rules above */
#define WAS_u8(v) ((uint8_t)(v))
#define WAS_i8(v) ((int8_t)(v))
#define WAS_i16(v) ((int16_t)(v))
#define WAS_i32(v) ((int32_t)(v))
#define WAS_i64(v) ((int64_t)(v))
#define WAS_u16(v) ((uint16_t)(v))
#define WAS_u32(v) ((uint32_t)(v))
#define WAS_u64(v) ((uint64_t)(v))
#define FAS_u8(v) ((uint8_t)fc_int32_of(v))
#define FAS_i8(v) ((int8_t)fc_int32_of(v))
#define FAS_i16(v) ((int16_t)fc_int32_of(v))
#define FAS_i32(v) fc_int32_of(v)
#define FAS_i64(v) fc_int64_of(v)
#define FAS_u16(v) ((uint16_t)fc_int32_of(v))
#define FAS_u32(v) ((uint32_t)fc_int64_of(v))
#define FAS_u64(v) fc_uint64_of(v)

#define LOAD_PLAIN(v) (v)
#define LOAD_f16(v) fc_f32_of_f16(v)
#define LOAD_bf16(v) fc_f32_of_bf16(v)
#define LOAD_c64(v) fc_real_c64(v)
#define LOAD_c128(v) fc_real_c128(v)

#define PAIR(from, from_t, load, to, to_t, as)                                                         \
    static void fc_##from##_to_##to(void *to_, const void *from_, int64_t n)                           \
    {                                                                                                  \
        to_t *t = to_;                                                                                 \
        const from_t *f = from_;                                                                       \
        for (int64_t i = 0; i < n; ++i)                                                                \
            t[i] = as(load(f[i]));                                                                     \
    }

#define TO_INTS(from, from_t, load, P)                                                                 \
    PAIR(from, from_t, load, u8, uint8_t, P##AS_u8) PAIR(from, from_t, load, i8, int8_t, P##AS_i8)     \
    PAIR(from, from_t, load, i16, int16_t, P##AS_i16) PAIR(from, from_t, load, i32, int32_t, P##AS_i32) \
    PAIR(from, from_t, load, i64, int64_t, P##AS_i64) PAIR(from, from_t, load, u16, uint16_t, P##AS_u16) \
    PAIR(from, from_t, load, u32, uint32_t, P##AS_u32) PAIR(from, from_t, load, u64, uint64_t, P##AS_u64)

#define TO_HALVES(from, from_t, load)                                                                  \
    PAIR(from, from_t, load, bool, uint8_t, AS_bool) PAIR(from, from_t, load, f16, uint16_t, AS_f16)   \
    PAIR(from, from_t, load, bf16, uint16_t, AS_bf16)

#define TO_WIDE(from, from_t, load)                                                                    \
    PAIR(from, from_t, load, f64, f64, AS_f64) PAIR(from, from_t, load, c64, c64, AS_c64)              \
    PAIR(from, from_t, load, c128, c128, AS_c128)

#define TO_REST(from, from_t, load)                                                                    \
    TO_HALVES(from, from_t, load) PAIR(from, from_t, load, f32, f32, AS_f32) TO_WIDE(from, from_t, load)

#define FROM(from, from_t, load, P) TO_INTS(from, from_t, load, P) TO_REST(from, from_t, load)

FROM(bool, uint8_t, LOAD_PLAIN, W)
FROM(u8, uint8_t, LOAD_PLAIN, W)
FROM(i8, int8_t, LOAD_PLAIN, W)
FROM(i16, int16_t, LOAD_PLAIN, W)
FROM(i32, int32_t, LOAD_PLAIN, W)
FROM(i64, int64_t, LOAD_PLAIN, W)
FROM(u16, uint16_t, LOAD_PLAIN, W)
FROM(u32, uint32_t, LOAD_PLAIN, W)
FROM(u64, uint64_t, LOAD_PLAIN, W)
TO_INTS(f16, uint16_t, LOAD_f16, F)
TO_HALVES(f16, uint16_t, LOAD_f16)
TO_WIDE(f16, uint16_t, LOAD_f16)
FROM(bf16, uint16_t, LOAD_bf16, F)
TO_INTS(f32, f32, LOAD_PLAIN, F)
PAIR(f32, f32, LOAD_PLAIN, bool, uint8_t, AS_bool) PAIR(f32, f32, LOAD_PLAIN, bf16, uint16_t, AS_bf16)
PAIR(f32, f32, LOAD_PLAIN, f32, f32, AS_f32)
TO_WIDE(f32, f32, LOAD_PLAIN)
FROM(f64, f64, LOAD_PLAIN, F)
TO_INTS(c64, c64, LOAD_c64, F)
TO_INTS(c128, c128, LOAD_c128, F)

/* complex to real keeps the real part; to bool asks both */
#define CBOOL(from) static void fc_##from##_to_bool(void *t, const void *f, int64_t n)                 \
    { for (int64_t i = 0; i < n; ++i) ((uint8_t *)t)[i] = ((const from *)f)[i] != 0; }
CBOOL(c64)
CBOOL(c128)
PAIR(c64, c64, LOAD_c64, f16, uint16_t, AS_f16) PAIR(c64, c64, LOAD_c64, bf16, uint16_t, AS_bf16)
PAIR(c64, c64, LOAD_c64, f32, f32, AS_f32) PAIR(c64, c64, LOAD_c64, f64, f64, AS_f64)
PAIR(c128, c128, LOAD_c128, f16, uint16_t, AS_f16) PAIR(c128, c128, LOAD_c128, bf16, uint16_t, AS_bf16)
PAIR(c128, c128, LOAD_c128, f32, f32, AS_f32) PAIR(c128, c128, LOAD_c128, f64, f64, AS_f64)
PAIR(c64, c64, LOAD_PLAIN, c64, c64, LOAD_PLAIN) PAIR(c64, c64, LOAD_PLAIN, c128, c128, (c128))
PAIR(c128, c128, LOAD_PLAIN, c64, c64, (c64)) PAIR(c128, c128, LOAD_PLAIN, c128, c128, LOAD_PLAIN)

#define fc_f32_to_f16 FC_ISA_NAME(fc_narrow_f16)
#define fc_f16_to_f32 FC_ISA_NAME(fc_widen_f16)

#define ROW(from)                                                                                      \
    { fc_##from##_to_bool, fc_##from##_to_u8, fc_##from##_to_i8, fc_##from##_to_i16, fc_##from##_to_i32, \
      fc_##from##_to_i64, fc_##from##_to_u16, fc_##from##_to_u32, fc_##from##_to_u64, fc_##from##_to_f16, \
      fc_##from##_to_bf16, fc_##from##_to_f32, fc_##from##_to_f64, fc_##from##_to_c64, fc_##from##_to_c128 }

const fc_cast FC_ISA_NAME(fc_casts)[FC_NDTYPES][FC_NDTYPES] = {
    ROW(bool), ROW(u8), ROW(i8), ROW(i16), ROW(i32), ROW(i64), ROW(u16), ROW(u32), ROW(u64), ROW(f16), ROW(bf16),
    ROW(f32), ROW(f64), ROW(c64), ROW(c128),
};
