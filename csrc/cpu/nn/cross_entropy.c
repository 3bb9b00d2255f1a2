/*
 * Cross entropy of logits and class numbers, in one pass, and its gradient.
 *
 *   lse      = log sum_c exp(x[c])
 *   loss     = (1 - s) * w[t] * (lse - x[t]) + s / C * sum_c w[c] * (lse - x[c])      s = label_smoothing, w = 1 if not given
 *   mean     = sum of loss / sum of w[t];  ignored targets count in neither
 *   dx[c]    = g * ((1 - s) * w[t] * (p[c] - [c == t]) + s / C * (p[c] * sum w - w[c]))    p = exp(x - lse)
 *
 * x: (outer, C, inner); results: loss, lse (kept for the gradient), the sum of w[t] over what is not ignored.
 * Only lse is kept, not the (outer, C, inner) softmax. Source: Szegedy et al., Rethinking the Inception Architecture (2015).
 */
#ifndef T
#include <string.h>

#include "../../core/copy_nest.h"
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "classes.h"
#include "same.h"

typedef struct {
    fc_classes s;
    const void *g, *x, *weight;
    const int64_t *target;
    void *loss, *lse, *row_weight, *dx;
    int64_t ignore;
    int g_step;                 /* 0: one gradient for all rows */
    double smoothing, scale;
} job;

enum { BESIDE = 16, SHORT = 64, FEW_ROWS = 4 }; /* positions that are worked on together; rows of few classes are turned to lie so */
/* Unrolled before it is vectorised, the loop would be scalars. */
#define FOR_BESIDE _Pragma("GCC unroll 1") for (int r = 0; r < width; ++r)

static int is_beside(const job *q)
{
    return q->s.inner == 1 ? q->s.classes <= SHORT && q->s.outer >= FEW_ROWS : q->s.inner > 1 && q->s.classes <= FC_FOLD_BLOCK && q->s.outer > 0;
}

/* Positions of a sample, rows all together where each is a sample; and groups of neighbours that these make. */
static int64_t positions(const job *q) { return q->s.inner == 1 ? q->s.outer : q->s.inner; }
static int64_t groups_of(const job *q) { return (positions(q) - 1) / BESIDE + 1; }
static int64_t all_groups(const job *q) { return (q->s.inner == 1 ? 1 : q->s.outer) * groups_of(q); }

#define T f32
#include "cross_entropy.c"
#define T f64
#include "cross_entropy.c"

#if FC_ISA_ONCE
/* input, target, weight; reduction, ignore_index; label_smoothing */
int fc_infer__cross_entropy(fc_call *c)
{
    const fc_tensor *x = c->t[0], *target = c->t[1];
    int bad = fc_check_classes(x, target, c->t[2], 2);
    if (bad)
        return bad;
    if (c->i[0] < FC_REDUCE_NONE || c->i[0] > FC_REDUCE_SUM)
        return fc_fail(FC_ARG, 3, c->i[0], FC_REDUCE_SUM, 0);
    if (!(c->d[0] >= 0 && c->d[0] <= 1))
        return fc_fail(FC_ARG, 5, 0, 1, 0);
    c->scratch_bytes = (size_t)target->numel * 2 * sizeof(f64);
    bad = fc_declare(c, 0, x->dtype, c->i[0] == FC_REDUCE_NONE ? target->ndim : 0, target->shape);
    bad = bad ? bad : fc_declare(c, 1, fc_wide(x->dtype), target->ndim, target->shape);
    return bad ? bad : fc_declare(c, 2, fc_wide(x->dtype), 0, NULL);
}

/* g, input, target, lse, total, weight; reduction, ignore_index; label_smoothing */
int fc_infer__cross_entropy_backward(fc_call *c)
{
    const fc_tensor *x = c->t[1], *target = c->t[2];
    int bad = fc_check_classes(x, target, c->t[5], 5);
    bad = bad ? bad : fc_check_part(c, x, 0, c->i[0] == FC_REDUCE_NONE ? target->numel : 1);
    bad = bad ? bad : fc_check_part(c, x, 3, target->numel);
    bad = bad ? bad : fc_check_part(c, x, 4, 1);
    return bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
}
#endif

