/* Convolutions of tensors that lie channels_last, where kernels read them so; those of one tap here. Others are copied by the core. */
#include "conv_depth.h"

#define FEW_CHANNELS 16 /* a vector's at least */

static int64_t positions(const fc_conv *v) { return v->batch * v->big_n; }

int fc_conv_takes_last(const fc_conv *v)
{
    if (fc_conv_is_depthwise(v))
        return v->groups >= FEW_CHANNELS;
    int same = v->groups == 1 && v->taps == 1;
    for (int d = 0; d < 3; ++d)
        same = same && v->stride[d] == 1 && v->pad[d] == 0 && v->big[d] == v->small[d];
    return same;
}

int fc_conv_points(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big)
{
    const int64_t from = to_big ? v->small_ch : v->big_ch, to = to_big ? v->big_ch : v->small_ch;
    fc_gemm_args p = { .dtype = v->dtype, .batch = 1, .M = positions(v), .N = to, .K = from, .a = x, .a_row = from, .a_col = 1,
        .b = weight, .b_row = to_big ? v->big_ch : 1, .b_col = to_big ? 1 : v->big_ch, .c = out, .c_row = to, .c_col = 1,
        .bias = bias, .bias_col = 1 };
    return fc_gemm_shaped(&p);
}

int fc_conv_points_weight(const fc_conv *v, void *weight, const void *small, const void *big)
{
    fc_gemm_args p = { .dtype = v->dtype, .batch = 1, .M = v->small_ch, .N = v->big_ch, .K = positions(v), .a = small, .a_row = 1,
        .a_col = v->small_ch, .b = big, .b_row = v->big_ch, .b_col = 1, .c = weight, .c_row = v->big_ch, .c_col = 1 };
    return fc_gemm_shaped(&p);
}
