/*
 * Blocks of complex products: real and imaginary parts in planes, so that a tile is two of real type, one of the rows' real parts and one of
 * their imaginary parts by a vector of either part of the columns. Included by gemm_simd.c: no guard.
 */
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
#if FC_HAS_FMA
#ifndef PUT_ROW
#define PUT_ROW
INLINE void put_row_f32(float *z, __m256 re, __m256 im)
{
    const __m256 low = _mm256_unpacklo_ps(re, im), high = _mm256_unpackhi_ps(re, im);
    _mm256_storeu_ps(z, _mm256_permute2f128_ps(low, high, 0x20));
    _mm256_storeu_ps(z + 8, _mm256_permute2f128_ps(low, high, 0x31));
}
INLINE void put_row_f64(double *z, __m256d re, __m256d im)
{
    const __m256d low = _mm256_unpacklo_pd(re, im), high = _mm256_unpackhi_pd(re, im);
    _mm256_storeu_pd(z, _mm256_permute2f128_pd(low, high, 0x20));
    _mm256_storeu_pd(z + 4, _mm256_permute2f128_pd(low, high, 0x31));
}
/* and LANES numbers to a vector of each part */
INLINE void take_row_f32(float *parts, const float *x)
{
    const __m256 v = _mm256_loadu_ps(x), w = _mm256_loadu_ps(x + 8);
    const __m256 low = _mm256_permute2f128_ps(v, w, 0x20), high = _mm256_permute2f128_ps(v, w, 0x31);
    _mm256_storeu_ps(parts, _mm256_shuffle_ps(low, high, 0x88));
    _mm256_storeu_ps(parts + 8, _mm256_shuffle_ps(low, high, 0xdd));
}
INLINE void take_row_f64(double *parts, const double *x)
{
    const __m256d v = _mm256_loadu_pd(x), w = _mm256_loadu_pd(x + 4);
    const __m256d low = _mm256_permute2f128_pd(v, w, 0x20), high = _mm256_permute2f128_pd(v, w, 0x31);
    _mm256_storeu_pd(parts, _mm256_unpacklo_pd(low, high));
    _mm256_storeu_pd(parts + 4, _mm256_unpackhi_pd(low, high));
}
#endif
#else
INLINE void T(take_row)(R *parts, const R *x)
{
    for (int l = 0; l < LANES; ++l) {
        parts[l] = x[2 * l];
        parts[LANES + l] = x[2 * l + 1];
    }
}
INLINE void T(put_row)(R *z, T(V) re, T(V) im)
{
    for (int l = 0; l < LANES; ++l) {
        z[2 * l] = re[l];
        z[2 * l + 1] = im[l];
    }
}
#endif

static void T(merge_complex)(const fc_gemm_tile_job *job)
{
    for (int64_t i = 0; i < job->rows; ++i) {
        const R *x = (const R *)job->a + 2 * i * job->b_row;
        for (int64_t j = 0; j < job->cols; ++j)
            T(put_one)(job, i, j, x[2 * j], x[2 * j + 1]);
    }
}

/* A row of a tile, from those of its two tiles: re = x.re y.re - x.im y.im, im = x.re y.im + x.im y.re */
#define JOIN(re, im, by_re, by_im) const T(V) re = (by_re)[0] - (by_im)[1], im = (by_re)[1] + (by_im)[0]

/* A tile of one chain that is all of its sums, both of its tiles at once: of few steps the way through memory would take longer than the products. */
#define SHORT_ROWS (TILE_ROWS / 2) /* so that their sums are registers */
static FC_NOINLINE void T(short_complex)(const fc_gemm_tile_job *job, const R *a, const R *b, R *z)
{
    T(V) by_re[SHORT_ROWS][2], by_im[SHORT_ROWS][2];
#pragma GCC unroll 8
    for (int r = 0; r < SHORT_ROWS; ++r)
        by_re[r][0] = by_re[r][1] = by_im[r][0] = by_im[r][1] = (T(V)){ 0 };
#pragma GCC unroll 1
    for (int64_t k = 0; k < job->depth; ++k, a += 2 * TILE_ROWS, b += 2 * LANES) {
        const T(V) re = *(const T(VM) *)b, im = *(const T(VM) *)(b + LANES);
#pragma GCC unroll 8
        for (int r = 0; r < SHORT_ROWS; ++r) {
            const T(V) x_re = SPLAT(T(V), a[r]), x_im = SPLAT(T(V), a[TILE_ROWS + r]);
            by_re[r][0] = FMA(x_re, re, by_re[r][0]);
            by_re[r][1] = FMA(x_re, im, by_re[r][1]);
            by_im[r][0] = FMA(x_im, re, by_im[r][0]);
            by_im[r][1] = FMA(x_im, im, by_im[r][1]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < SHORT_ROWS; ++r) {
        JOIN(re, im, by_re[r], by_im[r]);
        T(put_row)(z + 2 * r * job->c_row, re, im);
    }
}

static void T(block_complex)(const fc_gemm_tile_job *job)
{
    R by_re[TILE_ROWS * 2 * LANES] __attribute__((aligned(64))), by_im[TILE_ROWS * 2 * LANES] __attribute__((aligned(64)));
    const int chains = job->split ? FC_GEMM_CHAINS : 1;
    for (int64_t j = 0; j < job->cols; j += LANES) {
        const int cols = (int)(job->cols - j < LANES ? job->cols - j : LANES);
        const R *b = (const R *)job->b + 2 * j * job->depth;
        for (int64_t i = 0; i < job->rows; i += TILE_ROWS) {
            const int rows = (int)(job->rows - i < TILE_ROWS ? job->rows - i : TILE_ROWS);
            const R *a = (const R *)job->a + 2 * i * job->depth;
            R *z = (R *)job->c + 2 * (i * job->c_row + j);
            const int whole = cols == LANES && job->c_col == 1 && !job->c_at && !job->add && !job->bias;
            if (whole && rows == TILE_ROWS && !job->split) {
                for (int r = 0; r < TILE_ROWS; r += SHORT_ROWS)
                    T(short_complex)(job, a + r, b, z + 2 * r * job->c_row);
                continue;
            }
            const T(tile_fn) tile = T(tiles)[rows - 1][1];
            tile(chains, job->depth, a, 2 * TILE_ROWS, b, 2 * LANES, by_re, 2 * LANES);
            tile(chains, job->depth, a + TILE_ROWS, 2 * TILE_ROWS, b, 2 * LANES, by_im, 2 * LANES);
            for (int r = 0; r < rows; ++r) {
                JOIN(re, im, (const T(V) *)(by_re + 2 * r * LANES), (const T(V) *)(by_im + 2 * r * LANES));
                if (whole)
                    T(put_row)(z + 2 * r * job->c_row, re, im);
                else
                    for (int l = 0; l < cols; ++l)
                        T(put_one)(job, i + r, j + l, re[l], im[l]);
            }
        }
    }
}
#undef SHORT_ROWS
#undef JOIN

static void T(pack_complex)(void *panels, int width, const void *source, int64_t line, int64_t step, int64_t lines,
                            int64_t depth)
{
    R *restrict dst = panels;
    for (int64_t first = 0; first < lines; first += width, dst += 2 * width * depth) {
        const R *x = (const R *)source + 2 * first * line;
        const int count = (int)(lines - first < width ? lines - first : width);
        for (int64_t k = 0; k < depth; ++k) {
            R *out = dst + 2 * k * width;
            if (line == 1 && count == LANES && width == LANES) {
                T(take_row)(out, x + 2 * k * step);
                continue;
            }
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
