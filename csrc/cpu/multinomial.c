/*
 * _multinomial(weights, uniforms): int64 of uniforms' shape, classes drawn with replacement by inversion.
 *
 *   out[r, k] = the first i with s[r, i] >= uniforms[r, k],   s[r, i] = sum(weights[r, 0 .. i]) / sum(weights[r, :])
 *
 * weights: (rows, classes) or (classes,), none negative, finite, not all 0 in a row; uniforms: (rows, samples) or (samples,), float64 or of weights' dtype.
 * Sums run as cumsum's do and are rounded to the dtype, so this draws what cumsum, div and searchsorted would.
 */
#include <math.h>

#include "../core/atomic.h"
#include "../core/call.h"
#include "parallel.h"

enum {
    SIDE = 4,               /* rows whose sums run side by side */
    WIDE = 1 << 16,         /* classes above which that takes too much room */
    SEARCHED = 16,          /* classes that a sample looks at, and more */
    PIECE = 16384           /* classes or samples that are worth a thread */
};

/* weights, uniforms */
int fc_infer__multinomial(fc_call *c)
{
    const fc_tensor *w = c->t[0], *u = c->t[1];
    if (w->dtype != FC_F32 && w->dtype != FC_F64)
        return fc_fail(FC_DTYPE, w->dtype, 0, 0, 0);
    if (u->dtype != FC_F64 && u->dtype != w->dtype)
        return fc_fail(FC_MIXED, 0, w->dtype, 1, u->dtype);
    if (w->ndim < 1 || w->ndim > 2 || u->ndim != w->ndim)
        return fc_fail(FC_RANK, 1, u->ndim, w->ndim, 0);
    if (w->ndim == 2 && w->shape[0] != u->shape[0])
        return fc_fail(FC_SIZE, 0, w->shape[0], 1, u->shape[0]);
    if (!w->shape[w->ndim - 1])
        return fc_fail(FC_SIZE, 0, 0, 1, 1);
    c->scratch_bytes = (size_t)w->shape[w->ndim - 1] * sizeof(f64);
    return fc_declare(c, 0, FC_I64, u->ndim, u->shape);
}

typedef struct {
    const fc_tensor *w, *u;
    int64_t *out, rows, classes, samples;
    int narrow, late;       /* float32; few samples divide what they look at, and no more */
    int fault;
} job;

/* Running sums of SIDE rows, since each addition waits for the one before it: share[k * classes + i]. Answers whether all is well. */
#define SIDE_BY_SIDE(T)                                                                       \
    static int side_by_side_##T(f64 *restrict share, const T *restrict x, int64_t classes)    \
    {                                                                                         \
        f64 sum[SIDE] = {0};                                                                  \
        int bad = 0;                                                                          \
        for (int64_t i = 0; i < classes; ++i)                                                 \
            for (int k = 0; k < SIDE; ++k) {                                                  \
                const T v = x[k * classes + i];                                               \
                bad |= !((v >= 0) & (v < (T)INFINITY));                                       \
                sum[k] += v;                                                                  \
                share[k * classes + i] = (T)sum[k];                                           \
            }                                                                                 \
        for (int k = 0; k < SIDE; ++k)                                                        \
            bad |= !(share[(k + 1) * classes - 1] > 0);                                       \
        return !bad;                                                                          \
    }
SIDE_BY_SIDE(f32)
SIDE_BY_SIDE(f64)

/* The same of row r; FC_OK, or what is the matter with it. */
static int one_row(const job *q, f64 *share, int64_t r)
{
    f64 sum = 0;
    for (int64_t i = 0; i < q->classes; ++i) {
        const int64_t at = r * q->classes + i;
        const f64 x = q->narrow ? FC_DATA(f32, q->w)[at] : FC_DATA(f64, q->w)[at];
        if (!(x >= 0 && x < INFINITY))
            return fc_fail(FC_ARG, 0, at, 0, 0);
        sum += x;
        share[i] = q->narrow ? (f32)sum : sum;
    }
    return share[q->classes - 1] > 0 ? FC_OK : fc_fail(FC_ARG, 0, r, 1, 0);
}

