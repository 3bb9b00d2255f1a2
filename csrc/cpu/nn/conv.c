/*
 * Convolution, transposed convolution, and the gradients of both: three directions of one relation (conv.h).
 *
 *   to small   small = W big        lines: channels of small; k: channels of big and taps
 *   to big     big   = W^T small    lines: channels of big; k: channels of small and taps. Positions that agree modulo the
 *                                   stride meet the same taps; each such phase is a dense product
 *   weight     W     = small big^T  lines: channels of small; k: samples and positions
 *
 * Sums run in the order of gemm.h over that k, so what a sample gives does not depend on the others. Padding counts as zeros.
 * int[3] arguments are right-aligned: a 2-d convolution uses the last two, and the first is 1 (0 for padding).
 */
#include "conv.h"

#include <string.h>

#include "../../include/facula.h"

#define FOLD_BELOW 256 /* positions: smaller planes of several samples go through the engine as one product */

/* --- arguments ------------------------------------------------------------------------------------------------------ */

static int window_args(fc_conv *v, const fc_tensor *big, const fc_tensor *small, const int64_t *kernel, const int64_t *i,
                       int64_t groups)
{
    const fc_tensor *some = big ? big : small;
    v->dtype = some->dtype;
    v->ndim = some->ndim;
    if (v->ndim < 3 || v->ndim > 5)
        return fc_fail(FC_RANK, 0, v->ndim, 4, 0);
    if (groups < 1)
        return fc_fail(FC_ARG, 0, groups, 1, 0);
    v->groups = groups;
    v->batch = some->shape[0];
    for (int d = 0; d < 3; ++d) {
        const int at = d - 3 + v->ndim;
        const int there = at >= 2;
        v->kernel[d] = there ? kernel[d] : 1;
        v->stride[d] = there ? i[d] : 1;
        v->pad[d] = there ? i[3 + d] : 0;
        v->dilation[d] = there ? i[6 + d] : 1;
        v->big[d] = there && big ? big->shape[at] : 1;
        v->small[d] = there && small ? small->shape[at] : 1;
        if (v->stride[d] < 1) return fc_fail(FC_ARG, 1, v->stride[d], 1, 0);
        if (v->pad[d] < 0) return fc_fail(FC_ARG, 2, v->pad[d], 0, 0);
        if (v->dilation[d] < 1) return fc_fail(FC_ARG, 3, v->dilation[d], 1, 0);
        if (v->kernel[d] < 1) return fc_fail(FC_ARG, 4, v->kernel[d], 1, 0);
    }
    return FC_OK;
}

static int64_t small_size(const fc_conv *v, int d)
{
    const int64_t room = v->big[d] + 2 * v->pad[d] - v->dilation[d] * (v->kernel[d] - 1) - 1;
    return room < 0 ? 0 : room / v->stride[d] + 1;
}

/* Both sizes are known: they must fit, and the products follow. big may go beyond what small reaches by less than a stride
 * (the remainder of a convolution) or a dilation (output padding of a transposed one). */
static int settle(fc_conv *v)
{
    v->taps = v->big_n = v->small_n = 1;
    for (int d = 0; d < 3; ++d) {
        const int64_t reached = (v->small[d] - 1) * v->stride[d] - 2 * v->pad[d] + v->dilation[d] * (v->kernel[d] - 1) + 1;
        const int64_t extra = v->big[d] - reached;
        if (v->small[d] && (extra < 0 || (extra >= v->stride[d] && extra >= v->dilation[d])))
            return fc_fail(FC_SIZE, 0, v->small[d], 1, small_size(v, d));
        v->taps *= v->kernel[d];
        v->big_n *= v->big[d];
        v->small_n *= v->small[d];
    }
    return FC_OK;
}

