/*
 * One step of Adam for a list of parameters.
 *
 *   m = m + (1 - b1) (g - m),   v = b2 v + (1 - b2) g g
 *   p = p - lr / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + eps)
 *
 * amsgrad takes the largest v so far. Weight decay adds decay * p to g, or shrinks p by lr * decay before (decoupled: AdamW).
 * Source: Kingma, Ba (2014); Reddi, Kale, Kumar (2018); Loshchilov, Hutter (2017).
 */
#ifndef T
#include "optim.h"

enum { LR, BETA1, BETA2, DECAY, EPS };                /* the floats of the call */
enum { AMSGRAD, MAXIMIZE, DECOUPLED };                /* its bools, and the flags of a step */
enum { TO_G, KEEP_V, TO_G2, SCALE_V, STEP, SHRINK };  /* the constants of a step, beside DECAY's and EPS's */
enum { COUPLED_DECAY = 6, EPSILON = 7 };

#define T f32
#include "adam.c"
#define T f64
#include "adam.c"

#if FC_ISA_ONCE
/* params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps; lr, beta1, beta2, weight_decay, eps; amsgrad, maximize, decoupled */
int fc_infer__adam_(fc_call *c)
{
    return fc_check_step(c, 1, c->i[AMSGRAD] ? 0 : 1u << 4);
}
#endif

int FC_ISA_NAME(fc_cpu__adam_)(fc_call *c)
{
    const double *d = c->d;
    for (int k = 0; k < c->len[0]; ++k) {
        fc_step q = fc_step_of(c, k);
        const double t = fc_step_count(c, k);
        q.k[TO_G] = 1 - d[BETA1];
        q.k[KEEP_V] = d[BETA2];
        q.k[TO_G2] = 1 - d[BETA2];
        q.k[SCALE_V] = sqrt(1 - pow(d[BETA2], t));
        q.k[STEP] = -(d[LR] / (1 - pow(d[BETA1], t)));
        q.k[SHRINK] = c->i[DECOUPLED] ? 1 - d[LR] * d[DECAY] : 1;
        q.k[COUPLED_DECAY] = c->i[DECOUPLED] ? 0 : d[DECAY];
        q.k[EPSILON] = d[EPS];
        q.flag[AMSGRAD] = (int)c->i[AMSGRAD];
        q.flag[MAXIMIZE] = (int)c->i[MAXIMIZE];
        fc_step_run(c->t[k], step_f32, step_f64, &q);
    }
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_adam_)

#else
#include "../typed.h"

static void N(step)(void *ctx, int64_t begin, int64_t end)
{
    const fc_step *q = ctx;
    T *restrict p = q->p, *restrict m = q->s[0], *restrict v = q->s[1], *restrict top = q->s[2];
    const T *restrict g = q->g;
    const T to_g = (T)q->k[TO_G], keep_v = (T)q->k[KEEP_V], to_g2 = (T)q->k[TO_G2], scale_v = (T)q->k[SCALE_V];
    const T step = (T)q->k[STEP], shrink = (T)q->k[SHRINK], decay = (T)q->k[COUPLED_DECAY], eps = (T)q->k[EPSILON];
    const T sign = q->flag[MAXIMIZE] ? -1 : 1;
    if (q->flag[AMSGRAD])
        for (int64_t i = begin; i < end; ++i) {
            const T p_i = p[i] * shrink, g_i = M(pull)(decay, p_i, sign * g[i]);
            const T m_i = m[i] = M(toward)(m[i], g_i, to_g), v_i = v[i] = M(fma)(to_g2 * g_i, g_i, v[i] * keep_v);
            const T top_i = top[i] = v_i > top[i] || v_i != v_i ? v_i : top[i];
            p[i] = p_i + step * m_i / (M(sqrt)(top_i) / scale_v + eps);
        }
    else
        for (int64_t i = begin; i < end; ++i) {
            const T p_i = p[i] * shrink, g_i = M(pull)(decay, p_i, sign * g[i]);
            const T m_i = m[i] = M(toward)(m[i], g_i, to_g), v_i = v[i] = M(fma)(to_g2 * g_i, g_i, v[i] * keep_v);
            p[i] = p_i + step * m_i / (M(sqrt)(v_i) / scale_v + eps);
        }
}

#include "../typed_done.h"
#endif
