/*
 * topk(input, k, dim, largest, sorted) -> (values, indices) of the k largest or smallest of each line, in order.
 * Of equal elements the one with the lower index comes first. A small k is kept in order while the line passes once.
 */
#include "sort_side.h"

enum { KEPT = 64, RUN = 32, SIDE = 16, /* up to here insertion beats sorting the line */
       FEW_OF = 16 /* one of more than so many: insertion beats a network of short lines */ };

typedef struct { const fc_tensor *x; fc_tensor *value, *index; fc_lines f; int64_t k; int largest; } job;

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

typedef struct { uint64_t key; int64_t at; } kept;
typedef struct { kept best[KEPT]; int64_t count; uint64_t last; } few;

/* Of equal keys the earlier stays in front. `last` is what a key must be below, once k are kept. */
static void keep(few *w, uint64_t key, int64_t at, int64_t k)
{
    int64_t j = w->count < k ? w->count++ : k - 1;
    for (; j > 0 && w->best[j - 1].key > key; --j)
        w->best[j] = w->best[j - 1];
    w->best[j] = (kept){key, at};
    if (w->count == k)
        w->last = w->best[k - 1].key;
}

static void deliver(const job *q, int64_t l, const char *x, const kept *best)
{
    const fc_lines *f = &q->f;
    const int size = fc_dt_size[q->x->dtype];
    const int64_t to = fc_line_to(f, l, q->k);
    for (int64_t k = 0; k < q->k; ++k) {
        fc_move(q->value->data + to * size, k * f->inner, x, best[k].at * f->step, size);
        FC_DATA(int64_t, q->index)[to + k * f->inner] = best[k].at;
    }
}

enum { GLANCE = 8 };

/* Is one of so many perhaps better than `worst`, the last that is kept? NaN is, or is not: keys will tell. Most are not, and need no key. */
static inline int better(const f32 *x, f32 worst, int largest)
{
    int some = 0;
    if (largest)
        _Pragma("GCC unroll 1")
        for (int j = 0; j < GLANCE; ++j)
            some |= !(x[j] <= worst);
    else
        _Pragma("GCC unroll 1")
        for (int j = 0; j < GLANCE; ++j)
            some |= !(x[j] >= worst);
    return some;
}

/* The k least of a line pass once through a short list. A run of elements of which none is good enough costs a comparison each. */
static void few_of_line(const job *q, int64_t l, const char *x)
{
    const fc_lines *f = &q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    const uint64_t flip = q->largest ? ~(uint64_t)0 >> (64 - 8 * size) : 0;
    few w = {.count = 0};
    uint64_t key[RUN];
    const int glance = dtype == FC_F32 && f->step == 1;
    for (int64_t i = 0, m; i < f->n; i += m) {
        m = f->n - i < RUN ? f->n - i : RUN;
        if (glance && w.count == q->k && f->n - i >= GLANCE) {
            m = GLANCE;
            if (!better((const f32 *)x + i, ((const f32 *)x)[w.best[q->k - 1].at], q->largest))
                continue;
        }
        int good = w.count < q->k;
        fc_plain_keys(key, dtype, x + i * f->step * size, m, f->step);
        for (int64_t j = 0; j < m; ++j) {
            key[j] ^= flip;
            good |= key[j] < w.last;
        }
        for (int64_t j = 0; good && j < m; ++j)
            if (w.count < q->k || key[j] < w.last)
                keep(&w, key[j], i + j, q->k);
    }
    deliver(q, l, x, w.best);
}

/* The same of SIDE lines, each with its own worst. */
static inline int any_better(const f32 *x, const f32 *worst, int largest)
{
    int some = 0;
    if (largest)
        _Pragma("GCC unroll 1")
        for (int c = 0; c < SIDE; ++c)
            some |= !(x[c] <= worst[c]);
    else
        _Pragma("GCC unroll 1")
        for (int c = 0; c < SIDE; ++c)
            some |= !(x[c] >= worst[c]);
    return some;
}

