/* Whole blocks against lines along k: FC_GEMM_CHAINS neighbouring steps are the chains, so that a vector holds the chains of
 * PER lines, and to bring those together whole stretches change places instead of single elements. Included by
 * gemm_along_simd.h: no guard. */

#define PER (LANES / FC_GEMM_CHAINS) /* lines of a vector */
#define BUNDLES (S / PER)            /* vectors of S lines */
/* Vectors of a dot product's blocks. A pair takes two steps of FMA's time; for others one reads memory faster, two the cache: 2.5 or 3.4 ms for 1e7
 * floats, 13 or 11 us for 1e5. */
#if defined FC_GEMM_PAIRS && FC_ISA_NUM < 4
#define ABREAST 2
#else
#define ABREAST 1
#endif

/* PER lines, LANES steps each, to vectors of FC_GEMM_CHAINS steps of every line. */
#if FC_ISA_NUM == 4
#ifndef FOUR_STEPS
INLINE __m512 four_steps_f32(const float *x) { return _mm512_broadcast_f32x4(_mm_loadu_ps(x)); }
INLINE __m512d four_steps_f64(const double *x) { return _mm512_broadcast_f64x4(_mm256_loadu_pd(x)); }
INLINE void gather_f32(__m512 *out, const float *const *line, int64_t k)
{
    const __m512 u0 = _mm512_loadu_ps(line[0] + k), u1 = _mm512_loadu_ps(line[1] + k), u2 = _mm512_loadu_ps(line[2] + k),
                 u3 = _mm512_loadu_ps(line[3] + k);
    const __m512 p = _mm512_shuffle_f32x4(u0, u1, 0x88), q = _mm512_shuffle_f32x4(u0, u1, 0xdd);
    const __m512 r = _mm512_shuffle_f32x4(u2, u3, 0x88), s = _mm512_shuffle_f32x4(u2, u3, 0xdd);
    out[0] = _mm512_shuffle_f32x4(p, r, 0x88);
    out[1] = _mm512_shuffle_f32x4(q, s, 0x88);
    out[2] = _mm512_shuffle_f32x4(p, r, 0xdd);
    out[3] = _mm512_shuffle_f32x4(q, s, 0xdd);
}
INLINE void gather_f64(__m512d *out, const double *const *line, int64_t k)
{
    const __m512d u0 = _mm512_loadu_pd(line[0] + k), u1 = _mm512_loadu_pd(line[1] + k);
    out[0] = _mm512_shuffle_f64x2(u0, u1, 0x44);
    out[1] = _mm512_shuffle_f64x2(u0, u1, 0xee);
}
#define FOUR_STEPS
#endif
#else
#ifndef FOUR_STEPS
INLINE __m256 four_steps_f32(const float *x) { return _mm256_broadcast_ps((const __m128 *)x); }
INLINE __m256d four_steps_f64(const double *x) { return _mm256_loadu_pd(x); }
INLINE void gather_f32(__m256 *out, const float *const *line, int64_t k)
{
    for (int half = 0; half < 2; ++half, k += 4)
        out[half] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(line[0] + k)), _mm_loadu_ps(line[1] + k), 1);
}
INLINE void gather_f64(__m256d *out, const double *const *line, int64_t k) { out[0] = _mm256_loadu_pd(line[0] + k); }
#define FOUR_STEPS
#endif
#endif

/* chains[lines][FC_GEMM_CHAINS] -> out[lines] */
INLINE void T(add_chains)(R *restrict out, const R *restrict chains, int64_t lines)
{
    for (int64_t l = 0; l < lines; ++l) {
        const R *c = chains + l * FC_GEMM_CHAINS;
        out[l] = ((c[0] + c[1]) + c[2]) + c[3];
    }
}

