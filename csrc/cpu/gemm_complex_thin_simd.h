/*
 * Complex products whose results are a row, and dot products: numbers as they lie, HELD of them in a vector. Included by gemm_complex_simd.h at
 * level v3: no guard.
 *
 * A product x * y is two vectors: y times the real part of x and y times its imaginary part. They are summed apart and joined at the end, as
 * gemm.h has it.
 */
#define HELD (LANES / 2)
#define PARTS (FC_GEMM_CHAINS / HELD) /* vectors of a step of every chain */
#define SUMS 8 /* fma on the way: each waits for 4 cycles, of which two begin in one */
#define REGISTER PASTE(REGISTER, SUFFIX)

#ifndef REGISTER_f32
#define REGISTER_f32 __m256
#define REGISTER_f64 __m256d
INLINE __m256 reals_f32(__m256 v)         { return _mm256_moveldup_ps(v); }
INLINE __m256 imaginaries_f32(__m256 v)   { return _mm256_movehdup_ps(v); }
INLINE __m256 joined_f32(__m256 by_re, __m256 by_im) { return _mm256_addsub_ps(by_re, _mm256_permute_ps(by_im, 0xb1)); }
INLINE void cross_f32(__m256 *out, const float *x, int64_t line)
{
#define TWO(l, k) _mm256_castps_pd(_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(x + (l) * line + (k))), _mm_loadu_ps(x + ((l) + 2) * line + (k)), 1))
    for (int k = 0; k < 2; ++k) {
        const __m256d even = TWO(0, 4 * k), odd = TWO(1, 4 * k);
        out[2 * k] = _mm256_castpd_ps(_mm256_unpacklo_pd(even, odd));
        out[2 * k + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(even, odd));
    }
#undef TWO
}
INLINE __m256d reals_f64(__m256d v)       { return _mm256_movedup_pd(v); }
INLINE __m256d imaginaries_f64(__m256d v) { return _mm256_permute_pd(v, 15); }
INLINE __m256d joined_f64(__m256d by_re, __m256d by_im) { return _mm256_addsub_pd(by_re, _mm256_permute_pd(by_im, 5)); }
INLINE void cross_f64(__m256d *out, const double *x, int64_t line)
{
    for (int k = 0; k < 2; ++k)
        out[k] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(x + 2 * k)), _mm_loadu_pd(x + line + 2 * k), 1);
}
#endif

INLINE REGISTER T(read)(const R *x) { return (REGISTER)*(const T(VM) *)x; }

/* `count` sums of a row, side by side: vector g takes steps of x from g * x_apart on and columns of y from g * y_apart on. Columns lie beside one another
 * or, `along`, are lines `line` apart, of which HELD steps are read at once and turned. Strides here count parts of numbers. */
INLINE void T(row_sums)(const int along, const int count, REGISTER *restrict by_re, REGISTER *restrict by_im, int64_t steps, const R *x, int64_t x_step,
                        const int64_t x_apart, const R *y, int64_t y_step, int64_t y_apart, int64_t line)
{
#pragma GCC unroll 4
    for (int g = 0; g < count; ++g)
        by_re[g] = by_im[g] = (REGISTER){ 0 };
    const int at_once = along ? HELD : 1;
    int64_t k = 0;
#pragma GCC unroll 1
    for (; k + at_once <= steps; k += at_once) {
        REGISTER v[SUMS / 2][HELD];
#pragma GCC unroll 4
        for (int g = 0; g < count; ++g)
            if (along)
                T(cross)(v[g], y + g * y_apart + k * y_step, line);
            else
                v[g][0] = T(read)(y + k * y_step + g * y_apart);
#pragma GCC unroll 4
        for (int s = 0; s < at_once; ++s)
#pragma GCC unroll 4
            for (int g = 0; g < count; ++g) {
                const R *u = x + g * x_apart + (k + s) * x_step;
                by_re[g] = (REGISTER)FMA(SPLAT(T(V), u[0]), v[g][s], by_re[g]);
                by_im[g] = (REGISTER)FMA(SPLAT(T(V), u[1]), v[g][s], by_im[g]);
            }
    }
    for (; k < steps; ++k) /* along: fewer than HELD */
#pragma GCC unroll 4
        for (int g = 0; g < count; ++g) {
            R v[LANES];
            for (int l = 0; l < HELD; ++l)
                memcpy(v + 2 * l, y + g * y_apart + l * line + k * y_step, 2 * sizeof(R));
            by_re[g] = (REGISTER)FMA(SPLAT(T(V), x[k * x_step]), T(read)(v), by_re[g]);
            by_im[g] = (REGISTER)FMA(SPLAT(T(V), x[k * x_step + 1]), T(read)(v), by_im[g]);
        }
}

