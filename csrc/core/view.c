/* Views: new descriptors over the same memory. */
#include "facula.h"
#include "ops.h"
#include "verb.h"

#include <string.h>

static fc_tensor *fc_null(int status) { (void)status; return NULL; }

/* Dim index in [0, limit), from either end. */
static int fc_dim_in(int64_t dim, int limit, int64_t *at)
{
    *at = dim < 0 ? dim + (limit ? limit : 1) : dim;
    return *at < 0 || *at >= (limit ? limit : 1) ? fc_fail(FC_DIM, dim, limit, 0, 0) : FC_OK;
}

fc_tensor *fc_as_strided(fc_tensor *x, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset)
{
    if (FC_VIEW_STALE(x))
        return fc_null(fc_fail(FC_STALE, 0, 0, 0, 0));
    const int64_t room = x->storage->nbytes / fc_dt_size[x->dtype];
    int64_t high = offset, step; /* of the last element */
    int far = 0, empty = 0;
    if (ndim > FC_MAX_DIMS)
        return fc_null(fc_fail(FC_RANK, 1, ndim, FC_MAX_DIMS, 0));
    for (int d = 0; d < ndim; ++d) {
        if (shape[d] < 0 || stride[d] < 0)
            return fc_null(fc_fail(FC_ARG, shape[d] < 0 ? 1 : 2, shape[d] < 0 ? shape[d] : stride[d], 0, 0));
        empty |= shape[d] == 0;
        far |= __builtin_mul_overflow(shape[d] - 1, stride[d], &step) || __builtin_add_overflow(high, step, &high);
    }
    if (offset < 0 || (!empty && (far || high >= room)))
        return fc_null(fc_fail(FC_NUMEL, far || high >= INT64_MAX / 16 ? INT64_MAX : (high + 1) * fc_dt_size[x->dtype], x->storage->nbytes, 0, 0));
    return fc_new_view(x, ndim, shape, stride, offset);
}

/*
 * Strides of x seen in another shape, if no copy is needed: PyTorch's rule. x's dims are grouped into runs that are contiguous
 * with each other; the new dims must split each run exactly.
 */
static int fc_view_strides(const fc_tensor *x, int n, const int64_t *shape, int64_t *stride)
{
    if (x->numel == 0) { /* of no elements: as a new tensor, but for one that keeps its shape */
        int64_t numel;
        if (n == x->ndim && !memcmp(shape, x->shape, (size_t)n * sizeof *shape))
            memcpy(stride, x->stride, (size_t)n * sizeof *stride);
        else
            fc_contiguous_strides(n, shape, stride, &numel);
        return 1;
    }
    int v = n - 1;
    int64_t base = x->ndim ? x->stride[x->ndim - 1] : 1, have = 1, want = 1;
    for (int d = x->ndim - 1; d >= 0; --d) {
        have *= x->shape[d];
        if (d > 0 && (x->shape[d - 1] == 1 || x->stride[d - 1] == have * base))
            continue;
        while (v >= 0 && (want < have || shape[v] == 1)) {
            stride[v] = want * base;
            want *= shape[v--];
        }
        if (want != have)
            return 0;
        if (d > 0) {
            base = x->stride[d - 1];
            have = want = 1;
        }
    }
    while (v >= 0)
        stride[v--] = want * base;
    return 1;
}

/* Contiguous, in no other strides than any such tensor: where it has a single element or none, or dims of one, others may be kept. */
static int fc_plainly_laid(const fc_tensor *x)
{
    int64_t wanted = 1;
    if (!x->contiguous || x->numel == 0)
        return 0;
    for (int d = x->ndim - 1; d >= 0; wanted *= x->shape[d--])
        if (x->stride[d] != wanted)
            return 0;
    return 1;
}

