/*
 * Vector products along a dim of size 3.
 *
 *   out = (x1 y2 - x2 y1,  x2 y0 - x0 y2,  x0 y1 - x1 y0)
 *
 * input, other: of one shape, (outer, 3, inner) around the dim.
 */
#include "../core/call.h"
#include "../core/status.h"
#include "parallel.h"

typedef struct {
    const void *x, *y;
    void *out;
    int64_t inner;
} job;

int fc_infer__cross(fc_call *c)
{
    const fc_tensor *x = c->t[0], *y = c->t[1];
    const int64_t d = c->i[0] < 0 ? c->i[0] + x->ndim : c->i[0];
    if (x->dtype != y->dtype)
        return fc_fail(FC_MIXED, 0, x->dtype, 1, y->dtype);
    if (x->ndim != y->ndim)
        return fc_fail(FC_RANK, 1, y->ndim, x->ndim, 0);
    for (int k = 0; k < x->ndim; ++k)
        if (x->shape[k] != y->shape[k])
            return fc_fail(FC_SIZE, 0, x->shape[k], 1, y->shape[k]);
    if (d < 0 || d >= x->ndim)
        return fc_fail(FC_DIM, c->i[0], x->ndim, 0, 0);
    if (x->shape[d] != 3)
        return fc_fail(FC_ARG, 0, x->shape[d], 3, 0);
    return fc_declare(c, 0, x->dtype, x->ndim, x->shape);
}

#define CROSS(T)                                                                                                   \
    static void cross_##T(void *ctx, int64_t begin, int64_t end)                                                   \
    {                                                                                                              \
        const job *q = ctx;                                                                                        \
        const int64_t n = q->inner;                                                                                \
        for (int64_t k = begin; k < end; ++k) {                                                                    \
            const T *restrict x = (const T *)q->x + 3 * k * n, *restrict y = (const T *)q->y + 3 * k * n;          \
            T *restrict out = (T *)q->out + 3 * k * n;                                                             \
            for (int64_t j = 0; j < n; ++j) {                                                                      \
                const T x0 = x[j], x1 = x[n + j], x2 = x[2 * n + j], y0 = y[j], y1 = y[n + j], y2 = y[2 * n + j];  \
                out[j] = (T)(x1 * y2 - x2 * y1);                                                                   \
                out[n + j] = (T)(x2 * y0 - x0 * y2);                                                               \
                out[2 * n + j] = (T)(x0 * y1 - x1 * y0);                                                           \
            }                                                                                                      \
        }                                                                                                          \
    }
CROSS(uint8_t) CROSS(int8_t) CROSS(int16_t) CROSS(int32_t) CROSS(int64_t) CROSS(f32) CROSS(f64) CROSS(c64) CROSS(c128)
#undef CROSS

int fc_cpu__cross(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int64_t d = c->i[0] < 0 ? c->i[0] + x->ndim : c->i[0];
    job q = { .x = x->data, .y = c->t[1]->data, .out = c->out[0]->data, .inner = 1 };
    for (int64_t k = d + 1; k < x->ndim; ++k)
        q.inner *= x->shape[k];
    fc_range_fn run = NULL;
    switch (x->dtype) {
#define CASE(dtype, T) case dtype: run = cross_##T; break;
    CASE(FC_U8, uint8_t) CASE(FC_I8, int8_t) CASE(FC_I16, int16_t) CASE(FC_I32, int32_t) CASE(FC_I64, int64_t)
    CASE(FC_U16, int16_t) CASE(FC_U32, int32_t) CASE(FC_U64, int64_t) /* wrapping, so the sign is nothing */
    CASE(FC_F32, f32) CASE(FC_F64, f64) CASE(FC_C64, c64) CASE(FC_C128, c128)
#undef CASE
    default: return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    }
    if (x->numel)
        fc_parallel(x->numel / 3 / q.inner, 1 + 8192 / q.inner, run, &q);
    return FC_OK;
}
