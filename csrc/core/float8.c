/* The float8 conversions; see float8.h. The same arithmetic as half.h: no branch depends on a value. */
#include "float8.h"
#include "half.h"

/* Seen as float32, the shifted code is 2**(127 - bias) too small, subnormals included. */
static inline float widened(uint32_t code, int fraction, int bias, uint32_t largest, uint32_t first_nan)
{
    const uint32_t magnitude = code & 0x7f, sign = (code & 0x80) << 24;
    const float scale = fc_f32_of_bits((uint32_t)(254 - bias) << 23);
    uint32_t bits = fc_bits_f32(fc_f32_of_bits(magnitude << (23 - fraction)) * scale);
    bits = largest == 0x7c && magnitude == 0x7c ? 0x7f800000u : bits;
    bits = magnitude >= first_nan || (first_nan == 0x80 && code == 0x80) ? 0x7fc00000u : bits;
    return fc_f32_of_bits(bits | (first_nan == 0x80 && code == 0x80 ? 0 : sign));
}

/* Small values: adding a number whose last place is the unit of subnormals makes the hardware round there. */
static inline uint8_t narrowed(float x, int fraction, int bias, uint32_t largest, uint32_t nan)
{
    const uint32_t bits = fc_bits_f32(x), a = bits & 0x7fffffff, least = (uint32_t)(128 - bias) << 23, rest = (uint32_t)(23 - fraction);
    const uint32_t unit = (uint32_t)(127 + 1 - bias - fraction + 23) << 23;
    const uint32_t small = fc_bits_f32(fc_f32_of_bits(a) + fc_f32_of_bits(unit)) - unit;
    const uint32_t normal = (a - ((uint32_t)(127 - bias) << 23) + (1u << (rest - 1)) - 1 + (a >> rest & 1)) >> rest;
    uint32_t code = a < least ? small : normal;
    code = code > largest || a >= 0x7f800000u ? largest : code;
    code = a > 0x7f800000u ? nan : code;
    return (uint8_t)(nan == 0x80 && !code ? 0 : code | (bits >> 24 & 0x80));
}

#define BOTH_WAYS(name, dtype, fraction, bias, largest, nan, first_nan)                       \
    void fc_##name##_to_f32(void *to, const void *from, int64_t n)                            \
    {                                                                                         \
        for (int64_t i = 0; i < n; ++i)                                                       \
            ((float *)to)[i] = widened(((const uint8_t *)from)[i], fraction, bias, largest, first_nan); \
    }                                                                                         \
    void fc_f32_to_##name(void *to, const void *from, int64_t n)                              \
    {                                                                                         \
        for (int64_t i = 0; i < n; ++i)                                                       \
            ((uint8_t *)to)[i] = narrowed(((const float *)from)[i], fraction, bias, largest, nan); \
    }
FC_FLOAT8(BOTH_WAYS)
#undef BOTH_WAYS

/* The exponent of float32 as it is: 0 stands for 2**-127, 255 for NaN. */
void fc_f8e8m0fnu_to_f32(void *to, const void *from, int64_t n)
{
    for (int64_t i = 0; i < n; ++i) {
        const uint32_t code = ((const uint8_t *)from)[i];
        ((float *)to)[i] = fc_f32_of_bits(code == 0 ? 0x00400000u : code == 255 ? 0x7fc00000u : code << 23);
    }
}

/* The sign goes. A tie is rounded up, but among subnormals. */
void fc_f32_to_f8e8m0fnu(void *to, const void *from, int64_t n)
{
    for (int64_t i = 0; i < n; ++i) {
        const uint32_t a = fc_bits_f32(((const float *)from)[i]) & 0x7fffffff, exponent = a >> 23;
        const uint32_t up = (a & 0x7fffff) >= 0x400000u + (exponent == 0);
        ((uint8_t *)to)[i] = (uint8_t)(exponent + (up && exponent < 255));
    }
}
