/*
 * Batch normalisation of (N, C, d1, ...) per channel, and its gradients.
 *
 *   h   = (x - mean) * invstd,   invstd = 1 / sqrt(var + eps),   out = h * w + b       (var divides by the number of elements M)
 *   train:  dx = w * invstd * (g - mean g - h * mean (g h));   eval (given statistics):  dx = w * invstd * g
 *   dw  = sum g h,   db = sum g                                  (sums and means over N, d1, ... of one channel)
 *
 * A channel's sum: each (n, c) plane in the fold order, then the N plane sums in the fold order. So it depends on N and on the
 * plane's size alone. Two passes for the variance: no cancellation. Source: Ioffe, Szegedy, Batch Normalization (2015).
 */
#ifndef T
#include "../../core/cast.h"
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "../parallel.h"
#include "format.h"
#include "lines.h"
#include "norm.h"

typedef struct {
    const void *g, *x, *mean, *invstd, *w, *b, *sum_g, *sum_gh;
    void *out, *part, *total;
    int64_t n, c, inner;
    fc_plane_sum which;
    int train;
    int half;      /* the dtype of x and out, if their planes are widened and narrowed piece by piece; else 0 */
    int64_t count; /* elements of a channel */
} job;

/* Rows of small planes, and narrow rows, are run as rows of elements: several samples, FLAT elements or more. Room for statistics of each: */
enum { FLAT = 64, FLAT_PARTS = 5, FLAT_SAMPLES = 4, PIECE = 512 /* of a plane of halves */ };
static int is_flat(int64_t n, int64_t c, int64_t inner) { return n >= FLAT_SAMPLES && (inner == 1 ? c < FLAT / 2 : inner <= FC_SMALL_PLANE); }

#define T f32
#include "batch_norm.c"
#define T f64
#include "batch_norm.c"

static job shape_of(const fc_tensor *x)
{
    const int64_t inner = fc_extent(x, 2, x->ndim);
    return (job){.x = x->data, .n = x->shape[0], .c = x->shape[1], .inner = inner, .count = x->shape[0] * inner};
}

#if FC_ISA_ONCE
static int check(fc_call *c, const fc_tensor *x, int first, int last)
{
    int bad = fc_check_normed(x, 2);
    for (int k = first; k <= last && !bad; ++k)
        if (c->t[k] && (c->t[k]->ndim != 1 || c->t[k]->shape[0] != x->shape[1]))
            bad = fc_fail(FC_SIZE, 0, x->shape[1], k, c->t[k]->ndim == 1 ? c->t[k]->shape[0] : -1);
    for (int k = first; k <= last && !bad; ++k) /* affine and running statistics may be wider than halves */
        if (c->t[k] && c->t[k]->dtype != x->dtype && c->t[k]->dtype != fc_stat_dtype(x->dtype))
            bad = fc_fail(FC_MIXED, 0, x->dtype, k, c->t[k]->dtype);
    if (!bad && is_flat(x->shape[0], x->shape[1], fc_extent(x, 2, x->ndim)))
        c->scratch_bytes = (size_t)(FLAT_PARTS * (x->shape[1] * fc_extent(x, 2, x->ndim) + FLAT) * fc_dt_size[fc_stat_dtype(x->dtype)]);
    return bad;
}

/* Are planes of halves widened and narrowed piece by piece? */
static int by_pieces(const fc_tensor *x)
{
    const int64_t inner = fc_extent(x, 2, x->ndim);
    return fc_is_half(x->dtype) && x->contiguous && x->numel && inner > 1 && !is_flat(x->shape[0], x->shape[1], inner);
}

/* The result's format, as PyTorch has it: dims of size 1 have a say only where x neither lies contiguously nor channels last. */
static int keep_format(fc_call *c, fc_tensor *x)
{
    const int last = x->ndim - 2;
    if (x->contiguous && x->numel)
        c->spec[0].format = 0;
    else if ((x->ndim == 4 || x->ndim == 5) && fc_is_contiguous(x, last))
        c->spec[0].format = last;
    else
        return fc_keep_format(c, 0, x, NULL, 1);
    return FC_OK;
}

