/*
 * Convolution of tensors that lie channels_last, one group: positions are the rows of a product, channels of the result its columns.
 *
 * Where taps read is the same for every position, but for a shift, and so it is for every channel: element (position, (channel, tap)) is
 * at[position] + k[channel, tap] of the source, or of a copy with its padding. It is read from there, one at a time, broadcast over the
 * columns; the weight is turned so that columns are side by side. Sums are those of conv_run.c over the same k.
 */
#include <string.h>

#include "../../core/copy_nest.h"
#include "../../include/facula.h"
#include "../gemm_blocks.h"
#include "../parallel.h"
#include "conv.h"

#define CHUNK_BYTES (1 << 20) /* copies of so many samples at a time: each time the weight is packed again */
#define MOST_ROWS 16384         /* or so many rows */
#define TURNED 64               /* lines of the weight that a thread turns */
#define GRAIN (32 << 10)        /* bytes copied: about 5 us */

static int64_t up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

typedef struct {
    const fc_conv *v;
    const char *x, *weight;
    char *out, *copy, *turned;
    const void *bias;
    int to_big, weight_last, bare;
    const int64_t *from, *to;             /* sizes of the source and of the result */
    int64_t from_ch, to_ch, from_n, to_n;
    int64_t low[3], extent[3], step[3];   /* first source index that a tap reads; size of the copy; from position to position */
    int64_t chunk, pitch;                 /* samples at a time; elements from place to place in the copy */
    int64_t size, at_at, k_at, place_at, turned_at, copy_at;
    int status;
} job;

/* Where tap t reads, of dim d, at position 0. */
static int64_t off(const job *q, int d, int64_t t)
{
    const fc_conv *v = q->v;
    return q->to_big ? v->pad[d] - t * v->dilation[d] : t * v->dilation[d] - v->pad[d];
}

/* Rows [begin, end) of the copies: (sample, d, h). q->x is the first sample's. */
static void pad_rows(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t place = q->from_ch * q->size, pitch = q->pitch * q->size, wide = q->extent[2] * pitch;
    int64_t left = -q->low[2] < 0 ? 0 : -q->low[2], first = q->low[2] < 0 ? 0 : q->low[2];
    if (left > q->extent[2]) left = q->extent[2];
    int64_t there = q->from[2] - first < q->extent[2] - left ? q->from[2] - first : q->extent[2] - left;
    if (there < 0) there = 0;
    for (int64_t r = begin; r < end; ++r) {
        const int64_t h = r % q->extent[1] + q->low[1], d = r / q->extent[1] % q->extent[0] + q->low[0], n = r / q->extent[1] / q->extent[0];
        char *to = q->copy + r * wide;
        if (d < 0 || d >= q->from[0] || h < 0 || h >= q->from[1]) {
            memset(to, 0, (size_t)wide);
            continue;
        }
        const char *from = q->x + (n * q->from_n + (d * q->from[1] + h) * q->from[2] + first) * place;
        memset(to, 0, (size_t)(left * pitch));
        if (place == pitch)
            memcpy(to + left * pitch, from, (size_t)(there * place));
        else
            for (int64_t w = 0; w < there; ++w) memcpy(to + (left + w) * pitch, from + w * place, (size_t)place);
        memset(to + (left + there) * pitch, 0, (size_t)(wide - (left + there) * pitch));
    }
}

/* The weight with channels of the result side by side. To small: lines (channels of small) and what is in them change places. To big: in each
 * channel of small, taps come before channels, as they do in channels_last. */
static void turn_lines(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const fc_conv *v = q->v;
    const int64_t K = v->big_ch * v->taps * q->size, O = v->small_ch * q->size;
    if (!q->to_big) {
        const int64_t o = begin * TURNED, last = end * TURNED < v->small_ch ? end * TURNED : v->small_ch;
        fc_turn(q->turned + o * q->size, O, q->weight + o * K, K, last - o, v->big_ch * v->taps, (int)q->size);
        return;
    }
    for (int64_t o = begin * TURNED; o < end * TURNED && o < v->small_ch; ++o)
        fc_turn(q->turned + o * K, v->big_ch * q->size, q->weight + o * K, v->taps * q->size, v->big_ch, v->taps, (int)q->size);
}

