/*
 * Index loops; see gather.h.
 *
 * Several elements may meet in one place: they are added (or written: the last stays) in the order of the index along dim, whatever the
 * loops and threads do. Dims other than `dim` are independent of one another: threads share those. Of size 1 they are dropped, and joined
 * where all operands walk two of them as one.
 *
 * What is left is walked by rectangles (gather_loops.h). Where `dim` comes last, a rectangle's lines go along it, and below one another are
 * positions of the next dim, so that a `dim` of three positions costs no more than a long one; else lines go along the last dim, one for
 * each position of `dim`, in strips so wide that what the index jumps to and fro in stays in L2, but no narrower than memory likes to be read
 * (300 lines of two cache lines each, 17 KiB apart, took 15 ns an element). Short lines in strips that wide are rectangles.
 */
#include <string.h>

#include "../core/atomic.h"
#include "../core/move.h"
#include "../core/tensor.h"
#include "gather.h"
#include "gather_loops.h"
#include "parallel.h"

enum { GRAIN = 16384, STRIP_BYTES = 128, MOST_STRIPS = 8, LEAST_BYTES = 1024, JUMPED_BYTES = 512 << 10, FEW = 4, SHORT = 64 };

int64_t fc_cpu_outside(const int64_t *index, int64_t count, int64_t low, int64_t high)
{
    enum { BLOCK = 1024 };
    for (int64_t k = 0; k < count; k += BLOCK) {
        const int64_t m = count - k < BLOCK ? count - k : BLOCK;
        int64_t beyond = 0; /* negative: the distance to an end is, which every vector can tell */
        for (int64_t j = 0; j < m; ++j)
            beyond |= (index[k + j] - low) | (high - 1 - index[k + j]);
        for (int64_t j = 0; beyond < 0 && j < m; ++j)
            if (index[k + j] < low || index[k + j] >= high)
                return k + j;
    }
    return -1;
}

typedef struct { int64_t size, big, flat, index; } along; /* a dim: its size, and each operand's stride */

typedef struct {
    const fc_through *q;
    fc_through_lines lines;
    int ndim;                    /* of `dims`: what a line goes along, what lines follow one another along, the others */
    along dims[FC_MAX_DIMS], dim; /* dim: what rectangles follow one another along, of size 1 if it is among the others */
    int64_t piece[2], pieces[2]; /* how the first two are cut */
    int64_t *bad;
    int failed; /* atomic */
} walk;

static void fail(walk *w, int64_t value)
{
    fc_atomic_poke(w->bad, value); /* of several, any */
    fc_atomic_poke(&w->failed, 1);
}

static int64_t cut(int64_t size, int64_t piece, int64_t k) { return size - k * piece < piece ? size - k * piece : piece; }

/* Lines along which the index stays the same are copied, or added, whole; dense ones of floats combined, too. */
static int64_t slices_of(const fc_through_box *b, int how, int dtype, char *big, char *flat, const int64_t *index)
{
    const int size = fc_dt_size[dtype];
    for (int64_t r = 0; r < b->rows; ++r) {
        const int64_t i = index[r * b->index_row];
        if ((uint64_t)i >= (uint64_t)b->n)
            return r * b->index_row;
        char *const at = big + (r * b->big_row + i * b->big_step) * size, *const v = flat + r * b->flat_row * size;
        if (how == FC_THROUGH_READ)
            fc_cpu_strided_copy(size, v, b->flat_next, at, b->big_next, b->count);
        else if (how == FC_THROUGH_ADD)
            fc_cpu_accumulate(dtype, at, b->big_next, v, b->flat_next, b->count);
        else if (how > FC_THROUGH_ADD)
            fc_cpu_combine(dtype, how, at, v, b->count);
        else
            fc_cpu_strided_copy(size, at, b->big_next, v, b->flat_next, b->count);
    }
    return -1;
}

static int is_plain(const fc_through *q, const along *line)
{
    return q->how <= FC_THROUGH_ADD || (line->big == 1 && line->flat == 1 && (q->dtype == FC_F32 || q->dtype == FC_F64));
}

