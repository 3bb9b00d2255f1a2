/* fc_random: fills a tensor from a generator, whatever its strides. */
#include "facula.h"
#include "../cpu/random.h"
#include "alloc.h"
#include "nest.h"
#include "verb.h"

static int fc_random_kind_of(int op)
{
    switch (op) {
#define FC_RANDOM(name, kind, ...) case FC_OP_##name: return FC_R_##kind;
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
    default: return -1;
    }
}

/* Fills `out`; draws with a parameter per element find it there, as the value that they replace. */
static int fc_random_run(int kind, fc_generator *gen, void *out, const fc_tensor *self, int64_t i0, int64_t i1, double d0, double d1)
{
    if (kind >= FC_R_BERNOULLI_OF)
        return fc_random_fill_of(kind, gen, out, self->dtype, out, self->dtype, self->numel);
    return fc_random_fill(kind, gen, out, self->dtype, self->numel, i0, i1, d0, d1);
}

/* The order of the draws is the nest's: by strides, the fastest dim innermost. So a transposed tensor is filled in the order of
 * its memory and a sliced one in logical order, as PyTorch does. */
static int fc_random_strided(int kind, fc_generator *gen, fc_tensor *self, int64_t i0, int64_t i1, double d0, double d1)
{
    fc_nest nest;
    fc_nest_build(&nest, 1, &self);
    kind = kind == FC_R_NORMAL ? FC_R_NORMAL_EACH : kind;
    const int size = fc_dt_size[self->dtype];
    if (nest.ndim == 1 && nest.stride[0][0] == size)
        return fc_random_run(kind, gen, nest.data[0], self, i0, i1, d0, d1);
    const int64_t bytes = self->numel * size;
    void *const drawn = fc_alloc(bytes);
    if (!drawn)
        return fc_fail(FC_MEMORY, bytes, 0, 0, 0);
    fc_nest_at at;
    fc_nest_seek(&nest, 0, &at);
    fc_nest_gather(&nest, 0, &at, self->numel, drawn);
    const int bad = fc_random_run(kind, gen, drawn, self, i0, i1, d0, d1);
    if (!bad)
        fc_nest_scatter(&nest, 0, &at, self->numel, drawn);
    fc_dealloc(drawn, bytes);
    return bad;
}

/* Draws whose dtype PyTorch looks at only where there is an element: of none they give none of any dtype. */
static int fc_random_of_nothing(int kind, const fc_tensor *self)
{
    const int lenient = kind == FC_R_NORMAL || kind == FC_R_EXPONENTIAL || kind == FC_R_LOG_NORMAL || kind == FC_R_GEOMETRIC || kind == FC_R_BERNOULLI_OF;
    return lenient && !self->numel && !fc_random_takes(kind, self->dtype);
}

fc_tensor *fc_random(int op, fc_tensor *self, fc_generator *gen, int64_t i0, int64_t i1, double d0, double d1)
{
    const int kind = fc_random_kind_of(op);
    int device, bad = 0;
    if (fc_check_operands(1, &self, &device))
        return NULL;
    const int nothing = fc_random_of_nothing(kind, self);
    if (!fc_may_write(self))
        bad = fc_fail(FC_READONLY, 0, 0, 0, 0);
    else if (fc_overlaps_itself(self))
        bad = fc_fail(FC_OVERLAP, 0, 0, 0, 0);
    else if (!nothing && !fc_op_takes(op, self->dtype))
        bad = fc_fail(FC_DTYPE, self->dtype, 0, 0, 0);
    else if (device != FC_META && self->contiguous && !nothing)
        bad = fc_random_run(kind, gen, self->data, self, i0, i1, d0, d1);
    else if (device != FC_META && self->numel)
        bad = fc_random_strided(kind, gen, self, i0, i1, d0, d1);
    if (bad)
        return NULL;
    fc_bump(self);
    fc_retain(self);
    return self;
}
