/* double: exponentials, logarithms, hyperbolics. Branch-free: both sides of every ?: are computed, so loops vectorise.
 *
 * Coefficients: tools/minimax.py. The shape of each function is that of its float twin in mathfn_f32.h. Integers stay in the low bits
 * of doubles (n + 1.5 * 2**52): AVX2 converts no int64. */
#ifndef FC_MATHFN_F64_H
#define FC_MATHFN_F64_H

/* Integers below 2**51 in size, near ones, are the low bits of a double near 1.5 2**52: what takes the place of instructions that AVX2 lacks */
#define FC_NEAR_BITS UINT64_C(0x4338000000000000)
FC_MATH f64 fc_f64_of_near_i64(int64_t x) { return fc_f64_of_bits((uint64_t)x + FC_NEAR_BITS) - 0x1.8p52; }
FC_MATH int64_t fc_near_i64_of_f64(f64 x) { return (int64_t)(fc_bits_f64(x + 0x1.8p52) - FC_NEAR_BITS); }
FC_MATH uint64_t fc_beyond_near(int64_t x) { return ((uint64_t)x + (UINT64_C(1) << 51)) >> 52; } /* 0 for a near one */

/* x where `first` is 1, y where it is 0. Of an expression that only one side of ?: wants gcc sets the lanes that want the other to 0, all the way, which
 * costs blends and makes denormal numbers: erf of 1e5 near 0 took 1220 us instead of 690. */
FC_MATH f64 fc_either_f64(uint64_t first, f64 x, f64 y)
{
    const uint64_t mask = -first;
    return fc_f64_of_bits((fc_bits_f64(x) & mask) | (fc_bits_f64(y) & ~mask));
}

/* 2**n, -1022 <= n <= 1023, n a whole double */
FC_MATH f64 fc_power2_f64(f64 n) { return fc_f64_of_bits((fc_bits_f64(n + (0x1.8p52 + 1023))) << 52); }

/* x = n ln 2 + r; ln 2 in a part of 41 bits, so that n times it is exact even without fma, and the rest */
typedef struct { f64 r, n; } fc_exp_parts_f64;

FC_MATH fc_exp_parts_f64 fc_exp_split_f64(f64 x)
{
    const f64 n = fc_fma_f64(x, 0x1.71547652b82fep+0, 0x1.8p52) - 0x1.8p52;
    const f64 r = fc_fma_f64(-n, 0x1.62e42fefa4p-1, x);
    return (fc_exp_parts_f64){fc_fma_f64(-n, -0x1.8432a1b0e2634p-43, r), n};
}

/* y 2**n in two halves: only the last step can leave the normal range */
FC_MATH f64 fc_scale_f64(f64 y, f64 n)
{
    const f64 half = fc_fma_f64(n, 0.5, 0x1.8p52) - 0x1.8p52;
    return y * fc_power2_f64(half) * fc_power2_f64(n - half);
}

/* e**x 2**shift, |shift| <= 40 */
FC_MATH f64 fc_exp_shifted_f64(f64 x, int shift)
{
    const f64 above = x < -746 ? -746 : x;
    const fc_exp_parts_f64 e = fc_exp_split_f64(above > 711 ? 711 : above);
    f64 p = 0x1.1e5dd6fdffcb1p-29;
    p = fc_fma_f64(p, e.r, 0x1.af66a99f73f19p-26);
    p = fc_fma_f64(p, e.r, 0x1.27e5926f1e001p-22);
    p = fc_fma_f64(p, e.r, 0x1.71ddf38fc3e5cp-19);
    p = fc_fma_f64(p, e.r, 0x1.a01a01503cc9fp-16);
    p = fc_fma_f64(p, e.r, 0x1.a01a01b1e22b8p-13);
    p = fc_fma_f64(p, e.r, 0x1.6c16c16c27594p-10);
    p = fc_fma_f64(p, e.r, 0x1.111111110f16ap-7);
    p = fc_fma_f64(p, e.r, 0x1.5555555555530p-5);
    p = fc_fma_f64(p, e.r, 0x1.555555555555ap-3);
    p = fc_fma_f64(p, e.r, 0x1.0000000000000p-1);
    return fc_scale_f64(fc_fma_f64(p, e.r * e.r, e.r) + 1, e.n + shift);
}

FC_MATH f64 fc_exp_f64(f64 x) { return fc_exp_shifted_f64(x, 0); }

