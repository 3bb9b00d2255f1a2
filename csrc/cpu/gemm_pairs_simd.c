/*
 * The kernels of gemm_kernel.h for bfloat16: an element is a pair of neighbouring steps of k, 32 bits that travel as a float, and its
 * product with another is what one instruction of AVX-512 does (VDPBF16PS): fma of the second steps, then fma of the first, to nearest,
 * denormal numbers being 0. Sums are float32.
 *
 * At v4 this file needs that instruction, which fc_has_pairs() tells; the others do the same in two steps, their caller flushing
 * denormal numbers (fc_flush). v2 rounds products before it adds them, as everywhere.
 */
#include "gemm_kernel.h"

#include <string.h>

#include "../core/cast_pairs.h"
#include "../core/half.h"
#include "../core/isa.h"
#include "gemm.h"

#if FC_HAS_FMA
#include <immintrin.h>
#endif

#if FC_ISA_NUM == 4
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512bf16"))), apply_to = function)
#else
#pragma GCC target("avx512bf16")
#endif
#endif

#define FC_GEMM_PAIRS 1

#include "gemm_level_simd.h"

#define SUFFIX bf16
#define R float
#define LANES ((int)(VECTOR_BYTES / sizeof(float)))

typedef int32_t bits __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t half_bits __attribute__((vector_size(32)));

/* As bits: no number is changed by being a float on its way. */
INLINE int32_t bits_of(float x)
{
    int32_t pair;
    memcpy(&pair, &x, sizeof pair);
    return pair;
}
#define SPLAT(V, x) ((V)(bits_of(x) - (__typeof__(__builtin_choose_expr(sizeof(V) == VECTOR_BYTES, (bits){ 0 }, (half_bits){ 0 }))){ 0 }))

/* The numbers of a pair, widened. */
#define FIRST_STEP(I, V, x) ((V)((I)(x) << 16))
#define SECOND_STEP(I, V, x) ((V)((I)(x) & (int32_t)0xffff0000))

#if FC_HAS_FMA
#define STEP(x, y, z) __builtin_fmaf(x, y, z)
#else
#define STEP(x, y, z) ((x) * (y) + (z))
#endif
#if FC_ISA_NUM == 4
INLINE float pair_fma(float x, float y, float z)
{
    return _mm_cvtss_f32(_mm_dpbf16_ps(_mm_set_ss(z), (__m128bh)_mm_set_ss(x), (__m128bh)_mm_set_ss(y)));
}
#define CHAINS_FMA(x, y, z) _mm_dpbf16_ps(z, (__m128bh)_mm_loadu_ps(x), (__m128bh)_mm_loadu_ps(y))
#else
INLINE float pair_fma(float x, float y, float z)
{
    float of[4];
    const uint32_t p = (uint32_t)bits_of(x), q = (uint32_t)bits_of(y), step[4] = { p << 16, q << 16, p & 0xffff0000u, q & 0xffff0000u };
    memcpy(of, step, sizeof of);
    return STEP(of[0], of[1], STEP(of[2], of[3], z));
}
#endif
#define FMA1(x, y, z) pair_fma(x, y, z)

#if FC_ISA_NUM == 4
#define FMA(x, y, z) (__typeof__(z))_mm512_dpbf16_ps((__m512)(z), (__m512bh)(x), (__m512bh)(y))
#define HFMA(x, y, z) (__typeof__(z))_mm256_dpbf16_ps((__m256)(z), (__m256bh)(x), (__m256bh)(y))
#elif FC_ISA_NUM == 3
INLINE __m256 pair_fma_256(__m256 x, __m256 y, __m256 z)
{
    z = _mm256_fmadd_ps(SECOND_STEP(half_bits, __m256, x), SECOND_STEP(half_bits, __m256, y), z);
    return _mm256_fmadd_ps(FIRST_STEP(half_bits, __m256, x), FIRST_STEP(half_bits, __m256, y), z);
}
#define FMA(x, y, z) (__typeof__(z))pair_fma_256((__m256)(x), (__m256)(y), (__m256)(z))
#define HFMA FMA
#else
#define FMA(x, y, z) (FIRST_STEP(bits, __typeof__(z), x) * FIRST_STEP(bits, __typeof__(z), y) \
                      + (SECOND_STEP(bits, __typeof__(z), x) * SECOND_STEP(bits, __typeof__(z), y) + (z)))
