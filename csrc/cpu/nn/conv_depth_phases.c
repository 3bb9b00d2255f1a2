/*
 * Depthwise, from small to big, with a stride: places of big that agree modulo the stride (a phase) meet the same taps.
 *
 * All phases read one padded copy of a plane of small. Those that share rows of big leave their sums side by side first, so that
 * rows are written from end to end instead of once for each phase. Each element is one chain over its taps, as in conv_depth.c.
 */
#include <string.h>

#include "../parallel.h"
#include "conv_depth.h"
#include "conv_layout.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define GRAIN (64 << 10)
#define SLACK 64

static int64_t round_up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

/* One dim of a phase: big's index start + j * stride, j < count; tap t reads small at j + (start + pad - t * dilation) / stride. */
typedef struct { int64_t start, count; } along;

static along phase_along(const fc_conv *v, int d, int64_t phase)
{
    const int64_t s = v->stride[d], start = ((phase - v->pad[d]) % s + s) % s;
    return (along){ start, start < v->big[d] ? (v->big[d] - start + s - 1) / s : 0 };
}

static int64_t tap_off(const fc_conv *v, int d, int64_t t)
{
    const int64_t phase = t * v->dilation[d] % v->stride[d];
    return (phase_along(v, d, phase).start + v->pad[d] - t * v->dilation[d]) / v->stride[d];
}

typedef struct {
    const fc_conv *v;
    const fc_conv_layout *l;
    const fc_conv_depth_kernel *kernel;
    const char *weight, *bias;
    char *big;
    int64_t flat, room; /* positions of a phase, and what their sums take with slack */
    size_t size, copy;
} job;

/* Rows of big at phases (d, h): sums of each phase of the last dim are `room` apart, and number its start modulo the stride. */
#define PUT(name, R, WEAVE)                                                                                           \
static void put_##name(const job *j, R *out, const R *sums, along d, along h, const R *bias)                          \
{                                                                                                                     \
    const fc_conv *v = j->v;                                                                                          \
    const int64_t s = v->stride[2], width = v->big[2];                                                                \
    const R more = bias ? *bias : 0;                                                                                  \
    for (int64_t a = 0; a < d.count; ++a)                                                                             \
        for (int64_t b = 0; b < h.count; ++b) {                                                                       \
            const R *restrict from = sums + (a * j->l->extent[1] + b) * j->l->extent[2];                              \
            R *restrict row = out + ((d.start + a * v->stride[0]) * v->big[1] + h.start + b * v->stride[1]) * width;  \
            int64_t w = 0;                                                                                            \
            if (s == 2)                                                                                               \
                for (; w + 8 <= width; w += 8) WEAVE(row + w, from + w / 2, from + j->room + w / 2, bias, more);      \
            for (int64_t p = 0; p < s; ++p) {                                                                         \
                const R *restrict x = from + p * j->room + w / s;                                                     \
                for (int64_t at = w + p; at < width; at += s, ++x) row[at] = bias ? *x + more : *x;                   \
            }                                                                                                         \
        }                                                                                                             \
}

#ifdef __SSE2__
static inline void weave_f32(float *to, const float *even, const float *odd, const float *bias, float more)
{
    __m128 x = _mm_loadu_ps(even), y = _mm_loadu_ps(odd);
    if (bias) x = _mm_add_ps(x, _mm_set1_ps(more)), y = _mm_add_ps(y, _mm_set1_ps(more));
    _mm_storeu_ps(to, _mm_unpacklo_ps(x, y));
    _mm_storeu_ps(to + 4, _mm_unpackhi_ps(x, y));
}
#else
static inline void weave_f32(float *to, const float *even, const float *odd, const float *bias, float more)
{
    for (int k = 0; k < 4; ++k) to[2 * k] = bias ? even[k] + more : even[k], to[2 * k + 1] = bias ? odd[k] + more : odd[k];
}
#endif
static inline void weave_f64(double *to, const double *even, const double *odd, const double *bias, double more)
{
    for (int k = 0; k < 4; ++k) to[2 * k] = bias ? even[k] + more : even[k], to[2 * k + 1] = bias ? odd[k] + more : odd[k];
}
PUT(f32, float, weave_f32)
PUT(f64, double, weave_f64)
#undef PUT

