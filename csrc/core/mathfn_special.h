/* Special functions in double; float rounds once. Not written to vectorise.
 *
 * The _cheb tables are Chebyshev coefficients, interpolated at Chebyshev points in 40 to 60 digits with mpmath and cut below 2**-56. */
#ifndef FC_MATHFN_SPECIAL_H
#define FC_MATHFN_SPECIAL_H

/* sum c[k] T_k(u) by Clenshaw's recurrence */
static inline f64 fc_cheb(const f64 *c, int n, f64 u)
{
    f64 b0 = 0, b1 = 0;
    for (int k = n - 1; k > 0; --k) {
        const f64 b = fc_fma_f64(2 * u, b0, c[k] - b1);
        b1 = b0;
        b0 = b;
    }
    return fc_fma_f64(u, b0, c[0] - b1);
}
#define FC_CHEB(name, u) fc_cheb(fc_##name##_cheb, (int)(sizeof fc_##name##_cheb / sizeof(f64)), u)

static const f64 fc_i0e_high_cheb[25] = {
    0.402245205507054416, 0.00336911647825569409, 0.0000688975834691682398, 2.89137052083475648e-6,
    2.04891858946906374e-7, 2.26666899049817806e-8, 3.39623202570838635e-9, 4.94060238822496959e-10,
    1.18891471078464383e-11, -3.14991652796324136e-11, -1.32158118404477131e-11, -1.79417853150680612e-12,
    7.18012445138366623e-13, 3.8527783827421427e-13, 1.54008621752140983e-14, -4.15056934728722209e-14,
    -9.55484669882830765e-15, 3.81168066935262242e-15, 1.77256013305652638e-15, -3.42548561967721913e-16,
    -2.82762398051658348e-16, 3.46122286769746109e-17, 4.46562142029676e-17, -4.83050448594418207e-18,
    -7.23318048787475395e-18,
};
static const f64 fc_i1e_high_cheb[25] = {
    0.38928811750914006, -0.00976109749136146841, -0.000110588938762623716, -3.88256480887769039e-6,
    -2.51223623787020893e-7, -2.63146884688951951e-8, -3.83538038596423702e-9, -5.58974346219658381e-10,
    -1.89749581235054123e-11, 3.25260358301548824e-11, 1.41258074366137813e-11, 2.03562854414708951e-12,
    -7.19855177624590851e-13, -4.08355111109219732e-13, -2.10154184277266431e-14, 4.27244001671195135e-14,
    1.04202769841288028e-14, -3.8144030724370078e-15, -1.88035477551078245e-15, 3.30820231092092828e-16,
    2.96262899764595014e-16, -3.20952592199342396e-17, -4.65030536848935833e-17, 4.41434832307170795e-18,
    7.51729631084210481e-18,
};
/* I_v(a) up to 8: of powers of (a / 2)**2, none of which is negative, so that nothing is lost between them; tools/minimax.py */
FC_MATH f64 fc_i0_near_f64(f64 a)
{
    const f64 z = a * a * 0.25;
    f64 p = 0x1.1c5da6f31537ep-80;
    p = fc_fma_f64(p, z, 0x1.10e59b200bb02p-73);
    p = fc_fma_f64(p, z, 0x1.f27878b092784p-66);
    p = fc_fma_f64(p, z, 0x1.40ab9cea863a1p-58);
    p = fc_fma_f64(p, z, 0x1.69e51f0b8d0d8p-51);
    p = fc_fma_f64(p, z, 0x1.55ff6bd5bc3d6p-44);
    p = fc_fma_f64(p, z, 0x1.0b315165290aap-37);
    p = fc_fma_f64(p, z, 0x1.522a4171a1095p-31);
    p = fc_fma_f64(p, z, 0x1.522a441b65c84p-25);
    p = fc_fma_f64(p, z, 0x1.02e85c07230b1p-19);
    p = fc_fma_f64(p, z, 0x1.23456789bf099p-14);
    p = fc_fma_f64(p, z, 0x1.c71c71c71b3f4p-10);
    p = fc_fma_f64(p, z, 0x1.c71c71c71c7bdp-6);
    p = fc_fma_f64(p, z, 0x1.ffffffffffffcp-3);
    p = fc_fma_f64(p, z, 1);
    p = fc_fma_f64(p, z, 1);
    return p;
}