static int weight_args(const fc_tensor *weight, int64_t kernel[3], const fc_tensor *some)
{
    if (weight->ndim != some->ndim)
        return fc_fail(FC_RANK, 1, weight->ndim, some->ndim, 0);
    if (weight->dtype != some->dtype)
        return fc_fail(FC_MIXED, 0, some->dtype, 1, weight->dtype);
    for (int d = 0; d < 3; ++d)
        kernel[d] = d - 3 + weight->ndim >= 2 ? weight->shape[d - 3 + weight->ndim] : 1;
    return FC_OK;
}

static int channels(fc_conv *v, int64_t small_all, int64_t big_ch, const fc_tensor *small, const fc_tensor *big)
{
    if (small_all % v->groups)
        return fc_fail(FC_SIZE, 1, small_all, 2, v->groups);
    v->small_ch = small_all / v->groups;
    v->big_ch = big_ch;
    if (small && small->shape[1] != small_all)
        return fc_fail(FC_SIZE, 0, small->shape[1], 1, small_all);
    if (big && big->shape[1] != big_ch * v->groups)
        return fc_fail(FC_SIZE, 0, big->shape[1], 1, big_ch * v->groups);
    return FC_OK;
}

/* convolution: int[3] stride, int[3] padding, int[3] dilation, bool transposed, int[3] output_padding, int groups */
static int convolution_args(fc_conv *v, const fc_call *c)
{
    const fc_tensor *input = c->t[0], *weight = c->t[1], *bias = c->t[2];
    const int transposed = c->i[9] != 0;
    int64_t kernel[3];
    int bad;
    if ((bad = weight_args(weight, kernel, input)) ||
        (bad = window_args(v, transposed ? NULL : input, transposed ? input : NULL, kernel, c->i, c->i[13])) ||
        (bad = channels(v, weight->shape[0], weight->shape[1], transposed ? input : NULL, transposed ? NULL : input)))
        return bad;
    if (bias && bias->dtype != input->dtype)
        return fc_fail(FC_MIXED, 0, input->dtype, 2, bias->dtype);
    const int64_t outputs = transposed ? v->groups * v->big_ch : v->groups * v->small_ch;
    if (bias && (bias->ndim != 1 || bias->shape[0] != outputs))
        return fc_fail(FC_SIZE, 2, bias->numel, 1, outputs);
    for (int d = 0; d < 3; ++d) {
        if (!transposed) {
            v->small[d] = small_size(v, d);
        } else {
            const int64_t extra = d - 3 + v->ndim >= 2 ? c->i[10 + d] : 0;
            if (extra < 0 || (extra && extra >= v->stride[d] && extra >= v->dilation[d]))
                return fc_fail(FC_ARG, 5, extra, v->stride[d] > v->dilation[d] ? v->stride[d] : v->dilation[d], 0);
            v->big[d] = (v->small[d] - 1) * v->stride[d] - 2 * v->pad[d] + v->dilation[d] * (v->kernel[d] - 1) + extra + 1;
        }
        if (v->small[d] <= 0 || v->big[d] <= 0) {
            const int64_t shown = transposed ? v->big[d] : v->small[d];
            if (shown < 0 || (transposed ? v->small[d] : v->big[d]) > 0) /* an empty input gives an empty output; this is too small */
                return fc_fail(FC_ARG, 0, shown, 1, 0);
        }
    }
    return settle(v);
}

/* Both: int[3] size, int[3] stride, int[3] padding, int[3] dilation, bool transposed, int groups */
static int grad_input_args(fc_conv *v, const fc_call *c)
{
    const fc_tensor *grad = c->t[0], *weight = c->t[1];
    const int transposed = c->i[12] != 0;
    int64_t kernel[3];
    int bad;
    if ((bad = weight_args(weight, kernel, grad)) ||
        (bad = window_args(v, transposed ? grad : NULL, transposed ? NULL : grad, kernel, c->i + 3, c->i[13])) ||
        (bad = channels(v, weight->shape[0], weight->shape[1], transposed ? NULL : grad, transposed ? grad : NULL)))
        return bad;
    int64_t *size = transposed ? v->small : v->big;
    for (int d = 0; d < 3; ++d)
        size[d] = d - 3 + v->ndim >= 2 ? c->i[d] : 1;
    return settle(v);
}

