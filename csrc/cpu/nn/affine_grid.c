/*
 * Places that affine maps take the middles of pixels to.
 *
 *   out[n, d, h, w, i] = theta[n, i, 0] x[w] + theta[n, i, 1] y[h] + theta[n, i, 2] z[d] + theta[n, i, 3]     (z in three dims only)
 *
 * x, y, z: evenly spaced from -1 to 1, the outermost pixels' middles; without align_corners those of the outermost edges, (size - 1) / size of that;
 * a dim of size 1 is at 0. theta: (N, D, D + 1); sizes: the D spatial sizes. Source: Jaderberg et al., Spatial Transformer Networks (2015).
 */
#ifndef T
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../parallel.h"

typedef struct {
    const void *theta;
    void *out;
    const int64_t *sizes;
    int dims, align;
} job;

#define T f32
#include "affine_grid.c"
#define T f64
#include "affine_grid.c"

#if FC_ISA_ONCE
/* theta; sizes, align_corners */
int fc_infer__affine_grid(fc_call *c)
{
    const fc_tensor *theta = c->t[0];
    const int dims = (int)c->i[0];
    int64_t shape[5] = {theta->ndim ? theta->shape[0] : 0};
    if (theta->ndim != 3)
        return fc_fail(FC_RANK, 0, theta->ndim, 3, 0);
    if (dims < 2 || dims > 3)
        return fc_fail(FC_ARG, 0, dims, 3, 0);
    for (int k = 1; k < 3; ++k)
        if (theta->shape[k] != dims + k - 1)
            return fc_fail(FC_ARG, 0, theta->shape[k], dims + k - 1, 0);
    for (int k = 0; k < dims; ++k)
        if (c->i[1 + k] < 0)
            return fc_fail(FC_ARG, 0, c->i[1 + k], 0, 0);
    memcpy(shape + 1, c->i + 1, (size_t)dims * sizeof(int64_t));
    shape[dims + 1] = dims;
    return fc_declare(c, 0, theta->dtype, dims + 2, shape);
}
#endif

int FC_ISA_NAME(fc_cpu__affine_grid)(fc_call *c)
{
    const fc_tensor *theta = c->t[0];
    const int dims = (int)c->i[0];
    const int64_t width = c->i[dims], rows = c->out[0]->numel / (width * dims + !width);
    job q = {.theta = theta->data, .out = c->out[0]->data, .sizes = c->i + 1, .dims = dims, .align = c->i[1 + dims] != 0};
    if (c->out[0]->numel)
        fc_parallel(rows, 1 + 8192 / (width * dims + 1), theta->dtype == FC_F32 ? rows_f32 : rows_f64, &q);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_affine_grid)

#else
#include "../typed.h"

/* Where the middle of pixel k of n is, counted from the nearer end. */
static inline T N(middle)(int64_t k, int64_t n, int align)
{
    const double step = n > 1 ? 2.0 / (double)(n - 1) : 0;
    const T at = n == 1 ? 0 : (T)(k < n / 2 ? -1 + (double)k * step : 1 - (double)(n - 1 - k) * step);
    return align ? at : at * (T)(n - 1) / (T)n;
}

/* Lines of pixels: row (n d + z) h + y. */
static void N(rows)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int dims = q->dims, wide = dims + 1;
    const int64_t width = q->sizes[dims - 1], height = q->sizes[dims - 2], depth = dims == 3 ? q->sizes[0] : 1;
    for (int64_t row = begin; row < end; ++row) {
        const T y = N(middle)(row % height, height, q->align), z = N(middle)(row / height % depth, depth, q->align);
        const T *theta = (const T *)q->theta + row / height / depth * dims * wide;
        T *restrict out = (T *)q->out + row * width * dims;
        for (int64_t k = 0; k < width; ++k) {
            const T x = N(middle)(k, width, q->align);
            for (int i = 0; i < dims; ++i) {
                const T *t = theta + i * wide;
                T sum = M(fma)(t[1], y, t[0] * x);
                if (dims == 3)
                    sum = M(fma)(t[2], z, sum);
                out[k * dims + i] = sum + t[dims];
            }
        }
    }
}

#include "../typed_done.h"
#endif