/* The same for the S lines of BUNDLES vectors. */
#if FC_ISA_NUM == 4
#ifndef BUNDLES_ADDED
INLINE void add_bundles_f32(float *out, const __m512 *sum)
{
    const __m512 first = _mm512_unpacklo_ps(sum[0], sum[1]), last = _mm512_unpackhi_ps(sum[0], sum[1]); /* c0 c0 c1 c1, c2 c2 c3 c3 */
    const __m512 all = first + _mm512_permute_ps(first, 0x4e) + last + _mm512_permute_ps(last, 0x4e);
    const __m512i lines = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 0, 0, 0, 0, 0, 0, 0, 0);
    _mm256_storeu_ps(out, _mm512_castps512_ps256(_mm512_permutexvar_ps(lines, all)));
}
INLINE void add_bundles_f64(double *out, const __m512d *sum)
{
    const __m512d even = _mm512_unpacklo_pd(sum[0], sum[1]), odd = _mm512_unpackhi_pd(sum[0], sum[1]); /* c0 c0 c2 c2, c1 c1 c3 c3 */
    const __m512d all = even + odd + _mm512_shuffle_f64x2(even, even, 0xb1) + _mm512_shuffle_f64x2(odd, odd, 0xb1);
    const __m512i lines = _mm512_setr_epi64(0, 4, 1, 5, 0, 0, 0, 0);
    _mm256_storeu_pd(out, _mm512_castpd512_pd256(_mm512_permutexvar_pd(lines, all)));
}
#define BUNDLES_ADDED
#endif
#else
INLINE void T(add_bundles)(R *out, const T(V) *sum) { T(add_chains)(out, (const R *)sum, S); }
#endif

#define L(name) T(name)
#define LINE R
#define GATHER T(gather)
#include "gemm_lines_simd.h"

/* Dot products of ABREAST times PER blocks at once, FC_GEMM_BLOCK apart: the blocks are the lines, and a vector waits for itself. What comes after
 * them is fetched meanwhile, in order: from memory so many streams alone are 12 GB/s instead of 22. */
INLINE void T(dots_of)(R *restrict out, const R *x, const R *y, const int abreast)
{
    T(V) sum[ABREAST] = { { 0 } };
#pragma GCC unroll 1
    for (int64_t k = 0; k < FC_GEMM_BLOCK; k += LANES) {
        FC_GEMM_AHEAD(x + abreast * PER * (FC_GEMM_BLOCK + k), abreast * PER * LANES);
        FC_GEMM_AHEAD(y + abreast * PER * (FC_GEMM_BLOCK + k), abreast * PER * LANES);
#pragma GCC unroll 4
        for (int i = 0; i < abreast; ++i) {
            const R *x_line[PER], *y_line[PER];
#pragma GCC unroll 4
            for (int l = 0; l < PER; ++l) {
                x_line[l] = x + (i * PER + l) * FC_GEMM_BLOCK;
                y_line[l] = y + (i * PER + l) * FC_GEMM_BLOCK;
            }
            T(V) u[PER], v[PER];
            T(gather)((void *)u, x_line, k);
            T(gather)((void *)v, y_line, k);
#pragma GCC unroll 4
            for (int s = 0; s < PER; ++s)
                sum[i] = FMA(u[s], v[s], sum[i]);
        }
    }
    T(add_chains)(out, (const R *)sum, abreast * PER);
}

static void T(dots)(void *result, int64_t blocks, const void *a, const void *b)
{
    R *out = result;
    const R *x = a, *y = b;
    int64_t j = 0;
    for (; j + ABREAST * PER <= blocks; j += ABREAST * PER)
        T(dots_of)(out + j, x + j * FC_GEMM_BLOCK, y + j * FC_GEMM_BLOCK, ABREAST);
    for (; j + PER <= blocks; j += PER)
        T(dots_of)(out + j, x + j * FC_GEMM_BLOCK, y + j * FC_GEMM_BLOCK, 1);
    for (; j < blocks; ++j) {
        R chains[FC_GEMM_CHAINS] = { 0 };
#ifdef CHAINS_FMA
        __m128 sum = _mm_setzero_ps();
        for (int64_t k = j * FC_GEMM_BLOCK; k < (j + 1) * FC_GEMM_BLOCK; k += FC_GEMM_CHAINS)
            sum = CHAINS_FMA(x + k, y + k, sum);
        _mm_storeu_ps(chains, sum);
#else
        for (int64_t k = j * FC_GEMM_BLOCK; k < (j + 1) * FC_GEMM_BLOCK; k += FC_GEMM_CHAINS)
            for (int r = 0; r < FC_GEMM_CHAINS; ++r)
                chains[r] = FMA1(x[k + r], y[k + r], chains[r]);
#endif
        T(add_chains)(out + j, chains, 1);
    }
}