FC_MATH f64 fc_i1_near_f64(f64 a)
{
    const f64 z = a * a * 0.25;
    f64 p = 0x1.15621b721752dp-84;
    p = fc_fma_f64(p, z, 0x1.2925eef84c862p-77);
    p = fc_fma_f64(p, z, 0x1.1baa645ca6776p-69);
    p = fc_fma_f64(p, z, 0x1.8af0a21a53de9p-62);
    p = fc_fma_f64(p, z, 0x1.e27c821c46d0cp-55);
    p = fc_fma_f64(p, z, 0x1.f17496b9f7e21p-48);
    p = fc_fma_f64(p, z, 0x1.ab8207e934b50p-41);
    p = fc_fma_f64(p, z, 0x1.2c9757a5e7085p-34);
    p = fc_fma_f64(p, z, 0x1.522a4408235eep-28);
    p = fc_fma_f64(p, z, 0x1.27e4fb76d6faap-22);
    p = fc_fma_f64(p, z, 0x1.845c8a0cee28fp-17);
    p = fc_fma_f64(p, z, 0x1.6c16c16c167b9p-12);
    p = fc_fma_f64(p, z, 0x1.c71c71c71c73ep-8);
    p = fc_fma_f64(p, z, 0x1.5555555555555p-4);
    p = fc_fma_f64(p, z, 0.5);
    p = fc_fma_f64(p, z, 1);
    return 0.5 * a * p;
}

/* e**-a I_v(a) beyond 8, where sqrt(a) times it is a series in 1 / a */
static inline f64 fc_i0e_far_f64(f64 a) { return FC_CHEB(i0e_high, 16 / a - 1) / sqrt(a); }
static inline f64 fc_i1e_far_f64(f64 a) { return FC_CHEB(i1e_high, 16 / a - 1) / sqrt(a); }

/* e**a y; in two factors where e**a is near infinity, since I_v is finite a little longer */
FC_MATH f64 fc_bessel_grown(f64 a, f64 y)
{
    const int great = a > 700;
    const f64 part = fc_exp_f64(great ? 0.5 * a : a);
    return y * part * (great ? part : 1);
}

static inline f64 fc_i0e_f64(f64 x)
{
    const f64 a = fabs(x);
    return a <= 8 ? fc_i0_near_f64(a) * fc_exp_f64(-a) : fc_i0e_far_f64(a);
}

static inline f64 fc_i1e_f64(f64 x)
{
    const f64 a = fabs(x), y = a <= 8 ? fc_i1_near_f64(a) * fc_exp_f64(-a) : fc_i1e_far_f64(a);
    return x < 0 ? -y : y;
}

static inline f64 fc_i0_f64(f64 x)
{
    const f64 a = fabs(x);
    return a <= 8 ? fc_i0_near_f64(a) : fc_bessel_grown(a, fc_i0e_far_f64(a));
}

static inline f64 fc_i1_f64(f64 x)
{
    const f64 a = fabs(x), y = a <= 8 ? fc_i1_near_f64(a) : fc_bessel_grown(a, fc_i1e_far_f64(a));
    return x == 0 ? x : x < 0 ? -y : y;
}

/* e**(a a) erfc(a): to 27.5 what erfc is made of, then the asymptotic series in 1 / (2 a a) */
FC_MATH f64 fc_erfcx_above_f64(f64 a, f64 near)
{
    const f64 inverse = 1 / a, z = 0.5 * inverse * inverse;
    const f64 series = 1 - z * (1 - z * (3 - z * (15 - z * (105 - z * (945 - z * 10395)))));
    return a > 27.5 ? 0.56418958354775628695 * inverse * series : near;
}