/* input, weight, bias; eps -> out, mean, invstd, var */
int fc_infer__batch_norm_train(fc_call *c)
{
    fc_tensor *x = c->t[0];
    int bad = check(c, x, 1, 2);
    bad = bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    bad = bad ? bad : keep_format(c, x);
    for (int k = 1; k < 4 && !bad; ++k)
        bad = fc_declare(c, k, fc_stat_dtype(x->dtype), 1, x->shape + 1);
    if (!bad && by_pieces(x)) {
        c->halves = 1;
        c->spec[0].half = 1;
    }
    return bad;
}

/* input, mean, var, weight, bias; eps -> out, invstd */
int fc_infer__batch_norm_eval(fc_call *c)
{
    fc_tensor *x = c->t[0];
    int bad = check(c, x, 1, 4);
    bad = bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    bad = bad ? bad : keep_format(c, x);
    bad = bad ? bad : fc_declare(c, 1, fc_stat_dtype(x->dtype), 1, x->shape + 1);
    if (!bad && by_pieces(x)) {
        c->halves = 1;
        c->spec[0].half = 1;
    }
    return bad;
}

/* g, input, mean, invstd, weight; train -> dx, dw, db */
int fc_infer__batch_norm_backward(fc_call *c)
{
    const fc_tensor *x = c->t[1];
    const int affine = c->t[4] ? c->t[4]->dtype : x->dtype;
    int bad = check(c, x, 2, 4);
    bad = bad ? bad : fc_check_same(c, 1, 0);
    bad = bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    bad = bad ? bad : fc_keep_format(c, 0, x, NULL, 1);
    bad = bad ? bad : fc_declare(c, 1, affine, 1, x->shape + 1);
    bad = bad ? bad : fc_declare(c, 2, affine, 1, x->shape + 1);
    if (!bad && by_pieces(x) && c->t[0]->contiguous && c->t[0]->dtype == x->dtype) {
        c->halves = 3;
        c->spec[0].half = 1;
    }
    return bad;
}
#endif

int FC_ISA_NAME(fc_cpu__batch_norm_train)(fc_call *c)
{
    job q = shape_of(c->t[0]);
    q.w = c->t[1] ? c->t[1]->data : NULL;
    q.b = c->t[2] ? c->t[2]->data : NULL;
    q.out = c->out[0]->data;
    q.half = fc_is_half(c->t[0]->dtype) ? c->t[0]->dtype : 0;
    (c->t[0]->dtype != FC_F64 ? train_f32 : train_f64)(&q, c->out[1]->data, c->out[2]->data, c->out[3]->data, c->d[0], c->scratch);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_batch_norm_train)

int FC_ISA_NAME(fc_cpu__batch_norm_eval)(fc_call *c)
{
    job q = shape_of(c->t[0]);
    q.mean = c->t[1]->data;
    q.w = c->t[3] ? c->t[3]->data : NULL;
    q.b = c->t[4] ? c->t[4]->data : NULL;
    q.out = c->out[0]->data;
    q.half = fc_is_half(c->t[0]->dtype) ? c->t[0]->dtype : 0;
    (c->t[0]->dtype != FC_F64 ? eval_f32 : eval_f64)(&q, c->t[2]->data, c->out[1]->data, c->d[0], c->scratch);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_batch_norm_eval)

int FC_ISA_NAME(fc_cpu__batch_norm_backward)(fc_call *c)
{
    job q = shape_of(c->t[1]);
    q.g = c->t[0]->data;
    q.mean = c->t[2]->data;
    q.invstd = c->t[3]->data;
    q.w = c->t[4] ? c->t[4]->data : NULL;
    q.out = c->out[0]->data;
    q.train = (int)c->i[0];
    q.half = fc_is_half(c->t[1]->dtype) ? c->t[1]->dtype : 0;
    (c->t[1]->dtype != FC_F64 ? backward_f32 : backward_f64)(&q, c->out[1]->data, c->out[2]->data, c->scratch);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_batch_norm_backward)

#else
#include "../typed.h"
#include "../tally.h"
#include "strip.h"
#include "planes.h"

