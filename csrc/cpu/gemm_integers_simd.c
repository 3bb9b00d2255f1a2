/*
 * The matrix product of integers, modulo 2^bits: any order gives the same bits, and a signed type those of the unsigned one.
 * A unit of work is a panel of columns of one product: DEPTH of its rows are packed, four rows of a at a time meet them in registers.
 */
#ifndef T
#include "../core/isa.h"
#include "gemm_blocks.h"
#include "parallel.h"

enum { DEPTH = 256, ROWS = 4, BYTES = FC_ISA_NUM == 4 ? 64 : FC_ISA_NUM == 3 ? 32 : 16, WORK_PER_PIECE = 64 << 10 };

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define N(name) PASTE(name, T)
#define WIDE (2 * BYTES / (int)sizeof(T))

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
    const int64_t panels = (g->N - 1) / (2 * BYTES / size) + 1, grain = 1 + WORK_PER_PIECE / (g->M * (g->K + 1) * (2 * BYTES / size));
    fc_parallel(g->batch * panels, grain, size == 1 ? panels_uint8_t : size == 2 ? panels_uint16_t : size == 4 ? panels_uint32_t : panels_uint64_t, (void *)g);
}

#else
typedef T N(V) __attribute__((vector_size(BYTES)));

/* sums[rows][2 vectors] of `depth` steps; rows is a constant at every call */
static inline __attribute__((always_inline)) void N(tile)(const int rows, int64_t depth, const T *a, int64_t a_row, int64_t a_col, const N(V) *b, N(V) sums[ROWS][2])
{
    N(V) s[ROWS][2] = {{{0}}};
    for (int64_t k = 0; k < depth; ++k, b += 2)
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) {
            const N(V) x = a[r * a_row + k * a_col] - (N(V)){0};
            s[r][0] += x * b[0];
            s[r][1] += x * b[1];
        }
    for (int r = 0; r < rows; ++r)
        sums[r][0] = s[r][0], sums[r][1] = s[r][1];
}

static void N(panels)(void *ctx, int64_t begin, int64_t end)
{
    const fc_gemm_args *g = ctx;
    const int64_t panels = (g->N - 1) / WIDE + 1;
    N(V) packed[DEPTH * 2], sums[ROWS][2];
    for (int64_t u = begin; u < end; ++u) {
        const int64_t i = u / panels, n = u % panels * WIDE, cols = g->N - n < WIDE ? g->N - n : WIDE;
        const T *a = (const T *)g->a + i * g->a_batch, *b = (const T *)g->b + i * g->b_batch + n * g->b_col;
        T *c = (T *)g->c + i * g->c_batch + n * g->c_col;
        int64_t k = 0;
        do {
            const int64_t depth = g->K - k < DEPTH ? g->K - k : DEPTH;
            const int whole = k + depth == g->K, add = k > 0 || g->accumulate;
            for (int64_t j = 0; j < depth; ++j)
                for (int64_t l = 0; l < WIDE; ++l)
                    ((T *)packed)[j * WIDE + l] = l < cols ? b[(k + j) * g->b_row + l * g->b_col] : 0;
            for (int64_t m = 0; m < g->M; m += ROWS) {
                const int rows = (int)(g->M - m < ROWS ? g->M - m : ROWS);
                const T *x = a + m * g->a_row + k * g->a_col;
                if (rows == ROWS)
                    N(tile)(ROWS, depth, x, g->a_row, g->a_col, packed, sums);
                else
                    for (int r = 0; r < rows; ++r)
                        N(tile)(1, depth, x + r * g->a_row, g->a_row, g->a_col, packed, sums + r);
                for (int r = 0; r < rows; ++r)
                    for (int64_t l = 0; l < cols; ++l) {
                        T *const z = c + (m + r) * g->c_row + l * g->c_col;
                        const T bias = whole && g->bias ? ((const T *)g->bias)[(m + r) * g->bias_row + (n + l) * g->bias_col] : 0;
                        *z = (T)((add ? *z : 0) + ((const T *)sums[r])[l] + bias);
                    }
            }
            k += depth;
        } while (k < g->K);
    }
}

#undef T
#endif
