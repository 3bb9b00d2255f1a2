/* double: what needs pairs: powers, logarithms to bases that are not e, GELU by tanh. */
#ifndef FC_MATHFN_F64_POW_H
#define FC_MATHFN_F64_POW_H

/* log2(x) for positive finite x, good to 2**-65: log(m) = 2 s + 2/3 s**3 + s**5 P(s s), s = (m - 1) / (m + 1), as pairs */
FC_MATH fc_pair fc_log2_pair(f64 x)
{
    const fc_log_parts_f64 l = fc_log_split_f64(x);
    const f64 f = l.f, d = f + 2, d_low = f - (d - 2);
    const f64 s = f / d;
    const fc_pair sd = fc_product2(s, d);
    const f64 s_low = (f - sd.high - sd.low - s * d_low) / d;

    const fc_pair z = fc_product2(s, s);
    const f64 z_low = fc_fma_f64(2 * s, s_low, z.low);
    f64 p = 0x1.eac5b43edd062p-4;
    p = fc_fma_f64(p, z.high, 0x1.de3d71ba37d9bp-4);
    p = fc_fma_f64(p, z.high, 0x1.11206f28e98bbp-3);
    p = fc_fma_f64(p, z.high, 0x1.3b1364c959059p-3);
    p = fc_fma_f64(p, z.high, 0x1.745d182956896p-3);
    p = fc_fma_f64(p, z.high, 0x1.c71c71c5968f4p-3);
    p = fc_fma_f64(p, z.high, 0x1.2492492492f51p-2);
    p = fc_fma_f64(p, z.high, 0x1.9999999999996p-2);
    const fc_pair c = fc_sum2_ordered(0x1.5555555555555p-1, fc_fma_f64(z.high, p, 0x1.5555555555555p-55));
    const fc_pair t = fc_product2(z.high, c.high); /* log(m) = s (2 + t) */
    const f64 t_low = fc_fma_f64(z.high, c.low, fc_fma_f64(z_low, c.high, t.low));
    const fc_pair g = fc_sum2_ordered(2, t.high);
    const fc_pair y = fc_product2(s, g.high);
    const f64 y_low = fc_fma_f64(s, g.low + t_low, fc_fma_f64(s_low, g.high, y.low));

    const fc_pair b = fc_product2(y.high, 0x1.71547652b82fep+0);
    const f64 b_low = fc_fma_f64(y_low, 0x1.71547652b82fep+0, fc_fma_f64(y.high, 0x1.777d0ffda0d24p-56, b.low));
    const fc_pair sum = fc_sum2(l.n, b.high);
    return fc_sum2_ordered(sum.high, sum.low + b_low);
}

FC_MATH f64 fc_log2_f64(f64 x)
{
    const fc_pair y = fc_log2_pair(x);
    return fc_log_edges_f64(x, y.high + y.low);
}

FC_MATH f64 fc_log10_f64(f64 x)
{
    const fc_pair y = fc_log2_pair(x), t = fc_product2(y.high, 0x1.34413509f79ffp-2);
    const f64 low = fc_fma_f64(y.high, -0x1.9dc1da994fd21p-59, fc_fma_f64(y.low, 0x1.34413509f79ffp-2, t.low));
    return fc_log_edges_f64(x, t.high + low);
}

FC_MATH f64 fc_pow_f64(f64 x, f64 y)
{
    const f64 a = fabs(x), half = 0.5 * y;
    const int whole = rint(y) == y, odd = whole & (rint(half) != half);
    const int negative = (int)(fc_bits_f64(x) >> 63);

    const fc_pair l = fc_log2_pair(a);
    const f64 bounded = y > 0x1p80 ? 0x1p80 : y < -0x1p80 ? -0x1p80 : y; /* beyond, only over- and underflow; keeps the pair finite */
    const fc_pair w = fc_product2(bounded, l.high);
    const f64 w_low = fc_fma_f64(bounded, l.low, w.low);
    const f64 above = w.high < -1100 ? -1100 : w.high, c = above > 1100 ? 1100 : above;
    const f64 n = c + 0x1.8p52 - 0x1.8p52, r = (c - n) + (c == w.high ? w_low : 0);
    const f64 finite = fc_scale_f64(fc_exp2_small_f64(r), n);

    const f64 edge = (a < 1) == (y < 0) ? INFINITY : 0; /* of a = 0, inf or y = +-inf */
    const f64 size = (a == 0) | (a == INFINITY) | (fabs(y) == INFINITY) ? edge : finite;
    const f64 one = a == 1 ? 1 : size;
    const f64 real = (x < 0) & !whole & (a < INFINITY) ? NAN : negative & odd ? -one : one;
    return (x == 1) | (y == 0) ? 1 : (x != x) | (y != y) ? NAN : real;
}

/* x / (1 + e**-u), u = 2 sqrt(2 / pi) (x + 0.044715 x**3) as a pair; e**(high + low) = e**high (1 + low) */
FC_MATH f64 fc_gelu_tanh_f64(f64 x)
{
    const f64 below = x < -60 ? -60 : x, c = below > 60 ? 60 : below;
    const fc_pair s = fc_product2(c, c), t = fc_product2(0x1.2444f2a4d8b4bp-4, s.high);
    const fc_pair w = fc_sum2(0x1.9884533d43651p+0, t.high), u = fc_product2(c, w.high);
    const f64 w_low = w.low + fc_fma_f64(0x1.2444f2a4d8b4bp-4, s.low, fc_fma_f64(-0x1.6c843a29d1c70p-61, s.high, t.low + -0x1.cbc0d30ebfd15p-54));
    const f64 low = fc_fma_f64(c, w_low, u.low), e = fc_exp_f64(-fabs(u.high));
    const f64 mended = fc_fma_f64(e, u.high < 0 ? low : -low, e);
    return x == -INFINITY ? NAN : (x < 0 ? x * mended : x) / (1 + mended);
}

#endif
