"""Small functions that several families of rules use."""

from __future__ import annotations

from operator import index
from typing import NoReturn

import facula as F

from .._core import Batched, GradError, beside, grad_mode
from .._node import Node
from .._support import sum_to  # noqa: F401
from .._views import made


def scaled(g, factor) -> F.Tensor:
    """g * factor, g itself for 1."""
    return g if factor == 1 and not isinstance(factor, F.Tensor) else -g if factor == -1 else g * factor


def only_where(condition, g) -> F.Tensor:
    """g where the condition holds, 0 elsewhere: also where g is not finite."""
    return F.where(condition, g, 0)


def several(dim) -> bool:
    """Is a fold's `dim` a list of dims? One dim may be an int, a 0-d tensor or NumPy's integer."""
    return isinstance(dim, (tuple, list))


def of_all(dim) -> bool:
    """Does a fold's `dim` name none, so that the fold is over all dims?"""
    return dim is None or several(dim) and not dim


def listed(dim, ndim) -> tuple:
    """The dims that a fold's `dim` names, none negative; all for None, () or []."""
    if of_all(dim):
        return tuple(range(ndim))
    return tuple(sorted(index(d) % max(ndim, 1) for d in (dim if several(dim) else (dim,))))


def spread(g, shape, dim, keepdim) -> F.Tensor:
    """The gradient of a sum over dim: g repeated to `shape`."""
    if not shape:
        return g
    if dim is None and not keepdim:
        return g.expand(shape)
    return kept(g, shape, dim, keepdim).expand(shape)


def kept(t, shape, dim, keepdim) -> F.Tensor:
    """The result of a fold over dim with the folded dims put back as ones."""
    if keepdim or not shape:
        return t
    dims = listed(dim, len(shape))
    return t.view(tuple(1 if d in dims else n for d, n in enumerate(shape)))


def has_zero(x) -> bool:
    """Whether an element is 0; inside vmap, where nobody may look, yes: the road for zeros is right for all."""
    return isinstance(x, Batched) or (x.detach() == 0).any().item()


def count(shape, dim) -> int:
    """How many elements a fold over dim combines."""
    n = 1
    for d in listed(dim, len(shape)):
        n *= shape[d] if shape else 1
    return n


def zeros(shape, like) -> F.Tensor:
    return beside(like, F.zeros(tuple(shape), dtype=like.dtype, device=like.device))


class Refused(Node):
    """The end of what has no further derivative."""

    __slots__ = ()
    _layout = ("why",)

    def _backward(self, g, inputs) -> NoReturn:
        raise GradError(self._saved[0])


def once_only(t, why) -> F.Tensor:
    """t, whose own derivative is an error that says why."""
    out = t.detach()
    out._origin = made(Refused, (t._origin,), (why,))
    return out


class Straight(Node):
    """A gradient of straight pieces goes back to its incoming gradient, and as zeros to what says which piece it is."""

    __slots__ = ()
    _layout = ("memory_format",)  # of these zeros

    def _backward(self, g, inputs) -> tuple:
        return g, None if inputs[1] is None else F.zeros_like(g, memory_format=self._saved[0])


def strided(found, stride) -> F.Tensor:
    """found with those strides, of a tensor without gaps."""
    if found.stride() == tuple(stride):
        return found
    order = sorted(range(found.ndim), key=lambda d: (-stride[d], d))
    return found.permute(order).contiguous().permute([order.index(d) for d in range(found.ndim)])


def straight(g, x_origin, memory_format=F.contiguous_format) -> F.Tensor:
    """The gradient g of x, which has a history through x too where one is kept: its slope there is zero, as in PyTorch, and no error."""
    if grad_mode():
        g._origin = made(Straight, (g._origin, x_origin), (memory_format,))
    return g
