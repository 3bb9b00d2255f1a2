/*
 * _triangle(input, diagonal, upper): matrices (..., rows, columns) of which one side of a diagonal is kept, the rest 0.
 *
 *   kept: j - i <= diagonal, or with upper j - i >= diagonal
 *
 * _triangle_indices(rows, columns, diagonal, upper, dtype): where those places are, row by row: (2, how many), row and column of each.
 */
#include <string.h>

#include "../core/call.h"
#include "../core/cast.h"
#include "../core/move.h"
#include "parallel.h"
#include "part.h"

static int64_t within(int64_t x, int64_t low, int64_t high) { return x < low ? low : x < high ? x : high; }

typedef struct { const fc_tensor *x; fc_tensor *out; int64_t rows, columns, diagonal, first, count; int upper; } job;

int fc_infer__triangle(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    if (x->ndim < 2)
        return fc_fail(FC_RANK, 0, x->ndim, 2, 0);
    const int bad = fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    c->spec[0].strided = x->ndim == 2 && x->stride[0] == 1 && x->stride[1] == x->shape[0];
    return bad;
}

/* What is kept of row i: columns [low, high). */
static void kept(const job *q, int64_t i, int64_t *low, int64_t *high)
{
    const int64_t cut = within(i + q->diagonal + !q->upper, 0, q->columns);
    *low = q->upper ? cut : 0;
    *high = q->upper ? q->columns : cut;
}

/* Long rows of memory, in one go. */
static void lines(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t size = fc_dt_size[q->x->dtype], columns = q->columns;
    for (int64_t r = begin; r < end; ++r) {
        char *to = q->out->data + r * columns * size;
        const char *from = q->x->data + r * columns * size;
        int64_t low, high;
        kept(q, r % q->rows, &low, &high);
        memset(to, 0, (size_t)(low * size));
        if (to != from) /* in place the rest is there */
            fc_move_bytes(to + low * size, from + low * size, (size_t)((high - low) * size));
        memset(to + high * size, 0, (size_t)((columns - high) * size));
    }
}

/* Zeros beside what is kept, of `count` rows from `first` on of each matrix. */
static void beside(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t size = fc_dt_size[q->x->dtype], columns = q->columns;
    int64_t m = begin / q->count, i = begin % q->count;
    for (int64_t r = begin; r < end; ++r) {
        char *const to = q->out->data + (m * q->rows + q->first + i) * columns * size;
        int64_t low, high;
        kept(q, q->first + i, &low, &high);
        if (q->upper)
            memset(to, 0, (size_t)(low * size));
        else
            memset(to + high * size, 0, (size_t)((columns - high) * size));
        if (++i == q->count)
            i = 0, ++m;
    }
}

/* Short rows, or in another order than memory's: the least box that holds what is kept is copied as it lies, then zeros are written. */
static void boxes(job *q)
{
    const int64_t rows = q->rows, columns = q->columns, d = q->diagonal;
    const int row = q->x->ndim - 2;
    /* rows of which something is kept, [top, bottom), and what the widest of them keeps */
    const int64_t top = q->upper ? 0 : within(-d, 0, rows), bottom = q->upper ? within(columns - d, 0, rows) : rows;
    const int64_t left = q->upper ? within(d, 0, columns) : 0, right = q->upper ? columns : within(rows + d, 0, columns);
    if (q->out->data != q->x->data) {
        fc_part to, from;
        fc_part_of(&to, q->out);
        fc_part_of(&from, q->x);
        for (int k = 0; k < 2; ++k) {
            fc_part *const part = k ? &from : &to;
            fc_part_slice(part, row, top, bottom - top, 1);
            fc_part_slice(part, row + 1, left, right - left, 1);
        }
        fc_part_copy(&to, &from);
    }
    /* rows that end, or begin, with zeros */
    q->first = q->upper ? within(1 - d, 0, rows) : 0;
    q->count = q->upper ? rows - q->first : within(columns - d - 1, 0, rows);
    if (q->count)
        fc_parallel(q->x->numel / columns / rows * q->count, 32768 / columns + 1, beside, q);
}

