/* Few rows against lines that run along k (y = x W^T for a small batch). A block that is one chain turns squares in registers, so
 * that lanes are columns; one of several chains reads the lines as they lie. Included by gemm_simd.c: no guard. */
#if FC_HAS_FMA

#if !FC_GEMM_PAIRS
#undef HFMA
#define HFMA(x, y, z) (sizeof(R) == 4 ? (T(H))_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)) \
                                      : (T(H))_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))
#endif
#undef STRIP
#if FC_ISA_NUM == 4
#define STRIP LANES
#define GROUPS 1 /* the chain of 16 fma takes the time of the 64 shuffles */
#include "gemm_strip_v4_simd.h"
#else
#define STRIP S
#define GROUPS 4
#include "gemm_strip_simd.h"
#endif
#include "gemm_chains_simd.h"

/* At most S lines, turned into a panel, against at most FEW_ROWS rows: as many sums on the way as rows. */
INLINE void T(few_of)(const int rows, const int chains, R *sums, int64_t depth, const R *a, int64_t a_row, int64_t a_col, const R *panel)
{
    T(H) total[FEW_ROWS];
    for (int r = 0; r < chains; ++r) {
        T(H) sum[FEW_ROWS];
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i)
            sum[i] = (T(H)){ 0 };
#pragma GCC unroll 1
        for (int64_t k = r; k < depth; k += chains)
#pragma GCC unroll 8
            for (int i = 0; i < rows; ++i)
                sum[i] = HFMA(SPLAT(T(H), a[i * a_row + k * a_col]), *(const T(HM) *)(panel + k * S), sum[i]);
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i)
            total[i] = r ? total[i] + sum[i] : sum[i];
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i)
        *(T(HM) *)(sums + i * S) = total[i];
}

static void T(few)(R *out, int split, int64_t rows, int64_t cols, int64_t depth, const R *a, int64_t a_row, int64_t a_col, const R *b, int64_t b_col)
{
    R sums[FEW_ROWS * S], panel[S * (FC_GEMM_BLOCK + S)];
    T(pack)(panel, S, b, b_col, 1, cols, depth);
    switch (rows) {
#define CASE(rows) case rows: T(few_of)(rows, split ? FC_GEMM_CHAINS : 1, sums, depth, a, a_row, a_col, panel); break;
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
    }
    for (int64_t i = 0; i < rows; ++i)
        memcpy(out + i * cols, sums + i * S, (size_t)cols * sizeof(R));
}

/* out[m * cols + n], one block; rows <= ALONG_ROWS, or FEW_ROWS where cols <= S; `out` has room for a multiple of STRIP columns and an even number of rows */
static void T(along)(void *out, int split, int64_t rows, int64_t cols, int64_t depth, const void *a, int64_t a_row, int64_t a_col,
                     const void *b, int64_t b_col)
{
    if (cols < S && split && a_col == 1) {
        T(along_few)(out, rows, cols, a, a_row, b, b_col);
        return;
    }
    if (cols < S || rows > ALONG_ROWS || (cols == S && !split)) {
        T(few)(out, split, rows, cols, depth, a, a_row, a_col, b, b_col);
        return;
    }
    if (split && a_col == 1) {
        T(along_chains)(out, rows, cols, a, a_row, b, b_col);
        return;
    }
    R x[ALONG_ROWS * FC_GEMM_BLOCK], few[STRIP * FC_GEMM_BLOCK];
    for (int64_t i = 0; i < rows; ++i)
        if (a_col == 1)
            memcpy(x + i * FC_GEMM_BLOCK, (const R *)a + i * a_row, (size_t)depth * sizeof(R));
        else
            for (int64_t k = 0; k < depth; ++k)
                x[i * FC_GEMM_BLOCK + k] = ((const R *)a)[i * a_row + k * a_col];
    if (split) {
        T(along_chains)(out, rows, cols, x, FC_GEMM_BLOCK, b, b_col);
        return;
    }
    if (ALONG_ROWS == 4 && rows == 3) /* runs as 4, with a row that is dropped */
        memset(x + 3 * FC_GEMM_BLOCK, 0, (size_t)depth * sizeof(R));
    if (cols < STRIP) { /* runs as a strip, with lines that are dropped */
        R sums[ALONG_ROWS * STRIP];
        for (int64_t l = 0; l < STRIP; ++l)
            memcpy(few + l * depth, (const R *)b + (l < cols ? l : 0) * b_col, (size_t)depth * sizeof(R));
        T(along)(sums, 0, rows, STRIP, depth, x, FC_GEMM_BLOCK, 1, few, depth);
        for (int64_t i = 0; i < rows; ++i)
            memcpy((R *)out + i * cols, sums + i * STRIP, (size_t)cols * sizeof(R));
        return;
    }
    for (int64_t left = cols; left > 0;) {
        const int groups = left >= GROUPS * STRIP ? GROUPS : 1;
        const int64_t j = cols - (left < STRIP ? STRIP : left); /* the last strip may overlap columns already done */
        const R *b_j = (const R *)b + j * b_col;
        R *out_j = (R *)out + j;
#define CASE(rows)                                                                                                    \
        case rows:                                                                                                    \
            if (groups == GROUPS) T(along_strip)(rows, GROUPS, out_j, cols, depth, x, b_j, b_col);                    \
            else T(along_strip)(rows, 1, out_j, cols, depth, x, b_j, b_col);                                          \
            break;
        switch ((rows + 1) / 2 * 2 - (rows == 1)) {
        CASE(1) CASE(2)
#if ALONG_ROWS == 4
        CASE(4)
#endif
        }
#undef CASE
        left -= groups * STRIP;
    }
}
#undef GROUPS

#endif
