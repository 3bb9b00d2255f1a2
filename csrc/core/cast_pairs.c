/* Conversion between element types: every pair is one loop, and every input has one defined result (PyTorch's on x86), which a
 * plain C cast does not give: there float to integer out of range is undefined and differs between ISA levels.
 * Halves and float8 have loops from and to float32, and bfloat16 from bytes and int32; what else they become, or are made of, goes by float32, and what
 * complex numbers become by their real parts (cast.c). */
#include "cast_pairs.h"
#include "float8.h"
#include "half.h"
#include "mathfn.h"

/* Out of range and NaN give the most negative number, as cvttsd2si does; narrower types take the low bits. */
static inline int32_t fc_int32_of(double v) { return v > -2147483649.0 && v < 2147483648.0 ? (int32_t)v : INT32_MIN; }
static inline int64_t fc_int64_of(double v) { return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : INT64_MIN; }
static inline int32_t fc_int32_of_f32(float v) { return v >= -0x1p31f && v < 0x1p31f ? (int32_t)v : INT32_MIN; }
#if FC_ISA_NUM != 4 /* has no such pair */
/* uint64: values from 2^63 on are reached from 2^63 below, then the same rule */
static inline uint64_t fc_uint64_of(double v)
{
    return v < 9223372036854775808.0 ? (uint64_t)fc_int64_of(v) : (uint64_t)fc_int64_of(v - 9223372036854775808.0) ^ (1ull << 63);
}
#endif

#define AS_bool(v) ((uint8_t)((v) != 0))
#define AS_f32(v) ((f32)(v))
#define AS_f64(v) ((f64)(v))
#define AS_c64(v) fc_make_c64((f32)(v), 0)
#define AS_c128(v) fc_make_c128((f64)(v), 0)

/* From integers: wrap; from floats: the rules above. What is written is the same for a signed type and for its unsigned one where
 * only low bits are kept: from floats to 8 and 16 bits, from integers always. */
#define WAS_u8(v) ((uint8_t)(v))
#define WAS_u16(v) ((uint16_t)(v))
#define WAS_u32(v) ((uint32_t)(v))
#define WAS_u64(v) ((uint64_t)(v))
#define FAS_u8(v) ((uint8_t)fc_int32_of_f32(v))
#define FAS_i32(v) fc_int32_of_f32(v)
#define FAS_i64(v) fc_int64_of(v)
#define FAS_u16(v) ((uint16_t)fc_int32_of_f32(v))
#define FAS_u32(v) ((uint32_t)fc_int64_of(v))
#define FAS_u64(v) fc_uint64_of(v)
#define DAS_u8(v) ((uint8_t)fc_int32_of(v))
#define DAS_i32(v) fc_int32_of(v)
#define DAS_i64(v) fc_int64_of(v)
#define DAS_u16(v) ((uint16_t)fc_int32_of(v))
#define DAS_u32(v) ((uint32_t)fc_int64_of(v))
#define DAS_u64(v) fc_uint64_of(v)

#define LOAD_PLAIN(v) (v)
#define LOAD_bool(v) ((v) != 0) /* a byte of a file or of another type's view may be any: what is not 0 is true */
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

#define fc_f32_to_f16 FC_ISA_NAME(fc_narrow_f16)
#define fc_f16_to_f32 FC_ISA_NAME(fc_widen_f16)
#define fc_f32_to_bf16 FC_ISA_NAME(fc_narrow_bf16)

/* What fits into eight bits is a bfloat16 as it is: the high half of the float32. */
#define AS_high(v) ((uint16_t)(fc_bits_f32((f32)(v)) >> 16))
PAIR(bool, uint8_t, LOAD_bool, bf16, uint16_t, AS_high)
PAIR(u8, uint8_t, LOAD_PLAIN, bf16, uint16_t, AS_high)
PAIR(i8, int8_t, LOAD_PLAIN, bf16, uint16_t, AS_high)
PAIR(i32, int32_t, LOAD_PLAIN, bf16, uint16_t, fc_bf16_of_f32)

