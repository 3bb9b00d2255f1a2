"""Where sparse tensors come from: sparse_coo_tensor, to_sparse and sparse_mask, and the methods that every Tensor has for them."""

import functools
import math

from facula.tensor_core._errors import IndexRangeError
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import BY_NAME, Size, sparse_coo, sparse_csc, sparse_csr, strided
from facula.tensor_core.dispatch.arguments import as_dtype
from facula.tensor_core.dispatch.kinds import check, kinds_first, want_ints, want_tensor
from facula.tensor_core.dispatch.slow import one_node
from facula.tensor_core.functions import create as _create
from facula.tensor_core.memory import data as _data
from facula.tensor_core.sparse import ops as _sparse_ops
from facula.tensor_core.sparse.tensor import Sparse, _flat, make


def check_size(name, size):
    """Refuse what is no size of a tensor."""
    want_ints(name, "size", None, size)
    if min(size, default=0) < 0 or math.prod(size) >= 2**63:
        raise RuntimeError(f"{name}: numel: integer multiplication overflow: int64 cannot number the places of size {tuple(size)}. Give sizes of 0 or more, and smaller ones.")


def check_place(name, device, pin_memory):
    """Sparse tensors are of plain memory of the CPU."""
    _create.plain(None, pin_memory)
    if device is not None and _create._place(device):
        raise RuntimeError(f"{name}: sparse tensors on {device} are not here. Use device='cpu'.")


def of_parts(indices, values, size, coalesced):
    """A Sparse of these int64 indices and values, and a function that looks at the indices."""
    if indices.dtype is not BY_NAME["int64"] or indices.dim() != 2 or values.dim() < 1 or values.size(0) != indices.size(1):
        raise RuntimeError(f"sparse_coo_tensor: indices {indices.dtype} {tuple(indices.shape)} do not fit values {tuple(values.shape)}.")
    return make(indices, values, size, coalesced), lambda: _check(indices, values, size)