int FC_ISA_NAME(fc_cpu__cross_entropy)(fc_call *c)
{
    const fc_classes s = fc_classes_of(c->t[0]);
    const int bad = fc_check_targets(c->t[1], s.classes, c->i[1]);
    if (bad)
        return bad;
    job q = {.s = s, .x = c->t[0]->data, .target = FC_DATA(int64_t, c->t[1]), .weight = c->t[2] ? c->t[2]->data : NULL,
             .lse = c->out[1]->data, .loss = c->scratch, .ignore = c->i[1], .smoothing = c->d[0]};
    if (c->i[0] == FC_REDUCE_NONE)
        q.loss = c->out[0]->data;
    if (c->out[1]->dtype == FC_F32)
        return forward_f32(&q, c->i[0], (f32 *)c->scratch + s.outer * s.inner, c->out[0]->data, c->out[2]->data);
    return forward_f64(&q, c->i[0], (f64 *)c->scratch + s.outer * s.inner, c->out[0]->data, c->out[2]->data);
}
FC_OWN_LEVELS(_cross_entropy)

int FC_ISA_NAME(fc_cpu__cross_entropy_backward)(fc_call *c)
{
    job q = {.s = fc_classes_of(c->t[1]), .g = c->t[0]->data, .x = c->t[1]->data, .target = FC_DATA(int64_t, c->t[2]),
             .lse = c->t[3]->data, .weight = c->t[5] ? c->t[5]->data : NULL, .dx = c->out[0]->data,
             .ignore = c->i[1], .smoothing = c->d[0], .g_step = c->i[0] == FC_REDUCE_NONE, .scale = 1};
    const int bad = fc_check_targets(c->t[2], q.s.classes, c->i[1]);
    if (bad)
        return bad;
    if (c->out[0]->dtype == FC_F32)
        backward_f32(&q, c->i[0], c->t[4]->data);
    else
        backward_f64(&q, c->i[0], c->t[4]->data);
    return FC_OK;
}
FC_OWN_LEVELS(_cross_entropy_backward)

#else
#include "../typed.h"

/* One row of logits, contiguous. e is room for its exponentials. */
static inline T N(row_lse)(T *restrict e, const T *restrict x, int64_t n)
{
    const T peak = M(row_max)(x, n);
    const T base = isinf(peak) ? 0 : peak;
    for (int64_t j = 0; j < n; ++j)
        e[j] = M(exp)(x[j] - base);
    return M(log)(M(row_sum)(e, n)) + base;
}

/* What smoothing adds up: e[c] = w[c] * (lse - x[c]). One loop that asks each time for a weight would not vectorise. */
static inline void N(terms)(T *restrict e, const T *restrict x, const T *restrict weight, T lse, int64_t n)
{
    if (weight)
        for (int64_t j = 0; j < n; ++j)
            e[j] = weight[j] * (lse - x[j]);
    else
        for (int64_t j = 0; j < n; ++j)
            e[j] = lse - x[j];
}

static void N(forward_rows)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t n = q->s.classes, inner = q->s.inner;
    const T *weight = q->weight;
    T *e = scratch, *line = e + n;
    const T smoothing = (T)q->smoothing;

    for (int64_t r = begin; r < end; ++r) {
        const T *x = (const T *)q->x + (inner == 1 ? r * n : r / inner * n * inner + r % inner);
        if (inner > 1) {
            for (int64_t j = 0; j < n; ++j)
                line[j] = x[j * inner];
            x = line;
        }
        const T lse = N(row_lse)(e, x, n);
        const int64_t t = q->target[r];
        ((T *)q->lse)[r] = lse;
        T loss = 0, w = 0;
        if (t != q->ignore) {
            w = weight ? weight[t] : 1;
            loss = w * (lse - x[t]);
            if (smoothing > 0) {
                N(terms)(e, x, weight, lse, n);
                loss = (1 - smoothing) * loss + smoothing / (T)n * M(row_sum)(e, n);
            }
        }
        ((T *)q->loss)[r] = loss;
        ((T *)q->row_weight)[r] = w;
    }
}

