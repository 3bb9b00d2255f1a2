"""Splitting and joining: pieces of a tensor along a dim, and tensors along one."""

from facula.tensor_core import _dispatch, _ops
from facula.tensor_core._arguments import ints
from facula.tensor_core._guard import check, want_ints, want_tensor, want_tensors
from facula.tensor_core._out import into
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import strided
from facula.tensor_core._shape import wrap_dim
from facula.tensor_core._types import int64

_pieces = lib.pieces  # views, each with its base; None wherever anything is unusual
_SELECT, _SLICE = (next(op.id for op in _ops.OPS if op.name == name) for name in ("select", "slice"))


def unbind(input, dim=0, *, axis=None):
    """The slices along dim, as views."""
    if type(input) is not Tensor:
        want_tensor("unbind", "input", 0, input)
    dim = dim if axis is None else axis
    found = None if _ops.interpreting or type(dim) is not int else _pieces(_SELECT, input, dim, None)
    if found is None:
        if input.dim() == 0:
            raise IndexError("unbind: Dimension specified as 0 but tensor has no dimensions")
        dim = wrap_dim("unbind", dim, input.dim())
        found = tuple([_ops.select(input, dim, k) for k in range(input.shape[dim])])
    return found if input.origin is None else _together("unbind", input, found, dim)


def _together(name, input, pieces, dim):
    """Pieces of one tensor: the tape hears of them as the results of one op."""
    _dispatch.tape.pieces(name, input, pieces, dim if dim >= 0 else dim + input.dim())
    return pieces


def split(tensor, split_size_or_sections, dim=0):
    """Pieces along dim: of one size (the last may be smaller) or of the sizes given. Views."""
    if type(tensor) is not Tensor:
        want_tensor("split", "tensor", 0, tensor)
    found = None
    if not _ops.interpreting and type(dim) is int and split_size_or_sections is not None:
        found = _pieces(_SLICE, tensor, dim, split_size_or_sections)
    if found is None:
        found = _split(tensor, split_size_or_sections, dim)
    return found if tensor.origin is None else _together("split", tensor, found, dim)


def _split_method(self, split_size, dim=0):
    """split(self, split_size, dim)."""
    return split(self, split_size, dim)


def _split(tensor, split_size_or_sections, dim):
    """split where an interpreter listens, a history is stale, or the sizes do not fit."""
    if tensor.dim() == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = wrap_dim("split", dim, tensor.dim())
    size = tensor.shape[d]
    if not isinstance(split_size_or_sections, (list, tuple)):
        check("split", "split_size", 1, "int", split_size_or_sections)
    elif any(type(n) is not int for n in split_size_or_sections):
        want_ints("split_with_sizes", "split_sizes", 1, split_size_or_sections)
    if isinstance(split_size_or_sections, Tensor) and not split_size_or_sections.dim():
        split_size_or_sections = int(split_size_or_sections)
    if isinstance(split_size_or_sections, int):
        step = split_size_or_sections
        if step < 0 or (step == 0 and size):
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step} (dimension size {size})")
        sizes = [min(step, size - k) for k in range(0, size, step)] if size else [0]
    else:
        sizes = [int(s) for s in ints((split_size_or_sections,))]
        if sum(sizes) != size or any(s < 0 for s in sizes):
            raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {d}), but got split_sizes={sizes}")
    pieces, start = [], 0
    for s in sizes:
        pieces.append(_ops.slice(tensor, d, start, s, 1))
        start += s
    return tuple(pieces)


def split_with_sizes(input, split_sizes, dim=0):
    """split(input, split_sizes, dim)."""
    if type(input) is not Tensor:
        want_tensor("split_with_sizes", "input", 0, input)
    want_ints("split_with_sizes", "split_sizes", 1, split_sizes)
    return split(input, list(split_sizes), dim)


