/* Life of storages, counters and descriptors. */
#include <string.h>

#include "facula.h"
#include "alloc.h"
#include "atomic.h"
#include "sanitized.h"
#include "shape.h"
#include "tensor.h"

/* Storage header and bytes are one block: one allocation less for every new tensor. 64 keeps the data aligned. */
enum { FC_HEADER = 128 };
FC_STATIC_ASSERT(sizeof(fc_storage) <= FC_HEADER, storage_header_fits);

static FC_TLS int fc_inference_tls; /* is this thread in inference mode? */

static fc_storage *fc_storage_new(int64_t nbytes, int device)
{
    const int64_t room = device == FC_META ? 0 : nbytes;
    fc_storage *s = fc_alloc(FC_HEADER + room);
    if (!s) {
        fc_fail(FC_MEMORY, nbytes, 0, 0, 0);
        return NULL;
    }
    s->refs = 1;
    s->nbytes = nbytes;
    s->block = FC_HEADER + room;
    s->data = device == FC_META ? NULL : (char *)s + FC_HEADER;
    s->owner = 0;
    s->device = (int16_t)device;
    s->writable = (int16_t)(1 + fc_inference_tls); /* 2: an inference tensor's */
    s->moved = s->lent = 0;
    s->own = (fc_counter){ 0 };
    FC_CLOSE(s + 1, FC_HEADER - sizeof *s);
    return s;
}

/* Returns the owner id when the last reference to borrowed memory went, else 0. */
static int64_t fc_storage_drop(fc_storage *s)
{
    if (!fc_atomic_dec(&s->refs))
        return 0;
    const int64_t owner = s->owner;
    if (!owner && s->data && s->data != (char *)s + FC_HEADER)
        fc_dealloc(s->data, s->nbytes); /* grown by fc_storage_resize */
    fc_dealloc(s, s->block);
    return owner;
}

static void fc_counter_drop(fc_tensor *x)
{
    if (x->counter != &x->storage->own && fc_atomic_dec(&x->counter->refs))
        fc_dealloc(x->counter, sizeof(fc_counter));
}

static void fc_counter_take(fc_tensor *t, fc_tensor *x)
{
    t->counter = x->counter;
    if (t->counter != &t->storage->own)
        fc_atomic_inc(&t->counter->refs);
}

static int64_t fc_descriptor_bytes(int room) { return (int64_t)sizeof(fc_tensor) + 2 * room * (int64_t)sizeof(int64_t); }

static fc_tensor *fc_descriptor_new(int ndim)
{
    const int room = ndim <= 4 ? 4 : ndim <= 8 ? 8 : FC_MAX_DIMS;
    if (ndim > FC_MAX_DIMS) {
        fc_fail(FC_RANK, 0, ndim, FC_MAX_DIMS, 0);
        return NULL;
    }
    fc_tensor *t = fc_alloc(fc_descriptor_bytes(room));
    if (!t) {
        fc_fail(FC_MEMORY, fc_descriptor_bytes(room), 0, 0, 0);
        return NULL;
    }
    t->refs = 1;
    t->ndim = (uint8_t)ndim;
    t->room = room;
    t->lazy = t->piece = 0;
    t->stride = t->shape + room;
    return t;
}

int fc_contiguous_strides(int ndim, const int64_t *shape, int64_t *stride, int64_t *numel)
{
    int64_t n = 1, run = 1;
    int overflow = 0;
    for (int d = ndim - 1; d >= 0; --d) {
        stride[d] = run;
        overflow |= __builtin_mul_overflow(n, shape[d], &n);
        overflow |= d && __builtin_mul_overflow(run, shape[d] > 1 ? shape[d] : 1, &run);
        overflow |= shape[d] < 0;
    }
    *numel = n;
    return !overflow;
}

/* PyTorch's rule: dims of size 1 do not matter, nor do strides of an empty tensor. */
static int fc_layout_is_contiguous(int ndim, const int64_t *shape, const int64_t *stride)
{
    int64_t run = 1;
    for (int d = 0; d < ndim; ++d)
        if (shape[d] == 0)
            return 1;
    for (int d = ndim - 1; d >= 0; --d) {
        if (shape[d] == 1)
            continue;
        if (stride[d] != run)
            return 0;
        run *= shape[d];
    }
    return 1;
}

