/* Copies, conversions, fills, single elements. */
#include <string.h>

#include "facula.h"
#include "cast.h"
#include "copy_nest.h"
#include "lazy.h"
#include "memory_format.h"
#include "nest.h"
#include "verb.h"

static int fc_same_elements(const fc_tensor *x, const fc_tensor *y)
{
    return x->storage == y->storage && x->dtype == y->dtype && x->offset == y->offset && x->ndim == y->ndim
        && !memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof *x->shape) && !memcmp(x->stride, y->stride, (size_t)x->ndim * sizeof *x->stride);
}

/* out[...] = x, broadcast and converted. Any dtype may be written to any other, as copy_ does. */
int fc_copy(fc_tensor *out, fc_tensor *x)
{
    int64_t shape[FC_MAX_DIMS];
    int ndim, device;
    fc_tensor *both[2] = { out, x };
    if (fc_check_operands(2, both, &device))
        return fc_status() == FC_LAZY ? fc_lazy_copy(out, x) : fc_status();
    if (fc_broadcast(2, both, &ndim, shape))
        return fc_status();
    if (ndim != out->ndim)
        return fc_fail(FC_OUT_SHAPE, -1, out->ndim, ndim, 0);
    for (int d = 0; d < ndim; ++d)
        if (shape[d] != out->shape[d])
            return fc_fail(FC_OUT_SHAPE, d, out->shape[d], shape[d], 0);
    if (!fc_may_write(out))
        return fc_fail(FC_READONLY, 0, 0, 0, 0);
    const int same = fc_same_elements(out, x); /* nothing moves, so overlaps do no harm */
    if (!same && (fc_overlaps_itself(out) || fc_overlaps_partly(out, x)))
        return fc_fail(FC_OVERLAP, 0, 0, 0, 0);
    if (device != FC_META && !same) {
        /* memory shared in any other way than element by element: read everything first */
        fc_tensor *safe = NULL;
        if (out->storage == x->storage && !(out->offset == x->offset && out->shape_id == x->shape_id && out->contiguous && x->contiguous)) {
            safe = fc_to(x, x->dtype, 0, 1);
            if (!safe)
                return fc_status();
        }
        fc_copy_nest(out, safe ? safe : x);
        fc_free(safe);
    }
    fc_bump(out);
    return FC_OK;
}

/* memory_format as memory_format.h counts them. Preserve, PyTorch's rule: the very strides of a dense tensor, else those of the same order without gaps. */
fc_tensor *fc_empty_like(fc_tensor *x, int dtype, int memory_format)
{
    if (memory_format >= 2) {
        if (x->ndim != fc_format_dims(memory_format)) {
            fc_fail(FC_RANK, 0, x->ndim, fc_format_dims(memory_format), 0);
            return NULL;
        }
        return fc_new_formed(dtype, x->device, x->ndim, x->shape, memory_format);
    }
    if (memory_format == 1 && fc_is_dense(x))
        return fc_new_strided(dtype, x->device, x->ndim, x->shape, x->stride);
    if (memory_format == 1)
        return fc_new_like_inputs(dtype, x->device, x->ndim, x->shape, 1, &x);
    return fc_new(dtype, x->device, x->ndim, x->shape);
}

fc_tensor *fc_to(fc_tensor *x, int dtype, int memory_format, int copy)
{
    if (FC_IS_STALE(x)) {
        if (x->lazy)
            return fc_lazy_to(x, dtype, memory_format);
        fc_fail(FC_STALE, 0, 0, 0, 0);
        return NULL;
    }
    const int formed = memory_format == 1 || fc_is_contiguous(x, memory_format);
    if (!copy && x->dtype == dtype && formed) {
        fc_retain(x);
        return x;
    }
    fc_tensor *t = fc_empty_like(x, dtype, memory_format);
    if (t && x->device != FC_META)
        fc_copy_nest(t, x);
    return t;
}

int fc_fill(fc_tensor *out, int kind, int64_t i, double re, double im)
{
    const fc_scalar s = fc_scalar_of(kind, i, re, im);
    if (FC_IS_STALE(out))
        return out->lazy ? fc_lazy_fill(out, kind, i, re, im) : fc_fail(FC_STALE, 0, 0, 0, 0);
    if (!fc_may_write(out))
        return fc_fail(FC_READONLY, 0, 0, 0, 0);
    fc_bump(out);
    if (out->device == FC_META || !out->numel)
        return FC_OK;
    _Alignas(16) char value[16];
    fc_store_scalar(out->dtype, value, &s);
    int zero = 1;
    for (int b = 0; b < fc_dt_size[out->dtype]; ++b)
        zero &= value[b] == 0;
    if (zero && out->contiguous) {
        memset(out->data, 0, (size_t)out->numel * fc_dt_size[out->dtype]);
        return FC_OK;
    }
    fc_tensor one = { .numel = 1, .contiguous = 1, .shape_id = -1, .dtype = out->dtype, .data = value };
    fc_copy_nest(out, &one);
    return FC_OK;
}

fc_tensor *fc_from_scalar(int dtype, int kind, int64_t i, double re, double im)
{
    const fc_scalar s = fc_scalar_of(kind, i, re, im);
    fc_tensor *t = fc_new(dtype, FC_CPU, 0, NULL);
    if (t)
        fc_store_scalar(dtype, t->data, &s);
    return t;
}

/* The real part of the first element; 0 where the storage no longer has it. */
double fc_item_real(fc_tensor *x)
{
    c128 v = 0;
    if (!x->storage->moved || !fc_rebind(x))
        fc_convert(FC_C128, &v, x->dtype, x->data, 1);
    return creal(v);
}
