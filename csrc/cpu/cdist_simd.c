/*
 * Distances between rows, and their gradients.
 *
 *   out[i, j] = (sum_k |x[i, k] - y[j, k]|^p)^(1/p);   p = 0: how many differ (NaN if a difference is), p = inf: the largest difference
 *   dx[i, k]  = sum_j g[i, j] sign(d) (|d| / out[i, j])^(p - 1),   d = x[i, k] - y[j, k];  0 where out is 0
 *
 * _cdist: x (..., P, M), y (..., R, M), the same dims in front; _pdist: all pairs i < j of x (N, M), row by row.
 * Sums are of differences, never |x|^2 - 2 x y + |y|^2, which loses close points. They run through k, in the gradient through j, in
 * blocks of BLOCK from zero, added in order: a distance's bits are its two rows'.
 * Lanes are rows of y, TILE of them turned at a time, or HALF of them where there are no more.
 */
#ifndef T
#include <math.h>
#include <string.h>

#include "../core/levels.h"
#include "../core/mathfn.h"
#include "../core/status.h"
#include "parallel.h"

enum { TILE = 64, BLOCK = 256, LINES = 128, HALF = TILE / 2 };
enum { ZERO, ONE, TWO, MOST, ANY };

typedef struct {
    const void *g, *x, *y, *out;
    void *result;
    int64_t batch, P, R, M, tiles, strips;
    int kind, pairs;
    double p;
} job;

static int kind_of(double p) { return p == 0 ? ZERO : p == 1 ? ONE : p == 2 ? TWO : p == HUGE_VAL ? MOST : ANY; }

#if FC_HAS_FMA
#include <immintrin.h>
#endif
/* a * b + s of registers, and of numbers; AT_ONCE: registers of sums that stay where they are, beside as many operands */
#if FC_ISA_NUM == 4
#define REGISTER 64
#define AT_ONCE 8
#define FMA(a, b, s) (sizeof(T) == 4 ? (__typeof__(s))_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(s)) : (__typeof__(s))_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(s)))
#elif FC_ISA_NUM == 3
#define REGISTER 32
#define AT_ONCE 6
#define FMA(a, b, s) (sizeof(T) == 4 ? (__typeof__(s))_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(s)) : (__typeof__(s))_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(s)))
#else
#define REGISTER 16
#define AT_ONCE 4
#define FMA(a, b, s) ((a) * (b) + (s))
#endif
#if FC_HAS_FMA
#define FMA1(a, b, s) (sizeof(T) == 4 ? (T)__builtin_fmaf((f32)(a), (f32)(b), (f32)(s)) : (T)__builtin_fma((f64)(a), (f64)(b), (f64)(s)))
#else
#define FMA1(a, b, s) ((a) * (b) + (s))
#endif

#define T f32
#include "cdist_simd.c"
#define T f64
#include "cdist_simd.c"

#if FC_ISA_ONCE
static int same_front(const fc_call *c, int a, int b)
{
    const fc_tensor *x = c->t[a], *y = c->t[b];
    if (x->dtype != y->dtype)
        return fc_fail(FC_MIXED, a, x->dtype, b, y->dtype);
    if (x->ndim < 2 || y->ndim != x->ndim)
        return fc_fail(FC_RANK, x->ndim < 2 ? a : b, x->ndim < 2 ? x->ndim : y->ndim, x->ndim < 2 ? 2 : x->ndim, 0);
    for (int d = 0; d < x->ndim; ++d)
        if (d != x->ndim - 2 && x->shape[d] != y->shape[d])
            return fc_fail(FC_SIZE, a, x->shape[d], b, y->shape[d]);
    return FC_OK;
}

int fc_infer__cdist(fc_call *c)
{
    const fc_tensor *x = c->t[0], *y = c->t[1];
    int64_t shape[FC_MAX_DIMS];
    const int bad = same_front(c, 0, 1);
    if (bad)
        return bad;
    memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
    shape[x->ndim - 1] = y->shape[x->ndim - 2];
    return fc_declare(c, 0, x->dtype, x->ndim, shape);
}

