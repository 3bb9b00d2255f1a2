"""Pieces of a tensor along a dim: unbind, split and its relatives."""

import itertools

from facula.tensor_core import _ops
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.arguments import ints, renamed, whole
from facula.tensor_core.dispatch.kinds import check, kinds_first, want_ints, want_tensor
from facula.tensor_core._errors import OutOfMemoryError
from facula.tensor_core._lib import lib
from facula.tensor_core.functions.shape import wrap_dim
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import int64, strided

_pieces = lib.pieces  # views, each with its base; None wherever anything is unusual
_SELECT, _SLICE = (_ops.BY_NAME[name].id for name in ("select", "slice"))


def unbind(input, dim=0, *, axis=None):
    """The slices along dim, as views.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.unbind(x)
    (tensor([1, 2]), tensor([3, 4]))
    >>> x.unbind()
    (tensor([1, 2]), tensor([3, 4]))
    """
    try:
        if type(input) is not Tensor:
            want_tensor("unbind", "input", 0, input)
        dim = dim if axis is None else renamed("unbind", "axis", axis, dim, 0)
        found = None if _ops.interpreting or type(dim) is not int else _pieces(_SELECT, input, dim, None, 1)
        if found is None:
            if input.dim() == 0:
                raise IndexError("unbind: Dimension specified as 0 but tensor has no dimensions")
            dim = wrap_dim("unbind", dim, input.dim())
            found = _marked([_ops.select(input, dim, k) for k in range(input.shape[dim])])
        return found if input._origin is None else _together("unbind", input, found, dim)
    except Exception:
        kinds_first("unbind", input=input, dim=dim)
        raise


def _marked(pieces):
    """Views that one op made: none of them is written to with history."""
    for piece in pieces:
        if piece.layout is strided:
            lib.fc_mark_piece(piece._h)
    return tuple(pieces)


def _together(name, input, pieces, dim):
    """Pieces of one tensor: the tape hears of them as the results of one op."""
    _dispatch.tape.pieces(name, input, pieces, dim if dim >= 0 else dim + input.dim())
    return pieces


