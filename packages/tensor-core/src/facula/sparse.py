"""Functions of sparse tensors."""

from facula.tensor_core import _ops, _sparse

__all__ = ["addmm", "mm", "sum"]


def mm(mat1, mat2):
    """mat1 @ mat2, one or both of them sparse matrices."""
    return _ops.matmul(mat1, mat2)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta * mat + alpha * (mat1 @ mat2), mat1 sparse, the others strided."""
    return mat * beta + _ops.matmul(mat1, mat2) * alpha


def sum(input, dim=None, dtype=None):
    """The sum of all elements, or over dims: sparse as long as a sparse dim is left."""
    if dtype is not None:
        input = input.to(dtype)
    if dim is None:
        return input._v.sum()
    n, dims = input.sparse_dim(), input.dim()
    gone = {d % dims for d in ((dim,) if isinstance(dim, int) else dim)}
    dense = [d - n + 1 for d in gone if d >= n]
    values = input._v.sum(dense) if dense else input._v
    kept = [d for d in range(n) if d not in gone]
    if not kept:
        return values.sum(0)
    size = [s for d, s in enumerate(input.shape) if d not in gone]
    return _sparse.make(input._i[kept], values, size, len(kept) == n and input._coalesced).coalesce()
