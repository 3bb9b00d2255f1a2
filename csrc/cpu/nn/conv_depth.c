#include "conv_depth.h"

#include <string.h>

#include "../../core/promote.h"
#include "../../include/facula.h"
#include "../parallel.h"
#include "conv_layout.h"

#define GRAIN (64 << 10) /* fma: about 5 us, with the copy */
#define SLACK 64         /* elements that a last vector may read or write beyond */
#define MOST_TAPS 64     /* of one dim; larger kernels go through the product */

static int64_t round_up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

int fc_conv_is_depthwise(const fc_conv *v)
{
    return v->groups > 1 && !v->pairs && v->big_ch == 1 && v->small_ch == 1 && (fc_compute_dtype(v->dtype) == FC_F32 || v->dtype == FC_F64) &&
           v->kernel[0] + v->kernel[1] + v->kernel[2] <= MOST_TAPS;
}

const fc_conv_depth_kernel *fc_conv_depth_kernel_for(int dtype)
{
    const int best = fc_isa_level(), level = dtype == FC_F64 && best > 3 ? 3 : best;
    return (level >= 4 ? fc_conv_depth_kernels_v4 : level == 3 ? fc_conv_depth_kernels_v3 : fc_conv_depth_kernels_v2) + (dtype == FC_F64);
}

typedef struct {
    const fc_conv *v;
    const fc_window *x;
    const fc_conv_layout *l;
    const fc_conv_depth_kernel *kernel;
    const int64_t *place;
    const char *weight, *bias, *small;
    char *out;
    const fc_conv_places *to;
    int64_t flat, out_n;
    size_t size, copy, beside; /* bytes: an element; the copy of one plane; what lies after it (flat results, or small) */
} job;

/* Rows are short, mostly: a copy of any length is a call. */
#define PUT(name, R)                                                                                                  \
static inline void copy_##name(R *restrict to, const R *restrict from, int64_t n)                                     \
{                                                                                                                     \
    int64_t w = 0;                                                                                                    \
    for (; w + 8 <= n; w += 8) memcpy(to + w, from + w, 8 * sizeof(R));                                               \
    if (n & 4) memcpy(to + w, from + w, 4 * sizeof(R)), w += 4;                                                       \
    if (n & 2) memcpy(to + w, from + w, 2 * sizeof(R)), w += 2;                                                       \
    if (n & 1) to[w] = from[w];                                                                                       \
}                                                                                                                     \
static void put_##name(const job *j, R *out, const R *sums, const R *bias)                                            \
{                                                                                                                     \
    const fc_conv_places *to = j->to;                                                                                 \
    for (int64_t d = 0; d < j->x->count[0]; ++d)                                                                      \
        for (int64_t h = 0; h < j->x->count[1]; ++h) {                                                                \
            const R *restrict from = sums + (d * j->l->extent[1] + h) * j->l->extent[2];                              \
            R *restrict row = out + ((to->start[0] + d * to->step[0]) * to->size[1] + to->start[1] + h * to->step[1]) * to->size[2] + to->start[2]; \
            const int64_t step = to->step[2], n = j->x->count[2];                                                     \
            if (step != 1)                                                                                            \
                for (int64_t w = 0; w < n; ++w) row[w * step] = bias ? from[w] + *bias : from[w];                     \
            else if (bias) {                                                                                          \
                const R b = *bias;                                                                                    \
                int64_t w = 0;                                                                                        \
                for (; w + 4 <= n; w += 4)                                                                            \
                    for (int i = 0; i < 4; ++i) row[w + i] = from[w + i] + b;                                         \
                for (; w < n; ++w) row[w] = from[w] + b;                                                              \
            }                                                                                                         \
            else                                                                                                      \
                copy_##name(row, from, n);                                                                            \
        }                                                                                                             \
}                                                                                                                     \
/* small with rows of a multiple of 16, the rest zeros, which are there */                                            \
static void widen_##name(const job *j, R *to, const R *small, int64_t pitch)                                          \
{                                                                                                                     \
    const int64_t width = j->x->count[2];                                                                             \
    for (int64_t r = 0; r < j->x->count[0] * j->x->count[1]; ++r, to += pitch, small += width) copy_##name(to, small, width); \
}                                                                                                                     \
static void halve_##name(R *out, R *sums, int64_t taps)                                                               \
{                                                                                                                     \
    for (int64_t t = 0; t < taps; ++t, sums += FC_DEPTH_LANES) {                                                      \
        for (int half = FC_DEPTH_LANES / 2; half; half /= 2)                                                          \
            for (int l = 0; l < half; ++l) sums[l] += sums[l + half];                                                 \
        out[t] = sums[0];                                                                                             \
    }                                                                                                                 \
}
PUT(f32, float)
PUT(f64, double)
#undef PUT

