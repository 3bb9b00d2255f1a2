"""What stands between the brackets of `x[...]`, and the positions that a mask stands for: nonzero."""

import warnings

from facula.tensor_core import _errors, _ops, _tensor
from facula.tensor_core.memory import data as _data
from facula.tensor_core._errors import IndexRangeError, IntegerOverflow, explain
from facula.tensor_core.dispatch.kinds import want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import a_tensor, into
from facula.tensor_core.dispatch.slow import by_examples
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import int64

_SELECT = _ops.BY_NAME["select"].id
BASIC = frozenset((int, slice, type(None), type(Ellipsis)))  # what makes a view
ZERO_DIM = "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number"
_POSITIONS = ("int64", "int32")
_MASKS = ("bool", "uint8")


def as_index(key):
    """A list, array or tensor used as an index: of positions, or a mask."""
    if not isinstance(key, Tensor):
        if not _is_sequence(key):
            raise IndexError(f"index: only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {type(key).__name__})")
        array = hasattr(key, "dtype")
        key = _data.as_tensor(key, device="cpu")  # whatever the default device is
        if key.dtype.is_complex and not array:
            raise TypeError(f"index: a complex number cannot be interpreted as an integer: {key.tolist()}. Take its real part.")
        if key.dtype._name == "uint64" and not array:
            for k in key.reshape(-1).tolist():
                within_64_bits(k)
        if key.dtype._name not in _MASKS:
            key = key.to(int64)
    if key.dtype._name not in _POSITIONS and key.dtype._name not in _MASKS:
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {key.dtype._name}. Convert with .long().")
    return key


def _is_sequence(key):
    """Is it something with places? NumPy's numbers can be indexed, too, but have no length."""
    return hasattr(key, "__getitem__") and hasattr(key, "__len__") and not isinstance(key, (dict, type))


def _is_scalar_index(key):
    return hasattr(key, "__index__") and not isinstance(key, (Tensor, bool)) and not hasattr(key, "__len__")


def within_64_bits(k):
    if -(2**63) <= k < 2**63:
        return k
    raise IntegerOverflow(f"index: Overflow when unpacking long long: {k} does not fit 64 bits. Indices count elements along one dim.")


def _spread(key):
    """The parts of a key: of a tuple its own; a short list that holds more than numbers counts as a tuple too, as it did in old NumPy."""
    if isinstance(key, tuple):
        return key
    if isinstance(key, (list, str, range)) and len(key) < 32:
        for part in key:
            if part is None or part is Ellipsis or isinstance(part, (Tensor, slice)) or _is_sequence(part):
                warnings.warn(
                    "Using a non-tuple sequence for multidimensional indexing is deprecated: use x[tuple(index)] instead of x[index], "
                    "or x[facula.tensor(index)] for positions along the first dim.",
                    UserWarning,
                    stacklevel=5,
                )
                return tuple(key)
    return (key,)


def plan(x, key):
    """Basic steps first, as views: the view, and the list of index tensors (None elsewhere) for what is left."""
    parts = []
    used = 0
    for k in _spread(key):
        if k is None or k is Ellipsis or isinstance(k, (bool, slice)) or _is_scalar_index(k):
            used += isinstance(k, slice) or not (k is None or k is Ellipsis or isinstance(k, bool))
        else:
            if not isinstance(k, Tensor):
                k = as_index(list(k) if isinstance(k, (tuple, range)) else k)
            mask = k.dtype._name in _MASKS
            used += k.dim() if mask else 1
        parts.append(k)
    key = parts
    n = x.dim()
    if used > n:
        raise IndexError(f"too many indices for tensor of dimension {n}: {used} were given." if n else ZERO_DIM)
    view, dim, indices = x, 0, []

    def place(index):
        nonlocal indices
        indices += [None] * (dim - len(indices)) + [index]

    for at, k in enumerate(key):
        if k is Ellipsis:
            dim += n - used
        elif k is None:
            view = _ops.unsqueeze(view, dim)
            dim += 1
        elif isinstance(k, bool) or (isinstance(k, Tensor) and k.dim() == 0 and k.dtype._name in _MASKS):
            view = _ops.unsqueeze(view, dim)
            place(own_tensor(lib.fc_empty(int64._id, 0, 1, [1 if k else 0])).zero_())
            dim += 1
        elif _is_scalar_index(k) or (type(k) is Tensor and k.dim() == 0 and k.dtype._kind == 1 and k._origin is None and not k.is_meta):
            view = _selected(x, view, dim, k.__index__(), at)
        elif isinstance(k, slice):
            view = sliced(view, dim, k)
            dim += 1
        else:
            t = as_index(k)
            if t.dtype._name in _MASKS:
                if t.dtype._name == "uint8":
                    warnings.warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead: mask.bool().", UserWarning, stacklevel=4)
                for d in range(t.dim()):
                    if t.shape[d] != view.shape[dim + d]:
                        raise IndexError(
                            f"The shape of the mask {list(t.shape)} at index {d} does not match the shape of the indexed tensor {list(view.shape)} at index {dim + d}"
                        )
                for column in nonzero(t, as_tuple=True):
                    place(column)
                    dim += 1
            else:
                place(t)
                dim += 1
    return view, indices


