/* Reading and writing through index tensors: gather, scatter, index_select, and advanced indexing. */
#include <string.h>

#include "facula.h"
#include "../cpu/gather.h"
#include "../cpu/parallel.h"
#include "nest.h"
#include "verb.h"

static fc_tensor *fc_index_fail(fc_code code, int64_t a, int64_t b, int64_t c, int64_t d)
{
    fc_fail(code, a, b, c, d);
    return NULL;
}

/* Dims before, at and after `dim`. */
static void fc_around(const fc_tensor *x, int64_t dim, int64_t *outer, int64_t *n, int64_t *inner)
{
    *outer = *inner = 1;
    for (int d = 0; d < x->ndim; ++d)
        if (d < dim)
            *outer *= x->shape[d];
        else if (d > dim)
            *inner *= x->shape[d];
    *n = x->ndim ? x->shape[dim] : 1;
}

static int fc_is_slices(int op) { return op == FC_OP_index_select || op == FC_OP_index_add || op == FC_OP_index_copy; }

/* Every check of the five rows in one place. n: how many positions along dim the index has. */
static int fc_gather_check(int op, const fc_tensor *x, int64_t dim, const fc_tensor *index, const fc_tensor *src)
{
    if (dim < 0 || dim >= (x->ndim ? x->ndim : 1))
        return fc_fail(FC_DIM, dim, x->ndim, 0, 0);
    if (index->dtype != FC_I64 && !(index->dtype == FC_I32 && op != FC_OP_index_copy))
        return fc_fail(FC_MIXED, 2, index->dtype, -1, FC_I64);
    if (src && src->dtype != x->dtype)
        return fc_fail(FC_MIXED, 0, x->dtype, 3, src->dtype);
    if (fc_is_slices(op)) {
        if (index->ndim > 1)
            return fc_fail(FC_RANK, 2, index->ndim, 1, 0);
        if (src) {
            if (src->ndim != x->ndim)
                return fc_fail(FC_RANK, 3, src->ndim, x->ndim, 0);
            for (int d = 0; d < x->ndim; ++d) {
                const int64_t want = d == dim ? index->numel : x->shape[d];
                if (src->shape[d] != want)
                    return fc_fail(FC_SIZE, 3, src->shape[d], 2, want);
            }
        }
        return FC_OK;
    }
    const int xn = x->ndim ? x->ndim : 1, in = index->ndim ? index->ndim : 1;
    if (xn != in)
        return fc_fail(FC_RANK, 2, index->ndim, x->ndim, 0);
    for (int d = 0; d < x->ndim && index->ndim; ++d) {
        if (d != dim && index->shape[d] > x->shape[d])
            return fc_fail(FC_SIZE, 2, index->shape[d], 0, x->shape[d]);
        if (src && src->ndim && index->shape[d] > src->shape[d])
            return fc_fail(FC_SIZE, 2, index->shape[d], 3, src->shape[d]);
    }
    return FC_OK;
}