static fc_tensor *fc_reshaped(fc_tensor *x, int n, const int64_t *size)
{
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS], known = 1;
    int hole = -1;
    if (n > FC_MAX_DIMS)
        return fc_null(fc_fail(FC_RANK, 1, n, FC_MAX_DIMS, 0));
    for (int d = 0; d < n; ++d) {
        shape[d] = size[d];
        if (size[d] == -1 && hole < 0)
            hole = d;
        else if (size[d] < 0)
            return fc_null(fc_fail(FC_ARG, 1, size[d], hole >= 0 && size[d] == -1, 0));
        else
            known *= size[d];
    }
    if (hole >= 0) {
        if (known == 0 || x->numel % known)
            return fc_null(fc_fail(FC_NUMEL, x->numel, known, 1, 0));
        shape[hole] = x->numel / known;
        known *= shape[hole];
    }
    if (known != x->numel)
        return fc_null(fc_fail(FC_NUMEL, x->numel, known, 0, 0));
    if (fc_plainly_laid(x))
        return fc_new_view(x, n, shape, NULL, x->offset);
    if (!fc_view_strides(x, n, shape, stride))
        return fc_null(fc_fail(FC_VIEW, 0, 0, 0, 0));
    return fc_new_view(x, n, shape, stride, x->offset);
}

static fc_tensor *fc_expanded(fc_tensor *x, int n, const int64_t *size)
{
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    const int lead = n - x->ndim;
    if (lead < 0 || n > FC_MAX_DIMS)
        return fc_null(fc_fail(FC_RANK, 1, n, x->ndim, 0));
    for (int d = 0; d < n; ++d) {
        const int64_t have = d < lead ? 1 : x->shape[d - lead];
        if (size[d] == -1 && d >= lead)
            shape[d] = have;
        else if (size[d] < 0)
            return fc_null(fc_fail(FC_ARG, 1, size[d], d, 0));
        else
            shape[d] = size[d];
        if (have != 1 && have != shape[d])
            return fc_null(fc_fail(FC_SHAPE, d, shape[d], have, 0));
        if (d < lead)
            stride[d] = 0; /* PyTorch reports the stride below it; 0 walks the same */
        else
            stride[d] = have == 1 && shape[d] != 1 ? 0 : x->stride[d - lead];
    }
    for (int d = lead - 1; d >= 0; --d)
        stride[d] = shape[d] == 1 && x->ndim ? (d + 1 < n ? shape[d + 1] * stride[d + 1] : 1) : 0;
    return fc_new_view(x, n, shape, stride, x->offset);
}

static fc_tensor *fc_permuted(fc_tensor *x, int n, const int64_t *dims)
{
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    uint64_t seen = 0;
    if (n != x->ndim)
        return fc_null(fc_fail(FC_RANK, 1, n, x->ndim, 0));
    for (int k = 0; k < n; ++k) {
        int64_t d;
        if (fc_dim_in(dims[k], x->ndim, &d))
            return NULL;
        if (seen >> d & 1)
            return fc_null(fc_fail(FC_ARG, 1, dims[k], 0, 1));
        seen |= 1ull << d;
        shape[k] = x->shape[d];
        stride[k] = x->stride[d];
    }
    return fc_new_view(x, n, shape, stride, x->offset);
}

/* n = 0 and dims NULL: every dim of size 1 goes. */
static fc_tensor *fc_squeezed(fc_tensor *x, int n, const int64_t *dims)
{
    int64_t shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    uint64_t named = 0;
    for (int k = 0; k < n; ++k) {
        int64_t d;
        if (fc_dim_in(dims[k], x->ndim, &d))
            return NULL;
        named |= 1ull << d;
    }
    int m = 0;
    for (int d = 0; d < x->ndim; ++d)
        if (x->shape[d] != 1 || !(named >> d & 1)) {
            shape[m] = x->shape[d];
            stride[m++] = x->stride[d];
        }
    return fc_new_view(x, m, shape, stride, x->offset);
}

fc_tensor *fc_view_list(int op, fc_tensor *x, int n, const int64_t *d)
{
    if (FC_VIEW_STALE(x))
        return fc_null(fc_fail(FC_STALE, 0, 0, 0, 0));
    switch (op) {
    case FC_OP_view: return fc_reshaped(x, n, d);
    case FC_OP_expand: return fc_expanded(x, n, d);
    case FC_OP_permute: return fc_permuted(x, n, d);
    case FC_OP_squeeze: return fc_squeezed(x, n, d);
    default: return fc_null(fc_fail(FC_ARG, 0, op, 0, 0));
    }
}

