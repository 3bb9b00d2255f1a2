/*
 * One order statistic of each line, as (values, indices): kthvalue, median, nanmedian, mode.
 *
 * kthvalue: the k-th smallest (from 1); NaN is greatest.
 * median: the lower of two middles; a line with a NaN answers the first NaN. nanmedian: the median of what is not NaN.
 * mode: the most frequent value, the least of equally frequent ones, with the index of its last occurrence.
 */
#include "sort_keys.h"

typedef enum { KTHVALUE, MEDIAN, NANMEDIAN, MODE } statistic;
typedef struct { const fc_tensor *x; fc_tensor *value, *index; fc_line_form f; statistic which; int64_t k; } job;

static int infer(fc_call *c, int64_t dim, int64_t keepdim, int64_t k)
{
    const fc_tensor *x = c->t[0];
    const int bad = fc_check_sort(x, dim);
    if (bad)
        return bad;
    const int64_t d = fc_wrap_dim(dim, x->ndim), n = x->ndim ? x->shape[d] : 1;
    int64_t shape[FC_MAX_DIMS];
    int ndim = 0;
    int64_t numel = 1;
    for (int j = 0; j < x->ndim; ++j)
        if (j != d || keepdim) {
            shape[ndim++] = j == d ? 1 : x->shape[j];
            numel *= shape[ndim - 1];
        }
    if (n == 0 && numel)
        return fc_fail(FC_EMPTY, dim, 0, 0, 0);
    if (n && (k < 1 || k > n))
        return fc_fail(FC_ARG, 1, k, n, 0);
    const int late = fc_declare(c, 0, x->dtype, ndim, shape);
    return late ? late : fc_declare(c, 1, FC_I64, ndim, shape);
}

static fc_keyed choose(const job *q, fc_keyed *a)
{
    const int64_t n = q->f.n;
    int64_t numbers = n;
    switch (q->which) {
    case KTHVALUE: return a[q->k - 1];
    case MEDIAN: case NANMEDIAN:
        while (numbers && fc_key_is_nan(q->x->dtype, a[numbers - 1].key))
            --numbers;
        if (q->which == MEDIAN)
            return numbers < n ? a[numbers] : a[(n - 1) / 2];
        return numbers ? a[(numbers - 1) / 2] : a[0];
    case MODE: break;
    }
    int64_t best = 0, length = 0;
    for (int64_t k = 0, start = 0; k < n; ++k)
        if (k + 1 == n || a[k + 1].key != a[k].key) {
            if (k + 1 - start > length) {
                length = k + 1 - start;
                best = k;
            }
            start = k + 1;
        }
    return a[best];
}

static void lines(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const fc_line_form f = q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    fc_keyed *a = scratch, *room = a + f.n;
    for (int64_t l = begin; l < end; ++l) {
        const char *x = q->x->data + (l / f.inner * f.n * f.inner + l % f.inner) * size;
        fc_keys(a, dtype, x, f.n, f.inner, 0);
        fc_sort_line(a, room, f.n, dtype);
        const fc_keyed found = choose(q, a);
        fc_move(q->value->data, l, x, found.at * f.inner, size);
        FC_DATA(int64_t, q->index)[l] = found.at;
    }
}

static int run(fc_call *c, statistic which, int64_t k, int64_t dim)
{
    job q = {c->t[0], c->out[0], c->out[1], fc_form(c->t[0], dim), which, k};
    if (q.value->numel)
        fc_parallel_scratch(q.f.outer * q.f.inner, 1 + 2048 / q.f.n, (size_t)q.f.n * 2 * sizeof(fc_keyed), lines, &q);
    return FC_OK;
}

/* input; k, dim, keepdim */
int fc_infer__kthvalue(fc_call *c) { return infer(c, c->i[1], c->i[2], c->i[0]); }
int fc_cpu__kthvalue(fc_call *c) { return run(c, KTHVALUE, c->i[0], c->i[1]); }

/* input; dim, keepdim */
int fc_infer__median(fc_call *c) { return infer(c, c->i[0], c->i[1], 1); }
int fc_cpu__median(fc_call *c) { return run(c, MEDIAN, 1, c->i[0]); }
int fc_infer__nanmedian(fc_call *c) { return infer(c, c->i[0], c->i[1], 1); }
int fc_cpu__nanmedian(fc_call *c) { return run(c, NANMEDIAN, 1, c->i[0]); }
int fc_infer__mode(fc_call *c) { return infer(c, c->i[0], c->i[1], 1); }
int fc_cpu__mode(fc_call *c) { return run(c, MODE, 1, c->i[0]); }
