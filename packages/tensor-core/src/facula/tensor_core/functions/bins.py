"""Reductions into places and bins, and numerical derivatives: compositions over the rows."""

import math

from facula.tensor_core import _ops, _warned, return_types
from facula.tensor_core.functions import ranges as _ranges, shape as _shape
from facula.tensor_core.dispatch.arguments import whole
from facula.tensor_core.dispatch.kinds import check, read_ints
from facula.tensor_core.functions.bin_checks import check_histogram, check_out, check_range
from facula.tensor_core._errors import IndexRangeError, RankError, ShapeError
from facula.tensor_core._lib import lib
from facula.tensor_core._limits import iinfo
from facula.tensor_core.dispatch.out import apart, clear, into, kept, written
from facula.tensor_core.dispatch.run import number_for
from facula.tensor_core.dispatch.slow import by_examples, gradient_lies, one_node
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import BY_NAME

_int64 = BY_NAME["int64"]


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True, out=None):
    """input with the elements of src that go to one place combined there: reduce is sum, prod, mean, amax or amin.

    Without include_self the places that src reaches forget what input held. Elements combine in the order of src.

    Raises RuntimeError for another `reduce`.

    >>> x = facula.zeros(2)
    >>> facula.scatter_reduce(x, 0, facula.tensor([0, 0, 1]), facula.tensor([3.0, 4.0, 5.0]), "amax")
    tensor([4., 5.])
    >>> x.scatter_reduce(0, facula.tensor([0, 0, 1]), facula.tensor([3.0, 4.0, 5.0]), "amax")
    tensor([4., 5.])
    """
    if include_self and reduce != "mean" and reduce in _REDUCE and input.shape and src.shape == index.shape and index.numel() and input.dtype is src.dtype:
        result = _REDUCE[reduce][0](input, dim, index, src)
        return one_node(result, "ScatterReduceBackward0", input, src) if out is None else into("scatter_reduce", result, out, (input, index, src))
    _shape.wrap_dim("scatter_reduce", dim, input.dim())
    reduce = {"min": "amin", "max": "amax"}.get(reduce, reduce)  # older names, which PyTorch takes here and nowhere else
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"scatter_reduce: reduce argument must be either sum, prod, mean, amax or amin, got {reduce}.")
    if input.dtype is not src.dtype:
        raise RuntimeError(f"scatter_reduce: expected self.dtype to be equal to src.dtype, got {input.dtype._name} and {src.dtype._name}. Convert one.")
    if not index.numel() and not input.dim() == src.dim() == index.dim() > 0:  # nothing to check, PyTorch agrees
        return into("scatter_reduce", _ops.copy(input, None, 0), out, (input, index, src))
    if not input.dim():
        flat = scatter_reduce(input.reshape(1), 0, index.reshape(-1), src.reshape(-1), reduce, include_self=include_self)
        return into("scatter_reduce", flat.reshape(()), out, (input, index, src))
    for name, dims in (("self", input.dim()), ("src", src.dim())):
        if index.dim() != dims and index.dim() + dims > 1:
            raise (RankError if dims < index.dim() else ShapeError)(f"scatter_reduce: Index tensor must have the same number of dimensions as {name} tensor, got {index.dim()} and {dims}. Reshape one.")
    result = one_node(_combined(input, dim, index, _corner(src, index.shape), reduce, include_self), "ScatterReduceBackward0", input, src)
    return into("scatter_reduce", result, out, (input, index, src))


def _combined(input, dim, index, src, reduce, include_self):
    if reduce == "mean":
        return _averaged(input, dim, index, src, include_self)
    row, neutral = _REDUCE[reduce]
    if not include_self:  # forget what stood where src goes
        input = _ops.scatter(input, dim, index, _ops.expand(number_for("scatter_reduce", neutral(input.dtype), input), index.shape))
    return row(input, dim, index, src)


def _least(dtype):
    return float("-inf") if dtype._kind >= 2 else iinfo(dtype).min if dtype._kind else False


def _greatest(dtype):
    return float("inf") if dtype._kind >= 2 else iinfo(dtype).max if dtype._kind else True


# reduce: its row, and the number that changes nothing
_REDUCE = {
    "sum": (_ops.scatter_add, lambda dtype: 0), "prod": (_ops._scatter_prod, lambda dtype: 1),
    "amax": (_ops._scatter_max, _least), "amin": (_ops._scatter_min, _greatest),
}  # fmt: skip