def split(tensor, split_size_or_sections, dim=0):
    """Pieces along dim: of one size (the last may be smaller) or of the sizes given. Views.

    >>> x = facula.arange(5)
    >>> facula.split(x, 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    >>> facula.split(x, [1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    if type(tensor) is not Tensor:
        want_tensor("split", "tensor", 0, tensor)
    found = None
    if not _ops.interpreting and type(dim) is int and split_size_or_sections is not None:
        found = _pieces(_SLICE, tensor, dim, split_size_or_sections, 1)
    if found is None:
        found = _split(tensor, split_size_or_sections, dim)
    return found if tensor._origin is None else _together("split_with_sizes" if isinstance(split_size_or_sections, (list, tuple)) else "split", tensor, found, dim)


def unsafe_split(input, split_size, dim=0, *, axis=None):
    """Pieces as split's, each a tensor of its own: no view, so that it may be written to, and with its own count of writes.

    Of input's history a write knows nothing: its gradient is right only where the other pieces and input itself are read no more.

    >>> x = facula.arange(5)
    >>> facula.unsafe_split(x, 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    >>> x.unsafe_split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    dim = dim if axis is None else renamed("unsafe_split", "axis", axis, dim, 0)
    if type(split_size) is not int:
        check("unsafe_split", "split_size", 1, "size", split_size)
    return _apart("unsafe_split", input, split_size, dim)


def unsafe_split_with_sizes(input, split_sizes, dim=0, *, axis=None):
    """unsafe_split into pieces of the given sizes.

    >>> x = facula.arange(5)
    >>> facula.unsafe_split_with_sizes(x, [1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    >>> x.unsafe_split_with_sizes([1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    dim = dim if axis is None else renamed("unsafe_split_with_sizes", "axis", axis, dim, 0)
    want_ints("unsafe_split_with_sizes", "split_sizes", 1, split_sizes)
    return _apart("unsafe_split_with_sizes", input, list(split_sizes), dim)


def _apart(name, input, sizes, dim):
    try:
        if type(input) is not Tensor:
            want_tensor(name, "input", 0, input)
        if _dispatch.listened():  # who follows operations hears of views
            return split(input, sizes, dim)
        plain = input.detach().resolve_conj().resolve_neg()
        found = tuple([piece.data for piece in split(plain, sizes, dim)])
        return found if input._origin is None else _together("unsafe_split", input, found, dim)
    except Exception:
        kinds_first(name, **{"input": input, "split_size" if name == "unsafe_split" else "split_sizes": sizes, "dim": dim})
        raise


def _split_method(self, split_size, dim=0):
    """split(self, split_size, dim).

    >>> facula.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    return split(self, split_size, dim)


def _split(tensor, split_size_or_sections, dim):
    """split where an interpreter listens, a history is stale, or the sizes do not fit."""
    try:
        if tensor.dim() == 0:
            raise RuntimeError("split expects at least a 1-dimensional tensor")
        d = wrap_dim("split", dim, tensor.dim())
        size = tensor.shape[d]
        if not isinstance(split_size_or_sections, (list, tuple)):
            check("split", "split_size", 1, "size", split_size_or_sections)
            split_size_or_sections = split_size_or_sections.__index__()
        elif any(type(n) is not int or n > size for n in split_size_or_sections):
            want_ints("split_with_sizes", "split_sizes", 1, split_size_or_sections)
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
        return _marked(pieces)
    except Exception:
        kinds_first("split", tensor=tensor, split_size_or_sections=split_size_or_sections, dim=dim)
        raise


def split_with_sizes(input, split_sizes, dim=0, *, axis=None):
    """split(input, split_sizes, dim).

    >>> x = facula.arange(5)
    >>> facula.split_with_sizes(x, [1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    >>> x.split_with_sizes([1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    dim = dim if axis is None else renamed("split_with_sizes", "axis", axis, dim, 0)
    if type(input) is not Tensor:
        want_tensor("split_with_sizes", "input", 0, input)
    want_ints("split_with_sizes", "split_sizes", 1, split_sizes)
    return split(input, list(split_sizes), dim)


def chunk(input, chunks, dim=0, *, axis=None):
    """At most `chunks` pieces of one size along dim.

    >>> x = facula.arange(5)
    >>> facula.chunk(x, 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    >>> x.chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    return _chunk(split, input, chunks, dim if axis is None else renamed("chunk", "axis", axis, dim, 0))


def unsafe_chunk(input, chunks, dim=0, *, axis=None):
    """chunk by unsafe_split.

    >>> x = facula.arange(5)
    >>> facula.unsafe_chunk(x, 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    >>> x.unsafe_chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    dim = dim if axis is None else renamed("unsafe_chunk", "axis", axis, dim, 0)
    return _chunk(unsafe_split, input, chunks, dim)


def _want_room(name, pieces):
    """Refuse more tensors than memory holds, over which a loop would last days."""
    if pieces > 2**40:
        raise OutOfMemoryError(f"{name}: not enough memory for {pieces} tensors. Take fewer.")


def _chunk(split, input, chunks, dim):
    try:
        if type(input) is not Tensor:
            want_tensor("chunk", "input", 0, input)
        if not input.shape:
            raise RuntimeError("chunk expects at least a 1-dimensional tensor")
        if type(chunks) is not int or chunks > input.shape[0]:
            check("chunk", "chunks", 1, "int", chunks)
        if chunks <= 0:
            raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
        d = wrap_dim("chunk", dim, input.dim())
        size = input.shape[d]
        step = -(-size // chunks)
        if size:
            return split(input, step, d)
        _want_room("chunk", chunks)
        return (unsafe_split_with_sizes if split is unsafe_split else split_with_sizes)(input, [0] * chunks, d)
    except Exception:
        kinds_first("chunk", input=input, chunks=chunks, dim=dim)
        raise


_CUTS = {"sections": "size", "indices": "sizes", "tensor_indices_or_sections": "tensor"}


def _cut(name, **given):
    """Where to cut, under any of its keywords."""
    told = [(keyword, value) for keyword, value in given.items() if value is not None]
    if len(told) != 1:
        raise TypeError(f"{name}() takes indices or a number of sections, got {len(told)} of them. Give one.")
    ((keyword, value),) = told
    check(name, keyword, None, _CUTS[keyword], value)
    return value


def tensor_split(input, indices_or_sections=None, dim=0, *, sections=None, indices=None, tensor_indices_or_sections=None, axis=None):
    """Pieces along dim: a number of nearly equal ones, or cut at the indices given.

    >>> x = facula.arange(5)
    >>> facula.tensor_split(x, 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    >>> facula.tensor_split(x, (1, 3))
    (tensor([0]), tensor([1, 2]), tensor([3, 4]))
    >>> x.tensor_split((1, 3))
    (tensor([0]), tensor([1, 2]), tensor([3, 4]))
    """
    try:
        dim = dim if axis is None else renamed("tensor_split", "axis", axis, dim, 0)
        if type(input) is not Tensor:
            want_tensor("tensor_split", "input", 0, input)
        if indices_or_sections is None:
            indices_or_sections = _cut("tensor_split", sections=sections, indices=indices, tensor_indices_or_sections=tensor_indices_or_sections)
        shape = input.shape
        if not shape:
            raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
        if isinstance(indices_or_sections, Tensor):
            if indices_or_sections.dtype is not int64:
                raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {indices_or_sections.dtype._scalar_type}")
            if indices_or_sections.dim() > 1:
                raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor with {indices_or_sections.dim()} dims")
            indices_or_sections = indices_or_sections.tolist()
        d = wrap_dim("tensor_split", dim, len(shape))
        size = shape[d]
        if indices_or_sections is True or indices_or_sections is False:
            check("tensor_split", "sections", 1, "int", indices_or_sections)
        if whole(indices_or_sections):
            n = indices_or_sections.__index__()
            if n <= 0:
                raise RuntimeError(f"number of sections must be larger than 0, got {n}")
            if n > size:
                check("tensor_split", "sections", 1, "int", n)
                _want_room("tensor_split", n)
            indices_or_sections = itertools.accumulate([size // n + (k < size % n) for k in range(n - 1)])
        else:
            want_ints("tensor_split", "indices", 1, indices_or_sections)
        return _cut_at(input, d, indices_or_sections)
    except Exception:
        kinds_first("tensor_split", input=input, indices_or_sections=indices_or_sections, dim=dim)
        raise


def _cut_at(input, d, indices):
    """The pieces of dim d before, between and behind these indices."""
    size = input.shape[d]
    cuts = [0, *[i if type(i) is int and 0 <= i <= size else slice(None, i).indices(size)[1] for i in indices], size]
    if input._origin is None and not _ops.interpreting:
        found = _pieces(_SLICE, input, d, [b - a for a, b in zip(cuts, cuts[1:])], 0)
        if found is not None:
            return found
    return tuple(_ops.slice(input, d, min(a, size), max(b - a, 0), 1) for a, b in zip(cuts, cuts[1:]))


def _evenly(name, input, least, dim, cut, sections, indices):
    """tensor_split under PyTorch's conditions: enough dims, and a number of pieces that divides the size. dim -1: 1, of a 1-d tensor 0."""
    try:
        if type(input) is not Tensor:
            want_tensor(name, "input", 0, input)
        if cut is None:
            cut = _cut(name, sections=sections, indices=indices)
        if dim == -1:
            dim = 0 if input.dim() == 1 else 1
        if input.dim() < least:
            kinds_first(name, indices_or_sections=cut)
            raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.dim()} dimensions!")
        if type(cut) is int and cut > 0 and (size := input.shape[dim]) and size % cut == 0 and input._origin is None and not _ops.interpreting:
            found = _pieces(_SLICE, input, dim, [size // cut] * cut, 0)
            if found is not None:
                return found
        if cut is True or cut is False or isinstance(cut, Tensor) or whole(cut) and cut > input.shape[dim]:
            check(name, "sections", 1, "int", cut)
        if isinstance(cut, (tuple, list)):
            want_ints(name, "indices", 1, cut)
            return _cut_at(input, dim, cut)
        if whole(cut):
            if cut == 0 or input.shape[dim] % cut:
                raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {input.shape[dim]} is not divisible by the split_size {cut}!")
        return tensor_split(input, cut, dim)
    except Exception:
        kinds_first(name, input=input, indices_or_sections=cut)
        raise


def hsplit(input, indices_or_sections=None, *, sections=None, indices=None):
    """tensor_split along dim 1 (dim 0 of a 1-d tensor).

    >>> x = facula.arange(6).view(2, 3)
    >>> facula.hsplit(x, [1])
    (tensor([[0],
            [3]]), tensor([[1, 2],
            [4, 5]]))
    >>> x.hsplit([1])
    (tensor([[0],
            [3]]), tensor([[1, 2],
            [4, 5]]))
    """
    return _evenly("hsplit", input, 1, -1, indices_or_sections, sections, indices)


def vsplit(input, indices_or_sections=None, *, sections=None, indices=None):
    """tensor_split along dim 0.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.vsplit(x, 2)
    (tensor([[1, 2]]), tensor([[3, 4]]))
    >>> x.vsplit(2)
    (tensor([[1, 2]]), tensor([[3, 4]]))
    """
    return _evenly("vsplit", input, 2, 0, indices_or_sections, sections, indices)


def dsplit(input, indices_or_sections=None, *, sections=None, indices=None):
    """tensor_split along dim 2.

    >>> x = facula.arange(4).view(1, 1, 4)
    >>> facula.dsplit(x, 2)
    (tensor([[[0, 1]]]), tensor([[[2, 3]]]))
    >>> x.dsplit(2)
    (tensor([[[0, 1]]]), tensor([[[2, 3]]]))
    """
    return _evenly("dsplit", input, 3, 2, indices_or_sections, sections, indices)


__all__ = [
    "chunk", "dsplit", "hsplit", "split", "split_with_sizes", "tensor_split", "unbind", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "vsplit",
]  # fmt: skip
METHODS = [*__all__]