/* sums[groups * HELD]: one block. The chains of one vector go side by side, those of several one after the other. */
INLINE void T(row_of)(const int along, const int groups, R *restrict sums, int chains, int64_t depth, const R *x, int64_t x_step, const R *y,
                      int64_t y_step, int64_t line)
{
    REGISTER total_re[SUMS / 2], total_im[SUMS / 2], by_re[SUMS / 2], by_im[SUMS / 2];
    if (!along && groups == 1 && chains == FC_GEMM_CHAINS) {
        T(row_sums)(0, FC_GEMM_CHAINS, by_re, by_im, depth / chains, x, chains * x_step, x_step, y, chains * y_step, y_step, 0);
        *(T(VM) *)sums = (T(V))T(joined)(by_re[0] + by_re[1] + by_re[2] + by_re[3], by_im[0] + by_im[1] + by_im[2] + by_im[3]);
        return;
    }
    const int64_t apart = along ? HELD * line : LANES;
    T(row_sums)(along, groups, total_re, total_im, depth / chains, x, chains * x_step, 0, y, chains * y_step, apart, line);
    for (int r = 1; r < chains; ++r) {
        T(row_sums)(along, groups, by_re, by_im, depth / chains, x + r * x_step, chains * x_step, 0, y + r * y_step, chains * y_step, apart, line);
#pragma GCC unroll 4
        for (int g = 0; g < groups; ++g) {
            total_re[g] += by_re[g];
            total_im[g] += by_im[g];
        }
    }
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g)
        *(T(VM) *)(sums + g * LANES) = (T(V))T(joined)(total_re[g], total_im[g]);
}

/* The same of many columns beside one another: rows of y from end to end, a few at a time, the sums waiting in L1. A vector of columns would visit
 * a page of its own for every step. */
enum { T(SWEEP) = 2048 / sizeof(R), T(ROWS) = 8 };
INLINE void T(sweep_rows)(const int rows, R *restrict by_re, R *restrict by_im, int64_t parts, const R *x, int64_t x_step, const R *restrict y, int64_t y_step)
{
    for (int64_t j = 0; j < parts; j += LANES) {
        REGISTER re = T(read)(by_re + j), im = T(read)(by_im + j);
#pragma GCC unroll 8
        for (int s = 0; s < rows; ++s) {
            const REGISTER v = T(read)(y + s * y_step + j);
            re = (REGISTER)FMA(SPLAT(T(V), x[s * x_step]), v, re);
            im = (REGISTER)FMA(SPLAT(T(V), x[s * x_step + 1]), v, im);
        }
        *(T(VM) *)(by_re + j) = (T(V))re;
        *(T(VM) *)(by_im + j) = (T(V))im;
    }
}

/* parts: a multiple of LANES, at most SWEEP */
static void T(sweep_columns)(R *restrict sums, int chains, int64_t depth, int64_t parts, const R *x, int64_t x_step, const R *y, int64_t y_step)
{
    R by_re[T(SWEEP)], by_im[T(SWEEP)], total_re[T(SWEEP)], total_im[T(SWEEP)];
    const int64_t steps = depth / chains;
    for (int r = 0; r < chains; ++r, x += x_step, y += y_step) {
        R *const re = r ? by_re : total_re, *const im = r ? by_im : total_im;
        memset(re, 0, (size_t)parts * sizeof(R));
        memset(im, 0, (size_t)parts * sizeof(R));
        int64_t k = 0;
        for (; k + T(ROWS) <= steps; k += T(ROWS))
            T(sweep_rows)(T(ROWS), re, im, parts, x + k * chains * x_step, chains * x_step, y + k * chains * y_step, chains * y_step);
        for (; k < steps; ++k)
            T(sweep_rows)(1, re, im, parts, x + k * chains * x_step, chains * x_step, y + k * chains * y_step, chains * y_step);
        for (int64_t j = 0; r && j < parts; j += LANES) {
            *(T(VM) *)(total_re + j) = *(T(VM) *)(total_re + j) + *(T(VM) *)(re + j);
            *(T(VM) *)(total_im + j) = *(T(VM) *)(total_im + j) + *(T(VM) *)(im + j);
        }
    }
    for (int64_t j = 0; j < parts; j += LANES)
        *(T(VM) *)(sums + j) = (T(V))T(joined)(T(read)(total_re + j), T(read)(total_im + j));
}

/* One sum, one number at a time. */
static void T(one_complex)(R *sum, int chains, int64_t depth, const R *x, int64_t x_step, const R *y, int64_t y_step)
{
    R total[4] = { 0 };
    for (int r = 0; r < chains; ++r) {
        R part[4] = { 0 };
        for (int64_t k = r; k < depth; k += chains)
            for (int p = 0; p < 4; ++p)
                part[p] = FMA1(x[k * x_step + p / 2], y[k * y_step + p % 2], part[p]);
        for (int p = 0; p < 4; ++p)
            total[p] = r ? total[p] + part[p] : part[p];
    }
    sum[0] = total[0] - total[3];
    sum[1] = total[1] + total[2];
}