def chunk(input, chunks, dim=0, *, axis=None):
    """At most `chunks` pieces of one size along dim."""
    if type(input) is not Tensor:
        want_tensor("chunk", "input", 0, input)
    dim = dim if axis is None else axis
    if not input.shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if type(chunks) is not int:
        check("chunk", "chunks", 1, "int", chunks)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    d = wrap_dim("chunk", dim, input.dim())
    size = input.shape[d]
    step = -(-size // chunks)
    return split(input, step, d) if size else split(input, [0] * chunks, d)


def _cut(name, *given):
    """Where to cut, under any of its keywords."""
    told = [value for value in given if value is not None]
    if len(told) != 1:
        raise TypeError(f"{name}() takes indices or a number of sections, got {len(told)} of them. Give one.")
    return told[0]


def tensor_split(input, indices_or_sections=None, dim=0, *, sections=None, indices=None, tensor_indices_or_sections=None):
    """Pieces along dim: a number of nearly equal ones, or cut at the indices given."""
    if type(input) is not Tensor:
        want_tensor("tensor_split", "input", 0, input)
    if indices_or_sections is None:
        indices_or_sections = _cut("tensor_split", sections, indices, tensor_indices_or_sections)
    shape = input.shape
    if not shape:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    d = wrap_dim("tensor_split", dim, len(shape))
    size = shape[d]
    if isinstance(indices_or_sections, Tensor):
        if indices_or_sections.dtype is not int64:
            raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {indices_or_sections.dtype.scalar_type}")
        if indices_or_sections.dim() > 1:
            raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor with {indices_or_sections.dim()} dims")
        indices_or_sections = indices_or_sections.tolist()
    if indices_or_sections is True or indices_or_sections is False:
        check("tensor_split", "sections", 1, "int", indices_or_sections)
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        if n <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {n}")
        return split(input, [size // n + (k < size % n) for k in range(n)], d)
    cuts = [0, *[slice(None, i).indices(size)[1] for i in indices_or_sections], size]
    if input.origin is None and not _ops.interpreting:
        found = _pieces(_SLICE, input, d, [b - a for a, b in zip(cuts, cuts[1:])])
        if found is not None:
            return found
    return tuple(_ops.slice(input, d, min(a, size), max(b - a, 0), 1) for a, b in zip(cuts, cuts[1:]))


def _splittable(name, input, least, sections, dim):
    """PyTorch's conditions: enough dims, and a number of pieces that divides the size."""
    if input.dim() < least:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.dim()} dimensions!")
    if sections is True or sections is False:
        check(name, "sections", 1, "int", sections)
    if isinstance(sections, int):
        if sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
        if input.shape[dim] % sections:
            raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {input.shape[dim]} is not divisible by the split_size {sections}!")


def hsplit(input, indices_or_sections=None, *, sections=None, indices=None):
    """tensor_split along dim 1 (dim 0 of a 1-d tensor)."""
    if type(input) is not Tensor:
        want_tensor("hsplit", "input", 0, input)
    if indices_or_sections is None:
        indices_or_sections = _cut("hsplit", sections, indices)
    dim = 0 if len(input.shape) == 1 else 1
    _splittable("hsplit", input, 1, indices_or_sections, dim)
    return tensor_split(input, indices_or_sections, dim)


def vsplit(input, indices_or_sections=None, *, sections=None, indices=None):
    """tensor_split along dim 0."""
    if type(input) is not Tensor:
        want_tensor("vsplit", "input", 0, input)
    if indices_or_sections is None:
        indices_or_sections = _cut("vsplit", sections, indices)
    _splittable("vsplit", input, 2, indices_or_sections, 0)
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input, indices_or_sections=None, *, sections=None, indices=None):
    """tensor_split along dim 2."""
    if type(input) is not Tensor:
        want_tensor("dsplit", "input", 0, input)
    if indices_or_sections is None:
        indices_or_sections = _cut("dsplit", sections, indices)
    _splittable("dsplit", input, 3, indices_or_sections, 2)
    return tensor_split(input, indices_or_sections, 2)


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
        d = wrap_dim("stack", dim if axis is None else axis, n + 1)
        if d < n and all([t.shape == first for t in tensors]):  # the result lies as its parts do
            return _ops.view(cat(tensors, d), (*first[:d], len(tensors), *first[d:]))
    try:
        return _ops.stack(tensors, dim if axis is None else axis, out=out)
    except ValueError:
        shape = tensors[0].shape
        for k, other in enumerate(tensors):
            if other.shape != shape:
                raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and {list(other.shape)} at entry {k}") from None
        raise


def cat(tensors, dim=0, *, axis=None, out=None):
    """Tensors joined along a dim that they have; other sizes agree, dtypes promote."""
    dim = dim if axis is None else axis
    if type(tensors) is not list:
        if isinstance(tensors, Tensor) or not hasattr(tensors, "__iter__"):
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
        return _ops.permute(joined, (0, n - 1, *range(1, n - 1)))
    return _ops.cat(tensors, dim, out=out)


def _channels_last(t):
    """Do the strides speak for channels_last, as PyTorch reads them? Gaps between the elements do not matter."""
    if not isinstance(t, Tensor) or t.dim() not in (4, 5) or t.layout is not strided:
        return False
    stride, least = t.stride(), 0
    if stride[1] > stride[-1] or not stride[1]:
        return False
    for d in (1, *range(t.dim() - 1, 1, -1), 0):
        size = t.shape[d]
        if not size or stride[d] < least or d == 0 and least == stride[1]:
            return False
        least = stride[d] * size
    return True


concat = concatenate = cat


def atleast_1d(*tensors):
    """Tensors with at least one dim."""
    return _at_least(tensors, _with_dim)


def _with_dim(x):
    return x if x.shape else x.reshape(1)


def atleast_2d(*tensors):
    """Tensors with at least two dims."""
    return _at_least(tensors, _with_rows)


def _with_rows(x):
    n = len(x.shape)
    return x if n > 1 else x.unsqueeze(0) if n else x.reshape(1, 1)


def atleast_3d(*tensors):
    """Tensors with at least three dims."""
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
    """cat along dim 1 (dim 0 of 1-d tensors)."""
    want_tensors("hstack", tensors)
    if not len(tensors):
        raise RuntimeError("hstack expects a non-empty TensorList")
    tensors = [x if x.shape else x.reshape(1) for x in tensors]
    n = len(tensors[0].shape)
    dim = 0 if n == 1 else 1
    return _ops.cat(tensors, dim) if n < 4 and out is None else cat(tensors, dim, out=out)


def vstack(tensors, *, out=None):
    """cat along dim 0 of tensors with at least two dims."""
    want_tensors("vstack", tensors)
    if not len(tensors):
        raise RuntimeError("vstack expects a non-empty TensorList")
    tensors = [x if len(x.shape) > 1 else _with_rows(x) for x in tensors]
    return _ops.cat(tensors, 0) if len(tensors[0].shape) < 4 and out is None else cat(tensors, 0, out=out)


row_stack = vstack


def dstack(tensors, *, out=None):
    """cat along dim 2 of tensors with at least three dims."""
    want_tensors("dstack", tensors)
    if not len(tensors):
        raise RuntimeError("dstack expects a non-empty TensorList")
    return cat([x if len(x.shape) > 2 else _with_planes(x) for x in tensors], 2, out=out)


def column_stack(tensors, *, out=None):
    """1-d and 0-d tensors as columns, then cat along dim 1."""
    want_tensors("column_stack", tensors)
    return cat([x.reshape(-1, 1) if x.dim() <= 1 else x for x in tensors], 1, out=out)


__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "cat", "chunk", "column_stack", "concat", "concatenate", "dsplit", "dstack", "hsplit", "hstack",
    "row_stack", "split", "split_with_sizes", "stack", "tensor_split", "unbind", "vsplit", "vstack",
]  # fmt: skip
METHODS = [*__all__]
