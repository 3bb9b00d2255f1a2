#include "memory_format.h"

/* PyTorch's: unlike a row-major one, a dim of no elements makes the strides of the dims outside of it 0. */
static void channels_last_strides(int ndim, const int64_t *shape, int64_t *stride)
{
    int64_t run = 1;
    for (int k = 0; k < ndim; ++k) {
        const int d = k == 0 ? 1 : k == ndim - 1 ? 0 : ndim - k;
        stride[d] = run;
        run *= shape[d];
    }
}

static int same_strides(const fc_tensor *x, const int64_t *stride)
{
    for (int d = 0; d < x->ndim; ++d)
        if (x->shape[d] != 1 && x->stride[d] != stride[d])
            return 0;
    return 1;
}

int fc_is_contiguous(fc_tensor *x, int memory_format)
{
    int64_t stride[FC_MAX_DIMS];
    if (memory_format < 2)
        return x->contiguous;
    if (x->ndim != fc_format_dims(memory_format))
        return 0;
    channels_last_strides(x->ndim, x->shape, stride);
    return same_strides(x, stride);
}

/* Told by strides alone, so dims of size 1 have a say, and of nothing they say nothing: c10/core/MemoryFormat.h's rule. */
int fc_lies_last(const fc_tensor *x)
{
    const int last = x->ndim - 1;
    if (x->ndim < 3 || x->stride[1] > x->stride[last] || !x->stride[1])
        return 0;
    int64_t least = 0;
    for (int k = 0; k < x->ndim; ++k) {
        const int d = k == 0 ? 1 : k == last ? 0 : x->ndim - k; /* channels, the last dim, ..., the batch */
        if (!x->shape[d] || x->stride[d] < least || (d == 0 && least == x->stride[1]))
            return 0;
        least = x->stride[d] * x->shape[d];
    }
    return 1;
}

int fc_suggested_format(fc_tensor *x)
{
    return x->ndim > 5 || !fc_lies_last(x) ? 0 : x->ndim == 3 ? FC_LINES_LAST : x->ndim - 2;
}

int fc_lie_as(fc_tensor *t, fc_tensor *like)
{
    if (t->ndim != like->ndim)
        return 0;
    for (int d = 0; d < t->ndim; ++d)
        if (t->shape[d] != like->shape[d] || (t->shape[d] != 1 && t->stride[d] != like->stride[d]))
            return 0;
    for (int d = 0; d < t->ndim; ++d)
        t->stride[d] = like->stride[d];
    return 1;
}

int fc_matrix_lies(fc_tensor *x)
{
    if (x->ndim != 2)
        return 0;
    return (x->stride[0] == 1 && x->stride[1] == x->shape[0]) | (x->stride[0] == x->shape[1] && x->stride[1] == 1) << 1;
}

int fc_is_dense(const fc_tensor *t)
{
    int64_t run = 1;
    uint64_t seen = 0;
    if (t->contiguous)
        return 1;
    for (int k = 0; k < t->ndim; ++k) {
        int next = -1;
        for (int d = 0; d < t->ndim; ++d)
            if (!(seen >> d & 1) && t->shape[d] != 1 && t->stride[d] == run)
                next = d;
        if (next < 0)
            break;
        seen |= 1ull << next;
        run *= t->shape[next];
    }
    return run == t->numel;
}

fc_tensor *fc_new_formed(int dtype, int device, int ndim, const int64_t *shape, int memory_format)
{
    int64_t stride[FC_MAX_DIMS];
    if (memory_format < 2)
        return fc_new(dtype, device, ndim, shape);
    channels_last_strides(ndim, shape, stride);
    return fc_new_strided(dtype, device, ndim, shape, stride);
}
