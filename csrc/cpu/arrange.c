/*
 * Elements in other places: flip, _roll, constant_pad_nd, diag_embed. Arguments come as they are (AS_IT_LIES in ops.def); what a row
 * says is which box of the result which box of the input is, and copy_nest.c has the loops.
 */
#include <string.h>

#include "../core/call.h"
#include "../core/cast.h"
#include "../core/ops.h"
#include "part.h"

/* input; count of dims, dims */
int fc_infer_flip(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    uint64_t seen = 0;
    for (int k = 1; k <= c->i[0]; ++k) {
        const int64_t d = fc_wrap_dim(c->i[k], x->ndim);
        if (d < 0 || d >= (x->ndim ? x->ndim : 1))
            return fc_fail(FC_DIM, c->i[k], x->ndim, 0, 0);
        if (seen >> d & 1)
            return fc_fail(FC_ARG, 1, c->i[k], 0, 1);
        seen |= 1ull << d;
        c->i[k] = d;
    }
    const int bad = fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    c->spec[0].format = 1;
    return bad;
}

int fc_cpu_flip(fc_call *c)
{
    fc_part from;
    fc_part_of(&from, c->t[0]);
    for (int k = 1; k <= c->i[0] && from.head.ndim && from.head.numel; ++k) {
        const int d = (int)c->i[k];
        fc_part_slice(&from, d, from.room[d] - 1, from.room[d], -1);
    }
    fc_copy_nest(c->out[0], &from.head);
    return FC_OK;
}

/* input; shift, dim */
int fc_infer__roll(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int64_t d = fc_wrap_dim(c->i[1], x->ndim);
    if (d < 0 || d >= x->ndim)
        return fc_fail(FC_DIM, c->i[1], x->ndim, 0, 0);
    c->i[1] = d;
    return fc_declare(c, 0, x->dtype, x->ndim, x->shape);
}

int fc_cpu__roll(fc_call *c)
{
    const int d = (int)c->i[1];
    const int64_t n = c->t[0]->shape[d], shift = n ? (c->i[0] % n + n) % n : 0;
    const int64_t from[2] = { 0, n - shift }, to[2] = { shift, 0 }, count[2] = { n - shift, shift };
    for (int k = 0; k < 2; ++k) {
        fc_part out, in;
        fc_part_of(&out, c->out[0]);
        fc_part_of(&in, c->t[0]);
        fc_part_slice(&out, d, to[k], count[k], 1);
        fc_part_slice(&in, d, from[k], count[k], 1);
        fc_part_copy(&out, &in);
    }
    return FC_OK;
}

/* input; count of pads, pads; value */
int fc_infer_constant_pad_nd(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int64_t pairs = c->i[0] / 2, *pad = c->i + 1;
    int64_t shape[FC_MAX_DIMS];
    if (c->i[0] % 2 || pairs > x->ndim)
        return fc_fail(FC_ARG, 1, c->i[0], 2 * x->ndim, 0);
    for (int d = 0; d < x->ndim; ++d) {
        const int64_t k = x->ndim - 1 - d;
        shape[d] = x->shape[d];
        for (int side = 0; side < 2 && k < pairs; ++side)
            if (pad[2 * k + side] < -INT64_MAX / 2 || pad[2 * k + side] > INT64_MAX / 2 || __builtin_add_overflow(shape[d], pad[2 * k + side], &shape[d]))
                return fc_fail(FC_MEMORY, INT64_MAX, 0, 0, 0);
        if (shape[d] < 0)
            return fc_fail(FC_ARG, 1, shape[d], 0, 0);
    }
    return fc_declare(c, 0, x->dtype, x->ndim, shape);
}

/* Whether what is kept lies in such short runs that all is filled first: a run then costs less than the two slabs beside it. */
static int is_in_shreds(const fc_tensor *out, int64_t pairs, const int64_t *pad)
{
    enum { SHRED = 512 /* bytes */ };
    int64_t run = fc_dt_size[out->dtype];
    for (int64_t k = 0; k < out->ndim; ++k) {
        run *= out->shape[out->ndim - 1 - k];
        if (k < pairs && (pad[2 * k] > 0 || pad[2 * k + 1] > 0))
            return run < SHRED && k + 1 < out->ndim;
    }
    return 0;
}