int fc_infer__pdist(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    if (x->ndim != 2)
        return fc_fail(FC_RANK, 0, x->ndim, 2, 0);
    const int64_t n = x->shape[0], count = n < 2 ? 0 : n * (n - 1) / 2;
    return fc_declare(c, 0, x->dtype, 1, &count);
}

/* g, x, y, out; p -> gradient of x */
int fc_infer__cdist_backward(fc_call *c)
{
    const fc_tensor *x = c->t[1], *y = c->t[2];
    int bad = same_front(c, 1, 2);
    for (int k = 0; k < 4 && !bad; k += 3) {
        const fc_tensor *t = c->t[k];
        if (t->dtype != x->dtype)
            bad = fc_fail(FC_MIXED, k, t->dtype, 1, x->dtype);
        else if (t->ndim != x->ndim || t->shape[x->ndim - 2] != x->shape[x->ndim - 2] || t->shape[x->ndim - 1] != y->shape[x->ndim - 2])
            bad = fc_fail(FC_SIZE, k, t->numel, 1, x->numel);
    }
    return bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
}
#endif

static job job_of(const fc_tensor *x, const fc_tensor *y, double p)
{
    job q = {.x = x->data, .y = y->data, .batch = 1, .P = x->shape[x->ndim - 2], .R = y->shape[y->ndim - 2], .M = x->shape[x->ndim - 1],
             .kind = kind_of(p), .p = p};
    for (int d = 0; d < x->ndim - 2; ++d)
        q.batch *= x->shape[d];
    q.tiles = (q.R + TILE - 1) / TILE;
    q.strips = (q.P + LINES - 1) / LINES;
    return q;
}

static int64_t grain(const job *q) { return 1 + (64 << 10) / (TILE * (q->P < LINES ? q->P : LINES) * (q->M + 1) + 1); }

int FC_ISA_NAME(fc_cpu__cdist)(fc_call *c)
{
    job q = job_of(c->t[0], c->t[1], c->d[0]);
    q.result = c->out[0]->data;
    fc_parallel(q.batch * q.tiles * q.strips, grain(&q), c->t[0]->dtype == FC_F32 ? distances_f32 : distances_f64, &q);
    return FC_OK;
}
FC_OWN_LEVELS(_cdist)

int FC_ISA_NAME(fc_cpu__pdist)(fc_call *c)
{
    job q = job_of(c->t[0], c->t[0], c->d[0]);
    q.result = c->out[0]->data;
    q.pairs = 1;
    fc_parallel(q.tiles * q.strips, grain(&q), c->t[0]->dtype == FC_F32 ? distances_f32 : distances_f64, &q);
    return FC_OK;
}
FC_OWN_LEVELS(_pdist)

int FC_ISA_NAME(fc_cpu__cdist_backward)(fc_call *c)
{
    job q = job_of(c->t[1], c->t[2], c->d[0]);
    q.g = c->t[0]->data, q.out = c->t[3]->data, q.result = c->out[0]->data;
    const int f = c->t[1]->dtype == FC_F32, lanes = REGISTER / fc_dt_size[c->t[1]->dtype];
    if (q.kind == TWO && q.P >= lanes / 4 && q.M > 0) {
        q.strips = (q.P + lanes - 1) / lanes;
        fc_parallel(q.batch * q.strips, 1 + (64 << 10) / (lanes * q.R * q.M + 1), f ? strips_f32 : strips_f64, &q);
    } else
        fc_parallel(q.batch * q.P, 1 + (64 << 10) / (q.R * q.M + 1), f ? gradients_f32 : gradients_f64, &q);
    return FC_OK;
}
FC_OWN_LEVELS(_cdist_backward)

#else
#include "typed.h"

#define ABS(d) (sizeof(T) == 4 ? (T)fabsf((f32)(d)) : (T)fabs((f64)(d)))