/* For negative x by reflection, 2 e**(x x) - erfcx(-x); what rounding the square loses goes along. */
FC_MATH f64 fc_erfcx_f64(f64 x)
{
    const f64 a = fabs(x), y = fc_erfcx_above_f64(a, fc_erfc_parts_of_f64(a, 0).scaled);
    const fc_pair s = fc_product2(a > 27 ? 27 : a, a > 27 ? 27 : a);
    const f64 grown = fc_exp_f64(s.high);
    const f64 left = a > 26.7 ? INFINITY : 2 * fc_fma_f64(grown, s.low, grown) - y;
    return x < 0 ? left : y;
}

/* Quantiles of the normal distribution by rational functions, each accurate to 1e-16 of its value: Wichura, Algorithm AS 241, The percentage
 * points of the normal distribution (1988), Appl. Statist. 37. {numerator, denominator}, the highest power last. */
static const f64 fc_quantile_middle[2][8] = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};
static const f64 fc_quantile_tail[2][8] = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
static const f64 fc_quantile_far[2][8] = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};

FC_MATH f64 fc_polynomial7(const f64 *c, f64 x)
{
    const f64 high = fc_fma_f64(fc_fma_f64(fc_fma_f64(c[7], x, c[6]), x, c[5]), x, c[4]);
    return fc_fma_f64(fc_fma_f64(fc_fma_f64(fc_fma_f64(high, x, c[3]), x, c[2]), x, c[1]), x, c[0]);
}

/* of q = p - 1/2, |q| <= 0.425 */
FC_MATH f64 fc_quantile_near(f64 q)
{
    const f64 r = 0.180625 - q * q;
    return q * fc_polynomial7(fc_quantile_middle[0], r) / fc_polynomial7(fc_quantile_middle[1], r);
}

/* minus that of p <= 0.075; deep: p may be below 1e-11 */
FC_MATH f64 fc_quantile_below(f64 p, int deep)
{
    const f64 r = sqrt(-fc_log_f64(p)), t = r - 1.6, u = r - 5;
    const f64 n = fc_polynomial7(fc_quantile_tail[0], t), d = fc_polynomial7(fc_quantile_tail[1], t);
    if (!deep)
        return n / d;
    const f64 n_far = fc_polynomial7(fc_quantile_far[0], u), d_far = fc_polynomial7(fc_quantile_far[1], u);
    return (r > 5 ? n_far : n) / (r > 5 ? d_far : d);
}

/* erf's inverse of a, to 2**-19 of its value, closer at the ends: a F(sqrt(1 + w)), w = -log(1 - a a), a logarithm as rough */
FC_MATH f64 fc_erfinv_start_f64(f64 a)
{
    const fc_log_parts_f64 l = fc_log_split_f64((a == 1 ? 0.5 : 1 - a) * (1 + a));
    const f64 s = l.f / (2 + l.f), z = s * s;
    f64 p = 0x1.ba1a11bf25a1bp-2;
    p = fc_fma_f64(p, z, 0x1.274713e9ca0a6p-1);
    p = fc_fma_f64(p, z, 0x1.ec70e622da276p-1);
    p = fc_fma_f64(p, z, 0x1.7154764e6fa7bp+1);
    const f64 t = sqrt(fc_fma_f64(fc_fma_f64(s, p, l.n), -0.69314718055994530942, 1)), t_2 = t * t, t_4 = t_2 * t_2;
    f64 high = -0x1.032c73d9d9c16p-26, f = 0x1.0b35254384b34p+4;
    high = fc_fma_f64(high, t, 0x1.f30cf969686a8p-21);
    f = fc_fma_f64(f, t, -0x1.2bfbb8d03cd35p+5);
    high = fc_fma_f64(high, t, -0x1.bbac328cfd79dp-16);
    f = fc_fma_f64(f, t, 0x1.00a6ec70845a2p+6);
    high = fc_fma_f64(high, t, 0x1.e2eca9cf590bep-12);
    f = fc_fma_f64(f, t, -0x1.49f63bfbb18afp+6);
    high = fc_fma_f64(high, t, -0x1.67b2dfaaf0a0bp-8);
    f = fc_fma_f64(f, t, 0x1.379f999dcba90p+6);
    high = fc_fma_f64(high, t, 0x1.843fd51d9d80cp-5);
    f = fc_fma_f64(f, t, -0x1.a0a87504005b6p+5);
    high = fc_fma_f64(high, t, -0x1.399fccd079954p-2);
    f = fc_fma_f64(f, t, 0x1.7650e40ae3d8ep+4);
    high = fc_fma_f64(high, t, 0x1.8235d90add074p+0);
    f = fc_fma_f64(f, t, -0x1.87aeede854cc6p+2);
    high = fc_fma_f64(high, t, -0x1.6dd82eedbf0c1p+2);
    f = fc_fma_f64(f, t, 0x1.626a0ac28a659p+0);
    f = fc_fma_f64(high, t * t_4 * t_4, f);
    return a * f;
}

