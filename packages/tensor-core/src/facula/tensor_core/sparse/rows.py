"""Sparse matrices whose rows (CSR) or columns (CSC) are compressed: for each of them, where in the list of values it begins.

    CSR: crow_indices (rows + 1), col_indices and values (nnz).    CSC: the same with rows and columns exchanged.

A Compressed is a Sparse of the same indices, so every row of ops.py serves it; results come back in its layout.
"""

from facula.tensor_core import _ops
from facula.tensor_core._errors import DTypeError
from facula.tensor_core.dispatch.kinds import kinds_first, plain
from facula.tensor_core.functions import create as _create, ranges as _ranges
from facula.tensor_core.memory import data as _data
from facula.tensor_core.sparse.making import check_place, check_size, converted, in_layout, to_sparse
from facula.tensor_core.sparse.tensor import Sparse, _flat, make
from facula.tensor_core._types import BY_NAME, Size, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr


class Compressed(Sparse):
    """A sparse matrix in CSR or CSC; facula.sparse_csr_tensor makes one."""

    is_sparse = False
    is_sparse_csr = property(lambda self: self.layout is sparse_csr)

    def _name(self):
        return "SparseCsr" if self._axis == 0 else "SparseCsc"

    def stride(self, dim=None):
        raise RuntimeError(f"{self._name()} tensors do not have strides. Ask its crow_indices(), col_indices() and values().")

    def is_contiguous(self, *, memory_format=None):
        raise RuntimeError(f"{self._name()} tensors do not have is_contiguous. Ask its values().")

    def coo(self):
        return make(self._i, self._v, self._size, self._coalesced)

    def distinct(self):
        return self

    def same_places(self, other):
        return other.layout is self.layout and self._p is other._p and self._q is other._q

    def _lies_as(self, other):
        self._p, self._q, self._i, self._size, self._coalesced = other._p, other._q, other._i, other._size, other._coalesced

    def blank(self, dtype=None):
        return self._as_me(self.coo().blank(dtype), self.index_dtype())

    def everywhere(self):
        return _create.ones(tuple(self._size), dtype=self.dtype).to_sparse(layout=self.layout, blocksize=getattr(self, "_block", None) or None, dense_dim=self.dense_dim())

    def coalesce(self):
        raise RuntimeError(f"coalesce expected sparse coordinate tensor layout but got {self._name()}. Convert with to_sparse().")

    def is_coalesced(self):
        raise RuntimeError(f"is_coalesced expected sparse coordinate tensor layout but got {self._name()}. Convert with to_sparse().")

    def indices(self):
        raise RuntimeError(f"indices expected sparse coordinate tensor layout but got {self._name()}. Convert with to_sparse().")

    def _indices(self):
        return self.indices()

    def values(self):
        """The values, (nnz)."""
        return self._v

    def _pointers(self, axis, which):
        if axis != self._axis:
            raise RuntimeError(f"{which} expected sparse {'row' if axis == 0 else 'column'} compressed tensor layout but got {self._name()}.")
        return self._p if which in ("crow_indices", "ccol_indices") else self._q

    def parts(self):
        """What it is made of: where rows or columns begin, the other indices, the values, the size."""
        return self._p, self._q, self._v, self._size

    def line(self, dim, index):
        """The places along a row or column, int64, and the values there: of a compressed one a view."""
        if dim == self._axis:
            start, end = self._p[index : index + 2].tolist()
            return self._q[start:end].long(), self._v[start:end]
        there = (self._q == index).nonzero()[:, 0]
        return self._i[self._axis].index_select(0, there), self._v.index_select(0, there)

    def crow_indices(self):
        """Where each row begins, (rows + 1)."""
        return self._pointers(0, "crow_indices")

    def col_indices(self):
        """The column of each value, (nnz)."""
        return self._pointers(0, "col_indices")

    def ccol_indices(self):
        """Where each column begins, (columns + 1)."""
        return self._pointers(1, "ccol_indices")

    def row_indices(self):
        """The row of each value, (nnz)."""
        return self._pointers(1, "row_indices")

    def _with(self, values, indices=None):
        return made(self._p, self._q, values, self._size, self._axis)

    def _listing_none(self, values):
        return made(self._p.to(values.device), self._q[:0].to(values.device), values, self._size, self._axis)

    def index_dtype(self):
        return self._p.dtype

    def _as_me(self, result, index=None):
        if not isinstance(result, Sparse) or isinstance(result, Compressed) or result.dim() != 2:
            return result
        return compress(result, self._axis, index)

    def _become(self, other, values):
        self._p, self._q = other._p.clone(), other._q.clone()
        return super()._become(other, values)

    def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
        if sparse_dim not in (None, 2):
            raise RuntimeError(f"to_sparse: sparse_dim of a compressed matrix is 2, got {sparse_dim}.")
        if layout is not None and layout is not sparse_coo:
            return self if layout is self.layout else in_layout(self, layout, blocksize, dense_dim)
        return self.coo().coalesce()

    def _parts(self):
        names = ("crow_indices", "col_indices") if self._axis == 0 else ("ccol_indices", "row_indices")
        return dict(zip((*names, "values"), (self._p, self._q, self._v)))

    def t(self):
        """The transposed matrix: the same numbers, compressed along the other dim."""
        return made(self._p, self._q, self._v, (self._size[1], self._size[0]), 1 - self._axis)

    def transpose(self, dim0, dim1):
        return self if dim0 % 2 == dim1 % 2 else self.t()

    T = mT = property(t)

    def transpose_(self, dim0, dim1):
        raise RuntimeError(f"transpose_: in-place transposition is not supported for {self._name()} layout, got dims {dim0} and {dim1}. Use transpose, which shares the values.")

    def resize_as_(self, the_template, *, memory_format=None):
        """The shape and the places of another tensor of this layout, values where it lists some. In place."""
        if memory_format is not None or the_template.layout is not self.layout:
            raise RuntimeError(f"resize_as_: a {self._name()} tensor takes its shape from one of its layout, got {the_template.layout}. Convert it, and give no memory_format.")
        same = the_template._v.shape == self._v.shape
        return self._become(the_template, self._v if same else _create.zeros(tuple(the_template._v.shape), dtype=self.dtype))

    def fill_(self, value):
        """Every value that is listed set to one. In place."""
        self._v.fill_(value)
        return self

    def copy_(self, src, non_blocking=False):
        _check_copy(self, src)
        return self._become(src, src._v.to(self.dtype, copy=True))

    def _rebuilt_from(self):
        return _rebuild, (self._p, self._q, self._v.detach(), tuple(self._size), self._axis, self.requires_grad)


