"""Elementwise rows."""

import numpy as np

from . import O


def nonzero(a):
    return np.where(a == 0, np.asarray(3).astype(a.dtype), a)


def small_exponent(a):
    """Integers: 0..4, because a negative power of one is not an integer."""
    return a if a.dtype.kind in "fc" else abs(a.astype(np.int64)) % 5


def sign(x):
    if x.dtype == bool:
        return x
    return np.where(np.isnan(x), 0, np.sign(x)) if x.dtype.kind == "f" else np.sign(x)


def sgn(x):
    return np.where(x == 0, 0, x / np.where(x == 0, 1, abs(x))) if x.dtype.kind == "c" else sign(x)


def trunc_divide(x, y):
    if np.asarray(x).dtype.kind == "f":
        return np.trunc(x / y)
    whole, part = np.asarray(x, object), np.asarray(y, object)
    return np.asarray(abs(whole) // abs(part) * np.sign(whole) * np.sign(part)).astype(x.dtype)


def gcd(x, y):
    """Euclid's, with the remainders of C: the least integer has no magnitude, so it may leave a sign."""
    a, b = abs(x), abs(y)
    while np.any(a):
        a, b = np.where(a == 0, 0, np.fmod(b, np.where(a == 0, 1, a))), np.where(a == 0, b, a)
    return b


def power(x, y):
    return np.power(x, y) if x.dtype != bool else x | ~np.asarray(y)


def terms(x, y, z):
    return abs(x) + abs(y * z)


def real(a):
    a = np.asarray(a)
    return a if a.dtype.kind == "f" else a.astype(np.float32)


def bits(a):
    return np.asarray(a).dtype.itemsize * 8


def shift(a):
    """Places to move by: within the width, one of them the width itself."""
    places = abs(a.astype(np.int64)) % bits(a)
    places.reshape(-1)[:1] = bits(a)
    return places


def shifted_left(x, y):
    y = np.asarray(y).astype(np.int64)
    return np.where(y >= bits(x), 0, (x.astype(np.int64) << np.minimum(y, 63))).astype(x.dtype)


def shifted_right(x, y):
    places = np.minimum(np.asarray(y).astype(np.int64), bits(x) - 1).astype(x.dtype)
    return np.where(np.asarray(y) >= bits(x), np.asarray(-1 * (x < 0)).astype(x.dtype), x >> places)


def logaddexp(x, y):
    if x.dtype.kind == "f":
        return np.logaddexp(x, y)
    large, small = np.where(x.real >= y.real, x, y), np.where(x.real >= y.real, y, x)
    return large + np.log(1 + np.exp(small - large))


def small(a):
    return (a.astype(np.int64) % 10).astype(a.dtype)


# arithmetic
O("add", lambda x, y, alpha: x + alpha * y)
O("sub", lambda x, y, alpha: x - alpha * y)
O("rsub", lambda x, y, alpha: y - alpha * x)
O("mul", np.multiply)
O("div", np.true_divide)
O("floor_divide", np.floor_divide, second=nonzero, native=True)
O("_floor_quotient", np.floor_divide, second=nonzero, native=True)
O("trunc_divide", trunc_divide, second=nonzero, native=True)
O("remainder", np.remainder, second=nonzero)
O("fmod", np.fmod, second=nonzero)
O("pow", power, second=small_exponent, ulp=2, culp=64)
O("neg", np.negative)
O("abs", lambda x: np.abs(x), culp=1)
O("sign", sign)
O("sgn", sgn)
O("square", lambda x: x * x)
O("reciprocal", lambda x: 1 / x)
O("addcmul", lambda x, y, z, value: x + value * (y * z), ulp=2, scale=lambda x, y, z: terms(x, y, z))
O("_renorm_factor", lambda x, maxnorm: np.where(x > maxnorm, maxnorm / (x + 1e-7), 1), ulp=3, cases=lambda t: [(t(3, 4), {"maxnorm": 0.5}), (t(700), {"maxnorm": 2}), (t(), {"maxnorm": 0.25})])
O("_addr", lambda x, y, z, beta, alpha: beta * x + alpha * (y * z), ulp=3, scale=lambda x, y, z: terms(x, y, z))
O("addcdiv", lambda x, y, z, value: x + value * (y / z), ulp=2, scale=lambda x, y, z: abs(x) + abs(y / z), second=nonzero)
O("lerp", lambda x, y, z: x + z * (y - x), ulp=4, scale=lambda x, y, z: terms(x, z, y - x) + abs(y), specials=False)

O("hypot", np.hypot, ulp=2)
O("_ldexp", lambda x, y: np.ldexp(x, np.trunc(np.clip(y, -5000, 5000)).astype(int)), specials=False)
O("copysign", lambda x, y: np.copysign(real(x), real(y)))
O("nextafter", np.nextafter, native=True, only=("float16", "float32", "float64"))
O("gcd", gcd)
O("lcm", np.lcm, domain=small, second=small)
O("frac", lambda x: x - np.trunc(x))
O("deg2rad", lambda x: x * (np.longdouble(np.pi) / 180), ulp=1.5)
O("rad2deg", lambda x: x * (180 / np.longdouble(np.pi)), ulp=1.5)
O("conj_physical", np.conj)
O("_angle", lambda x: np.where(np.isnan(x), x, np.angle(x)) if x.dtype.kind == "c" else np.where(np.isnan(x), x, np.where(x < 0, np.longdouble(np.pi), 0)), ulp=1.5, culp=2)
O("_frexp_mantissa", lambda x: np.frexp(x)[0])
O("_frexp_exponent", lambda x: np.where(np.isfinite(x), np.frexp(x)[1], 0).astype(x.dtype))
O("_nan_to_num", lambda x, nan, posinf, neginf: np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf), cases=lambda t: [
    (t(3, 5, 7), {"nan": 1.5, "posinf": 8.0, "neginf": -4.0}), (t(), {"nan": 0.0, "posinf": 1.0, "neginf": 0.0}), (t(0, 3), {"nan": 0.0, "posinf": 1.0, "neginf": 0.0}),
])  # fmt: skip

