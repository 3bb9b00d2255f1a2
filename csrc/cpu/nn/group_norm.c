/*
 * Group normalisation of (N, C, d1, ...): each sample's channels in `groups` groups; instance normalisation is one channel a group.
 *
 *   h   = (x - mean) * rstd over one group of one sample,   out = h * w[c] + b[c]
 *   dx  = rstd * (g w - mean (g w) - h * mean (g w h)),   dw[c] = sum g h,   db[c] = sum g
 *
 * A group's sums run over its channels' plane sums, so that dw and db of one plane serve dx as well.
 * Source: Wu, He, Group Normalization (2018).
 */
#ifndef T
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "../parallel.h"
#include "format.h"
#include "lines.h"
#include "norm.h"

typedef struct {
    const void *g, *x, *mean, *rstd, *w, *b;
    void *out, *mean_out, *rstd_out, *plane_g, *plane_gx;
    int64_t n, c, groups, inner;
    double eps;
    const void *w_flat, *b_flat; /* of small planes: w and b of each element */
} job;

#define T f32
#include "group_norm.c"
#define T f64
#include "group_norm.c"

static job shape_of(const fc_tensor *x, int64_t groups)
{
    return (job){.x = x->data, .n = x->shape[0], .c = x->shape[1], .groups = groups, .inner = fc_extent(x, 2, x->ndim)};
}

#if FC_ISA_ONCE
/* A group of small planes is run as one row. Room for what flatten() makes: */
static size_t flat_bytes(const fc_tensor *x, const fc_tensor *w)
{
    const int64_t inner = fc_extent(x, 2, x->ndim);
    return w && inner <= FC_SMALL_PLANE ? (size_t)(2 * x->shape[1] * inner * fc_dt_size[fc_stat_dtype(x->dtype)]) : 0;
}

/* input, weight, bias; groups; eps -> out, mean, rstd */
int fc_infer__group_norm(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    int bad = fc_check_normed(x, 2);
    bad = bad ? bad : fc_check_affine(x, c->t[1], 1, 1, 2);
    bad = bad ? bad : fc_check_affine(x, c->t[2], 2, 1, 2);
    if (bad)
        return bad;
    if (c->i[0] < 1 || x->shape[1] % c->i[0])
        return fc_fail(FC_ARG, 3, c->i[0], x->shape[1], 0);
    const int64_t shape[] = {x->shape[0], c->i[0]};
    c->scratch_bytes = flat_bytes(x, c->t[1]);
    c->slabs = 1;
    c->cut = 1;
    c->whole = 0;
    bad = fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    bad = bad ? bad : fc_keep_format(c, 0, x, NULL, 1);
    bad = bad ? bad : fc_declare(c, 1, fc_stat_dtype(x->dtype), 2, shape);
    return bad ? bad : fc_declare(c, 2, fc_stat_dtype(x->dtype), 2, shape);
}

/* g, input, mean, rstd, weight; groups -> dx, dw, db */
int fc_infer__group_norm_backward(fc_call *c)
{
    const fc_tensor *x = c->t[1];
    int bad = fc_check_normed(x, 2);
    bad = bad ? bad : fc_check_same(c, 1, 0);
    bad = bad ? bad : fc_check_affine(x, c->t[4], 4, 1, 2);
    if (bad)
        return bad;
    if (c->i[0] < 1 || x->shape[1] % c->i[0])
        return fc_fail(FC_ARG, 5, c->i[0], x->shape[1], 0);
    bad = fc_check_part(c, x, 2, x->shape[0] * c->i[0]);
    bad = bad ? bad : fc_check_part(c, x, 3, x->shape[0] * c->i[0]);
    c->scratch_bytes = (size_t)(x->shape[0] * x->shape[1]) * 2 * sizeof(f64) + flat_bytes(x, c->t[4]);
    bad = bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    bad = bad ? bad : fc_keep_format(c, 0, x, NULL, 1);
    bad = bad ? bad : fc_declare(c, 1, x->dtype, 1, x->shape + 1);
    return bad ? bad : fc_declare(c, 2, x->dtype, 1, x->shape + 1);
}
#endif

int FC_ISA_NAME(fc_cpu__group_norm)(fc_call *c)
{
    job q = shape_of(c->t[0], c->i[0]);
    q.w = c->t[1] ? c->t[1]->data : NULL;
    q.b = c->t[2] ? c->t[2]->data : NULL;
    q.out = c->out[0]->data;
    q.mean_out = c->out[1]->data;
    q.rstd_out = c->out[2]->data;
    q.eps = c->d[0];
    (c->t[0]->dtype == FC_F32 ? flatten_f32 : flatten_f64)(&q, c->scratch);
    fc_parallel(q.n * q.groups, 1 + 8192 / (q.c / q.groups * q.inner + 1), c->t[0]->dtype == FC_F32 ? forward_f32 : forward_f64, &q);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_group_norm)

