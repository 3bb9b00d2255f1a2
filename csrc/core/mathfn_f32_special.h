/* float: special functions by double arithmetic and no call, branch-free; the result is rounded once. Coefficients: tools/minimax.py. */
#ifndef FC_MATHFN_F32_SPECIAL_H
#define FC_MATHFN_F32_SPECIAL_H

/* sin(pi p), |p| <= 1/2, good to 2**-50 of its value */
FC_MATH f64 fc_sinpi_mid(f64 p)
{
    const f64 z = p * p;
    f64 s = -0x1.61fee0d809060p-16;
    s = fc_fma_f64(s, z, 0x1.e897ad1724a0dp-12);
    s = fc_fma_f64(s, z, -0x1.e3060820b3625p-8);
    s = fc_fma_f64(s, z, 0x1.50783201ccf88p-4);
    s = fc_fma_f64(s, z, -0x1.32d2cce0bd6e8p-1);
    s = fc_fma_f64(s, z, 0x1.466bc6774f218p+1);
    s = fc_fma_f64(s, z, -0x1.4abbce625bd25p+2);
    s = fc_fma_f64(s, z, 0x1.921fb54442d17p+1);
    return s * p;
}

/* log |Gamma(x)|, a = |x|. One logarithm, of
 *
 *   1 / Gamma(a) = 1 + (a - 1)(a - 2)(a S(a) - 1/2)     up to 5/2: near its roots the result keeps its digits, and near 0
 *   a, for Stirling's (a - 1/2) log a - a + log(2 pi) / 2 + P(1 / a**2) / a     beyond
 *
 * For negative x by reflection, log(pi / (a sin(pi a))) less that of a, which up to 5/2 is the logarithm of a product, too. `far`: x may
 * be below -5/2, and a second logarithm is taken. */
FC_MATH f32 fc_lgamma_of_f32(f32 x, int far)
{
    const f64 a = fabsf(x), part = a - rint(a), w = (a - 1) * (a - 2), inverse = 1 / a;
    const int large = a > 2.5, negative = x < 0;
    f64 s = 0x1.998ad00d9852bp-42;
    s = fc_fma_f64(s, a, -0x1.651b943aa232ep-37);
    s = fc_fma_f64(s, a, 0x1.145f230ec142bp-33);
    s = fc_fma_f64(s, a, -0x1.c6e794de168aep-31);
    s = fc_fma_f64(s, a, 0x1.0b613a9cdaf94p-29);
    s = fc_fma_f64(s, a, 0x1.08c2fd498937ap-26);
    s = fc_fma_f64(s, a, -0x1.6a1d426bed07dp-23);
    s = fc_fma_f64(s, a, 0x1.4608e374f8f61p-21);
    s = fc_fma_f64(s, a, 0x1.decda1294dc35p-21);
    s = fc_fma_f64(s, a, -0x1.38f75f1253d2bp-16);
    s = fc_fma_f64(s, a, 0x1.26cd1a7e32eb4p-14);
    s = fc_fma_f64(s, a, 0x1.144ca102279e8p-15);
    s = fc_fma_f64(s, a, -0x1.3c63f82364538p-10);
    s = fc_fma_f64(s, a, 0x1.cefb4796ef537p-9);
    s = fc_fma_f64(s, a, 0x1.bc29fe4c6773fp-9);
    s = fc_fma_f64(s, a, -0x1.4046996b73fcdp-5);
    s = fc_fma_f64(s, a, 0x1.5befbc1e4a4a2p-5);
    s = fc_fma_f64(s, a, 0x1.4f119f8df6c44p-3);
    s = fc_fma_f64(s, a, -0x1.0000000000000p-2);
    const f64 small = a < 0x1p-27 ? a : fc_fma_f64(w, fc_fma_f64(a, s, -0.5), 1); /* 1 / Gamma(a) */
    const f64 sine = fabs(fc_sinpi_mid(part)), mirror = 3.14159265358979323846 * inverse / sine;
    const f64 l = fc_log2_mid(large ? a : negative ? mirror * small : small) * 0.69314718055994530942;
    const f64 z = inverse * inverse;
    f64 p = -0x1.5765266940053p-9;
    p = fc_fma_f64(p, z, 0x1.5e7f9b3694b2dp-9);
    p = fc_fma_f64(p, z, -0x1.91194d031a5aep-10);
    p = fc_fma_f64(p, z, 0x1.ab5c44aa1787fp-11);
    p = fc_fma_f64(p, z, -0x1.377dc470ee244p-11);
    p = fc_fma_f64(p, z, 0x1.a0168de660f6dp-11);
    p = fc_fma_f64(p, z, -0x1.6c16bf1777050p-9);
    p = fc_fma_f64(p, z, 0x1.555555554686cp-4);
    const f64 stirling = fc_fma_f64(a - 0.5, l, 0.91893853320467274178 - a) + p * inverse;
    const f64 beyond = far && negative ? fc_log2_mid(mirror) * 0.69314718055994530942 - stirling : stirling;
    const f64 near = negative ? l : 0 - l, y = large ? beyond : near;
    const f64 known = x != x ? x : y; /* the logarithm of NaN is any number */
    return a == 0 || a == INFINITY || (negative && part == 0) ? INFINITY : (f32)known;
}

