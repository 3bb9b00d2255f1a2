"""Rearranging: repeating, flipping, rolling, diagonals, grids."""

from facula.tensor_core import _ops, _warned
from facula.tensor_core.dispatch.kinds import check, read_ints, want_ints, want_tensor
from facula.tensor_core.dispatch.arguments import LACKING, listed, sequence, whole
from facula.tensor_core.dispatch.foreign import ask_method, overriding
from facula.tensor_core.dispatch.slow import one_node, one_step, one_step_of, stepping
from facula.tensor_core.functions.conjugate import turned
from facula.tensor_core.functions.create import empty, full, ones_like
from facula.tensor_core.functions.ranges import arange
from facula.tensor_core.memory.data import tensor
from facula.tensor_core._lib import lib
from facula.tensor_core._errors import DeviceError, DTypeError, ShapeError
from facula.tensor_core.functions.joining import _channels_last
from facula.tensor_core.dispatch.out import into
from facula.tensor_core.functions.shape import _alone, reshape, wrap_dim
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import bool_, int64


@one_step(view="RepeatBackward0")
def repeat(self, *counts, repeats=None):
    """The tensor copied repeats[d] times along each dim d; more repeats than dims add leading dims.

    >>> facula.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    repeats = listed("repeat", "repeats", counts, repeats)
    if relevant := overriding(repeats):
        return ask_method("repeat", relevant, self, *repeats)
    n = self.dim()
    for r in repeats:
        if type(r) is not int or r >= 2**63:
            want_ints("repeat", "repeats", 0, repeats)
    if repeats and min(repeats) < 0:
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


def tile(input, dims):
    """repeat, with missing leading counts taken as 1.

    >>> facula.tile(facula.tensor([1, 2]), (2, 2))
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    dims = tuple(sequence("tile", "dims", dims))
    for d in dims:
        if type(d) is not int:
            want_ints("tile", "dims", 0, dims)
    return repeat(input, (1,) * (input.dim() - len(dims)) + dims)