def _selected(x, view, dim, k, at):
    """view[..., k] along dim; k out of range is told by its place among the indices of x."""
    try:
        return _ops.select(view, dim, within_64_bits(k))
    except IndexRangeError:
        raise IndexRangeError(f"index {k} is out of bounds for dimension {at} with size {view.shape[dim]} (input: {_errors.describe(x)}).") from None


def basic(x, key):
    """The view that ints, slices, None and an Ellipsis make; None where something else is among them, or they do not fit."""
    used = 0
    for k in key:
        kind = type(k)
        if kind not in BASIC:
            return None
        used += kind is int or kind is slice
    n = len(x.shape)
    if used > n:
        return None
    view, dim = x, 0
    for at, k in enumerate(key):
        kind = type(k)
        if kind is int:
            view = _selected(x, view, dim, k, at)
        elif kind is slice:
            if k.start is not None or k.stop is not None or k.step is not None:
                view = sliced(view, dim, k)
            dim += 1
        elif k is None:
            view = _ops.unsqueeze(view, dim)
            dim += 1
        else:
            dim += n - used
    return view


def sliced(x, dim, key):
    """x[key] along dim. Python clips slices; an empty one keeps its place."""
    size = x.shape[dim]
    start, stop, step = key.indices(size)
    length = (stop - start if step == 1 else len(range(start, stop, step))) if start < stop or step < 0 else 0
    return _ops.slice(x, dim, start if length > 0 else min(max(start, 0), size), max(length, 0), step)


def positions(x, key, kind):
    """The index tensors, None for a whole dim, of a key that has nothing but int64 tensors with dims and `:`; else None."""
    if kind is Tensor:
        return [key] if key.dtype is int64 and key.shape and x.shape else None
    if kind is not tuple or len(key) > len(x.shape):
        return None
    places = []
    for k in key:
        if type(k) is Tensor and k.dtype is int64 and k.shape:
            places.append(k)
        elif type(k) is slice and k.start is None and k.stop is None and k.step is None:
            places.append(None)
        else:
            return None
    while places and places[-1] is None:
        places.pop()
    return places or None


def mask_of(indices):
    """Which of the leading dims are indexed, as bits."""
    return sum(1 << d for d, i in enumerate(indices) if i is not None)


def one_mask(key):
    """Is the index a single mask? Then a value of one element fills, and is converted."""
    parts = [k for k in _spread(key) if isinstance(k, Tensor) or _is_sequence(k)]
    return len(parts) == 1 and as_index(parts[0]).dtype._name == "bool"


def nonzero(input, *, out=None, as_tuple=False):
    """Indices of the nonzero elements, one row each; as_tuple gives one tensor per dim.

    >>> import facula
    >>> facula.tensor([0, 3, 0, 4]).nonzero()
    tensor([[1],
            [3]])
    """
    if type(input) is not Tensor:
        want_tensor("nonzero", "input", 0, input)
    if _tensor.leaving is not None:
        _tensor.leaving(input, "nonzero")
    if as_tuple and out is not None:
        a_tensor("nonzero", out)
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    if input.is_meta:
        raise NotImplementedError(f"nonzero: a meta tensor has no elements, so how many are not zero is not known (input: {tuple(input.shape)}).")
    h = lib.fc_nonzero(input._h)
    if not h:
        h = lib.fc_nonzero(input.detach()._h)  # whose history is never stale
    if not h:
        raise explain(_ops.OPS[0], (input,))
    t = own_tensor(h)
    if out is not None:
        return into("nonzero", t, out, (input,), strides=True)
    if as_tuple:
        if input.dim() == 0:
            return (t.sum(1).new_zeros(t.shape[0]),)
        return lib.pieces(_SELECT, t, 1, None, 0) or tuple(_ops.select(t, 1, k) for k in range(t.shape[1]))
    return t


def argwhere(input):
    """nonzero(input).

    >>> x = facula.tensor([[1, 0], [0, 1]])
    >>> facula.argwhere(x)
    tensor([[0, 0],
            [1, 1]])
    >>> x.argwhere()
    tensor([[0, 0],
            [1, 1]])
    """
    if type(input) is not Tensor:
        want_tensor("argwhere", "input", 0, input)
    if _ops.interpreting and (each := by_examples(argwhere, input)) is not None:
        return each
    return nonzero(input)


__all__ = METHODS = ["argwhere", "nonzero"]
