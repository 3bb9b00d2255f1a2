/*
 * One step of Muon for a list of matrices.
 *
 *   b = b + (1 - momentum) (g - b),  d = g + momentum (b - g) (Nesterov) or b,  p = p (1 - lr decay) - lr scale O(d)
 *
 * O(d), near U V^T of d's singular value decomposition, by quintic Newton-Schulz steps on x = d / max(|d|, eps), wide:
 *   s = x x^T,  x = a x + (b s + c s s) x
 * in bfloat16 as PyTorch has it: every product is summed in float32 and rounded once together with what is added to it. So the
 * numbers here are float32 that hold bfloat16 values, and the products are those of the engine, which shares out their rows.
 * Source: Jordan and others, Muon (2024).
 */
#ifndef T
#include "optim.h"
#include "../../core/half.h"
#include "../fold_rows.h"
#include "../gemm.h"

enum { PARAMS, GRADS, BUFFERS };
enum { MOST_STEPS = 99 }; /* as PyTorch's: each is three products */
enum { LR, DECAY, MOMENTUM, NS_A, NS_B, NS_C, EPS };
enum { STEPS, NESTEROV, MATCH_RMS };

static inline float rounded(float x) { return fc_f32_of_bf16(fc_bf16_of_f32(x)); }

typedef struct { int64_t rows, cols, m, n; float *x, *next, *s, *t; } matrix; /* x (m, n): m the smaller, transposed where rows > cols */

static inline int64_t place(const matrix *q, int64_t r, int64_t c) { return q->rows > q->cols ? c * q->rows + r : r * q->cols + c; }

#define T f32
#include "muon.c"
#define T f64
#include "muon.c"

#if FC_ISA_ONCE
/* params, grads, momentum_buffers; lr, weight_decay, momentum, a, b, c, eps; ns_steps, nesterov, match_rms */
int fc_infer__muon_(fc_call *c)
{
    const int bad = fc_check_step(c, 0, 0);
    int64_t most = 0;
    for (int k = 0; k < c->len[PARAMS] && !bad; ++k) {
        const fc_tensor *p = c->t[k];
        if (p->ndim != 2)
            return fc_fail(FC_RANK, 0, p->ndim, 2, 0);
        const int64_t m = p->shape[0] < p->shape[1] ? p->shape[0] : p->shape[1], room = 2 * p->numel + 2 * m * m;
        most = room > most ? room : most;
    }
    if (!bad && (c->i[STEPS] < 0 || c->i[STEPS] > MOST_STEPS))
        return fc_fail(FC_ARG, 10, c->i[STEPS], MOST_STEPS, 0);
    c->scratch_bytes = (size_t)most * sizeof(float) + 64;
    return bad;
}
#endif

/* x = alpha * x + beta * y, rounded */
static void join(float *restrict x, const float *restrict y, int64_t n, float alpha, float beta)
{
    for (int64_t j = 0; j < n; ++j)
        x[j] = rounded(fc_fma_f32(alpha, x[j], beta * y[j]));
}

static int product(const matrix *q, int64_t n, int64_t k, const float *a, const float *b, int64_t b_row, int64_t b_col, float *out)
{
    return fc_gemm(FC_F32, 1, q->m, n, k, a, 0, k, 1, b, 0, b_row, b_col, out, 0, n, 1, NULL, 0, 0);
}

static int orthogonalise(matrix *q, const double *d, int64_t steps)
{
    const int64_t m = q->m, n = q->n;
    const float floor = rounded((float)d[EPS]), length = rounded(sqrtf(fc_row_dot_f32(q->x, q->x, m * n)));
    for (int64_t j = 0; j < m * n; ++j)
        q->x[j] = rounded(q->x[j] / (length < floor ? floor : length));
    int bad = FC_OK;
    for (int64_t k = 0; k < steps && !bad; ++k) {
        bad = product(q, m, n, q->x, q->x, 1, n, q->s);
        for (int64_t j = 0; j < m * m; ++j)
            q->s[j] = rounded(q->s[j]);
        bad = bad ? bad : product(q, m, m, q->s, q->s, m, 1, q->t);
        join(q->t, q->s, m * m, (float)d[NS_C], (float)d[NS_B]);
        bad = bad ? bad : product(q, n, m, q->t, q->x, n, 1, q->next);
        join(q->next, q->x, m * n, 1, (float)d[NS_A]);
        float *old = q->x;
        q->x = q->next, q->next = old;
    }
    return bad;
}

int FC_ISA_NAME(fc_cpu__muon_)(fc_call *c)
{
    const double *d = c->d;
    int bad = FC_OK;
    for (int k = 0; k < c->len[PARAMS] && !bad; ++k) {
        const fc_tensor *p = c->t[k];
        const fc_step step = fc_step_of(c, k);
        const int64_t rows = p->shape[0], cols = p->shape[1];
        if (!p->numel)
            continue;
        matrix q = { rows, cols, rows < cols ? rows : cols, rows < cols ? cols : rows, c->scratch, NULL, NULL, NULL };
        q.next = q.x + p->numel, q.s = q.next + p->numel, q.t = q.s + q.m * q.m;
        (p->dtype == FC_F32 ? momentum_f32 : momentum_f64)(&step, &q, d[MOMENTUM], (int)c->i[NESTEROV]);
        bad = orthogonalise(&q, d, c->i[STEPS]);
        const double longer = (double)(rows > cols ? rows : cols), ratio = (double)rows / (double)cols;
        const double scale = c->i[MATCH_RMS] ? 0.2 * sqrt(longer) : sqrt(ratio > 1 ? ratio : 1);
        if (!bad)
            (p->dtype == FC_F32 ? move_f32 : move_f64)(&step, &q, -(d[LR] * scale), 1 - d[LR] * d[DECAY]);
    }
    return bad;
}
FC_OWN_TWO_LEVELS(_muon_)

#else
#include "../typed.h"

/* The direction, rounded to bfloat16, into x */
static void N(momentum)(const fc_step *step, matrix *q, double momentum, int nesterov)
{
    T *restrict b = step->s[0];
    const T *restrict g = step->g;
    const T fresh = (T)(1 - momentum), most = (T)momentum;
    for (int64_t r = 0; r < q->rows; ++r)
        for (int64_t j = 0; j < q->cols; ++j) {
            const int64_t i = r * q->cols + j;
            const T b_i = b[i] = M(toward)(b[i], g[i], fresh);
            q->x[place(q, r, j)] = rounded((float)(nesterov ? M(toward)(g[i], b_i, most) : b_i));
        }
}

static void N(move)(const fc_step *step, const matrix *q, double rate, double shrink)
{
    T *restrict p = step->p;
    for (int64_t r = 0; r < q->rows; ++r)
        for (int64_t j = 0; j < q->cols; ++j) {
            const int64_t i = r * q->cols + j;
            p[i] = M(fma)((T)rate, (T)q->x[place(q, r, j)], p[i] * (T)shrink);
        }
}

#include "../typed_done.h"
#endif