def sparse_coo_tensor(
    indices=None, values=None, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None, is_coalesced=None
):
    """A sparse tensor with `values` at `indices`, (sparse_dim, nnz); values of equal indices add up.

    size: of the tensor; by default the smallest that holds all indices. values may have dense dims behind the first.
    Raises RuntimeError where an index is negative or does not fit the size, TypeError for indices that are no integers.

    >>> import facula
    >>> facula.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    size_alone = indices is None or values is None
    kinds_first("sparse_coo_tensor", size=None if size_alone else size, dtype=dtype, device=device, pin_memory=pin_memory, check_invariants=check_invariants, is_coalesced=is_coalesced)
    if size_alone and pin_memory:
        raise TypeError("sparse_coo_tensor() received an invalid combination of arguments: pin_memory without indices and values. Leave it out.")
    _create.plain(None, pin_memory)
    if indices is None:
        if size is None:
            raise TypeError("sparse_coo_tensor() missing 1 required positional argument: 'indices'. Give indices and values, or a size.")
        if values is not None:
            raise TypeError("sparse_coo_tensor() received an invalid combination of arguments: values without indices. Give both, or a size.")
        indices, size = size, None
    if values is None or (size is None and isinstance(values, (tuple, Size)) and not isinstance(values, Tensor) and not isinstance(indices, (list, Tensor))):
        size = indices if values is None else values
        size = (size,) if type(size) is int and -(2**63) <= size < 2**63 else size
        check_size("sparse_coo_tensor", size)
        made = make(_create.zeros((len(size), 0), dtype=BY_NAME["int64"]), _create.zeros((0,), dtype=dtype), size, True)
        return made.placed(device).requires_grad_(requires_grad)
    check_place("sparse_coo_tensor", device, pin_memory)
    indices = _data.as_tensor(indices)
    indices = indices.to(BY_NAME["int64"]).detach()  # whose shape stays, whatever is done to the one given
    values = _data.as_tensor(values, dtype=dtype)
    values = values.detach() if not values.requires_grad else values
    values = values if values.dim() else values.reshape(1)
    if not indices.dim() and size is not None:
        raise IndexRangeError("sparse_coo_tensor: the indices have no dims, of which the first is sparse_dim. Give them as (sparse_dim, nnz).")
    if indices.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if values.dim() < 1 or values.size(0) != indices.size(1):
        n = values.size(0) if values.dim() else 1
        raise RuntimeError(f"indices and values must have same nnz, but got nnz from indices: {indices.size(1)}, nnz from values: {n}")
    if size is None:
        if indices.size(1) == 0:
            size = (*(0,) * indices.size(0), *values.shape[1:])
        else:
            size = (*(int(n) + 1 for n in indices.amax(1).tolist()), *values.shape[1:])
    check_size("sparse_coo_tensor", size)
    _check(indices, values, tuple(size))
    if check_invariants and is_coalesced and indices.size(1) > 1:
        flat = _flat(indices, size)
        if not bool((flat[1:] > flat[:-1]).all()):
            raise RuntimeError("sparse_coo_tensor: cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor. Leave it out, and coalesce the tensor.")
    made = make(indices, values, size, is_coalesced)
    return _create._finish(made, requires_grad)


def _check(indices, values, size):
    if len(size) != indices.size(0) + values.dim() - 1:
        raise RuntimeError(f"number of dimensions must be sparse_dim ({indices.size(0)}) + dense_dim ({values.dim() - 1}), but got {len(size)}: {size}")
    if tuple(values.shape[1:]) != size[indices.size(0) :]:
        raise RuntimeError(f"values has incorrect size, expected {[values.size(0), *size[indices.size(0) :]]}, got {list(values.shape)}")
    if indices.numel() == 0:
        return
    for k, (low, high) in enumerate(zip(indices.amin(1).tolist(), indices.amax(1).tolist())):
        if low < 0:
            raise RuntimeError(f"sparse_coo_tensor: found negative index {low} for dim {k}")
        if high >= size[k]:
            raise RuntimeError(f"sparse_coo_tensor: size is inconsistent with indices: for dim {k}, size is {size[k]} but found index {high}")


def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """The nonzero elements as a coalesced sparse tensor; with sparse_dim, the slices of the last dims that have one.

    >>> x = facula.tensor([[0, 0], [7, 0]]).to_sparse()
    >>> x.indices(), x.values()
    (tensor([[1],
            [0]]), tensor([7]))
    """
    kinds_first("to_sparse", sparse_dim=sparse_dim, layout=layout, blocksize=blocksize, dense_dim=dense_dim)
    if layout is strided is self.layout:
        if blocksize is not None:
            raise RuntimeError(f"to_sparse: conversion from Strided to Strided with blocksize argument given is not supported, got {blocksize}. Give a layout of blocks.")
        if dense_dim:
            raise RuntimeError(f"to_sparse: dense_dim argument must be in [0,0] range, but {dense_dim} is given. Leave it out.")
    if layout is not None and layout is not sparse_coo:
        return self if layout is self.layout else in_layout(self, layout, blocksize, dense_dim)
    if blocksize is not None:
        raise RuntimeError(f"to_sparse: conversion from Strided to Sparse with blocksize argument given is not supported, got {blocksize}. Give a layout of blocks.")
    name = f"ToSparseBackward{1 if sparse_dim is None else 0}"
    if dense_dim is not None:
        if not 0 <= dense_dim < max(self.dim(), 1):
            raise RuntimeError(f"to_sparse: dense_dim argument must be in [0,{self.dim()}] range and less than the dims, but {dense_dim} is given. Give fewer.")
        sparse_dim = self.dim() - dense_dim
    n = self.dim() if sparse_dim is None else sparse_dim
    check("to_sparse", "sparse_dim", 0, "int", n)
    if sparse_dim == 0 and self.dim():
        raise RuntimeError(f"to_sparse: sparse_dim argument must be in >0 when self.dim()>0, but 0 is given for {self.dim()} dims. Give one of the dims.")
    if not 0 <= n <= self.dim():
        raise RuntimeError(f"to_sparse: sparse_dim argument must be in [0,{self.dim()}] range, but {n} is given. Give one of the dims.")
    there = (self.detach() != 0).flatten(n).any(-1) if n < self.dim() else self.detach() != 0
    from facula.tensor_core.functions.index_key import nonzero

    places = nonzero(there).t().contiguous()
    values = _sparse_ops.grouped(self, n).index_select(0, _flat(places, self.shape[:n]))
    return make(places, one_node(values, name, self), self.shape, True)


def in_layout(x, layout, blocksize=None, dense_dim=None):
    """x, strided or sparse, in another layout than COO."""
    from facula.tensor_core.sparse import blocks as _blocks

    return x.to_dense() if layout is strided else converted(_blocks.in_layout(x, layout, blocksize, dense_dim), "ToSparseBackward1", x)


def converted(result, name, x):
    """The sparse result of a conversion of x, whose steps are one to who looks at its history."""
    if result is not x:
        one_node(result._v, name, x._v if isinstance(x, Sparse) else x)
    return result


def blank(name, size, dtype, layout, device, pin_memory):
    """A sparse tensor of this size that lists nothing, as zeros and empty of a sparse layout give it."""
    _create.plain(None, pin_memory)
    if layout is not sparse_coo and (len(size) < 2 or layout not in (sparse_csr, sparse_csc)):
        raise RuntimeError(f"torch.{name}: Only batched sparse compressed (non-block) tensors are supported, but got size {list(size)} and layout {layout}. Convert one with to_sparse().")
    if layout is not sparse_coo and len(size) > 2:
        from facula.tensor_core.sparse import blocks as _blocks

        return _blocks.blank(size, dtype, layout).placed(device)
    made = make(_create.zeros((len(size), 0), dtype=BY_NAME["int64"]), _create.zeros((0,), dtype=dtype), size, True)
    return (made if layout is sparse_coo else in_layout(made, layout)).placed(device)


def blank_like(x, dtype, layout):
    """A tensor in another sparse layout than x's that lists nothing, of x's shape, block size and dense dims."""
    from facula.tensor_core.sparse import blocks as _blocks

    x = x.blank(dtype)
    if layout is sparse_coo:
        return x.coo()
    return in_layout(x, layout, x._block if _blocks.LAYOUTS[layout][1] and getattr(x, "_block", None) else None, x.dense_dim())


def sparse_mask(self, mask):
    """The elements of self where `mask`, a sparse tensor of the same size, lists one, in its layout.

    >>> mask = facula.tensor([[1, 0], [0, 1]]).to_sparse()
    >>> facula.tensor([[1.0, 2.0], [3.0, 4.0]]).sparse_mask(mask).to_dense()
    tensor([[1., 0.],
            [0., 4.]])
    """
    want_tensor("sparse_mask", "mask", 0, mask)
    if not isinstance(mask, Sparse):
        raise NotImplementedError(f"sparse_mask: the mask must be a sparse tensor, got layout {mask.layout}. Convert with to_sparse().")
    if tuple(self.shape) != tuple(mask.shape):
        raise RuntimeError(f"sparse_mask(): operands have incompatible sizes; self has size {tuple(self.shape)} but mask has size {tuple(mask.shape)}. Give a mask of the same size.")
    places = mask.coo()
    n = places.sparse_dim()
    self = self.to_dense() if isinstance(self, Sparse) else self
    values = _sparse_ops.grouped(self, n).index_select(0, _flat(places._i, self.shape[:n]))
    return mask._with(one_node(values.reshape(mask._v.shape), "SparseMaskBackward0", self))


_EXPECTED = {
    "crow_indices": "sparse row compressed", "col_indices": "sparse row compressed", "ccol_indices": "sparse column compressed", "row_indices": "sparse column compressed",
    "values": "sparse",
}  # fmt: skip


def _strided(name):
    refusal = f"{name} expected {_EXPECTED.get(name, 'sparse coordinate')} tensor layout but got {{}}. Convert with to_sparse()."

    def method(self, *args, **kwargs):
        if args or kwargs:
            raise TypeError(f"{name}() takes no arguments, got {(*args, *kwargs)}. Leave them out.")
        raise RuntimeError(refusal.format("Sparse" if isinstance(self, Sparse) else "Strided"))

    method.__name__ = name
    method.__doc__ = f"Of sparse tensors alone; raises RuntimeError for others.\n\n    >>> facula.ones(2).{name}()\n    Traceback (most recent call last):\n        ...\n    RuntimeError: {refusal.format('Strided')}\n    "
    return method


def _compressed(name):
    def method(self, *args, **kwargs):
        """The matrix with its rows (csr) or columns (csc) compressed; in blocks of blocksize bsr and bsc.

        >>> x = facula.tensor([[0, 7], [0, 0]])
        >>> x.to_sparse_csr().crow_indices(), x.to_sparse_csc().ccol_indices()
        (tensor([0, 1, 1]), tensor([0, 0, 1]))
        >>> x.to_sparse_bsr((1, 2)).values(), x.to_sparse_bsc((2, 1)).values().flatten()
        (tensor([[[0, 7]]]), tensor([7, 0]))
        """
        from facula.tensor_core.sparse import rows as _sparse_rows

        return getattr(_sparse_rows, name)(self, *args, **kwargs)

    method.__name__ = name
    return method


def _asked(name, strided):
    """Tensor's method of that name: of a sparse tensor, too, where a program asks the class for it."""

    @functools.wraps(strided)
    def method(self, *args, **kwargs):
        own = getattr(type(self), name) if isinstance(self, Sparse) else strided
        return (strided if own is method else own)(self, *args, **kwargs)

    return method


