"""Sparse tensors chosen from, joined and rearranged: rows of the table of ops.py."""

from facula.tensor_core import _ops
from facula.tensor_core.functions import create as _create, ranges as _ranges
from facula.tensor_core.sparse import ops as _sparse_ops
from facula.tensor_core.dispatch.arguments import whole
from facula.tensor_core.sparse.ops import OPS, grouped
from facula.tensor_core._types import BY_NAME, sparse_csr


def _make(indices, values, size, coalesced=None):
    from facula.tensor_core.sparse.tensor import make

    return make(indices, values, size, coalesced)


def _wrapped(name, dim, dims):
    if not -dims <= dim < dims:
        raise IndexError(f"{name}: Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], but got {dim})")
    return dim % dims


def _without(size, dim):
    return tuple(size[:dim]) + tuple(size[dim + 1 :])


def _select(x, dim, index):
    """x at one index of a dim: sparse as long as a sparse dim is left."""
    n, dim = x.sparse_dim(), _wrapped("select", dim, x.dim())
    if not -x.shape[dim] <= index < x.shape[dim]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(x.shape)} at dimension {dim}")
    index = index % x.shape[dim]
    size = _without(x.shape, dim)
    if dim >= n:
        return _make(x._i, x._v.select(dim - n + 1, index), size, x._coalesced)
    kept = [d for d in range(n) if d != dim]
    if not x.is_sparse:
        index, values = x.line(dim, index)
        return _make(index.unsqueeze(0), values, size, bool((index[1:] > index[:-1]).all()))
    there = (x._i[dim] == index).nonzero()[:, 0]
    values = x._v.index_select(0, there)
    if n == 1:
        return values.sum(0, dtype=x.dtype)
    return _make(x._i[kept].index_select(1, there), values, size, x._coalesced or None)


def _narrowed(x, dim, start, length, step):
    """x from start on along a dim."""
    x = x.coo()
    n = x.sparse_dim()
    size = (*x.shape[:dim], length, *x.shape[dim + 1 :])
    if dim >= n:
        return _make(x._i, _ops.slice(x._v, dim - n + 1, start, length, step), size, x._coalesced)
    at = x._i[dim] - start
    there = ((at >= 0) & (at < length * step) & (at % step == 0)).nonzero()[:, 0]
    indices = x._i.index_select(1, there)
    indices[dim] = (indices[dim] - start) // step
    return _make(indices, x._v.index_select(0, there), size, x._coalesced)


def _index_select(x, dim, index):
    """x at each of the indices along a dim."""
    x = x.coo()
    n, dim = x.sparse_dim(), _wrapped("index_select", dim, x.dim())
    if index.numel() and not -x.shape[dim] <= int(index.min()) <= int(index.max()) < x.shape[dim]:
        raise IndexError(f"index_select(): index contains an index out of range for tensor of size {list(x.shape)} at dimension {dim}")
    index = index % max(x.shape[dim], 1)
    size = (*x.shape[:dim], index.numel(), *x.shape[dim + 1 :])
    if dim >= n:
        return _make(x._i, x._v.index_select(dim - n + 1, index), size, x._coalesced)
    found, order = x._i[dim].sort(stable=True)
    first = _search(found, index.long(), False)
    counts = _search(found, index.long(), True) - first
    places = _ranges.arange(index.numel()).repeat_interleave(counts)
    ahead = counts.cumsum(0) - counts
    chosen = order.index_select(0, first.index_select(0, places) + _ranges.arange(places.numel()) - ahead.index_select(0, places))
    indices = x._i.index_select(1, chosen)
    indices[dim] = places
    return _make(indices, x._v.index_select(0, chosen), size)


def _search(found, index, right):
    from facula.tensor_core.functions.order import searchsorted

    return searchsorted(found, index, right=right)


def _unsqueeze(x, dim):
    x = x.coo()
    n, dim = x.sparse_dim(), _wrapped("unsqueeze", dim, x.dim() + 1)
    size = (*x.shape[:dim], 1, *x.shape[dim:])
    if dim > n:
        return _make(x._i, x._v.unsqueeze(dim - n + 1), size, x._coalesced)
    row = _create.zeros((1, x._nnz()), dtype=x._i.dtype)
    return _make(_ops.cat([x._i[:dim], row, x._i[dim:]], 0), x._v, size, x._coalesced)


def _permute(x, dims):
    x = x.coo()
    n = x.sparse_dim()
    if len(dims) != x.dim():
        raise RuntimeError(f"permute(sparse_coo): number of dimensions in the tensor input, {x.dim()}, does not match the length of the desired ordering of dimensions, {len(dims)}.")
    order = [_wrapped("permute", d, x.dim()) for d in dims]
    if sorted(order) != list(range(x.dim())):
        raise RuntimeError(f"permute: duplicate dims are not allowed, got {tuple(dims)}. Name each of the {x.dim()} dims once.")
    if sorted(order[:n]) != list(range(n)):
        raise RuntimeError("permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed. Only transpose within each.")
    size = [x.shape[d] for d in order]
    values = x._v.permute((0, *(d - n + 1 for d in order[n:])))
    return _make(x._i[order[:n]], values, size, x._coalesced and order[: max(n, 1)] == list(range(min(max(n, 1), len(order)))))


