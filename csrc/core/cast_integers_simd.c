/* Floats become 32 bits by the instruction that cuts them, whose answer to what is out of range, and to NaN, is the rule of convert.h; narrower
 * types take the low bits of that. Compilers may not count on it. Level v3, and v4, for which gcc's loops take 1.1 to 1.5 times as long. */
#include "cast_pairs.h"
#include "convert.h"

#if FC_ISA_NUM == 3
#include <immintrin.h>

static inline __m256i cut_f32(const f32 *x) { return _mm256_cvttps_epi32(_mm256_loadu_ps(x)); }

static inline __m256i cut_f64(const f64 *x)
{
    return _mm256_set_m128i(_mm256_cvttpd_epi32(_mm256_loadu_pd(x + 4)), _mm256_cvttpd_epi32(_mm256_loadu_pd(x)));
}

/* The low `bits` of sixteen, of eight and eight. Both halves of a register pack apart, so what comes out wants putting in order. */
static inline __m256i packed(__m256i a, __m256i b, int bits)
{
    const __m256i low = _mm256_set1_epi32((1 << bits) - 1);
    return _mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
}

#define CUTS(T)                                                                                                                                        \
    void fc_cut_##T##_i32(void *to_, const void *from, int64_t n)                                                                                      \
    {                                                                                                                                                  \
        int32_t *to = to_;                                                                                                                             \
        const T *x = from;                                                                                                                             \
        int64_t i = 0;                                                                                                                                 \
        for (; i + 8 <= n; i += 8)                                                                                                                     \
            _mm256_storeu_si256((__m256i *)(to + i), cut_##T(x + i));                                                                                  \
        for (; i < n; ++i)                                                                                                                             \
            to[i] = fc_##T##_to_i32(x[i]);                                                                                                             \
    }                                                                                                                                                  \
    void fc_cut_##T##_u16(void *to_, const void *from, int64_t n)                                                                                      \
    {                                                                                                                                                  \
        uint16_t *to = to_;                                                                                                                            \
        const T *x = from;                                                                                                                             \
        int64_t i = 0;                                                                                                                                 \
        for (; i + 16 <= n; i += 16)                                                                                                                   \
            _mm256_storeu_si256((__m256i *)(to + i), _mm256_permute4x64_epi64(packed(cut_##T(x + i), cut_##T(x + i + 8), 16), 0xd8));                  \
        for (; i < n; ++i)                                                                                                                             \
            to[i] = fc_##T##_to_u16(x[i]);                                                                                                             \
    }                                                                                                                                                  \
    void fc_cut_##T##_u8(void *to_, const void *from, int64_t n)                                                                                       \
    {                                                                                                                                                  \
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);                                                                               \
        uint8_t *to = to_;                                                                                                                             \
        const T *x = from;                                                                                                                             \
        int64_t i = 0;                                                                                                                                 \
        for (; i + 32 <= n; i += 32) {                                                                                                                 \
            const __m256i a = packed(cut_##T(x + i), cut_##T(x + i + 8), 8), b = packed(cut_##T(x + i + 16), cut_##T(x + i + 24), 8);                  \
            _mm256_storeu_si256((__m256i *)(to + i), _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order));                                   \
        }                                                                                                                                              \
        for (; i < n; ++i)                                                                                                                             \
            to[i] = (uint8_t)fc_##T##_to_i8(x[i]);                                                                                                     \
    }
CUTS(f32)
CUTS(f64)
#endif
