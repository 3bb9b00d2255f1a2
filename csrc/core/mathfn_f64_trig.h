/* double: circular functions and their inverses, branch-free. */
#ifndef FC_MATHFN_F64_TRIG_H
#define FC_MATHFN_F64_TRIG_H

#include "trig_table.h"

/* x = (pi / 2) n + high + low, |high| <= pi / 4, for every finite x; n modulo 4 in the low bits.
 *
 * x = m 2**(8 j), m a whole number unless j = 0: then x (2 / pi) modulo 4 is m times the table's row j modulo 4. The row has 212 bits,
 * its products are exact pairs, whole quarter turns are dropped exactly, and pairs are added until nothing can cancel any more.
 * After Payne and Hanek (1983), ACM SIGNUM 18(1). */
typedef struct { f64 high, low; uint64_t n; } fc_trig_parts_f64;

FC_MATH fc_trig_parts_f64 fc_trig_split_far_f64(f64 x)
{
    const uint64_t u = fc_bits_f64(x), exponent = u >> 52 & 2047;
    const uint64_t j = exponent < 1075 ? 0 : (exponent - 1075) >> 3;
    const f64 m = fc_f64_of_bits(u - (j << 55));
    const fc_pair a = fc_product2(m, fc_trig_table[j][0]), b = fc_product2(m, fc_trig_table[j][1]),
                  c = fc_product2(m, fc_trig_table[j][2]);
    const f64 a1 = fc_mod4(a.high), a2 = fc_mod4(a.low), b1 = fc_mod4(b.high);
    const f64 n = rint(a1 + a2 + b1);
    const fc_pair s = fc_sum2(a1 - n, a2), t = fc_sum2(s.high, b1), far = fc_sum2(b.low, c.high), near = fc_sum2(s.low, t.low);
    const fc_pair v = fc_sum2(t.high, near.high), w = fc_sum2(v.high, far.high);
    const f64 rest = v.low + w.low + (near.low + far.low + fc_fma_f64(m, fc_trig_table[j][3], c.low));
    const fc_pair turn = fc_sum2_ordered(w.high, rest);
    const fc_pair r = fc_product2(turn.high, 0x1.921fb54442d18p+0);
    const f64 low = fc_fma_f64(turn.low, 0x1.921fb54442d18p+0, fc_fma_f64(turn.high, 0x1.1a62633145c07p-54, r.low));
    return (fc_trig_parts_f64){r.high, low, fc_bits_f64(n + 0x1.8p52)};
}

/* The same of |x| < FC_TRIG_NEAR, at a sixth of the work. pi / 2 is two numbers of 33 bits, whose products with n are exact, and two doubles. After Cody
 * and Waite (1980). The first difference is exact; of the two sums the larger comes first, or is a multiple of the smaller one's last place, which
 * serves as well. What cancels, down to 2**-57, is exact to 2**-150. */
FC_MATH fc_trig_parts_f64 fc_trig_split_near_f64(f64 x)
{
    const f64 n = rint(x * 0x1.45f306dc9c883p-1), t = fc_fma_f64(-n, 0x1.921fb544p+0, x);
    const fc_pair third = fc_product2(n, 0x1.3198a2e037073p-69);
    const fc_pair u = fc_sum2_ordered(t, -(n * 0x1.0b4611a6p-34)), v = fc_sum2_ordered(u.high, -third.high);
    const f64 rest = fc_fma_f64(n, 0x1.129024e088a68p-123, third.low);
    return (fc_trig_parts_f64){v.high, v.low + (u.low - rest), fc_bits_f64(n + 0x1.8p52)};
}

FC_MATH fc_trig_parts_f64 fc_trig_split_f64(f64 x)
{
    const fc_trig_parts_f64 near = fc_trig_split_near_f64(x), far = fc_trig_split_far_f64(x);
    const int is_near = fabs(x) < FC_TRIG_NEAR;
    return (fc_trig_parts_f64){is_near ? near.high : far.high, is_near ? near.low : far.low, is_near ? near.n : far.n};
}

/* sin(r + low) = sin(r) + low cos(r) */
FC_MATH f64 fc_sin_core_f64(f64 r, f64 low)
{
    const f64 z = r * r;
    f64 p = 0x1.5d8b6c4709857p-33;
    p = fc_fma_f64(p, z, -0x1.ae5e4bbc415e5p-26);
    p = fc_fma_f64(p, z, 0x1.71de355562df4p-19);
    p = fc_fma_f64(p, z, -0x1.a01a019be951bp-13);
    p = fc_fma_f64(p, z, 0x1.111111110f731p-7);
    p = fc_fma_f64(p, z, -0x1.5555555555548p-3);
    return r + fc_fma_f64(z * r, p, fc_fma_f64(low, -0.5 * z, low));
}

/* 1 - z / 2 as a pair */
FC_MATH f64 fc_cos_core_f64(f64 r, f64 low)
{
    const f64 z = r * r, half = 0.5 * z, top = 1 - half;
    f64 p = -0x1.8fb14bb8e4a7ap-37;
    p = fc_fma_f64(p, z, 0x1.1ee9f18690a12p-29);
    p = fc_fma_f64(p, z, -0x1.27e4f812fd857p-22);
    p = fc_fma_f64(p, z, 0x1.a01a019cbfb3ap-16);
    p = fc_fma_f64(p, z, -0x1.6c16c16c15221p-10);
    p = fc_fma_f64(p, z, 0x1.555555555554cp-5);
    return top + (((1 - top) - half) + fc_fma_f64(z * z, p, -r * low));
}

