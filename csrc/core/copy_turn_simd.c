/* Rectangles turned in registers: to[j][i] = from[i][j]. What is left at the edges goes element by element.
 *
 * Words go by squares of eight: the rows i and i + 4 share a register, so that only pairs and halves within 16 bytes change places. */
#include <string.h>

#include "copy_nest.h"
#include "isa.h"

typedef uint32_t four __attribute__((vector_size(16)));
typedef uint32_t eight __attribute__((vector_size(32)));
typedef uint64_t two __attribute__((vector_size(16)));
typedef uint64_t four_wide __attribute__((vector_size(32)));
typedef uint16_t eight_small __attribute__((vector_size(16)));

#define LOAD(T, name, p) \
    T name;              \
    memcpy(&name, p, sizeof name)
#define STORE(p, ...)                          \
    do {                                       \
        const __typeof__(__VA_ARGS__) made_ = __VA_ARGS__; \
        memcpy(p, &made_, sizeof made_);       \
    } while (0)

/* Half a square of words: four columns of eight rows. */
static inline void half_of_words(char *to, int64_t to_row, const char *from, int64_t from_row)
{
    eight pair[4];
    for (int i = 0; i < 4; ++i) {
        LOAD(four, a, from + i * from_row);
        LOAD(four, b, from + (i + 4) * from_row);
        pair[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    const eight ab = __builtin_shufflevector(pair[0], pair[1], 0, 8, 1, 9, 4, 12, 5, 13);
    const eight cd = __builtin_shufflevector(pair[2], pair[3], 0, 8, 1, 9, 4, 12, 5, 13);
    const eight AB = __builtin_shufflevector(pair[0], pair[1], 2, 10, 3, 11, 6, 14, 7, 15);
    const eight CD = __builtin_shufflevector(pair[2], pair[3], 2, 10, 3, 11, 6, 14, 7, 15);
    STORE(to, __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13));
    STORE(to + to_row, __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15));
    STORE(to + 2 * to_row, __builtin_shufflevector(AB, CD, 0, 1, 8, 9, 4, 5, 12, 13));
    STORE(to + 3 * to_row, __builtin_shufflevector(AB, CD, 2, 3, 10, 11, 6, 7, 14, 15));
}

static void words(char *to, int64_t to_row, const char *from, int64_t from_row)
{
    half_of_words(to, to_row, from, from_row);
    half_of_words(to + 4 * to_row, to_row, from + 16, from_row);
}

/* A square of four double words. */
static void doubles(char *to, int64_t to_row, const char *from, int64_t from_row)
{
    for (int j = 0; j < 4; j += 2) {
        four_wide pair[2];
        for (int i = 0; i < 2; ++i) {
            LOAD(two, a, from + i * from_row + j * 8);
            LOAD(two, b, from + (i + 2) * from_row + j * 8);
            pair[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3);
        }
        STORE(to + j * to_row, __builtin_shufflevector(pair[0], pair[1], 0, 4, 2, 6));
        STORE(to + (j + 1) * to_row, __builtin_shufflevector(pair[0], pair[1], 1, 5, 3, 7));
    }
}

/* A square of eight half words: single ones, pairs and fours change places in turn. */
static void halves(char *to, int64_t to_row, const char *from, int64_t from_row)
{
    eight_small a[8], b[8];
    for (int i = 0; i < 8; ++i)
        memcpy(&a[i], from + i * from_row, sizeof a[i]);
    for (int round = 0; round < 3; ++round) { /* interleaving row i with row i + 4, three times, turns the square */
        for (int i = 0; i < 4; ++i) {
            b[2 * i] = __builtin_shufflevector(a[i], a[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        memcpy(a, b, sizeof a);
    }
    for (int j = 0; j < 8; ++j)
        memcpy(to + j * to_row, &a[j], sizeof a[j]);
}

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
    const int side = size == 4 || size == 2 ? 8 : 4, wide = 16;
    const int64_t whole_i = size == 1 || size == 16 ? 0 : rows / side * side, whole_j = cols / side * side;
    for (int64_t j0 = 0; j0 < whole_j; j0 += wide) /* a strip of whole cache lines at a time */
        for (int64_t i = 0; i < whole_i; i += side)
            for (int64_t j = j0; j < whole_j && j < j0 + wide; j += side) {
                char *t = to + j * to_row + i * size;
                const char *f = from + i * from_row + j * size;
                if (size == 4)
                    words(t, to_row, f, from_row);
                else if (size == 8)
                    doubles(t, to_row, f, from_row);
                else
                    halves(t, to_row, f, from_row);
            }
    each(to, to_row, from, from_row, whole_i, rows, 0, cols, size);
    each(to, to_row, from, from_row, 0, whole_i, whole_j, cols, size);
}