static inline T N(run_sum)(const job *q, const T *x, const T *g, int64_t c, int64_t count)
{
    switch (q->which) {
    case SUM_X: return M(row_sum)(x, count);
    case SUM_DEV: return M(row_dev)(x, ((const T *)q->mean)[c], count);
    case SUM_G: return M(row_sum)(g, count);
    case SUM_GX: default: return M(row_devdot)(x, ((const T *)q->mean)[c], g, count);
    }
}

/* The sum of one plane of halves: its blocks are widened one after the other and joined as fold_rows.h does. */
static FC_NOINLINE T N(plane_of_halves)(const job *q, int64_t at, int64_t c)
{
    T x[FC_FOLD_BLOCK], g[FC_FOLD_BLOCK], tree[48];
    int depth = 0;
    for (int64_t b = 0; b * FC_FOLD_BLOCK < q->inner; ++b) {
        const int64_t from = b * FC_FOLD_BLOCK, left = q->inner - from, count = left < FC_FOLD_BLOCK ? left : FC_FOLD_BLOCK;
        if (q->which != SUM_G)
            fc_convert(FC_F32, x, q->half, (const uint16_t *)q->x + at + from, count);
        if (q->which == SUM_G || q->which == SUM_GX)
            fc_convert(FC_F32, g, q->half, (const uint16_t *)q->g + at + from, count);
        tree[depth++] = N(run_sum)(q, x, g, c, count);
        for (int64_t carry = b + 1; carry % 2 == 0; carry /= 2, --depth)
            tree[depth - 2] += tree[depth - 1];
    }
    for (; depth > 1; --depth)
        tree[depth - 2] += tree[depth - 1];
    return tree[0];
}

/* The sum of one plane, for inner > 1. */
static inline T N(plane)(const job *q, int64_t n, int64_t c)
{
    const int64_t at = (n * q->c + c) * q->inner;
    if (sizeof(T) == sizeof(f32) && q->half)
        return N(plane_of_halves)(q, at, c);
    return N(run_sum)(q, (const T *)q->x + at, (const T *)q->g + at, c, q->inner);
}

/* Rows of (N, C) added to a lane, for inner == 1: a plane is one element. */
static inline void N(points)(const job *q, T *restrict lane, int64_t n, int64_t from, int64_t width)
{
    const T *x = (const T *)q->x + n * q->c + from, *g = (const T *)q->g + n * q->c + from, *mean = (const T *)q->mean + from;
    switch (q->which) {
    case SUM_X:
        for (int64_t c = 0; c < width; ++c)
            lane[c] += x[c];
        break;
    case SUM_DEV:
        for (int64_t c = 0; c < width; ++c)
            lane[c] += (x[c] - mean[c]) * (x[c] - mean[c]);
        break;
    case SUM_G:
        for (int64_t c = 0; c < width; ++c)
            lane[c] += g[c];
        break;
    case SUM_GX:
        for (int64_t c = 0; c < width; ++c)
            lane[c] += (x[c] - mean[c]) * g[c];
        break;
    }
}

/* One channel of planes: their sums are a row. */
static T N(channel)(const job *q, int64_t c)
{
    enum { FEW = 512 };
    T sums[FEW];
    if (q->n == 1)
        return N(plane)(q, 0, c) + K(0); /* a sum starts from zero, which makes -0 a +0 */
    if (q->n <= FEW) {
        for (int64_t n = 0; n < q->n; ++n)
            sums[n] = N(plane)(q, n, c);
        return M(row_sum)(sums, q->n);
    }
    N(tally) sum;
    N(tally_begin)(&sum, 1);
    for (int64_t n = 0; n < q->n; ++n) {
        N(tally_lane)(&sum)[0] += N(plane)(q, n, c);
        N(tally_next)(&sum);
    }
    N(tally_end)(&sum, sums);
    return sums[0];
}

