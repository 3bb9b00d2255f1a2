/*
 * Runs a kernel over every line along the middle of (outer, n, inner) arrays, in parallel.
 *
 * A kernel has two forms with the same bits. One takes a row. The other takes a tile of lines that lie side by side, sixteen to a
 * strip, and works in place: a row of twenty fills one register and leaves four elements over, and its extreme and its sum are chains
 * of steps that wait for each other, where in a strip a register holds an element of every line.
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
    FC_LINE_ROWS = 64,       /* go to the kernel together, at most */
    FC_LINES_SERIAL = 8192,  /* elements that are not worth a thread */
    FC_SHORT_ROW = 128
};

/* out and in: rows of n elements, one after the other. More than one where they are short: what is done with each element by itself is done
 * with all of them at once, so that few are left over. */
typedef void (*fc_line_fn)(void *out, const void *const *in, int64_t n, int64_t rows);

/* tile[k]: element i of line l of argument k at i * pitch + l; lines a multiple of FC_LINES. The result takes the place of tile[0].
 * n is at most FC_FOLD_BLOCK, so a sum is one block of sixteen lanes. */
typedef void (*fc_tile_fn)(void *const *tile, int64_t n, int64_t pitch, int64_t lines);

/* For machines without AVX there is the row alone. f: f32, not f64. */
#define TILE(f, name) (FC_ISA_NUM < 3 ? NULL : (f) ? name##_f32 : name##_f64)

/* Unrolled before it is vectorised, the loop would be scalars. */
#define FOR_LINES _Pragma("GCC unroll 1") for (int l = 0; l < FC_LINES; ++l)

typedef void (*fc_turn_fn)(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t cols, int size);

/* Lines along `dim` of tensors of one shape and dtype: f32, f64, or a half, for which the kernels are f32's. tile may be NULL. FC_OK or FC_MEMORY. */
FC_CHECKED int fc_lines_run(fc_line_fn row, fc_tile_fn tile, fc_turn_fn turn, fc_tensor *out, int nin, fc_tensor *const *in, int64_t dim);

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
    c->slabs = fc_dims_below(x->ndim) & ~fc_dim_bit(d); /* lines are independent */
    c->cut = 3;
    c->whole = 0;
    const int bad = fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    int dense = fc_is_half(x->dtype);
    for (int k = 0; k < c->nt; ++k)
        dense &= c->t[k]->contiguous != 0;
    if (dense) { /* fc_lines_run widens them as it goes */
        c->slabs = 0;
        c->as_is = 3;
        c->spec[0].direct = 1;
    }
    return bad;
}

#endif