def _check_copy(t, src):
    """Raises RuntimeError where src cannot be copied into the compressed tensor t: of another layout, shape or number of values."""
    if not isinstance(src, Compressed) or src.layout is not t.layout:
        raise RuntimeError(f"copy_: copy of sparse compressed tensors having different layouts is not supported. self layout is {t.layout} and src layout is {getattr(src, 'layout', None)}. Convert it.")
    if src._nnz() != t._nnz():
        raise RuntimeError(f"copy_: only sparse compressed tensors with the same number of specified elements are supported, got {t._nnz()} and {src._nnz()}. Use clone().")
    if src.shape != t.shape or src._v.shape != t._v.shape:
        raise RuntimeError(f"copy_: expected shapes of self and src to match, got {tuple(t.shape)}, values {tuple(t._v.shape)}, and {tuple(src.shape)}, {tuple(src._v.shape)}. Reshape one.")


def _rebuild(pointers, others, values, size, axis, requires_grad):
    return made(pointers, others, values, size, axis).requires_grad_(requires_grad)


def made(pointers, others, values, size, axis):
    """A Compressed of these parts, which are not checked. axis: the dim that is compressed."""
    return _with_places(_bare(pointers, others, values, size, axis))


def _bare(pointers, others, values, size, axis):
    t = object.__new__(Compressed)
    t._origin = t._viewed = None
    t._p, t._q, t._v, t._size, t._axis = pointers, others, values, Size(size), axis
    t.layout = sparse_csr if axis == 0 else sparse_csc
    return t


