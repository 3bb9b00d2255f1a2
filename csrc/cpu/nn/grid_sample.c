/*
 * Values of an image, or a volume, at given places; and the gradients of both.
 *
 *   out[n, c, p] = sum over taps j of w_j(p) x[n, c, i_j(p)]
 *
 * grid (N, places..., 2 or 3): x before y before z, -1 and 1 being the outermost pixels' centres (align) or outer edges.
 * Modes: 2^d linear taps, the nearest (halves to even), 4^2 cubic (Keys, a = -0.75). Padding: taps outside are left out (zeros), or the
 * place (for cubic each tap) is moved to the border, or mirrored at the borders; a moved place has no gradient, a mirrored one its
 * sign. A place in a plane that is NaN or infinite is not outside: with zeros its linear and cubic values are NaN, as in PyTorch; in
 * a volume it is. Taps are taken in row-major order, so a value's bits depend on its own place.
 * Source: Jaderberg and others, Spatial Transformer Networks (2015); Keys (1981).
 */
#ifndef T
#include <string.h>

#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../parallel.h"

enum { LINEAR, NEAREST, CUBIC, MODES };
enum { ZEROS, BORDER, REFLECTION, PADDINGS };
enum { TAPS = 16, POINTS = 32, CHANNELS = 16 };

typedef struct {
    int mode, padding, align, dims;
    int64_t batch, channels, plane, places, size[3]; /* size in the order of the image's dims */
    const void *x, *grid, *g;
    void *out, *dx, *dgrid;
} job;

#define T f32
#include "grid_sample.c"
#define T f64
#include "grid_sample.c"

#if FC_ISA_ONCE
/* input = t[at], grid = t[at + 1] */
static int check(const fc_call *c, int at, int64_t *shape)
{
    const fc_tensor *x = c->t[at], *grid = c->t[at + 1];
    if (!fc_is_float(x->dtype))
        return fc_fail(FC_DTYPE, x->dtype, at, 0, 0);
    if (grid->dtype != x->dtype)
        return fc_fail(FC_MIXED, at, x->dtype, at + 1, grid->dtype);
    if (x->ndim < 4 || x->ndim > 5)
        return fc_fail(FC_RANK, at, x->ndim, 4, 0);
    if (grid->ndim != x->ndim)
        return fc_fail(FC_RANK, at + 1, grid->ndim, x->ndim, 0);
    if (grid->shape[0] != x->shape[0])
        return fc_fail(FC_SIZE, at, x->shape[0], at + 1, grid->shape[0]);
    if (grid->shape[grid->ndim - 1] != x->ndim - 2)
        return fc_fail(FC_SIZE, at, x->ndim - 2, at + 1, grid->shape[grid->ndim - 1]);
    for (int k = 2; k < x->ndim; ++k)
        if (x->shape[k] < 1)
            return fc_fail(FC_ARG, at, x->shape[k], 1, 0);
    if (c->i[0] < 0 || c->i[0] >= MODES || (c->i[0] == CUBIC && x->ndim == 5))
        return fc_fail(FC_ARG, at + 2, c->i[0], MODES - 1, 0);
    if (c->i[1] < 0 || c->i[1] >= PADDINGS)
        return fc_fail(FC_ARG, at + 3, c->i[1], PADDINGS - 1, 0);
    shape[0] = x->shape[0];
    shape[1] = x->shape[1];
    for (int k = 2; k < x->ndim; ++k)
        shape[k] = grid->shape[k - 1];
    return FC_OK;
}

/* input, grid; mode, padding, align_corners */
int fc_infer__grid_sample(fc_call *c)
{
    int64_t shape[5];
    const int bad = check(c, 0, shape);
    return bad ? bad : fc_declare(c, 0, c->t[0]->dtype, c->t[0]->ndim, shape);
}

