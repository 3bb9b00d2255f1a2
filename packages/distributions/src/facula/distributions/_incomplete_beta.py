"""The regularised incomplete beta function, and how a share drawn from a Dirichlet distribution moves with its concentration."""

from __future__ import annotations

import facula

_TINY = 1e-300
STEP = 1e-5  # of the central difference, as a share of the concentration


def _lower(a, b, x):
    """I_x(a, b) where x is not above the mean or thereabouts: the continued fraction converges fast there.

    Source: NIST Digital Library of Mathematical Functions, 8.17.22; evaluated forwards by Lentz's method.
    """
    front = a * x.log() + b * (-x).log1p() + facula.lgamma(a + b) - facula.lgamma(a) - facula.lgamma(b) - a.log()
    c = facula.ones_like(x)
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / facula.where(d.abs() < _TINY, _TINY, d)
    result = d
    for m in range(1, 10_000):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 + term * d, 1 + term / c
            d = 1 / facula.where(d.abs() < _TINY, _TINY, d)
            c = facula.where(c.abs() < _TINY, _TINY, c)
            result = result * d * c
        if m % 8 == 0 and bool(((d * c - 1).abs() < 1e-15).all()):
            break
    return front.exp() * result


def share_by_concentration(x, a, total):
    """dx/da / (1 - x) for x ~ Beta(a, b) at its quantile, b = total - a fixed: -(dF/da) / density / (1 - x).

    dF/da is a central difference in float64, of the tail that is smaller: good to 1e-8.
    Source: Figurnov, Mohamed, Mnih, Implicit Reparameterization Gradients (2018).
    """
    x, a, total = (t.to(facula.float64) for t in (x, a, total))
    b, x = total - a, x.clamp(1e-300, 1 - 1e-16)
    h = STEP * a
    swapped = x > (a + 1) / (total + 2)
    y = facula.where(swapped, 1 - x, x)

    def tail(a):
        return _lower(facula.where(swapped, b, a), facula.where(swapped, a, b), y)

    slope = (tail(a + h) - tail(a - h)) / (2 * h)
    slope = facula.where(swapped, -slope, slope)
    density = ((a - 1) * x.log() + (b - 1) * (-x).log1p() + facula.lgamma(total) - facula.lgamma(a) - facula.lgamma(b)).exp()
    return -slope / (density * (1 - x))
