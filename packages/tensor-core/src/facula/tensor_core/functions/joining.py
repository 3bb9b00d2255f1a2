"""Joining: tensors along a dim, or along a new one."""

import functools

from facula.tensor_core.dispatch.arguments import renamed
from facula.tensor_core import _ops
from facula.tensor_core.dispatch.kinds import want_tensor, want_tensors
from facula.tensor_core.dispatch.out import check_dtype, into
from facula.tensor_core.dispatch.slow import one_node
from facula.tensor_core._lib import lib
from facula.tensor_core._state import promote_types
from facula.tensor_core._tensor import Tensor
from facula.tensor_core.functions.shape import _alone, wrap_dim

def stack(tensors, dim=0, *, out=None, axis=None):
    """Tensors of one shape along a new dim.

    >>> import facula
    >>> facula.stack([facula.zeros(2), facula.ones(2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    if type(tensors) is not list and type(tensors) is not tuple:
        want_tensors("stack", tensors)
    if not len(tensors):
        raise RuntimeError("stack expects a non-empty TensorList")
    if out is None and isinstance(tensors[0], Tensor) and len(tensors[0].shape) in (4, 5) and all(map(_channels_last, tensors)):
        n, first = tensors[0].dim(), tensors[0].shape
        d = wrap_dim("stack", dim if axis is None else renamed("stack", "axis", axis, dim, 0), n + 1)
        if d < n and all([t.shape == first for t in tensors]):  # the result lies as its parts do
            return one_node(_alone(_ops.view(cat(tensors, d), (*first[:d], len(tensors), *first[d:]))), "StackBackward0", *tensors)
    try:
        return _ops.stack(tensors, dim if axis is None else renamed("stack", "axis", axis, dim, 0), out=out)
    except ValueError:
        shape = tensors[0].shape
        wrap_dim("stack", dim if axis is None else axis, len(shape) + 1)
        for k, other in enumerate(tensors):
            if other.shape != shape:
                raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and {list(other.shape)} at entry {k}") from None
        raise


def cat(tensors, dim=0, *, axis=None, out=None):
    """Tensors joined along a dim that they have; other sizes agree, dtypes promote.

    >>> facula.cat((facula.tensor([1, 2]), facula.tensor([3])))
    tensor([1, 2, 3])
    >>> facula.cat((facula.tensor([[1], [2]]), facula.tensor([[3], [4]])), 1)
    tensor([[1, 3],
            [2, 4]])
    """
    dim = dim if axis is None else renamed("cat", "axis", axis, dim, 0)
    if type(tensors) is not list:
        if type(tensors) is not tuple:
            want_tensors("cat", tensors)
        tensors = list(tensors)
    if not tensors:
        raise ValueError("cat: expected a non-empty list of Tensors")
    if isinstance(tensors[0], Tensor) and len(tensors[0].shape) in (4, 5) and all(map(_channels_last, tensors)):
        if out is not None:
            return into("cat", cat(tensors, dim), out, tensors, strides=True)
        n = tensors[0].dim()
        order = (0, *range(2, n), 1)  # the result lies as its parts do
        joined = _ops.cat([_ops.permute(t, order) for t in tensors], order.index(wrap_dim("cat", dim, n)))
        return one_node(_alone(_ops.permute(joined, (0, n - 1, *range(1, n - 1)))), "CatBackward0", *tensors)
    return _joined(tensors, dim, out)


def _joined(tensors, dim, out):
    """The row, before whose sizes PyTorch looks at the dtype of an output."""
    try:
        return _ops.cat(tensors, dim, out=out)
    except RuntimeError:
        if isinstance(out, Tensor):
            check_dtype("cat", functools.reduce(promote_types, (t.dtype for t in tensors)), out)
        raise


def _channels_last(t):
    """Do the strides speak for channels_last? Those of a tensor without a handle say nothing."""
    try:
        return lib.fc_suggested_format(t._h) in (2, 3)
    except AttributeError:
        return False


concat = concatenate = cat


def atleast_1d(*tensors):
    """Tensors with at least one dim.

    >>> facula.atleast_1d(facula.tensor(1), facula.tensor([2, 3]))
    (tensor([1]), tensor([2, 3]))
    """
    return _at_least(tensors, _with_dim)


def _with_dim(x):
    return x if x.shape else x.reshape(1)


def atleast_2d(*tensors):
    """Tensors with at least two dims.

    >>> facula.atleast_2d(facula.tensor(1), facula.tensor([2, 3]))
    (tensor([[1]]), tensor([[2, 3]]))
    """
    return _at_least(tensors, _with_rows)


def _with_rows(x):
    n = len(x.shape)
    return x if n > 1 else x.unsqueeze(0) if n else x.reshape(1, 1)


def atleast_3d(*tensors):
    """Tensors with at least three dims.

    >>> [x.shape for x in facula.atleast_3d(facula.tensor(1), facula.tensor([2, 3]))]
    [torch.Size([1, 1, 1]), torch.Size([1, 2, 1])]
    """
    return _at_least(tensors, _with_planes)


def _with_planes(x):
    n = len(x.shape)
    return x if n > 2 else x.unsqueeze(-1) if n == 2 else x.unsqueeze(0).unsqueeze(-1) if n else x.reshape(1, 1, 1)


def _at_least(tensors, widen):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors, several = tensors[0], True
    else:
        several = len(tensors) != 1
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            want_tensor("atleast", "tensors", k, t)
    return tuple(map(widen, tensors)) if several else widen(tensors[0])


def hstack(tensors, *, out=None):
    """cat along dim 1 (dim 0 of 1-d tensors).

    >>> facula.hstack((facula.tensor([[1], [2]]), facula.tensor([[3], [4]])))
    tensor([[1, 3],
            [2, 4]])
    """
    want_tensors("hstack", tensors)
    if not len(tensors):
        raise RuntimeError("hstack expects a non-empty TensorList")
    tensors = [x if x.shape else x.reshape(1) for x in tensors]
    n = len(tensors[0].shape)
    dim = 0 if n == 1 else 1
    return _joined(tensors, dim, out) if n < 4 else cat(tensors, dim, out=out)


def vstack(tensors, *, out=None):
    """cat along dim 0 of tensors with at least two dims.

    >>> facula.vstack((facula.tensor([1, 2]), facula.tensor([3, 4])))
    tensor([[1, 2],
            [3, 4]])
    """
    want_tensors("vstack", tensors)
    if not len(tensors):
        raise RuntimeError("vstack expects a non-empty TensorList")
    tensors = [x if len(x.shape) > 1 else _with_rows(x) for x in tensors]
    return _joined(tensors, 0, out) if len(tensors[0].shape) < 4 else cat(tensors, 0, out=out)


row_stack = vstack


def dstack(tensors, *, out=None):
    """cat along dim 2 of tensors with at least three dims.

    >>> facula.dstack((facula.tensor([1, 2]), facula.tensor([3, 4])))
    tensor([[[1, 3],
             [2, 4]]])
    """
    want_tensors("dstack", tensors)
    if not len(tensors):
        raise RuntimeError("dstack expects a non-empty TensorList")
    return cat([x if len(x.shape) > 2 else _with_planes(x) for x in tensors], 2, out=out)


def column_stack(tensors, *, out=None):
    """1-d and 0-d tensors as columns, then cat along dim 1.

    >>> facula.column_stack((facula.tensor([1, 2]), facula.tensor([3, 4])))
    tensor([[1, 3],
            [2, 4]])
    """
    want_tensors("column_stack", tensors)
    if not len(tensors):
        raise RuntimeError("column_stack expects a non-empty TensorList. Give a tensor.")
    return cat([x.reshape(-1, 1) if x.dim() <= 1 else x for x in tensors], 1, out=out)


__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "cat", "column_stack", "concat", "concatenate", "dstack", "hstack",
    "row_stack", "stack", "vstack",
]  # fmt: skip
METHODS = [*__all__]