/* Whole blocks of `lines` lines along k, as they lie: a vector is neighbouring steps, which are neighbouring chains. The other side is one line
 * (`shared`) or a block for each. */
INLINE void T(blocks_of)(const int lines, const int shared, R *restrict sums, const R *x, const R *y, int64_t apart)
{
    REGISTER by_re[SUMS][PARTS], by_im[SUMS][PARTS];
#pragma GCC unroll 4
    for (int l = 0; l < lines; ++l)
#pragma GCC unroll 2
        for (int p = 0; p < PARTS; ++p)
            by_re[l][p] = by_im[l][p] = (REGISTER){ 0 };
#pragma GCC unroll 1
    for (int64_t k = 0; k < 2 * FC_GEMM_BLOCK; k += 2 * FC_GEMM_CHAINS) {
        if (!shared) {
            FC_GEMM_AHEAD(x + lines * (2 * FC_GEMM_BLOCK + k), lines * 2 * FC_GEMM_CHAINS);
            FC_GEMM_AHEAD(y + lines * (2 * FC_GEMM_BLOCK + k), lines * 2 * FC_GEMM_CHAINS);
        }
#pragma GCC unroll 2
        for (int p = 0; p < PARTS; ++p)
#pragma GCC unroll 4
            for (int l = 0; l < lines; ++l) {
                const REGISTER u = T(read)(x + (shared ? 0 : l * apart) + k + p * LANES), v = T(read)(y + l * apart + k + p * LANES);
                by_re[l][p] = (REGISTER)FMA(T(reals)(u), v, by_re[l][p]);
                by_im[l][p] = (REGISTER)FMA(T(imaginaries)(u), v, by_im[l][p]);
            }
    }
#pragma GCC unroll 4
    for (int l = 0; l < lines; ++l) {
        R re[2 * FC_GEMM_CHAINS], im[2 * FC_GEMM_CHAINS];
        memcpy(re, by_re[l], sizeof re);
        memcpy(im, by_im[l], sizeof im);
        for (int r = 2; r < 2 * FC_GEMM_CHAINS; ++r) {
            re[r % 2] += re[r];
            im[r % 2] += im[r];
        }
        sums[2 * l] = re[0] - im[1];
        sums[2 * l + 1] = re[1] + im[0];
    }
}
#define LINES (SUMS / (2 * PARTS))

static void T(dots_complex)(void *out, int64_t blocks, const void *a, const void *b)
{
    const int64_t apart = 2 * FC_GEMM_BLOCK;
    R *sums = out;
    const R *x = a, *y = b;
    int64_t j = 0;
    for (; j + LINES <= blocks; j += LINES)
        T(blocks_of)(LINES, 0, sums + 2 * j, x + j * apart, y + j * apart, apart);
    for (; j < blocks; ++j)
        T(blocks_of)(1, 0, sums + 2 * j, x + j * apart, y + j * apart, apart);
}

static void T(row_complex)(void *out, int split, int64_t count, int64_t depth, const void *x_, int64_t x_step, const void *y_, int64_t y_row, int64_t y_col)
{
    R *sums = out, held[2 * FC_GEMM_BLOCK];
    const R *x = x_, *y = y_;
    const int chains = split ? FC_GEMM_CHAINS : 1, beside = y_row != 1;
    x_step *= 2, y_row *= 2, y_col *= 2;
    if (split && !beside && x_step != 2) {
        for (int64_t k = 0; k < depth; ++k)
            memcpy(held + 2 * k, x + k * x_step, 2 * sizeof(R));
        x = held;
    }
    for (int64_t done; count > 0; count -= done, sums += 2 * done, y += done * y_col) {
        const int many = count >= SUMS / 2 * HELD;
        done = many ? SUMS / 2 * HELD : HELD;
        if (split && !beside) {
            done = count >= LINES ? LINES : 1;
            if (done > 1) T(blocks_of)(LINES, 1, sums, x, y, y_col);
            else T(blocks_of)(1, 1, sums, x, y, y_col);
        } else if (count < HELD) {
            done = 1;
            T(one_complex)(sums, chains, depth, x, x_step, y, y_row);
        } else if (beside && count >= T(SWEEP) / 2) {
            const int64_t parts = 2 * count / LANES * LANES;
            done = (parts < T(SWEEP) ? parts : T(SWEEP)) / 2;
            T(sweep_columns)(sums, chains, depth, 2 * done, x, x_step, y, y_row);
        } else {
#define CASE(along, groups) if (beside != along && many == (groups > 1)) T(row_of)(along, groups, sums, chains, depth, x, x_step, y, y_row, y_col)
            CASE(0, SUMS / 2); else CASE(0, 1); else CASE(1, SUMS / 2); else CASE(1, 1);
#undef CASE
        }
    }
}

#undef LINES
#undef REGISTER
#undef SUMS
#undef PARTS
#undef HELD