def _corner(src, shape):
    """The part of src that index speaks of: from 0 along each dim."""
    src = src if src.shape or not shape else src.reshape(1)
    for d, size in enumerate(shape):
        if src.shape[d] != size:
            src = _shape.narrow(src, d, 0, size)
    return src


def _averaged(input, dim, index, src, include_self):
    ones = src.new_ones(src.shape)
    count = _ops.scatter_add(input.new_ones(input.shape) if include_self else input.new_zeros(input.shape), dim, index, ones)
    if not include_self:
        input = _ops.where_rows(_ops.gt(count.abs() if count.dtype.is_complex else count, 0), input.new_zeros(()), input)
    total = _ops.scatter_add(input, dim, index, src)
    count = _ops.where_rows(_ops.eq(count, 0), count.new_ones(()), count)
    return _ops.div(total, count) if input.dtype._kind >= 2 else _ops.floor_divide(total, count)


def index_reduce(input, dim, index, source, reduce, *, include_self=True, out=None):
    """input with the slices of source combined where the 1-d index says: reduce is prod, mean, amax or amin.

    >>> x = facula.ones(2)
    >>> facula.index_reduce(x, 0, facula.tensor([0, 0]), facula.tensor([3.0, 4.0]), "prod")
    tensor([12.,  1.])
    >>> x.index_reduce(0, facula.tensor([0, 0]), facula.tensor([3.0, 4.0]), "prod")
    tensor([12.,  1.])
    """
    _warned.once("index_reduce() is in beta and its arguments may change at any time, as PyTorch's do.")
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    dim = _shape.wrap_dim("index_reduce", dim, input.dim())
    if index.dim() > 1:
        raise IndexRangeError(f"index_reduce(): Index is supposed to be a vector, but got dim: {index.dim()}. Flatten it.")
    if index.dtype._name not in ("int32", "int64"):
        raise RuntimeError(f"index_reduce(): Expected dtype int32/int64 for index but got: {index.dtype._name}. Convert it with .long().")
    if source.dtype is not input.dtype:
        raise RuntimeError(f"index_reduce(): self and source should have the same dtype, but got {input.dtype._name} and {source.dtype._name}. Convert one with .to().")
    if input.dim() and input.dim() != source.dim():
        if not source.dim() and index.numel() != 1:
            raise IndexError(f"index_reduce(): Dimension specified as {dim} but the source has no dimensions, self.shape = {list(input.shape)}. Reshape the source.")
        raise RuntimeError(f"index_reduce(): source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}.")
    if not input.dim() and index.numel() != 1:
        raise IndexRangeError(f"index_reduce(): input has no dims, so index should have one element, got {index.numel()}. Give one.")
    if not input.dim() and source.dim():
        raise RuntimeError(f"index_reduce(): source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = [] source.shape = {list(source.shape)}.")
    if input.dim():
        if source.shape[dim] != index.numel():
            raise RuntimeError(f"index_reduce(): Number of indices ({index.numel()}) should be equal to source.size(dim): ({source.shape[dim]}), for dim: {dim}. Give one for each slice.")
        if any(a != b for d, (a, b) in enumerate(zip(input.shape, source.shape)) if d != dim):
            raise RuntimeError(f"index_reduce(): source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}. Reshape it.")
    wide = index if index.dtype is _int64 else index.to(_int64)
    if len(source.shape) != 1:
        wide = _ops.view(wide, (*[1] * dim, -1, *[1] * (len(source.shape) - dim - 1)) if source.shape else ())
    if include_self and reduce != "mean" and out is None and wide.numel() and input.shape:
        return one_node(_REDUCE[reduce][0](input, dim, _ops.expand(wide, source.shape), source), "IndexReduceBackward0", input, source)
    if isinstance(out, Tensor):
        clear("scatter_reduce", out, (input, index, source))
    lies = input if include_self or reduce not in ("amax", "amin") or input.numel() < 2 else gradient_lies(input, "like")
    result = scatter_reduce(lies, dim, _ops.expand(wide, list(source.shape)), source, reduce, include_self=include_self, out=out)
    return one_node(result, "IndexReduceBackward0", input, source)


