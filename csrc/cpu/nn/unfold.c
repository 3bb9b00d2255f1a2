/*
 * Windows of planes as columns, and columns summed up in their windows: each the other's gradient.
 *
 *   column[n, c, a, b, i, j] = x[n, c, i * stride - pad + a * dilation, j * stride - pad + b * dilation]     0 outside
 *   x[n, c, y, z] = sum over a, b of column[n, c, a, b, i, j] where window (i, j) sees (y, z) at its place (a, b)
 *
 * x: (N, C, H, W); columns: (N, C KH KW, L), L windows in row-major order. Sums run over the places (a, b) in row-major order, from 0, so
 * a result depends on its plane alone. A place's windows that see the plane are a box: nothing is asked of a single element.
 */
#ifndef T
#include <string.h>

#include "../../core/call.h"
#include "../../core/ops.h"
#include "../parallel.h"

enum { GRAIN = 32 << 10 }; /* elements: about 10 us */

typedef struct {
    int64_t size[2], out[2], kernel[2], dilation[2], pad[2], stride[2];
    int64_t planes, plane, columns;  /* elements of a plane, and of its columns */
    const void *from;
    void *to;
} job;

typedef struct { int64_t begin, end, first; } seen; /* windows [begin, end) of a dim see the plane, the first of them its place `first` */

static seen seen_at(const job *q, int d, int64_t tap)
{
    const int64_t start = tap * q->dilation[d] - q->pad[d], s = q->stride[d];
    seen w = { start < 0 ? (-start + s - 1) / s : 0, start < q->size[d] ? (q->size[d] - 1 - start) / s + 1 : 0, 0 };
    w.end = w.end < q->out[d] ? w.end : q->out[d];
    w.begin = w.begin < w.end ? w.begin : w.end;
    w.first = start + w.begin * s;
    return w;
}

#define T f32
#include "unfold.c"
#define T f64
#include "unfold.c"

/* i: kernel, dilation, padding, stride of two dims each; size: of the planes */
static int windows(job *q, const int64_t *size, const int64_t *i)
{
    q->plane = q->columns = 1;
    for (int d = 0; d < 2; ++d) {
        q->size[d] = size[d];
        q->kernel[d] = i[d], q->dilation[d] = i[2 + d], q->pad[d] = i[4 + d], q->stride[d] = i[6 + d];
        for (int k = 0; k < 4; ++k) {
            if (i[2 * k + d] < (k != 2)) return fc_fail(FC_ARG, 1 + k, i[2 * k + d], k != 2, 0);
            if (i[2 * k + d] > FC_MOST_STEP) return fc_fail(FC_ARG, 1 + k, i[2 * k + d], FC_MOST_STEP, 0);
        }
        const int64_t room = size[d] + 2 * q->pad[d] - q->dilation[d] * (q->kernel[d] - 1) - 1;
        if (size[d] < 0 || room < 0)
            return fc_fail(FC_ARG, 0, size[d], q->kernel[d], 0);
        q->out[d] = room / q->stride[d] + 1;
        if (__builtin_mul_overflow(q->plane, size[d], &q->plane) || __builtin_mul_overflow(q->columns, q->out[d] * q->kernel[d], &q->columns))
            return fc_fail(FC_MEMORY, INT64_MAX, 0, 0, 0);
    }
    return FC_OK;
}

/* input; int[2] kernel, dilation, padding, stride */
static int unfold_args(job *q, const fc_call *c)
{
    const fc_tensor *x = c->t[0];
    if (x->ndim != 4)
        return fc_fail(FC_RANK, 0, x->ndim, 4, 0);
    q->planes = x->shape[0] * x->shape[1];
    return windows(q, x->shape + 2, c->i);
}

int fc_infer__im2col(fc_call *c)
{
    job q;
    const int bad = unfold_args(&q, c);
    const int64_t shape[3] = { c->t[0]->shape[0], bad ? 0 : c->t[0]->shape[1] * q.kernel[0] * q.kernel[1], bad ? 0 : q.out[0] * q.out[1] };
    return bad ? bad : fc_declare(c, 0, c->t[0]->dtype, 3, shape);
}

static void run(job *q, const fc_call *c, fc_range_fn fn)
{
    q->from = c->t[0]->data;
    q->to = c->out[0]->data;
    if (c->out[0]->numel)
        fc_parallel(q->planes, 1 + GRAIN / (q->plane + q->columns + 1), fn, q);
}

