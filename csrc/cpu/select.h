/* One of many keys by its rank, without sorting them. */
#ifndef FC_SELECT_H
#define FC_SELECT_H

#include <stdint.h>
#include <string.h>

enum { FC_FEW_KEYS = 64 }; /* keys that are compared each with each sooner than their digits are counted */

/* The key of rank `*rank` (from 0) among a few, and how many of the equal ones come before it. */
static uint64_t fc_key_of(const uint64_t *key, int64_t n, int64_t *rank)
{
    int64_t plain[FC_FEW_KEYS]; /* signed, whose comparison is one instruction */
    for (int64_t k = 0; k < n; ++k)
        plain[k] = (int64_t)(key[k] ^ (uint64_t)1 << 63);
    for (int64_t k = 0; k < n; ++k) {
        int64_t less = 0, equal = 0;
        for (int64_t j = 0; j < n; ++j)
            less += plain[j] < plain[k];
        for (int64_t j = 0; less <= *rank && j < n; ++j)
            equal += plain[j] == plain[k];
        if (less <= *rank && *rank < less + equal) {
            *rank -= less;
            return key[k];
        }
    }
    return key[0];
}

/*
 * Where the key of rank `rank` (from 0) is in the stable order: digit by digit from the first bit in which those that are left differ, what shares the
 * digit of that rank is kept. At the end a few are left, or equal keys, of which the rank says which one. left: room for n more.
 */
static int64_t fc_place_of(const uint64_t *key, uint64_t *left, int64_t n, int64_t rank)
{
    const int digit = n < 4096 ? 8 : 11;
    int32_t few[1 << 11], other[1 << 11]; /* two, because neighbours that count in one place wait for each other */
    const uint64_t *from = key, mask = ((uint64_t)1 << digit) - 1;
    int64_t count = n, below = rank;
    while (count > FC_FEW_KEYS) {
        uint64_t differs = 0;
        for (int64_t k = 1; k < count; ++k)
            differs |= from[k] ^ from[0];
        if (!differs)
            break;
        const int first = 64 - __builtin_clzll(differs), shift = first > digit ? first - digit : 0;
        memset(few, 0, sizeof *few << digit);
        memset(other, 0, sizeof *other << digit);
        for (int64_t k = 0; k + 1 < count; k += 2) {
            ++few[from[k] >> shift & mask];
            ++other[from[k + 1] >> shift & mask];
        }
        if (count % 2)
            ++few[from[count - 1] >> shift & mask];
        uint64_t d = 0;
        while (below >= few[d] + other[d]) {
            below -= few[d] + other[d];
            ++d;
        }
        int64_t kept = 0;
        for (int64_t k = 0; k < count; ++k) {
            left[kept] = from[k];
            kept += (from[k] >> shift & mask) == d;
        }
        from = left;
        count = kept;
    }
    const uint64_t found = count > FC_FEW_KEYS ? from[0] : fc_key_of(from, count, &below);
    for (int64_t k = 0; k < n; ++k)
        if (key[k] == found && below-- == 0)
            return k;
    return 0;
}

#endif
