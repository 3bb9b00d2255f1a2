/* A right side that is read where it lies: its rows are rows of memory. Included by gemm_tile_simd.h: no guard. */

/* Few rows need more columns at once: a chain of fma takes one step per 4 cycles, so at least 8 chains must be on the way. */
TILE(1, 8)
#if TILE_ROWS == 14
TILE(2, 8) TILE(3, 8) TILE(4, 4) TILE(5, 4) TILE(6, 4)
static const T(tile_fn) T(wide)[] = { T(tile_1_8), T(tile_2_8), T(tile_3_8), T(tile_4_4), T(tile_5_4), T(tile_6_4) };
static const int T(wide_vecs)[] = { 8, 8, 8, 4, 4, 4 };
#else
TILE(2, 4)
static const T(tile_fn) T(wide)[] = { T(tile_1_8), T(tile_2_4) };
static const int T(wide_vecs)[] = { 8, 4 };
#endif

/* Few rows against a wide b in place: SWEEP_STEPS lines of it at a time from end to end, the sums waiting in L1. A tile would
 * visit a page of its own for every step. */
#define SWEEP_STEPS 8
#define SWEEP (4096 / (int)sizeof(R) * 2)
INLINE void T(sweep_lines)(const int rows, const int steps, R *restrict sum, int64_t cols, const R *restrict a, int64_t a_step,
                           const R *restrict b, int64_t b_row)
{
    for (int64_t j = 0; j < cols; j += LANES)
#pragma GCC unroll 2
        for (int i = 0; i < rows; ++i) {
            T(V) v = *(const T(VM) *)(sum + i * SWEEP + j);
#pragma GCC unroll 8
            for (int s = 0; s < steps; ++s)
                v = FMA(SPLAT(T(V), a[s * a_step + i]), *(const T(VM) *)(b + s * b_row + j), v);
            *(T(VM) *)(sum + i * SWEEP + j) = v;
        }
}

static void T(sweep_chain)(const int rows, int64_t steps, const R *a, int64_t a_step, const R *b, int64_t b_row, R *sum, int64_t cols)
{
    for (int i = 0; i < rows; ++i)
        memset(sum + i * SWEEP, 0, (size_t)cols * sizeof(R));
    int64_t k = 0;
    for (; k + SWEEP_STEPS <= steps; k += SWEEP_STEPS)
        if (rows == 1)
            T(sweep_lines)(1, SWEEP_STEPS, sum, cols, a + k * a_step, a_step, b + k * b_row, b_row);
        else
            T(sweep_lines)(2, SWEEP_STEPS, sum, cols, a + k * a_step, a_step, b + k * b_row, b_row);
    for (; k < steps; ++k)
        T(sweep_lines)(rows, 1, sum, cols, a + k * a_step, a_step, b + k * b_row, b_row);
}

static void T(sweep)(const int rows, int chains, int64_t depth, const R *a, const R *b, int64_t b_row, R *restrict sum, int64_t cols)
{
    T(sweep_chain)(rows, depth / chains, a, chains * TILE_ROWS, b, chains * b_row, sum, cols);
    R chain[2 * SWEEP] __attribute__((aligned(64)));
    for (int r = 1; r < chains; ++r) {
        T(sweep_chain)(rows, depth / chains, a + r * TILE_ROWS, chains * TILE_ROWS, b + r * b_row, chains * b_row, chain, cols);
        for (int i = 0; i < rows; ++i)
            for (int64_t j = i * SWEEP; j < i * SWEEP + cols; j += LANES)
                *(T(VM) *)(sum + j) = *(T(VM) *)(sum + j) + *(T(VM) *)(chain + j);
    }
}

/* b in place: whole vectors are read where they are, the columns that do not fill one are packed. */
static void T(block_direct)(const fc_gemm_tile_job *job)
{
    R sum[TILE_ROWS * 2 * LANES > 6 * 4 * LANES ? TILE_ROWS * 2 * LANES : 6 * 4 * LANES] __attribute__((aligned(64)));
    const int64_t whole = job->cols / LANES * LANES;
    const int chains = job->split ? FC_GEMM_CHAINS : 1;
    for (int64_t i = 0; i < job->rows; i += TILE_ROWS) {
        const int rows = (int)(job->rows - i < TILE_ROWS ? job->rows - i : TILE_ROWS);
        const R *a = (const R *)job->a + i * job->depth, *b = job->b;
        int64_t j = 0;
        if (rows <= 2 && job->b_row >= SWEEP) {
            R sums[2 * SWEEP] __attribute__((aligned(64)));
            for (; j < whole; j += SWEEP) {
                const int cols = (int)(whole - j < SWEEP ? whole - j : SWEEP);
                T(sweep)(rows, chains, job->depth, a, b + j, job->b_row, sums, cols);
                T(put)(job, i, j, rows, cols, sums, SWEEP);
            }
            j = whole;
        } else if (rows <= (int)(sizeof T(wide) / sizeof *T(wide)))
            for (const int cols = T(wide_vecs)[rows - 1] * LANES; j + cols <= whole; j += cols) {
                const T(target) to = T(aim)(job, i, j, cols, cols, sum);
                T(wide)[rows - 1](chains, job->depth, a, TILE_ROWS, b + j, job->b_row, to.at, to.pitch);
                T(put)(job, i, j, rows, cols, to.at, to.pitch);
            }
        for (int vecs; j < whole; j += vecs * LANES) {
            vecs = j + 2 * LANES <= whole ? 2 : 1;
            const T(target) to = T(aim)(job, i, j, vecs * LANES, vecs * LANES, sum);
            T(tiles)[rows - 1][vecs - 1](chains, job->depth, a, TILE_ROWS, b + j, job->b_row, to.at, to.pitch);
            T(put)(job, i, j, rows, vecs * LANES, to.at, to.pitch);
        }
        if (whole < job->cols) {
            R rest[FC_GEMM_BLOCK * LANES] __attribute__((aligned(64)));
            T(pack)(rest, LANES, b + whole, 1, job->b_row, job->cols - whole, job->depth);
            T(tiles)[rows - 1][0](chains, job->depth, a, TILE_ROWS, rest, LANES, sum, LANES);
            T(put)(job, i, whole, rows, (int)(job->cols - whole), sum, LANES);
        }
    }
}

#undef SWEEP
#undef SWEEP_STEPS

#if !FC_GEMM_PAIRS
/* A row of an outer product. out may be x. */
static void T(scale)(void *out, const void *x, const void *factor, int64_t n)
{
    const R f = *(const R *)factor;
    for (int64_t j = 0; j < n; ++j)
        ((R *)out)[j] = ((const R *)x)[j] * f;
}
#endif
