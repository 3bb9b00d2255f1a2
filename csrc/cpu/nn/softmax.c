/*
 * Softmax along a dim, and its gradient.
 *
 *   out[j] = exp(x[j] - m) / s,   m = max_j x[j],   s = sum_j exp(x[j] - m)
 *   dx[j]  = (g[j] - sum_k g[k] out[k]) * out[j]
 *
 * Subtracting the maximum keeps every exponent <= 0, so nothing overflows; a line of -inf gives NaN.
 * Source: Goodfellow et al., Deep Learning (2016), section 4.1.
 */
#ifndef T
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "lines.h"

#define T f32
#include "softmax.c"
#define T f64
#include "softmax.c"

#if FC_ISA_ONCE
int fc_infer_softmax(fc_call *c) { return fc_infer_lines(c); }
int fc_infer__softmax_backward(fc_call *c) { return fc_infer_lines(c); }
#endif

int FC_ISA_NAME(fc_cpu_softmax)(fc_call *c)
{
    if (FC_ISA_NAME(fc_softmax_short)(c, 0))
        return FC_OK;
    return fc_lines_run(c->out[0]->dtype == FC_F32 ? softmax_f32 : softmax_f64, c->out[0], 1, c->t, c->i[0]);
}
FC_OWN_LEVELS(softmax)

int FC_ISA_NAME(fc_cpu__softmax_backward)(fc_call *c)
{
    return fc_lines_run(c->out[0]->dtype == FC_F32 ? softmax_backward_f32 : softmax_backward_f64, c->out[0], 2, c->t, c->i[0]);
}
FC_OWN_LEVELS(_softmax_backward)

#else
#include "../typed.h"

static void N(softmax)(void *out_, const void *const *in, int64_t n)
{
    T *restrict out = out_;
    const T *restrict x = in[0];
    const T peak = M(row_max)(x, n);
    for (int64_t j = 0; j < n; ++j)
        out[j] = M(exp)(x[j] - peak);
    const T sum = M(row_sum)(out, n);
    for (int64_t j = 0; j < n; ++j)
        out[j] /= sum;
}

static void N(softmax_backward)(void *dx_, const void *const *in, int64_t n)
{
    T *restrict dx = dx_;
    const T *restrict g = in[0], *restrict out = in[1];
    const T sum = M(row_dot)(g, out, n);
    for (int64_t j = 0; j < n; ++j)
        dx[j] = (g[j] - sum) * out[j];
}

#include "../typed_done.h"
#endif