/* 2**r, |r| <= 1/2 */
FC_MATH f64 fc_exp2_small_f64(f64 r)
{
    f64 p = 0x1.df9908196ab51p-36;
    p = fc_fma_f64(p, r, 0x1.ec5ec1d957818p-32);
    p = fc_fma_f64(p, r, 0x1.e4bc709d632fap-28);
    p = fc_fma_f64(p, r, 0x1.b5233dea43551p-24);
    p = fc_fma_f64(p, r, 0x1.62c026f4f50f1p-20);
    p = fc_fma_f64(p, r, 0x1.ffcbfd4419b2dp-17);
    p = fc_fma_f64(p, r, 0x1.430912f760408p-13);
    p = fc_fma_f64(p, r, 0x1.5d87fe78752efp-10);
    p = fc_fma_f64(p, r, 0x1.3b2ab6fba518dp-7);
    p = fc_fma_f64(p, r, 0x1.c6b08d704a1d1p-5);
    p = fc_fma_f64(p, r, 0x1.ebfbdff82c58ep-3);
    p = fc_fma_f64(p, r, 0x1.62e42fefa39efp-1);
    return fc_fma_f64(p, r, 1);
}

FC_MATH f64 fc_exp2_f64(f64 x)
{
    const f64 above = x < -1080 ? -1080 : x, c = above > 1025 ? 1025 : above;
    const f64 n = c + 0x1.8p52 - 0x1.8p52, r = c - n;
    return fc_scale_f64(fc_exp2_small_f64(r), n);
}

FC_MATH f64 fc_expm1_f64(f64 x)
{
    const f64 above = x < -40 ? -40 : x;
    const fc_exp_parts_f64 e = fc_exp_split_f64(above > 710 ? 710 : above);
    f64 p = 0x1.77e781e8704bbp-33;
    p = fc_fma_f64(p, e.r, 0x1.1f626fe0e7b02p-29);
    p = fc_fma_f64(p, e.r, 0x1.ae5360fb20010p-26);
    p = fc_fma_f64(p, e.r, 0x1.27e4e4c304abbp-22);
    p = fc_fma_f64(p, e.r, 0x1.71de3f1dd8927p-19);
    p = fc_fma_f64(p, e.r, 0x1.a01a01a33afbfp-16);
    p = fc_fma_f64(p, e.r, 0x1.a01a019edda93p-13);
    p = fc_fma_f64(p, e.r, 0x1.6c16c16c16b7dp-10);
    p = fc_fma_f64(p, e.r, 0x1.1111111111350p-7);
    p = fc_fma_f64(p, e.r, 0x1.5555555555555p-5);
    p = fc_fma_f64(p, e.r, 0x1.5555555555555p-3);
    p = fc_fma_f64(p, e.r, 0x1.0000000000000p-1);
    const f64 y = fc_fma_f64(p, e.r * e.r, e.r), s = fc_power2_f64(e.n - 1);
    const f64 wide = 2 * fc_fma_f64(s, y, s - 0.5);
    return fabs(x) < 0x1p-54 ? x : wide;
}

/* x = 2**n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2) */
typedef struct { f64 f, n; } fc_log_parts_f64;

