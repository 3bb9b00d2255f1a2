/*
 * Taps that meet padding alone, wherever the kernel stands, and dims of one place.
 *
 * A kernel of 3 x 3 over one column with a padding of 1 has six taps that read zeros; without them it is a kernel of 3 x 1, and dims in which
 * big, small and kernel all have one place are no dims: what is left moves to the end, where rows are long. What is left out depends on the
 * sizes alone, so sums are the same however tensors lie.
 */
#include <string.h>

#include "conv_depth.h"

/* Does tap t of dim d read an element of big from some position of small? */
static int meets(const fc_conv *v, int d, int64_t t)
{
    const int64_t off = t * v->dilation[d] - v->pad[d], j = off >= 0 ? 0 : (-off + v->stride[d] - 1) / v->stride[d];
    return j < v->small[d] && j * v->stride[d] + off < v->big[d];
}

void fc_conv_trim(fc_conv *v)
{
    v->given_taps = v->taps;
    for (int d = 0; d < 3; ++d)
        v->given[d] = v->kernel[d], v->first[d] = 0;
    if (!v->big_n || !v->small_n || !v->taps || fc_is_int(v->dtype) || fc_conv_is_depthwise(v))
        return;
    for (int d = 0; d < 3; ++d) {
        int64_t first = 0, end = v->kernel[d];
        while (end - first > 1 && (first + 1) * v->dilation[d] <= v->pad[d] && !meets(v, d, first))
            ++first;
        while (end - first > 1 && !meets(v, d, end - 1))
            --end;
        v->first[d] = first;
        v->pad[d] -= first * v->dilation[d];
        v->kernel[d] = end - first;
    }
    v->taps = v->kernel[0] * v->kernel[1] * v->kernel[2];
}

/* Stretches of the taps that are left, in the whole weight: `row`, of a channel or, where it lies channels_last, of all that meet one. */
static int64_t rows_of(const fc_conv *v) { return v->groups * v->small_ch * (v->weight_last ? 1 : v->big_ch); }
static int64_t place_of(const fc_conv *v) { return (v->weight_last ? v->big_ch : 1) * fc_dt_size[v->dtype]; }

static int64_t stretch_at(const fc_conv *v, int64_t row, int64_t a, int64_t b)
{
    return (row * v->given_taps + ((v->first[0] + a) * v->given[1] + v->first[1] + b) * v->given[2] + v->first[2]) * place_of(v);
}

/* Stretches of one element, which a call each would cost more than. */
static int picks(const fc_conv *v) { return !v->weight_last && v->kernel[0] * v->kernel[1] * v->kernel[2] == 1 && fc_dt_size[v->dtype] == 4; }

#define EACH_STRETCH                                        \
    const int64_t run = v->kernel[2] * place_of(v);         \
    for (int64_t r = 0, at = 0; r < rows_of(v); ++r)        \
        for (int64_t a = 0; a < v->kernel[0]; ++a)          \
            for (int64_t b = 0; b < v->kernel[1]; ++b, at += run)

void fc_conv_pick_taps(const fc_conv *v, void *few, const void *all)
{
    if (picks(v)) {
        const uint32_t *from = (const uint32_t *)((const char *)all + stretch_at(v, 0, 0, 0));
        for (int64_t r = 0; r < rows_of(v); ++r)
            ((uint32_t *)few)[r] = from[r * v->given_taps];
        return;
    }
    EACH_STRETCH
        memcpy((char *)few + at, (const char *)all + stretch_at(v, r, a, b), (size_t)run);
}

void fc_conv_spread_taps(const fc_conv *v, const void *few, void *all)
{
    memset(all, 0, (size_t)(rows_of(v) * v->given_taps * place_of(v)));
    if (picks(v)) {
        uint32_t *to = (uint32_t *)((char *)all + stretch_at(v, 0, 0, 0));
        for (int64_t r = 0; r < rows_of(v); ++r)
            to[r * v->given_taps] = ((const uint32_t *)few)[r];
        return;
    }
    EACH_STRETCH
        memcpy((char *)all + stretch_at(v, r, a, b), (const char *)few + at, (size_t)run);
}
#undef EACH_STRETCH

void fc_conv_flatten(fc_conv *v)
{
    for (int k = 0; k < 2 && v->big[2] == 1 && v->small[2] == 1 && v->kernel[2] == 1 && v->pad[2] == 0; ++k) {
        int64_t *const each[] = { v->big, v->small, v->kernel, v->stride, v->pad, v->dilation };
        for (int i = 0; i < 6; ++i) {
            each[i][2] = each[i][1];
            each[i][1] = each[i][0];
            each[i][0] = i != 4; /* no padding */
        }
    }
}