#endif

#define gather_bf16 gather_f32
#define four_steps_bf16 four_steps_f32
#define add_bundles_bf16 add_bundles_f32
#define turn_square_bf16 turn_square_f32
#include "gemm_pack_simd.h"

#define NARROW_COLS 256 /* of a stretch of sums that are rounded together: whole lines, and time to fetch the next ones */

/* Sums of a tile, rounded, to a c of halves. */
static __attribute__((noinline)) void put_narrow(const fc_gemm_tile_job *job, int64_t i0, int64_t j0, int rows, int cols, const float *sum, int64_t pitch)
{
    const float *line = job->bias && !job->bias_halves ? (const float *)job->bias + j0 : NULL;
    const uint16_t *half = job->bias && job->bias_halves ? (const uint16_t *)job->bias + i0 * job->bias_row + j0 : NULL;
    const float alpha = job->factors ? (float)job->factors[0] : 1, beta = job->factors ? (float)job->factors[1] : 1;
    uint16_t *z = (uint16_t *)job->c + i0 * job->c_row + j0;
    for (int i = 0; i < rows; ++i, sum += pitch, z += job->c_row, half = half ? half + job->bias_row : NULL) {
        for (int j = 0; j < cols; j += 32) {
            if (half)
                __builtin_prefetch(half + NARROW_COLS + j);
            __builtin_prefetch(z + NARROW_COLS + j, 1);
        }
#if FC_ISA_NUM == 4
        for (int j = 0; j < cols; j += 16) {
            const __mmask16 some = (__mmask16)(cols - j < 16 ? (1u << (cols - j)) - 1 : 0xffff);
            __m512 v = _mm512_loadu_ps(sum + j);
            if (line)
                v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(some, line + j));
            if (half) {
                const __m512i bits = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, half + j)), 16);
                v = _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps(alpha), v), _mm512_mul_ps(_mm512_set1_ps(beta), _mm512_castsi512_ps(bits)));
            }
            _mm256_mask_storeu_epi16(z + j, some, (__m256i)_mm512_cvtneps_pbh(v));
        }
#else
        float made[NARROW_COLS];
        for (int j = 0; j < cols; ++j)
            made[j] = half ? alpha * sum[j] + beta * fc_f32_of_bf16(half[j]) : line ? sum[j] + line[j] : sum[j];
        FC_ISA_NAME(fc_narrow_bf16)(z, made, cols);
#endif
    }
}

#include "gemm_tile_simd.h"
#include "gemm_along_simd.h"

/* n pairs of neighbouring rows, the second of which may be missing. */
static void pair_rows(void *out, const uint16_t *first, const uint16_t *second, int64_t n)
{
    uint32_t *restrict z = out;
    int64_t i = 0;
#if FC_ISA_NUM == 4
    for (; i < n; i += 16) {
        const __mmask16 some = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffff);
        const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, first + i));
        const __m512i high = second ? _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, second + i)), 16) : _mm512_setzero_si512();
        _mm512_mask_storeu_epi32(z + i, some, _mm512_or_si512(low, high));
    }
#elif FC_ISA_NUM == 3
    for (; i + 8 <= n; i += 8) {
        const __m256i low = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(first + i)));
        const __m256i high = second ? _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(second + i))), 16) : _mm256_setzero_si256();
        _mm256_storeu_si256((__m256i *)(z + i), _mm256_or_si256(low, high));
    }
#endif
    for (; i < n; ++i)
        z[i] = first[i] | (second ? (uint32_t)second[i] << 16 : 0);
}

#if FC_HAS_FMA
#define ALONG .along = along_bf16, .along_rows = ALONG_ROWS, .few = 8, .dots = dots_bf16
#else
#define ALONG .along = NULL
#endif

const fc_gemm_kernel FC_ISA_NAME(fc_gemm_pairs) = {
    .mr = TILE_ROWS, .nr = VECTOR_BYTES / 2, .size = 4, .direct_rows = TILE_ROWS, .block = block_bf16, .pack = pack_bf16, .pack_runs = pack_runs_bf16, .pair_rows = pair_rows, .merge = merge_bf16,
    .tiny = tiny_bf16, ALONG
};

#if FC_ISA_NUM == 4 && defined(__clang__)
#pragma clang attribute pop
#endif
