/*
 * One window of many channels that lie side by side: channels are the lanes of a vector. Maxima, means and the gradient of means, with
 * the places and the orders of pool_plane.c, so with its bits.
 */
#include <math.h>
#include <string.h>

#include "../../core/isa.h"
#include "pool.h"

enum { CHUNK = 32, LANES = 16 }; /* channels at a time: what is gathered stays in L1 */

#define EACH_TAP(p, win)                                                                                              \
    for (int64_t zd = (win)->d.start; zd < (win)->d.end; zd += (p)->dilation[0])                                      \
        for (int64_t zh = (win)->h.start; zh < (win)->h.end; zh += (p)->dilation[1])                                  \
            for (int64_t zw = (win)->w.start; zw < (win)->w.end; zw += (p)->dilation[2])

#define LAST(name, T, I, LOWEST)                                                                                      \
static inline __attribute__((always_inline)) void max_some_##name(const fc_pool *p, const fc_pool_window *win, T *value, int64_t *place, const T *x, int64_t pitch, int n) \
{                                                                                                                     \
    const int64_t H = p->size[1], W = p->size[2];                                                                     \
    T best[CHUNK];                                                                                                    \
    I where[CHUNK];                                                                                                   \
    for (int c = 0; c < n; ++c)                                                                                       \
        best[c] = LOWEST, where[c] = (I)((win->d.start * H + win->h.start) * W + win->w.start);                       \
    EACH_TAP(p, win) {                                                                                                \
        const int64_t at = (zd * H + zh) * W + zw;                                                                    \
        const T *v = x + at * pitch;                                                                                  \
        for (int c = 0; c < n; ++c) {                                                                                 \
            const int better = v[c] > best[c] || v[c] != v[c];                                                        \
            best[c] = better ? v[c] : best[c];                                                                        \
            where[c] = better ? (I)at : where[c];                                                                     \
        }                                                                                                             \
    }                                                                                                                 \
    for (int c = 0; c < n; ++c) value[c] = best[c];                                                                   \
    for (int c = 0; place && c < n; ++c) place[c] = where[c];                                                         \
}                                                                                                                     \
static void max_##name(const fc_pool *p, const fc_pool_window *win, void *value, int64_t *place, const void *x, int64_t pitch, int64_t n) \
{                                                                                                                     \
    int64_t c = 0;                                                                                                    \
    for (; c + CHUNK <= n; c += CHUNK) max_some_##name(p, win, (T *)value + c, place ? place + c : NULL, (const T *)x + c, pitch, CHUNK); \
    if (c < n) max_some_##name(p, win, (T *)value + c, place ? place + c : NULL, (const T *)x + c, pitch, (int)(n - c));             \
}                                                                                                                     \
static inline __attribute__((always_inline)) void few_##name(const fc_pool *p, const fc_pool_window *win, T *out, const T *x, int64_t pitch, int n, T divisor) \
{                                                                                                                     \
    T sum[CHUNK];                                                                                                     \
    for (int c = 0; c < n; ++c) sum[c] = 0;                                                                           \
    EACH_TAP(p, win) {                                                                                                \
        const T *v = x + ((zd * p->size[1] + zh) * p->size[2] + zw) * pitch;                                          \
        for (int c = 0; c < n; ++c) sum[c] += v[c];                                                                   \
    }                                                                                                                 \
    for (int c = 0; c < n; ++c) out[c] = sum[c] / divisor;                                                            \
}                                                                                                                     \
static inline __attribute__((always_inline)) void many_##name(const fc_pool *p, const fc_pool_window *win, T *out, const T *x, int64_t pitch, int n, T divisor) \
{                                                                                                                     \
    T l[LANES][CHUNK];                                                                                                \
    int64_t i = 0;                                                                                                    \
    EACH_TAP(p, win) {                                                                                                \
        const T *v = x + ((zd * p->size[1] + zh) * p->size[2] + zw) * pitch;                                          \
        T *sum = l[i % LANES];                                                                                        \
        if (i++ < LANES) /* from +0: -0 becomes it */                                                                 \
            for (int c = 0; c < n; ++c) sum[c] = 0 + v[c];                                                            \
        else                                                                                                          \
            for (int c = 0; c < n; ++c) sum[c] += v[c];                                                               \
    }                                                                                                                 \
    for (int c = 0; c < n; ++c)                                                                                       \
        out[c] = ((((l[0][c] + l[8][c]) + (l[4][c] + l[12][c])) + ((l[2][c] + l[10][c]) + (l[6][c] + l[14][c]))) +    \
                  (((l[1][c] + l[9][c]) + (l[5][c] + l[13][c])) + ((l[3][c] + l[11][c]) + (l[7][c] + l[15][c])))) / divisor;\
}                                                                                                                     \
static void mean_##name(const fc_pool *p, const fc_pool_window *win, void *out, const void *x, int64_t pitch, int64_t n, int64_t divisor) \
{                                                                                                                     \
    const int64_t taps = (win->d.end - win->d.start) * (win->h.end - win->h.start) * (win->w.end - win->w.start);     \
    int64_t c = 0;                                                                                                    \
    for (; c < n; c += CHUNK) {                                                                                       \
        const int count = n - c < CHUNK ? (int)(n - c) : CHUNK;                                                       \
        T *to = (T *)out + c;                                                                                         \
        const T *from = (const T *)x + c;                                                                             \
        if (taps < LANES && count == CHUNK) few_##name(p, win, to, from, pitch, CHUNK, (T)divisor);                   \
        else if (taps < LANES) few_##name(p, win, to, from, pitch, count, (T)divisor);                                \
        else if (count == CHUNK) many_##name(p, win, to, from, pitch, CHUNK, (T)divisor);                             \
        else many_##name(p, win, to, from, pitch, count, (T)divisor);                                                 \
    }                                                                                                                 \
}                                                                                                                     \
static void spread_##name(const fc_pool *p, const fc_pool_window *win, void *grad_x, const void *grad, int64_t pitch, int64_t n, int64_t divisor) \
{                                                                                                                     \
    for (int64_t c0 = 0; c0 < n; c0 += CHUNK) {                                                                       \
        const int64_t count = n - c0 < CHUNK ? n - c0 : CHUNK;                                                        \
        T share[CHUNK];                                                                                               \
        for (int64_t c = 0; c < count; ++c) share[c] = ((const T *)grad)[c0 + c] / (T)divisor;                        \
        EACH_TAP(p, win) {                                                                                            \
            T *to = (T *)grad_x + ((zd * p->size[1] + zh) * p->size[2] + zw) * pitch + c0;                            \
            for (int64_t c = 0; c < count; ++c) to[c] += share[c];                                                    \
        }                                                                                                             \
    }                                                                                                                 \
}
LAST(f32, float, int32_t, -HUGE_VALF)
LAST(f64, double, int64_t, -HUGE_VAL)
#undef LAST
#undef EACH_TAP

const fc_pool_last FC_ISA_NAME(fc_pool_lasts)[2] = { { max_f32, mean_f32, spread_f32 }, { max_f64, mean_f64, spread_f64 } };
