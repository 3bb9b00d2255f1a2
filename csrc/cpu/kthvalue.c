/*
 * One order statistic of each line, as (values, indices): kthvalue, median, nanmedian, mode.
 *
 * kthvalue: the k-th smallest (from 1); NaN is greatest. Of equal elements PyTorch's choice is named: tied.h.
 * median: the lower of two middles; a line with a NaN answers the first NaN. nanmedian: the median of what is not NaN.
 * mode: the most frequent value, the least of equally frequent ones, with the index of its last occurrence as std::sort leaves it.
 * A NaN equals nothing, so that each counts for itself.
 */
#include "../core/levels.h"
#include "select.h"
#include "sort_side.h"
#include "tied.h"

typedef enum { KTHVALUE, MEDIAN, NANMEDIAN, MODE } statistic;
typedef struct { const fc_tensor *x; fc_tensor *value, *index; fc_lines f; statistic which; int64_t k; } job;

#if FC_ISA_ONCE
static int infer(fc_call *c, int64_t dim, int64_t keepdim, int64_t k)
{
    const fc_tensor *x = c->t[0];
    const int bad = fc_check_sort(x, dim);
    if (bad)
        return bad;
    const int64_t d = fc_wrap_dim(dim, x->ndim), n = x->ndim ? x->shape[d] : 1;
    int64_t shape[FC_MAX_DIMS];
    int ndim = 0;
    for (int j = 0; j < x->ndim; ++j)
        if (j != d || keepdim)
            shape[ndim++] = j == d ? 1 : x->shape[j];
    if (n == 0)
        return fc_fail(FC_EMPTY, dim, 0, 0, 0);
    if (n && (k < 1 || k > n))
        return fc_fail(FC_ARG, 1, k, n, 0);
    const int late = fc_declare(c, 0, x->dtype, ndim, shape);
    return late ? late : fc_declare(c, 1, FC_I64, ndim, shape);
}

/* input; k, dim, keepdim */
int fc_infer__kthvalue(fc_call *c) { return infer(c, c->i[1], c->i[2], c->i[0]); }

/* input; dim, keepdim */
int fc_infer__median(fc_call *c) { return infer(c, c->i[0], c->i[1], 1); }
int fc_infer__nanmedian(fc_call *c) { return infer(c, c->i[0], c->i[1], 1); }
int fc_infer__mode(fc_call *c) { return infer(c, c->i[0], c->i[1], 1); }
#endif

/* How many of a sorted line's elements come before its NaNs. */
static int64_t numbers(const job *q, const char *x, fc_sorted s)
{
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    const int64_t last = q->f.n - 1;
    uint64_t key;
    fc_plain_keys(&key, dtype, x + fc_sorted_at(s, last) * q->f.step * size, 1, 1);
    if (!fc_is_float(dtype) || key != ~(uint64_t)0 >> (64 - 8 * size))
        return last + 1;
    int64_t n = last;
    while (n && fc_sorted_same(s, n - 1, last))
        --n;
    return n;
}

/* The rank of the most frequent of sorted elements, at its last place, and how many there are. */
static int64_t most_frequent(fc_sorted s, int64_t n, int64_t *times)
{
    int64_t best = 0, length = 0;
    for (int64_t k = 0, start = 0; k < n; ++k)
        if (k + 1 == n || !fc_sorted_same(s, k, k + 1)) {
            if (k + 1 - start > length) {
                length = k + 1 - start;
                best = k;
            }
            start = k + 1;
        }
    *times = length;
    return best;
}

/* Of the elements that are equal to that of a rank, PyTorch's. room: 2 n words */
static int64_t tied(const job *q, const uint64_t *key, uint64_t *room, int64_t rank)
{
    const int64_t n = q->f.n;
    const fc_tied a = { room, (int64_t *)(room + n) };
    memcpy(a.key, key, (size_t)n * sizeof *key);
    for (int64_t k = 0; k < n; ++k)
        a.place[k] = k;
    return q->which == KTHVALUE ? fc_tied_select(a, n, rank) : fc_tied_sorted(a, n, rank);
}

static int64_t choose(const job *q, uint64_t *key, uint64_t *left)
{
    const int64_t n = q->f.n;
    const int dtype = q->x->dtype, bits = 8 * fc_dt_size[dtype];
    int64_t nans = 0, first_nan = 0;
    if (q->which == KTHVALUE) {
        const int64_t at = fc_place_of(key, left, n, q->k - 1);
        int64_t equal = 0;
        for (int64_t k = 0; k < n; ++k)
            equal += key[k] == key[at];
        return equal == 1 ? at : tied(q, key, left, q->k - 1);
    }
    const uint64_t nan = ~(uint64_t)0 >> (64 - bits);
    for (int64_t k = 0; fc_is_float(dtype) && k < n; ++k)
        nans += key[k] == nan;
    while (nans && key[first_nan] != nan)
        ++first_nan;
    if (nans == n || (nans && q->which == MEDIAN))
        return first_nan;
    return fc_place_of(key, left, n, (n - nans - 1) / 2);
}

