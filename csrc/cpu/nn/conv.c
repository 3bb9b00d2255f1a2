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
#include "../../core/ops.h"
#include "../../core/promote.h"
#include "conv.h"
#include "format.h"

/* --- arguments ------------------------------------------------------------------------------------------------------ */

static int window_args(fc_conv *v, const fc_tensor *big, const fc_tensor *small, const int64_t *kernel, const int64_t *i,
                       int64_t groups)
{
    const fc_tensor *some = big ? big : small;
    v->dtype = some->dtype;
    v->pairs = 0;
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
        const int64_t given[4] = { v->stride[d], v->pad[d], v->dilation[d], v->kernel[d] };
        const int name[4] = { 3, 4, 5, 2 }; /* in the signatures */
        for (int k = 0; k < 4; ++k) {
            if (given[k] < (k != 1)) return fc_fail(FC_ARG, name[k], given[k], k != 1, 0);
            if (given[k] > FC_MOST_STEP) return fc_fail(FC_ARG, name[k], given[k], FC_MOST_STEP, 0);
        }
    }
    return FC_OK;
}

/* How far the windows go on big; a small that reaches further than any memory counts as no more than that. */
static int64_t reached(const fc_conv *v, int d)
{
    const int64_t most = INT64_MAX / 4 / v->stride[d], steps = v->small[d] - 1;
    return (steps < most ? steps : most) * v->stride[d] - 2 * v->pad[d] + v->dilation[d] * (v->kernel[d] - 1) + 1;
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
        const int64_t extra = v->big[d] - reached(v, d);
        if (v->small[d] && (extra < 0 || (extra >= v->stride[d] && extra >= v->dilation[d])))
            return fc_fail(FC_SIZE, 0, v->small[d], 1, small_size(v, d));
        v->taps *= v->kernel[d];
        v->big_n *= v->big[d];
        v->small_n *= v->small[d];
    }
    fc_conv_trim(v);
    return FC_OK;
}

static size_t words_bytes(const fc_conv *v) { return (size_t)(fc_conv_words(v) + 7) / 8 * 64; }

/* Operands of a direction, as kernels see them, and the room that is left to those. */
typedef struct { const void *x, *other; void *room; } operands;

static void lay(fc_conv *v, const fc_call *c)
{
    v->last = c->as_is != 0;
    v->weight_last = c->as_is >> 1 & 1;
}

/* How tensors lie, and what kernels see. The gradient by the weight takes small and big. */
static operands lying(fc_conv *v, const fc_call *c, int direction, const fc_tensor *x, const fc_tensor *other)
{
    operands of = { x->data, other->data, c->scratch };
    lay(v, c);
    if (v->dtype == FC_BF16)
        fc_conv_pair(v, direction, &of.x, &of.other, &of.room);
    return of;
}

