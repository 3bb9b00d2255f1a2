/* One complex type: C over T, CN(name) complex, FN(name) real, FC_LIBC(name) the library's. No guard, deliberately. */

/* re + i im without arithmetic: x + y * I would turn an infinite y into NaN */
#ifdef __GNUC__ /* a builtin that loops vectorise around; a union goes through memory */
static inline C CN(make)(T re, T im) { return __builtin_complex(re, im); }
static inline T CN(real)(C z)  { return FC_LIBC(creal)(z); }
static inline T CN(imag)(C z)  { return FC_LIBC(cimag)(z); }
#else
static inline C CN(make)(T re, T im)
{
    union { T part[2]; C z; } u;
    u.part[0] = re;
    u.part[1] = im;
    return u.z;
}

static inline T CN(real)(C z)  { union { C z; T part[2]; } u = {z}; return u.part[0]; }
static inline T CN(imag)(C z)  { union { C z; T part[2]; } u = {z}; return u.part[1]; }
#endif
static inline C CN(conj)(C z)  { return CN(make)(CN(real)(z), -CN(imag)(z)); }
static inline C CN(neg)(C z)   { return CN(make)(-CN(real)(z), -CN(imag)(z)); }
static inline T CN(abs)(C z)   { return FN(hypot)(CN(real)(z), CN(imag)(z)); }
static inline T CN(angle)(C z) { return FN(atan2)(CN(imag)(z), CN(real)(z)); }

/* -x, by its bits. Where one part is a difference of products and the other a sum, gcc's vectors fuse both (vfmaddsub) whatever
 * -ffp-contract says, and what is left of a line has other bits; a difference of the negative is the same sum, and left alone. */
