/*
 * p += alpha * v for a list of parameters, where v is the stretch of one vector that has the parameter's place in it: L-BFGS moves so.
 *
 * Rounds as p.add_(v, alpha=alpha) does.
 */
#ifndef T
#include "optim.h"
#include "../../core/cast.h"

enum { ALPHA };

#define T f32
#include "add_flat.c"
#define T f64
#include "add_flat.c"

#if FC_ISA_ONCE
/* params; vector; alpha */
int fc_infer__add_flat_(fc_call *c)
{
    const fc_tensor *vector = c->t[c->nt - 1];
    const int bad = fc_check_step(c, 0, 0);
    int64_t n = 0;
    for (int k = 0; k < c->len[0] && !bad; n += c->t[k++]->numel)
        if (c->t[k]->dtype != vector->dtype)
            return fc_fail(FC_MIXED, 0, c->t[k]->dtype, 1, vector->dtype);
    if (!bad && n != vector->numel)
        return fc_fail(FC_SIZE, 0, n, 1, vector->numel);
    if (!bad && fc_is_half(vector->dtype)) { /* a number beside halves is one of them */
        uint16_t half;
        fc_convert(vector->dtype, &half, FC_F64, &c->d[ALPHA], 1);
        fc_convert(FC_F64, &c->d[ALPHA], vector->dtype, &half, 1);
    }
    return bad;
}
#endif

int FC_ISA_NAME(fc_cpu__add_flat_)(fc_call *c)
{
    const fc_tensor *vector = c->t[c->nt - 1];
    const char *from = vector->data;
    for (int k = 0; k < c->len[0]; from += c->t[k++]->numel * fc_dt_size[vector->dtype]) {
        fc_step q = { .p = c->t[k]->data, .g = from, .k = { c->d[ALPHA] } };
        fc_step_run(c->t[k], add_f32, add_f64, &q);
    }
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_add_flat_)

#else
#include "../typed.h"

static void N(add)(void *ctx, int64_t begin, int64_t end)
{
    const fc_step *q = ctx;
    T *restrict p = q->p;
    const T *restrict v = q->g, alpha = (T)q->k[ALPHA];
    for (int64_t i = begin; i < end; ++i)
        p[i] = M(fma)(alpha, v[i], p[i]);
}

#include "../typed_done.h"
#endif
