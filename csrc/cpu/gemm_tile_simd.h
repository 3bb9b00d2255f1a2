/* Register tiles of real types and the loops over them. Included by gemm_simd.c, which defines R, LANES, FMA, T(): no guard. */

#ifndef FMA
#define FMA(x, y, z) ((x) * (y) + (z))
#define FMA1(x, y, z) ((x) * (y) + (z))
#endif

/* Sums of a tile to `out`, or onto what is there: the chains before. */
INLINE void T(leave)(const int rows, const int vecs, T(V) sum[TILE_ROWS][8], R *restrict out, int64_t pitch, int more)
{
    if (more)
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
            for (int j = 0; j < vecs; ++j)
                sum[i][j] = *(T(VM) *)(out + i * pitch + j * LANES) + sum[i][j];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < vecs; ++j)
            *(T(VM) *)(out + i * pitch + j * LANES) = sum[i][j];
}

/* One chain from +0; rows and vecs are constants at every call, so the sums live in registers. */
INLINE void T(sums)(const int rows, const int vecs, int64_t steps, const R *restrict a, int64_t a_step, const R *restrict b, int64_t b_step,
                    T(V) sum[TILE_ROWS][8])
{
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < vecs; ++j)
            sum[i][j] = (T(V)){ 0 };
#pragma GCC unroll 1
    for (int64_t k = 0; k < steps; ++k, a += a_step, b += b_step) {
        T(V) y[8];
#pragma GCC unroll 8
        for (int j = 0; j < vecs; ++j)
            y[j] = *(const T(VM) *)(b + j * LANES);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
            const T(V) x = SPLAT(T(V), a[i]);
#pragma GCC unroll 8
            for (int j = 0; j < vecs; ++j)
                sum[i][j] = FMA(x, y[j], sum[i][j]);
        }
    }
}

INLINE void T(chain)(const int rows, const int vecs, int64_t steps, const R *restrict a, int64_t a_step, const R *restrict b, int64_t b_step,
                     R *restrict out, int64_t pitch, int more)
{
    T(V) sum[TILE_ROWS][8];
    T(sums)(rows, vecs, steps, a, a_step, b, b_step, sum);
    T(leave)(rows, vecs, sum, out, pitch, more);
}

/* out[rows][vecs], rows `pitch` apart, = a block's `chains` chains, added in order */
INLINE void T(tile)(const int rows, const int vecs, int chains, int64_t depth, const R *restrict a, int64_t a_step, const R *restrict b, int64_t b_row,
                    R *restrict out, int64_t pitch)
{
    for (int r = 0; r < chains; ++r)
        T(chain)(rows, vecs, depth / chains, a + r * a_step, chains * a_step, b + r * b_row, chains * b_row, out, pitch, r > 0);
}

typedef void (*T(tile_fn))(int chains, int64_t depth, const R *a, int64_t a_step, const R *b, int64_t b_row, R *out, int64_t pitch);

#define TILE(rows, vecs)                                                                                              \
static void T(tile_##rows##_##vecs)(int chains, int64_t depth, const R *a, int64_t a_step, const R *b, int64_t b_row, R *out, int64_t pitch) \
{                                                                                                                     \
    T(tile)(rows, vecs, chains, depth, a, a_step, b, b_row, out, pitch);                                              \
}
#define TILES(rows) TILE(rows, 1) TILE(rows, 2)
#define NAMES(rows) { T(tile_##rows##_1), T(tile_##rows##_2) }
TILES(1) TILES(2) TILES(3) TILES(4) TILES(5) TILES(6)
#if TILE_ROWS == 14
TILES(7) TILES(8) TILES(9) TILES(10) TILES(11) TILES(12) TILES(13) TILES(14)
#endif
static const T(tile_fn) T(tiles)[TILE_ROWS][2] = { NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6),
#if TILE_ROWS == 14
    NAMES(7), NAMES(8), NAMES(9), NAMES(10), NAMES(11), NAMES(12), NAMES(13), NAMES(14)
#endif
};
#undef NAMES
#undef TILES

/* Where a tile of `wide` columns, `cols` of which are wanted, leaves its sums: in c itself if that is all there is to do, else in
 * `sum`, from where T(put) takes them. */
