/*
 * From strides to the loops of cpu/fold.h.
 *
 * Dims of one side, kept or reduced, that lie together in memory become one. Kept dims of stride 0 are computed once and shown again.
 * Reduced dims keep their logical order, which is the order of a sum, and those that make a run are a side of their own; where no order
 * matters they are taken as they lie in memory.
 */
#include <string.h>

#include "facula.h"
#include "../cpu/fold.h"
#include "../cpu/parallel.h"
#include "alloc.h"
#include "atomic.h"
#include "copy_nest.h"
#include "fold_form.h"
#include "promote.h"
#include "verb.h"

typedef struct { int n; int64_t size[FC_MAX_DIMS], stride[FC_MAX_DIMS]; } fc_side;

static void fc_side_push(fc_side *s, int first, int64_t size, int64_t stride)
{
    if (s->n > first && s->stride[s->n - 1] == stride * size) {
        s->size[s->n - 1] *= size;
        s->stride[s->n - 1] = stride;
        return;
    }
    s->size[s->n] = size;
    s->stride[s->n++] = stride;
}

/* Does a dim of stride b come before one of stride a in memory order? Repetition comes first. */
static int fc_lies_before(int64_t b, int64_t a) { return a != 0 && (b == 0 || b > a); }

/* Of the reduced dims, those that are a run of fold.h; 0 where there is nothing to join. */
static uint64_t fc_run_dims(const fc_tensor *x, uint64_t mask, int joins)
{
    uint64_t run = 0;
    int64_t size = 1;
    int first = 0;
    for (int d = x->ndim; d-- > 0 && size < FC_FOLD_RUN;)
        if (mask >> d & 1 && x->shape[d] > 1) {
            run |= 1ull << d;
            size *= x->shape[d];
            first = d;
        }
    const int64_t longest = run ? x->shape[first] : 1, inside = size / longest;
    int all = 1;
    for (int d = 0; d < first; ++d)
        all = all && (!(mask >> d & 1) || x->shape[d] == 1);
    if (run & (run - 1) && longest >= FC_FOLD_RUN && (all || (joins && inside >= FC_FOLD_SPREAD)))
        return 1ull << first;
    return all ? 0 : run;
}

/* The dims whose bit is in mask, in logical order or as they lie in memory, outermost first; dims of size 1 are left out. Answers how many;
 * moved: they lie in another order than the logical one. */
static int fc_side_dims(const fc_tensor *x, uint64_t mask, int in_memory, int *dim, int *moved)
{
    int n = 0;
    for (int d = 0; d < x->ndim; ++d) {
        if (!(mask >> d & 1) || x->shape[d] == 1)
            continue;
        int at = n++;
        for (; in_memory && at > 0 && fc_lies_before(x->stride[d], x->stride[dim[at - 1]]); --at) {
            dim[at] = dim[at - 1];
            *moved = 1;
        }
        dim[at] = d;
    }
    return n;
}

/* After what s has, these dims. once: what is shown again and again counts once, which moved tells too. */
static void fc_side_add(fc_side *s, const fc_tensor *x, const int *dim, int n, int once, int *moved)
{
    const int first = s->n;
    for (int k = 0; k < n; ++k)
        if (once && x->stride[dim[k]] == 0)
            *moved = 1;
        else
            fc_side_push(s, first, x->shape[dim[k]], x->stride[dim[k]]);
}

/* x as the loops take it, or 0 where they do not. cut: how many of the reduced dims come before a run. */
static int fc_fold_walks_all(const fc_tensor *x, int which, const fc_side *kept, const fc_side *reduced, int cut, fc_fold_form *f)
{
    const int k = kept->n, r = reduced->n;
    const int64_t size = r ? reduced->size[r - 1] : 1, stride = r ? reduced->stride[r - 1] : 1;
    *f = (fc_fold_form){ .x = x->data, .outer = k ? kept->size[0] : 1, .outer_step = k ? kept->stride[0] : 0, .inner = 1, .reduce = size, .step = stride };
    if (r == 2) {
        f->reduce *= reduced->size[0];
        f->run = size;
        f->run_step = reduced->stride[0];
    }
    if ((r < 2 || cut) && k && kept->stride[k - 1] == 1 && kept->size[k - 1] > 1) {
        f->inner = kept->size[k - 1];
        if (k == 1)
            f->outer = 1;
        return 1;
    }
    if (k == 2)
        return 0;
    if (r < 2 && stride == 1)
        return 1;
    if (r < 2 && stride == 0) {
        f->run = 1;
        f->step = 1;
        return fc_fold_takes_runs(which);
    }
    const int turned = f->run_step == 1 && (stride > 0 || (cut && stride == 0)), number = cut && stride == 0 && f->run_step == 0;
    return r == 2 && (stride == 1 || turned || number) && fc_fold_takes_runs(which);
}

