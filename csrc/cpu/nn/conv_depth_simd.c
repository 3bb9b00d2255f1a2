/*
 * Depthwise convolution: every channel has its own kernel and meets no other, so there is no product to speak of. Rows are
 * walked along w; each element is one chain of fma over the taps that read inside the source, in their order.
 *
 * The weight's gradient sums over samples and positions: positions of a row go to lane w % 16, lanes run through all
 * rows in order and are combined by halves at the end.
 */
#include <math.h>
#include <string.h>

#include "../../core/isa.h"
#include "../parallel.h"
#include "conv.h"

#if FC_HAS_FMA
#define FMAF(x, y, z) __builtin_fmaf(x, y, z)
#define FMAD(x, y, z) __builtin_fma(x, y, z)
#else
#define FMAF(x, y, z) ((x) * (y) + (z))
#define FMAD(x, y, z) ((x) * (y) + (z))
#endif

#define GRAIN (32 << 10) /* fma: about 10 us of rows that stay in L1 */
#define LANES 16

typedef struct {
    const fc_conv *v;
    char *out;
    const char *x, *weight, *bias;
} depth_job;

/* The taps' range [low, high) of positions j with 0 <= j * stride + shift < size. */
static void inside(int64_t shift, int64_t stride, int64_t size, int64_t count, int64_t *low, int64_t *high)
{
    *low = shift < 0 ? (-shift + stride - 1) / stride : 0;
    *high = size > shift ? (size - shift + stride - 1) / stride : 0;
    if (*high > count) *high = count;
    if (*low > *high) *low = *high;
}

static int64_t grain(const fc_conv *v) { return 1 + GRAIN / (v->small_n * v->taps + 1); }

#define DEPTHWISE(name, R, FMA)                                                                                       \
/* planes [begin, end) of (sample, channel): one row of small at a time */                                            \
static void forward_planes_##name(void *ctx, int64_t begin, int64_t end)                                              \
{                                                                                                                     \
    const depth_job *job = ctx;                                                                                       \
    const fc_conv *v = job->v;                                                                                        \
    const int64_t width = v->small[2], stride = v->stride[2];                                                         \
    for (int64_t p = begin; p < end; ++p) {                                                                           \
        const int64_t g = p % v->groups;                                                                              \
        const R *x = (const R *)job->x + p * v->big_n, *weight = (const R *)job->weight + g * v->taps;                \
        R *row = (R *)job->out + p * v->small_n;                                                                      \
        for (int64_t d = 0; d < v->small[0]; ++d)                                                                     \
            for (int64_t h = 0; h < v->small[1]; ++h, row += width) {                                                 \
                memset(row, 0, (size_t)width * sizeof(R));                                                            \
                for (int64_t t = 0; t < v->taps; ++t) {                                                               \
                    const int64_t tw = t % v->kernel[2], th = t / v->kernel[2] % v->kernel[1];                        \
                    const int64_t td = t / v->kernel[2] / v->kernel[1];                                               \
                    const int64_t zd = d * v->stride[0] - v->pad[0] + td * v->dilation[0];                            \
                    const int64_t zh = h * v->stride[1] - v->pad[1] + th * v->dilation[1];                            \
                    if (zd < 0 || zd >= v->big[0] || zh < 0 || zh >= v->big[1]) continue;                             \
                    const int64_t shift = tw * v->dilation[2] - v->pad[2];                                            \
                    int64_t low, high;                                                                                \
                    inside(shift, stride, v->big[2], width, &low, &high);                                             \
                    const R *restrict from = x + (zd * v->big[1] + zh) * v->big[2] + shift;                           \
                    R *restrict to = row;                                                                             \
                    const R w = weight[t];                                                                            \
                    if (stride == 1)                                                                                  \
                        for (int64_t j = low; j < high; ++j) to[j] = FMA(w, from[j], to[j]);                          \
                    else                                                                                              \
                        for (int64_t j = low; j < high; ++j) to[j] = FMA(w, from[j * stride], to[j]);                 \
                }                                                                                                     \
                if (job->bias)                                                                                        \
                    for (int64_t j = 0; j < width; ++j) row[j] += ((const R *)job->bias)[g];                          \
            }                                                                                                         \
    }                                                                                                                 \
}                                                                                                                     \
                                                                                                                      \
