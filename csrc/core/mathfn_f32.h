/* float: exponentials, logarithms, hyperbolics. Branch-free: both sides of every ?: are computed, so loops vectorise.
 *
 * Coefficients: tools/minimax.py. Range reductions after Cody and Waite, Software Manual for the Elementary Functions (1980). */
#ifndef FC_MATHFN_F32_H
#define FC_MATHFN_F32_H

/* 2**k, -126 <= k <= 127 */
FC_MATH f32 fc_power2_f32(int32_t k) { return fc_f32_of_bits((uint32_t)(k + 127) << 23); }

/* x = n ln 2 + r, |r| <= ln 2 / 2. Adding 1.5 * 2**23 rounds x / ln 2 to an integer and leaves it in the low bits: no conversion,
 * which NaN would make undefined. */
typedef struct { f32 r; int32_t n; } fc_exp_parts_f32;

FC_MATH fc_exp_parts_f32 fc_exp_split_f32(f32 x)
{
    const f32 t = fc_fma_f32(x, 0x1.715476p+0f, 0x1.8p23f), n = t - 0x1.8p23f;
    const f32 r = fc_fma_f32(-n, 0x1.62e4p-1f, x);
    return (fc_exp_parts_f32){fc_fma_f32(-n, 0x1.7f7d1cp-20f, r), (int32_t)(fc_bits_f32(t) - 0x4b400000u)};
}

/* e**r - 1, |r| <= ln 2 / 2 */
FC_MATH f32 fc_exp_less_1_f32(f32 r)
{
    f32 p = 0x1.6a5138p-10f;
    p = fc_fma_f32(p, r, 0x1.12397cp-7f);
    p = fc_fma_f32(p, r, 0x1.5558acp-5f);
    p = fc_fma_f32(p, r, 0x1.555492p-3f);
    p = fc_fma_f32(p, r, 0x1.fffffcp-2f);
    return fc_fma_f32(p, r * r, r);
}

/* 2**r, |r| <= 1/2 */
FC_MATH f32 fc_exp2_small_f32(f32 r)
{
    f32 p = 0x1.417944p-13f;
    p = fc_fma_f32(p, r, 0x1.5f094ap-10f);
    p = fc_fma_f32(p, r, 0x1.3b2dd4p-7f);
    p = fc_fma_f32(p, r, 0x1.c6af7ap-5f);
    p = fc_fma_f32(p, r, 0x1.ebfbdcp-3f);
    p = fc_fma_f32(p, r, 0x1.62e43p-1f);
    return fc_fma_f32(p, r, 1);
}

/* e**x 2**shift, |shift| <= 40; the power of two goes in halves so that only the last step can leave the normal range. Far above, n stops
 * and r grows on, to infinity; as words, one instruction holds n back, and passes NaN by. */
FC_MATH f32 fc_exp_shifted_f32(f32 x, int32_t shift)
{
    const f32 above = x < -104 ? -104 : x, turn = fc_fma_f32(above, 0x1.715476p+0f, 0x1.8p23f);
    const int32_t zero = 0x4b400000, bits = (int32_t)fc_bits_f32(turn), k = bits < zero + 130 ? bits : zero + 130;
    const f32 n = fc_f32_of_bits((uint32_t)k) - 0x1.8p23f;
    const f32 r = fc_fma_f32(-n, 0x1.7f7d1cp-20f, fc_fma_f32(-n, 0x1.62e4p-1f, above));
    const f32 y = fc_exp_less_1_f32(r) + 1;
    /* the halves of zero + n, less zero's, are those of n: the bias rides along with the exponents' */
    const uint32_t all = (uint32_t)(k + shift), half = all >> 1, bias = (127u - (uint32_t)(zero / 2)) << 23;
    return y * fc_f32_of_bits((half << 23) + bias) * fc_f32_of_bits(((all - half) << 23) + bias);
}

FC_MATH f32 fc_exp_f32(f32 x) { return fc_exp_shifted_f32(x, 0); }

