/* float through double, where an exponent would magnify float's rounding: powers, and GELU by tanh. */
#ifndef FC_MATHFN_F32_POW_H
#define FC_MATHFN_F32_POW_H

/* log2 of a positive double in the range of float, good to 2**-48: log2(m) = s P(s s), s = (m - 1) / (m + 1) */
FC_MATH f64 fc_log2_mid(f64 x)
{
    const uint64_t u = fc_bits_f64(x) - UINT64_C(0x3fe6a09e667f3bcd) + (UINT64_C(1) << 62);
    const f64 m = fc_f64_of_bits((u & UINT64_C(0xfffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
    const f64 n = fc_f64_of_bits(u >> 52 | UINT64_C(0x4330000000000000)) - (0x1p52 + 1024); /* an integer in a double's low bits */
    const f64 s = (m - 1) / (m + 1), z = s * s;
    f64 p = 0x1.f16ec990b655dp-3;
    p = fc_fma_f64(p, z, 0x1.0bb8cabcdc700p-2);
    p = fc_fma_f64(p, z, 0x1.484fa22e478cfp-2);
    p = fc_fma_f64(p, z, 0x1.a61756a493cffp-2);
    p = fc_fma_f64(p, z, 0x1.2776c51676808p-1);
    p = fc_fma_f64(p, z, 0x1.ec709dc39ccf5p-1);
    p = fc_fma_f64(p, z, 0x1.71547652b82ffp+1);
    return fc_fma_f64(s, p, n);
}

/* 2**w, good to 2**-34, for |w| <= 300 */
FC_MATH f64 fc_exp2_mid(f64 w)
{
    const f64 t = w + 0x1.8p52, r = w - (t - 0x1.8p52);
    f64 p = 0x1.fde2daf62bbf3p-17;
    p = fc_fma_f64(p, r, 0x1.445c89987ceaap-13);
    p = fc_fma_f64(p, r, 0x1.5d8a872b54dcdp-10);
    p = fc_fma_f64(p, r, 0x1.3b29f3923c4fcp-7);
    p = fc_fma_f64(p, r, 0x1.c6b08ac07d74ap-5);
    p = fc_fma_f64(p, r, 0x1.ebfbe0779dcb8p-3);
    p = fc_fma_f64(p, r, 0x1.62e42ff0e15ecp-1);
    return fc_fma_f64(p, r, 1) * fc_f64_of_bits((fc_bits_f64(t) + 1023) << 52);
}

FC_MATH f32 fc_log10_f32(f32 x)
{
    return fc_log_edges_f32(x, (f32)(fc_log2_mid(x) * 0x1.34413509f79ffp-2));
}

FC_MATH f32 fc_pow_f32(f32 x, f32 y)
{
    const f32 a = fabsf(x), half = 0.5f * y;
    const int whole = rintf(y) == y, odd = whole & (rintf(half) != half);
    const int negative = fc_bits_f32(x) >> 31;
    const f64 finite = a < INFINITY ? fc_log2_mid(a) : (f64)a;
    const f64 w = y * (a == 0 ? -INFINITY : finite);
    const f64 above = w < -300 ? -300 : w;
    const f32 size = (f32)fc_exp2_mid(above > 300 ? 300 : above);
    const f32 one = (a == 1) | (y == 0) ? 1 : size;
    const f32 real = (x < 0) & !whole & (a < INFINITY) ? NAN : negative & odd ? -one : one;
    /* x**0 and 1**y are 1 even for NaN; |x| = 1 settles (-1)**inf, not (-1)**NaN */
    return (x == 1) | (y == 0) ? 1 : (x != x) | (y != y) ? NAN : real;
}

/* GELU with tanh (Hendrycks and Gimpel, arXiv:1606.08415): x (1 + tanh(u / 2)) / 2 = x / (1 + e**-u), which does not cancel;
 * u = 2 sqrt(2 / pi) (x + 0.044715 x**3), here over ln 2. NaN at -inf, as every x Phi(x) of PyTorch. */
FC_MATH f32 fc_gelu_tanh_f32(f32 x)
{
    const f64 u = (f64)x * (2.30220819814432489 + 0.102943239580023487 * ((f64)x * x));
    const f64 below = u < -300 ? -300 : u;
    const f32 y = (f32)(x / (1 + fc_exp2_mid(-(below > 300 ? 300 : below))));
    return x == -INFINITY ? NAN : y;
}

#endif
