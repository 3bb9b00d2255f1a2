/* A square of 4-byte elements turned by fours, in registers: pairs change places, then halves. */
#include <string.h>

#include "copy_nest.h"
#include "isa.h"

typedef uint32_t four __attribute__((vector_size(16)));

static inline four load(const char *p)
{
    four v;
    memcpy(&v, p, sizeof v);
    return v;
}

void FC_ISA_NAME(fc_turn_words)(char *to, int64_t to_row, const char *from, int64_t from_row, int n)
{
    const four low = {0, 4, 1, 5}, high = {2, 6, 3, 7}, first = {0, 1, 4, 5}, last = {2, 3, 6, 7};
    for (int j = 0; j < n; j += 4)
        for (int i = 0; i < n; i += 4) {
            const char *f = from + i * from_row + j * 4;
            char *t = to + j * to_row + i * 4;
            const four a = load(f), b = load(f + from_row), c = load(f + 2 * from_row), d = load(f + 3 * from_row);
            const four ab = __builtin_shuffle(a, b, low), cd = __builtin_shuffle(c, d, low);
            const four AB = __builtin_shuffle(a, b, high), CD = __builtin_shuffle(c, d, high);
            const four out[4] = {__builtin_shuffle(ab, cd, first), __builtin_shuffle(ab, cd, last), __builtin_shuffle(AB, CD, first),
                                 __builtin_shuffle(AB, CD, last)};
            for (int r = 0; r < 4; ++r)
                memcpy(t + r * to_row, &out[r], sizeof out[r]);
        }
}
