/* Packing of real matrices, once per element type. Included by gemm_simd.c, which defines R, LANES and T(): no guard. */

/* Vectors in memory: as aligned as an element. */
typedef R T(V) __attribute__((vector_size(VECTOR_BYTES)));
typedef R T(VM) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(R)), may_alias));

/* A number in every lane: x - 0 is x for every x. */
#ifndef SPLAT
#define SPLAT(V, x) ((x) - (V){ 0 })
#endif

/* Half a square from the pairs of its lines, which the user names PAIR(i): rounds of unpacking. */
#ifndef FC_TURN_HALF
#define FC_TURN_HALF(out)                                                                  \
    const __m256 p0 = PAIR(0), p1 = PAIR(1);                                               \
    if (sizeof(R) == 4) {                                                                  \
        const __m256 p2 = PAIR(2), p3 = PAIR(3);                                           \
        const __m256 q0 = _mm256_unpacklo_ps(p0, p1), q1 = _mm256_unpackhi_ps(p0, p1);     \
        const __m256 q2 = _mm256_unpacklo_ps(p2, p3), q3 = _mm256_unpackhi_ps(p2, p3);     \
        out[0] = (T(H))_mm256_shuffle_ps(q0, q2, 0x44);                                    \
        out[1] = (T(H))_mm256_shuffle_ps(q0, q2, 0xee);                                    \
        out[2 % S] = (T(H))_mm256_shuffle_ps(q1, q3, 0x44);                                \
        out[3 % S] = (T(H))_mm256_shuffle_ps(q1, q3, 0xee);                                \
    } else {                                                                               \
        out[0] = (T(H))_mm256_unpacklo_pd((__m256d)p0, (__m256d)p1);                       \
        out[1] = (T(H))_mm256_unpackhi_pd((__m256d)p0, (__m256d)p1);                       \
    }
#endif

/* A square of S x S elements, S lines of 256 bits: line[l][k] -> square[k][l]. */
#define S ((int)(32 / sizeof(R)))
typedef R T(H) __attribute__((vector_size(32)));
typedef R T(HM) __attribute__((vector_size(32), aligned(sizeof(R)), may_alias));
#if FC_HAS_FMA
INLINE void T(turn)(T(H) *restrict square, const R *line, int64_t pitch, const int last)
{
    /* Half lines meet their partners while being loaded (vinsert from memory costs no shuffle); the rest is two, for
     * doubles one, rounds of unpacking. Lines after the last one repeat it. */
#define LINE(i) (line + ((i) < last ? (i) : last) * pitch)
#define PAIR(i) _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps((const float *)(LINE(i) + half * (S / 2)))), \
                                     _mm_loadu_ps((const float *)(LINE(i + S / 2) + half * (S / 2))), 1)
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
        T(H) *out = square + half * (S / 2);
        FC_TURN_HALF(out)
    }
#undef LINE
#undef PAIR
}

/* S lines with unit step into lanes of a panel, S steps at a time. */
INLINE void T(turn_lines)(R *restrict dst, int width, const R *x, int64_t line, const int last, int64_t depth)
{
    int64_t k = 0;
    for (; k + S <= depth; k += S) {
        T(H) square[S];
        T(turn)(square, x + k, line, last);
#pragma GCC unroll 8
        for (int s = 0; s < S; ++s)
            *(T(HM) *)(dst + (k + s) * width) = square[s];
    }
    for (; k < depth; ++k)
        for (int l = 0; l <= last; ++l)
            dst[k * width + l] = x[l * line + k];
}

#if FC_ISA_NUM == 4
/* E steps of LANES lines, which the user names LINE(l), a step of each out[e]: lines l, l + E, l + 2 E, l + 3 E meet in one register while
 * being loaded, so nothing crosses 128 bits. */
#define E ((int)(16 / sizeof(R)))
#ifndef FC_TURN_GROUP
#define FC_PART(l) _mm_loadu_ps((const float *)(LINE(l)))
#define FC_PARTS(l) _mm512_insertf32x4(_mm512_insertf32x4(_mm512_insertf32x4(_mm512_castps128_ps512(FC_PART(l)), FC_PART((l) + E), 1), \
                                                          FC_PART((l) + 2 * E), 2), FC_PART((l) + 3 * E), 3)
#define FC_TURN_GROUP(out)                                                                                             \
    const __m512 v0 = FC_PARTS(0), v1 = FC_PARTS(1);                                                                   \
    if (sizeof(R) == 4) {                                                                                              \
        const __m512 v2 = FC_PARTS(2), v3 = FC_PARTS(3);                                                               \
        const __m512 a = _mm512_unpacklo_ps(v0, v1), b = _mm512_unpackhi_ps(v0, v1);                                   \
        const __m512 c = _mm512_unpacklo_ps(v2, v3), d = _mm512_unpackhi_ps(v2, v3);                                   \
        out[0] = (T(V))_mm512_shuffle_ps(a, c, 0x44);                                                                  \
        out[1] = (T(V))_mm512_shuffle_ps(a, c, 0xee);                                                                  \
        out[2 % E] = (T(V))_mm512_shuffle_ps(b, d, 0x44);                                                              \
        out[3 % E] = (T(V))_mm512_shuffle_ps(b, d, 0xee);                                                              \
    } else {                                                                                                           \
        out[0] = (T(V))_mm512_unpacklo_pd((__m512d)v0, (__m512d)v1);                                                   \
        out[1] = (T(V))_mm512_unpackhi_pd((__m512d)v0, (__m512d)v1);                                                   \
    }