/* One of Halley's steps on erf or, above 0.65, on erfc, where 1 - erf would lose the digits. Its slope comes from erfc's own parts. erf's difference is
 * x - a, which is exact, and what erf is beside x. */
FC_MATH f64 fc_erfinv_step_f64(f64 y, f64 x, fc_erfc_parts_f64 e)
{
    const f64 a = fabs(y), near = fc_fma_f64(x, fc_erf_rest_f64(x), x - a), far = 1 - a - e.value;
    const f64 miss = (a > 0.65 ? far : near) * 0.88622692545275801365 * e.scaled; /* times e.value */
    const f64 better = x - miss / fc_fma_f64(x, miss, e.value), some = a == 1 ? INFINITY : better;
    return a <= 1 ? copysign(some, y) : NAN;
}

FC_MATH f64 fc_erfinv_f64(f64 y)
{
    const f64 x = fc_erfinv_start_f64(fabs(y));
    return fc_erfinv_step_f64(y, x, fc_erfc_parts_of_f64(x, 0));
}

/* quantile of the normal distribution; deep: as above, of p or 1 - p */
FC_MATH f64 fc_ndtri_of_f64(f64 p, int deep)
{
    const f64 q = p - 0.5, rest = p < 0.5 ? p : 1 - p, below = fc_quantile_below(rest, deep);
    const f64 far = copysign(rest == 0 ? INFINITY : below, q), x = fabs(q) > 0.425 ? far : fc_quantile_near(q);
    return rest >= 0 ? x : NAN;
}

/* the same outside (0, 1) */
FC_MATH f64 fc_ndtri_edge_f64(f64 p)
{
    const f64 high = p == 1 ? INFINITY : NAN;
    return p == 0 ? -INFINITY : high;
}

FC_MATH f64 fc_ndtri_f64(f64 p) { return fc_ndtri_of_f64(p, 1); }

/* log Phi(x): below 0 log(erfcx(u) / 2) - u u, u = |x| / sqrt(2), whose terms have one sign; from there on log1p(-Phi(-x)). One logarithm. */
FC_MATH f64 fc_log_ndtr_f64(f64 x)
{
    const f64 size = fabs(x), a = size > 40 ? 40 : size;
    const fc_pair u = fc_product2(a, 0x1.6a09e667f3bcdp-1);
    const fc_erfc_parts_f64 e = fc_erfc_parts_of_f64(u.high, fc_fma_f64(a, -0x1.bdd3413b26456p-55, u.low));
    const f64 scaled = 0.5 * fc_erfcx_above_f64(size * 0x1.6a09e667f3bcdp-1, e.scaled), above = -0.5 * e.value;
    const fc_log_parts_f64 below = fc_log_split_f64(scaled), beside = fc_log1p_split_f64(above);
    const f64 y = fc_log_join_f64(x < 0 ? below.f : beside.f, x < 0 ? below.n : beside.n);
    const f64 right = above > -0x1p-53 ? above : y;
    return x != x ? x : x == -INFINITY ? x : x < 0 ? fc_fma_f64(-0.5 * x, x, y) : right;
}

/* Reflection below 0, recurrence up to 10, then the asymptotic series (Bernoulli numbers B_2k / 2k); poles as PyTorch: -+inf at +-0,
 * NaN at the negative integers. */
