/* Orthogonal polynomials by their three-term recurrences, in double; float rounds once. The degree comes as a float and is cut to an
 * integer, towards 0; negative, infinite and NaN ones give 0, as in PyTorch. Abramowitz and Stegun, chapter 22. */
#ifndef FC_MATHFN_POLYNOMIAL_H
#define FC_MATHFN_POLYNOMIAL_H

enum { FC_POLYNOMIAL_LONGEST = 100000 }; /* beyond it nothing but NaN and noise, and hours */

/* p[k + 1] = 2 x p[k] - p[k - 1] from p[0] = 1 and p[1] = first */
static inline f64 fc_chebyshev(f64 x, int64_t n, f64 first)
{
    f64 before = 1, now = first;
    if (n <= 0)
        return n < 0 ? 0 : 1;
    for (int64_t k = 1; k < n && now == now; ++k) {
        const f64 next = 2 * x * now - before;
        before = now;
        now = next;
    }
    return now;
}

static inline int64_t fc_degree(f64 n) { return !(n > -1 && n < INFINITY) ? -1 : n > FC_POLYNOMIAL_LONGEST ? FC_POLYNOMIAL_LONGEST : (int64_t)n; }

/* Within (-1, 1) and from degree 7 on by the angle, as PyTorch: T = cos(n t), U = sin((n + 1) t) / sin t, V = cos((n + 1/2) t) / cos(t / 2),
 * W = sin((n + 1/2) t) / sin(t / 2), x = cos t. */
static inline f64 fc_chebyshev_t_f64(f64 x, f64 degree)
{
    const int64_t n = fc_degree(degree);
    if (n > 6 && fabs(x) < 1)
        return fc_cos_f64(n * fc_acos_f64(x));
    return fc_chebyshev(x, n, x);
}

static inline f64 fc_chebyshev_u_f64(f64 x, f64 degree)
{
    const int64_t n = fc_degree(degree);
    if (n > 8 && fabs(x) < 1) {
        const f64 t = fc_acos_f64(x), s = fc_sin_f64(t);
        return s != 0 ? fc_sin_f64((n + 1) * t) / s : (n + 1) * fc_cos_f64((n + 1) * t) / x;
    }
    return fc_chebyshev(x, n, 2 * x);
}

static inline f64 fc_chebyshev_v_f64(f64 x, f64 degree)
{
    const int64_t n = fc_degree(degree);
    if (n > 8 && fabs(x) < 1) {
        const f64 t = fc_acos_f64(x), c = fc_cos_f64(t / 2);
        return c != 0 ? fc_cos_f64((n + 0.5) * t) / c : n % 2 ? -(2 * n + 1.0) : 2 * n + 1.0;
    }
    return fc_chebyshev(x, n, 2 * x - 1);
}

static inline f64 fc_chebyshev_w_f64(f64 x, f64 degree)
{
    const int64_t n = fc_degree(degree);
    if (n > 8 && fabs(x) < 1) {
        const f64 t = fc_acos_f64(x), s = fc_sin_f64(t / 2);
        return s != 0 ? fc_sin_f64((n + 0.5) * t) / s : 2 * n + 1.0;
    }
    return fc_chebyshev(x, n, 2 * x + 1);
}

static inline f64 fc_shifted_t_f64(f64 x, f64 n) { return fc_chebyshev_t_f64(2 * x - 1, n); }
static inline f64 fc_shifted_u_f64(f64 x, f64 n) { return fc_chebyshev_u_f64(2 * x - 1, n); }
static inline f64 fc_shifted_v_f64(f64 x, f64 n) { return fc_chebyshev_v_f64(2 * x - 1, n); }
static inline f64 fc_shifted_w_f64(f64 x, f64 n) { return fc_chebyshev_w_f64(2 * x - 1, n); }

/* p[k + 1] = (a(k) x + b(k)) p[k] - c(k) p[k - 1] */
#define FC_POLYNOMIAL(name, first, step)                                                                                \
    static inline f64 fc_##name##_f64(f64 x, f64 degree)                                                                \
    {                                                                                                                   \
        const int64_t n = fc_degree(degree);                                                                            \
        f64 before = 1, now = first;                                                                                    \
        if (n <= 0)                                                                                                     \
            return n < 0 ? 0 : 1;                                                                                       \
        for (int64_t k = 1; k < n && now == now; ++k) {                                                                 \
            const f64 next = step;                                                                                      \
            before = now;                                                                                               \
            now = next;                                                                                                 \
        }                                                                                                               \
        return now;                                                                                                     \
    }
FC_POLYNOMIAL(hermite_h, 2 * x, 2 * x * now - 2.0 * k * before)
FC_POLYNOMIAL(hermite_he, x, x * now - k * before)
FC_POLYNOMIAL(laguerre_l, 1 - x, ((2 * k + 1 - x) * now - k * before) / (k + 1))
FC_POLYNOMIAL(legendre_p, x, ((2 * k + 1) * x * now - k * before) / (k + 1))
#undef FC_POLYNOMIAL

#endif
