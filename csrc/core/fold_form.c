/*
 * From strides to the loops of cpu/fold.h.
 *
 * Dims of one side, kept or reduced, that lie together in memory become one. Kept dims of stride 0 are computed once and shown again.
 * Reduced dims keep their logical order, which is the order of a sum, and those that make a run are a side of their own; where no order
 * matters they are taken as they lie in memory.
 */
#include "facula.h"
#include "../cpu/fold.h"
#include "../cpu/parallel.h"
#include "alloc.h"
#include "atomic.h"
#include "copy_nest.h"
#include "fold_form.h"

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

/* Of the reduced dims, those that are a run of fold.h: the last, as few as have FC_FOLD_RUN elements together. 0 where that is all. */
static uint64_t fc_run_dims(const fc_tensor *x, uint64_t mask)
{
    uint64_t run = 0;
    int64_t size = 1;
    for (int d = x->ndim; d-- > 0 && size < FC_FOLD_RUN;)
        if (mask >> d & 1 && x->shape[d] > 1) {
            run |= 1ull << d;
            size *= x->shape[d];
        }
    for (int d = 0; d < x->ndim; ++d)
        if (mask >> d & 1 && !(run >> d & 1) && x->shape[d] > 1)
            return run;
    return 0;
}

/* After what s has, the dims whose bit is in mask, outermost first. moved: they were taken as they lie in memory, which is another order. */
static void fc_side_add(fc_side *s, const fc_tensor *x, uint64_t mask, int free, int once, int *moved)
{
    int dim[FC_MAX_DIMS], n = 0;
    for (int d = 0; d < x->ndim; ++d) {
        if (!(mask >> d & 1) || x->shape[d] == 1)
            continue;
        if (once && x->stride[d] == 0) {
            *moved = 1;
            continue;
        }
        int at = n++;
        for (; free && at > 0 && fc_lies_before(x->stride[d], x->stride[dim[at - 1]]); --at) {
            dim[at] = dim[at - 1];
            *moved = 1;
        }
        dim[at] = d;
    }
    const int first = s->n;
    for (int k = 0; k < n; ++k)
        fc_side_push(s, first, x->shape[dim[k]], x->stride[dim[k]]);
}

/* x as the loops take it, or 0 where it must be copied. cut: how many of the reduced dims come before a run. */
static int fc_fold_walks(const fc_tensor *x, int which, const fc_side *kept, const fc_side *reduced, int cut, fc_fold_form *f)
{
    const int k = kept->n, r = reduced->n;
    const int64_t size = r ? reduced->size[r - 1] : 1, stride = r ? reduced->stride[r - 1] : 1;
    if (!x->numel || k > 2 || r > 2 || cut > 1)
        return 0;
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

/* (kept dims, reduced dims) of x, contiguous. */
static fc_tensor *fc_fold_copy(fc_tensor *x, uint64_t mask, uint64_t run, fc_fold_form *f)
{
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS], count[2] = { 1, 1 }, size = 1;
    int n = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int d = 0; d < x->ndim; ++d)
            if ((int)(mask >> d & 1) == pass) {
                shape[n] = x->shape[d];
                stride[n++] = x->stride[d];
                count[pass] *= x->shape[d];
                size *= run >> d & 1 ? x->shape[d] : 1;
            }
    fc_tensor *view = fc_new_view(x, n, shape, stride, x->offset);
    fc_tensor *copy = view ? fc_to(view, x->dtype, 0, 1) : NULL;
    fc_free(view);
    if (copy)
        *f = fc_fold_dense(copy->data, count[0], count[1], 1);
    if (copy && run)
        f->run = f->run_step = size;
    return copy;
}

static int fc_fold_once(int which, fc_tensor *value, fc_tensor *index, fc_tensor *x, uint64_t mask, int free, int *moved, double param)
{
    fc_fold_form f;
    fc_tensor *copy = NULL;
    const uint64_t run = free || !fc_fold_takes_runs(which) ? 0 : fc_run_dims(x, mask);
    fc_side kept, reduced;
    kept.n = reduced.n = 0; /* the rest of them is long */
    fc_side_add(&kept, x, ~mask, 0, 0, moved);
    fc_side_add(&reduced, x, run ? mask & ~run : 0, 0, 0, moved);
    const int cut = reduced.n;
    fc_side_add(&reduced, x, run ? run : mask, free, free && fc_fold_is_idempotent(which), moved);
    if (!fc_fold_walks(x, which, &kept, &reduced, cut, &f) && !(copy = fc_fold_copy(x, mask, run, &f)))
        return fc_status();
    const size_t bytes = fc_fold_scratch(which, x->dtype, &f, param);
    void *scratch = bytes ? fc_arena(bytes) : NULL;
    const int bad = bytes && !scratch ? fc_fail(FC_MEMORY, (int64_t)bytes, 0, 0, 0)
                  : fc_fold_run(which, x->dtype, value->dtype, value->data, index ? index->data : NULL, &f, param, scratch);
    fc_free(copy);
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

/* Of long memory, block by block: the second extreme of a block finds it in L1. */
enum { FC_EXTREMES_BLOCK = 16 << 10, FC_EXTREMES_FROM = 1 << 20 }; /* bytes */

typedef struct { const fc_tensor *x; fc_tensor *least, *greatest; int64_t block; int bad; } fc_extremes;

static void fc_extremes_blocks(void *ctx, int64_t begin, int64_t end)
{
    fc_extremes *q = ctx;
    const fc_tensor *x = q->x;
    const int64_t size = fc_dt_size[x->dtype];
    for (int64_t k = begin; k < end; ++k) {
        const int64_t first = k * q->block, n = x->numel - first < q->block ? x->numel - first : q->block;
        const fc_fold_form f = fc_fold_dense(x->data + first * size, 1, n, 1); /* too short for scratch */
        int bad = fc_fold_run(FC_FOLD_amin, x->dtype, x->dtype, q->least->data + k * size, NULL, &f, 0, NULL);
        bad = bad ? bad : fc_fold_run(FC_FOLD_amax, x->dtype, x->dtype, q->greatest->data + k * size, NULL, &f, 0, NULL);
        if (bad)
            fc_atomic_poke(&q->bad, bad);
    }
}

static int fc_both_extremes(fc_tensor *least, fc_tensor *greatest, fc_tensor *x, uint64_t mask)
{
    const int64_t bytes = x->numel * fc_dt_size[x->dtype], count = (bytes - 1) / FC_EXTREMES_BLOCK + 1;
    if (least->numel == 1 && x->contiguous && bytes >= FC_EXTREMES_FROM) {
        fc_extremes q = { x, fc_new(x->dtype, FC_CPU, 1, &count), fc_new(x->dtype, FC_CPU, 1, &count), FC_EXTREMES_BLOCK / fc_dt_size[x->dtype], FC_OK };
        if (q.least && q.greatest) {
            fc_parallel(count, 8, fc_extremes_blocks, &q);
            q.bad = q.bad ? q.bad : fc_fold_values(FC_FOLD_amin, least, NULL, q.least, 1, 0);
            q.bad = q.bad ? q.bad : fc_fold_values(FC_FOLD_amax, greatest, NULL, q.greatest, 1, 0);
        } else
            q.bad = FC_MEMORY;
        fc_free(q.least);
        fc_free(q.greatest);
        if (q.bad || fc_is_int(x->dtype) || !(fc_is_zero(least) || fc_is_zero(greatest)))
            return q.bad;
    }
    const int bad = fc_fold_values(FC_FOLD_amin, least, NULL, x, mask, 0);
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
