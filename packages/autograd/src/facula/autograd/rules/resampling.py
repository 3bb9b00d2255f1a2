"""Derivatives of resampling: linear in the input, so the gradient of a gradient is the row itself; grid_sample's places are not."""

from __future__ import annotations

import facula as F

from .._core import composing, row
from .._table import D, none
from ._tools import straight
from .sequence import through

D("_resample",
  x=lambda g, x_shape, y, z, dim: row("_resample_backward")(g, y, z, x_shape[dim], dim),
  z=lambda g, x, y, dim: tap_gradients(g, x, y, dim), lasting=True)
D("_resample_backward",
  x=lambda g, y, z, dim: row("_resample")(g, y, z, dim),
  z=lambda g, x, y, dim: tap_gradients(x, g, y, dim), lasting=True)
D("_affine_grid", node="AffineGridGeneratorBackward0", x=lambda g, sizes, align_corners: map_gradients(g, sizes, align_corners))
D("_grid_sample", xy=lambda g, x, y, y_origin, mode, padding, align_corners: grid_gradients(g, x, y, y_origin, mode, padding, align_corners))
none("_grid_sample_backward", "_resample_bytes")

LINEAR, NEAREST, CUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


def tap_gradients(g, x, places, dim) -> F.Tensor:
    """How much each tap's weight moves sum(g * resampled x)."""
    others = [d for d in range(x.ndim) if d != dim % x.ndim]
    found = []
    for k in range(places.shape[1]):
        at = places[:, k]
        part = g * F.index_select(x, dim, F.clamp(at, min=0))
        found.append((F.sum(part, others) if others else part) * (at >= 0).to(x.dtype))
    return F.stack(found, 1)


def map_gradients(g, sizes, align) -> F.Tensor:
    """Gradients of affine maps: what comes for each place, by the place that the identity leaves it at."""
    ndim = len(sizes)
    places = row("_affine_grid")(F.eye(ndim, ndim + 1, dtype=g.dtype, device=g.device).unsqueeze(0), sizes, align).reshape(-1, ndim)
    places = F.cat([places, F.ones((places.shape[0], 1), dtype=g.dtype, device=g.device)], 1)
    return F.matmul(places.mT, g.reshape(g.shape[0], -1, ndim)).mT


def grid_gradients(g, x, grid, grid_origin, mode, padding, align) -> tuple:
    if composing():
        dx, dgrid = through(lambda *t: (composed_grid_sample(*t, mode, padding, align),), (x, grid), (g,))
        if dgrid is None and grid_origin is not None:  # the nearest place is the same a little further on
            dgrid = straight(F.zeros_like(grid), grid_origin)
        return dx, dgrid
    return row("_grid_sample_backward")(g, x, grid, mode, padding, align)


def composed_grid_sample(x, grid, mode, padding, align) -> F.Tensor:
    ndim = x.ndim - 2
    n, c, *sizes = x.shape
    flat, out = x.reshape(n, c, -1), tuple(grid.shape[1:-1])
    ats = [unnormalised(grid[..., ndim - 1 - k], sizes[k], align) for k in range(ndim)]
    if mode != CUBIC:
        ats = [inside(at, size, padding, align) for at, size in zip(ats, sizes)]

    def fetch(places) -> F.Tensor:
        valid, index = None, None
        for at, size in zip(places, sizes):
            at = F.floor(inside(at, size, padding, align)) if mode == CUBIC else at
            ok = F.logical_and(at >= 0, at <= size - 1)
            valid = ok if valid is None else F.logical_and(valid, ok)
            at = F.where(ok, at, F.zeros_like(at)).to(F.int64)
            index = at if index is None else index * size + at
        values = F.gather(flat, 2, index.reshape(n, 1, -1).expand(n, c, -1)).reshape(n, c, *out)
        return values * valid.unsqueeze(1).to(values.dtype)

    if mode == NEAREST:
        return fetch([F.round(at.detach()) for at in ats])
    steps = (-1, 0, 1, 2) if mode == CUBIC else (0, 1)
    lows = [F.floor(at.detach()) for at in ats]
    weights = [[tap_weight(at - low, j, mode) for j in steps] for at, low in zip(ats, lows)]

    def blend(dim, places) -> F.Tensor:
        if dim == ndim:
            return fetch(places)
        return sum(blend(dim + 1, [*places, lows[dim] + j]) * w.unsqueeze(1) for j, w in zip(steps, weights[dim]))

    return blend(0, [])


def unnormalised(at, size, align) -> F.Tensor:
    return (at + 1) / 2 * (size - 1) if align else ((at + 1) * size - 1) / 2


def inside(at, size, padding, align) -> F.Tensor:
    if padding == REFLECTION:
        low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
        if span == 0:
            return F.zeros_like(at)
        away = F.abs(at - low)
        turns = F.floor(away.detach() / span)
        rest = away - turns * span
        at = F.where(F.remainder(turns, 2) == 0, rest + low, span - rest + low)
    return at if padding == ZEROS else F.clamp(at, 0, size - 1)


def tap_weight(part, j, mode) -> F.Tensor:
    if mode == LINEAR:
        return part if j else 1 - part
    a, y = -0.75, F.abs(part - j)
    if j in (0, 1):
        return ((a + 2) * y - (a + 3)) * y * y + 1
    return ((a * y - 5 * a) * y + 8 * a) * y - 4 * a
