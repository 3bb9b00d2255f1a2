/* Sums and products of doubles without error: a pair high + low holds 106 bits.
 *
 * Dekker, A Floating-Point Technique for Extending the Available Precision (1971), Numer. Math. 18; Knuth, TAOCP 2, 4.2.2. */
#ifndef FC_MATHFN_PAIR_H
#define FC_MATHFN_PAIR_H

typedef struct { f64 high, low; } fc_pair;

FC_MATH fc_pair fc_sum2(f64 a, f64 b)
{
    const f64 s = a + b, t = s - a;
    return (fc_pair){s, (a - (s - t)) + (b - t)};
}

/* |a| >= |b| */
FC_MATH fc_pair fc_sum2_ordered(f64 a, f64 b)
{
    const f64 s = a + b;
    return (fc_pair){s, b - (s - a)};
}

FC_MATH fc_pair fc_product2(f64 a, f64 b)
{
    const f64 p = a * b;
#if FC_HAS_FMA
    return (fc_pair){p, fma(a, b, -p)};
#else
    const f64 u = a * 0x1.0000002p27, v = b * 0x1.0000002p27;
    const f64 a1 = u - (u - a), a2 = a - a1, b1 = v - (v - b), b2 = b - b1;
    return (fc_pair){p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
#endif
}

#endif
