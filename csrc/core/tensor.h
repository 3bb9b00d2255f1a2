/* Storage, version counter and descriptor: counted plain structs. Only core/ allocates or frees them. */
#ifndef FC_TENSOR_H
#define FC_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include "dtype.h"
#include "status.h"

#define FC_MAX_DIMS 64

/* Counts writes. Its own object: views and detach() share it; .data gets a new one, and so does what set_ moves to another storage. */
typedef struct {
    int64_t refs;      /* atomic; unused for a storage's own counter, which lives as long as the storage */
    int64_t version;
    int64_t epoch;     /* advanced when an in-place op with history made older views' origins stale */
} fc_counter;

typedef struct {
    int64_t refs;      /* atomic */
    int64_t nbytes;
    int64_t block;     /* bytes of the allocation that holds this header (and, mostly, the data) */
    char *data;
    int64_t owner;     /* != 0: borrowed memory; the number under which the borrower keeps its owner */
    int16_t device;
    int16_t writable;
    int16_t moved;     /* != 0: was resized, so handles made before may hold the old address (fc_rebind) */
    int16_t lent;      /* != 0: arrays of other libraries hold the address, so the bytes stay where they are */
    fc_counter own;    /* the counter of most tensors: no allocation of its own */
} fc_storage;

typedef struct fc_tensor {
    int64_t refs;      /* atomic */
    fc_storage *storage;
    fc_counter *counter;
    int64_t epoch;     /* of the counter, when this handle's origin was last right; or FC_ALONE */
    char *data;        /* storage->data + offset * element size */
    int64_t offset;    /* in elements */
    int64_t numel;
    int32_t shape_id;
    uint8_t dtype, device, ndim, contiguous;
    int64_t *stride;   /* = shape + room */
    int32_t room;      /* dims this size class holds: 4, 8 or 64 */
    uint8_t piece;     /* one of several views that split or unbind made, or a view of one: not to be written to with history */
    uint8_t lazy;      /* FC_LAZY_CONJ | FC_LAZY_NEG: what is still to be done to the elements; epoch is then stored as ~epoch */
    int64_t shape[];   /* ndim used */
} fc_tensor;

/* A tensor with a lazy bit answers no verb but fc_to, fc_copy and fc_fill (see lazy.h), and nobody asks for the bit on the way there:
 * its epoch is stored inverted, so it never equals the counter's, and the one check that finds stale origins finds it too. */
enum { FC_LAZY_CONJ = 1, FC_LAZY_NEG = 2 };

/* The epoch of a handle whose tensor is no view of another: its origin is right whatever others of its memory go through. */
#define FC_ALONE INT64_MIN

/* A new contiguous tensor, memory uninitialised; NULL with the status set. */
fc_tensor *fc_new(int dtype, int device, int ndim, const int64_t *shape);
/* A tensor over x's storage and counter. stride may be NULL for contiguous. offset in elements from the storage's start. */
fc_tensor *fc_new_view(fc_tensor *x, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset);

fc_tensor *fc_new_strided(int dtype, int device, int ndim, const int64_t *shape, const int64_t *stride);
/* 0 where the number of elements overflows. */
int fc_contiguous_strides(int ndim, const int64_t *shape, int64_t *stride, int64_t *numel);

/* After another handle's resize of the storage: look at where its bytes are now. Not 0 where too few of them are left. */
int fc_rebind(fc_tensor *x);

#define FC_STATIC_ASSERT(cond, name) typedef char fc_assert_##name[(cond) ? 1 : -1]

static inline int64_t fc_wrap_dim(int64_t dim, int ndim) { return dim < 0 ? dim + (ndim ? ndim : 1) : dim; }

#endif