/* A unit: one position of the other dims, one rectangle of the first two. */
static void units(void *ctx, int64_t begin, int64_t end)
{
    walk *w = ctx;
    const fc_through *q = w->q;
    const int size = fc_dt_size[q->dtype];
    const along *line = &w->dims[0], *row = &w->dims[1];
    int64_t at[FC_MAX_DIMS], count[FC_MAX_DIMS], left = begin;
    for (int d = 0; d < w->ndim; ++d) {
        count[d] = d < 2 ? w->pieces[d] : w->dims[d].size;
        at[d] = left % count[d];
        left /= count[d];
    }
    fc_through_box box = { .big_next = line->big, .flat_next = line->flat, .index_next = line->index, .big_row = row->big, .flat_row = row->flat,
                           .index_row = row->index, .big_step = q->big_stride[q->dim], .n = q->n };
    for (int64_t u = begin; u < end && !fc_atomic_peek(&w->failed); ++u) {
        int64_t big = 0, flat = 0, index = 0;
        for (int d = 0; d < w->ndim; ++d) {
            const int64_t i = d < 2 ? at[d] * w->piece[d] : at[d];
            big += i * w->dims[d].big;
            flat += i * w->dims[d].flat;
            index += i * w->dims[d].index;
        }
        box.count = cut(line->size, w->piece[0], at[0]);
        box.rows = cut(row->size, w->piece[1], at[1]);
        const int whole = !line->index && box.count > FEW && is_plain(q, line);
        for (int64_t p = 0; p < w->dim.size; ++p) {
            char *const xs = q->big + big * size, *const os = q->flat + (flat + p * w->dim.flat) * size;
            const int64_t *const places = q->index + index + p * w->dim.index;
            const int64_t failed = whole ? slices_of(&box, q->how, q->dtype, xs, os, places) : w->lines(&box, xs, os, places);
            if (failed >= 0) {
                fail(w, places[failed]);
                return;
            }
        }
        for (int d = 0; d < w->ndim && ++at[d] == count[d]; ++d)
            at[d] = 0;
    }
}

/* Whether dims are walked in the order of the index, or, where that is the same along all but one of them, in that of what is written. */
static const int64_t *nearness(const fc_through *q)
{
    for (int d = 0; d < q->ndim; ++d)
        if (d != q->dim && q->shape[d] != 1 && q->index_stride[d])
            return q->index_stride;
    return q->how == FC_THROUGH_READ ? q->flat_stride : q->big_stride;
}

/* All dims but `dim`, the nearest first; answers how many. within: how many of them lie within a step along dim. */
static int others(const fc_through *q, along *rest, int *within)
{
    const int64_t *const near = nearness(q);
    int n = 0, sorted[FC_MAX_DIMS], m = 0;
    for (int d = q->ndim - 1; d >= 0; --d) {
        if (d == q->dim || q->shape[d] == 1)
            continue;
        int k = m++;
        for (; k && near[d] < near[sorted[k - 1]]; --k)
            sorted[k] = sorted[k - 1];
        sorted[k] = d;
    }
    *within = 0;
    for (int k = 0; k < m; ++k) {
        const int d = sorted[k];
        const along a = { q->shape[d], q->big_stride[d], q->flat_stride[d], q->index_stride[d] };
        along *const last = n ? &rest[n - 1] : NULL;
        if (last && a.big == last->big * last->size && a.flat == last->flat * last->size && a.index == last->index * last->size) {
            last->size *= a.size;
            continue;
        }
        rest[n++] = a;
        *within += near[d] < near[q->dim];
    }
    return n;
}

int fc_cpu_through(const fc_through *q, int64_t *bad)
{
    walk w = { .q = q, .bad = bad, .lines = fc_through_lines_of(q->dtype, q->how) };
    for (int d = 0; d < q->ndim; ++d)
        if (!q->shape[d])
            return 0;
    const int64_t size = fc_dt_size[q->dtype], least = LEAST_BYTES / size, jumped = JUMPED_BYTES / size / (q->n + 1), wide = jumped > least ? jumped : least;
    const along one = { 1, 0, 0, 0 };
    along rest[FC_MAX_DIMS];
    int within, from = 0, at = -1; /* where dim goes: -1 for neither in a line nor from line to line */
    const int n = others(q, rest, &within);
    w.dim = (along){ q->shape[q->dim], 0, q->flat_stride[q->dim], q->index_stride[q->dim] };
    if (w.dim.size > 1)
        at = !within ? 0 : within > 1 && rest[0].size < SHORT ? -1 : 1;
    for (int k = 0; k < 2 || from < n; ++k)
        w.dims[w.ndim++] = k == at ? w.dim : from < n ? rest[from++] : one;
    if (at >= 0)
        w.dim.size = 1;
    if (at == 1) {
        w.piece[0] = wide;
        /* lines that are read wait for no other: threads share them where there is one strip */
        w.piece[1] = q->how == FC_THROUGH_READ && w.dims[0].size <= wide ? GRAIN / w.dims[0].size + 1 : w.dims[1].size;
    } else {
        /* a long line along dim may be cut only where it is read */
        w.piece[0] = (at == 0 && q->how != FC_THROUGH_READ) || w.dims[0].size <= 2 * GRAIN ? w.dims[0].size : GRAIN;
        w.piece[1] = (w.dim.size > 1 ? wide : GRAIN) / w.piece[0] + 1;
    }
    int64_t count = 1;
    for (int d = 0; d < w.ndim; ++d) {
        if (d < 2) {
            w.piece[d] = w.piece[d] < w.dims[d].size ? w.piece[d] : w.dims[d].size;
            w.pieces[d] = (w.dims[d].size - 1) / w.piece[d] + 1;
        }
        count *= d < 2 ? w.pieces[d] : w.dims[d].size;
    }
    fc_parallel(count, GRAIN / (w.piece[0] * w.piece[1] * w.dim.size) + 1, units, &w);
    return w.failed;
}

