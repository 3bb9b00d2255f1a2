"""Derivatives of what copies, fills and joins."""

from math import prod

import facula as F

from .._core import row
from .._support import cast, format_of, formed, sum_to
from .._table import D, zeros
from ._tools import straight

D("copy",  node="CloneBackward0", check=True, x=lambda g, dtype, x_dtype: g if dtype is None else cast(g, x_dtype))
D("copy_into_", node="CopyBackwards", x=lambda g: F.zeros_like(g, memory_format=F.contiguous_format), y=lambda g, y_shape, y_dtype: cast(sum_to(g, y_shape), y_dtype))
D("place_into_", node="CopyBackwards", x=lambda g: F.zeros_like(g, memory_format=F.contiguous_format), y=lambda g, y_shape, y_dtype: cast(sum_to(g, y_shape), y_dtype))
D("fill_number_", node="FillBackward2", x=zeros)
D("_triangle", x=lambda g, diagonal, upper: F.triu(g, diagonal) if upper else F.tril(g, diagonal))
D("cat",   tensors=lambda g, tensors_shapes, tensors_dtypes, dim: pieces(g, tensors_shapes, tensors_dtypes, dim))
D("_cat_flat", tensors=lambda g, tensors_shapes, tensors_dtypes: stretches(g, tensors_shapes, tensors_dtypes))
D("_roll", x=lambda g, shift, dim: row("_roll")(g, -shift, dim))
D("constant_pad_nd", x=lambda g, pad: F.constant_pad_nd(g, [-w for w in pad]))
D("_pad_around", node="PadBackward0", x=lambda g, x_format, x_origin, pad, mode: unpadded(g, x_format, x_origin, pad, mode))
D("_pad_around_backward", x=lambda g, pad, mode: row("_pad_around")(g, pad, mode))
D("_regroup", x=lambda g, x_shape, split, order: regrouped(g, x_shape, split, order))
D("diag_embed", x=lambda g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2))
D("stack", tensors=lambda g, tensors_dtypes, dim: [cast(t, d) for t, d in zip(F.unbind(g, dim), tensors_dtypes)])


def unpadded(g, format, x_origin, pad, mode) -> F.Tensor:
    """The gradient of what was padded by reflection (0), by its edges (1), or around (2), which is a copy in PyTorch."""
    found = row("_pad_around_backward")(g, pad, mode)
    return formed(found, 0) if mode == 2 else straight(formed(found, 0 if format == 4 else format), x_origin)


def regrouped(g, shape, split, order) -> F.Tensor:
    """g the other way round, its channels last where g has them there: as the forward results of the shuffles."""
    found = row("_regroup")(g, [split[d] for d in order], [order.index(d) for d in range(len(order))], tuple(shape))
    return formed(found, 2) if len(shape) == 4 and format_of(g) == 2 else found


def pieces(g, shapes, dtypes, dim) -> list:
    """The parts of g that came from each tensor; legacy empty tensors of one dim had no part."""
    found, at = [], 0
    for shape, dtype in zip(shapes, dtypes):
        if tuple(shape) == (0,) and g.ndim != 1:
            found.append(F.zeros((0,), dtype=dtype, device=g.device))
            continue
        found.append(cast(g.narrow(dim, at, shape[dim]), dtype))
        at += shape[dim]
    return found


def stretches(g, shapes, dtypes) -> list:
    """The parts of a vector that are the elements of each tensor, in its shape."""
    parts = F.split(g, [prod(shape) for shape in shapes])
    return [cast(part.view(shape), dtype) for part, shape, dtype in zip(parts, shapes, dtypes)]
