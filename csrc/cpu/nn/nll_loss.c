/*
 * Negative log likelihood of class numbers: the loss of log-probabilities, and its gradient.
 *
 *   loss = -w[t] * x[t];  mean = sum of loss / sum of w[t];  ignored targets count in neither
 *   dx[t] = -g * w[t], zero elsewhere
 *
 * x: (outer, C, inner); results: loss, the sum of w[t] over what is not ignored. One level: it reads one element of each row.
 */
#ifndef T
#include "../fold_rows.h"
#include "classes.h"
#include "same.h"
#include <string.h>

#define T f32
#include "nll_loss.c"
#define T f64
#include "nll_loss.c"

/* input, target, weight; reduction, ignore_index */
int fc_infer__nll_loss(fc_call *c)
{
    const fc_tensor *x = c->t[0], *target = c->t[1];
    int bad = fc_check_classes(x, target, c->t[2], 2);
    if (bad)
        return bad;
    if (c->i[0] < FC_REDUCE_NONE || c->i[0] > FC_REDUCE_SUM)
        return fc_fail(FC_ARG, 3, c->i[0], FC_REDUCE_SUM, 0);
    c->scratch_bytes = (size_t)target->numel * 2 * sizeof(f64);
    bad = fc_declare(c, 0, x->dtype, c->i[0] == FC_REDUCE_NONE ? target->ndim : 0, target->shape);
    return bad ? bad : fc_declare(c, 1, fc_wide(x->dtype), 0, NULL);
}

int fc_cpu__nll_loss(fc_call *c)
{
    const fc_classes s = fc_classes_of(c->t[0]);
    const int bad = fc_check_targets(c->t[1], s.classes, c->i[1]);
    if (bad)
        return bad;
    (c->out[1]->dtype == FC_F32 ? forward_f32 : forward_f64)(c, s, FC_DATA(int64_t, c->t[1]), c->i[0], c->i[1]);
    return FC_OK;
}

/* g, input (its shape), target, total, weight; reduction, ignore_index */
int fc_infer__nll_loss_backward(fc_call *c)
{
    const fc_tensor *x = c->t[1], *target = c->t[2];
    int bad = fc_check_classes(x, target, c->t[4], 4);
    bad = bad ? bad : fc_check_part(c, x, 0, c->i[0] == FC_REDUCE_NONE ? target->numel : 1);
    bad = bad ? bad : fc_check_part(c, x, 3, 1);
    return bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
}

int fc_cpu__nll_loss_backward(fc_call *c)
{
    const fc_classes s = fc_classes_of(c->out[0]);
    const int bad = fc_check_targets(c->t[2], s.classes, c->i[1]);
    if (bad)
        return bad;
    (c->out[0]->dtype == FC_F32 ? backward_f32 : backward_f64)(c, s, FC_DATA(int64_t, c->t[2]), c->i[0], c->i[1]);
    return FC_OK;
}

#else
#include "../typed.h"

static void N(forward)(fc_call *c, fc_classes s, const int64_t *target, int64_t reduction, int64_t ignore)
{
    const T *x = FC_DATA(T, c->t[0]), *weight = c->t[2] ? FC_DATA(T, c->t[2]) : NULL;
    T *out = FC_DATA(T, c->out[0]), *total = FC_DATA(T, c->out[1]);
    const int64_t rows = s.outer * s.inner;
    T *weights = c->scratch, *loss = reduction == FC_REDUCE_NONE ? out : weights + rows;
    for (int64_t r = 0; r < rows; ++r) {
        const int64_t t = target[r];
        const int kept = t != ignore;
        weights[r] = kept ? weight ? weight[t] : 1 : 0;
        loss[r] = kept ? -weights[r] * x[(r / s.inner * s.classes + t) * s.inner + r % s.inner] : 0;
    }
    *total = M(row_sum)(weights, rows);
    if (reduction != FC_REDUCE_NONE)
        *out = M(row_sum)(loss, rows) / (reduction == FC_REDUCE_MEAN ? *total : 1);
}

static void N(backward)(fc_call *c, fc_classes s, const int64_t *target, int64_t reduction, int64_t ignore)
{
    const T *g = FC_DATA(T, c->t[0]), *weight = c->t[4] ? FC_DATA(T, c->t[4]) : NULL;
    T *dx = FC_DATA(T, c->out[0]);
    const T scale = reduction == FC_REDUCE_MEAN ? 1 / *FC_DATA(T, c->t[3]) : 1;
    memset(dx, 0, (size_t)c->out[0]->numel * sizeof(T));
    for (int64_t r = 0; r < s.outer * s.inner; ++r) {
        const int64_t t = target[r];
        if (t != ignore)
            dx[(r / s.inner * s.classes + t) * s.inner + r % s.inner] =
                -g[reduction == FC_REDUCE_NONE ? r : 0] * scale * (weight ? weight[t] : 1);
    }
}

#include "../typed_done.h"
#endif
