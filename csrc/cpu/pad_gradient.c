/*
 * Gradient of _pad_around: each place of the input gets the sum of what stands where the result showed it.
 *
 *   x[p] = sum of g[j] over the places j that show p, in the order of memory of g's padded dims
 *
 * Along each padded dim an index of g names one of the input; rows of the last dim are added whole, their borders element by element. Dims
 * before the padded ones are planes, which are independent of each other.
 */
#include <string.h>

#include "../core/call.h"
#include "../core/mathfn.h"
#include "../core/ops.h"
#include "parallel.h"

enum { REFLECT, REPLICATE, CIRCULAR };
enum { GRAIN = 32 << 10 }; /* elements: about 10 us */

typedef struct { int64_t low, kept, cut, g, x; } padded; /* a dim: where what was kept begins in g and in the input, its size, their sizes */

typedef struct {
    int dims, mode;                 /* padded ones */
    padded dim[FC_MAX_DIMS];
    int64_t planes, from, to;       /* and the elements of a plane of g and of the input */
    const void *g;
    void *out;
} job;

/* Which index of the input is shown at index j of g. */
static inline int64_t shown_at(const job *q, const padded *p, int64_t j)
{
    int64_t at = j - p->low;
    if (at < 0)
        at = q->mode == REFLECT ? -at : q->mode == REPLICATE ? 0 : at + p->kept;
    else if (at >= p->kept)
        at = q->mode == REFLECT ? 2 * (p->kept - 1) - at : q->mode == REPLICATE ? p->kept - 1 : at - p->kept;
    return at + p->cut;
}

#define PLANES(name, T)                                                                                               \
static void planes_##name(void *ctx, int64_t begin, int64_t end)                                                      \
{                                                                                                                     \
    const job *q = ctx;                                                                                               \
    const padded *last = q->dim + q->dims - 1;                                                                        \
    const int64_t rows = q->from / last->g;                                                                           \
    for (int64_t i = begin; i < end; ++i) {                                                                           \
        const T *restrict g = (const T *)q->g + i * q->from;                                                          \
        T *plane = (T *)q->out + i * q->to;                                                                           \
        memset(plane, 0, (size_t)q->to * sizeof(T));                                                                  \
        for (int64_t r = 0; r < rows; ++r, g += last->g) {                                                            \
            int64_t at = 0, run = last->x, rest = r;                                                                  \
            for (int d = q->dims - 2; d >= 0; rest /= q->dim[d].g, run *= q->dim[d].x, --d)                           \
                at += shown_at(q, q->dim + d, rest % q->dim[d].g) * run;                                              \
            T *restrict x = plane + at;                                                                               \
            for (int64_t j = 0; j < last->low; ++j) x[shown_at(q, last, j)] += g[j];                                  \
            for (int64_t j = 0; j < last->kept; ++j) x[last->cut + j] += g[last->low + j];                            \
            for (int64_t j = last->low + last->kept; j < last->g; ++j) x[shown_at(q, last, j)] += g[j];               \
        }                                                                                                             \
    }                                                                                                                 \
}
PLANES(f32, f32)
PLANES(f64, f64)
PLANES(c64, c64)
PLANES(c128, c128)
#undef PLANES

/* g; count of pads, pads; mode */
static int arguments(job *q, const fc_call *c)
{
    const fc_tensor *g = c->t[0];
    const int64_t *pad = c->i + 1, most = (int64_t)1 << 60;
    *q = (job){ .dims = (int)(c->i[0] / 2), .mode = (int)c->i[c->i[0] + 1], .planes = 1, .from = 1, .to = 1, .g = g->data };
    if (c->i[0] % 2 || c->i[0] < 2 || q->dims > g->ndim || q->mode < REFLECT || q->mode > CIRCULAR)
        return fc_fail(FC_ARG, 1, c->i[0], 2 * g->ndim, 0);
    for (int d = 0; d < g->ndim; ++d) {
        const int k = g->ndim - 1 - d;
        if (k >= q->dims) {
            q->planes *= g->shape[d];
            continue;
        }
        const int64_t before = pad[2 * k], after = pad[2 * k + 1];
        if (before < -most || before > most || after < -most || after > most)
            return fc_fail(FC_MEMORY, INT64_MAX, 0, 0, 0);
        const int64_t low = before > 0 ? before : 0, high = after > 0 ? after : 0, kept = g->shape[d] - low - high, top = low > high ? low : high;
        if ((low || high) && (kept < 1 || (q->mode == REFLECT && top >= kept) || (q->mode == CIRCULAR && top > kept)))
            return fc_fail(FC_ARG, 1, top, kept, 0);
        const int64_t cut = before < 0 ? -before : 0, size = kept + cut + (after < 0 ? -after : 0);
        q->dim[q->dims - 1 - k] = (padded){ low, kept, cut, g->shape[d], size };
        q->from *= g->shape[d];
        if (__builtin_mul_overflow(q->to, size, &q->to))
            return fc_fail(FC_MEMORY, INT64_MAX, 0, 0, 0);
    }
    return FC_OK;
}

int fc_infer__pad_around_backward(fc_call *c)
{
    job q;
    const int bad = arguments(&q, c);
    int64_t shape[FC_MAX_DIMS];
    for (int d = 0; d < c->t[0]->ndim && !bad; ++d)
        shape[d] = d < c->t[0]->ndim - q.dims ? c->t[0]->shape[d] : q.dim[d - c->t[0]->ndim + q.dims].x;
    return bad ? bad : fc_declare(c, 0, c->t[0]->dtype, c->t[0]->ndim, shape);
}

int fc_cpu__pad_around_backward(fc_call *c)
{
    job q;
    const int bad = arguments(&q, c);
    if (bad || !c->out[0]->numel)
        return bad;
    q.out = c->out[0]->data;
    const int dtype = c->out[0]->dtype;
    if (!q.from) /* what was kept is nothing, and nobody saw the rest */
        memset(q.out, 0, (size_t)c->out[0]->numel * (size_t)fc_dt_size[dtype]);
    else
        fc_parallel(q.planes, 1 + GRAIN / (q.from + q.to + 1), dtype == FC_F64 ? planes_f64 : dtype == FC_C64 ? planes_c64 : dtype == FC_C128 ? planes_c128 : planes_f32, &q);
    return FC_OK;
}