static inline f64 fc_digamma_f64(f64 x)
{
    f64 result = 0;
    if (x == 0)
        return copysign(INFINITY, -x);
    if (x < 0) {
        const f64 part = x - rint(x); /* exact, and small near the poles */
        if (part == 0 || x == -INFINITY)
            return NAN;
        result = -3.14159265358979323846 / fc_tan_f64(3.14159265358979323846 * part);
        x = 1 - x;
    }
    for (; x < 10; x += 1)
        result -= 1 / x;
    if (x == INFINITY)
        return x;
    const f64 s = 1 / (x * x);
    static const f64 b[7] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
    f64 series = b[6];
    for (int k = 5; k >= 0; --k)
        series = fc_fma_f64(series, s, b[k]);
    return result + (fc_log_f64(x) - 0.5 / x - series * s);
}

/* psi'(x), by reflection below 0: six steps up, then 1 / z + 1 / (2 z z) + P(1 / z**2) / z**3. Branch-free. */
FC_MATH f64 fc_trigamma_f64(f64 x)
{
    const f64 a = x < 0 ? 1 - x : x, z = a + 7, inverse = 1 / z, s = inverse * inverse;
    const f64 a1 = a + 1, a2 = a + 2, a3 = a + 3, a4 = a + 4, a5 = a + 5, a6 = a + 6, p12 = a1 * a2, p34 = a3 * a4, p56 = a5 * a6;
    const f64 pairs = (a1 * a1 + a2 * a2) / (p12 * p12) + ((a3 * a3 + a4 * a4) / (p34 * p34) + (a5 * a5 + a6 * a6) / (p56 * p56));
    f64 p = -0x1.95649c03bb114p+1;
    p = fc_fma_f64(p, s, 0x1.009c753b86cd7p+0);
    p = fc_fma_f64(p, s, -0x1.fdfb1d4b143c3p-3);
    p = fc_fma_f64(p, s, 0x1.360cb17b73771p-4);
    p = fc_fma_f64(p, s, -0x1.110fe6ea818c8p-5);
    p = fc_fma_f64(p, s, 0x1.86185e87ee633p-6);
    p = fc_fma_f64(p, s, -0x1.11111110219a0p-5);
    p = fc_fma_f64(p, s, 0x1.5555555555488p-3);
    const f64 tail = fc_fma_f64(s * inverse, p, fc_fma_f64(0.5, s, inverse)), y = 1 / (a * a) + (a < 1e60 ? pairs + tail : inverse);
    const f64 sine = fc_sinpi_mid(x - rint(x)) * 0.31830988618379067154;
    return x < 0 ? 1 / (sine * sine) - y : y;
}

enum { FC_ZETA_TERMS = 9 }; /* beside the first */

/* What is left of the sum behind `term` = base**-s, by Euler and Maclaurin; branch-free, for the loop of cpu/map_easy.h. Where the term is below
 * the rounding of the sum, so is the rest. */
FC_MATH f64 fc_zeta_end(f64 s, f64 base, f64 term, f64 sum)
{
    static const f64 a[12] = {12, -720, 30240, -1209600, 47900160, -1.8924375803183791606e9, 7.47242496e10, -2.950130727918164224e12,
                              1.1646782814350067249e14, -4.5979787224074726105e15, 1.8152105401943546773e17, -7.1661652561756670113e18};
    f64 whole = sum + (term * base / (s - 1) - 0.5 * term), rising = 1, t = term;
#ifdef __GNUC__
#pragma GCC unroll 12
#endif
    for (int k = 0; k < 12; ++k) {
        rising *= s + 2 * k;
        t /= base;
        whole += rising * t / a[k];
        rising *= s + (2 * k + 1);
        t /= base;
    }
    return fabs(term) < 1.1e-16 * fabs(sum) ? sum : whole;
}

/* b**-s */
FC_MATH f64 fc_zeta_term(f64 s, f64 b)
{
    const f64 y = fc_pow_f64(b, -s);
    return s == 2 ? 1 / (b * b) : y;
}

