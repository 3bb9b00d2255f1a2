/* float: the error function and what is made of it, branch-free. */
#ifndef FC_MATHFN_F32_ERF_H
#define FC_MATHFN_F32_ERF_H

/* from 1 on 1 - 2**-q, no smaller than 2**-26, so that no lane is ever slowed by subnormals */
FC_MATH f32 fc_erf_f32(f32 x)
{
    const f32 a = fabsf(x), z = x * x, far = a > 4 ? 4 : a;
    f32 p = 0x1.47726ap-14f;
    p = fc_fma_f32(p, z, -0x1.a3517ep-11f);
    p = fc_fma_f32(p, z, 0x1.53f226p-8f);
    p = fc_fma_f32(p, z, -0x1.b7f71ap-6f);
    p = fc_fma_f32(p, z, 0x1.ce2ce6p-4f);
    p = fc_fma_f32(p, z, -0x1.81273ep-2f);
    p = fc_fma_f32(p, z, 0x1.06eba8p-3f);
    const f32 inner = fc_fma_f32(a, p, a);
    f32 q = 0x1.fe9202p-16f;
    q = fc_fma_f32(q, far, -0x1.489ff4p-11f);
    q = fc_fma_f32(q, far, 0x1.8a5f68p-8f);
    q = fc_fma_f32(q, far, -0x1.28e0a4p-5f);
    q = fc_fma_f32(q, far, 0x1.3fedeep-3f);
    q = fc_fma_f32(q, far, 0x1.d3d3eap-1f);
    q = fc_fma_f32(q, far, 0x1.a129e8p+0f);
    q = fc_fma_f32(q, far, -0x1.0844f4p-12f);
    const f32 turn = 0x1.8p23f - q, r = (0x1.8p23f - turn) - q;
    const f32 power = fc_f32_of_bits((fc_bits_f32(turn) << 23) + (UINT32_C(127) << 23));
    return copysignf(a < 1 ? inner : fc_fma_f32(-fc_exp2_small_f32(r), power, 1), x);
}

/* a b - product, the part that rounding it lost */
FC_MATH f32 fc_product_rest_f32(f32 a, f32 b, f32 product)
{
#if FC_HAS_FMA
    return fmaf(a, b, -product);
#else
    return (f32)((f64)a * b - product);
#endif
}

/* erfc(a + da) for a >= 0 and a da that is below a's last place.
 *
 *   erfc(a) = e**-(a a) (1 + P(q)) / (1 + 2 a),  q = (a - 2) / (a + 2)
 *
 * after Shepherd and Laframboise, Chebyshev Approximation of (1 + 2x) exp(x^2) erfc x (1981), Math. Comp. 36. Both quotients are
 * mended by their residuals; e**r = 1 + w keeps the bits that rounding 1 + w loses, minus what the square's rounding and da add to
 * the exponent. */
FC_MATH f32 fc_erfc_core_f32(f32 size, f32 da)
{
    const f32 a = size > 10.5f ? 10.5f : size;
    const f32 both = 1 / ((a + 2) * (2 * a + 1)), inverse = both * (2 * a + 1), q0 = (a - 2) * inverse;
    const f32 q = fc_fma_f32(fc_fma_f32(-q0, a, fc_fma_f32(-2, q0 + 1, a)), inverse, q0);
    f32 p = 0x1.af0854p-14f;
    p = fc_fma_f32(p, q, 0x1.a39a62p-13f);
    p = fc_fma_f32(p, q, -0x1.c76396p-12f);
    p = fc_fma_f32(p, q, -0x1.8185ccp-10f);
    p = fc_fma_f32(p, q, 0x1.4cb206p-10f);
    p = fc_fma_f32(p, q, 0x1.1e51c8p-7f);
    p = fc_fma_f32(p, q, -0x1.07430ap-7f);
    p = fc_fma_f32(p, q, -0x1.bc357ep-5f);
    p = fc_fma_f32(p, q, 0x1.4ffa1ep-3f);
    p = fc_fma_f32(p, q, -0x1.54077ep-3f);
    p = fc_fma_f32(p, q, -0x1.7bf5ecp-4f);
    p = fc_fma_f32(p, q, 0x1.1ba038p-2f);
    const f32 scale = both * (a + 2), g0 = fc_fma_f32(p, scale, scale);
    const f32 g = fc_fma_f32(fc_fma_f32(-2 * a, g0, 1) - g0 + p, scale, g0);

    const f32 s = a * a, rest = fc_fma_f32(2 * a, da, fc_product_rest_f32(a, a, s));
    const fc_exp_parts_f32 e = fc_exp_split_f32(-s);
    const f32 w = fc_exp_less_1_f32(e.r), high = 1 + w, low = fc_fma_f32(-rest, high, w - (high - 1));
    const int32_t half = e.n >> 1;
    return fc_fma_f32(high, g, low * g) * fc_power2_f32(half) * fc_power2_f32(e.n - half);
}