/* Where an offset lies: a number before it is a pointer, for that of a tensor without elements may be anywhere. */
static char *fc_place(const fc_storage *s, int dtype, int64_t offset)
{
    return s->data ? (char *)((uintptr_t)s->data + (uintptr_t)(offset * fc_dt_size[dtype])) : NULL;
}

static void fc_bind(fc_tensor *t, fc_storage *s, int dtype, int64_t offset)
{
    t->storage = s;
    t->dtype = (uint8_t)dtype;
    t->device = (uint8_t)s->device;
    t->offset = offset;
    t->data = fc_place(s, dtype, offset);
}

fc_tensor *fc_new(int dtype, int device, int ndim, const int64_t *shape)
{
    fc_tensor *t = fc_descriptor_new(ndim);
    if (!t)
        return NULL;
    for (int d = 0; d < ndim; ++d)
        t->shape[d] = shape[d];
    int64_t nbytes = 0;
    int ok = fc_contiguous_strides(ndim, t->shape, t->stride, &t->numel);
    ok = ok && !__builtin_mul_overflow(t->numel, (int64_t)fc_dt_size[dtype], &nbytes) && nbytes < (int64_t)1 << 62;
    fc_storage *s = NULL;
    if (!ok)
        fc_fail(FC_MEMORY, INT64_MAX, 0, 0, 0);
    else
        s = fc_storage_new(nbytes, device);
    if (!s) {
        fc_dealloc(t, fc_descriptor_bytes(t->room));
        return NULL;
    }
    fc_bind(t, s, dtype, 0);
    t->counter = &s->own;
    t->epoch = 0;
    t->contiguous = 1;
    t->shape_id = fc_shape_intern(ndim, t->shape);
    return t;
}

fc_tensor *fc_new_strided(int dtype, int device, int ndim, const int64_t *shape, const int64_t *stride)
{
    int64_t last = 0, step;
    int far = 0, empty = 0;
    for (int d = 0; d < ndim; ++d) {
        empty |= shape[d] == 0;
        far |= shape[d] > 1 && (stride[d] < 0 || __builtin_mul_overflow(shape[d] - 1, stride[d], &step) || __builtin_add_overflow(last, step, &last));
    }
    const int64_t room = empty ? 0 : far || last == INT64_MAX ? INT64_MAX : last + 1; /* which there is not */
    fc_tensor *flat = fc_new(dtype, device, 1, &room);
    if (!flat)
        return NULL;
    fc_tensor *t = fc_new_view(flat, ndim, shape, stride, 0);
    fc_free(flat);
    return t;
}

fc_tensor *fc_new_view(fc_tensor *x, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset)
{
    fc_tensor *t = fc_descriptor_new(ndim);
    if (!t)
        return NULL;
    int64_t numel = 1;
    int far = 0, empty = 0;
    for (int d = 0; d < ndim; ++d) {
        t->shape[d] = shape[d];
        empty |= shape[d] == 0;
        far |= __builtin_mul_overflow(numel, shape[d], &numel);
    }
    if (far && !empty) { /* an expanded one */
        fc_fail(FC_MEMORY, INT64_MAX, 0, 0, 0);
        fc_dealloc(t, fc_descriptor_bytes(t->room));
        return NULL;
    }
    t->numel = empty ? 0 : numel;
    if (stride) {
        for (int d = 0; d < ndim; ++d)
            t->stride[d] = stride[d];
        t->contiguous = (uint8_t)fc_layout_is_contiguous(ndim, t->shape, t->stride);
    } else {
        fc_contiguous_strides(ndim, t->shape, t->stride, &numel);
        t->contiguous = 1;
    }
    fc_bind(t, x->storage, x->dtype, offset);
    fc_atomic_inc(&x->storage->refs);
    fc_counter_take(t, x);
    t->epoch = x->epoch == FC_ALONE ? fc_atomic_load(&x->counter->epoch) : x->epoch;
    t->lazy = x->lazy;
    t->piece = x->piece;
    t->shape_id = fc_shape_intern(ndim, t->shape);
    return t;
}

void fc_retain(fc_tensor *x) { fc_atomic_inc(&x->refs); }

int64_t fc_free(fc_tensor *x)
{
    if (!x || !fc_atomic_dec(&x->refs))
        return 0;
    fc_counter_drop(x);
    const int64_t owner = fc_storage_drop(x->storage);
    fc_dealloc(x, fc_descriptor_bytes(x->room));
    return owner;
}