int FC_ISA_NAME(fc_cpu__group_norm_backward)(fc_call *c)
{
    const int f = c->t[1]->dtype == FC_F32;
    job q = shape_of(c->t[1], c->i[0]);
    q.g = c->t[0]->data;
    q.mean = c->t[2]->data;
    q.rstd = c->t[3]->data;
    q.w = c->t[4] ? c->t[4]->data : NULL;
    q.out = c->out[0]->data;
    if (!q.inner) { /* sums of no terms, whatever a mean of nothing is */
        for (int k = 1; q.c && k < 3; ++k)
            memset(c->out[k]->data, 0, (size_t)q.c * fc_dt_size[c->t[1]->dtype]);
        return FC_OK;
    }
    q.plane_g = c->scratch;
    q.plane_gx = (char *)c->scratch + q.n * q.c * fc_dt_size[c->t[1]->dtype];
    (f ? flatten_f32 : flatten_f64)(&q, (char *)c->scratch + 2 * q.n * q.c * sizeof(f64));
    fc_parallel(q.n * q.groups, 1 + 8192 / (q.c / q.groups * q.inner + 1), f ? gradient_f32 : gradient_f64, &q);
    (f ? affine_f32 : affine_f64)(&q, c->out[1]->data, c->out[2]->data);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_group_norm_backward)

#else
#include "../typed.h"
#include "../tally.h"
#include "strip.h"

static void N(flatten)(job *q, void *room)
{
    if (!q->w || q->inner > FC_SMALL_PLANE)
        return;
    const T *w = q->w, *b = q->b;
    T *w_flat = room, *b_flat = w_flat + q->c * q->inner;
    for (int64_t c = 0, at = 0; c < q->c; ++c)
        for (int64_t i = 0; i < q->inner; ++i, ++at) {
            w_flat[at] = w[c];
            b_flat[at] = b ? b[c] : K(0);
        }
    q->w_flat = w_flat;
    q->b_flat = b_flat;
}

static void N(forward)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const T *w = q->w, *b = q->b;
    const int64_t per = q->c / q->groups, size = per * q->inner;
    for (int64_t k = begin; k < end; ++k) {
        const T *x = (const T *)q->x + k * size;
        const T mean = M(row_sum)(x, size) / (T)size;
        const T rstd = K(1) / M(sqrt)(M(row_dev)(x, mean, size) / (T)size + (T)q->eps);
        if (q->w_flat) {
            const T *restrict from = x, *restrict w_flat = (const T *)q->w_flat + k % q->groups * size, *restrict b_flat = (const T *)q->b_flat + k % q->groups * size;
            T *restrict out = (T *)q->out + k * size;
            for (int64_t i = 0; i < size; ++i)
                out[i] = (from[i] - mean) * (rstd * w_flat[i]) + b_flat[i];
        } else
            for (int64_t j = 0, planes = w || b ? per : 1, inner = size / planes; j < planes; ++j) {
                const int64_t c = k % q->groups * per + j;
                const T scale = rstd * (w ? w[c] : K(1)), shift = b ? b[c] : K(0);
                const T *restrict x_j = x + j * inner;
                T *restrict out = (T *)q->out + k * size + j * inner;
                for (int64_t i = 0; i < inner; ++i)
                    out[i] = (x_j[i] - mean) * scale + shift;
            }
        ((T *)q->mean_out)[k] = mean;
        ((T *)q->rstd_out)[k] = rstd;
    }
}

/* Sums of g and of g (x - p) over up to FC_LINES planes that follow one another, a line for each: as plane_sums(), and both with one turn. */
static FC_NOINLINE void N(both_sums)(T *restrict in_g, T *restrict in_gx, const T *restrict x, const T *restrict g, const T *restrict p, int64_t count, int64_t inner)
{
    T xs[FC_SMALL_PLANE][FC_LINES], gs[FC_SMALL_PLANE][FC_LINES];
    N(strip) a, b;
    if (count < FC_LINES) {
        memset(xs, 0, sizeof xs);
        memset(gs, 0, sizeof gs);
    }
    if (inner < FC_LINES / 2) /* less than a square */
        for (int64_t j = 0; j < inner; ++j)
            for (int64_t l = 0; l < count; ++l) {
                xs[j][l] = x[l * inner + j];
                gs[j][l] = g[l * inner + j];
            }
    else {
        FC_ISA_NAME(fc_turn)((char *)xs, sizeof *xs, (const char *)x, inner * (int64_t)sizeof(T), count, inner, sizeof(T));
        FC_ISA_NAME(fc_turn)((char *)gs, sizeof *gs, (const char *)g, inner * (int64_t)sizeof(T), count, inner, sizeof(T));
    }
    for (int64_t j = 0; j < inner; ++j)
        FOR_LINES {
            a.lane[j][l] = K(0) + gs[j][l];
            b.lane[j][l] = K(0) + (xs[j][l] - p[l]) * gs[j][l];
        }
    N(strip_end)(&a, inner);
    N(strip_end)(&b, inner);
    memcpy(in_g, a.lane[0], (size_t)count * sizeof(T));
    memcpy(in_gx, b.lane[0], (size_t)count * sizeof(T));
}

