/* The twister's next block of 624 words: three loops without a dependence shorter than a vector, then the tempering. */
#include "generator.h"
#include "isa.h"

enum { SHIFT = 397, HEAD = FC_MT_WORDS - SHIFT };

static inline uint32_t twist(uint32_t high, uint32_t low)
{
    const uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return y >> 1 ^ (-(low & 1u) & 0x9908b0dfu);
}

void FC_ISA_NAME(fc_twist)(uint32_t *restrict s, uint32_t *restrict word)
{
    for (int k = 0; k < HEAD; ++k)
        s[k] = s[k + SHIFT] ^ twist(s[k], s[k + 1]);
    for (int k = HEAD; k < 2 * HEAD; ++k)
        s[k] = s[k - HEAD] ^ twist(s[k], s[k + 1]);
    for (int k = 2 * HEAD; k < FC_MT_WORDS - 1; ++k)
        s[k] = s[k - HEAD] ^ twist(s[k], s[k + 1]);
    s[FC_MT_WORDS - 1] = s[SHIFT - 1] ^ twist(s[FC_MT_WORDS - 1], s[0]);
    for (int k = 0; k < FC_MT_WORDS; ++k)
        word[k] = fc_tempered(s[k]);
}
