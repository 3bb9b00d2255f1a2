/* fc_fold and fc_scan: reductions and running reductions over logical dims, whatever the strides. */
#include <string.h>

#include "facula.h"
#include "../cpu/fold.h"
#include "../cpu/scan.h"
#include "alloc.h"
#include "fold_form.h"
#include "memory_format.h"
#include "nest.h"
#include "verb.h"

/* Which loop of cpu/fold.h a row means. */
static int fc_fold_kind_of(int op)
{
    switch (op) {
#define FC_FOLD(name, ...) case FC_OP_##name: return FC_FOLD_##name;
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
    default: return -1;
    }
}

static int fc_scan_kind_of(int op)
{
    switch (op) {
#define FC_SCAN(name, ...) case FC_OP_##name: return FC_SCAN_##name;
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
    default: return -1;
    }
}

/* Bit d of the answer: dim d is reduced. No bit given means all. A 0-d tensor has one dim to name, 0 or -1. */
static int fc_reduced_dims(int ndim, uint64_t dims, uint64_t from_end, uint64_t *mask)
{
    const int limit = ndim ? ndim : 1;
    *mask = 0;
    if (!dims && !from_end)
        *mask = limit >= 64 ? ~0ull : (1ull << limit) - 1;
    for (; dims; dims &= dims - 1) {
        const int d = __builtin_ctzll(dims);
        if (d >= limit)
            return fc_fail(FC_DIM, d, ndim, 0, 0);
        *mask |= 1ull << d;
    }
    for (; from_end; from_end &= from_end - 1) { /* bit d means dim -1 - d */
        const int d = __builtin_ctzll(from_end), at = limit - 1 - d;
        if (d >= limit)
            return fc_fail(FC_DIM, -1 - d, ndim, 0, 0);
        if (*mask >> at & 1)
            return fc_fail(FC_ARG, 1, at, ndim, 1); /* named twice */
        *mask |= 1ull << at;
    }
    return FC_OK;
}

static int fc_result_shape(const fc_tensor *x, uint64_t mask, int keepdim, int64_t *shape)
{
    int n = 0;
    for (int d = 0; d < x->ndim; ++d) {
        if (!(mask >> d & 1))
            shape[n++] = x->shape[d];
        else if (keepdim)
            shape[n++] = 1;
    }
    return n;
}

/* Kernels answer int64 where another integer dtype was asked for. */
static int fc_narrowed_dtype(int result, int asked)
{
    return asked >= 0 && fc_is_int(asked) ? asked : result;
}

/* The verb's answer: value in the dtype that was asked for, and index, if there is one, as second result. NULL where there is no room. */
static fc_tensor *fc_deliver_both(fc_tensor *out, fc_tensor *value, fc_tensor *index, int dtype)
{
    const int asked = fc_narrowed_dtype(value->dtype, dtype);
    if (index)
        fc_leave_result(1, index);
    if (asked != value->dtype) {
        fc_tensor *narrow = fc_to(value, asked, 0, 1);
        fc_free(value);
        value = narrow;
    }
    return value ? fc_deliver(out, value) : NULL;
}

fc_tensor *fc_fold(int op, fc_tensor *out, fc_tensor *x, uint64_t dims, uint64_t dims_from_end, int keepdim, int dtype)
{
    const fc_scalar *scalars = fc_op_scalars(op);
    const int which = fc_fold_kind_of(op);
    const int both = which == FC_FOLD__aminmax, two = both || which == FC_FOLD_max_index || which == FC_FOLD_min_index;
    uint64_t mask;
    int device;
    if (fc_check_operands(1, &x, &device) || fc_reduced_dims(x->ndim, dims, dims_from_end, &mask))
        return NULL;
    int in_dtype = dtype >= 0 ? dtype : x->dtype;
    if (fc_ops[op].result_word == FC_RESULT_FLOAT && fc_is_int(in_dtype))
        in_dtype = fc_default_dtype();
    if (which == FC_FOLD_nansum && fc_is_complex(x->dtype))
        in_dtype = x->dtype; /* refused also where the sum of the real parts is asked for */
    const int result = fc_op_takes(op, in_dtype) ? fc_fold_result(which, in_dtype) : -1;
    if (result < 0) {
        fc_fail(FC_DTYPE, in_dtype, 0, 0, 0);
        return NULL;
    }
    int64_t shape[FC_MAX_DIMS], reduce = 1;
    const int ndim = fc_result_shape(x, mask, keepdim, shape);
    if (out && fc_check_out(out, fc_narrowed_dtype(result, dtype), device, ndim, shape))
        return NULL;
    for (int d = 0; d < x->ndim; ++d)
        if (mask >> d & 1)
            reduce *= x->shape[d];
    fc_tensor *value = fc_new(result, device, ndim, shape);
    fc_tensor *index = value && two ? fc_new(both ? result : FC_I64, device, ndim, shape) : NULL;
    if (!value || (two && !index))
        goto fail;
    if (reduce == 0 && !fc_fold_has_identity(which)) {
        int at = 0;
        while (at < x->ndim - 1 && !(mask >> at & 1 && x->shape[at] == 0))
            ++at;
        fc_fail(FC_EMPTY, at, 0, 0, 0);
        goto fail;
    }
    if (device != FC_META) {
        fc_tensor *source = NULL;
        if (in_dtype != x->dtype && !(source = fc_to(x, in_dtype, 0, 1)))
            goto fail;
        const int bad = fc_fold_values(which, value, index, source ? source : x, mask, scalars ? scalars[0].re : 0);
        fc_free(source);
        if (bad)
            goto fail;
    }
    return fc_deliver_both(out, value, index, dtype);
fail:
    fc_free(value);
    fc_free(index);
    return NULL;
}

