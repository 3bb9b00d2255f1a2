"""What is about order and counting: sort and its kind, unique, bins; and softmax with its dtype. Compositions over the rows."""

from facula.tensor_core.dispatch.arguments import LACKING, by_axis, renamed
from facula.tensor_core import _ops, _warned, return_types
from facula.tensor_core.functions import create as _create, dims as _dims, index as _index, shape as _shape
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.memory import data as _data
from facula.tensor_core.dispatch.kinds import check, kinds_first, want_tensor
from facula.tensor_core.dispatch.run import number
from facula.tensor_core._errors import DTypeError, EmptyError
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import a_tensor, into
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import BY_NAME, DTYPES

_NE, _VIEW, _TRANSPOSE = (_ops.BY_NAME[name].id for name in ("ne", "view", "transpose"))
_int64, _int32, _bool = BY_NAME["int64"], BY_NAME["int32"], BY_NAME["bool"]


def _converted(name, input, dtype):
    """input in the dtype that an op was given."""
    want_tensor(name, "input", 0, input)
    check(name, "dtype", None, "dtype", dtype)
    return input.to(dtype)


def softmax(input, dim=None, dtype=None, *, out=None, axis=None):
    """exp(input) / sum(exp(input)) along dim, after a conversion to dtype if one is given.

    >>> x = facula.tensor([0.0, 0.0])
    >>> facula.softmax(x, 0)
    tensor([0.5000, 0.5000])
    >>> x.softmax(0)
    tensor([0.5000, 0.5000])
    """
    dim = by_axis("softmax", dim, axis)
    if out is not None:
        a_tensor("softmax", out)
    try:
        return _ops.softmax(input if dtype is None else _converted("softmax", input, dtype), dim, out=out)
    except DTypeError:
        if dtype is not None or input.numel():
            raise
        return into("softmax", _ops.copy(input, None, 0), out)  # of nothing no kernel is asked


def log_softmax(input, dim=None, dtype=None, *, out=None, axis=None):
    """Logarithm of softmax along dim, after a conversion to dtype if one is given.

    >>> x = facula.tensor([0.0, 0.0])
    >>> facula.log_softmax(x, 0)
    tensor([-0.6931, -0.6931])
    >>> x.log_softmax(0)
    tensor([-0.6931, -0.6931])
    """
    dim = by_axis("log_softmax", dim, axis)
    try:
        return _ops.log_softmax(input if dtype is None else _converted("log_softmax", input, dtype), dim, out=out)
    except DTypeError:
        if dtype is not None or input.numel():
            raise
        return into("log_softmax", _ops.copy(input, None, 0), out)  # of nothing no kernel is asked


def _written(results, out, kind, input):
    """The results as PyTorch's named tuple, copied into the pair `out` if one was given."""
    if out is None:
        return _tuple(kind, results)  # 60 ns, kind(*results) 400
    return into(kind.__name__, kind(*results), out, (input,), strides=kind is return_types.sort)


_tuple = tuple.__new__


@_dispatch.one_step(_sort=_dispatch.Begun("SortBackward0"))
def _sorted(input, dim, descending):
    order = None if lib.fc_is_contiguous(input._h, 0) else _dims.order_in_memory(input)
    if order is None or not -len(order) <= dim < len(order):
        found = _ops._sort(input, dim, descending)
        return found if 1 not in input.shape else tuple(_dims.with_ones(t, input) for t in found)
    found = _ops._sort(_ops.permute(_dispatch.gradient_lies(input, "rows"), order), order.index(dim % len(order)), descending)
    return tuple(_dims.with_ones(_dims.back_in_order(t, order), input) for t in found)


def sort(input, dim=-1, descending=False, *, stable=False, out=None, axis=None):
    """(values, indices) along dim. Always stable, whatever `stable` says; NaN is greater than every number.

    >>> x = facula.tensor([3.0, 1.0, 2.0])
    >>> facula.sort(x)
    torch.return_types.sort(
    values=tensor([1., 2., 3.]),
    indices=tensor([1, 2, 0]))
    >>> x.sort()
    torch.return_types.sort(
    values=tensor([1., 2., 3.]),
    indices=tensor([1, 2, 0]))
    """
    if type(input) is not Tensor:
        want_tensor("sort", "input", 0, input)
    dim = dim if axis is None else renamed("sort", "axis", axis, dim, -1)
    if isinstance(dim, bool):
        raise TypeError(f"sort(): argument 'dim' (position 2) must be int, not bool. Write descending={dim}.")
    if stable is not False and stable is not True and stable is not None:
        check("sort", "stable", None, "bool", stable)
    found = _sorted(input, dim, descending)
    if stable is True and input._origin is not None:
        found = _dispatch.one_node(found[0], "SortBackward1", input), found[1]
    return _written(found, out, return_types.sort, input)


