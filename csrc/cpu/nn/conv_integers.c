/* Convolution of integers in plain loops: sums wrap, so their order does not matter. Nobody waits for these. */
#include <string.h>

#include "../parallel.h"
#include "conv.h"

typedef struct {
    const fc_conv *v;
    char *out;
    const char *x, *weight, *bias;
    int to_big;
} job;

/* One channel of one group's output of one sample: every (small channel or big channel, tap, position) that touches it. */
#define INTEGER(name, T)                                                                                              \
static void plane_##name(const job *j, int64_t n, int64_t g, int64_t ch)                                              \
{                                                                                                                     \
    const fc_conv *v = j->v;                                                                                          \
    const int64_t ours = j->to_big ? v->big_ch : v->small_ch, others = j->to_big ? v->small_ch : v->big_ch;           \
    const int64_t out_n = j->to_big ? v->big_n : v->small_n, x_n = j->to_big ? v->small_n : v->big_n;                 \
    T *out = (T *)j->out + ((n * v->groups + g) * ours + ch) * out_n;                                                 \
    for (int64_t p = 0; p < out_n; ++p) out[p] = j->bias ? ((const T *)j->bias)[g * ours + ch] : 0;                   \
    for (int64_t other = 0; other < others; ++other) {                                                                \
        const T *x = (const T *)j->x + ((n * v->groups + g) * others + other) * x_n;                                  \
        const int64_t o = j->to_big ? other : ch, c = j->to_big ? ch : other;                                         \
        const T *weight = (const T *)j->weight + ((g * v->small_ch + o) * v->big_ch + c) * v->taps;                   \
        for (int64_t t = 0; t < v->taps; ++t)                                                                         \
            for (int64_t p = 0; p < v->small_n; ++p) {                                                                \
                const int64_t b = place_in_big(v, t, p);                                                              \
                if (b < 0) continue;                                                                                  \
                if (j->to_big) out[b] = (T)(out[b] + weight[t] * x[p]);                                               \
                else out[p] = (T)(out[p] + weight[t] * x[b]);                                                         \
            }                                                                                                         \
    }                                                                                                                 \
}

/* Where tap t of position p of small lies in a plane of big; -1: in the padding. */
static int64_t place_in_big(const fc_conv *v, int64_t t, int64_t p)
{
    int64_t tap[3], at[3], place = 0;
    for (int d = 2; d >= 0; --d) {
        tap[d] = t % v->kernel[d], t /= v->kernel[d];
        at[d] = p % v->small[d], p /= v->small[d];
    }
    for (int d = 0; d < 3; ++d) {
        const int64_t z = at[d] * v->stride[d] - v->pad[d] + tap[d] * v->dilation[d];
        if (z < 0 || z >= v->big[d]) return -1;
        place = place * v->big[d] + z;
    }
    return place;
}

/* 16-bit operands are promoted to int, whose overflow wraps under -fwrapv; the low bits are right */
INTEGER(1, uint8_t) INTEGER(2, uint16_t) INTEGER(4, uint32_t) INTEGER(8, uint64_t)
#undef INTEGER

static void planes(void *ctx, int64_t begin, int64_t end)
{
    const job *j = ctx;
    const int64_t ours = j->to_big ? j->v->big_ch : j->v->small_ch;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t ch = k % ours, g = k / ours % j->v->groups, n = k / ours / j->v->groups;
        switch (fc_dt_size[j->v->dtype]) {
        case 1: plane_1(j, n, g, ch); break;
        case 2: plane_2(j, n, g, ch); break;
        case 4: plane_4(j, n, g, ch); break;
        case 8: plane_8(j, n, g, ch); break;
        }
    }
}

void fc_conv_integers(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big)
{
    job j = { v, out, x, weight, bias, to_big };
    const int64_t work = v->small_n * v->taps * (to_big ? v->small_ch : v->big_ch);
    fc_parallel(v->batch * v->groups * (to_big ? v->big_ch : v->small_ch), 1 + (64 << 10) / (work + 1), planes, &j);
}