typedef T N(V) __attribute__((vector_size(REGISTER)));
typedef T N(VM) __attribute__((vector_size(REGISTER), aligned(sizeof(T)), may_alias));

/* lanes() for squares, as steps of fma: up to four registers of lanes at a time */
static inline __attribute__((always_inline)) void N(squares)(T *restrict sum, const T *restrict x, const T *restrict tile, int64_t depth, const int lanes)
{
    enum { STEP = REGISTER / sizeof(T) };
    const int at_once = lanes / STEP < 4 ? lanes / STEP : 4;
    for (int j = 0; j < lanes; j += at_once * STEP) {
        N(V) s[4] = {{0}};
        for (int64_t k = 0; k < depth; ++k)
#pragma GCC unroll 4
            for (int r = 0; r < at_once; ++r) {
                const N(V) d = x[k] - *(const N(VM) *)(tile + k * TILE + j + r * STEP);
                s[r] = FMA(d, d, s[r]);
            }
        for (int r = 0; r < at_once; ++r)
            *(N(VM) *)(sum + j + r * STEP) += s[r];
    }
}

/* x = x^p: one copy of a large body */
static void __attribute__((noinline)) N(power)(T *x, T p, int64_t n)
{
#pragma GCC unroll 1
    for (int64_t j = 0; j < n; ++j)
        x[j] = M(pow)(x[j], p);
}

/* sum[j] of one row x against a turned tile (depth, TILE). kind and lanes are constants at every call, so the sums live in registers. */
static inline __attribute__((always_inline)) void N(lanes)(const int kind, T p, T *restrict sum, const T *restrict x, const T *restrict tile, int64_t depth, const int lanes)
{
    T s[TILE], d[TILE];
    memset(s, 0, sizeof s);
    for (int64_t k = 0; k < depth; ++k) {
        const T a = x[k];
        const T *restrict y = tile + k * TILE;
        switch (kind) {
        case ZERO:
            for (int j = 0; j < lanes; ++j) {
                const T d = a - y[j];
                s[j] += d != d ? d : d != 0 ? K(1) : K(0);
            }
            break;
        case ONE:
            for (int j = 0; j < lanes; ++j)
                s[j] += ABS(a - y[j]);
            break;
        case MOST:
            for (int j = 0; j < lanes; ++j) {
                const T d = ABS(a - y[j]);
                s[j] = d <= s[j] ? s[j] : s[j] != s[j] ? s[j] : d;
            }
            break;
        default:
            for (int j = 0; j < lanes; ++j)
                d[j] = ABS(a - y[j]);
            N(power)(d, p, lanes);
            for (int j = 0; j < lanes; ++j)
                s[j] += d[j];
        }
    }
    if (kind == MOST)
        for (int j = 0; j < lanes; ++j)
            sum[j] = s[j] <= sum[j] ? sum[j] : sum[j] != sum[j] ? sum[j] : s[j];
    else
        for (int j = 0; j < lanes; ++j)
            sum[j] += s[j];
}

static void N(line)(const job *q, T *restrict sum, const T *restrict x, const T *restrict tile, int64_t depth, int64_t width)
{
#define LANES(kind)                                                                                            \
    case kind:                                                                                                 \
        if (width > HALF) N(lanes)(kind, (T)q->p, sum, x, tile, depth, TILE);                                  \
        else N(lanes)(kind, (T)q->p, sum, x, tile, depth, HALF);                                               \
        break
    switch (q->kind) {
        LANES(ZERO);
        LANES(ONE);
    case TWO:
        if (width > HALF) N(squares)(sum, x, tile, depth, TILE);
        else N(squares)(sum, x, tile, depth, HALF);
        break;
        LANES(MOST);
        LANES(ANY);
    }
#undef LANES
}

