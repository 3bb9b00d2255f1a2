"""Indexing: `x[...]` and `x[...] = y` with ints, slices (negative steps are not PyTorch's, and work here), None, Ellipsis, masks, index tensors."""

import builtins

from facula.tensor_core import _ops, _tensor
from facula.tensor_core.functions import create as _create, fills as _fills, shape as _shape
from facula.tensor_core.functions.index_key import BASIC, ZERO_DIM, basic, mask_of, nonzero, one_mask, plan, positions, sliced, within_64_bits
from facula.tensor_core.memory import data as _data
from facula.tensor_core.dispatch.foreign import ask_method, overriding
from facula.tensor_core.dispatch import slow as _dispatch, run as _run
from facula.tensor_core._errors import IndexRangeError, IntegerOverflow, ShapeError
from facula.tensor_core.dispatch.kinds import check, kinds_first, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import a_tensor, into
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import int64

_view_op, _basic_index, _index_put, _is_contiguous = lib.view_op, lib.basic_index, lib.fc_index_put, lib.fc_is_contiguous
_MASKED, _VIEW = (_ops.BY_NAME[name].id for name in ("masked_scatter", "view"))
_SELECT, _INDEX = (_ops.BY_NAME[name].id for name in ("select", "index"))


def getitem(x, key):
    """x[key]: a view for basic indices, a copy for masks and index tensors."""
    kind = type(key)
    if kind is int and not _ops.interpreting:
        try:
            t = _view_op(_SELECT, x._h, 0, key, 0, 0)  # the common case, flat
        except OverflowError:
            within_64_bits(key)
        if t is not None:
            t._viewed = x if x._viewed is None else x._viewed
            if x._origin is not None:
                _dispatch.record[_SELECT](t, x, 0, key)
            return t
        if not x.shape:
            raise IndexError(ZERO_DIM)
        return _ops.select(x, 0, key)
    if (kind is tuple or kind is slice) and not _ops.interpreting and x._origin is None:
        t = _basic_index(x, key)
        if t is not None:
            t._viewed = x if x._viewed is None else x._viewed
            return t
    if kind is Tensor and not _ops.interpreting and x._origin is None and key.shape and key.dtype._kind == 0:
        if key.shape == x.shape:
            t = lib.masked_select(x._h, key._h)
        elif len(key.shape) == 1 and key.shape[0] == x.shape[0] and not key.is_meta:  # whole slices
            rows = lib.fc_view_list(_VIEW, lib.fc_nonzero(key._h), 1, (-1,))
            t = None if rows is None else lib.index(x._h, 1, [rows])
        else:
            t = None
        if t is not None:
            return t
    if kind is Tensor and x._origin is not None and key.dtype._kind == 0 and key.shape and key.shape == x.shape and not _ops.interpreting and _tensor.leaving is None and not key.is_meta:
        return index(x, list(nonzero(key, as_tuple=True)))
    if key is None:
        return _ops.unsqueeze(x, 0)
    if key is Ellipsis:
        return _ops.alias(x)
    places = positions(x, key, kind)
    if places is not None:
        return index(x, places)
    view = sliced(x, 0, key) if kind is slice and x.shape else basic(x, key) if kind is tuple else None
    if view is None:
        view, indices = plan(x, key)
        if indices:
            return index(view, indices)
    return _ops.alias(view) if view is x else view


def index(input, indices):
    """input read through index tensors (None keeps a dim), recorded as one op."""
    if not _ops.interpreting:
        try:
            t = lib.index(input._h, len(indices), indices)
        except (AttributeError, TypeError):  # sparse
            t = None
        if t is not None:
            if input._origin is not None:
                _dispatch.record[_INDEX](t, input, [i for i in indices if i is not None], mask_of(indices))
            return t
    return _ops.index(input, [i for i in indices if i is not None], mask_of(indices))


def _scattered(x, mask, values):
    """x[mask] = values, one for each true element: whether that is what it was, and is done."""
    if len(values.shape) != 1 or not x.shape or lib.fc_same_storage(x._h, values._h) or lib.fc_nonzero_count(mask._h) != values.shape[0]:
        return False
    return lib.fc_own(_MASKED, x._h, x._h, mask._h, values._h, None, 0, 0, 0, 0, 0, 0, 0.0, 0.0) is not None


_WHOLE = slice(None)


