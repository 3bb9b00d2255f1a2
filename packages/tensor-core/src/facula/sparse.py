"""Functions of sparse tensors."""

import functools

from facula.tensor_core import _ops
from facula.tensor_core._types import sparse_coo, sparse_csc, sparse_csr
from facula.tensor_core.functions import create as _create, ranges as _ranges
from facula.tensor_core.sparse import tensor as _sparse
from facula.tensor_core.sparse.products import sampled_addmm

__all__ = ["addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax", "spdiags", "sum"]


def mm(mat1, mat2, reduce=None):
    """mat1 @ mat2, one or both of them sparse matrices.

    reduce: of a CSR and a strided matrix what becomes of a row's products, "sum", "mean", "amax" or "amin"; of none 0.

    >>> import facula
    >>> facula.sparse.mm(facula.tensor([[1.0, 3.0], [0.0, 0.0]]).to_sparse_csr(), facula.tensor([[1.0], [2.0]]), "amax")
    tensor([[6.],
            [0.]])
    """
    if reduce is None:
        return _ops.matmul(mat1, mat2)
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)  # their old names
    if reduce not in ("sum", "mean", "amax", "amin"):
        raise RuntimeError(f"sparse.mm: reduce argument must be either sum, mean, amax or amin, got {reduce}. Give one of them.")
    if mat1.layout is not sparse_csr or isinstance(mat2, _sparse.Sparse):
        raise NotImplementedError(f"sparse.mm: with reduce mat1 is in CSR and mat2 strided, got {mat1.layout} and {mat2.layout}. Convert with to_sparse_csr().")
    total = _ops.matmul(mat1, mat2)  # whose refusals are those of every reduction
    if reduce == "sum":
        return total
    mat1 = mat1.coo()
    terms = mat2.index_select(0, mat1._i[1]) * mat1._v.unsqueeze(1)
    return _create.zeros_like(total).scatter_reduce(0, mat1._i[0].unsqueeze(1).expand(terms.shape), terms, reduce, include_self=False)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta * mat + alpha * (mat1 @ mat2), mat1 sparse, the others strided.

    >>> a = facula.tensor([[0.0, 2.0]]).to_sparse()
    >>> facula.sparse.addmm(facula.ones(1, 1), a, facula.tensor([[1.0], [5.0]]))
    tensor([[11.]])
    """
    return mat * beta + _ops.matmul(mat1, mat2) * alpha


def sum(input, dim=None, dtype=None):
    """The sum of all elements, or over dims: sparse as long as a sparse dim is left.

    >>> a = facula.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()
    >>> facula.sparse.sum(a)
    tensor(5.)
    >>> facula.sparse.sum(a, 0).to_dense()
    tensor([3., 2.])
    """
    if dtype is not None:
        input = input.to(dtype)
    if not input.is_sparse:
        raise RuntimeError(f"sparse.sum: input must be a sparse tensor in coordinate form, got layout {input.layout}. Convert with to_sparse().")
    if dim is None:
        return input._v.sum()
    n, dims = input.sparse_dim(), input.dim()
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    if any(not -dims <= d < dims for d in given):
        raise IndexError(f"sparse.sum: Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], but got {given}).")
    gone = {d % dims for d in given}
    if len(gone) < len(given):
        raise RuntimeError(f"sparse.sum: a dim appears multiple times in the list of dims {given}. Name each dim once.")
    dense = [d - n + 1 for d in gone if d >= n]
    values = input._v.sum(dense) if dense else input._v
    kept = [d for d in range(n) if d not in gone]
    if not kept:
        return values.sum(0)
    size = [s for d, s in enumerate(input.shape) if d not in gone]
    return _sparse.make(input._i[kept], values, size, len(kept) == n and input._coalesced).coalesce()


def spdiags(diagonals, offsets, shape, layout=None):
    """The sparse matrix of this shape whose diagonal offsets[k] is diagonals[k]: column j takes diagonals[k, j].

    diagonals: (D, N) or (N); offsets: (D) int64, or a number, each once. layout: sparse_coo (not coalesced), sparse_csr or sparse_csc.

    >>> import facula
    >>> facula.sparse.spdiags(facula.tensor([[1, 2, 3], [4, 5, 6]]), facula.tensor([0, -1]), (3, 3)).to_dense()
    tensor([[1, 0, 0],
            [4, 2, 0],
            [0, 5, 3]])
    """
    if diagonals.dim() not in (1, 2):
        raise RuntimeError(f"spdiags: Diagonals must be vector or matrix, got shape {tuple(diagonals.shape)}. Give one diagonal a row.")
    if len(shape) != 2:
        raise RuntimeError(f"spdiags: Output shape must be 2d, got {tuple(shape)}. Give rows and columns.")
    if offsets.dim() > 1:
        raise RuntimeError(f"spdiags: Offsets must be scalar or vector, got shape {tuple(offsets.shape)}. Flatten them.")
    if offsets.dtype._name != "int64":
        raise RuntimeError(f"spdiags: Offset Tensor must have dtype Long but got {offsets.dtype._scalar_type}. Convert with offsets.long().")
    if layout not in (None, sparse_coo, sparse_csr, sparse_csc):
        raise RuntimeError(f"spdiags: Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {layout}. Use to_dense() for strided.")
    diagonals, offsets = diagonals.reshape(-1, diagonals.shape[-1]), offsets.reshape(-1, 1)
    if diagonals.shape[0] != offsets.shape[0]:
        raise RuntimeError(f"spdiags: Number of diagonals ({diagonals.shape[0]}) does not match the number of offsets ({offsets.shape[0]}). Give one for each.")
    if len(set(offsets.flatten().tolist())) != offsets.shape[0]:
        raise RuntimeError(f"spdiags: Offset tensor contains duplicate values: {offsets.flatten().tolist()}. Add up those diagonals.")
    columns = _ranges.arange(diagonals.shape[1]).expand(diagonals.shape)
    rows = columns - offsets
    there = (rows >= 0) & (rows < shape[0]) & (columns < shape[1])
    made = _sparse.make(_ops.cat([rows[there].unsqueeze(0), columns[there].unsqueeze(0)], 0), diagonals[there], shape)
    return made if layout in (None, sparse_coo) else made.to_sparse(layout=layout)


def softmax(input, dim, *, dtype=None):
    """exp(x) divided by its sum along dim, over the elements that are listed: the others count as -inf.

    >>> import facula
    >>> facula.sparse.softmax(facula.tensor([[0.0, 2.0], [3.0, 3.0]]).to_sparse(), 1).to_dense()
    tensor([[0.0000, 1.0000],
            [0.5000, 0.5000]])
    """
    return _softmax("softmax", input, dim, dtype)


def log_softmax(input, dim, *, dtype=None):
    """The logarithm of softmax(input, dim), over the elements that are listed.

    >>> import facula
    >>> facula.sparse.log_softmax(facula.tensor([[3.0, 3.0]]).to_sparse(), 1).to_dense()
    tensor([[-0.6931, -0.6931]])
    """
    return _softmax("log_softmax", input, dim, dtype)


def _softmax(name, input, dim, dtype):
    if not input.is_sparse:
        raise NotImplementedError(f"sparse.{name}: not defined for a strided tensor of shape {tuple(input.shape)}. Use facula.{name}.")
    if not -input.dim() <= dim < input.dim():
        raise IndexError(f"{name}: Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {dim})")
    input = (input if dtype is None else input.to(dtype)).coalesce()
    values, n, dim = input._v, input.sparse_dim(), dim % input.dim()
    if dim >= n:
        return input._with(getattr(_ops, name)(values, dim - n + 1))
    others = [d for d in range(n) if d != dim]
    if others:
        group = _sparse._flat(input._i[others], [input.shape[d] for d in others])
    else:
        group = _create.zeros((values.shape[0],), dtype=input._i.dtype)
    groups, group = _sparse._ops_unique(group)
    index = group.reshape(-1, *(1,) * (values.dim() - 1)).expand(values.shape)
    top = _create.full((groups.numel(), *values.shape[1:]), float("-inf"), dtype=values.dtype).scatter_reduce(0, index, values.detach(), "amax")
    shifted = values - top.index_select(0, group)
    total = _create.zeros(top.shape, dtype=values.dtype).index_add(0, group, shifted.exp()).index_select(0, group)
    return input._with(shifted - total.log() if name == "log_softmax" else shifted.exp() / total)


class check_sparse_tensor_invariants:
    """Whether sparse tensors are checked when they are made: a block, a decorator, or enable() and disable().

    The constructors here check indices and sizes in any case; the switch is remembered.

    >>> import facula
    >>> with facula.sparse.check_sparse_tensor_invariants():
    ...     facula.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    _enabled = False

    def __init__(self, enable=True):
        self.state, self._before = enable, []

    @staticmethod
    def is_enabled():
        """What was said last."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable():
        """Check from now on."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable():
        """Leave the checks to the constructors."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self):
        if self._before:
            raise RuntimeError("check_sparse_tensor_invariants: this context manager is already activated. Make a new one for a nested block.")
        self._before.append(self.is_enabled())
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, *error):
        check_sparse_tensor_invariants._enabled = self._before.pop()

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)

        return inside


def as_sparse_gradcheck(gradcheck):
    """gradcheck for functions that take or return sparse tensors: it sees their values, or (masked=False) all their elements.

    >>> import facula
    >>> x = facula.tensor([[0.0, 2.0]], dtype=facula.float64).to_sparse().requires_grad_()
    >>> facula.sparse.as_sparse_gradcheck(facula.autograd.gradcheck)(lambda x: x * 3, (x,))
    True
    """

    @functools.wraps(gradcheck)
    def check(func, inputs, **options):
        masked = options.pop("masked", False)
        inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        plain, builders = [], []
        for x in inputs:
            if isinstance(x, _sparse.Sparse) and x.requires_grad:
                x = x.detach().distinct()
                if not masked:  # every index is listed, so that every element has its derivative
                    x = x.to_dense().sparse_mask(x.everywhere())
                builders.append(lambda values, x=x: x._with(values))
                x = x._v.requires_grad_()
            else:
                builders.append(None)
            plain.append(x)

        def strided(*given):
            out = func(*(x if build is None else build(x) for build, x in zip(builders, given)))
            outs = out if isinstance(out, (tuple, list)) else (out,)
            outs = tuple((o._v if masked else o.to_dense()) if isinstance(o, _sparse.Sparse) else o for o in outs)
            return outs if isinstance(out, (tuple, list)) else outs[0]

        return gradcheck(strided, tuple(plain), **options)

    return check