/* Scans x along dim d into value and index, both contiguous. Lines that are the same are scanned once. */
static int fc_scan_values(int which, fc_tensor *value, fc_tensor *index, fc_tensor *x, int in_dtype, int d)
{
    uint64_t repeated;
    fc_tensor *view = fc_distinct(x, x->ndim ? 1ull << d : 0, &repeated), *dense = NULL;
    int64_t across = 0;
    if (view && view->dtype == in_dtype && !view->contiguous && view->ndim == 2 && view->stride[0] == 1 && view->stride[1] > 0
        && fc_scan_takes_across(in_dtype, view->shape[d])) {
        across = view->stride[1];
        dense = view;
        fc_retain(dense);
    } else if (view) {
        dense = fc_dense(view, in_dtype);
    }
    fc_free(view);
    fc_tensor *some = NULL, *places = NULL;
    int bad = FC_MEMORY;
    if (dense) {
        some = repeated ? fc_new(value->dtype, FC_CPU, dense->ndim, dense->shape) : value;
        places = some && repeated && index ? fc_new(FC_I64, FC_CPU, dense->ndim, dense->shape) : index;
    }
    if (some && (!index || places)) {
        int64_t outer = 1, inner = 1;
        for (int k = 0; k < d; ++k)
            outer *= dense->shape[k];
        for (int k = d + 1; k < dense->ndim; ++k)
            inner *= dense->shape[k];
        bad = fc_scan_run(which, in_dtype, some->data, places ? (int64_t *)places->data : NULL, dense->data, outer,
                          dense->ndim ? dense->shape[d] : 1, inner, across);
    }
    if (repeated && !bad) {
        fc_spread(value, some, x, 0, repeated);
        if (index)
            fc_spread(index, places, x, 0, repeated);
    }
    if (repeated) {
        fc_free(some);
        fc_free(places == index ? NULL : places);
    }
    fc_free(dense);
    return bad;
}

/* May a scan write where the caller wants its result? out lies as a new tensor would, or as x does, both without gaps; and over x itself,
 * since loops of sums read an element before they write it. */
static int fc_scan_fits(fc_tensor *out, const fc_tensor *x, int in_dtype, int result, int indexed)
{
    if (out->device == FC_META || FC_IS_STALE(out) || out->dtype != result)
        return 0;
    if (fc_overlaps(out, x) && (indexed || x->dtype != in_dtype || fc_overlaps_partly(out, x)))
        return 0;
    return out->contiguous || (!indexed && !memcmp(out->stride, x->stride, (size_t)x->ndim * sizeof *x->stride) && fc_is_dense(x));
}

/* Scans x into out, both of which lie in another order of dims than the logical one. */
static int fc_scan_as_it_lies(int which, fc_tensor *out, fc_tensor *x, int in_dtype, int d)
{
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    int n = 0, moved = 0;
    for (int k = 0; k < x->ndim; ++k) { /* slowest first */
        int at = n++;
        for (; at > 0 && stride[at - 1] < x->stride[k]; --at) {
            shape[at] = shape[at - 1];
            stride[at] = stride[at - 1];
        }
        moved += k == d ? at - moved : k > d && at <= moved;
        shape[at] = x->shape[k];
        stride[at] = x->stride[k];
    }
    fc_tensor *from = fc_new_view(x, n, shape, stride, x->offset), *to = fc_new_view(out, n, shape, stride, out->offset);
    const int bad = from && to ? fc_scan_values(which, to, NULL, from, in_dtype, moved) : FC_MEMORY;
    fc_free(from);
    fc_free(to);
    return bad;
}

fc_tensor *fc_scan(int op, fc_tensor *out, fc_tensor *x, int64_t dim, int dtype)
{
    const int which = fc_scan_kind_of(op);
    int device;
    if (fc_check_operands(1, &x, &device))
        return NULL;
    const int64_t d = fc_wrap_dim(dim, x->ndim);
    if (d < 0 || d >= (x->ndim ? x->ndim : 1)) {
        fc_fail(FC_DIM, dim, x->ndim, 0, 0);
        return NULL;
    }
    const int in_dtype = dtype >= 0 ? dtype : x->dtype;
    const int result = fc_op_takes(op, in_dtype) && dtype != FC_BOOL ? fc_scan_result(which, in_dtype) : -1;
    if (result < 0) {
        fc_fail(FC_DTYPE, in_dtype, 0, 0, 0);
        return NULL;
    }
    if (out && fc_check_out(out, fc_narrowed_dtype(result, dtype), device, x->ndim, x->shape))
        return NULL;
    const int indexed = fc_scan_has_index(which);
    const int straight = out && result == fc_narrowed_dtype(result, dtype) && fc_scan_fits(out, x, in_dtype, result, indexed);
    fc_tensor *value = straight ? out : fc_new(result, device, x->ndim, x->shape);
    fc_tensor *index = value && indexed ? fc_new(FC_I64, device, x->ndim, x->shape) : NULL;
    if (straight)
        fc_retain(out);
    if (!value || (indexed && !index))
        goto fail;
    if (device != FC_META
        && (value->contiguous ? fc_scan_values(which, value, index, x, in_dtype, (int)d) : fc_scan_as_it_lies(which, value, x, in_dtype, (int)d)))
        goto fail;
    if (!straight)
        return fc_deliver_both(out, value, index, dtype);
    if (index)
        fc_leave_result(1, index);
    fc_bump(out);
    return out;
fail:
    fc_free(value);
    fc_free(index);
    return NULL;
}
