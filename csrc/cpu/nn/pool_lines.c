/*
 * Maxima, or sums, of neighbouring windows of one row, of which every tap lies in the plane: windows are the lanes of a vector, taps run in
 * the order of the plane, so the first of equal values and the last NaN win as in pool_plane.c, with the same places.
 */
#include <math.h>
#include <string.h>

#include "../../core/isa.h"
#include "pool.h"

enum { LANES = 16, SIDE = 16 }; /* of a sum; windows whose lanes are added side by side */
enum { CHUNK = 64, STRETCH = 1024 }; /* windows at a time: best and where stay in L1, and best alone */

#define LINE(name, T, I, LOWEST)                                                                                      \
static inline void taps_##name(T *restrict best, I *restrict where, const T *restrict x, I at, int64_t n, int64_t stride) \
{                                                                                                                     \
    for (int64_t j = 0; j < n; ++j) {                                                                                 \
        const T v = x[j * stride];                                                                                    \
        const int better = v > best[j] || v != v;                                                                     \
        best[j] = better ? v : best[j];                                                                               \
        where[j] = better ? at + (I)j * (I)stride : where[j];                                                         \
    }                                                                                                                 \
}                                                                                                                     \
static void line_##name(void *value, int64_t *place, const void *plane, int64_t n, int64_t stride, int64_t first,     \
                        const int32_t *tap, int taps)                                                                 \
{                                                                                                                     \
    for (int64_t from = 0; from < n; from += CHUNK) {                                                                 \
        const int64_t count = n - from < CHUNK ? n - from : CHUNK, at = first + from * stride;                        \
        T best[CHUNK];                                                                                                \
        I where[CHUNK];                                                                                               \
        for (int64_t j = 0; j < count; ++j)                                                                           \
            best[j] = LOWEST, where[j] = (I)(at + j * stride);                                                        \
        for (int t = 0; t < taps; ++t) {                                                                              \
            const T *x = (const T *)plane + at + tap[t];                                                              \
            if (stride == 2)                                                                                          \
                taps_##name(best, where, x, (I)at + tap[t], count, 2);                                                \
            else if (stride == 1)                                                                                     \
                taps_##name(best, where, x, (I)at + tap[t], count, 1);                                                \
            else                                                                                                      \
                taps_##name(best, where, x, (I)at + tap[t], count, stride);                                           \
        }                                                                                                             \
        for (int64_t j = 0; j < count; ++j)                                                                           \
            ((T *)value)[from + j] = best[j], place[from + j] = where[j];                                             \
    }                                                                                                                 \
}
LINE(f32, float, int32_t, -HUGE_VALF)
LINE(f64, double, int64_t, -HUGE_VAL)
#undef LINE

/* Maxima without places. `better` as above: a NaN stays, as nothing is more than it, until another comes. */
#define PEAKS(name, T, LOWEST)                                                                                        \
static inline void higher_##name(T *restrict best, const T *restrict x, int64_t n, int64_t stride)                    \
{                                                                                                                     \
    for (int64_t j = 0; j < n; ++j) {                                                                                 \
        const T v = x[j * stride];                                                                                    \
        best[j] = v > best[j] || v != v ? v : best[j];                                                                \
    }                                                                                                                 \
}                                                                                                                     \
static void peaks_##name(void *value, int64_t *place, const void *plane, int64_t n, int64_t stride, int64_t first,    \
                         const int32_t *tap, int taps)                                                                \
{                                                                                                                     \
    (void)place;                                                                                                      \
    for (int64_t from = 0; from < n; from += STRETCH) {                                                               \
        const int64_t count = n - from < STRETCH ? n - from : STRETCH;                                                \
        T *best = (T *)value + from;                                                                                  \
        for (int64_t j = 0; j < count; ++j) best[j] = LOWEST;                                                         \
        for (int t = 0; t < taps; ++t) {                                                                              \
            const T *x = (const T *)plane + first + from * stride + tap[t];                                           \
            if (stride == 2) higher_##name(best, x, count, 2);                                                        \
            else if (stride == 1) higher_##name(best, x, count, 1);                                                   \
            else higher_##name(best, x, count, stride);                                                               \
        }                                                                                                             \
    }                                                                                                                 \
}
PEAKS(f32, float, -HUGE_VALF)
PEAKS(f64, double, -HUGE_VAL)
#undef PEAKS

/* The same windows' sums: fewer than 16 taps in their order from zero, else tap t goes to lane t % 16, and lanes are added by halves. */
#define SUMS(name, T)                                                                                                 \
static inline void add_##name(T *restrict sum, const T *restrict x, int64_t n, int64_t stride)                        \
{                                                                                                                     \
    for (int64_t j = 0; j < n; ++j) sum[j] += x[j * stride];                                                          \
}                                                                                                                     \
static inline __attribute__((always_inline)) void by_lanes_##name(T *restrict out, const T *restrict x, int n, int64_t stride, const int32_t *tap, int taps) \
{                                                                                                                     \
    T lane[LANES][SIDE];                                                                                              \
    memset(lane, 0, sizeof lane);                                                                                     \
    for (int t = 0; t < taps; ++t)                                                                                    \
        add_##name(lane[t % LANES], x + tap[t], n, stride);                                                           \
    for (int half = LANES / 2; half; half /= 2)                                                                       \
        for (int l = 0; l < half; ++l) add_##name(lane[l], lane[l + half], n, 1);                                     \
    memcpy(out, lane[0], (size_t)n * sizeof(T));                                                                      \
}                                                                                                                     \
static void sums_##name(void *value, int64_t *place, const void *plane, int64_t n, int64_t stride, int64_t first,     \
                        const int32_t *tap, int taps)                                                                 \
{                                                                                                                     \
    (void)place;                                                                                                      \
    T *out = value;                                                                                                   \
    for (int64_t j = 0; taps >= LANES && j < n; j += SIDE) {                                                          \
        const T *x = (const T *)plane + first + j * stride;                                                           \
        if (n - j >= SIDE && stride == 1) by_lanes_##name(out + j, x, SIDE, 1, tap, taps);                            \
        else if (n - j >= SIDE) by_lanes_##name(out + j, x, SIDE, stride, tap, taps);                                 \
        else by_lanes_##name(out + j, x, (int)(n - j), stride, tap, taps);                                            \
    }                                                                                                                 \
    if (taps >= LANES)                                                                                                \
        return;                                                                                                       \
    for (int64_t j = 0; j < n; ++j) out[j] = 0;                                                                       \
    for (int t = 0; t < taps; ++t) {                                                                                  \
        const T *x = (const T *)plane + first + tap[t];                                                               \
        if (stride == 2) add_##name(out, x, n, 2);                                                                    \
        else if (stride == 1) add_##name(out, x, n, 1);                                                               \
        else add_##name(out, x, n, stride);                                                                           \
    }                                                                                                                 \
}
SUMS(f32, float)
SUMS(f64, double)
#undef SUMS

const fc_pool_line FC_ISA_NAME(fc_pool_lines)[2] = { line_f32, line_f64 };
const fc_pool_line FC_ISA_NAME(fc_pool_peaks)[2] = { peaks_f32, peaks_f64 };
const fc_pool_line FC_ISA_NAME(fc_pool_sums)[2] = { sums_f32, sums_f64 };
