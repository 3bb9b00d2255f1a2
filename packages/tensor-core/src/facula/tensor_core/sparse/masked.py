"""torch.masked's reductions of sparse tensors: over the elements that a mask lists, with a sparse result.

An element counts where the mask lists it and is not zero; one that the input does not list counts as 0.
"""

from facula.tensor_core import _ops
from facula.tensor_core.functions.bins import scatter_reduce
from facula.tensor_core.functions.index_key import nonzero
from facula.tensor_core.functions.order import searchsorted, unique
from facula.tensor_core._types import BY_NAME, sparse_csr
from facula.tensor_core.sparse.rows import Compressed, compress
from facula.tensor_core.sparse.making import to_sparse
from facula.tensor_core.sparse.tensor import Sparse, _flat, _unravelled, make


def reduced(name, input, dims, keepdim, dtype, mask, fill):
    """The `name` (sum, prod, mean, amax or amin) of what counts over dims, in input's layout.

    Places of the result to which nothing counts are not listed. fill stands for what the mask leaves out of dense dims.
    """
    if mask is None and name != "sum":
        raise ValueError(f"masked {name} expects explicit mask for {input.layout} tensor input: unlisted elements would count as 0. Give a mask.")
    if isinstance(input, Compressed) and not keepdim:
        raise RuntimeError(f"masked {name}: reduction operations on {input._name()} tensors with keepdim=False is unsupported, its result is no matrix. Convert with to_sparse_coo().")
    dims = [d for d in dims if d < input.dim()]  # of no dims, dim 0 is none
    if isinstance(input, Compressed) and input.layout is not sparse_csr:
        raise ValueError(f"masked {name} expects strided, sparse_coo or sparse_csr tensor (got {input.layout} tensor). Convert with to_sparse_csr().")
    listed = input.coo() if mask is None else _listed(input, mask, fill)
    listed = make(listed._i, listed._v if dtype is None else listed._v.to(dtype), input.shape)
    if isinstance(input, Compressed):
        return compress(_by_place(name, listed, dims, True), input._axis)
    if any(d not in dims for d in range(input.sparse_dim())):
        return _by_place(name, listed, dims, keepdim)
    return _whole(name, listed, dims, keepdim, fill)


def _listed(input, mask, fill):
    """The elements that count, as a COO tensor."""
    n, x, mask = input.sparse_dim(), input.coo().coalesce(), _of_shape(mask, input)
    keep = mask._v.flatten(1).any(1) if mask.dense_dim() else mask._v
    keep = nonzero(keep).reshape(-1)
    places = mask._i.index_select(1, keep)
    wanted, there = _flat(places, input.shape[:n]), _flat(x._i, input.shape[:n])
    at = searchsorted(there, wanted)
    none = there.numel()  # one element more: the 0 of what is not listed
    found = _ops.cat([there, there.new_full((1,), -1)], 0).index_select(0, at) == wanted
    at = _ops.where_rows(found, at, at.new_full((), none))
    values = _ops.cat([x._v, x._v.new_zeros((1, *x._v.shape[1:]))], 0).index_select(0, at)
    if mask.dense_dim():
        values = _ops.where_rows(mask._v.index_select(0, keep), values, values.new_full((), fill))
    return make(places, values, input.shape)


def _of_shape(mask, input):
    """The mask as a coalesced COO tensor of truth values, of input's shape and sparse dims."""
    n = input.sparse_dim()
    if mask.shape != input.shape or isinstance(mask, Sparse) and mask.sparse_dim() != n:
        mask = mask.to_dense() if isinstance(mask, Sparse) else mask
        if mask.dim() > input.dim():
            raise IndexError(f"masked: expected a mask that can be broadcast to input, got one of {mask.dim()} dims for {input.dim()}. Reduce it first.")
        mask = mask.broadcast_to(input.shape)
    if not isinstance(mask, Sparse):
        mask = to_sparse(mask, n)
    mask = mask.coo()
    counted = make(mask._i, (mask._v != 0).to(BY_NAME["uint8"]), mask.shape, mask._coalesced).coalesce()
    return make(counted._i, counted._v != 0, mask.shape, True)


def _folded(name, values, dims):
    """values with the dims folded and kept, which a product does one by one."""
    if name == "prod":
        for d in dims:
            values = _ops.prod(values, d, True)
        return values
    return getattr(_ops, name)(values, dims, True)


def _over_dense(name, listed, dims, keepdim):
    """The values of `listed` with the dense ones of dims folded, and the result's shape."""
    n = listed.sparse_dim()
    dense, values = [d - n + 1 for d in dims if d >= n], listed._v
    if dense:
        values = _folded(name, values, dense)
        if not keepdim:
            values = values.reshape([s for d, s in enumerate(values.shape) if d not in dense])
    return values, [1 if d in dims else s for d, s in enumerate(listed.shape) if keepdim or d not in dims]


def _by_place(name, listed, dims, keepdim):
    """The fold of the values that fall on one place of the sparse dims that are left."""
    values, shape = _over_dense(name, listed, dims, keepdim)
    left = [d for d in range(listed.sparse_dim()) if keepdim or d not in dims]
    index = _ops.cat([(listed._i[d] * (d not in dims)).unsqueeze(0) for d in left], 0)
    sizes = shape[: len(left)]
    flat, owner = unique(_flat(index, sizes), return_inverse=True)
    wide = values.to(BY_NAME["float32"]) if values.dtype.itemsize == 2 and values.is_floating_point() else values
    owner = owner.reshape(-1, *(1,) * (wide.dim() - 1)).expand(wide.shape)
    start = wide.new_zeros((flat.numel(), *wide.shape[1:]))
    made = scatter_reduce(start, 0, owner, wide, name, include_self=False).to(values.dtype)
    return make(_unravelled(flat, sizes), made, shape, True)


def _whole(name, listed, dims, keepdim, fill):
    """The fold of all values: one number, or the dense dims that are left."""
    values, shape = _over_dense(name, listed, dims, keepdim)
    if name in ("amax", "amin") and not values.shape[0]:
        values = values.new_full((1, *values.shape[1:]), fill)
    return to_sparse(_folded(name, values, [0]).reshape(shape))
