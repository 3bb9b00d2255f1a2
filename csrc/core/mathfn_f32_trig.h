/* float: circular functions and their inverses, branch-free. */
#ifndef FC_MATHFN_F32_TRIG_H
#define FC_MATHFN_F32_TRIG_H

/* x = (pi / 2) n + r, |r| <= pi / 4, for every finite x; n modulo 4.
 *
 * 2 / pi is cut into chunks of 27 bits, so that its products with x are exact doubles; of each, multiples of 4 are dropped, which is
 * exact too. What is left is added from the large end: a sum is exact as long as it may still cancel. After Payne and Hanek (1983),
 * ACM SIGNUM 18(1), without its table of bits: every chunk is used for every x, and the ones that do not matter vanish. */
typedef struct { f64 r; uint32_t n; } fc_trig_parts_f32;

FC_MATH f64 fc_mod4(f64 p) { return fc_fma_f64(-4, rint(0.25 * p), p); }

FC_MATH fc_trig_parts_f32 fc_trig_split_f32(f32 x)
{
    const f64 a = x;
    const f64 p1 = fc_mod4(a * 0x1.45f306cp-1), p2 = fc_mod4(a * 0x1.c9c8828p-29), p3 = fc_mod4(a * 0x1.29fc278p-56),
              p4 = fc_mod4(a * -0x1.4170568p-83), p5 = fc_mod4(a * 0x1.377037p-110),
              p6 = a * -0x1.3ad4cd8p-137, p7 = a * -0x1.de37ep-167;
    const f64 n = rint(p1 + p2 + p3 + p4 + p5);
    const f64 t = (p1 - n) + p2 + p3 + p4 + p5 + p6 + p7;
    return (fc_trig_parts_f32){t * 0x1.921fb54442d18p+0, fc_bits_f32((f32)n + 0x1.8p23f)};
}

/* The same of |x| < FC_TRIG_NEAR at a third of the work: r is not the same to its last bit, but what becomes of it by fc_sin_of_f32, fc_cos_of_f32 and
 * fc_tan_of_f32 is (tried for all x). pi / 2 is two doubles, and what cancels does so within the first fma, which is rounded once. */
#define FC_TRIG_NEAR 0x1p20f /* of float and double */

FC_MATH fc_trig_parts_f32 fc_trig_split_near_f32(f32 x)
{
    const f64 n = rint(x * 0x1.45f306dc9c883p-1);
    return (fc_trig_parts_f32){fc_fma_f64(-n, 0x1.1a62633145c07p-54, fc_fma_f64(-n, 0x1.921fb54442d18p+0, x)), fc_bits_f32((f32)n + 0x1.8p23f)};
}

/* |r| <= pi / 4. In double, so that the result is rounded once. */
FC_MATH f64 fc_sin_core_f32(f64 r)
{
    const f64 z = r * r;
    f64 p = 0x1.6cd2564fdb673p-19;
    p = fc_fma_f64(p, z, -0x1.a00f809fb276cp-13);
    p = fc_fma_f64(p, z, 0x1.1111086c53522p-7);
    p = fc_fma_f64(p, z, -0x1.5555554c746e4p-3);
    return fc_fma_f64(z * r, p, r);
}

FC_MATH f64 fc_cos_core_f32(f64 r)
{
    const f64 z = r * r;
    f64 p = 0x1.9a029830c685bp-16;
    p = fc_fma_f64(p, z, -0x1.6c0c8d32fc25bp-10);
    p = fc_fma_f64(p, z, 0x1.55554ab79b791p-5);
    return fc_fma_f64(z * z, p, fc_fma_f64(-0.5, z, 1));
}

/* quadrant n of the sine: sin, cos, -sin, -cos */
FC_MATH f32 fc_quadrant_f32(fc_trig_parts_f32 t, uint32_t n)
{
    const f32 y = (f32)(n & 1 ? fc_cos_core_f32(t.r) : fc_sin_core_f32(t.r));
    return n & 2 ? -y : y;
}

FC_MATH f32 fc_sin_of_f32(f32 x, fc_trig_parts_f32 t)
{
    const f32 y = fc_quadrant_f32(t, t.n);
    return x == 0 ? x : y;
}

FC_MATH f32 fc_cos_of_f32(f32 x, fc_trig_parts_f32 t)
{
    (void)x;
    return fc_quadrant_f32(t, t.n + 1);
}

FC_MATH f32 fc_tan_of_f32(f32 x, fc_trig_parts_f32 t)
{
    const f64 sine = fc_sin_core_f32(t.r), cosine = fc_cos_core_f32(t.r);
    const f32 y = (f32)(t.n & 1 ? -cosine / sine : sine / cosine);
    return x == 0 ? x : y;
}

/* Both at the price of little more than one: the bits of fc_cos_f32 and fc_sin_f32. */
typedef struct { f32 cosine, sine; } fc_circle_f32;

FC_MATH fc_circle_f32 fc_circle_of_f32(f32 x, fc_trig_parts_f32 t)
{
    const f32 s = (f32)fc_sin_core_f32(t.r), c = (f32)fc_cos_core_f32(t.r);
    const f32 sine = t.n & 1 ? c : s, cosine = t.n & 1 ? s : c;
    return (fc_circle_f32){(t.n + 1) & 2 ? -cosine : cosine, x == 0 ? x : t.n & 2 ? -sine : sine};
}

FC_MATH f32 fc_sin_f32(f32 x) { return fc_sin_of_f32(x, fc_trig_split_f32(x)); }
FC_MATH f32 fc_cos_f32(f32 x) { return fc_cos_of_f32(x, fc_trig_split_f32(x)); }
FC_MATH f32 fc_tan_f32(f32 x) { return fc_tan_of_f32(x, fc_trig_split_f32(x)); }

/* (atan(t) - t) / t**3 of z = t**2, t <= tan(pi / 8) */
FC_MATH f32 fc_atan_tail_f32(f32 z)
{
    f32 p = -0x1.f2eae2p-5f;
    p = fc_fma_f32(p, z, 0x1.b224f6p-4f);
    p = fc_fma_f32(p, z, -0x1.23b9a6p-3f);
    p = fc_fma_f32(p, z, 0x1.9991e2p-3f);
    return fc_fma_f32(p, z, -0x1.55554ap-2f);
}

/* (asin(s) - s) / s**3 of z = s**2, s <= 1 / 2 */
FC_MATH f32 fc_asin_tail_f32(f32 z)
{
    f32 p = 0x1.595868p-5f;
    p = fc_fma_f32(p, z, 0x1.8c4388p-6f);
    p = fc_fma_f32(p, z, 0x1.747b36p-5f);
    p = fc_fma_f32(p, z, 0x1.330208p-4f);
    return fc_fma_f32(p, z, 0x1.5555c8p-3f);
}

/* squares are exact enough in double and cannot overflow; an infinity wins over NaN */
FC_MATH f32 fc_hypot_f32(f32 x, f32 y)
{
    const f64 a = x, b = y;
    const f32 r = (f32)sqrt(a * a + b * b);
    return fabsf(x) == INFINITY || fabsf(y) == INFINITY ? INFINITY : r;
}

#endif
