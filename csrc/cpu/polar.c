/*
 * polar(abs, angle): complex numbers of these sizes and angles, abs * cos(angle) + i abs * sin(angle). Both of one dtype and shape.
 */
#ifndef T
#include "../core/levels.h"
#include "../core/mathfn.h"
#include "parallel.h"

enum { BLOCK = 256, GRAIN = 4096 };

typedef struct { const fc_tensor *abs, *angle; fc_tensor *out; } job;

#define T f32
#include "polar.c"
#define T f64
#include "polar.c"

#if FC_ISA_ONCE
int fc_infer_polar(fc_call *c)
{
    const fc_tensor *x = c->t[0], *y = c->t[1];
    if (x->dtype != FC_F32 && x->dtype != FC_F64)
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    if (x->dtype != y->dtype)
        return fc_fail(FC_MIXED, 0, x->dtype, 1, y->dtype);
    if (x->ndim != y->ndim)
        return fc_fail(FC_RANK, 1, y->ndim, x->ndim, 0);
    for (int d = 0; d < x->ndim; ++d)
        if (x->shape[d] != y->shape[d])
            return fc_fail(FC_SHAPE, d, x->shape[d], y->shape[d], 1);
    return fc_declare(c, 0, x->dtype == FC_F32 ? FC_C64 : FC_C128, x->ndim, x->shape);
}
#endif

int FC_ISA_NAME(fc_cpu_polar)(fc_call *c)
{
    job q = { c->t[0], c->t[1], c->out[0] };
    fc_parallel(q.out->numel, GRAIN, q.abs->dtype == FC_F32 ? polar_f32 : polar_f64, &q);
    return FC_OK;
}
FC_OWN_LEVELS(polar)

#else
#include "typed.h"

#define POINTS(SPLIT)                                                                                                    \
    for (int64_t k = 0; k < n; ++k) {                                                                                    \
        const FC_ISA_PASTE(fc_circle, T) at = M(circle_of)(angle[k], SPLIT(angle[k]));                                   \
        re[k] = r[k] * at.cosine;                                                                                        \
        im[k] = r[k] * at.sine;                                                                                          \
    }

/* moderate angles take a shorter way to the same bits */
static int N(all_near)(const T *angle, int64_t n)
{
    int far = 0;
    for (int64_t k = 0; k < n; ++k)
        far |= !(M(fabs)(angle[k]) < (T)FC_TRIG_NEAR);
    return !far;
}

static void N(polar)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    T re[BLOCK], im[BLOCK];
    for (int64_t first = begin; first < end; first += BLOCK) {
        const int64_t n = end - first < BLOCK ? end - first : BLOCK;
        const T *restrict r = FC_DATA(T, q->abs) + first, *restrict angle = FC_DATA(T, q->angle) + first;
        T *restrict out = FC_DATA(T, q->out) + 2 * first;
        if (N(all_near)(angle, n))
            POINTS(M(trig_split_near))
        else
            POINTS(M(trig_split))
        for (int64_t k = 0; k < n; ++k) {
            out[2 * k] = re[k];
            out[2 * k + 1] = im[k];
        }
    }
}
#undef POINTS

#include "typed_done.h"
#endif
