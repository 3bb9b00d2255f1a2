/*
 * Sums of halves: the order of fold.h, widened in registers instead of through a buffer. Levels v3 and up.
 * Of rows, two registers of eight are the sixteen lanes; four rows go side by side, since each addition waits for the one before it.
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

/* Lanes a (0 .. 8) and b (8 .. 16) of one row, and the elements of it that are no whole sixteen. */
static inline f32 concluded(__m256 a, __m256 b, const uint16_t *rest, int64_t n, int brain)
{
    f32 lane[FC_FOLD_LANES];
    _mm256_storeu_ps(lane, a);
    _mm256_storeu_ps(lane + 8, b);
    for (int64_t i = 0; i < n; ++i)
        lane[i] += brain ? fc_f32_of_bf16(rest[i]) : fc_f32_of_f16(rest[i]);
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; ++j)
            lane[j] += lane[j + half];
    return lane[0];
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
            for (int k = 0; k < 4; ++k) {
                a[k] = _mm256_add_ps(a[k], wide(x_r + k * step + i, brain));
                b[k] = _mm256_add_ps(b[k], wide(x_r + k * step + i + 8, brain));
            }
        for (int k = 0; k < 4; ++k)
            out[r + k] = concluded(a[k], b[k], x_r + k * step + whole, n - whole, brain);
    }
    for (; r < rows; ++r) {
        const uint16_t *x_r = x + r * step;
        __m256 a = _mm256_setzero_ps(), b = a;
        for (int64_t i = 0; i < whole; i += FC_FOLD_LANES) {
            a = _mm256_add_ps(a, wide(x_r + i, brain));
            b = _mm256_add_ps(b, wide(x_r + i + 8, brain));
        }
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
                                                          .join = join, .size = sizeof(f32)};
HALF(f16, 0)
HALF(bf16, 1)
#endif