/* Neighbouring positions of one sample, whose logits of a class lie side by side: what forward_rows computes of each, in the same order. */
static inline __attribute__((always_inline)) void N(forward_beside)(const job *q, int64_t r0, const T *restrict x, int64_t inner, const int width)
{
    const int64_t n = q->s.classes;
    const T *weight = q->weight;
    const T smoothing = (T)q->smoothing;
    T peak[BESIDE], lse[BESIDE], lane[FC_FOLD_LANES][BESIDE];
    for (int r = 0; r < width; ++r)
        peak[r] = -INFINITY;
    for (int64_t j = 0; j < n; ++j)
        FOR_BESIDE
            peak[r] = M(greater)(peak[r], x[j * inner + r]);
    for (int r = 0; r < width; ++r)
        peak[r] = isinf(peak[r]) ? 0 : peak[r];
    for (int smooth = 0; smooth <= (smoothing > 0); ++smooth) {
        memset(lane, 0, sizeof lane);
        for (int64_t j = 0; j < n; ++j) {
            T *restrict sum = lane[j % FC_FOLD_LANES];
            const T *restrict line = x + j * inner, w = weight ? weight[j] : 1;
            if (smooth)
                FOR_BESIDE
                    sum[r] += w * (lse[r] - line[r]);
            else
                FOR_BESIDE
                    sum[r] += M(exp)(line[r] - peak[r]);
        }
        for (int half = FC_FOLD_LANES / 2; half; half /= 2)
            for (int j = 0; j < half; ++j)
                FOR_BESIDE
                    lane[j][r] += lane[j + half][r];
        if (!smooth)
            for (int r = 0; r < width; ++r)
                lse[r] = M(log)(lane[0][r]) + peak[r];
    }
    for (int r = 0; r < width; ++r) {
        const int64_t t = q->target[r0 + r];
        T loss = 0, w = 0;
        if (t != q->ignore) {
            w = weight ? weight[t] : 1;
            loss = w * (lse[r] - x[t * inner + r]);
            if (smoothing > 0)
                loss = (1 - smoothing) * loss + smoothing / (T)n * lane[0][r];
        }
        ((T *)q->lse)[r0 + r] = lse[r];
        ((T *)q->loss)[r0 + r] = loss;
        ((T *)q->row_weight)[r0 + r] = w;
    }
}

static void N(forward_columns)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t n = q->s.classes, inner = q->s.inner, groups = groups_of(q), all = positions(q);
    T tile[SHORT * BESIDE];
    for (int64_t u = begin; u < end; ++u) {
        const int64_t o = u / groups, at = u % groups * BESIDE, r0 = o * all + at, pitch = inner == 1 ? BESIDE : inner;
        const int width = (int)(all - at < BESIDE ? all - at : BESIDE);
        const T *x = (const T *)q->x + (inner == 1 ? at * n : o * n * inner + at);
        if (inner == 1) {
            FC_ISA_NAME(fc_turn)((char *)tile, BESIDE * sizeof(T), (const char *)x, n * (int64_t)sizeof(T), width, n, sizeof(T));
            x = tile;
        }
        if (width == BESIDE)
            N(forward_beside)(q, r0, x, pitch, BESIDE);
        else
            N(forward_beside)(q, r0, x, pitch, width);
    }
}

static int N(forward)(job *q, int64_t reduction, void *row_weight, void *out, void *total_)
{
    T *total = total_;
    const int64_t rows = q->s.outer * q->s.inner, n = q->s.classes;
    q->row_weight = row_weight;
    if (is_beside(q)) {
        fc_parallel(all_groups(q), 1 + 8192 / ((n + 1) * BESIDE), N(forward_columns), q);
    } else {
        const int bad = fc_parallel_scratch(rows, 1 + 8192 / (n + 1), (size_t)(2 * n) * sizeof(T), N(forward_rows), q);
        if (bad)
            return bad;
    }
    *total = M(row_sum)(row_weight, rows);
    if (reduction != FC_REDUCE_NONE) {
        const T sum = M(row_sum)(q->loss, rows);
        *(T *)out = reduction == FC_REDUCE_MEAN ? sum / *total : sum;
    }
    return FC_OK;
}

/* dx[c] = of_p * exp(x[c] - lse) - of_soft * w[c] */
static inline void N(slopes)(T *restrict dx, const T *restrict x, const T *restrict weight, T of_p, T lse, T of_soft, int64_t n)
{
    if (weight)
        for (int64_t j = 0; j < n; ++j)
            dx[j] = of_p * M(exp)(x[j] - lse) - of_soft * weight[j];
    else
        for (int64_t j = 0; j < n; ++j)
            dx[j] = of_p * M(exp)(x[j] - lse) - of_soft;
}

