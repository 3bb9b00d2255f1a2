/*
 * What NumPy's linear algebra lacks, or lacks an answer of: triangular systems, LU with row exchanges, Cholesky that says where it fails.
 * In place, over stacks of matrices of any strides. Most of the work is the product's (gemm.h), so an element's bits depend on its matrix
 * alone. A product adds, it does not subtract: solutions are kept negated until the last of them is there.
 *
 * Sources: Golub and Van Loan, Matrix Computations, 4th ed., 3.1.4 (triangular systems by halves), 3.4 (right-looking LU by panels),
 * 4.2.6 (left-looking Cholesky by blocks).
 */
#ifndef T
#include <complex.h>
#include <math.h>

#include "../core/alloc.h"
#include "../core/call.h"
#include "../core/ops.h"
#include "../include/facula.h"
#include "gemm.h"
#include "parallel.h"

enum { TYPE_f32 = FC_F32, TYPE_f64 = FC_F64, TYPE_c64 = FC_C64, TYPE_c128 = FC_C128 };
enum { BLOCK = 32, WIDE = 32, WORK = 1 << 15 }; /* WIDE: columns of a solution at a time; WORK: fma that are worth a thread's waking */

/* One matrix: elements apart. */
typedef struct { int64_t rows, cols, row, col; } shape2;

typedef struct {
    const fc_tensor *a;   /* of a system */
    fc_tensor *x, *pivots, *info, *det, *log;
    shape2 as, xs;
    int upper, unit;
    int bad;              /* no memory was found */
} job;

static shape2 last_two(const fc_tensor *x, int turned)
{
    const int r = x->ndim - 2 + !!turned, c = x->ndim - 1 - !!turned;
    return (shape2){ x->shape[r], x->shape[c], x->stride[r], x->stride[c] };
}

/* Where matrix k of x's batch lies in y, whose batch dims are broadcast to x's. */
static int64_t place(const fc_tensor *x, const fc_tensor *y, int64_t k, int tail)
{
    int64_t at = 0;
    for (int d = x->ndim - 3, e = y->ndim - tail - 1; d >= 0; --d, --e) {
        if (e >= 0 && y->shape[e] > 1)
            at += k % x->shape[d] * y->stride[e];
        k /= x->shape[d];
    }
    return at;
}

static int64_t batch_of(const fc_tensor *x)
{
    int64_t n = 1;
    for (int d = 0; d < x->ndim - 2; ++d)
        n *= x->shape[d];
    return n;
}

static int supported(const fc_tensor *x) { return x->ndim >= 2 && (fc_is_complex(x->dtype) || x->dtype == FC_F32 || x->dtype == FC_F64); }

#define REAL f32
#define T f32
#include "linalg.c"
#define T c64
#define COMPLEX
#include "linalg.c"
#undef REAL
#undef COMPLEX
#define REAL f64
#define T f64
#include "linalg.c"
#define T c128
#define COMPLEX
#include "linalg.c"

#define OF_DTYPE(name, x) ((x)->dtype == FC_F32 ? name##_f32 : (x)->dtype == FC_F64 ? name##_f64 : (x)->dtype == FC_C64 ? name##_c64 : name##_c128)

/* A matrix has all threads for its products; of several, each thread takes some. */
static int over_batch(fc_range_fn fn, job *q, double work)
{
    if (q->x->numel)
        fc_parallel(batch_of(q->x), 1 + (int64_t)(WORK / (work + 1)), fn, q);
    return q->bad ? fc_fail(FC_MEMORY, 0, 0, 0, 0) : FC_OK;
}

int fc_solve_triangular(fc_tensor *a, fc_tensor *x, int transposed, int upper, int unit)
{
    if (!supported(x) || a->dtype != x->dtype || a->ndim < 2 || a->ndim > x->ndim)
        return fc_fail(FC_DTYPE, a->dtype, 0, 0, 0);
    job q = { .a = a, .x = x, .as = last_two(a, transposed), .xs = last_two(x, 0), .upper = upper != transposed, .unit = unit };
    if (q.as.rows != q.as.cols || q.as.rows != q.xs.rows)
        return fc_fail(FC_SIZE, 0, q.as.rows, 1, q.xs.rows);
    return over_batch(OF_DTYPE(systems, x), &q, (double)q.as.rows * q.as.rows * q.xs.cols);
}

