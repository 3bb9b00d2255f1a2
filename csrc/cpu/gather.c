/*
 * Index loops; see gather.h.
 *
 * Several elements may meet in one place: they are added (or written: the last stays) in the order of the index along dim, whatever the
 * loops and threads do. Dims other than `dim` are independent of one another: threads share those, and where `dim` is not the last, the
 * last is walked in strips of one or two cache lines, so that what the index jumps to and fro in stays in L2.
 */
#include <string.h>

#include "../core/atomic.h"
#include "../core/move.h"
#include "../core/tensor.h"
#include "gather.h"
#include "gather_loops.h"
#include "parallel.h"

enum { GRAIN = 16384, STRIP_BYTES = 128, MOST_STRIPS = 8 };

int64_t fc_cpu_outside(const int64_t *index, int64_t count, int64_t low, int64_t high)
{
    const uint64_t width = (uint64_t)(high - low);
    enum { BLOCK = 1024 };
    for (int64_t k = 0; k < count; k += BLOCK) {
        const int64_t m = count - k < BLOCK ? count - k : BLOCK;
        uint64_t beyond = 0;
        for (int64_t j = 0; j < m; ++j)
            beyond |= (uint64_t)(index[k + j] - low) >= width;
        for (int64_t j = 0; beyond && j < m; ++j)
            if ((uint64_t)(index[k + j] - low) >= width)
                return k + j;
    }
    return -1;
}

typedef struct {
    const fc_through *q;
    fc_through_line line;
    int64_t strips, strip, *bad;
    int failed; /* atomic */
} walk;

static void fail(walk *w, int64_t value)
{
    fc_atomic_poke(w->bad, value); /* of several, any */
    fc_atomic_poke(&w->failed, 1);
}

/* A unit: one position of the dims but `dim` and the last, one strip of the last. */
static void units(void *ctx, int64_t begin, int64_t end)
{
    walk *w = ctx;
    const fc_through *q = w->q;
    const int last = q->ndim - 1, size = fc_dt_size[q->dtype];
    int64_t index_stride[FC_MAX_DIMS], run = 1;
    for (int d = last; d >= 0; --d) {
        index_stride[d] = run;
        run *= q->shape[d];
    }
    for (int64_t u = begin; u < end && !fc_atomic_peek(&w->failed); ++u) {
        int64_t left = u / w->strips, big = 0, flat = 0, index = 0;
        for (int d = last - 1; d >= 0; --d) {
            if (d == q->dim)
                continue;
            const int64_t at = left % q->shape[d];
            left /= q->shape[d];
            big += at * q->big_stride[d];
            flat += at * q->flat_stride[d];
            index += at * index_stride[d];
        }
        const int64_t from = u % w->strips * w->strip, count = q->shape[last] - from < w->strip ? q->shape[last] - from : w->strip;
        const int along = q->dim == last;
        big += along ? 0 : from * q->big_stride[last];
        flat += from * q->flat_stride[last];
        const int64_t lines = along ? 1 : q->shape[q->dim];
        for (int64_t p = 0; p < lines; ++p) {
            const int64_t *i = q->index + index + from + (along ? 0 : p * index_stride[q->dim]);
            const int64_t failed = w->line(q->big + big * size, q->big_stride[q->dim], along ? 0 : q->big_stride[last],
                                           q->flat + (flat + (along ? 0 : p * q->flat_stride[q->dim])) * size, q->flat_stride[last], i, q->n, count);
            if (failed >= 0) {
                fail(w, i[failed]);
                return;
            }
        }
    }
}

int fc_cpu_through(const fc_through *q, int64_t *bad)
{
    const int last = q->ndim - 1;
    walk w = { .q = q, .bad = bad, .strips = 1, .strip = q->shape[last] };
    w.line = fc_through_line_of(q->dtype, q->how);
    int64_t total = 1;
    for (int d = 0; d < q->ndim; ++d)
        total *= q->shape[d];
    if (!total)
        return 0;
    const int64_t narrow = STRIP_BYTES / fc_dt_size[q->dtype];
    if (q->dim != last && w.strip > narrow) {
        w.strip = narrow;
        w.strips = (q->shape[last] - 1) / narrow + 1;
    } else if (q->dim == last && q->how == FC_THROUGH_READ && w.strip > 2 * GRAIN) { /* one long line, read: parts are independent */
        w.strip = GRAIN;
        w.strips = (q->shape[last] - 1) / GRAIN + 1;
    }
    const int64_t each = w.strip * (q->dim == last ? 1 : q->shape[q->dim]), count = total / (q->shape[last] * (q->dim == last ? 1 : q->shape[q->dim])) * w.strips;
    fc_parallel(count, GRAIN / each + 1, units, &w);
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

/* Writing: units are strips of one of `outer`, in which the slices go in the order of the index. */
static void write_slices(void *ctx, int64_t begin, int64_t end)
{
    slices *w = ctx;
    const fc_slices *q = w->q;
    const int size = fc_dt_size[q->dtype];
    const int64_t row = q->inner * size;
    if (q->inner == 1) {
        const fc_through_line line = fc_through_line_of(q->dtype, w->add ? FC_THROUGH_ADD : FC_THROUGH_WRITE);
        for (int64_t o = begin; o < end; ++o)
            line(w->to + o * q->n * size, 1, 0, (char *)w->from + o * q->count * size, 1, q->index, q->n, q->count);
        return;
    }
    for (int64_t u = begin, strips; u < end; u += strips) {
        const int64_t o = u / w->strips, s = u % w->strips, first = s * w->strip;
        strips = w->strips - s < end - u ? w->strips - s : end - u;
        const int64_t n = q->inner - first < strips * w->strip ? q->inner - first : strips * w->strip;
        for (int64_t p = 0; p < q->count; ++p) {
            char *to = w->to + (o * q->n + q->index[p]) * row + first * size;
            const char *from = w->from + (o * q->count + p) * row + first * size;
            if (w->add)
                fc_cpu_accumulate(q->dtype, to, 1, from, 1, n);
            else
                fc_move_bytes(to, from, (size_t)(n * size));
        }
    }
}

int fc_cpu_index_write(const fc_slices *q, char *x, const char *src, int add, int64_t *bad)
{
    const int64_t wrong = fc_cpu_outside(q->index, q->count, 0, q->n);
    if (wrong >= 0) {
        *bad = q->index[wrong];
        return 1;
    }
    /* rows of one slice after the other are shared by columns, of a few cache lines at least */
    const int64_t narrow = STRIP_BYTES / fc_dt_size[q->dtype], wide = (q->inner / MOST_STRIPS + narrow - 1) / narrow * narrow;
    slices w = { .q = q, .to = x, .from = src, .add = add, .strip = wide > narrow ? wide : narrow };
    w.strips = (q->inner - 1) / w.strip + 1;
    if (q->inner)
        fc_parallel(q->outer * w.strips, GRAIN / (q->count * w.strip + 1) + 1, write_slices, &w);
    return 0;
}
