/* Elements of a tensor at places of its logical order, read where they lie. */
#include <string.h>

#include "../cpu/gather.h"
#include "../cpu/parallel.h"
#include "facula.h"
#include "verb.h"

enum { FC_AT_ONCE = 512 };

/* x's dims, those that follow each other merged, the last first. */
typedef struct {
    const char *data;
    char *out;
    const int64_t *index;
    int size, ndim;
    int64_t numel, shape[FC_MAX_DIMS], step[FC_MAX_DIMS]; /* steps in bytes */
} fc_take_job;

/* at[p] is divided by n; offset[p] grows by step times what is left. */
static void fc_take_dim(int64_t *restrict at, int64_t *restrict offset, int count, int64_t n, int64_t step, int small)
{
#ifdef __SIZEOF_INT128__
    if (small) { /* i / n is the upper half of i times (2^64 / n, rounded up), exact for both below 2^32: Lemire, Kaser, Kurz, doi:10.1002/spe.2689 */
        const uint64_t inverse = UINT64_MAX / (uint64_t)n + 1;
        for (int p = 0; p < count; ++p) {
            const int64_t q = (int64_t)((unsigned __int128)inverse * (uint64_t)at[p] >> 64);
            offset[p] += (at[p] - q * n) * step;
            at[p] = q;
        }
        return;
    }
#endif
    (void)small;
    for (int p = 0; p < count; ++p) {
        const int64_t q = (int64_t)((uint64_t)at[p] / (uint64_t)n);
        offset[p] += (at[p] - q * n) * step;
        at[p] = q;
    }
}

#define FC_PLACE(p) (index[p] + (index[p] < 0 ? q->numel : 0))
#define FC_EACH(T, OFFSET)                                                     \
    for (int p = 0; p < count; ++p)                                            \
        memcpy(to + p * (int)sizeof(T), q->data + (OFFSET), sizeof(T));        \
    break
#define FC_TAKE(OFFSET)                                                        \
    switch (q->size) {                                                         \
    case 1: FC_EACH(uint8_t, OFFSET);                                          \
    case 2: FC_EACH(uint16_t, OFFSET);                                         \
    case 4: FC_EACH(uint32_t, OFFSET);                                         \
    case 8: FC_EACH(uint64_t, OFFSET);                                         \
    default: FC_EACH(c128, OFFSET);                                            \
    }

static void fc_take_range(void *ctx, int64_t begin, int64_t end)
{
    const fc_take_job *q = ctx;
    const int small = q->numel <= UINT32_MAX, last = q->ndim - 1;
    for (int64_t i = begin; i < end; i += FC_AT_ONCE) {
        const int count = (int)(end - i < FC_AT_ONCE ? end - i : FC_AT_ONCE);
        const int64_t *const index = q->index + i;
        char *const to = q->out + i * q->size;
        if (last <= 0) {
            const int64_t step = q->step[0];
            FC_TAKE(FC_PLACE(p) * step)
            continue;
        }
        int64_t at[FC_AT_ONCE], offset[FC_AT_ONCE];
        for (int p = 0; p < count; ++p) {
            at[p] = FC_PLACE(p);
            offset[p] = 0;
        }
        for (int d = 0; d < last; ++d)
            fc_take_dim(at, offset, count, q->shape[d], q->step[d], small);
        FC_TAKE(offset[p] + at[p] * q->step[last])
    }
}

#undef FC_TAKE
#undef FC_EACH
#undef FC_PLACE

fc_tensor *fc_take(fc_tensor *x, fc_tensor *index)
{
    fc_tensor *operands[2] = { x, index }, *flat = NULL, *out = NULL;
    int device;
    if (fc_check_operands(2, operands, &device))
        return NULL;
    if (index->dtype != FC_I64)
        return fc_fail(FC_MIXED, 0, FC_I64, 1, index->dtype), NULL;
    flat = fc_dense(index, FC_I64);
    const int64_t *const places = flat ? (const int64_t *)flat->data : NULL, wrong = flat && device != FC_META ? fc_cpu_outside(places, flat->numel, -x->numel, x->numel) : -1;
    if (wrong >= 0)
        fc_fail(FC_INDEX, places[wrong], x->numel, 0, 0);
    else if (flat)
        out = fc_new(x->dtype, device, index->ndim, index->shape);
    if (out && device != FC_META && out->numel) {
        fc_take_job job = { .data = x->data, .out = out->data, .index = places, .size = fc_dt_size[x->dtype], .numel = x->numel };
        for (int d = x->ndim - 1; d >= 0; --d) {
            const int64_t step = x->stride[d] * job.size;
            if (x->shape[d] == 1)
                continue;
            if (job.ndim && step == job.step[job.ndim - 1] * job.shape[job.ndim - 1]) {
                job.shape[job.ndim - 1] *= x->shape[d];
                continue;
            }
            job.shape[job.ndim] = x->shape[d];
            job.step[job.ndim++] = step;
        }
        fc_parallel(out->numel, FC_GRAIN, fc_take_range, &job);
    }
    fc_free(flat);
    return out;
}
