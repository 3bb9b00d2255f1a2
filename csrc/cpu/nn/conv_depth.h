/*
 * Depthwise convolution: every channel has its own kernel and meets no other, so there is no product to speak of.
 *
 * Forward and to the input, an element is one chain of fma over the taps, from +0. The weight's gradient sums over samples and
 * positions: position w of a row goes to lane w % 16, lanes run through all rows in order and are added by halves at the end.
 * Padding counts as zeros.
 */
#ifndef FC_CONV_DEPTH_H
#define FC_CONV_DEPTH_H

#include "conv.h"

#define FC_DEPTH_LANES 16

typedef struct { int64_t depth, height, deep, pitch; } fc_conv_rows; /* rows of positions, and where they are in the copy */

typedef struct {
    /* out[j] = sum over t of weight[place[t] or t] * x[at[t] + j], whole vectors: up to two beyond n are read and written */
    void (*flat)(void *out, const void *x, const int64_t *at, const void *weight, const int64_t *place, int64_t taps, int64_t n);
    /* sums[t][w % 16] += small[row][w] * x[at[t] + row's place + w]; small's rows end in zeros up to a multiple of 16 */
    void (*lanes)(void *sums, const void *x, const int64_t *at, int64_t taps, const void *small, int64_t width, int64_t small_pitch,
                  const fc_conv_rows *rows);

    /* Channels side by side. out[j * out_step + c] = sum over t of weight[place[t] * channels + c] * x[t][j * step[t] + c], then bias[c];
     * j < n, c < channels, of which there are a vector's at least */
    void (*last)(void *out, int64_t out_step, const void *const *x, const int64_t *step, const void *weight, const int64_t *place,
                 int64_t taps, const void *bias, int64_t n, int64_t channels);
    /* sums[t][w % 16][c] += small[row][w][c] * x[at[t] + row's place + w * step + c] for FC_DEPTH_LANES channels c, as many in small;
     * rows: depth x height; deep, pitch: from one to the next in x */
    void (*last_lanes)(void *sums, const void *x, const int64_t *at, int64_t taps, const void *small, int64_t width, int64_t step,
                       const fc_conv_rows *rows);
} fc_conv_depth_kernel;

extern const fc_conv_depth_kernel fc_conv_depth_kernels_v2[2], fc_conv_depth_kernels_v3[2], fc_conv_depth_kernels_v4[2]; /* f32, f64 */

const fc_conv_depth_kernel *fc_conv_depth_kernel_for(int dtype);

/* 1 where each group has one channel on either side and the dtype is real. */
int fc_conv_is_depthwise(const fc_conv *v);

/* x: the window over channel 0's source. place: NULL, or each tap's place in the kernel. FC_OK or FC_MEMORY */
int fc_conv_depth_forward(const fc_conv *v, const fc_window *x, const int64_t *place, const void *weight, const void *bias,
                          void *out, const fc_conv_places *to);
/* From small to big with a stride: all phases (conv_depth_phases.c). */
int fc_conv_depth_phases(const fc_conv *v, const void *small, const void *weight, const void *bias, void *big);
/* The three directions where both sides lie channels_last (conv_depth_last.c), with the same bits. */
int fc_conv_depth_last(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big);
int fc_conv_depth_last_weight(const fc_conv *v, void *weight, const void *small, const void *big);
/* The same of contiguous tensors, where that pays: direction is one of FC_CONV_TO_SMALL and so on (conv_depth_turned.c). */
int fc_conv_depth_turns(const fc_conv *v, int direction);
int fc_conv_depth_turned(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big);
int fc_conv_depth_turned_weight(const fc_conv *v, void *weight, const void *small, const void *big);
int fc_conv_depth_weight(const fc_conv *v, const fc_window *x, void *weight, const void *small);

#endif