def _to_dense(self, dtype=None, *, masked_grad=None):
    """The tensor itself, or in another dtype; of a sparse tensor, with its zeros.

    >>> facula.tensor([[0, 7]]).to_sparse().to_dense()
    tensor([[0, 7]])
    """
    if masked_grad is not None:
        check("to_dense", "masked_grad", None, "bool", masked_grad)
    return self if dtype is None else self.to(as_dtype(dtype))


def _sparse_dim(self):
    """How many leading dims are listed by indices: 0 where the tensor is not sparse.

    >>> facula.zeros(2, 3).sparse_dim(), facula.zeros(2, 3).to_sparse().sparse_dim()
    (0, 2)
    """
    return 0


def _dense_dim(self):
    """How many dims the values have besides: all where the tensor is not sparse.

    >>> facula.zeros(2, 3).dense_dim(), facula.zeros(2, 3).to_sparse(1).dense_dim()
    (2, 1)
    """
    return self.dim()


METHODS = {
    "to_sparse": to_sparse,
    "to_sparse_csr": _compressed("to_sparse_csr"),
    "to_sparse_csc": _compressed("to_sparse_csc"),
    "to_sparse_bsr": _compressed("to_sparse_bsr"),
    "to_sparse_bsc": _compressed("to_sparse_bsc"),
    "to_dense": _to_dense,
    "sparse_mask": sparse_mask,
    "sparse_dim": _sparse_dim,
    "dense_dim": _dense_dim,
    **{name: _strided(name) for name in ("coalesce", "is_coalesced", "indices", "values", "_indices", "_values", "_nnz", "crow_indices", "col_indices", "ccol_indices", "row_indices")},
}
METHODS = {name: _asked(name, method) for name, method in METHODS.items()}


__all__ = ["sparse_coo_tensor"]