/* As they take every second place of it: rows or columns that are worth a call for each. */
static int fc_fold_walks_second(const fc_tensor *x, int which, const fc_side *kept, const fc_side *reduced, int cut, fc_fold_form *f)
{
    fc_side pair[2];
    for (int side = 0; side < 2; ++side) {
        const fc_side *s = side ? reduced : kept;
        pair[side].n = s->n;
        for (int d = 0; d < s->n; ++d) {
            if (s->stride[d] % 2)
                return 0;
            pair[side].size[d] = s->size[d];
            pair[side].stride[d] = s->stride[d] / 2;
        }
    }
    if (fc_is_complex(x->dtype) || !fc_fold_walks_all(x, which, pair, pair + 1, cut, f))
        return 0;
    f->second = 1;
    return (f->inner > 1 ? f->inner : f->run ? f->run : f->reduce) >= FC_FOLD_RUN || (!f->run && f->inner == 1 && f->outer_step == f->reduce);
}

static int fc_fold_walks(const fc_tensor *x, int which, const fc_side *kept, const fc_side *reduced, int cut, fc_fold_form *f)
{
    if (!x->numel || kept->n > 2 || reduced->n > 2 || cut > 1)
        return 0;
    return fc_fold_walks_all(x, which, kept, reduced, cut, f) || fc_fold_walks_second(x, which, kept, reduced, cut, f);
}

/* A contiguous copy: (kept dims in the order of memory, reduced dims), or, where a kept dim is what memory has side by side, the other way round. */
static fc_tensor *fc_fold_copy(fc_tensor *x, uint64_t mask, uint64_t run, const int *dim, int kept, fc_fold_form *f)
{
    int n = 0, columns = 0;
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS], count = 1, reduce = 1, size = 1, least = INT64_MAX;
    for (int d = 0; d < x->ndim; ++d)
        if (x->shape[d] > 1 && x->stride[d] > 0 && x->stride[d] < least) {
            least = x->stride[d];
            columns = !(mask >> d & 1);
        }
    for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; pass == columns && k < kept; ++k) {
            shape[n] = x->shape[dim[k]];
            stride[n++] = x->stride[dim[k]];
            count *= x->shape[dim[k]];
        }
        for (int inside = 0; pass != columns && inside < 2; ++inside)
            for (int d = 0; d < x->ndim; ++d)
                if (mask >> d & 1 && (int)(run >> d & 1) == inside) {
                    shape[n] = x->shape[d];
                    stride[n++] = x->stride[d];
                    reduce *= x->shape[d];
                    size *= inside ? x->shape[d] : 1;
                }
    }
    fc_tensor *view = fc_new_view(x, n, shape, stride, x->offset);
    fc_tensor *copy = view ? fc_to(view, x->dtype, 0, 1) : NULL;
    fc_free(view);
    if (copy)
        *f = columns ? fc_fold_dense(copy->data, 1, reduce, count) : fc_fold_dense(copy->data, count, reduce, 1);
    if (copy && run) {
        f->run = size;
        f->run_step = size * f->inner;
    }
    return copy;
}

/* One form, folded again and again: at each index of the outermost kept dims. */
typedef struct {
    fc_fold_form form;
    fc_side outside;
    int which, dtype, out_dtype, bad; /* bad: atomic */
    int64_t per, size, out_size;      /* results of one; bytes of an element and of a result */
    char *out;
    int64_t *index;
    double param;
} fc_folds;

static void fc_folds_run(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    fc_folds *q = ctx;
    for (int64_t k = begin; k < end; ++k) {
        fc_fold_form f = q->form;
        int64_t left = k, at = 0;
        for (int d = q->outside.n; d-- > 0; left /= q->outside.size[d])
            at += left % q->outside.size[d] * q->outside.stride[d];
        f.x = (const char *)f.x + at * q->size;
        const int bad = fc_fold_run(q->which, q->dtype, q->out_dtype, q->out + k * q->per * q->out_size, q->index ? q->index + k * q->per : NULL, &f,
                                    q->param, scratch);
        if (bad)
            fc_atomic_poke(&q->bad, bad);
    }
}

