/* The three directions of conv.c as products: which way each goes, and their operands. */
#include <string.h>

#include "../parallel.h"
#include "conv_depth.h"

#define FOLD_BELOW 256 /* positions: smaller planes of several samples go through the engine as one product */

int64_t fc_conv_words(const fc_conv *v)
{
    const int64_t kernel = v->kernel[0] + v->kernel[1] + v->kernel[2];
    const int64_t big = v->big_n < FOLD_BELOW * v->stride[0] * v->stride[1] * v->stride[2] ? v->batch * v->big_n : v->big_n;
    const int64_t small = v->small_n < FOLD_BELOW ? v->batch * v->small_n : 0;
    return kernel + v->taps + (big > small ? big : small);
}

static const char *step_to(const void *x, int64_t elements, int dtype) { return (const char *)x + elements * fc_dt_size[dtype]; }

static fc_window window_over_big(const fc_conv *v, const void *big, int64_t *off)
{
    fc_window x = { .source = big, .dtype = v->dtype, .plane = v->big_n, .sample = v->groups * v->big_ch * v->big_n,
                    .positions = v->small_n, .taps = v->taps };
    for (int d = 0; d < 3; ++d) {
        x.size[d] = v->big[d], x.count[d] = v->small[d], x.step[d] = v->stride[d], x.ntaps[d] = v->kernel[d];
        x.off[d] = off;
        for (int64_t t = 0; t < v->kernel[d]; ++t)
            *off++ = t * v->dilation[d] - v->pad[d];
    }
    return x;
}

int fc_conv_product(const fc_conv *v, fc_gemm_args *p) { return v->pairs ? fc_gemm_run(p) : fc_gemm_shaped(p); }

int fc_conv_is_whole(const fc_conv *v)
{
    int whole = v->small_n == 1;
    for (int d = 0; d < 3; ++d)
        whole = whole && v->pad[d] == 0 && v->kernel[d] == v->big[d];
    return whole;
}

/* Groups are the products. */
static int run_whole(const fc_conv *v, int direction, void *out, const void *x, const void *other, const void *bias)
{
    const int64_t O = v->small_ch, K = v->big_ch * v->taps, small = v->groups * O, big = v->groups * K;
    fc_gemm_args p = { FC_CONV_PRODUCT(v), .batch = v->groups, .c = out, .bias = bias, .bias_row = 1 };
    if (direction == FC_CONV_WEIGHT) {
        p.M = O, p.N = K, p.K = v->batch, p.c_batch = O * K, p.c_row = K, p.c_col = 1;
        p.a = x, p.a_batch = O, p.a_row = 1, p.a_col = small;
        p.b = other, p.b_batch = K, p.b_row = big, p.b_col = 1;
    } else {
        const int up = direction == FC_CONV_TO_BIG;
        p.M = up ? K : O, p.K = up ? O : K, p.N = v->batch, p.c_batch = p.M, p.c_row = 1, p.c_col = up ? big : small;
        p.a = other, p.a_batch = O * K, p.a_row = up ? 1 : K, p.a_col = up ? K : 1;
        p.b = x, p.b_batch = p.K, p.b_row = 1, p.b_col = up ? small : big;
    }
    p.bias_batch = p.M;
    return fc_conv_product(v, &p);
}

