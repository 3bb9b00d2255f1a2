/*
 * Pooling: every output element looks at one window of its plane. A window is, per dim, up to `taps` places from `start`,
 * `dilation` apart; what lies outside of the plane is left out.
 *
 * Maxima: the first of equal values wins, and a NaN wins over all (of several, the last), as in PyTorch; its place is a flat
 * index into the plane. Means: a sum whose order depends on the window alone (pool_plane.c), then one division.
 */
#ifndef FC_POOL_H
#define FC_POOL_H

#include "../../core/call.h"

typedef struct { int64_t start, end; } fc_span; /* [start, end) of the plane, after clipping; empty where start >= end */

typedef struct {
    int dtype, ndim;
    int64_t planes, batch, channels;
    int64_t size[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
    int64_t size_n, out_n;         /* elements of a plane */
    int adaptive, count_pad;
    int deep;                      /* channels_last is kept in three dims too */
    int64_t divisor;               /* 0: the number of places */
    const fc_span *span[3];        /* per dim, out[d] of them */
    const int64_t *whole[3];       /* per dim: places of each window before clipping at the far padding's end */
} fc_pool;

/* n windows of a row, `stride` apart, whose taps lie at first + tap[t] of the plane for the first of them. f32, f64 (pool_lines.c).
 * lines: maxima and their places; peaks: without places; sums: without places */
typedef void (*fc_pool_line)(void *value, int64_t *place, const void *plane, int64_t n, int64_t stride, int64_t first,
                             const int32_t *tap, int taps);
extern const fc_pool_line fc_pool_lines_v2[2], fc_pool_lines_v3[2], fc_pool_sums_v2[2], fc_pool_sums_v3[2], fc_pool_peaks_v2[2], fc_pool_peaks_v3[2];

typedef struct { fc_span d, h, w; } fc_pool_window;

/* One window of n channels that lie side by side, places `pitch` elements apart. f32, f64 (pool_last.c). */
typedef struct {
    void (*max)(const fc_pool *p, const fc_pool_window *win, void *value, int64_t *place, const void *x, int64_t pitch, int64_t n);
    void (*mean)(const fc_pool *p, const fc_pool_window *win, void *out, const void *x, int64_t pitch, int64_t n, int64_t divisor);
    void (*spread)(const fc_pool *p, const fc_pool_window *win, void *grad_x, const void *grad, int64_t pitch, int64_t n, int64_t divisor);
} fc_pool_last;
extern const fc_pool_last fc_pool_lasts_v2[2], fc_pool_lasts_v3[2];

/* What the sum of window (d, h, w) is divided by; whether no place of the plane is in it. */
int64_t fc_pool_places(const fc_pool *p, int64_t d, int64_t h, int64_t w);
int fc_pool_empty(const fc_pool *p, int64_t d, int64_t h, int64_t w);

/* Tensors that lie channels_last (pool_channels.c). */
void fc_pool_max_last(const fc_pool *p, void *values, int64_t *places, const void *x);
void fc_pool_max_grad_last(const fc_pool *p, void *grad_x, const void *grad, const int64_t *places);
void fc_pool_mean_last(const fc_pool *p, void *out, const void *x);
void fc_pool_mean_grad_last(const fc_pool *p, void *grad_x, const void *grad);
/* Planes whose windows are of many sizes, or few in a row: 16 or 32 planes at a time are turned to lie so. -1: not these; FC_OK or FC_MEMORY. */
int fc_pool_max_turned(const fc_pool *p, void *values, int64_t *places, const void *x);
int fc_pool_mean_turned(const fc_pool *p, void *out, const void *x);

/* places: or NULL */
void fc_pool_max(const fc_pool *p, void *values, int64_t *places, const void *x);
void fc_pool_max_grad(const fc_pool *p, void *grad_x, const void *grad, const int64_t *places);
void fc_pool_mean(const fc_pool *p, void *out, const void *x);
void fc_pool_mean_grad(const fc_pool *p, void *grad_x, const void *grad);

#endif