#if FC_ISA_NUM == 4 /* the pairs that run 1.4 to 1.9 times faster on whole registers and are common; the others run v3's loops */
PAIR(bf16, uint16_t, LOAD_bf16, f32, f32, AS_f32)
PAIR(f32, f32, LOAD_PLAIN, i64, int64_t, FAS_i64)
PAIR(f64, f64, LOAD_PLAIN, i64, int64_t, DAS_i64) PAIR(i64, int64_t, LOAD_PLAIN, f32, f32, AS_f32)
PAIR(i64, int64_t, LOAD_PLAIN, f64, f64, AS_f64)
PAIR(f64, f64, LOAD_PLAIN, f32, f32, AS_f32) PAIR(f32, f32, LOAD_PLAIN, bool, uint8_t, AS_bool)

const fc_cast FC_ISA_NAME(fc_casts)[FC_NDTYPES][FC_NDTYPES] = {
    [FC_F32] = { [FC_F16] = fc_f32_to_f16, [FC_BF16] = fc_f32_to_bf16, [FC_I64] = fc_f32_to_i64, [FC_BOOL] = fc_f32_to_bool },
    [FC_F64] = { [FC_I64] = fc_f64_to_i64, [FC_F32] = fc_f64_to_f32 },
    [FC_I64] = { [FC_F32] = fc_i64_to_f32, [FC_F64] = fc_i64_to_f64 },
    [FC_BOOL] = { [FC_BF16] = fc_bool_to_bf16 }, [FC_U8] = { [FC_BF16] = fc_u8_to_bf16 }, [FC_I8] = { [FC_BF16] = fc_i8_to_bf16 },
    [FC_I32] = { [FC_BF16] = fc_i32_to_bf16 },
    [FC_F16] = { [FC_F32] = fc_f16_to_f32 }, [FC_BF16] = { [FC_F32] = fc_bf16_to_f32 },
};
#else
#define W_INTS(from, from_t, load)                                                                     \
    PAIR(from, from_t, load, u8, uint8_t, WAS_u8) PAIR(from, from_t, load, u16, uint16_t, WAS_u16)     \
    PAIR(from, from_t, load, u32, uint32_t, WAS_u32) PAIR(from, from_t, load, u64, uint64_t, WAS_u64)