fc_tensor *fc_view_dims(int op, fc_tensor *x, int n, int64_t d0, int64_t d1, int64_t d2, int64_t d3)
{
    const int64_t d[4] = { d0, d1, d2, d3 };
    return fc_view_list(op, x, n, d);
}

static fc_tensor *fc_transposed(fc_tensor *x, int64_t dim0, int64_t dim1)
{
    int64_t a, b, shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    if (fc_dim_in(dim0, x->ndim, &a) || fc_dim_in(dim1, x->ndim, &b))
        return NULL;
    for (int d = 0; d < x->ndim; ++d) {
        const int from = d == a ? (int)b : d == b ? (int)a : d;
        shape[d] = x->shape[from];
        stride[d] = x->stride[from];
    }
    return fc_new_view(x, x->ndim, shape, stride, x->offset);
}

static fc_tensor *fc_selected(fc_tensor *x, int64_t dim, int64_t index)
{
    int64_t at, shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    if (x->ndim == 0)
        return fc_null(fc_fail(FC_RANK, 0, 0, 1, 0));
    if (fc_dim_in(dim, x->ndim, &at))
        return NULL;
    const int64_t size = x->shape[at], i = index < 0 ? index + size : index;
    if (i < 0 || i >= size)
        return fc_null(fc_fail(FC_INDEX, index, size, at, 0));
    int n = 0;
    for (int d = 0; d < x->ndim; ++d)
        if (d != at) {
            shape[n] = x->shape[d];
            stride[n++] = x->stride[d];
        }
    return fc_new_view(x, n, shape, stride, x->offset + i * x->stride[at]);
}

/* Start, length and step are already within x (Python's slice.indices, or narrow's check): a bad one is refused all the same. */
static fc_tensor *fc_sliced(fc_tensor *x, int64_t dim, int64_t start, int64_t length, int64_t step)
{
    int64_t at, shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    if (x->ndim == 0)
        return fc_null(fc_fail(FC_RANK, 0, 0, 1, 0));
    if (fc_dim_in(dim, x->ndim, &at))
        return NULL;
    const int64_t size = x->shape[at];
    int64_t last;
    if (__builtin_mul_overflow(length - 1, step, &last) || __builtin_add_overflow(last, start, &last) || length > size)
        last = -1;
    if (start < 0 || start > size || length < 0 || length > size || (length && (start >= size || last < 0 || last >= size)))
        return fc_null(fc_fail(FC_INDEX, length ? last : start, size, at, 0));
    for (int d = 0; d < x->ndim; ++d) {
        shape[d] = x->shape[d];
        stride[d] = x->stride[d];
    }
    shape[at] = length;
    stride[at] *= step;
    return fc_new_view(x, x->ndim, shape, stride, x->offset + start * x->stride[at]);
}

static fc_tensor *fc_unsqueezed(fc_tensor *x, int64_t dim)
{
    int64_t at, shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    if (x->ndim == FC_MAX_DIMS)
        return fc_null(fc_fail(FC_RANK, 0, x->ndim + 1, FC_MAX_DIMS, 0));
    if (fc_dim_in(dim, x->ndim + 1, &at))
        return NULL;
    int n = 0;
    for (int d = 0; d <= x->ndim; ++d) {
        if (d == at) {
            shape[n] = 1;
            stride[n++] = d < x->ndim ? x->shape[d] * x->stride[d] : 1;
        }
        if (d < x->ndim) {
            shape[n] = x->shape[d];
            stride[n++] = x->stride[d];
        }
    }
    return fc_new_view(x, n, shape, stride, x->offset);
}

