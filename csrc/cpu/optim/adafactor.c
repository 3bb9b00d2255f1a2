/*
 * One step of Adafactor for a list of parameters.
 *
 *   row = row + w (mean_j g^2 - row),  col = col + w (mean_i g^2 - col),  v = row col / max(mean_i row, eps1),   w = t^beta2_decay
 *   a vector keeps v itself:  v = v + w (g^2 - v)
 *   u = g / sqrt(max(v, eps1^2)),  p = p - min(lr, 1 / sqrt t) max(eps2, rms(p)) / max(1, rms(u) / clip) u,  rms(p) before decay
 *
 * A matrix is (batch, rows, cols) over its last two dims; a vector is cut into lines of LINE elements, so that both are lines whose
 * sums are taken one by one (threads share lines) and added in their order. Column sums run down the rows in double.
 * Source: Shazeer, Stern (2018).
 */
#ifndef T
#include "optim.h"
#include "../fold_rows.h"

enum { PARAMS, GRADS, ROWS, COLS, COUNTS };              /* the lists; a vector's v is in ROWS, its COLS is not read */
enum { LR, DECAY, BETA2_DECAY, EPS1, EPS2, CLIP };       /* the floats: decay is decoupled */
enum { LINE = 4096, CHUNK = 256 };

typedef struct {
    void *p, *row, *col;
    const void *g;
    double *sums, *means;                                /* of each line; of row, for each matrix of the batch */
    int64_t numel, batch, rows, cols;                    /* of a vector: batch 0, rows lines of cols = LINE, the last one shorter */
    double fresh, eps1, floor, shrink, rate;
} job;

#define T f32
#include "adafactor.c"
#define T f64
#include "adafactor.c"

#if FC_ISA_ONCE
static double smallest_step(int dtype)
{
    return dtype == FC_F64 ? 0x1p-52 : dtype == FC_F32 ? 0x1p-23 : dtype == FC_F16 ? 0x1p-10 : 0x1p-7;
}

/* params, grads, row_vars, col_vars, state_steps; lr, weight_decay, beta2_decay, eps1 (NaN: of the first parameter's dtype), eps2, d; maximize */
int fc_infer__adafactor_(fc_call *c)
{
    const int n = c->len[PARAMS];
    int64_t lines = 0, most = 0;
    for (int list = GRADS; list <= COUNTS; ++list)
        if (c->len[list] != n)
            return fc_fail(FC_SIZE, 0, n, list, c->len[list]);
    for (int k = 0; k < n; ++k) {
        const fc_tensor *p = c->t[k], *g = c->t[n + k], *row = c->t[ROWS * n + k], *col = c->t[COLS * n + k], *t = c->t[COUNTS * n + k];
        if (!fc_is_float(p->dtype))
            return fc_fail(FC_DTYPE, p->dtype, 0, 0, 0);
        const int matrix = p->ndim > 1;
        const int64_t cols = matrix ? p->shape[p->ndim - 1] : 1, rows = matrix ? p->shape[p->ndim - 2] : 1;
        if (g->dtype != p->dtype || row->dtype != p->dtype || (matrix && col->dtype != p->dtype))
            return fc_fail(FC_MIXED, 0, p->dtype, g->dtype != p->dtype ? GRADS : row->dtype != p->dtype ? ROWS : COLS, g->dtype);
        if ((t->dtype != FC_F32 && t->dtype != FC_F64) || t->numel != 1)
            return fc_fail(FC_MIXED, 0, FC_F32, COUNTS, t->dtype);
        if (g->numel != p->numel)
            return fc_fail(FC_SIZE, 0, p->numel, GRADS, g->numel);
        if (p->numel && row->numel != p->numel / cols)
            return fc_fail(FC_SIZE, 0, p->numel / cols, ROWS, row->numel);
        if (p->numel && matrix && col->numel != p->numel / rows)
            return fc_fail(FC_SIZE, 0, p->numel / rows, COLS, col->numel);
        const int64_t here = p->numel == 0 ? 0 : matrix ? p->numel / cols : (p->numel + LINE - 1) / LINE;
        lines = here > lines ? here : lines;
        most = matrix && p->numel && p->numel / (rows * cols) > most ? p->numel / (rows * cols) : most;
    }
    if (n && c->d[EPS1] != c->d[EPS1])
        c->d[EPS1] = smallest_step(c->t[0]->dtype);
    c->scratch_bytes = (size_t)(lines + most + 1) * sizeof(double);
    return FC_OK;
}
#endif

static double root_mean_square(const job *q)
{
    const int64_t lines = q->batch ? q->batch * q->rows : q->rows;
    double sum = 0;
    for (int64_t l = 0; l < lines; ++l)
        sum += q->sums[l];
    return sqrt(sum) / sqrt((double)q->numel);
}

static void over(int64_t n, int64_t width, fc_range_fn f32_fn, fc_range_fn f64_fn, int dtype, job *q)
{
    const fc_range_fn fn = dtype == FC_F32 ? f32_fn : f64_fn;
    if (q->numel <= FC_OPTIM_GRAIN)
        fn(q, 0, n);
    else
        fc_parallel(n, 1 + FC_OPTIM_GRAIN / width, fn, q);
}

