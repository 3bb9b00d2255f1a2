/* Index loops; see gather.h. Sums through an index run in the order of the index, one thread: one order, one set of bits. */
#include <string.h>

#include "../core/half.h"
#include "../core/tensor.h"
#include "gather.h"

void fc_cpu_strided_copy(int size, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n)
{
    if (to_step == 1 && from_step == 1) {
        memcpy(to, from, (size_t)(n * size));
        return;
    }
    for (int64_t i = 0; i < n; ++i)
        memcpy(to + i * to_step * size, from + i * from_step * size, (size_t)size);
}

#define FC_ADD_LOOP(T) for (int64_t i = 0; i < n; ++i) ((T *)to)[i * to_step] += ((const T *)from)[i * from_step]; break

void fc_cpu_accumulate(int dtype, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n)
{
    uint16_t *h = (uint16_t *)to;
    const uint16_t *g = (const uint16_t *)from;
    switch (dtype) {
    case FC_BOOL: for (int64_t i = 0; i < n; ++i) to[i * to_step] |= from[i * from_step]; break;
    case FC_U8: case FC_I8: FC_ADD_LOOP(uint8_t);
    case FC_I16: case FC_U16: FC_ADD_LOOP(uint16_t);
    case FC_I32: case FC_U32: FC_ADD_LOOP(uint32_t);
    case FC_I64: case FC_U64: FC_ADD_LOOP(uint64_t);
    case FC_F16:
        for (int64_t i = 0; i < n; ++i)
            h[i * to_step] = fc_f16_of_f32(fc_f32_of_f16(h[i * to_step]) + fc_f32_of_f16(g[i * from_step]));
        break;
    case FC_BF16:
        for (int64_t i = 0; i < n; ++i)
            h[i * to_step] = fc_bf16_of_f32(fc_f32_of_bf16(h[i * to_step]) + fc_f32_of_bf16(g[i * from_step]));
        break;
    case FC_F32: FC_ADD_LOOP(f32);
    case FC_F64: FC_ADD_LOOP(f64);
    case FC_C64: FC_ADD_LOOP(c64);
    case FC_C128: FC_ADD_LOOP(c128);
    default: break;
    }
}

#undef FC_ADD_LOOP

/* gather and scatter walk the index; `small` is the operand of the index's own shape or larger, `big` is indexed along dim. */
static int fc_walk(const fc_gather_job *job, char *big, const int64_t *big_shape, char *small, const int64_t *small_shape, int mode, int64_t *bad)
{
    const int size = fc_dt_size[job->dtype];
    int64_t bs[FC_MAX_DIMS], ss[FC_MAX_DIMS], at[FC_MAX_DIMS] = { 0 }, b = 1, s = 1;
    const int64_t one = 1;
    const int64_t *shape = job->scalar ? &one : job->index_shape;
    if (job->scalar) { /* a 0-d operand among them: every count is 1 except perhaps one vector's */
        bs[0] = ss[0] = 1;
    } else {
        for (int d = job->ndim - 1; d >= 0; --d) {
            bs[d] = b;
            ss[d] = s;
            b *= big_shape[d];
            s *= small_shape[d];
        }
    }
    for (int64_t p = 0; p < job->count; ++p) {
        const int64_t i = job->index[p];
        if (i < 0 || i >= job->n) {
            *bad = i;
            return 1;
        }
        int64_t bo = i * bs[job->dim], so = at[job->dim] * ss[job->dim];
        if (job->scalar)
            so = p;
        for (int d = 0; d < job->ndim && !job->scalar; ++d)
            if (d != job->dim) {
                bo += at[d] * bs[d];
                so += at[d] * ss[d];
            }
        if (mode == 0)
            memcpy(small + so * size, big + bo * size, (size_t)size);
        else if (mode == 1)
            memcpy(big + bo * size, small + so * size, (size_t)size);
        else
            fc_cpu_accumulate(job->dtype, big + bo * size, 1, small + so * size, 1, 1);
        for (int d = job->ndim - 1; d >= 0 && !job->scalar; --d) {
            if (++at[d] < shape[d])
                break;
            at[d] = 0;
        }
    }
    return 0;
}

int fc_cpu_gather(const fc_gather_job *job, char *out, const char *x, int64_t *bad)
{
    return fc_walk(job, (char *)x, job->x_shape, out, job->index_shape, 0, bad);
}

int fc_cpu_scatter(const fc_gather_job *job, char *x, const char *src, int add, int64_t *bad)
{
    return fc_walk(job, x, job->x_shape, (char *)src, job->src_shape, add ? 2 : 1, bad);
}

int fc_cpu_index_select(const fc_gather_job *job, char *out, const char *x, int64_t *bad)
{
    const int64_t row = job->inner * fc_dt_size[job->dtype];
    for (int64_t o = 0; o < job->outer; ++o)
        for (int64_t p = 0; p < job->count; ++p) {
            const int64_t i = job->index[p];
            if (i < 0 || i >= job->n) {
                *bad = i;
                return 1;
            }
            memcpy(out + (o * job->count + p) * row, x + (o * job->n + i) * row, (size_t)row);
        }
    return 0;
}

int fc_cpu_index_write(const fc_gather_job *job, char *x, const char *src, int add, int64_t *bad)
{
    const int64_t row = job->inner * fc_dt_size[job->dtype];
    for (int64_t o = 0; o < job->outer; ++o)
        for (int64_t p = 0; p < job->count; ++p) {
            const int64_t i = job->index[p];
            if (i < 0 || i >= job->n) {
                *bad = i;
                return 1;
            }
            char *to = x + (o * job->n + i) * row;
            const char *from = src + (o * job->count + p) * row;
            if (add)
                fc_cpu_accumulate(job->dtype, to, 1, from, 1, job->inner);
            else
                memcpy(to, from, (size_t)row);
        }
    return 0;
}