fc_tensor *fc_gather(int op, fc_tensor *out, fc_tensor *x, int64_t dim, fc_tensor *index, fc_tensor *src)
{
    fc_tensor *ops[3] = { x, index, src }, *t = NULL, *dense = NULL, *where = NULL, *from = NULL;
    int device;
    if (fc_check_operands(3, ops, &device))
        return NULL;
    const int64_t d = fc_wrap_dim(dim, x->ndim);
    if (d < 0 || d >= (x->ndim ? x->ndim : 1))
        return fc_index_fail(FC_DIM, dim, x->ndim, 0, 0);
    if (fc_gather_check(op, x, d, index, src))
        return NULL;
    int64_t shape[FC_MAX_DIMS];
    const int writes = op != FC_OP_gather && op != FC_OP_index_select;
    const fc_tensor *like = op == FC_OP_gather ? index : x;
    for (int k = 0; k < like->ndim; ++k)
        shape[k] = like->shape[k];
    if (op == FC_OP_index_select && x->ndim)
        shape[d] = index->numel;
    t = writes ? fc_to(x, x->dtype, 0, 1) : fc_new(x->dtype, device, like->ndim, shape);
    if (!t || device == FC_META)
        return fc_deliver(out, t);
    where = fc_dense(index, FC_I64);
    dense = writes ? NULL : fc_dense(x, x->dtype);
    from = src ? fc_dense(src, src->dtype) : NULL;
    int64_t at[2] = { 0, 0 };
    int bad = !where || (!writes && !dense) || (src && !from) ? FC_MEMORY : FC_OK;
    if (!bad && where->numel) {
        int64_t outer, n, inner;
        fc_around(x, d, &outer, &n, &inner);
        const fc_gather_job job = { .dtype = x->dtype, .ndim = x->ndim ? x->ndim : 1, .dim = (int)d, .outer = outer, .n = n, .inner = inner, .count = where->numel,
                                    .x_shape = x->shape, .index_shape = where->shape, .src_shape = from ? from->shape : NULL,
                                    .scalar = x->ndim == 0 || where->ndim == 0, .index = (const int64_t *)where->data };
        switch (op) {
        case FC_OP_gather: bad = fc_cpu_gather(&job, t->data, dense->data, at); break;
        case FC_OP_index_select: bad = fc_cpu_index_select(&job, t->data, dense->data, at); break;
        case FC_OP_scatter: bad = fc_cpu_scatter(&job, t->data, from->data, 0, at); break;
        case FC_OP_scatter_add: bad = fc_cpu_scatter(&job, t->data, from->data, 1, at); break;
        case FC_OP_index_add: bad = fc_cpu_index_write(&job, t->data, from->data, 1, at); break;
        default: bad = fc_cpu_index_write(&job, t->data, from->data, 0, at); break;
        }
        if (bad)
            fc_fail(FC_INDEX, at[0], n, d, 0);
    }
    fc_free(where);
    fc_free(dense);
    fc_free(from);
    if (bad) {
        fc_free(t);
        return NULL;
    }
    return fc_deliver(out, t);
}

/*
 * Advanced indexing, x[i0, :, i1, ...] with index tensors where not NULL. NumPy's and PyTorch's rule: the index tensors broadcast
 * to one shape, which replaces the indexed dims where they stand side by side and comes first where they do not.
 */
typedef struct {
    int n, ndim;                    /* indexed dims; dims of the result */
    int dim[FC_MAX_DIMS];           /* which dims of x */
    fc_tensor *index[FC_MAX_DIMS];  /* int64, contiguous, broadcast shape */
    int64_t shape[FC_MAX_DIMS];     /* of the result */
    int64_t positions;              /* elements of the broadcast index */
    fc_tensor *view;                /* x's other dims: (those before, those after), strides of x */
    int lead;                       /* result dims before the index dims */
    int index_ndim;
} fc_indexed;

static void fc_indexed_drop(fc_indexed *t)
{
    for (int k = 0; k < t->n; ++k)
        fc_free(t->index[k]);
    fc_free(t->view);
}