FC_MATH f32 fc_lgamma_f32(f32 x) { return fc_lgamma_of_f32(x, 1); }

/* psi(x) = psi(x + 4) - sum of 1 / (x + k), k < 4; that of 4 and more is log z - 1 / (2 z) - P(1 / z**2) / z**2. For negative x by reflection.
 * -inf or +inf at +0 and -0, NaN at negative integers, as PyTorch. */
FC_MATH f32 fc_digamma_f32(f32 x)
{
    const f64 wide = x, a = x < 0 ? 1 - wide : wide, z = a + 4, u = a * (a + 3), inverse = 1 / z, square = inverse * inverse;
    const f64 steps = (2 * a + 3) * (2 * u + 2) / (u * (u + 2));
    f64 p = 0x1.ee894377202adp-6;
    p = fc_fma_f64(p, square, -0x1.17b553686d09cp-6);
    p = fc_fma_f64(p, square, 0x1.e49a3c6530503p-8);
    p = fc_fma_f64(p, square, -0x1.10c14daef068cp-8);
    p = fc_fma_f64(p, square, 0x1.040f1aef4b92cp-8);
    p = fc_fma_f64(p, square, -0x1.1111100c8b27dp-7);
    p = fc_fma_f64(p, square, 0x1.5555555541affp-4);
    const f64 y = fc_fma_f64(fc_log2_mid(z), 0.69314718055994530942, -steps) - fc_fma_f64(p, square, 0.5 * inverse);
    const f64 part = wide - rint(wide), cosine = fc_sinpi_mid(0.5 - fabs(part)), sine = fc_sinpi_mid(part);
    const f64 turned = y - 3.14159265358979323846 * cosine / sine;
    const f32 finite = (f32)(x < 0 ? turned : y);
    const f32 edge = x == 0 ? copysignf(INFINITY, -x) : part == 0 && x < 0 ? NAN : finite;
    return x == INFINITY ? x : x == -INFINITY ? NAN : edge;
}