#endif

/* Lanes [0, lanes) of memory or of a vector, the others zero; and only those of a vector to memory. */
INLINE __mmask16 T(first)(int lanes) { return (__mmask16)((1u << (lanes * (int)sizeof(R) / 4)) - 1); }
INLINE T(V) T(take)(const R *x, __mmask16 some) { return (T(V))_mm512_maskz_loadu_ps(some, (const float *)x); }
INLINE void T(give)(R *x, T(V) v, __mmask16 some) { _mm512_mask_storeu_ps((float *)x, some, (__m512)v); }

static void T(turn_whole)(R *restrict dst, int64_t width, const R *x, int64_t line, int64_t depth)
{
    const R *quarter[4] = { x, x + E * line, x + 2 * E * line, x + 3 * E * line };
#define LINE(l) (quarter[(l) / E] + (l) % E * line)
    for (int64_t k = 0; k + E <= depth; k += E) {
        T(V) out[E];
        FC_TURN_GROUP(out)
#pragma GCC unroll 4
        for (int e = 0; e < E; ++e, dst += width)
            *(T(VM) *)dst = out[e];
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q)
            quarter[q] += E;
    }
#undef LINE
}

/* Lanes without a line become zero, beyond the panel's width too. */
static void T(turn_some)(R *restrict dst, int64_t width, const R *x, int64_t line, int lines, int64_t depth)
{
    const __mmask16 some = T(first)(lines);
    const R *start[LANES];
    for (int l = 0; l < LANES; ++l)
        start[l] = x + (l < lines ? l : lines - 1) * line;
#define LINE(l) (start[l] + k)
    for (int64_t k = 0; k + E <= depth; k += E) {
        T(V) out[E];
        FC_TURN_GROUP(out)
#pragma GCC unroll 4
        for (int e = 0; e < E; ++e, dst += width)
            *(T(VM) *)dst = (T(V))_mm512_maskz_mov_ps(some, (__m512)out[e]);
    }
#undef LINE
}

/* The last lanes go first: what they store beyond the panel's width, the first ones of the next step overwrite. */
static void T(pack_turned)(R *restrict dst, int width, const R *x, int64_t line, int lines, int64_t depth)
{
    const int64_t whole = depth / E * E;
    for (int l = (lines - 1) / LANES * LANES; l >= 0; l -= LANES)
        if (l + LANES <= lines)
            T(turn_whole)(dst + l, width, x + l * line, line, depth);
        else
            T(turn_some)(dst + l, width, x + l * line, line, lines - l, depth);
    const int full = (lines + LANES - 1) / LANES * LANES, end = full < width ? full : width;
    for (int64_t k = whole; k < depth; ++k)
        for (int l = 0; l < end; ++l)
            dst[k * width + l] = l < lines ? x[l * line + k] : 0;
}
#else
/* Up to a panel's lines. The last S of them may overlap those before; with fewer than S lines, stores run over into the next
 * step, which is written later, or after the panel into the next one or the slack that the engine leaves. */
static void T(pack_turned)(R *restrict dst, int width, const R *x, int64_t line, int lines, int64_t depth)
{
    if (lines == TILE_ROWS && TILE_ROWS < S)
        T(turn_lines)(dst, width, x, line, TILE_ROWS - 1, depth);
    else if (lines < S)
        T(turn_lines)(dst, width, x, line, lines - 1, depth);
    else
        for (int l = 0; l < lines; l += S) {
            const int l0 = l + S <= lines ? l : lines - S;
            T(turn_lines)(dst + l0, width, x + l0 * line, line, S - 1, depth);
        }
}
#endif
#endif

/* Lines side by side in memory into one panel: each step is a copy, in whole vectors where the panel is full. */
static void T(pack_rows)(R *restrict dst, int width, const R *restrict x, int64_t step, int lines, int64_t depth)
{
    if (lines == 2 * LANES && width == 2 * LANES)
        for (int64_t k = 0; k < depth; ++k) {
            *(T(VM) *)(dst + k * 2 * LANES) = *(const T(VM) *)(x + k * step);
            *(T(VM) *)(dst + k * 2 * LANES + LANES) = *(const T(VM) *)(x + k * step + LANES);
        }
    else if (lines == LANES)
        for (int64_t k = 0; k < depth; ++k)
            *(T(VM) *)(dst + k * width) = *(const T(VM) *)(x + k * step);
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
        else if (step == 1) {
            T(pack_turned)(dst, width, x, line, count, depth);
#if FC_ISA_NUM == 4
            continue;
#endif
        }
#endif
        else
            for (int64_t k = 0; k < depth; ++k)
                for (int l = 0; l < count; ++l)
                    dst[k * width + l] = x[l * line + k * step];
        const int full = (count + LANES - 1) / LANES * LANES, end = full < width ? full : width;
        if (count < end) /* lanes without a line are computed and dropped: keep NaN and denormals out of them */
            for (int64_t k = 0; k < depth; ++k)
                for (int l = count; l < end; ++l)
                    dst[k * width + l] = 0;
    }
}
