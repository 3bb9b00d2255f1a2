"""Derivatives of products of matrices."""

import facula as F

from .._table import D
from ._tools import sum_to

D("matmul", node="MmBackward0", x=lambda g, x_shape, y: left(g, x_shape, y), y=lambda g, x, y_shape: right(g, x, y_shape))
D("mm",     x=lambda g, y: F.matmul(g, y.transpose(-1, -2)),    y=lambda g, x: F.matmul(x.transpose(-1, -2), g))
D("bmm",    x=lambda g, y: F.matmul(g, y.transpose(-1, -2)),    y=lambda g, x: F.matmul(x.transpose(-1, -2), g))
D("linear", node="AddmmBackward0", x=lambda g, y: F.matmul(g, y) if y.ndim == 2 else g.unsqueeze(-1) * y,
            y=lambda g, x, y_shape: weight(g, x, y_shape),      z=lambda g, z_shape: bias(g, z_shape))


def left(g, x_shape, y):
    """The gradient of x in x @ y."""
    if len(x_shape) == 1:
        return g * y if y.ndim == 1 else sum_to(F.matmul(y, g.unsqueeze(-1)).squeeze(-1), x_shape)
    if y.ndim == 1:
        return g.unsqueeze(-1) * y
    return sum_to(F.matmul(g, y.transpose(-1, -2)), x_shape)


def right(g, x, y_shape):
    """The gradient of y in x @ y; where y is one matrix for a batch, the batch is one long product."""
    if len(y_shape) == 1:
        if x.ndim == 1:
            return g * x
        return F.matmul(rows(x).transpose(0, 1), g.reshape(-1))
    if x.ndim == 1:
        return sum_to(x.unsqueeze(-1) * g.unsqueeze(-2), y_shape)
    if len(y_shape) == 2:
        return F.matmul(rows(x).transpose(0, 1), rows(g))
    return sum_to(F.matmul(x.transpose(-1, -2), g), y_shape)


def rows(t):
    return t if t.ndim == 2 else t.flatten(0, -2)  # a size of -1 is not known where another is 0


def weight(g, x, y_shape):
    """Of linear's weight (out, in), or (in,)."""
    if len(y_shape) == 1:
        return F.matmul(g.reshape(-1), rows(x)) if x.ndim > 1 else g * x
    if x.ndim == 1:
        return g.unsqueeze(-1) * x
    return F.matmul(rows(g).transpose(0, 1), rows(x))


def bias(g, z_shape):
    if len(z_shape) == 0 or g.ndim <= 1:
        return sum_to(g, z_shape)
    return F.sum(g, tuple(range(g.ndim - 1)))