/* As many of them at a time as there are threads, or, where those are more, one after the other on all threads. */
static int fc_folds_all(fc_folds *q, int64_t count)
{
    const int64_t work = q->form.outer * q->form.reduce * q->form.inner;
    const size_t bytes = fc_fold_scratch(q->which, q->dtype, &q->form, q->param);
    if (count < fc_get_num_threads()) {
        void *scratch = bytes ? fc_arena(bytes) : NULL;
        if (bytes && !scratch)
            return fc_fail(FC_MEMORY, (int64_t)bytes, 0, 0, 0);
        fc_folds_run(q, 0, count, scratch);
        return q->bad;
    }
    const int bad = fc_parallel_scratch(count, 1 + FC_GRAIN / (work + 1), bytes, fc_folds_run, q);
    return bad ? bad : q->bad;
}

/* May runs be folds of their own, to be joined? One of several dims, of which a fold of its own would make the first a run, may not. */
static int fc_fold_has_runs_apart(int which, const fc_tensor *x, uint64_t run) { return fc_fold_joins(which) && !fc_run_dims(x, run, 1); }

/* Sums over several dims whose last ones are runs, where the others are no line in memory: the runs are kept dims of a fold, and then joined. */
static int fc_fold_by_runs(int which, fc_tensor *value, fc_tensor *x, uint64_t mask, uint64_t run)
{
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS], runs = 1, kept = 1, reduce = 1;
    int n = 0;
    for (int pass = 0; pass < 3; ++pass)
        for (int d = 0; d < x->ndim; ++d)
            if ((run >> d & 1 ? 2 : !(mask >> d & 1)) == pass) {
                shape[n] = x->shape[d];
                stride[n++] = x->stride[d];
                *(pass == 0 ? &runs : pass == 1 ? &kept : &reduce) *= x->shape[d];
            }
    const uint64_t inner = ((1ull << __builtin_popcountll(run)) - 1) << (n - __builtin_popcountll(run));
    const int64_t count = runs * kept;
    fc_tensor *view = fc_new_view(x, n, shape, stride, x->offset), *part = fc_new(fc_compute_dtype(value->dtype), FC_CPU, 1, &count);
    int bad = view && part ? fc_fold_values(which == FC_FOLD_mean ? FC_FOLD_sum : which, part, NULL, view, inner, 0) : FC_MEMORY;
    if (!bad)
        fc_fold_join(which, x->dtype, value->dtype, value->data, part->data, runs, kept, runs * reduce);
    fc_free(view);
    fc_free(part);
    return bad;
}

/* Results that were made in the order of memory go where they belong: t and fresh have the kept dims, which `dim` names as they lie. */
static void fc_put_kept(fc_tensor *t, fc_tensor *fresh, const fc_tensor *x, uint64_t mask, const int *dim, int kept)
{
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS], at[FC_MAX_DIMS], step = 1;
    int n = 0;
    for (int k = kept; k-- > 0; step *= x->shape[dim[k]])
        at[dim[k]] = step;
    for (int d = 0; d < x->ndim; ++d)
        if (!(mask >> d & 1) && x->shape[d] != 1) {
            shape[n] = x->shape[d];
            stride[n++] = at[d];
        }
    fc_tensor *to = fc_new_view(t, n, shape, NULL, t->offset), *from = fc_new_view(fresh, n, shape, stride, 0);
    if (to && from)
        fc_copy_nest(to, from);
    fc_free(to);
    fc_free(from);
}

enum { FC_WORTH_A_CALL = 512 }; /* elements */
enum { FC_SLAB_BYTES = 512 << 10 }; /* for each thread, of operands that are copied on their way: what the second cache holds until it is folded */

static int fc_is_far(const fc_tensor *x) { return x->numel * fc_dt_size[x->dtype] > FC_SLAB_BYTES * fc_get_num_threads(); }

/* Of the outermost kept dim, whose parts are parts of the result, as much as is copied at once, and in whole cache lines; 0 where that is all. */
static int64_t fc_fold_slab(const fc_tensor *x, uint64_t mask, int *dim)
{
    const int64_t most = FC_SLAB_BYTES * fc_get_num_threads(), size = fc_dt_size[x->dtype];
    int d = 0;
    while (d < x->ndim && (mask >> d & 1 || x->shape[d] == 1))
        ++d;
    if (d == x->ndim || !fc_is_far(x))
        return 0;
    const int64_t step = x->stride[d] * size, line = step > 0 && step < FC_LINE ? 4 * FC_LINE / step : 1, fit = most / (x->numel / x->shape[d] * size);
    *dim = d;
    return fit < line ? (line < x->shape[d] ? line : 0) : fit;
}