fc_tensor *fc_empty(int dtype, int device, int ndim, const int64_t *shape)
{
    for (int d = 0; d < ndim; ++d)
        if (shape[d] < 0) {
            fc_fail(FC_NUMEL, d, shape[d], 0, 0);
            return NULL;
        }
    return fc_new(dtype, device, ndim, shape);
}

fc_tensor *fc_empty_strided(int dtype, int device, int ndim, const int64_t *shape, const int64_t *stride)
{
    for (int d = 0; d < ndim; ++d)
        if (shape[d] < 0 || stride[d] < 0) {
            fc_fail(FC_NUMEL, d, shape[d] < 0 ? shape[d] : stride[d], 0, 0);
            return NULL;
        }
    return fc_new_strided(dtype, device, ndim, shape, stride);
}

fc_tensor *fc_from_memory(void *data, int64_t nbytes, int64_t owner, int writable, int dtype, int ndim,
                          const int64_t *shape, const int64_t *stride, int64_t offset)
{
    fc_storage *s = fc_storage_new(0, FC_CPU);
    fc_tensor *t = s ? fc_descriptor_new(ndim) : NULL;
    if (!t) {
        if (s)
            fc_storage_drop(s);
        return NULL;
    }
    s->data = data;
    s->nbytes = nbytes;
    s->owner = owner;
    s->writable = (int16_t)writable;
    t->numel = 1;
    for (int d = 0; d < ndim; ++d) {
        t->shape[d] = shape[d];
        t->stride[d] = stride[d];
        t->numel *= shape[d];
    }
    fc_bind(t, s, dtype, offset);
    t->counter = &s->own;
    t->epoch = 0;
    t->contiguous = (uint8_t)fc_layout_is_contiguous(ndim, t->shape, t->stride);
    t->shape_id = fc_shape_intern(ndim, t->shape);
    return t;
}

/* A second descriptor over the same memory: with the same counter (detach) or a fresh one (.data). */
fc_tensor *fc_alias(fc_tensor *x, int new_version)
{
    fc_tensor *t = fc_new_view(x, x->ndim, x->shape, x->stride, x->offset);
    if (t)
        t->piece = 0;
    if (!t || !new_version)
        return t;
    fc_counter *fresh = fc_alloc(sizeof *fresh);
    if (!fresh) {
        fc_free(t);
        fc_fail(FC_MEMORY, sizeof *fresh, 0, 0, 0);
        return NULL;
    }
    *fresh = (fc_counter){ .refs = 1 };
    fc_counter_drop(t);
    t->counter = fresh;
    t->epoch = t->lazy ? ~(int64_t)0 : 0;
    return t;
}

/* Source's memory and shape with x's version: what x becomes by x.data = source, set_, resize_. x itself stays as it is: what was saved
 * of it still sees the old memory. Over one storage the counter stays x's, which its views share; over another it is a new one with x's
 * number, since the old may be the old storage's own and would keep that alive. */
fc_tensor *fc_with_data(fc_tensor *x, fc_tensor *source)
{
    const int moved = x->storage != source->storage;
    fc_tensor *t = fc_alias(source, moved);
    if (t && moved) {
        t->counter->version = fc_version(x);
    } else if (t && t->counter != x->counter) {
        fc_counter_drop(t);
        fc_counter_take(t, x);
    }
    if (t && !moved)
        fc_epoch_refresh(t);
    return t;
}

int fc_rebind(fc_tensor *x)
{
    int64_t low = x->offset, high = x->offset;
    for (int d = 0; d < x->ndim; ++d)
        *(x->stride[d] < 0 ? &low : &high) += (x->shape[d] - 1) * x->stride[d];
    x->data = fc_data(x);
    return x->numel && (low < 0 || (high + 1) * fc_dt_size[x->dtype] > x->storage->nbytes);
}

int fc_storage_resize(fc_tensor *x, int64_t nbytes)
{
    fc_storage *s = x->storage;
    if (!fc_storage_resizable(x))
        return fc_fail(FC_READONLY, 0, 0, 0, 0);
    if (nbytes == s->nbytes)
        return FC_OK;
    if (s->device == FC_META) {
        s->nbytes = nbytes;
        return FC_OK;
    }
    char *data = fc_alloc(nbytes ? nbytes : 1);
    if (!data)
        return fc_fail(FC_MEMORY, nbytes, 0, 0, 0);
    memcpy(data, s->data, (size_t)(nbytes < s->nbytes ? nbytes : s->nbytes));
    if (s->data != (char *)s + FC_HEADER)
        fc_dealloc(s->data, s->nbytes);
    s->data = data;
    s->nbytes = nbytes;
    s->moved = 1;
    x->data = fc_data(x);
    return FC_OK;
}

