/* A view without a tensor of its own: a box of a tensor's elements, on the stack, for fc_copy_nest. Nothing is counted. */
#ifndef FC_PART_H
#define FC_PART_H

#include "../core/copy_nest.h"
#include "../core/dtype.h"
#include "../core/tensor.h"

typedef struct {
    fc_tensor head;
    int64_t room[2 * FC_MAX_DIMS];
} fc_part;

static inline void fc_part_of(fc_part *p, const fc_tensor *t)
{
    p->head = *t;
    p->head.stride = p->room + FC_MAX_DIMS;
    for (int d = 0; d < t->ndim; ++d) {
        p->room[d] = t->shape[d];
        p->head.stride[d] = t->stride[d];
    }
}

/* Elements from, from + step, ... along dim, count of them. */
static inline void fc_part_slice(fc_part *p, int dim, int64_t from, int64_t count, int64_t step)
{
    p->head.data += from * p->head.stride[dim] * fc_dt_size[p->head.dtype];
    p->head.numel = p->room[dim] ? p->head.numel / p->room[dim] * count : 0;
    p->head.contiguous = 0;
    p->head.stride[dim] *= step;
    p->room[dim] = count;
}

static inline void fc_part_drop(fc_part *p, int dim)
{
    for (int d = dim; d + 1 < p->head.ndim; ++d) {
        p->room[d] = p->room[d + 1];
        p->head.stride[d] = p->head.stride[d + 1];
    }
    --p->head.ndim;
}

/* The elements of t from `data` on, in t's memory, one after the other in the shape of `like`. */
static inline void fc_part_dense(fc_part *p, const fc_tensor *t, char *data, const fc_tensor *like)
{
    int64_t step = 1;
    p->head = *t;
    p->head.data = data;
    p->head.ndim = like->ndim;
    p->head.numel = like->numel;
    p->head.stride = p->room + FC_MAX_DIMS;
    for (int d = like->ndim - 1; d >= 0; step *= like->shape[d--]) {
        p->room[d] = like->shape[d];
        p->head.stride[d] = step;
    }
}

static inline void fc_part_copy(fc_part *to, fc_part *from)
{
    if (to->head.numel)
        fc_copy_nest(&to->head, &from->head);
}

#endif