static void copy_one(const job *j, char *to, int64_t plane, int again)
{
    fc_conv_copy_plane(j->l, to, j->x->source + plane * j->x->plane * (int64_t)j->size, again);
    if (!again) memset(to + (size_t)j->l->channel * j->size, 0, SLACK * j->size);
}

/* planes [begin, end) of (sample, channel) */
static void forward(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *j = ctx;
    int64_t *at = scratch;
    char *copy = (char *)(at + round_up(j->x->taps, 8)), *sums = copy + j->copy;
    for (int64_t t = 0; t < j->x->taps; ++t) at[t] = fc_conv_tap_at(j->l, t);
    for (int64_t p = begin; p < end; ++p) {
        const int64_t g = p % j->v->groups;
        copy_one(j, copy, p, p > begin);
        j->kernel->flat(sums, copy, at, j->weight + (size_t)(g * j->v->taps) * j->size, j->place, j->x->taps, j->flat);
        char *out = j->out + (size_t)(p * j->out_n) * j->size;
        const char *bias = j->bias ? j->bias + (size_t)g * j->size : NULL;
        if (j->size == 4) put_f32(j, (float *)out, (const float *)sums, (const float *)bias);
        else put_f64(j, (double *)out, (const double *)sums, (const double *)bias);
    }
}

/* channels [begin, end) */
static void weights(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *j = ctx;
    const fc_conv *v = j->v;
    const fc_window *x = j->x;
    const int64_t pitch = round_up(x->count[2], FC_DEPTH_LANES);
    const fc_conv_rows rows = { x->count[0], x->count[1], j->l->extent[1], j->l->extent[2] };
    int64_t *at = scratch;
    char *copy = (char *)(at + round_up(x->taps, 8)), *small = copy + j->copy, *sums = small + j->beside;
    for (int64_t t = 0; t < x->taps; ++t) at[t] = fc_conv_tap_at(j->l, t);
    memset(small, 0, j->beside);
    for (int64_t g = begin; g < end; ++g) {
        memset(sums, 0, (size_t)x->taps * FC_DEPTH_LANES * j->size);
        for (int64_t n = 0; n < v->batch; ++n) {
            const char *from = j->small + (size_t)((n * v->groups + g) * v->small_n) * j->size;
            copy_one(j, copy, n * v->groups + g, n > 0 || g > begin);
            if (j->size == 4) widen_f32(j, (float *)small, (const float *)from, pitch);
            else widen_f64(j, (double *)small, (const double *)from, pitch);
            j->kernel->lanes(sums, copy, at, x->taps, small, x->count[2], pitch, &rows);
        }
        char *out = j->out + (size_t)(g * x->taps) * j->size;
        if (j->size == 4) halve_f32((float *)out, (float *)sums, x->taps);
        else halve_f64((double *)out, (double *)sums, x->taps);
    }
}

static size_t prepare(job *j, fc_conv_layout *l, const fc_conv *v, const fc_window *x, int64_t *room, int64_t beside)
{
    fc_conv_lay_out(l, x, 1, 1, room);
    j->v = v, j->x = x, j->l = l;
    j->kernel = fc_conv_depth_kernel_for(v->dtype);
    j->flat = fc_conv_flat(l);
    j->size = fc_dt_size[v->dtype];
    j->copy = (size_t)round_up(l->channel + SLACK, 16) * j->size;
    j->beside = (size_t)round_up(beside ? beside : j->flat + SLACK, 16) * j->size;
    return (size_t)round_up(x->taps, 8) * 8 + j->copy + j->beside + (size_t)x->taps * FC_DEPTH_LANES * j->size;
}

int fc_conv_depth_forward(const fc_conv *v, const fc_window *x, const int64_t *place, const void *weight, const void *bias,
                          void *out, const fc_conv_places *to)
{
    int64_t room[3 * MOST_TAPS];
    fc_conv_layout l;
    job j = { .weight = weight, .bias = bias, .out = out, .place = place, .to = to,
              .out_n = to->size[0] * to->size[1] * to->size[2] };
    if (!x->positions)
        return FC_OK;
    const size_t bytes = prepare(&j, &l, v, x, room, 0);
    return fc_parallel_scratch(v->batch * v->groups, 1 + GRAIN / (l.channel * (x->taps + 4) + 1), bytes, forward, &j);
}

int fc_conv_depth_weight(const fc_conv *v, const fc_window *x, void *weight, const void *small)
{
    int64_t room[3 * MOST_TAPS];
    fc_conv_layout l;
    job j = { .out = weight, .small = small };
    const size_t bytes = prepare(&j, &l, v, x, room, x->count[0] * x->count[1] * round_up(x->count[2], FC_DEPTH_LANES) + SLACK);
    return fc_parallel_scratch(v->groups, 1 + GRAIN / (v->batch * l.channel * (x->taps + 4) + 1), bytes, weights, &j);
}
