/*
 * Runs a kernel over every line along the middle of (outer, n, inner) arrays, in parallel.
 *
 * A kernel has two forms with the same bits. One takes a row. The other takes a tile of lines that lie side by side, sixteen to a
 * strip, and works in place: a row of twenty fills one register and leaves four elements over, and its extreme and its sum are chains
 * of steps that wait for each other, where in a strip a register holds an element of every line. Long rows go to the first, where they lie.
 * Short lines are turned into tiles, many blocks of n * inner at a time; lines across memory are copied into tiles, stretch by stretch.
 * What is left, few or very long lines, is turned into rows.
 */
#ifndef FC_LINES_H
#define FC_LINES_H

#include <string.h>

#include "../../core/call.h"
#include "../../core/copy_nest.h"
#include "../../core/isa.h"
#include "../fold.h"
#include "../parallel.h"
#include "same.h"

enum {
    FC_LINES = 16,           /* in a strip, and rows that are turned together */
    FC_LINES_IN = 2,
    FC_LINES_SERIAL = 8192,  /* elements that are not worth a thread */
    FC_SHORT_ROW = 128,
    FC_SHORT_BLOCK = 512,    /* n * inner of blocks that are turned: sixteen are 32 KB of f32 */
    FC_TILE_WIDTH = 64,      /* lines of a tile that is copied */
    FC_TILE_BYTES = 128 << 10
};

/* out and in: rows of n elements */
typedef void (*fc_line_fn)(void *out, const void *const *in, int64_t n);

/* tile[k]: element i of line l of argument k at i * pitch + l; lines a multiple of FC_LINES. The result takes the place of tile[0].
 * n is at most FC_FOLD_BLOCK, so a sum is one block of sixteen lanes. */
typedef void (*fc_tile_fn)(void *const *tile, int64_t n, int64_t pitch, int64_t lines);

/* Unrolled before it is vectorised, the loop would be scalars. */
#define FOR_LINES _Pragma("GCC unroll 1") for (int l = 0; l < FC_LINES; ++l)

typedef struct {
    fc_line_fn row;
    fc_tile_fn tile;
    char *out;
    const char *in[FC_LINES_IN];
    int nin;
    int64_t outer, n, inner, groups, es;
    int64_t pitch; /* from one copied row to the next: not a power of two, or all sixteen would meet in one set of L1 */
    int64_t width; /* blocks that are turned together; lines of a tile that is copied */
} fc_lines;

static void fc_lines_rows(void *ctx, int64_t begin, int64_t end)
{
    const fc_lines *q = ctx;
    const int64_t row = q->n * q->es;
    for (int64_t r = begin; r < end; ++r) {
        const void *in[FC_LINES_IN];
        for (int k = 0; k < q->nin; ++k)
            in[k] = q->in[k] + r * row;
        q->row(q->out + r * row, in, q->n);
    }
}

static void fc_lines_columns(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const fc_lines *q = ctx;
    const int64_t row = q->pitch * q->es;
    char *out = scratch, *rows[FC_LINES_IN];
    for (int k = 0; k < q->nin; ++k)
        rows[k] = out + (k + 1) * FC_LINES * row;
    for (int64_t g = begin; g < end; ++g) {
        const int64_t c = g % q->groups * FC_LINES, at = (g / q->groups * q->n * q->inner + c) * q->es;
        const int64_t width = q->inner - c < FC_LINES ? q->inner - c : FC_LINES;
        for (int k = 0; k < q->nin; ++k)
            FC_ISA_NAME(fc_turn)(rows[k], row, q->in[k] + at, q->inner * q->es, q->n, width, (int)q->es);
        for (int64_t l = 0; l < width; ++l) {
            const void *in[FC_LINES_IN];
            for (int k = 0; k < q->nin; ++k)
                in[k] = rows[k] + l * row;
            q->row(out + l * row, in, q->n);
        }
        FC_ISA_NAME(fc_turn)(q->out + at, q->inner * q->es, out, row, width, q->n, (int)q->es);
    }
}

/* Blocks of n * inner elements, `width` of them: turned, their lines lie side by side, inner * width of them. */
static void fc_lines_turned(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const fc_lines *q = ctx;
    const int64_t block = q->n * q->inner, bytes = block * q->es, pitch = q->width * q->es;
    void *tile[FC_LINES_IN];
    for (int64_t g = begin; g < end; ++g) {
        const int64_t at = g * q->width, blocks = q->outer - at < q->width ? q->outer - at : q->width;
        for (int k = 0; k < q->nin; ++k) {
            tile[k] = (char *)scratch + k * block * pitch;
            if (blocks < q->width)
                memset(tile[k], 0, (size_t)(block * pitch));
            FC_ISA_NAME(fc_turn)(tile[k], pitch, q->in[k] + at * bytes, bytes, blocks, block, (int)q->es);
        }
        q->tile(tile, q->n, q->inner * q->width, q->inner * q->width);
        FC_ISA_NAME(fc_turn)(q->out + at * bytes, bytes, tile[0], pitch, block, blocks, (int)q->es);
    }
}