static inline T CN(turned)(T x)
{
    FN_BITS bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= (FN_BITS)1 << (8 * sizeof bits - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline C CN(mul)(C x, C y)
{
    const T a = CN(real)(x), b = CN(imag)(x), c = CN(real)(y), d = CN(imag)(y);
    return CN(make)(a * c - b * d, a * d - CN(turned)(b) * c);
}

/* By the ratio of the divisor's smaller part to its larger one, so that its square is not needed; the bits are PyTorch's. By zero each
 * part is divided, as NumPy and PyTorch have it. No branch: a loop of it vectorises. Source: Smith (1962), Comm. ACM 5(8). */
FC_MATH C CN(div)(C x, C y)
{
    const T a = CN(real)(x), b = CN(imag)(x), c = CN(real)(y), d = CN(imag)(y), size = FN(fabs)(c);
    const int wide = size >= FN(fabs)(d), zero = (size == 0) & (d == 0);
    const T large = wide ? c : d, small = wide ? d : c, ratio = small / large, scale = 1 / FN(fma)(small, ratio, large);
    const T re = FN(fma)(wide ? b : a, ratio, wide ? a : b) * scale, im = FN(fma)(wide ? CN(turned)(a) : b, ratio, wide ? b : CN(turned)(a)) * scale;
    return CN(make)(zero ? a / size : re, zero ? b / size : im);
}

static inline C CN(reciprocal)(C z) { return CN(div)(CN(make)(1, 0), z); }

static inline int CN(isnan)(C z)    { return CN(real)(z) != CN(real)(z) || CN(imag)(z) != CN(imag)(z); }
static inline int CN(isinf)(C z)    { return FN(isinf)(CN(real)(z)) || FN(isinf)(CN(imag)(z)); }
static inline int CN(isfinite)(C z) { return FN(isfinite)(CN(real)(z)) && FN(isfinite)(CN(imag)(z)); }

static inline C CN(sgn)(C z)
{
    const T r = CN(abs)(z);
    return r == 0 ? CN(make)(0, 0) : CN(make)(CN(real)(z) / r, CN(imag)(z) / r);
}

static inline C CN(exp)(C z)   { return FC_LIBC(cexp)(z); }
static inline C CN(log)(C z)   { return FC_LIBC(clog)(z); }
static inline C CN(sqrt)(C z)  { return FC_LIBC(csqrt)(z); }
static inline C CN(pow)(C x, C y) { return FC_LIBC(cpow)(x, y); }
static inline C CN(sin)(C z)   { return FC_LIBC(csin)(z); }
static inline C CN(cos)(C z)   { return FC_LIBC(ccos)(z); }
static inline C CN(tan)(C z)   { return FC_LIBC(ctan)(z); }
static inline C CN(sinh)(C z)  { return FC_LIBC(csinh)(z); }
static inline C CN(cosh)(C z)  { return FC_LIBC(ccosh)(z); }
static inline C CN(tanh)(C z)  { return FC_LIBC(ctanh)(z); }
static inline C CN(asin)(C z)  { return FC_LIBC(casin)(z); }
static inline C CN(acos)(C z)  { return FC_LIBC(cacos)(z); }
static inline C CN(atan)(C z)  { return FC_LIBC(catan)(z); }
static inline C CN(asinh)(C z) { return FC_LIBC(casinh)(z); }
static inline C CN(acosh)(C z) { return FC_LIBC(cacosh)(z); }
static inline C CN(atanh)(C z) { return FC_LIBC(catanh)(z); }

/* times a real number, part by part */
static inline C CN(scale)(C z, T s) { return CN(make)(CN(real)(z) * s, CN(imag)(z) * s); }

static inline C CN(log2)(C z)  { return CN(scale)(CN(log)(z), (T)1.44269504088896340736); }
static inline C CN(log10)(C z) { return CN(scale)(CN(log)(z), (T)0.43429448190325182765); }
static inline C CN(exp2)(C z)  { return CN(exp)(CN(scale)(z, (T)0.69314718055994530942)); }

/* e**x cos(y) - 1 = expm1(x) cos(y) - 2 sin(y/2)**2, which does not cancel near 0 */
FC_MATH_CALLED C CN(expm1)(C z)
{
    const T x = CN(real)(z), y = CN(imag)(z), half = FN(sin)(y / 2);
    return CN(make)(FN(expm1)(x) * FN(cos)(y) - 2 * half * half, FN(exp)(x) * FN(sin)(y));
}

/* log|1 + z| = log1p(2 x + x**2 + y**2) / 2 near 0 */
static inline C CN(log1p)(C z)
{
    const T x = CN(real)(z), y = CN(imag)(z);
    const T size = FN(fabs)(x) + FN(fabs)(y);
    const T far = size > (T)1e30 ? (T)0.25 : 1; /* |1 + z| of the largest numbers overflows, a quarter of it does not */
    const T re = size < (T)0.5 ? FN(log1p)(x * (2 + x) + y * y) / 2 : FN(log)(FN(hypot)((1 + x) * far, y * far)) + (far < 1 ? (T)1.3862943611198906 : 0);
    return CN(make)(size == size ? re : size, FN(atan2)(y, 1 + x)); /* an infinity beside a NaN is none */
}

static inline C CN(sigmoid)(C z)
{
    const C e = CN(exp)(CN(neg)(z));
    return CN(reciprocal)(CN(make)(1 + CN(real)(e), CN(imag)(e)));
}
static inline C CN(silu)(C z)  { return CN(mul)(z, CN(sigmoid)(z)); }

/* from the nearer end, by its share of the way */
static inline int CN(lerp_near)(C weight) { return CN(real)(weight) * CN(real)(weight) + CN(imag)(weight) * CN(imag)(weight) < (T)0.25; }
static inline C CN(lerp_far)(C weight) { return CN(make)(CN(real)(weight) - 1, CN(imag)(weight)); }
static inline C CN(lerp_from)(C end, C x, C y, C share)
{
    const C part = CN(mul)(CN(make)(CN(real)(y) - CN(real)(x), CN(imag)(y) - CN(imag)(x)), share);
    return CN(make)(CN(real)(end) + CN(real)(part), CN(imag)(end) + CN(imag)(part));
}

/* chosen part by part, and by a number: a branch is guessed wrong every other time */
static inline C CN(lerp)(C x, C y, C weight)
{
    const int near = CN(lerp_near)(weight);
    const C end = CN(make)(near ? CN(real)(x) : CN(real)(y), near ? CN(imag)(x) : CN(imag)(y));
    return CN(lerp_from)(end, x, y, CN(make)(CN(real)(weight) - (T)!near, CN(imag)(weight)));
}

static inline C CN(fma)(C x, C y, C z)
{
    const C p = CN(mul)(x, y);
    return CN(make)(CN(real)(p) + CN(real)(z), CN(imag)(p) + CN(imag)(z));
}

static inline C CN(sinc)(C z)
{
    const C u = CN(scale)(z, (T)3.14159265358979323846);
    return CN(real)(z) == 0 && CN(imag)(z) == 0 ? CN(make)(1, 0) : CN(div)(CN(sin)(u), u);
}

/* from the larger real part, as PyTorch; equal infinities would make inf - inf */
static inline C CN(logaddexp)(C x, C y)
{
    const int first = CN(real)(x) >= CN(real)(y);
    const C large = first ? x : y, small = first ? y : x;
    if (CN(isnan)(x) || CN(isnan)(y))
        return CN(make)((T)NAN, (T)NAN);
    if (CN(real)(large) == CN(real)(small) && !FN(isfinite)(CN(real)(large)))
        return CN(real)(large) < 0 ? y : CN(log)(CN(make)(CN(real)(CN(exp)(large)) + CN(real)(CN(exp)(small)), CN(imag)(CN(exp)(large)) + CN(imag)(CN(exp)(small))));
    const C rest = CN(log1p)(CN(exp)(CN(make)(CN(real)(small) - CN(real)(large), CN(imag)(small) - CN(imag)(large))));
    return CN(make)(CN(real)(large) + CN(real)(rest), CN(imag)(large) + CN(imag)(rest));
}
