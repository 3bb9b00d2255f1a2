/*
 * The matrix product of integers, modulo 2^bits: any order gives the same bits, and a signed type those of the unsigned one.
 * A unit of work is a panel of columns of one product. DEPTH of its rows at a time are packed, and four rows of a meet them in registers; for few
 * rows packing would be most of the work: b's rows are read where they lie, or its columns, where those run along k, as dot products. Long rows that no
 * cache keeps are read from end to end, a few at a time, the sums waiting in L1.
 */
#ifndef T
#include <string.h>

#include "../core/isa.h"
#include "gemm_blocks.h"
#include "parallel.h"

enum { DEPTH = 256, ROWS = 4, FEW = 8, SWEEP = 4096 /* bytes of sums */, STEPS = 8, FROM_MEMORY = 1 << 20 /* bytes of b */,
       BYTES = FC_ISA_NUM == 4 ? 64 : FC_ISA_NUM == 3 ? 32 : 16, WORK_PER_PIECE = 64 << 10 };

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define N(name) PASTE(name, T)
#define WIDE (2 * BYTES / (int)sizeof(T))
#define INLINE static inline __attribute__((always_inline))

/* No byte multiplies. The low half of a product of pairs is that of their first bytes; of what is one place further on, of their second ones: two sums,
 * whose low halves are a vector of bytes in the end. */
typedef uint16_t pairs_of_bytes __attribute__((vector_size(BYTES)));
INLINE pairs_of_bytes bytes_of(pairs_of_bytes first, pairs_of_bytes second) { return (first & 0xff) | second << 8; }

/* What is left of a line goes as a whole vector that ends with it, of which what was before is 0: so many bytes from where this is read. */
static const uint8_t last_bytes[2 * BYTES] = {[BYTES ... 2 * BYTES - 1] = 0xff};

#define T uint8_t
#include "gemm_integers_simd.c"
#define T uint16_t
#include "gemm_integers_simd.c"
#define T uint32_t
#include "gemm_integers_simd.c"
#define T uint64_t
#include "gemm_integers_simd.c"

void FC_ISA_NAME(fc_gemm_integers)(const fc_gemm_args *g)
{
    const int dt = g->dtype, size = dt == FC_U8 || dt == FC_I8 ? 1 : dt == FC_U16 || dt == FC_I16 ? 2 : dt == FC_U32 || dt == FC_I32 ? 4 : 8;
    if (g->M <= FEW && g->b_col == 1 && g->b_row >= SWEEP / 4 / size && g->N * g->K * size >= FROM_MEMORY) {
        const int64_t stretches = (g->N - 1) / (SWEEP / size) + 1;
        fc_parallel(g->batch * stretches, 1 + WORK_PER_PIECE / (g->M * g->K * (SWEEP / size) + 1),
                    size == 1 ? sweeps_uint8_t : size == 2 ? sweeps_uint16_t : size == 4 ? sweeps_uint32_t : sweeps_uint64_t, (void *)g);
        return;
    }
    const int64_t panels = (g->N - 1) / (2 * BYTES / size) + 1, grain = 1 + WORK_PER_PIECE / (g->M * (g->K + 1) * (2 * BYTES / size));
    fc_parallel(g->batch * panels, grain, size == 1 ? panels_uint8_t : size == 2 ? panels_uint16_t : size == 4 ? panels_uint32_t : panels_uint64_t, (void *)g);
}

#else
typedef T N(V) __attribute__((vector_size(BYTES)));

INLINE N(V) N(load)(const T *x)
{
    N(V) v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* The last `left` elements before `end`, in the last places of a vector. */
INLINE N(V) N(rest)(const T *end, int64_t left)
{
    return N(load)(end - BYTES / (int)sizeof(T)) & N(load)((const T *)(const void *)(last_bytes + left * (int64_t)sizeof(T)));
}

/* sums[rows][2 vectors] of `depth` steps, b's rows b_row apart; rows is a constant at every call */
INLINE void N(tile)(const int rows, int64_t depth, const T *a, int64_t a_row, int64_t a_col, const T *b, int64_t b_row, N(V) sums[ROWS][2])
{
    if (sizeof(T) == 1) {
        pairs_of_bytes even[ROWS][2] = {{{0}}}, odd[ROWS][2] = {{{0}}};
        for (int64_t k = 0; k < depth; ++k, b += b_row)
#pragma GCC unroll 2
            for (int v = 0; v < 2; ++v) {
                pairs_of_bytes y;
                memcpy(&y, b + v * WIDE / 2, sizeof y);
                const pairs_of_bytes next = y >> 8;
#pragma GCC unroll 4
                for (int r = 0; r < rows; ++r) {
                    const pairs_of_bytes x = (uint16_t)a[r * a_row + k * a_col] - (pairs_of_bytes){0};
                    even[r][v] += x * y;
                    odd[r][v] += x * next;
                }
            }
        for (int r = 0; r < rows; ++r)
            for (int v = 0; v < 2; ++v)
                sums[r][v] = (N(V))bytes_of(even[r][v], odd[r][v]);
        return;
    }
    N(V) s[ROWS][2] = {{{0}}};
    for (int64_t k = 0; k < depth; ++k, b += b_row) {
        const N(V) first = N(load)(b), second = N(load)(b + WIDE / 2);
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) {
            const N(V) x = a[r * a_row + k * a_col] - (N(V)){0};
            s[r][0] += x * first;
            s[r][1] += x * second;
        }
    }
    for (int r = 0; r < rows; ++r)
        sums[r][0] = s[r][0], sums[r][1] = s[r][1];
}