typedef struct { R *at; int64_t pitch; } T(target);

INLINE T(target) T(aim)(const fc_gemm_tile_job *job, int64_t i, int64_t j, int cols, int wide, R *sum)
{
    const int plain = cols == wide && job->c_col == 1 && !job->add && !job->bias && !job->narrow;
    return plain ? (T(target)){ (R *)job->c + i * job->c_row + j, job->c_row } : (T(target)){ sum, wide };
}

/* A sum, or a vector of them, with its bias: what multiplies them is 1 where nothing does, which changes no bit. */
#define FACTORS const R alpha = job->factors ? (R)job->factors[0] : 1, beta = job->factors ? (R)job->factors[1] : 1
#define WITH_BIAS(v, bias) ((v) * alpha + (bias) * beta)

/* T(put) where c's rows run down and its columns are c_col apart: sums are turned on the way. bias: NULL or unit rows */
#if FC_ISA_NUM == 4
static __attribute__((noinline)) void T(put_turned)(const fc_gemm_tile_job *job, int64_t i0, int64_t j0, int rows, int cols, const R *sum, int64_t pitch)
{
    const R *bias = job->bias ? (const R *)job->bias + i0 : NULL;
    FACTORS;
    for (int i = 0; i < rows; i += LANES) {
        const __mmask16 some = T(first)(rows - i < LANES ? rows - i : LANES);
        const T(V) more = bias ? T(take)(bias + i, some) : (T(V)){ 0 };
        const R *start[LANES];
        for (int l = 0; l < LANES; ++l)
            start[l] = sum + (i + l < rows ? i + l : rows - 1) * pitch;
        R *z = (R *)job->c + i0 + i + j0 * job->c_col;
#define LINE(l) (start[l] + j)
        for (int j = 0; j < cols; j += E) {
            T(V) out[E];
            FC_TURN_GROUP(out)
#pragma GCC unroll 4
            for (int e = 0; e < E; ++e, z += job->c_col)
                if (j + e < cols) {
                    T(V) v = out[e];
                    if (job->add) v = T(take)(z, some) + v;
                    if (bias) v = WITH_BIAS(v, more);
                    T(give)(z, v, some);
                }
        }
#undef LINE
    }
}
#elif FC_HAS_FMA
static __attribute__((noinline)) void T(put_turned)(const fc_gemm_tile_job *job, int64_t i0, int64_t j0, int rows, int cols, const R *sum, int64_t pitch)
{
    const R *bias = job->bias ? (const R *)job->bias + i0 : NULL;
    FACTORS;
    for (int j = 0; j < cols; j += S)
        for (int i = 0; i < rows; i += S) {
            const int down = rows - i < S ? rows - i : S, across = cols - j < S ? cols - j : S;
            R *z = (R *)job->c + i0 + i + (j0 + j) * job->c_col;
            T(H) square[S];
            T(turn)(square, sum + i * pitch + j, pitch, down - 1);
            for (int s = 0; s < across; ++s, z += job->c_col)
                if (down == S) {
                    T(H) v = square[s];
                    if (job->add) v = *(const T(HM) *)z + v;
                    if (bias) v = WITH_BIAS(v, *(const T(HM) *)(bias + i));
                    *(T(HM) *)z = v;
                } else
                    for (int l = 0; l < down; ++l) {
                        R v = square[s][l];
                        if (job->add) v = z[l] + v;
                        if (bias) v = WITH_BIAS(v, bias[i + l]);
                        z[l] = v;
                    }
        }
}
#endif

