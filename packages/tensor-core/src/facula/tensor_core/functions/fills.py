"""Chosen elements read and written: under a mask, along a dim."""

import warnings

from facula.tensor_core import _ops
from facula.tensor_core.functions import order as _order, shape as _shape
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.arguments import by_axis
from facula.tensor_core._errors import ShapeError
from facula.tensor_core.dispatch.kinds import check, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import into, partly_apart, written
from facula.tensor_core.dispatch.run import fitting, number_for, zero_dim
from facula.tensor_core.functions.dims import lying_as
from facula.tensor_core.functions.shape import broadcast_shapes, wrap_dim
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import bool_ as _bool
from facula.tensor_core._types import int64


@_dispatch.one_step(where_rows="MaskedFillBackward0")
def masked_fill(input, mask, value):
    """input with value where mask.

    >>> import facula
    >>> facula.zeros(2).masked_fill(facula.tensor([True, False]), 5.0)
    tensor([5., 0.])
    """
    if type(input) is not Tensor:
        want_tensor("masked_fill", "input", 0, input)
    if type(mask) is not Tensor:
        want_tensor("masked_fill", "mask", 1, mask)
    if type(value) is float and mask.dtype is _bool and input.dtype._kind == 2 and input.dtype.itemsize > 2 and input.shape and abs(value) <= 65504:
        if _lies_oddly(input._h) or _lies_oddly(mask._h) or mask.shape != input.shape:
            input, mask = _in_rows(input, mask)
        return _ops.where_rows(mask, value, input)
    if mask.dtype._name != "bool":
        raise RuntimeError(f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype._name}. Convert with .bool().")
    if isinstance(value, Tensor):
        if value.dim():
            raise RuntimeError(f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s).")
        if value.dtype._kind > input.dtype._kind or value.dtype.itemsize > input.dtype.itemsize and not value.is_meta:
            if not _dispatch.listened():
                fitting("masked_fill", value.detach().item(), input.dtype)
        return _dispatch.one_node(_filled(input, mask, value.to(input.dtype)), "MaskedFillBackward1", input, value)
    return _filled(input, mask, zero_dim(fitting("masked_fill", value, input.dtype), input.dtype))


@_dispatch.one_step(where_rows="MaskedFillBackward0")
def _filled(input, mask, value):
    if _lies_oddly(input._h) or _lies_oddly(mask._h) or mask.shape != input.shape:
        input, mask = _in_rows(input, mask)
    return _ops.where_rows(mask, value, input)


def _in_rows(*operands):
    """Operands as new tensors lie, dims of size 1 too, as every result of masked_fill does, and its gradient."""
    return [_dispatch.gradient_lies(_shape.as_new(t), "rows") for t in operands]


_lies_oddly = lib.fc_lies_oddly


def masked_fill_(self, mask, value):
    """value written where mask. In place.

    >>> facula.tensor([1.0, 2.0]).masked_fill_(facula.tensor([True, False]), 9.0)
    tensor([9., 2.])
    """
    return fill_where(self, mask, value)


def fill_where(self, mask, value, node=None):
    """masked_fill_, whose node may go under another name."""
    if type(mask) is not Tensor:
        want_tensor("masked_fill_", "mask", 1, mask)
    if self.dtype is _bool:  # the mask could be read behind what was written
        partly_apart("masked_fill_", self, (mask,))
    if filled_where(self, mask, value):
        return self
    alike = expanded_dims(self)
    if alike and self._origin is None:
        return _fill_expanded(self, mask, value, alike)
    result = masked_fill(self, mask, value)
    if result.shape != self.shape:
        raise ShapeError(f"masked_fill_: the mask {tuple(mask.shape)} does not broadcast to {tuple(self.shape)}")
    return written(self, result if node is None else _dispatch.one_node(result, node, self, None))


def filled_where(self, mask, value):
    """self[mask] = a number, or a tensor of its dtype without dims, where that is one write that nobody has to hear of: is it done?"""
    kind = 2 if type(value) is float else 1 if type(value) is int else 0
    given = type(value) is Tensor
    if not kind and not given or mask.shape != self.shape or mask.dtype is not _bool or not _dispatch.unheard(self, value if given else None):
        return False
    dtype = self.dtype
    if given:
        if value.dtype is not dtype or value.shape or dtype._kind not in (1, 2) or lib.fc_same_storage(self._h, value._h):
            return False
        number = value._h
    else:
        if dtype._kind != 2 or not -65504 <= value <= 65504:
            fitting("masked_fill_", value, dtype)
        if kind == 1 and not -(2**63) <= value < 2**63:
            return False
        number = lib.fc_from_scalar(dtype._id, kind, 0 if kind == 2 else value, value, 0.0)
    if lib.fc_map3(_WHERE, self._h, mask._h, number, self._h) is None:
        return False
    _dispatch.unrecorded(self)
    return True


