"""Derivatives of special functions (Abramowitz and Stegun; NIST Digital Library of Mathematical Functions)."""

from __future__ import annotations

import math
from collections.abc import Callable

import facula as F

from .._core import composing, row
from .._table import D, none
from ._tools import only_where

HALF_PI_ROOT = math.sqrt(math.pi) / 2

D("erf",        x=lambda g, x: F.exp(-x * x) * (1 / HALF_PI_ROOT) * g)
D("erfc",       x=lambda g, x: F.exp(-x * x) * (-1 / HALF_PI_ROOT) * g)
D("erfinv",     x=lambda g, x: F.exp(F.erfinv(x) ** 2) * HALF_PI_ROOT * g)
D("lgamma",     x=lambda g, x: g * F.digamma(x))
D("digamma",    x=lambda g, x: g * F.polygamma(1, x))
D("_polygamma", x=lambda g, x, n: g * F.polygamma(n + 1, x))
D("igamma",     x=lambda g: without("igamma: input"),  y=lambda g, x, y: g * F.exp((x - 1) * F.log(y) - y - F.lgamma(x)))
D("igammac",    x=lambda g: without("igammac: input"), y=lambda g, x, y: -g * F.exp((x - 1) * F.log(y) - y - F.lgamma(x)))
D("_logit",     x=lambda g, x: logit_gradient(g, x))
D("sinc",       x=lambda g, x: g * only_where(math.pi * x * x != 0, (math.pi * x * F.cos(math.pi * x) - F.sin(math.pi * x)) / (math.pi * x * x)))
D("xlogy",      x=lambda g, x, y: times_log(g, x, y, F.xlogy, 0),         y=lambda g, x, y: g * x / y)
D("_special_xlog1py", x=lambda g, x, y: times_log(g, x, y, F.special.xlog1py, -1), y=lambda g, x, y: g * x / (y + 1))
D("_special_zeta", x=lambda g: without("zeta"), y=lambda g, x, y: g * -x * row("_special_zeta")(x + 1.0, y))

# ---- the normal distribution
D("_special_ndtr", node="MulBackward1", x=lambda g, x: g * F.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi)))
D("_special_ndtri",    x=lambda g, out: g * F.exp(out * out * 0.5) * math.sqrt(2 * math.pi))
D("_special_log_ndtr", x=lambda g, x: g * math.sqrt(2 / math.pi) / row("_special_erfcx")(x * -math.sqrt(0.5)))
D("_special_erfcx",    x=lambda g, x, out: g * (2 * x * out - 1 / HALF_PI_ROOT))
D("_special_entr",     x=lambda g, x: g * (-1 - F.log(x)))

# ---- Bessel functions: at 0 the quotients have limits
D("i0",                   x=lambda g, x: g * row("_special_i1")(x))
D("_special_i0e",         x=lambda g, x, out: g * (row("_special_i1e")(x) - F.sgn(x) * out))
D("_special_i1",          x=lambda g, x, out: g * limit(x, F.i0(x) - out / unless_zero(x), 0.5))
D("_special_i1e",         x=lambda g, x, out: g * limit(x, row("_special_i0e")(x) - out * (F.sgn(x) + 1 / unless_zero(x)), 0.5))
D("_special_bessel_j0",   x=lambda g, x: -g * row("_special_bessel_j1")(x))
D("_special_bessel_j1",   x=lambda g, x, out: g * limit(x, row("_special_bessel_j0")(x) - out / unless_zero(x), 0.5))
D("_special_bessel_y0",   x=lambda g, x: -g * row("_special_bessel_y1")(x))
D("_special_bessel_y1",   x=lambda g, x, out: g * (row("_special_bessel_y0")(x) - out / x))
D("_special_modified_bessel_k0", x=lambda g, x: -g * row("_special_modified_bessel_k1")(x))
D("_special_modified_bessel_k1", x=lambda g, x, out: -g * (row("_special_modified_bessel_k0")(x) + out / x))
D("_special_scaled_modified_bessel_k0", x=lambda g, x, out: g * (out - row("_special_scaled_modified_bessel_k1")(x)))
D("_special_scaled_modified_bessel_k1", x=lambda g, x, out: g * (out * (1 - 1 / x) - row("_special_scaled_modified_bessel_k0")(x)))
D("_special_spherical_bessel_j0", x=lambda g, x, out: g * limit(x, (F.cos(x) - out) / x, 0.0))

# PyTorch has no derivative of these either
none("_special_airy_ai")
none(*(f"_special_{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"))
none("_special_hermite_polynomial_h", "_special_hermite_polynomial_he", "_special_laguerre_polynomial_l", "_special_legendre_polynomial_p")


def without(what) -> Callable:
    """Nobody has this derivative; whoever asks for it is told."""
    raise NotImplementedError(f"the derivative for '{what}' is not implemented. Detach that argument.")


def unless_zero(x) -> F.Tensor:
    """x, and 1 where it is 0: a divisor whose own derivative stays finite where limit() puts its quotient aside."""
    return F.where(x == 0, 1, x)


def limit(x, quotient, at_zero) -> F.Tensor:
    """quotient, and its limit where x is 0."""
    return F.where(x == 0, at_zero, quotient)


def times_log(g, x, y, product, pole) -> F.Tensor:
    """product(g, y), g times a logarithm of y, which is 0 where x is 0 and the logarithm has no value; y may be a number."""
    y = y.to(g.dtype) if isinstance(y, F.Tensor) else F.tensor(y, dtype=g.dtype)  # integers have logarithms of the default dtype
    return F.masked_fill(product(g, y), (x == 0) & (y <= pole), 0)


def logit_gradient(g, x) -> F.Tensor:
    """Beyond 0 and 1 it is NaN; with a graph where that is says how the gradient lies, as in PyTorch."""
    inside, slope = (x >= 0) & (x <= 1), g / (x * (1 - x))
    return F.where(inside, slope, math.nan) if composing() else slope.masked_fill_(~inside, math.nan)
