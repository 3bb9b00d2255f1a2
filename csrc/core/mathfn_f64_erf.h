/* double: the error function and what is made of it, branch-free; mathfn_f32_erf.h explains. Long polynomials are two chains, of the high and of the low
 * powers, side by side: one waited for itself (erfc of 1e5 785 us, 590 so), and even and odd powers apart would round twice at the top. */
#ifndef FC_MATHFN_F64_ERF_H
#define FC_MATHFN_F64_ERF_H

/* erfc(a + da), a >= 0, and e**(a a) times it; q = (a - 3) / (a + 3) here */
typedef struct { f64 value, scaled; } fc_erfc_parts_f64;

FC_MATH fc_erfc_parts_f64 fc_erfc_parts_of_f64(f64 size, f64 da)
{
    const f64 a = size > 27.5 ? 27.5 : size;
    const f64 both = 1 / ((a + 3) * (2 * a + 1)), inverse = both * (2 * a + 1), q0 = (a - 3) * inverse;
    const f64 q = fc_fma_f64(fc_fma_f64(-q0, a, fc_fma_f64(-3, q0 + 1, a)), inverse, q0);
    const f64 p_2 = q * q, p_4 = p_2 * p_2, p_8 = p_4 * p_4;
    f64 p_high = -0x1.17aa3e2f21a04p-30, p = 0x1.0659ef9987051p-13;
    p_high = fc_fma_f64(p_high, q, -0x1.b8945e736ea3ap-28);
    p = fc_fma_f64(p, q, -0x1.b912b5e64a1eap-14);
    p_high = fc_fma_f64(p_high, q, -0x1.9b948ce3a9a87p-28);
    p = fc_fma_f64(p, q, -0x1.98db4e5b751a4p-11);
    p_high = fc_fma_f64(p_high, q, 0x1.5f0d67b512557p-25);
    p = fc_fma_f64(p, q, 0x1.ef1bddd8e4c32p-10);
    p_high = fc_fma_f64(p_high, q, 0x1.838e85738308fp-24);
    p = fc_fma_f64(p, q, 0x1.4b884e34d18c7p-9);
    p_high = fc_fma_f64(p_high, q, -0x1.3454de809b6d0p-23);
    p = fc_fma_f64(p, q, -0x1.8574c40c8bb0ap-6);
    p_high = fc_fma_f64(p_high, q, -0x1.4570261cdc647p-21);
    p = fc_fma_f64(p, q, 0x1.17ca2877f647ap-4);
    p_high = fc_fma_f64(p_high, q, 0x1.82a67aa489823p-22);
    p = fc_fma_f64(p, q, -0x1.e88b803a4725ep-4);
    p_high = fc_fma_f64(p_high, q, 0x1.d1451947c2369p-19);
    p = fc_fma_f64(p, q, 0x1.098366a5b4643p-3);
    p_high = fc_fma_f64(p_high, q, -0x1.89f223510dfbfp-21);
    p = fc_fma_f64(p, q, -0x1.85a15c58aa714p-5);
    p_high = fc_fma_f64(p_high, q, -0x1.51321eb2ac4f5p-16);
    p = fc_fma_f64(p, q, -0x1.15c084bb9e8f4p-3);
    p_high = fc_fma_f64(p_high, q, 0x1.4c370fe6da48ep-18);
    p = fc_fma_f64(p, q, 0x1.03148b5f9261dp-2);
    p = fc_fma_f64(p_high, p_4 * p_8, p);
    const f64 scale = both * (a + 3), g0 = fc_fma_f64(p, scale, scale);
    const f64 g = fc_fma_f64(fc_fma_f64(-2 * a, g0, 1) - g0 + p, scale, g0);

    const fc_pair s = fc_product2(a, a);
    const f64 rest = fc_fma_f64(2 * a, da, s.low);
    const fc_exp_parts_f64 e = fc_exp_split_f64(-s.high);
    const f64 t_2 = e.r * e.r, t_4 = t_2 * t_2;
    f64 t_high = 0x1.1e5dd6fdffcb1p-29, t = 0x1.a01a01b1e22b8p-13;
    t_high = fc_fma_f64(t_high, e.r, 0x1.af66a99f73f19p-26);
    t = fc_fma_f64(t, e.r, 0x1.6c16c16c27594p-10);
    t_high = fc_fma_f64(t_high, e.r, 0x1.27e5926f1e001p-22);
    t = fc_fma_f64(t, e.r, 0x1.111111110f16ap-7);
    t_high = fc_fma_f64(t_high, e.r, 0x1.71ddf38fc3e5cp-19);
    t = fc_fma_f64(t, e.r, 0x1.5555555555530p-5);
    t_high = fc_fma_f64(t_high, e.r, 0x1.a01a01503cc9fp-16);
    t = fc_fma_f64(t, e.r, 0x1.555555555555ap-3);
    t = fc_fma_f64(t, e.r, 0x1.0000000000000p-1);
    t = fc_fma_f64(t_high, t_2 * t_4, t);
    const f64 w = fc_fma_f64(t, e.r * e.r, e.r), high = 1 + w, low = fc_fma_f64(-rest, high, w - (high - 1));
    return (fc_erfc_parts_f64){fc_scale_f64(fc_fma_f64(high, g, low * g), e.n), g};
}

