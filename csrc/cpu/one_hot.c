/*
 * _one_hot(input, classes): int64 (..., classes), 1 at each index of input, else 0.
 */
#include <string.h>

#include "../core/call.h"
#include "gather.h"
#include "parallel.h"

typedef struct { const int64_t *index; int64_t *out, classes; } job;

int fc_infer__one_hot(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    int64_t shape[FC_MAX_DIMS];
    if (x->dtype != FC_I64)
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    if (c->i[0] < 0 || x->ndim == FC_MAX_DIMS)
        return fc_fail(FC_ARG, 1, c->i[0], 0, 0);
    for (int d = 0; d < x->ndim; ++d)
        shape[d] = x->shape[d];
    shape[x->ndim] = c->i[0];
    return fc_declare(c, 0, FC_I64, x->ndim + 1, shape);
}

static void rows(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    memset(q->out + begin * q->classes, 0, (size_t)((end - begin) * q->classes) * sizeof *q->out);
    for (int64_t r = begin; r < end; ++r)
        q->out[r * q->classes + q->index[r]] = 1;
}

int fc_cpu__one_hot(fc_call *c)
{
    job q = { FC_DATA(int64_t, c->t[0]), FC_DATA(int64_t, c->out[0]), c->i[0] };
    const int64_t n = c->t[0]->numel, wrong = fc_cpu_outside(q.index, n, 0, q.classes);
    if (wrong >= 0)
        return fc_fail(FC_INDEX, q.index[wrong], q.classes, c->t[0]->ndim, 0);
    if (n)
        fc_parallel(n, 16384 / q.classes + 1, rows, &q);
    return FC_OK;
}
