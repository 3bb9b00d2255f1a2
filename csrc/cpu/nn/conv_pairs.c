/*
 * Convolutions of bfloat16 by pairs (docs/decisions/052): what k runs over goes two by two, channels, or samples in the gradient by the
 * weight, the last of an odd number beside zeros. A pair travels as a float does, so the rest is float32's convolution with another product.
 */
#include "../gemm_blocks.h"
#include "../parallel.h"
#include "conv.h"

#define GRAIN (24 << 10) /* pairs: about 4 us */

/* `count` rows of `length` pairs: each of two rows of x, which follow each other; of every `lines` rows the last may be alone. */
typedef struct {
    uint32_t *out;
    const uint16_t *x;
    int64_t lines, length, count;
    const fc_gemm_kernel *kernel;
} pairing;

static int64_t half(int64_t n) { return (n + 1) / 2; }

static void pair(void *ctx, int64_t begin, int64_t end)
{
    const pairing *p = ctx;
    const int64_t rows = half(p->lines);
    for (int64_t r = begin; r < end; ++r) {
        const int64_t line = r % rows * 2;
        const uint16_t *first = p->x + (r / rows * p->lines + line) * p->length;
        p->kernel->pair_rows(p->out + r * p->length, first, line + 1 < p->lines ? first + p->length : NULL, p->length);
    }
}

/* Channels are neighbours where tensors lie channels_last, and samples are lines however they lie. */
static pairing of_source(const fc_conv *v, int direction)
{
    const int64_t lines = direction == FC_CONV_TO_SMALL ? v->big_ch : v->small_ch, places = direction == FC_CONV_TO_SMALL ? v->big_n : v->small_n;
    if (direction == FC_CONV_WEIGHT)
        return (pairing){ .lines = v->batch, .length = v->groups * v->small_ch * v->small_n, .count = half(v->batch) };
    return v->last ? (pairing){ .lines = lines, .length = 1, .count = v->batch * places * v->groups * half(lines) }
                   : (pairing){ .lines = lines, .length = places, .count = v->batch * v->groups * half(lines) };
}

static pairing of_other(const fc_conv *v, int direction)
{
    const int64_t filters = v->groups * v->small_ch, taps = v->given_taps;
    if (direction == FC_CONV_WEIGHT)
        return (pairing){ .lines = v->batch, .length = v->groups * v->big_ch * v->big_n, .count = half(v->batch) };
    if (direction == FC_CONV_TO_BIG)
        return (pairing){ .lines = v->small_ch, .length = v->big_ch * taps, .count = v->groups * half(v->small_ch) };
    return v->weight_last ? (pairing){ .lines = v->big_ch, .length = 1, .count = filters * taps * half(v->big_ch) }
                          : (pairing){ .lines = v->big_ch, .length = taps, .count = filters * half(v->big_ch) };
}

static size_t bytes(const pairing *p) { return ((size_t)(p->count * p->length) * sizeof(uint32_t) + 63) / 64 * 64; }

int fc_conv_takes_pairs(const fc_conv *v, int direction)
{
    const int64_t met = direction == FC_CONV_TO_SMALL ? v->big_ch : direction == FC_CONV_TO_BIG ? v->small_ch : v->batch;
    const int depthwise = v->groups > 1 && v->big_ch == 1 && v->small_ch == 1;
    return v->dtype == FC_BF16 && met > 1 && !depthwise;
}

size_t fc_conv_pair_bytes(const fc_conv *v, int direction)
{
    const pairing x = of_source(v, direction), other = of_other(v, direction);
    return bytes(&x) + bytes(&other);
}

static const void *made(pairing p, const void *x, char **room)
{
    if (p.length == 1 && p.lines % 2 == 0 && (uintptr_t)x % sizeof(uint32_t) == 0) /* they are, where they lie */
        return x;
    p.out = (uint32_t *)*room;
    p.x = x;
    p.kernel = fc_gemm_kernel_for(FC_BF16);
    fc_parallel(p.count, 1 + GRAIN / (p.length + 8), pair, &p);
    *room += bytes(&p);
    return p.out;
}

void fc_conv_pair(fc_conv *v, int direction, const void **x, const void **other, void **room)
{
    char *at = *room;
    *x = made(of_source(v, direction), *x, &at);
    *other = made(of_other(v, direction), *other, &at);
    *room = at;
    int64_t *const met = direction == FC_CONV_TO_SMALL ? &v->big_ch : direction == FC_CONV_TO_BIG ? &v->small_ch : &v->batch;
    *met = half(*met);
    v->dtype = FC_F32;
    v->pairs = 1;
}
