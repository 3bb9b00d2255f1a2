/* Rectangles turned in registers: to[j][i] = from[i][j]; rows turned round. What is left at the edges goes element by element, as all of it does without AVX. */
#include <stdint.h>
#include <string.h>

#include "copy_nest.h"
#include "isa.h"

#if FC_ISA_NUM >= 3
#include <immintrin.h>

/* 16 bytes of one row below, 16 of another above: a load and a load with insertion, no shuffle. */
static inline __m256d both(const char *low, const char *high)
{
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd((const double *)low)), _mm_loadu_pd((const double *)high), 1);
}

enum { WIDE = 64, AHEAD = 16, FAR_AHEAD = 32, FAR = 1 << 20 /* bytes that the second cache does not hold */ };

/* Of a square, in elements: half words have two. */
static inline int64_t side_of(int64_t rows, int64_t cols, int size)
{
    return size == 8 ? 4 : size == 1 || (size == 2 && rows >= 16 && cols >= 16) ? 16 : 8;
}

static inline void put(char *to, __m256d v) { _mm256_storeu_pd((double *)to, v); }

/* A square of eight words, four columns at a time: the rows i and i + 4 share a register, so nothing crosses 16 bytes. */
static inline void words(char *to, int64_t to_row, const char *from, int64_t from_row)
{
    for (int j = 0; j < 8; j += 4, from += 16, to += 4 * to_row) {
        const char *low = from + 4 * from_row;
        const __m256 a = _mm256_castpd_ps(both(from, low)), b = _mm256_castpd_ps(both(from + from_row, low + from_row));
        const __m256 c = _mm256_castpd_ps(both(from + 2 * from_row, low + 2 * from_row)), d = _mm256_castpd_ps(both(from + 3 * from_row, low + 3 * from_row));
        const __m256d ab = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)), cd = _mm256_castps_pd(_mm256_unpacklo_ps(c, d));
        const __m256d AB = _mm256_castps_pd(_mm256_unpackhi_ps(a, b)), CD = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
        put(to, _mm256_unpacklo_pd(ab, cd));
        put(to + to_row, _mm256_unpackhi_pd(ab, cd));
        put(to + 2 * to_row, _mm256_unpacklo_pd(AB, CD));
        put(to + 3 * to_row, _mm256_unpackhi_pd(AB, CD));
    }
}

/* A square of four double words. */
static inline void doubles(char *to, int64_t to_row, const char *from, int64_t from_row)
{
    for (int j = 0; j < 4; j += 2, from += 16, to += 2 * to_row) {
        const __m256d a = both(from, from + 2 * from_row), b = both(from + from_row, from + 3 * from_row);
        put(to, _mm256_unpacklo_pd(a, b));
        put(to + to_row, _mm256_unpackhi_pd(a, b));
    }
}

/* Register i with register i + n / 2, so often that what was a row is a column. */
#define INTERLEAVE(T, a, n, rounds, low, high)             \
    for (int round = 0; round < rounds; ++round) {         \
        T b[n];                                            \
        for (int i = 0; i < n / 2; ++i) {                  \
            b[2 * i] = low(a[i], a[i + n / 2]);            \
            b[2 * i + 1] = high(a[i], a[i + n / 2]);       \
        }                                                  \
        for (int i = 0; i < n; ++i)                        \
            a[i] = b[i];                                   \
    }

/* A square of eight half words: interleaving row i with row i + 4, three times, turns it. */
static inline void halves(char *to, int64_t to_row, const char *from, int64_t from_row)
{
    __m128i a[8];
    for (int i = 0; i < 8; ++i)
        a[i] = _mm_loadu_si128((const __m128i *)(from + i * from_row));
    INTERLEAVE(__m128i, a, 8, 3, _mm_unpacklo_epi16, _mm_unpackhi_epi16)
    for (int j = 0; j < 8; ++j)
        _mm_storeu_si128((__m128i *)(to + j * to_row), a[j]);
}

