/* Formulas over the other functions, for one type: T, K(literal), FN(name). FC_LIBC(name). Included once
 * per type; no guard, deliberately. */

/* inverse hyperbolics by log1p of something that does not cancel; from 2**60 on, where squares may overflow, log(2 a) */
FC_MATH T FN(asinh)(T x)
{
    const T a = FN(fabs)(x);
    const T near = FN(log1p)(a + a * (a / (1 + FN(sqrt)(FN(fma)(a, a, 1)))));
    const T far = FN(log)(a) + K(0.69314718055994530942);
    return FN(copysign)(a < K(0x1p60) ? near : far, x);
}

FC_MATH T FN(acosh)(T x)
{
    const T t = x - 1;
    const T near = FN(log1p)(t + FN(sqrt)(t * (t + 2)));
    const T far = FN(log)(x) + K(0.69314718055994530942);
    return x < 1 ? (T)NAN : x < K(0x1p60) ? near : far;
}

FC_MATH T FN(atanh)(T x)
{
    const T a = FN(fabs)(x), t = a + a;
    const T y = K(0.5) * FN(log1p)(a > 1 ? (T)NAN : t + t * a / (1 - a));
    return FN(copysign)(y, x);
}

/* factor / (1 + e**-x), as factor e**x / (1 + e**x) for negative x: small results keep their digits where e**-x overflows */
FC_MATH T FN(sigmoid_times)(T x, T factor)
{
    const T e = FN(exp)(-FN(fabs)(x));
    return (x < 0 ? factor * e : factor) / (1 + e);
}

FC_MATH T FN(sigmoid)(T x)     { return FN(sigmoid_times)(x, 1); }
FC_MATH T FN(log_sigmoid)(T x) { return FN(minimum)(x, 0) - FN(log1p)(FN(exp)(-FN(fabs)(x))); }
FC_MATH T FN(silu)(T x)        { return FN(sigmoid_times)(x, x); }

/* log(x / (1 - x)), about 1/2, where that is near 1, log(1 + (2 x - 1) / (1 - x)) */
FC_MATH T FN(logit)(T x)
{
    const T odds = x / (1 - x), above = (2 * x - 1) / (1 - x);
    const FC_LOG_PARTS far = FN(log_split)(odds), near = FN(log1p_split)(above);
    const int middle = FN(fabs)(x - K(0.5)) < K(0.125);
    return FN(log_edges)(odds, FN(log_join)(middle ? near.f : far.f, middle ? near.n : far.n));
}

/* log(1 + exp(beta x)) / beta, the line x where that is closer than threshold allows to tell */
FC_MATH T FN(softplus)(T x, T beta, T threshold)
{
    const T u = x * beta;
    return u > threshold ? x : FN(log1p)(FN(exp)(u)) / beta;
}

/* x tanh(log(1 + e**x)) = x n / (n + 2), n = e**x (e**x + 2) */
FC_MATH T FN(mish)(T x)
{
    const T e = FN(exp)(FN(minimum)(x, 20));
    const T n = FN(fma)(e, e, e + e);
    return x > 20 ? x : x * (n / (n + 2));
}

/* sin(pi x) from what x is off an integer, which is exact: near one the result keeps its digits */
FC_MATH T FN(sinc)(T x)
{
    const f64 wide = x, whole = rint(wide), half = 0.5 * whole;
    const f64 sine = fc_sinpi_mid(wide - whole), y = (rint(half) == half ? sine : -sine) / (3.14159265358979323846 * wide) + 0.0; /* no -0 */
    return FN(fabs)(x) < K(0x1p-28) ? 1 : FN(fabs)(x) == (T)INFINITY ? (T)NAN : (T)y;
}

FC_MATH T FN(entr)(T x)   { return x != x ? x : x > 0 ? -x * FN(log)(x) : x == 0 ? 0 : -(T)INFINITY; }

FC_MATH T FN(deg2rad)(T x) { return x * K(0.017453292519943295769); }
FC_MATH T FN(rad2deg)(T x) { return x * K(57.295779513082320877); }

/* x == 0 wins over log's infinity, NaN wins over everything */
FC_MATH T FN(xlogy)(T x, T y)   { return y != y ? y : x == 0 ? 0 : x * FN(log)(y); }
FC_MATH T FN(xlog1py)(T x, T y) { return y != y ? y : x == 0 ? 0 : x * FN(log1p)(y); }

/* equal infinities would make inf - inf */
FC_MATH T FN(logaddexp)(T x, T y)
{
    const T far = x == y ? 0 : -FN(fabs)(x - y);
    return FN(maximum)(x, y) + FN(log1p)(FN(exp)(far));
}

FC_MATH T FN(logaddexp2)(T x, T y)
{
    const T far = x == y ? 0 : -FN(fabs)(x - y);
    return FN(maximum)(x, y) + FN(log1p)(FN(exp2)(far)) * K(1.44269504088896340736);
}

/* x 2**y for a whole y, rounded once: 2**y itself may be no number where the product is one. A float's product is exact in double, and a call for
 * each took twice as long. */
FC_MATH T FN(ldexp)(T x, T y)
{
    if (sizeof(T) == 4) {
        const int32_t n = (int32_t)(y > -300 ? y < 300 ? y : 300 : -300);
        const T scaled = (T)((f64)x * fc_f64_of_bits((uint64_t)(int64_t)(n + 1023) << 52));
        return y != y ? y : scaled;
    }
    return y != y ? y : FC_LIBC(ldexp)(x, y < -5000 ? -5000 : y > 5000 ? 5000 : (int)y);
}
