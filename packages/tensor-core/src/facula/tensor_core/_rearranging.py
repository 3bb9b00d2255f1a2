"""Rearranging: repeating, flipping, rolling, diagonals, grids."""

from facula.tensor_core import _ops
from facula.tensor_core._arguments import ints
from facula.tensor_core._errors import DTypeError
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._shape import _alone, movedim, reshape, wrap_dim
from facula.tensor_core._types import int64


def repeat(self, *repeats):
    """The tensor copied repeats[d] times along each dim d; more repeats than dims add leading dims."""
    if not repeats:
        raise TypeError("repeat: got no numbers of repeats. Give one for each dim, at least.")
    repeats = ints(repeats)
    n = self.dim()
    if any(r < 0 for r in repeats):
        raise RuntimeError(f"repeat: Trying to create tensor with negative dimension: repeats are {repeats}. Give numbers from 0 on.")
    if len(repeats) < n:
        raise RuntimeError(f"repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor ({len(repeats)} < {n})")
    shape = (1,) * (len(repeats) - n) + tuple(self.shape)
    x, wide = self, []
    for d, (r, s) in enumerate(zip(repeats, shape)):  # a dim for each that is repeated
        if d < len(shape) - n:
            wide.append(r)
            continue
        if r != 1:
            x = _ops.unsqueeze(x, len(wide) - (len(shape) - n))
            wide.append(r)
        wide.append(s)
    total = [r * s for r, s in zip(repeats, shape)]
    whole = _ops.copy(_ops.expand(x, wide), None, 0)  # of its own memory, also where strides of 0 would do
    return _alone(_ops.view(whole, total))


def tile(input, *dims):
    """repeat, with missing leading counts taken as 1."""
    dims = tuple(ints(dims))
    return repeat(input, (1,) * (input.dim() - len(dims)) + dims)


def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Every element (or slice along dim) repeated in place: a count for all, or one for each."""
    from facula.tensor_core._create import arange, tensor

    if repeats is None:
        return repeat_interleave(arange(input.numel()), input)
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    d = wrap_dim("repeat_interleave", dim, input.dim())
    size = input.shape[d] if input.dim() else 1
    if isinstance(repeats, int) and repeats > 0 and input.dim():
        shape = input.shape
        wide = _ops.expand(_ops.unsqueeze(input, d + 1), [*shape[: d + 1], repeats, *shape[d + 1 :]])
        return _alone(_ops.view(_ops.copy(wide, None, 0), [*shape[:d], size * repeats, *shape[d + 1 :]]))
    if isinstance(repeats, Tensor):
        if repeats.dtype.name not in ("int64", "int32"):
            raise DTypeError(f"repeat_interleave: repeats has to be Long or Int tensor, not implemented for {repeats.dtype.name}. Convert it with .long().")
        counts = repeats.tolist()
        counts = counts * size if repeats.numel() == 1 and isinstance(counts, list) else [counts] * size if not isinstance(counts, list) else counts
    else:
        counts = [repeats] * size
    if len(counts) != size:
        raise RuntimeError(f"repeat_interleave: repeats must have the same size as input along dim, but got {len(counts)} and {size}")
    if any(c < 0 for c in counts):
        raise RuntimeError("repeat_interleave: repeats can not be negative")
    if output_size is not None and output_size != sum(counts):
        raise RuntimeError(f"repeat_interleave: allocated size does not match required size: output_size={output_size}, the repeats sum to {sum(counts)}.")
    index = tensor([k for k, c in enumerate(counts) for _ in range(c)], dtype=int64, device=input.device)
    return _ops.index_select(input, dim, index)


def flip(input, *dims, **named):
    """The order along the dims turned round: a copy."""
    dims = ints((named.pop("dims"),) if not dims and "dims" in named else dims)
    if named:
        raise TypeError(f"flip() got an unexpected keyword argument '{next(iter(named))}'")
    x = input
    wrapped = [wrap_dim("flip", d, input.dim()) for d in dims]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"flip: a dim appears multiple times in the list of dims {list(dims)}. Name each dim once.")
    for d in wrapped if input.dim() else ():
        size = input.shape[d]
        x = _ops.slice(x, d, size - 1 if size else 0, size, -1)
    if input.is_contiguous():
        return _ops.copy(x, None, 0)
    from facula.tensor_core._create import empty_like

    order = _memory_order(empty_like(input.detach()))  # the result lies as a copy of input would
    return _alone(_ops.permute(_ops.copy(_ops.permute(x, order), None, 0), [order.index(d) for d in range(x.dim())]))


def _memory_order(t):
    """The dims, slowest first."""
    return sorted(range(t.dim()), key=t.stride, reverse=True)


def fliplr(input):
    """flip along dim 1."""
    if input.dim() < 2:
        raise RuntimeError("fliplr: Input must be >= 2-d.")
    return flip(input, 1)


def flipud(input):
    """flip along dim 0."""
    if input.dim() < 1:
        raise RuntimeError("flipud: Input must be >= 1-d.")
    return flip(input, 0)


def roll(input, shifts, dims=None):
    """Elements moved along dims, those that leave come back at the other end; without dims, over the flat tensor."""
    shifts = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    if dims is None:
        return _alone(reshape(roll(reshape(input, (-1,)), shifts, (0,)), input.shape))
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(dims) != len(shifts):
        raise RuntimeError(f"roll: shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    x = input
    for shift, d in zip(shifts, dims):
        size = x.shape[wrap_dim("roll", d, x.dim())]
        if size == 0:
            continue
        k = shift % size
        if k:
            d = wrap_dim("roll", d, x.dim())
            x = _ops.cat([_ops.slice(x, d, size - k, k, 1), _ops.slice(x, d, 0, size - k, 1)], d)
    return x if x is not input else input.clone()


def rot90(input, k=1, dims=(0, 1)):
    """The plane of two dims turned by k quarter turns, from the first towards the second: a copy."""
    if len(dims) != 2:
        raise RuntimeError(f"rot90: expected total rotation dims == 2, but got dims = {len(dims)}")
    n = input.dim()
    if n < 2:
        raise RuntimeError(f"rot90: expected total dims >= 2, but got total dims = {n}")
    a, b = (wrap_dim("rot90", d, n) for d in dims)
    if a == b:
        raise RuntimeError(f"rot90: expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    k %= 4
    if k == 1:
        return _ops.transpose(flip(input, b), a, b)
    if k == 2:
        return flip(input, a, b)
    if k == 3:
        return _ops.transpose(flip(input, a), a, b)
    return _ops.copy(input, None, 0)


def diag(input, diagonal=0, *, out=None):
    """The diagonal of a matrix, or the matrix with this diagonal."""
    from facula.tensor_core._out import into

    if input.dim() == 2:
        return into("diag", _ops.copy(_ops.diagonal(input, diagonal), None, 0), out)
    if input.dim() != 1:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.dim()}D")
    return into("diag", diag_embed(input, diagonal), out)


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices whose diagonals are the last dim of input."""
    from facula.tensor_core._create import zeros

    size = input.shape[-1] + abs(offset)
    n = input.dim() + 1
    if not _ops.interpreting and input.origin is None and (dim1, dim2) == (-2, -1) and not input.is_meta:
        out = zeros((*input.shape[:-1], size, size), dtype=input.dtype)
        if not lib.fc_copy(_ops.diagonal(out, offset, -2, -1)._h, input._h):
            return out
    a, b = wrap_dim("diag_embed", dim1, n), wrap_dim("diag_embed", dim2, n)
    if a == b:
        raise RuntimeError(f"diag_embed: diagonal dimensions cannot be identical {dim1}, {dim2}. Give two dims.")
    if _ops.interpreting:  # without a write, which an interpreter may not be able to follow
        out = _diagonals(input, size, offset)
    else:
        shape = list(input.shape[:-1])
        for d in sorted((a, b)):
            shape.insert(d, size)
        out = zeros(*shape, dtype=input.dtype, device=input.device)
        _ops.place_into_(_ops.diagonal(out, offset, a, b), input)
        return _alone(out)
    return _alone(movedim(out, (n - 2, n - 1), (a, b)))


