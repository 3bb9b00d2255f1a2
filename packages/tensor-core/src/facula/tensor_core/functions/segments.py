"""Reductions over runs of elements, and the hash of all elements, composed of rows."""

import math

from facula.tensor_core.dispatch.guard import guarded
from facula.tensor_core.dispatch.kinds import read_ints
from facula.tensor_core import _ops, _ownership
from facula.tensor_core._errors import DimError
from facula.tensor_core.functions import create as _create, ranges as _ranges
from facula.tensor_core.dispatch.arguments import LACKING, renamed
from facula.tensor_core.functions.order import searchsorted
from facula.tensor_core.functions.shape import wrap_dim
from facula.tensor_core.dispatch.out import into, same_dtype
from facula.tensor_core.functions.overloads import where
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import BY_NAME

_START = {"sum": 0, "mean": 0, "prod": 1, "max": float("-inf"), "min": float("inf")}
_ALIASES = {"amax": "max", "amin": "min"}
_SCATTER = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}


def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """The sum, mean, max, min or prod of consecutive segments of data along axis.

    lengths: (*data.shape[:axis], S), how long each of S segments is; or offsets: (*data.shape[:axis], S + 1), where they begin,
    the end last. Result: (*data.shape[:axis], S, *data.shape[axis + 1:]). Each segment starts from `initial`; an empty one
    without it is 0, nan, -inf, inf or 1. unsafe skips the check that lengths are not negative and add up to the axis.
    Equal maxima, or the nans among them, share the gradient; a factor's is the product of the others.

    >>> import facula
    >>> facula.segment_reduce(facula.tensor([1.0, 2.0, 3.0]), "sum", lengths=facula.tensor([2, 0, 1]))
    tensor([3., 0., 3.])
    """
    axis = wrap_dim("segment_reduce", axis, data.dim())
    how = _ALIASES.get(reduce, reduce)
    if how not in _START:
        raise RuntimeError(f"segment_reduce: reduce argument must be either sum, prod, mean, max or min, got {reduce}")
    if data.dtype._kind != 2:
        raise NotImplementedError(f"segment_reduce: not implemented for {data.dtype._name}. Convert data to a floating dtype.")
    if indices is not None:
        raise RuntimeError("segment_reduce: indices based reduction is not supported. Give lengths or offsets.")
    if not data.dim():
        raise RuntimeError("segment_reduce: data has no dims (shape ()). Give one at least, along which the segments lie.")
    lengths = _checked_lengths(data, lengths, offsets, axis, unsafe)
    runs = _Runs(data, lengths, axis)
    start = _START[how] if initial is None else initial
    if data._origin is not None and how == "prod":
        return _product(data, runs, start)
    if how in ("max", "min"):
        found = runs.fold(data.detach(), _SCATTER[how], start)
        return found if data._origin is None else _shared(data, found, runs)
    found = runs.fold(data, _SCATTER[how], start)
    if how == "mean":
        count = lengths.reshape(*lengths.shape, *(1,) * (found.dim() - lengths.dim()))
        found = found / (count if initial is None else count.clamp(min=1)).to(data.dtype)
    return found


class _Runs:
    """The segments of `data` along axis: `fold` makes one value of each, `spread` gives each position the value of its own."""

    def __init__(self, data, lengths, axis):
        size, self.segments, self.axis = data.shape[axis], lengths.shape[-1], axis
        rows = lengths.reshape(-1, self.segments)
        # the segment of each position; positions behind the last one go to one more, which is cut off
        places = _ranges.arange(size, device=data.device).expand(rows.shape[0], size)
        owner = searchsorted(rows.cumsum(1), places.contiguous(), right=True)
        lead, rest = tuple(data.shape[:axis]), tuple(data.shape[axis + 1 :])
        self.index = owner.reshape(*lead, size, *(1,) * len(rest)).expand(data.shape)
        self.room = (*lead, self.segments + 1, *rest)

    def fold(self, values, how, start):
        room = _create.full(self.room, start, dtype=values.dtype, device=values.device)
        return room.scatter_reduce(self.axis, self.index, values, how, include_self=True).narrow(self.axis, 0, self.segments).contiguous()

    def spread(self, values):
        last = _create.zeros((*self.room[: self.axis], 1, *self.room[self.axis + 1 :]), dtype=values.dtype, device=values.device)
        return _ops.cat([values, last], self.axis).gather(self.axis, self.index)


def _shared(data, found, runs):
    """The extremes `found`, written as a sum of the elements that reach them (the nans, where there are some), each over their number.

    A sum's gradient goes to these in equal parts. What the division rounded off is added back.
    """
    plain = data.detach()
    chosen = (plain == runs.spread(found)) | plain.isnan()
    number = runs.fold(chosen.to(plain.dtype), "sum", 0)
    total = runs.fold(where(chosen, data / runs.spread(number).clamp(min=1), 0), "sum", 0)
    rounded = total.detach()
    return where(number == 0, found, total + where(rounded.isfinite(), found - rounded, 0))