def _with_places(t):
    """Gives a bare Compressed the indices that a Sparse has."""
    pointers, others, axis = t._p, t._q, t._axis
    if pointers.is_meta:
        t._i, t._coalesced = _create.zeros((2, others.numel()), dtype=BY_NAME["int64"], device=pointers.device), True
        return t
    p = pointers.long()
    lines = _ranges.arange(pointers.numel() - 1).repeat_interleave(p[1:] - p[:-1])
    from facula.tensor_core.functions.joining import stack

    t._i = stack([lines, others.long()] if axis == 0 else [others.long(), lines])
    flat = _flat(t._i, t._size)
    t._coalesced = bool((flat[1:] > flat[:-1]).all())
    return t


def compress(x, axis, index=None):
    """A sparse or strided matrix with one of its dims compressed. index: the dtype of its indices."""
    if isinstance(x, Compressed) and x._axis == axis:
        return x
    index = index or (x._p.dtype if isinstance(x, Compressed) else BY_NAME["int64"])
    if x.dim() != 2 or isinstance(x, Sparse) and x.dense_dim():
        raise RuntimeError(f"to_sparse_{('csr', 'csc')[axis]}: only matrices are compressed here, got shape {tuple(x.shape)}. Convert each one of a batch.")
    x = (x.coo() if isinstance(x, Sparse) else to_sparse(x)).coalesce()
    lines, others, values = x._i[axis], x._i[1 - axis], x._v
    if axis == 1:
        lines, order = lines.sort(stable=True)
        others, values = others.index_select(0, order), values.index_select(0, order)
    from facula.tensor_core.functions.order import bincount

    pointers = _ops.cat([_create.zeros((1,), dtype=BY_NAME["int64"]), bincount(lines, minlength=x.shape[axis]).cumsum(0)], 0)
    return made(pointers.to(index), others.to(index), values, x.shape, axis)


def to_sparse_csr(self, dense_dim=None):
    kinds_first("to_sparse_csr", dense_dim=dense_dim)
    return converted(self.to_sparse(layout=sparse_csr, dense_dim=dense_dim), "ToSparseCsrBackward0", self)


def to_sparse_csc(self, dense_dim=None):
    kinds_first("to_sparse_csc", dense_dim=dense_dim)
    return converted(self.to_sparse(layout=sparse_csc, dense_dim=dense_dim), "ToSparseCscBackward0", self)


def to_sparse_bsr(self, blocksize, dense_dim=None):
    kinds_first("to_sparse_bsr", blocksize=blocksize, dense_dim=dense_dim)
    return converted(self.to_sparse(layout=sparse_bsr, blocksize=plain(blocksize), dense_dim=dense_dim), "ToSparseBsrBackward0", self)


def to_sparse_bsc(self, blocksize, dense_dim=None):
    kinds_first("to_sparse_bsc", blocksize=blocksize, dense_dim=dense_dim)
    return converted(self.to_sparse(layout=sparse_bsc, blocksize=plain(blocksize), dense_dim=dense_dim), "ToSparseBscBackward0", self)