static int fc_indexed_make(fc_indexed *t, fc_tensor *x, int n, fc_tensor **index)
{
    fc_tensor *given[FC_MAX_DIMS];
    int64_t common[FC_MAX_DIMS], shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    int cn, first = -1, last = -1, together = 1;
    *t = (fc_indexed){ .n = 0 };
    if (n > x->ndim)
        return fc_fail(FC_RANK, 0, x->ndim, n, 1);
    for (int d = 0; d < n; ++d)
        if (index[d]) {
            if (index[d]->device != x->device && x->device != FC_META)
                return fc_fail(FC_DEVICE, x->device, index[d]->device, d, 0);
            given[t->n] = index[d];
            t->dim[t->n++] = d;
            together = together && (last < 0 || last == d - 1);
            first = first < 0 ? d : first;
            last = d;
        }
    const int count = t->n;
    t->n = 0;
    if (fc_broadcast(count, given, &cn, common))
        return fc_status();
    t->positions = 1;
    for (int d = 0; d < cn; ++d)
        t->positions *= common[d];
    for (int k = 0; k < count; ++k) {
        fc_tensor *wide = fc_view_list(FC_OP_expand, given[k], cn, common);
        fc_tensor *flat = wide ? fc_dense(wide, FC_I64) : NULL;
        fc_free(wide);
        if (!flat)
            return fc_status();
        t->index[t->n++] = flat;
        const int64_t size = x->shape[t->dim[k]], *i = (const int64_t *)flat->data;
        if (x->device != FC_META)
            for (int64_t p = 0; p < t->positions; ++p)
                if (i[p] < -size || i[p] >= size)
                    return fc_fail(FC_INDEX, i[p], size, t->dim[k], 0);
    }
    t->lead = together ? first : 0;
    t->index_ndim = cn;
    int m = 0, r = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int d = 0; d < x->ndim; ++d) {
            int is_indexed = 0;
            for (int k = 0; k < t->n; ++k)
                is_indexed |= t->dim[k] == d;
            if (is_indexed || (pass == 0) != (d < t->lead))
                continue;
            shape[m] = t->shape[r++] = x->shape[d];
            stride[m++] = x->stride[d];
        }
        for (int d = 0; pass == 0 && d < cn; ++d)
            t->shape[r++] = common[d];
    }
    t->ndim = r;
    t->view = fc_new_view(x, m, shape, stride, x->offset);
    return t->view ? FC_OK : FC_MEMORY;
}

/* The slice of a tensor in the result's layout that belongs to index position p: the lead dims, then those after the index dims. */
static int64_t fc_position_offset(const fc_indexed *t, const fc_tensor *like, int64_t p)
{
    int64_t offset = 0;
    for (int d = t->lead + t->index_ndim - 1; d >= t->lead; --d) {
        offset += p % like->shape[d] * like->stride[d];
        p /= like->shape[d];
    }
    return offset;
}

typedef struct { const fc_indexed *t; fc_tensor *x, *other; int write, accumulate; } fc_index_job;

/* Elements whose other dims are few: copy element by element with precomputed strides. */
static void fc_index_range(void *ctx, int64_t begin, int64_t end)
{
    const fc_index_job *job = ctx;
    const fc_indexed *t = job->t;
    const fc_tensor *view = t->view, *other = job->other;
    const int size = fc_dt_size[job->x->dtype];
    const int m = view->ndim;
    int64_t far[FC_MAX_DIMS];
    for (int d = 0; d < m; ++d)
        far[d] = other->stride[d < t->lead ? d : d + t->index_ndim];
    for (int64_t p = begin; p < end; ++p) {
        int64_t at = 0;
        for (int k = 0; k < t->n; ++k) {
            const int64_t i = ((const int64_t *)t->index[k]->data)[p];
            at += (i < 0 ? i + job->x->shape[t->dim[k]] : i) * job->x->stride[t->dim[k]];
        }
        char *xs = job->x->data + at * size, *os = other->data + fc_position_offset(t, other, p) * size;
        int64_t counter[FC_MAX_DIMS] = { 0 };
        const int64_t run = m ? view->shape[m - 1] : 1, xstep = m ? view->stride[m - 1] : 0, ostep = m ? far[m - 1] : 0;
        for (int64_t done = 0; done < view->numel; done += run) {
            if (job->accumulate)
                fc_cpu_accumulate(job->x->dtype, xs, xstep, os, ostep, run);
            else if (job->write)
                fc_cpu_strided_copy(size, xs, xstep, os, ostep, run);
            else
                fc_cpu_strided_copy(size, os, ostep, xs, xstep, run);
            for (int d = m - 2; d >= 0; --d) {
                xs += view->stride[d] * size;
                os += far[d] * size;
                if (++counter[d] < view->shape[d])
                    break;
                xs -= view->shape[d] * view->stride[d] * size;
                os -= view->shape[d] * far[d] * size;
                counter[d] = 0;
            }
        }
    }
}

