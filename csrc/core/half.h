/* float16 and bfloat16 to and from float32: branch-free integer arithmetic, so that loops of it vectorise and every ISA level
 * gives the same bits (gcc does not vectorise _Float16). Rounding is to nearest, ties to even; every input is defined. */
#ifndef FC_HALF_H
#define FC_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t fc_bits_f32(float x)      { uint32_t u; memcpy(&u, &x, 4); return u; }
static inline float fc_f32_of_bits(uint32_t u)   { float x; memcpy(&x, &u, 4); return x; }
static inline uint64_t fc_bits_f64(double x)     { uint64_t u; memcpy(&u, &x, 8); return u; }
static inline double fc_f64_of_bits(uint64_t u)  { double x; memcpy(&x, &u, 8); return x; }

/* Seen as float32, the shifted half is 2**112 too small, subnormals included; only inf and NaN need their exponent filled up. */
static inline float fc_f32_of_f16(uint16_t h)
{
    const uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13;
    const uint32_t scaled = fc_bits_f32(fc_f32_of_bits(magnitude) * 0x1p112f);
    const uint32_t special = (h & 0x7c00) == 0x7c00 ? 0x7f800000u : 0;
    return fc_f32_of_bits(scaled | special | (uint32_t)(h & 0x8000) << 16);
}

/* Small values: adding 0.5 puts the unit of float16 subnormals (2**-24) in the last place, the hardware rounds.
 * NaN becomes the quiet 0x7e00 with its sign. */
static inline uint16_t fc_f16_of_f32(float x)
{
    const uint32_t bits = fc_bits_f32(x), a = bits & 0x7fffffff;
    const uint32_t small = fc_bits_f32(fc_f32_of_bits(a) + 0.5f) - 0x3f000000u;
    uint32_t normal = (a - 0x38000000u + 0xfff + (a >> 13 & 1)) >> 13;
    normal = normal > 0x7c00 ? 0x7c00 : normal;
    uint32_t h = a < 0x38800000u ? small : normal;
    h = a > 0x7f800000u ? 0x7e00 : h;
    return (uint16_t)(h | (bits >> 16 & 0x8000));
}

static inline float fc_f32_of_bf16(uint16_t h)   { return fc_f32_of_bits((uint32_t)h << 16); }

static inline uint16_t fc_bf16_of_f32(float x)
{
    const uint32_t bits = fc_bits_f32(x);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000u ? 0x7fc0 : rounded);
}

#endif