def _diagonals(input, size, offset):
    """The last dim of input on a diagonal of zeros, by choice: [i, j] is input's element where j - i is the offset."""
    from facula.tensor_core._create import arange, zeros

    ends = zeros(*input.shape[:-1], abs(offset), dtype=input.dtype)
    columns = _ops.cat([ends, input] if offset > 0 else [input, ends], -1)
    place = arange(size)
    return _ops.where_rows(_ops.unsqueeze(place, 0) - _ops.unsqueeze(place, 1) == offset, _ops.unsqueeze(columns, -2), zeros((), dtype=input.dtype))


def diagflat(input, offset=0):
    """diag of the flat input."""
    return diag_embed(reshape(input, (-1,)), offset)


def meshgrid(*tensors, indexing=None):
    """Coordinate grids from 1-d tensors; 'ij' for matrix order, 'xy' for Cartesian."""
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    if indexing is None:
        import warnings

        warnings.warn('meshgrid: in an upcoming release, it will be required to pass the indexing argument: "ij" is taken.', UserWarning, stacklevel=2)
        indexing = "ij"
    if not len(tensors):
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if len({t.dtype for t in tensors}) > 1:
        raise RuntimeError(f"meshgrid expects all tensors to have the same dtype, got {', '.join(t.dtype.name for t in tensors)}. Convert them with .to().")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {indexing}")
    tensors = [x.reshape(1) if x.dim() == 0 else x for x in tensors]
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors[0], tensors[1] = tensors[1], tensors[0]
    shape = [x.shape[0] for x in tensors]
    grids = [_ops.expand(_ops.view(x, [-1 if k == d else 1 for k in range(len(shape))]), shape) for d, x in enumerate(tensors)]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


__all__ = [
    "diag", "diag_embed", "diagflat", "flip", "fliplr", "flipud", "meshgrid", "repeat_interleave", "roll", "rot90", "tile",
]  # fmt: skip
METHODS = [*__all__, "repeat"]
