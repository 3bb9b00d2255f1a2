"""Derivatives of products of matrices."""

import facula as F

from .._table import D
from ._tools import scaled, sum_to

D("matmul", node="MmBackward0", x=lambda g, x_shape, y, x_seen: left(g, x_shape, y, x_seen), y=lambda g, x, y_shape, y_seen: right(g, x, y_shape, y_seen))
D("linear", node="AddmmBackward0",  # the bias first, as PyTorch: a leaf is filled and its hooks are called in this order
            z=lambda g, z_shape: bias(g, z_shape),      x=lambda g, y, x_seen: of_left(g, y.transpose(0, 1), x_seen) if y.ndim == 2 else g.unsqueeze(-1) * y,
            y=lambda g, x, y_shape, y_seen: weight(g, x, y_shape, y_seen))
D("_plus_product", x=lambda g, x_shape, beta: scaled(sum_to(g, x_shape), beta),
                   y=lambda g, y_shape, z, y_seen, alpha, over: scaled(left(g.unsqueeze(0) if over else g, y_shape, z, y_seen), alpha),
                   z=lambda g, y, z_shape, z_seen, alpha, over: scaled(right(g.unsqueeze(0) if over else g, y, z_shape, z_seen), alpha))


def by_columns(t) -> bool:
    """Whether a matrix that was kept lies column by column; then its gradient does, as in PyTorch."""
    return t is not None and t.ndim == 2 and t.stride() == (1, t.shape[0]) and not t.is_contiguous()


def by_rows(weight) -> bool:
    """Whether a linear map's weight lies row by row: else its gradient lies by columns, as in PyTorch, which multiplies by the transposed."""
    return weight.is_contiguous() and (1 not in weight.shape or weight.stride() == (weight.shape[1], 1))


def of_left(g, y, x) -> F.Tensor:
    """g @ y^T, the gradient of x in x @ y."""
    if by_columns(x):
        return F.matmul(y, g.transpose(0, 1)).transpose(0, 1)
    if x is not None and x.ndim > 2 and not x.is_contiguous() and x.movedim(-1, 0).is_contiguous():  # a batch of rows that lies by columns as one matrix
        return F.matmul(y, rows(g).transpose(0, 1)).transpose(0, 1).view(x.shape)
    return F.matmul(g, y.transpose(-1, -2))


def of_right(g, x, y) -> F.Tensor:
    """x^T @ g, the gradient of y in x @ y."""
    if by_columns(y):
        return F.matmul(g.transpose(0, 1), x).transpose(0, 1)
    return F.matmul(x.transpose(0, 1), g)


def left(g, x_shape, y, x) -> F.Tensor:
    """The gradient of x in x @ y."""
    if len(x_shape) == 1:
        return g * y if y.ndim == 1 else sum_to(F.matmul(y, g.unsqueeze(-1)).squeeze(-1), x_shape)
    if y.ndim == 1:
        return g.unsqueeze(-1) * y
    if len(x_shape) == 2:
        return of_left(g, y, x) if y.ndim == 2 else F.matmul(rows(g.mT).transpose(0, 1), rows(y.mT))
    return sum_to(F.matmul(g, y.transpose(-1, -2)), x_shape)


def right(g, x, y_shape, y) -> F.Tensor:
    """The gradient of y in x @ y; where y is one matrix for a batch, the batch is one long product."""
    if len(y_shape) == 1:
        if x.ndim == 1:
            return g * x
        return F.matmul(rows(x).transpose(0, 1), g.reshape(-1))
    if y is not None and x.ndim < 3 <= len(y_shape):  # by the transpose of each matrix, as PyTorch does where x has a gradient
        return (g.unsqueeze(-1) * x if x.ndim == 1 else F.matmul(g.mT, x)).mT
    if x.ndim == 1:
        return (g.unsqueeze(-1) * x).mT if by_columns(y) else sum_to(x.unsqueeze(-1) * g.unsqueeze(-2), y_shape)
    if len(y_shape) == 2:
        return of_right(rows(g), rows(x), y)
    return sum_to(F.matmul(x.transpose(-1, -2), g), y_shape)


def rows(t) -> F.Tensor:
    return t if t.ndim == 2 else t.flatten(0, -2)  # a size of -1 is not known where another is 0


def weight(g, x, y_shape, y) -> F.Tensor:
    """Of linear's weight (out, in), or (in,)."""
    if len(y_shape) == 1:
        return F.matmul(g.reshape(-1), rows(x)) if x.ndim > 1 else g * x
    if x.ndim == 1:
        return g.unsqueeze(-1) * x if y is None or by_rows(y) else (x.unsqueeze(-1) * g).transpose(0, 1)
    if y is not None and not by_rows(y):
        return F.matmul(rows(x).transpose(0, 1), rows(g)).transpose(0, 1)
    return F.matmul(rows(g).transpose(0, 1), rows(x))


def bias(g, z_shape) -> F.Tensor:
    if len(z_shape) == 0 or g.ndim <= 1:
        return sum_to(g, z_shape)
    return F.sum(g, tuple(range(g.ndim - 1)))