int fc_conv_to_small(const fc_conv *v, void *small, const void *big, const void *weight, const void *bias, int64_t *room)
{
    if (fc_is_int(v->dtype)) {
        fc_conv_integers(v, small, big, weight, bias, 0);
        return FC_OK;
    }
    if (v->last)
        return fc_conv_last(v, small, big, weight, bias, 0);
    if (fc_conv_is_depthwise(v) && fc_conv_depth_turns(v, FC_CONV_TO_SMALL))
        return fc_conv_depth_turned(v, small, big, weight, bias, 0);
    if (!fc_conv_is_depthwise(v) && fc_conv_is_whole(v))
        return run_whole(v, FC_CONV_TO_SMALL, small, big, weight, bias);
    fc_window x = window_over_big(v, big, room);
    const fc_conv_places to = { .step = { 1, 1, 1 }, .size = { v->small[0], v->small[1], v->small[2] } };
    if (fc_conv_is_depthwise(v))
        return fc_conv_depth_forward(v, &x, NULL, weight, bias, small, &to);
    int64_t *const at = room + v->kernel[0] + v->kernel[1] + v->kernel[2] + v->taps;
    x.folded = v->batch > 1 && v->small_n < FOLD_BELOW;
    const int64_t sample = v->groups * v->small_ch * v->small_n;
    if (x.folded)
        for (int64_t n = 0; n < v->batch; ++n)
            for (int64_t p = 0; p < v->small_n; ++p)
                at[n * v->small_n + p] = n * sample + p;
    const int in_place = !v->pairs && v->taps == 1 && !memcmp(v->small, v->big, sizeof v->big) && !v->pad[0] && !v->pad[1] && !v->pad[2] &&
                         v->stride[0] == 1 && v->stride[1] == 1 && v->stride[2] == 1 && !x.folded; /* 1 x 1: the source is the operand */
    int bad = FC_OK;
    for (int64_t g = 0; g < v->groups && !bad; ++g) {
        const int64_t K = v->big_ch * v->taps;
        x.source = step_to(big, g * v->big_ch * v->big_n, v->dtype);
        fc_gemm_args p = { FC_CONV_PRODUCT(v), .M = v->small_ch, .K = K,
            .a = step_to(weight, g * v->small_ch * K, v->dtype), .a_row = K, .a_col = 1,
            .c = (char *)step_to(small, g * v->small_ch * v->small_n, v->dtype), .c_row = v->small_n, .c_col = 1,
            .bias = bias ? step_to(bias, g * v->small_ch, v->dtype) : NULL, .bias_row = 1 };
        if (!in_place && !g) {
            const int64_t size = fc_dt_size[v->dtype];
            const fc_conv_groups each = { v->groups, v->small_ch * K * size, v->small_ch * size, v->small_ch * v->small_n * size, v->big_ch * v->big_n * size };
            fc_gemm_args shifted = p;
            shifted.batch = v->batch, shifted.c_batch = sample;
            if ((bad = fc_conv_shifted(&shifted, &x, v->big_ch, &to, &each)) != -1)
                return bad;
        }
        p.batch = x.folded ? 1 : v->batch;
        p.N = x.folded ? v->batch * v->small_n : v->small_n;
        p.c_batch = sample;
        p.c_at = x.folded ? at : NULL;
        if (in_place) {
            p.b = x.source, p.b_batch = x.sample, p.b_row = v->big_n, p.b_col = 1;
        } else {
            p.b = &x, p.pack_b = fc_pack_window;
        }
        bad = in_place ? fc_gemm_shaped(&p) : fc_gemm_run(&p);
    }
    return bad;
}

/* Positions of big that are `phase` modulo the stride (after padding), and the taps that they meet, `apart` from one to the next in the
 * weight. */
static fc_window phase_of(const fc_conv *v, const int64_t phase[3], const void *small, int64_t start[3], int64_t *off, int64_t *place, int64_t apart)
{
    fc_window x = { .source = small, .dtype = v->dtype, .plane = v->small_n, .sample = v->groups * v->small_ch * v->small_n,
                    .positions = 1, .taps = 1, .step = { 1, 1, 1 } };
    for (int d = 0; d < 3; ++d) {
        const int64_t s = v->stride[d];
        start[d] = ((phase[d] - v->pad[d]) % s + s) % s;
        x.size[d] = v->small[d];
        x.count[d] = start[d] < v->big[d] ? (v->big[d] - start[d] + s - 1) / s : 0;
        x.off[d] = off;
        for (int64_t t = 0; t < v->kernel[d]; ++t)
            if (t * v->dilation[d] % s == phase[d])
                off[x.ntaps[d]++] = (start[d] + v->pad[d] - t * v->dilation[d]) / s;
        off += v->kernel[d];
        x.positions *= x.count[d];
        x.taps *= x.ntaps[d];
    }
    for (int64_t a = 0; a < v->kernel[0]; ++a)
        for (int64_t b = 0; b < v->kernel[1]; ++b)
            for (int64_t c = 0; c < v->kernel[2]; ++c)
                if (a * v->dilation[0] % v->stride[0] == phase[0] && b * v->dilation[1] % v->stride[1] == phase[1] &&
                    c * v->dilation[2] % v->stride[2] == phase[2])
                    *place++ = ((a * v->kernel[1] + b) * v->kernel[2] + c) * apart;
    return x;
}

