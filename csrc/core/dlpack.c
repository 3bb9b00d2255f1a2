/*
 * DLPack: tensors of other libraries in and ours out, sharing memory.
 *
 * The structs are those of the DLPack specification, version 1 (dmlc.github.io/dlpack): a tensor and a deleter that its taker
 * calls once. Going out, a block holds the struct, sizes and strides, and a reference to our tensor. The deleter runs in the taker's
 * thread and may let go of borrowed memory; whose owner that was waits in a list until Python asks (fc_dlpack_orphan).
 *
 * A capsule that nobody took must call the deleter. Python's two functions for that are handed in by address
 * (fc_dlpack_capsules), so this file needs no Python headers.
 */
#include <string.h>

#include "facula.h"
#include "alloc.h"
#include "atomic.h"
#include "tensor.h"

enum { FC_DL_INT, FC_DL_UINT, FC_DL_FLOAT, FC_DL_BFLOAT = 4, FC_DL_COMPLEX, FC_DL_BOOL,
       FC_DL_F8E4M3FN = 10, FC_DL_F8E4M3FNUZ, FC_DL_F8E5M2, FC_DL_F8E5M2FNUZ, FC_DL_F8E8M0FNU };
enum { FC_DL_CPU = 1, FC_DL_READ_ONLY = 1, FC_DL_COPIED = 2 };

typedef struct {
    void *data;
    struct { int32_t type, id; } device;
    int32_t ndim;
    struct { uint8_t code, bits; uint16_t lanes; } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} fc_dl_tensor;

typedef struct fc_dl_legacy {
    fc_dl_tensor tensor;
    void *context;
    void (*deleter)(struct fc_dl_legacy *);
} fc_dl_legacy;

typedef struct fc_dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct fc_dl_versioned *);
    uint64_t flags;
    fc_dl_tensor tensor;
} fc_dl_versioned;

static const struct { uint8_t code, bits; } fc_dl_types[FC_NDTYPES] = {
    [FC_BOOL] = { FC_DL_BOOL, 8 }, [FC_U8] = { FC_DL_UINT, 8 }, [FC_I8] = { FC_DL_INT, 8 }, [FC_I16] = { FC_DL_INT, 16 },
    [FC_I32] = { FC_DL_INT, 32 }, [FC_I64] = { FC_DL_INT, 64 }, [FC_U16] = { FC_DL_UINT, 16 }, [FC_U32] = { FC_DL_UINT, 32 },
    [FC_U64] = { FC_DL_UINT, 64 }, [FC_F16] = { FC_DL_FLOAT, 16 }, [FC_BF16] = { FC_DL_BFLOAT, 16 }, [FC_F32] = { FC_DL_FLOAT, 32 },
    [FC_F64] = { FC_DL_FLOAT, 64 }, [FC_C64] = { FC_DL_COMPLEX, 64 }, [FC_C128] = { FC_DL_COMPLEX, 128 },
    [FC_F8E4M3FN] = { FC_DL_F8E4M3FN, 8 }, [FC_F8E4M3FNUZ] = { FC_DL_F8E4M3FNUZ, 8 }, [FC_F8E5M2] = { FC_DL_F8E5M2, 8 },
    [FC_F8E5M2FNUZ] = { FC_DL_F8E5M2FNUZ, 8 }, [FC_F8E8M0FNU] = { FC_DL_F8E8M0FNU, 8 },
};

/* --- out ----------------------------------------------------------------------------------------------------------- */

typedef struct fc_exported {
    union { fc_dl_legacy legacy; fc_dl_versioned versioned; } as; /* first: its address is what the taker holds */
    fc_tensor *x;
    int64_t bytes, owner;
    struct fc_exported *next;
    int64_t sizes[]; /* shape, then strides */
} fc_exported;

static fc_exported *fc_orphans;

