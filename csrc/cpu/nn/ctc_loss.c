/*
 * Connectionist temporal classification: minus the log of the probability of a label sequence over all its alignments.
 *
 *   l = blank t_1 blank t_2 ... blank                       2 S + 1 labels
 *   alpha[t, s] = x[t, l_s] + log(e^alpha[t-1, s] + e^alpha[t-1, s-1] + e^alpha[t-1, s-2])    the last where l_s != l_{s-2}
 *   loss = -log(e^alpha[T-1, 2S] + e^alpha[T-1, 2S-1])
 *
 * beta is the same from the end; then d loss / d x[t, c] = -sum over l_s == c of exp(alpha[t, s] + beta[t, s] - x[t, c] + loss).
 * `normalised` adds exp(x[t, c]): the gradient for the input of a log_softmax, taken as that of its result, as PyTorch does.
 *
 * x: (T, N, C) log-probabilities; targets (N, S), padded; alpha is kept (N, T, 2 S + 1). Samples are independent.
 * Source: Graves, Fernandez, Gomez, Schmidhuber (2006), equations 6 to 16, in logarithms.
 */
#ifndef T
#include <string.h>

#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../parallel.h"
#include "same.h"

typedef struct {
    int64_t steps, batch, classes, width, labels, blank; /* width: of targets; labels: 2 * width + 1 */
    const void *x, *g, *loss_in;
    const int64_t *targets, *in_len, *out_len;
    void *loss, *alpha, *dx;
    int normalised;
} job;

enum { STRIP = 8 };

static inline int64_t label_of(const job *q, int64_t n, int64_t s) { return s % 2 ? q->targets[n * q->width + s / 2] : q->blank; }

/* Room for what belongs to a sample's labels, two more, and what fills the last strip. */
static inline int64_t line_of(const job *q) { return (q->labels + 2 + STRIP) / STRIP * STRIP + STRIP; }

#define T f32
#include "ctc_loss.c"
#define T f64
#include "ctc_loss.c"

#if FC_ISA_ONCE
/* arguments from x = t[at]: log_probs, targets, input_lengths, target_lengths */
static int check(const fc_call *c, int at, int64_t blank)
{
    const fc_tensor *x = c->t[at], *targets = c->t[at + 1];
    if (!fc_is_float(x->dtype))
        return fc_fail(FC_DTYPE, x->dtype, at, 0, 0);
    if (x->ndim != 3)
        return fc_fail(FC_RANK, at, x->ndim, 3, 0);
    for (int k = 1; k < 4; ++k)
        if (c->t[at + k]->dtype != FC_I64)
            return fc_fail(FC_DTYPE, c->t[at + k]->dtype, at + k, 0, 0);
    if (targets->ndim != 2)
        return fc_fail(FC_RANK, at + 1, targets->ndim, 2, 0);
    for (int k = 1; k < 4; ++k)
        if ((c->t[at + k]->ndim ? c->t[at + k]->shape[0] : 1) != x->shape[1])
            return fc_fail(FC_SIZE, at, x->shape[1], at + k, c->t[at + k]->ndim ? c->t[at + k]->shape[0] : 1);
    return blank >= 0 && blank < x->shape[2] ? FC_OK : fc_fail(FC_ARG, at + 4, blank, x->shape[2], 0);
}

/* log_probs, targets, input_lengths, target_lengths; blank, normalised -> loss (N), alpha (N, T, 2 S + 1) */
int fc_infer__ctc_loss(fc_call *c)
{
    const int bad = check(c, 0, c->i[0]);
    if (bad)
        return bad;
    const fc_tensor *x = c->t[0];
    const int64_t kept[3] = {x->shape[1], x->shape[0], 2 * c->t[1]->shape[1] + 1};
    fc_declare(c, 0, x->dtype, 1, kept);
    return fc_declare(c, 1, fc_is_half(x->dtype) ? FC_F32 : x->dtype, 3, kept);
}

/* g (N), log_probs, targets, input_lengths, target_lengths, loss, alpha; blank, normalised */
int fc_infer__ctc_loss_backward(fc_call *c)
{
    int bad = check(c, 1, c->i[0]);
    if (bad)
        return bad;
    const fc_tensor *x = c->t[1];
    bad = fc_check_part(c, x, 0, x->shape[1]);
    bad = bad ? bad : fc_check_part(c, x, 5, x->shape[1]);
    bad = bad ? bad : fc_check_part(c, x, 6, x->shape[1] * x->shape[0] * (2 * c->t[2]->shape[1] + 1));
    return bad ? bad : fc_declare(c, 0, x->dtype, 3, x->shape);
}
#endif