/* Hurwitz zeta, s > 1: ten terms, then the rest. q <= 0: poles at integers, else defined for integer s only, as in Cephes. */
FC_MATH_CALLED f64 fc_zeta_f64(f64 s, f64 q)
{
    if (s == 1)
        return INFINITY;
    if (s < 1 || q != q)
        return NAN;
    if (q <= 0) {
        if (q == floor(q))
            return INFINITY;
        if (s != floor(s))
            return NAN;
    }
    if (s != s)
        return NAN;
    f64 sum = 0, base = q, term = 0;
    for (int k = 0;; ++k) {
        term = fc_zeta_term(s, base);
        sum += term;
        if (k && q <= 0 && fabs(term) < 1.1e-16 * fabs(sum))
            return sum;
        if (k >= FC_ZETA_TERMS && base > FC_ZETA_TERMS)
            break;
        base += 1;
    }
    return fc_zeta_end(s, base, term, sum);
}

/* n! */
static inline f64 fc_polygamma_factor(f64 n) { return fc_exp_f64(fc_lgamma_f64(n + 1)); }

/* derivative of order n of digamma: (-1)**(n + 1) n! zeta(n + 1, x) */
static inline f64 fc_polygamma_f64(f64 n, f64 x)
{
    if (n == 0 || n == 1)
        return n == 0 ? fc_digamma_f64(x) : fc_trigamma_f64(x);
    if (x == INFINITY)
        return 0;
    const f64 size = fc_polygamma_factor(n) * fc_zeta_f64(n + 1, x);
    return fmod(n, 2) == 0 ? -size : size;
}

#undef FC_CHEB

/* the neighbour of x towards y: one step of the bit pattern, up if away from zero */
static inline f32 fc_nextafter_f32(f32 x, f32 y)
{
    const uint32_t bits = fc_bits_f32(x);
    const uint32_t moved = (y > x) == (x > 0) ? bits + 1 : bits - 1;
    const f32 step = x == 0 ? copysignf(0x1p-149f, y) : fc_f32_of_bits(moved);
    return x != x || y != y ? x + y : x == y ? y : step;
}

static inline f64 fc_nextafter_f64(f64 x, f64 y)
{
    const uint64_t bits = fc_bits_f64(x);
    const uint64_t moved = (y > x) == (x > 0) ? bits + 1 : bits - 1;
    const f64 step = x == 0 ? copysign(0x1p-1074, y) : fc_f64_of_bits(moved);
    return x != x || y != y ? x + y : x == y ? y : step;
}

/* x = mantissa 2**exponent, 1/2 <= |mantissa| < 1; what has no exponent (0, infinities, NaN) is its own mantissa. Subnormals by scaling. */
FC_MATH f32 fc_frexp_exponent_f32(f32 x)
{
    const int small = fabsf(x) < 0x1p-126f;
    const uint32_t e = fc_bits_f32(small ? x * 0x1p25f : x) >> 23 & 0xffu;
    return x == 0 || e == 0xffu ? 0 : (f32)((int64_t)e - 126 - (small ? 25 : 0));
}

FC_MATH f32 fc_frexp_mantissa_f32(f32 x)
{
    const uint32_t bits = fc_bits_f32(fabsf(x) < 0x1p-126f ? x * 0x1p25f : x);
    return x == 0 || (bits >> 23 & 0xffu) == 0xffu ? x : fc_f32_of_bits((bits & 0x807fffffu) | 0x3f000000u);
}

FC_MATH f64 fc_frexp_exponent_f64(f64 x)
{
    const int small = fabs(x) < 0x1p-1022;
    const uint64_t e = fc_bits_f64(small ? x * 0x1p54 : x) >> 52 & 0x7ffu;
    return x == 0 || e == 0x7ffu ? 0 : (f64)((int64_t)e - 1022 - (small ? 54 : 0));
}

FC_MATH f64 fc_frexp_mantissa_f64(f64 x)
{
    const uint64_t bits = fc_bits_f64(fabs(x) < 0x1p-1022 ? x * 0x1p54 : x);
    return x == 0 || (bits >> 52 & 0x7ffu) == 0x7ffu ? x : fc_f64_of_bits((bits & 0x800fffffffffffffu) | 0x3fe0000000000000u);
}

#endif