int fc_lu_factor(fc_tensor *x, fc_tensor *pivots, fc_tensor *info)
{
    job q = { .x = x, .xs = last_two(x, 0), .pivots = pivots, .info = info };
    if (!supported(x) || (q.xs.rows > 1 && q.xs.row != 1))
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    return over_batch(OF_DTYPE(eliminated, x), &q, (double)q.xs.rows * q.xs.rows * q.xs.cols);
}

int fc_lu_solve(fc_tensor *lu, fc_tensor *pivots, fc_tensor *x)
{
    job q = { .a = lu, .x = x, .pivots = pivots, .as = last_two(lu, 0), .xs = last_two(x, 0) };
    if (!supported(x) || lu->dtype != x->dtype || lu->ndim > x->ndim || (q.xs.rows > 1 && q.xs.row != 1))
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    if (q.as.rows != q.as.cols || q.as.rows != q.xs.rows)
        return fc_fail(FC_SIZE, 0, q.as.rows, 1, q.xs.rows);
    return over_batch(OF_DTYPE(solutions, x), &q, 2.0 * (double)q.as.rows * q.as.rows * q.xs.cols);
}

int fc_lu_det(fc_tensor *lu, fc_tensor *pivots, fc_tensor *det, fc_tensor *log)
{
    job q = { .x = lu, .xs = last_two(lu, 0), .pivots = pivots, .det = det, .log = log == det ? NULL : log };
    if (!supported(lu) || q.xs.rows != q.xs.cols)
        return fc_fail(FC_DTYPE, lu->dtype, 0, 0, 0);
    OF_DTYPE(determinants, lu)(&q, 0, batch_of(lu));
    return FC_OK;
}

int fc_cholesky(fc_tensor *x, fc_tensor *info, int upper)
{
    job q = { .x = x, .xs = last_two(x, upper), .info = info };
    if (!supported(x))
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    return over_batch(OF_DTYPE(roots, x), &q, (double)q.xs.rows * q.xs.rows * q.xs.rows / 3);
}

/* pivots; int n: the order of n rows after the exchanges of a factorisation */
int fc_infer__lu_order(fc_call *c)
{
    const fc_tensor *p = c->t[0];
    int64_t shape[FC_MAX_DIMS];
    if (p->dtype != FC_I32)
        return fc_fail(FC_DTYPE, p->dtype, 0, 0, 0);
    if (p->ndim < 1)
        return fc_fail(FC_RANK, 0, p->ndim, 1, 0);
    for (int d = 0; d < p->ndim; ++d)
        shape[d] = d == p->ndim - 1 ? c->i[0] : p->shape[d];
    return fc_declare(c, 0, FC_I64, p->ndim, shape);
}

int fc_cpu__lu_order(fc_call *c)
{
    const int64_t n = c->i[0], k = c->t[0]->shape[c->t[0]->ndim - 1];
    const int32_t *p = (const int32_t *)c->t[0]->data;
    int64_t *order = (int64_t *)c->out[0]->data;
    for (int64_t count = n ? c->out[0]->numel / n : 0; count; --count, p += k, order += n) {
        for (int64_t i = 0; i < n; ++i)
            order[i] = i;
        for (int64_t i = 0; i < k && i < n; ++i) {
            if (p[i] < 1 || p[i] > n)
                return fc_fail(FC_INDEX, p[i], n, -1, 0);
            const int64_t row = order[i];
            order[i] = order[p[i] - 1];
            order[p[i] - 1] = row;
        }
    }
    return FC_OK;
}

#else
#include "typed.h"