/* g, input, grid; mode, padding, align_corners -> input, grid */
int fc_infer__grid_sample_backward(fc_call *c)
{
    int64_t shape[5];
    const int bad = check(c, 1, shape);
    if (bad)
        return bad;
    const fc_tensor *g = c->t[0];
    if (g->dtype != c->t[1]->dtype || g->ndim != c->t[1]->ndim)
        return fc_fail(FC_MIXED, 0, g->dtype, 1, c->t[1]->dtype);
    for (int k = 0; k < g->ndim; ++k)
        if (g->shape[k] != shape[k])
            return fc_fail(FC_SIZE, 0, g->shape[k], 2, shape[k]);
    fc_declare(c, 0, c->t[1]->dtype, c->t[1]->ndim, c->t[1]->shape);
    return fc_declare(c, 1, c->t[2]->dtype, c->t[2]->ndim, c->t[2]->shape);
}
#endif

static job job_of(const fc_call *c, const fc_tensor *x, const fc_tensor *grid)
{
    job q = {.mode = (int)c->i[0], .padding = (int)c->i[1], .align = (int)c->i[2], .dims = x->ndim - 2, .batch = x->shape[0],
             .channels = x->shape[1], .plane = 1, .places = 1, .x = x->data, .grid = grid->data};
    for (int k = 0; k < q.dims; ++k) {
        q.size[k] = x->shape[k + 2];
        q.plane *= x->shape[k + 2];
        q.places *= grid->shape[k + 1];
    }
    return q;
}

int FC_ISA_NAME(fc_cpu__grid_sample)(fc_call *c)
{
    job q = job_of(c, c->t[0], c->t[1]);
    q.out = c->out[0]->data;
    const int64_t blocks = (q.places + POINTS - 1) / POINTS;
    fc_parallel(q.batch * blocks, 1 + 128 / (q.channels + 1), c->t[0]->dtype == FC_F32 ? values_f32 : values_f64, &q);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_grid_sample)

int FC_ISA_NAME(fc_cpu__grid_sample_backward)(fc_call *c)
{
    job q = job_of(c, c->t[1], c->t[2]);
    q.g = c->t[0]->data;
    q.dx = c->out[0]->data;
    q.dgrid = c->out[1]->data;
    const int64_t blocks = (q.places + POINTS - 1) / POINTS, groups = (q.channels + CHANNELS - 1) / CHANNELS;
    const int is32 = c->t[1]->dtype == FC_F32;
    fc_parallel(q.batch * groups, 1, is32 ? image_f32 : image_f64, &q);
    fc_parallel(q.batch * blocks, 1 + 64 / (q.channels + 1), is32 ? places_f32 : places_f64, &q);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_grid_sample_backward)

#else
#include "../typed.h"

/* One place's taps: where (-1: outside), weight, and the weight's derivative along each dim of the image. */
typedef struct {
    int n;
    int64_t at[TAPS];
    T w[TAPS], dw[TAPS][3];
} N(taps);

/* The place in pixels of a grid's coordinate along a dim of this size. The orders are PyTorch's, whose loops over planes multiply and add at once. */
static inline T N(place_of)(const job *q, T u, T size)
{
    return q->align ? (u + 1) / 2 * (size - 1) : q->dims == 2 ? M(fma)(u + 1, size / 2, K(-0.5)) : ((u + 1) * size - 1) / 2;
}

/* Where places of a dim may be: from 0 to last; reflection's first border and how far the other is from it; where NaN goes. */
typedef struct { T last, low, span, lost; } N(bounds);

static inline N(bounds) N(bounds_of)(const job *q, int d)
{
    const T last = (T)(q->size[d] - 1), span = q->align ? last : last + 1;
    return (N(bounds)){ last, q->align ? 0 : K(-0.5), span == 0 ? 1 : span, q->dims == 3 ? last : 0 };
}

/* Moved inside, as the padding says; *slope is multiplied by the derivative of that. */
static inline __attribute__((always_inline)) T N(inside)(N(bounds) b, int padding, T at, T *slope)
{
    if (padding == REFLECTION) {
        const T away = M(abs)(at - b.low), turns = M(floor)(away / b.span), rest = away - turns * b.span;
        const int back = M(floor)(turns / 2) * 2 != turns;
        *slope = at < b.low ? -*slope : *slope;
        *slope = back ? -*slope : *slope;
        at = (back ? b.span - rest : rest) + b.low;
    }
    if (padding != ZEROS) {
        *slope = (at > 0) & (at < b.last) ? *slope : 0;
        at = at != at ? b.lost : at > 0 ? at : 0;
        at = at < b.last ? at : b.last;
    }
    return at;
}

