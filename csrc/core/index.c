/* Reading and writing through index tensors: gather, scatter, index_select. Advanced indexing: index_tensors.c. */
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

/* Every check of the rows in one place. n: how many positions along dim the index has. */
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
        if (!x->ndim && index->numel != 1) /* the one slice of a number is the number */
            return fc_fail(FC_SIZE, 2, index->numel, 0, 1);
        if (src) {
            if (src->ndim != x->ndim && !(op == FC_OP_index_copy && !x->ndim && src->ndim == 1 && src->numel == 1))
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
    if (src && index->numel && (src->ndim ? src->ndim : 1) != in)
        return fc_fail(FC_RANK, 3, src->ndim, index->ndim, 0);
    if (src && src->ndim <= 1 && src->numel < index->numel)
        return fc_fail(FC_SIZE, 2, index->numel, 3, src->numel);
    for (int d = 0; d < x->ndim && index->ndim; ++d) {
        if (d != dim && index->shape[d] > x->shape[d])
            return fc_fail(FC_SIZE, 2, index->shape[d], 0, x->shape[d]);
        if (src && src->ndim && index->shape[d] > src->shape[d])
            return fc_fail(FC_SIZE, 2, index->shape[d], 3, src->shape[d]);
    }
    return FC_OK;
}

/* Whether the slices of x along d can be read as they lie: see fc_slices. */
static int fc_readable_slices(const fc_tensor *x, int64_t d, int64_t *far, int64_t *step)
{
    int64_t run = 1, next = 0;
    *far = 0;
    *step = x->ndim ? x->stride[d] : 1;
    for (int64_t k = x->ndim - 1; k > d; --k) {
        if (x->shape[k] != 1 && x->stride[k] != run)
            return 0;
        run *= x->shape[k];
    }
    if (run == 1 && *step != 1) /* single elements far apart */
        return 0;
    for (int64_t k = d - 1, seen = 0; k >= 0; --k) {
        if (x->shape[k] == 1)
            continue;
        if (!seen++)
            *far = next = x->stride[k];
        else if (x->stride[k] != next)
            return 0;
        next *= x->shape[k];
    }
    return 1;
}

/* Is it one element, shown in every place, of slices along d that have more than one? */
static int fc_is_one(const fc_tensor *src, int64_t d)
{
    int64_t inner = 1;
    for (int64_t k = 0; k < src->ndim; ++k) {
        if (src->stride[k] && src->shape[k] != 1)
            return 0;
        inner *= k > d ? src->shape[k] : 1;
    }
    return inner > 1;
}

/* A slice along d of such a tensor, which stands for all of them. */
static fc_tensor *fc_one_slice(fc_tensor *src, int64_t d, int dtype)
{
    int64_t inner = 1, again = 0;
    for (int64_t k = d + 1; k < src->ndim; ++k)
        inner *= src->shape[k];
    fc_tensor *view = fc_new_view(src, 1, &inner, &again, src->offset), *slice = view ? fc_dense(view, dtype) : NULL;
    fc_free(view);
    return slice;
}

/* One column of positions, expanded over all others, moves whole slices: the row for those, NULL where there is none or the index is another. */
static fc_tensor *fc_column(int *op, const fc_tensor *x, int64_t dim, fc_tensor *index, const fc_tensor *src)
{
    const int slices = *op == FC_OP_gather ? FC_OP_index_select : *op == FC_OP_scatter ? FC_OP_index_copy : *op == FC_OP_scatter_add ? FC_OP_index_add : -1;
    if (slices < 0 || x->ndim < 2 || !index->numel || (src && (src->ndim != x->ndim || src->shape[dim] != index->shape[dim])))
        return NULL;
    for (int d = 0; d < x->ndim; ++d)
        if (d != dim && ((index->stride[d] && index->shape[d] != 1) || index->shape[d] != x->shape[d] || (src && src->shape[d] != x->shape[d])))
            return NULL;
    fc_tensor *column = fc_new_view(index, 1, &index->shape[dim], &index->stride[dim], index->offset);
    *op = column ? slices : *op;
    return column;
}

/* int64 shown along a dim without being there as often: its lines say one position, which is faster than many that are the same. */
static int fc_repeats(const fc_tensor *index)
{
    int shown = 0;
    for (int d = 0; d < index->ndim; ++d)
        shown |= !index->stride[d] && index->shape[d] > 1;
    return shown && index->dtype == FC_I64;
}

