"""Derivatives of reads and writes through index tensors. Those that only move elements are `real`: complex ones need no conjugates for that."""

import math

import facula as F

from .._core import Batched, composing, met_by, row
from .._table import D
from ._tools import once_only, sum_to, zeros

D("gather", real=True, x=lambda g, x_shape, dim, index: F.scatter_add(zeros(x_shape, g), dim, index, g))
D("_gather_sparse_grad", node="GatherBackward0", real=True, x=lambda g, x_shape, dim, index: listed_elements(g, x_shape, dim, index))
D("index_select", real=True, x=lambda g, x_shape, dim, index: F.index_add(zeros(x_shape, g), dim, index, g))
D("scatter", real=True, x=lambda g, dim, index: F.scatter(g, dim, index, zeros(index.shape, g)),
                  z=lambda g, dim, index, z_shape: fitted(F.gather(g, dim, index), z_shape))
D("scatter_add", real=True, x=lambda g: g,    z=lambda g, dim, index, z_shape: fitted(F.gather(g, dim, index), z_shape))
D("_scatter_prod", x=lambda g, x, dim, index, z: product_left(g, x, dim, index, z), z=lambda g, x, dim, index, z, out: product_right(g, x, dim, index, z, out))
for _name in ("_scatter_max", "_scatter_min"):  # shared by all that are as large
    D(_name,      x=lambda g, x, dim, index, z, out: (x == out) * shares(g, x, dim, index, z, out),
                  z=lambda g, x, dim, index, z, out: (z == F.gather(out, dim, index)) * F.gather(shares(g, x, dim, index, z, out), dim, index))
D("index_add", real=True, x=lambda g: g,    z=lambda g, dim, index: F.index_select(g, dim, index))
D("index_copy", real=True, x=lambda g, dim, index: F.index_fill(g, dim, index, 0),    z=lambda g, dim, index, z_shape: F.index_select(g, dim, index).reshape(z_shape))
D("masked_scatter", real=True, x=lambda g, y: g.masked_fill(y, 0), z=lambda g, y, z_shape: taken_in_order(g, y, z_shape))
D("flip",         x=lambda g, dims: F.flip(g, dims))

# through index tensors, one for each bit of dims
D("index", real=True, x=lambda g, x_shape, indices, dims: row("index_put_rows_")(met_by(zeros(x_shape, g), indices), indices, g, dims, True))
D("index_put_rows_", node="IndexPutBackward0", real=True,
                  x=lambda g, indices, dims, accumulate: g if accumulate else row("index_put_rows_")(met_by(g.clone(), indices), indices, zeros((), g), dims, False),
                  y=lambda g, y_shape, indices, dims: sum_to(row("index")(g, indices, dims), y_shape))


def listed_elements(g, shape, dim, index) -> F.Tensor:
    """A sparse tensor of g's elements where gather found them, in their order: an element that was read twice is listed twice.

    Dense inside vmap, which knows no sparse tensors.
    """
    if isinstance(g, Batched):
        return F.scatter_add(zeros(shape, g), dim, index, g)
    if not g.dim() or not g.numel():
        where = index.reshape(1, -1).expand(len(shape), -1)
    else:
        where = F.stack([(index if d == dim % g.dim() else F.arange(n).view([-1 if k == d else 1 for k in range(g.dim())]).expand(g.shape)).reshape(-1)
                         for d, n in enumerate(g.shape)])
    return F.sparse_coo_tensor(where[: len(shape)], g.reshape(-1), shape)


def shares(g, x, dim, index, z, out) -> F.Tensor:
    """What each of the elements that are the extreme of a place gets of its gradient."""
    reached = (z == F.gather(out, dim, index)).to(g.dtype)
    return g / F.scatter_add((x == out).to(g.dtype), dim, index, reached)


def product_left(g, x, dim, index, z) -> F.Tensor:
    """g times the product of what came to x."""
    return g * row("_scatter_prod")(F.ones_like(x), dim, index, z)


def product_right(g, x, dim, index, z, out) -> F.Tensor:
    """g times the product of all others: where one of them is 0, by a product that leaves that one out."""
    zero = z == 0
    zeros_there = F.gather(F.scatter_add(zeros(x.shape, zero).long(), dim, index, zero.long()), dim, index)
    alone = zero & (zeros_there == 1)
    if composing() and z._origin is not None and not isinstance(z, Batched) and (zero & (zeros_there > 1)).any():
        z = once_only(z, "scatter_reduce: Double backward is unsupported for src when >1 zeros in src are scattered to the same position in self.")
    rest = row("_scatter_prod")(x, dim, index, z.masked_fill(alone, 1))
    plain = F.gather(g * out, dim, index) / z.masked_fill(zero, 1)
    return F.where(alone, F.gather(g * rest, dim, index), plain)


def taken_in_order(g, mask, shape) -> F.Tensor:
    """The elements of g where mask, in order, as the first elements of zeros of that shape."""
    size = math.prod(shape)
    if not (isinstance(mask, Batched) or isinstance(g, Batched)):
        taken = F.masked_select(g, mask)
        return F.constant_pad_nd(taken, (0, size - taken.numel())).reshape(shape)
    where = mask.expand_as(g).reshape(-1)  # each example takes another number: what is left out goes behind the end
    place = F.where(where, where.cumsum(0) - 1, size)
    return F.scatter_add(zeros((size + 1,), g), 0, place, g.reshape(-1))[:size].reshape(shape)


def fitted(t, shape) -> F.Tensor:
    """t in the corner of zeros: what scatter did not read of its source has no gradient."""
    if t.shape == shape:
        return t
    out = zeros(shape, t)
    corner = out
    for d, n in enumerate(t.shape):
        corner = corner.narrow(d, 0, n)
    corner.copy_(t)
    return out