/* For the planes of groups begin .. end: sum g and sum g (x - mean). */
static void N(group_planes)(const job *q, int64_t begin, int64_t end)
{
    const int64_t inner = q->inner, per = q->c / q->groups, plane = begin * per, count = (end - begin) * per;
    const T *x = (const T *)q->x + plane * inner, *g = (const T *)q->g + plane * inner, *mean = (const T *)q->mean + begin;
    T *restrict in_g = (T *)q->plane_g + plane, *restrict in_gx = (T *)q->plane_gx + plane, p[FC_LINES] = {0};
    if (inner == 1) {
        for (int64_t k = begin, j = 0; k < end; ++k, ++mean)
            for (const int64_t last = j + per; j < last; ++j) {
                in_g[j] = K(0) + g[j];
                in_gx[j] = K(0) + (x[j] - *mean) * g[j];
            }
        return;
    }
    for (int64_t j = 0, step, used = 0; j < count; j += step, x += step * inner, g += step * inner) { /* used: planes of the group at mean */
        step = FC_ISA_NUM < 3 || inner > FC_SMALL_PLANE || count - j < 4 ? 1 : count - j < FC_LINES ? count - j : FC_LINES;
        for (int64_t l = 0; l < step; ++l) {
            p[l] = *mean;
            if (++used == per) {
                used = 0;
                ++mean;
            }
        }
        if (step == 1) {
            in_g[j] = M(row_sum)(g, inner);
            in_gx[j] = M(row_devdot)(x, p[0], g, inner);
        } else
            N(both_sums)(in_g + j, in_gx + j, x, g, p, step, inner);
    }
}

static void N(gradient)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const T *w = q->w;
    const int64_t per = q->c / q->groups, size = per * q->inner, together = per < 2 * FC_LINES ? 2 * FC_LINES / per : 1;
    for (int64_t k = begin; k < end; ++k) {
        const T mean = ((const T *)q->mean)[k], rstd = ((const T *)q->rstd)[k];
        T sum_g = 0, sum_gh = 0;
        if ((k - begin) % together == 0) /* a group may have fewer planes than there are lines */
            N(group_planes)(q, k, end - k < together ? end : k + together);
        for (int64_t j = 0; j < per; ++j) {
            const int64_t plane = k * per + j, c = k % q->groups * per + j;
            const T in_g = ((T *)q->plane_g)[plane], in_gh = ((T *)q->plane_gx)[plane] *= rstd;
            sum_g += in_g * (w ? w[c] : K(1));
            sum_gh += in_gh * (w ? w[c] : K(1));
        }
        const T mean_g = sum_g / (T)size, mean_gh = sum_gh / (T)size;
        const T *restrict x = (const T *)q->x + k * size, *restrict g = (const T *)q->g + k * size;
        T *restrict dx = (T *)q->out + k * size;
        if (q->w_flat) {
            const T *restrict w_flat = (const T *)q->w_flat + k % q->groups * size;
            for (int64_t i = 0; i < size; ++i)
                dx[i] = rstd * (g[i] * w_flat[i] - mean_g - (x[i] - mean) * rstd * mean_gh);
        } else
            for (int64_t j = 0, planes = w ? per : 1, inner = size / planes; j < planes; ++j) {
                const T w_c = w ? w[k % q->groups * per + j] : K(1);
                for (int64_t i = j * inner; i < (j + 1) * inner; ++i)
                    dx[i] = rstd * (g[i] * w_c - mean_g - (x[i] - mean) * rstd * mean_gh);
            }
    }
}

/* dw and db: the planes of a channel, in the fold order over samples. */
static void N(affine)(const job *q, void *dw, void *db)
{
    for (int64_t from = 0; from < q->c; from += FC_TALLY_WIDTH) {
        N(tally) w, b;
        const int64_t width = q->c - from < FC_TALLY_WIDTH ? q->c - from : FC_TALLY_WIDTH;
        N(tally_begin)(&w, width);
        N(tally_begin)(&b, width);
        for (int64_t n = 0; n < q->n; ++n) {
            T *restrict to_w = N(tally_lane)(&w), *restrict to_b = N(tally_lane)(&b);
            for (int64_t c = 0; c < width; ++c) {
                to_w[c] += ((const T *)q->plane_gx)[n * q->c + from + c];
                to_b[c] += ((const T *)q->plane_g)[n * q->c + from + c];
            }
            N(tally_next)(&w);
            N(tally_next)(&b);
        }
        N(tally_end)(&w, (T *)dw + from);
        N(tally_end)(&b, (T *)db + from);
    }
}

#include "../typed_done.h"
#endif