FC_MATH f64 fc_quadrant_f64(fc_trig_parts_f64 t, uint64_t n)
{
    const f64 y = n & 1 ? fc_cos_core_f64(t.high, t.low) : fc_sin_core_f64(t.high, t.low);
    return n & 2 ? -y : y;
}

FC_MATH f64 fc_sin_of_f64(f64 x, fc_trig_parts_f64 t)
{
    const f64 a = fabs(x), y = fc_quadrant_f64(t, t.n);
    return a < 0x1p-27 ? x : a < INFINITY ? y : NAN;
}

FC_MATH f64 fc_cos_of_f64(f64 x, fc_trig_parts_f64 t)
{
    const f64 y = fc_quadrant_f64(t, t.n + 1);
    return fabs(x) < INFINITY ? y : NAN;
}

/* Both at the price of little more than one: the bits of fc_cos_f64 and fc_sin_f64. What is not finite becomes NaN by a sum, not by two
 * questions, of which compilers make a branch. */
typedef struct { f64 cosine, sine; } fc_circle_f64;

FC_MATH fc_circle_f64 fc_circle_of_f64(f64 x, fc_trig_parts_f64 t)
{
    const f64 s = fc_sin_core_f64(t.high, t.low), c = fc_cos_core_f64(t.high, t.low), a = fabs(x);
    const f64 sine = t.n & 1 ? c : s, cosine = t.n & 1 ? s : c, nothing = x - x;
    return (fc_circle_f64){((t.n + 1) & 2 ? -cosine : cosine) + nothing, a < 0x1p-27 ? x : (t.n & 2 ? -sine : sine) + nothing};
}

FC_MATH f64 fc_tan_of_f64(f64 x, fc_trig_parts_f64 t)
{
    const f64 sine = fc_sin_core_f64(t.high, t.low), cosine = fc_cos_core_f64(t.high, t.low), a = fabs(x);
    const f64 y = t.n & 1 ? -cosine / sine : sine / cosine;
    return a < 0x1p-27 ? x : a < INFINITY ? y : NAN;
}

FC_MATH f64 fc_sin_f64(f64 x) { return fc_sin_of_f64(x, fc_trig_split_f64(x)); }
FC_MATH f64 fc_cos_f64(f64 x) { return fc_cos_of_f64(x, fc_trig_split_f64(x)); }
FC_MATH f64 fc_tan_f64(f64 x) { return fc_tan_of_f64(x, fc_trig_split_f64(x)); }

/* (atan(t) - t) / t**3 of z = t**2, t <= tan(pi / 8) */
FC_MATH f64 fc_atan_tail_f64(f64 z)
{
    f64 p = -0x1.256aadda5aeecp-6;
    p = fc_fma_f64(p, z, 0x1.37d5bdeb29a1ap-5);
    p = fc_fma_f64(p, z, -0x1.9cd2c1e6dde48p-5);
    p = fc_fma_f64(p, z, 0x1.df0f4b4a9e8b8p-5);
    p = fc_fma_f64(p, z, -0x1.10ebb8390267cp-4);
    p = fc_fma_f64(p, z, 0x1.3b11191a292e6p-4);
    p = fc_fma_f64(p, z, -0x1.745cf8dc48436p-4);
    p = fc_fma_f64(p, z, 0x1.c71c70e60e65cp-4);
    p = fc_fma_f64(p, z, -0x1.24924922ad5dfp-3);
    p = fc_fma_f64(p, z, 0x1.999999999586ap-3);
    return fc_fma_f64(p, z, -0x1.555555555553dp-2);
}

/* (asin(s) - s) / s**3 of z = s**2, s <= 1 / 2 */
FC_MATH f64 fc_asin_tail_f64(f64 z)
{
    f64 p = 0x1.0b47f7a7a6affp-5;
    p = fc_fma_f64(p, z, -0x1.5800f361034f7p-6);
    p = fc_fma_f64(p, z, 0x1.639e88fcb0353p-6);
    p = fc_fma_f64(p, z, 0x1.e5effacbd0dc0p-9);
    p = fc_fma_f64(p, z, 0x1.613cd1bbb2d1dp-7);
    p = fc_fma_f64(p, z, 0x1.7585822e9429dp-7);
    p = fc_fma_f64(p, z, 0x1.ca1f8db3a3e2ap-7);
    p = fc_fma_f64(p, z, 0x1.1c49f0615e301p-6);
    p = fc_fma_f64(p, z, 0x1.6e8bdedf98571p-6);
    p = fc_fma_f64(p, z, 0x1.f1c71a94fc0afp-6);
    p = fc_fma_f64(p, z, 0x1.6db6db72124b0p-5);
    p = fc_fma_f64(p, z, 0x1.333333332e133p-4);
    return fc_fma_f64(p, z, 0x1.5555555555577p-3);
}

/* scaled by a power of two so that squares neither overflow nor vanish; an infinity wins over NaN */
FC_MATH f64 fc_hypot_f64(f64 x, f64 y)
{
    const f64 a = fabs(x), b = fabs(y), most = a < b ? b : a;
    const f64 scale = most > 0x1p500 ? 0x1p-600 : most < 0x1p-400 ? 0x1p600 : 1, back = most > 0x1p500 ? 0x1p600 : most < 0x1p-400 ? 0x1p-600 : 1;
    const f64 u = a * scale, v = b * scale;
    const f64 r = sqrt(fc_fma_f64(u, u, v * v)) * back;
    return a == INFINITY || b == INFINITY ? INFINITY : r;
}

#endif
