/* The inverses of the circular functions, for one type: T, K(literal), FN(name); their series are in mathfn_f32_trig.h and
 * mathfn_f64_trig.h. Included once per type; no guard, deliberately. */

/* k pi / 4 + factor (t + tail), rounded once, where factor t is exact and no larger than k pi / 4, unless k is 0 */
FC_MATH T FN(from_eighths)(T k, T factor, T t, T tail)
{
    const T eighth = K(0x1.921fb54442d18p-1), eighth_low = (T)((0x1.921fb54442d18p-1 - eighth) + 0x1.1a62633145c07p-55);
    const T far = k * eighth, far_low = FN(fma)(k, eighth, -far) + k * eighth_low, near = factor * t, sum = far + near;
    return sum + (((far - sum) + near) + FN(fma)(factor, tail, far_low));
}

/* atan(small / large), 0 <= small <= large, taken from pi / 2 if over, and then from pi if back.
 *
 * Beyond tan(pi / 8) it is pi / 4 - atan((large - small) / (large + small)), so that what there is to find is k pi / 4 +- atan(t), with
 * t <= tan(pi / 8). What t missed is added to the tail of its series. */
FC_MATH T FN(atan_in_eighths)(T small, T large, int over, int back)
{
    const int steep = small > K(0.4142135623730950) * large;
    const T over_line = steep ? large - small : small, line = steep ? large + small : large;
    const T inverse = 1 / line, t = over_line * inverse, z = t * t;
    const T lost = steep ? ((large - over_line) - small) - t * ((large - line) + small) : 0;
    const T missed = (FN(fma)(-t, line, over_line) + lost) * inverse;
    const T tail = FN(fma)(z * t, FN(atan_tail)(z), FN(fma)(-z, missed, missed)); /* atan'(t) = 1 - z + ... */

    const T first = steep ? 1 : 0, second = over ? 2 - first : first, k = back ? 4 - second : second;
    const T one = steep ? -1 : 1, other = over ? -one : one, sign = back ? -other : other;
    return FN(from_eighths)(k, sign, t, tail);
}

#define FC_FAR (sizeof(T) == 4 ? (T)0x1p60 : (T)0x1p500) /* numbers from 1 / FC_FAR to FC_FAR have inverses that keep their digits */

FC_MATH T FN(atan)(T x)
{
    const T a = FN(fabs)(x), near = a > FC_FAR ? FC_FAR : a;
    return FN(copysign)(FN(atan_in_eighths)(a > 1 ? 1 : a, a > 1 ? near : 1, a > 1, 0), x);
}

/* equal infinities count as the diagonal */
FC_MATH T FN(atan2)(T y, T x)
{
    const T a = FN(fabs)(x), b = FN(fabs)(y), most = a < b ? b : a, least = a < b ? a : b;
    const T scale = most > FC_FAR ? 1 / FC_FAR : most < 1 / FC_FAR ? FC_FAR : 1;
    const T large = most == (T)INFINITY || most == 0 ? 1 : most * scale;
    const T small = most == (T)INFINITY ? (T)(least == (T)INFINITY) : least * scale;
    const T angle = FN(atan_in_eighths)(small, large, b > a, FN(signbit)(x));
    return x != x || y != y ? (T)NAN : FN(copysign)(angle, y);
}

#undef FC_FAR

/* asin(a) of 0 <= a <= 1/2, as s + tail; beyond, of s = sqrt((1 - a) / 2), for asin(a) = pi / 2 - 2 asin(s). */
typedef struct { T s, tail; } FN(asin_parts);

FC_MATH FN(asin_parts) FN(asin_split)(T a)
{
    const int outer = a > K(0.5);
    const T z = outer ? K(0.5) - K(0.5) * a : a * a, s = outer ? FN(sqrt)(z) : a;
    const T missed = outer && a != 1 ? FN(fma)(-s, s, z) / (s + s) : 0; /* by the root */
    return (FN(asin_parts)){s, FN(fma)(z * s, FN(asin_tail)(z), FN(fma)(K(0.5) * z, missed, missed))};
}

FC_MATH T FN(asin)(T x)
{
    const T a = FN(fabs)(x);
    const FN(asin_parts) y = FN(asin_split)(a);
    return FN(copysign)(FN(from_eighths)(a > K(0.5) ? 2 : 0, a > K(0.5) ? -2 : 1, y.s, y.tail), x);
}

FC_MATH T FN(acos)(T x)
{
    const T a = FN(fabs)(x), side = FN(copysign)(1, x);
    const FN(asin_parts) y = FN(asin_split)(a);
    return FN(from_eighths)(a > K(0.5) ? 2 - 2 * side : 2, a > K(0.5) ? 2 * side : -side, y.s, y.tail);
}