/* Channels of small planes: sixteen planes at a time, of neighbouring channels or, where those are few, of sixteen samples. */
static void N(small_channels)(const job *q, int64_t from, int64_t width)
{
    const T *x = (const T *)q->x + from * q->inner, *g = (const T *)q->g + from * q->inner, *mean = (const T *)q->mean + from;
    T *total = (T *)q->total + from, sums[FC_LINES], p[FC_LINES] = {0};
    const int64_t sample = q->c * q->inner;
    N(tally) sum;
    if (width > q->n || width == FC_LINES) {
        if (q->which == SUM_DEV || q->which == SUM_GX)
            memcpy(p, mean, (size_t)width * sizeof(T));
        N(tally_begin)(&sum, width);
        for (int64_t n = 0; n < q->n; ++n) {
            N(plane_sums)(sums, x + n * sample, g + n * sample, p, q->which, q->inner, width, q->inner);
            T *restrict lane = N(tally_lane)(&sum);
            for (int64_t c = 0; c < width; ++c)
                lane[c] += sums[c];
            N(tally_next)(&sum);
        }
        N(tally_end)(&sum, total);
        return;
    }
    for (int64_t c = 0; c < width; ++c, x += q->inner, g += q->inner) {
        T lane[FC_LINES] = {0};
        for (int l = 0; l < FC_LINES && (q->which == SUM_DEV || q->which == SUM_GX); ++l)
            p[l] = mean[c];
        N(tally_begin)(&sum, 1);
        for (int64_t n = 0, count; n < q->n; n += count) {
            count = q->n - n < FC_LINES ? q->n - n : FC_LINES;
            N(plane_sums)(sums, x + n * sample, g + n * sample, p, q->which, sample, count, q->inner);
            for (int64_t l = 0; l < count; ++l)
                lane[l] += sums[l];
            if ((n + count) % FC_FOLD_BLOCK == 0 || n + count == q->n)
                N(tally_lanes)(&sum, lane, (n + count - 1) % FC_FOLD_BLOCK + 1);
        }
        N(tally_end)(&sum, total + c);
    }
}

static void N(channels)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    if (q->inner > 1) {
        for (int64_t c = begin, width; c < end; c += width) {
            width = end - c < FC_LINES ? end - c : FC_LINES;
            if (FC_ISA_NUM >= 3 && !q->half && q->inner <= FC_SMALL_PLANE && (width > 3 || q->n > 3))
                N(small_channels)(q, c, width);
            else
                for (int64_t k = c; k < c + width; ++k)
                    ((T *)q->total)[k] = N(channel)(q, k);
        }
        return;
    }
    const int64_t tile = FC_TALLY_WIDTH;
    for (int64_t k = begin; k < end; ++k) {
        N(tally) sum;
        const int64_t from = k * tile, width = q->c - from < tile ? q->c - from : tile;
        N(tally_begin)(&sum, width);
        for (int64_t n = 0; n < q->n; ++n) {
            N(points)(q, N(tally_lane)(&sum), n, from, width);
            N(tally_next)(&sum);
        }
        N(tally_end)(&sum, (T *)q->total + from);
    }
}

static void N(total)(job *q, fc_plane_sum which, void *total)
{
    const int64_t tile = q->inner == 1 ? FC_TALLY_WIDTH : 1;
    q->which = which;
    q->total = total;
    fc_parallel((q->c + tile - 1) / tile, 1 + 16384 / (q->n * q->inner * tile + 1), N(channels), q);
}

/* apply for planes of halves: in pieces of a long one, several short ones at once. */
static void N(apply_halves)(const job *q, int64_t begin, int64_t end)
{
    const T *w = q->w, *b = q->b, *mean = q->mean, *invstd = q->invstd;
    const int64_t inner = q->inner, some = inner > PIECE ? PIECE : PIECE / inner * inner;
    T piece[PIECE];
    for (int64_t i = begin * inner, count; i < end * inner; i += count) {
        const int64_t left = inner > PIECE ? inner - i % inner : end * inner - i;
        count = left < some ? left : some;
        fc_convert(FC_F32, piece, q->half, (const uint16_t *)q->x + i, count);
        for (int64_t at = 0; at < count; at += inner) {
            const int64_t c = (i + at) / inner % q->c, run = count - at < inner ? count - at : inner;
            const T m = mean[c], scale = invstd[c] * (w ? w[c] : K(1)), shift = b ? b[c] : K(0);
            T *restrict x = piece + at;
            for (int64_t j = 0; j < run; ++j)
                x[j] = (x[j] - m) * scale + shift;
        }
        fc_convert(q->half, (uint16_t *)q->out + i, FC_F32, piece, count);
    }
}

