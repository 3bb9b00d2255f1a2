"""Derivatives of elementwise ops. Sums over broadcast dims, casts after promotion and conjugates are the op class's."""

import math

import facula as F

from .._core import conj, row
from .._table import D, refuse, zero, zeros
from ._tools import only_where, scaled

# ---- arithmetic
D("add",        x=lambda g: g,                          y=lambda g, alpha: scaled(g, alpha))
D("sub",        x=lambda g: g,                          y=lambda g, alpha: scaled(g, -alpha))
D("rsub",       x=lambda g, alpha: scaled(g, -alpha),   y=lambda g: g)
D("mul",        x=lambda g, y: g * y,                   y=lambda g, x: g * x)
D("div",        x=lambda g, y: g / y,                   y=lambda g, x, y: -g * (x / y / y))
D("reciprocal", x=lambda g, out: -g * out * out)
D("neg",        x=lambda g: -g)
D("square",     node="PowBackward0", x=lambda g, x: g * (2 * x))
D("pow",        x=lambda g, x, y: pow_base(g, x, y),    y=lambda g, x, y, out: pow_exponent(g, x, y, out))
D("fmod",       x=lambda g: g,                          y=lambda g, x, y: -g * F.trunc(x / y))
D("remainder",  x=lambda g: g,                          y=lambda g, x, y: -g * F.div(x, y, rounding_mode="floor"))
D("addcmul",    x=lambda g: g,                          y=lambda g, z, value: scaled(g * z, value),
                z=lambda g, y, value: scaled(g * y, value))
D("_addr",      x=lambda g, beta: scaled(g, beta),      y=lambda g, z, alpha: scaled(g * z, alpha),
                z=lambda g, y, alpha: scaled(g * y, alpha))
D("_renorm_factor", x=lambda g, x, maxnorm: only_where(x > maxnorm, g * -(maxnorm if math.isfinite(maxnorm) else 1) / (x + 1e-7) ** 2))
D("addcdiv",    x=lambda g: g,                          y=lambda g, z, value: scaled(g / z, value),
                z=lambda g, y, z, value: scaled(-g * y / (z * z), value))
D("lerp",       x=lambda g, z: g * (1 - z),             y=lambda g, z: g * z,      z=lambda g, x, y: g * (y - x))
D("hypot",      x=lambda g, x, out: g * (x / out),      y=lambda g, y, out: g * (y / out))
D("atan2",      x=lambda g, x, y: g * over_square(y, x, y),    y=lambda g, x, y: g * over_square(-x, x, y))
D("_ldexp",     x=lambda g, y: row("_ldexp")(g, y),     y=lambda g: F.zeros_like(g))
D("nextafter",  x=lambda g, x, y: only_where(x != y, g),   y=lambda g: F.zeros_like(g))
D("copysign",   x=lambda g, x, out: g * only_where(x != 0, out / x),   y=zeros)

# ---- choice: at a tie each side gets half, as in PyTorch
D("maximum",    x=lambda g, x, y: chosen(g, x, y, x < y),      y=lambda g, x, y: chosen(g, x, y, x > y))
D("minimum",    x=lambda g, x, y: chosen(g, x, y, x > y),      y=lambda g, x, y: chosen(g, x, y, x < y))
D("fmax",       x=lambda g, x, y: F.masked_fill(g, ~((x >= y) | (y != y)), 0),   y=lambda g, x, y: F.masked_fill(g, (x >= y) | (y != y), 0))
D("fmin",       x=lambda g, x, y: F.masked_fill(g, ~((x <= y) | (y != y)), 0),   y=lambda g, x, y: F.masked_fill(g, (x <= y) | (y != y), 0))
D("clamp_numbers", node="ClampBackward1", x=lambda g, x, min, max: only_where((x >= min) & (x <= max), g))
D("clamp_min",  x=lambda g, x, y: only_where(x >= y, g),    y=lambda g, x, y: only_where(x < y, g))
D("clamp_max",  x=lambda g, x, y: only_where(x <= y, g),    y=lambda g, x, y: only_where(x > y, g))
D("clamp_tensor", node="ClampBackward0", x=lambda g, x, y, z: only_where((x >= y) & (x <= z), g),
                y=lambda g, x, y, z: only_where((x < y) & (y < z), g),
                z=lambda g, x, y, z: only_where((x > z) | (y > z), g))
D("where_rows", node="WhereBackward0", real=True, y=lambda g, x: only_where(x, g),   z=lambda g, x: only_where(F.logical_not(x), g))
D("abs",        x=lambda g, x: g * F.sgn(x))

