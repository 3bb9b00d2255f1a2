/* Lines of float16 against rows of float32, and their dot products: those of float32, widened on the way. Included by gemm_simd.c behind
 * gemm_along_simd.h of float: no guard. */

/* PER lines, LANES steps each, to vectors of FC_GEMM_CHAINS steps of every line. */
#if FC_ISA_NUM == 4
INLINE __m256i sixteen_f16(const uint16_t *x) { return _mm256_loadu_si256((const __m256i *)(const void *)x); }

/* They change places before they are widened: of half the width twice as many shuffles a cycle. */
INLINE void gather_f16(__m512 *out, const uint16_t *const *line, int64_t k)
{
    const __m256i a = sixteen_f16(line[0] + k), b = sixteen_f16(line[1] + k), c = sixteen_f16(line[2] + k), d = sixteen_f16(line[3] + k);
    const __m256i p = _mm256_unpacklo_epi64(a, b), q = _mm256_unpackhi_epi64(a, b), r = _mm256_unpacklo_epi64(c, d), s = _mm256_unpackhi_epi64(c, d);
    out[0] = _mm512_cvtph_ps(_mm256_permute2x128_si256(p, r, 0x20));
    out[1] = _mm512_cvtph_ps(_mm256_permute2x128_si256(q, s, 0x20));
    out[2] = _mm512_cvtph_ps(_mm256_permute2x128_si256(p, r, 0x31));
    out[3] = _mm512_cvtph_ps(_mm256_permute2x128_si256(q, s, 0x31));
}
#else
INLINE void gather_f16(__m256 *out, const uint16_t *const *line, int64_t k)
{
    for (int s = 0; s < 2; ++s) {
        int64_t steps[2];
        memcpy(steps, line[0] + k + s * FC_GEMM_CHAINS, sizeof *steps);
        memcpy(steps + 1, line[1] + k + s * FC_GEMM_CHAINS, sizeof *steps);
        out[s] = _mm256_cvtph_ps(_mm_set_epi64x(steps[1], steps[0]));
    }
}
#endif

#define L(name) name##_f16
#define LINE uint16_t
#define GATHER gather_f16
#include "gemm_lines_simd.h"

static void along_f16(float *out, int64_t rows, int64_t cols, const float *a, int64_t a_row, const uint16_t *b, int64_t b_col)
{
    (cols < S ? along_few_f16 : along_chains_f16)(out, rows, cols, a, a_row, b, b_col);
}

#define BLOCKS (2 * PER) /* at once: one sum would wait for itself */

static void dots_f16(void *result, int64_t blocks, const void *a, const void *b)
{
    for (int64_t j = 0; j < blocks; j += BLOCKS) {
        const uint16_t *const next_a = (const uint16_t *)a + (j + BLOCKS) * FC_GEMM_BLOCK, *const next_b = (const uint16_t *)b + (j + BLOCKS) * FC_GEMM_BLOCK;
        const uint16_t *x[BLOCKS], *y[BLOCKS];
        T(V) sum[2] = { { 0 }, { 0 } };
        float out[BLOCKS];
#pragma GCC unroll 8
        for (int l = 0; l < BLOCKS; ++l) { /* in the place of those that are not there the last */
            const int64_t at = (j + l < blocks ? j + l : blocks - 1) * FC_GEMM_BLOCK;
            x[l] = (const uint16_t *)a + at;
            y[l] = (const uint16_t *)b + at;
        }
#pragma GCC unroll 1
        for (int64_t k = 0; k < FC_GEMM_BLOCK; k += LANES) {
            FC_GEMM_AHEAD(next_a + BLOCKS * k, BLOCKS * LANES);
            FC_GEMM_AHEAD(next_b + BLOCKS * k, BLOCKS * LANES);
#pragma GCC unroll 2
            for (int h = 0; h < 2; ++h) {
                T(V) u[PER], v[PER];
                gather_f16((void *)u, x + h * PER, k);
                gather_f16((void *)v, y + h * PER, k);
#pragma GCC unroll 4
                for (int s = 0; s < PER; ++s)
                    sum[h] = FMA(u[s], v[s], sum[h]);
            }
        }
        T(add_chains)(out, (const R *)sum, BLOCKS);
        memcpy((float *)result + j, out, (size_t)(blocks - j < BLOCKS ? blocks - j : BLOCKS) * sizeof *out);
    }
}
#undef BLOCKS
