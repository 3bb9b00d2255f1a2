/* Tiles that read one side in place through offsets: what convolution needs to get by without a column buffer. Either the
 * lines of b, whole vectors of columns `b_at` apart, or the elements of a, broadcast from a_at[row] + a_k[step]. The chains
 * are those of the packed tiles. Included by gemm_simd.c: no guard. */

/* a: rows a_row apart, steps a_step: packed, or as they lie in memory. b: vectors `apart` elements apart */
INLINE void T(chain_offset)(const int rows, const int vecs, const int chains, int64_t depth, const R *restrict a, int64_t a_row, int64_t a_step,
                            const R *restrict b, int64_t apart, const int64_t *restrict b_at, R *restrict out, int64_t pitch, int more)
{
    T(V) sum[TILE_ROWS][8];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < vecs; ++j)
            sum[i][j] = (T(V)){ 0 };
#pragma GCC unroll 1
    for (int64_t k = 0; k < depth; k += chains, a += chains * a_step) {
        const R *b_k = b + b_at[k];
        T(V) y[8];
#pragma GCC unroll 8
        for (int j = 0; j < vecs; ++j)
            y[j] = *(const T(VM) *)(b_k + j * apart);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
            const T(V) x = SPLAT(T(V), a[i * a_row]);
#pragma GCC unroll 8
            for (int j = 0; j < vecs; ++j)
                sum[i][j] = FMA(x, y[j], sum[i][j]);
        }
    }
    T(leave)(rows, vecs, sum, out, pitch, more);
}

INLINE void T(tile_offset)(const int rows, const int vecs, int chains, int64_t depth, const R *restrict a, int64_t a_row, int64_t a_step,
                           const R *restrict b, int64_t apart, const int64_t *restrict b_at, R *restrict out, int64_t pitch)
{
    for (int r = 0; r < chains; ++r)
        T(chain_offset)(rows, vecs, chains, depth - r, a + r * a_step, a_row, a_step, b, apart, b_at + r, out, pitch, r > 0);
}