static void N(backward_rows)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t n = q->s.classes, inner = q->s.inner;
    const T *weight = q->weight;
    const T smoothing = (T)q->smoothing;
    const T all = weight ? M(row_sum)(weight, n) : (T)n;

    for (int64_t r = begin; r < end; ++r) {
        const int64_t at = inner == 1 ? r * n : r / inner * n * inner + r % inner;
        const T *x = (const T *)q->x + at;
        T *dx = (T *)q->dx + at;
        const int64_t t = q->target[r];
        if (t == q->ignore) {
            for (int64_t j = 0; j < n; ++j)
                dx[j * inner] = 0;
            continue;
        }
        const T g = ((const T *)q->g)[r * q->g_step] * (T)q->scale, lse = ((const T *)q->lse)[r];
        const T hard = (1 - smoothing) * (weight ? weight[t] : 1), soft = smoothing / (T)n;
        const T of_p = g * (hard + soft * all);
        if (inner == 1)
            N(slopes)(dx, x, smoothing > 0 ? weight : NULL, of_p, lse, smoothing > 0 ? g * soft : 0, n);
        else
            for (int64_t j = 0; j < n; ++j) {
                const T p = of_p * M(exp)(x[j * inner] - lse);
                dx[j * inner] = smoothing > 0 ? p - g * soft * (weight ? weight[j] : 1) : p;
            }
        dx[t * inner] -= g * hard;
    }
}

/* forward_beside's other way; lines of dx are walked one after the other too. */
static inline __attribute__((always_inline)) void N(backward_beside)(const job *q, int64_t r0, T all, const T *restrict x, T *restrict dx, int64_t inner, const int width)
{
    const int64_t n = q->s.classes;
    const T *weight = q->weight;
    const T smoothing = (T)q->smoothing, soft = smoothing / (T)n;
    T of_p[BESIDE], of_soft[BESIDE], of_hard[BESIDE], lse[BESIDE];
    for (int r = 0; r < width; ++r) {
        const int64_t t = q->target[r0 + r];
        const T g = t == q->ignore ? 0 : ((const T *)q->g)[(r0 + r) * q->g_step] * (T)q->scale;
        const T hard = (1 - smoothing) * (t != q->ignore && weight ? weight[t] : 1);
        of_p[r] = g * (hard + soft * all);
        of_soft[r] = g * soft;
        of_hard[r] = g * hard;
        lse[r] = ((const T *)q->lse)[r0 + r];
    }
    for (int64_t j = 0; j < n; ++j) {
        const T *restrict line = x + j * inner;
        T *restrict to = dx + j * inner;
        FOR_BESIDE
            to[r] = of_p[r] * M(exp)(line[r] - lse[r]);
        if (smoothing > 0) {
            const T w = weight ? weight[j] : 1;
            FOR_BESIDE
                to[r] -= of_soft[r] * w;
        }
    }
    for (int r = 0; r < width; ++r) {
        const int64_t t = q->target[r0 + r];
        if (t != q->ignore)
            dx[t * inner + r] -= of_hard[r];
        else /* whatever its logits are */
            for (int64_t j = 0; j < n; ++j)
                dx[j * inner + r] = 0;
    }
}

static void N(backward_columns)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t n = q->s.classes, inner = q->s.inner, groups = groups_of(q), count = positions(q), row = n * (int64_t)sizeof(T);
    const T all = q->weight ? M(row_sum)(q->weight, n) : (T)n;
    T tile[SHORT * BESIDE], d_tile[SHORT * BESIDE];
    for (int64_t u = begin; u < end; ++u) {
        const int64_t o = u / groups, at = u % groups * BESIDE, r0 = o * count + at, from = inner == 1 ? at * n : o * n * inner + at;
        const int64_t pitch = inner == 1 ? BESIDE : inner;
        const int width = (int)(count - at < BESIDE ? count - at : BESIDE);
        const T *x = (const T *)q->x + from;
        T *dx = (T *)q->dx + from;
        if (inner == 1) {
            FC_ISA_NAME(fc_turn)((char *)tile, BESIDE * sizeof(T), (const char *)x, row, width, n, sizeof(T));
            x = tile, dx = d_tile;
        }
        if (width == BESIDE)
            N(backward_beside)(q, r0, all, x, dx, pitch, BESIDE);
        else
            N(backward_beside)(q, r0, all, x, dx, pitch, width);
        if (inner == 1)
            FC_ISA_NAME(fc_turn)((char *)((T *)q->dx + from), row, (const char *)d_tile, BESIDE * sizeof(T), n, width, sizeof(T));
    }
}

static void N(backward)(job *q, int64_t reduction, const void *total)
{
    const int64_t rows = q->s.outer * q->s.inner;
    if (reduction == FC_REDUCE_MEAN)
        q->scale = 1 / *(const T *)total;
    if (rows && is_beside(q))
        fc_parallel(all_groups(q), 1 + 8192 / ((q->s.classes + 1) * BESIDE), N(backward_columns), q);
    else if (rows)
        fc_parallel(rows, 1 + 8192 / (q->s.classes + 1), N(backward_rows), q);
}

#include "../typed_done.h"
#endif