typedef struct {
    const fc_slices *q;
    char *to;
    const char *from;
    int add;
    int64_t strips, strip; /* of inner */
} slices;

/* Rows of the result: (outer, count). */
static void select_rows(void *ctx, int64_t begin, int64_t end)
{
    slices *w = ctx;
    const fc_slices *q = w->q;
    const int size = fc_dt_size[q->dtype];
    const int64_t row = q->inner * size;
    if (q->inner == 1) {
        for (int64_t r = begin; r < end;) {
            const int64_t o = r / q->count, p = r % q->count, m = q->count - p < end - r ? q->count - p : end - r;
            const int64_t whole = p ? 0 : (end - r) / q->count, rows = whole ? whole : 1;
            fc_cpu_choose(size, w->to + r * size, q->count, w->from + o * q->far * size, q->far, rows, q->step, q->index + p, m);
            r += rows * m;
        }
        return;
    }
    for (int64_t r = begin; r < end; ++r)
        fc_move_bytes(w->to + r * row, w->from + (r / q->count * q->far + q->index[r % q->count] * q->step) * size, (size_t)row);
}

int fc_cpu_index_select(const fc_slices *q, char *out, const char *x, int64_t *bad)
{
    const int64_t wrong = fc_cpu_outside(q->index, q->count, 0, q->n);
    if (wrong >= 0) {
        *bad = q->index[wrong];
        return 1;
    }
    slices w = { .q = q, .to = out, .from = x };
    if (q->inner)
        fc_parallel(q->outer * q->count, GRAIN / q->inner + 1, select_rows, &w);
    return 0;
}

static void write_slice(const slices *w, int64_t o, int64_t p, int64_t first, int64_t n)
{
    const fc_slices *q = w->q;
    const int64_t size = fc_dt_size[q->dtype], row = q->inner * size;
    char *to = w->to + (o * q->n + q->index[p]) * row + first * size;
    const char *from = w->from + (o * q->far + p * q->step + first) * size;
    if (w->add)
        fc_cpu_accumulate(q->dtype, to, 1, from, 1, n);
    else
        fc_move_bytes(to, from, (size_t)(n * size));
}

/* Writing: units are strips of one of `outer`, in which the slices go in the order of the index. */
static void write_slices(void *ctx, int64_t begin, int64_t end)
{
    slices *w = ctx;
    const fc_slices *q = w->q;
    const int size = fc_dt_size[q->dtype];
    if (q->inner == 1) {
        const fc_through_box box = { .count = q->count, .flat_next = q->step, .index_next = 1, .rows = end - begin, .big_row = q->n, .flat_row = q->far, .big_step = 1, .n = q->n };
        fc_through_lines_of(q->dtype, w->add ? FC_THROUGH_ADD : FC_THROUGH_WRITE)(&box, w->to + begin * q->n * size, (char *)w->from + begin * q->far * size, q->index);
        return;
    }
    for (int64_t u = begin, strips; u < end; u += strips) {
        const int64_t o = u / w->strips, s = u % w->strips, first = s * w->strip;
        strips = w->strips - s < end - u ? w->strips - s : end - u;
        const int64_t n = q->inner - first < strips * w->strip ? q->inner - first : strips * w->strip;
        for (int64_t p = 0; p < q->count; ++p)
            write_slice(w, o, p, first, n);
    }
}

/* Writing long slices: each thread looks at the whole index and takes those that go to its part of x, in their order. */
static void write_targets(void *ctx, int64_t begin, int64_t end)
{
    const slices *w = ctx;
    const fc_slices *q = w->q;
    for (int64_t o = 0; o < q->outer; ++o)
        for (int64_t p = 0; p < q->count; ++p)
            if (q->index[p] >= begin && q->index[p] < end)
                write_slice(w, o, p, 0, q->inner);
}

int fc_cpu_index_write(const fc_slices *q, char *x, const char *src, int add, int64_t *bad)
{
    const int64_t wrong = fc_cpu_outside(q->index, q->count, 0, q->n);
    if (wrong >= 0) {
        *bad = q->index[wrong];
        return 1;
    }
    if (q->count && q->inner * (int64_t)fc_dt_size[q->dtype] >= FC_LONG_SLICE) {
        slices w = { .q = q, .to = x, .from = src, .add = add };
        fc_parallel(q->n, GRAIN / (q->outer * q->count * q->inner / q->n + 1) + 1, write_targets, &w);
        return 0;
    }
    /* rows of one slice after the other are shared by columns, of a few cache lines at least */
    const int64_t narrow = STRIP_BYTES / fc_dt_size[q->dtype], wide = (q->inner / MOST_STRIPS + narrow - 1) / narrow * narrow;
    slices w = { .q = q, .to = x, .from = src, .add = add, .strip = wide > narrow ? wide : narrow };
    w.strips = (q->inner - 1) / w.strip + 1;
    if (q->inner)
        fc_parallel(q->outer * w.strips, GRAIN / (q->count * w.strip + 1) + 1, write_slices, &w);
    return 0;
}
