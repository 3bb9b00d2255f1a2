/* fc_random: fills a tensor from a generator, whatever its strides. */
#include "facula.h"
#include "../cpu/random.h"
#include "nest.h"
#include "verb.h"

static int fc_random_kind_of(int op, int contiguous)
{
    switch (op) {
#define FC_RANDOM(name, kind, ...) case FC_OP_##name: return FC_R_##kind == FC_R_NORMAL && !contiguous ? FC_R_NORMAL_EACH : FC_R_##kind;
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
    default: return -1;
    }
}

/* Lowest address of a tensor that fills its memory in some order of dims; NULL where it leaves gaps. */
static char *fc_dense_block(const fc_tensor *t)
{
    fc_tensor *like = fc_new_like_inputs(t->dtype, t->device, t->ndim, t->shape, 1, (fc_tensor *const[]){ (fc_tensor *)t });
    if (!like)
        return NULL;
    int same = 1;
    for (int d = 0; d < t->ndim; ++d)
        same = same && (t->shape[d] == 1 || like->stride[d] == t->stride[d]);
    fc_free(like);
    return same ? t->data : NULL;
}

/* Dense outputs are filled in memory order, sliced ones in logical order: PyTorch's. */
fc_tensor *fc_random(int op, fc_tensor *self, fc_generator *gen, int64_t i0, int64_t i1, double d0, double d1)
{
    int device;
    if (fc_check_operands(1, &self, &device))
        return NULL;
    if (!self->storage->writable) {
        fc_fail(FC_READONLY, 0, 0, 0, 0);
        return NULL;
    }
    if (fc_overlaps_itself(self)) {
        fc_fail(FC_OVERLAP, 0, 0, 0, 0);
        return NULL;
    }
    if (!fc_op_takes(op, self->dtype)) {
        fc_fail(FC_DTYPE, self->dtype, 0, 0, 0);
        return NULL;
    }
    if (device != FC_META && self->numel) {
        const int real = fc_real_dtype(self->dtype), parts = fc_is_complex(self->dtype) ? 2 : 1;
        const int kind = fc_random_kind_of(op, self->contiguous);
        const double scale = parts == 2 && (kind == FC_R_NORMAL || kind == FC_R_NORMAL_EACH) ? 0.70710678118654752440 : 1; /* sqrt(1/2): unit variance of the complex number */
        char *block = self->contiguous ? self->data : fc_dense_block(self);
        fc_tensor *fresh = block ? NULL : fc_new(self->dtype, FC_CPU, self->ndim, self->shape);
        if (!block && !fresh)
            return NULL;
        int bad = fc_random_fill(kind, gen, block ? block : fresh->data, real, self->numel * parts, i0, i1, d0, d1 * scale);
        if (!bad && fresh)
            bad = fc_copy(self, fresh);
        fc_free(fresh);
        if (bad)
            return NULL;
    }
    fc_bump(self);
    fc_retain(self);
    return self;
}