static void N(apply)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const T *w = q->w, *b = q->b, *mean = q->mean, *invstd = q->invstd;
    if (sizeof(T) == sizeof(f32) && q->half) {
        N(apply_halves)(q, begin, end);
        return;
    }
    for (int64_t n = begin; n < end; ++n) { /* a row of C channels, or one plane */
        if (q->inner == 1) {
            const T *restrict x = (const T *)q->x + n * q->c;
            T *restrict out = (T *)q->out + n * q->c;
            for (int64_t c = 0; c < q->c; ++c)
                out[c] = (x[c] - mean[c]) * (invstd[c] * (w ? w[c] : K(1))) + (b ? b[c] : K(0));
        } else {
            const int64_t c = n % q->c;
            const T m = mean[c], scale = invstd[c] * (w ? w[c] : K(1)), shift = b ? b[c] : K(0);
            const T *restrict x = (const T *)q->x + n * q->inner;
            T *restrict out = (T *)q->out + n * q->inner;
            for (int64_t j = 0; j < q->inner; ++j)
                out[j] = (x[j] - m) * scale + shift;
        }
    }
}

static void N(each_row)(job *q, fc_range_fn fn)
{
    const int64_t rows = q->inner == 1 ? q->n : q->n * q->c, width = q->inner == 1 ? q->c : q->inner;
    fc_parallel(rows, 1 + 16384 / (width + 1), fn, q);
}

static FC_NOINLINE const T *N(flat)(T *to, const void *from_, int64_t samples, int64_t channels, int64_t inner)
{
    const T *from = from_;
    if (!from)
        return NULL;
    int64_t at = 0;
    for (int64_t n = 0; n < samples; ++n)
        for (int64_t c = 0; c < channels; ++c)
            for (int64_t i = 0; i < inner; ++i)
                to[at++] = from[c];
    return to;
}

/* fn of all rows, by `room` where they are flat: then a row is some samples, and each of their elements a channel. */
static void N(each_element)(const job *q, fc_range_fn fn, T *room)
{
    const int64_t sample = q->c * q->inner, n = q->n;
    job f = *q;
    if (FC_ISA_NUM < 3 || !is_flat(n, q->c, q->inner) || !sample) { /* level v2 is kept small */
        N(each_row)(&f, fn);
        return;
    }
    const int64_t samples = 1 + (FLAT - 1) / sample < n ? 1 + (FLAT - 1) / sample : n, row = samples * sample, rest = n % samples;
    f.mean = N(flat)(room, q->mean, samples, q->c, q->inner);
    f.invstd = N(flat)(room += row, q->invstd, samples, q->c, q->inner);
    f.w = N(flat)(room += row, q->w, samples, q->c, q->inner);
    f.sum_g = N(flat)(room += row, q->sum_g, samples, q->c, q->inner);
    f.b = q->b ? N(flat)(room, q->b, samples, q->c, q->inner) : NULL; /* forward has no sums of g */
    f.sum_gh = N(flat)(room += row, q->sum_gh, samples, q->c, q->inner);
    f.c = row;
    f.inner = 1;
    f.n = n / samples;
    fc_parallel(f.n, 1 + 16384 / row, fn, &f);
    if (rest) {
        const int64_t done = (n - rest) * sample;
        f.x = (const T *)q->x + done;
        f.g = (const T *)q->g + (q->g ? done : 0);
        f.out = (T *)q->out + done;
        f.c = rest * sample;
        fn(&f, 0, 1);
    }
}

