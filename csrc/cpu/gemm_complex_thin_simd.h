/*
 * One block of complex products whose results are a row or a column, or the blocks of a dot product: numbers as they lie, HELD of them in a vector.
 * Included by gemm_complex_simd.h at level v3: no guard. The order of a step's four fma is gemm.h's.
 *
 * Either side gives each result its number of a step in one of three ways: all the SAME one, numbers BESIDE one another, or each from a line ALONG
 * k, of which as many steps as lines are read at once and turned.
 */
#define HELD (LANES / 2)
#define AT_ONCE 4 /* vectors of results: the second half of a step waits for the first */
#define REGISTER PASTE(REGISTER, SUFFIX)

#ifndef REGISTER_f32
#define REGISTER_f32 __m256
#define REGISTER_f64 __m256d
enum { SAME, BESIDE, ALONG };
INLINE __m256 same_f32(const float *x)    { return _mm256_castpd_ps(_mm256_broadcast_sd((const double *)x)); }
INLINE __m256 real_f32(__m256 v)          { return _mm256_moveldup_ps(v); }
INLINE __m256 turned_f32(__m256 v)        { return _mm256_xor_ps(_mm256_movehdup_ps(v), _mm256_setr_ps(-0.f, 0, -0.f, 0, -0.f, 0, -0.f, 0)); } /* i v */
INLINE __m256 exchanged_f32(__m256 v)     { return _mm256_permute_ps(v, 0xb1); }
INLINE void cross_f32(__m256 *out, const float *x, int64_t line)
{
    const __m256d u0 = _mm256_loadu_pd((const double *)x), u1 = _mm256_loadu_pd((const double *)(x + line));
    const __m256d u2 = _mm256_loadu_pd((const double *)(x + 2 * line)), u3 = _mm256_loadu_pd((const double *)(x + 3 * line));
    const __m256d even = _mm256_unpacklo_pd(u0, u1), odd = _mm256_unpackhi_pd(u0, u1), even2 = _mm256_unpacklo_pd(u2, u3), odd2 = _mm256_unpackhi_pd(u2, u3);
    out[0] = _mm256_castpd_ps(_mm256_permute2f128_pd(even, even2, 0x20));
    out[1] = _mm256_castpd_ps(_mm256_permute2f128_pd(odd, odd2, 0x20));
    out[2] = _mm256_castpd_ps(_mm256_permute2f128_pd(even, even2, 0x31));
    out[3] = _mm256_castpd_ps(_mm256_permute2f128_pd(odd, odd2, 0x31));
}
INLINE __m256d same_f64(const double *x)  { return _mm256_broadcast_pd((const __m128d *)x); }
INLINE __m256d real_f64(__m256d v)        { return _mm256_movedup_pd(v); }
INLINE __m256d turned_f64(__m256d v)      { return _mm256_xor_pd(_mm256_permute_pd(v, 15), _mm256_setr_pd(-0., 0, -0., 0)); }
INLINE __m256d exchanged_f64(__m256d v)   { return _mm256_permute_pd(v, 5); }
INLINE void cross_f64(__m256d *out, const double *x, int64_t line)
{
    const __m256d u0 = _mm256_loadu_pd(x), u1 = _mm256_loadu_pd(x + line);
    out[0] = _mm256_permute2f128_pd(u0, u1, 0x20);
    out[1] = _mm256_permute2f128_pd(u0, u1, 0x31);
}
#endif

INLINE REGISTER T(read)(const R *x) { return (REGISTER)*(const T(VM) *)x; }

/* HELD steps, `step` parts of numbers apart, of HELD results, `lane` apart */
INLINE void T(steps_of)(const int way, REGISTER *out, const R *x, int64_t lane, int64_t step)
{
    if (way == ALONG)
        T(cross)(out, x, lane);
    else
#pragma GCC unroll 4
        for (int k = 0; k < HELD; ++k)
            out[k] = way == SAME ? T(same)(x + k * step) : T(read)(x + k * step);
}

/* groups is a constant at every call */
INLINE void T(chains_of_complex)(const int x_way, const int y_way, const int groups, R *sums, int64_t depth, const R *x, int64_t x_lane, int64_t x_step,
                         const R *y, int64_t y_lane, int64_t y_step)
{
    REGISTER sum[AT_ONCE];
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g)
        sum[g] = (REGISTER){ 0 };
    int64_t k = 0;
#pragma GCC unroll 1
    for (; k + HELD <= depth; k += HELD)
#pragma GCC unroll 4
        for (int g = 0; g < groups; ++g) {
            REGISTER u[HELD], v[HELD];
            T(steps_of)(x_way, u, x + g * HELD * x_lane + k * x_step, x_lane, x_step);
            T(steps_of)(y_way, v, y + g * HELD * y_lane + k * y_step, y_lane, y_step);
#pragma GCC unroll 4
            for (int s = 0; s < HELD; ++s) {
                sum[g] = (REGISTER)FMA(T(real)(u[s]), v[s], sum[g]);
                sum[g] = (REGISTER)FMA(T(turned)(u[s]), T(exchanged)(v[s]), sum[g]);
            }
        }
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g)
        *(T(VM) *)(sums + g * LANES) = (T(V))sum[g];
    for (; k < depth; ++k)
        for (int l = 0; l < groups * HELD; ++l) {
            const R *const u = x + l * x_lane + k * x_step, *const v = y + l * y_lane + k * y_step;
            sums[2 * l] = FMA1(-u[1], v[1], FMA1(u[0], v[0], sums[2 * l]));
            sums[2 * l + 1] = FMA1(u[1], v[0], FMA1(u[0], v[1], sums[2 * l + 1]));
        }
}

static void T(chains_complex)(void *out, int64_t count, int64_t depth, const void *x_, int64_t x_lane, int64_t x_step, const void *y_, int64_t y_lane,
                              int64_t y_step)
{
    const int x_way = !x_lane ? SAME : x_lane == 1 ? BESIDE : ALONG, y_way = !y_lane ? SAME : y_lane == 1 ? BESIDE : ALONG;
    R *sums = out;
    const R *x = x_, *y = y_;
    x_lane *= 2, x_step *= 2, y_lane *= 2, y_step *= 2;
    for (int64_t done; count >= HELD; count -= done, sums += 2 * done, x += done * x_lane, y += done * y_lane) {
        done = count >= AT_ONCE * HELD ? AT_ONCE * HELD : HELD;
#define CASE(first, second)                                                                                                           \
        if (x_way == first && y_way == second) {                                                                                      \
            if (done > HELD) T(chains_of_complex)(first, second, AT_ONCE, sums, depth, x, x_lane, x_step, y, y_lane, y_step);                 \
            else T(chains_of_complex)(first, second, 1, sums, depth, x, x_lane, x_step, y, y_lane, y_step);                                   \
        }
        CASE(SAME, BESIDE) else CASE(SAME, ALONG) else CASE(BESIDE, SAME) else CASE(ALONG, SAME) else CASE(ALONG, ALONG)
#undef CASE
    }
    for (; count > 0; --count, sums += 2, x += x_lane, y += y_lane) {
        R re = 0, im = 0;
        for (int64_t k = 0; k < depth; ++k) {
            const R *const u = x + k * x_step, *const v = y + k * y_step;
            re = FMA1(-u[1], v[1], FMA1(u[0], v[0], re));
            im = FMA1(u[1], v[0], FMA1(u[0], v[1], im));
        }
        sums[0] = re;
        sums[1] = im;
    }
}

#undef REGISTER
#undef AT_ONCE
#undef HELD