static int fc_fold_once(int which, fc_tensor *value, fc_tensor *index, fc_tensor *x, uint64_t mask, int free, int *moved, double param);

/* What has to be copied, a part at a time along a kept dim, so that no copy leaves the cache. */
static int fc_fold_slabs(int which, fc_tensor *value, fc_tensor *x, uint64_t mask, int d, int64_t slab, int free, int *moved, double param)
{
    const int64_t all = x->shape[d], results = value->numel / all;
    int64_t shape[FC_MAX_DIMS];
    int bad = FC_OK;
    memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
    for (int64_t at = 0; at < all && !bad; at += slab) {
        shape[d] = all - at < slab ? all - at : slab;
        const int64_t n = shape[d] * results;
        fc_tensor *part = fc_new_view(x, x->ndim, shape, x->stride, x->offset + at * x->stride[d]), *out = fc_new_view(value, 1, &n, NULL, value->offset + at * results);
        bad = part && out ? fc_fold_once(which, out, NULL, part, mask, free, moved, param) : FC_MEMORY;
        fc_free(part);
        fc_free(out);
    }
    return bad;
}

static int fc_fold_once(int which, fc_tensor *value, fc_tensor *index, fc_tensor *x, uint64_t mask, int free, int *moved, double param)
{
    const uint64_t run = free || !x->numel || !fc_fold_takes_runs(which) ? 0 : fc_run_dims(x, mask, fc_fold_joins(which));
    fc_folds q = { .which = which, .dtype = x->dtype, .out_dtype = value->dtype, .size = fc_dt_size[x->dtype], .out_size = fc_dt_size[value->dtype], .param = param };
    fc_side kept, reduced;
    kept.n = reduced.n = 0; /* the rest of them is long */
    int dim[FC_MAX_DIMS], n = fc_side_dims(x, ~mask, 0, dim, moved), shuffled = 0;
    fc_side_add(&kept, x, dim, n, 0, moved);
    n = fc_side_dims(x, run ? mask & ~run : 0, 0, dim, moved);
    fc_side_add(&reduced, x, dim, n, 0, moved);
    const int cut = reduced.n;
    n = fc_side_dims(x, run ? run : mask, free, dim, moved);
    fc_side_add(&reduced, x, dim, n, free && fc_fold_is_idempotent(which), moved);
    int64_t count = 1;
    int first;
    fc_tensor *copy = NULL, *fresh = NULL, *places = NULL;
    if (!fc_fold_walks(x, which, &kept, &reduced, cut, &q.form)) {
        if (cut > 1 && x->numel && fc_fold_has_runs_apart(which, x, run))
            return fc_fold_by_runs(which, value, x, mask, run);
        fc_side sorted;
        sorted.n = 0;
        n = fc_side_dims(x, ~mask, 1, dim, &shuffled);
        fc_side_add(&sorted, x, dim, n, 0, moved);
        int64_t work = x->numel;
        int found = 0;
        for (int out = 0; x->numel && out < sorted.n && !found && (out == 0 || work >= FC_WORTH_A_CALL); ++out) {
            kept.n = sorted.n - out;
            memcpy(kept.size, sorted.size + out, (size_t)kept.n * sizeof *kept.size);
            memcpy(kept.stride, sorted.stride + out, (size_t)kept.n * sizeof *kept.stride);
            found = fc_fold_walks(x, which, &kept, &reduced, cut, &q.form);
            if (found)
                break;
            work /= sorted.size[out];
            q.outside.size[out] = sorted.size[out];
            q.outside.stride[out] = sorted.stride[out];
            q.outside.n = out + 1;
        }
        if (!found) {
            const int64_t slab = index ? 0 : fc_fold_slab(x, mask, &first);
            const int whole = run && !n; /* all is folded */
            if (slab)
                return fc_fold_slabs(which, value, x, mask, first, slab, free, moved, param);
            if (whole && fc_fold_has_runs_apart(which, x, run) && fc_is_far(x)) /* the runs are kept dims then, and go by slabs */
                return fc_fold_by_runs(which, value, x, mask, run);
            q.outside.n = 0;
            copy = whole ? fc_to(x, x->dtype, 0, 1) : fc_fold_copy(x, mask, run, dim, n, &q.form);
            if (!copy)
                return fc_status();
            if (whole) { /* in the logical order, where runs are folded best, it is walked */
                const int bad = fc_fold_once(which, value, index, copy, mask, free, moved, param);
                fc_free(copy);
                return bad;
            }
        }
        for (int d = 0; d < q.outside.n; ++d)
            count *= q.outside.size[d];
    }
    if (shuffled) {
        fresh = fc_new(value->dtype, FC_CPU, 1, &value->numel);
        places = fresh && index ? fc_new(FC_I64, FC_CPU, 1, &value->numel) : NULL;
        if (!fresh || (index && !places)) {
            fc_free(fresh);
            fc_free(copy);
            return FC_MEMORY;
        }
    }
    q.per = value->numel / count;
    q.out = fresh ? fresh->data : value->data;
    q.index = places ? (int64_t *)places->data : index ? (int64_t *)index->data : NULL;
    const int bad = fc_folds_all(&q, count);
    if (fresh && !bad) { /* dim: the kept ones, as they lie */
        fc_put_kept(value, fresh, x, mask, dim, n);
        if (index)
            fc_put_kept(index, places, x, mask, dim, n);
    }
    fc_free(copy);
    fc_free(fresh);
    fc_free(places);
    return bad;
}

