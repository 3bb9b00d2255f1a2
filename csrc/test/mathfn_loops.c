/*
 * Loops over the math functions, and their errors against a better one: the library behind tools/ulp_table.py and test_mathfn.py,
 * built by them once per ISA level.
 *
 *   fc_loop1_<fn>_<t>(out, x, n), fc_loop2_<fn>_<t>(out, x, y, n)   plain loops, as the op cells have them
 *   fc_libm1_<fn>_<t>(out, x, n)                                    the C library's, to time against
 *   fc_miss1_<fn>_<t>(x, n, worst), fc_miss2_...(x, y, n, worst)    the largest error in units of the last place against the C library
 *                                                                   in the next wider type, and where it is
 */
#include "core/mathfn.h"
#include "core/convert.h"

#define FC_UNARY(X)                                                                                                      \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) \
    X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(lgamma) X(sqrt) X(floor) X(ceil) X(trunc)
#define FC_OURS(X)                                                                                                       \
    X(sigmoid) X(log_sigmoid) X(silu) X(gelu) X(gelu_tanh) X(mish) X(sinc) X(entr) X(frac) X(sign)     \
    X(angle) X(logit) X(erfinv) X(ndtr)
#define FC_OURS_DOUBLE(X) X(erfcx) X(ndtri) X(log_ndtr) X(digamma) X(i0) X(i0e) X(i1) X(i1e) /* float32 is rounded from these */
#define FC_BINARY(X) X(pow) X(atan2) X(hypot) X(fmod) X(nextafter) X(fmin) X(fmax) X(copysign)
#define FC_BINARY_OURS(X)                                                                                                \
    X(remainder) X(floor_divide) X(maximum) X(minimum) X(heaviside) X(logaddexp) X(logaddexp2) X(xlogy) X(xlog1py)        \
    X(ldexp)
#define FC_BINARY_OURS_DOUBLE(X) X(zeta) X(polygamma)

#define FC_LOOP1(T, t, fn)                                                                                               \
    void fc_loop1_##fn##_##t(T *restrict out, const T *restrict x, int64_t n)                                            \
    {                                                                                                                    \
        for (int64_t i = 0; i < n; ++i)                                                                                  \
            out[i] = fc_##fn##_##t(x[i]);                                                                                \
    }
#define FC_LOOP2(T, t, fn)                                                                                               \
    void fc_loop2_##fn##_##t(T *restrict out, const T *restrict x, const T *restrict y, int64_t n)                       \
    {                                                                                                                    \
        for (int64_t i = 0; i < n; ++i)                                                                                  \
            out[i] = fc_##fn##_##t(x[i], y[i]);                                                                          \
    }
#define FC_LIBM1(T, t, fn, libm)                                                                                         \
    void fc_libm1_##fn##_##t(T *restrict out, const T *restrict x, int64_t n)                                            \
    {                                                                                                                    \
        for (int64_t i = 0; i < n; ++i)                                                                                  \
            out[i] = libm(x[i]);                                                                                         \
    }
#define X(fn) FC_LOOP1(f32, f32, fn) FC_LOOP1(f64, f64, fn)
FC_UNARY(X)
FC_OURS(X)
#undef X
#define X(fn) FC_LOOP1(f64, f64, fn)
FC_OURS_DOUBLE(X)
#undef X
#define X(fn) FC_LOOP2(f32, f32, fn) FC_LOOP2(f64, f64, fn)
FC_BINARY(X)
FC_BINARY_OURS(X)
#undef X
#define X(fn) FC_LOOP2(f64, f64, fn)
FC_BINARY_OURS_DOUBLE(X)
#undef X
#define X(fn) FC_LIBM1(f32, f32, fn, fn##f) FC_LIBM1(f64, f64, fn, fn)
FC_UNARY(X)
#undef X

/* |got - want| in units of want's last place; 1e9 where one is NaN or infinite and the other is not, or a zero has the other sign.
 * TINY is the smallest subnormal, DIGITS the bits of a T. */