def _edges(x, bins, range, d=0):
    """Edges of equal bins over the given range, or the data's; around one value half to each side."""
    if range is not None:
        low, high = range
    elif x.numel():
        least, greatest = _ops._aminmax(x, None, False)
        low, high = least.item(), greatest.item()
    else:
        low, high = 0.0, 1.0
    check_range(low, high, d)
    if low == high:
        low, high = low - 0.5, high + 0.5
    if range is None and not x.is_meta:
        return _ops.linspace_of(bins + 1, x.dtype, low, high)
    return _ranges.linspace(low, high, bins + 1, dtype=x.dtype, device=x.device)


def _bin(x, edges):
    """1 + the bin of each element, the last one closed; 0 outside."""
    last = edges.shape[0] - 1
    return _ops.mul(_ops._searchsorted(_ops.slice(edges, 0, 0, last, 1), x, None, True), _ops.le(x, _ops.select(edges, 0, last)))


def _counted(points, edges, weight, density):
    """Histogram of points (N, D) over the edges of each of D dims."""
    sizes = [e.shape[0] - 1 for e in edges]
    if not edges:  # of no coordinates there is one bin, which PyTorch counts nothing in
        return points.new_full((), float("nan") if density else 0.0)
    at = None
    for d, e in enumerate(edges):  # in a grid whose first places are for what is outside
        b = _bin(_ops.copy(_ops.select(points, 1, d), None, 0), e)
        at = b if at is None else _ops.add(_ops.mul(at, sizes[d] + 1), b)
    hits = points.new_ones(at.shape) if weight is None else weight.reshape(-1)
    found = _ops.scatter_add(points.new_zeros(math.prod(n + 1 for n in sizes)), 0, at, hits).reshape([n + 1 for n in sizes])
    for d, n in enumerate(sizes):
        found = _ops.slice(found, d, 1, n, 1)
    found = _ops.copy(found, None, 0)
    if density:
        found = _ops.div(found, _ops.sum(found))
        for d, e in enumerate(edges):
            widths = _ops.sub(e[1:], e[:-1])
            found = _ops.div(found, widths.reshape([-1 if k == d else 1 for k in range(len(edges))]))
    return found


def histogram(input, bins=100, *, range=None, weight=None, density=False, out=None):
    """(hist, bin_edges) of all elements: bins is a number of equal bins over `range` (the data's if None), or a tensor of edges.

    The last bin is closed. density: divided by the total and the widths, so that the integral is 1.

    >>> import facula
    >>> facula.histogram(facula.tensor([1.0, 2.0, 1.0]), bins=2, range=(0.0, 3.0)).hist
    tensor([2., 1.])
    >>> facula.tensor([1.0, 2.0, 1.0]).histogram(bins=2, range=(0.0, 3.0)).hist
    tensor([2., 1.])
    """
    check_out(input, out)
    if not isinstance(bins, Tensor):
        check("histogram", "bins", 1, "int", bins)
    check_histogram("histogram", input, [bins], range, weight, isinstance(bins, Tensor))
    if _ops.interpreting and out is None and range is None and not isinstance(bins, Tensor):
        each = by_examples(lambda one, w: histogram(one, bins, weight=w, density=density), input, weight)
        if each is not None:
            return return_types.histogram(*each)
    flat = input.reshape(-1)
    edges = bins.detach().clone() if isinstance(bins, Tensor) else _edges(flat, bins, range)
    if weight is None and not density and out is None and flat.numel() < 1 << 24 and edges.shape[0] > 1 and not (_ops.interpreting or flat.is_meta):
        return return_types.histogram(_tallied(flat, edges), edges.contiguous())
    if edges.shape[0] < 2:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {edges.shape[0] - 1} for dimension 0. Give two edges at least.")
    found = _counted(flat.unsqueeze(1), [edges], weight, density)
    return into("histogram", return_types.histogram(found, edges.contiguous()), out)


def _tallied(x, edges):
    """How many elements of a vector lie in each bin: before the first edge, in each bin, from the last edge on; of those the ones at that edge."""
    last = edges.shape[0] - 1
    x = x if x._origin is None else x.detach()
    counts = _ops._bincount(_ops._searchsorted(edges, x, None, True), None, last + 2)
    found = _ops.copy(_ops.slice(counts, 0, 1, last, 1), x.dtype, 0)
    if at_end := _ops.sum(_ops.eq(x, _ops.select(edges, 0, last))).item():
        _ops.add_(_ops.slice(found, 0, last - 1, 1, 1), at_end)
        lib.fc_fresh(found._h)
    return found


