/*
 * Elements dealt out in another order: _regroup, _pad_around. Arguments come as they are where the row has AS_IT_LIES or they are contiguous; loops: copy_nest.c.
 */
#include <string.h>

#include "../core/call.h"
#include "../core/ops.h"
#include "nn/format.h"
#include "part.h"

/* input; count of sizes, sizes (input's dims, split); count of dims, their order; count of sizes, sizes of the result */
int fc_infer__regroup(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int64_t n = c->i[0], *split = c->i + 1, *order = split + n + 1, *joined = order + n + 1;
    int64_t left = 1, right = 1;
    uint64_t seen = 0;
    if (n < 0 || n > FC_MAX_DIMS || order[-1] != n || joined[-1] < 0 || joined[-1] > FC_MAX_DIMS || c->ni != 3 + 2 * n + joined[-1])
        return fc_fail(FC_ARG, 1, n, FC_MAX_DIMS, 0);
    for (int64_t k = 0; k < n; ++k) {
        if (order[k] < 0 || order[k] >= n || seen >> order[k] & 1 || split[k] < 0 || __builtin_mul_overflow(left, split[k], &left))
            return fc_fail(FC_ARG, 2, order[k], n, 0);
        seen |= 1ull << order[k];
    }
    for (int64_t k = 0; k < joined[-1]; ++k)
        if (joined[k] < 0 || __builtin_mul_overflow(right, joined[k], &right))
            return fc_fail(FC_ARG, 3, joined[k], 0, 0);
    if (left != x->numel || right != x->numel)
        return fc_fail(FC_SIZE, 0, x->numel, 0, left);
    const int bad = fc_declare(c, 0, x->dtype, (int)joined[-1], joined);
    c->halves = 1;
    c->spec[0].half = 1;
    return bad;
}

int fc_cpu__regroup(fc_call *c)
{
    const int n = (int)c->i[0];
    const int64_t *split = c->i + 1, *order = split + n + 1;
    int64_t stride[FC_MAX_DIMS], run = 1;
    fc_part to, from;
    fc_part_of(&to, c->out[0]);
    fc_part_of(&from, c->t[0]);
    for (int k = n - 1; k >= 0; run *= split[k--])
        stride[k] = run;
    run = 1;
    for (int k = n - 1; k >= 0; --k) {
        to.room[k] = from.room[k] = split[order[k]];
        to.head.stride[k] = run;
        from.head.stride[k] = stride[order[k]];
        run *= split[order[k]];
    }
    to.head.ndim = from.head.ndim = n;
    to.head.shape_id = from.head.shape_id = -1;
    from.head.contiguous = 0;
    fc_part_copy(&to, &from);
    return FC_OK;
}

enum { REFLECT, REPLICATE, CIRCULAR };

/* input; count of pads, pads; mode. What negative pads cut off is not there to be shown either: refused where PyTorch shows it. */
int fc_infer__pad_around(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int64_t pairs = c->i[0] / 2, *pad = c->i + 1, mode = c->i[c->i[0] + 1];
    int64_t shape[FC_MAX_DIMS];
    if (c->i[0] % 2 || pairs > x->ndim || mode < REFLECT || mode > CIRCULAR)
        return fc_fail(FC_ARG, 1, c->i[0], 2 * x->ndim, 0);
    for (int d = 0; d < x->ndim; ++d) {
        const int64_t k = x->ndim - 1 - d, before = k < pairs ? pad[2 * k] : 0, after = k < pairs ? pad[2 * k + 1] : 0;
        const int64_t most = (int64_t)1 << 60, top = before > after ? before : after;
        if (before < -most || before > most || after < -most || after > most)
            return fc_fail(FC_MEMORY, INT64_MAX, 0, 0, 0);
        const int64_t kept = x->shape[d] + (before < 0 ? before : 0) + (after < 0 ? after : 0);
        if ((before || after) && (kept < 1 || (mode == REFLECT && top >= kept) || (mode == CIRCULAR && top > kept)))
            return fc_fail(FC_ARG, 1, top, kept, 0);
        shape[d] = kept + (before > 0 ? before : 0) + (after > 0 ? after : 0);
    }
    const int bad = fc_declare(c, 0, x->dtype, x->ndim, shape);
    c->spec[0].format = mode == CIRCULAR ? 0 : fc_format_of(x, 1);
    c->spec[0].direct = 1;
    return bad;
}

/* First what is kept; then dim by dim the result is continued by itself, the dims before over their whole size, those behind where they are kept. */
int fc_cpu__pad_around(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int64_t pairs = c->i[0] / 2, *pad = c->i + 1, mode = c->i[c->i[0] + 1];
    int64_t low[FC_MAX_DIMS], kept[FC_MAX_DIMS];
    fc_part to, from;
    fc_part_of(&to, c->out[0]);
    fc_part_of(&from, x);
    for (int d = 0; d < x->ndim; ++d) {
        const int64_t k = x->ndim - 1 - d, before = k < pairs ? pad[2 * k] : 0, after = k < pairs ? pad[2 * k + 1] : 0;
        low[d] = before > 0 ? before : 0;
        kept[d] = x->shape[d] + (before < 0 ? before : 0) + (after < 0 ? after : 0);
        fc_part_slice(&to, d, low[d], kept[d], 1);
        fc_part_slice(&from, d, before < 0 ? -before : 0, kept[d], 1);
    }
    fc_part_copy(&to, &from);
    for (int d = 0; d < x->ndim; ++d)
        for (int side = 0; side < 2; ++side) {
            const int64_t high = c->out[0]->shape[d] - low[d] - kept[d], width = side ? high : low[d], at = side ? low[d] + kept[d] : 0;
            if (!width)
                continue;
            const int64_t edge = side ? at - 1 : low[d];
            const int64_t first = mode == REPLICATE ? edge : mode == CIRCULAR ? (side ? low[d] : at + kept[d]) : side ? at - 2 : 2 * low[d];
            fc_part_of(&to, c->out[0]);
            fc_part_of(&from, c->out[0]);
            for (int e = d + 1; e < x->ndim; ++e) {
                fc_part_slice(&to, e, low[e], kept[e], 1);
                fc_part_slice(&from, e, low[e], kept[e], 1);
            }
            fc_part_slice(&to, d, at, width, 1);
            fc_part_slice(&from, d, first, width, mode == REFLECT ? -1 : mode == CIRCULAR);
            fc_part_copy(&to, &from);
        }
    return FC_OK;
}
