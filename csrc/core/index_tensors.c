/*
 * Advanced indexing, x[i0, :, i1, ...] with index tensors where not NULL. NumPy's and PyTorch's rule: the index tensors broadcast
 * to one shape, which replaces the indexed dims where they stand side by side and comes first where they do not.
 */
#include <string.h>

#include "facula.h"
#include "../cpu/gather.h"
#include "../cpu/parallel.h"
#include "half.h"
#include "nest.h"
#include "verb.h"

typedef struct {
    int n, ndim;                    /* indexed dims; dims of the result */
    int dim[FC_MAX_DIMS];           /* which dims of x */
    fc_tensor *wide[FC_MAX_DIMS];   /* the index tensors as they lie, expanded to the broadcast shape */
    fc_tensor *index[FC_MAX_DIMS];  /* int64, contiguous, broadcast shape */
    int64_t shape[FC_MAX_DIMS];     /* of the result */
    int64_t positions;              /* elements of the broadcast index */
    fc_tensor *view;                /* x's other dims: (those before, those after), strides of x */
    int lead;                       /* result dims before the index dims */
    int index_ndim;
} fc_indexed;

static void fc_indexed_drop(fc_indexed *t)
{
    for (int k = 0; k < t->n; ++k) {
        fc_free(t->wide[k]);
        fc_free(t->index[k]);
    }
    fc_free(t->view);
}