/* Offsets of the taps of one phase in the copy, and their numbers; how many there are. */
static int64_t list_taps(const job *j, const int64_t phase[3], int64_t *at, int64_t *place)
{
    const fc_conv *v = j->v;
    const int64_t *low = j->l->low, *extent = j->l->extent, *n = v->kernel;
    int64_t found = 0;
    for (int64_t a = 0; a < n[0]; ++a)
        for (int64_t b = 0; b < n[1]; ++b)
            for (int64_t c = 0; c < n[2]; ++c)
                if (a * v->dilation[0] % v->stride[0] == phase[0] && b * v->dilation[1] % v->stride[1] == phase[1] &&
                    c * v->dilation[2] % v->stride[2] == phase[2]) {
                    at[found] = ((tap_off(v, 0, a) - low[0]) * extent[1] + tap_off(v, 1, b) - low[1]) * extent[2] + tap_off(v, 2, c) - low[2];
                    place[found++] = (a * n[1] + b) * n[2] + c;
                }
    return found;
}

/* planes [begin, end) of (sample, channel) */
static void planes(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *j = ctx;
    const fc_conv *v = j->v;
    const int64_t *s = v->stride, phases = s[0] * s[1] * s[2];
    int64_t *at = scratch, *place = at + v->taps, *first = place + v->taps;
    char *copy = (char *)scratch + round_up(2 * v->taps + phases + 1, 8) * 8, *sums = copy + j->copy;
    first[0] = 0;
    for (int64_t p = 0; p < phases; ++p) {
        const int64_t phase[3] = { p / s[2] / s[1], p / s[2] % s[1], p % s[2] };
        first[p + 1] = first[p] + list_taps(j, phase, at + first[p], place + first[p]);
    }
    for (int64_t i = begin; i < end; ++i) {
        const int64_t g = i % v->groups;
        const char *weight = j->weight + (size_t)(g * v->taps) * j->size, *bias = j->bias ? j->bias + (size_t)g * j->size : NULL;
        char *out = j->big + (size_t)(i * v->big_n) * j->size;
        fc_conv_copy_plane(j->l, copy, j->l->x->source + i * v->small_n * (int64_t)j->size, i > begin);
        if (i == begin) memset(copy + (size_t)j->l->channel * j->size, 0, SLACK * j->size);
        for (int64_t r = 0; r < s[0] * s[1]; ++r) {
            for (int64_t w = 0; w < s[2]; ++w) {
                const int64_t p = r * s[2] + w;
                j->kernel->flat(sums + (size_t)(phase_along(v, 2, w).start * j->room) * j->size, copy, at + first[p], weight, place + first[p],
                                first[p + 1] - first[p], j->flat);
            }
            const along d = phase_along(v, 0, r / s[1]), h = phase_along(v, 1, r % s[1]);
            if (j->size == 4) put_f32(j, (float *)out, (const float *)sums, d, h, (const float *)bias);
            else put_f64(j, (double *)out, (const double *)sums, d, h, (const double *)bias);
        }
    }
}

int fc_conv_depth_phases(const fc_conv *v, const void *small, const void *weight, const void *bias, void *big)
{
    int64_t off[3][2], room[18];
    fc_window x = { .source = small, .dtype = v->dtype, .plane = v->small_n, .sample = v->groups * v->small_n, .positions = 1, .taps = 1 };
    for (int d = 0; d < 3; ++d) { /* one window that reaches as far as all phases */
        x.size[d] = v->small[d], x.step[d] = 1;
        for (int64_t p = 0; p < v->stride[d]; ++p)
            if (phase_along(v, d, p).count > x.count[d]) x.count[d] = phase_along(v, d, p).count;
        off[d][0] = off[d][1] = tap_off(v, d, 0);
        for (int64_t t = 1; t < v->kernel[d]; ++t) {
            const int64_t o = tap_off(v, d, t);
            off[d][0] = o < off[d][0] ? o : off[d][0];
            off[d][1] = o > off[d][1] ? o : off[d][1];
        }
        x.off[d] = off[d];
        x.ntaps[d] = 2;
        x.positions *= x.count[d];
        x.taps *= 2;
    }
    if (!x.positions)
        return 0;
    fc_conv_layout l;
    fc_conv_lay_out(&l, &x, 1, 1, room);
    job j = { v, &l, fc_conv_depth_kernel_for(v->dtype), weight, bias, big, fc_conv_flat(&l), 0, fc_dt_size[v->dtype], 0 };
    j.room = round_up(j.flat + SLACK, 16);
    j.copy = (size_t)round_up(l.channel + SLACK, 16) * j.size;
    const int64_t phases = v->stride[0] * v->stride[1] * v->stride[2];
    const size_t bytes = (size_t)round_up(2 * v->taps + phases + 1, 8) * 8 + j.copy + (size_t)(v->stride[2] * j.room) * j.size;
    return fc_parallel_scratch(v->batch * v->groups, 1 + GRAIN / (v->big_n * (v->taps / phases + 4) + 1), bytes, planes, &j);
}