static FC_NOINLINE T N(dot)(const T *x, const T *y, int64_t n)
{
    const int64_t lanes = BYTES / (int)sizeof(T);
    int64_t k = 0;
    T total = 0;
    if (sizeof(T) == 1) {
        pairs_of_bytes first = {0}, second = {0};
        for (; k + lanes <= n; k += lanes) {
            pairs_of_bytes u, v;
            memcpy(&u, x + k, sizeof u);
            memcpy(&v, y + k, sizeof v);
            first += u * v;
            second += (u >> 8) * (v >> 8);
        }
        if (k < n && k) {
            const pairs_of_bytes u = (pairs_of_bytes)N(rest)(x + n, n - k), v = (pairs_of_bytes)N(load)(y + n - lanes);
            first += u * v;
            second += (u >> 8) * (v >> 8);
            k = n;
        }
        first += second;
        for (int l = 0; l < BYTES / 2; ++l)
            total = (T)(total + first[l]);
    } else {
        N(V) s[4] = {{0}};
        for (; k + 4 * lanes <= n; k += 4 * lanes)
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j)
                s[j] += N(load)(x + k + j * lanes) * N(load)(y + k + j * lanes);
        for (; k + lanes <= n; k += lanes)
            s[0] += N(load)(x + k) * N(load)(y + k);
        if (k < n && k) {
            s[1] += N(rest)(x + n, n - k) * N(load)(y + n - lanes);
            k = n;
        }
        s[0] += s[1] + (s[2] + s[3]);
        for (int l = 0; l < BYTES / (int)sizeof(T); ++l)
            total = (T)(total + s[0][l]);
    }
    for (; k < n; ++k)
        total = (T)(total + x[k] * y[k]);
    return total;
}

/* Rows m .. m + rows of a, with columns that run along k. */
static void N(dots)(const fc_gemm_args *g, int rows, int64_t cols, int64_t depth, const T *a, const T *b, int64_t b_col, N(V) sums[ROWS][2])
{
    T copied[DEPTH];
    for (int r = 0; r < rows; ++r) {
        const T *x = a + r * g->a_row;
        for (int64_t k = 0; g->a_col != 1 && k < depth; ++k)
            copied[k] = x[k * g->a_col];
        for (int64_t l = 0; l < cols; ++l)
            ((T *)sums[r])[l] = N(dot)(g->a_col == 1 ? x : copied, b + l * b_col, depth);
    }
}

/* A row of sums to c: row m of product i, from column n on. */
static void N(leave)(const fc_gemm_args *g, int64_t i, int64_t m, int64_t n, const T *sums, int64_t cols, int add, int whole)
{
    T *z = (T *)g->c + i * g->c_batch + m * g->c_row + n * g->c_col;
    const T *bias = whole && g->bias ? (const T *)g->bias + i * g->bias_batch + m * g->bias_row + n * g->bias_col : NULL;
    if (g->c_col == 1 && cols == WIDE && !add && !bias) {
        memcpy(z, sums, WIDE * sizeof(T));
        return;
    }
    for (int64_t l = 0; l < cols; ++l, z += g->c_col)
        *z = (T)((add ? *z : 0) + sums[l] + (bias ? bias[l * g->bias_col] : 0));
}

/* sums[cols] += x b, over `steps` rows of b; steps is a constant at every call */
INLINE void N(sweep)(const int steps, T *restrict sums, int64_t cols, const T *x, int64_t x_step, const T *restrict b, int64_t b_row)
{
    int64_t j = 0;
    for (; j + BYTES / (int)sizeof(T) <= cols; j += BYTES / (int)sizeof(T)) {
        N(V) v = N(load)(sums + j);
        if (sizeof(T) == 1) {
            pairs_of_bytes even = {0}, odd = {0};
#pragma GCC unroll 8
            for (int s = 0; s < steps; ++s) {
                const pairs_of_bytes y = (pairs_of_bytes)N(load)(b + s * b_row + j), x_s = (uint16_t)x[s * x_step] - (pairs_of_bytes){0};
                even += x_s * y;
                odd += x_s * (y >> 8);
            }
            v += (N(V))bytes_of(even, odd);
        } else
#pragma GCC unroll 8
            for (int s = 0; s < steps; ++s)
                v += (x[s * x_step] - (N(V)){0}) * N(load)(b + s * b_row + j);
        memcpy(sums + j, &v, sizeof v);
    }
    for (; j < cols; ++j)
        for (int s = 0; s < steps; ++s)
            sums[j] = (T)(sums[j] + x[s * x_step] * b[s * b_row + j]);
}