FC_MATH f32 fc_exp2_f32(f32 x)
{
    const f32 above = x < -152 ? -152 : x, c = above > 130 ? 130 : above;
    const f32 t = c + 0x1.8p23f, r = c - (t - 0x1.8p23f);
    const int32_t k = (int32_t)(fc_bits_f32(t) - 0x4b400000u), half = k >> 1;
    return fc_exp2_small_f32(r) * fc_power2_f32(half) * fc_power2_f32(k - half);
}

/* 2**n e**r - 1 = 2**n (e**r - 1) + (2**n - 1), at half size so that n = 128 fits */
FC_MATH f32 fc_expm1_f32(f32 x)
{
    const f32 above = x < -18 ? -18 : x;
    const fc_exp_parts_f32 e = fc_exp_split_f32(above > 89 ? 89 : above);
    f32 p = 0x1.9e021ep-13f;
    p = fc_fma_f32(p, e.r, 0x1.6d3c78p-10f);
    p = fc_fma_f32(p, e.r, 0x1.11130ap-7f);
    p = fc_fma_f32(p, e.r, 0x1.5554f6p-5f);
    p = fc_fma_f32(p, e.r, 0x1.555554p-3f);
    p = fc_fma_f32(p, e.r, 0x1.p-1f);
    const f32 y = fc_fma_f32(p, e.r * e.r, e.r), s = fc_power2_f32(e.n - 1);
    const f32 wide = 2 * fc_fma_f32(s, y, s - 0.5f);
    return fabsf(x) < 0x1p-25f ? x : wide;
}

/* x = 2**n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); subnormals are scaled up first */
typedef struct { f32 f, n; } fc_log_parts_f32;

FC_MATH fc_log_parts_f32 fc_log_split_f32(f32 x)
{
    const int tiny = x < FLT_MIN;
    const uint32_t u = fc_bits_f32(tiny ? x * 0x1p23f : x) - 0x3f3504f3u;
    const f32 m = fc_f32_of_bits((u & 0x7fffff) + 0x3f3504f3u);
    return (fc_log_parts_f32){m - 1, (f32)((int32_t)u >> 23) - (tiny ? 23.f : 0.f)};
}

/* n ln 2 + log(1 + f), small terms first */
FC_MATH f32 fc_log_join_f32(f32 f, f32 n)
{
    const f32 z = f * f;
    f32 p = -0x1.38b852p-4f;
    p = fc_fma_f32(p, f, 0x1.05601ap-3f);
    p = fc_fma_f32(p, f, -0x1.0d862cp-3f);
    p = fc_fma_f32(p, f, 0x1.22d912p-3f);
    p = fc_fma_f32(p, f, -0x1.547214p-3f);
    p = fc_fma_f32(p, f, 0x1.99a01cp-3f);
    p = fc_fma_f32(p, f, -0x1.000228p-2f);
    p = fc_fma_f32(p, f, 0x1.555554p-2f);
    const f32 low = fc_fma_f32(n, 0x1.7f7d1cp-20f, f * z * p);
    return fc_fma_f32(n, 0x1.62e4p-1f, f + fc_fma_f32(-0.5f, z, low));
}

/* what a logarithm y of x is outside (0, inf) */
FC_MATH f32 fc_log_edges_f32(f32 x, f32 y)
{
    const f32 positive = x < INFINITY ? y : x;
    return x > 0 ? positive : x == 0 ? -INFINITY : NAN;
}

FC_MATH f32 fc_log_f32(f32 x)
{
    const fc_log_parts_f32 l = fc_log_split_f32(x);
    return fc_log_edges_f32(x, fc_log_join_f32(l.f, l.n));
}

