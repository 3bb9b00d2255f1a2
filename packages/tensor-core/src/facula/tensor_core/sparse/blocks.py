"""Compressed sparse tensors of more than one matrix of numbers: batches, matrices in blocks (BSR, BSC), rows of values at a place.

    compressed: (*batch, lines + 1), plain: (*batch, nnz), values: (*batch, nnz, *block, *dense)

Elementwise rows work on the values as they do for a Sparse; every other one on the tensor in coordinate form, whose result comes
back in this layout.
"""

import math

from facula.tensor_core._errors import RankError
from facula.tensor_core.functions import create as _create, ranges as _ranges
from facula.tensor_core.sparse import ops as _sparse_ops
from facula.tensor_core.sparse.rows import Compressed
from facula.tensor_core.sparse.tensor import Sparse, _unravelled, make
from facula.tensor_core._types import BY_NAME, Size, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr

LAYOUTS = {sparse_csr: (0, False), sparse_csc: (1, False), sparse_bsr: (0, True), sparse_bsc: (1, True)}  # the compressed dim; in blocks?
_LAYOUT = {key: layout for layout, key in LAYOUTS.items()}


class Blocked(Compressed):
    """A compressed sparse tensor of a batch, in blocks, or with dense dims."""

    is_sparse_csr = property(lambda self: self.layout is sparse_csr)
    _batch = property(lambda self: self._p.dim() - 1)

    def _name(self):
        return "Sparse" + self.layout._name[7:].capitalize()

    def _nnz(self):
        return self._q.shape[-1]

    def sparse_dim(self):
        return 2

    def dense_dim(self):
        return self._v.dim() - self._batch - 1 - len(self._block)

    _along = _batch

    def _listing_none(self, values):
        return of(self._p.to(values.device), self._q[..., :0].to(values.device), values, self._size, self._axis, self._block)

    def _with(self, values, indices=None):
        return of(self._p, self._q, values, self._size, self._axis, self._block)

    def _lies_as(self, other):
        self._p, self._q, self._size, self._block = other._p, other._q, other._size, other._block

    def _become(self, other, values):
        self._p, self._q, self._v, self._size, self._block = other._p.clone(), other._q.clone(), values, other._size, other._block
        return self

    def _as_me(self, result, index=None):
        if not isinstance(result, Sparse) or isinstance(result, Compressed) or result.shape != self.shape:
            return result
        return compress(result, self._axis, self._block, self.dense_dim(), index)

    def coo(self):
        """The same tensor in coordinate form, each element by itself; places are in the order of the blocks."""
        from facula.tensor_core.functions.joining import stack

        batch, lines = tuple(self._p.shape[:-1]), self._p.shape[-1] - 1
        pointers, n = self._p.long(), math.prod(batch) * self._nnz()
        line = _ranges.arange(math.prod(batch) * lines).repeat_interleave((pointers[..., 1:] - pointers[..., :-1]).reshape(-1))
        where = [line % lines, self._q.long().reshape(-1)] if lines else [line, self._q.long().reshape(-1)]
        row, column = where if self._axis == 0 else where[::-1]
        leads = list(_unravelled(line // max(lines, 1), batch)) if batch else []
        inner = tuple(self._v.shape[self._batch + 1 + len(self._block) :])
        if self._block:
            high, wide = self._block
            row = (row * high).reshape(n, 1, 1) + _ranges.arange(high).reshape(high, 1)
            column = (column * wide).reshape(n, 1, 1) + _ranges.arange(wide)
            row, column, *leads = (t.reshape(n, 1, 1).expand(n, high, wide).reshape(-1) if t.dim() == 1 else t.expand(n, high, wide).reshape(-1) for t in (row, column, *leads))
        return make(stack([*leads, row, column]), self._v.reshape(row.numel(), *inner), self._size)

    def to_dense(self, dtype=None, *, masked_grad=None):
        return self.coo().to_dense(dtype)

    def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
        if sparse_dim not in (None, self._batch + 2):
            raise RuntimeError(f"to_sparse: a {self._name()} tensor of shape {tuple(self._size)} has {self._batch + 2} sparse dims in coordinate form, got sparse_dim {sparse_dim}. Leave it out.")
        if layout is None or layout is sparse_coo:
            return self.coo().coalesce()
        if layout is self.layout and (blocksize is None or rows_and_columns(blocksize) == self._block):
            return self
        return in_layout(self, layout, blocksize, self.dense_dim() if dense_dim is None else dense_dim)

    def blank(self, dtype=None):
        """A tensor of this shape and layout that lists nothing."""
        values = _create.zeros((*self._v.shape[: self._batch], 0, *self._v.shape[self._batch + 1 :]), dtype=dtype or self.dtype)
        return of(_create.zeros_like(self._p), self._q[..., :0], values, self._size, self._axis, self._block)

    def select(self, dim, index):
        """Of a batch one of its tensors, over the same memory; along another dim the elements there in coordinate form."""
        at = dim + self.dim() if dim < 0 else dim
        if self._batch <= at < self._batch + 2 and self._batch and self._size[at]:
            raise RuntimeError(f"select(): selecting sparse dimensions is not supported for batched sparse compressed tensors, got dim {dim} of shape {tuple(self._size)}. Select from the batch first.")
        if not 0 <= at < self._batch or not -self._size[at] <= index < self._size[at]:
            return self.coo().coalesce().select(dim, index)
        size = tuple(self._size[:at] + self._size[at + 1 :])
        return of(self._p.select(at, index), self._q.select(at, index), self._v.select(at, index), size, self._axis, self._block)

    def transpose(self, dim0, dim1):
        a, b = sorted(d % self.dim() for d in (dim0, dim1))
        size, n = list(self._size), self._batch
        size[a], size[b] = size[b], size[a]
        if self.dense_dim():
            raise RuntimeError(f"transpose(): hybrid sparse compressed tensors with dense dimensions are not supported, got shape {tuple(self._size)}. Convert with to_dense().")
        if a == b:
            return of(*(t.view_as(t) for t in (self._p, self._q, self._v)), size, self._axis, self._block)
        if b < n:
            return of(*(t.transpose(a, b) for t in (self._p, self._q, self._v)), size, self._axis, self._block)
        if (a, b) == (n, n + 1):  # the same numbers, compressed along the other dim
            values = self._v.transpose(n + 1, n + 2) if self._block else self._v
            return of(self._p, self._q, values, size, 1 - self._axis, self._block[::-1])
        raise RuntimeError(f"transpose(): can only transpose dimensions of the same type (Batch, Sparse), got {dim0} and {dim1} of shape {tuple(self._size)}. Convert with to_dense().")

    def t(self):
        if self.dim() != 2:
            raise RuntimeError(f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got shape {tuple(self._size)}. Use transpose.")
        return self.transpose(0, 1)

    T = property(t)
    mT = property(lambda self: self.transpose(-2, -1))

    def _copied(self):
        return of(self._p.clone(), self._q.clone(), self._v.clone(), self._size, self._axis, self._block)

    @property
    def data(self):
        """The same without history."""
        return self.detach()

    @data.setter
    def data(self, value):
        if not isinstance(value, Blocked):
            raise RuntimeError(f"data: a {self._name()} tensor is set to one of its kind, got layout {getattr(value, 'layout', type(value).__name__)}. Convert it.")
        _sparse_ops.hold(self, value._v.detach())
        self._p, self._q, self._size, self._block, self._axis, self.layout = value._p, value._q, value._size, value._block, value._axis, value.layout

    def share_memory_(self):
        for part in (self._p, self._q, self._v):
            part.share_memory_()
        return self

    def _rebuilt_from(self):
        return _rebuild, (self._p, self._q, self._v.detach(), tuple(self._size), self._axis, self._block, self.requires_grad)


def _rebuild(pointers, others, values, size, axis, block, requires_grad):
    return of(pointers, others, values, size, axis, block).requires_grad_(requires_grad)


def of(pointers, others, values, size, axis, block):
    """A Blocked of these parts, which are not checked."""
    t = object.__new__(Blocked)
    t._origin = t._viewed = None
    t._p, t._q, t._v, t._size, t._axis, t._block = pointers, others, values, Size(size), axis, tuple(block)
    t.layout = _LAYOUT[axis, bool(block)]
    return t


def blank(size, dtype, layout):
    """A batch of matrices that list nothing."""
    *batch, rows, columns = size
    axis, index = LAYOUTS[layout][0], BY_NAME["int64"]
    pointers, others = _create.zeros((*batch, (rows, columns)[axis] + 1), dtype=index), _create.zeros((*batch, 0), dtype=index)
    return of(pointers, others, _create.zeros((*batch, 0), dtype=dtype), size, axis, ())


def compress(x, axis, block, dense_dim, index=None):
    """A strided or sparse tensor in this form: it lists the blocks in which an element is not zero."""
    from facula.tensor_core import _ops
    from facula.tensor_core.functions.index_key import nonzero

    name, shape, n = f"to_sparse_{_LAYOUT[axis, bool(block)]._name[7:]}", tuple(x.shape), x.dim() - dense_dim - 2
    if n < 0 or dense_dim < 0:
        raise RankError(f"{name}: dense_dim argument must be in [0,{max(x.dim() - 2, 0)}] range, but {dense_dim} is given for shape {shape}. Give fewer.")
    high, wide = block or (1, 1)
    rows, columns = shape[n : n + 2]
    if high < 1 or wide < 1 or rows % high or columns % wide:
        raise RuntimeError(f"{name}: tensor sparse size ({rows}, {columns}) must be divisible by given blocksize ({high}, {wide}). Give another, or pad.")
    x = x.to_dense() if isinstance(x, Sparse) else x
    grid = x.reshape(*shape[:n], rows // high, high, columns // wide, wide, *shape[n + 2 :]).transpose(n + 1, n + 2)
    grid = grid.transpose(n, n + 1) if axis else grid
    lines, across = grid.shape[n : n + 2]
    batch, inner = math.prod(shape[:n]), high * wide * math.prod(shape[n + 2 :])
    flat = grid.reshape(batch * lines * across, inner)
    there = (flat.detach() != 0).any(-1)
    counts = there.reshape(batch, lines, across).sum(-1)
    each = counts.sum(-1).tolist()
    if len(set(each)) > 1:
        raise RuntimeError(f"{name}: Expect the same number of specified elements per batch, got {each[:8]}. Convert each one of a batch.")
    places, index = nonzero(there)[:, 0], index or BY_NAME["int64"]
    nnz = each[0] if each else 0
    pointers = _ops.cat([_create.zeros((batch, 1), dtype=counts.dtype), counts.cumsum(1)], 1).reshape(*shape[:n], lines + 1)
    values = flat.index_select(0, places).reshape(*shape[:n], nnz, *((high, wide) if block else ()), *shape[n + 2 :])
    others = (places % max(across, 1)).reshape(*shape[:n], nnz)
    return of(pointers.to(index), others.to(index), values, shape, axis, block or ())


def rows_and_columns(blocksize) -> tuple:
    """Of a block; one number is both."""
    return (blocksize, blocksize) if isinstance(blocksize, int) else tuple(blocksize)


def in_layout(x, layout, blocksize, dense_dim):
    """x, strided or sparse, in one of the compressed layouts."""
    from facula.tensor_core.sparse import rows as _rows

    axis, blocked = LAYOUTS[layout]
    name = f"to_{layout._name}"
    if blocked != (blocksize is not None):
        raise RuntimeError(f"{name}: blocksize {'must be given' if blocked else 'is for sparse_bsr and sparse_bsc'}, got {blocksize}.")
    if blocked:
        blocksize = rows_and_columns(blocksize)
    if blocked and len(blocksize) != 2:
        raise RuntimeError(f"{name}: blocksize needs to be a tuple of size 2, but got {len(blocksize)}. Give rows and columns of a block.")
    dense_dim = dense_dim or (x.dense_dim() if isinstance(x, Sparse) else 0)
    index = x._p.dtype if isinstance(x, Compressed) else None
    if not blocked and x.dim() == 2 and not dense_dim and not (isinstance(x, Blocked)):
        return _rows.compress(x, axis, index)
    if not blocked and x.dim() == 2:
        return _rows.compress(x.to_dense() if isinstance(x, Blocked) else x, axis, index) if not dense_dim else compress(x, axis, (), dense_dim, index)
    return compress(x, axis, blocksize if blocked else (), dense_dim, index)


def run(op, args, out, plain):
    """The op on arguments with a Blocked among them. plain: what runs it on other sparse tensors."""
    first = next((a for a in args if isinstance(a, Blocked)), None)
    if first is None:  # in a list
        return plain(op, tuple([b.coo() if isinstance(b, Blocked) else b for b in a] if type(a) in (list, tuple) else a for a in args), out)
    if op.name in ("select", "transpose") and args[0] is first and out is None:
        return getattr(first, op.name)(*args[1:])
    if op.name == "normal_":
        return plain(op, args, out)
    alone = all(not hasattr(a, "dim") or not isinstance(a, Sparse) and not a.dim() for a in args if a is not first) and sum(a is first for a in args) == 1
    if alone and op.name in _ON_VALUES:
        return plain(op, args, out)
    if out is not None and out is args[0]:
        made = first._as_me(plain(op, tuple(a.coo() if isinstance(a, Blocked) else a for a in args), None))
        return first._become(made, made._v.to(first.dtype)) if isinstance(out, Blocked) else out.copy_(made)
    result = first._as_me(plain(op, tuple(a.coo().coalesce() if isinstance(a, Blocked) else a for a in args), None))
    return result if out is None else _sparse_ops.given(op.name, result, out)


_ON_VALUES = {*_sparse_ops._ZERO_PRESERVING, *_sparse_ops._LINEAR, "mul", "div", "copy", "pow", "isnan", "_angle", "_nan_to_num", "floor_divide", "_floor_quotient", "trunc_divide"}


def fitting(name, pointers, others, values, size, layout):
    """A Blocked of parts whose sizes fit each other, or RuntimeError."""
    axis, blocked = LAYOUTS[layout]
    n, nnz = pointers.dim() - 1, others.shape[-1] if others.dim() else 0
    start = n + 1 + 2 * blocked
    if n < 0 or others.dim() != n + 1 or values.dim() < start:
        raise RuntimeError(f"{name}: compressed indices of {pointers.dim()} dims, plain ones of {others.dim()} and values of {values.dim()} do not fit layout {layout}. Give each as many batch dims.")
    batch, block, dense = tuple(pointers.shape[:-1]), tuple(values.shape[n + 1 : start]), tuple(values.shape[start:])
    if batch != tuple(others.shape[:-1]) or (*batch, nnz) != tuple(values.shape[: n + 1]) or 0 in block:
        raise RuntimeError(f"{name}: shapes {tuple(pointers.shape)}, {tuple(others.shape)} and {tuple(values.shape)} do not have batch and number of values in common. Give one value for each index.")
    high, wide = block or (1, 1)
    lines = pointers.shape[-1] - 1
    if size is None:
        across = int(others.max()) + 1 if others.numel() else 0
        size = (*batch, *((lines * high, across * wide) if axis == 0 else (across * high, lines * wide)), *dense)
    size = tuple(size)
    here = size[n : n + 2] if len(size) == n + 2 + len(dense) else ()
    if not here or size[:n] != batch or size[n + 2 :] != dense or here[0] % high or here[1] % wide or min(here) < 0 or here[axis] != lines * (high, wide)[axis]:
        raise RuntimeError(f"{name}: size {size} does not fit {lines} {('rows', 'columns')[axis]} of blocks {block} in a batch {batch} with dense dims {dense}. Give one index more than there are.")
    return of(pointers, others, values, size, axis, block)


def check_places(name, t, ordered):
    """The indices lie inside; ordered: each of a line once, in order."""
    ends, others, n = t._p.long(), t._q.long(), t._nnz()
    if not bool(((ends[..., 0] == 0) & (ends[..., -1] == n) & (ends[..., 1:] >= ends[..., :-1]).all(-1)).all()):
        raise RuntimeError(f"{name}: the compressed indices must rise from 0 to {n}, the number of values.")
    across = t._size[t._batch + 1 - t._axis] // (t._block or (1, 1))[1 - t._axis]
    if others.numel() and not 0 <= int(others.min()) <= int(others.max()) < across:
        raise RuntimeError(f"{name}: an index is outside size {tuple(t._size)}.")
    if ordered and n > 1:
        first = _create.zeros((math.prod(others.shape[:-1]), n + 1), dtype=BY_NAME["bool"])  # where a line begins
        first.scatter_(1, ends.reshape(-1, ends.shape[-1]), True)
        if not bool((first[:, 1:n].reshape(*others.shape[:-1], n - 1) | (others[..., 1:] > others[..., :-1])).all()):
            raise RuntimeError(f"{name}: the indices of each {('row', 'column')[t._axis]} must be sorted and distinct, got {others.reshape(-1)[:8].tolist()}. Sort them.")


__all__ = []