FC_MATH f64 fc_erfc_core_f64(f64 size, f64 da) { return fc_erfc_parts_of_f64(size, da).value; }

FC_MATH f64 fc_erfc_f64(f64 x)
{
    const f64 y = fc_erfc_core_f64(fabs(x), 0);
    return x < 0 ? 2 - y : y;
}

/* erf(x) / x - 1, |x| < 0.93 */
FC_MATH f64 fc_erf_rest_f64(f64 x)
{
    const f64 z = x * x;
    const f64 p_2 = z * z, p_4 = p_2 * p_2;
    f64 p_high = 0x1.431fd7ff2fe28p-31, p = 0x1.f9a4a1b16647ep-14;
    p_high = fc_fma_f64(p_high, z, -0x1.0b9c11b835632p-28);
    p = fc_fma_f64(p, z, -0x1.c02dbf7baa2f6p-11);
    p_high = fc_fma_f64(p_high, z, 0x1.68113d20588bdp-26);
    p = fc_fma_f64(p, z, 0x1.565bcd46f81a1p-8);
    p_high = fc_fma_f64(p_high, z, -0x1.70e254a6e3565p-23);
    p = fc_fma_f64(p, z, -0x1.b82ce313d1dc4p-6);
    p_high = fc_fma_f64(p_high, z, 0x1.bbb8d6c12a4b3p-20);
    p = fc_fma_f64(p, z, 0x1.ce2f21a0469d9p-4);
    p_high = fc_fma_f64(p_high, z, -0x1.f4f280ec1bdd0p-17);
    p = fc_fma_f64(p, z, -0x1.812746b037a30p-2);
    p = fc_fma_f64(p, z, 0x1.06eba8214db69p-3);
    return fc_fma_f64(p_high, z * p_2 * p_4, p);
}

FC_MATH f64 fc_erf_near_f64(f64 x) { return fc_fma_f64(x, fc_erf_rest_f64(x), x); }

/* erfc(a) for 1 - it, a >= 0.93: to 2**-57, not to its own last place, so neither the quotient nor a * a has a rest */
FC_MATH f64 fc_erfc_far_f64(f64 size)
{
    const f64 a = size > 6 ? 6 : size;
    const f64 both = 1 / ((a + 2.375) * (2 * a + 1)), q = (a - 2.375) * (both * (2 * a + 1)), scale = both * (a + 2.375);
    const f64 p_2 = q * q, p_4 = p_2 * p_2;
    f64 p_high = -0x1.43fcfb7086cf9p-15, p = 0x1.55244eb720ed0p-8;
    p_high = fc_fma_f64(p_high, q, -0x1.ae4cfe56e3a65p-14);
    p = fc_fma_f64(p, q, 0x1.6acd8edfd6c99p-6);
    p_high = fc_fma_f64(p_high, q, 0x1.ab5ceb1d7207ep-14);
    p = fc_fma_f64(p, q, -0x1.81b514c99fce2p-4);
    p_high = fc_fma_f64(p_high, q, 0x1.4fd1468ff0160p-11);
    p = fc_fma_f64(p, q, 0x1.4c5b2c74742d5p-3);
    p_high = fc_fma_f64(p_high, q, -0x1.b298e89b5777cp-12);
    p = fc_fma_f64(p, q, -0x1.d4a1aa3333e0ep-4);
    p_high = fc_fma_f64(p_high, q, -0x1.fee00afc078c3p-9);
    p = fc_fma_f64(p, q, -0x1.dec182464975ap-4);
    p = fc_fma_f64(p, q, 0x1.1256676dd8145p-2);
    p = fc_fma_f64(p_high, p_4 * (p_2 * q), p);
    return fc_exp_f64(-a * a) * fc_fma_f64(p, scale, scale);
}

FC_MATH f64 fc_erf_f64(f64 x)
{
    const f64 a = fabs(x);
    return fc_either_f64(a < 0.93, fc_erf_near_f64(x), copysign(1 - fc_erfc_far_f64(a), x));
}

FC_MATH f64 fc_ndtr_f64(f64 of)
{
    const f64 x = of > 12 ? 12 : of, size = fabs(x), a = size > 40 ? 40 : size;
    const fc_pair u = fc_product2(a, 0x1.6a09e667f3bcdp-1);
    const f64 y = 0.5 * fc_erfc_core_f64(u.high, fc_fma_f64(a, -0x1.bdd3413b26456p-55, u.low));
    return x < 0 ? y : 1 - y;
}

/* x Phi(x): Phi by erfc, not 1 + erf, keeps the small results of the left tail */
FC_MATH f64 fc_gelu_f64(f64 x) { return x * fc_ndtr_f64(x); }

FC_MATH f64 fc_gelu_gradient_f64(f64 g, f64 x)
{
    return g * (fc_ndtr_f64(x) + x * 0.39894228040143267794 * fc_exp_f64(-0.5 * x * x));
}

#endif