FC_MATH fc_log_parts_f64 fc_log_split_f64(f64 x)
{
    const int tiny = x < DBL_MIN;
    const uint64_t u = fc_bits_f64(tiny ? x * 0x1p54 : x) - UINT64_C(0x3fe6a09e667f3bcd) + (UINT64_C(1) << 62);
    const f64 m = fc_f64_of_bits((u & UINT64_C(0xfffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
    const f64 n = fc_f64_of_bits(u >> 52 | UINT64_C(0x4330000000000000)) - (0x1p52 + 1024);
    return (fc_log_parts_f64){m - 1, n - (tiny ? 54 : 0)};
}

/* n ln 2 + log(1 + f), log(1 + f) = f - f f / 2 + s (f f / 2 + P), s = f / (2 + f); after FDLIBM's e_log.c (Sun Microsystems, 1993) */
FC_MATH f64 fc_log_join_f64(f64 f, f64 n)
{
    const f64 s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    f64 p = 0x1.2f039d73b8f7ep-3;
    p = fc_fma_f64(p, z, 0x1.39a1eb96368f0p-3);
    p = fc_fma_f64(p, z, 0x1.74663cc8c03b1p-3);
    p = fc_fma_f64(p, z, 0x1.c71c521536c90p-3);
    p = fc_fma_f64(p, z, 0x1.24924941e01a2p-2);
    p = fc_fma_f64(p, z, 0x1.999999997ff2dp-2);
    p = fc_fma_f64(p, z, 0x1.5555555555592p-1);
    const f64 low = fc_fma_f64(s, fc_fma_f64(z, p, half), n * -0x1.8432a1b0e2634p-43);
    return fc_fma_f64(n, 0x1.62e42fefa4p-1, f - (half - low));
}

FC_MATH f64 fc_log_edges_f64(f64 x, f64 y)
{
    const f64 positive = x < INFINITY ? y : x;
    return x > 0 ? positive : x == 0 ? -INFINITY : NAN;
}

FC_MATH f64 fc_log_f64(f64 x)
{
    const fc_log_parts_f64 l = fc_log_split_f64(x);
    return fc_log_edges_f64(x, fc_log_join_f64(l.f, l.n));
}

/* of 1 + x, f taken from x itself */
FC_MATH fc_log_parts_f64 fc_log1p_split_f64(f64 x)
{
    const uint64_t u = fc_bits_f64(1 + x) - UINT64_C(0x3fe6a09e667f3bcd) + (UINT64_C(1) << 62);
    const f64 s = fc_f64_of_bits((UINT64_C(2049) - (u >> 52)) << 52); /* 4 / 2**n, u >> 52 = n + 1024 */
    const f64 n = fc_f64_of_bits(u >> 52 | UINT64_C(0x4330000000000000)) - (0x1p52 + 1024);
    return (fc_log_parts_f64){fc_fma_f64(0.25 * x, s, 0.25 * s - 1), n};
}

FC_MATH f64 fc_log1p_f64(f64 x)
{
    const fc_log_parts_f64 l = fc_log1p_split_f64(x);
    const f64 y = fc_log_edges_f64(1 + x, fc_log_join_f64(l.f, l.n));
    return fabs(x) < 0x1p-53 ? x : y;
}

FC_MATH f64 fc_tanh_f64(f64 x)
{
    const f64 a = fabs(x), z = x * x;
    f64 p = 0x1.78a68d5895ea5p-18;
    p = fc_fma_f64(p, z, -0x1.e9adc3130f91ep-16);
    p = fc_fma_f64(p, z, 0x1.7bc3d2752f265p-14);
    p = fc_fma_f64(p, z, -0x1.efcfa88c70216p-13);
    p = fc_fma_f64(p, z, 0x1.34edc0620e3a3p-11);
    p = fc_fma_f64(p, z, -0x1.7d98985a1e419p-10);
    p = fc_fma_f64(p, z, 0x1.d6d3101efe9f0p-9);
    p = fc_fma_f64(p, z, -0x1.226e30de00241p-7);
    p = fc_fma_f64(p, z, 0x1.664f486066e14p-6);
    p = fc_fma_f64(p, z, -0x1.ba1ba1b981eaap-5);
    p = fc_fma_f64(p, z, 0x1.111111111064fp-3);
    p = fc_fma_f64(p, z, -0x1.555555555554dp-2);
    const f64 inner = fc_fma_f64(z * a, p, a), outer = 1 - 2 / (fc_exp_f64(2 * a) + 1);
    return copysign(a < 0.65 ? inner : outer, x);
}

FC_MATH f64 fc_sinh_f64(f64 x)
{
    const f64 a = fabs(x), z = x * x, half = fc_exp_shifted_f64(a, -1);
    f64 p = 0x1.b5c7d7632a12ap-41;
    p = fc_fma_f64(p, z, 0x1.6116f67e85d84p-33);
    p = fc_fma_f64(p, z, 0x1.ae646ff1f4e60p-26);
    p = fc_fma_f64(p, z, 0x1.71de3a3b089b5p-19);
    p = fc_fma_f64(p, z, 0x1.a01a01a03725fp-13);
    p = fc_fma_f64(p, z, 0x1.111111111101ep-7);
    p = fc_fma_f64(p, z, 0x1.5555555555556p-3);
    const f64 inner = fc_fma_f64(z * x, p, x);
    return a < 1 ? inner : copysign(half - 0.25 / half, x);
}

FC_MATH f64 fc_cosh_f64(f64 x)
{
    const f64 half = fc_exp_shifted_f64(fabs(x), -1);
    return half + 0.25 / half;
}

/* log |Gamma| is the C library's of positive numbers. Between -2 and 0, where its reflection takes thrice the time, Gamma(x) = Gamma(x + 1) / x brings
 * us there in one step or two: the library's of `from`, less log(by + rest). Others stay where they are, by = 1. */
typedef struct { f64 from, by, rest; } fc_lgamma_parts_f64;

FC_MATH int fc_lgamma_steps_f64(f64 x) { return (x > -2) & (x < 0); }

FC_MATH fc_lgamma_parts_f64 fc_lgamma_split_f64(f64 x)
{
    const f64 next = x + 1, product = x * next; /* below -1 next is exact */
    const f64 from = x < -1 ? x + 2 : next, by = x < -1 ? product : -x, rest = x < -1 ? fc_fma_f64(x, next, -product) : 0;
    return fc_lgamma_steps_f64(x) ? (fc_lgamma_parts_f64){from, by, rest} : (fc_lgamma_parts_f64){x, 1, 0};
}

FC_MATH f64 fc_lgamma_less_f64(fc_lgamma_parts_f64 l) { return fc_log_f64(l.by) + l.rest / l.by; }

FC_MATH f64 fc_lgamma_library_f64(f64 x)
{
    int sign; /* without it lgamma writes a global of the C library, from every thread */
    return lgamma_r(x, &sign);
}

FC_MATH f64 fc_lgamma_f64(f64 x)
{
    if (!fc_lgamma_steps_f64(x))
        return fc_lgamma_library_f64(x);
    const fc_lgamma_parts_f64 l = fc_lgamma_split_f64(x);
    return fc_lgamma_library_f64(l.from) - fc_lgamma_less_f64(l);
}

#endif