/* The cubic kernel's weight for tap j of -1, 0, 1, 2 at a place `t` past tap 0; and its derivative. */
static inline void N(keys)(int j, T t, T *w, T *dw)
{
    const T a = K(-0.75), y = j == 0 ? t + 1 : j == 1 ? t : j == 2 ? 1 - t : 2 - t, sign = j < 2 ? 1 : -1;
    if (j == 1 || j == 2) {
        *w = ((a + 2) * y - (a + 3)) * y * y + 1;
        *dw = sign * (3 * (a + 2) * y - 2 * (a + 3)) * y;
    } else {
        *w = ((a * y - 5 * a) * y + 8 * a) * y - 4 * a;
        *dw = sign * ((3 * a * y - 10 * a) * y + 8 * a);
    }
}

static inline int N(is_inside)(const job *q, int d, T at) { return at >= 0 && at <= (T)(q->size[d] - 1); }

static inline N(taps) N(taps_at)(const job *q, int64_t n, int64_t p, int slopes)
{
    const T *grid = (const T *)q->grid + (n * q->places + p) * q->dims;
    N(taps) s;
    s.n = 1;
    int64_t at[3][4];              /* tap j along dim d: its index, or -1 */
    T w[3][4], dw[3][4];
    const int along = q->mode == LINEAR ? 2 : q->mode == NEAREST ? 1 : 4;
    for (int d = 0; d < q->dims; ++d) {
        const T u = grid[q->dims - 1 - d], size = (T)q->size[d];
        T slope = q->align ? (size - 1) / 2 : size / 2, place = N(place_of)(q, u, size);
        if (q->mode != CUBIC)
            place = N(inside)(N(bounds_of)(q, d), q->padding, place, &slope);
        const T low = q->mode == NEAREST ? M(round)(place) : M(floor)(place), t = place - low;
        if (q->mode == CUBIC)
            for (int j = 0; j < 4; ++j) N(keys)(j, t, &w[d][j], &dw[d][j]);
        else {
            w[d][0] = q->mode == NEAREST ? 1 : 1 - t, w[d][1] = t;
            dw[d][0] = q->mode == NEAREST ? 0 : -1, dw[d][1] = 1;
        }
        for (int j = 0; j < along; ++j) {
            T unused = 1, tap = low + (T)(q->mode == CUBIC ? j - 1 : j);
            if (q->mode == CUBIC)
                tap = M(floor)(N(inside)(N(bounds_of)(q, d), q->padding, tap, &unused));
            at[d][j] = N(is_inside)(q, d, tap) ? (int64_t)tap : -1;
            dw[d][j] *= slope;
        }
    }
    for (int d = 0; d < q->dims; ++d)
        s.n *= along;
    int j[3] = {0, 0, 0}; /* the last dim's tap runs fastest */
    for (int k = 0; k < s.n; ++k) {
        int64_t index = 0;
        T whole = 1;
        for (int d = 0; d < q->dims; ++d) {
            index = index < 0 || at[d][j[d]] < 0 ? -1 : index * q->size[d] + at[d][j[d]];
            whole *= w[d][j[d]];
        }
        s.at[k] = index;
        s.w[k] = whole;
        for (int e = 0; slopes && e < q->dims; ++e) {
            T slope = 1;
            for (int d = 0; d < q->dims; ++d)
                slope *= e == d ? dw[d][j[d]] : w[d][j[d]];
            s.dw[k][e] = slope;
        }
        for (int d = q->dims - 1; d >= 0 && ++j[d] == along; --d)
            j[d] = 0;
    }
    return s;
}

#include "grid_plane.h"

