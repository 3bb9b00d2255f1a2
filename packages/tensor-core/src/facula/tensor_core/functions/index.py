"""Indexing: `x[...]` and `x[...] = y` with ints, slices (negative steps are not PyTorch's, and work here), None, Ellipsis, masks, index tensors."""

import builtins
import warnings

from facula.tensor_core import _errors, _ops, _tensor
from facula.tensor_core.functions import fills as _fills, shape as _shape
from facula.tensor_core.memory import data as _data
from facula.tensor_core.dispatch import slow as _dispatch, run as _run
from facula.tensor_core._errors import IndexRangeError, IntegerOverflow, ShapeError, explain
from facula.tensor_core.dispatch.guard import check, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import a_tensor, into
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import int64

_view_op, _basic_index, _index_put = lib.view_op, lib.basic_index, lib.fc_index_put
_MASKED, _VIEW = (next(op.id for op in _ops.OPS if op.name == name) for name in ("masked_scatter", "view"))
_SELECT, _SLICE, _INDEX = (next(op.id for op in _ops.OPS if op.name == name) for name in ("select", "slice", "index"))
_BASIC = frozenset((int, slice, type(None), type(Ellipsis)))
_ZERO_DIM = "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number"


_POSITIONS = ("int64", "int32")
_MASKS = ("bool", "uint8")


def _as_index(key):
    """A list, array or tensor used as an index: of positions, or a mask."""
    if not isinstance(key, Tensor):
        if not hasattr(key, "__getitem__") or isinstance(key, (dict, type)):
            raise IndexError(f"index: only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {type(key).__name__})")
        key = _data.as_tensor(key)
        if key.dtype.name not in _MASKS:
            key = key.to(int64)
    if key.dtype.name not in _POSITIONS and key.dtype.name not in _MASKS:
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {key.dtype.name}. Convert with .long().")
    return key


def _is_scalar_index(key):
    return hasattr(key, "__index__") and not isinstance(key, (Tensor, bool)) and not hasattr(key, "__len__")


def _within_64_bits(k):
    if -(2**63) <= k < 2**63:
        return k
    raise IntegerOverflow(f"index: Overflow when unpacking long long: {k} does not fit 64 bits. Indices count elements along one dim.")


def _spread(key):
    """The parts of a key: of a tuple its own; a short list that holds more than numbers counts as a tuple too, as it did in old NumPy."""
    if isinstance(key, tuple):
        return key
    if isinstance(key, (list, str, range)) and len(key) < 32:
        for part in key:
            if part is None or part is Ellipsis or isinstance(part, (Tensor, slice, list, tuple, str, range)):
                warnings.warn(
                    "Using a non-tuple sequence for multidimensional indexing is deprecated: use x[tuple(index)] instead of x[index], "
                    "or x[facula.tensor(index)] for positions along the first dim.",
                    UserWarning,
                    stacklevel=5,
                )
                return tuple(key)
    return (key,)


def _plan(x, key):
    """Basic steps first, as views: the view, and the list of index tensors (None elsewhere) for what is left."""
    parts = []
    used = 0
    for k in _spread(key):
        if k is None or k is Ellipsis or isinstance(k, (bool, slice)) or _is_scalar_index(k):
            used += isinstance(k, slice) or not (k is None or k is Ellipsis or isinstance(k, bool))
        else:
            if not isinstance(k, Tensor):
                k = _as_index(list(k) if isinstance(k, (tuple, range)) else k)
            mask = k.dtype.name in _MASKS
            used += k.dim() if mask else 1
        parts.append(k)
    key = parts
    n = x.dim()
    if used > n:
        raise IndexError(f"too many indices for tensor of dimension {n}: {used} were given." if n else _ZERO_DIM)
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
        elif isinstance(k, bool) or (isinstance(k, Tensor) and k.dim() == 0 and k.dtype.name in _MASKS):
            view = _ops.unsqueeze(view, dim)
            place(own_tensor(lib.fc_empty(int64.id, 0, 1, [1 if k else 0])).zero_())
            dim += 1
        elif _is_scalar_index(k) or (type(k) is Tensor and k.dim() == 0 and k.dtype.kind == 1 and k.origin is None and not k.is_meta):
            view = _selected(x, view, dim, k.__index__(), at)
        elif isinstance(k, slice):
            view = _sliced(view, dim, k)
            dim += 1
        else:
            t = _as_index(k)
            if t.dtype.name in _MASKS:
                if t.dtype.name == "uint8":
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
        return _ops.select(view, dim, _within_64_bits(k))
    except IndexRangeError:
        raise IndexRangeError(f"index {k} is out of bounds for dimension {at} with size {view.shape[dim]} (input: {_errors.describe(x)}).") from None


