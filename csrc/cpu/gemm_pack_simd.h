/* Packing of real matrices, once per element type. Included by gemm_simd.c, which defines R, LANES and T(): no guard. */

/* Vectors in memory: as aligned as an element. */
typedef R T(V) __attribute__((vector_size(VECTOR_BYTES)));
typedef R T(VM) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(R)), may_alias));

/* A square of S x S elements, S lines of 256 bits: line[l][k] -> square[k][l]. */
#define S ((int)(32 / sizeof(R)))
typedef R T(H) __attribute__((vector_size(32)));
typedef R T(HM) __attribute__((vector_size(32), aligned(sizeof(R)), may_alias));
#if FC_HAS_FMA
INLINE void T(turn)(T(H) *restrict square, const R *const *line, int64_t k)
{
    /* Half lines meet their partners while being loaded (vinsert from memory costs no shuffle); the rest is two, for
     * doubles one, rounds of unpacking. */
#define PAIR(i, half) _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps((const float *)(line[i] + k + (half) * S / 2))), \
                                           _mm_loadu_ps((const float *)(line[i + S / 2] + k + (half) * S / 2)), 1)
    if (sizeof(R) == 4) {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
            const __m256 p0 = PAIR(0, half), p1 = PAIR(1, half), p2 = PAIR(2 % (S / 2), half), p3 = PAIR(3 % (S / 2), half);
            const __m256 q0 = _mm256_unpacklo_ps(p0, p1), q1 = _mm256_unpackhi_ps(p0, p1);
            const __m256 q2 = _mm256_unpacklo_ps(p2, p3), q3 = _mm256_unpackhi_ps(p2, p3);
            T(H) *out = square + half * (S / 2);
            out[0] = (T(H))_mm256_shuffle_ps(q0, q2, 0x44);
            out[1] = (T(H))_mm256_shuffle_ps(q0, q2, 0xee);
            out[2 % S] = (T(H))_mm256_shuffle_ps(q1, q3, 0x44);
            out[3 % S] = (T(H))_mm256_shuffle_ps(q1, q3, 0xee);
        }
    } else {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
            const __m256d p0 = (__m256d)PAIR(0, half), p1 = (__m256d)PAIR(1, half);
            square[2 * half] = (T(H))_mm256_unpacklo_pd(p0, p1);
            square[2 * half + 1] = (T(H))_mm256_unpackhi_pd(p0, p1);
        }
    }
#undef PAIR
}

/* Lines with unit step into one panel, S lines by S steps at a time. The last group may have fewer lines than S; then its
 * stores run over into the first lanes of the next step, so it goes first and the other groups put those right.
 * What runs over the end of the panel is the next panel's start or the slack that the engine leaves. */
static void T(pack_turned)(R *restrict dst, int width, const R *x, int64_t line, int lines, int64_t depth)
{
    for (int l0 = (lines - 1) / S * S; l0 >= 0; l0 -= S) {
        const R *at[S];
        for (int l = 0; l < S; ++l)
            at[l] = x + (l0 + l < lines ? l0 + l : lines - 1) * line;
        int64_t k = 0;
        for (; k + S <= depth; k += S) {
            T(H) square[S];
            T(turn)(square, at, k);
            R *out = dst + k * width + l0;
#pragma GCC unroll 8
            for (int s = 0; s < S; ++s)
                *(T(HM) *)(out + s * width) = square[s];
        }
        for (; k < depth; ++k)
            for (int l = 0; l < S && l0 + l < lines; ++l)
                dst[k * width + l0 + l] = at[l][k];
    }
}
#endif

/* Lines side by side in memory into one panel: each step is a copy, in whole vectors where the panel is full. */
static void T(pack_rows)(R *restrict dst, int width, const R *restrict x, int64_t step, int lines, int64_t depth)
{
    if (lines == 2 * LANES && width == 2 * LANES)
        for (int64_t k = 0; k < depth; ++k) {
            *(T(VM) *)(dst + k * 2 * LANES) = *(const T(VM) *)(x + k * step);
            *(T(VM) *)(dst + k * 2 * LANES + LANES) = *(const T(VM) *)(x + k * step + LANES);
        }
    else if (lines == TILE_ROWS && width == TILE_ROWS)
        for (int64_t k = 0; k < depth; ++k)
            memcpy(dst + k * TILE_ROWS, x + k * step, TILE_ROWS * sizeof(R));
    else
        for (int64_t k = 0; k < depth; ++k)
            for (int l = 0; l < lines; ++l)
                dst[k * width + l] = x[k * step + l];
}

static void T(pack)(void *panels, int width, const void *source, int64_t line, int64_t step, int64_t lines, int64_t depth)
{
    R *restrict dst = panels;
    for (int64_t first = 0; first < lines; first += width, dst += width * depth) {
        const R *x = (const R *)source + first * line;
        const int count = (int)(lines - first < width ? lines - first : width);
        if (line == 1)
            T(pack_rows)(dst, width, x, step, count, depth);
#if FC_HAS_FMA
        else if (step == 1)
            T(pack_turned)(dst, width, x, line, count, depth);
#endif
        else
            for (int64_t k = 0; k < depth; ++k)
                for (int l = 0; l < count; ++l)
                    dst[k * width + l] = x[l * line + k * step];
        if (count % LANES) /* lanes without a line are computed and dropped: keep NaN and denormals out of them */
            for (int64_t k = 0; k < depth; ++k)
                for (int l = count; l < width; ++l)
                    dst[k * width + l] = 0;
    }
}
