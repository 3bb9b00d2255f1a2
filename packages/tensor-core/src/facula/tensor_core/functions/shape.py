"""Shapes: the same elements in other dims. Compositions of the view rows."""

import math
from functools import lru_cache

from facula.tensor_core import _ops
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.arguments import LACKING, by_axis, ints, listed, renamed, sequence
from facula.tensor_core.dispatch.foreign import ask_method, overriding
from facula.tensor_core._errors import STATUS, ShapeError
from facula.tensor_core.dispatch.kinds import check, kinds_first, read_ints, want_ints, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import Size
from facula.tensor_core._types import dtype as _dtype

_view_dims, _view_list = lib.view_dims, lib.view_list
_VIEW = _ops.BY_NAME["view"].id
_STRIDE = STATUS.index("view")  # a view that strides do not allow


def wrap_dim(name, dim, ndim):
    """dim counted from the front. Raises IndexError for one that is not there."""
    n = max(ndim, 1)
    if type(dim) is not int or not -n <= dim < n:
        check(name, "dim", None, "int", dim)
        dim = dim.__index__()
    if not -n <= dim < n:
        raise IndexError(f"{name}: Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def view(self, *shape, size=None, dtype=None):
    """The same elements in another shape (or, given a dtype, the same bytes as another type), without a copy.

    >>> import facula
    >>> facula.tensor([1.0, -2.0]).view(facula.int32)
    tensor([ 1065353216, -1073741824], dtype=torch.int32)
    """
    n = len(shape)
    if 0 < n < 5 and (n > 1 or type(shape[0]) is int) and size is None and dtype is None and not _ops.interpreting:
        try:
            t = _view_dims(_VIEW, self._h, n, shape[0], shape[1] if n > 1 else 0, shape[2] if n > 2 else 0, shape[3] if n > 3 else 0)  # the common case, flat
        except (AttributeError, TypeError, OverflowError):
            t = None
        if t is not None:
            t._viewed = self if self._viewed is None else self._viewed
            if self._origin is not None:
                _dispatch.record[_VIEW](t, self, shape)
            return t
    given = [w for w in (None if size is None else sequence("view", "size", size), dtype) if w is not None]
    if given:
        if shape or len(given) > 1:
            raise TypeError(f"view() takes sizes or a dtype, got {shape}, size={size}, dtype={dtype}. Give one of them.")
        shape = given
    if not shape:
        raise TypeError("view() received an invalid combination of arguments - got (). Give a shape or a dtype.")
    if len(shape) == 1:
        if isinstance(shape[0], _dtype):
            return _ops.view_dtype(self, shape[0])
        if not hasattr(shape[0], "__index__") and not overriding(shape):
            shape = sequence("view", "size", shape[0])
    return _ops.view(self, shape)


def reshape(input, shape):
    """input in another shape: a view where strides allow, else a copy. One size may be -1.

    >>> import facula
    >>> facula.arange(4).reshape(2, -1)
    tensor([[0, 1],
            [2, 3]])
    """
    if type(input) is not Tensor:
        want_tensor("reshape", "input", 0, input)
    return reshaped(input, shape if type(shape) is tuple else sequence("reshape", "shape", shape))


def as_new(t):
    """t, or a copy of it that lies as a new tensor of its shape does, dims of size 1 and 0 too."""
    return _ops.copy(t, None, 0) if lib.fc_lies_oddly(t._h) else t


def reshaped(self, *sizes, shape=None):
    """reshape, with sizes one by one too: the method.

    >>> facula.arange(6).reshape(3, -1)
    tensor([[0, 1],
            [2, 3],
            [4, 5]])
    """
    shape = ints(sizes) if sizes and shape is None else listed("reshape", "shape", sizes, shape)
    if _ops.interpreting:
        return _reshaped_step_by_step(self, shape)
    try:
        t = _view_list(_VIEW, self._h, len(shape), shape)
        if t is None and self._origin is None and lib.fc_status() == _STRIDE:
            t = _view_list(_VIEW, lib.fc_to(self._h, lib.fc_dtype(self._h), 0, 1), len(shape), shape)
            if t is not None:
                return t  # nobody has the copy but the result
    except (TypeError, OverflowError):
        t = None
    if t is None:
        return _reshaped_step_by_step(self, shape)
    t._viewed = self if self._viewed is None else self._viewed
    if self._origin is not None:
        _dispatch.record[_VIEW](t, self, shape)
        if self._viewed is not None and not lib.fc_is_contiguous(self._h, 0):  # what is no view is contiguous nearly always: asking each would be 4 % of a recorded reshape
            _dispatch.one_node(t, "ReshapeAliasBackward0", self)
    return t


def _reshaped_step_by_step(input, shape):
    """reshape where an interpreter listens, a copy is needed, or the shape does not fit."""
    try:
        if not _ops.interpreting and _view_list(_VIEW, input._h, len(shape), shape) is None and lib.fc_status() == _STRIDE:
            return _reshaped_copy(input, shape)
    except (TypeError, OverflowError):
        pass  # which the row reads, or refuses
    try:
        return _ops.view(input, shape)
    except RuntimeError as error:
        if "stride" not in str(error):
            raise
    return _reshaped_copy(input, shape)


@_dispatch.one_step(copy="CloneBackward0", view="UnsafeViewBackward0")
def _reshaped_copy(input, shape):
    return _alone(_ops.view(_ops.copy(input, None, 0), shape))


def _alone(t):
    """A view of a copy that nobody else has: a tensor of its own, no view."""
    t._viewed = None
    return t


def view_as(self, other):
    """view(other.shape).

    >>> facula.arange(4).view_as(facula.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    if type(self) is not Tensor:
        want_tensor("view_as", "self", 0, self)
    if type(other) is not Tensor:
        want_tensor("view_as", "other", 0, other)
        if relevant := overriding((other,)):
            return ask_method("view_as", relevant, self, other)
    return _ops.view(self, other.shape)


def reshape_as(self, other):
    """reshape(other.shape).

    >>> facula.arange(4).reshape_as(facula.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    if type(other) is not Tensor:
        want_tensor("reshape_as", "other", 0, other)
        if relevant := overriding((other,)):
            return ask_method("reshape_as", relevant, self, other)
    return reshape(self, other.shape)


def expand(self, *sizes, size=None, implicit=False):
    """Dims of size 1 repeated without a copy; -1 keeps a size. implicit changes nothing, as in PyTorch.

    >>> facula.tensor([[1], [2]]).expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    return _ops.expand(self, ints(sizes) if sizes and size is None else listed("expand", "size", sizes, size))


def expand_as(self, other):
    """expand(other.shape).

    >>> facula.tensor([[1], [2]]).expand_as(facula.zeros(2, 3))
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    if type(self) is not Tensor:
        want_tensor("expand_as", "self", 0, self)
    if type(other) is not Tensor:
        want_tensor("expand_as", "other", 0, other)
        if relevant := overriding((other,)):
            return ask_method("expand_as", relevant, self, other)
    return _ops.expand(self, other.shape)


def broadcast_to(input, size):
    """input expanded to size.

    >>> x = facula.tensor([1, 2])
    >>> facula.broadcast_to(x, (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    if type(input) is not Tensor:
        want_tensor("broadcast_to", "input", 0, input)
    return _ops.expand(input, size)


def broadcasted(self, *sizes, size=None):
    """broadcast_to, with sizes one by one too: the method.

    >>> facula.tensor([1, 2]).broadcast_to(2, 2)
    tensor([[1, 2],
            [1, 2]])
    """
    return _ops.expand(self, listed("broadcast_to", "size", sizes, size))


def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes broadcast to. Raises RuntimeError where they do not.

    >>> facula.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    shapes = [(s,) if isinstance(s, int) else s for s in shapes if s is not None]
    if odd := [s for s in shapes if not isinstance(s, (tuple, list))]:
        raise (TypeError if isinstance(odd[0], str) else RuntimeError)(f"broadcast_shapes: Input shapes should be of type ints, a tuple of ints, or a list of ints, got {odd[0]!r}.")
    n = max(map(len, shapes), default=0)
    result = [1] * n
    for s in shapes:
        at = n - len(s)
        for size in s:
            if size < 0:
                raise ValueError(f"broadcast_shapes: Attempting to broadcast a dimension with negative length: {size} at dim {at - n}.")
            if size != 1 and result[at] != size:
                if result[at] != 1:
                    raise ShapeError(f"broadcast_shapes: Shape mismatch: objects cannot be broadcast to a single shape: {size} and {result[at]} at dim {at - n}")
                result[at] = size
            at += 1
    return Size(result)


def broadcast_tensors(*tensors):
    """The tensors expanded to their common shape.

    >>> facula.broadcast_tensors(facula.tensor([1, 2]), facula.tensor([[10], [20]]))
    (tensor([[1, 2],
            [1, 2]]), tensor([[10, 10],
            [20, 20]]))
    """
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {k} in argument 0, but got {type(t).__name__}. Give the tensors one by one.")
    shapes = [t.shape for t in tensors]
    if shapes.count(shapes[0]) == len(shapes) if shapes else True:
        return tensors
    shape = _common_shape(*shapes)
    return tuple([t if t.shape == shape else _ops.expand(t, shape) for t in tensors])


@lru_cache(maxsize=256)
def _common_shape(*shapes):
    return broadcast_shapes(*shapes)


@_dispatch.one_step(squeeze="SqueezeBackward0")
def _without_ones(input):
    """squeeze of all dims: PyTorch's node of it has another name than that of named dims."""
    return _ops.squeeze(input, tuple([d for d, size in enumerate(input.shape) if size == 1]) if 1 in input.shape else ())


def squeeze(input, dim=LACKING, *more, axis=LACKING):
    """Without dims of size 1: all of them, or those named (which the method takes one by one too).

    >>> x = facula.zeros(1, 2, 1)
    >>> facula.squeeze(x).shape
    torch.Size([2])
    >>> facula.squeeze(x, 0).shape
    torch.Size([2, 1])
    >>> x.squeeze(0).shape
    torch.Size([2, 1])
    """
    dim = dim if axis is LACKING else renamed("squeeze", "axis", axis, dim, LACKING)
    if type(input) is not Tensor:
        want_tensor("squeeze", "input", 0, input)
    if more:
        dim = (dim, *more)
    if dim is LACKING:
        return _without_ones(input)
    elif type(dim) is int:
        dim = (wrap_dim("squeeze", dim, input.dim()),)
    else:
        dim = read_ints("squeeze", "dim", 1, dim, "int|sizes")
    if len(dim) > 1 and len({wrap_dim("squeeze", d, input.dim()) for d in dim}) < len(dim):
        raise RuntimeError(f"squeeze: a dim appears multiple times in the list of dims {tuple(dim)}. Name each dim once.")
    return _ops.squeeze(input, dim)


def flatten(input, start_dim=0, end_dim=-1):
    """Dims start_dim to end_dim as one.

    >>> import facula
    >>> facula.zeros(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    if type(input) is not Tensor:
        want_tensor("flatten", "input", 0, input)
    n = input.dim()
    if type(start_dim) is int and start_dim == 0 and end_dim == -1:
        return input if n == 1 else reshape(input, (input.numel(),))
    if type(start_dim) is int and start_dim == 1 and end_dim == -1 and n == 2:
        return input
    a, b = wrap_dim("flatten", start_dim, n), wrap_dim("flatten", end_dim, n)
    if a > b:
        raise RuntimeError(f"flatten() has invalid args: start_dim cannot come after end_dim, got {start_dim} and {end_dim}")
    shape = input.shape
    if n == 0:
        return reshape(input, (1,))
    if a == b:
        return input
    size = 1
    for s in shape[a : b + 1]:
        size *= s
    return reshape(input, (*shape[:a], size, *shape[b + 1 :]))


def ravel(input):
    """All elements in one dim, without a copy where they lie contiguously.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.ravel(x)
    tensor([1, 2, 3, 4])
    >>> x.ravel()
    tensor([1, 2, 3, 4])
    """
    if type(input) is not Tensor:
        want_tensor("ravel", "input", 0, input)
    return _ops.view(input if lib.fc_is_contiguous(input._h, 0) else _ops.copy(input, None, 0), (-1,))


def unflatten(input, dim=None, sizes=None, *, axis=None):
    """One dim as several; one of sizes may be -1.

    >>> x = facula.arange(4)
    >>> facula.unflatten(x, 0, (2, -1))
    tensor([[0, 1],
            [2, 3]])
    >>> x.unflatten(0, (2, -1))
    tensor([[0, 1],
            [2, 3]])
    """
    try:
        if axis is None and type(sizes) is tuple and type(dim) is int and type(input) is Tensor and -len(input.shape) <= dim < len(input.shape):
            shape, known = input.shape, 1
            for s in sizes:
                known *= s if type(s) is int and s > 0 else 0
            if known == shape[dim] and sizes and known:
                return _ops.view(input, (*shape[:dim], *sizes, *(shape[dim + 1 :] if dim + 1 else ())))
        if dim is None or axis is not None:
            dim = by_axis("unflatten", dim, axis)
        if sizes is None:
            raise TypeError("unflatten() missing 1 required positional argument: 'sizes'")
        if type(input) is not Tensor:
            want_tensor("unflatten", "input", 0, input)
        d = wrap_dim("unflatten", dim, input.dim())
        if not input.dim():
            raise RuntimeError(f"unflatten: dim {dim} was given but the tensor has no dimensions. Reshape it to {tuple(sizes)}.")
        want_ints("unflatten", "sizes", 2, sizes)
        if not len(sizes):
            raise RuntimeError("unflatten: sizes must be non-empty")
        size, known = input.shape[d], math.prod(1 if s == -1 else s for s in sizes)
        if -1 not in sizes and known != size:
            raise ShapeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} ({size}) in the input tensor. Give others.")
        if tuple(sizes).count(-1) == 1 and known > 0 and size % known == 0:  # from the dim alone: other dims may have no elements
            sizes = [size // known if s == -1 else s for s in sizes]
        return _ops.view(input, (*input.shape[:d], *sizes, *input.shape[d + 1 :]))
    except Exception:
        kinds_first("unflatten", input=input, sizes=sizes)
        raise


def narrow(input, dim=None, start=None, length=None, *, axis=None):
    """The part of dim from start on, length long, as a view.

    >>> x = facula.arange(5)
    >>> facula.narrow(x, 0, 1, 3)
    tensor([1, 2, 3])
    >>> x.narrow(0, 1, 3)
    tensor([1, 2, 3])
    """
    try:
        if dim is None or axis is not None:
            dim = by_axis("narrow", dim, axis)
        if type(input) is not Tensor:
            want_tensor("narrow", "input", 0, input)
        if input.dim() == 0:
            raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
        if type(start) is Tensor and (start.dim() or start.dtype._kind != 1):
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        d = wrap_dim("narrow", dim, input.dim())
        size = input.shape[d]
        if type(start) is not int or type(length) is not int or not -size <= start <= size or length > size:
            check("narrow", "start", 1, "size", start)
            check("narrow", "length", 2, "size", length)
        start = int(start)
        if length < 0:
            raise RuntimeError(f"narrow(): length must be non-negative. Got {length}.")
        if not -size <= start <= size:
            raise IndexError(f"narrow: start out of range (expected to be in range of [{-size}, {size}], but got {start})")
        start = start + size if start < 0 else start
        if start + length > size:
            raise RuntimeError(f"narrow: start ({start}) + length ({length}) exceeds dimension size ({size}).")
        return _ops.slice(input, d, start, length, 1)
    except Exception:
        kinds_first("narrow", input=input, dim=dim, start=start, length=length)
        raise


def select(input, dim=None, index=None, *, axis=None):
    """One slice along dim, as a view.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.select(x, 1, 0)
    tensor([1, 3])
    >>> x.select(1, 0)
    tensor([1, 3])
    """
    try:
        if dim is None or axis is not None:
            dim = by_axis("select", dim, axis)
        if type(input) is not Tensor:
            want_tensor("select", "input", 0, input)
        if not input.shape:
            raise IndexError("select() cannot be applied to a 0-dim tensor.")
        if type(index) is not int:
            check("select", "index", 2, "size", index)
        return _ops.select(input, dim, int(index))
    except Exception:
        kinds_first("select", input=input, dim=dim, index=index)
        raise


def unfold(self, dimension, size, step):
    """Overlapping windows along a dim, as a last dim: a view.

    >>> facula.arange(5).unfold(0, 3, 1)
    tensor([[0, 1, 2],
            [1, 2, 3],
            [2, 3, 4]])
    """
    return _ops.unfold(self, dimension, size, step)


def as_strided(input, size, stride, storage_offset=None):
    """Any sizes and strides over the storage of input. Raises RuntimeError where they leave it.

    >>> x = facula.arange(6)
    >>> facula.as_strided(x, (2, 2), (2, 1), 1)
    tensor([[1, 2],
            [3, 4]])
    >>> x.as_strided((2, 2), (2, 1), 1)
    tensor([[1, 2],
            [3, 4]])
    """
    try:
        if type(input) is not Tensor:
            want_tensor("as_strided", "input", 0, input)
        if not (type(size) is type(stride) is tuple) and (isinstance(size, (str, Tensor)) or isinstance(stride, (str, Tensor))):
            want_ints("as_strided", "size", 1, size)
            want_ints("as_strided", "stride", 2, stride)
        return _ops.as_strided(input, list(size), list(stride), storage_offset)
    except Exception:
        kinds_first("as_strided", input=input, size=size, stride=stride, storage_offset=storage_offset)
        raise


__all__ = [
    "as_strided", "broadcast_shapes", "broadcast_tensors", "broadcast_to", "flatten", "narrow", "ravel", "reshape", "select", "squeeze", "unflatten",
]  # fmt: skip
METHODS = [*__all__, "expand", "expand_as", "reshape_as", "unfold", "view", "view_as"]