/* Which of two zeros an extreme is depends on their order. */
static int fc_is_zero(const fc_tensor *t)
{
    const uint64_t bits = t->dtype == FC_F64 ? *(uint64_t *)t->data << 1
                        : t->dtype == FC_F32 ? *(uint32_t *)t->data & 0x7fffffffu : *(uint16_t *)t->data & 0x7fffu;
    return bits == 0;
}

static int fc_fold_dense_values(int which, fc_tensor *value, fc_tensor *index, fc_tensor *x, uint64_t mask, double param)
{
    int moved = 0;
    if (!value->numel)
        return FC_OK;
    const int place = which == FC_FOLD_argmax || which == FC_FOLD_argmin;
    if ((place || index) && x->numel == value->numel) { /* the place of an only element is 0 */
        memset((place ? value : index)->data, 0, (size_t)value->numel * sizeof(int64_t));
        if (place)
            return FC_OK;
        which = which == FC_FOLD_max_index ? FC_FOLD_amax : FC_FOLD_amin;
        index = NULL;
    }
    const int number = !fc_is_int(x->dtype) && fc_fold_is_idempotent(which) && value->dtype != FC_BOOL;
    const int free = fc_fold_is_free(which, x->dtype) && (!number || value->numel == 1);
    const int bad = fc_fold_once(which, value, index, x, mask, free, &moved, param);
    return bad || !moved || !number || !fc_is_zero(value) ? bad : fc_fold_once(which, value, index, x, mask, 0, &moved, param);
}

fc_tensor *fc_distinct(fc_tensor *x, uint64_t mask, uint64_t *repeated)
{
    int64_t shape[FC_MAX_DIMS];
    *repeated = 0;
    for (int d = 0; d < x->ndim; ++d) {
        const int again = !(mask >> d & 1) && x->stride[d] == 0 && x->shape[d] > 1;
        *repeated |= (uint64_t)again << d;
        shape[d] = again ? 1 : x->shape[d];
    }
    if (!*repeated || !x->numel) {
        fc_retain(x);
        *repeated = 0;
        return x;
    }
    return fc_new_view(x, x->ndim, shape, x->stride, x->offset);
}

void fc_spread(fc_tensor *t, fc_tensor *small, const fc_tensor *x, uint64_t gone, uint64_t repeated)
{
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS], run = 1;
    int n = 0;
    for (int d = x->ndim - 1; d >= 0; --d)
        if (!(gone >> d & 1)) {
            const int again = (int)(repeated >> d & 1);
            ++n;
            shape[FC_MAX_DIMS - n] = x->shape[d];
            stride[FC_MAX_DIMS - n] = again ? 0 : run;
            run *= again ? 1 : x->shape[d];
        }
    fc_tensor *to = fc_new_view(t, n, shape + FC_MAX_DIMS - n, NULL, 0);
    fc_tensor *from = fc_new_view(small, n, shape + FC_MAX_DIMS - n, stride + FC_MAX_DIMS - n, 0);
    if (to && from)
        fc_copy_nest(to, from);
    fc_free(to);
    fc_free(from);
}

/* The least and the greatest of all, in one pass; of long memory, block by block: what is not read once for both is found in L1 by the second. */
enum { FC_EXTREMES_BLOCK = 16 << 10, FC_EXTREMES_FROM = 1 << 20, FC_EXTREMES_SHARED = 256 << 10 }; /* bytes */