static void N(train)(job *q, void *mean_, void *invstd_, void *var_, double eps, void *room)
{
    T *mean = mean_, *invstd = invstd_, *var = var_;
    const T count = (T)q->count;
    N(total)(q, SUM_X, mean);
    for (int64_t c = 0; c < q->c; ++c)
        mean[c] /= count;
    q->mean = mean;
    N(total)(q, SUM_DEV, var);
    for (int64_t c = 0; c < q->c; ++c) {
        var[c] /= count;
        invstd[c] = var[c] == 0 && eps == 0 ? K(0) : K(1) / M(sqrt)(var[c] + (T)eps); /* a constant channel is 0, as in PyTorch */
    }
    q->invstd = invstd;
    N(each_element)(q, N(apply), room);
}

static void N(eval)(job *q, const void *var_, void *invstd_, double eps, void *room)
{
    const T *var = var_;
    T *invstd = invstd_;
    for (int64_t c = 0; c < q->c; ++c)
        invstd[c] = K(1) / M(sqrt)(var[c] + (T)eps);
    q->invstd = invstd;
    N(each_element)(q, N(apply), room);
}

/* dx of elements of channel c. */
static inline void N(gradient_run)(const job *q, int64_t c, T *restrict dx, const T *restrict x, const T *restrict g, int64_t count)
{
    const T *w = q->w, r = ((const T *)q->invstd)[c], scale = r * (w ? w[c] : K(1));
    if (!q->train) {
        for (int64_t j = 0; j < count; ++j)
            dx[j] = g[j] * scale;
        return;
    }
    const T n = (T)q->count, m = ((const T *)q->mean)[c], mean_g = ((const T *)q->sum_g)[c] / n, mean_gh = ((const T *)q->sum_gh)[c] / n;
    for (int64_t j = 0; j < count; ++j)
        dx[j] = scale * (g[j] - mean_g - (x[j] - m) * r * mean_gh);
}

/* gradient for planes of halves, in pieces. */
static void N(gradient_halves)(const job *q, int64_t begin, int64_t end)
{
    T x[PIECE], g[PIECE], dx[PIECE];
    for (int64_t i = begin * q->inner, count; i < end * q->inner; i += count) {
        const int64_t left = q->inner - i % q->inner;
        count = left < PIECE ? left : PIECE;
        fc_convert(FC_F32, g, q->half, (const uint16_t *)q->g + i, count);
        if (q->train)
            fc_convert(FC_F32, x, q->half, (const uint16_t *)q->x + i, count);
        N(gradient_run)(q, i / q->inner % q->c, dx, x, g, count);
        fc_convert(q->half, (uint16_t *)q->out + i, FC_F32, dx, count);
    }
}

static void N(gradient)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    if (sizeof(T) == sizeof(f32) && q->half) {
        N(gradient_halves)(q, begin, end);
        return;
    }
    const T *w = q->w, *mean = q->mean, *invstd = q->invstd, *sum_g = q->sum_g, *sum_gh = q->sum_gh;
    const T count = (T)q->count;
    for (int64_t n = begin; n < end; ++n) {
        const int64_t width = q->inner == 1 ? q->c : q->inner;
        const T *restrict x = (const T *)q->x + n * width, *restrict g = (const T *)q->g + n * width;
        T *restrict dx = (T *)q->out + n * width;
        if (q->inner > 1)
            N(gradient_run)(q, n % q->c, dx, x, g, width);
        else if (!q->train)
            for (int64_t c = 0; c < width; ++c)
                dx[c] = g[c] * (invstd[c] * (w ? w[c] : K(1)));
        else
            for (int64_t c = 0; c < width; ++c) {
                const T h = (x[c] - mean[c]) * invstd[c];
                dx[c] = invstd[c] * (w ? w[c] : K(1)) * (g[c] - sum_g[c] / count - h * (sum_gh[c] / count));
            }
    }
}

static void N(backward)(job *q, void *dw_, void *db, void *room)
{
    T *dw = dw_;
    N(total)(q, SUM_G, db);
    N(total)(q, SUM_GX, dw);
    for (int64_t c = 0; c < q->c; ++c)
        dw[c] *= ((const T *)q->invstd)[c];
    q->sum_g = db;
    q->sum_gh = dw;
    N(each_element)(q, N(gradient), room);
}

#include "../typed_done.h"
#endif