/* Items are tiles of y by strips of x. */
static void N(distances)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t M = q->M;
    T tile[TILE * BLOCK], sums[LINES * TILE];
    if (q->R % TILE) /* lanes beyond the last row have some number */
        memset(tile, 0, (size_t)(M < BLOCK ? M : BLOCK) * TILE * sizeof(T));
    for (int64_t t = begin; t < end; ++t) {
        const int64_t batch = t / (q->tiles * q->strips), j0 = t % q->tiles * TILE, i0 = t / q->tiles % q->strips * LINES;
        const int64_t width = q->R - j0 < TILE ? q->R - j0 : TILE, last = q->P < i0 + LINES ? q->P : i0 + LINES;
        if (q->pairs && j0 + width <= i0)
            continue;
        memset(sums, 0, (size_t)(last - i0) * TILE * sizeof(T));
        for (int64_t k = 0; k < M; k += BLOCK) {
            const int64_t depth = M - k < BLOCK ? M - k : BLOCK;
            for (int64_t j = 0; j < width; ++j) {
                const T *y = (const T *)q->y + (batch * q->R + j0 + j) * M + k;
                for (int64_t s = 0; s < depth; ++s)
                    tile[s * TILE + j] = y[s];
            }
            for (int64_t i = i0; i < last; ++i)
                N(line)(q, sums + (i - i0) * TILE, (const T *)q->x + (batch * q->P + i) * M + k, tile, depth, width);
        }
        for (int64_t i = i0; i < last; ++i) {
            T *restrict s = sums + (i - i0) * TILE;
            if (q->kind == TWO)
                for (int j = 0; j < TILE; ++j)
                    s[j] = M(sqrt)(s[j]);
            else if (q->kind == ANY)
                N(power)(s, (T)(1 / q->p), TILE);
            T *out = (T *)q->result + (batch * q->P + i) * q->R + j0;
            int64_t from = 0;
            if (q->pairs) { /* row i begins at the pair (i, i + 1) */
                from = i + 1 > j0 ? i + 1 - j0 : 0;
                out = (T *)q->result + i * (2 * q->R - i - 1) / 2 + (j0 - i - 1);
            }
            if (from < width)
                memcpy(out + from, s + from, (size_t)(width - from) * sizeof(T));
        }
    }
}

/* d, its distance -> what g is multiplied by */
static void N(slopes)(const job *q, T *restrict sum, const T *restrict x, const T *restrict y, T distance, T g, int64_t n)
{
    if (distance == 0 || q->kind == ZERO)
        return;
    switch (q->kind) {
    case ONE:
        for (int64_t k = 0; k < n; ++k)
            sum[k] += x[k] > y[k] ? g : x[k] < y[k] ? -g : K(0) * g;
        break;
    case TWO: {
        const T w = g / distance;
        for (int64_t k = 0; k < n; ++k)
            sum[k] = FMA1(x[k] - y[k], w, sum[k]);
        break;
    }
    case MOST:
        for (int64_t k = 0; k < n; ++k)
            sum[k] += x[k] - y[k] == distance ? g : y[k] - x[k] == distance ? -g : K(0);
        break;
    default: {
        T slope[BLOCK];
        for (int64_t k = 0; k < n; ++k)
            slope[k] = ABS(x[k] - y[k]) / distance;
        N(power)(slope, (T)(q->p - 1), n);
        for (int64_t k = 0; k < n; ++k)
            sum[k] += x[k] > y[k] ? slope[k] * g : x[k] < y[k] ? -slope[k] * g : K(0);
    }
    }
}

/* Items are rows of x. */
static void N(gradients)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t M = q->M, R = q->R;
    T sum[BLOCK];
    for (int64_t i = begin; i < end; ++i) {
        const T *x = (const T *)q->x + i * M, *y = (const T *)q->y + i / q->P * R * M;
        const T *g = (const T *)q->g + i * R, *out = (const T *)q->out + i * R;
        T *dx = (T *)q->result + i * M;
        memset(dx, 0, (size_t)M * sizeof(T));
        for (int64_t k = 0; k < M; k += BLOCK) {
            const int64_t n = M - k < BLOCK ? M - k : BLOCK;
            for (int64_t j0 = 0; j0 < R; j0 += BLOCK) {
                memset(sum, 0, (size_t)n * sizeof(T));
                for (int64_t j = j0; j < R && j < j0 + BLOCK; ++j)
                    N(slopes)(q, sum, x + k, y + j * M + k, out[j], g[j], n);
                for (int64_t s = 0; s < n; ++s)
                    dx[k + s] += sum[s];
            }
        }
    }
}