def sparse_compressed_tensor(
    compressed_indices, plain_indices, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None
):
    """A sparse matrix in the layout sparse_csr or sparse_csc: where each row (column) begins, the column (row) of each value, the values.

    >>> import facula
    >>> facula.sparse_compressed_tensor([0, 1, 3], [1, 0, 2], [2.0, 3.0, 4.0], layout=facula.sparse_csr).to_dense()
    tensor([[0., 2., 0.],
            [3., 0., 4.]])
    """
    kinds_first("sparse_compressed_tensor", size=size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    if layout not in (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc):
        raise RuntimeError(f"sparse_compressed_tensor: expected sparse compressed tensor layout but got {layout}. Give sparse_csr, sparse_csc, sparse_bsr or sparse_bsc.")
    check_place("sparse_compressed_tensor", device, pin_memory)
    return _checked("sparse_compressed_tensor", compressed_indices, plain_indices, values, size, dtype, layout, requires_grad, check_invariants)


def sparse_csr_tensor(
    crow_indices, col_indices, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None
):
    """A sparse matrix by where its rows begin, the column of each value, and the values.

    size: by default as many columns as the greatest index needs. Raises RuntimeError where the lengths do not fit.

    >>> import facula
    >>> facula.sparse_csr_tensor([0, 1, 3], [1, 0, 2], [2.0, 3.0, 4.0]) @ facula.ones(3)
    tensor([2., 7.])
    """
    kinds_first("sparse_csr_tensor", size=size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    if layout not in (None, sparse_csr):
        raise RuntimeError(f"sparse_csr_tensor: layout must be sparse_csr, but got {layout}. Leave it out.")
    check_place("sparse_csr_tensor", device, pin_memory)
    return _checked("sparse_csr_tensor", crow_indices, col_indices, values, size, dtype, sparse_csr, requires_grad, check_invariants)


def sparse_csc_tensor(
    ccol_indices, row_indices, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None
):
    """A sparse matrix by where its columns begin, the row of each value, and the values.

    >>> import facula
    >>> facula.sparse_csc_tensor([0, 1, 3], [1, 0, 2], [2.0, 3.0, 4.0]).shape
    torch.Size([3, 2])
    """
    kinds_first("sparse_csc_tensor", size=size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    if layout not in (None, sparse_csc):
        raise RuntimeError(f"sparse_csc_tensor: layout must be sparse_csc, but got {layout}. Leave it out.")
    check_place("sparse_csc_tensor", device, pin_memory)
    return _checked("sparse_csc_tensor", ccol_indices, row_indices, values, size, dtype, sparse_csc, requires_grad, check_invariants)


def sparse_bsr_tensor(
    crow_indices, col_indices, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None
):
    """A sparse matrix in blocks: where each row of blocks begins, the column of each block, counted in blocks, and the blocks.

    crow_indices: (*batch, block rows + 1); col_indices: (*batch, nnz); values: (*batch, nnz, rows, columns, *dense).

    >>> import facula
    >>> facula.sparse_bsr_tensor([0, 1], [1], [[[2.0], [3.0]]], (2, 3)).to_dense()
    tensor([[0., 2., 0.],
            [0., 3., 0.]])
    """
    kinds_first("sparse_bsr_tensor", size=size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    if layout not in (None, sparse_bsr):
        raise RuntimeError(f"sparse_bsr_tensor: layout must be sparse_bsr, but got {layout}. Leave it out.")
    check_place("sparse_bsr_tensor", device, pin_memory)
    return _checked("sparse_bsr_tensor", crow_indices, col_indices, values, size, dtype, sparse_bsr, requires_grad, check_invariants)


def sparse_bsc_tensor(
    ccol_indices, row_indices, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None
):
    """A sparse matrix in blocks: where each column of blocks begins, the row of each block, counted in blocks, and the blocks.

    >>> import facula
    >>> facula.sparse_bsc_tensor([0, 0, 1], [0], [[[2.0], [3.0]]]).to_dense()
    tensor([[0., 2.],
            [0., 3.]])
    """
    kinds_first("sparse_bsc_tensor", size=size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    if layout not in (None, sparse_bsc):
        raise RuntimeError(f"sparse_bsc_tensor: layout must be sparse_bsc, but got {layout}. Leave it out.")
    check_place("sparse_bsc_tensor", device, pin_memory)
    return _checked("sparse_bsc_tensor", ccol_indices, row_indices, values, size, dtype, sparse_bsc, requires_grad, check_invariants)


def _checked(name, pointers, others, values, size, dtype, layout, requires_grad, check_invariants):
    t, finish = _parted(name, pointers, others, values, size, dtype, layout, _wanted(check_invariants))
    finish()
    return _create._finish(t, requires_grad)


def _parted(name, pointers, others, values, size, dtype, layout, ordered):
    """A tensor of parts that fit each other, and what looks at its indices and finishes it."""
    from facula.tensor_core.sparse import blocks as _blocks

    pointers, others, values = _data.as_tensor(pointers), _data.as_tensor(others), _data.as_tensor(values, dtype=dtype)
    for what in (pointers, others):
        if what.dtype._name not in ("int32", "int64"):
            raise DTypeError(f"{name}: indices must be int32 or int64, got {what.dtype}. Convert with .long().")
    values = values if values.requires_grad else values.detach()
    if size is not None:
        check_size(name, size)
    if layout in (sparse_bsr, sparse_bsc) or pointers.dim() > 1 or others.dim() > 1 or values.dim() > 1:
        t = _blocks.fitting(name, pointers, others, values, size, layout)
        return t, lambda: _blocks.check_places(name, t, ordered)
    t = _fitting(name, pointers, others, values, size, int(layout is sparse_csc))

    def finish():
        _check_places(name, t)
        _with_places(t)
        if ordered:
            _check_order(name, t)

    return t, finish


def _wanted(check_invariants):
    if check_invariants is not None:
        return check_invariants
    from facula.sparse import check_sparse_tensor_invariants

    return check_sparse_tensor_invariants.is_enabled()


def _check_order(name, t):
    """What check_invariants asks besides: each index of a line once, in order. The places that bound memory are looked at in any case."""
    lines, others = t._i[t._axis], t._i[1 - t._axis]
    if not bool(((lines[1:] != lines[:-1]) | (others[1:] > others[:-1])).all()):
        raise RuntimeError(f"{name}: the {('column', 'row')[t._axis]} indices of each {('row', 'column')[t._axis]} must be sorted and distinct, got {others.tolist()[:8]}. Sort them.")


def of_parts(pointers, others, values, size, layout):
    """A matrix of these parts, and what looks at its indices and finishes it."""
    return _parted("sparse_compressed_tensor", pointers, others, values, size, None, layout, False)


def _fitting(name, pointers, others, values, size, axis):
    if pointers.dim() != 1 or others.dim() != 1 or values.dim() != 1:
        raise RuntimeError(f"{name}: indices and values must have one dim at least, got {pointers.dim()}, {others.dim()} and {values.dim()}. Give lists.")
    lines, n = pointers.numel() - 1, others.numel()
    if n != values.numel():
        raise RuntimeError(f"{name}: there are {n} indices and {values.numel()} values. Give one value for each.")
    if size is None:
        width = int(others.max()) + 1 if n else 0
        size = (lines, width) if axis == 0 else (width, lines)
    if lines < 0 or len(size) != 2 or size[axis] != lines:
        raise RuntimeError(f"{name}: size {tuple(size)} does not fit {lines} {('rows', 'columns')[axis]}. Give one index more than there are.")
    return _bare(pointers, others, values, size, axis)


def _check_places(name, t):
    ends, others, n = t._p.long(), t._q, t._q.numel()
    if int(ends[0]) != 0 or int(ends[-1]) != n or not bool((ends[1:] >= ends[:-1]).all()):
        raise RuntimeError(f"{name}: the compressed indices must rise from 0 to {n}, the number of values.")
    if n and not 0 <= int(others.min()) <= int(others.max()) < t._size[1 - t._axis]:
        raise RuntimeError(f"{name}: an index is outside size {tuple(t._size)}.")


__all__ = ["sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_csc_tensor", "sparse_csr_tensor"]
