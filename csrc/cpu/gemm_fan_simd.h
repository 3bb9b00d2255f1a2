/* Up to ALONG_ROWS by LANES sums over many blocks: one chain of fma takes a step per 4 cycles, so several blocks run side by
 * side. Included by gemm_simd.c: no guard. */
#if FC_HAS_FMA

#if FC_ISA_NUM == 4
INLINE T(V) T(part)(const R *x, int lanes)
{
    return sizeof(R) == 4 ? (T(V))_mm512_maskz_loadu_ps((__mmask16)((1u << lanes) - 1), x)
                          : (T(V))_mm512_maskz_loadu_pd((__mmask8)((1u << lanes) - 1), x);
}
#else
INLINE T(V) T(part)(const R *x, int lanes)
{
    static const int32_t sides[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    const __m256i mask = _mm256_loadu_si256((const __m256i *)(sides + 8 - lanes * (int)(sizeof(R) / 4)));
    return sizeof(R) == 4 ? (T(V))_mm256_maskload_ps((const float *)x, mask) : (T(V))_mm256_maskload_pd((const double *)x, mask);
}
#endif

INLINE void T(fan_of)(const int rows, const int blocks, R *out, int64_t cols, const R *a, int64_t a_row, int64_t a_col,
                      const R *b, int64_t b_row)
{
    T(V) sum[4][8];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < blocks; ++j)
            sum[i][j] = (T(V)){ 0 };
#pragma GCC unroll 1
    for (int64_t k = 0; k < FC_GEMM_BLOCK; ++k)
#pragma GCC unroll 8
        for (int j = 0; j < blocks; ++j) {
            const T(V) y = T(part)(b + (k + j * FC_GEMM_BLOCK) * b_row, (int)cols);
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i)
                sum[i][j] = FMA(a[i * a_row + (k + j * FC_GEMM_BLOCK) * a_col] - (T(V)){ 0 }, y, sum[i][j]);
        }
    for (int j = 0; j < blocks; ++j)
        for (int i = 0; i < rows; ++i)
            memcpy(out + (j * rows + i) * cols, &sum[i][j], (size_t)cols * sizeof(R));
}

static void T(fan)(void *result, int64_t blocks, int64_t rows, int64_t cols, const void *a_first, int64_t a_row, int64_t a_col,
                   const void *b_first, int64_t b_row)
{
    R *out = result;
    const R *a = a_first, *b = b_first;
    const int at_once = rows == 1 ? 8 : ALONG_ROWS == 4 ? 4 : 2;
    while (blocks > 0) {
        const int now = blocks >= at_once ? at_once : 1;
        switch (rows * 16 + now) {
#define CASE(rows, blocks) case rows * 16 + blocks: T(fan_of)(rows, blocks, out, cols, a, a_row, a_col, b, b_row); break;
        CASE(1, 1) CASE(1, 8) CASE(2, 1)
#if ALONG_ROWS == 4
        CASE(2, 4) CASE(3, 1) CASE(3, 4) CASE(4, 1) CASE(4, 4)
#else
        CASE(2, 2)
#endif
#undef CASE
        }
        blocks -= now;
        out += now * rows * cols;
        a += now * FC_GEMM_BLOCK * a_col;
        b += now * FC_GEMM_BLOCK * b_row;
    }
}
#endif