def argsort(input, dim=-1, descending=False, *, stable=False, out=None, axis=None):
    """Indices that sort input along dim; stable.

    >>> x = facula.tensor([3.0, 1.0, 2.0])
    >>> facula.argsort(x)
    tensor([1, 2, 0])
    >>> x.argsort()
    tensor([1, 2, 0])
    """
    if type(input) is not Tensor:
        want_tensor("argsort", "input", 0, input)
    if stable is not False and stable is not True:
        check("argsort", "stable", None, "bool", stable)
    dim = dim if axis is None else renamed("argsort", "axis", axis, dim, -1)
    if isinstance(out, Tensor) and out.dtype is not _int64:
        kinds_first("argsort", dim=dim, descending=descending)
        _shape.wrap_dim("argsort", dim, input.dim())
        raise RuntimeError(f"argsort: Expected out tensor to have dtype long int, but got {out.dtype._name} instead. Make it of int64.")
    return into("argsort", _sorted(input, dim, descending)[1], out, strides=True)


def msort(input, *, out=None):
    """input sorted along its first dim.

    >>> x = facula.tensor([[3, 1], [2, 4]])
    >>> facula.msort(x)
    tensor([[2, 1],
            [3, 4]])
    >>> x.msort()
    tensor([[2, 1],
            [3, 4]])
    """
    return into("msort", _sorted(input, 0, False)[0], out, (input,), strides=True)


def topk(input, k, dim=-1, largest=True, sorted=True, *, out=None, axis=None):
    """(values, indices) of the k largest or smallest along dim, always in order.

    >>> x = facula.tensor([3.0, 1.0, 2.0])
    >>> facula.topk(x, 2)
    torch.return_types.topk(
    values=tensor([3., 2.]),
    indices=tensor([0, 2]))
    >>> x.topk(2)
    torch.return_types.topk(
    values=tensor([3., 2.]),
    indices=tensor([0, 2]))
    """
    dim = dim if axis is None else renamed("topk", "axis", axis, dim, -1)
    if type(input) is not Tensor:
        want_tensor("topk", "input", 0, input)
    if input.dtype is _bool:
        kinds_first("topk", k=k, dim=dim, largest=largest, sorted=sorted)
        _shape.wrap_dim("topk", dim, input.dim())
        raise RuntimeError("topk does not support bool dtypes on CPU. Convert with input.long().")
    return _written(_ops._topk(input, k, dim, largest, sorted), out, return_types.topk, input)


def kthvalue(input, k, dim=-1, keepdim=False, *, out=None):
    """(values, indices) of the k-th smallest along dim, counted from 1.

    >>> x = facula.tensor([3.0, 1.0, 2.0])
    >>> facula.kthvalue(x, 2)
    torch.return_types.kthvalue(
    values=tensor(2.),
    indices=tensor(2))
    >>> x.kthvalue(2)
    torch.return_types.kthvalue(
    values=tensor(2.),
    indices=tensor(2))
    """
    if input.dtype is _bool:
        _shape.wrap_dim("kthvalue", dim, input.dim())
        raise NotImplementedError('"kthvalue" not implemented for \'Bool\'. Convert with input.long().')
    return _written(_ops._kthvalue(input, k, dim, keepdim), out, return_types.kthvalue, input)


def mode(input, dim=-1, keepdim=False, *, out=None, axis=None, keepdims=LACKING):
    """(values, indices) of the most frequent value along dim, the least of equally frequent ones.

    >>> x = facula.tensor([1, 3, 3, 2])
    >>> facula.mode(x)
    torch.return_types.mode(
    values=tensor(3),
    indices=tensor(2))
    >>> x.mode()
    torch.return_types.mode(
    values=tensor(3),
    indices=tensor(2))
    """
    dim = dim if axis is None else renamed("mode", "axis", axis, dim, -1)
    keepdim = keepdim if keepdims is LACKING else keepdims
    return _written(_ops._mode(input, dim, keepdim), out, return_types.mode, input)