/* From small to big, or the other way round. */
static int forward(fc_conv *v, fc_call *c, int to_big, const void *bias)
{
    operands of = lying(v, c, to_big ? FC_CONV_TO_BIG : FC_CONV_TO_SMALL, c->t[0], c->t[1]);
    if (v->taps < v->given_taps) {
        void *const few = (char *)of.room + words_bytes(v);
        fc_conv_pick_taps(v, few, of.other);
        of.other = few;
    }
    if (!v->last)
        fc_conv_flatten(v);
    return (to_big ? fc_conv_to_big : fc_conv_to_small)(v, c->out[0]->data, of.x, of.other, bias, of.room);
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
    if (!small_all || !big_ch) /* a product over no channels: the caller says what that is */
        return fc_fail(FC_ARG, 1, 0, 1, 0);
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
    if (bias && bias->dtype != input->dtype && !c->halves) /* beside pairs it has been widened */
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
            v->big[d] = reached(v, d) + extra;
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

/* --- rows ----------------------------------------------------------------------------------------------------------- */

static int declare(fc_call *c, const fc_conv *v, int direction, int64_t first, int64_t second, const int64_t spatial[3])
{
    const int64_t shape[5] = { first, second, spatial[5 - v->ndim], v->ndim > 3 ? spatial[6 - v->ndim] : 0, spatial[2] };
    const int trimmed = v->taps < v->given_taps;
    c->scratch_bytes = words_bytes(v) + (trimmed ? (size_t)(v->groups * v->small_ch * v->big_ch * v->taps * fc_dt_size[fc_compute_dtype(v->dtype)]) : 0);
    const int bad = fc_declare(c, 0, v->dtype, v->ndim, shape);
    /* PyTorch's volumes of these dtypes alone keep it; one undivided one of float32 is given to another library there, which does not. */
    const int deep = v->dtype == FC_BF16 || (v->dtype == FC_F32 && (v->batch != 1 || v->groups != 1));
    if (bad)
        return bad;
    const int last = fc_reads_last(c->t[0], deep), other = fc_reads_last(c->t[1], deep), takes = last && !(trimmed && direction == FC_CONV_WEIGHT) ? fc_conv_takes_last(v, direction) : 0;
    if (takes && (direction != FC_CONV_WEIGHT || other)) {
        c->as_is = other && (direction == FC_CONV_WEIGHT || takes == FC_CONV_LAST_DENSE) ? 3 : 1;
        c->spec[0].direct = 1;
    }
    if (fc_conv_takes_pairs(v, direction)) {
        fc_conv seen = *v;
        lay(&seen, c);
        c->halves = 3;
        c->scratch_bytes += fc_conv_pair_bytes(&seen, direction);
    }
    fc_keep_format(c, 0, c->t[0], c->t[1], deep);
    /* lines are planes one line high; the input is contiguous before anybody asks how it lies */
    if (v->ndim == 3 && direction != FC_CONV_WEIGHT && (fc_lies_last(c->t[1]) || (c->t[0]->contiguous && fc_lies_last(c->t[0]))))
        c->spec[0].format = FC_LINES_LAST;
    return FC_OK;
}

int fc_infer_convolution(fc_call *c)
{
    fc_conv v;
    const int bad = convolution_args(&v, c);
    if (bad)
        return bad;
    const int transposed = c->i[9] != 0;
    return declare(c, &v, transposed ? FC_CONV_TO_BIG : FC_CONV_TO_SMALL, v.batch, v.groups * (transposed ? v.big_ch : v.small_ch), transposed ? v.big : v.small);
}

int fc_cpu_convolution(fc_call *c)
{
    fc_conv v;
    const int bad = convolution_args(&v, c);
    const void *bias = c->t[2] ? c->t[2]->data : NULL;
    if (bad || c->out[0]->numel == 0)
        return bad;
    return forward(&v, c, c->i[9] != 0, bias);
}

int fc_infer_convolution_grad_input(fc_call *c)
{
    fc_conv v;
    const int bad = grad_input_args(&v, c);
    if (bad)
        return bad;
    return c->i[12] ? declare(c, &v, FC_CONV_TO_SMALL, v.batch, v.groups * v.small_ch, v.small) : declare(c, &v, FC_CONV_TO_BIG, v.batch, v.groups * v.big_ch, v.big);
}

int fc_cpu_convolution_grad_input(fc_call *c)
{
    fc_conv v;
    const int bad = grad_input_args(&v, c);
    if (bad || c->out[0]->numel == 0)
        return bad;
    return forward(&v, c, !c->i[12], NULL);
}

int fc_infer_convolution_grad_weight(fc_call *c)
{
    fc_conv v;
    const int bad = grad_weight_args(&v, c);
    return bad ? bad : declare(c, &v, FC_CONV_WEIGHT, v.groups * v.small_ch, v.big_ch, v.given);
}

int fc_cpu_convolution_grad_weight(fc_call *c)
{
    fc_conv v;
    const int bad = grad_weight_args(&v, c);
    if (bad || c->out[0]->numel == 0)
        return bad;
    const int small = c->i[12] ? 1 : 0;
    const operands of = lying(&v, c, FC_CONV_WEIGHT, c->t[small], c->t[!small]);
    const fc_conv whole = v;
    void *const out = c->out[0]->data, *const few = whole.taps < whole.given_taps ? (char *)of.room + words_bytes(&whole) : out;
    if (!v.last)
        fc_conv_flatten(&v);
    const int failed = fc_conv_weight(&v, few, of.x, of.other, of.room);
    if (!failed && few != out)
        fc_conv_spread_taps(&whole, few, out);
    return failed;
}
