/* The loop nest; see nest.h. */
#include <string.h>
#include <wchar.h>

#include "facula.h"
#include "copy_nest.h"
#include "memory_format.h"
#include "move.h"
#include "nest.h"

int fc_broadcast(int n, fc_tensor *const *x, int *ndim_out, int64_t *shape)
{
    int ndim = 0;
    for (int k = 0; k < n; ++k)
        if (x[k] && x[k]->ndim > ndim)
            ndim = x[k]->ndim;
    for (int d = 0; d < ndim; ++d)
        shape[d] = 1;
    for (int k = 0; k < n; ++k) {
        if (!x[k])
            continue;
        const int lead = ndim - x[k]->ndim;
        for (int d = x[k]->ndim - 1; d >= 0; --d) { /* from the last on, as PyTorch: an error names that dim */
            const int64_t size = x[k]->shape[d];
            if (size == 1)
                continue;
            if (shape[lead + d] != 1 && shape[lead + d] != size)
                return fc_fail(FC_SHAPE, lead + d, shape[lead + d], size, k);
            shape[lead + d] = size;
        }
    }
    *ndim_out = ndim;
    return FC_OK;
}

/* Stride of x along dim d of an output of this shape, 0 where x is broadcast. */
static int64_t fc_out_stride(const fc_tensor *x, int ndim, const int64_t *shape, int d)
{
    const int own = d - (ndim - x->ndim);
    return own < 0 || (x->shape[own] == 1 && shape[d] != 1) ? 0 : x->stride[own];
}

/* PyTorch's order of dims, fastest first: an insertion sort in which the first operand with an opinion decides. */
static int fc_prefers(int n, fc_tensor *const *x, int ndim, const int64_t *shape, int d0, int d1)
{
    for (int k = 0; k < n; ++k) {
        if (!x[k])
            continue;
        const int64_t s0 = fc_out_stride(x[k], ndim, shape, d0), s1 = fc_out_stride(x[k], ndim, shape, d1);
        if (s0 == 0 || s1 == 0)
            continue;
        if (s0 != s1)
            return s0 < s1 ? -1 : 1;
        if (shape[d0] > shape[d1])
            return 1;
    }
    return 0;
}

static void fc_order_dims(int n, fc_tensor *const *x, int ndim, const int64_t *shape, int *perm)
{
    for (int d = 0; d < ndim; ++d)
        perm[d] = ndim - 1 - d;
    for (int i = 1; i < ndim; ++i) {
        int at = i;
        for (int j = i - 1; j >= 0; --j) {
            const int verdict = fc_prefers(n, x, ndim, shape, perm[j], perm[at]);
            if (verdict > 0) {
                const int swap = perm[j];
                perm[j] = perm[at];
                perm[at] = swap;
                at = j;
            } else if (verdict < 0) {
                break;
            }
        }
    }
}

/* Strides of dims of size 1 tell an order, too, that results keep beside a number or another shape, as PyTorch's do. */
int fc_lies_oddly(fc_tensor *x)
{
    int64_t run = 1;
    for (int d = x->ndim - 1; d >= 0; --d) {
        if (x->stride[d] != run)
            return 1;
        run *= x->shape[d] ? x->shape[d] : 1;
    }
    return 0;
}

/* Does a result of operands without gaps lie row by row? Where they differ in shape, dims of size 1 have a say by their strides, and dims of a result
 * without elements. */
static int fc_all_contiguous(int n, fc_tensor *const *x, int ndim, const int64_t *shape)
{
    int alike = 1, usual = 1;
    for (int d = 0; d < ndim; ++d)
        usual &= shape[d] != 0;
    for (int k = 0; k < n; ++k)
        if (x[k]) {
            if (!x[k]->contiguous || x[k]->ndim != ndim)
                return 0;
            alike &= !memcmp(x[k]->shape, shape, (size_t)ndim * sizeof(int64_t));
            usual &= !fc_lies_oddly(x[k]);
        }
    return alike | usual;
}