int FC_ISA_NAME(fc_cpu__adafactor_)(fc_call *c)
{
    const double *d = c->d;
    for (int k = 0, n = c->len[PARAMS]; k < n; ++k) {
        const fc_tensor *p = c->t[k];
        const double t = fc_step_count(c, k);
        if (!p->numel)
            continue;
        const int dtype = p->dtype;
        job q = { .p = p->data, .g = c->t[n + k]->data, .row = c->t[ROWS * n + k]->data, .sums = c->scratch, .numel = p->numel,
                  .rows = (p->numel + LINE - 1) / LINE, .cols = LINE, .fresh = pow(t, d[BETA2_DECAY]), .eps1 = d[EPS1],
                  .floor = d[EPS1] * d[EPS1], .shrink = d[DECAY] != 0 ? 1 - d[LR] * d[DECAY] : 1 };
        if (p->ndim > 1) {
            q.col = c->t[COLS * n + k]->data;
            q.rows = p->shape[p->ndim - 2], q.cols = p->shape[p->ndim - 1];
            q.batch = q.numel / (q.rows * q.cols);
            q.means = q.sums + q.batch * q.rows;
        }
        const int64_t lines = q.batch ? q.batch * q.rows : q.rows;
        over(lines, q.cols, squares_f32, squares_f64, dtype, &q);
        const double size = root_mean_square(&q), slow = 1 / sqrt(t);
        if (q.batch) {
            over(q.batch * ((q.cols + CHUNK - 1) / CHUNK), q.rows * CHUNK, columns_f32, columns_f64, dtype, &q);
            (dtype == FC_F32 ? means_f32 : means_f64)(&q);
        }
        over(lines, q.cols, lengths_f32, lengths_f64, dtype, &q);
        const double length = root_mean_square(&q) / d[CLIP];
        q.rate = -(size > d[EPS2] ? size : d[EPS2]) * (slow < d[LR] ? slow : d[LR]) / (length > 1 ? length : 1);
        q.rate = c->i[0] ? -q.rate : q.rate;
        over(lines, q.cols, moves_f32, moves_f64, dtype, &q);
    }
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_adafactor_)

#else
#include "../typed.h"

static inline int64_t N(width)(const job *q, int64_t line)
{
    return q->batch || line < q->rows - 1 ? q->cols : q->numel - line * q->cols;
}

/* p^2 of each line into sums; g^2 into row, which a vector has for each element */
static void N(squares)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const T fresh = (T)q->fresh;
    for (int64_t l = begin; l < end; ++l) {
        const int64_t n = N(width)(q, l);
        const T *p = (const T *)q->p + l * q->cols, *restrict g = (const T *)q->g + l * q->cols;
        q->sums[l] = M(row_dot)(p, p, n);
        if (q->batch) {
            T *row = (T *)q->row + l;
            *row = M(toward)(*row, M(row_dot)(g, g, n) / (T)q->cols, fresh);
        } else {
            T *restrict v = (T *)q->row + l * q->cols;
            for (int64_t j = 0; j < n; ++j)
                v[j] = M(toward)(v[j], g[j] * g[j], fresh);
        }
    }
}

/* g^2 of CHUNK columns into col */
static void N(columns)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t chunks = (q->cols + CHUNK - 1) / CHUNK;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t b = k / chunks, from = k % chunks * CHUNK, n = q->cols - from < CHUNK ? q->cols - from : CHUNK;
        double sums[CHUNK] = { 0 };
        for (int64_t r = 0; r < q->rows; ++r) {
            const T *restrict g = (const T *)q->g + (b * q->rows + r) * q->cols + from;
            for (int64_t j = 0; j < n; ++j)
                sums[j] += (double)g[j] * g[j];
        }
        T *restrict col = (T *)q->col + b * q->cols + from;
        for (int64_t j = 0; j < n; ++j)
            col[j] = M(toward)(col[j], (T)(sums[j] / (double)q->rows), (T)q->fresh);
    }
}

static void N(means)(const job *q)
{
    for (int64_t b = 0; b < q->batch; ++b) {
        const T mean = M(row_sum)((const T *)q->row + b * q->rows, q->rows) / (T)q->rows;
        q->means[b] = mean < (T)q->eps1 ? (T)q->eps1 : mean;
    }
}

/* u of elements [from, from + n) of a line */
static inline void N(direction)(const job *q, int64_t line, int64_t from, int64_t n, T *restrict u)
{
    const T *restrict g = (const T *)q->g + line * q->cols + from;
    const T floor = (T)q->floor;
    if (q->batch) {
        const T row = ((const T *)q->row)[line], mean = (T)q->means[line / q->rows];
        const T *restrict col = (const T *)q->col + line / q->rows * q->cols + from;
        for (int64_t j = 0; j < n; ++j) {
            const T v = row * col[j] / mean;
            u[j] = K(1) / M(sqrt)(v < floor ? floor : v) * g[j];
        }
    } else {
        const T *restrict v = (const T *)q->row + line * q->cols + from;
        for (int64_t j = 0; j < n; ++j)
            u[j] = K(1) / M(sqrt)(v[j] < floor ? floor : v[j]) * g[j];
    }
}

static void N(lengths)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    T u[CHUNK];
    for (int64_t l = begin; l < end; ++l) {
        double sum = 0;
        for (int64_t from = 0, all = N(width)(q, l); from < all; from += CHUNK) {
            const int64_t n = all - from < CHUNK ? all - from : CHUNK;
            N(direction)(q, l, from, n, u);
            sum += M(row_dot)(u, u, n);
        }
        q->sums[l] = sum;
    }
}

static void N(moves)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const T rate = (T)q->rate, shrink = (T)q->shrink;
    T u[CHUNK];
    for (int64_t l = begin; l < end; ++l)
        for (int64_t from = 0, all = N(width)(q, l); from < all; from += CHUNK) {
            const int64_t n = all - from < CHUNK ? all - from : CHUNK;
            T *restrict p = (T *)q->p + l * q->cols + from;
            N(direction)(q, l, from, n, u);
            for (int64_t j = 0; j < n; ++j)
                p[j] = M(fma)(rate, u[j], p[j] * shrink);
        }
}

#include "../typed_done.h"
#endif
