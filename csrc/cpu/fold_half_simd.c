/*
 * Sums of halves: the order of fold.h, widened in registers instead of through a buffer. Levels v3 and up.
 * Of rows, two registers of eight are the sixteen lanes, of bfloat16 the even and the odd ones: a register of sixteen halves is shifted and
 * masked, nothing changes places. Four rows go side by side, since each addition waits for the one before it.
 */
#include "../core/half.h"
#include "fold_cell_type.h"

#if FC_ISA_NUM >= 3
#include <immintrin.h>

static inline __m256 wide(const uint16_t *x, int brain)
{
    const __m128i h = _mm_loadu_si128((const __m128i *)x);
    return brain ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16)) : _mm256_cvtph_ps(h);
}

/* Sixteen elements to the lanes: a has 0 .. 8 and b 8 .. 16, or, of bfloat16, a the even and b the odd ones. */
static inline void take(__m256 *a, __m256 *b, const uint16_t *x, int brain)
{
    if (brain) {
        const __m256i pairs = _mm256_loadu_si256((const __m256i *)x);
        *a = _mm256_add_ps(*a, _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16)));
        *b = _mm256_add_ps(*b, _mm256_castsi256_ps(_mm256_and_si256(pairs, _mm256_set1_epi32((int)0xffff0000))));
    } else {
        *a = _mm256_add_ps(*a, wide(x, 0));
        *b = _mm256_add_ps(*b, wide(x + 8, 0));
    }
}

/* The lanes of one row, and the elements of it that are no whole sixteen: with zeros behind them, which change no lane, since none is -0. */
static inline f32 concluded(__m256 a, __m256 b, const uint16_t *rest, int64_t n, int brain)
{
    if (n) {
        uint16_t padded[FC_FOLD_LANES] = {0};
        memcpy(padded, rest, (size_t)n * sizeof *rest);
        take(&a, &b, padded, brain);
    }
    if (brain) {
        const __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b); /* lanes 0 .. 4 and 8 .. 12, 4 .. 8 and 12 .. 16 */
        a = _mm256_permute2f128_ps(low, high, 0x20);
        b = _mm256_permute2f128_ps(low, high, 0x31);
    }
    const __m256 eight = _mm256_add_ps(a, b);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1)), two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

static inline void sums(f32 *out, const uint16_t *x, int64_t rows, int64_t n, int64_t step, const int brain)
{
    const int64_t whole = n / FC_FOLD_LANES * FC_FOLD_LANES;
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
        const uint16_t *x_r = x + r * step;
        __m256 a[4], b[4];
        for (int k = 0; k < 4; ++k)
            a[k] = b[k] = _mm256_setzero_ps();
        for (int64_t i = 0; i < whole; i += FC_FOLD_LANES)
            for (int k = 0; k < 4; ++k)
                take(a + k, b + k, x_r + k * step + i, brain);
        for (int k = 0; k < 4; ++k)
            out[r + k] = concluded(a[k], b[k], x_r + k * step + whole, n - whole, brain);
    }
    for (; r < rows; ++r) {
        const uint16_t *x_r = x + r * step;
        __m256 a = _mm256_setzero_ps(), b = a;
        for (int64_t i = 0; i < whole; i += FC_FOLD_LANES)
            take(&a, &b, x_r + i, brain);
        out[r] = concluded(a, b, x_r + whole, n - whole, brain);
    }
}

/* acc[k] += x[k], x[k + gap], .. `times` times. */
static inline void add(f32 *restrict acc, const uint16_t *restrict x, int64_t gap, int64_t n, const int times, const int brain)
{
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        __m256 a = _mm256_loadu_ps(acc + k);
        for (int t = 0; t < times; ++t)
            a = _mm256_add_ps(a, wide(x + t * gap + k, brain));
        _mm256_storeu_ps(acc + k, a);
    }
    for (; k < n; ++k)
        for (int t = 0; t < times; ++t)
            acc[k] += brain ? fc_f32_of_bf16(x[t * gap + k]) : fc_f32_of_f16(x[t * gap + k]);
    _mm256_zeroupper();
}

static void begin(void *acc, int64_t n) { memset(acc, 0, (size_t)n * sizeof(f32)); }

static void join(void *restrict a_, const void *restrict b_, int64_t n)
{
    f32 *a = a_;
    const f32 *b = b_;
    for (int64_t k = 0; k < n; ++k)
        a[k] += b[k];
}

#define HALF(name, brain)                                                                                                          \
    static void name##_rows(void *restrict out, const void *restrict x, int64_t rows, int64_t n, int64_t step, const void *restrict p) \
    {                                                                                                                              \
        (void)p;                                                                                                                   \
        sums(out, x, rows, n, step, brain);                                                                                        \
        _mm256_zeroupper();                                                                                                        \
    }                                                                                                                              \
    static void name##_one(void *restrict acc, const void *restrict x, int64_t n, const void *restrict p)                          \
    {                                                                                                                              \
        (void)p;                                                                                                                   \
        add(acc, x, 0, n, 1, brain);                                                                                               \
    }                                                                                                                              \
    static void name##_four(void *restrict acc, const void *restrict x, int64_t gap, int64_t n, const void *restrict p)            \
    {                                                                                                                              \
        (void)p;                                                                                                                   \
        add(acc, x, gap, n, 4, brain);                                                                                             \
    }                                                                                                                              \
    const fc_fold_cell FC_ISA_NAME(fc_fold_sum_##name) = {.rows = name##_rows, .begin = begin, .one = name##_one, .four = name##_four, \
                                                          .join = join, .size = sizeof(f32), .abreast = 4};
HALF(f16, 0)
HALF(bf16, 1)
#endif