def _of_all(row, flat):
    """The middle of all elements; PyTorch's node of it has another name than that of one along a dim."""
    return row(flat, 0, False)[0]


def _in_any_order(input):
    """The elements in one dim, of a turned matrix in the order of memory."""
    flat = lib.fc_view_list(_VIEW, input._h, 1, (-1,))
    if flat is None and input.dim() == 2:
        flat = lib.fc_view_list(_VIEW, lib.fc_view_op(_TRANSPOSE, input._h, 0, 1, 0, 0), 1, (-1,))
    return _shape.flatten(input) if flat is None else own_tensor(flat)


def _middle(row, kind, input, dim, keepdim, out):
    if dim is None and keepdim:
        raise TypeError(f"{kind.__name__}() received an invalid combination of arguments: keepdim={keepdim} without dim. Name one.")
    if dim is None and out is not None:
        raise TypeError(f"{kind.__name__}() received an invalid combination of arguments: out without dim. Name one, or flatten the input.")
    if input.dtype is _bool:
        if dim is None and not input.numel():
            return _ops.eq(input.new_zeros(()), 0)  # NaN, as a truth value
        d = _shape.wrap_dim(kind.__name__, dim or 0, input.dim())
        if dim is not None and input.dim() and not input.shape[d]:
            raise EmptyError(f"{kind.__name__}(): Expected reduction dim {dim} to have non-zero size (input: {tuple(input.shape)}). Name another one.")
        raise NotImplementedError('"median" not implemented for \'Bool\'. Convert with input.long().')
    if dim is not None:
        return _written(row(input, dim, keepdim), out, kind, input)
    if input.numel() == 0:
        return input.new_full((), float("nan"), dtype=BY_NAME["float64"]).to(input.dtype)
    if input._origin is None and not _dispatch.listened():
        return row(input if input.dim() == 1 else _in_any_order(input), 0, False)[0]
    flat = _shape.flatten(input)
    plain = flat.detach()
    if _dispatch.listened():  # equal elements share the gradient, as those of amax do
        value = row(plain, 0, False)[0]
        if input.dtype._kind < 2:
            return value
        hit = (plain == value) | ((plain != plain) & (value != value))
        return _ops.amax(_ops.where_rows(hit, flat, input.new_full((), float("-inf"))))
    value = _dispatch.one_node(_of_all(row, flat), f"{kind.__name__.capitalize()}Backward0", input)
    found = value.item()
    hit = _ops.eq(plain, found) if found == found else _ops.ne(plain, plain)
    if _ops.count_nonzero(hit).item() == 1:
        return value
    alike = flat.masked_select(hit)
    return _dispatch.one_node(_ops.amax(alike) if found == found else _ops.mean(alike), f"{kind.__name__.capitalize()}Backward0", input)


def median(input, dim=None, keepdim=False, *, out=None, axis=None, keepdims=LACKING):
    """The lower median of all elements, NaN if one is; with a dim, (values, indices) along it.

    >>> x = facula.tensor([4.0, 1.0, 2.0, 3.0])
    >>> facula.median(x)
    tensor(2.)
    >>> x.median()
    tensor(2.)
    """
    dim = dim if axis is None else renamed("median", "axis", axis, dim, None)
    keepdim = keepdim if keepdims is LACKING else keepdims
    return _middle(_ops._median, return_types.median, input, dim, keepdim, out)


def nanmedian(input, dim=None, keepdim=False, *, out=None):
    """The lower median of what is not NaN; with a dim, (values, indices) along it.

    >>> x = facula.tensor([1.0, facula.nan, 3.0, 2.0])
    >>> facula.nanmedian(x)
    tensor(2.)
    >>> x.nanmedian()
    tensor(2.)
    """
    return _middle(_ops._nanmedian, return_types.nanmedian, input, dim, keepdim, out)