static int prepare(job *q, const fc_call *c, int at)
{
    const fc_tensor *x = c->t[at], *targets = c->t[at + 1];
    *q = (job){.steps = x->shape[0], .batch = x->shape[1], .classes = x->shape[2], .width = targets->shape[1], .labels = 2 * targets->shape[1] + 1,
               .blank = c->i[0], .x = x->data, .targets = FC_DATA(const int64_t, targets), .in_len = FC_DATA(const int64_t, c->t[at + 2]),
               .out_len = FC_DATA(const int64_t, c->t[at + 3]),
               .normalised = (int)c->i[1]};
    for (int64_t n = 0; n < q->batch; ++n) {
        if (q->in_len[n] < 0 || q->in_len[n] > q->steps)
            return fc_fail(FC_ARG, at + 2, q->in_len[n], q->steps, 0);
        if (q->out_len[n] < 0 || q->out_len[n] > q->width)
            return fc_fail(FC_ARG, at + 3, q->out_len[n], q->width, 0);
        for (int64_t s = 0; s < q->out_len[n]; ++s)
            if ((uint64_t)q->targets[n * q->width + s] >= (uint64_t)q->classes)
                return fc_fail(FC_INDEX, q->targets[n * q->width + s], q->classes, 1, 0);
    }
    return FC_OK;
}

int FC_ISA_NAME(fc_cpu__ctc_loss)(fc_call *c)
{
    job q;
    const int bad = prepare(&q, c, 0);
    q.loss = c->out[0]->data;
    q.alpha = c->out[1]->data;
    if (!bad)
        return fc_parallel_scratch(q.batch, 1, (size_t)(6 * line_of(&q)) * sizeof(f64), c->t[0]->dtype == FC_F32 ? forward_f32 : forward_f64, &q);
    return bad;
}
FC_OWN_TWO_LEVELS(_ctc_loss)

int FC_ISA_NAME(fc_cpu__ctc_loss_backward)(fc_call *c)
{
    job q;
    const int bad = prepare(&q, c, 1);
    q.g = c->t[0]->data;
    q.loss_in = c->t[5]->data;
    q.alpha = c->t[6]->data;
    q.dx = c->out[0]->data;
    const size_t room = (size_t)(6 * line_of(&q) + q.classes) * sizeof(f64);
    if (!bad)
        return fc_parallel_scratch(q.batch, 1, room, c->t[1]->dtype == FC_F32 ? backward_f32 : backward_f64, &q);
    return bad;
}
FC_OWN_TWO_LEVELS(_ctc_loss_backward)

#else
#include "../typed.h"

/* log(e^a + e^b + e^c), -inf where all are; without a branch, so that a line of labels is computed at once */
static inline T N(join)(T a, T b, T c)
{
    const T ab = a > b ? a : b, peak = ab > c ? ab : c, shift = peak == K(-INFINITY) ? 0 : peak;
    return M(log)(M(exp)(a - shift) + M(exp)(b - shift) + M(exp)(c - shift)) + shift;
}

/* out[s] = emitted[s] + join(a[s], b[s], c[s] + skip[s]) in loops that vectorise; total and shift are room. Labels are rounded up to a
 * whole STRIP, and all lines have room for that: an exponential of one number takes as long as of a vector. */
static void N(join_all)(T *restrict out, const T *restrict emitted, const T *restrict a, const T *restrict b, const T *restrict c,
                        const T *restrict skip, T *restrict total, T *restrict shift, int64_t labels)
{
    const int64_t all = (labels + STRIP - 1) / STRIP * STRIP;
    for (int64_t s = 0; s < all; ++s) {
        const T far = c[s] + skip[s], ab = a[s] > b[s] ? a[s] : b[s], peak = ab > far ? ab : far;
        shift[s] = peak < K(-1e30) ? K(-1e30) : peak; /* of -inf alone: 0 terms, whose logarithm is -inf again */
    }
    for (int64_t s = 0; s < all; ++s)
        total[s] = M(exp)(a[s] - shift[s]) + M(exp)(b[s] - shift[s]) + M(exp)(c[s] + skip[s] - shift[s]);
    for (int64_t s = 0; s < all; ++s)
        out[s] = emitted[s] + (M(log)(total[s]) + shift[s]);
}

/* out[s] = exp(x[s]), which may be out itself, in whole vectors */
static inline void N(exp_all)(T *out, const T *x, int64_t n)
{
    int64_t s = 0;
    for (; s + STRIP <= n; s += STRIP) {
        T line[STRIP];
        for (int l = 0; l < STRIP; ++l)
            line[l] = M(exp)(x[s + l]);
        memcpy(out + s, line, sizeof line);
    }
    T line[STRIP] = { 0 };
    for (int l = 0; l < n - s; ++l)
        line[l] = x[s + l];
    for (int l = 0; l < STRIP && s < n; ++l)
        line[l] = M(exp)(line[l]);
    for (int l = 0; l < n - s; ++l)
        out[s + l] = line[l];
}

/* What a sample's labels emit at a step, and (added) which of them may be reached from two before. */
static void N(emit)(const job *q, int64_t n, int64_t labels, const T *x, T *emitted)
{
    for (int64_t s = 0; s < labels; ++s)
        emitted[s] = x[label_of(q, n, s)];
}