def tiled(self, *counts, dims=None):
    """tile, with counts one by one too: the method.

    >>> facula.tensor([1, 2]).tile(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    return tile(self, listed("tile", "dims", counts, dims))


def repeat_interleave(input, repeats=LACKING, dim=None, *, output_size=None):
    """Every element (or slice along dim) repeated in place: a count for all, or one for each.

    >>> x = facula.tensor([1, 2])
    >>> facula.repeat_interleave(x, 2)
    tensor([1, 1, 2, 2])
    >>> facula.repeat_interleave(x, facula.tensor([1, 3]))
    tensor([1, 2, 2, 2])
    >>> x.repeat_interleave(facula.tensor([1, 3]))
    tensor([1, 2, 2, 2])
    """
    if repeats is LACKING:
        if dim is not None:
            raise TypeError(f"repeat_interleave() received an invalid combination of arguments: dim={dim!r} without repeats. Give a count for each place.")
        if input.dtype._name not in ("int64", "int32"):
            raise NotImplementedError(f'repeat_interleave: "repeat_interleave_cpu" not implemented for {input.dtype._scalar_type!r}. Convert it with .long().')
        if input.dim() != 1:
            raise RuntimeError(f"repeat_interleave: only accept 1D vector as repeat, got {input.dim()} dims. Flatten it, or give repeats.")
        return repeat_interleave(arange(input.numel(), dtype=input.dtype), input, output_size=output_size)
    if type(repeats) is not int and not isinstance(repeats, Tensor):
        check("repeat_interleave", "repeats", 1, "size", repeats)
    if isinstance(repeats, Tensor) and repeats.dim() > 1:
        raise RuntimeError(f"repeat_interleave: repeats must be 0-dim or 1-dim tensor, but it has {repeats.dim()} dims. Flatten it.")
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    shape = input.shape
    d = wrap_dim("repeat_interleave", dim, len(shape))
    if not shape:
        raise IndexError(f"repeat_interleave: Dimension specified as {dim} but tensor has no dimensions. Leave dim out.")
    size = shape[d]
    if whole(repeats) and not isinstance(repeats, Tensor) and repeats > 0 and output_size in (None, size * repeats):
        wide, total = list(shape), list(shape)
        wide.insert(d + 1, repeats)
        total[d] *= repeats
        return _alone(_ops.view(_ops.copy(_ops.expand(_ops.unsqueeze(input, d + 1), wide), None, 0), total))
    if isinstance(repeats, Tensor):
        if repeats.dtype._name not in ("int64", "int32"):
            raise DTypeError(f"repeat_interleave: repeats has to be Long or Int tensor, not implemented for {repeats.dtype._name}. Convert it with .long().")
        if repeats.is_meta and output_size is not None:
            if repeats.numel() not in (1, size):
                raise RuntimeError(f"repeat_interleave: repeats must have the same size as input along dim, but got {repeats.numel()} and {size}")
            return _ops.index_select(input, dim, empty((output_size,), dtype=int64, device="meta"))
        if bits := lib.fc_lazy(input._h):  # stay where they are
            return turned(repeat_interleave(turned(input, bits), repeats, dim, output_size=output_size), bits)
        counts = repeats.tolist()
        counts = counts * size if repeats.numel() == 1 and isinstance(counts, list) else [counts] * size if not isinstance(counts, list) else counts
    else:
        counts = [repeats] * size
    if len(counts) != size:
        raise RuntimeError(f"repeat_interleave: repeats must have the same size as input along dim, but got {len(counts)} and {size}")
    if any(c < 0 for c in (counts if isinstance(repeats, Tensor) else [repeats])):
        raise RuntimeError(f"repeat_interleave: repeats can not be negative, got {repeats}. Give counts of 0 or more.")
    if output_size is not None and output_size != sum(counts) and (counts or not isinstance(repeats, Tensor)):  # of nothing nobody counts
        raise RuntimeError(f"repeat_interleave: allocated size does not match required size: output_size={output_size}, the repeats sum to {sum(counts)}.")
    index = tensor([k for k, c in enumerate(counts) for _ in range(c)], dtype=int64, device=input.device)
    return _ops.index_select(input, dim, index)


def flip(input, dims):
    """The order along the dims turned round: a copy.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.flip(x, (0, 1))
    tensor([[4, 3],
            [2, 1]])
    """
    if type(input) is not Tensor:
        want_tensor("flip", "input", 0, input)
    return _ops.flip(input, sequence("flip", "dims", dims))


def flipped(self, *which, dims=None):
    """flip, with dims one by one too: the method.

    >>> facula.tensor([[1, 2], [3, 4]]).flip(0, 1)
    tensor([[4, 3],
            [2, 1]])
    """
    return _ops.flip(self, listed("flip", "dims", which, dims))


def fliplr(input):
    """flip along dim 1.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.fliplr(x)
    tensor([[2, 1],
            [4, 3]])
    >>> x.fliplr()
    tensor([[2, 1],
            [4, 3]])
    """
    if type(input) is not Tensor:
        want_tensor("fliplr", "input", 0, input)
    if input.dim() < 2:
        raise RuntimeError("fliplr: Input must be >= 2-d.")
    return _ops.flip(input, (1,))


def flipud(input):
    """flip along dim 0.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.flipud(x)
    tensor([[3, 4],
            [1, 2]])
    >>> x.flipud()
    tensor([[3, 4],
            [1, 2]])
    """
    if type(input) is not Tensor:
        want_tensor("flipud", "input", 0, input)
    if input.dim() < 1:
        raise RuntimeError("flipud: Input must be >= 1-d.")
    return _ops.flip(input, (0,))


@one_step(view="RollBackward0")
def roll(input, shifts, dims=None):
    """Elements moved along dims, those that leave come back at the other end; without dims, over the flat tensor.

    >>> x = facula.arange(5)
    >>> facula.roll(x, 2)
    tensor([3, 4, 0, 1, 2])
    >>> x.roll(2)
    tensor([3, 4, 0, 1, 2])
    """
    shifts, dims = read_ints("roll", "shifts", 1, shifts), None if dims is None else read_ints("roll", "dims", 2, dims)
    if not shifts:
        raise RuntimeError("roll: `shifts` required. Give one for each dim.")
    if dims is None or not dims and len(shifts) == 1:
        if len(shifts) != 1:
            raise RuntimeError(f"roll: shifts and dimensions must align. shifts: {len(shifts)}, dims:0")
        return _alone(_ops.view(_ops._roll(reshape(input, (-1,)), shifts[0], 0), input.shape))
    if len(dims) != len(shifts):
        raise RuntimeError(f"roll: shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not input.numel():  # nothing to move, and PyTorch does not look at the dims
        return input.clone()
    if _channels_last(input):  # the result lies as it does
        n = input.dim()
        turned = roll(_ops.permute(input, (0, *range(2, n), 1)), shifts, tuple([(0, n - 1, *range(1, n - 1))[wrap_dim("roll", d, n)] for d in dims]))
        return one_node(_alone(_ops.permute(turned, (0, n - 1, *range(1, n - 1)))), "RollBackward0", input)
    x = input
    for shift, d in zip(shifts, dims):
        x = _ops._roll(x, shift, d)
    return x if x is not input else input.clone()


@one_step(transpose="Rot90Backward0", copy="Rot90Backward0")
def rot90(input, k=1, dims=(0, 1)):
    """The plane of two dims turned by k quarter turns, from the first towards the second: a copy.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.rot90(x)
    tensor([[2, 4],
            [1, 3]])
    >>> x.rot90()
    tensor([[2, 4],
            [1, 3]])
    """
    dims = read_ints("rot90", "dims", 2, dims)
    if len(dims) != 2:
        raise RuntimeError(f"rot90: expected total rotation dims == 2, but got dims = {len(dims)}")
    n = input.dim()
    if n < 2:
        raise RuntimeError(f"rot90: expected total dims >= 2, but got total dims = {n}")
    a, b = (wrap_dim("rot90", d, n) for d in dims)
    if a == b:
        raise RuntimeError(f"rot90: expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    k = k % 4  # it may be a tensor
    if stepping(input):
        return one_step_of(rot90(input.detach(), k, (a, b)), "Rot90Backward0", (input,), (lambda g: rot90(g, -k, (a, b)),))
    if k == 1:
        return _alone(_ops.transpose(_ops.flip(input, (b,)), a, b))
    if k == 2:
        return one_node(_ops.flip(input, (a, b)), "Rot90Backward0", input)
    if k == 3:
        return _alone(_ops.transpose(_ops.flip(input, (a,)), a, b))
    return _ops.copy(input, None, 0)


@one_step(copy="DiagonalBackward0_copy")
def diag(input, diagonal=0, *, out=None):
    """The diagonal of a matrix, or the matrix with this diagonal.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.diag(x)
    tensor([1, 4])
    >>> facula.diag(facula.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    >>> x.diag(1)
    tensor([2])
    """
    n = len(input.shape)
    if n == 1:
        return into("diag", _ops.diag_embed(input, diagonal), out, (input,))
    if n != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {n}D")
    copy = _ops.copy(_ops.diagonal(input, diagonal), None, 0)
    return copy if out is None else into("diag", copy, out)


def constant_pad_nd(input, pad, value=0):
    """input within a border of value; pad: how much before and after, from the last dim backwards, cut off where negative.

    >>> import facula
    >>> facula.constant_pad_nd(facula.ones(2), (1, 0), 5)
    tensor([5., 1., 1.])
    """
    n = len(input.shape)
    if not pad and not isinstance(pad, (tuple, list)):
        want_ints("constant_pad_nd", "pad", 1, pad)
    if max(pad, default=0) <= 0 and not len(pad) % 2 and len(pad) <= 2 * n:  # a part, which keeps its strides
        for k in range(0, len(pad), 2):
            d = n - 1 - k // 2
            left = input.shape[d] + pad[k] + pad[k + 1]
            if left < 0:
                raise RuntimeError(f"constant_pad_nd: The input size {input.shape[d]}, plus negative padding {pad[k]} and {pad[k + 1]}, resulted in a negative output size at dim {d}. Cut less.")
            input = _ops.slice(input, d, -pad[k], left, 1)
        return _ops.copy(input, None, 1)
    if n in (4, 5) and _channels_last(input):  # the result lies as input does
        order = (0, *range(2, n), 1)
        pairs = ([(pad[k], pad[k + 1]) for k in range(0, len(pad), 2)] + [(0, 0)] * n)[:n][::-1]
        widths = [w for d in order[::-1] for w in pairs[d]]
        return one_node(_alone(_ops.permute(constant_pad_nd(_ops.permute(input, order), widths, value), (0, n - 1, *range(1, n - 1)))), "ConstantPadNdBackward0", input)
    if value and (isinstance(value, complex) or input.dtype._kind != 2 or not -1e4 < value < 1e4):
        value = full((), value, dtype=input.dtype).item()  # refused where the dtype cannot hold it
        if isinstance(value, complex) or isinstance(value, int) and not -(2**53) <= value <= 2**53:
            if stepping(input):
                return one_step_of(constant_pad_nd(input.detach(), pad, value), "ConstantPadNdBackward0", (input,), (lambda g: constant_pad_nd(g, [-w for w in pad]),))
            inside = _ops.constant_pad_nd(ones_like(input, dtype=bool_), pad)
            return one_node(_ops.where_rows(inside, _ops.constant_pad_nd(input, pad), full((), value, dtype=input.dtype)), "ConstantPadNdBackward0", input)
    return _ops.constant_pad_nd(input, pad, value)


def diagflat(input, offset=0):
    """diag of the flat input.

    >>> x = facula.tensor([1, 2])
    >>> facula.diagflat(x)
    tensor([[1, 0],
            [0, 2]])
    >>> x.diagflat()
    tensor([[1, 0],
            [0, 2]])
    """
    return _ops.diag_embed(reshape(input, (-1,)), offset)


def meshgrid(*tensors, indexing=None):
    """Coordinate grids from 1-d tensors; 'ij' for matrix order, 'xy' for Cartesian.

    >>> facula.meshgrid(facula.tensor([1, 2]), facula.tensor([3, 4]), indexing="ij")
    (tensor([[1, 1],
            [2, 2]]), tensor([[3, 4],
            [3, 4]]))
    """
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    if indexing is None:
        _warned.once('meshgrid: in an upcoming release, it will be required to pass the indexing argument: "ij" is taken.')
        indexing = "ij"
    if not len(tensors):
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"meshgrid(): expected Tensor as element {k} in argument 0, but got {type(t).__name__}. Convert it with facula.tensor.")
    if type(indexing) is not str:
        check("meshgrid", "indexing", None, "str", indexing)
    if len({t.dtype for t in tensors}) > 1:
        raise RuntimeError(f"meshgrid expects all tensors to have the same dtype, got {', '.join(t.dtype._name for t in tensors)}. Convert them with .to().")
    if len({t.device for t in tensors}) > 1:
        raise DeviceError(f"meshgrid expects all tensors to have the same device, got {', '.join(str(t.device) for t in tensors)}. Move them with .to().")
    for t in tensors:
        if t.dim() > 1:
            raise ShapeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {list(t.shape)}. Flatten it.")
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
    "constant_pad_nd", "diag", "diagflat", "flip", "fliplr", "flipud", "meshgrid", "repeat_interleave", "roll", "rot90", "tile",
]  # fmt: skip
METHODS = [*__all__, "repeat"]