fc_tensor *fc_gather(int op, fc_tensor *out, fc_tensor *x, int64_t dim, fc_tensor *index, fc_tensor *src)
{
    static const int how[FC_NOPS] = {
        [FC_OP_gather] = FC_THROUGH_READ, [FC_OP_scatter] = FC_THROUGH_WRITE, [FC_OP_scatter_add] = FC_THROUGH_ADD,
        [FC_OP__scatter_prod] = FC_THROUGH_MUL, [FC_OP__scatter_max] = FC_THROUGH_MAX, [FC_OP__scatter_min] = FC_THROUGH_MIN,
    };
    fc_tensor *ops[3] = { x, index, src }, *t = NULL, *where = NULL, *from = NULL;
    int device;
    if (op == FC_OP__gather_sparse_grad) /* a row of its own for its derivative alone */
        op = FC_OP_gather;
    if (fc_check_operands(3, ops, &device))
        return NULL;
    const int64_t d = fc_wrap_dim(dim, x->ndim);
    if (d < 0 || d >= (x->ndim ? x->ndim : 1))
        return fc_index_fail(FC_DIM, dim, x->ndim, 0, 0);
    if (fc_gather_check(op, x, d, index, src))
        return NULL;
    if (!fc_op_takes(op, x->dtype))
        return fc_index_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    fc_tensor *const column = fc_column(&op, x, d, index, src);
    index = column ? column : index;
    int64_t shape[FC_MAX_DIMS];
    const int writes = op != FC_OP_gather && op != FC_OP_index_select;
    /* halves are added up in float32 and rounded once */
    const int wide = (op == FC_OP_scatter_add || op == FC_OP_index_add) && (x->dtype == FC_F16 || x->dtype == FC_BF16) ? FC_F32 : x->dtype;
    const fc_tensor *like = op == FC_OP_gather ? index : x;
    for (int k = 0; k < like->ndim; ++k)
        shape[k] = like->shape[k];
    if (op == FC_OP_index_select && x->ndim)
        shape[d] = index->numel;
    if (out && fc_check_out(out, x->dtype, device, like->ndim, shape)) {
        fc_free(column);
        return NULL;
    }
    /* in place where nothing else is in that memory; an index that is out of bounds is found before a slice is written */
    const int here = writes && out == x && wide == x->dtype && x->contiguous && fc_is_slices(op) && device != FC_META && fc_may_write(x) && !fc_same_storage(x, index) && !fc_same_storage(x, src);
    t = here ? (fc_retain(x), x) : writes ? fc_to(x, device == FC_META ? x->dtype : wide, 0, 1) : fc_new(x->dtype, device, like->ndim, shape);
    if (!t || device == FC_META) {
        fc_free(column);
        return fc_deliver(out, t);
    }
    where = how[op] > FC_THROUGH_ADD && fc_repeats(index) ? (fc_retain(index), index) : fc_dense(index, FC_I64);
    int64_t far = 0, step = 0;
    fc_tensor *const read = writes ? src : x;
    const int same = writes && fc_is_slices(op) && fc_is_one(src, d), as_it_lies = same || (fc_is_slices(op) && read->dtype == wide && fc_readable_slices(read, d, &far, &step));
    from = same ? fc_one_slice(src, d, wide) : as_it_lies || !writes ? (fc_retain(read), read) : fc_is_slices(op) ? fc_dense(src, wide)
         : wide == x->dtype ? (fc_retain(src), src) : fc_to(src, wide, 0, 0);
    int64_t at = 0;
    int bad = !where || !from ? FC_MEMORY : FC_OK;
    if (!bad && where->numel) {
        int64_t outer, n, inner;
        fc_around(x, d, &outer, &n, &inner);
        const int64_t one = 1;
        /* a 0-d operand among them: one line, of as many positions as the index has */
        const int scalar = x->ndim == 0 || (where->ndim == 0 && !fc_is_slices(op)), through_slices = op == FC_OP_index_select && !as_it_lies;
        int64_t along[FC_MAX_DIMS] = { 0 };
        along[d] = 1;
        const fc_tensor *big = writes ? t : from, *flat = writes ? from : t;
        const fc_through through = { .dtype = wide, .ndim = scalar ? 1 : x->ndim, .dim = scalar ? 0 : (int)d, .n = n,
                                     .how = how[op],
                                     .index_stride = through_slices ? along : where->ndim ? where->stride : &one, .shape = through_slices ? t->shape : scalar ? &where->numel : where->shape, .big_stride = x->ndim ? big->stride : &one,
                                     .flat_stride = flat->ndim ? flat->stride : &one, .index = (const int64_t *)where->data, .big = big->data, .flat = flat->data };
        const fc_slices slices = { .dtype = wide, .outer = outer, .n = n, .inner = inner, .count = where->numel, .index = (const int64_t *)where->data,
                                   .far = as_it_lies ? far : where->numel * inner, .step = as_it_lies ? step : inner };
        if (!fc_is_slices(op) || through_slices)
            bad = fc_cpu_through(&through, &at);
        else if (writes)
            bad = fc_cpu_index_write(&slices, t->data, from->data, op == FC_OP_index_add, &at);
        else
            bad = fc_cpu_index_select(&slices, t->data, from->data, &at);
        if (bad)
            fc_fail(FC_INDEX, at, n, d, 0);
    }
    fc_free(column);
    fc_free(where);
    fc_free(from);
    if (bad) {
        fc_free(t);
        return NULL;
    }
    if (here) {
        fc_bump(t);
        return t;
    }
    if (wide != x->dtype) {
        fc_tensor *const sums = t;
        t = fc_to(sums, x->dtype, 0, 0);
        fc_free(sums);
        if (!t)
            return NULL;
    }
    return fc_deliver(out, t);
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
