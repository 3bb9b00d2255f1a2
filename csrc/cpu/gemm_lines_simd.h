/* Whole blocks of a few rows against lines along k, which are stored as they are multiplied or as float16. Includer defines L(name), LINE (what a line is
 * of) and GATHER (PER lines to vectors of the chains); they are undefined at the end. No guard on purpose. */

/* The chains of `rows` rows against S lines: BUNDLES vectors a row, vector g with lines g * PER and on. More lines at once would
 * stream no faster: from L3, 16 lines at once 61 GB/s, 8 lines 68. */
INLINE void L(chains_of)(const int rows, R *restrict out, int64_t pitch, const R *a, int64_t a_row, const LINE *b, int64_t b_col, int64_t lines)
{
    T(V) sum[ALONG_ROWS][BUNDLES];
    const LINE *line[S];
#pragma GCC unroll 8
    for (int l = 0; l < S; ++l)
        line[l] = b + (l < lines ? l : 0) * b_col;
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
        for (int g = 0; g < BUNDLES; ++g)
            sum[i][g] = (T(V)){ 0 };
#pragma GCC unroll 1
    for (int64_t k = 0; k < FC_GEMM_BLOCK; k += LANES) {
        T(V) y[BUNDLES][PER];
#pragma GCC unroll 8
        for (int g = 0; g < BUNDLES; ++g)
            GATHER((void *)y[g], line + g * PER, k);
#pragma GCC unroll 4
        for (int s = 0; s < PER; ++s)
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i) {
                const T(V) x = (T(V))T(four_steps)(a + i * a_row + k + s * FC_GEMM_CHAINS);
#pragma GCC unroll 8
                for (int g = 0; g < BUNDLES; ++g)
                    sum[i][g] = FMA(x, y[g][s], sum[i][g]);
            }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
        T(add_bundles)(out + i * pitch, (const void *)sum[i]);
}

INLINE void L(chains_of_rows)(int64_t rows, R *restrict out, int64_t pitch, const R *a, int64_t a_row, const LINE *b, int64_t b_col, int64_t lines)
{
    switch (rows) {
#define CASE(rows) case rows: L(chains_of)(rows, out, pitch, a, a_row, b, b_col, lines); break;
    CASE(1) CASE(2)
#if ALONG_ROWS == 4
    CASE(3) CASE(4)
#endif
#undef CASE
    }
}

/* T(along) for a whole block, at least S columns; a's steps are side by side */
static void L(along_chains)(R *out, int64_t rows, int64_t cols, const R *a, int64_t a_row, const LINE *b, int64_t b_col)
{
    for (int64_t left = cols; left > 0; left -= S) {
        const int64_t j = cols - (left < S ? S : left); /* the last may overlap columns already done */
        L(chains_of_rows)(rows, out + j, cols, a, a_row, b + j * b_col, b_col, S);
    }
}

/* The same of fewer columns than S: the first is read in the place of those that are not there. Turning so few lines one element at a time
 * took 69 us for 20000 steps of 5 columns, where 8 took 12. */
static void L(along_few)(R *out, int64_t rows, int64_t cols, const R *a, int64_t a_row, const LINE *b, int64_t b_col)
{
    R sums[ALONG_ROWS * S];
    for (int64_t i = 0; i < rows; i += ALONG_ROWS) {
        const int64_t some = rows - i < ALONG_ROWS ? rows - i : ALONG_ROWS;
        L(chains_of_rows)(some, sums, S, a + i * a_row, a_row, b, b_col, cols);
        for (int64_t k = 0; k < some; ++k)
            memcpy(out + (i + k) * cols, sums + k * S, (size_t)cols * sizeof(R));
    }
}

#undef L
#undef LINE
#undef GATHER
