/*
 * _triangle(input, diagonal, upper): matrices (..., rows, columns) of which one side of a diagonal is kept, the rest 0.
 *
 *   kept: j - i <= diagonal, or with upper j - i >= diagonal
 */
#include <string.h>

#include "../core/call.h"
#include "parallel.h"

typedef struct { const fc_tensor *x; fc_tensor *out; int64_t rows, columns, diagonal; int upper; } job;

int fc_infer__triangle(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    if (x->ndim < 2)
        return fc_fail(FC_RANK, 0, x->ndim, 2, 0);
    return fc_declare(c, 0, x->dtype, x->ndim, x->shape);
}

static void lines(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t size = fc_dt_size[q->x->dtype], columns = q->columns;
    for (int64_t r = begin; r < end; ++r) {
        const int64_t edge = r % q->rows + q->diagonal + !q->upper, cut = edge < 0 ? 0 : edge < columns ? edge : columns;
        char *to = q->out->data + r * columns * size;
        const char *from = q->x->data + r * columns * size;
        const int64_t low = q->upper ? cut : 0, high = q->upper ? columns : cut; /* what is kept */
        memset(to, 0, (size_t)(low * size));
        memcpy(to + low * size, from + low * size, (size_t)((high - low) * size));
        memset(to + high * size, 0, (size_t)((columns - high) * size));
    }
}

int fc_cpu__triangle(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    job q = {x, c->out[0], x->shape[x->ndim - 2], x->shape[x->ndim - 1], c->i[0], (int)c->i[1]};
    if (x->numel)
        fc_parallel(x->numel / q.columns, 32768 / q.columns + 1, lines, &q);
    return FC_OK;
}