int fc_cpu__im2col(fc_call *c)
{
    job q;
    const int bad = unfold_args(&q, c);
    if (!bad)
        run(&q, c, c->t[0]->dtype == FC_F64 ? unfold_f64 : unfold_f32);
    return bad;
}

/* input; int[2] size, kernel, dilation, padding, stride */
static int fold_args(job *q, const fc_call *c)
{
    const fc_tensor *x = c->t[0];
    if (x->ndim != 3)
        return fc_fail(FC_RANK, 0, x->ndim, 3, 0);
    const int bad = windows(q, c->i, c->i + 2);
    if (bad)
        return bad;
    const int64_t places = q->kernel[0] * q->kernel[1], windows = q->out[0] * q->out[1];
    if (x->shape[1] % places)
        return fc_fail(FC_SIZE, 0, x->shape[1], 2, places);
    if (x->shape[2] != windows)
        return fc_fail(FC_SIZE, 0, x->shape[2], 1, windows);
    q->planes = x->shape[0] * (x->shape[1] / places);
    return FC_OK;
}

int fc_infer__col2im(fc_call *c)
{
    job q;
    const int bad = fold_args(&q, c);
    const int64_t shape[4] = { c->t[0]->shape[0], bad ? 0 : c->t[0]->shape[1] / (q.kernel[0] * q.kernel[1]), c->i[0], c->i[1] };
    return bad ? bad : fc_declare(c, 0, c->t[0]->dtype, 4, shape);
}

int fc_cpu__col2im(fc_call *c)
{
    job q;
    const int bad = fold_args(&q, c);
    if (!bad)
        run(&q, c, c->t[0]->dtype == FC_F64 ? fold_f64 : fold_f32);
    return bad;
}

#else
#include "../typed.h"

static void N(unfold)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t wide = q->out[1], step = q->stride[1];
    for (int64_t p = begin; p < end; ++p) {
        const T *plane = (const T *)q->from + p * q->plane;
        T *to = (T *)q->to + p * q->columns;
        for (int64_t a = 0; a < q->kernel[0]; ++a) {
            const seen h = seen_at(q, 0, a);
            for (int64_t b = 0; b < q->kernel[1]; ++b, to += q->out[0] * wide) {
                const seen w = seen_at(q, 1, b);
                const int64_t n = w.end - w.begin;
                if (n < wide || h.end - h.begin < q->out[0])
                    memset(to, 0, (size_t)(q->out[0] * wide) * sizeof(T));
                if (n <= 0)
                    continue;
                const T *x = plane + h.first * q->size[1] + w.first;
                T *row = to + h.begin * wide + w.begin;
                for (int64_t i = h.begin; i < h.end; ++i, x += q->stride[0] * q->size[1], row += wide) {
                    if (step == 1 && n >= 16)
                        memcpy(row, x, (size_t)n * sizeof(T));
                    else if (step == 1)
                        for (int64_t j = 0; j < n; ++j) row[j] = x[j];
                    else
                        for (int64_t j = 0; j < n; ++j) row[j] = x[j * step];
                }
            }
        }
    }
}

static void N(fold)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t wide = q->out[1], step = q->stride[1];
    for (int64_t p = begin; p < end; ++p) {
        T *plane = (T *)q->to + p * q->plane;
        const T *from = (const T *)q->from + p * q->columns;
        memset(plane, 0, (size_t)q->plane * sizeof(T));
        for (int64_t a = 0; a < q->kernel[0]; ++a) {
            const seen h = seen_at(q, 0, a);
            for (int64_t b = 0; b < q->kernel[1]; ++b, from += q->out[0] * wide) {
                const seen w = seen_at(q, 1, b);
                const int64_t n = w.end - w.begin;
                if (n <= 0)
                    continue;
                T *restrict x = plane + h.first * q->size[1] + w.first;
                const T *restrict row = from + h.begin * wide + w.begin;
                for (int64_t i = h.begin; i < h.end; ++i, x += q->stride[0] * q->size[1], row += wide) {
                    if (step == 1)
                        for (int64_t j = 0; j < n; ++j) x[j] += row[j];
                    else
                        for (int64_t j = 0; j < n; ++j) x[j * step] += row[j];
                }
            }
        }
    }
}

#include "../typed_done.h"
#endif
