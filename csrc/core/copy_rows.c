/* Many short rows at once: copied, or filled with one element each; and every second element. See copy_nest.h. Of no length is anything asked within their loops. */
#include <string.h>

#include "copy_nest.h"
#include "isa.h"

#define PACK(B)                                                                \
    for (int64_t r = 0; r < count; ++r)                                        \
        memcpy(to + r * to_row, from + r * from_row, B);                       \
    return

/* Both ends, which may meet in the middle: no length to be looked at. */
#define ENDS(B)                                                                \
    for (int64_t r = 0; r < count; ++r) {                                      \
        memcpy(to + r * to_row, from + r * from_row, B);                       \
        memcpy(to + r * to_row + bytes - B, from + r * from_row + bytes - B, B); \
    }                                                                          \
    return

/* Dense rows of a few bytes. */
void FC_ISA_NAME(fc_packs)(char *restrict to, int64_t to_row, const char *restrict from, int64_t from_row, int64_t bytes, int64_t count)
{
    switch (bytes) {
    case 1: PACK(1);
    case 2: PACK(2);
    case 3: ENDS(2);
    case 4: PACK(4);
    case 5: case 6: case 7: ENDS(4);
    case 8: PACK(8);
    case 12: PACK(12);
    case 16: PACK(16);
    case 32: PACK(32);
    default: break;
    }
    if (bytes < 16) {
        ENDS(8);
    }
    if (bytes < 32) {
        ENDS(16);
    }
    for (int64_t r = 0; r < count; ++r) {
        char *const t = to + r * to_row;
        const char *const f = from + r * from_row;
        for (int64_t at = 0; at < bytes - 32; at += 32)
            memcpy(t + at, f + at, 32);
        memcpy(t + bytes - 32, f + bytes - 32, 32);
    }
}

#undef PACK
#undef ENDS

typedef struct { uint64_t lo, hi; } word16;

/* The element is a pattern of 32 bytes, the last of which go with some of those before. */
#define SPREAD(T)                                                              \
    for (int64_t r = 0; r < rows; ++r, to += bytes) {                          \
        const T v = *(const T *)(from + r * from_row);                         \
        T pattern[32 / sizeof(T)];                                             \
        for (int k = 0; k < 32 / (int)sizeof(T); ++k)                          \
            pattern[k] = v;                                                    \
        if (bytes >= 32) {                                                     \
            for (int64_t at = 0; at < bytes - 32; at += 32)                    \
                memcpy(to + at, pattern, 32);                                  \
            memcpy(to + bytes - 32, pattern, 32);                              \
        } else if (bytes >= 16) {                                              \
            memcpy(to, pattern, 16);                                           \
            memcpy(to + bytes - 16, pattern, 16);                              \
        } else {                                                               \
            for (int64_t k = 0; k < n; ++k)                                    \
                ((T *)to)[k] = v;                                              \
        }                                                                      \
    }                                                                          \
    break

void FC_ISA_NAME(fc_fill_rows)(char *restrict to, int64_t n, const char *restrict from, int64_t from_row, int size, int64_t rows)
{
    const int64_t bytes = n * size;
    switch (size) {
    case 1: SPREAD(uint8_t);
    case 2: SPREAD(uint16_t);
    case 4: SPREAD(uint32_t);
    case 8: SPREAD(uint64_t);
    default: SPREAD(word16);
    }
}

#undef SPREAD

#define SECONDS(T)                             \
    for (int64_t i = 0; i < n; ++i)            \
        ((T *)to)[i] = ((const T *)from)[2 * i]; \
    break

/* A step that the compiler knows is a shuffle of what lies side by side. */
void FC_ISA_NAME(fc_seconds)(char *restrict to, const char *restrict from, int size, int64_t n)
{
    switch (size) {
    case 1: SECONDS(uint8_t);
    case 2: SECONDS(uint16_t);
    case 4: SECONDS(uint32_t);
    case 8: SECONDS(uint64_t);
    default: SECONDS(word16);
    }
}

#undef SECONDS