/* Negative positions become what they stand for, in a copy, if there are any. */
static int fc_count_from_the_end(fc_tensor **index, int64_t size)
{
    const int64_t n = (*index)->numel;
    if (fc_cpu_outside((const int64_t *)(*index)->data, n, 0, INT64_MAX) < 0)
        return FC_OK;
    fc_tensor *t = fc_to(*index, FC_I64, 0, 1);
    if (!t)
        return fc_status();
    int64_t *i = (int64_t *)t->data;
    for (int64_t p = 0; p < n; ++p)
        i[p] += i[p] < 0 ? size : 0;
    fc_free(*index);
    *index = t;
    return FC_OK;
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
        t->wide[t->n++] = fc_view_list(FC_OP_expand, given[k], cn, common);
        fc_tensor *const flat = t->index[k] = t->wide[k] ? fc_dense(t->wide[k], FC_I64) : NULL;
        if (!flat)
            return fc_status();
        const int64_t size = x->shape[t->dim[k]], *i = (const int64_t *)flat->data;
        const int64_t wrong = x->device == FC_META ? -1 : fc_cpu_outside(i, t->positions, -size, size);
        if (wrong >= 0)
            return fc_fail(FC_INDEX, i[wrong], size, t->dim[k], 0);
        if (count == 1 && x->device != FC_META && fc_count_from_the_end(&t->index[k], size))
            return fc_status();
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

typedef struct {
    const fc_indexed *t;
    fc_tensor *x, *other;
    int how; /* FC_THROUGH_READ, _WRITE or _ADD */
    /* the part of the view that is gone through, and where it begins in x and in `other`, in elements */
    const int64_t *shape;
    int64_t numel, x_at, other_at;
    int64_t low, high; /* of one index: the places along its dim that are written to; 0, 0 for all */
} fc_index_job;

enum { FC_PLACES = 1024, FC_ACROSS = 32 };

/* Byte offsets in x and in `other` of the index positions from `begin` on. */
static void fc_index_places(const fc_index_job *job, int64_t begin, int64_t count, int64_t *in_x, int64_t *in_other)
{
    const fc_indexed *t = job->t;
    const fc_tensor *x = job->x, *other = job->other;
    const int64_t size = fc_dt_size[x->dtype];
    memset(in_x, 0, (size_t)count * sizeof *in_x);
    for (int k = 0; k < t->n; ++k) {
        const int64_t *index = (const int64_t *)t->index[k]->data + begin, n = x->shape[t->dim[k]], stride = x->stride[t->dim[k]] * size;
        for (int64_t p = 0; p < count; ++p)
            in_x[p] += (index[p] + (index[p] < 0 ? n : 0)) * stride;
    }
    int64_t at[FC_MAX_DIMS], left = begin, offset = 0;
    int steps = 0;
    for (int d = t->lead; d < t->lead + t->index_ndim; ++d)
        steps |= other->shape[d] != 1 && other->stride[d] != 0;
    if (!steps) { /* one element for all */
        memset(in_other, 0, (size_t)count * sizeof *in_other);
        return;
    }
    if (other->contiguous && t->lead + t->index_ndim == other->ndim) {
        for (int64_t p = 0; p < count; ++p)
            in_other[p] = (begin + p) * size;
        return;
    }
    for (int d = t->index_ndim - 1; d >= 0; --d) {
        at[d] = left % other->shape[t->lead + d];
        left /= other->shape[t->lead + d];
        offset += at[d] * other->stride[t->lead + d];
    }
    for (int64_t p = 0; p < count; ++p) {
        in_other[p] = offset * size;
        for (int d = t->index_ndim - 1; d >= 0; --d) {
            const int64_t step = other->stride[t->lead + d];
            offset += step;
            if (++at[d] < other->shape[t->lead + d])
                break;
            offset -= step * at[d];
            at[d] = 0;
        }
    }
}

#define FC_EACH_PLACE(T)                                                       \
    for (int64_t p = 0; p < count; ++p)                                        \
        if (how == FC_THROUGH_READ)                                            \
            *(T *)(os + in_other[p]) = *(const T *)(xs + in_x[p]);             \
        else                                                                   \
            *(T *)(xs + in_x[p]) = *(const T *)(os + in_other[p]);             \
    break

#define FC_EACH_SUM(T, sum)                                                    \
    for (int64_t p = 0; p < count; ++p) {                                      \
        T *to = (T *)(xs + in_x[p]);                                           \
        const T *from = (const T *)(os + in_other[p]);                         \
        *to = sum;                                                             \
    }                                                                          \
    break

/* One element at each place. */
static void fc_index_elements(int dtype, int how, char *xs, char *os, const int64_t *in_x, const int64_t *in_other, int64_t count)
{
    if (how == FC_THROUGH_ADD) {
        switch (dtype) {
        case FC_F32: FC_EACH_SUM(f32, *to + *from);
        case FC_F64: FC_EACH_SUM(f64, *to + *from);
        case FC_F16: FC_EACH_SUM(uint16_t, fc_f16_of_f32(fc_f32_of_f16(*to) + fc_f32_of_f16(*from)));
        case FC_BF16: FC_EACH_SUM(uint16_t, fc_bf16_of_f32(fc_f32_of_bf16(*to) + fc_f32_of_bf16(*from)));
        default:
            for (int64_t p = 0; p < count; ++p)
                fc_cpu_accumulate(dtype, xs + in_x[p], 1, os + in_other[p], 1, 1);
        }
        return;
    }
    switch (fc_dt_size[dtype]) {
    case 1: FC_EACH_PLACE(uint8_t);
    case 2: FC_EACH_PLACE(uint16_t);
    case 4: FC_EACH_PLACE(uint32_t);
    case 8: FC_EACH_PLACE(uint64_t);
    default: FC_EACH_PLACE(c128);
    }
}

#undef FC_EACH_PLACE
#undef FC_EACH_SUM

#define FC_EACH_LINE(T)                                                        \
    for (int64_t p = 0; p < count; ++p) {                                      \
        const int64_t i = index[p] + (index[p] < 0 ? n : 0);                   \
        if (how == FC_THROUGH_READ)                                            \
            ((T *)os)[p] = ((const T *)xs)[i * step];                          \
        else                                                                   \
            ((T *)xs)[i * step] = ((const T *)os)[p];                          \
    }                                                                          \
    break

/* One index alone, of single elements, to or from a dense line: no places have to be computed. */
static void fc_index_line(int dtype, int how, char *xs, int64_t step, char *os, const int64_t *index, int64_t n, int64_t count)
{
    switch (fc_dt_size[dtype]) {
    case 1: FC_EACH_LINE(uint8_t);
    case 2: FC_EACH_LINE(uint16_t);
    case 4: FC_EACH_LINE(uint32_t);
    case 8: FC_EACH_LINE(uint64_t);
    default: FC_EACH_LINE(c128);
    }
}

#undef FC_EACH_LINE

/* A run of n elements at each place. */
static void fc_index_runs(int dtype, int how, char *xs, int64_t xstep, char *os, int64_t ostep, const int64_t *in_x, const int64_t *in_other, int64_t count, int64_t n)
{
    const int size = fc_dt_size[dtype];
    for (int64_t p = 0; p < count; ++p)
        if (how == FC_THROUGH_ADD)
            fc_cpu_accumulate(dtype, xs + in_x[p], xstep, os + in_other[p], ostep, n);
        else if (how == FC_THROUGH_WRITE)
            fc_cpu_strided_copy(size, xs + in_x[p], xstep, os + in_other[p], ostep, n);
        else
            fc_cpu_strided_copy(size, os + in_other[p], ostep, xs + in_x[p], xstep, n);
}

/* Of positions from `begin` on those that go to job's part of the one index's dim, in their order; answers how many. */
static int64_t fc_index_within(const fc_index_job *job, int64_t begin, int64_t count, int64_t *in_x, int64_t *in_other)
{
    const int64_t *index = (const int64_t *)job->t->index[0]->data + begin;
    int64_t kept = 0;
    for (int64_t p = 0; p < count; ++p) {
        in_x[kept] = in_x[p];
        in_other[kept] = in_other[p];
        kept += index[p] >= job->low && index[p] < job->high;
    }
    return kept;
}

/* Positions in blocks, whose places are computed once; the other dims around them. Where the innermost of those is no run of memory in x,
 * or none in `other`, a few of its elements are taken at a time, so that what the index jumps over stays in cache. */
static void fc_index_range(void *ctx, int64_t begin, int64_t end)
{
    const fc_index_job *job = ctx;
    const fc_indexed *t = job->t;
    const fc_tensor *view = t->view, *other = job->other;
    const int dtype = job->x->dtype, size = fc_dt_size[dtype], m = view->ndim, inner = m > t->lead;
    int64_t far[FC_MAX_DIMS], in_x[FC_PLACES], in_other[FC_PLACES];
    for (int d = 0; d < m; ++d)
        far[d] = other->stride[d < t->lead ? d : d + t->index_ndim];
    /* the last of the dims after the index's is the run; without one, single elements */
    const int64_t run = inner ? job->shape[m - 1] : 1, xstep = inner ? view->stride[m - 1] : 1, ostep = inner ? far[m - 1] : 1;
    const int64_t wide = inner && (xstep != 1 || ostep > 1) && run > FC_ACROSS ? FC_ACROSS : run;
    if (!job->numel)
        return;
    if (t->n == 1 && view->numel == 1 && other->contiguous && job->how != FC_THROUGH_ADD) {
        const int d = t->dim[0];
        fc_index_line(dtype, job->how, job->x->data, job->x->stride[d], other->data + begin * size, (const int64_t *)t->index[0]->data + begin, job->x->shape[d], end - begin);
        return;
    }
    for (int64_t i = begin; i < end; i += FC_PLACES) {
        int64_t count = end - i < FC_PLACES ? end - i : FC_PLACES;
        char *xs = job->x->data + job->x_at * size, *os = other->data + job->other_at * size;
        int64_t counter[FC_MAX_DIMS] = { 0 };
        fc_index_places(job, i, count, in_x, in_other);
        if (job->high)
            count = fc_index_within(job, i, count, in_x, in_other);
        for (int64_t done = 0; done < job->numel; done += run) {
            if (run == 1)
                fc_index_elements(dtype, job->how, xs, os, in_x, in_other, count);
            for (int64_t k = 0; run > 1 && k < run; k += wide)
                fc_index_runs(dtype, job->how, xs + k * xstep * size, xstep, os + k * ostep * size, ostep, in_x, in_other, count, run - k < wide ? run - k : wide);
            for (int d = m - 1 - inner; d >= 0; --d) {
                xs += view->stride[d] * size;
                os += far[d] * size;
                if (++counter[d] < job->shape[d])
                    break;
                xs -= job->shape[d] * view->stride[d] * size;
                os -= job->shape[d] * far[d] * size;
                counter[d] = 0;
            }
        }
    }
}

typedef struct { const fc_index_job *job; int dim; } fc_index_shares;

static void fc_index_share(void *ctx, int64_t begin, int64_t end)
{
    const fc_index_shares *s = ctx;
    const fc_indexed *t = s->job->t;
    const int d = s->dim;
    int64_t shape[FC_MAX_DIMS];
    fc_index_job part = *s->job;
    memcpy(shape, part.shape, (size_t)t->view->ndim * sizeof *shape);
    shape[d] = end - begin;
    part.numel = part.numel / part.shape[d] * shape[d];
    part.shape = shape;
    part.x_at = begin * t->view->stride[d];
    part.other_at = begin * part.other->stride[d < t->lead ? d : d + t->index_ndim];
    fc_index_range(&part, 0, t->positions);
}

static void fc_index_targets(void *ctx, int64_t begin, int64_t end)
{
    fc_index_job part = *(const fc_index_job *)ctx;
    part.low = begin;
    part.high = end;
    fc_index_range(&part, 0, part.t->positions);
}

/* Writes: a place that several positions name gets them in their order (the last wins, sums have one order), so what is shared out are
 * places, of whole slices where those are long and one index says where they go, else of another dim. */
static void fc_index_write(const fc_index_job *job)
{
    const fc_indexed *t = job->t;
    const fc_tensor *view = t->view;
    if (t->n == 1 && t->lead == 0 && job->x->stride[t->dim[0]] && view->numel * fc_dt_size[view->dtype] >= FC_LONG_SLICE) {
        const int64_t n = job->x->shape[t->dim[0]];
        fc_parallel(n, FC_GRAIN / (view->numel * t->positions / n + 1) + 1, fc_index_targets, (void *)job);
        return;
    }
    int dim = view->ndim - 1;
    for (int d = dim - 1; d >= 0; --d) /* the outermost of the longest: whole lines for each thread */
        if (view->shape[d] >= view->shape[dim] || view->shape[d] >= FC_ACROSS)
            dim = d;
    if (dim < 0 || view->numel == 0 || view->stride[dim] == 0) {
        fc_index_range((void *)job, 0, job->t->positions);
        return;
    }
    fc_index_shares shares = { job, dim };
    const int64_t each = view->numel / view->shape[dim] * job->t->positions, least = dim == view->ndim - 1 ? FC_ACROSS : 1, grain = FC_GRAIN / (each + 1) + 1;
    fc_parallel(view->shape[dim], grain < least ? least : grain, fc_index_share, &shares);
}

/* One index tensor: what goes through it are slices, or single elements, of any layout. 0 where the positions do not follow one
 * another by one step in `out`, or long runs of memory are moved sooner. */
static int fc_index_through(const fc_indexed *t, const fc_tensor *x, const fc_tensor *out, int how)
{
    enum { LONG_RUN = 64 /* bytes */ };
    const fc_tensor *view = t->view;
    const int m = view->ndim, lead = t->lead, d = t->dim[0];
    int64_t shape[FC_MAX_DIMS], big[FC_MAX_DIMS], flat[FC_MAX_DIMS], index[FC_MAX_DIMS] = { 0 }, bad, next = 0;
    if (t->n != 1 || (!lead && m && view->stride[m - 1] == 1 && view->shape[m - 1] * fc_dt_size[x->dtype] >= LONG_RUN))
        return 0;
    for (int k = t->index_ndim - 1, seen = 0; k >= 0; --k) {
        const int64_t size = out->shape[lead + k], stride = out->stride[lead + k];
        if (size == 1)
            continue;
        if (!seen++)
            flat[lead] = stride;
        else if (stride != next)
            return 0;
        next = stride * size;
    }
    shape[lead] = t->positions;
    big[lead] = x->stride[d];
    index[lead] = 1;
    if (t->positions == 1)
        flat[lead] = 1;
    for (int k = 0; k < m; ++k) {
        const int at = k < lead ? k : k + 1;
        shape[at] = view->shape[k];
        big[at] = view->stride[k];
        flat[at] = out->stride[k < lead ? k : k + t->index_ndim];
    }
    const fc_through through = { .dtype = x->dtype, .ndim = m + 1, .dim = lead, .how = how, .n = x->shape[d], .shape = shape, .big_stride = big,
                                 .flat_stride = flat, .index_stride = index, .index = (const int64_t *)t->index[0]->data, .big = x->data, .flat = out->data };
    fc_cpu_through(&through, &bad);
    return 1;
}

/* An operand as the result's shape shows it, in whose order of dims the result lies: k = -1 for x, 0 along the index's dims; else the k-th index,
 * of size 1 along the others. Of narrower integers PyTorch reads a copy in int64, which is laid out first. */
static fc_tensor *fc_index_shown(const fc_indexed *t, fc_tensor *x, int k)
{
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    for (int d = 0; d < t->ndim; ++d) {
        const int among = d >= t->lead && d < t->lead + t->index_ndim;
        shape[d] = among || k < 0 ? t->shape[d] : 1;
        stride[d] = among ? 0 : t->view->stride[d < t->lead ? d : d - t->index_ndim];
    }
    if (k < 0)
        return fc_new_view(x, t->ndim, shape, stride, x->offset);
    fc_tensor *wide = t->wide[k];
    fc_tensor *const read = wide->dtype == FC_I64 ? (fc_retain(wide), wide) : fc_new_like_inputs(FC_I64, FC_META, t->index_ndim, wide->shape, 1, &wide);
    fc_tensor *const shown = read ? fc_view_list(FC_OP_view, read, t->ndim, shape) : NULL;
    fc_free(read);
    return shown;
}

/* The result of a read lies as PyTorch's, whose loop goes over x and the index tensors. */
static fc_tensor *fc_index_result(const fc_indexed *t, fc_tensor *x)
{
    fc_tensor *shown[FC_MAX_DIMS + 1] = { NULL }, *out = NULL;
    int usual = x->contiguous && x->numel && t->positions && !fc_lies_oddly(x);
    for (int k = 0; k < t->n; ++k)
        usual &= t->wide[k]->contiguous && !fc_lies_oddly(t->wide[k]);
    if (usual)
        return fc_new(x->dtype, x->device, t->ndim, t->shape);
    int made = 1;
    for (int k = 0; k <= t->n; ++k)
        made &= (shown[k] = fc_index_shown(t, x, k - 1)) != NULL;
    if (made)
        out = fc_new_like_inputs(x->dtype, x->device, t->ndim, t->shape, t->n + 1, shown);
    for (int k = 0; k <= t->n; ++k)
        fc_free(shown[k]);
    return out;
}

/* The positions of an index along a dim of this size, in a line, none of them negative. NULL where one is out of bounds. */
static fc_tensor *fc_index_line_of(fc_tensor *index, int64_t size, int dim)
{
    fc_tensor *dense = fc_dense(index, FC_I64), *flat = dense ? fc_new_view(dense, 1, &dense->numel, NULL, dense->offset) : NULL;
    fc_free(dense);
    if (!flat)
        return NULL;
    const int64_t *i = (const int64_t *)flat->data, wrong = fc_cpu_outside(i, flat->numel, -size, size);
    if (wrong >= 0)
        fc_fail(FC_INDEX, i[wrong], size, dim, 0);
    if (wrong >= 0 || fc_count_from_the_end(&flat, size)) {
        fc_free(flat);
        return NULL;
    }
    return flat;
}

/* x[i[:, None], j]: a column and a row of positions along two dims side by side are two selections of slices. Answers the first of the dims, or
 * -1 where there is no such thing, or the first selection would make more than twice the result. columns: j's comes first. */
static int fc_index_grid_at(const fc_tensor *x, int n, fc_tensor *const *index, int *columns)
{
    enum { LEAST = 1024 };
    int count = 0, d = -1;
    for (int k = 0; k < n; ++k)
        if (index[k] && !count++)
            d = k;
    if (count != 2 || n > x->ndim || x->device != FC_CPU || !x->numel || !(x->contiguous || x->ndim == 2))
        return -1;
    const fc_tensor *const i = index[d], *const j = index[d + 1];
    if (!j || i->device != FC_CPU || j->device != FC_CPU || i->ndim != 2 || i->shape[1] != 1 || !(j->ndim == 1 || (j->ndim == 2 && j->shape[0] == 1)))
        return -1;
    const int64_t others = x->numel / (x->shape[d] * x->shape[d + 1]), result = others * i->numel * j->numel;
    const int64_t by_rows = others * i->numel * x->shape[d + 1], by_columns = others * x->shape[d] * j->numel;
    *columns = by_columns < by_rows;
    return result >= LEAST && (*columns ? by_columns : by_rows) <= 2 * result ? d : -1;
}

static fc_tensor *fc_index_grid(fc_tensor *x, fc_tensor *const *index, int d, int columns)
{
    fc_tensor *line[2] = { fc_index_line_of(index[d], x->shape[d], d), NULL }, *some = NULL, *all = NULL;
    line[1] = line[0] ? fc_index_line_of(index[d + 1], x->shape[d + 1], d + 1) : NULL;
    some = line[1] ? fc_gather(FC_OP_index_select, NULL, x, d + columns, line[columns], NULL) : NULL;
    all = some ? fc_gather(FC_OP_index_select, NULL, some, d + !columns, line[!columns], NULL) : NULL;
    fc_free(line[0]);
    fc_free(line[1]);
    fc_free(some);
    return all;
}

fc_tensor *fc_index(fc_tensor *x, int n, fc_tensor **index)
{
    fc_indexed t;
    fc_tensor *out = NULL;
    int columns;
    if (FC_IS_STALE(x))
        return fc_fail_stale(x, 0), NULL;
    const int d = fc_index_grid_at(x, n, index, &columns);
    if (d >= 0)
        return fc_index_grid(x, index, d, columns);
    if (!fc_indexed_make(&t, x, n, index))
        out = fc_index_result(&t, x);
    if (out && x->device != FC_META && out->numel && !fc_index_through(&t, x, out, FC_THROUGH_READ)) {
        const fc_index_job job = { &t, x, out, FC_THROUGH_READ, t.view->shape, t.view->numel, 0, 0, 0, 0 };
        const int64_t each = t.view->numel ? t.view->numel : 1;
        fc_parallel(t.positions, FC_GRAIN / each + 1, fc_index_range, (void *)&job);
    }
    fc_indexed_drop(&t);
    return out;
}

int fc_index_put(fc_tensor *x, int n, fc_tensor **index, fc_tensor *value, int accumulate)
{
    fc_indexed t;
    fc_tensor *wide = NULL, *dense = NULL;
    if (FC_IS_STALE(x))
        return fc_fail_stale(x, 0);
    if (FC_IS_STALE(value))
        return fc_fail_stale(value, 0);
    if (!fc_may_write(x))
        return fc_fail(FC_READONLY, 0, 0, 0, 0);
    if (value->device != x->device && x->device != FC_META)
        return fc_fail(FC_DEVICE, x->device, value->device, 0, 0);
    if (value->dtype != x->dtype)
        return fc_fail(FC_MIXED, 0, x->dtype, 1, value->dtype);
    for (int k = 0; k <= n; ++k) { /* what is written is read meanwhile */
        const fc_tensor *read = k < n ? index[k] : value;
        if (read && fc_overlaps(x, read))
            return fc_fail(FC_OVERLAP, 0, 0, 0, 0);
    }
    int bad = fc_indexed_make(&t, x, n, index);
    if (!bad) {
        wide = fc_view_list(FC_OP_expand, value, t.ndim, t.shape);
        /* the value may be x's own memory, and what goes to single places is gone through in a line */
        const int line = wide && t.n == 1 && t.view->numel == 1 && value->numel == wide->numel && !wide->contiguous;
        dense = wide && (line || wide->storage == x->storage) ? fc_to(wide, x->dtype, 0, 1) : wide ? (fc_retain(wide), wide) : NULL;
        bad = dense ? FC_OK : fc_status();
    }
    const int how = accumulate ? FC_THROUGH_ADD : FC_THROUGH_WRITE, loops = accumulate && !fc_is_float8(x->dtype);
    if (!bad && x->device != FC_META && dense->numel && !(loops && fc_index_through(&t, x, dense, how))) {
        const fc_index_job job = { &t, x, dense, how, t.view->shape, t.view->numel, 0, 0, 0, 0 };
        fc_index_write(&job);
    }
    fc_free(wide);
    fc_free(dense);
    fc_indexed_drop(&t);
    if (!bad)
        fc_bump(x);
    return bad;
}