def _basic(x, key):
    """The view that ints, slices, None and an Ellipsis make; None where something else is among them, or they do not fit."""
    used = 0
    for k in key:
        kind = type(k)
        if kind not in _BASIC:
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
                view = _sliced(view, dim, k)
            dim += 1
        elif k is None:
            view = _ops.unsqueeze(view, dim)
            dim += 1
        else:
            dim += n - used
    return view


def _sliced(x, dim, key):
    """x[key] along dim. Python clips slices; an empty one keeps its place."""
    size = x.shape[dim]
    start, stop, step = key.indices(size)
    length = (stop - start if step == 1 else len(range(start, stop, step))) if start < stop or step < 0 else 0
    return _ops.slice(x, dim, start if length > 0 else min(max(start, 0), size), max(length, 0), step)


def getitem(x, key):
    """x[key]: a view for basic indices, a copy for masks and index tensors."""
    kind = type(key)
    if kind is int and not _ops.interpreting:
        try:
            t = _view_op(_SELECT, x._h, 0, key, 0, 0)  # the common case, flat
        except OverflowError:
            _within_64_bits(key)
        if t is not None:
            t.base = x if x.base is None else x.base
            if x.origin is not None:
                _dispatch.record[_SELECT](t, x, 0, key)
            return t
        if not x.shape:
            raise IndexError(_ZERO_DIM)
        return _ops.select(x, 0, key)
    if (kind is tuple or kind is slice) and not _ops.interpreting and x.origin is None:
        t = _basic_index(x, key)
        if t is not None:
            t.base = x if x.base is None else x.base
            return t
    if kind is Tensor and not _ops.interpreting and x.origin is None and key.shape and key.dtype.kind == 0:
        if key.shape == x.shape:
            t = lib.masked_select(x._h, key._h)
        elif len(key.shape) == 1 and key.shape[0] == x.shape[0] and not key.is_meta:  # whole slices
            rows = lib.fc_view_list(_VIEW, lib.fc_nonzero(key._h), 1, (-1,))
            t = None if rows is None else lib.index(x._h, 1, [rows])
        else:
            t = None
        if t is not None:
            return t
    if kind is Tensor and x.origin is not None and key.dtype.kind == 0 and key.shape and key.shape == x.shape and not _ops.interpreting and _tensor.leaving is None and not key.is_meta:
        return index(x, list(nonzero(key, as_tuple=True)))
    if key is None:
        return _ops.unsqueeze(x, 0)
    if key is Ellipsis:
        return _ops.alias(x)
    places = _positions(x, key, kind)
    if places is not None:
        return index(x, places)
    view = _sliced(x, 0, key) if kind is slice and x.shape else _basic(x, key) if kind is tuple else None
    if view is None:
        view, indices = _plan(x, key)
        if indices:
            return index(view, indices)
    return _ops.alias(view) if view is x else view


def _positions(x, key, kind):
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


def index(input, indices):
    """input read through index tensors (None keeps a dim), recorded as one op."""
    if not _ops.interpreting:
        try:
            t = lib.index(input._h, len(indices), indices)
        except (AttributeError, TypeError):  # sparse
            t = None
        if t is not None:
            if input.origin is not None:
                _dispatch.record[_INDEX](t, input, [i for i in indices if i is not None], mask_of(indices))
            return t
    return _ops.index(input, [i for i in indices if i is not None], mask_of(indices))


def mask_of(indices):
    """Which of the leading dims are indexed, as bits."""
    return sum(1 << d for d, i in enumerate(indices) if i is not None)


def _scattered(x, mask, values):
    """x[mask] = values, one for each true element: whether that is what it was, and is done."""
    if len(values.shape) != 1 or not x.shape or lib.fc_same_storage(x._h, values._h) or lib.fc_nonzero_count(mask._h) != values.shape[0]:
        return False
    return lib.fc_own(_MASKED, x._h, x._h, mask._h, values._h, None, 0, 0, 0, 0, 0, 0, 0.0) is not None


