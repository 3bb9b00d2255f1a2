"""Writing one tensor into parts of another, with a copy; and the sets behind isin."""

import math

from facula.tensor_core import _ops
from facula.tensor_core.functions import dims as _dims, shape as _shape, splitting as _splitting
from facula.tensor_core.memory import data as _data
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.arguments import listed
from facula.tensor_core.dispatch.run import fitting
from facula.tensor_core._errors import DTypeError
from facula.tensor_core.dispatch.kinds import check, want_ints, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import apart, into, written
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import int64

_VIEW = _ops.BY_NAME["view"].id


def select_scatter(input, src, dim, index):
    """input with src at one index of dim.

    >>> x = facula.zeros(2, 2)
    >>> facula.select_scatter(x, facula.tensor([1.0, 2.0]), 0, 1)
    tensor([[0., 0.],
            [1., 2.]])
    >>> x.select_scatter(facula.tensor([1.0, 2.0]), 0, 1)
    tensor([[0., 0.],
            [1., 2.]])
    """
    return _written(input, lambda x: _ops.select(x, dim, index), src, "select_scatter")


def slice_scatter(input, src, dim=0, start=None, end=None, step=1, *, out=None):
    """input with src at a slice of dim.

    >>> x = facula.zeros(4)
    >>> facula.slice_scatter(x, facula.ones(2), 0, 1, 3)
    tensor([0., 1., 1., 0.])
    >>> x.slice_scatter(facula.ones(2), 0, 1, 3)
    tensor([0., 1., 1., 0.])
    """
    if step < 1:
        if not input.dim():
            raise IndexError("slice_scatter: slice() cannot be applied to a 0-dim tensor. Give it a dim with unsqueeze.")
        raise RuntimeError(f"slice_scatter: slice step must be positive, got {step}. Flip src for the other order.")
    first, stop, step = slice(start, end, step).indices(input.shape[dim])
    return into("slice_scatter", _written(input, lambda x: _ops.slice(x, dim, first, len(range(first, stop, step)), step), src, "slice_scatter"), out)


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """input with src on a diagonal.

    >>> x = facula.zeros(2, 2)
    >>> facula.diagonal_scatter(x, facula.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    >>> x.diagonal_scatter(facula.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    return _written(input, lambda x: _ops.diagonal(x, offset, dim1, dim2), src, "diagonal_scatter")


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """input with src where as_strided would look.

    >>> x = facula.zeros(4)
    >>> facula.as_strided_scatter(x, facula.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    >>> x.as_strided_scatter(facula.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    want_ints("as_strided_scatter", "size", 2, size)
    want_ints("as_strided_scatter", "stride", 3, stride)
    return _written(input, lambda x: _ops.as_strided(x, list(size), list(stride), storage_offset), src, "as_strided_scatter")


def _written(input, look, src, name):
    plain = _ops.interpreting and type(input) is not Tensor and name != "as_strided_scatter"  # of many examples at once the memory is theirs together
    own = name != "as_strided_scatter" and input.dtype is src.dtype and _dispatch.stepping(input, src)
    copy = input.clone() if plain else _alike(input.detach() if own else input)
    view = look(copy)
    if view.shape != src.shape:
        raise RuntimeError(f"{name}: expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = {list(view.shape)}")
    if _ops.interpreting or src.device != view.device:
        view.copy_(src)
    else:
        _ops.place_into_(view, src.detach() if own else src)
    if own:
        of_input = lambda g: _written(g, look, g.new_zeros(src.shape), name)
        return _dispatch.one_step_of(copy, f"{name.title().replace('_', '')}Backward0", (input, src), (of_input, look))
    return _dispatch.one_node(copy, f"{name.title().replace('_', '')}Backward0", input, src)


def _alike(input):
    """A copy that lies in its memory as input does in its own: a view of the copy sees what one of input would."""
    if input.is_contiguous() and not input.storage_offset() or any(s == 0 and n > 1 for s, n in zip(input.stride(), input.shape)):
        return input.clone()
    whole = _ops.as_strided(input.detach(), [input.untyped_storage().nbytes() // input.dtype.itemsize], [1], 0)
    place = _ops.as_strided(_ops.copy(whole, None, 0), input.shape, input.stride(), input.storage_offset())
    return place.detach().copy_(input)


def masked_scatter(input, mask, source):
    """input with the elements of source, in order, where mask.

    >>> x = facula.zeros(3)
    >>> facula.masked_scatter(x, facula.tensor([True, False, True]), facula.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    >>> x.masked_scatter(facula.tensor([True, False, True]), facula.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    if mask.dtype._kind:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype._name}")
    if source.dtype is not input.dtype:
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got {input.dtype._name} and {source.dtype._name}")
    if mask.shape != input.shape:
        mask = _ops.expand(mask, _shape.broadcast_shapes(mask.shape, input.shape))
        return _dispatch.one_node(_ops.masked_scatter(_ops.expand(input, mask.shape), mask, source), "MaskedScatterBackward0", input, source)
    return _ops.masked_scatter(input, mask, source)


def masked_scatter_(self, mask, source):
    """masked_scatter, in place.

    >>> facula.zeros(3).masked_scatter_(facula.tensor([True, False, True]), facula.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    if type(self) is type(mask) is type(source) is Tensor and not mask.dtype._kind and source.dtype is self.dtype and mask.shape == self.shape and _dispatch.unheard(self, source):
        return _ops.masked_scatter_(self, mask, source)
    return written(self, masked_scatter(self, mask, source))


def put(input, index, source, accumulate=False):
    """input with source at positions of the flat tensor.

    >>> x = facula.zeros(2, 2)
    >>> facula.put(x, facula.tensor([0, 3]), facula.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    >>> x.put(facula.tensor([0, 3]), facula.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    if index.dtype is not int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index.dtype._name}. Convert it with .long().")
    if source.dtype is not input.dtype:
        raise RuntimeError(f"put_(): self and source expected to have the same dtype, but got {input.dtype._name} and {source.dtype._name}. Convert one with .to().")
    if source.numel() != index.numel():
        raise IndexError(f"put_(): Expected source and index to have the same number of elements, but got source.numel() = {source.numel()}, index.numel() = {index.numel()}")
    if _goes(input, index, source):
        copy = _ops.copy(input, None, 0)
        if not lib.fc_index_put(_ops.view(copy, (-1,))._h, 1, [index._h], source._h, accumulate):
            lib.fc_fresh(copy._h)
            return _dims.lying_as(copy, input)
    if _dispatch.stepping(input, source):
        shape = source.shape
        of_input = lambda g, at: g if accumulate else put(g, at, g.new_zeros(shape))
        of_source = lambda g, at: g.take(at).reshape(shape)
        return _dispatch.one_step_of(put(input.detach(), index, source.detach(), accumulate), "PutBackward0", (input, source), (of_input, of_source), (index,))
    flat = _shape.reshaped(input, -1).clone().index_put_([_shape.reshaped(index, -1)], _shape.reshaped(source, -1), accumulate)
    return _dispatch.one_node(_dims.lying_as(flat.reshape(input.shape), input), "PutBackward0", input, source)


def put_(self, index, source, accumulate=False):
    """put, in place.

    >>> facula.zeros(2, 2).put_(facula.tensor([0, 3]), facula.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    apart("put_", self, (index, source))
    if _goes(self, index, source) and lib.fc_is_contiguous(self._h, 0):
        if not lib.fc_index_put(_ops.view(self.detach(), (-1,))._h, 1, [index._h], source._h, accumulate):
            _dispatch.unrecorded(self)
            return self
    return written(self, put(self, index, source, accumulate))


def _goes(input, index, source):
    """Can C put the values as they are, and nobody has to hear of it?"""
    return input.dtype is source.dtype and index.shape == source.shape and index.dtype is int64 and _dispatch.unheard(input, source)


def fill_diagonal_(self, fill_value, wrap=False):
    """The main diagonal set to a number, in place; of more than two dims, which must be equal, the one where all indices agree.

    wrap: in a tall matrix begin a new diagonal after each block of rows, one row apart.

    >>> facula.zeros(2, 2).fill_diagonal_(1)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if wrap is not True and wrap is not False:
        check("fill_diagonal_", "wrap", 1, "bool", wrap)
    n = self.dim()
    if n < 2:
        raise RuntimeError(f"dimensions must larger than 1, got {n}")
    if n > 2 and len(set(self.shape)) > 1:
        raise RuntimeError(f"all dimensions of input must be of equal length, got {tuple(self.shape)}")
    if isinstance(fill_value, Tensor) and not fill_value.dim():
        fill_value = fill_value.item()
    fill_value = fitting("fill_diagonal_", fill_value, self.dtype)
    step = sum(self.stride())
    rows, columns = self.shape[0], self.shape[1]
    view = _ops.as_strided(self, [min(self.shape)], [step], None)
    _ops.fill_number_(view, fill_value)
    if wrap and n == 2 and rows > columns + 1:
        first = columns + 1
        while first < rows:
            count = min(columns, rows - first)
            _ops.fill_number_(_ops.as_strided(self, [count], [step], self.storage_offset() + first * self.stride(0)), fill_value)
            first += columns + 1
    return self


def isin(elements, test_elements, *, assume_unique=False, invert=False, out=None):
    """For every element whether it is among test_elements; either may be a number.

    >>> facula.isin(facula.tensor([1, 2, 3]), facula.tensor([2, 5]))
    tensor([False,  True, False])
    """
    if out is not None:
        return into("isin", _isin(elements, test_elements, invert), out)
    return _isin(elements, test_elements, invert)


def _isin(x, among, invert):
    if not isinstance(x, Tensor) or not isinstance(among, Tensor):
        if not isinstance(x, Tensor) and not isinstance(among, Tensor):
            raise TypeError("isin() received an invalid combination of arguments: one of elements and test_elements must be a Tensor")
        for name, t in (("elements", x), ("test_elements", among)):
            if not isinstance(t, Tensor):
                check("isin", name, None, "number", t)
        device = (x if isinstance(x, Tensor) else among).device
        x, among = (t if isinstance(t, Tensor) else _data.tensor(t, device=device) for t in (x, among))
    dtype = x.dtype
    if dtype._kind in (0, 3) or among.dtype is not dtype and among.dtype._kind in (0, 3):
        refused = dtype if dtype._kind in (0, 3) else among.dtype
        raise DTypeError(f"isin: Unsupported input type encountered for isin(): {refused._name}. Compare with eq().")
    size = among.numel()
    if not size:
        found = _ops.ne(x, x)
    elif size <= 32 or among.dtype is not dtype:
        dims = x.dim()
        shape = (-1,) + (1,) * dims
        column = None if _ops.interpreting else lib.fc_view_list(_VIEW, among._h, dims + 1, shape)
        found = _ops.any(_ops.eq(_shape.reshaped(among, shape) if column is None else own_tensor(column), x), 0)  # x stays innermost: 0.1 ms against 1.4 for 1e5
    else:
        ordered = _shape.reshaped(among, -1).sort()[0]
        at = _ops.clamp_max(_ops._searchsorted(ordered, x.contiguous(), None, False), among.numel() - 1)
        found = _ops.eq(ordered[at], x)
    return _ops.logical_not(found) if invert else found


def _unravel_index_first(shape):
    """What is refused before the kinds of arguments are looked at, too: see guard.py."""
    if not isinstance(shape, (int, list, tuple)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    for size in () if isinstance(shape, int) else shape:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")


def unravel_index(indices, shape):
    """Positions in a flat tensor as one index tensor for each dim of shape.

    >>> facula.unravel_index(facula.tensor([3, 5]), (2, 3))
    (tensor([1, 1]), tensor([0, 2]))
    """
    _unravel_index_first(shape)
    shape = [shape] if isinstance(shape, int) else list(shape)
    if indices.dtype._kind != 1:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if min(shape, default=0) < 0:
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    steps = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    steps, sizes = (_data.tensor(n, dtype=int64, device=indices.device) for n in (steps, shape))
    return _splitting.unbind(_ops.remainder(_ops.floor_divide(_ops.unsqueeze(indices, -1), steps), sizes), -1)


def is_nonzero(input):
    """The truth of a single element.

    >>> x = facula.tensor([0.0])
    >>> facula.is_nonzero(x)
    False
    >>> x.is_nonzero()
    False
    """
    return bool(input)


def positive(input):
    """input itself. Raises RuntimeError for bool.

    >>> x = facula.tensor([1, -2])
    >>> facula.positive(x)
    tensor([ 1, -2])
    >>> x.positive()
    tensor([ 1, -2])
    """
    if type(input) is not Tensor:
        want_tensor("positive", "input", 0, input)
    if input.dtype._name == "bool":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def is_same_size(input, other):
    """Same shape?

    >>> x = facula.zeros(2, 3)
    >>> facula.is_same_size(x, facula.ones(2, 3))
    True
    """
    return input.shape == other.shape


def type_as(self, other):
    """self in the dtype of other, where other is.

    >>> facula.tensor([1, 2]).type_as(facula.tensor([0.5]))
    tensor([1., 2.])
    """
    if other.__class__ is self.__class__ is Tensor and other.dtype is self.dtype and other.device is self.device:
        return self
    return self.to(other)


def sum_to_size(self, *sizes, size=None):
    """self summed over the dims that broadcasting size to its shape would add.

    >>> facula.ones(2, 3).sum_to_size(2, 1)
    tensor([[3.],
            [3.]])
    """
    size = listed("sum_to_size", "size", sizes, size)
    want_ints("sum_to_size", "size", 0, size)
    lead = self.dim() - len(size)
    if lead < 0 or any(s != 1 and s != have for s, have in zip(size, self.shape[lead:])):
        raise RuntimeError(f"size {{{list(self.shape)}}} is not expandable to size {{{list(size)}}}.")
    dims = [*range(lead), *(d + lead for d, s in enumerate(size) if s == 1 and self.shape[d + lead] != 1)]
    if dims:
        summed = _ops.sum(self, dims, True)
        return _ops.view(summed, list(size)) if lead else summed
    return self if size else _ops.sum(self, ())


__all__ = [
    "as_strided_scatter", "diagonal_scatter", "is_nonzero", "is_same_size", "isin", "masked_scatter", "positive", "put", "select_scatter",
    "slice_scatter", "unravel_index",
]  # fmt: skip
METHODS = [
    "as_strided_scatter", "diagonal_scatter", "fill_diagonal_", "is_nonzero", "is_same_size", "masked_scatter", "masked_scatter_", "positive",
    "put", "put_", "select_scatter", "slice_scatter", "sum_to_size", "type_as",
]  # fmt: skip
