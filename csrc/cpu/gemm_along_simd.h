/* Few rows against lines that run along k (y = x W^T for a small batch; dot products). Squares are turned in registers, so
 * lanes are columns here too and the chains are those of the tiles. Included by gemm_simd.c: no guard. */
#if FC_HAS_FMA

#undef HFMA
#define HFMA(x, y, z) (sizeof(R) == 4 ? (T(H))_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)) \
                                      : (T(H))_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))

/* `steps` steps of `groups` x S columns; x: rows of FC_GEMM_BLOCK. */
INLINE void T(along_squares)(T(H) sum[4][4], const int rows, const int groups, const R *x, const R *b, int64_t pitch,
                             const int steps)
{
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g)
#pragma GCC unroll 2
        for (int k = 0; k < steps; k += S) {
            T(H) square[S];
            T(turn)(square, b + g * S * pitch + k, pitch, S - 1);
#pragma GCC unroll 8
            for (int s = 0; s < S; ++s)
#pragma GCC unroll 4
                for (int i = 0; i < rows; ++i)
                    sum[i][g] = HFMA(x[i * FC_GEMM_BLOCK + k + s] - (T(H)){ 0 }, square[s], sum[i][g]);
        }
}

/* out rows, `pitch` apart, of groups * S columns. Several groups: independent chains hide the latency of fma. */
#define STEPS (2 * S) /* one cache line of every line: with lines a power of two apart, L1 would lose it between visits */
INLINE void T(along_strip)(const int rows, const int groups, R *restrict out, int64_t pitch, int64_t depth, const R *x,
                           const R *b, int64_t b_col)
{
    T(H) sum[4][4];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (int g = 0; g < groups; ++g)
            sum[i][g] = (T(H)){ 0 };
    int64_t k = 0;
#pragma GCC unroll 1
    for (; k + STEPS <= depth; k += STEPS)
        T(along_squares)(sum, rows, groups, x + k, b + k, b_col, STEPS);
    if (k < depth) { /* less than STEPS: from zero-filled lines, of which only the steps that there are count */
        const int left = (int)(depth - k);
#pragma GCC unroll 1
        for (int g = 0; g < groups; ++g) {
            R line[S][STEPS];
            T(H) square[STEPS], y;
            memset(line, 0, sizeof line);
            for (int l = 0; l < S; ++l)
                memcpy(line[l], b + (g * S + l) * b_col + k, (size_t)left * sizeof(R));
            T(turn)(square, line[0], STEPS, S - 1);
            T(turn)(square + S, line[0] + S, STEPS, S - 1);
            for (int i = 0; i < rows; ++i) {
                memcpy(&y, &sum[i][g], sizeof y);
                for (int s = 0; s < left; ++s)
                    y = HFMA(x[i * FC_GEMM_BLOCK + k + s] - (T(H)){ 0 }, square[s], y);
                memcpy(out + i * pitch + g * S, &y, sizeof y);
            }
        }
    } else
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
            for (int g = 0; g < groups; ++g)
                *(T(HM) *)(out + i * pitch + g * S) = sum[i][g];
}
#undef STEPS

/* out[m * cols + n], one block; rows <= ALONG_ROWS; `out` has room for a multiple of S columns and an even number of rows */
static void T(along)(void *out, int64_t rows, int64_t cols, int64_t depth, const void *a, int64_t a_row, int64_t a_col,
                     const void *b, int64_t b_col)
{
    R x[ALONG_ROWS * FC_GEMM_BLOCK], few[S * FC_GEMM_BLOCK];
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t k = 0; k < depth; ++k)
            x[i * FC_GEMM_BLOCK + k] = ((const R *)a)[i * a_row + k * a_col];
    if (ALONG_ROWS == 4 && rows == 3) /* runs as 4, with a row that is dropped */
        memset(x + 3 * FC_GEMM_BLOCK, 0, (size_t)depth * sizeof(R));
    if (cols < S) { /* runs as S, with lines that are dropped */
        R sums[ALONG_ROWS * S];
        for (int64_t l = 0; l < S; ++l)
            memcpy(few + l * depth, (const R *)b + (l < cols ? l : 0) * b_col, (size_t)depth * sizeof(R));
        T(along)(sums, rows, S, depth, x, FC_GEMM_BLOCK, 1, few, depth);
        for (int64_t i = 0; i < rows; ++i)
            memcpy((R *)out + i * cols, sums + i * S, (size_t)cols * sizeof(R));
        return;
    }
    for (int64_t left = cols; left > 0;) {
        const int groups = left >= 4 * S ? 4 : 1;
        const int64_t j = cols - (left < S ? S : left); /* the last S may overlap columns already done */
        const R *b_j = (const R *)b + j * b_col;
        R *out_j = (R *)out + j;
#define CASE(rows)                                                                                                    \
        case rows:                                                                                                    \
            if (groups == 4) T(along_strip)(rows, 4, out_j, cols, depth, x, b_j, b_col);                              \
            else T(along_strip)(rows, 1, out_j, cols, depth, x, b_j, b_col);                                          \
            break;
        switch ((rows + 1) / 2 * 2 - (rows == 1)) {
        CASE(1) CASE(2)
#if ALONG_ROWS == 4
        CASE(4)
#endif
        }
#undef CASE
        left -= groups * S;
    }
}

/* Dot product: the blocks themselves are the lanes. */
static void T(dots)(void *result, int64_t blocks, const void *a, const void *b)
{
    R *out = result;
    const R *x = a, *y = b;
    int64_t j = 0;
    for (; j + S <= blocks; j += S) {
        T(H) sum = { 0 };
        for (int64_t k = 0; k < FC_GEMM_BLOCK; k += S) {
            T(H) x_square[S], y_square[S];
            T(turn)(x_square, x + j * FC_GEMM_BLOCK + k, FC_GEMM_BLOCK, S - 1);
            T(turn)(y_square, y + j * FC_GEMM_BLOCK + k, FC_GEMM_BLOCK, S - 1);
#pragma GCC unroll 8
            for (int s = 0; s < S; ++s)
                sum = HFMA(x_square[s], y_square[s], sum);
        }
        memcpy(out + j, &sum, sizeof sum);
    }
    R rest[S] = { 0 };
    for (int64_t k = 0; k < FC_GEMM_BLOCK; ++k)
        for (int64_t s = 0; s < blocks - j; ++s)
            rest[s] = FMA1(x[(j + s) * FC_GEMM_BLOCK + k], y[(j + s) * FC_GEMM_BLOCK + k], rest[s]);
    memcpy(out + j, rest, (size_t)(blocks - j) * sizeof(R));
}
#endif