def _product(data, runs, start):
    """Products, of which a lone nan's gradient is the product of the others: it stands beside these as a factor of its own."""
    nan = data.detach().isnan()
    number = runs.fold(nan.to(data.dtype), "sum", 0)
    lone = runs.fold(where(nan, data, 0), "sum", 0)
    factor = where(number > 0, lone, 1) * where(number > 1, float("nan"), 1.0).to(data.dtype)
    return runs.fold(where(nan, 1, data), "prod", start) * factor


def _checked_lengths(data, lengths, offsets, axis, unsafe):
    """The lengths as int64 of shape (*data.shape[:axis], S)."""
    given = offsets if lengths is None else lengths
    if given is None:
        raise RuntimeError("segment_reduce: Either lengths or offsets must be defined.")
    name = "offsets" if lengths is None else "lengths"
    if not isinstance(given, Tensor):
        raise TypeError(f"segment_reduce(): argument '{name}' must be Tensor, not {type(given).__name__}")
    if given.dtype._name not in ("int32", "int64"):
        raise NotImplementedError(f"segment_reduce: {name} must be int32 or int64, got {given.dtype._name}. Convert with {name}.long().")
    if not -data.dim() <= axis < data.dim():
        raise DimError(f"segment_reduce: Dimension out of range (expected to be in range of [{-data.dim()}, {data.dim() - 1}], but got {axis}).")
    if axis != given.dim() - 1:
        raise RuntimeError(f"segment_reduce: Expected axis to be the last dimension of {name} but got {axis} ({name}: {tuple(given.shape)}).")
    if tuple(given.shape[:-1]) != tuple(data.shape[:axis]):
        raise RuntimeError(f"segment_reduce: {name} has shape {tuple(given.shape)}, data {tuple(data.shape)}: the dims before axis {axis} must agree.")
    found = given.long()
    if lengths is None:
        found = found[..., 1:] - found[..., :-1]
    if not unsafe and not given.is_meta:
        if bool((found < 0).any()):
            raise RuntimeError("segment_reduce: lengths contains negative value! Each must be 0 or more.")
        if lengths is not None and bool((found.sum(-1) != data.shape[axis]).any()):
            raise RuntimeError(f"segment_reduce: Expected all rows of lengths along axis to sum to data.size({axis}) = {data.shape[axis]} when !unsafe.")
    return found


def hash_tensor(input, dim=None, *, keepdim=False, mode=0, out=None, axis=None, keepdims=LACKING):
    """The exclusive or of all elements, or over dims, as uint64: of the bits of each as float64 or int64.

    >>> import facula
    >>> facula.hash_tensor(facula.tensor([1, 2, 5]))
    tensor(6, dtype=torch.uint64)
    >>> facula.tensor([1, 2, 5]).hash_tensor()
    tensor(6, dtype=torch.uint64)
    """
    dim = dim if axis is None else renamed("hash_tensor", "axis", axis, dim, None)
    keepdim = keepdim if keepdims is LACKING else keepdims
    if out is not None:
        same_dtype("hash_tensor", BY_NAME["uint64"], out)
    if dim is None and keepdim is False and mode == 0 and input.numel() and input.dtype._kind < 3:
        return into("hash_tensor", _ops.view_dtype(_ops._hash(_hashed(input).reshape(-1)), BY_NAME["uint64"]), out)
    dims = () if dim is None else read_ints("hash_tensor", "dim", 1, dim)
    if not dims and not input.numel():
        raise RuntimeError("hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.")
    dims = dims or range(input.dim())
    for d in dims:
        wrap_dim("hash_tensor", d, input.dim())
        if input.dim() and input.shape[d] == 0:
            raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
    if len({d % max(input.dim(), 1) for d in dims}) < len(dims):
        raise RuntimeError(f"hash_tensor: dim appears multiple times in the list of dims {tuple(dims)}. Name each once.")
    if input.dtype._kind == 3:
        raise NotImplementedError(f"hash_tensor: not implemented for {input.dtype._name}. Hash facula.view_as_real(input).")
    if mode != 0:
        raise RuntimeError(f"hash_tensor: Unknown hash_tensor mode: {mode}. Only 0 (exclusive or) is there.")
    found = _hashed(input)
    n = input.dim()
    gone = {d % n for d in dims} if n else ()
    kept = [d for d in range(n) if d not in gone]
    if kept:  # the dims that go, last and joined
        found = _ops.permute(found, [*kept, *gone]).reshape([*(input.shape[d] for d in kept), math.prod(input.shape[d] for d in gone)])
    else:
        found = found.reshape(-1)
    found = _ops._hash(found)
    if keepdim:
        found = found.reshape([1 if d in gone else size for d, size in enumerate(input.shape)])
    return into("hash_tensor", found.view(BY_NAME["uint64"]), out)


def _hashed(input):
    """The bits of each element as float64, or each as int64."""
    found = input if input._origin is None else input.detach()
    return _ops.view_dtype(_ops.copy(found, BY_NAME["float64"], 0), _INT64) if found.dtype._kind == 2 else _ops.copy(found, _INT64, 0)


_INT64 = BY_NAME["int64"]
segment_reduce, hash_tensor = guarded(segment_reduce), guarded(hash_tensor)
_ownership.attach({"hash_tensor": hash_tensor})
__all__ = ["hash_tensor", "segment_reduce"]
