/* Rounding, sign, extrema and the division family, for one type: T, FN(name), FC_LIBC(name) the C library's. Included once per
 * type; no guard, deliberately. The library's functions used here are exact, and instructions but for fmod. */

FC_MATH T FN(fabs)(T x)     { return FC_LIBC(fabs)(x); }
FC_MATH T FN(abs)(T x)      { return FC_LIBC(fabs)(x); }
FC_MATH T FN(sqrt)(T x)     { return FC_LIBC(sqrt)(x); }
FC_MATH T FN(floor)(T x)    { return FC_LIBC(floor)(x); }
FC_MATH T FN(ceil)(T x)     { return FC_LIBC(ceil)(x); }
FC_MATH T FN(trunc)(T x)    { return FC_LIBC(trunc)(x); }
FC_MATH T FN(round)(T x)    { return FC_LIBC(rint)(x); } /* halves to even, as PyTorch */
FC_MATH T FN(frac)(T x)     { return x - FC_LIBC(trunc)(x); }
FC_MATH T FN(conj)(T x)     { return x; }
FC_MATH T FN(copysign)(T x, T y) { return FC_LIBC(copysign)(x, y); }

FC_MATH int FN(isinf)(T x)    { return FC_LIBC(fabs)(x) == (T)INFINITY; }
FC_MATH int FN(isfinite)(T x) { return FC_LIBC(fabs)(x) < (T)INFINITY; }
FC_MATH int FN(isposinf)(T x) { return x == (T)INFINITY; }
FC_MATH int FN(isneginf)(T x) { return x == -(T)INFINITY; }
FC_MATH int FN(signbit)(T x)  { return FN(copysign)((T)1, x) < 0; }

/* A choice after the other: of one expression gcc makes masks of masks, 10.3 us for 400 KB instead of 6.8. */
FC_MATH T FN(nan_to_num)(T x, T nan, T high, T low)
{
    T some = x == (T)INFINITY ? high : x;
    some = x == -(T)INFINITY ? low : some;
    return x == x ? some : nan;
}

/* NaN has no sign: 0, as PyTorch's sign */
FC_MATH T FN(sign)(T x)     { return (x > 0 ? (T)1 : (T)0) - (x < 0 ? (T)1 : (T)0); }
FC_MATH T FN(sgn)(T x)      { return FN(sign)(x); }
FC_MATH T FN(angle)(T x)    { return x != x ? x : x < 0 ? (T)3.14159265358979323846 : (T)0; }

/* NaN wins (maximum) or loses (fmax); of equal zeros the first. One instruction and a choice that asks y alone, which is often a
 * constant: asking x as well, or in one expression, two in a row became branches, or a dozen masks. */
FC_MATH T FN(maximum)(T x, T y)
{
    const T some = y > x ? y : x;
    return y != y ? y : some;
}

FC_MATH T FN(minimum)(T x, T y)
{
    const T some = y < x ? y : x;
    return y != y ? y : some;
}

FC_MATH T FN(fmax)(T x, T y)
{
    const T some = x > y ? x : y;
    return y != y ? x : some;
}

FC_MATH T FN(fmin)(T x, T y)
{
    const T some = x < y ? x : y;
    return y != y ? x : some;
}


/* between bounds that are no NaN; NaN stays */
FC_MATH T FN(clamp)(T x, T low, T high)
{
    const T some = x < low ? low : x;
    return some > high ? high : some;
}

FC_MATH T FN(heaviside)(T x, T y)       { return x == 0 ? y : (T)(x > 0); }

/* exact at both ends: from the nearer one */
FC_MATH T FN(lerp)(T x, T y, T weight)
{
    const T far = 1 - weight;
    return FC_LIBC(fabs)(weight) < (T)0.5 ? FN(fma)(weight, y - x, x) : FN(fma)(-far, y - x, y);
}

/* x fmod y where |x| < |y| FC_EASY_QUOTIENT and y is finite: the quotient's rounding can only step up, by one, and then the sign
 * tells; both remainders are exact. And NaN where there is no remainder: of NaN, of an infinite x, for y = 0. */
FC_MATH T FN(easy_fmod)(T x, T y)
{
    const T a = FC_LIBC(fabs)(x), b = FC_LIBC(fabs)(y);
    const T r = FN(fma)(-FC_LIBC(trunc)(a / b), b, a), up = r + b;
    return FC_LIBC(copysign)(r < 0 ? up : r, x);
}

/* fmod is exact: the library's, but where one division finds the quotient (mathfn_base.h) */
FC_MATH T FN(fmod)(T x, T y)
{
    const T a = FC_LIBC(fabs)(x), b = FC_LIBC(fabs)(y);
    if (!(a < b * FC_QUOTIENT_LIMIT && FC_LIBC(fabs)(b) < (T)INFINITY)) {
        if (!(a < (T)INFINITY && b > 0)) /* there is none, which the library says too, in its time */
            return FN(easy_fmod)(x, y);
        return a < b ? x : FC_LIBC(fmod)(x, y);
    }
    const T r = FN(small_fmod)(a, b);
    return FC_LIBC(copysign)(r, x);
}

/* Python's %: r = x fmod y with the divisor's sign */
FC_MATH T FN(remainder_of)(T r, T y)
{
    const T moved = r + y, below = y < 0 ? r : moved, above = y < 0 ? moved : r;
    const T some = r < 0 ? below : above;
    return r == 0 ? r : some;
}

/* Python's //, where rounding of x / y could step over an integer: from the exact remainder r = x fmod y, as PyTorch */
FC_MATH T FN(floor_divide_of)(T r, T x, T y)
{
    const T step = FN(remainder_of)(r, y) == r ? 0 : 1;
    const T q = (x - r) / y - step;
    const T down = FC_LIBC(floor)(q), up = down + 1;
    const T whole = q - down > (T)0.5 ? up : down, zero = FN(copysign)((T)0, x / y), some = q != 0 ? whole : zero;
    return y == 0 ? x / y : some;
}

FC_MATH T FN(remainder)(T x, T y)    { return FN(remainder_of)(FN(fmod)(x, y), y); }
FC_MATH T FN(floor_divide)(T x, T y) { return FN(floor_divide_of)(FN(fmod)(x, y), x, y); }
FC_MATH T FN(trunc_divide)(T x, T y) { return FC_LIBC(trunc)(x / y); }
