/* Complex tiles: real and imaginary parts in planes, one vector of columns. Included by gemm_simd.c: no guard.
 *
 * out[rows][plane][LANES]; the four fma of one step keep the order that gemm.h gives. */
INLINE void T(tile_complex)(const int rows, int64_t depth, const R *restrict a, const R *restrict b, R *restrict out)
{
    T(V) re[TILE_ROWS], im[TILE_ROWS];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
        re[i] = im[i] = (T(V)){ 0 };
#pragma GCC unroll 1
    for (int64_t k = 0; k < depth; ++k, a += 2 * TILE_ROWS, b += 2 * LANES) {
        const T(V) y_re = *(const T(VM) *)b, y_im = *(const T(VM) *)(b + LANES);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
            const T(V) x_re = a[i] - (T(V)){ 0 }, x_im = a[TILE_ROWS + i] - (T(V)){ 0 };
            re[i] = FMA(x_re, y_re, re[i]);
            im[i] = FMA(x_re, y_im, im[i]);
            re[i] = FNMA(x_im, y_im, re[i]);
            im[i] = FMA(x_im, y_re, im[i]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
        *(T(VM) *)(out + 2 * i * LANES) = re[i];
        *(T(VM) *)(out + (2 * i + 1) * LANES) = im[i];
    }
}

#define TILE(rows)                                                                                                    \
static void T(tile_complex_##rows)(int64_t depth, const R *a, const R *b, R *out)                                     \
{                                                                                                                     \
    T(tile_complex)(rows, depth, a, b, out);                                                                          \
}
#define NAME(rows) T(tile_complex_##rows)
TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6)
#if TILE_ROWS == 14
TILE(7) TILE(8) TILE(9) TILE(10) TILE(11) TILE(12) TILE(13) TILE(14)
#endif
static void (*const T(tiles_complex)[TILE_ROWS])(int64_t, const R *, const R *, R *) = {
    NAME(1), NAME(2), NAME(3), NAME(4), NAME(5), NAME(6),
#if TILE_ROWS == 14
    NAME(7), NAME(8), NAME(9), NAME(10), NAME(11), NAME(12), NAME(13), NAME(14)
#endif
};
#undef NAME
#undef TILE

INLINE void T(put_one)(const fc_gemm_tile_job *job, int64_t i, int64_t j, R re, R im)
{
    R *z = (R *)job->c + 2 * (i * job->c_row + (job->c_at ? job->c_at[j] : j * job->c_col));
    if (job->add) {
        re = z[0] + re;
        im = z[1] + im;
    }
    if (job->bias) {
        FACTORS;
        const R *t = (const R *)job->bias + 2 * (i * job->bias_row + j * job->bias_col);
        re = WITH_BIAS(re, t[0]);
        im = WITH_BIAS(im, t[1]);
    }
    z[0] = re;
    z[1] = im;
}

/* a vector of each part to numbers side by side */
INLINE void T(put_row)(R *restrict z, const R *restrict parts)
{
    for (int l = 0; l < LANES; ++l) {
        z[2 * l] = parts[l];
        z[2 * l + 1] = parts[LANES + l];
    }
}

static void T(merge_complex)(const fc_gemm_tile_job *job)
{
    for (int64_t i = 0; i < job->rows; ++i) {
        const R *x = (const R *)job->a + 2 * i * job->b_row;
        for (int64_t j = 0; j < job->cols; ++j)
            T(put_one)(job, i, j, x[2 * j], x[2 * j + 1]);
    }
}

static void T(block_complex)(const fc_gemm_tile_job *job)
{
    R sum[TILE_ROWS * 2 * LANES] __attribute__((aligned(64)));
    for (int64_t j = 0; j < job->cols; j += LANES) {
        const int cols = (int)(job->cols - j < LANES ? job->cols - j : LANES);
        const R *b = (const R *)job->b + 2 * j * job->depth;
        for (int64_t i = 0; i < job->rows; i += TILE_ROWS) {
            const int rows = (int)(job->rows - i < TILE_ROWS ? job->rows - i : TILE_ROWS);
            T(tiles_complex)[rows - 1](job->depth, (const R *)job->a + 2 * i * job->depth, b, sum);
            if (cols == LANES && job->c_col == 1 && !job->c_at && !job->add && !job->bias) {
                for (int r = 0; r < rows; ++r)
                    T(put_row)((R *)job->c + 2 * ((i + r) * job->c_row + j), sum + 2 * r * LANES);
                continue;
            }
            for (int r = 0; r < rows; ++r)
                for (int l = 0; l < cols; ++l)
                    T(put_one)(job, i + r, j + l, sum[2 * r * LANES + l], sum[(2 * r + 1) * LANES + l]);
        }
    }
}

static void T(pack_complex)(void *panels, int width, const void *source, int64_t line, int64_t step, int64_t lines,
                            int64_t depth)
{
    R *restrict dst = panels;
    for (int64_t first = 0; first < lines; first += width, dst += 2 * width * depth) {
        const R *x = (const R *)source + 2 * first * line;
        const int count = (int)(lines - first < width ? lines - first : width);
        for (int64_t k = 0; k < depth; ++k) {
            R *out = dst + 2 * k * width;
            for (int l = 0; l < count; ++l) {
                out[l] = x[2 * (l * line + k * step)];
                out[width + l] = x[2 * (l * line + k * step) + 1];
            }
            for (int l = count; l < width; ++l)
                out[l] = out[width + l] = 0;
        }
    }
}

#if FC_ISA_NUM == 3
#include "gemm_complex_thin_simd.h"
#endif