static void N(may_skip)(const job *q, int64_t n, int64_t labels, T *skip)
{
    for (int64_t s = 0; s < labels; ++s)
        skip[s] = s > 1 && label_of(q, n, s) != label_of(q, n, s - 2) ? 0 : K(-INFINITY);
}

static void N(forward)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const T never = K(-INFINITY);
    const int64_t line = line_of(q);
    T *restrict emitted = scratch, *restrict skip = emitted + line, *restrict total = skip + line, *restrict now = total + 2 * line;
    T *before = now + line; /* before[s + 2]: alpha of the last step */
    memset(scratch, 0, (size_t)(6 * line) * sizeof(T)); /* what fills a strip is added up, and not looked at */
    for (int64_t n = begin; n < end; ++n) {
        const int64_t steps = q->in_len[n], labels = 2 * q->out_len[n] + 1;
        const T *x = (const T *)q->x + n * q->classes;
        T *restrict alpha = (T *)q->alpha + n * q->steps * q->labels;
        for (int64_t j = 0; j < q->steps * q->labels; ++j)
            alpha[j] = never;
        N(may_skip)(q, n, labels, skip);
        for (int64_t s = 0; s < labels + 2; ++s)
            before[s] = s == 2 ? 0 : never;
        for (int64_t t = 0; t < steps; ++t, x += q->batch * q->classes, alpha += q->labels) {
            N(emit)(q, n, labels, x, emitted);
            if (t == 0)
                for (int64_t s = 0; s < labels; ++s)
                    alpha[s] = s < 2 ? emitted[s] : never;
            else
                N(join_all)(now, emitted, before + 2, before + 1, before, skip, total, total + line, labels);
            memcpy(t ? alpha : now, t ? now : alpha, (size_t)labels * sizeof(T));
            memcpy(before + 2, now, (size_t)labels * sizeof(T));
        }
        T *loss = (T *)q->loss + n;
        if (steps == 0)
            *loss = labels == 1 ? 0 : -never;
        else
            *loss = -N(join)(before[labels + 1], labels > 1 ? before[labels] : never, never);
    }
}

static void N(backward)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const T never = K(-INFINITY);
    const int64_t line = line_of(q);
    T *restrict emitted = scratch, *restrict skip = emitted + line, *restrict beta = skip + line, *later = beta + line;
    T *restrict total = later + line, *restrict sum = total + 2 * line;
    memset(scratch, 0, (size_t)(6 * line) * sizeof(T));
    for (int64_t n = begin; n < end; ++n) {
        const int64_t steps = q->in_len[n], labels = 2 * q->out_len[n] + 1, wide = q->batch * q->classes;
        const T loss = ((const T *)q->loss_in)[n], g = ((const T *)q->g)[n];
        const int impossible = loss == -never; /* a loss that nothing can lower has no slope, but one that zero_infinity left out */
        for (int64_t t = impossible ? 0 : steps; t < q->steps; ++t)
            for (int64_t c = 0; c < q->classes; ++c)
                ((T *)q->dx)[t * wide + n * q->classes + c] = impossible && t < steps && g != 0 ? K(NAN) : 0;
        if (impossible)
            continue;
        N(may_skip)(q, n, labels, skip);
        skip[labels] = skip[labels + 1] = never;
        later[labels] = later[labels + 1] = never; /* beta of the next step, which counts its own x as alpha does */
        for (int64_t t = steps - 1; t >= 0; --t) {
            const T *x = (const T *)q->x + t * wide + n * q->classes, *alpha = (const T *)q->alpha + (n * q->steps + t) * q->labels;
            T *dx = (T *)q->dx + t * wide + n * q->classes;
            N(emit)(q, n, labels, x, emitted);
            if (t == steps - 1)
                for (int64_t s = 0; s < labels; ++s)
                    beta[s] = s >= labels - 2 ? emitted[s] : never;
            else
                N(join_all)(beta, emitted, later, later + 1, later + 2, skip + 2, total, total + line, labels);
            for (int64_t s = 0; s < labels; ++s) { /* how likely it is that this label stands here, given the target */
                later[s] = beta[s];
                beta[s] = emitted[s] == never ? never : alpha[s] + beta[s] - emitted[s] + loss;
            }
            N(exp_all)(beta, beta, labels);
            for (int64_t c = 0; c < q->classes; ++c)
                sum[c] = 0;
            for (int64_t s = 0; s < labels; ++s)
                sum[label_of(q, n, s)] += beta[s];
            if (q->normalised)
                N(exp_all)(dx, x, q->classes);
            else
                memset(dx, 0, (size_t)q->classes * sizeof(T));
            for (int64_t c = 0; c < q->classes; ++c)
                dx[c] = (dx[c] - sum[c]) * g;
        }
    }
}

#include "../typed_done.h"
#endif
