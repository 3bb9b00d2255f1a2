"""Derivatives of views: of what shows the same elements, the way back; of what shows some, zeros around them."""

import facula as F

from .._core import conj
from .._table import D
from .._views import Part, Window, embed
from ._tools import sum_to

D("view",       x=lambda g, x_shape: g.reshape(x_shape))
D("reshape",    node="ViewBackward0", x=lambda g, x_shape: g.reshape(x_shape))
D("alias",      x=lambda g: g)
D("transpose",  x=lambda g, dim0, dim1: g.transpose(dim0, dim1))
D("permute",    x=lambda g, dims: g.permute(tuple(inverse(dims))))
D("expand",     x=lambda g, x_shape: sum_to(g, x_shape))
D("unsqueeze",  x=lambda g, dim: g.squeeze(dim))
D("squeeze",    x=lambda g, x_shape, dims: unsqueezed(g, x_shape, dims))  # dims: its name tells of them
D("select",     x=lambda g, x_shape, dim, index: embed(g, Part("select", x_shape, dim, index)))
D("slice",      x=lambda g, x_shape, dim, start, length, step: F.flip(g, (dim,)) if step == -1 and length == x_shape[dim] else
                    embed(g, Part("slice", x_shape, dim, start, length, step)))
D("diagonal",   x=lambda g, x_shape, offset, dim1, dim2: embed(g, Part("diagonal", x_shape, offset, dim1, dim2)))
D("unfold",     x=lambda g, x_shape, dimension, size, step: embed(g, Part("unfold", x_shape, dimension, size, step, overlaps=step < size)))
D("as_strided", x=lambda g, x_geometry, size, stride, storage_offset: embed(g, Window.at(x_geometry, size, stride, storage_offset)))
D("real_view",    node="ViewAsRealBackward0", real=True, x=lambda g: F.view_as_complex(g.contiguous()))
D("_conj",        node="ConjBackward0", real=True, x=lambda g: conj(g))
D("_neg_view",    node="NegViewBackward0", x=lambda g: -g)
D("complex_view", node="ViewAsComplexBackward0", real=True, check=True, x=lambda g: F.view_as_real(g.contiguous().resolve_conj()))


def unsqueezed(g, shape, dims) -> F.Tensor:
    """g with the dims of size 1 put back one by one: each has the stride of unsqueeze(), as in PyTorch."""
    if not shape:
        return g
    for d in dims if len(dims) == 1 else sorted(d % len(shape) for d in dims):
        if shape[d] == 1:
            g = g.unsqueeze(d)
    return g


def inverse(dims) -> list:
    """The permutation that undoes `dims`."""
    back = [0] * len(dims)
    for i, d in enumerate(dims):
        back[d % len(dims)] = i
    return back