/* apart: 1, or where the weight lies turned, taps before channels: big_ch. */
static int phase_to_big(const fc_conv *v, fc_window *x, const int64_t start[3], const int64_t *place, int64_t apart, int64_t *at, void *big,
                        const void *weight, const void *bias)
{
    const void *small = x->source;
    const int64_t sample = v->groups * v->big_ch * v->big_n;
    const int dense = v->stride[0] == 1 && v->stride[1] == 1 && v->stride[2] == 1;
    x->folded = v->batch > 1 && x->positions < FOLD_BELOW;
    if (x->folded || !dense) {
        int64_t *to = at;
        for (int64_t n = 0; n < (x->folded ? v->batch : 1); ++n)
            for (int64_t d = 0; d < x->count[0]; ++d)
                for (int64_t h = 0; h < x->count[1]; ++h)
                    for (int64_t w = 0; w < x->count[2]; ++w)
                        *to++ = n * sample + ((start[0] + d * v->stride[0]) * v->big[1] + start[1] + h * v->stride[1]) * v->big[2] +
                                start[2] + w * v->stride[2];
    }
    const fc_conv_places places = { { start[0], start[1], start[2] }, { v->stride[0], v->stride[1], v->stride[2] },
                                    { v->big[0], v->big[1], v->big[2] } };
    if (fc_conv_is_depthwise(v))
        return fc_conv_depth_forward(v, x, place, weight, bias, big, &places);
    int bad = FC_OK;
    for (int64_t g = 0; g < v->groups && !bad; ++g) {
        x->source = step_to(small, g * v->small_ch * v->small_n, v->dtype);
        const fc_two_level w = { step_to(weight, g * v->small_ch * v->big_ch * v->taps, v->dtype), apart > 1 ? 1 : v->taps,
                                 v->big_ch * v->taps, x->taps, dense ? NULL : place, fc_is_complex(v->dtype) };
        const fc_gemm_args p = { FC_CONV_PRODUCT(v), .M = v->big_ch, .K = v->small_ch * x->taps,
            .batch = x->folded ? 1 : v->batch, .N = x->folded ? v->batch * x->positions : x->positions,
            .a = &w, .pack_a = fc_pack_two_level, .b = x, .pack_b = fc_pack_window,
            .c = (char *)step_to(big, g * v->big_ch * v->big_n, v->dtype), .c_batch = sample, .c_row = v->big_n, .c_col = 1,
            .c_at = x->folded || !dense ? at : NULL,
            .bias = bias ? step_to(bias, g * v->big_ch, v->dtype) : NULL, .bias_row = 1 };
        if (!p.batch || !p.M || !p.N)
            continue;
        if (!g) {
            const int64_t size = fc_dt_size[v->dtype];
            const fc_conv_groups each = { v->groups, v->small_ch * v->big_ch * v->taps * size, v->big_ch * size, v->big_ch * v->big_n * size, v->small_ch * v->small_n * size };
            fc_gemm_args shifted = p;
            shifted.batch = v->batch, shifted.c_at = NULL, shifted.pack_b = NULL;
            if ((bad = fc_conv_shifted(&shifted, x, v->small_ch, &places, &each)) != -1)
                return bad;
        }
        bad = fc_gemm_run(&p);
    }
    return bad;
}

typedef struct {
    const fc_conv *v;
    void *big;
    const void *small, *weight, *bias;
    char *turned;
    int64_t *room;
    int status;
} to_big;

static int all_phases(const to_big *t, const void *weight, int64_t apart)
{
    const fc_conv *v = t->v;
    int64_t *const place = t->room + v->kernel[0] + v->kernel[1] + v->kernel[2], *const at = place + v->taps;
    int bad = FC_OK;
    int64_t phase[3], start[3];
    for (phase[0] = 0; phase[0] < v->stride[0]; ++phase[0])
        for (phase[1] = 0; phase[1] < v->stride[1]; ++phase[1])
            for (phase[2] = 0; phase[2] < v->stride[2] && !bad; ++phase[2]) {
                fc_window x = phase_of(v, phase, t->small, start, t->room, place, apart);
                bad = phase_to_big(v, &x, start, place, apart, at, t->big, weight, t->bias);
            }
    return bad;
}

/* Channels [begin, end) of small: (channels of big, taps) becomes (taps, channels of big). */
#define TURN(name, R)                                                                                                 \
static void turn_##name(void *ctx, int64_t begin, int64_t end)                                                        \
{                                                                                                                     \
    const to_big *t = ctx;                                                                                            \
    const int64_t taps = t->v->taps, channels = t->v->big_ch;                                                         \
    for (int64_t i = begin; i < end; ++i) {                                                                           \
        const R *restrict from = (const R *)t->weight + i * taps * channels;                                          \
        R *restrict to = (R *)t->turned + i * taps * channels;                                                        \
        for (int64_t c0 = 0; c0 < channels; c0 += 16)                                                                 \
            for (int64_t k = 0; k < taps; ++k)                                                                        \
                for (int64_t c = c0; c < (channels - c0 < 16 ? channels : c0 + 16); ++c) to[k * channels + c] = from[c * taps + k]; \
    }                                                                                                                 \
}
TURN(f32, float)
TURN(f64, double)
#undef TURN