#define FC_ULPS(T, t, W, TINY, DIGITS)                                                                                   \
    static f64 ulps_##t(T got, W want)                                                                                   \
    {                                                                                                                    \
        const T near = (T)want;                                                                                          \
        if (near != near || got != got)                                                                                  \
            return (near != near) == (got != got) ? 0 : 1e9;                                                             \
        if (isinf(got) != isinf(near)) {                                                                                 \
            const T most = (T)(sizeof(T) == 4 ? FLT_MAX : DBL_MAX);                                                      \
            return fabs(got) >= most && fabs(near) >= most && (got < 0) == (near < 0) ? 1 : 1e9;                         \
        }                                                                                                                \
        if (isinf(got))                                                                                                  \
            return got == near ? 0 : 1e9;                                                                                \
        if (got == 0 && near == 0 && signbit(got) != signbit(near))                                                      \
            return 1e9;                                                                                                  \
        int e;                                                                                                           \
        frexpl(want, &e);                                                                                                \
        return (f64)(fabsl((long double)got - want) / fmaxl(ldexpl(1, e - DIGITS), TINY));                               \
    }
FC_ULPS(f32, f32, f64, 0x1p-149L, 24)
FC_ULPS(f64, f64, long double, 0x1p-1074L, 53)

#define FC_MISS1(T, t, W, fn, better)                                                                                    \
    f64 fc_miss1_##fn##_##t(const T *x, int64_t n, int64_t *worst)                                                       \
    {                                                                                                                    \
        f64 most = 0;                                                                                                    \
        T y[1024];                                                                                                       \
        for (int64_t k = 0; k < n; k += 1024) {                                                                          \
            const int64_t m = n - k < 1024 ? n - k : 1024;                                                               \
            fc_loop1_##fn##_##t(y, x + k, m);                                                                            \
            for (int64_t i = 0; i < m; ++i) {                                                                            \
                const f64 miss = ulps_##t(y[i], better((W)x[k + i]));                                                    \
                if (miss > most) {                                                                                       \
                    most = miss;                                                                                         \
                    *worst = k + i;                                                                                      \
                }                                                                                                        \
            }                                                                                                            \
        }                                                                                                                \
        return most;                                                                                                     \
    }
#define FC_MISS2(T, t, W, fn, better)                                                                                    \
    f64 fc_miss2_##fn##_##t(const T *x, const T *z, int64_t n, int64_t *worst)                                           \
    {                                                                                                                    \
        f64 most = 0;                                                                                                    \
        T y[1024];                                                                                                       \
        for (int64_t k = 0; k < n; k += 1024) {                                                                          \
            const int64_t m = n - k < 1024 ? n - k : 1024;                                                               \
            fc_loop2_##fn##_##t(y, x + k, z + k, m);                                                                     \
            for (int64_t i = 0; i < m; ++i) {                                                                            \
                const f64 miss = ulps_##t(y[i], better((W)x[k + i], (W)z[k + i]));                                       \
                if (miss > most) {                                                                                       \
                    most = miss;                                                                                         \
                    *worst = k + i;                                                                                      \
                }                                                                                                        \
            }                                                                                                            \
        }                                                                                                                \
        return most;                                                                                                     \
    }

/* what the C library lacks, by formulas that do not cancel, in long double (a float's inputs are exact there too) */
static long double sigmoid_better(long double x) { return 1 / (1 + expl(-x)); }
static long double silu_better(long double x)    { return x / (1 + expl(-x)); }
static long double ndtr_better(long double x)    { return 0.5L * erfcl(x * -0.707106781186547524400844362104849039L); }
static long double gelu_better(long double x)    { return x * ndtr_better(x); }
static long double gelu_tanh_better(long double x)
{
    return x / (1 + expl(-1.59576912160573071175978423973752747L * (x + 0.044715L * x * x * x)));
}
static long double mish_better(long double x)    { return x * tanhl(log1pl(expl(x))); }

#define FC_FORMULAS(X) X(sigmoid) X(silu) X(ndtr) X(gelu) X(gelu_tanh) X(mish)

#define X(fn) FC_MISS1(f32, f32, f64, fn, fn) FC_MISS1(f64, f64, long double, fn, fn##l)
FC_UNARY(X)
#undef X
#define X(fn) FC_MISS1(f32, f32, f64, fn, fn##_better) FC_MISS1(f64, f64, long double, fn, fn##_better)
FC_FORMULAS(X)
#undef X
#define X(fn) FC_MISS2(f32, f32, f64, fn, fn) FC_MISS2(f64, f64, long double, fn, fn##l)
X(pow) X(atan2) X(hypot) X(fmod)
#undef X