INLINE void T(tile_broadcast)(const int rows, const int vecs, int64_t depth, const R *restrict a, const int64_t *restrict a_at,
                              const int64_t *restrict a_k, const R *restrict b, R *restrict out,
                              int64_t pitch)
{
    T(V) sum[TILE_ROWS][2];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
        for (int j = 0; j < vecs; ++j)
            sum[i][j] = (T(V)){ 0 };
#pragma GCC unroll 1
    for (int64_t k = 0; k < depth; ++k, b += 2 * LANES) {
        const R *a_here = a + a_k[k];
        T(V) y[2];
#pragma GCC unroll 2
        for (int j = 0; j < vecs; ++j)
            y[j] = *(const T(VM) *)(b + j * LANES);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
            const T(V) x = SPLAT(T(V), a_here[a_at[i]]);
#pragma GCC unroll 2
            for (int j = 0; j < vecs; ++j)
                sum[i][j] = FMA(x, y[j], sum[i][j]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
        for (int j = 0; j < vecs; ++j)
            *(T(VM) *)(out + i * pitch + j * LANES) = sum[i][j];
}

typedef void (*T(offset_fn))(int chains, int64_t depth, const R *a, int64_t a_row, int64_t a_step, const R *b, int64_t apart, const int64_t *b_at,
                             R *out, int64_t pitch);
typedef void (*T(broadcast_fn))(int64_t depth, const R *a, const int64_t *a_at, const int64_t *a_k, const R *b, R *out,
                                int64_t pitch);

#define OFFSET(rows, vecs)                                                                                            \
static void T(offset_##rows##_##vecs)(int chains, int64_t depth, const R *a, int64_t a_row, int64_t a_step, const R *b, int64_t apart, \
                                      const int64_t *b_at, R *out, int64_t pitch)                                     \
{                                                                                                                     \
    T(tile_offset)(rows, vecs, chains, depth, a, a_row, a_step, b, vecs > 2 ? LANES : apart, b_at, out, pitch);       \
}
#define BROADCAST(rows, vecs)                                                                                         \
static void T(broadcast_##rows##_##vecs)(int64_t depth, const R *a, const int64_t *a_at, const int64_t *a_k, const R *b, R *out, \
                                            int64_t pitch)                                                            \
{                                                                                                                     \
    T(tile_broadcast)(rows, vecs, depth, a, a_at, a_k, b, out, pitch);                                                \
}
#define BOTH(rows) OFFSET(rows, 1) OFFSET(rows, 2) BROADCAST(rows, 1) BROADCAST(rows, 2)
#define NAMES(rows) { T(broadcast_##rows##_1), T(broadcast_##rows##_2) }
BOTH(1) BOTH(2) BOTH(3) BOTH(4) BOTH(5) BOTH(6) OFFSET(1, 8)
#if TILE_ROWS == 14
BOTH(7) BOTH(8) BOTH(9) BOTH(10) BOTH(11) BOTH(12) BOTH(13) BOTH(14) OFFSET(2, 8) OFFSET(3, 8) OFFSET(4, 4)
#else
OFFSET(2, 4)
#endif
#define OFFSETS(rows) { T(offset_##rows##_1), T(offset_##rows##_2) }
static const T(offset_fn) T(offsets)[TILE_ROWS][2] = { OFFSETS(1), OFFSETS(2), OFFSETS(3), OFFSETS(4), OFFSETS(5), OFFSETS(6),
#if TILE_ROWS == 14
    OFFSETS(7), OFFSETS(8), OFFSETS(9), OFFSETS(10), OFFSETS(11), OFFSETS(12), OFFSETS(13), OFFSETS(14)
#endif
};
static const T(broadcast_fn) T(broadcasts)[TILE_ROWS][2] = { NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6),
#if TILE_ROWS == 14
    NAMES(7), NAMES(8), NAMES(9), NAMES(10), NAMES(11), NAMES(12), NAMES(13), NAMES(14)
#endif
};
/* few rows: more columns at once, for enough chains on the way */
#if TILE_ROWS == 14
static const T(offset_fn) T(wide_offsets)[] = { T(offset_1_8), T(offset_2_8), T(offset_3_8), T(offset_4_4) };
static const int T(wide_offset_vecs)[] = { 8, 8, 8, 4 };
#else
static const T(offset_fn) T(wide_offsets)[] = { T(offset_1_8), T(offset_2_4) };
static const int T(wide_offset_vecs)[] = { 8, 4 };
#endif
#undef NAMES
#undef OFFSETS
#undef BOTH
#undef BROADCAST
#undef OFFSET

static void T(block_offset)(const fc_gemm_tile_job *job)
{
    R sum[TILE_ROWS * 2 * LANES > 3 * 8 * LANES ? TILE_ROWS * 2 * LANES : 3 * 8 * LANES] __attribute__((aligned(64)));
    int64_t steps[FC_GEMM_BLOCK]; /* of a panel of b */
    const int64_t a_row = job->a_row ? job->a_row : 1, a_step = job->a_row ? job->a_step : TILE_ROWS;
    const int64_t a_next = job->a_row ? job->a_row : job->depth; /* from row to row of tiles */
    const R *a = job->a, *b = job->b;
    const int chains = job->split ? FC_GEMM_CHAINS : 1;
    const int64_t whole = job->b_from ? job->cols : job->b_at ? job->cols / (2 * LANES) * 2 * LANES : 0; /* in place; the rest in panels */
    if (whole < job->cols)
        for (int64_t k = 0; k < job->depth; ++k) steps[k] = k * 2 * LANES;
    int64_t j = 0;
    if (!job->b_from && job->rows <= (int)(sizeof T(wide_offsets) / sizeof *T(wide_offsets))) {
        const int rows = (int)job->rows, cols = T(wide_offset_vecs)[rows - 1] * LANES;
        for (; j + cols <= whole; j += cols) {
            const T(target) to = T(aim)(job, 0, j, cols, cols, sum);
            T(wide_offsets)[rows - 1](chains, job->depth, a, a_row, a_step, b + j, LANES, job->b_at, to.at, to.pitch);
            T(put)(job, 0, j, rows, cols, to.at, to.pitch);
        }
    }
    for (; j < job->cols; j += 2 * LANES) {
        const int cols = (int)(job->cols - j < 2 * LANES ? job->cols - j : 2 * LANES), vecs = cols > LANES ? 2 : 1;
        const int64_t *const from = job->b_from ? job->b_from + j / LANES : NULL, apart = from && vecs > 1 ? from[1] - from[0] : LANES;
        const R *b_j = from ? b + from[0] : job->b_at ? b + j : b + j * job->depth;
        R rest[FC_GEMM_BLOCK * 2 * LANES] __attribute__((aligned(64)));
        if (job->b_at && j >= whole) { /* copied, so that nothing beyond is read */
            for (int64_t k = 0; k < job->depth; ++k) {
                const R *b_k = b_j + job->b_at[k];
                for (int l = 0; l < cols; ++l) rest[k * 2 * LANES + l] = b_k[l];
                for (int l = cols; l < vecs * LANES; ++l) rest[k * 2 * LANES + l] = 0;
            }
            b_j = rest;
        }
        for (int64_t i = 0, rows; i < job->rows; i += rows) {
            const int64_t left = job->rows - i;
            rows = left < TILE_ROWS ? left : TILE_ROWS;
            if (job->a_row && left > TILE_ROWS && left < TILE_ROWS + 4) /* halves: one to three rows alone would wait for each fma */
                rows = (left + 1) / 2;
            const T(target) to = T(aim)(job, i, j, cols, vecs * LANES, sum);
            T(offsets)[rows - 1][vecs - 1](chains, job->depth, a + i * a_next, a_row, a_step, b_j, apart, j < whole ? job->b_at : steps, to.at, to.pitch);
            T(put)(job, i, j, (int)rows, cols, to.at, to.pitch);
        }
    }
}

static void T(block_broadcast)(const fc_gemm_tile_job *job)
{
    R sum[TILE_ROWS * 2 * LANES] __attribute__((aligned(64)));
    for (int64_t j = 0; j < job->cols; j += 2 * LANES) {
        const int cols = (int)(job->cols - j < 2 * LANES ? job->cols - j : 2 * LANES), vecs = cols > LANES ? 2 : 1;
        const R *b = (const R *)job->b + j * job->depth;
        for (int64_t i = 0; i < job->rows; i += TILE_ROWS) {
            const int rows = (int)(job->rows - i < TILE_ROWS ? job->rows - i : TILE_ROWS);
            const T(target) to = T(aim)(job, i, j, cols, vecs * LANES, sum);
            T(broadcasts)[rows - 1][vecs - 1](job->depth, job->a, job->a_at + i, job->a_k, b, to.at, to.pitch);
            T(put)(job, i, j, rows, cols, to.at, to.pitch);
        }
    }
}

static void T(pack_runs)(void *panel, const void *x, const int64_t *k_at, int64_t depth, const fc_gemm_stretch *runs, int count, int lines)
{
    R *restrict dst = panel;
    int most = 0;
    for (int r = 0; r < count; ++r) most = runs[r].count > most ? runs[r].count : most;
    /* what a vector brings too much, the next run or step overwrites */
    for (int64_t k = 0; k < depth; ++k, dst += 2 * LANES) {
        const R *from = (const R *)x + k_at[k];
        if (most <= S)
            for (int r = 0; r < count; ++r)
                *(T(HM) *)(dst + runs[r].lane) = *(const T(HM) *)(from + runs[r].from);
        else
            for (int r = 0; r < count; ++r)
                for (int j = 0; j < runs[r].count; j += LANES)
                    *(T(VM) *)(dst + runs[r].lane + j) = *(const T(VM) *)(from + runs[r].from + j);
    }
    const int end = (lines + LANES - 1) / LANES * LANES;
    dst = panel;
    if (lines < end) /* as in pack */
        for (int64_t k = 0; k < depth; ++k, dst += 2 * LANES)
            for (int l = lines; l < end; ++l) dst[l] = 0;
}

#if !FC_GEMM_PAIRS /* whose sums are floats */
/* A stretch of at least `lanes`: whole vectors, the last of which may overlap the one before. */
#define LAY(V, VM, lanes)                                                                      \
    do {                                                                                       \
        const V b = more - (V){ 0 };                                                           \
        for (int64_t j = 0;; j = j + 2 * (lanes) <= n ? j + (lanes) : n - (lanes)) {           \
            const V v = *(const VM *)(x + j);                                                  \
            *(VM *)(z + j) = bias ? v + b : v;                                                 \
            if (j == n - (lanes)) break;                                                       \
        }                                                                                      \
    } while (0)
typedef R T(Q) __attribute__((vector_size(16)));
typedef R T(QM) __attribute__((vector_size(16), aligned(sizeof(R)), may_alias));
static void T(lay)(void *c, const void *sums, const void *bias, const fc_gemm_stretch *runs, const int64_t *step, int count)
{
    const R more = bias ? *(const R *)bias : 0;
    for (int r = 0; r < count; ++r) {
        R *restrict z = (R *)c + runs[r].from;
        const R *restrict x = (const R *)sums + runs[r].lane;
        const int64_t n = runs[r].count;
        if (step[r] != 1 || n < 16 / (int)sizeof(R)) {
            int64_t j = 0;
#if FC_ISA_NUM == 4
            if (sizeof(R) == 4 && step[r] == 2) /* a stride's phase: every second place, the others are not touched */
                for (; j + 8 <= n; j += 8) {
                    __m256 v = _mm256_loadu_ps((const float *)x + j);
                    if (bias) v = _mm256_add_ps(v, _mm256_set1_ps((float)more));
                    _mm512_mask_storeu_ps((float *)z + 2 * j, 0x5555, _mm512_maskz_expand_ps(0x5555, _mm512_castps256_ps512(v)));
                }
#endif
            for (; j < n; ++j) z[j * step[r]] = bias ? x[j] + more : x[j];
        }
        else if (n >= LANES)
            LAY(T(V), T(VM), LANES);
        else if (n >= S)
            LAY(T(H), T(HM), S);
        else
            LAY(T(Q), T(QM), 16 / (int)sizeof(R));
    }
}
#undef LAY
#endif
