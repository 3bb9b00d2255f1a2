"""Elementwise rows."""

import math

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


def power(x, y):
    return np.power(x, y) if x.dtype != bool else x | ~np.asarray(y)


def terms(x, y, z):
    return abs(x) + abs(y * z)


# arithmetic
O("add", lambda x, y, alpha: x + alpha * y)
O("sub", lambda x, y, alpha: x - alpha * y)
O("rsub", lambda x, y, alpha: y - alpha * x)
O("mul", np.multiply)
O("div", np.true_divide)
O("floor_divide", np.floor_divide, second=nonzero, native=True)
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
O("addcdiv", lambda x, y, z, value: x + value * (y / z), ulp=2, scale=lambda x, y, z: abs(x) + abs(y / z), second=nonzero)
O("lerp", lambda x, y, z: x + z * (y - x), ulp=4, scale=lambda x, y, z: terms(x, z, y - x) + abs(y), specials=False)

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
O("maximum", np.maximum)
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
O("erf", lambda x: np.vectorize(math.erf, otypes=[float])(x), ulp=3)

# rounding
O("floor", np.floor)
O("ceil", np.ceil)
O("trunc", np.trunc)
O("round", lambda x: np.rint(x) if x.dtype.kind == "f" else x)

# activations
O("relu", lambda x: np.maximum(x, 0))
O("sigmoid", lambda x: 1 / (1 + np.exp(-x)), ulp=2)

# selection
O("where_rows", lambda x, y, z: np.where(x, y, z), cases=lambda t: [
    (t.bool(3, 5, 7), t(3, 5, 7), t(3, 5, 7)),
    (t.bool(5, 1), t(3, 5, 7), t(7)),
    (t.bool(), t(), t()),
    (t.bool(0, 3), t(0, 3), t(3)),
])  # fmt: skip
O("isnan", lambda x: x != x)
