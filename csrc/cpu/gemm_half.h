/* float16 and bfloat16 as bit patterns, to float32 and back (round to nearest even), branch-free so that loops vectorise. */
#ifndef FC_GEMM_HALF_H
#define FC_GEMM_HALF_H

#include <stdint.h>
#include <string.h>

static inline float gemm_bits_f32(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
static inline uint32_t gemm_f32_bits(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }

static inline float gemm_from_bf16(uint16_t h) { return gemm_bits_f32((uint32_t)h << 16); }

static inline uint16_t gemm_to_bf16(float x)
{
    const uint32_t u = gemm_f32_bits(x);
    const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

/* Exponent re-biased by a multiplication with 2^112, which also normalises subnormals; inf and NaN by hand. */
static inline float gemm_from_f16(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, body = (uint32_t)(h & 0x7fffu) << 13;
    const uint32_t scaled = gemm_f32_bits(gemm_bits_f32(body) * 0x1p112f);
    const uint32_t special = body | 0x7f800000u;
    return gemm_bits_f32(sign | (body >= 0x0f800000u ? special : scaled));
}

/* Source of the idea: adding a constant whose ulp is the target's makes the hardware round (F. Giesen, float->half variants). */
static inline uint16_t gemm_to_f16(float x)
{
    const uint32_t u = gemm_f32_bits(x), sign = u & 0x80000000u, body = u ^ sign;
    const uint32_t tiny = gemm_f32_bits(gemm_bits_f32(body) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (body + 0xc8000fffu + ((body >> 13) & 1)) >> 13;
    const uint32_t big = body > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const uint32_t bits = body >= 0x47800000u ? big : body < 0x38800000u ? tiny : normal;
    return (uint16_t)((sign >> 16) | bits);
}

#endif