def setitem(x, key, value):
    """x[key] = value, broadcast and converted; recorded when x or value has a history."""
    tensor = type(value) is Tensor or isinstance(value, Tensor)
    if not tensor:
        if type(key) is Tensor and _fills.filled_where(x, key, value):
            return
        value = _number_for(x, value)
        if type(key) is Tensor and not _ops.interpreting and type(value) in (float, int) and -65504 <= value <= 65504 and key.dtype.kind == 0 and key.shape == x.shape:
            x.masked_fill_(key, value)
            return
    kind = type(key)
    plain = not _ops.interpreting and x.origin is None and x.base is None and (not tensor or type(value) is Tensor and value.origin is None and value.dtype is x.dtype)
    if plain and kind is Tensor and type(value) is Tensor and key.dtype.kind == 0 and key.shape == x.shape and _scattered(x, key, value):
        return
    view = getitem(x, key) if kind in _BASIC or kind is tuple and all([type(k) in _BASIC for k in key]) else None
    indices = None
    if view is None:
        indices = _positions(x, key, kind)
        view, indices = (x, indices) if indices else _plan(x, key)
        if plain and indices and _index_put(view._h, len(indices), [None if i is None else i._h for i in indices], (value if type(value) is Tensor else _run.zero_dim(value, x.dtype))._h, False) == 0:
            return
    if not indices:
        if isinstance(value, Tensor):
            value = value if value.dim() <= view.dim() else _squeeze_leading(view.shape, value)
            if value.shape != view.shape and not value.is_sparse and lib.fc_same_storage(view._h, value._h):
                value = value.clone()  # x[1] = x[1][0]: read before it is written
            copy_(view, value)
        elif view.is_contiguous() or view.is_meta:
            _ops.fill_number_(view, value)
        else:  # which refuses memory that two elements share
            _ops.copy_into_(view, _run.zero_dim(value, x.dtype))
        return
    if tensor and value.dtype is not x.dtype and not (value.numel() == 1 and _one_mask(x, key, indices)):
        want = _ops.index(view, [i for i in indices if i is not None], mask_of(indices)).shape
        if not _fits(value.shape, want):
            raise ShapeError(f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of shape {list(want)}")
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {x.dtype.scalar_type} for the destination and {value.dtype.scalar_type} for the source. Convert the source with .to()."
        )
    if not tensor and isinstance(key, Tensor) and key.dtype.name == "uint8" and key.dim():
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char. Convert it with .bool().")
    value = value.to(x.dtype) if tensor else _run.zero_dim(value, x.dtype)
    lead = [len(i.shape) for i in indices if i is not None]
    if value.dim() > 1 and value.shape[0] == 1:
        value = _squeeze_leading(range(view.dim() - len(lead) + builtins.max(lead)), value)
    if 0 in [i.numel() for i in indices if i is not None] and value.numel() != 1:
        try:
            return _put(view, indices, value)
        except ShapeError:  # nothing is written: as in PyTorch, any value will do for x[False]
            if isinstance(key, bool) or isinstance(key, Tensor) and not key.dim():
                return
            raise
    if tensor and value.numel() == 1 and lib.fc_same_storage(view._h, value._h) and _one_mask(x, key, indices):
        value = value.clone()  # it fills, and is read first
    _put(view, indices, value)


def _fits(shape, want):
    """Does a value of this shape broadcast to the other? Leading dims of size 1 do not count."""
    extra = len(shape) - len(want)
    return all(s == 1 for s in shape[:max(extra, 0)]) and all(s in (1, w) for s, w in zip(shape[::-1], want[::-1]))


def _one_mask(x, key, indices):
    """Is the index a single mask? Then a value of one element fills, and is converted."""
    parts = [k for k in _spread(key) if isinstance(k, (Tensor, list))]
    return len(parts) == 1 and _as_index(parts[0]).dtype.name == "bool"


def _number_for(x, value):
    """A number that may be assigned to an element of x. Raises TypeError for anything else, as PyTorch does."""
    if not _run.is_number(value):
        raise TypeError(f"can't assign a {type(value).__name__} to a torch tensor of {x.dtype.name}. Convert it with facula.tensor.")
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise IntegerOverflow(f"fill: Overflow when unpacking long long: {value} does not fit 64 bits.")
    return value if x.dtype.itemsize == 2 and x.dtype.kind == 2 and type(value) is not complex else _run.fitting("fill", value, x.dtype)


def _squeeze_leading(shape, value):
    """PyTorch drops leading dims of size 1 of an assigned value."""
    while value.dim() > len(shape) and value.shape[0] == 1:
        value = _ops.select(value, 0, 0)
    return value