static fc_tensor *fc_diagonal_of(fc_tensor *x, int64_t offset, int64_t dim1, int64_t dim2)
{
    int64_t a, b, shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    if (fc_dim_in(dim1, x->ndim, &a) || fc_dim_in(dim2, x->ndim, &b))
        return NULL;
    if (a == b)
        return fc_null(fc_fail(FC_ARG, 2, dim1, dim2, 1));
    const int64_t rows = offset < 0 ? x->shape[a] + offset : x->shape[a];
    const int64_t cols = offset > 0 ? x->shape[b] - offset : x->shape[b];
    const int64_t size = rows < cols ? rows : cols;
    int64_t start = x->offset;
    if (size > 0)
        start += offset >= 0 ? offset * x->stride[b] : -offset * x->stride[a];
    int n = 0;
    for (int d = 0; d < x->ndim; ++d)
        if (d != a && d != b) {
            shape[n] = x->shape[d];
            stride[n++] = x->stride[d];
        }
    shape[n] = size > 0 ? size : 0;
    stride[n++] = x->stride[a] + x->stride[b];
    return fc_new_view(x, n, shape, stride, start);
}

static fc_tensor *fc_unfolded(fc_tensor *x, int64_t dim, int64_t size, int64_t step)
{
    int64_t at, shape[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    if (x->ndim == FC_MAX_DIMS)
        return fc_null(fc_fail(FC_RANK, 0, x->ndim + 1, FC_MAX_DIMS, 0));
    if (fc_dim_in(dim, x->ndim, &at))
        return NULL;
    const int64_t have = x->ndim ? x->shape[at] : 1;
    if (size < 0 || size > have)
        return fc_null(fc_fail(FC_ARG, 2, size, have, 0));
    if (step <= 0)
        return fc_null(fc_fail(FC_ARG, 3, step, 1, 0));
    for (int d = 0; d < x->ndim; ++d) {
        shape[d] = x->shape[d];
        stride[d] = x->stride[d];
    }
    shape[x->ndim] = size;
    stride[x->ndim] = x->ndim ? x->stride[at] : 1;
    if (x->ndim) {
        shape[at] = (have - size) / step + 1;
        stride[at] *= step;
    }
    return fc_new_view(x, x->ndim + 1, shape, stride, x->offset);
}

/* The other element type of a complex tensor's memory: sizes and strides double or halve. */
static fc_tensor *fc_real_viewed(fc_tensor *x, int to_real)
{
    int64_t shape[FC_MAX_DIMS] = { 0 }, stride[FC_MAX_DIMS] = { 0 };
    if (x->lazy & FC_LAZY_CONJ)
        return fc_null(fc_fail(FC_UNRESOLVED, x->lazy, 0, 0, 0));
    const int wanted = to_real ? (x->dtype == FC_C64 ? FC_F32 : x->dtype == FC_C128 ? FC_F64 : -1)
                               : (x->dtype == FC_F32 ? FC_C64 : x->dtype == FC_F64 ? FC_C128 : -1);
    if (wanted < 0)
        return fc_null(fc_fail(FC_DTYPE, x->dtype, 0, 0, 0));
    const int n = to_real ? x->ndim + 1 : x->ndim - 1;
    if (n > FC_MAX_DIMS)
        return fc_null(fc_fail(FC_RANK, 0, n, FC_MAX_DIMS, 0));
    if (!to_real) {
        if (x->ndim == 0 || x->shape[n] != 2 || x->stride[n] != 1)
            return fc_null(fc_fail(FC_SIZE, 0, x->ndim ? x->shape[n] : 0, 0, 2));
        for (int d = 0; d < n; ++d)
            if ((x->shape[d] != 1 && x->stride[d] % 2) || x->offset % 2)
                return fc_null(fc_fail(FC_VIEW, d, x->stride[d], x->offset, 0));
    }
    for (int d = 0; d < n; ++d) {
        shape[d] = to_real && d == n - 1 ? 2 : x->shape[d];
        stride[d] = to_real ? (d == n - 1 ? 1 : 2 * x->stride[d]) : x->stride[d] / 2;
    }
    fc_tensor *t = fc_new_view(x, n, shape, stride, x->offset);
    if (!t)
        return NULL;
    t->dtype = (uint8_t)wanted;
    t->offset = to_real ? x->offset * 2 : x->offset / 2;
    return t;
}

/* What a view as another dtype wants, in the order in which it is checked: first detail of FC_VIEW. */
enum { FC_WANT_DIM = 1, FC_WANT_LAST_STRIDE, FC_WANT_SIZE, FC_WANT_OFFSET, FC_WANT_STRIDE };

/* The same bytes as elements of another dtype: PyTorch's rules. Sizes differ: the last dim must be dense. */
static fc_tensor *fc_dtype_viewed(fc_tensor *x, int64_t dtype)
{
    int64_t shape[FC_MAX_DIMS] = { 0 }, stride[FC_MAX_DIMS] = { 0 }, offset = x->offset;
    if (dtype < 0 || dtype >= FC_NDTYPES)
        return fc_null(fc_fail(FC_DTYPE, dtype, 0, 0, 0));
    if (x->lazy)
        return fc_null(fc_fail(FC_UNRESOLVED, x->lazy, 0, 0, 0));
    const int have = fc_dt_size[x->dtype], want = fc_dt_size[dtype], last = x->ndim - 1;
    const int64_t grow = have / want, shrink = want / have; /* one of them is 0 where sizes differ */
    for (int d = 0; d <= last; ++d) {
        shape[d] = x->shape[d];
        stride[d] = x->stride[d];
    }
    if (have != want) {
        if (last < 0)
            return fc_null(fc_fail(FC_VIEW, FC_WANT_DIM, 0, 0, dtype));
        if (shrink && shape[last] % shrink)
            return fc_null(fc_fail(FC_VIEW, FC_WANT_SIZE, shape[last], shrink, dtype));
        if (shrink && offset % shrink)
            return fc_null(fc_fail(FC_VIEW, FC_WANT_OFFSET, offset, shrink, dtype));
        if (stride[last] != 1)
            return fc_null(fc_fail(FC_VIEW, FC_WANT_LAST_STRIDE, stride[last], 0, dtype));
        for (int d = 0; d < last; ++d) {
            if (shrink && stride[d] % shrink)
                return fc_null(fc_fail(FC_VIEW, FC_WANT_STRIDE + d, stride[d], shrink, dtype));
            stride[d] = shrink ? stride[d] / shrink : stride[d] * grow;
        }
        shape[last] = shrink ? shape[last] / shrink : shape[last] * grow;
        offset = shrink ? offset / shrink : offset * grow;
    }
    fc_tensor *t = fc_new_view(x, x->ndim, shape, stride, x->offset);
    if (t) {
        t->dtype = (uint8_t)dtype;
        t->offset = offset;
    }
    return t;
}

/* The same elements, each seen conjugated or negated: twice is not at all. */
static fc_tensor *fc_lazily(fc_tensor *x, int bit)
{
    const int takes = bit == FC_LAZY_CONJ ? x->dtype == FC_C64 || x->dtype == FC_C128 : x->dtype != FC_BOOL;
    fc_tensor *t = takes ? fc_alias(x, 0) : fc_null(fc_fail(FC_DTYPE, x->dtype, 0, 0, 0));
    if (t) {
        t->epoch = t->lazy ? ~t->epoch : t->epoch;
        t->lazy ^= (uint8_t)bit;
        t->epoch = t->lazy ? ~t->epoch : t->epoch;
    }
    return t;
}

fc_tensor *fc_view_op(int op, fc_tensor *x, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    if (FC_VIEW_STALE(x))
        return fc_null(fc_fail(FC_STALE, 0, 0, 0, 0));
    switch (op) {
    case FC_OP_select: return fc_selected(x, i0, i1);
    case FC_OP_slice: return fc_sliced(x, i0, i1, i2, i3);
    case FC_OP_transpose: return fc_transposed(x, i0, i1);
    case FC_OP_unsqueeze: return fc_unsqueezed(x, i0);
    case FC_OP_diagonal: return fc_diagonal_of(x, i0, i1, i2);
    case FC_OP_unfold: return fc_unfolded(x, i0, i1, i2);
    case FC_OP_alias: return fc_alias(x, 0);
    case FC_OP__conj: return fc_lazily(x, FC_LAZY_CONJ);
    case FC_OP__neg_view: return fc_lazily(x, FC_LAZY_NEG);
    case FC_OP_view_dtype: return fc_dtype_viewed(x, i0);
    case FC_OP_real_view: return fc_real_viewed(x, 1);
    case FC_OP_complex_view: return fc_real_viewed(x, 0);
    default: return fc_null(fc_fail(FC_ARG, 0, op, 0, 0));
    }
}