static void fc_orphan_push(fc_exported *e)
{
    do
        e->next = fc_atomic_peek(&fc_orphans);
    while (!__atomic_compare_exchange_n(&fc_orphans, &e->next, e, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

static void fc_exported_drop(fc_exported *e)
{
    e->owner = fc_free(e->x);
    if (e->owner)
        fc_orphan_push(e);
    else
        fc_dealloc(e, e->bytes);
}

static void fc_drop_legacy(fc_dl_legacy *m) { fc_exported_drop((fc_exported *)m); }
static void fc_drop_versioned(fc_dl_versioned *m) { fc_exported_drop((fc_exported *)m); }

int64_t fc_dlpack_orphan(void)
{
    fc_exported *e = fc_atomic_swap(&fc_orphans, NULL);
    if (!e)
        return 0;
    for (fc_exported *rest = e->next, *next; rest; rest = next) {
        next = rest->next;
        fc_orphan_push(rest);
    }
    const int64_t owner = e->owner;
    fc_dealloc(e, e->bytes);
    return owner;
}

void *fc_to_dlpack(fc_tensor *x, int versioned, int copied)
{
    const int64_t bytes = (int64_t)sizeof(fc_exported) + 2 * x->ndim * (int64_t)sizeof(int64_t);
    fc_exported *e = fc_alloc(bytes);
    if (!e) {
        fc_fail(FC_MEMORY, bytes, 0, 0, 0);
        return NULL;
    }
    memset(e, 0, (size_t)bytes);
    e->bytes = bytes;
    e->x = x;
    fc_retain(x);
    fc_lend(x);
    for (int d = 0; d < x->ndim; ++d) {
        e->sizes[d] = x->shape[d];
        e->sizes[x->ndim + d] = x->stride[d];
    }
    fc_dl_tensor t = { fc_data(x), { FC_DL_CPU, 0 }, x->ndim, { fc_dl_types[x->dtype].code, fc_dl_types[x->dtype].bits, 1 },
                       e->sizes, e->sizes + x->ndim, 0 };
    if (versioned) {
        fc_dl_versioned *m = &e->as.versioned;
        m->major = 1;
        m->deleter = fc_drop_versioned;
        m->flags = (x->storage->writable ? 0 : FC_DL_READ_ONLY) | (copied ? FC_DL_COPIED : 0);
        m->tensor = t;
    } else {
        e->as.legacy.deleter = fc_drop_legacy;
        e->as.legacy.tensor = t;
    }
    return e;
}

/* --- in ------------------------------------------------------------------------------------------------------------ */

static fc_dl_tensor *fc_dl_of(void *managed, int versioned)
{
    return versioned ? &((fc_dl_versioned *)managed)->tensor : &((fc_dl_legacy *)managed)->tensor;
}

int64_t fc_dlpack_field(void *managed, int versioned, int field)
{
    const fc_dl_tensor *t = fc_dl_of(managed, versioned);
    const fc_dl_versioned *v = versioned ? managed : NULL;
    const int64_t fields[] = { t->device.type, t->device.id, t->dtype.code, t->dtype.bits, t->dtype.lanes, t->ndim,
                               v ? (int64_t)v->flags : 0, v ? v->major : 0 };
    return fields[field & 7];
}

fc_tensor *fc_from_dlpack(void *managed, int versioned, int64_t owner)
{
    const fc_dl_tensor *t = fc_dl_of(managed, versioned);
    int64_t stride[FC_MAX_DIMS], numel = 1, last = 0;
    int dtype = 0;
    while (dtype < FC_NDTYPES && (fc_dl_types[dtype].code != t->dtype.code || fc_dl_types[dtype].bits != t->dtype.bits))
        ++dtype;
    int bad = FC_OK;
    if (t->device.type != FC_DL_CPU)
        bad = fc_fail(FC_DEVICE, t->device.type, t->device.id, 0, 0);
    else if (dtype == FC_NDTYPES || t->dtype.lanes != 1)
        bad = fc_fail(FC_DTYPE, t->dtype.code, t->dtype.bits, t->dtype.lanes, 0);
    else if (t->ndim < 0 || t->ndim > FC_MAX_DIMS)
        bad = fc_fail(FC_RANK, 0, t->ndim, FC_MAX_DIMS, 0);
    else if ((t->ndim && !t->shape) || !fc_contiguous_strides(t->ndim, t->shape, stride, &numel) || (numel && !t->data))
        bad = fc_fail(FC_NUMEL, 0, 0, 0, 0);
    for (int d = 0; !bad && d < t->ndim; ++d) {
        int64_t step;
        if (t->strides)
            stride[d] = t->strides[d];
        if (stride[d] < 0)
            bad = fc_fail(FC_VIEW, d, stride[d], 0, 0);
        else if (numel && (__builtin_mul_overflow(t->shape[d] - 1, stride[d], &step) || __builtin_add_overflow(last, step, &last) || last >= (int64_t)1 << 58))
            bad = fc_fail(FC_NUMEL, 0, 0, 0, 0);
    }
    if (bad)
        return NULL;
    const int writable = !versioned || !(((fc_dl_versioned *)managed)->flags & FC_DL_READ_ONLY);
    char *data = t->data ? (char *)t->data + t->byte_offset : NULL;
    return fc_from_memory(data, numel ? (last + 1) * fc_dt_size[dtype] : 0, owner, writable, dtype, t->ndim, t->shape, stride, 0);
}

void fc_dlpack_release(void *managed, int versioned)
{
    fc_dl_legacy *l = managed;
    fc_dl_versioned *v = managed;
    if (versioned && v->deleter)
        v->deleter(v);
    if (!versioned && l->deleter)
        l->deleter(l);
}

/* --- capsules ------------------------------------------------------------------------------------------------------ */

static int (*fc_capsule_is)(void *capsule, const char *name);
static void *(*fc_capsule_get)(void *capsule, const char *name);

static void fc_capsule_drop(void *capsule) /* a taken one has another name by now */
{
    if (fc_capsule_is(capsule, "dltensor"))
        fc_dlpack_release(fc_capsule_get(capsule, "dltensor"), 0);
    else if (fc_capsule_is(capsule, "dltensor_versioned"))
        fc_dlpack_release(fc_capsule_get(capsule, "dltensor_versioned"), 1);
}

void *fc_dlpack_capsules(void *is, void *get)
{
    void (*drop)(void *) = fc_capsule_drop;
    void *address;
    memcpy(&fc_capsule_is, &is, sizeof is); /* C99 has no cast between data and function pointers */
    memcpy(&fc_capsule_get, &get, sizeof get);
    memcpy(&address, &drop, sizeof drop);
    return address;
}
