/*
 * One step of gradient descent for a list of parameters.
 *
 *   b = momentum * b + (1 - dampening) * g;  b = g at a parameter's first step
 *   p = p - lr * b;  Nesterov: p = p - lr * (g + momentum * b);  without momentum: p = p - lr * g
 *
 * Weight decay adds decay * p to g. Source: Sutskever, Martens, Dahl, Hinton (2013).
 */
#ifndef T
#include "optim.h"

enum { LR, MOMENTUM, DAMPENING, DECAY };
enum { NESTEROV, MAXIMIZE, FIRST };

#define T f32
#include "sgd.c"
#define T f64
#include "sgd.c"

#if FC_ISA_ONCE
/* params, grads, momentum_buffers; lr, momentum, dampening, weight_decay; nesterov, maximize, first */
int fc_infer__sgd_(fc_call *c)
{
    return fc_check_step(c, 0, c->d[MOMENTUM] != 0 ? 0 : 1u << 2);
}
#endif

int FC_ISA_NAME(fc_cpu__sgd_)(fc_call *c)
{
    for (int k = 0; k < c->len[0]; ++k) {
        fc_step q = fc_step_of(c, k);
        for (int j = LR; j <= DECAY; ++j)
            q.k[j] = c->d[j];
        for (int j = NESTEROV; j <= FIRST; ++j)
            q.flag[j] = (int)c->i[j];
        fc_step_run(c->t[k], step_f32, step_f64, &q);
    }
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_sgd_)

#else
#include "../typed.h"

static void N(step)(void *ctx, int64_t begin, int64_t end)
{
    const fc_step *q = ctx;
    T *restrict p = q->p, *restrict b = q->s[0];
    const T *restrict g = q->g;
    const T lr = (T)-q->k[LR], momentum = (T)q->k[MOMENTUM], fresh = (T)(1 - q->k[DAMPENING]), decay = (T)q->k[DECAY];
    const T sign = q->flag[MAXIMIZE] ? -1 : 1;
    if (!b)
        for (int64_t i = begin; i < end; ++i)
            p[i] = M(fma)(lr, M(pull)(decay, p[i], sign * g[i]), p[i]);
    else if (q->flag[FIRST] && q->flag[NESTEROV])
        for (int64_t i = begin; i < end; ++i) {
            const T g_i = b[i] = M(pull)(decay, p[i], sign * g[i]);
            p[i] = M(fma)(lr, M(fma)(momentum, g_i, g_i), p[i]);
        }
    else if (q->flag[FIRST])
        for (int64_t i = begin; i < end; ++i) {
            const T g_i = b[i] = M(pull)(decay, p[i], sign * g[i]);
            p[i] = M(fma)(lr, g_i, p[i]);
        }
    else if (q->flag[NESTEROV])
        for (int64_t i = begin; i < end; ++i) {
            const T g_i = M(pull)(decay, p[i], sign * g[i]), b_i = b[i] = M(fma)(fresh, g_i, b[i] * momentum);
            p[i] = M(fma)(lr, M(fma)(momentum, b_i, g_i), p[i]);
        }
    else
        for (int64_t i = begin; i < end; ++i) {
            const T g_i = M(pull)(decay, p[i], sign * g[i]), b_i = b[i] = M(fma)(fresh, g_i, b[i] * momentum);
            p[i] = M(fma)(lr, b_i, p[i]);
        }
}

#include "../typed_done.h"
#endif