static void N(values)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t blocks = (q->places + POINTS - 1) / POINTS;
    for (int64_t t = begin; t < end; ++t) {
        const int64_t n = t / blocks, p0 = t % blocks * POINTS, points = q->places - p0 < POINTS ? q->places - p0 : POINTS;
        if (N(plane)(q)) {
            N(plane_values)(q, n, p0, points);
            continue;
        }
        N(taps) taps[POINTS];
        for (int64_t p = 0; p < points; ++p)
            taps[p] = N(taps_at)(q, n, p0 + p, 0);
        for (int64_t c = 0; c < q->channels; ++c) {
            const T *x = (const T *)q->x + (n * q->channels + c) * q->plane;
            T *out = (T *)q->out + (n * q->channels + c) * q->places + p0;
            for (int64_t p = 0; p < points; ++p) {
                T sum = 0;
                for (int k = 0; k < taps[p].n; ++k)
                    sum = taps[p].at[k] < 0 ? sum : M(fma)(taps[p].w[k], x[taps[p].at[k]], sum);
                out[p] = sum;
            }
        }
    }
}

/* Task t: a group of channels of one image, all places in order. */
static void N(image)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t groups = (q->channels + CHANNELS - 1) / CHANNELS;
    for (int64_t t = begin; t < end; ++t) {
        const int64_t n = t / groups, c0 = t % groups * CHANNELS, width = q->channels - c0 < CHANNELS ? q->channels - c0 : CHANNELS;
        T *dx = (T *)q->dx + (n * q->channels + c0) * q->plane;
        const T *g = (const T *)q->g + (n * q->channels + c0) * q->places;
        for (int64_t i = 0; i < width * q->plane; ++i)
            dx[i] = 0;
        for (int64_t p0 = 0; p0 < q->places; p0 += POINTS) {
            const int64_t points = q->places - p0 < POINTS ? q->places - p0 : POINTS;
            if (N(plane)(q)) {
                N(plane_image)(q, n, p0, points, dx, g + p0, width);
                continue;
            }
            N(taps) taps[POINTS];
            for (int64_t p = 0; p < points; ++p)
                taps[p] = N(taps_at)(q, n, p0 + p, 0);
            for (int64_t c = 0; c < width; ++c)
                for (int64_t p = 0; p < points; ++p)
                    for (int k = 0; k < taps[p].n; ++k) {
                        T *to = dx + c * q->plane + taps[p].at[k];
                        if (taps[p].at[k] >= 0)
                            *to = M(fma)(taps[p].w[k], g[c * q->places + p0 + p], *to);
                    }
        }
    }
}

/* Task t: a block of places of one image, all channels in order. */
static void N(places)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t blocks = (q->places + POINTS - 1) / POINTS;
    for (int64_t t = begin; t < end; ++t) {
        const int64_t n = t / blocks, p0 = t % blocks * POINTS, points = q->places - p0 < POINTS ? q->places - p0 : POINTS;
        if (N(plane)(q)) {
            N(plane_places)(q, n, p0, points);
            continue;
        }
        N(taps) taps[POINTS];
        T dot[POINTS][TAPS];
        for (int64_t p = 0; p < points; ++p) {
            taps[p] = N(taps_at)(q, n, p0 + p, 1);
            for (int k = 0; k < taps[p].n; ++k)
                dot[p][k] = 0;
        }
        for (int64_t c = 0; c < q->channels; ++c) {
            const T *x = (const T *)q->x + (n * q->channels + c) * q->plane, *g = (const T *)q->g + (n * q->channels + c) * q->places + p0;
            for (int64_t p = 0; p < points; ++p)
                for (int k = 0; k < taps[p].n; ++k)
                    dot[p][k] = taps[p].at[k] < 0 ? 0 : M(fma)(x[taps[p].at[k]], g[p], dot[p][k]);
        }
        for (int64_t p = 0; p < points; ++p)
            for (int d = 0; d < q->dims; ++d) {
                T sum = 0;
                for (int k = 0; k < taps[p].n; ++k)
                    sum = M(fma)(taps[p].dw[k][d], dot[p][k], sum);
                ((T *)q->dgrid)[(n * q->places + p0 + p) * q->dims + q->dims - 1 - d] = sum;
            }
    }
}

#include "../typed_done.h"
#endif