def _cat(tensors, dim):
    """Sparse tensors one after the other along a dim."""
    first = tensors[0]
    if not all(isinstance(t, _sparse_ops.Sparse) for t in tensors):
        raise RuntimeError("cat: Concatenating sparse tensors, but a dense tensor was found. Convert it with to_sparse().")
    tensors = [t.coo() for t in tensors]
    dim, n = _wrapped("cat", dim, first.dim()), tensors[0].sparse_dim()
    for k, t in enumerate(tensors):
        if _without(t.shape, dim) != _without(first.shape, dim) or t.sparse_dim() != n:
            raise RuntimeError(f"cat: All tensors must have the same shape: {list(first.shape)} (except in the concatenating dimension {dim}), but found shape: {list(t.shape)} at position {k}. Reshape one.")
    size = [*first.shape]
    size[dim] = sum(t.shape[dim] for t in tensors)
    if dim >= n:  # every tensor's values stand in their own part of the dense dim
        values = [_padded(t._v, dim - n + 1, k, tensors) for k, t in enumerate(tensors)]
        return _make(_ops.cat([t._i for t in tensors], 1), _ops.cat(values, 0), size)
    indices, start = [], 0
    for t in tensors:
        shift = _create.zeros((n, 1), dtype=t._i.dtype)
        shift[dim] = start
        indices.append(t._i + shift)
        start += t.shape[dim]
    return _make(_ops.cat(indices, 1), _ops.cat([t._v for t in tensors], 0), size, dim == 0 and all(t._coalesced for t in tensors))


def _padded(values, dim, k, tensors):
    """values with zeros where along dim the other tensors stand."""
    shapes = [(*values.shape[:dim], t._v.shape[dim], *values.shape[dim + 1 :]) for t in tensors]
    parts = [values if j == k else _create.zeros(shape, dtype=values.dtype) for j, shape in enumerate(shapes)]
    return _ops.cat(parts, dim)


def getitem(x, key):
    """x[key] of whole numbers, None, `...` and `:`."""
    keys = list(key) if isinstance(key, tuple) else [key]
    given = sum(k is not None and k is not Ellipsis for k in keys)
    if Ellipsis in [k for k in keys if k is None or k is Ellipsis]:
        at = next(j for j, k in enumerate(keys) if k is Ellipsis)
        keys[at : at + 1] = [slice(None)] * (x.dim() - given)
    dim = 0
    for k in keys:
        if k is None:
            x = x.unsqueeze(dim)
        elif isinstance(k, int) and not isinstance(k, bool):
            if dim >= x.dim():
                raise IndexError(f"too many indices for tensor of dimension {x.dim()}")
            x = x.select(dim, k)
            continue
        elif not (isinstance(k, slice) and k == slice(None)):
            raise NotImplementedError(f"a sparse tensor is indexed by whole numbers, None and `:`, not {type(k).__name__}. Use index_select() or to_dense().")
        dim += 1
    return x


def _bmm(x, y):
    """Products of the matrices of a sparse tensor with those of a strided one."""
    if x.dense_dim() or y.dim() != 3 or x.shape[0] != y.shape[0] or x.shape[2] != y.shape[1]:
        raise RuntimeError(f"bmm: expected sparse and strided matrices that fit, got {tuple(x.shape)} and {tuple(y.shape)}")
    x = x.coo()
    batch, n, m = x.shape
    terms = grouped(y, 2).index_select(0, x._i[0] * m + x._i[2]) * x._v.unsqueeze(1)
    return _create.zeros((batch * n, y.shape[2]), dtype=terms.dtype).index_add(0, x._i[0] * n + x._i[1], terms).reshape(batch, n, y.shape[2])


def _matmul(x, y, plain=OPS["matmul"]):
    return _bmm(x, y) if x.dim() == 3 and isinstance(x, _sparse_ops.Sparse) and not isinstance(y, _sparse_ops.Sparse) else plain(x, y)


def _linear(x, weight, bias=None):
    """x W^T + b, one of the two sparse; dims before x's last two are one while it is computed."""
    rows = x if isinstance(x, _sparse_ops.Sparse) or x.dim() == 1 else x.reshape(-1, x.shape[-1])
    out = _ops.matmul(rows, weight.t())
    out = out if bias is None else out + bias
    return out if x.dim() == out.dim() else out.reshape(*x.shape[:-1], weight.shape[0])


def _sum(x, dim=None, keepdim=False, dtype=None):
    from facula.sparse import sum

    if dim is None or not whole(dim) and not len(dim):
        return x._v.sum(dtype=dtype)
    if not x.is_sparse and x.layout is not sparse_csr:
        raise RuntimeError(f"sum: Currently the only compressed sparse format supported for sum over dims is CSR, but got layout {x.layout}. Convert with to_sparse_csr().")
    if not x.is_sparse and not keepdim:
        raise RuntimeError(f"sum: reduction operations on CSR tensors with keepdim=False is unsupported, got dim {dim}. Keep the dims, or convert with to_sparse().")
    total = sum(x.coo(), dim, dtype=dtype or (BY_NAME["int64"] if x.dtype._kind < 2 else None))
    for d in sorted(d % x.dim() for d in ((dim,) if whole(dim) else dim)) if keepdim else ():
        total = total.unsqueeze(d)
    return total if x.is_sparse or isinstance(total, _sparse_ops.Sparse) else total.to_sparse()


def _stack(tensors, dim):
    dim = _wrapped("stack", dim, tensors[0].dim() + 1)
    return _cat([_unsqueeze(t, dim) for t in tensors], dim)


def _any(x, dim=None, keepdim=False):
    if dim not in (None, ()):
        raise NotImplementedError("any: of a sparse tensor over all dims only. Convert with to_dense().")
    return x._v.any()


OPS.update({
    "select": _select, "slice": _narrowed, "index_select": _index_select, "unsqueeze": _unsqueeze, "permute": _permute, "cat": _cat, "stack": _stack, "matmul": _matmul, "linear": _linear, "sum": _sum, "any": _any,
})  # fmt: skip
__all__ = []