/* dx of up to a register of rows: sums of AT_ONCE or fewer columns, from column k on, over depth rows of y. w: (depth, lanes) */
static inline __attribute__((always_inline)) void N(strip)(T *dx, const T *x, const T *y, const T *restrict w, int64_t M, int64_t depth, int64_t rows, const int columns)
{
    enum { STEP = REGISTER / sizeof(T) };
    T turned[AT_ONCE * STEP] = {0};
    N(V) a[AT_ONCE], s[AT_ONCE] = {{0}};
    for (int64_t l = 0; l < rows; ++l)
        for (int k = 0; k < columns; ++k)
            turned[k * STEP + l] = x[l * M + k];
    for (int k = 0; k < columns; ++k)
        a[k] = *(const N(VM) *)(turned + k * STEP);
    for (int64_t j = 0; j < depth; ++j) {
        const N(V) w_j = *(const N(VM) *)(w + j * STEP);
#pragma GCC unroll 8
        for (int k = 0; k < columns; ++k)
            s[k] = FMA(a[k] - y[j * M + k], w_j, s[k]);
    }
    for (int k = 0; k < columns; ++k)
        *(N(VM) *)(turned + k * STEP) = s[k];
    for (int64_t l = 0; l < rows; ++l)
        for (int k = 0; k < columns; ++k)
            dx[l * M + k] += turned[k * STEP + l];
}

/* Gradients of p = 2. Items are as many rows of x as a register has lanes: rows may be short, and their sums stay in registers. */
static void N(strips)(void *ctx, int64_t begin, int64_t end)
{
    enum { STEP = REGISTER / sizeof(T) };
    const job *q = ctx;
    const int64_t M = q->M, R = q->R;
    T w[BLOCK * STEP], line[BLOCK];
    for (int64_t t = begin; t < end; ++t) {
        const int64_t batch = t / q->strips, i0 = t % q->strips * STEP, rows = q->P - i0 < STEP ? q->P - i0 : STEP, at = batch * q->P + i0;
        const T *x = (const T *)q->x + at * M, *y = (const T *)q->y + batch * R * M;
        T *dx = (T *)q->result + at * M;
        memset(dx, 0, (size_t)(rows * M) * sizeof(T));
        for (int64_t j0 = 0; j0 < R; j0 += BLOCK) {
            const int64_t depth = R - j0 < BLOCK ? R - j0 : BLOCK;
            if (rows < STEP)
                memset(w, 0, (size_t)(depth * STEP) * sizeof(T));
            for (int64_t l = 0; l < rows; ++l) {
                const T *g = (const T *)q->g + (at + l) * R + j0, *out = (const T *)q->out + (at + l) * R + j0;
                for (int64_t j = 0; j < depth; ++j)
                    line[j] = out[j] != 0 ? g[j] / out[j] : K(0);
                for (int64_t j = 0; j < depth; ++j)
                    w[j * STEP + l] = line[j];
            }
            const T *y_j = y + j0 * M;
            int64_t k = 0;
            for (; k + AT_ONCE <= M; k += AT_ONCE)
                N(strip)(dx + k, x + k, y_j + k, w, M, depth, rows, AT_ONCE);
            for (; k + 3 <= M; k += 3)
                N(strip)(dx + k, x + k, y_j + k, w, M, depth, rows, 3);
            for (; k < M; ++k)
                N(strip)(dx + k, x + k, y_j + k, w, M, depth, rows, 1);
        }
    }
}

#undef ABS
#include "typed_done.h"
#endif