static int grad_weight_args(fc_conv *v, const fc_call *c)
{
    const fc_tensor *small = c->t[c->i[12] ? 1 : 0], *big = c->t[c->i[12] ? 0 : 1];
    int bad;
    if (small->ndim != big->ndim)
        return fc_fail(FC_RANK, 0, c->t[0]->ndim, c->t[1]->ndim, 0);
    if (small->dtype != big->dtype)
        return fc_fail(FC_MIXED, 0, c->t[0]->dtype, 1, c->t[1]->dtype);
    if ((bad = window_args(v, big, small, c->i, c->i + 3, c->i[13])))
        return bad;
    if (small->shape[0] != v->batch)
        return fc_fail(FC_SIZE, 0, c->t[0]->shape[0], 1, c->t[1]->shape[0]);
    if (big->shape[1] % v->groups)
        return fc_fail(FC_SIZE, 1, big->shape[1], 2, v->groups);
    if ((bad = channels(v, small->shape[1], big->shape[1] / v->groups, small, big)))
        return bad;
    return settle(v);
}

/* --- the three directions ------------------------------------------------------------------------------------------- */

/* int64 words of scratch: offsets per dim, a phase's offsets and taps, and where columns go */
static int64_t words(const fc_conv *v)
{
    const int64_t kernel = v->kernel[0] + v->kernel[1] + v->kernel[2];
    const int64_t big = v->big_n < FOLD_BELOW * v->stride[0] * v->stride[1] * v->stride[2] ? v->batch * v->big_n : v->big_n;
    const int64_t small = v->small_n < FOLD_BELOW ? v->batch * v->small_n : 0;
    return kernel + v->taps + (big > small ? big : small);
}

