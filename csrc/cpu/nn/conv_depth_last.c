/*
 * Depthwise convolution of tensors that lie channels_last: channels are the lanes of a vector.
 *
 * Either way, neighbouring positions of a row of the result meet the same taps, whose sources are neighbours too: `advance` apart, which is
 * the stride from big to small, and 1 within a phase from small to big. Taps outside read zeros, so that sums are those of
 * conv_depth.c. For the gradient by the weight, blocks of channels are copied with their padding, as there.
 */
#include <string.h>

#include "../../core/copy_nest.h"
#include "../parallel.h"
#include "conv_depth.h"

#define GRAIN (64 << 10) /* fma: about 5 us */
#define LANES FC_DEPTH_LANES
#define SOME 4    /* blocks of channels at a time: neighbours in memory */
#define TILE 512 /* positions: what they read stays in the first cache from lane to lane */

static int64_t round_up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

typedef struct {
    const fc_conv *v;
    const fc_conv_depth_kernel *kernel;
    const char *x, *weight, *bias, *zeros;
    char *out, *turned;          /* turned: taps before channels */
    const int64_t *from, *to;    /* sizes of x and of out */
    int64_t from_n, to_n;
    size_t size;
    int to_big, status;
} job;

/* Taps of a line: where each one's row begins (NULL: outside), the index in it at position 0, and its number. */
typedef struct {
    int64_t *first, *place, *step;
    const char **row;
    const void **x;
    int64_t taps;
} line;

/* Positions [j, j + n) of a line. */
static void stretch(const job *q, const line *l, int64_t advance, char *out, int64_t out_step, int64_t j, int64_t n)
{
    const int64_t C = q->v->groups, size = q->from[2];
    for (int64_t t = 0; t < l->taps; ++t) {
        const int64_t at = l->first[t] + j * advance;
        const int there = l->row[t] && at >= 0 && at < size;
        l->x[t] = there ? l->row[t] + (size_t)(at * C) * q->size : q->zeros;
        l->step[t] = there ? advance * C : 0;
    }
    q->kernel->last(out + (size_t)(j * out_step) * q->size, out_step, l->x, l->step, q->turned, l->place, l->taps, q->bias, n, C);
}

static void run_line(const job *q, const line *l, int64_t advance, char *out, int64_t out_step, int64_t count)
{
    int64_t low = 0, high = count; /* all taps' indices are inside for positions [low, high) */
    for (int64_t t = 0; t < l->taps; ++t) {
        const int64_t first = l->first[t], left = q->from[2] - first;
        const int64_t near = first < 0 ? (-first + advance - 1) / advance : 0, far = left > 0 ? (left + advance - 1) / advance : 0;
        if (near > low) low = near;
        if (far < high) high = far;
    }
    if (low > count) low = count;
    if (high < low) high = low;
    for (int64_t j = 0; j < low; ++j) stretch(q, l, advance, out, out_step, j, 1);
    if (high > low) stretch(q, l, advance, out, out_step, low, high - low);
    for (int64_t j = high; j < count; ++j) stretch(q, l, advance, out, out_step, j, 1);
}

/* Index in x, of dim d, that tap t has at index `at` of the result; *there: whether it has any, inside or not. */
static int64_t source(const job *q, int d, int64_t at, int64_t t, int *there)
{
    const fc_conv *v = q->v;
    *there = 1;
    if (!q->to_big)
        return at * v->stride[d] - v->pad[d] + t * v->dilation[d];
    const int64_t from = at + v->pad[d] - t * v->dilation[d], s = v->stride[d], residue = ((from % s) + s) % s;
    *there = residue == 0;
    return (from - residue) / s;
}

/* rows [begin, end) of the result, of all samples */
static void rows(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const fc_conv *v = q->v;
    const int64_t C = v->groups, per = q->to[0] * q->to[1], phases = q->to_big ? v->stride[2] : 1;
    line l = { .first = scratch };
    l.place = l.first + v->taps, l.step = l.place + v->taps;
    l.row = (const char **)(l.step + v->taps), l.x = (const void **)(l.row + v->taps);
    for (int64_t r = begin; r < end; ++r) {
        const int64_t d = r % per / q->to[1], h = r % q->to[1];
        const char *x = q->x + (size_t)(r / per * q->from_n * C) * q->size;
        char *out = q->out + (size_t)(r * q->to[2] * C) * q->size;
        for (int64_t start = 0; start < phases && start < q->to[2]; ++start) {
            l.taps = 0;
            for (int64_t a = 0; a < v->kernel[0]; ++a)
                for (int64_t b = 0; b < v->kernel[1]; ++b)
                    for (int64_t c = 0; c < v->kernel[2]; ++c) {
                        int in_d, in_h, in_w;
                        const int64_t zd = source(q, 0, d, a, &in_d), zh = source(q, 1, h, b, &in_h), zw = source(q, 2, start, c, &in_w);
                        if (!in_d || !in_h || !in_w)
                            continue;
                        const int inside = zd >= 0 && zd < q->from[0] && zh >= 0 && zh < q->from[1];
                        l.row[l.taps] = inside ? x + (size_t)((zd * q->from[1] + zh) * q->from[2] * C) * q->size : NULL;
                        l.first[l.taps] = zw;
                        l.place[l.taps++] = (a * v->kernel[1] + b) * v->kernel[2] + c;
                    }
            run_line(q, &l, q->to_big ? 1 : v->stride[2], out + (size_t)(start * C) * q->size, phases * C, (q->to[2] - start + phases - 1) / phases);
        }
    }
}