FC_MATH f32 fc_log2_f32(f32 x)
{
    const fc_log_parts_f32 l = fc_log_split_f32(x);
    f32 p = -0x1.c0ad9cp-4f;
    p = fc_fma_f32(p, l.f, 0x1.7d6a2ap-3f);
    p = fc_fma_f32(p, l.f, -0x1.87ace6p-3f);
    p = fc_fma_f32(p, l.f, 0x1.a2fe92p-3f);
    p = fc_fma_f32(p, l.f, -0x1.eaaf28p-3f);
    p = fc_fma_f32(p, l.f, 0x1.277e86p-2f);
    p = fc_fma_f32(p, l.f, -0x1.715acep-2f);
    p = fc_fma_f32(p, l.f, 0x1.ec7094p-2f);
    p = fc_fma_f32(p, l.f, -0x1.71547p-1f);
    const f32 low = fc_fma_f32(l.f, 0x1.4ae0cp-26f, l.f * l.f * p);
    return fc_log_edges_f32(x, fc_fma_f32(l.f, 0x1.715476p+0f, low) + l.n);
}

/* of 1 + x: split u = 1 + x, but take f from x itself: f = x / 2**n + (1 / 2**n - 1) in one rounding. Quarters keep 2**-128 normal. */
FC_MATH fc_log_parts_f32 fc_log1p_split_f32(f32 x)
{
    const int32_t n = (int32_t)(fc_bits_f32(1 + x) - 0x3f3504f3u) >> 23;
    const f32 s = fc_f32_of_bits((uint32_t)(129 - n) << 23);
    return (fc_log_parts_f32){fc_fma_f32(0.25f * x, s, 0.25f * s - 1), (f32)n};
}

FC_MATH f32 fc_log1p_f32(f32 x)
{
    const fc_log_parts_f32 l = fc_log1p_split_f32(x);
    const f32 y = fc_log_edges_f32(1 + x, fc_log_join_f32(l.f, l.n));
    return fabsf(x) < 0x1p-24f ? x : y;
}

/* from 0.7 on 1 - 2 / (1 + e**2a), where e**2a = 2**k 2**r needs no more digits than the quotient is worth; k stops at 30 */
FC_MATH f32 fc_tanh_f32(f32 x)
{
    const f32 a = fabsf(x), z = x * x;
    f32 p = -0x1.50e502p-8f;
    p = fc_fma_f32(p, z, 0x1.493a12p-6f);
    p = fc_fma_f32(p, z, -0x1.b6c364p-5f);
    p = fc_fma_f32(p, z, 0x1.10fb0ap-3f);
    p = fc_fma_f32(p, z, -0x1.5554f6p-2f);
    const f32 inner = fc_fma_f32(z * a, p, a), turn = fc_fma_f32(a, 0x1.715476p+1f, 0x1.8p23f);
    const int32_t bits = (int32_t)fc_bits_f32(turn), k = bits < 0x4b400000 + 30 ? bits : 0x4b400000 + 30;
    const f32 r = fc_fma_f32(a, 0x1.715476p+1f, 0x1.8p23f - fc_f32_of_bits((uint32_t)k));
    const f32 power = fc_f32_of_bits(((uint32_t)k << 23) + (127u << 23));
    const f32 outer = 1 - 2 / fc_fma_f32(fc_exp2_small_f32(r), power, 1);
    return copysignf(a < 0.7f ? inner : outer, x);
}

/* half of e**a straight from exp, so that nothing overflows early */
FC_MATH f32 fc_sinh_f32(f32 x)
{
    const f32 a = fabsf(x), z = x * x, half = fc_exp_shifted_f32(a, -1);
    f32 p = 0x1.756cc4p-19f;
    p = fc_fma_f32(p, z, 0x1.a022bcp-13f);
    p = fc_fma_f32(p, z, 0x1.1110ep-7f);
    p = fc_fma_f32(p, z, 0x1.555556p-3f);
    const f32 inner = fc_fma_f32(z * x, p, x);
    return a < 1 ? inner : copysignf(half - 0.25f / half, x);
}

FC_MATH f32 fc_cosh_f32(f32 x)
{
    const f32 half = fc_exp_shifted_f32(fabsf(x), -1);
    return half + 0.25f / half;
}

/* the C library's: in no hot loop */

#endif