#define TURN_GRAIN (32 << 10) /* elements: about 10 us */
#define TURN_FROM 16          /* channels, from which copying their neighbours beats picking them one by one */

static void turned_phases(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    (void)begin, (void)end;
    to_big *t = ctx;
    t->turned = scratch;
    fc_parallel(t->v->groups * t->v->small_ch, 1 + TURN_GRAIN / (t->v->taps * t->v->big_ch + 1), t->v->dtype == FC_F64 ? turn_f64 : turn_f32, t);
    t->status = all_phases(t, t->turned, t->v->big_ch);
}

int fc_conv_to_big(const fc_conv *v, void *big, const void *small, const void *weight, const void *bias, int64_t *room)
{
    if (fc_is_int(v->dtype)) {
        fc_conv_integers(v, big, small, weight, bias, 1);
        return FC_OK;
    }
    if (v->last)
        return fc_conv_last(v, big, small, weight, bias, 1);
    if (fc_conv_is_depthwise(v) && fc_conv_depth_turns(v, FC_CONV_TO_BIG))
        return fc_conv_depth_turned(v, big, small, weight, bias, 1);
    if (!fc_conv_is_depthwise(v) && fc_conv_is_whole(v) && !bias)
        return run_whole(v, FC_CONV_TO_BIG, big, small, weight, NULL);
    const int dense = v->stride[0] == 1 && v->stride[1] == 1 && v->stride[2] == 1;
    if (!dense && fc_conv_is_depthwise(v))
        return fc_conv_depth_phases(v, small, weight, bias, big);
    to_big t = { .v = v, .big = big, .small = small, .weight = weight, .bias = bias, .room = room };
    /* every phase reads its taps of all channels, and with them all cache lines of the weight */
    if (!dense && v->taps > 1 && v->big_ch >= TURN_FROM && (v->dtype == FC_F32 || v->dtype == FC_F64)) {
        const size_t bytes = (size_t)(v->groups * v->small_ch * v->big_ch * v->taps * fc_dt_size[v->dtype]);
        const int bad = fc_parallel_scratch(1, 1, bytes, turned_phases, &t);
        return bad ? bad : t.status;
    }
    return all_phases(&t, weight, 1);
}

int fc_conv_weight(const fc_conv *v, void *weight, const void *small, const void *big, int64_t *room)
{
    if (v->last)
        return fc_conv_last_weight(v, weight, small, big);
    if (fc_conv_is_depthwise(v) && fc_conv_depth_turns(v, FC_CONV_WEIGHT))
        return fc_conv_depth_turned_weight(v, weight, small, big);
    if (!fc_conv_is_depthwise(v) && fc_conv_is_whole(v))
        return run_whole(v, FC_CONV_WEIGHT, weight, small, big, NULL);
    fc_window x = window_over_big(v, big, room);
    if (fc_conv_is_depthwise(v))
        return fc_conv_depth_weight(v, &x, weight, small);
    x.folded = 1;
    int bad = FC_OK;
    for (int64_t g = 0; g < v->groups && !bad; ++g) {
        const int64_t N = v->big_ch * v->taps;
        x.source = step_to(big, g * v->big_ch * v->big_n, v->dtype);
        const fc_two_level a = { step_to(small, g * v->small_ch * v->small_n, v->dtype), v->small_n,
                                 v->groups * v->small_ch * v->small_n, v->small_n ? v->small_n : 1, NULL, fc_is_complex(v->dtype) };
        const fc_gemm_args p = { FC_CONV_PRODUCT(v), .batch = 1, .M = v->small_ch, .N = N, .K = v->batch * v->small_n,
            .a = &a, .pack_a = fc_pack_two_level, .b = &x, .pack_b = fc_pack_window_turned,
            .c = (char *)step_to(weight, g * v->small_ch * N, v->dtype), .c_row = N, .c_col = 1 };
        if (!p.M || !p.N)
            continue;
        fc_gemm_args turned = { FC_CONV_PRODUCT(v), .batch = 1, .M = N, .N = v->small_ch, .K = p.K, .b = &a, .pack_b = fc_pack_two_level,
            .c = p.c, .c_row = 1, .c_col = N };
        if ((bad = fc_conv_turned(&turned, &x, v->big_ch, v->batch)) == -1)
            bad = fc_gemm_run(&p);
    }
    return bad;
}