/* Operands of one shape that all lie alike and without gaps: the result lies so too, odd strides of dims of size 1 included. */
static const int64_t *fc_common_strides(int n, fc_tensor *const *x, int ndim, const int64_t *shape)
{
    const fc_tensor *first = x[0];
    if (!first || first->ndim != ndim || memcmp(first->shape, shape, (size_t)ndim * sizeof(int64_t)) || !fc_is_dense(first))
        return NULL;
    for (int k = 1; k < n; ++k)
        if (!x[k] || x[k]->ndim != ndim || memcmp(x[k]->shape, first->shape, (size_t)ndim * sizeof(int64_t)) || memcmp(x[k]->stride, first->stride, (size_t)ndim * sizeof(int64_t)))
            return NULL;
    return first->stride;
}

/* Images of one shape that all have their channels last: so has the result, and its dims of size 1 have the strides that they have there. */
static int fc_all_channels_last(int n, fc_tensor *const *x, const int64_t *shape)
{
    for (int k = 0; k < n; ++k)
        if (!x[k] || x[k]->ndim != 4 || memcmp(x[k]->shape, shape, 4 * sizeof(int64_t)) || !fc_is_contiguous(x[k], 2))
            return 0;
    return 1;
}

fc_tensor *fc_new_like_inputs(int dtype, int device, int ndim, const int64_t *shape, int n, fc_tensor *const *x)
{
    int perm[FC_MAX_DIMS];
    int64_t stride[FC_MAX_DIMS];
    if (ndim < 2 || fc_all_contiguous(n, x, ndim, shape))
        return fc_new(dtype, device, ndim, shape);
    if (ndim == 4 && fc_all_channels_last(n, x, shape))
        return fc_new_formed(dtype, device, ndim, shape, 2);
    const int64_t *common = fc_common_strides(n, x, ndim, shape);
    if (common)
        return fc_new_strided(dtype, device, ndim, shape, common);
    fc_order_dims(n, x, ndim, shape, perm);
    int plain = 1;
    int64_t run = 1;
    for (int i = 0; i < ndim; ++i) {
        plain &= perm[i] == ndim - 1 - i;
        stride[perm[i]] = run;
        run *= shape[perm[i]]; /* also where that is 0, as in PyTorch */
    }
    return plain ? fc_new(dtype, device, ndim, shape) : fc_new_strided(dtype, device, ndim, shape, stride);
}

void fc_nest_build(fc_nest *nest, int n, fc_tensor *const *op)
{
    const fc_tensor *out = op[0];
    int perm[FC_MAX_DIMS];
    nest->nops = n;
    nest->total = out->numel;
    for (int k = 0; k < n; ++k) {
        nest->data[k] = op[k]->data;
        nest->dtype[k] = op[k]->dtype;
    }
    fc_order_dims(n, op, out->ndim, out->shape, perm);
    int m = 0;
    for (int i = 0; i < out->ndim; ++i) {
        const int d = perm[i];
        const int64_t size = out->shape[d];
        if (size == 1)
            continue;
        int64_t stride[FC_NEST_OPERANDS];
        int merges = m > 0;
        for (int k = 0; k < n; ++k) {
            stride[k] = fc_out_stride(op[k], out->ndim, out->shape, d) * fc_dt_size[op[k]->dtype];
            merges = merges && stride[k] == nest->stride[k][m - 1] * nest->size[m - 1];
        }
        if (merges) {
            nest->size[m - 1] *= size;
            continue;
        }
        nest->size[m] = size;
        for (int k = 0; k < n; ++k)
            nest->stride[k][m] = stride[k];
        ++m;
    }
    nest->ndim = m;
}

int fc_overlaps_itself(const fc_tensor *t)
{
    if (t->contiguous || t->device == FC_META) /* which has no memory */
        return 0;
    for (int d = 0; d < t->ndim; ++d)
        if (t->shape[d] > 1 && t->stride[d] == 0)
            return 1;
    return 0;
}

