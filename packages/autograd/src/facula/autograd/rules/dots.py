"""Derivatives of products of matrices."""

import facula as F

from .._core import lib
from .._table import D
from ._tools import scaled, sum_to

D("matmul", node="MmBackward0", x=lambda g, x_shape, y, x_seen, x_lies: left(g, x_shape, y, lying(x_seen, x_lies)),
            y=lambda g, x, y_shape, y_seen, y_lies: right(g, x, y_shape, lying(y_seen, y_lies), y_seen is not None))
D("linear", node="AddmmBackward0",  # the bias first, as PyTorch: a leaf is filled and its hooks are called in this order
            z=lambda g, z_shape: bias(g, z_shape),      x=lambda g, y, x_seen, x_lies: of_rows(g, y.transpose(0, 1), x_seen, lying(x_seen, x_lies)) if y.ndim == 2 else g.unsqueeze(-1) * y,
            y=lambda g, x, y_shape, y_seen, y_lies: weight(g, x, y_shape, lying(y_seen, y_lies)))
D("_plus_product", x=lambda g, x_shape, beta: scaled(sum_to(g, x_shape), beta),
                   y=lambda g, y_shape, z, y_seen, y_lies, alpha, over: scaled(left(g.unsqueeze(0) if over else g, y_shape, z, lying(y_seen, y_lies)), alpha),
                   z=lambda g, y, z_shape, z_seen, z_lies, alpha, over: scaled(right(g.unsqueeze(0) if over else g, y, z_shape, lying(z_seen, z_lies), z_seen is not None), alpha))


BY_COLUMNS, BY_ROWS = 1, 2


def lying(kept, lies) -> int:
    """How a matrix lies, as fc_matrix_lies says, be it kept itself or not. Where it lies by columns its gradient does, as in PyTorch."""
    return lies if kept is None else lib.fc_matrix_lies(kept._h)


def of_left(g, y, columns) -> F.Tensor:
    """g @ y^T, the gradient of x in x @ y, which lies by columns or by rows."""
    return F.matmul(y, g.transpose(0, 1)).transpose(0, 1) if columns else F.matmul(g, y.transpose(-1, -2))


def of_right(g, x, columns) -> F.Tensor:
    """x^T @ g, the gradient of y in x @ y, which lies by columns or by rows."""
    return F.matmul(g.transpose(0, 1), x).transpose(0, 1) if columns else F.matmul(x.transpose(0, 1), g)


def of_rows(g, y, x, lies) -> F.Tensor:
    """g @ y^T, the gradient of linear's rows x, None where they were not kept."""
    if x is not None and x.ndim > 2 and not x.is_contiguous() and x.movedim(-1, 0).is_contiguous():  # a batch of rows that lies by columns as one matrix
        return F.matmul(y, rows(g).transpose(0, 1)).transpose(0, 1).view(x.shape)
    return of_left(g, y, lies & BY_COLUMNS)


def left(g, x_shape, y, lies) -> F.Tensor:
    """The gradient of x in x @ y."""
    if len(x_shape) == 1:
        return g * y if y.ndim == 1 else sum_to(F.matmul(y, g.unsqueeze(-1)).squeeze(-1), x_shape)
    if y.ndim == 1:
        return (g if g.ndim == 1 else g.contiguous()).unsqueeze(-1) * y  # more rows than a matrix has are one long matrix
    if len(x_shape) == 2:
        if y.ndim == 2:
            return of_left(g, y, lies & BY_COLUMNS)
        return of_right(rows(y.mT), rows(g.mT), not lies & BY_ROWS)  # PyTorch multiplies the transposed ones, as one long matrix
    return sum_to(F.matmul(g, y.transpose(-1, -2)), x_shape)


def right(g, x, y_shape, lies, beside) -> F.Tensor:
    """The gradient of y in x @ y; where y is one matrix for a batch, the batch is one long product. beside: x has a gradient, too."""
    if len(y_shape) == 1:
        if x.ndim == 1:
            return g * x
        return F.matmul(rows(x).transpose(0, 1), g.reshape(-1))
    if beside and x.ndim < 3 <= len(y_shape):  # by the transpose of each matrix, as PyTorch does
        return (g.contiguous().unsqueeze(-1) * x if x.ndim == 1 else F.matmul(g.mT, x)).mT
    if x.ndim == 1:
        return (g.unsqueeze(-1) * x).mT if lies & BY_COLUMNS else sum_to(x.unsqueeze(-1) * g.unsqueeze(-2), y_shape)
    if len(y_shape) == 2:
        return of_right(rows(g), rows(x), lies & BY_COLUMNS)
    return sum_to(F.matmul(x.transpose(-1, -2), g), y_shape)


def rows(t) -> F.Tensor:
    return t if t.ndim == 2 else t.flatten(0, -2)  # a size of -1 is not known where another is 0


def weight(g, x, y_shape, lies) -> F.Tensor:
    """Of linear's weight (out, in), or (in,): by columns unless the weight lies by rows, as in PyTorch, which multiplies by the transposed."""
    if len(y_shape) == 1:
        return F.matmul(g.reshape(-1), rows(x)) if x.ndim > 1 else g * x
    if x.ndim == 1:
        return g.unsqueeze(-1) * x if lies & BY_ROWS else (x.unsqueeze(-1) * g).transpose(0, 1)
    if not lies & BY_ROWS:
        return F.matmul(rows(x).transpose(0, 1), rows(g)).transpose(0, 1)
    return F.matmul(rows(g).transpose(0, 1), rows(x))


def bias(g, z_shape) -> F.Tensor:
    if len(z_shape) == 0 or g.ndim <= 1:
        return sum_to(g, z_shape).clone(memory_format=F.contiguous_format)
    return F.sum(g, tuple(range(g.ndim - 1)))