/* A square of sixteen half words, eight columns at a time: the rows i and i + 8 share a register. */
static inline void many_halves(char *to, int64_t to_row, const char *from, int64_t from_row)
{
    for (int j = 0; j < 16; j += 8, from += 16, to += 8 * to_row) {
        __m256i a[8];
        for (int i = 0; i < 8; ++i)
            a[i] = _mm256_castpd_si256(both(from + i * from_row, from + (i + 8) * from_row));
        INTERLEAVE(__m256i, a, 8, 3, _mm256_unpacklo_epi16, _mm256_unpackhi_epi16)
        for (int i = 0; i < 8; ++i)
            put(to + i * to_row, _mm256_castsi256_pd(a[i]));
    }
}

/* A square of sixteen bytes, in the same way. */
static inline void bytes(char *to, int64_t to_row, const char *from, int64_t from_row)
{
    __m128i a[16];
    for (int i = 0; i < 16; ++i)
        a[i] = _mm_loadu_si128((const __m128i *)(from + i * from_row));
    INTERLEAVE(__m128i, a, 16, 4, _mm_unpacklo_epi8, _mm_unpackhi_epi8)
    for (int j = 0; j < 16; ++j)
        _mm_storeu_si128((__m128i *)(to + j * to_row), a[j]);
}

/* Eight columns of sixteen bytes: what those rows leave of the registers of a square. */
static inline void eight_columns(char *to, int64_t to_row, const char *from, int64_t from_row)
{
    __m128i a[8];
    for (int i = 0; i < 8; ++i)
        a[i] = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(from + i * from_row)), _mm_loadl_epi64((const __m128i *)(from + (i + 8) * from_row)));
    INTERLEAVE(__m128i, a, 8, 3, _mm_unpacklo_epi8, _mm_unpackhi_epi8)
    for (int j = 0; j < 8; ++j)
        _mm_storeu_si128((__m128i *)(to + j * to_row), a[j]);
}

/* 16 or more rows of 8 to 15 bytes; the last of both go with some of those before. */
static void narrow_bytes(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t cols)
{
    const int64_t right = cols - 8;
    for (int64_t i = 0; i < rows; i += 16) {
        const int64_t at = i + 16 <= rows ? i : rows - 16;
        eight_columns(to + at, to_row, from + at * from_row, from_row);
        if (right)
            eight_columns(to + right * to_row + at, to_row, from + at * from_row + right, from_row);
    }
}

/* Rows lie too far apart for the processor to guess that they come next. */
static inline void ask(const char *from, int64_t from_row, int n)
{
    for (int i = 0; i < n; ++i)
        _mm_prefetch(from + i * from_row, _MM_HINT_T0);
}

/* All lines of them, into the second cache, which waits for more lines at once than the first: 4.2 ms instead of 5.7 for 40 MB. Where
 * they are in it already, that takes a fifth longer. */
static inline void ask_far(const char *from, int64_t from_row, int n, int64_t bytes)
{
    for (int i = 0; i < n; ++i)
        for (int64_t at = 0; at <= bytes; at += 64)
            _mm_prefetch(from + i * from_row + at, _MM_HINT_T1);
}

/* A strip of whole cache lines at a time. */
#define SQUARES(turn, SIDE, SIZE)                                                              \
    for (int64_t j0 = 0; j0 < whole_j; j0 += WIDE)                                             \
        for (int64_t i = 0; i < whole_i; i += SIDE) {                                          \
            if (far)                                                                           \
                ask_far(from + (i + FAR_AHEAD) * from_row + j0 * SIZE, from_row, SIDE, (whole_j - j0 < WIDE ? whole_j - j0 : WIDE) * SIZE); \
            else                                                                               \
                ask(from + (i + AHEAD) * from_row + j0 * SIZE, from_row, SIDE);                \
            for (int64_t j = j0; j < whole_j && j < j0 + WIDE; j += SIDE)                      \
                turn(to + j * to_row + i * SIZE, to_row, from + i * from_row + j * SIZE, from_row); \
        }

static void squares(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t cols, int size)
{
    const int64_t side = side_of(rows, cols, size), whole_i = rows / side * side, whole_j = cols / side * side;
    const int far = whole_i * from_row > FAR;
    if (size == 4)
        SQUARES(words, 8, 4)
    else if (size == 8)
        SQUARES(doubles, 4, 8)
    else if (side == 16 && size == 2)
        SQUARES(many_halves, 16, 2)
    else if (size == 2)
        SQUARES(halves, 8, 2)
    else
        SQUARES(bytes, 16, 1)
    _mm256_zeroupper(); /* the compiler does not, and code of older levels then waits at every conversion: 3 times as long */
}
#endif