#ifdef COMPLEX
#define ABS(z) cabs(z)
#define SIZE(z) N(size_of)(z)
static inline REAL N(size_of)(T z) { const REAL *p = (const REAL *)&z; return (p[0] < 0 ? -p[0] : p[0]) + (p[1] < 0 ? -p[1] : p[1]); }
#define CONJ(z) N(conj_of)(z)
static inline T N(conj_of)(T z) { REAL *p = (REAL *)&z; p[1] = -p[1]; return z; }
#define FIRST(z) (*(const REAL *)&(z))
#else
#define ABS(z) ((z) < 0 ? -(z) : (z))
#define SIZE ABS
#define CONJ(z) (z)
#define FIRST(z) (z)
#endif

static int N(add_product)(int64_t m, int64_t n, int64_t k, const T *a, int64_t ar, int64_t ac, const T *b, int64_t br, int64_t bc, T *c, int64_t cr, int64_t cc)
{
    return m && n && k ? fc_gemm(N(TYPE), 1, m, n, k, a, 0, ar, ac, b, 0, br, bc, c, 0, cr, cc, NULL, 0, 1) : FC_OK;
}

/* x = -(inverse of a) x for a block of at most BLOCK rows. */
static void N(solve_block)(const T *a, shape2 s, int conj, T *x, shape2 xs, int upper, int unit)
{
    T m[BLOCK][BLOCK], y[BLOCK][WIDE];
    const int n = (int)s.rows;
    for (int i = 0; i < n; ++i)
        for (int p = upper ? i : 0; p < (upper ? n : i + 1); ++p)
            m[i][p] = conj ? CONJ(a[i * s.row + p * s.col]) : a[i * s.row + p * s.col];
    for (int64_t from = 0; from < xs.cols; from += WIDE) {
        const int w = (int)(xs.cols - from < WIDE ? xs.cols - from : WIDE);
        T *block = x + from * xs.col;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < w; ++j)
                y[i][j] = block[i * xs.row + j * xs.col];
        for (int step = 0; step < n; ++step) {
            const int i = upper ? n - 1 - step : step;
            T *row = y[i];
            for (int p = upper ? i + 1 : 0; p < (upper ? n : i); ++p) {
                const T f = m[i][p], *other = y[p];
                for (int j = 0; j < w; ++j)
                    row[j] += f * other[j];
            }
            for (int j = 0; j < w; ++j)
                row[j] = unit ? -row[j] : -row[j] / m[i][i];
        }
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < w; ++j)
                block[i * xs.row + j * xs.col] = y[i][j];
    }
}

/* x = -(inverse of a) x, by halves. */
static int N(solve)(const T *a, shape2 s, T *x, shape2 xs, int upper, int unit)
{
    if (s.rows <= BLOCK) {
        N(solve_block)(a, s, 0, x, xs, upper, unit);
        return FC_OK;
    }
    const int64_t half = (s.rows / 2 + BLOCK - 1) / BLOCK * BLOCK, rest = s.rows - half;
    const shape2 top = { half, half, s.row, s.col }, low = { rest, rest, s.row, s.col };
    const shape2 xtop = { half, xs.cols, xs.row, xs.col }, xlow = { rest, xs.cols, xs.row, xs.col };
    const T *corner = a + half * (s.row + s.col);
    T *below = x + half * xs.row;
    if (upper)
        return N(solve)(corner, low, below, xlow, upper, unit) ||
               N(add_product)(half, xs.cols, rest, a + half * s.col, s.row, s.col, below, xs.row, xs.col, x, xs.row, xs.col) ||
               N(solve)(a, top, x, xtop, upper, unit);
    return N(solve)(a, top, x, xtop, upper, unit) ||
           N(add_product)(rest, xs.cols, half, a + half * s.row, s.row, s.col, x, xs.row, xs.col, below, xs.row, xs.col) ||
           N(solve)(corner, low, below, xlow, upper, unit);
}

static void N(negate)(T *x, shape2 s)
{
    const int turned = s.row < s.col; /* the short steps inside */
    const int64_t outer = turned ? s.cols : s.rows, inner = turned ? s.rows : s.cols, far = turned ? s.col : s.row, near = turned ? s.row : s.col;
    for (int64_t i = 0; i < outer; ++i)
        for (int64_t j = 0; j < inner; ++j)
            x[i * far + j * near] = -x[i * far + j * near];
}