static void lines(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const fc_lines *f = &q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    for (int64_t l = begin; l < end; ++l) {
        int64_t source, at;
        const char *x = q->x->data + fc_line_at(f, l, &source) * size;
        if (source != l)
            continue;
        uint64_t *key = scratch;
        if (q->which == MODE) {
            const fc_sorted s = fc_sort_line(dtype, x, f->n, f->step, 0, f->n, key);
            int64_t times;
            const int64_t rank = most_frequent(s, numbers(q, x, s), &times);
            at = fc_sorted_at(s, rank);
            if (f->n > 16 && times != 1) { /* sorting fewer is stable, and one is where it is */
                fc_plain_keys(key, dtype, x, f->n, f->step);
                at = tied(q, key, key + f->n, rank);
            }
        } else {
            fc_plain_keys(key, dtype, x, f->n, f->step);
            at = choose(q, key, key + f->n);
        }
        fc_move(q->value->data, l, x, at * f->step, size);
        FC_DATA(int64_t, q->index)[l] = at;
    }
}

/* The same of short lines, FC_SIDE at a time. */
static void short_lines(void *ctx, int64_t begin, int64_t end, void *room)
{
    const job *q = ctx;
    const int64_t n = q->f.n;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype], floating = fc_is_float(dtype);
    for (int64_t l = begin, some; l < end; l += some) {
        int64_t from[FC_SIDE], to[FC_SIDE];
        some = end - l < FC_SIDE ? end - l : FC_SIDE;
        fc_lines_from(&q->f, l, some, 1, from, to);
        const fc_side s = fc_sort_side(dtype, q->x->data, from, some, n, q->f.step, 0, room);
        for (int64_t c = 0; c < some; ++c) {
            const char *x = q->x->data + from[c] * size;
            int64_t rank = q->k - 1, at;
            uint64_t key[3 * FC_SIDE_LONGEST];
            if (q->which != KTHVALUE) {
                int64_t count = n; /* of numbers; NaNs are last */
                fc_plain_keys(key, dtype, x + fc_side_at(s, n - 1, c) * q->f.step * size, 1, 1);
                if (floating && *key == ~(uint64_t)0 >> (64 - 8 * size))
                    for (--count; count && fc_side_same(s, count - 1, n - 1, c); --count)
                        ;
                rank = count && (count == n || q->which == NANMEDIAN) ? (count - 1) / 2 : count % n;
            }
            at = fc_side_at(s, rank, c);
            if (q->which == KTHVALUE && ((rank && fc_side_same(s, rank - 1, rank, c)) || (rank + 1 < n && fc_side_same(s, rank, rank + 1, c)))) {
                fc_plain_keys(key, dtype, x, n, q->f.step);
                at = tied(q, key, key + n, rank);
            }
            fc_move(q->value->data, l + c, x, at * q->f.step, size);
            FC_DATA(int64_t, q->index)[l + c] = at;
        }
    }
}

static int run(fc_call *c, statistic which, int64_t k, int64_t dim)
{
    job q = {c->t[0], c->out[0], c->out[1], fc_lines_of(c->t[0], dim), which, k};
    if (!q.value->numel)
        return FC_OK;
    const int64_t room = which == MODE ? 0 : fc_side_room(&q.f);
    if (room)
        return fc_parallel_scratch(q.f.count, FC_SIDE + 8192 / q.f.n, (size_t)room * sizeof(int64_t), short_lines, &q);
    const int bad = fc_parallel_scratch(q.f.count, 1 + (which == MODE ? 512 : 2048) / q.f.n, (size_t)q.f.n * 3 * sizeof(uint64_t), lines, &q);
    if (!bad) {
        fc_lines_again(&q.f, q.value, 1);
        fc_lines_again(&q.f, q.index, 1);
    }
    return bad;
}

int FC_ISA_NAME(fc_cpu__kthvalue)(fc_call *c) { return run(c, KTHVALUE, c->i[0], c->i[1]); }
FC_OWN_TWO_LEVELS(_kthvalue)

int FC_ISA_NAME(fc_cpu__median)(fc_call *c) { return run(c, MEDIAN, 1, c->i[0]); }
FC_OWN_TWO_LEVELS(_median)

int FC_ISA_NAME(fc_cpu__nanmedian)(fc_call *c) { return run(c, NANMEDIAN, 1, c->i[0]); }
FC_OWN_TWO_LEVELS(_nanmedian)

int FC_ISA_NAME(fc_cpu__mode)(fc_call *c) { return run(c, MODE, 1, c->i[0]); }
FC_OWN_TWO_LEVELS(_mode)