static const fc_conv_depthwise *depthwise(const fc_conv *v)
{
    if (v->groups == 1 || v->big_ch != 1 || v->small_ch != 1 || fc_is_complex(v->dtype))
        return NULL;
    const int level = fc_isa_level();
    return (level >= 4 ? fc_conv_depthwise_v4 : level == 3 ? fc_conv_depthwise_v3 : fc_conv_depthwise_v2) + (v->dtype == FC_F64);
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

static int to_small(const fc_conv *v, void *small, const void *big, const void *weight, const void *bias, int64_t *room)
{
    if (fc_is_int(v->dtype)) {
        fc_conv_integers(v, small, big, weight, bias, 0);
        return FC_OK;
    }
    if (depthwise(v)) {
        depthwise(v)->forward(v, small, big, weight, bias);
        return FC_OK;
    }
    fc_window x = window_over_big(v, big, room);
    int64_t *const at = room + v->kernel[0] + v->kernel[1] + v->kernel[2] + v->taps;
    x.folded = v->batch > 1 && v->small_n < FOLD_BELOW;
    const int64_t sample = v->groups * v->small_ch * v->small_n;
    if (x.folded)
        for (int64_t n = 0; n < v->batch; ++n)
            for (int64_t p = 0; p < v->small_n; ++p)
                at[n * v->small_n + p] = n * sample + p;
    const int in_place = v->taps == 1 && !memcmp(v->small, v->big, sizeof v->big) && !v->pad[0] && !v->pad[1] && !v->pad[2] &&
                         v->stride[0] == 1 && v->stride[1] == 1 && v->stride[2] == 1 && !x.folded; /* 1 x 1: the source is the operand */
    const fc_conv_places to = { .step = { 1, 1, 1 }, .size = { v->small[0], v->small[1], v->small[2] } };
    int bad = FC_OK;
    for (int64_t g = 0; g < v->groups && !bad; ++g) {
        const int64_t K = v->big_ch * v->taps;
        x.source = step_to(big, g * v->big_ch * v->big_n, v->dtype);
        fc_gemm_args p = { .dtype = v->dtype, .M = v->small_ch, .K = K,
            .a = step_to(weight, g * v->small_ch * K, v->dtype), .a_row = K, .a_col = 1,
            .c = (char *)step_to(small, g * v->small_ch * v->small_n, v->dtype), .c_row = v->small_n, .c_col = 1,
            .bias = bias ? step_to(bias, g * v->small_ch, v->dtype) : NULL, .bias_row = 1 };
        if (!(in_place)) {
            fc_gemm_args shifted = p;
            shifted.batch = v->batch, shifted.c_batch = sample;
            if ((bad = fc_conv_shifted(&shifted, &x, v->big_ch, &to)) != -1)
                continue;
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

/* Positions of big that are `phase` modulo the stride (after padding), and the taps that they meet. */
static fc_window phase_of(const fc_conv *v, const int64_t phase[3], const void *small, int64_t start[3], int64_t *off, int64_t *place)
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
                    *place++ = (a * v->kernel[1] + b) * v->kernel[2] + c;
    return x;
}

static int phase_to_big(const fc_conv *v, fc_window *x, const int64_t start[3], const int64_t *place, int64_t *at, void *big,
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
    int bad = FC_OK;
    for (int64_t g = 0; g < v->groups && !bad; ++g) {
        x->source = step_to(small, g * v->small_ch * v->small_n, v->dtype);
        const fc_two_level w = { step_to(weight, g * v->small_ch * v->big_ch * v->taps, v->dtype), v->taps, v->big_ch * v->taps,
                                 x->taps, dense ? NULL : place, fc_is_complex(v->dtype) };
        const fc_gemm_args p = { .dtype = v->dtype, .M = v->big_ch, .K = v->small_ch * x->taps,
            .batch = x->folded ? 1 : v->batch, .N = x->folded ? v->batch * x->positions : x->positions,
            .a = &w, .pack_a = fc_pack_two_level, .b = x, .pack_b = fc_pack_window,
            .c = (char *)step_to(big, g * v->big_ch * v->big_n, v->dtype), .c_batch = sample, .c_row = v->big_n, .c_col = 1,
            .c_at = x->folded || !dense ? at : NULL,
            .bias = bias ? step_to(bias, g * v->big_ch, v->dtype) : NULL, .bias_row = 1 };
        if (!p.batch || !p.M || !p.N)
            continue;
        fc_gemm_args shifted = p;
        shifted.batch = v->batch, shifted.c_at = NULL, shifted.pack_b = NULL;
        if ((bad = fc_conv_shifted(&shifted, x, v->small_ch, &places)) == -1)
            bad = fc_gemm_run(&p);
    }
    return bad;
}

static int to_big(const fc_conv *v, void *big, const void *small, const void *weight, const void *bias, int64_t *room)
{
    if (fc_is_int(v->dtype)) {
        fc_conv_integers(v, big, small, weight, bias, 1);
        return FC_OK;
    }
    if (depthwise(v)) {
        depthwise(v)->to_big(v, big, small, weight, bias);
        return FC_OK;
    }
    int64_t *const place = room + v->kernel[0] + v->kernel[1] + v->kernel[2], *const at = place + v->taps;
    int bad = FC_OK;
    int64_t phase[3], start[3];
    for (phase[0] = 0; phase[0] < v->stride[0]; ++phase[0])
        for (phase[1] = 0; phase[1] < v->stride[1]; ++phase[1])
            for (phase[2] = 0; phase[2] < v->stride[2] && !bad; ++phase[2]) {
                fc_window x = phase_of(v, phase, small, start, room, place);
                bad = phase_to_big(v, &x, start, place, at, big, weight, bias);
            }
    return bad;
}

static int weight_from(const fc_conv *v, void *weight, const void *small, const void *big, int64_t *room)
{
    if (depthwise(v)) {
        depthwise(v)->weight(v, weight, small, big);
        return FC_OK;
    }
    fc_window x = window_over_big(v, big, room);
    x.folded = 1;
    int bad = FC_OK;
    for (int64_t g = 0; g < v->groups && !bad; ++g) {
        const int64_t N = v->big_ch * v->taps;
        x.source = step_to(big, g * v->big_ch * v->big_n, v->dtype);
        const fc_two_level a = { step_to(small, g * v->small_ch * v->small_n, v->dtype), v->small_n,
                                 v->groups * v->small_ch * v->small_n, v->small_n ? v->small_n : 1, NULL, fc_is_complex(v->dtype) };
        const fc_gemm_args p = { .dtype = v->dtype, .batch = 1, .M = v->small_ch, .N = N, .K = v->batch * v->small_n,
            .a = &a, .pack_a = fc_pack_two_level, .b = &x, .pack_b = fc_pack_window_turned,
            .c = (char *)step_to(weight, g * v->small_ch * N, v->dtype), .c_row = N, .c_col = 1 };
        if (!p.M || !p.N)
            continue;
        fc_gemm_args turned = { .dtype = v->dtype, .batch = 1, .M = N, .N = v->small_ch, .K = p.K, .b = &a, .pack_b = fc_pack_two_level,
            .c = p.c, .c_row = 1, .c_col = N };
        if ((bad = fc_conv_turned(&turned, &x, v->big_ch, v->batch)) == -1)
            bad = fc_gemm_run(&p);
    }
    return bad;
}

/* --- rows ----------------------------------------------------------------------------------------------------------- */

static int declare(fc_call *c, const fc_conv *v, int64_t first, int64_t second, const int64_t spatial[3])
{
    const int64_t shape[5] = { first, second, spatial[5 - v->ndim], v->ndim > 3 ? spatial[6 - v->ndim] : 0, spatial[2] };
    c->scratch_bytes = (size_t)words(v) * sizeof(int64_t);
    return fc_declare(c, 0, v->dtype, v->ndim, shape);
}

int fc_infer_convolution(fc_call *c)
{
    fc_conv v;
    const int bad = convolution_args(&v, c);
    if (bad)
        return bad;
    const int transposed = c->i[9] != 0;
    return declare(c, &v, v.batch, v.groups * (transposed ? v.big_ch : v.small_ch), transposed ? v.big : v.small);
}

int fc_cpu_convolution(fc_call *c)
{
    fc_conv v;
    const int bad = convolution_args(&v, c);
    const void *bias = c->t[2] ? c->t[2]->data : NULL;
    if (bad || c->out[0]->numel == 0)
        return bad;
    return c->i[9] ? to_big(&v, c->out[0]->data, c->t[0]->data, c->t[1]->data, bias, c->scratch)
                   : to_small(&v, c->out[0]->data, c->t[0]->data, c->t[1]->data, bias, c->scratch);
}

int fc_infer_convolution_grad_input(fc_call *c)
{
    fc_conv v;
    const int bad = grad_input_args(&v, c);
    if (bad)
        return bad;
    return c->i[12] ? declare(c, &v, v.batch, v.groups * v.small_ch, v.small) : declare(c, &v, v.batch, v.groups * v.big_ch, v.big);
}

int fc_cpu_convolution_grad_input(fc_call *c)
{
    fc_conv v;
    const int bad = grad_input_args(&v, c);
    if (bad || c->out[0]->numel == 0)
        return bad;
    return c->i[12] ? to_small(&v, c->out[0]->data, c->t[0]->data, c->t[1]->data, NULL, c->scratch)
                    : to_big(&v, c->out[0]->data, c->t[0]->data, c->t[1]->data, NULL, c->scratch);
}

int fc_infer_convolution_grad_weight(fc_call *c)
{
    fc_conv v;
    const int bad = grad_weight_args(&v, c);
    return bad ? bad : declare(c, &v, v.groups * v.small_ch, v.big_ch, v.kernel);
}

int fc_cpu_convolution_grad_weight(fc_call *c)
{
    fc_conv v;
    const int bad = grad_weight_args(&v, c);
    if (bad || c->out[0]->numel == 0)
        return bad;
    const int small = c->i[12] ? 1 : 0;
    return weight_from(&v, c->out[0]->data, c->t[small]->data, c->t[!small]->data, c->scratch);
}
