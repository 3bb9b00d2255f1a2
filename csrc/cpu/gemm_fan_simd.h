/* Up to ALONG_ROWS by LANES sums over many blocks: one chain of fma takes a step per 4 cycles, so several blocks run side by
 * side. Included by gemm_simd.c: no guard. And many small products, one after the other. */
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
    T(V) total[4][8];
    for (int r = 0; r < FC_GEMM_CHAINS; ++r) {
        T(V) sum[4][8];
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
            for (int j = 0; j < blocks; ++j)
                sum[i][j] = (T(V)){ 0 };
#pragma GCC unroll 1
        for (int64_t k = r; k < FC_GEMM_BLOCK; k += FC_GEMM_CHAINS)
#pragma GCC unroll 8
            for (int j = 0; j < blocks; ++j) {
                const T(V) y = T(part)(b + (k + j * FC_GEMM_BLOCK) * b_row, (int)cols);
#pragma GCC unroll 4
                for (int i = 0; i < rows; ++i)
                    sum[i][j] = FMA(SPLAT(T(V), a[i * a_row + (k + j * FC_GEMM_BLOCK) * a_col]), y, sum[i][j]);
            }
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
            for (int j = 0; j < blocks; ++j)
                total[i][j] = r ? total[i][j] + sum[i][j] : sum[i][j];
    }
    for (int j = 0; j < blocks; ++j)
        for (int i = 0; i < rows; ++i)
            memcpy(out + (j * rows + i) * cols, &total[i][j], (size_t)cols * sizeof(R));
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

#if FC_ISA_NUM == 4
INLINE void T(put_part)(R *x, T(V) v, int lanes)
{
    if (sizeof(R) == 4)
        _mm512_mask_storeu_ps(x, (__mmask16)((1u << lanes) - 1), (__m512)v);
    else
        _mm512_mask_storeu_pd(x, (__mmask8)((1u << lanes) - 1), (__m512d)v);
}
#else
INLINE void T(put_part)(R *x, T(V) v, int lanes) { memcpy(x, &v, (size_t)lanes * sizeof(R)); }
#endif

INLINE void T(small_rows)(const int rows, int cols, int64_t depth, const R *a, int64_t a_row, int64_t a_col, const R *b, int64_t b_row,
                          R *c, int64_t c_row)
{
    T(V) sum[4];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
        sum[i] = (T(V)){ 0 };
    for (int64_t k = 0; k < depth; ++k) {
        const T(V) y = T(part)(b + k * b_row, cols);
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i)
            sum[i] = FMA(SPLAT(T(V), a[i * a_row + k * a_col]), y, sum[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
        T(put_part)(c + i * c_row, sum[i], cols);
}

/* Many products of at most one block and LANES columns, side by side in b and c. */
static void T(small)(int64_t count, int64_t rows, int64_t cols, int64_t depth, const void *a_first, int64_t a_batch, int64_t a_row,
                     int64_t a_col, const void *b_first, int64_t b_batch, int64_t b_row, void *c_first, int64_t c_batch, int64_t c_row)
{
    const R *a = a_first, *b = b_first;
    R *c = c_first;
    for (int64_t t = 0; t < count; ++t, a += a_batch, b += b_batch, c += c_batch)
        for (int64_t i = 0; i < rows; i += 4) {
            const R *a_i = a + i * a_row;
            R *c_i = c + i * c_row;
            switch (rows - i < 4 ? rows - i : 4) {
#define CASE(n) case n: T(small_rows)(n, (int)cols, depth, a_i, a_row, a_col, b, b_row, c_i, c_row); break;
            CASE(1) CASE(2) CASE(3) CASE(4)
#undef CASE
            }
        }
}
#endif