int fc_cpu__triangle(fc_call *c)
{
    enum { LONG_ROW = 256 /* bytes */ };
    const fc_tensor *x = c->t[0];
    if (!x->numel)
        return FC_OK;
    const int64_t rows = x->shape[x->ndim - 2], columns = x->shape[x->ndim - 1], diagonal = within(c->i[0], -rows, columns);
    const int turned = !c->out[0]->contiguous; /* x itself, and it lies as its transpose: the other side of that */
    job q = { .x = x, .out = c->out[0], .rows = turned ? columns : rows, .columns = turned ? rows : columns,
              .diagonal = turned ? -diagonal : diagonal, .upper = turned ^ (int)c->i[1] };
    if ((x->contiguous || turned) && q.columns * fc_dt_size[x->dtype] >= LONG_ROW)
        fc_parallel(x->numel / q.columns, 32768 / q.columns + 1, lines, &q);
    else
        boxes(&q);
    return FC_OK;
}

/* Places with j - i <= diagonal in the first `rows` rows: rows that grow by one, between empty ones and full ones. */
static int64_t lower(int64_t rows, int64_t columns, int64_t diagonal)
{
    const int64_t first = within(-diagonal, 0, rows), full = within(columns - diagonal - 1, first, rows);
    return (full - first) * (first + full + 2 * diagonal + 1) / 2 + (rows - full) * columns;
}

typedef struct { char *out; int64_t columns, diagonal, total; int upper, dtype; int64_t first; } places;

static int64_t before(const places *q, int64_t rows)
{
    return q->upper ? rows * q->columns - lower(rows, q->columns, q->diagonal - 1) : lower(rows, q->columns, q->diagonal);
}

/* rows, columns, diagonal, upper, dtype */
int fc_infer__triangle_indices(fc_call *c)
{
    if (c->i[0] < 0 || c->i[1] < 0)
        return fc_fail(FC_ARG, c->i[0] < 0 ? 0 : 1, c->i[0] < 0 ? c->i[0] : c->i[1], 0, 0);
    int64_t all;
    if (__builtin_mul_overflow(c->i[0], c->i[1], &all) || all > INT64_MAX / 8) /* twice as many places are counted on the way */
        return fc_fail(FC_MEMORY, INT64_MAX, 0, 0, 0);
    const int64_t most = c->i[0] + c->i[1]; /* a diagonal further out is the same */
    c->i[2] = within(c->i[2], -most, most);
    const places q = { .columns = c->i[1], .diagonal = c->i[2], .upper = (int)c->i[3] };
    const int64_t shape[2] = { 2, before(&q, c->i[0]) };
    return fc_declare(c, 0, (int)c->i[4], 2, shape);
}

static void find(void *ctx, int64_t begin, int64_t end)
{
    const places *q = ctx;
    enum { BLOCK = 256 };
    const int size = fc_dt_size[q->dtype];
    int64_t i[BLOCK], j[BLOCK], at = before(q, q->first + begin);
    for (int64_t r = q->first + begin; r < q->first + end; ++r) {
        const int64_t edge = within(r + q->diagonal + !q->upper, 0, q->columns), low = q->upper ? edge : 0, high = q->upper ? q->columns : edge;
        for (int64_t from = low; from < high; from += BLOCK) {
            const int n = high - from < BLOCK ? (int)(high - from) : BLOCK;
            for (int k = 0; k < n; ++k)
                i[k] = r, j[k] = from + k;
            fc_convert(q->dtype, q->out + at * size, FC_I64, i, n);
            fc_convert(q->dtype, q->out + (q->total + at) * size, FC_I64, j, n);
            at += n;
        }
    }
}

int fc_cpu__triangle_indices(fc_call *c)
{
    places q = { c->out[0]->data, c->i[1], c->i[2], c->out[0]->shape[1], (int)c->i[3], c->out[0]->dtype, 0 };
    if (!q.total)
        return FC_OK;
    /* of rows without places there may be as many as there are numbers */
    q.first = q.upper ? 0 : within(-q.diagonal, 0, c->i[0]);
    const int64_t last = q.upper ? within(q.columns - q.diagonal, 0, c->i[0]) : c->i[0];
    fc_parallel(last - q.first, 32768 / q.columns + 1, find, &q);
    return FC_OK;
}