FC_MATH f32 fc_erfc_f32(f32 x)
{
    const f32 y = fc_erfc_core_f32(fabsf(x), 0);
    return x < 0 ? 2 - y : y;
}

/* erfc(-x / sqrt(2)) / 2: the argument's rounding would grow by its square, so it goes along */
FC_MATH f32 fc_ndtr_f32(f32 of)
{
    const f32 x = of > 9 ? 9 : of, size = fabsf(x), a = size > 16 ? 16 : size, u = a * 0x1.6a09e6p-1f; /* beyond 9 it is 1; what it lacks would be denormal */
#if FC_HAS_FMA
    const f32 du = fmaf(a, 0x1.9fcef4p-27f, fmaf(a, 0x1.6a09e6p-1f, -u));
#else
    const f32 du = (f32)((f64)a * 0x1.6a09e667f3bcdp-1 - u);
#endif
    const f32 y = 0.5f * fc_erfc_core_f32(u, du);
    return x < 0 ? y : 1 - y;
}

/* The normal distribution for gelu's gradient: Phi(-|x|) and e**(-x x / 2). Half the work of fc_ndtr_f32 for another unit of the last
 * place: one quotient, unmended.
 *
 *   Phi(-a) = e**(-a a / 2) P(q) / (a + k),  q = 1 - 2 k / (a + k),  k = 5/2
 */
typedef struct { f32 below, bell; } fc_normal_f32;

FC_MATH fc_normal_f32 fc_normal_of_f32(f32 x)
{
    const f32 size = fabsf(x), a = size > 14.5f ? 14.5f : size, half = 0.5f * a, s = half * a;
    const f32 rest = fc_product_rest_f32(half, a, s);
    const f32 inverse = 1 / (a + 2.5f), q = fc_fma_f32(-5, inverse, 1);
    f32 p = -0x1.5f1202p-13f;
    p = fc_fma_f32(p, q, -0x1.4fc88p-12f);
    p = fc_fma_f32(p, q, 0x1.6e7906p-11f);
    p = fc_fma_f32(p, q, 0x1.4c5538p-9f);
    p = fc_fma_f32(p, q, -0x1.a5b404p-10f);
    p = fc_fma_f32(p, q, -0x1.0c8dd6p-6f);
    p = fc_fma_f32(p, q, 0x1.2eb28ep-7f);
    p = fc_fma_f32(p, q, 0x1.0e4f98p-3f);
    p = fc_fma_f32(p, q, -0x1.bc19cap-2f);
    p = fc_fma_f32(p, q, 0x1.69cee6p-1f);
    const f32 g = p * inverse;

    const fc_exp_parts_f32 e = fc_exp_split_f32(-s);
    const f32 w = fc_exp_less_1_f32(e.r - rest);
    const int32_t n = e.n >> 1;
    const f32 one = fc_power2_f32(n), two = fc_power2_f32(e.n - n);
    return (fc_normal_f32){fc_fma_f32(w, g, g) * one * two, (w + 1) * one * two};
}

FC_MATH f32 fc_gelu_gradient_f32(f32 g, f32 x)
{
    const fc_normal_f32 normal = fc_normal_of_f32(x);
    const f32 above = 1 - normal.below, phi = x < 0 ? normal.below : above;
    return g * fc_fma_f32(x * 0x1.988454p-2f, normal.bell, phi);
}

#endif