typedef struct { const fc_tensor *x; fc_tensor *least, *greatest; int64_t block; int bad; } fc_extremes;

static void fc_extremes_blocks(void *ctx, int64_t begin, int64_t end)
{
    fc_extremes *q = ctx;
    const fc_tensor *x = q->x;
    const int64_t size = fc_dt_size[x->dtype];
    for (int64_t k = begin; k < end; ++k) {
        const int64_t first = k * q->block, n = x->numel - first < q->block ? x->numel - first : q->block;
        if (fc_fold_both(x->dtype, q->least->data + k * size, q->greatest->data + k * size, x->data + first * size, n))
            continue;
        const fc_fold_form f = fc_fold_dense(x->data + first * size, 1, n, 1); /* too short for scratch */
        int bad = fc_fold_run(FC_FOLD_amin, x->dtype, x->dtype, q->least->data + k * size, NULL, &f, 0, NULL);
        bad = bad ? bad : fc_fold_run(FC_FOLD_amax, x->dtype, x->dtype, q->greatest->data + k * size, NULL, &f, 0, NULL);
        if (bad)
            fc_atomic_poke(&q->bad, bad);
    }
}

static int fc_extremes_found(fc_tensor *least, fc_tensor *greatest, fc_tensor *x, int *bad)
{
    const int64_t bytes = x->numel * fc_dt_size[x->dtype], count = (bytes - 1) / FC_EXTREMES_BLOCK + 1;
    *bad = FC_OK;
    if (least->numel != 1 || !x->contiguous || !x->numel)
        return 0;
    if (bytes < (fc_get_num_threads() > 1 ? FC_EXTREMES_SHARED : FC_EXTREMES_FROM))
        return fc_fold_both(x->dtype, least->data, greatest->data, x->data, x->numel);
    fc_extremes q = { x, fc_new(x->dtype, FC_CPU, 1, &count), fc_new(x->dtype, FC_CPU, 1, &count), FC_EXTREMES_BLOCK / fc_dt_size[x->dtype], FC_OK };
    if (q.least && q.greatest) {
        fc_parallel(count, 8, fc_extremes_blocks, &q);
        q.bad = q.bad ? q.bad : fc_fold_values(FC_FOLD_amin, least, NULL, q.least, 1, 0);
        q.bad = q.bad ? q.bad : fc_fold_values(FC_FOLD_amax, greatest, NULL, q.greatest, 1, 0);
    } else
        q.bad = FC_MEMORY;
    fc_free(q.least);
    fc_free(q.greatest);
    *bad = q.bad;
    return 1;
}

static int fc_both_extremes(fc_tensor *least, fc_tensor *greatest, fc_tensor *x, uint64_t mask)
{
    int bad;
    if (fc_extremes_found(least, greatest, x, &bad) && (bad || fc_is_int(x->dtype) || !(fc_is_zero(least) || fc_is_zero(greatest))))
        return bad;
    bad = fc_fold_values(FC_FOLD_amin, least, NULL, x, mask, 0);
    return bad ? bad : fc_fold_values(FC_FOLD_amax, greatest, NULL, x, mask, 0);
}

int fc_fold_values(int which, fc_tensor *value, fc_tensor *index, fc_tensor *x, uint64_t mask, double param)
{
    if (which == FC_FOLD__aminmax)
        return fc_both_extremes(value, index, x, mask);
    uint64_t repeated;
    fc_tensor *view = fc_distinct(x, mask, &repeated);
    if (!view)
        return FC_MEMORY;
    if (!repeated) {
        fc_free(view);
        return fc_fold_dense_values(which, value, index, x, mask, param);
    }
    int64_t distinct = 1;
    for (int d = 0; d < x->ndim; ++d)
        distinct *= mask >> d & 1 ? 1 : view->shape[d];
    fc_tensor *small = fc_new(value->dtype, value->device, 1, &distinct);
    fc_tensor *places = small && index ? fc_new(FC_I64, index->device, 1, &distinct) : NULL;
    const int bad = !small || (index && !places) ? FC_MEMORY : fc_fold_dense_values(which, small, places, view, mask, param);
    if (!bad) {
        fc_spread(value, small, x, mask, repeated);
        if (index)
            fc_spread(index, places, x, mask, repeated);
    }
    fc_free(view);
    fc_free(small);
    fc_free(places);
    return bad;
}
