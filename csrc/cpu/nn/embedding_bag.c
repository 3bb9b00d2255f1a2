/*
 * Rows of a table reduced in bags, and the gradients.
 *
 *   out[b, :] = sum over k in bag b of scale[k] weight[indices[k], :]      (mean: divided by how many; max: the largest of each column)
 *   dw[v, :]  = sum over k with indices[k] == v of scale[k] g[b(k), :], in the order of k;  dscale[k] = sum_j g[b(k), j] weight[indices[k], j]
 *
 * weight (rows, width), indices (n), starts (bags): bag b is indices[starts[b] .. starts[b + 1]), the last one ends at n. Entries that
 * are padding_idx count nothing; an empty bag is 0. places (bags, width) of max: the row that each value is from, -1 for an empty bag.
 * Maxima: the first of equal values wins, a NaN over all. by_frequency divides a row of dw by how often its index occurs.
 */
#ifndef T
#include <string.h>

#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "../parallel.h"

enum { SUM, MEAN, MAX };
enum { WEIGHT, INDICES, STARTS, SCALES };                    /* arguments of the forward row */
enum { G, B_WEIGHT, B_INDICES, B_STARTS, B_SCALES, PLACES }; /* of the backward row */

typedef struct {
    const void *table, *scale, *g;
    void *out, *d_scale;
    const int64_t *at, *starts, *count;
    int64_t *places;
    int64_t n, bags, rows, width, padding;
    int mode;
} job;

static int64_t end_of(const job *q, int64_t b) { return b + 1 < q->bags ? q->starts[b + 1] : q->n; }

static int64_t counted(const job *q, int64_t b)
{
    int64_t n = 0;
    for (int64_t k = q->starts[b]; k < end_of(q, b); ++k)
        n += q->at[k] != q->padding;
    return n;
}

#define T f32
#include "embedding_bag.c"
#define T f64
#include "embedding_bag.c"

#if FC_ISA_ONCE
static int check(const fc_call *c, int first)
{
    const fc_tensor *w = c->t[first], *index = c->t[first + 1], *starts = c->t[first + 2], *scale = c->t[first + 3];
    if (!fc_is_float(w->dtype))
        return fc_fail(FC_DTYPE, w->dtype, first, 0, 0);
    for (int k = first + 1; k <= first + 2; ++k) {
        if (c->t[k]->dtype != FC_I64)
            return fc_fail(FC_DTYPE, c->t[k]->dtype, k, 0, 0);
        if (c->t[k]->ndim != 1)
            return fc_fail(FC_RANK, k, c->t[k]->ndim, 1, 0);
    }
    if (w->ndim != 2)
        return fc_fail(FC_RANK, first, w->ndim, 2, 0);
    if (scale && scale->dtype != w->dtype)
        return fc_fail(FC_MIXED, first, w->dtype, first + 3, scale->dtype);
    if (scale && scale->numel != index->numel)
        return fc_fail(FC_SIZE, first + 1, index->numel, first + 3, scale->numel);
    (void)starts;
    return FC_OK;
}

/* weight, indices, starts, per_sample_weights; padding_idx (INT64_MIN: none), mode, by_frequency -> out, places */
int fc_infer__embedding_bag(fc_call *c)
{
    const int bad = check(c, WEIGHT);
    if (bad)
        return bad;
    if (c->i[1] < SUM || c->i[1] > MAX)
        return fc_fail(FC_ARG, 5, c->i[1], MAX, 0);
    const int64_t shape[2] = { c->t[STARTS]->shape[0], c->t[WEIGHT]->shape[1] }, none = 0;
    fc_declare(c, 0, c->t[WEIGHT]->dtype, 2, shape);
    return c->i[1] == MAX ? fc_declare(c, 1, FC_I64, 2, shape) : fc_declare(c, 1, FC_I64, 1, &none);
}

/* g, weight, indices, starts, per_sample_weights, places; padding_idx, mode, by_frequency -> weight, per_sample_weights */
int fc_infer__embedding_bag_backward(fc_call *c)
{
    const int bad = check(c, B_WEIGHT);
    const fc_tensor *g = c->t[G], *w = c->t[B_WEIGHT];
    if (bad)
        return bad;
    if (g->dtype != w->dtype)
        return fc_fail(FC_MIXED, G, g->dtype, B_WEIGHT, w->dtype);
    if (g->ndim != 2 || g->shape[0] != c->t[B_STARTS]->shape[0] || g->shape[1] != w->shape[1])
        return fc_fail(FC_SIZE, G, g->numel, B_STARTS, c->t[B_STARTS]->shape[0] * w->shape[1]);
    if (c->i[1] == MAX && (c->t[PLACES]->dtype != FC_I64 || c->t[PLACES]->numel != g->numel))
        return fc_fail(FC_SIZE, G, g->numel, PLACES, c->t[PLACES]->numel);
    c->scratch_bytes = c->i[2] ? (size_t)w->shape[0] * sizeof(int64_t) : 0;
    const int64_t n = c->t[B_SCALES] ? c->t[B_SCALES]->numel : 0;
    fc_declare(c, 0, w->dtype, 2, w->shape);
    return fc_declare(c, 1, w->dtype, 1, &n);
}
#endif

