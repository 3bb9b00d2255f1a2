/* Few rows against lines that run along k (y = x W^T for a small batch; dot products). Squares are turned in registers, so
 * lanes are columns here too and the chains are those of the tiles. Included by gemm_simd.c: no guard. */
#if FC_HAS_FMA

#undef HFMA
#define HFMA(x, y, z) (sizeof(R) == 4 ? (T(H))_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)) \
                                      : (T(H))_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))

/* `groups` x S columns from line[]: several independent chains hide the latency of fma. */
INLINE void T(along_strip)(const int rows, const int groups, R *restrict out, int64_t pitch, int64_t cols, int64_t depth,
                           const R *a, int64_t a_row, int64_t a_col, const R *b, int64_t b_col)
{
    T(H) sum[4][4];
    const R *line[4][S];
    const int64_t count = cols < groups * S ? cols : groups * S;
    for (int g = 0; g < groups; ++g)
        for (int s = 0; s < S; ++s)
            line[g][s] = b + (g * S + s < count ? g * S + s : count - 1) * b_col;
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (int g = 0; g < groups; ++g)
            sum[i][g] = (T(H)){ 0 };
    int64_t k = 0;
#pragma GCC unroll 1
    for (; k + S <= depth; k += S)
#pragma GCC unroll 4
        for (int g = 0; g < groups; ++g) {
            T(H) square[S];
            T(turn)(square, line[g], k);
#pragma GCC unroll 8
            for (int s = 0; s < S; ++s)
#pragma GCC unroll 4
                for (int i = 0; i < rows; ++i) {
                    const T(H) x = a[i * a_row + (k + s) * a_col] - (T(H)){ 0 };
                    sum[i][g] = HFMA(x, square[s], sum[i][g]);
                }
        }
#pragma GCC unroll 1
    for (; k < depth; ++k)
#pragma GCC unroll 4
        for (int g = 0; g < groups; ++g) {
            T(H) y;
#pragma GCC unroll 8
            for (int s = 0; s < S; ++s)
                y[s] = line[g][s][k];
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i) {
                const T(H) x = a[i * a_row + k * a_col] - (T(H)){ 0 };
                sum[i][g] = HFMA(x, y, sum[i][g]);
            }
        }
    for (int i = 0; i < rows; ++i)
        memcpy(out + i * pitch, sum[i], (size_t)count * sizeof(R));
}

/* out[m * cols + n], one block; rows <= ALONG_ROWS */
static void T(along)(void *out, int64_t rows, int64_t cols, int64_t depth, const void *a, int64_t a_row, int64_t a_col,
                     const void *b, int64_t b_col)
{
    for (int64_t j = 0; j < cols;) {
        const R *b_j = (const R *)b + j * b_col;
        R *out_j = (R *)out + j;
        const int64_t left = cols - j;
#define STRIP(rows, groups) T(along_strip)(rows, groups, out_j, cols, left, depth, a, a_row, a_col, b_j, b_col)
        switch (rows * 2 + (left > S)) {
        case 2: STRIP(1, 1); break;
        case 3: STRIP(1, 4); break;
        case 4: STRIP(2, 1); break;
        case 5: STRIP(2, 4); break;
#if ALONG_ROWS == 4
        case 6: STRIP(3, 1); break;
        case 7: STRIP(3, 4); break;
        case 8: STRIP(4, 1); break;
        case 9: STRIP(4, 4); break;
#endif
        }
#undef STRIP
        j += left > S ? 4 * S : S;
    }
}

/* Dot product: the blocks themselves are the lanes. */
static void T(dots)(void *result, int64_t blocks, const void *a, const void *b)
{
    R *out = result;
    const R *x = a, *y = b;
    int64_t j = 0;
    for (; j + S <= blocks; j += S) {
        const R *x_line[S], *y_line[S];
        for (int s = 0; s < S; ++s) {
            x_line[s] = x + (j + s) * FC_GEMM_BLOCK;
            y_line[s] = y + (j + s) * FC_GEMM_BLOCK;
        }
        T(H) sum = { 0 };
        for (int64_t k = 0; k < FC_GEMM_BLOCK; k += S) {
            T(H) x_square[S], y_square[S];
            T(turn)(x_square, x_line, k);
            T(turn)(y_square, y_line, k);
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
