/*
 * The losses of a margin between classes, row by row, and their gradients.
 *
 *   _multi_margin        loss[r] = sum over c != t of w[t] max(0, margin - x[t] + x[c])^p / C      t = target[r], p 1 or 2
 *   _multilabel_margin   loss[r] = sum over labels j, others k of max(0, 1 - x[j] + x[k]) / C      labels: target[r] up to its first -1
 *
 * x: (N, C), target: (N) or (N, C), int64; loss: (N). What is NaN counts as below the margin. Terms are added in the order of fold_rows.h
 * along a row, labels one after the other, so a row's bits are its own. Source: Crammer and Singer (2001), Weston and Watkins (1999).
 */
#ifndef T
#include <string.h>

#include "../../core/mathfn.h"
#include "../../core/ops.h"
#include "../fold_rows.h"
#include "../parallel.h"
#include "same.h"

typedef struct {
    int64_t rows, classes, power;
    double margin;
    const void *g, *x, *weight;
    const int64_t *target;
    void *out;
} job;

#define T f32
#include "margin_loss.c"
#define T f64
#include "margin_loss.c"

/* x = t[at], target = t[at + 1], whose dims are those of x, or the first alone; weight = t[at + 2] where there is one */
static int check(const fc_call *c, int at, int dims, const fc_tensor *weight)
{
    const fc_tensor *x = c->t[at], *target = c->t[at + 1];
    if (!fc_is_float(x->dtype))
        return fc_fail(FC_DTYPE, x->dtype, at, 0, 0);
    if (target->dtype != FC_I64)
        return fc_fail(FC_DTYPE, target->dtype, at + 1, 0, 0);
    if (x->ndim != 2)
        return fc_fail(FC_RANK, at, x->ndim, 2, 0);
    if (target->ndim != dims)
        return fc_fail(FC_RANK, at + 1, target->ndim, dims, 0);
    for (int k = 0; k < dims; ++k)
        if (target->shape[k] != x->shape[k])
            return fc_fail(FC_SIZE, at, x->shape[k], at + 1, target->shape[k]);
    return weight ? fc_check_part(c, x, at + 2, x->shape[1]) : FC_OK;
}

static int run(fc_call *c, int at, int64_t least, const fc_tensor *weight, fc_scratch_fn fn)
{
    const fc_tensor *x = c->t[at], *target = c->t[at + 1];
    job q = { .rows = x->shape[0], .classes = x->shape[1], .power = c->ni ? c->i[0] : 1, .margin = c->nd ? c->d[0] : 1, .g = at ? c->t[0]->data : NULL, .x = x->data,
              .weight = weight ? weight->data : NULL, .target = FC_DATA(int64_t, target), .out = c->out[0]->data };
    for (int64_t k = 0; k < target->numel; ++k)
        if (q.target[k] < least || q.target[k] >= q.classes)
            return fc_fail(FC_INDEX, q.target[k], q.classes, 1, 0);
    const int64_t each = q.classes * (least < 0 ? 4 : 1);
    return q.rows ? fc_parallel_scratch(q.rows, 1 + 8192 / (each + 1), (size_t)(3 * q.classes) * sizeof(f64), fn, &q) : FC_OK;
}

static int check_power(const fc_call *c) { return c->i[0] == 1 || c->i[0] == 2 ? FC_OK : fc_fail(FC_ARG, c->nt, c->i[0], 1, 0); }

/* input, target, weight; p; margin */
int fc_infer__multi_margin(fc_call *c)
{
    int bad = check(c, 0, 1, c->t[2]);
    bad = bad ? bad : check_power(c);
    return bad ? bad : fc_declare(c, 0, c->t[0]->dtype, 1, c->t[0]->shape);
}

int fc_cpu__multi_margin(fc_call *c) { return run(c, 0, 0, c->t[2], c->t[0]->dtype == FC_F64 ? multi_f64 : multi_f32); }

/* g, input, target, weight; p; margin */
int fc_infer__multi_margin_backward(fc_call *c)
{
    int bad = check(c, 1, 1, c->t[3]);
    bad = bad ? bad : check_power(c);
    bad = bad ? bad : fc_check_part(c, c->t[1], 0, c->t[1]->shape[0]);
    return bad ? bad : fc_declare(c, 0, c->t[1]->dtype, 2, c->t[1]->shape);
}

int fc_cpu__multi_margin_backward(fc_call *c) { return run(c, 1, 0, c->t[3], c->t[1]->dtype == FC_F64 ? multi_back_f64 : multi_back_f32); }

/* input, target */
int fc_infer__multilabel_margin(fc_call *c)
{
    const int bad = check(c, 0, 2, NULL);
    return bad ? bad : fc_declare(c, 0, c->t[0]->dtype, 1, c->t[0]->shape);
}