def histogramdd(input, bins, range=None, weight=None, density=False):
    """(hist, bin_edges) of points (..., D): bins is a number, a number for each dim, or a tensor of edges for each.

    range: the least and greatest edge of each dim in turn, 2 D numbers.

    >>> facula.histogramdd(facula.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), bins=[2, 2]).hist
    tensor([[0., 1.],
            [1., 1.]])
    """
    if whole(bins):
        check("histogramdd", "bins", 1, "int", bins)
    if input.dim() < 2:
        raise (RuntimeError if input.dim() else RankError)(f"torch.histogramdd: input tensor should have at least 2 dimensions, got {input.dim()}. Give points (N, D).")
    dims = input.shape[-1]
    if input.dtype._name not in ("float32", "float64") and (input.dtype._kind < 2 or not (isinstance(bins, (list, tuple)) and any(isinstance(edges, Tensor) for edges in bins))):
        raise NotImplementedError(f"histogramdd: not implemented for {input.dtype._name}. Convert with .to(facula.float32).")
    if not whole(bins) and not isinstance(bins, (list, tuple)):
        raise TypeError(f"histogramdd(): argument 'bins' (position 2) must be an int, a tuple of ints or a tuple of Tensors, not {type(bins).__name__}. Put it into a list.")
    bins = [bins.__index__()] * dims if whole(bins) else list(bins)
    if bins and not isinstance(bins[0], Tensor) and len(bins) != dims:
        raise RuntimeError(f"histogramdd: The size of bins must be equal to the innermost dimension of the input. They are {len(bins)} and {dims}.")
    if len(bins) != dims:
        raise RuntimeError(f"torch.histogramdd: expected {dims} sequences of bin edges for a {dims}-dimensional histogram but got {len(bins)}")
    check_histogram("histogramdd", input, bins, range, weight)
    points = input.flatten(0, -2)
    ranges = [None] * dims if range is None else [tuple(range[2 * d : 2 * d + 2]) for d in _counting(dims)]
    edges = [b if isinstance(b, Tensor) else _edges(points[:, d], b, ranges[d], d) for d, b in enumerate(bins)]
    return return_types.histogramdd(_counted(points, edges, weight, density), tuple(edges))