@_dispatch.one_step(fill_number_="FillBackward3")
def setitem(x, key, value):
    """x[key] = value, broadcast and converted; recorded when x or value has a history."""
    tensor = type(value) is Tensor or isinstance(value, Tensor)
    if not tensor:
        if type(key) is Tensor and _fills.filled_where(x, key, value):
            return
        value = _number_for(x, value)
        if type(key) is Tensor and not _ops.interpreting and type(value) in (float, int) and -65504 <= value <= 65504 and key.dtype._kind == 0 and key.shape == x.shape:
            _fills.fill_where(x, key, value, "IndexPutBackward0")
            return
    kind = type(key)
    plain = (not tensor or type(value) is Tensor and value.dtype is x.dtype) and _dispatch.unheard(x, value if tensor else None)
    if plain and kind is Tensor and type(value) is Tensor and key.dtype._kind == 0 and key.shape == x.shape and _scattered(x, key, value):
        _dispatch.unrecorded(x)
        return
    if key is Ellipsis or kind is slice and key == _WHOLE and x.shape:
        view = x
    else:
        view = getitem(x, key) if kind in BASIC or kind is tuple and all([type(k) in BASIC for k in key]) else None
    indices = None
    if kind is bool:
        if not key:
            return  # nothing is written, whatever the value
        view = _ops.unsqueeze(x, 0)
    elif view is None:
        indices = positions(x, key, kind)
        view, indices = (x, indices) if indices else plan(x, key)
        if not _is_contiguous(view._h, 0) and _fills.expanded_dims(view):
            _fills.warn_expanded("index_put_")
        if plain and indices and _index_put(view._h, len(indices), [None if i is None else i._h for i in indices], (value if type(value) is Tensor else _run.zero_dim(value, x.dtype))._h, False) == 0:
            _dispatch.unrecorded(view)
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
    if tensor and value.dtype is not x.dtype:
        if value.numel() != 1 or not one_mask(key):
            raise _of_another_dtype(view, indices, value)
        if not (value.is_meta or _ops.interpreting):
            _run.fitting("masked_fill_", value.item(), x.dtype)
    if not tensor and isinstance(key, Tensor) and key.dtype._name == "uint8" and key.dim():
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char. Convert it with .bool().")
    value = value.to(x.dtype) if tensor else _run.zero_dim(value, x.dtype)
    lead = [len(i.shape) for i in indices if i is not None]
    if value.dim() > 1 and value.shape[0] == 1:
        value = _squeeze_leading(range(view.dim() - len(lead) + builtins.max(lead)), value)
    if 0 in [i.numel() for i in indices if i is not None] and value.numel() != 1:
        try:
            return _put(view, indices, value)
        except ShapeError:  # nothing is written: as in PyTorch, any value will do for x[facula.tensor(False)]
            if isinstance(key, Tensor) and not key.dim():
                return
            raise
    if tensor and value.numel() == 1 and lib.fc_same_storage(view._h, value._h) and one_mask(key):
        value = value.clone()  # it fills, and is read first
    _put(view, indices, value)


def _of_another_dtype(view, indices, value):
    """The error for a value that would have to be converted; its shape comes first."""
    want = _ops.index(view, [i for i in indices if i is not None], mask_of(indices)).shape
    if not _fits(value.shape, want):
        return ShapeError(f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of shape {list(want)}")
    there, here = view.dtype._scalar_type, value.dtype._scalar_type
    return RuntimeError(f"Index put requires the source and destination dtypes match, got {there} for the destination and {here} for the source. Convert the source with .to().")


def _fits(shape, want):
    """Does a value of this shape broadcast to the other? Leading dims of size 1 do not count."""
    extra = len(shape) - len(want)
    return all(s == 1 for s in shape[:max(extra, 0)]) and all(s in (1, w) for s, w in zip(shape[::-1], want[::-1]))


def _number_for(x, value):
    """A number that may be assigned to an element of x. Raises TypeError for anything else, as PyTorch does."""
    if not _run.is_number(value):
        raise TypeError(f"can't assign a {type(value).__name__} to a torch tensor of {x.dtype._name}. Convert it with facula.tensor.")
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise IntegerOverflow(f"fill: Overflow when unpacking long long: {value} does not fit 64 bits.")
    return value if x.dtype.itemsize == 2 and x.dtype._kind == 2 and type(value) is not complex else _run.fitting("fill", value, x.dtype)


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
    if non_blocking is not False:
        check("copy_", "non_blocking", 1, "bool", non_blocking)
    if not isinstance(other, Tensor):
        if not _run.is_number(other) and not hasattr(other, "__array__"):
            want_tensor("copy_", "other", 0, other)
        if relevant := overriding((other,)):
            return ask_method("copy_", relevant, self, other)
        other = _run.zero_dim(other) if type(other) is int and 2**63 <= other < 2**64 else _data.as_tensor(other, device="cpu")
    try:
        return _ops.copy_into_(self, other)
    except RuntimeError:
        if self.is_meta is other.is_meta:
            raise
    if other.is_meta:
        raise NotImplementedError("copy_: Cannot copy out of meta tensor; no data! Give a tensor that has some.")
    return _ops.copy_into_(self, other.to("meta"))  # shapes and dtypes are checked, nothing moves


@_dispatch.one_step(copy_into_="FillBackward3")
def fill_(input, value):
    """Every element set to one value. In place.

    >>> facula.zeros(2).fill_(7)
    tensor([7., 7.])
    """
    if isinstance(value, Tensor):
        if value.dim():
            want_tensor("fill_", "input", 0, input)
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.dim()} dimensions.")
        if type(input) is not Tensor or input.is_meta or value.is_meta:
            return copy_(input, value)
        return _ops.copy_into_(input, value.clone() if lib.fc_same_storage(input._h, value._h) else value)
    if type(input) is not Tensor:
        want_tensor("fill_", "input", 0, input)
    return _ops.fill_number_(input, _run.fitting("fill_", value, input.dtype))


