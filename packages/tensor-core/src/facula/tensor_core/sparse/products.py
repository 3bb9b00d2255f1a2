"""Products of sparse matrices that stay sparse, norms, and the sizes of sparse tensors changed in place."""

from facula.tensor_core import _ops, _ownership
from facula.tensor_core.dispatch.kinds import kinds_first, want_tensor
from facula.tensor_core.functions import create as _create, ranges as _ranges
from facula.tensor_core.functions.joining import stack
from facula.tensor_core.functions.matrix import mm
from facula.tensor_core.functions.reductions import norm
from facula.tensor_core.sparse.tensor import Sparse, make
from facula.tensor_core._types import BY_NAME, sparse_csr


def _matrices(name, mat1, mat2):
    want_tensor(name, "mat1", None, mat1)
    want_tensor(name, "mat2", None, mat2)
    if not isinstance(mat1, Sparse):
        raise RuntimeError(f"{name}: the first matrix must be sparse, got a strided tensor of shape {tuple(mat1.shape)}. Convert with to_sparse().")
    if isinstance(mat2, Sparse):
        raise RuntimeError(f"{name}: Expected dense mat2, got a sparse tensor of shape {tuple(mat2.shape)}. Convert with to_dense().")
    if mat1.sparse_dim() != 2 or mat1.dense_dim() or mat2.dim() != 2:
        raise RuntimeError(f"{name}: 2D matrices expected, got {tuple(mat1.shape)} and {tuple(mat2.shape)}.")
    if mat1.size(1) != mat2.size(0):
        raise RuntimeError(f"{name}: Argument #3: Expected dim 0 size {mat1.size(1)}, got {mat2.size(0)} ({tuple(mat1.shape)} and {tuple(mat2.shape)}).")


def _rows(mat1, mat2):
    """(the rows of mat1 that have an element, those rows of mat1 @ mat2)."""
    from facula.tensor_core.functions.order import unique

    mat1 = mat1.coo().coalesce()
    rows, owner = unique(mat1._i[0], sorted=True, return_inverse=True)
    terms = mat2.index_select(0, mat1._i[1]) * mat1._v.unsqueeze(1)
    return rows, _create.zeros((rows.numel(), mat2.size(1)), dtype=terms.dtype).index_add(0, owner, terms)


def hspmm(mat1, mat2, *, out=None):
    """mat1 @ mat2, mat1 sparse: a sparse tensor of the rows that are there.

    >>> import facula
    >>> a = facula.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()
    >>> facula.hspmm(a, facula.tensor([[1.0], [5.0]])).values()
    tensor([[10.]])
    """
    kinds_first("hspmm", mat1=mat1, mat2=mat2, **({} if out is None else {"out": out}))
    if not isinstance(mat1, Sparse):
        raise NotImplementedError(f"hspmm: not defined for strided tensors (mat1: {tuple(mat1.shape)}). Take mm, which is.")
    _matrices("hspmm", mat1, mat2)
    rows, values = _rows(mat1, mat2)
    return _delivered(make(rows.unsqueeze(0), values, (mat1.size(0), mat2.size(1)), True), out)


def _delivered(made, out):
    if out is None:
        return made
    if not isinstance(out, Sparse):
        raise RuntimeError("out: a sparse result needs a sparse tensor. Pass one made by facula.sparse_coo_tensor.")
    out._i, out._v, out._size, out._coalesced = made._i, made._v, made._size, made._coalesced
    return out


def sspaddmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """beta * input + alpha * (mat1 @ mat2): input and mat1 sparse, mat2 strided, the result sparse and not coalesced.

    >>> import facula
    >>> a = facula.tensor([[0.0, 2.0], [1.0, 0.0]]).to_sparse()
    >>> facula.sspaddmm(a, a, facula.eye(2), alpha=10).to_dense()
    tensor([[ 0., 22.],
            [11.,  0.]])
    >>> a.sspaddmm(a, facula.eye(2)).to_dense()
    tensor([[0., 4.],
            [2., 0.]])
    """
    kinds_first("sspaddmm", input=input, mat1=mat1, mat2=mat2, beta=beta, alpha=alpha, **({} if out is None else {"out": out}))
    _matrices("sspaddmm", mat1, mat2)
    size = (mat1.size(0), mat2.size(1))
    if not isinstance(input, Sparse):
        raise RuntimeError(f"sspaddmm: input must be sparse, got a strided tensor of shape {tuple(input.shape)}. Convert with to_sparse().")
    if tuple(input.shape) != size:
        raise RuntimeError(f"sspaddmm: Expected input of shape {size}, got {tuple(input.shape)}.")
    rows, values = _rows(mat1, mat2)
    places = stack([rows.repeat_interleave(size[1]), _ranges.arange(size[1]).repeat(rows.numel())])
    input = input.coo()
    made = make(_ops.cat([input._i, places], 1), _ops.cat([input._v * beta, values.reshape(-1) * alpha], 0), size)
    return _delivered(made, out)


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None):
    """beta * input + alpha * (mat1 @ mat2) where input, a CSR matrix, lists an element: only those of the product are computed.

    mat1, mat2: (M, K) and (K, N), strided, of input's dtype, which is floating or complex. The result is CSR.

    >>> import facula
    >>> x = facula.eye(2).to_sparse_csr()
    >>> facula.sparse.sampled_addmm(x, facula.ones(2, 3), facula.ones(3, 2), alpha=10).values()
    tensor([31., 31.])
    """
    for name, t in (("self", input), ("result", input if out is None else out)):
        if t.layout is not sparse_csr:
            raise RuntimeError(f"sampled_addmm: Expected {name} to have sparse csr layout, but got {t.layout}. Convert with to_sparse_csr().")
    if input.dtype._kind < 2:
        raise RuntimeError(f"sampled_addmm: Expected self to be a floating-point or complex tensor, but got {input.dtype._scalar_type}. Convert it.")
    for name, t in (("mat1", mat1), ("mat2", mat2)):
        if isinstance(t, Sparse):
            raise RuntimeError(f"sampled_addmm: Expected {name} to have strided layout, but got {t.layout}. Convert with to_dense().")
        if t.dim() != 2:
            raise RuntimeError(f"sampled_addmm: Expected {name} to be a matrix, got {t.dim()}-D tensor of shape {tuple(t.shape)}. Use one of each batch.")
        if t.dtype is not input.dtype:
            raise RuntimeError(f"sampled_addmm: Expected {name} and self to have the same dtype, but got {t.dtype._scalar_type} and {input.dtype._scalar_type}. Convert one.")
    if mat1.size(1) != mat2.size(0):
        raise RuntimeError(f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({mat1.size(0)}x{mat1.size(1)} and {mat2.size(0)}x{mat2.size(1)}). Transpose one.")
    if (mat1.size(0), mat2.size(1)) != tuple(input.shape):
        raise RuntimeError(f"sampled_addmm: self must be of the product's shape {(mat1.size(0), mat2.size(1))}, got {tuple(input.shape)}.")
    rows, columns = input._i[0], input._i[1]
    products = (mat1.index_select(0, rows) * mat2.t().index_select(0, columns)).sum(1) * alpha
    made = input._with(products + input._v * beta if beta else products)
    if out is None:
        return made
    if out.shape != made.shape:
        raise RuntimeError(f"sampled_addmm: out has shape {tuple(out.shape)}, the result {tuple(made.shape)}. Give one of that shape.")
    return out._become(made, made._v.to(out.dtype))


def native_norm(input, p=2, dim=(), keepdim=False, dtype=None):
    """The p-norm of all elements of a sparse tensor: dim names every dim or none.

    >>> import facula
    >>> facula.native_norm(facula.tensor([[0.0, 3.0], [4.0, 0.0]]).to_sparse())
    tensor(5.)
    """
    kinds_first("native_norm", input=input, p=p, dim=dim, keepdim=keepdim, dtype=dtype)
    if not isinstance(input, Sparse):
        raise NotImplementedError(f"native_norm: not defined for strided tensors (input: {tuple(input.shape)}). Take norm, which is.")
    return norm(input, p, dim, keepdim, dtype=dtype)


def smm(input, mat2):
    """input @ mat2, input sparse: as a sparse matrix with every element of the rows that are there.

    >>> import facula
    >>> a = facula.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()
    >>> facula.smm(a, facula.tensor([[1.0], [5.0]])).to_dense()
    tensor([[10.],
            [ 0.]])
    >>> a.smm(facula.tensor([[1.0], [5.0]])).to_dense()
    tensor([[10.],
            [ 0.]])
    """
    _matrices("smm", input, mat2)
    empty = make(_create.zeros((2, 0), dtype=BY_NAME["int64"]), _create.zeros((0,), dtype=input.dtype), (input.size(0), mat2.size(1)), True)
    return sspaddmm(empty, input, mat2)


def to_sparse_coo(self):
    """The tensor in coordinate form; one that is in it is itself.

    >>> import facula
    >>> facula.tensor([0.0, 3.0]).to_sparse_coo().indices()
    tensor([[1]])
    """
    return self if self.is_sparse else self.to_sparse()


def _checked_size(name, self, size, sparse_dim, dense_dim):
    kinds_first(name, size=size, sparse_dim=sparse_dim, dense_dim=dense_dim)
    if not self.is_sparse:
        raise NotImplementedError(f"{name}: not defined for layout {self.layout} and shape {tuple(self.shape)}. Convert with to_sparse().")
    if sparse_dim + dense_dim != len(size):
        raise RuntimeError(f"{name}: number of dimensions must be sparse_dim ({sparse_dim}) + dense_dim ({dense_dim}), but got {len(size)}")


def sparse_resize_(self, size, sparse_dim, dense_dim):
    """Another size around the same elements; it may only grow where there are any. In place.

    >>> x = facula.tensor([[0, 7]]).to_sparse()
    >>> x.sparse_resize_((3, 2), 2, 0).shape
    torch.Size([3, 2])
    """
    _checked_size("sparse_resize_", self, size, sparse_dim, dense_dim)
    if self._nnz():
        n, old = self.sparse_dim(), tuple(self.shape)
        wrong = None
        if sparse_dim != n:
            wrong = f"changing the number of sparse dimensions (from {n} to {sparse_dim})"
        elif dense_dim != self.dense_dim():
            wrong = f"changing the number of dense dimensions (from {self.dense_dim()} to {dense_dim})"
        elif any(s < o for s, o in zip(size[:n], old[:n])):
            wrong = f"shrinking the size of sparse dimensions (from {list(old[:n])} to {list(size[:n])})"
        elif any(s < o for s, o in zip(size[n:], old[n:])):
            wrong = f"shrinking the size of dense dimensions (from {list(old[n:])} to {list(size[n:])})"
        if wrong:
            raise RuntimeError(f"sparse_resize_: {wrong} on a non-empty sparse tensor is not supported. Make a new one, or call sparse_resize_and_clear_.")
        self._size = type(self._size)(size)
        if tuple(size[n:]) != old[n:]:  # in the order of memory, as resize_ does
            values, grown = self._v.detach().reshape(-1), _create.zeros((self._nnz(), *size[n:]), dtype=self.dtype)
            grown.view(-1)[: values.numel()] = values
            self._v = grown
        return self
    return sparse_resize_and_clear_(self, size, sparse_dim, dense_dim)


def sparse_resize_and_clear_(self, size, sparse_dim, dense_dim):
    """Another size, and no elements. In place.

    >>> x = facula.tensor([[0, 7]]).to_sparse()
    >>> x.sparse_resize_and_clear_((3, 2), 2, 0)._nnz()
    0
    """
    _checked_size("sparse_resize_and_clear_", self, size, sparse_dim, dense_dim)
    self._i = _create.zeros((sparse_dim, 0), dtype=BY_NAME["int64"])
    self._v = _create.zeros((0, *size[sparse_dim:]), dtype=self.dtype)
    self._size, self._coalesced = type(self._size)(size), True
    return self


_ownership.attach({"smm": smm, "sspaddmm": sspaddmm, "to_sparse_coo": to_sparse_coo, "sparse_resize_": sparse_resize_, "sparse_resize_and_clear_": sparse_resize_and_clear_})
# What old programs call them.
spmm = dsmm = mm
hsmm, saddmm = hspmm, sspaddmm
__all__ = ["dsmm", "hsmm", "hspmm", "native_norm", "saddmm", "smm", "spmm", "sspaddmm"]
