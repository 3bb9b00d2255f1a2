/*
 * What every optimizer kernel shares. A call holds lists of equal length: parameters, their gradients, and states; the last list is
 * the step counts (one element each) where the formula has them. A list may also be empty: an option that is off.
 *
 * Formulas round where PyTorch's composed ones do, operation by operation, so that training curves agree; one pass over memory
 * instead of five to ten. Parameters are independent, elements are independent: threads cannot change a bit.
 */
#ifndef FC_OPTIM_H
#define FC_OPTIM_H

#include <float.h>
#include <math.h>

#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../../core/promote.h"
#include "../parallel.h"

enum { FC_OPTIM_STATES = 4, FC_OPTIM_GRAIN = 16384 };

/* One parameter's step: data, constants of this step, options. */
typedef struct {
    void *p, *s[FC_OPTIM_STATES];
    const void *g;
    double k[12];
    int flag[4];
} fc_step;

/* Lists 0 (parameters) and 1 (gradients) and every full-size state agree in dtype and size; the last `counts` lists hold one number
 * per parameter (float32 or float64): step counts, running products. Only the lists whose bits are in `optional` may be empty. */
static inline int fc_check_step(const fc_call *c, int counts, unsigned optional)
{
    const int n = c->len[0];
    for (int j = 0; j < c->nd; ++j) /* a number out of range is an error in the composition, which the caller turns to */
        if (isfinite(c->d[j]) && fabs(c->d[j]) > FLT_MAX)
            for (int k = 0; k < n; ++k)
                if (c->t[k]->dtype != FC_F64)
                    return fc_fail(FC_DTYPE, c->t[k]->dtype, 0, 0, 0);
    for (int list = 0, at = 0; list < c->nlists; at += c->len[list++]) {
        if (c->len[list] != n && (c->len[list] != 0 || !(optional >> list & 1)))
            return fc_fail(FC_SIZE, 0, n, list, c->len[list]);
        for (int k = 0; k < c->len[list]; ++k) {
            const fc_tensor *p = c->t[k], *t = c->t[at + k];
            if (!fc_is_float(p->dtype))
                return fc_fail(FC_DTYPE, p->dtype, 0, 0, 0);
            if (list >= c->nlists - counts) {
                if ((t->dtype != FC_F32 && t->dtype != FC_F64) || t->numel != 1)
                    return fc_fail(FC_MIXED, 0, FC_F32, list, t->dtype);
            } else if (t->dtype != p->dtype)
                return fc_fail(FC_MIXED, 0, p->dtype, list, t->dtype);
            else if (t->numel != p->numel)
                return fc_fail(FC_SIZE, 0, p->numel, list, t->numel);
        }
    }
    return FC_OK;
}

/* The data of parameter k: p, g and the states of lists 2, 3, ...; NULL for an empty list. */
static inline fc_step fc_step_of(const fc_call *c, int k)
{
    fc_step q = {.p = c->t[k]->data, .g = c->t[c->len[0] + k]->data};
    for (int list = 2, at = c->len[0] + c->len[1]; list < c->nlists && list - 2 < FC_OPTIM_STATES; at += c->len[list++])
        q.s[list - 2] = c->len[list] ? c->t[at + k]->data : NULL;
    return q;
}

/* The one number that list `list` holds for parameter k. */
static inline fc_tensor *fc_one_of(const fc_call *c, int list, int k)
{
    for (int j = 0; j < list; ++j)
        k += c->len[j];
    return c->t[k];
}

static inline double fc_one(const fc_call *c, int list, int k)
{
    const fc_tensor *t = fc_one_of(c, list, k);
    return t->dtype == FC_F32 ? *FC_DATA(const f32, t) : *FC_DATA(const f64, t);
}

/* Writes it, and returns what its dtype kept. */
static inline double fc_set_one(const fc_call *c, int list, int k, double value)
{
    const fc_tensor *t = fc_one_of(c, list, k);
    if (t->dtype == FC_F32)
        return *FC_DATA(f32, t) = (f32)value;
    return *FC_DATA(f64, t) = value;
}

/* Adds one to parameter k's step count (the last list) and returns it. */
static inline double fc_step_count(const fc_call *c, int k) { return fc_set_one(c, c->nlists - 1, k, fc_one(c, c->nlists - 1, k) + 1); }

static inline void fc_step_run(const fc_tensor *p, fc_range_fn f32_fn, fc_range_fn f64_fn, fc_step *q)
{
    const fc_range_fn fn = p->dtype == FC_F32 ? f32_fn : f64_fn;
    if (p->numel <= FC_OPTIM_GRAIN)
        fn(q, 0, p->numel);
    else
        fc_parallel(p->numel, FC_OPTIM_GRAIN, fn, q);
}

/* PyTorch's a.lerp(b, w), a.add(b, alpha=k) and a.addcmul(b, c, value=k), which contract; addcdiv does not. */
static inline f32 fc_toward_f32(f32 a, f32 b, f32 w) { return w < 0.5f ? fc_fma_f32(w, b - a, a) : b - (b - a) * (1 - w); }
static inline f64 fc_toward_f64(f64 a, f64 b, f64 w) { return w < 0.5 ? fc_fma_f64(w, b - a, a) : b - (b - a) * (1 - w); }

/* The gradient with weight decay; without one a parameter that is infinite or NaN stays out of it. */
static inline f32 fc_pull_f32(f32 decay, f32 p, f32 g) { return decay != 0 ? fc_fma_f32(decay, p, g) : g; }
static inline f64 fc_pull_f64(f64 decay, f64 p, f64 g) { return decay != 0 ? fc_fma_f64(decay, p, g) : g; }

#endif
