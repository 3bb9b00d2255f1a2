/*
 * float32 uniforms and normals.
 *
 *   out[j]     = r cos(t) std + mean      r = sqrt(-2 log(1 - d[j])),  t = 2 pi d[j + 8],  j < 8
 *   out[j + 8] = r sin(t) std + mean
 *
 * Source: Box and Muller (1958). PyTorch's stream is defined by the last bit of log, sin and cos, so these are not
 * mathfn.h's: they are the Cephes single-precision polynomials (Moshier, netlib.org/cephes: logf, sinf, cosf) with every
 * multiply-add fused. Where a sum could be fused two ways the comments say which one is the stream's.
 * Plain loops over eight lanes: the compiler makes one vector of them; below v3, fma() is libm's, slow and the same.
 */
#include "random_block.h"

#include <math.h>

#include "../core/half.h"
#include "../core/isa.h"

void FC_ISA_NAME(fc_uniform_f32)(float *out, const uint32_t *word, int64_t n, float from, float to)
{
    const float range = to - from;
    for (int64_t k = 0; k < n; ++k) {
        const float x = fmaf((float)(int32_t)(word[k] & 0xffffff) * 0x1p-24f, range, from);
        out[k] = x >= to ? from : x;
    }
}

/* A pair of words is the number high * 2^32 + low, of which 53 bits count. */
void FC_ISA_NAME(fc_below_f32)(float *out, const uint32_t *word, int64_t n, int64_t limit)
{
    for (int64_t k = 0; k < n; ++k)
        out[k] = fc_draw53(word + 2 * k) < limit ? 1.0f : 0.0f;
}

/* x in (0, 1] */
static inline float log_cephes(float x)
{
    const uint32_t bits = fc_bits_f32(x);
    float e = (float)((int32_t)(bits >> 23) - 126);
    float m = fc_f32_of_bits((bits & 0x007fffffu) | 0x3f000000u); /* [0.5, 1) */
    const int low = m < 0.707106781186547524f;
    e = low ? e - 1.0f : e;
    m = (m - 1.0f) + (low ? m : 0.0f);
    const float z = m * m;
    float y = 7.0376836292e-2f;
    y = fmaf(y, m, -1.1514610310e-1f);
    y = fmaf(y, m, 1.1676998740e-1f);
    y = fmaf(y, m, -1.2420140846e-1f);
    y = fmaf(y, m, 1.4249322787e-1f);
    y = fmaf(y, m, -1.6668057665e-1f);
    y = fmaf(y, m, 2.0000714765e-1f);
    y = fmaf(y, m, -2.4999993993e-1f);
    y = fmaf(y, m, 3.3333331174e-1f);
    y = y * m;
    y = fmaf(y, z, e * -2.12194440e-4f); /* not y * z + fma(e, q1, 0) */
    y = fmaf(z, -0.5f, y);
    return fmaf(e, 0.693359375f, m + y);
}

/* x in [0, 2 pi]: the quadrant by 4 / pi, reduction in three parts, both polynomials, then a choice */
static inline void sincos_cephes(float x, float *sin_x, float *cos_x)
{
    int32_t octant = (int32_t)(x * 1.27323954473516f);
    octant = (octant + 1) & ~1;
    const float k = (float)octant;
    x = fmaf(k, -0.78515625f, x);
    x = fmaf(k, -2.4187564849853515625e-4f, x);
    x = fmaf(k, -3.77489497744594108e-8f, x);
    const float z = x * x;

    float c = 2.443315711809948e-5f;
    c = fmaf(c, z, -1.388731625493765e-3f);
    c = fmaf(c, z, 4.166664568298827e-2f);
    c = c * z;
    c = fmaf(c, z, -(z * 0.5f)) + 1.0f; /* not fma(z, -0.5, c * z) */

    float s = -1.9515295891e-4f;
    s = fmaf(s, z, 8.3321608736e-3f);
    s = fmaf(s, z, -1.6666654611e-1f);
    s = s * z;
    s = fmaf(s, x, x);

    const int swap = (octant & 2) != 0;
    const uint32_t sin_sign = (uint32_t)(octant & 4) << 29;
    const uint32_t cos_sign = (uint32_t)(~(octant - 2) & 4) << 29;
    *sin_x = fc_f32_of_bits(fc_bits_f32(swap ? c : s) ^ sin_sign);
    *cos_x = fc_f32_of_bits(fc_bits_f32(swap ? s : c) ^ cos_sign);
}

void FC_ISA_NAME(fc_normal_f32)(float *d, int64_t blocks, float mean, float std)
{
    for (int64_t b = 0; b < blocks; ++b, d += 16) {
        float even[8], odd[8];
        for (int j = 0; j < 8; ++j) {
            const float r = sqrtf(-2.0f * log_cephes(1.0f - d[j]));
            float s, c;
            sincos_cephes(6.28318530717958647692f * d[j + 8], &s, &c);
            even[j] = fmaf(r * c, std, mean);
            odd[j] = fmaf(r * s, std, mean);
        }
        for (int j = 0; j < 8; ++j) {
            d[j] = even[j];
            d[j + 8] = odd[j];
        }
    }
}