/* The border goes slab by slab, the last dims' within what the first ones' left, so that no element is written twice. */
int fc_cpu_constant_pad_nd(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    fc_tensor *out = c->out[0];
    const fc_scalar s = fc_scalar_of(FC_KFLOAT, 0, c->d[0], 0);
    _Alignas(16) char value[16];
    fc_store_scalar(out->dtype, value, &s);
    fc_tensor one = { .numel = 1, .contiguous = 1, .shape_id = -1, .dtype = out->dtype, .data = value };
    fc_part to, from;
    fc_part_of(&to, out);
    fc_part_of(&from, x);
    const int shreds = is_in_shreds(out, c->i[0] / 2, c->i + 1);
    if (shreds && out->numel)
        fc_copy_nest(out, &one);
    for (int d = 0; d < x->ndim; ++d) {
        const int64_t k = x->ndim - 1 - d, before = k < c->i[0] / 2 ? c->i[1 + 2 * k] : 0, after = k < c->i[0] / 2 ? c->i[2 + 2 * k] : 0;
        if (!before && !after)
            continue;
        const int64_t low = before > 0 ? before : 0, high = after > 0 ? after : 0, cut = before < 0 ? -before : 0;
        int64_t count = x->shape[d] - cut - (after < 0 ? -after : 0);
        const int64_t n = out->shape[d];
        if (count < 0) /* all of input is cut off, and the other side's border too, in part */
            count = 0;
        const int64_t first[2] = { 0, n - high > 0 ? n - high : 0 }, width[2] = { low < n ? low : n, high < n ? high : n };
        for (int side = 0; side < 2 && !shreds; ++side) {
            fc_part slab = to;
            slab.head.stride = slab.room + FC_MAX_DIMS;
            fc_part_slice(&slab, d, first[side], width[side], 1);
            if (slab.head.numel)
                fc_copy_nest(&slab.head, &one);
        }
        fc_part_slice(&to, d, low < n ? low : n, count, 1);
        fc_part_slice(&from, d, cut < x->shape[d] ? cut : 0, count, 1);
    }
    fc_part_copy(&to, &from);
    return FC_OK;
}

/* input; offset, dim1, dim2 */
int fc_infer_diag_embed(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int n = x->ndim + 1;
    int64_t shape[FC_MAX_DIMS];
    if (x->ndim == 0 || n > FC_MAX_DIMS)
        return fc_fail(FC_RANK, 0, x->ndim, 1, 0);
    const int64_t size = x->shape[x->ndim - 1] + (c->i[0] < 0 ? -c->i[0] : c->i[0]);
    for (int k = 1; k < 3; ++k) {
        const int64_t d = fc_wrap_dim(c->i[k], n);
        if (d < 0 || d >= n)
            return fc_fail(FC_DIM, c->i[k], n, 0, 0);
        c->i[k] = d;
    }
    if (c->i[1] == c->i[2])
        return fc_fail(FC_ARG, 2, c->i[1], c->i[2], 1);
    for (int d = 0, k = 0; d < n; ++d)
        shape[d] = d == c->i[1] || d == c->i[2] ? size : x->shape[k++];
    return fc_declare(c, 0, x->dtype, n, shape);
}

int fc_cpu_diag_embed(fc_call *c)
{
    fc_tensor *x = c->t[0], *out = c->out[0];
    const int64_t offset = c->i[0], step1 = out->stride[c->i[1]], step2 = out->stride[c->i[2]], size = fc_dt_size[out->dtype];
    const int last = x->ndim - 1;
    fc_part to;
    fc_part_of(&to, out);
    for (int d = 0, k = 0; d < out->ndim; ++d)
        if (d != c->i[1] && d != c->i[2])
            to.head.stride[k++] = out->stride[d];
    for (int d = 0; d < x->ndim; ++d)
        to.room[d] = x->shape[d];
    to.head.stride[last] = step1 + step2;
    to.head.ndim = x->ndim;
    to.head.numel = x->numel;
    to.head.contiguous = 0;
    to.head.data += (offset < 0 ? -offset * step1 : offset * step2) * size;
    memset(out->data, 0, (size_t)(out->numel * size));
    if (x->numel)
        fc_copy_nest(&to.head, x);
    return FC_OK;
}