static void N(systems)(void *ctx, int64_t begin, int64_t end)
{
    job *q = ctx;
    for (int64_t k = begin; k < end; ++k) {
        T *x = (T *)q->x->data + place(q->x, q->x, k, 2);
        if (N(solve)((const T *)q->a->data + place(q->x, q->a, k, 2), q->as, x, q->xs, q->upper, q->unit))
            q->bad = 1;
        N(negate)(x, q->xs);
    }
}

static void N(exchange)(T *a, int64_t col, int64_t first, int64_t last, const int32_t *pivots, int64_t begin, int64_t end)
{
    for (int64_t c = first; c < last; ++c) {
        T *x = a + c * col;
        for (int64_t j = begin; j < end; ++j) {
            const T old = x[j];
            x[j] = x[pivots[j] - 1];
            x[pivots[j] - 1] = old;
        }
    }
}

/* Columns [begin, end) eliminated, a column after the other; their rows exchanged in these columns alone. info: 1 + the first zero pivot's place. */
static void N(panel)(T *a, shape2 s, int64_t begin, int64_t end, int32_t *pivots, int32_t *info)
{
    for (int64_t j = begin; j < end; ++j) {
        T *restrict x = a + j * s.col;
        int64_t p = j;
        REAL most = SIZE(x[j]);
        for (int64_t i = j + 1; i < s.rows; ++i) {
            const REAL size = SIZE(x[i]);
            if (size > most)
                most = size, p = i;
        }
        pivots[j] = (int32_t)(p + 1);
        N(exchange)(a, s.col, begin, end, pivots, j, j + 1);
        const T pivot = x[j];
        if (SIZE(pivot) == 0) {
            *info = *info ? *info : (int32_t)(j + 1);
            continue;
        }
        for (int64_t i = j + 1; i < s.rows; ++i)
            x[i] /= pivot;
        for (int64_t c = j + 1; c < end; ++c) {
            T *restrict y = a + c * s.col;
            const T f = y[j];
            for (int64_t i = j + 1; i < s.rows; ++i)
                y[i] -= f * x[i];
        }
    }
}

static void N(eliminated)(void *ctx, int64_t begin, int64_t end)
{
    job *q = ctx;
    const shape2 s = q->xs;
    const int64_t least = s.rows < s.cols ? s.rows : s.cols;
    for (int64_t k = begin; k < end; ++k) {
        T *a = (T *)q->x->data + place(q->x, q->x, k, 2);
        int32_t *pivots = (int32_t *)q->pivots->data + k * least, *info = (int32_t *)q->info->data + k;
        *info = 0;
        for (int64_t from = 0; from < least; from += BLOCK) {
            const int64_t to = from + BLOCK < least ? from + BLOCK : least, wide = to - from, right = s.cols - to, below = s.rows - to;
            N(panel)(a, s, from, to, pivots, info);
            N(exchange)(a, s.col, 0, from, pivots, from, to);
            N(exchange)(a, s.col, to, s.cols, pivots, from, to);
            T *top = a + from + to * s.col, *rest = a + to + to * s.col;
            N(solve_block)(a + from + from * s.col, (shape2){ wide, wide, 1, s.col }, 0, top, (shape2){ wide, right, 1, s.col }, 0, 1);
            if (N(add_product)(below, right, wide, a + to + from * s.col, 1, s.col, top, 1, s.col, rest, 1, s.col))
                q->bad = 1;
            N(negate)(top, (shape2){ wide, right, 1, s.col });
        }
    }
}

static void N(solutions)(void *ctx, int64_t begin, int64_t end)
{
    job *q = ctx;
    for (int64_t k = begin; k < end; ++k) {
        const T *a = (const T *)q->a->data + place(q->x, q->a, k, 2);
        T *x = (T *)q->x->data + place(q->x, q->x, k, 2);
        N(exchange)(x, q->xs.col, 0, q->xs.cols, (const int32_t *)q->pivots->data + place(q->x, q->pivots, k, 1), 0, q->xs.rows);
        for (int upper = 0; upper < 2; ++upper) { /* negated after each: twice negated is not once more, a sum of zeros has no sign */
            if (N(solve)(a, q->as, x, q->xs, upper, !upper))
                q->bad = 1;
            N(negate)(x, q->xs);
        }
    }
}