/* Moves the storage's bytes into borrowed memory of their size; views of it follow. */
int fc_storage_adopt(fc_tensor *x, void *data, int64_t owner)
{
    fc_storage *s = x->storage;
    if (s->owner || s->device == FC_META)
        return fc_fail(FC_READONLY, 0, 0, 0, 0);
    memcpy(data, s->data, (size_t)s->nbytes);
    if (s->data != (char *)s + FC_HEADER && !s->lent) /* an array over lent bytes may outlive the storage: they are left to it */
        fc_dealloc(s->data, s->nbytes);
    s->data = data;
    s->owner = owner;
    s->moved = 1;
    x->data = fc_data(x);
    return FC_OK;
}

/* descriptor reads */
int fc_ndim(fc_tensor *x) { return x->ndim; }
int fc_dtype(fc_tensor *x) { return x->dtype; }
int fc_device(fc_tensor *x) { return x->device; }
int fc_shape_id(fc_tensor *x) { return x->shape_id; }
int64_t fc_numel(fc_tensor *x) { return x->numel; }
int64_t fc_size(fc_tensor *x, int dim) { return x->shape[dim]; }
int64_t fc_stride(fc_tensor *x, int dim) { return x->stride[dim]; }
int64_t fc_offset(fc_tensor *x) { return x->offset; }
int fc_same_storage(fc_tensor *x, fc_tensor *y) { return x->storage == y->storage; }
void *fc_data(fc_tensor *x) { return fc_place(x->storage, x->dtype, x->offset); }
void *fc_storage_data(fc_tensor *x) { return x->storage->data; }
int64_t fc_storage_bytes(fc_tensor *x) { return x->storage->nbytes; }
int64_t fc_storage_id(fc_tensor *x) { return (int64_t)(intptr_t)x->storage; }
int fc_storage_writable(fc_tensor *x) { return x->storage->writable; }
void fc_mark_piece(fc_tensor *x) { x->piece = 1; }
int fc_piece(fc_tensor *x) { return x->piece; }
int fc_inference(fc_tensor *x) { return x->storage->writable == 2; }
int fc_may_write(fc_tensor *x) { return x->storage->writable == 1 || (x->storage->writable == 2 && fc_inference_tls); }

int fc_inference_mode(void) { return fc_inference_tls; }
int fc_set_inference(int on)
{
    const int before = fc_inference_tls;
    fc_inference_tls = on != 0;
    return before;
}
int64_t fc_storage_owner(fc_tensor *x) { return x->storage->owner; }
int fc_storage_resizable(fc_tensor *x) { return !x->storage->owner && !x->storage->lent; }
void fc_lend(fc_tensor *x) { x->storage->lent = 1; }

/* versions */
int fc_pair(fc_tensor *x, fc_tensor *y)
{
    const int other = x->dtype != y->dtype || x->shape_id != y->shape_id || x->shape_id < 0;
    return other | (fc_version(x) || fc_version(y) || fc_inference(x) || fc_inference(y)) << 1;
}

int64_t fc_version(fc_tensor *x) { return fc_atomic_load(&x->counter->version); }
void fc_fresh(fc_tensor *x) { x->counter->version = 0; }
void fc_bump(fc_tensor *x) { fc_atomic_inc(&x->counter->version); }

void fc_epoch_refresh(fc_tensor *x)
{
    if (x->epoch == FC_ALONE)
        return;
    const int64_t now = fc_atomic_load(&x->counter->epoch);
    x->epoch = x->lazy ? ~now : now;
}

void fc_epoch_ignore(fc_tensor *x)
{
    if (x->lazy)
        fc_epoch_refresh(x);
    else
        x->epoch = FC_ALONE;
}

void fc_epoch_advance(fc_tensor *x)
{
    fc_atomic_inc(&x->counter->epoch);
    fc_epoch_refresh(x);
}

int fc_epoch_stale(fc_tensor *x) { return x->epoch != FC_ALONE && (x->lazy ? ~x->epoch : x->epoch) != fc_atomic_load(&x->counter->epoch); }
