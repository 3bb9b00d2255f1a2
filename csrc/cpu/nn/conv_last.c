/* Convolutions of tensors that lie channels_last, where kernels read them so; those of one tap here, positions being the rows of a matrix.
 * Others are copied by the core. */
#include "conv_depth.h"

#define FEW_CHANNELS 16 /* a vector's at least */
#define FEW_ROWS 256    /* fewer do not repay turning the weight */

static int64_t positions(const fc_conv *v) { return v->batch * v->big_n; }

static int is_one_tap(const fc_conv *v)
{
    int same = v->groups == 1 && v->taps == 1;
    for (int d = 0; d < 3; ++d)
        same = same && v->stride[d] == 1 && v->pad[d] == 0 && v->big[d] == v->small[d];
    return same;
}

int fc_conv_takes_last(const fc_conv *v, int direction)
{
    if (fc_conv_is_depthwise(v))
        return v->groups >= FEW_CHANNELS ? FC_CONV_LAST_SAME : FC_CONV_LAST_NOT;
    if (is_one_tap(v))
        return FC_CONV_LAST_SAME;
    const int dense = v->stride[0] == 1 && v->stride[1] == 1 && v->stride[2] == 1;
    const int64_t rows = v->batch * (direction == FC_CONV_TO_BIG ? v->big_n : v->small_n), columns = direction == FC_CONV_TO_BIG ? v->big_ch : v->small_ch;
    const int takes = direction != FC_CONV_WEIGHT && !fc_conv_is_whole(v) && v->groups == 1 && (direction == FC_CONV_TO_SMALL || dense) && rows >= FEW_ROWS && columns >= FEW_CHANNELS;
    return takes ? FC_CONV_LAST_DENSE : FC_CONV_LAST_NOT;
}

int fc_conv_last(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big)
{
    if (fc_conv_is_depthwise(v))
        return fc_conv_depth_last(v, out, x, weight, bias, to_big);
    if (!is_one_tap(v))
        return fc_conv_dense_last(v, out, x, weight, bias, to_big);
    const int64_t from = to_big ? v->small_ch : v->big_ch, to = to_big ? v->big_ch : v->small_ch;
    fc_gemm_args p = { FC_CONV_PRODUCT(v), .batch = 1, .M = positions(v), .N = to, .K = from, .a = x, .a_row = from, .a_col = 1,
        .b = weight, .b_row = to_big ? v->big_ch : 1, .b_col = to_big ? 1 : v->big_ch, .c = out, .c_row = to, .c_col = 1,
        .bias = bias, .bias_col = 1 };
    return fc_conv_product(v, &p);
}

int fc_conv_last_weight(const fc_conv *v, void *weight, const void *small, const void *big)
{
    if (fc_conv_is_depthwise(v))
        return fc_conv_depth_last_weight(v, weight, small, big);
    fc_gemm_args p = { FC_CONV_PRODUCT(v), .batch = 1, .M = v->small_ch, .N = v->big_ch, .K = positions(v), .a = small, .a_row = 1,
        .a_col = v->small_ch, .b = big, .b_row = v->big_ch, .b_col = 1, .c = weight, .c_row = v->big_ch, .c_col = 1 };
    return fc_conv_product(v, &p);
}