static int settle(job *q, const fc_call *c, int first)
{
    const fc_tensor *w = c->t[first], *scale = c->t[first + 3];
    q->table = w->data, q->rows = w->shape[0], q->width = w->shape[1];
    q->at = FC_DATA(const int64_t, c->t[first + 1]), q->n = c->t[first + 1]->numel;
    q->starts = FC_DATA(const int64_t, c->t[first + 2]), q->bags = c->t[first + 2]->numel;
    q->scale = scale ? scale->data : NULL;
    q->padding = c->i[0], q->mode = (int)c->i[1];
    for (int64_t k = 0; k < q->n; ++k)
        if (q->at[k] != q->padding && (uint64_t)q->at[k] >= (uint64_t)q->rows)
            return fc_fail(FC_INDEX, q->at[k], q->rows, 0, 0);
    for (int64_t b = 0; b < q->bags; ++b)
        if ((uint64_t)q->starts[b] > (uint64_t)q->n)
            return fc_fail(FC_INDEX, q->starts[b], q->n, 0, 0);
    return FC_OK;
}

int FC_ISA_NAME(fc_cpu__embedding_bag)(fc_call *c)
{
    job q = { .out = c->out[0]->data, .places = FC_DATA(int64_t, c->out[1]) };
    const int bad = settle(&q, c, WEIGHT);
    if (!bad)
        fc_parallel(q.bags, 1 + 16384 / (q.width * (q.n / (q.bags + 1) + 1) + 1), c->t[WEIGHT]->dtype == FC_F32 ? bags_f32 : bags_f64, &q);
    return bad;
}
FC_OWN_TWO_LEVELS(_embedding_bag)

int FC_ISA_NAME(fc_cpu__embedding_bag_backward)(fc_call *c)
{
    job q = { .g = c->t[G]->data, .out = c->out[0]->data, .d_scale = c->out[1]->data };
    const int bad = settle(&q, c, B_WEIGHT), narrow = c->t[G]->dtype == FC_F32;
    if (bad)
        return bad;
    q.places = q.mode == MAX ? FC_DATA(int64_t, c->t[PLACES]) : NULL;
    for (int64_t k = 0; q.places && k < c->t[G]->numel; ++k)
        if (q.places[k] >= q.rows)
            return fc_fail(FC_INDEX, q.places[k], q.rows, 0, 0);
    if (c->i[2]) {
        int64_t *count = c->scratch;
        memset(count, 0, (size_t)q.rows * sizeof *count);
        for (int64_t k = 0; k < q.n; ++k)
            if (q.at[k] != q.padding)
                ++count[q.at[k]];
        q.count = count;
    }
    if (q.rows && q.width) /* every piece reads all indices, so few pieces */
        fc_parallel(q.rows, 1 + q.rows / 8 + 16384 / q.width, narrow ? rows_f32 : rows_f64, &q);
    if (q.scale)
        fc_parallel(q.bags, 1 + 16384 / (q.width * (q.n / (q.bags + 1) + 1) + 1), narrow ? scales_f32 : scales_f64, &q);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_embedding_bag_backward)

#else
#include "../typed.h"

static void N(bags)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t width = q->width;
    for (int64_t b = begin; b < end; ++b) {
        T *restrict out = (T *)q->out + b * width;
        int64_t *restrict place = q->mode == MAX ? q->places + b * width : NULL, first = 1;
        for (int64_t j = 0; j < width; ++j)
            out[j] = 0;
        for (int64_t j = 0; place && j < width; ++j)
            place[j] = -1;
        for (int64_t k = q->starts[b]; k < end_of(q, b); ++k) {
            const int64_t v = q->at[k];
            if (v == q->padding)
                continue;
            const T *restrict row = (const T *)q->table + v * width;
            if (!place) {
                const T scale = q->scale ? ((const T *)q->scale)[k] : 1;
                for (int64_t j = 0; j < width; ++j)
                    out[j] += row[j] * scale;
            } else
                for (int64_t j = 0; j < width; ++j) {
                    const int better = first || row[j] > out[j] || (row[j] != row[j] && out[j] == out[j]);
                    out[j] = better ? row[j] : out[j];
                    place[j] = better ? v : place[j];
                }
            first = 0;
        }
        const int64_t n = q->mode == MEAN ? counted(q, b) : 1;
        for (int64_t j = 0; n > 1 && j < width; ++j)
            out[j] /= (T)n;
    }
}

/* Rows [begin, end) of the table's gradient. */
static void N(rows)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t width = q->width;
    memset((T *)q->out + begin * width, 0, (size_t)((end - begin) * width) * sizeof(T));
    for (int64_t b = 0; b < q->bags; ++b) {
        const T *restrict g = (const T *)q->g + b * width;
        if (q->mode == MAX) {
            for (int64_t j = 0; j < width; ++j) {
                const int64_t v = q->places[b * width + j];
                if (v >= begin && v < end)
                    ((T *)q->out)[v * width + j] += g[j];
            }
            continue;
        }
        const int64_t n = q->mode == MEAN ? counted(q, b) : 1;
        for (int64_t k = q->starts[b]; k < end_of(q, b); ++k) {
            const int64_t v = q->at[k];
            if (v < begin || v >= end || v == q->padding)
                continue;
            T *restrict out = (T *)q->out + v * width;
            const T scale = (q->scale ? ((const T *)q->scale)[k] : 1) / (T)(q->count ? q->count[v] * n : n);
            for (int64_t j = 0; j < width; ++j)
                out[j] += g[j] * scale;
        }
    }
}

static void N(scales)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    for (int64_t b = begin; b < end; ++b)
        for (int64_t k = q->starts[b]; k < end_of(q, b); ++k) {
            const int64_t v = q->at[k];
            ((T *)q->d_scale)[k] = v == q->padding ? 0 : M(row_dot)((const T *)q->g + b * q->width, (const T *)q->table + v * q->width, q->width);
        }
}

#include "../typed_done.h"
#endif