/* Sums of a tile to where they belong, if they are not there. */
static __attribute__((noinline)) void T(put)(const fc_gemm_tile_job *job, int64_t i0, int64_t j0, int rows, int cols, const R *restrict sum, int64_t pitch)
{
    const R *bias = job->bias;
    FACTORS;
    const int add = job->add;
#if FC_GEMM_PAIRS
    if (job->narrow) {
        put_narrow(job, i0, j0, rows, cols, sum, pitch);
        return;
    }
#endif
    if (sum == (const R *)job->c + i0 * job->c_row + j0)
        return;
#if FC_HAS_FMA
    if (job->c_row == 1 && job->c_col != 1 && rows > 1 && (!bias || (job->bias_row == 1 && !job->bias_col))) {
        T(put_turned)(job, i0, j0, rows, cols, sum, pitch);
        return;
    }
#endif
    for (int i = 0; i < rows; ++i, sum += pitch) {
        R *c = (R *)job->c + (i0 + i) * job->c_row;
        const R *bias_i = bias ? bias + (i0 + i) * job->bias_row + j0 * job->bias_col : NULL;
        if (job->c_col == 1) {
            R *z = c + j0; /* bias may be c itself */
            int j = 0;
            if (!bias || job->bias_col == 1)
                for (; j + LANES <= cols; j += LANES) {
                    T(V) v = *(const T(VM) *)(sum + j);
                    if (add) v = *(const T(VM) *)(z + j) + v;
                    if (bias) v = WITH_BIAS(v, *(const T(VM) *)(bias_i + j));
                    *(T(VM) *)(z + j) = v;
                }
            else if (!job->bias_col) /* one for the row: a convolution's */
                for (const T(V) b = *bias_i - (T(V)){ 0 }; j + LANES <= cols; j += LANES) {
                    T(V) v = *(const T(VM) *)(sum + j);
                    if (add) v = *(const T(VM) *)(z + j) + v;
                    *(T(VM) *)(z + j) = WITH_BIAS(v, b);
                }
            for (; j < cols; ++j) {
                R v = sum[j];
                if (add) v = z[j] + v;
                if (bias) v = WITH_BIAS(v, bias_i[j * job->bias_col]);
                z[j] = v;
            }
        } else
            for (int j = 0; j < cols; ++j) {
                R *z = c + (j0 + j) * job->c_col;
                R v = sum[j];
                if (add) v = *z + v;
                if (bias) v = WITH_BIAS(v, bias_i[j * job->bias_col]);
                *z = v;
            }
    }
}

#include "gemm_direct_simd.h"
#include "gemm_offset_simd.h"
#undef TILE

/* A whole tile of one chain and its bias, which may be c itself: of a short sum the way through memory would take longer than the products. */
static __attribute__((noinline)) void T(tile_with_bias)(const fc_gemm_tile_job *job, int64_t i0, int64_t j0)
{
    T(V) sum[TILE_ROWS][8];
    R *z = (R *)job->c + i0 * job->c_row + j0;
    const R *bias = (const R *)job->bias + i0 * job->bias_row + j0;
    FACTORS;
    T(sums)(TILE_ROWS, 2, job->depth, (const R *)job->a + i0 * job->depth, TILE_ROWS, (const R *)job->b + j0 * job->depth, 2 * LANES, sum);
#pragma GCC unroll 16
    for (int i = 0; i < TILE_ROWS; ++i, z += job->c_row, bias += job->bias_row) {
        const T(V) first = WITH_BIAS(sum[i][0], *(const T(VM) *)bias), second = WITH_BIAS(sum[i][1], *(const T(VM) *)(bias + LANES));
        *(T(VM) *)z = first;
        *(T(VM) *)(z + LANES) = second;
    }
}

INLINE void T(one_tile)(const fc_gemm_tile_job *job, int64_t i, int64_t j)
{
    if (job->bias && !job->add && !job->split && job->rows - i >= TILE_ROWS && job->cols - j >= 2 * LANES && job->c_col == 1 && job->bias_col == 1 && !job->narrow) {
        T(tile_with_bias)(job, i, j);
        return;
    }
    R sum[TILE_ROWS * 2 * LANES] __attribute__((aligned(64)));
    const int rows = (int)(job->rows - i < TILE_ROWS ? job->rows - i : TILE_ROWS);
    const int cols = (int)(job->cols - j < 2 * LANES ? job->cols - j : 2 * LANES), vecs = cols > LANES ? 2 : 1;
    const T(target) to = T(aim)(job, i, j, cols, vecs * LANES, sum);
    T(tiles)[rows - 1][vecs - 1](job->split ? FC_GEMM_CHAINS : 1, job->depth, (const R *)job->a + i * job->depth, TILE_ROWS,
                                 (const R *)job->b + j * job->depth, 2 * LANES, to.at, to.pitch);
    T(put)(job, i, j, rows, cols, to.at, to.pitch);
}