static inline f64 divided(f64 sum, f64 total, int narrow) { return narrow ? (f32)((f32)sum / (f32)total) : sum / total; }

/* The first of so many classes whose share of the total is v at least; the last one takes what rounding leaves. */
static inline int64_t drawn(const f64 *share, int64_t classes, f64 total, f64 v, int divide, int narrow)
{
    int64_t lo = 0;
    for (int64_t left = classes - 1, half; left > 0; left -= half) {
        half = (left + 1) / 2;
        const f64 s = share[lo + half - 1];
        lo += half & -(int64_t)((divide ? divided(s, total, narrow) : s) < v); /* which way it goes cannot be guessed */
    }
    return lo;
}

/* Samples begin .. end of row r. total: what sums are still to be divided by, if q->late. */
static void draw(const job *q, const f64 *share, f64 total, int64_t r, int64_t begin, int64_t end)
{
    for (int64_t at = r * q->samples + begin; at < r * q->samples + end; ++at) {
        const f64 v = q->u->dtype == FC_F32 ? FC_DATA(f32, q->u)[at] : FC_DATA(f64, q->u)[at];
        q->out[at] = drawn(share, q->classes, total, v, q->late, q->narrow);
    }
}

static f64 divide(const job *q, f64 *share)
{
    const f64 total = share[q->classes - 1];
    for (int64_t i = 0; i < (q->late ? 0 : q->classes); ++i)
        share[i] = divided(share[i], total, q->narrow);
    return total;
}

static int64_t side(const job *q) { return q->rows >= SIDE && q->classes <= WIDE ? SIDE : 1; }

static void rows_run(void *ctx, int64_t begin, int64_t end, void *room)
{
    job *q = ctx;
    for (int64_t r = begin, some; r < end; r += some) {
        some = end - r >= SIDE && side(q) == SIDE ? SIDE : 1;
        const int64_t at = r * q->classes;
        const int good = some == 1 ? !one_row(q, room, r) : q->narrow ? side_by_side_f32(room, FC_DATA(f32, q->w) + at, q->classes)
                                                                      : side_by_side_f64(room, FC_DATA(f64, q->w) + at, q->classes);
        if (!good) {
            fc_atomic_poke(&q->fault, 1);
            return;
        }
        for (int64_t k = 0; k < some; ++k) {
            f64 *share = (f64 *)room + k * q->classes;
            draw(q, share, divide(q, share), r + k, 0, q->samples);
        }
    }
}

typedef struct { const job *q; const f64 *share; f64 total; } only;

static void samples_run(void *ctx, int64_t begin, int64_t end)
{
    const only *o = ctx;
    draw(o->q, o->share, o->total, 0, begin, end);
}

int fc_cpu__multinomial(fc_call *c)
{
    const fc_tensor *w = c->t[0], *u = c->t[1];
    const int64_t classes = w->shape[w->ndim - 1], samples = u->shape[u->ndim - 1];
    job q = {w, u, FC_DATA(int64_t, c->out[0]), w->numel / classes, classes, samples, w->dtype == FC_F32, samples < classes / SEARCHED, 0};
    if (q.rows == 1) { /* whose sums are one chain: threads share the samples */
        f64 *share = c->scratch;
        const int bad = one_row(&q, share, 0);
        if (bad)
            return bad;
        fc_parallel(samples, PIECE, samples_run, &(only){&q, share, divide(&q, share)});
        return FC_OK;
    }
    const int bad = fc_parallel_scratch(q.rows, 1 + PIECE / (classes + samples), (size_t)(side(&q) * classes) * sizeof(f64), rows_run, &q);
    if (bad || !q.fault)
        return bad;
    f64 *share = c->scratch; /* the first row that is to be refused, whichever thread came upon one */
    int refused = FC_OK;
    for (int64_t r = 0; r < q.rows && !refused; ++r)
        refused = one_row(&q, share, r);
    return refused;
}