/* Lowest and highest element offset that t touches. */
static void fc_reach(const fc_tensor *t, int64_t *low, int64_t *high)
{
    *low = *high = t->offset;
    for (int d = 0; d < t->ndim; ++d) {
        const int64_t span = (t->shape[d] - 1) * t->stride[d];
        if (span > 0)
            *high += span;
        else
            *low += span;
    }
}

/* Like PyTorch, an answer is only sure where both are dense blocks, in any order of dims; else no complaint, and the
 * staged loops read a block before they write it. */
int fc_overlaps(const fc_tensor *t, const fc_tensor *x)
{
    if (t->storage != x->storage || !t->numel || !x->numel || t->device == FC_META)
        return 0;
    if (!fc_is_dense(t) || !fc_is_dense(x))
        return 0;
    const int64_t ts = fc_dt_size[t->dtype], xs = fc_dt_size[x->dtype];
    int64_t tl, th, xl, xh;
    fc_reach(t, &tl, &th);
    fc_reach(x, &xl, &xh);
    return tl * ts < (xh + 1) * xs && xl * xs < (th + 1) * ts;
}

int fc_overlaps_partly(const fc_tensor *t, const fc_tensor *x)
{
    if (!fc_overlaps(t, x))
        return 0;
    int64_t tl, th, xl, xh;
    fc_reach(t, &tl, &th);
    fc_reach(x, &xl, &xh);
    const int64_t ts = fc_dt_size[t->dtype], xs = fc_dt_size[x->dtype];
    if (tl * ts != xl * xs || ts != xs || t->numel != x->numel)
        return 1;
    if (t->contiguous && x->contiguous)
        return 0;
    int same = t->ndim == x->ndim; /* the same block in another order: element i of one is not element i of the other */
    for (int d = 0; same && d < t->ndim; ++d)
        same = t->shape[d] == x->shape[d] && (t->shape[d] == 1 || t->stride[d] == x->stride[d]);
    return !same;
}

void fc_nest_seek(const fc_nest *nest, int64_t position, fc_nest_at *at)
{
    for (int d = 0; d < nest->ndim; ++d) {
        at->index[d] = position % nest->size[d];
        position /= nest->size[d];
    }
}

void fc_nest_step(const fc_nest *nest, int64_t count, fc_nest_at *at)
{
    for (int d = 0; d < nest->ndim && count; ++d) {
        const int64_t i = at->index[d] + count;
        if (i < nest->size[d]) {
            at->index[d] = i;
            return;
        }
        at->index[d] = i % nest->size[d];
        count = i / nest->size[d];
    }
}

#define FC_MOVE(T, d, s, dstep, sstep, n)                                    \
    for (int64_t i = 0; i < (n); ++i)                                        \
    *(T *)((d) + i * (dstep)) = *(const T *)((s) + i * (sstep))

typedef struct { uint64_t lo, hi; } fc_word16;

#define FC_SAME(T)                            \
    {                                         \
        const T value = *(const T *)from;     \
        for (int64_t i = 0; i < n; ++i)       \
            ((T *)to)[i] = value;             \
        break;                                \
    }

void fc_fill_same(void *to, const void *from, int size, int64_t n)
{
    switch (size) {
    case 1: memset(to, *(const char *)from, (size_t)n); break;
    case 2: FC_SAME(uint16_t)
#if WCHAR_MAX > 0xffff /* libc has this loop for the vectors of the machine at hand */
    case 4: wmemset(to, *(const wchar_t *)from, (size_t)n); break;
#else
    case 4: FC_SAME(uint32_t)
#endif
    case 8: FC_SAME(uint64_t)
    default: FC_SAME(fc_word16)
    }
}

#undef FC_SAME

enum { FC_SECONDS = 16 }; /* that are worth a call */

