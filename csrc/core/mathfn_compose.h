/* Formulas over the other functions, for one type: T, K(literal), FN(name). Included once per type; no guard, deliberately. */

static inline T FN(sigmoid)(T x)     { return 1 / (1 + FN(exp)(-x)); }
static inline T FN(expit)(T x)       { return FN(sigmoid)(x); }
static inline T FN(logit)(T x)       { return FN(log)(x / (1 - x)); }
static inline T FN(log_sigmoid)(T x) { return FN(minimum)(x, 0) - FN(log1p)(FN(exp)(-FN(fabs)(x))); }
static inline T FN(silu)(T x)        { return x / (1 + FN(exp)(-x)); }

/* log(1 + exp(beta x)) / beta, the line x where that is closer than threshold allows to tell */
static inline T FN(softplus)(T x, T beta, T threshold)
{
    const T u = x * beta;
    return u > threshold ? x : FN(log1p)(FN(exp)(u)) / beta;
}

/* x Phi(x); erfc instead of 1 + erf keeps the small results of the left tail */
static inline T FN(gelu)(T x) { return K(0.5) * x * FN(erfc)(x * K(-0.70710678118654752440)); }

/* Hendrycks and Gimpel's approximation; 0.5 (1 + tanh u) is sigmoid(2 u), which does not cancel */
static inline T FN(gelu_tanh)(T x)
{
    const T u = K(1.59576912160573071176) * FN(fma)(K(0.044715) * x * x, x, x); /* 2 sqrt(2 / pi) (x + 0.044715 x**3) */
    return x / (1 + FN(exp)(-u));
}

/* x tanh(log(1 + e**x)) = x n / (n + 2), n = e**x (e**x + 2) */
static inline T FN(mish)(T x)
{
    const T e = FN(exp)(FN(minimum)(x, 20));
    const T n = e * (e + 2);
    return x > 20 ? x : x * (n / (n + 2));
}

static inline T FN(sinc)(T x)
{
    const T u = K(3.14159265358979323846) * x;
    return x == 0 ? 1 : FN(sin)(u) / u;
}

static inline T FN(entr)(T x)   { return x != x ? x : x > 0 ? -x * FN(log)(x) : x == 0 ? 0 : -(T)INFINITY; }
static inline T FN(exprel)(T x) { return x == 0 ? 1 : x == (T)INFINITY ? x : FN(expm1)(x) / x; }

static inline T FN(deg2rad)(T x) { return x * K(0.017453292519943295769); }
static inline T FN(rad2deg)(T x) { return x * K(57.295779513082320877); }

/* x == 0 wins over log's infinity, NaN wins over everything */
static inline T FN(xlogy)(T x, T y)   { return y != y ? y : x == 0 ? 0 : x * FN(log)(y); }
static inline T FN(xlog1py)(T x, T y) { return y != y ? y : x == 0 ? 0 : x * FN(log1p)(y); }

/* equal infinities would make inf - inf */
static inline T FN(logaddexp)(T x, T y)
{
    const T far = x == y ? 0 : -FN(fabs)(x - y);
    return FN(maximum)(x, y) + FN(log1p)(FN(exp)(far));
}

static inline T FN(logaddexp2)(T x, T y)
{
    const T far = x == y ? 0 : -FN(fabs)(x - y);
    return FN(maximum)(x, y) + FN(log1p)(FN(exp2)(far)) * K(1.44269504088896340736);
}

static inline T FN(ldexp)(T x, T y) { return x * FN(exp2)(y); }
