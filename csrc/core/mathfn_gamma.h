/* Incomplete gamma functions, in double; float rounds once. Not written to vectorise. */
#ifndef FC_MATHFN_GAMMA_H
#define FC_MATHFN_GAMMA_H

enum { FC_GAMMA_STEPS = 200000 };
#define FC_GAMMA_FAR 1e9 /* orders beyond: fc_gamma_far */

/* log1p(m) - m, which cancels near 0 */
static inline f64 fc_gamma_bend(f64 m)
{
    if (fabs(m) >= 0.25)
        return fc_log1p_f64(m) - m;
    f64 bend = 0;
    for (int k = 28; k >= 2; --k)
        bend = (k % 2 ? 1.0 : -1.0) / k + m * bend;
    return bend * m * m;
}

/* Q for a > 1e9, where a series takes too many terms. Source: Temme, Uniform Asymptotic Expansions of Incomplete Gamma Functions (1979),
 * its first term: what is left out is of order 1 / a. */
static inline f64 fc_gamma_far(f64 a, f64 x)
{
    const f64 m = (x - a) / a, bend = fc_gamma_bend(m), eta = sqrt(-bend * a);
    return 0.5 * fc_erfc_f64(m < 0 ? -eta : eta) + fc_exp_f64(a * bend) * 0.39894228040143267794 / sqrt(a) * (m / 12 - 1.0 / 3);
}

/* x**a e**-x / Gamma(a + 1). From a = 10 on about its peak, where the exponents of x**a e**-x and of Gamma cancel:
 * e**(a (log1p(m) - m)) / (sqrt(2 pi a) e**stirling(a)), m = x / a - 1. */
static inline f64 fc_gamma_term(f64 a, f64 x)
{
    if (a < 10)
        return fc_exp_f64(a * fc_log_f64(x) - x - fc_lgamma_f64(a + 1));
    const f64 bend = fc_gamma_bend((x - a) / a), s = 1 / (a * a);
    const f64 stirling = (1.0 / 12 + s * (-1.0 / 360 + s * (1.0 / 1260 + s * (-1.0 / 1680 + s / 1188)))) / a;
    return fc_exp_f64(a * bend - stirling) * 0.39894228040143267794 / sqrt(a);
}

/* P(a, x) by its power series: term (1 + x / (a + 1) + x**2 / ((a + 1)(a + 2)) + ...). About 6 sqrt(a) terms are needed near x = a. */
static inline f64 fc_gamma_series(f64 a, f64 x)
{
    f64 sum = 1, term = 1;
    for (int k = 1; k < FC_GAMMA_STEPS && term > sum * 0x1p-54; ++k) {
        term *= x / (a + k);
        sum += term;
    }
    return sum * fc_gamma_term(a, x);
}

/* Q(a, x) by Legendre's continued fraction, evaluated by Lentz's method (Thompson and Barnett, 1986) */
static inline f64 fc_gamma_fraction(f64 a, f64 x)
{
    f64 b = x + 1 - a, c = 1 / 0x1p-1000, d = 1 / b, h = d;
    for (int k = 1; k < FC_GAMMA_STEPS; ++k) {
        const f64 n = -k * (k - a);
        b += 2;
        d = n * d + b;
        d = 1 / (fabs(d) < 0x1p-1000 ? 0x1p-1000 : d);
        c = b + n / c;
        c = fabs(c) < 0x1p-1000 ? 0x1p-1000 : c;
        const f64 step = d * c;
        h *= step;
        if (fabs(step - 1) < 0x1p-53)
            break;
    }
    return h * fc_gamma_term(a, x) * a;
}

/* P or Q at the edges of their domain; 2 where it is none. Values at infinities, and which of them NaN does not reach, are PyTorch's. */
static inline f64 fc_gamma_edge(f64 a, f64 x)
{
    if (x < 0 || a < 0)
        return NAN;
    if (a == 0)
        return x > 0 ? 1 : NAN;
    if (x == 0)
        return 0;
    if (a == INFINITY)
        return x == INFINITY ? NAN : 0;
    return x == INFINITY ? 1 : x == x && a == a ? 2 : NAN;
}

/* Whether P is summed, rather than the fraction of Q: where its terms fall from the first on. P itself keeps its digits a little beyond, and there
 * the fraction is slow. */
static inline int fc_gamma_by_series(f64 a, f64 x, int upper) { return x <= 1 || x <= a || (!upper && x < a + 8); }

/* log Gamma(1 + a), a <= 2, which 1 + a would lose near 0 */
static inline f64 fc_gamma_log1p(f64 a)
{
    return a < 1e-4 ? a * (-0.57721566490153286061 + a * (0.82246703342411321824 + a * (-0.40068563438653142847 + a * 0.27058080842778454788))) : fc_lgamma_f64(1 + a);
}

/* Q(a, x) for small a and x, where P is near 1: 1 - x**a / Gamma(a + 1), without cancelling, less x**a / Gamma(a) times the rest of the series
 * of P. Source: DiDonato, Morris (1986), ACM Trans. Math. Softw. 12(4). */
static inline f64 fc_gamma_near(f64 a, f64 x)
{
    f64 sum = 0, power = 1;
    for (int n = 1; n < 100; ++n) {
        power *= -x / n;
        const f64 term = power / (a + n);
        sum += term;
        if (fabs(term) <= 0x1p-54 * fabs(sum))
            break;
    }
    const f64 exponent = a * fc_log_f64(x) - fc_gamma_log1p(a);
    return -fc_expm1_f64(exponent) - a * fc_exp_f64(exponent) * sum;
}

static inline f64 fc_gammainc_f64(f64 a, f64 x)
{
    const f64 edge = fc_gamma_edge(a, x);
    if (!(edge == 2))
        return edge;
    return a > FC_GAMMA_FAR ? 1 - fc_gamma_far(a, x) : fc_gamma_by_series(a, x, 0) ? fc_gamma_series(a, x) : 1 - fc_gamma_fraction(a, x);
}

static inline f64 fc_gammaincc_f64(f64 a, f64 x)
{
    const f64 edge = fc_gamma_edge(a, x);
    if (!(edge == 2))
        return 1 - edge;
    if (x <= 1 && a < (x <= 0.5 ? -0.4 / fc_log_f64(x) : 1.1 * x))
        return fc_gamma_near(a, x);
    return a > FC_GAMMA_FAR ? fc_gamma_far(a, x) : fc_gamma_by_series(a, x, 1) ? 1 - fc_gamma_series(a, x) : fc_gamma_fraction(a, x);
}

#endif
