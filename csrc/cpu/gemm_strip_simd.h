/* Strips of S columns, any FMA level: squares of 256 bits, turned while they are loaded. Included by gemm_along_simd.h: no guard. */

/* T(turn) of S whole lines. `by` holds 1, 3, 5 and 7 pitches in bytes, which the compiler is kept from working out again: every
 * line is then one addressing mode away from `line`, where 32 pointers would live on the stack. */
INLINE void T(turn_by)(T(H) *restrict square, const char *line, const int64_t by[4])
{
#define LINE(i) (line + ((i) == 0 ? 0 : (i) == 1 ? by[0] : (i) == 2 ? 2 * by[0] : (i) == 3 ? by[1] : (i) == 4 ? 4 * by[0]                \
                       : (i) == 5 ? by[2] : (i) == 6 ? 2 * by[1] : by[3]))
#define PAIR(i) _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps((const float *)(LINE(i) + half * 16))), \
                                     _mm_loadu_ps((const float *)(LINE(i + S / 2) + half * 16)), 1)
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
        T(H) *out = square + half * (S / 2);
        FC_TURN_HALF(out)
    }
#undef LINE
#undef PAIR
}

/* `steps` steps of `groups` x S columns; x: rows of FC_GEMM_BLOCK; b: the groups' first lines. */
INLINE void T(along_squares)(T(H) sum[4][4], const int rows, const int groups, const R *x, const R *const b[4], int64_t k0,
                             const int64_t by[4], const int steps)
{
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g)
#pragma GCC unroll 2
        for (int k = 0; k < steps; k += S) {
            T(H) square[S];
            T(turn_by)(square, (const char *)(b[g] + k0 + k), by);
#pragma GCC unroll 8
            for (int s = 0; s < S; ++s)
#pragma GCC unroll 4
                for (int i = 0; i < rows; ++i)
                    sum[i][g] = HFMA(SPLAT(T(H), x[i * FC_GEMM_BLOCK + k + s]), square[s], sum[i][g]);
        }
}

/* out rows, `pitch` apart, of groups * S columns. Several groups: independent chains hide the latency of fma. */
#define STEPS (2 * S) /* one cache line of every line: with lines a power of two apart, L1 would lose it between visits */
INLINE void T(along_strip)(const int rows, const int groups, R *restrict out, int64_t pitch, int64_t depth, const R *x,
                           const R *b, int64_t b_col)
{
    T(H) sum[4][4];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (int g = 0; g < groups; ++g)
            sum[i][g] = (T(H)){ 0 };
    const int64_t pitch_bytes = b_col * (int64_t)sizeof(R);
    int64_t by[4] = { pitch_bytes, 3 * pitch_bytes, 5 * pitch_bytes, 7 * pitch_bytes };
    __asm__("" : "+r"(by[0]), "+r"(by[1]), "+r"(by[2]), "+r"(by[3]));
    const R *lines[4];
    for (int g = 0; g < groups; ++g) {
        lines[g] = b + g * S * b_col;
        __asm__("" : "+r"(lines[g]));
    }
    int64_t k = 0;
#pragma GCC unroll 1
    for (; k + STEPS <= depth; k += STEPS)
        T(along_squares)(sum, rows, groups, x + k, lines, k, by, STEPS);
    if (k < depth) { /* less than STEPS: from zero-filled lines, of which only the steps that there are count */
        const int left = (int)(depth - k);
#pragma GCC unroll 1
        for (int g = 0; g < groups; ++g) {
            R line[S][STEPS];
            T(H) square[STEPS], y;
            memset(line, 0, sizeof line);
            for (int l = 0; l < S; ++l)
                memcpy(line[l], b + (g * S + l) * b_col + k, (size_t)left * sizeof(R));
            T(turn)(square, line[0], STEPS, S - 1);
            T(turn)(square + S, line[0] + S, STEPS, S - 1);
            for (int i = 0; i < rows; ++i) {
                memcpy(&y, &sum[i][g], sizeof y);
                for (int s = 0; s < left; ++s)
                    y = HFMA(SPLAT(T(H), x[i * FC_GEMM_BLOCK + k + s]), square[s], y);
                memcpy(out + i * pitch + g * S, &y, sizeof y);
            }
        }
    } else
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
            for (int g = 0; g < groups; ++g)
                *(T(HM) *)(out + i * pitch + g * S) = sum[i][g];
}
#undef STEPS
