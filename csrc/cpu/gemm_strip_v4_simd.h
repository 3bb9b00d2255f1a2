/* Strips of LANES columns at v4: squares of LANES lines by LANES steps, turned in registers. Included by gemm_along_simd.h:
 * no guard.
 *
 * Each line is read by one load of a whole cache line, once. With lines a power of two apart all 16 meet in one set of L1,
 * which holds half of them: what is visited twice is fetched twice. */

#ifndef QUARTERS
/* Four registers `by` apart, each with quarters q = 0..3, to four whose quarters are the four registers' quarter q. */
#define QUARTERS(out, u, first, by)                                                                                   \
    {                                                                                                                 \
        const __m512 p = _mm512_shuffle_f32x4((__m512)u[first], (__m512)u[first + by], 0x88);                         \
        const __m512 q = _mm512_shuffle_f32x4((__m512)u[first], (__m512)u[first + by], 0xdd);                         \
        const __m512 r = _mm512_shuffle_f32x4((__m512)u[first + 2 * by], (__m512)u[first + 3 * by], 0x88);            \
        const __m512 s = _mm512_shuffle_f32x4((__m512)u[first + 2 * by], (__m512)u[first + 3 * by], 0xdd);            \
        out[first] = (__typeof__(*out))_mm512_shuffle_f32x4(p, r, 0x88);                                              \
        out[first + by] = (__typeof__(*out))_mm512_shuffle_f32x4(q, s, 0x88);                                         \
        out[first + 2 * by] = (__typeof__(*out))_mm512_shuffle_f32x4(p, r, 0xdd);                                     \
        out[first + 3 * by] = (__typeof__(*out))_mm512_shuffle_f32x4(q, s, 0xdd);                                     \
    }

/* lines of 16 steps -> steps of 16 lines: pairs, fours, then quarters of registers */
INLINE void turn_square_f32(__m512 *x)
{
    __m512 t[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        x[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
        x[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
        x[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        x[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    QUARTERS(x, x, 0, 4) QUARTERS(x, x, 1, 4) QUARTERS(x, x, 2, 4) QUARTERS(x, x, 3, 4)
}

INLINE void turn_square_f64(__m512d *x)
{
    __m512d t[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_pd(x[i], x[i + 1]);
        t[i + 1] = _mm512_unpackhi_pd(x[i], x[i + 1]);
    }
    QUARTERS(x, t, 0, 2) QUARTERS(x, t, 1, 2)
}
#undef QUARTERS
#define QUARTERS
#endif

/* out rows, `pitch` apart, of LANES columns; x: rows of FC_GEMM_BLOCK. `by` holds 1, 3, 5 and 7 pitches in bytes, which the
 * compiler is kept from working out again: 16 lines are then two registers and an addressing mode away. */
#define LINE(i) ((i) < 8 ? lower : upper) + ((i) % 8 == 0 ? 0 : (i) % 8 == 1 ? by[0] : (i) % 8 == 2 ? 2 * by[0] : (i) % 8 == 3 ? by[1] \
                : (i) % 8 == 4 ? 4 * by[0] : (i) % 8 == 5 ? by[2] : (i) % 8 == 6 ? 2 * by[1] : by[3])
INLINE void T(along_strip)(const int rows, const int groups, R *restrict out, int64_t pitch, int64_t depth, const R *x,
                           const R *b, int64_t b_col)
{
    (void)groups; /* one */
    T(V) sum[4], square[LANES];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
        sum[i] = (T(V)){ 0 };
    const int64_t pitch_bytes = b_col * (int64_t)sizeof(R);
    int64_t by[4] = { pitch_bytes, 3 * pitch_bytes, 5 * pitch_bytes, 7 * pitch_bytes };
    __asm__("" : "+r"(by[0]), "+r"(by[1]), "+r"(by[2]), "+r"(by[3]));
    const char *lower = (const char *)b, *upper = (const char *)(b + (LANES > 8 ? 8 : 0) * b_col);
    int64_t k = 0;
#pragma GCC unroll 1
    for (; k + LANES <= depth; k += LANES, lower += 64, upper += 64) {
#pragma GCC unroll 16
        for (int l = 0; l < LANES; ++l)
            square[l] = *(const T(VM) *)(LINE(l));
        T(turn_square)(square);
#pragma GCC unroll 16
        for (int s = 0; s < LANES; ++s)
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i)
                sum[i] = FMA(SPLAT(T(V), x[i * FC_GEMM_BLOCK + k + s]), square[s], sum[i]);
    }
    if (k < depth) { /* less than a square: from zero-filled lines, of which only the steps that there are count */
        const int left = (int)(depth - k);
        memset(square, 0, sizeof square);
        for (int l = 0; l < LANES; ++l)
            memcpy(square + l, b + l * b_col + k, (size_t)left * sizeof(R));
        T(turn_square)(square);
        for (int s = 0; s < left; ++s)
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i)
                sum[i] = FMA(SPLAT(T(V), x[i * FC_GEMM_BLOCK + k + s]), square[s], sum[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
        *(T(VM) *)(out + i * pitch) = sum[i];
}
#undef LINE