static void run(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    (void)begin, (void)end;
    job *q = ctx;
    const fc_conv *v = q->v;
    const int64_t C = v->groups, size = (int64_t)q->size;
    q->turned = scratch;
    fc_turn(q->turned, C * size, q->weight, v->taps * size, C, v->taps, (int)size);
    q->zeros = memset(q->turned + v->taps * C * size, 0, (size_t)(C * size));
    q->status = fc_parallel_scratch(v->batch * q->to[0] * q->to[1], 1 + GRAIN / (q->to[2] * C * (v->taps + 4) + 1), (size_t)v->taps * 5 * 8, rows, q);
}

int fc_conv_depth_last(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big)
{
    job q = { .v = v, .kernel = fc_conv_depth_kernel_for(v->dtype), .x = x, .weight = weight, .bias = bias, .out = out,
              .from = to_big ? v->small : v->big, .to = to_big ? v->big : v->small, .from_n = to_big ? v->small_n : v->big_n,
              .size = fc_dt_size[v->dtype], .to_big = to_big };
    const int bad = fc_parallel_scratch(1, 1, (size_t)((v->taps + 1) * v->groups) * q.size, run, &q);
    return bad ? bad : q.status;
}

/* --- by the weight -------------------------------------------------------------------------------------------------- */

typedef struct {
    const fc_conv *v;
    const fc_conv_depth_kernel *kernel;
    const char *small, *big;
    char *out;
    int64_t rows, wide, high;    /* of small in a tile; what it reads: a row's places, rows of a plane */
    size_t size, copy, beside, sums; /* bytes of a block of channels: what a tile reads, the tile itself, sums */
} weights_job;

/* Channels of neighbouring places, LANES a place and block; blocks are `far` bytes apart. n: channels of all blocks */
static void gather(const weights_job *q, char *to, const char *from, int64_t places, int64_t n, size_t far)
{
    const size_t place = LANES * q->size, next = (size_t)q->v->groups * q->size;
    for (int64_t k = 0; k < places; ++k, to += place, from += next) {
        char *block = to;
        int64_t c = 0;
        for (; c + LANES <= n; c += LANES, block += far)
            for (size_t b = 0; b < place; b += 32) { /* of constant length: a copy of any length is a slow instruction here */
                memcpy(block + b, from + (size_t)c * q->size + b, 16);
                memcpy(block + b + 16, from + (size_t)c * q->size + b + 16, 16);
            }
        if (c < n) memcpy(block, from + (size_t)c * q->size, (size_t)(n - c) * q->size);
    }
}

static void clear(char *to, int64_t places, int64_t blocks, size_t far, size_t size)
{
    for (int64_t b = 0; b < blocks && places > 0; ++b) memset(to + (size_t)b * far, 0, (size_t)(places * LANES) * size);
}

/* The padded rows of big that rows [h, h + height) of plane d of small read, in planes of q->high rows. */
static void fill(const weights_job *q, char *to, const char *big, int64_t d, int64_t h, int64_t height, int64_t n)
{
    const fc_conv *v = q->v;
    const int64_t blocks = (n + LANES - 1) / LANES, left = v->pad[2] < q->wide ? v->pad[2] : q->wide;
    const int64_t there = v->big[2] < q->wide - left ? v->big[2] : q->wide - left, needed = (height - 1) * v->stride[1] + v->dilation[1] * (v->kernel[1] - 1) + 1;
    const size_t place = LANES * q->size;
    for (int64_t a = 0; a < v->kernel[0]; ++a)
        for (int64_t i = 0; i < needed; ++i) {
            const int64_t zd = d * v->stride[0] + a * v->dilation[0] - v->pad[0], zh = h * v->stride[1] + i - v->pad[1];
            char *row = to + (size_t)((a * q->high + i) * q->wide) * place;
            if (zd < 0 || zd >= v->big[0] || zh < 0 || zh >= v->big[1]) {
                clear(row, q->wide, blocks, q->copy, q->size);
                continue;
            }
            clear(row, left, blocks, q->copy, q->size);
            gather(q, row + (size_t)left * place, big + (size_t)((zd * v->big[1] + zh) * v->big[2] * v->groups) * q->size, there, n, q->copy);
            clear(row + (size_t)(left + there) * place, q->wide - left - there, blocks, q->copy, q->size);
        }
}