static void run(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    (void)begin, (void)end;
    job *q = ctx;
    const fc_conv *v = q->v;
    int64_t *at = (int64_t *)((char *)scratch + q->at_at), *k_at = (int64_t *)((char *)scratch + q->k_at), *place = (int64_t *)((char *)scratch + q->place_at);
    q->copy = (char *)scratch + q->copy_at;
    q->turned = (char *)scratch + q->turned_at;
    const int64_t *pitch = q->bare ? q->from : q->extent, C = q->from_ch, P = q->bare ? C : q->pitch, sample = pitch[0] * pitch[1] * pitch[2] * P, positions = q->to_n;
    const int64_t zero = q->bare ? (q->low[0] * pitch[1] + q->low[1]) * pitch[2] + q->low[2] : 0; /* where the first tap reads, in the source */
    int64_t *a = at;
    for (int64_t n = 0; n < q->chunk; ++n)
        for (int64_t d = 0; d < q->to[0]; ++d)
            for (int64_t h = 0; h < q->to[1]; ++h)
                for (int64_t w = 0; w < q->to[2]; ++w)
                    *a++ = n * sample + (((d * q->step[0]) * pitch[1] + h * q->step[1]) * pitch[2] + w * q->step[2] + zero) * P;
    for (int64_t t = 0; t < v->taps; ++t) {
        const int64_t w = off(q, 2, t % v->kernel[2]) - q->low[2], h = off(q, 1, t / v->kernel[2] % v->kernel[1]) - q->low[1],
                      d = off(q, 0, t / v->kernel[2] / v->kernel[1]) - q->low[0];
        for (int64_t c = 0; c < C; ++c) k_at[c * v->taps + t] = ((d * pitch[1] + h) * pitch[2] + w) * P + c;
        place[t] = q->to_big ? t * v->big_ch : q->weight_last ? t * v->big_ch * v->small_ch : t * v->small_ch;
    }
    const int in_place = q->to_big && q->weight_last;
    if (!in_place)
        fc_parallel((v->small_ch + TURNED - 1) / TURNED, 1 + (GRAIN >> 2) / (TURNED * v->big_ch * v->taps), turn_lines, q);
    const fc_two_level w = { in_place ? q->weight : q->turned, 1, q->to_big ? v->taps * v->big_ch : q->weight_last ? v->small_ch : v->taps * v->small_ch,
                             v->taps, place, 0 };
    fc_gemm_args p = { FC_CONV_PRODUCT(v), .batch = 1, .N = q->to_ch, .K = C * v->taps, .a_at = at, .a_k = k_at, .b = &w, .pack_b = fc_pack_two_level,
                       .c_row = q->to_ch, .c_col = 1, .bias = q->bias, .bias_col = 1 };
    for (int64_t n = 0; n < v->batch && !q->status; n += q->chunk) {
        const int64_t here = v->batch - n < q->chunk ? v->batch - n : q->chunk;
        if (!q->bare)
            fc_parallel(here * q->extent[0] * q->extent[1], 1 + GRAIN / (q->extent[2] * C * q->size), pad_rows, q);
        p.a = q->bare ? q->x : q->copy;
        p.M = here * positions;
        p.c = q->out;
        q->status = fc_gemm_run(&p);
        q->x += here * q->from_n * C * q->size;
        q->out += here * positions * q->to_ch * q->size;
    }
}

int fc_conv_dense_last(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big)
{
    job q = { .v = v, .x = x, .weight = weight, .out = out, .bias = bias, .to_big = to_big, .weight_last = v->weight_last, .bare = 1,
              .from = to_big ? v->small : v->big, .to = to_big ? v->big : v->small, .from_ch = to_big ? v->small_ch : v->big_ch,
              .to_ch = to_big ? v->big_ch : v->small_ch, .from_n = to_big ? v->small_n : v->big_n, .to_n = to_big ? v->big_n : v->small_n,
              .size = fc_dt_size[v->dtype] };
    const int64_t lines = q.from_ch * q.size / 64;
    q.pitch = lines >= 4 ? (lines | 1) * 64 / q.size : q.from_ch; /* an odd number of lines: neighbours are in many sets */
    if (q.pitch < q.from_ch) q.pitch += 128 / q.size;
    int64_t sample = q.pitch * q.size;
    for (int d = 0; d < 3; ++d) {
        const int64_t one = off(&q, d, 0), other = off(&q, d, v->kernel[d] - 1), high = one > other ? one : other;
        q.step[d] = to_big ? 1 : v->stride[d];
        q.low[d] = one < other ? one : other;
        q.extent[d] = (q.to[d] - 1) * q.step[d] + high - q.low[d] + 1;
        q.bare = q.bare && q.low[d] >= 0 && q.low[d] + q.extent[d] <= q.from[d];
        sample *= q.extent[d];
    }
    q.chunk = MOST_ROWS / q.to_n;
    if (!q.bare && CHUNK_BYTES / sample < q.chunk) q.chunk = CHUNK_BYTES / sample;
    if (q.chunk > v->batch) q.chunk = v->batch;
    if (q.chunk < 1) q.chunk = 1;
    int64_t bytes = 0;
#define PLACE(at, n) (q.at = bytes, bytes += up((int64_t)(n), 64))
    PLACE(at_at, q.chunk * q.to_n * 8);
    PLACE(k_at, q.from_ch * v->taps * 8);
    PLACE(place_at, v->taps * 8);
    PLACE(turned_at, v->small_ch * v->big_ch * v->taps * q.size);
    PLACE(copy_at, q.bare ? 0 : q.chunk * sample);
#undef PLACE
    const int bad = fc_parallel_scratch(1, 1, (size_t)bytes, run, &q);
    return bad ? bad : q.status;
}