def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None, out=None):
    """Where each element of input would be inserted into sorted_sequence so that it stays sorted.

    right (or side="right"): behind equal elements. sorter: the order in which sorted_sequence is ascending.

    Raises RuntimeError if side contradicts right or is neither "left" nor "right".

    >>> facula.searchsorted(facula.tensor([1.0, 2.0, 3.0]), facula.tensor([2.0, 2.5]))
    tensor([1, 2])
    """
    if side not in (None, "left", "right"):
        raise RuntimeError(f"searchsorted: side is {side!r}. Give 'left' or 'right'.")
    if side == "left" and right:
        raise RuntimeError("searchsorted: side is 'left' but right is True. Give one of them.")
    _laid_out(sorted_sequence, input)
    if not isinstance(input, Tensor):
        check("searchsorted", "input", 1, "number", input)
        input = _data.tensor(input, dtype=DTYPES[lib.fc_result_type_scalar(sorted_sequence._h, number(input)[0])], device=sorted_sequence.device)
    if input.dtype is not sorted_sequence.dtype:
        both = DTYPES[lib.fc_result_type2(sorted_sequence._h, input._h)]
        sorted_sequence, input = sorted_sequence.to(both), input.to(both)
    if not out_int32:
        return _ops._searchsorted(sorted_sequence, input, sorter, right or side == "right", out=out)
    return into("searchsorted", _ops.copy(_ops._searchsorted(sorted_sequence, input, sorter, right or side == "right"), _int32), out)


def _laid_out(sequence, values):
    """Say once what a search in scattered memory costs."""
    for what, x in (("boundary", sequence), ("input value", values)):
        if isinstance(x, Tensor) and x.numel() and not x.is_contiguous():
            _warned.once(f"searchsorted: the {what} tensor is non-contiguous: it is copied for each search. Give its contiguous() if it is used again.", stacklevel=3)


def bucketize(input, boundaries, *, out_int32=False, right=False, out=None):
    """The bucket of each element: boundaries[i - 1] < x <= boundaries[i], or with right boundaries[i - 1] <= x < boundaries[i].

    >>> facula.bucketize(facula.tensor([1.0, 2.5]), facula.tensor([1.0, 2.0, 3.0]))
    tensor([0, 2])
    """
    if boundaries.dim() != 1:
        raise RuntimeError(f"bucketize: boundaries tensor must be 1 dimension, but got dim({boundaries.dim()}). Flatten it.")
    if not isinstance(input, Tensor):
        check("bucketize", "input", 0, "number", input)
        if out is not None:
            raise TypeError(f"bucketize() received an invalid combination of arguments: out for the number {input!r}. Make a tensor of it.")
    elif input.dtype._kind == 3:
        raise NotImplementedError(f'"searchsorted" not implemented for {input.dtype._name!r}. Take its real part.')
    elif not out_int32 and input.dtype is boundaries.dtype:
        _laid_out(boundaries, input)
        return _ops._searchsorted(boundaries, input, None, right, out=out)
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


def bincount(input, weights=None, minlength=0):
    """How often, or with what total weight, each value from 0 on occurs in a 1-d tensor of integers that are not negative.

    >>> x = facula.tensor([0, 2, 2, 3])
    >>> facula.bincount(x)
    tensor([1, 0, 2, 1])
    >>> x.bincount()
    tensor([1, 0, 2, 1])
    """
    if input.dtype._kind != 1:
        raise NotImplementedError(f'"bincount" not implemented for {input.dtype._name!r}. Give integers.')
    if minlength < 0:
        raise RuntimeError(f"bincount: minlength should be >= 0. It is {minlength}.")
    if _ops.interpreting and (each := _dispatch.by_examples(bincount, input, weights, minlength)) is not None:
        return each
    greatest = int(_ops.amax(input, ()).item()) if len(input.shape) == 1 and input.numel() else -1
    if len(input.shape) != 1:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if not input.numel():
        weights = None
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError(f"bincount: weights should be 1-d and have the same length as input, got {tuple(weights.shape)} and {tuple(input.shape)}. Give one weight for each.")
    size = max(minlength, greatest + 1)
    if weights is not None and weights.dtype not in (BY_NAME["float32"], BY_NAME["float64"]):
        weights = weights.to(BY_NAME["float64"])
    try:
        return _ops._bincount(input if input.dtype is _int64 else input.to(_int64), weights, size)
    except IndexError:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.") from None