# comparison and logic
O("eq", lambda x, y: x == y)
O("ne", lambda x, y: x != y)
O("lt", lambda x, y: x < y)
O("le", lambda x, y: x <= y)
O("gt", lambda x, y: x > y)
O("ge", lambda x, y: x >= y)
O("logical_and", lambda x, y: (x != 0) & (y != 0))
O("logical_or", lambda x, y: (x != 0) | (y != 0))
O("logical_xor", lambda x, y: (x != 0) ^ (y != 0))
O("logical_not", lambda x: x == 0)
O("bitwise_and", np.bitwise_and)
O("bitwise_or", np.bitwise_or)
O("bitwise_xor", np.bitwise_xor)
O("bitwise_not", np.invert)
O("bitwise_left_shift", shifted_left, second=shift)
O("bitwise_right_shift", shifted_right, second=shift)
O("maximum", np.maximum)
O("fmax", np.fmax)
O("fmin", np.fmin)
O("_heaviside", lambda x, y: np.where(x == 0, y, np.where(x != x, 0, x > 0)).astype(np.asarray(y).dtype))
O("minimum", np.minimum)
O("clamp_tensor", lambda x, y, z: np.minimum(np.maximum(x, y), z))
O("clamp_min", np.maximum)
O("clamp_max", np.minimum)

O("clamp_numbers", lambda x, min, max: np.minimum(np.maximum(x, min), max), cases=lambda t: [
    (t(3, 5, 7), {"min": t.scalar() * 0, "max": t.scalar()}), (t(), {"min": t.scalar() * 0, "max": t.scalar()}), (t(0, 3), {"min": 0, "max": 1}),
])  # fmt: skip

# exponentials, trigonometry, roots
O("exp", np.exp, ulp=2)
O("expm1", np.expm1, ulp=2)
O("log", np.log, ulp=2)
O("log1p", np.log1p, ulp=2)
O("log2", np.log2, ulp=2)
O("log10", np.log10, ulp=2)
O("sqrt", np.sqrt)
O("rsqrt", lambda x: 1 / np.sqrt(x), ulp=1.5)
O("sin", np.sin, ulp=2)
O("cos", np.cos, ulp=2)
O("tan", np.tan, ulp=2)
O("tanh", np.tanh, ulp=2)
O("exp2", np.exp2, ulp=2, culp=4)
O("asin", np.arcsin, ulp=1.5)
O("acos", np.arccos, ulp=1.5)
O("atan", np.arctan, ulp=1.5)
O("atan2", np.arctan2, ulp=1.5)
O("sinh", np.sinh, ulp=2.5)
O("cosh", np.cosh, ulp=2)
O("asinh", np.arcsinh, ulp=3, culp=8)
O("acosh", np.arccosh, ulp=3, culp=8)
O("atanh", np.arctanh, ulp=3, culp=8)
O("logaddexp", logaddexp, ulp=3, culp=32, scale=lambda x, y: np.maximum(abs(x), abs(y)), specials=False)
O("logaddexp2", np.logaddexp2, ulp=3, scale=lambda x, y: np.maximum(abs(x), abs(y)), specials=False)

# rounding
O("floor", np.floor)
O("ceil", np.ceil)
O("trunc", np.trunc)
O("round", lambda x: np.rint(x) if x.dtype.kind == "f" else x)

# selection
O("where_rows", lambda x, y, z: np.where(x, y, z), cases=lambda t: [
    (t.bool(3, 5, 7), t(3, 5, 7), t(3, 5, 7)),
    (t.bool(5, 1), t(3, 5, 7), t(7)),
    (t.bool(), t(), t()),
    (t.bool(0, 3), t(0, 3), t(3)),
])  # fmt: skip
O("isnan", lambda x: x != x)
O("isinf", np.isinf)
O("isfinite", np.isfinite)
O("isposinf", lambda x: x.astype(float) == np.inf)
O("isneginf", lambda x: x.astype(float) == -np.inf)
O("signbit", lambda x: np.signbit(x.astype(float)))
