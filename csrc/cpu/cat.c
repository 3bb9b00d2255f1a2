/*
 * Tensors joined along one dim; the other sizes agree, dtypes are promoted.
 *
 * A 1-d tensor of no elements is skipped whatever the others' rank, as in PyTorch.
 */
#include "facula.h"
#include "../core/call.h"
#include "../core/cast.h"
#include "../core/promote.h"

static int fc_is_skipped(const fc_tensor *t) { return t->ndim == 1 && t->shape[0] == 0; }

int fc_infer_cat(fc_call *c)
{
    const fc_tensor *first = NULL;
    fc_promotion p = FC_PROMOTION_START;
    int64_t shape[FC_MAX_DIMS];
    for (int k = 0; k < c->nt; ++k) {
        fc_promotion_add(&p, c->t[k]);
        if (!first && !fc_is_skipped(c->t[k]))
            first = c->t[k];
    }
    const int dtype = fc_promotion_result(&p);
    if (dtype < 0)
        return fc_fail(FC_MIXED, 0, c->t[0]->dtype, 1, c->t[c->nt - 1]->dtype);
    if (!first) {
        shape[0] = 0;
        return fc_declare(c, 0, dtype, 1, shape);
    }
    if (first->ndim == 0)
        return fc_fail(FC_RANK, 0, 0, 1, 0);
    const int64_t dim = fc_wrap_dim(c->i[0], first->ndim);
    if (dim < 0 || dim >= first->ndim)
        return fc_fail(FC_DIM, c->i[0], first->ndim, 0, 0);
    for (int d = 0; d < first->ndim; ++d)
        shape[d] = first->shape[d];
    shape[dim] = 0;
    for (int k = 0; k < c->nt; ++k) {
        const fc_tensor *t = c->t[k];
        if (fc_is_skipped(t))
            continue;
        if (t->ndim != first->ndim)
            return fc_fail(FC_RANK, k, t->ndim, first->ndim, 0);
        for (int d = 0; d < t->ndim; ++d)
            if (d != dim && t->shape[d] != first->shape[d])
                return fc_fail(FC_SHAPE, d, first->shape[d], t->shape[d], k);
        shape[dim] += t->shape[dim];
    }
    c->i[0] = dim;
    return fc_declare(c, 0, dtype, first->ndim, shape);
}

int fc_cpu_cat(fc_call *c)
{
    fc_tensor *out = c->out[0];
    const int64_t dim = c->i[0];
    const int size = fc_dt_size[out->dtype];
    int64_t outer = 1, inner = 1;
    for (int d = 0; d < out->ndim; ++d)
        if (d < dim)
            outer *= out->shape[d];
        else if (d > dim)
            inner *= out->shape[d];
    const int64_t row = out->ndim ? out->shape[dim] * inner : 0;
    int64_t at = 0;
    for (int k = 0; k < c->nt; ++k) {
        const fc_tensor *t = c->t[k];
        if (fc_is_skipped(t) || !t->numel)
            continue;
        const int64_t part = t->shape[dim] * inner;
        for (int64_t o = 0; o < outer; ++o)
            fc_convert(out->dtype, out->data + (o * row + at) * size, t->dtype, t->data + o * part * fc_dt_size[t->dtype], part);
        at += part;
    }
    return FC_OK;
}