/* n elements of `size` bytes, either side strided. */
static void fc_move(char *to, int64_t to_step, const char *from, int64_t from_step, int size, int64_t n)
{
    if (to_step == size && from_step == size) {
        fc_move_bytes(to, from, (size_t)(n * size));
        return;
    }
    if (to_step == size && from_step == 0) {
        fc_fill_same(to, from, size, n);
        return;
    }
    if (to_step == size && from_step == 2 * size && n >= FC_SECONDS) {
        fc_seconds(to, from, size, n);
        return;
    }
    switch (size) {
    case 1: FC_MOVE(uint8_t, to, from, to_step, from_step, n); break;
    case 2: FC_MOVE(uint16_t, to, from, to_step, from_step, n); break;
    case 4: FC_MOVE(uint32_t, to, from, to_step, from_step, n); break;
    case 8: FC_MOVE(uint64_t, to, from, to_step, from_step, n); break;
    default: FC_MOVE(fc_word16, to, from, to_step, from_step, n); break;
    }
}

#undef FC_MOVE

enum { FC_LEAST_TURNED = 8, FC_SHORT_ROW = 24 /* elements; rows of fewer go many at once, an element of each in turn */ };

/* Whether rows of n elements, `step` apart, next to one another `row` apart, have loops that take many at once. */
static int fc_in_rows(int64_t n, int64_t step, int64_t row, int size)
{
    return n <= FC_SHORT_OPERAND && (n < FC_SHORT_ROW || step == size || step == 0 || row == size);
}

/* Such rows, out of an operand. */
static void fc_gather_rows(char *flat, const char *p, int64_t n, int64_t step, int64_t row, int size, int64_t rows)
{
    if (step == size)
        fc_packs(flat, n * size, p, row, n * size, rows);
    else if (step == 0)
        fc_fill_rows(flat, n, p, row, size, rows);
    else if (row == size && n >= FC_LEAST_TURNED)
        fc_turn(flat, n * size, p, step, n, rows, size);
    else
        for (int64_t i = 0; i < n; ++i)
            fc_move(flat + i * size, n * size, p + i * step, row, size, rows);
}

/* One walker for both directions: runs along dim 0, the counters of the outer dims carried by hand. */
static void fc_nest_walk(const fc_nest *nest, int k, const fc_nest_at *at, int64_t count, char *flat, int scatter)
{
    const int size = fc_dt_size[nest->dtype[k]];
    if (nest->ndim == 0) {
        fc_move(scatter ? nest->data[k] : flat, size, scatter ? flat : nest->data[k], size, size, count);
        return;
    }
    int64_t index[FC_MAX_DIMS];
    char *p = nest->data[k];
    for (int d = 0; d < nest->ndim; ++d) {
        index[d] = at->index[d];
        p += index[d] * nest->stride[k][d];
    }
    const int64_t step = nest->stride[k][0], n = nest->size[0];
    const int together = nest->ndim > 1 && (scatter ? n < FC_SHORT_ROW : fc_in_rows(n, step, nest->stride[k][1], size));
    while (count) {
        int64_t run = n - index[0] < count ? n - index[0] : count, rows = 1;
        if (together && !index[0] && count >= n) {
            rows = count / n < nest->size[1] - index[1] ? count / n : nest->size[1] - index[1];
            run = rows * n;
            if (!scatter)
                fc_gather_rows(flat, p, n, step, nest->stride[k][1], size, rows);
            for (int64_t i = 0; scatter && i < n; ++i)
                fc_move(p + i * step, nest->stride[k][1], flat + i * size, n * size, size, rows);
        } else if (scatter) {
            fc_move(p, step, flat, size, size, run);
        } else {
            fc_move(flat, size, p, step, size, run);
        }
        flat += run * size;
        count -= run;
        p -= index[0] * step;
        index[0] = 0;
        for (int d = 1; d < nest->ndim; ++d, rows = 1) {
            p += rows * nest->stride[k][d];
            index[d] += rows;
            if (index[d] < nest->size[d])
                break;
            p -= nest->size[d] * nest->stride[k][d];
            index[d] = 0;
        }
    }
}

void fc_nest_gather(const fc_nest *nest, int k, const fc_nest_at *at, int64_t count, void *to)
{
    fc_nest_walk(nest, k, at, count, to, 0);
}

void fc_nest_scatter(const fc_nest *nest, int k, const fc_nest_at *at, int64_t count, const void *from)
{
    fc_nest_walk(nest, k, at, count, (char *)from, 1);
}