#define EACH(T)                                                                                        \
    for (int64_t j = j0; j < j1; ++j)                                                                  \
        for (int64_t i = i0; i < i1; ++i)                                                              \
    *(T *)(to + j * to_row + i * (int64_t)sizeof(T)) = *(const T *)(from + i * from_row + j * (int64_t)sizeof(T))

typedef struct { uint64_t lo, hi; } word16;

static void each(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t i0, int64_t i1, int64_t j0, int64_t j1, int size)
{
    switch (size) {
    case 1: EACH(uint8_t); break;
    case 2: EACH(uint16_t); break;
    case 4: EACH(uint32_t); break;
    case 8: EACH(uint64_t); break;
    default: EACH(word16); break;
    }
}

#undef EACH

void FC_ISA_NAME(fc_turn)(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t cols, int size)
{
    int64_t whole_i = 0, whole_j = 0;
#if FC_ISA_NUM >= 3
    if (size == 1 && cols >= 8 && cols < 16 && rows >= 16) {
        narrow_bytes(to, to_row, from, from_row, rows, cols);
        return;
    }
    if (size <= 8) {
        const int64_t side = side_of(rows, cols, size);
        whole_i = rows / side * side;
        whole_j = cols / side * side;
        squares(to, to_row, from, from_row, rows, cols, size);
        if (whole_i && whole_j) { /* what is left over goes with some of what was turned before */
            const int64_t i = rows - side, j = cols - side;
            char *low = to + i * size, *right = to + j * to_row;
            if (whole_i < rows)
                squares(low, to_row, from + i * from_row, from_row, side, whole_j, size);
            if (whole_j < cols)
                squares(right, to_row, from + j * size, from_row, whole_i, side, size);
            if (whole_i < rows && whole_j < cols)
                squares(right + i * size, to_row, from + i * from_row + j * size, from_row, side, side, size);
            return;
        }
    }
#endif
    each(to, to_row, from, from_row, whole_i, rows, 0, cols, size);
    each(to, to_row, from, from_row, 0, whole_i, whole_j, cols, size);
}

#ifdef __SSSE3__
#include <tmmintrin.h>

static inline __m128i turned16(const char *from, __m128i places) { return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)from), places); }

#if FC_ISA_NUM >= 3
static inline void turn32(char *to, const char *from, __m128i places)
{
    const __m256i v = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)from), _mm256_broadcastsi128_si256(places));
    _mm256_storeu_si256((__m256i *)to, _mm256_permute4x64_epi64(v, 0x4e));
}
#endif

/* A register at a time; the last goes with some of what was there before. */
void FC_ISA_NAME(fc_mirror)(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t n, int size, int64_t rows)
{
    const int64_t bytes = n * size;
    _Alignas(16) char places[16];
    for (int k = 0; k < 16; ++k)
        places[k] = (char)(16 - size - k / size * size + k % size);
    const __m128i turned = _mm_load_si128((const __m128i *)places);
    for (int64_t r = 0; r < rows; ++r) {
        const char *const end = from + r * from_row + size;
        char *const t = to + r * to_row;
        int64_t at = 0;
#if FC_ISA_NUM >= 3
        if (bytes >= 32) {
            for (; at < bytes - 32; at += 32)
                turn32(t + at, end - 32 - at, turned);
            turn32(t + bytes - 32, end - bytes, turned);
            continue;
        }
#endif
        for (; at < bytes - 16; at += 16)
            _mm_storeu_si128((__m128i *)(t + at), turned16(end - 16 - at, turned));
        _mm_storeu_si128((__m128i *)(t + bytes - 16), turned16(end - bytes, turned));
    }
#if FC_ISA_NUM >= 3
    _mm256_zeroupper();
#endif
}
#else
void FC_ISA_NAME(fc_mirror)(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t n, int size, int64_t rows)
{
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < n; ++i)
            memcpy(to + r * to_row + i * size, from + r * from_row - i * size, (size_t)size);
}
#endif