#if FC_ISA_NUM == 3 /* cast_integers_simd.c */
#define F_CUTS(from, from_t, load, P)
#define fc_f32_to_u8 fc_cut_f32_u8
#define fc_f32_to_u16 fc_cut_f32_u16
#define fc_f32_to_i32 fc_cut_f32_i32
#define fc_f64_to_u8 fc_cut_f64_u8
#define fc_f64_to_u16 fc_cut_f64_u16
#define fc_f64_to_i32 fc_cut_f64_i32
#else
#define F_CUTS(from, from_t, load, P)                                                                  \
    PAIR(from, from_t, load, u8, uint8_t, P##AS_u8) PAIR(from, from_t, load, u16, uint16_t, P##AS_u16) \
    PAIR(from, from_t, load, i32, int32_t, P##AS_i32)
#endif
#define F_INTS(from, from_t, load, P)                                                                  \
    F_CUTS(from, from_t, load, P) PAIR(from, from_t, load, i64, int64_t, P##AS_i64)                    \
    PAIR(from, from_t, load, u32, uint32_t, P##AS_u32) PAIR(from, from_t, load, u64, uint64_t, P##AS_u64)

#define TO_REST(from, from_t, load)                                                                    \
    PAIR(from, from_t, load, bool, uint8_t, AS_bool) PAIR(from, from_t, load, f32, f32, AS_f32)        \
    PAIR(from, from_t, load, f64, f64, AS_f64) PAIR(from, from_t, load, c64, c64, AS_c64)              \
    PAIR(from, from_t, load, c128, c128, AS_c128)

#define FROM_INTEGER(from, from_t) W_INTS(from, from_t, LOAD_PLAIN) TO_REST(from, from_t, LOAD_PLAIN)
W_INTS(bool, uint8_t, LOAD_bool) TO_REST(bool, uint8_t, LOAD_bool)
FROM_INTEGER(u8, uint8_t)
FROM_INTEGER(i8, int8_t)
FROM_INTEGER(i16, int16_t)
FROM_INTEGER(i32, int32_t)
#if FC_ISA_NUM == 3 /* no instruction for it, but for near integers: 3 ns for 8 of them, one by one 5 */
#define fc_i64_to_f32 plain_i64_to_f32
#define fc_i64_to_f64 plain_i64_to_f64
#define fc_f32_to_i64 plain_f32_to_i64
#define fc_f64_to_i64 plain_f64_to_i64
#endif
FROM_INTEGER(i64, int64_t)
F_INTS(f32, f32, LOAD_PLAIN, F) TO_REST(f32, f32, LOAD_PLAIN)
F_INTS(f64, f64, LOAD_PLAIN, D) TO_REST(f64, f64, LOAD_PLAIN)
#if FC_ISA_NUM == 3
#undef fc_i64_to_f32
#undef fc_i64_to_f64
#undef fc_f32_to_i64
#undef fc_f64_to_i64
#define RUN 512 /* of which one that is beyond takes all the other way */

/* a conversion by runs: easy is true of each element, and then body is its result */
#define BY_RUNS(from, from_t, to, to_t, easy, body)                                                     \
    static void fc_##from##_to_##to(void *to_, const void *from_, int64_t n)                            \
    {                                                                                                   \
        for (int64_t first = 0; first < n; first += RUN) {                                              \
            const int64_t count = n - first < RUN ? n - first : RUN;                                    \
            to_t *t = (to_t *)to_ + first;                                                              \
            const from_t *f = (const from_t *)from_ + first;                                            \
            uint64_t hard = 0;                                                                          \
            for (int64_t i = 0; i < count; ++i)                                                         \
                hard |= easy(f[i]);                                                                     \
            if (hard)                                                                                   \
                plain_##from##_to_##to(t, f, count);                                                    \
            else                                                                                        \
                for (int64_t i = 0; i < count; ++i)                                                     \
                    t[i] = body(f[i]);                                                                  \
        }                                                                                               \
    }
#define FAR(x) (uint64_t)!((x) > -0x1p51 && (x) < 0x1p51)
#define TO_WHOLE(x) fc_near_i64_of_f64(fc_trunc_f64((f64)(x)))
BY_RUNS(i64, int64_t, f32, f32, fc_beyond_near, (f32)fc_f64_of_near_i64)
BY_RUNS(i64, int64_t, f64, f64, fc_beyond_near, fc_f64_of_near_i64)
BY_RUNS(f32, f32, i64, int64_t, FAR, TO_WHOLE)
BY_RUNS(f64, f64, i64, int64_t, FAR, TO_WHOLE)
#undef BY_RUNS
#undef RUN
#undef FAR
#undef TO_WHOLE
#endif
PAIR(bf16, uint16_t, LOAD_bf16, f32, f32, AS_f32)

#if FC_ISA_NUM == 2 /* rare: one loop of each will do */
FROM_INTEGER(u16, uint16_t)
FROM_INTEGER(u32, uint32_t)
FROM_INTEGER(u64, uint64_t)
#endif
/* Of complex numbers the real parts, which become the rest (cast.c); but bool asks both, and other complex numbers are made of both. */
PAIR(c64, c64, LOAD_c64, f32, f32, AS_f32)
PAIR(c128, c128, LOAD_c128, f32, f32, AS_f32)
PAIR(c128, c128, LOAD_c128, f64, f64, AS_f64)
static void fc_c64_to_c128(void *to, const void *from, int64_t n) { fc_f32_to_f64(to, from, 2 * n); }
static void fc_c128_to_c64(void *to, const void *from, int64_t n) { fc_f64_to_f32(to, from, 2 * n); }
#define CBOOL(from, part)                                                                              \
    static void fc_##from##_to_bool(void *to, const void *from_, int64_t n)                            \
    {                                                                                                  \
        uint8_t *t = to;                                                                               \
        const part *f = from_;                                                                         \
        for (int64_t i = 0; i < n; ++i)                                                                \
            t[i] = (f[2 * i] != 0) | (f[2 * i + 1] != 0);                                              \
    }
CBOOL(c64, f32)
CBOOL(c128, f64)

/* two's complement: what becomes an int of some width is what becomes a uint of it, but from floats to 32 and 64 bits */
#define ROW(from, i32_, i64_)                                                                          \
    [FC_BOOL] = fc_##from##_to_bool, [FC_U8] = fc_##from##_to_u8, [FC_I8] = fc_##from##_to_u8,         \
    [FC_I16] = fc_##from##_to_u16, [FC_U16] = fc_##from##_to_u16, [FC_I32] = fc_##from##_to_##i32_,    \
    [FC_U32] = fc_##from##_to_u32, [FC_I64] = fc_##from##_to_##i64_, [FC_U64] = fc_##from##_to_u64,    \
    [FC_F32] = fc_##from##_to_f32, [FC_F64] = fc_##from##_to_f64, [FC_C64] = fc_##from##_to_c64, [FC_C128] = fc_##from##_to_c128
#if FC_ISA_NUM == 2 /* storage: one loop of each will do, too */
#define TO(name, dtype, ...) , [dtype] = fc_f32_to_##name
#define FROM(name, dtype, ...) [dtype] = { [FC_F32] = fc_##name##_to_f32 },
#define TO_FLOAT8 FC_FLOAT8(TO) TO(f8e8m0fnu, FC_F8E8M0FNU)
#define FROM_FLOAT8 FC_FLOAT8(FROM) FROM(f8e8m0fnu, FC_F8E8M0FNU)
#else
#define TO_FLOAT8
#endif
#define W_ROW(from) { ROW(from, u32, u64) }
#define F_ROW(from) { ROW(from, i32, i64) }

const fc_cast FC_ISA_NAME(fc_casts)[FC_NDTYPES][FC_NDTYPES] = {
    [FC_BOOL] = { ROW(bool, u32, u64), [FC_BF16] = fc_bool_to_bf16 }, [FC_U8] = { ROW(u8, u32, u64), [FC_BF16] = fc_u8_to_bf16 },
    [FC_I8] = { ROW(i8, u32, u64), [FC_BF16] = fc_i8_to_bf16 }, [FC_I16] = W_ROW(i16),
    [FC_I32] = { ROW(i32, u32, u64), [FC_BF16] = fc_i32_to_bf16 }, [FC_I64] = W_ROW(i64),
    [FC_F16] = { [FC_F32] = fc_f16_to_f32 }, [FC_BF16] = { [FC_F32] = fc_bf16_to_f32 },
    [FC_F32] = { ROW(f32, i32, i64), [FC_F16] = fc_f32_to_f16, [FC_BF16] = fc_f32_to_bf16 TO_FLOAT8 }, [FC_F64] = F_ROW(f64),
#if FC_ISA_NUM == 2
    FROM_FLOAT8
    [FC_U16] = W_ROW(u16), [FC_U32] = W_ROW(u32), [FC_U64] = W_ROW(u64),
#endif
    [FC_C64] = { [FC_BOOL] = fc_c64_to_bool, [FC_F32] = fc_c64_to_f32, [FC_C128] = fc_c64_to_c128 },
    [FC_C128] = { [FC_BOOL] = fc_c128_to_bool, [FC_F32] = fc_c128_to_f32, [FC_F64] = fc_c128_to_f64, [FC_C64] = fc_c128_to_c64 },
};
#endif