/* det: the product of the pivots and the exchanges' sign; where the logarithm of its size is asked for, its sign (or phase) */
static void N(determinants)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t n = q->xs.rows;
    for (int64_t k = begin; k < end; ++k) {
        const T *a = (const T *)q->x->data + place(q->x, q->x, k, 2);
        const int32_t *pivots = (const int32_t *)q->pivots->data + k * n;
        T product = 1;
        REAL sum = 0;
        for (int64_t i = 0; i < n; ++i) {
            T d = a[i * (q->xs.row + q->xs.col)];
            if (q->log) {
                const REAL size = ABS(d);
                sum += log(size);
                d = size == 0 ? d : d / size;
            }
            product *= pivots[i] == i + 1 ? d : -d;
        }
        ((T *)q->det->data)[k] = product;
        if (q->log)
            ((REAL *)q->log->data)[k] = sum;
    }
}

/* The lower factor of a block of at most BLOCK rows; 0, or the order of the minor that is not positive. */
static int N(root_block)(T *a, shape2 s, int64_t n)
{
    for (int64_t j = 0; j < n; ++j) {
        REAL d = FIRST(a[j * (s.row + s.col)]);
        for (int64_t p = 0; p < j; ++p) {
            const T f = a[j * s.row + p * s.col], g = f * CONJ(f);
            d -= FIRST(g);
        }
        if (!(d > 0)) {
            a[j * (s.row + s.col)] = d; /* as LAPACK leaves it: what is not positive */
            return (int)(j + 1);
        }
        const REAL root = sqrt(d);
        a[j * (s.row + s.col)] = root;
        for (int64_t i = j + 1; i < n; ++i) {
            T v = a[i * s.row + j * s.col];
            for (int64_t p = 0; p < j; ++p)
                v -= a[i * s.row + p * s.col] * CONJ(a[j * s.row + p * s.col]);
            a[i * s.row + j * s.col] = v / root;
        }
    }
    return 0;
}

static void N(roots)(void *ctx, int64_t begin, int64_t end)
{
    job *q = ctx;
    const shape2 s = q->xs;
    const int64_t n = s.rows;
    const int64_t bytes = n * BLOCK * (int64_t)sizeof(T);
    T *row = n > BLOCK ? fc_alloc(bytes) : NULL;
    if (n > BLOCK && !row) {
        q->bad = 1;
        return;
    }
    for (int64_t k = begin; k < end; ++k) {
        T *a = (T *)q->x->data + place(q->x, q->x, k, 2);
        int32_t *info = (int32_t *)q->info->data + k;
        *info = 0;
        for (int64_t from = 0; from < n && !*info; from += BLOCK) {
            const int64_t wide = from + BLOCK < n ? BLOCK : n - from, below = n - from - wide;
            T *corner = a + from * (s.row + s.col), *under = corner + wide * s.row;
            for (int64_t j = 0; j < wide; ++j) /* -(the block's rows)^H: what is to the left of the block leaves it */
                for (int64_t p = 0; p < from; ++p)
                    row[p * BLOCK + j] = -CONJ(a[(from + j) * s.row + p * s.col]);
            if (N(add_product)(n - from, wide, from, a + from * s.row, s.row, s.col, row, BLOCK, 1, corner, s.row, s.col))
                q->bad = 1;
            const int order = N(root_block)(corner, s, wide);
            *info = order ? (int32_t)(from + order) : 0;
            if (!order && below) { /* X L^H = B is conj(L) X^T = B^T */
                N(solve_block)(corner, (shape2){ wide, wide, s.row, s.col }, 1, under, (shape2){ wide, below, s.col, s.row }, 0, 0);
                N(negate)(under, (shape2){ below, wide, s.row, s.col });
            }
        }
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = i + 1; j < n; ++j)
                a[i * s.row + j * s.col] = 0;
    }
    if (row)
        fc_dealloc(row, bytes);
}

#undef SIZE
#undef ABS
#undef CONJ
#undef FIRST
#include "typed_done.h"
#endif