fc_tensor *fc_index(fc_tensor *x, int n, fc_tensor **index)
{
    fc_indexed t;
    fc_tensor *out = NULL;
    if (FC_IS_STALE(x))
        return fc_index_fail(FC_STALE, 0, 0, 0, 0);
    if (!fc_indexed_make(&t, x, n, index))
        out = fc_new(x->dtype, x->device, t.ndim, t.shape);
    if (out && x->device != FC_META && out->numel) {
        fc_index_job job = { &t, x, out, 0, 0 };
        const int64_t each = t.view->numel ? t.view->numel : 1;
        fc_parallel(t.positions, FC_GRAIN / each + 1, fc_index_range, &job);
    }
    fc_indexed_drop(&t);
    return out;
}

int fc_index_put(fc_tensor *x, int n, fc_tensor **index, fc_tensor *value, int accumulate)
{
    fc_indexed t;
    fc_tensor *wide = NULL, *dense = NULL;
    if (FC_IS_STALE(x) || FC_IS_STALE(value))
        return fc_fail(FC_STALE, 0, 0, 0, 0);
    if (!fc_may_write(x))
        return fc_fail(FC_READONLY, 0, 0, 0, 0);
    if (value->device != x->device && x->device != FC_META)
        return fc_fail(FC_DEVICE, x->device, value->device, 0, 0);
    if (value->dtype != x->dtype)
        return fc_fail(FC_MIXED, 0, x->dtype, 1, value->dtype);
    int bad = fc_indexed_make(&t, x, n, index);
    if (!bad) {
        wide = fc_view_list(FC_OP_expand, value, t.ndim, t.shape);
        /* the value may be x's own memory */
        dense = wide && wide->storage == x->storage ? fc_to(wide, x->dtype, 0, 1) : wide ? (fc_retain(wide), wide) : NULL;
        bad = dense ? FC_OK : fc_status();
    }
    if (!bad && x->device != FC_META && dense->numel) {
        fc_index_job job = { &t, x, dense, 1, accumulate };
        fc_index_range(&job, 0, t.positions); /* in order: the last of equal indices wins, sums have one order */
    }
    fc_free(wide);
    fc_free(dense);
    fc_indexed_drop(&t);
    if (!bad)
        fc_bump(x);
    return bad;
}

int64_t fc_nonzero_count(fc_tensor *x)
{
    fc_tensor *n = fc_fold(FC_OP_count_nonzero, NULL, x, 0, 0, 0, -1);
    if (!n)
        return -1;
    const int64_t count = *(int64_t *)n->data;
    fc_free(n);
    return count;
}

/* (count, ndim) indices of the nonzero elements, in logical order; one dim's indices lie together, as PyTorch's do */
fc_tensor *fc_nonzero(fc_tensor *x)
{
    if (x->device == FC_META) {
        fc_fail(FC_DEVICE, FC_META, FC_CPU, 0, 0);
        return NULL;
    }
    fc_tensor *dense = fc_dense(x, FC_BOOL);
    if (!dense)
        return NULL;
    int64_t count = 0;
    const uint8_t *p = (const uint8_t *)dense->data;
    for (int64_t i = 0; i < dense->numel; ++i)
        count += p[i] != 0;
    const int64_t shape[2] = { count, x->ndim }, stride[2] = { 1, count };
    fc_tensor *t = fc_new_strided(FC_I64, x->device, 2, shape, stride);
    int64_t at[FC_MAX_DIMS] = { 0 }, *to = t ? (int64_t *)t->data : NULL;
    for (int64_t i = 0; t && i < dense->numel; ++i) {
        if (p[i]) {
            for (int d = 0; d < x->ndim; ++d)
                to[d * count] = at[d];
            ++to;
        }
        for (int d = x->ndim - 1; d >= 0; --d) {
            if (++at[d] < x->shape[d])
                break;
            at[d] = 0;
        }
    }
    fc_free(dense);
    return t;
}
