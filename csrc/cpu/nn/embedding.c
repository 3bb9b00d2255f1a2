/*
 * embedding(weight, indices): rows of a (rows, width...) table, any dtype; and the gradient of the table.
 *
 *   out[..., :] = weight[indices[...], :]
 *   dw[v, :]    = sum over indices[k] == v of g[k, :], in the order of k; rows of padding_idx stay zero;
 *                 scale_grad_by_freq divides a row by how often v occurs
 *
 * Threads of the gradient take ranges of v, so the order of a row's additions never changes.
 */
#include <string.h>

#include "../../core/call.h"
#include "../../core/move.h"
#include "../parallel.h"

static int64_t width_of(const fc_tensor *weight)
{
    int64_t width = 1;
    for (int k = 1; k < weight->ndim; ++k)
        width *= weight->shape[k];
    return width;
}

static int check_indices(const fc_tensor *index, int64_t rows)
{
    const int64_t *at = FC_DATA(int64_t, index);
    for (int64_t k = 0; k < index->numel; ++k)
        if ((uint64_t)at[k] >= (uint64_t)rows)
            return fc_fail(FC_INDEX, at[k], rows, 0, 0);
    return FC_OK;
}

/* weight, indices */
int fc_infer__embedding(fc_call *c)
{
    const fc_tensor *w = c->t[0], *index = c->t[1];
    if (index->dtype != FC_I64)
        return fc_fail(FC_DTYPE, index->dtype, 1, 0, 0);
    if (w->ndim < 1)
        return fc_fail(FC_RANK, 0, w->ndim, 2, 0);
    if (index->ndim + w->ndim - 1 > FC_MAX_DIMS)
        return fc_fail(FC_RANK, 1, index->ndim, FC_MAX_DIMS - w->ndim, 0);
    int64_t shape[FC_MAX_DIMS];
    memcpy(shape, index->shape, (size_t)index->ndim * sizeof *shape);
    memcpy(shape + index->ndim, w->shape + 1, (size_t)(w->ndim - 1) * sizeof *shape);
    const int bad = fc_declare(c, 0, w->dtype, index->ndim + w->ndim - 1, shape);
    if (!bad) /* rows are moved, not computed: a table of halves is not made wide first */
        c->halves = 1, c->spec[0].half = 1;
    return bad;
}

typedef struct { const char *table; char *out; const int64_t *at; size_t bytes; } lookup;

static void look_up(void *ctx, int64_t begin, int64_t end)
{
    const lookup *q = ctx;
    for (int64_t k = begin; k < end; ++k)
        fc_move_bytes(q->out + (size_t)k * q->bytes, q->table + (size_t)q->at[k] * q->bytes, q->bytes);
}

int fc_cpu__embedding(fc_call *c)
{
    const fc_tensor *w = c->t[0], *index = c->t[1];
    const int bad = check_indices(index, w->shape[0]);
    if (bad)
        return bad;
    lookup q = {w->data, c->out[0]->data, FC_DATA(int64_t, index), (size_t)(width_of(w) * fc_dt_size[w->dtype])};
    fc_parallel(index->numel, (int64_t)(1 + 65536 / (q.bytes + 1)), look_up, &q);
    return FC_OK;
}

/* g, indices; rows, padding_idx (-1: none), scale_grad_by_freq */
int fc_infer__embedding_backward(fc_call *c)
{
    const fc_tensor *g = c->t[0], *index = c->t[1];
    if (!fc_is_float(g->dtype))
        return fc_fail(FC_DTYPE, g->dtype, 0, 0, 0);
    if (index->dtype != FC_I64)
        return fc_fail(FC_DTYPE, index->dtype, 1, 0, 0);
    if (g->ndim < index->ndim)
        return fc_fail(FC_RANK, 0, g->ndim, index->ndim, 0);
    for (int k = 0; k < index->ndim; ++k)
        if (g->shape[k] != index->shape[k])
            return fc_fail(FC_SIZE, 0, g->shape[k], 1, index->shape[k]);
    if (c->i[0] < 0)
        return fc_fail(FC_ARG, 2, c->i[0], 0, 0);
    int64_t shape[FC_MAX_DIMS];
    shape[0] = c->i[0];
    for (int k = index->ndim; k < g->ndim; ++k)
        shape[1 + k - index->ndim] = g->shape[k];
    c->scratch_bytes = c->i[2] ? (size_t)c->i[0] * sizeof(int64_t) : 0;
    return fc_declare(c, 0, g->dtype, 1 + g->ndim - index->ndim, shape);
}

typedef struct { const fc_tensor *g; fc_tensor *out; const int64_t *at, *count; int64_t n, width, padding; } scatter;

static void add_rows(void *ctx, int64_t begin, int64_t end)
{
    const scatter *q = ctx;
    const int64_t w = q->width;
    const int narrow = q->g->dtype == FC_F32;
    memset(q->out->data + begin * w * (narrow ? 4 : 8), 0, (size_t)((end - begin) * w * (narrow ? 4 : 8)));
    for (int64_t k = 0; k < q->n; ++k) {
        const int64_t v = q->at[k];
        if (v < begin || v >= end || v == q->padding)
            continue;
        if (narrow) {
            f32 *restrict out = FC_DATA(f32, q->out) + v * w;
            const f32 *restrict g = FC_DATA(f32, q->g) + k * w, scale = q->count ? 1 / (f32)q->count[v] : 1;
            for (int64_t j = 0; j < w; ++j)
                out[j] += g[j] * scale;
        } else {
            f64 *restrict out = FC_DATA(f64, q->out) + v * w;
            const f64 *restrict g = FC_DATA(f64, q->g) + k * w, scale = q->count ? 1 / (f64)q->count[v] : 1;
            for (int64_t j = 0; j < w; ++j)
                out[j] += g[j] * scale;
        }
    }
}

int fc_cpu__embedding_backward(fc_call *c)
{
    const fc_tensor *g = c->t[0], *index = c->t[1];
    const int bad = check_indices(index, c->i[0]);
    if (bad)
        return bad;
    int64_t *count = c->i[2] ? c->scratch : NULL;
    const int64_t *at = FC_DATA(int64_t, index);
    if (count) {
        memset(count, 0, (size_t)c->i[0] * sizeof *count);
        for (int64_t k = 0; k < index->numel; ++k)
            ++count[at[k]];
    }
    scatter q = {g, c->out[0], at, count, index->numel, width_of(c->out[0]), c->i[1]};
    const int64_t rows = c->i[0];
    if (rows && q.width) /* every piece reads all indices, so few pieces */
        fc_parallel(rows, 1 + rows / 8 + 16384 / q.width, add_rows, &q);
    return FC_OK;
}