#if FC_GEMM_PAIRS
/* Tiles of a stretch of columns, then all of their sums to halves: one tile's would be half a line of each row. */
static __attribute__((noinline)) void T(narrow_tiles)(const fc_gemm_tile_job *job, int64_t i, int64_t j0)
{
    R sum[TILE_ROWS * NARROW_COLS] __attribute__((aligned(64)));
    const int rows = (int)(job->rows - i < TILE_ROWS ? job->rows - i : TILE_ROWS);
    const int cols = (int)(job->cols - j0 < NARROW_COLS ? job->cols - j0 : NARROW_COLS);
    for (int j = 0; j < cols; j += 2 * LANES)
        T(tiles)[rows - 1][cols - j > LANES](job->split ? FC_GEMM_CHAINS : 1, job->depth, (const R *)job->a + i * job->depth, TILE_ROWS,
                                 (const R *)job->b + (j0 + j) * job->depth, 2 * LANES, sum + j, NARROW_COLS);
    put_narrow(job, i, j0, rows, cols, sum, NARROW_COLS);
}
#endif

static void T(block)(const fc_gemm_tile_job *job)
{
    if (job->b_at || job->a_row) {
        T(block_offset)(job);
        return;
    }
    if (job->a_at) {
        T(block_broadcast)(job);
        return;
    }
    if (job->b_row) {
        T(block_direct)(job);
        return;
    }
    /* a panel of b stays in L1 for all rows, but where there is little to compute c is what counts: it is met along its rows */
#if FC_GEMM_PAIRS
    if (job->depth <= FC_GEMM_SHALLOW && job->narrow) { /* c_col is 1 */
        for (int64_t i = 0; i < job->rows; i += TILE_ROWS)
            for (int64_t j = 0; j < job->cols; j += NARROW_COLS)
                T(narrow_tiles)(job, i, j);
        return;
    }
#endif
    if (job->depth <= FC_GEMM_SHALLOW && job->c_col == 1)
        for (int64_t i = 0; i < job->rows; i += TILE_ROWS)
            for (int64_t j = 0; j < job->cols; j += 2 * LANES)
                T(one_tile)(job, i, j);
    else
        for (int64_t j = 0; j < job->cols; j += 2 * LANES)
            for (int64_t i = 0; i < job->rows; i += TILE_ROWS)
                T(one_tile)(job, i, j);
}

static void T(merge)(const fc_gemm_tile_job *job)
{
    for (int64_t i = 0; i < job->rows; ++i)
        T(put)(job, i, 0, 1, (int)job->cols, (const R *)job->a + i * job->b_row, 0);
}

/* No packing, no calls: for products where a few tens of nanoseconds count. Up to TINY columns at a time in `sum`. */
#define TINY 16
static void T(tiny)(int64_t rows, int64_t cols, int64_t depth, const void *a, int64_t a_row, int64_t a_col, const void *b,
                    int64_t b_row, int64_t b_col, void *c, int64_t c_row, int64_t c_col, const void *bias, int64_t bias_col,
                    int add)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j0 = 0; j0 < cols; j0 += TINY) {
            const int count = (int)(cols - j0 < TINY ? cols - j0 : TINY);
            const R *x = (const R *)a + i * a_row, *y = (const R *)b + j0 * b_col, *t = bias ? (const R *)bias + j0 * bias_col : NULL;
            R *z = (R *)c + i * c_row + j0 * c_col;
            R sum[TINY];
            for (int j = 0; j < count; ++j) sum[j] = 0;
            if (b_col == 1 && count > 1) /* one sum stays in a register */
                for (int64_t k = 0; k < depth; ++k) {
                    const R x_k = x[k * a_col];
                    for (int j = 0; j < count; ++j) sum[j] = FMA1(x_k, y[k * b_row + j], sum[j]);
                }
            else
                for (int j = 0; j < count; ++j) {
                    R s = 0;
                    for (int64_t k = 0; k < depth; ++k) s = FMA1(x[k * a_col], y[k * b_row + j * b_col], s);
                    sum[j] = s;
                }
            for (int j = 0; j < count; ++j) {
                R v = sum[j];
                if (add) v = z[j * c_col] + v;
                if (bias) v += t[j * bias_col];
                z[j * c_col] = v;
            }
        }
}
#undef TINY