/* Lines of which every one has k: the elements from `from` on. */
static void glance_along(const job *q, few *w, const f32 *x, int64_t from, uint64_t flip)
{
    const int64_t step = q->f.step, k = q->k;
    f32 worst[SIDE];
    for (int c = 0; c < SIDE; ++c)
        worst[c] = x[w[c].best[k - 1].at * step + c];
    for (int64_t i = from; i < q->f.n; ++i) {
        const f32 *row = x + i * step;
        if (!any_better(row, worst, q->largest))
            continue;
        for (int c = 0; c < SIDE; ++c) {
            if (q->largest ? row[c] <= worst[c] : row[c] >= worst[c])
                continue;
            const uint64_t key = fc_key(FC_F32, row, c) ^ flip;
            if (key < w[c].last) {
                keep(&w[c], key, i, k);
                worst[c] = x[w[c].best[k - 1].at * step + c];
            }
        }
    }
}

/* The same for `width` neighbouring lines whose elements lie side by side. */
static void few_of_lines(const job *q, int64_t l, const char *x, int64_t width)
{
    const fc_lines *f = &q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    const uint64_t flip = q->largest ? ~(uint64_t)0 >> (64 - 8 * size) : 0;
    few w[SIDE];
    uint64_t key[SIDE];
    for (int64_t c = 0; c < width; ++c) {
        w[c].count = 0;
        w[c].last = 0;
    }
    const int64_t full = dtype == FC_F32 && width == SIDE ? q->k : f->n; /* after k elements every line has k */
    for (int64_t i = 0; i < full; ++i) {
        fc_plain_keys(key, dtype, x + i * f->step * size, width, 1);
        for (int64_t c = 0; c < width; ++c)
            if (w[c].count < q->k || (key[c] ^ flip) < w[c].last)
                keep(&w[c], key[c] ^ flip, i, q->k);
    }
    if (full < f->n)
        glance_along(q, w, (const f32 *)x, full, flip);
    for (int64_t c = 0; c < width; ++c)
        deliver(q, l + c, x + c * size, w[c].best);
}

static void lines(void *ctx, int64_t begin, int64_t end, void *room)
{
    const job *q = ctx;
    const fc_lines *f = &q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    const int few_pay = q->k <= KEPT && q->k < f->n && (f->n <= SIDE || 3 * q->k <= f->n); /* 20 of 40: 14 us, sorted 10 */
    for (int64_t l = begin, width = 1; l < end; l += width) {
        int64_t source;
        const char *x = q->x->data + fc_line_at(f, l, &source) * size;
        width = 1;
        if (source != l)
            continue;
        if (few_pay) {
            width = fc_lines_beside(f, l, end - l < SIDE ? end - l : SIDE);
            if (width == 1)
                few_of_line(q, l, x);
            else
                few_of_lines(q, l, x, width);
            continue;
        }
        const fc_sorted s = fc_sort_line(dtype, x, f->n, f->step, q->largest, q->k, room);
        const int64_t to = fc_line_to(f, l, q->k);
        for (int64_t k = 0; k < q->k; ++k) {
            const int64_t at = fc_sorted_at(s, k);
            fc_move(q->value->data + to * size, k * f->inner, x, at * f->step, size);
            FC_DATA(int64_t, q->index)[to + k * f->inner] = at;
        }
    }
}

int fc_cpu__topk(fc_call *c)
{
    const int64_t k = c->t[0]->ndim ? c->i[0] : 1; /* of a number there is the number alone, also where none is asked for */
    job q = {c->t[0], c->out[0], c->out[1], fc_lines_of(c->t[0], c->i[1]), k, (int)c->i[2]};
    if (!q.value->numel)
        return FC_OK;
    const int64_t room = q.f.n > FEW_OF && q.k * FEW_OF < q.f.n ? 0 : fc_side_room(&q.f);
    if (room)
        return fc_side_lines(&q.f, q.x, q.value, q.index, q.k, q.largest, room);
    const int bad = fc_parallel_scratch(q.f.count, 1 + 2048 / q.f.n, (size_t)q.f.n * 3 * sizeof(uint64_t), lines, &q);
    if (!bad) {
        fc_lines_again(&q.f, q.value, q.k);
        fc_lines_again(&q.f, q.index, q.k);
    }
    return bad;
}