/* x e**-|x| I1(|x|) / |x|: a polynomial up to 5, one in 1 / |x| over its root beyond */
FC_MATH f32 fc_i1e_f32(f32 x)
{
    const f64 a = fabsf(x), inverse = 1 / a, n = a > 5 ? 5 : a, u = a > 5 ? inverse : 0.2;
    f64 p = 0x1.8300942510f10p-35;
    p = fc_fma_f64(p, n, -0x1.0d5a0f7675c3cp-29);
    p = fc_fma_f64(p, n, 0x1.60051d533cc53p-25);
    p = fc_fma_f64(p, n, -0x1.2186dfec4fe6ep-21);
    p = fc_fma_f64(p, n, 0x1.542528be5efadp-18);
    p = fc_fma_f64(p, n, -0x1.340a14a818226p-15);
    p = fc_fma_f64(p, n, 0x1.c5b62f15fe3b5p-13);
    p = fc_fma_f64(p, n, -0x1.1a1470724686ap-10);
    p = fc_fma_f64(p, n, 0x1.2e7a3a89462eap-8);
    p = fc_fma_f64(p, n, -0x1.190aef29781d7p-6);
    p = fc_fma_f64(p, n, 0x1.bfd6ee3d144d6p-5);
    p = fc_fma_f64(p, n, -0x1.2aa703cac22d2p-3);
    p = fc_fma_f64(p, n, 0x1.3fffa65f3d5eap-2);
    p = fc_fma_f64(p, n, -0x1.fffff8f8c74c1p-2);
    p = fc_fma_f64(p, n, 0x1.ffffffe77427cp-2);
    f64 q = -0x1.46af0c74c4f9cp+9;
    q = fc_fma_f64(q, u, 0x1.5d47ba59b9aebp+9);
    q = fc_fma_f64(q, u, -0x1.175b19f5a7ff6p+8);
    q = fc_fma_f64(q, u, 0x1.b47af6ca1c5d2p+5);
    q = fc_fma_f64(q, u, -0x1.86713f833eebcp+2);
    q = fc_fma_f64(q, u, 0x1.43958cc9613bfp-2);
    q = fc_fma_f64(q, u, -0x1.b88d172d99966p-5);
    q = fc_fma_f64(q, u, -0x1.7d2db31275d30p-5);
    q = fc_fma_f64(q, u, -0x1.32640205c81bap-3);
    q = fc_fma_f64(q, u, 0x1.98845359d5e17p-2);
    const f64 y = a > 5 ? q * sqrt(u) : p * a;
    return copysignf((f32)y, x);
}

/* the number whose erf is y, |y| = a: a F(sqrt(1 + w)), w = -log(1 - a a) */
FC_MATH f32 fc_erfinv_f32(f32 y)
{
    const f64 a = fabsf(y), t = sqrt(fc_fma_f64(fc_log2_mid((1 - a) * (1 + a)), -0.69314718055994530942, 1));
    f64 f = -0x1.641bf8a118605p-29;
    f = fc_fma_f64(f, t, -0x1.6e931e9caa471p-19);
    f = fc_fma_f64(f, t, 0x1.e36570d08cc91p-14);
    f = fc_fma_f64(f, t, -0x1.21c1a851a3972p-9);
    f = fc_fma_f64(f, t, 0x1.a713e240babf4p-6);
    f = fc_fma_f64(f, t, -0x1.a55395264e037p-3);
    f = fc_fma_f64(f, t, 0x1.2f39694fb4577p+0);
    f = fc_fma_f64(f, t, -0x1.45f3cf897e9e2p+2);
    f = fc_fma_f64(f, t, 0x1.0ab2029d3c856p+4);
    f = fc_fma_f64(f, t, -0x1.4f8ed4162cb39p+5);
    f = fc_fma_f64(f, t, 0x1.45bc9f49e104ap+6);
    f = fc_fma_f64(f, t, -0x1.e69658500af4fp+6);
    f = fc_fma_f64(f, t, 0x1.14ea3012f7756p+7);
    f = fc_fma_f64(f, t, -0x1.d73fd5941deedp+6);
    f = fc_fma_f64(f, t, 0x1.2232819400f3dp+6);
    f = fc_fma_f64(f, t, -0x1.e4e0ea7b0f221p+4);
    f = fc_fma_f64(f, t, 0x1.f56c22f71f4efp+2);
    f = fc_fma_f64(f, t, -0x1.08bc566e8bdccp-2);
    const f32 x = (f32)(a * f), some = a == 1 ? INFINITY : x;
    return a <= 1 ? copysignf(some, y) : NAN;
}

#endif