/* Lines across memory. Rows of a tile follow each other: far apart as they lie they would meet in few sets of a cache. */
static void fc_lines_copied(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const fc_lines *q = ctx;
    const int64_t step = q->inner * q->es;
    void *tile[FC_LINES_IN];
    for (int64_t g = begin; g < end; ++g) {
        const int64_t c = g % q->groups * q->width, at = (g / q->groups * q->n * q->inner + c) * q->es;
        const int64_t width = q->inner - c < q->width ? q->inner - c : q->width, pitch = (width + FC_LINES - 1) / FC_LINES * FC_LINES;
        const size_t used = (size_t)(width * q->es), spare = (size_t)((pitch - width) * q->es);
        for (int k = 0; k < q->nin; ++k) {
            char *to = tile[k] = (char *)scratch + k * q->n * q->width * q->es;
            for (int64_t i = 0; i < q->n; ++i, to += used + spare) {
                memcpy(to, q->in[k] + at + i * step, used);
                memset(to + used, 0, spare);
            }
        }
        q->tile(tile, q->n, pitch, pitch);
        for (int64_t i = 0; i < q->n; ++i)
            memcpy(q->out + at + i * step, (char *)tile[0] + i * pitch * q->es, used);
    }
}

/* A strip of so many lines would be empty by half. */
static inline int fc_lines_are_odd(int64_t inner) { return inner < 2 * FC_LINES && inner % FC_LINES; }

/* Lines along `dim` of tensors of one shape and dtype (f32 or f64). FC_OK or FC_MEMORY. */
FC_CHECKED static inline int fc_lines_run(fc_line_fn row, fc_tile_fn tile, fc_tensor *out, int nin, fc_tensor *const *in, int64_t dim)
{
    fc_lines q = {.row = row, .tile = tile, .out = out->data, .nin = nin, .outer = 1, .n = 1, .inner = 1, .es = fc_dt_size[out->dtype]};
    const int64_t d = fc_wrap_dim(dim, out->ndim);
    for (int k = 0; k < out->ndim; ++k)
        *(k < d ? &q.outer : k == d ? &q.n : &q.inner) *= out->shape[k];
    for (int k = 0; k < nin; ++k)
        q.in[k] = in[k]->data;
    if (out->numel == 0)
        return FC_OK;
    if (q.n == 1) { /* lines of one element: all of them side by side */
        q.inner *= q.outer;
        q.outer = 1;
    }
    const int64_t block = q.n * q.inner;
    if (q.inner == 1 ? q.n <= FC_SHORT_ROW && q.outer >= FC_LINES / 4 : block <= FC_SHORT_BLOCK && q.outer >= FC_LINES / 2 && fc_lines_are_odd(q.inner)) {
        const int64_t strips = (q.outer + FC_LINES - 1) / FC_LINES, most = 4 * FC_LINES / block + 1;
        q.width = FC_LINES * (strips < most ? strips : most);
        return fc_parallel_scratch((q.outer + q.width - 1) / q.width, 1 + FC_LINES_SERIAL / (block * q.width), (size_t)(nin * block * q.width * q.es),
                                   fc_lines_turned, &q);
    }
    if (q.inner > 1 && q.n <= (q.inner < FC_LINES / 2 ? 2 * FC_LINES : FC_FOLD_BLOCK)) {
        q.width = FC_TILE_WIDTH;
        while (q.width > FC_LINES && (q.n * q.width * q.es > FC_TILE_BYTES || q.inner <= q.width / 2))
            q.width /= 2;
        q.groups = (q.inner + q.width - 1) / q.width;
        return fc_parallel_scratch(q.outer * q.groups, 1 + FC_LINES_SERIAL / (q.n * q.width), (size_t)(nin * q.n * q.width * q.es), fc_lines_copied, &q);
    }
    const int64_t grain = 1 + FC_LINES_SERIAL / q.n;
    q.pitch = q.n + 16 + q.n % 2;
    q.groups = (q.inner + FC_LINES - 1) / FC_LINES;
    if (q.inner > 1)
        return fc_parallel_scratch(q.outer * q.groups, 1 + grain / FC_LINES, (size_t)((1 + nin) * FC_LINES * q.pitch * q.es), fc_lines_columns, &q);
    if (out->numel <= FC_LINES_SERIAL)
        fc_lines_rows(&q, 0, q.outer);
    else
        fc_parallel(q.outer, grain, fc_lines_rows, &q);
    return FC_OK;
}

/* Results like t[like], after checking dim (argument c->i[0]) and that every tensor has its shape. */
static inline int fc_infer_lines(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int64_t d = fc_wrap_dim(c->i[0], x->ndim), limit = x->ndim ? x->ndim : 1;
    if (d < 0 || d >= limit)
        return fc_fail(FC_DIM, c->i[0], x->ndim, 0, 0);
    if (!fc_is_float(x->dtype))
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    for (int k = 1; k < c->nt; ++k) {
        if (c->t[k]->dtype != x->dtype)
            return fc_fail(FC_MIXED, 0, x->dtype, k, c->t[k]->dtype);
        const int bad = fc_check_same(c, 0, k);
        if (bad)
            return bad;
    }
    return fc_declare(c, 0, x->dtype, x->ndim, x->shape);
}

#endif