/* sums[t][lane][c] become weight[c][t]. Lanes beyond a row's end got zeros: a sum of them is not -0. */
#define HALVE(name, R)                                                                                                \
static void halve_##name(const fc_conv *v, R *out, R *sums, int64_t n)                                                \
{                                                                                                                     \
    const int64_t over = v->small[2] % LANES ? v->small[2] % LANES : LANES;                                           \
    for (int64_t t = 0; t < v->taps; ++t, sums += LANES * LANES) {                                                    \
        for (int64_t k = over * LANES; k < LANES * LANES; ++k) sums[k] += 0;                                          \
        for (int half = LANES / 2; half; half /= 2)                                                                   \
            for (int k = 0; k < half * LANES; ++k) sums[k] += sums[k + half * LANES];                                 \
        for (int64_t c = 0; c < n; ++c) out[c * v->taps + t] = sums[c];                                               \
    }                                                                                                                 \
}
HALVE(f32, float)
HALVE(f64, double)
#undef HALVE

/* blocks [begin, end) of LANES channels, some at a time: tiles of rows are read once for all of them */
static void weights(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const weights_job *q = ctx;
    const fc_conv *v = q->v;
    const int64_t C = v->groups;
    fc_conv_rows rows = { 1, 1, 0, v->stride[1] * q->wide * LANES };
    int64_t *at = scratch;
    char *copy = (char *)(at + round_up(v->taps, 8)), *small = copy + SOME * q->copy, *sums = small + SOME * q->beside;
    for (int64_t t = 0; t < v->taps; ++t) {
        const int64_t c = t % v->kernel[2], b = t / v->kernel[2] % v->kernel[1], a = t / v->kernel[2] / v->kernel[1];
        at[t] = ((a * q->high + b * v->dilation[1]) * q->wide + c * v->dilation[2]) * LANES;
    }
    for (int64_t u = begin; u < end; u += SOME) {
        const int64_t blocks = end - u < SOME ? end - u : SOME, c = u * LANES, n = C - c < blocks * LANES ? C - c : blocks * LANES;
        memset(sums, 0, (size_t)blocks * q->sums);
        for (int64_t r = 0; r < v->batch * v->small[0] * v->small[1]; r += rows.height) {
            const int64_t s = r / v->small[1] / v->small[0], d = r / v->small[1] % v->small[0], h = r % v->small[1], left = v->small[1] - h;
            rows.height = left < q->rows ? left : q->rows;
            fill(q, copy, q->big + (size_t)(s * v->big_n * C + c) * q->size, d, h, rows.height, n);
            gather(q, small, q->small + (size_t)(r * v->small[2] * C + c) * q->size, rows.height * v->small[2], n, q->beside);
            for (int64_t b = 0; b < blocks; ++b)
                q->kernel->last_lanes(sums + (size_t)b * q->sums, copy + (size_t)b * q->copy, at, v->taps, small + (size_t)b * q->beside,
                                      v->small[2], v->stride[2] * LANES, &rows);
        }
        for (int64_t b = 0; b < blocks; ++b) {
            char *out = q->out + (size_t)((c + b * LANES) * v->taps) * q->size, *from = sums + (size_t)b * q->sums;
            const int64_t left = n - b * LANES, count = left < LANES ? left : LANES;
            if (q->size == 4) halve_f32(v, (float *)out, (float *)from, count);
            else halve_f64(v, (double *)out, (double *)from, count);
        }
    }
}

int fc_conv_depth_last_weight(const fc_conv *v, void *weight, const void *small, const void *big)
{
    weights_job q = { .v = v, .kernel = fc_conv_depth_kernel_for(v->dtype), .small = small, .big = big, .out = weight, .size = fc_dt_size[v->dtype] };
    const int64_t W = v->small[2] > 0 ? v->small[2] : 1;
    q.rows = 1 + TILE / W < v->small[1] ? 1 + TILE / W : v->small[1] > 0 ? v->small[1] : 1;
    q.wide = (W - 1) * v->stride[2] + v->dilation[2] * (v->kernel[2] - 1) + 1;
    q.high = (q.rows - 1) * v->stride[1] + v->dilation[1] * (v->kernel[1] - 1) + 1;
    q.copy = (size_t)(v->kernel[0] * q.high * q.wide * LANES) * q.size;
    q.beside = (size_t)(q.rows * W * LANES) * q.size;
    q.sums = (size_t)(v->taps * LANES * LANES) * q.size;
    const size_t bytes = (size_t)round_up(v->taps, 8) * 8 + SOME * (q.copy + q.beside + q.sums);
    return fc_parallel_scratch((v->groups - 1) / LANES + 1, 1 + GRAIN / (v->batch * v->small_n * LANES * (v->taps + 4) + 1), bytes, weights, &q);
}
