/*
 * _searchsorted(sorted_sequence, values, right, sorter=None) -> int64 of values' shape: where each value would be inserted.
 *
 * sorted_sequence is 1-d, or has values' shape but for the last dim. right: after equal elements, else before them.
 * sorter: int64 of sorted_sequence's shape, the order in which it is ascending.
 */
#include "sort_keys.h"

typedef struct { const fc_tensor *line, *value, *sorter; int64_t *out; int64_t n, per_line; int right; } job;

/* sorted_sequence, values, sorter; right */
int fc_infer__searchsorted(fc_call *c)
{
    const fc_tensor *line = c->t[0], *v = c->t[1], *sorter = c->t[2];
    if (!fc_sortable(line->dtype) || !fc_sortable(v->dtype))
        return fc_fail(FC_DTYPE, fc_sortable(line->dtype) ? v->dtype : line->dtype, 0, 0, 0);
    if (line->dtype != v->dtype)
        return fc_fail(FC_MIXED, 0, line->dtype, 1, v->dtype);
    if (line->ndim < 1 || (line->ndim > 1 && line->ndim != v->ndim))
        return fc_fail(FC_RANK, 0, line->ndim, v->ndim, 0);
    for (int k = 0; line->ndim > 1 && k < line->ndim - 1; ++k)
        if (line->shape[k] != v->shape[k])
            return fc_fail(FC_SIZE, 0, line->shape[k], 1, v->shape[k]);
    if (sorter) {
        if (sorter->dtype != FC_I64)
            return fc_fail(FC_DTYPE, sorter->dtype, 2, 0, 0);
        if (sorter->ndim != line->ndim)
            return fc_fail(FC_RANK, 2, sorter->ndim, line->ndim, 0);
        for (int k = 0; k < line->ndim; ++k)
            if (sorter->shape[k] != line->shape[k])
                return fc_fail(FC_SIZE, 0, line->shape[k], 2, sorter->shape[k]);
    }
    return fc_declare(c, 0, FC_I64, v->ndim, v->shape);
}

/* Halving without a branch that could be guessed wrong. dtype is a constant where this is called, so the keys are read without a switch. */
static inline void search_as(const job *q, int64_t begin, int64_t end, const int dtype)
{
    const int size = fc_dt_size[dtype];
    const int right = q->right;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t from = q->line->ndim > 1 ? k / q->per_line * q->n : 0;
        const char *line = q->line->data + from * size;
        const int64_t *order = q->sorter ? FC_DATA(int64_t, q->sorter) + from : NULL;
        const uint64_t v = fc_key(dtype, q->value->data, k);
        int64_t lo = 0, left = q->n;
        while (left > 0) {
            const int64_t half = left / 2, mid = lo + half;
            const uint64_t key = fc_key(dtype, line, order ? order[mid] : mid);
            const int64_t before = right ? key <= v : key < v;
            lo = before ? mid + 1 : lo;
            left = before ? left - half - 1 : half;
        }
        q->out[k] = lo;
    }
}

static void search(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    switch (q->line->dtype) {
    case FC_F32: search_as(q, begin, end, FC_F32); break;
    case FC_F64: search_as(q, begin, end, FC_F64); break;
    case FC_I64: search_as(q, begin, end, FC_I64); break;
    case FC_I32: search_as(q, begin, end, FC_I32); break;
    default: search_as(q, begin, end, q->line->dtype);
    }
}

int fc_cpu__searchsorted(fc_call *c)
{
    const fc_tensor *line = c->t[0], *v = c->t[1];
    job q = {line, v, c->t[2], FC_DATA(int64_t, c->out[0]), line->shape[line->ndim - 1], v->ndim ? v->shape[v->ndim - 1] : 1,
             (int)c->i[0]};
    if (q.sorter)
        for (int64_t k = 0; k < q.sorter->numel; ++k)
            if ((uint64_t)FC_DATA(int64_t, q.sorter)[k] >= (uint64_t)q.n)
                return fc_fail(FC_INDEX, FC_DATA(int64_t, q.sorter)[k], q.n, 0, 0);
    fc_parallel(v->numel, 1024, search, &q);
    return FC_OK;
}