def expanded_dims(self):
    """The dims along which all places are one."""
    return [d for d, (size, step) in enumerate(zip(self.shape, self.stride())) if size > 1 and step == 0]


def warn_expanded(name):
    warnings.warn(f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this operation.", UserWarning, stacklevel=4)


def filled_slices(self, dim, index, value):
    """self.index_fill_ of a number, where that is one write that nobody has to hear of: is it done?"""
    if type(value) not in (float, int) or type(dim) is not int or type(index) is not Tensor or not self.shape or not -len(self.shape) <= dim < len(self.shape) or self.dtype._kind != 2:
        return False
    if index.dtype is not int64 or len(index.shape) != 1 or not _dispatch.unheard(self) or lib.fc_same_storage(self._h, index._h):
        return False
    shape = list(self.shape)
    shape[dim] = index.shape[0]
    if lib.fc_gather(_INDEX_COPY, self._h, self._h, dim, index._h, _ops.expand(number_for("index_fill_", value, self), shape)._h) is None:
        return False
    _dispatch.unrecorded(self)
    return True


def index_fill_expanded(self, dims, dim, index, value):
    """index_fill_ of a tensor that shows one element in many places."""
    warn_expanded("index_fill_")
    one, d = self, wrap_dim("index_fill_", dim, self.dim())
    for k in dims:
        one = _ops.slice(one, k, 0, 1, 1)
    one.index_fill_(d, _ops.sub(index[:1], index[:1]) if d in dims and index.dim() else index, value)
    return self


def _fill_expanded(self, mask, value, dims):
    """masked_fill_ of a tensor that shows one element in many places: it is filled where any of them is chosen."""
    warn_expanded("masked_fill_")
    mask = _ops.any(_ops.expand(mask, self.shape), tuple(dims), True)
    one = self
    for d in dims:
        one = _ops.slice(one, d, 0, 1, 1)
    masked_fill_(one, mask, value)
    return self


def gather(input, dim=None, index=None, *, sparse_grad=False, out=None, axis=None):
    """The elements of input at index along dim. sparse_grad: the gradient is a sparse tensor of what was read.

    >>> import facula
    >>> facula.gather(facula.tensor([[1, 2], [3, 4]]), 1, facula.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    >>> facula.tensor([[1, 2], [3, 4]]).gather(1, facula.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    """
    if type(input) is not Tensor:
        want_tensor("gather", "input", 0, input)
    if type(index) is not Tensor:
        want_tensor("gather", "index", 2, index)
    if dim is None or axis is not None:
        dim = by_axis("gather", dim, axis)
    if sparse_grad is not False:
        check("gather", "sparse_grad", None, "bool", sparse_grad)
    row = _ops._gather_sparse_grad if sparse_grad else _ops.gather
    if not index.numel():
        wrap_dim("gather", dim, input.dim())
    if not index.numel() and index.dtype._name == "int64" and index.dim() != input.dim():  # PyTorch asks nothing of its shape
        if input._origin is None and out is None and type(input) is Tensor and not _ops.interpreting:
            wrap_dim("gather", dim, input.dim())
            return lib.full(input.dtype._id, lib.fc_device(input._h), index.shape, 0)
        return into("gather", row(input, dim, index.reshape((0,) * max(1, input.dim()))).reshape(index.shape), out)
    return row(input, dim, index, out=out)


def index_fill(input, dim, index, value):
    """input with value in the slices along dim that index names, lying as input does.

    >>> x = facula.zeros(2, 3)
    >>> facula.index_fill(x, 1, facula.tensor([0, 2]), 1.0)
    tensor([[1., 0., 1.],
            [1., 0., 1.]])
    >>> x.index_fill(1, facula.tensor([0, 2]), 1.0)
    tensor([[1., 0., 1.],
            [1., 0., 1.]])
    """
    if type(input) is Tensor and input._origin is None:
        copy = _ops.copy(input, None, 1)
        if filled_slices(copy, dim, index, value):
            lib.fc_fresh(copy._h)
            return copy
    filled = _filled_slices(input, dim, index, value)
    if type(input) is not Tensor or lib.fc_is_contiguous(input._h, 0) and 1 not in input.shape:
        return filled
    if filled._origin is None:
        return lying_as(filled, input)
    return _dispatch.one_node(lying_as(filled, input), *(("IndexFillBackward1", input, value) if isinstance(value, Tensor) else ("IndexFillBackward0", input)))


@_dispatch.one_step(index_copy="IndexFillBackward0")
def _filled_slices(input, dim, index, value):
    if isinstance(value, complex) and input.dtype._kind != 3:
        raise RuntimeError(f"index_fill_(): Converting complex Scalar to non-complex type is not supported: {value} to {input.dtype._name}. Take its real part.")
    if isinstance(value, Tensor) and value.dim():
        raise RuntimeError(f"index_fill_(): only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s). Take one element.")
    if index.dtype is not int64:
        raise IndexError(f"index_fill_(): Expected dtype int64 for index, but got {index.dtype._name}. Convert it with .to(facula.int64).")
    if not input.dim() and index.numel() != 1:  # a number is a vector of one
        return _ops.squeeze(_filled_slices(_ops.unsqueeze(input, 0), dim, index, value), (0,))
    shape, dim = list(input.shape), wrap_dim("index_fill", dim, input.dim())
    if shape:
        shape[dim] = index.numel()
    if isinstance(value, Tensor):
        if value.is_complex() and not input.is_complex():
            raise RuntimeError(f"index_fill_(): Converting complex Scalar to non-complex type is not supported: {value.dtype._name} to {input.dtype._name}. Take its real part.")
        if value.requires_grad and shape:  # a slice named twice is written once
            index = _order.unique(_ops.where_rows(_ops.lt(index, 0), _ops.add(index, input.shape[dim]), index))
            shape[dim] = index.numel()
        filled = _ops.copy(_ops.expand(value.to(input.dtype), shape), None, 1)
    else:
        filled = _ops.expand(number_for("index_fill", value, input), shape)
        if not _ops.interpreting:
            try:
                return _ops.index_copy(input, dim, index, filled)
            except IndexError:  # from the end, perhaps
                pass
    index = _ops.where_rows(_ops.lt(index, 0), _ops.add(index, input.shape[dim] if shape else 1), index)
    result = _ops.index_copy(input, dim, index, filled)
    return _dispatch.one_node(result, "IndexFillBackward1", input, value) if isinstance(value, Tensor) else result


def take_along_dim(input, indices, dim=None, *, out=None):
    """gather with broadcasting; without dim, of the flat tensors. Along a dim indices count round and round: -1 is the last, n the first again.

    >>> x = facula.tensor([[3, 1], [2, 4]])
    >>> facula.take_along_dim(x, x.argsort(1), 1)
    tensor([[1, 3],
            [2, 4]])
    >>> x.take_along_dim(x.argsort(1), 1)
    tensor([[1, 3],
            [2, 4]])
    """
    if dim is None:
        return _ops.gather(input.reshape(-1), 0, indices.reshape(-1), out=out)
    if input.dim() != indices.dim():
        raise RuntimeError(f"take_along_dim(): input and indices should have the same number of dimensions, but got {input.dim()} dimensions for input, and {indices.dim()} dimensions for indices")
    if indices.dtype is not int64:
        raise RuntimeError(f"take_along_dim(): dtype of indices should be Long but got {indices.dtype._name}")
    if not input.dim():
        raise IndexError(f"take_along_dim: Dimension specified as {dim} but tensor has no dimensions")
    d = wrap_dim("take_along_dim", dim, input.dim())
    x, i = input.shape, indices.shape
    if x[:d] == i[:d] and x[d + 1:] == i[d + 1:] and not _ops.interpreting:
        try:
            return _ops.gather(input, d, indices, out=out)
        except IndexError:  # from the end, perhaps
            pass
    if input.shape[d]:
        indices = _ops.remainder(indices, input.shape[d])  # round and round, as PyTorch does
    if input.shape == indices.shape:
        return _ops.gather(input, d, indices, out=out)
    common = broadcast_shapes(*([s if k != d else 1 for k, s in enumerate(x.shape)] for x in (input, indices)))
    wide = [s if k != d else x for k, (s, x) in enumerate(zip(common, indices.shape))]
    source = [s if k != d else x for k, (s, x) in enumerate(zip(common, input.shape))]
    return _ops.gather(_ops.expand(input, source), d, _ops.expand(indices, wide), out=out)


_WHERE, _INDEX_COPY = (_ops.BY_NAME[name].id for name in ("where_rows", "index_copy"))


__all__ = [
    "gather", "index_fill", "masked_fill", "take_along_dim",
]  # fmt: skip
METHODS = __all__ + ["masked_fill_"]