def histc(input, bins=100, min=0, max=0, *, out=None):
    """How many elements fall into each of `bins` equal intervals from min to max, the last closed; both 0: the data's range.

    >>> x = facula.tensor([0.0, 1.0, 1.0, 3.0])
    >>> facula.histc(x, bins=4, min=0, max=4)
    tensor([1., 2., 0., 1.])
    >>> x.histc(bins=4, min=0, max=4)
    tensor([1., 2., 0., 1.])
    """
    for bound in (min, max):
        if type(bound) is int:
            number(bound)  # which refuses one beyond 64 bits
    if max < min:
        raise RuntimeError(f"histc: max must be larger than min, but they are {max} and {min}. Exchange them.")
    if bins <= 0:
        raise RuntimeError(f"histc: bins must be > 0, but is {bins}.")
    if min == max and input.numel() and not input.is_meta:
        if _ops.interpreting and out is None and (each := _dispatch.by_examples(histc, input, bins)) is not None:
            return each
        min, max = float(input.min()), float(input.max())
    if min == max:
        min, max = min - 1, max + 1
    if not (float("-inf") < min <= max < float("inf")):
        raise RuntimeError(f"histc: range of [{min}, {max}] is not finite. Give min and max.")
    found = _ops._histogram(_shape.flatten(input), bins, min, max)
    return into("histc", found, out)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along dim) in ascending order; on request where each input went, and how often each occurs.

    They come sorted whatever `sorted` says.

    >>> x = facula.tensor([3, 1, 3])
    >>> facula.unique(x)
    tensor([1, 3])
    >>> facula.unique(x, return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    >>> x.unique(return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is not None:
        return _unique_slices(input, dim, return_inverse, return_counts, True)
    flat = _shape.flatten(input)
    if (return_inverse or return_counts) and _few(flat, 64) and _comparable(numbers := flat.tolist()):
        kept, inverse, counts = _distinct(numbers, sorted_(range(len(numbers)), key=numbers.__getitem__))
        return _asked([_ops.index_select(flat, 0, kept), inverse.reshape(input.shape), counts], return_inverse, return_counts)
    if flat.dtype is _bool and flat.numel() and not (_ops.interpreting or flat.is_meta):
        return _asked(_truths(flat, input.shape), return_inverse, return_counts)
    values, order = _ops._sort(flat, 0, False)
    fresh = _first_of_runs(values)
    return _runs(values, fresh, order, input.shape, return_inverse, return_counts)


def _truths(flat, shape):
    """Distinct truth values need counting alone."""
    true = _ops.count_nonzero(flat).item()
    counts = {False: flat.numel() - true, True: true}
    kept = [value for value, count in counts.items() if count]
    inverse = flat.to(_int64) if len(kept) == 2 else flat.new_zeros(flat.shape, dtype=_int64)
    return [_data.tensor(kept, device=flat.device), inverse.reshape(shape), _data.tensor([counts[value] for value in kept], device=flat.device)]


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """input without repetitions of the element (or slice along dim) just before; on request where each went, and run lengths.

    >>> x = facula.tensor([1, 1, 2, 1])
    >>> facula.unique_consecutive(x)
    tensor([1, 2, 1])
    >>> x.unique_consecutive()
    tensor([1, 2, 1])
    """
    if dim is not None:
        return _unique_slices(input, dim, return_inverse, return_counts, False)
    if input.is_complex():
        raise DTypeError(f'unique_consecutive: "unique" not implemented for {input.dtype._name} (input: {tuple(input.shape)}). Take view_as_real(input), with a dim.')
    flat = _shape.flatten(input)
    return _runs(flat, _first_of_runs(flat), None, input.shape, return_inverse, return_counts)


sorted_ = sorted  # where an argument has the name


def _few(x, most):
    """Real numbers, so few that Python's lists are faster than rows."""
    return x.dtype._kind < 3 and 0 < x.numel() <= most and not (_ops.interpreting or x.is_meta)


def _comparable(numbers):
    """Is none of them NaN?"""
    return not [v for v in numbers if v != v]


def _distinct(items, order):
    """Of Python's items and the order in which they ascend: where the first of each distinct one is, the number of each item's, how many of each there are."""
    kept, inverse, counts, before = [], [0] * len(items), [], None
    for k in order:
        if not kept or items[k] != before:
            kept.append(k)
            counts.append(0)
            before = items[k]
        inverse[k] = len(kept) - 1
        counts[-1] += 1
    return [lib.from_numbers(numbers, _int64._id) for numbers in (kept, inverse, counts)]


def _asked(results, return_inverse, return_counts):
    values, inverse, counts = results
    if not return_inverse and not return_counts:
        return values
    return (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))


def _first_of_runs(values):
    """True where an element differs from the one before it; a NaN differs from everything."""
    n = values.shape[0]
    fresh = _create.full((n,), True, dtype=_bool, device="cpu")
    if n > 1:
        later, before = _ops.slice(values, 0, 1, n - 1, 1), _ops.slice(values, 0, 0, n - 1, 1)
        rest = _ops.slice(fresh, 0, 1, n - 1, 1)
        if _ops.interpreting or not lib.fc_map2(_NE, rest._h, later._h, before._h):
            rest.copy_(_ops.ne(later, before))
    return fresh


def _runs(values, fresh, order, shape, return_inverse, return_counts):
    starts = fresh.nonzero().reshape(-1) if return_counts else None
    results = [_index.masked_select(values, fresh)]
    if return_inverse:
        run = fresh.to(_int64).cumsum(0) - 1
        results.append((run if order is None else run.new_zeros(run.shape).scatter_(0, order, run)).reshape(shape))
    if return_counts:
        ends = _ops.cat([starts[1:], starts.new_full((min(1, starts.numel()),), values.numel())])
        results.append(ends - starts)
    return results[0] if len(results) == 1 else tuple(results)


def _places(n):
    return _ops.arange_of(0, 1, n, _int64, float("nan"), 0.0)


def _chosen(input, dim, kept):
    """Slices along dim, lying one behind the other."""
    return _ops.index_select(input.movedim(dim, 0), 0, kept).movedim(0, dim) if dim and input.numel() else _ops.index_select(input, dim, kept)


def _in_order(rows):
    """Where the rows stand in ascending order, compared from the first column on; equal ones stay as they came."""
    n, width = rows.shape
    leading = 8
    while leading < width and not (_ops.interpreting or rows.is_meta):  # a few columns tell most rows apart
        part = _ops.slice(rows, 1, 0, leading, 1)
        order = _by_columns(part)
        part = _ops.index_select(part, 0, order)
        if not _ops.any(_ops.all(_ops.eq(_ops.slice(part, 0, 1, n - 1, 1), _ops.slice(part, 0, 0, n - 1, 1)), 1)).item():
            return order
        leading *= 8
    return _by_columns(rows)


def _by_columns(rows):
    order = _places(rows.shape[0])
    for k in range(rows.shape[1] - 1, -1, -1):
        order = order[_ops._sort(rows[:, k][order], 0, False)[1]]
    return order


def _unique_slices(input, dim, return_inverse, return_counts, ordered):
    """Slices along dim, compared element by element from the first: sorted by the last element first, stably."""
    if not input.dim():
        raise IndexError(f"unique: Dimension specified as {dim} but tensor has no dimensions. Leave dim out.")
    n = input.shape[_shape.wrap_dim("unique", dim, input.dim())]
    if 0 in input.shape and (n or sum([not size for size in input.shape]) > 1):
        raise RuntimeError(f"unique: There are 0 sized dimensions, and they aren't selected, so unique cannot be applied (input: {tuple(input.shape)}, dim {dim}).")
    if ordered and _few(input, 256) and _comparable(numbers := input.movedim(dim, 0).reshape(-1).tolist()):
        width = len(numbers) // n
        rows = [numbers[k * width : (k + 1) * width] for k in range(n)]
        kept, inverse, counts = _distinct(rows, sorted_(range(n), key=rows.__getitem__))
        return _asked([_chosen(input, dim, kept), inverse, counts], return_inverse, return_counts)
    rows = input.movedim(dim, 0).reshape(n, -1) if input.numel() else input.new_zeros((n, 0))
    order = None
    if ordered:
        order = _in_order(rows)
        rows = _ops.index_select(rows, 0, order)
    fresh = input.new_full((n,), True, dtype=_bool)
    if n > 1:
        fresh[1:] = (rows[1:] != rows[:-1]).any(1)
    places = _places(n)
    found = _runs(places if order is None else order, fresh, order, (n,), return_inverse, return_counts)
    kept = found[0] if isinstance(found, tuple) else found
    slices = _chosen(input, dim, kept)
    return (slices, *found[1:]) if isinstance(found, tuple) else slices


__all__ = [
    "argsort", "bincount", "bucketize", "histc", "kthvalue", "log_softmax", "median", "mode", "msort", "nanmedian", "searchsorted", "softmax",
    "sort", "topk", "unique", "unique_consecutive",
]  # fmt: skip
METHODS = [n for n in __all__ if n not in ("bucketize", "searchsorted")]