def copy_(self, other, non_blocking=False):
    """self[...] = other, broadcast and converted. In place.

    >>> facula.zeros(2, 2).copy_(facula.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    if not isinstance(other, Tensor):
        if isinstance(other, (list, tuple)):
            want_tensor("copy_", "other", 0, other)
        other = _data.as_tensor(other)
    try:
        return _ops.copy_into_(self, other)
    except RuntimeError:
        if self.is_meta is other.is_meta:
            raise
    if other.is_meta:
        raise NotImplementedError("copy_: Cannot copy out of meta tensor; no data! Give a tensor that has some.")
    return _ops.copy_into_(self, other.to("meta"))  # shapes and dtypes are checked, nothing moves


def fill_(input, value):
    """Every element set to one value. In place.

    >>> facula.zeros(2).fill_(7)
    tensor([7., 7.])
    """
    if isinstance(value, Tensor):
        if value.dim():
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.dim()} dimensions.")
        return copy_(input, value.clone() if lib.fc_same_storage(input._h, value._h) else value)
    if type(input) is not Tensor:
        want_tensor("fill_", "input", 0, input)
    return _ops.fill_number_(input, _run.fitting("fill_", value, input.dtype))


def zero_(input):
    """Every element set to 0. In place.

    >>> facula.ones(2).zero_()
    tensor([0., 0.])
    """
    return _ops.fill_number_(input, 0)


def index_put_(input, indices, values, accumulate=False):
    """input written (or added to) through index tensors. In place; of equal indices the last one wins.

    >>> facula.zeros(3).index_put_((facula.tensor([0, 0, 2]),), facula.tensor(1.0), accumulate=True)
    tensor([2., 0., 1.])
    """
    if type(input) is not Tensor:
        want_tensor("index_put_", "input", 0, input)
    if not isinstance(values, Tensor):
        want_tensor("index_put_", "values", 2, values)
    if isinstance(indices, Tensor):
        raise TypeError("index_put_(): argument 'indices' (position 1) must be tuple of Tensors, not Tensor. Write (index,).")
    for k, i in enumerate(indices):
        if not isinstance(i, Tensor):
            raise TypeError(f"index_put_(): expected Tensor as element {k} in argument 'indices', but got {type(i).__name__}. For whole dims write x[:, index] = values.")
    if accumulate is not False and accumulate is not True:
        check("index_put_", "accumulate", 3, "bool", accumulate)
    return _put(input, indices, values, accumulate)


def _put(input, indices, values, accumulate=False):
    """index_put_; None among the indices is a whole dim."""
    key = tuple([slice(None) if i is None else i for i in indices])
    places = _positions(input, key, tuple)
    if places is None:
        _, places = _plan(input, key)  # masks become positions
    if not _ops.interpreting and input.origin is None and input.base is None and values.origin is None and values.dtype is input.dtype:
        try:
            if not lib.fc_index_put(input._h, len(places), [None if i is None else i._h for i in places], values._h, accumulate):
                return input
        except AttributeError:  # sparse
            pass
    return _ops.index_put_rows_(input, [i for i in places if i is not None], values, mask_of(places), accumulate)


def index_put(input, indices, values, accumulate=False):
    """A copy of input with index_put_ applied.

    >>> x = facula.zeros(3)
    >>> facula.index_put(x, (facula.tensor([0, 2]),), facula.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    >>> x.index_put((facula.tensor([0, 2]),), facula.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    if type(input) is not Tensor:
        want_tensor("index_put", "input", 0, input)
    return index_put_(input.clone(), indices, values, accumulate)


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
    return nonzero(input)


def masked_select(input, mask, *, out=None):
    """The elements of input where mask, in one dim; both broadcast.

    >>> x = facula.tensor([1, 2, 3])
    >>> facula.masked_select(x, x != 2)
    tensor([1, 3])
    >>> x.masked_select(x != 2)
    tensor([1, 3])
    """
    if type(input) is not Tensor:
        want_tensor("masked_select", "input", 0, input)
    if type(mask) is not Tensor:
        want_tensor("masked_select", "mask", 1, mask)
    if mask.dtype.name != "bool":
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype.name}. Convert with .bool().")
    x, m = (input, mask) if input.shape == mask.shape else _shape.broadcast_tensors(input, mask)
    if not _ops.interpreting and input.origin is None and (t := lib.masked_select(x._h, m._h)) is not None:
        return t if out is None else into("masked_select", t, out, (input, mask))
    return into("masked_select", getitem(x, m), out, (input, mask))


def take(input, index, *, out=None):
    """Elements of the flat input at index.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.take(x, facula.tensor([0, 3]))
    tensor([1, 4])
    >>> x.take(facula.tensor([0, 3]))
    tensor([1, 4])
    """
    if type(input) is not Tensor:
        want_tensor("take", "input", 0, input)
    if type(index) is not Tensor:
        want_tensor("take", "index", 1, index)
    if index.dtype is not int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype.name}. Convert with .long().")
    if not input.numel() and index.numel():
        raise IndexError("take(): tried to take from an empty tensor")
    taken = index_of(input if len(input.shape) == 1 else input.reshape(-1), index)
    return taken if out is None else into("take", taken, out, (input, index))


def index_of(flat, positions):
    return index(flat, [positions])


__all__ = ["argwhere", "index_put", "masked_select", "nonzero", "take"]
METHODS = [*__all__, "copy_", "fill_", "index_put_", "zero_"]