@_dispatch.one_step(fill_number_="ZeroBackward0")
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
    if not isinstance(indices, (tuple, list)):
        raise TypeError(f"index_put_(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}. Write (index,).")
    for k, i in enumerate(indices):
        if not isinstance(i, Tensor):
            raise TypeError(f"index_put_(): expected Tensor as element {k} in argument 'indices', but got {type(i).__name__}. For whole dims write x[:, index] = values.")
    if accumulate is not False and accumulate is not True:
        check("index_put_", "accumulate", 3, "bool", accumulate)
    if values.dtype is not input.dtype and values.numel() == 1 and not accumulate and len(indices) == 1 and indices[0].dtype._name in ("bool", "uint8"):
        if input.is_complex() or not values.is_complex():  # one value behind one mask is filled in, as masked_fill does
            values = values.to(input.dtype)
    if (shape := values.shape) and shape[0] == 1 and len(shape) > (most := _dims_put(input, indices)) >= 0:  # an assignment drops leading sizes of 1, this does not
        raise ShapeError(f"index_put_(): shape mismatch: values have {values.dim()} dims, what is written to has {most} ({tuple(values.shape)}, {tuple(input.shape)}). Reshape the values.")
    if not _is_contiguous(input._h, 0) and _fills.expanded_dims(input):
        _fills.warn_expanded("index_put_")
    return _put(input, indices, values, accumulate)


def _put(input, indices, values, accumulate=False):
    """index_put_; None among the indices is a whole dim."""
    key = tuple([slice(None) if i is None else i for i in indices])
    places = positions(input, key, tuple)
    view = input
    if places is None:
        if any(_is_lone(i) for i in indices):
            if values.dim() > (most := _dims_put(input, indices)) >= 0 and not any(i is not None and i.shape for i in indices):
                if 0 in input.shape[: len(indices)]:
                    raise IndexRangeError(f"index_put_(): index is out of bounds for dimension with size 0: sizes {list(input.shape)}. Index a dim that has elements.")
                raise ShapeError(f"index_put_(): shape mismatch: values have {values.dim()} dims, what is written to has {most} ({tuple(values.shape)}, {tuple(input.shape)}). Reshape the values.")
            return _put(input, [i.reshape(1) if _is_lone(i) else i for i in indices], values, accumulate)
        view, places = plan(input, key)  # masks become positions, a truth value those of a dim of its own
    if view is input and values.dtype is input.dtype and _dispatch.unheard(input, values):
        try:
            if not lib.fc_index_put(input._h, len(places), [None if i is None else i._h for i in places], values._h, accumulate):
                _dispatch.unrecorded(input)
                return input
        except AttributeError:  # sparse
            pass
    _ops.index_put_rows_(view, [i for i in places if i is not None], values, mask_of(places), accumulate)
    return input


def _is_lone(index):
    """Is it the index of one place, in a tensor without dims?"""
    return index is not None and not index.shape and index.dtype._name not in ("bool", "uint8")


def _dims_put(input, indices):
    """How many dims input[indices] has, fewer than 0 for too many indices: index tensors stand for a dim each, masks for as many as they have, and all give those that they broadcast to."""
    masks = [i.dtype._name in ("bool", "uint8") for i in indices]
    read = sum(i.dim() if mask else 1 for i, mask in zip(indices, masks))
    kept = input.dim() - read
    return kept if kept < 0 else kept + max((1 if mask else i.dim() for i, mask in zip(indices, masks)), default=0)


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
    if mask.dtype._name != "bool":
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype._name}. Convert with .bool().")
    if input.shape != mask.shape:
        kinds_first("masked_select", out=out)
    x, m = (input, mask) if input.shape == mask.shape else _shape.broadcast_tensors(input, mask)
    x = _dispatch.gradient_lies(x, "like")
    if not _ops.interpreting and input._origin is None and (t := lib.masked_select(x._h, m._h)) is not None:
        return t if out is None else into("masked_select", t, out, (input, mask))
    return into("masked_select", _dispatch.one_node(getitem(x, m), "MaskedSelectBackward0", input), out, (input, mask))


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
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype._name}. Convert with .long().")
    if out is not None:
        a_tensor("take", out)
    if not input.numel() and index.numel():
        raise IndexError("take(): tried to take from an empty tensor")
    if out is None and not _ops.interpreting and input._origin is None:
        t = lib.take(input._h, index._h)
        if t is not None:
            return t
    given, index = index, _shape.as_new(index)  # what is taken lies so, too
    flat = input if len(input.shape) == 1 != input.shape[0] else _dispatch.gradient_lies(input, "like").reshape(-1)
    taken = _dispatch.one_node(index_of(flat, index), "TakeBackward0", input)
    if out is not None and not given.is_contiguous():  # an output that is resized lies as the index does
        taken = _ops.copy_into_(_create.empty_like(given, dtype=taken.dtype), taken)
    return into("take", taken, out, (input, index), strides=True)


def index_of(flat, positions):
    return index(flat, [positions])


__all__ = ["index_put", "masked_select", "take"]
METHODS = [*__all__, "copy_", "fill_", "index_put_", "zero_"]