/* the other way: taps outermost, so that every element of big meets them in order */                                 \
static void big_planes_##name(void *ctx, int64_t begin, int64_t end)                                                  \
{                                                                                                                     \
    const depth_job *job = ctx;                                                                                       \
    const fc_conv *v = job->v;                                                                                        \
    const int64_t width = v->small[2], stride = v->stride[2];                                                         \
    for (int64_t p = begin; p < end; ++p) {                                                                           \
        const int64_t g = p % v->groups;                                                                              \
        const R *x = (const R *)job->x + p * v->small_n, *weight = (const R *)job->weight + g * v->taps;              \
        R *big = (R *)job->out + p * v->big_n;                                                                        \
        memset(big, 0, (size_t)v->big_n * sizeof(R));                                                                 \
        for (int64_t t = 0; t < v->taps; ++t) {                                                                       \
            const int64_t tw = t % v->kernel[2], th = t / v->kernel[2] % v->kernel[1];                                \
            const int64_t td = t / v->kernel[2] / v->kernel[1];                                                       \
            const int64_t shift = tw * v->dilation[2] - v->pad[2];                                                    \
            int64_t low, high;                                                                                        \
            inside(shift, stride, v->big[2], width, &low, &high);                                                     \
            for (int64_t d = 0; d < v->small[0]; ++d)                                                                 \
                for (int64_t h = 0; h < v->small[1]; ++h) {                                                           \
                    const int64_t zd = d * v->stride[0] - v->pad[0] + td * v->dilation[0];                            \
                    const int64_t zh = h * v->stride[1] - v->pad[1] + th * v->dilation[1];                            \
                    if (zd < 0 || zd >= v->big[0] || zh < 0 || zh >= v->big[1]) continue;                             \
                    const R *restrict from = x + (d * v->small[1] + h) * width;                                       \
                    R *restrict to = big + (zd * v->big[1] + zh) * v->big[2] + shift;                                 \
                    const R w = weight[t];                                                                            \
                    if (stride == 1)                                                                                  \
                        for (int64_t j = low; j < high; ++j) to[j] = FMA(w, from[j], to[j]);                          \
                    else                                                                                              \
                        for (int64_t j = low; j < high; ++j) to[j * stride] = FMA(w, from[j], to[j * stride]);        \
                }                                                                                                     \
        }                                                                                                             \
        if (job->bias)                                                                                                \
            for (int64_t j = 0; j < v->big_n; ++j) big[j] += ((const R *)job->bias)[g];                               \
    }                                                                                                                 \
}                                                                                                                     \
                                                                                                                      \
/* (channel, tap) pairs [begin, end) */                                                                               \
static void weights_##name(void *ctx, int64_t begin, int64_t end)                                                     \
{                                                                                                                     \
    const depth_job *job = ctx;                                                                                       \
    const fc_conv *v = job->v;                                                                                        \
    const int64_t width = v->small[2], stride = v->stride[2];                                                         \
    for (int64_t p = begin; p < end; ++p) {                                                                           \
        const int64_t g = p / v->taps, t = p % v->taps, tw = t % v->kernel[2], th = t / v->kernel[2] % v->kernel[1];  \
        const int64_t td = t / v->kernel[2] / v->kernel[1], shift = tw * v->dilation[2] - v->pad[2];                  \
        int64_t low, high;                                                                                            \
        inside(shift, stride, v->big[2], width, &low, &high);                                                         \
        R lane[LANES] = { 0 };                                                                                        \
        for (int64_t n = 0; n < v->batch; ++n)                                                                        \
            for (int64_t d = 0; d < v->small[0]; ++d)                                                                 \
                for (int64_t h = 0; h < v->small[1]; ++h) {                                                           \
                    const int64_t zd = d * v->stride[0] - v->pad[0] + td * v->dilation[0];                            \
                    const int64_t zh = h * v->stride[1] - v->pad[1] + th * v->dilation[1];                            \
                    if (zd < 0 || zd >= v->big[0] || zh < 0 || zh >= v->big[1]) continue;                             \
                    const R *s = (const R *)job->x + (n * v->groups + g) * v->small_n + (d * v->small[1] + h) * width; \
                    const R *b = (const R *)job->weight + (n * v->groups + g) * v->big_n + (zd * v->big[1] + zh) * v->big[2] + shift; \
                    int64_t j = low;                                                                                  \
                    for (; j < high && j % LANES; ++j) lane[j % LANES] = FMA(s[j], b[j * stride], lane[j % LANES]);   \
                    for (; j + LANES <= high; j += LANES)                                                             \
                        for (int l = 0; l < LANES; ++l) lane[l] = FMA(s[j + l], b[(j + l) * stride], lane[l]);        \
                    for (; j < high; ++j) lane[j % LANES] = FMA(s[j], b[j * stride], lane[j % LANES]);                \
                }                                                                                                     \
        for (int half = LANES / 2; half; half /= 2)                                                                   \
            for (int l = 0; l < half; ++l) lane[l] += lane[l + half];                                                 \
        ((R *)job->out)[p] = lane[0];                                                                                 \
    }                                                                                                                 \
}                                                                                                                     \
                                                                                                                      \
static void forward_##name(const fc_conv *v, void *small, const void *big, const void *weight, const void *bias)      \
{                                                                                                                     \
    fc_parallel(v->batch * v->groups, grain(v), forward_planes_##name, &(depth_job){ v, small, big, weight, bias });  \
}                                                                                                                     \
static void to_big_##name(const fc_conv *v, void *big, const void *small, const void *weight, const void *bias)       \
{                                                                                                                     \
    fc_parallel(v->batch * v->groups, grain(v), big_planes_##name, &(depth_job){ v, big, small, weight, bias });      \
}                                                                                                                     \
static void weight_##name(const fc_conv *v, void *weight, const void *small, const void *big)                         \
{                                                                                                                     \
    fc_parallel(v->groups * v->taps, 1 + GRAIN / (v->batch * v->small_n + 1), weights_##name,                         \
                &(depth_job){ v, weight, small, big, NULL });                                                         \
}

DEPTHWISE(f32, float, FMAF)
DEPTHWISE(f64, double, FMAD)
#undef DEPTHWISE

const fc_conv_depthwise FC_ISA_NAME(fc_conv_depthwise)[2] = {
    { forward_f32, to_big_f32, weight_f32 },
    { forward_f64, to_big_f64, weight_f64 },
};