_counting = range  # the argument hides the builtin


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Derivatives along each dim by central differences, second-order accurate; one-sided at the ends, of order edge_order.

    spacing: the step, one for each dim, or tensors of coordinates. Answers a tuple with one tensor for each dim.

    Source: Fornberg, Generation of Finite Difference Formulas on Arbitrarily Spaced Grids (1988), Math. Comp. 51.

    >>> import facula
    >>> facula.gradient(facula.tensor([1.0, 4.0, 9.0, 16.0]))[0]
    tensor([3., 4., 6., 7.])
    """
    if input.dtype._name == "uint8":
        raise RuntimeError("torch.gradient does not support uint8 input, whose differences cannot be negative. Convert with input.short().")
    if spacing is None and isinstance(dim, (tuple, list)):
        check("gradient", "spacing", None, "number|tensors|floats", spacing)
    if not isinstance(spacing, (int, float, complex, list, tuple, type(None))):
        check("gradient", "spacing", None, "number|tensors|floats", spacing)
    n, spacing = input.dim(), 1 if spacing is None else spacing
    dims = list(_counting(n)) if dim is None else read_ints("gradient", "dim", None, dim, "int|sizes")
    if edge_order not in (1, 2):
        raise RuntimeError(f"torch.gradient only supports edge_order=1 and edge_order=2, got {edge_order}.")
    steps = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    if len(steps) != len(dims):
        what = f"or a list of length {len(dims)}, of the dims" if dim is None else f"or it's spacing and dim arguments to have the same length {len(dims)}"
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar {what}, got {len(steps)} of them.")
    dims = [_shape.wrap_dim("gradient", d, n) for d in dims]
    if len(set(dims)) != len(dims):
        raise RuntimeError(f"dim appears multiple times in the list of dims: {dims}")
    if (other := next((s.dim() for s in steps if isinstance(s, Tensor) and s.dim() != 1 and (s.dim() or isinstance(spacing, (list, tuple)))), 1)) != 1:
        raise RuntimeError(f"torch.gradient expected each element of spacing to have one dimension, but got an element with {other} dimensions! Reshape it, or give a number.")
    if dims and not n:
        raise IndexError(f"gradient: dim {dims[0]} of a tensor without dims (input: ()). Give one dim at least.")
    return tuple(_slope(input, d, s, edge_order) for d, s in zip(dims, steps))


def _slope(f, dim, step, edge_order):
    n = f.shape[dim]
    if n < edge_order + 1:
        raise RuntimeError(f"torch.gradient expected each dimension size to be at least edge_order+1, got {n} along dim {dim}.")

    def at(start, length):
        return _shape.narrow(f, dim, start, length)

    def along(line):
        return line.reshape([-1 if d == dim else 1 for d in _counting(f.dim())])

    if not isinstance(step, Tensor) or step.dim() == 0:
        step = step if not isinstance(step, Tensor) else step.item()
        if type(step) is int and not -(2**62) < step < 2**62:
            step = float(step)  # of which twice as much fits, too
        middle = [(at(2, n - 2) - at(0, n - 2)) / (2 * step)] if n > 2 else []
        if edge_order == 1:
            ends = [(at(1, 1) - at(0, 1)) / step, (at(n - 1, 1) - at(n - 2, 1)) / step]
        else:
            ends = [(at(1, 1) * 4 - at(0, 1) * 3 - at(2, 1)) / (2 * step), (at(n - 1, 1) * 3 - at(n - 2, 1) * 4 + at(n - 3, 1)) / (2 * step)]
        return _ops.cat([ends[0], *middle, ends[1]], dim)
    if step.shape[0] != n:
        raise RuntimeError(f"torch.gradient expected each spacing tensor to have the size of its dim, got {step.shape[0]} for {n} along dim {dim}.")
    h = step[1:] - step[:-1]

    def three(k, length, weights):
        """weights of f at k, k + 1, k + 2"""
        return sum(at(k + j, length) * along(w) for j, w in enumerate(weights))

    a, b = h[:-1], h[1:]
    middle = [three(0, n - 2, (-b / (a * (a + b)), (b - a) / (a * b), a / (b * (a + b))))] if n > 2 else []
    if edge_order == 1:
        ends = [(at(1, 1) - at(0, 1)) / along(h[:1]), (at(n - 1, 1) - at(n - 2, 1)) / along(h[-1:])]
    else:
        a0, b0, a1, b1 = h[:1], h[1:2], h[-2:-1], h[-1:]
        ends = [
            three(0, 1, (-(2 * a0 + b0) / (a0 * (a0 + b0)), (a0 + b0) / (a0 * b0), -a0 / (b0 * (a0 + b0)))),
            three(n - 3, 1, (b1 / (a1 * (a1 + b1)), -(a1 + b1) / (a1 * b1), (2 * b1 + a1) / (b1 * (a1 + b1)))),
        ]
    return _ops.cat([ends[0], *middle, ends[1]], dim)


def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """scatter_reduce, written into the tensor itself.

    >>> facula.zeros(2).scatter_reduce_(0, facula.tensor([0, 0, 1]), facula.tensor([3.0, 4.0, 5.0]), "amax")
    tensor([4., 5.])
    """
    apart("scatter_reduce_", self, (index, src))
    return written(self, scatter_reduce(kept(self, src), dim, index, src, reduce, include_self=include_self))


def index_reduce_(self, dim, index, source, reduce, *, include_self=True):
    """index_reduce, written into the tensor itself.

    >>> facula.ones(2).index_reduce_(0, facula.tensor([0, 0]), facula.tensor([3.0, 4.0]), "prod")
    tensor([12.,  1.])
    """
    apart("index_reduce_", self, (index, source))
    return written(self, index_reduce(kept(self, source), dim, index, source, reduce, include_self=include_self))


__all__ = ["gradient", "histogram", "histogramdd", "index_reduce", "scatter_reduce"]
METHODS = ["histogram", "index_reduce", "index_reduce_", "scatter_reduce", "scatter_reduce_"]