# ---- exponentials and logarithms
D("exp",        x=lambda g, out: g * out)
D("exp2",       x=lambda g, out: g * out * math.log(2))
D("expm1",      x=lambda g, out: g * (out + 1))
D("log",        x=lambda g, x: g / x)
D("log1p",      x=lambda g, x: g / (x + 1))
D("log2",       x=lambda g, x: g / (x * math.log(2)))
D("log10",      x=lambda g, x: g / (x * math.log(10)))
D("sqrt",       x=lambda g, out: g / (2 * out))
D("rsqrt",      x=lambda g, out: -0.5 * g * out * out * out)
D("logaddexp",  x=lambda g, x, y: share(g, x, y),              y=lambda g, x, y: share(g, y, x))
D("logaddexp2", x=lambda g, x, y: g / (1 + F.exp2(y - x)),     y=lambda g, x, y: g / (1 + F.exp2(x - y)))

# ---- circular and hyperbolic
D("sin",        x=lambda g, x: g * F.cos(x))
D("cos",        x=lambda g, x: -g * F.sin(x))
D("tan",        x=lambda g, out: g * (1 + out * out))
D("asin",       x=lambda g, x: g * F.rsqrt(1 - x * x))
D("acos",       x=lambda g, x: -g * F.rsqrt(1 - x * x))
D("atan",       x=lambda g, x: g / (1 + x * x))
D("sinh",       x=lambda g, x: g * F.cosh(x))
D("cosh",       x=lambda g, x: g * F.sinh(x))
D("asinh",      x=lambda g, x: g * F.rsqrt(x * x + 1))
D("acosh",      x=lambda g, x: g * (F.rsqrt(x - 1) * F.rsqrt(x + 1) if x.dtype.is_complex else F.rsqrt(x * x - 1)))
D("atanh",      x=lambda g, x: g / (1 - x * x))

# ---- parts
D("frac",       x=lambda g: g)
D("deg2rad",    x=lambda g: g * (math.pi / 180))
D("rad2deg",    x=lambda g: g * (180 / math.pi))
D("_nan_to_num", x=lambda g, x: only_where((x - x) == 0, g))

D("_frexp_mantissa", node="FrexpBackward0", x=lambda g, x: g * F.exp2(-row("_frexp_exponent")(x)))

# ---- steps
zero("floor", "ceil", "round", "trunc", "sign", "_frexp_exponent")
zero("trunc_divide", "_floor_quotient", operands="xy")
refuse("floor_divide", "_heaviside", operands="xy", node="NotImplemented")

# ---- complex: these are written for PyTorch's convention itself (the gradient of z is dL/d Re z + i dL/d Im z)
D("conj_physical", x=lambda g: conj(g), real=True)
D("sgn",        x=lambda g, x, out: sgn_gradient(g, x, out), real=True)
D("polar",      x=lambda g, out: F.real(F.conj(g) * F.sgn(out)), y=lambda g, out: F.real(F.conj(g) * out * 1j), real=True)
D("_angle",     x=lambda g, x: angle_gradient(g, x), real=True)


def share(g, x, y) -> F.Tensor:
    """g times what exp(x) is of exp(x) + exp(y)."""
    d = y - x
    if not d.is_complex():
        return g / (1 + F.exp(d))
    over = F.real(d) > 0
    e = F.exp(F.where(over, -d, d))  # at most 1: a complex infinity has no reciprocal
    return g * F.where(over, e, 1) / (1 + e)


def pow_base(g, x, y) -> F.Tensor:
    """y x^(y-1), which is 0 for y = 0 whatever x is."""
    if not isinstance(y, F.Tensor):
        return g * 0 if y == 0 else g * (2 * x) if y == 2 else g * (y * x ** (y - 1))
    return only_where(y != 0, g * (y * x ** (y - 1)))


def pow_exponent(g, x, y, out) -> F.Tensor:
    """x^y log x, which is 0 for x = 0 and y >= 0."""
    number = not isinstance(x, F.Tensor)
    x = F.tensor(x, dtype=out.dtype) if number else x.to(out.dtype)  # as precise as out; and that of a negative number may be complex
    rate = out * F.log(x)
    if number and x != 0:
        return g * rate
    return g * only_where(x != 0 if out.dtype.is_complex else F.logical_not((x == 0) & (y >= 0)), rate)


def chosen(g, x, y, lost) -> F.Tensor:
    """0 where the other won, half of g at a tie, and g where one is NaN."""
    return F.where(lost, 0, F.where(x == y, g / 2, g))


def sgn_gradient(g, x, out) -> F.Tensor:
    """Zero for real x; for complex z = r e^(it), the part of g across z, divided by r."""
    if not x.dtype.is_complex:
        return F.zeros_like(g, memory_format=F.contiguous_format)
    size = F.abs(x)
    return (g / size - out * F.real(F.conj(out) * g) / size).masked_fill_(size == 0, 0)


def angle_gradient(g, x) -> F.Tensor:
    if not x.dtype.is_complex:
        return F.zeros_like(x)
    size = F.abs(x)
    return only_where(size != 0, F.mul(g, 1j) * x / (size * size))


def over_square(t, x, y) -> F.Tensor:
    """t / (x x + y y), 0 at the origin."""
    size = x * x + y * y
    return t * only_where(size != 0, 1 / size)
