/*
 * Depthwise convolution of small planes, and of strides: blocks of channels are turned to lie side by side, go through the loops of
 * conv_depth_last.c, and are turned back. A plane of 7 x 7 costs more in short rows than in sums.
 */
#include "../../core/atomic.h"
#include "../../core/copy_nest.h"
#include "../../core/status.h"
#include "../../include/facula.h"
#include "../parallel.h"
#include "conv_depth.h"

#define SMALL 256              /* positions: planes that are better turned */
#define LEAST 16               /* channels side by side: a vector's */
#define BLOCK_BYTES (128 << 10) /* of what a block reads and writes: it stays in the second cache, or the first */
#define WEIGHT_BYTES (4 << 20) /* the gradient by the weight needs all samples at a time */
#define GRAIN (64 << 10)       /* fma */

typedef struct {
    const fc_conv *v;
    const char *x, *y, *weight, *bias;
    char *out;
    int64_t from_n, to_n, block, blocks, size;
    int to_big, bad;
} job;

int fc_conv_depth_turns(const fc_conv *v, int direction)
{
    const int strided = v->stride[2] > 1 && direction == FC_CONV_TO_SMALL;
    const int64_t all = v->batch * (v->big_n + v->small_n) * LEAST * fc_dt_size[v->dtype];
    return v->groups >= LEAST && v->small_n > 0 && (v->big_n <= SMALL || strided) && (direction != FC_CONV_WEIGHT || all <= WEIGHT_BYTES);
}

/* Channels of block b of q->blocks: the last one takes what is left. */
static int64_t channels(const job *q, int64_t b) { return b + 1 < q->blocks ? q->block : q->v->groups - b * q->block; }

static void planes(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    job *q = ctx;
    for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i % q->blocks, g = b * q->block, C = channels(q, b), first = i / q->blocks * q->v->groups + g;
        fc_conv one = *q->v;
        one.batch = 1, one.groups = C, one.last = 1;
        char *x = scratch, *out = x + q->from_n * C * q->size;
        fc_turn(x, C * q->size, q->x + first * q->from_n * q->size, q->from_n * q->size, C, q->from_n, (int)q->size);
        if (fc_conv_depth_last(&one, out, x, q->weight + g * one.taps * q->size, q->bias ? q->bias + g * q->size : NULL, q->to_big))
            fc_atomic_poke(&q->bad, 1);
        fc_turn(q->out + first * q->to_n * q->size, q->to_n * q->size, out, C * q->size, q->to_n, C, (int)q->size);
    }
}

static void cut(job *q, int64_t positions)
{
    q->size = fc_dt_size[q->v->dtype];
    for (q->block = 64; q->block > LEAST && (q->block * positions * q->size > BLOCK_BYTES || q->block > q->v->groups);) q->block /= 2;
    q->blocks = q->v->groups / q->block;
}

int fc_conv_depth_turned(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big)
{
    job q = { .v = v, .x = x, .weight = weight, .bias = bias, .out = out, .from_n = to_big ? v->small_n : v->big_n,
              .to_n = to_big ? v->big_n : v->small_n, .to_big = to_big };
    cut(&q, q.from_n + q.to_n);
    const int64_t most = 2 * q.block * (q.from_n + q.to_n) * q.size;
    const int bad = fc_parallel_scratch(v->batch * q.blocks, 1 + GRAIN / (q.block * v->small_n * (v->taps + 4)), (size_t)most, planes, &q);
    return bad ? bad : q.bad ? fc_fail(FC_MEMORY, most, 0, 0, 0) : FC_OK;
}

/* blocks of channels, of all samples */
static void weights(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    job *q = ctx;
    const fc_conv *v = q->v;
    for (int64_t b = begin; b < end; ++b) {
        const int64_t g = b * q->block, C = channels(q, b), row = C * q->size;
        fc_conv one = *v;
        one.groups = C, one.last = 1;
        char *small = scratch, *big = small + v->batch * v->small_n * row;
        for (int64_t n = 0; n < v->batch; ++n) {
            const int64_t first = n * v->groups + g;
            fc_turn(small + n * v->small_n * row, row, q->y + first * v->small_n * q->size, v->small_n * q->size, C, v->small_n, (int)q->size);
            fc_turn(big + n * v->big_n * row, row, q->x + first * v->big_n * q->size, v->big_n * q->size, C, v->big_n, (int)q->size);
        }
        if (fc_conv_depth_last_weight(&one, q->out + g * v->taps * q->size, small, big))
            fc_atomic_poke(&q->bad, 1);
    }
}

int fc_conv_depth_turned_weight(const fc_conv *v, void *weight, const void *small, const void *big)
{
    job q = { .v = v, .x = big, .y = small, .out = weight };
    cut(&q, v->batch * (v->big_n + v->small_n));
    const int64_t most = 2 * q.block * v->batch * (v->big_n + v->small_n) * q.size;
    const int bad = fc_parallel_scratch(q.blocks, 1 + GRAIN / (q.block * v->batch * v->small_n * (v->taps + 4)), (size_t)most, weights, &q);
    return bad ? bad : q.bad ? fc_fail(FC_MEMORY, most, 0, 0, 0) : FC_OK;
}