int fc_cpu__multilabel_margin(fc_call *c) { return run(c, 0, -1, NULL, c->t[0]->dtype == FC_F64 ? labels_f64 : labels_f32); }

/* g, input, target */
int fc_infer__multilabel_margin_backward(fc_call *c)
{
    int bad = check(c, 1, 2, NULL);
    bad = bad ? bad : fc_check_part(c, c->t[1], 0, c->t[1]->shape[0]);
    return bad ? bad : fc_declare(c, 0, c->t[1]->dtype, 2, c->t[1]->shape);
}

int fc_cpu__multilabel_margin_backward(fc_call *c) { return run(c, 1, -1, NULL, c->t[1]->dtype == FC_F64 ? labels_back_f64 : labels_back_f32); }

#else
#include "../typed.h"

static void N(multi)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t n = q->classes;
    T *restrict term = scratch;
    for (int64_t r = begin; r < end; ++r) {
        const T *restrict x = (const T *)q->x + r * n;
        const int64_t t = q->target[r];
        const T below = (T)q->margin - x[t], w = q->weight ? ((const T *)q->weight)[t] : 1;
        for (int64_t c = 0; c < n; ++c) {
            const T short_by = below + x[c], kept = short_by > 0 ? short_by : 0;
            term[c] = (q->power == 2 ? kept * kept : kept) * w;
        }
        term[t] = 0;
        ((T *)q->out)[r] = M(row_sum)(term, n) / (T)n;
    }
}

static void N(multi_back)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t n = q->classes;
    (void)scratch;
    for (int64_t r = begin; r < end; ++r) {
        const T *restrict x = (const T *)q->x + r * n;
        T *restrict dx = (T *)q->out + r * n;
        const int64_t t = q->target[r];
        const T below = (T)q->margin - x[t], w = q->weight ? ((const T *)q->weight)[t] : 1, slope = ((const T *)q->g)[r] / (T)n * w;
        for (int64_t c = 0; c < n; ++c) {
            const T short_by = below + x[c];
            dx[c] = short_by > 0 ? q->power == 2 ? 2 * short_by * slope : slope : 0;
        }
        dx[t] = 0;
        dx[t] = -M(row_sum)(dx, n);
    }
}

/* How many labels a row has; the values of the classes that are none of them go to `rest`, and *count says how many there are. */
static int64_t N(part)(const int64_t *target, const T *restrict x, int64_t n, T *restrict other, T *restrict rest, int64_t *count)
{
    int64_t labels = 0, k = 0;
    for (int64_t c = 0; c < n; ++c)
        other[c] = 1;
    for (; labels < n && target[labels] >= 0; ++labels)
        other[target[labels]] = 0;
    for (int64_t c = 0; c < n; ++c) {
        rest[k] = x[c];
        k += other[c] > 0;
    }
    *count = k;
    return labels;
}

static void N(labels)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t n = q->classes;
    T *restrict rest = scratch, *restrict term = rest + n;
    for (int64_t r = begin; r < end; ++r) {
        const T *x = (const T *)q->x + r * n;
        const int64_t *target = q->target + r * n;
        int64_t count;
        const int64_t labels = N(part)(target, x, n, term, rest, &count);
        T loss = 0;
        for (int64_t j = 0; j < labels; ++j) {
            const T below = 1 - x[target[j]];
            for (int64_t k = 0; k < count; ++k) {
                const T short_by = below + rest[k];
                term[k] = short_by > 0 ? short_by : 0;
            }
            loss += M(row_sum)(term, count);
        }
        ((T *)q->out)[r] = loss / (T)n;
    }
}

static void N(labels_back)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t n = q->classes;
    T *restrict other = scratch, *restrict rest = other + n, *restrict often = rest + n;
    for (int64_t r = begin; r < end; ++r) {
        const T *x = (const T *)q->x + r * n, slope = ((const T *)q->g)[r] / (T)n;
        T *dx = (T *)q->out + r * n; /* counted first: how often a class is above the margin, or as a label below it */
        const int64_t *target = q->target + r * n;
        int64_t rests;
        const int64_t labels = N(part)(target, x, n, other, rest, &rests);
        memset(often, 0, (size_t)rests * sizeof(T));
        memset(dx, 0, (size_t)n * sizeof(T));
        for (int64_t j = 0; j < labels; ++j) {
            const T below = 1 - x[target[j]];
            int32_t count = 0;
            for (int64_t k = 0; k < rests; ++k) {
                const int32_t above = below + rest[k] > 0;
                often[k] += (T)above;
                count += above;
            }
            dx[target[j]] -= (T)count;
        }
        const T *next = often;
        for (int64_t c = 0; c < n; ++c) {
            dx[c] = (other[c] > 0 ? *next : dx[c]) * slope;
            next += other[c] > 0;
        }
    }
}

#include "../typed_done.h"
#endif