static void N(sweeps)(void *ctx, int64_t begin, int64_t end)
{
    const fc_gemm_args *g = ctx;
    enum { COLS = SWEEP / sizeof(T) };
    const int64_t stretches = (g->N - 1) / COLS + 1;
    T sums[FEW][COLS];
    for (int64_t u = begin; u < end; ++u) {
        const int64_t i = u / stretches, n = u % stretches * COLS, cols = g->N - n < COLS ? g->N - n : COLS;
        const T *a = (const T *)g->a + i * g->a_batch, *b = (const T *)g->b + i * g->b_batch + n;
        memset(sums, 0, (size_t)g->M * sizeof *sums);
        for (int64_t k = 0, some; k < g->K; k += some) {
            some = g->K - k < STEPS ? 1 : STEPS;
            for (int64_t m = 0; m < g->M; ++m) {
                const T *x = a + m * g->a_row + k * g->a_col;
                if (some == STEPS)
                    N(sweep)(STEPS, sums[m], cols, x, g->a_col, b + k * g->b_row, g->b_row);
                else
                    N(sweep)(1, sums[m], cols, x, g->a_col, b + k * g->b_row, g->b_row);
            }
        }
        for (int64_t m = 0; m < g->M; ++m)
            N(leave)(g, i, m, n, sums[m], cols, g->accumulate, 1);
    }
}

static void N(panels)(void *ctx, int64_t begin, int64_t end)
{
    const fc_gemm_args *g = ctx;
    const int64_t panels = (g->N - 1) / WIDE + 1;
    N(V) packed[DEPTH * 2], sums[ROWS][2];
    for (int64_t u = begin; u < end; ++u) {
        const int64_t i = u / panels, n = u % panels * WIDE, cols = g->N - n < WIDE ? g->N - n : WIDE;
        const T *a = (const T *)g->a + i * g->a_batch, *b = (const T *)g->b + i * g->b_batch + n * g->b_col;
        const int rows_lie = g->b_col == 1 && cols == WIDE, direct = rows_lie && g->M <= FEW;
        const int dots = g->M <= FEW && !rows_lie && (g->b_col != 1 || g->b_row == 1), turned = dots && g->b_row != 1; /* turned: columns are copied to where they run along k */
        const int64_t most = dots && !turned && g->a_col == 1 ? g->K : DEPTH;
        int64_t k = 0;
        do {
            const int64_t depth = g->K - k < most ? g->K - k : most;
            const int whole = k + depth == g->K, add = k > 0 || g->accumulate;
            const T *const b_k = b + k * g->b_row;
            for (int64_t l = 0; turned && l < cols; ++l)
                for (int64_t j = 0; j < depth; ++j)
                    ((T *)packed)[l * DEPTH + j] = b_k[j * g->b_row + l * g->b_col];
            if (!dots && cols < WIDE)
                memset(packed, 0, (size_t)depth * WIDE * sizeof(T));
            for (int64_t j = 0; !dots && !direct && j < depth; ++j)
                if (rows_lie)
                    memcpy((T *)packed + j * WIDE, b_k + j * g->b_row, WIDE * sizeof(T));
                else if (g->b_col == 1)
                    memcpy((T *)packed + j * WIDE, b_k + j * g->b_row, (size_t)cols * sizeof(T));
                else
                    for (int64_t l = 0; l < cols; ++l)
                        ((T *)packed)[j * WIDE + l] = b_k[j * g->b_row + l * g->b_col];
            const T *const from = direct ? b_k : (const T *)packed;
            const int64_t from_row = direct ? g->b_row : WIDE;
            for (int64_t m = 0; m < g->M; m += ROWS) {
                const int rows = (int)(g->M - m < ROWS ? g->M - m : ROWS);
                const T *x = a + m * g->a_row + k * g->a_col;
                if (dots)
                    N(dots)(g, rows, cols, depth, x, turned ? (const T *)packed : b_k, turned ? DEPTH : g->b_col, sums);
                else if (rows == ROWS)
                    N(tile)(ROWS, depth, x, g->a_row, g->a_col, from, from_row, sums);
                else
                    for (int r = 0; r < rows; ++r)
                        N(tile)(1, depth, x + r * g->a_row, g->a_row, g->a_col, from, from_row, sums + r);
                for (int r = 0; r < rows; ++r)
                    N(leave)(g, i, m + r, n, (const T *)sums[r], cols, add, whole);
            }
            k += depth;
        } while (k < g->K);
    }
}

#undef T
#endif
