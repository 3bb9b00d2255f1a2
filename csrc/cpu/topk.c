/*
 * topk(input, k, dim, largest, sorted) -> (values, indices) of the k largest or smallest of each line, in order.
 * Of equal elements the one with the lower index comes first. A small k is kept in order while the line passes once.
 */
#include "sort_keys.h"

enum { KEPT = 64 }; /* up to here insertion beats sorting the line */

typedef struct { const fc_tensor *x; fc_tensor *value, *index; fc_line_form f; int64_t k; int largest; } job;

/* input; k, dim, largest, sorted */
int fc_infer__topk(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int bad = fc_check_sort(x, c->i[1]);
    if (bad)
        return bad;
    const int64_t d = fc_wrap_dim(c->i[1], x->ndim), k = c->i[0], n = x->ndim ? x->shape[d] : 1;
    if (k < 0 || k > n)
        return fc_fail(FC_ARG, 1, k, n, 0);
    int64_t shape[FC_MAX_DIMS];
    for (int j = 0; j < x->ndim; ++j)
        shape[j] = j == d ? k : x->shape[j];
    const int late = fc_declare(c, 0, x->dtype, x->ndim, shape);
    return late ? late : fc_declare(c, 1, FC_I64, x->ndim, shape);
}

/* The k least of a[0 .. n), stable, to its front. */
static void select_few(fc_keyed *a, int64_t n, int64_t k)
{
    fc_keyed best[KEPT];
    int64_t count = 0;
    uint64_t last = ~(uint64_t)0; /* what a key must be below, once k are kept */
    for (int64_t i = 0; i < n; ++i) {
        if (count == k && a[i].key >= last)
            continue;
        int64_t j = count < k ? count++ : k - 1;
        for (; j > 0 && best[j - 1].key > a[i].key; --j)
            best[j] = best[j - 1];
        best[j] = a[i];
        if (count == k)
            last = best[k - 1].key;
    }
    memcpy(a, best, (size_t)k * sizeof *a);
}

static void lines(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const fc_line_form f = q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    fc_keyed *a = scratch, *room = a + f.n;
    for (int64_t l = begin; l < end; ++l) {
        const int64_t from = l / f.inner * f.n * f.inner + l % f.inner, to = l / f.inner * q->k * f.inner + l % f.inner;
        fc_keys(a, dtype, q->x->data + from * size, f.n, f.inner, q->largest);
        if (q->k <= KEPT && q->k < f.n)
            select_few(a, f.n, q->k);
        else
            fc_sort_line(a, room, f.n, dtype);
        for (int64_t k = 0; k < q->k; ++k) {
            fc_move(q->value->data + to * size, k * f.inner, q->x->data + from * size, a[k].at * f.inner, size);
            FC_DATA(int64_t, q->index)[to + k * f.inner] = a[k].at;
        }
    }
}

int fc_cpu__topk(fc_call *c)
{
    job q = {c->t[0], c->out[0], c->out[1], fc_form(c->t[0], c->i[1]), c->i[0], (int)c->i[2]};
    if (q.value->numel)
        fc_parallel_scratch(q.f.outer * q.f.inner, 1 + 2048 / q.f.n, (size_t)q.f.n * 2 * sizeof(fc_keyed), lines, &q);
    return FC_OK;
}
