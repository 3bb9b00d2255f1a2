"""Inverses and linear systems: inv, pinv, solve and its kinds, lstsq."""

from facula.tensor_core import _limits, _ops, _warned, return_types
from facula.tensor_core.functions import create as _create, ranges as _ranges
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core._errors import DTypeError, RankError, ShapeError
from facula.tensor_core.dispatch.kinds import check as check_kind
from facula.tensor_core.linalg.tools import H, LinAlgError, check, columns, eye_like, finite, into, matrix, refuse, spoiled, square, without_infinities
from facula.tensor_core.functions.dims import movedim
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import BY_NAME

_ZERO_PIVOT = "The diagonal element {k} is zero, the inversion could not be completed because the input matrix is singular."
_SINGULAR = "The solver failed because the input matrix is singular (pivot {k} is zero)."


def inv_ex(A, *, check_errors=False, out=None):
    """(inverse, info): info is 0, or which pivot of a singular matrix is zero; nothing is raised unless check_errors.

    >>> facula.linalg.inv_ex(facula.tensor([[2.0, 0.0], [0.0, 4.0]]))
    torch.return_types.linalg_inv_ex(
    inverse=tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]]),
    info=tensor(0, dtype=torch.int32))
    """
    square("linalg.inv_ex", A)
    inverse, info = _ops._linalg_inv_ex(A)
    if check_errors:
        refuse("linalg.inv_ex", info, _ZERO_PIVOT)
    return into("linalg.inv_ex", return_types.inv_ex(inverse, info), out)


def inv(A, *, out=None) -> Tensor:
    """The inverse of a square matrix, or of each of a batch (*, n, n). Raises LinAlgError for a singular one.

    >>> import facula
    >>> facula.linalg.inv(facula.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    square("linalg.inv", A)
    inverse, info = _ops._linalg_inv_ex(A)
    refuse("linalg.inv", info, _ZERO_PIVOT)
    return into("linalg.inv", inverse, out)


def inverse(input, *, out=None) -> Tensor:
    """facula.linalg.inv.

    >>> A = facula.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> facula.inverse(A)
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    >>> A.inverse()
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return inv(input, out=out)


def tolerances(name, A, atol, rtol):
    """(atol, rtol) as tensors for each matrix, of whose batch and theirs: rtol is eps * max(m, n) unless it or a positive atol is given."""
    from facula.tensor_core.functions.overloads import where

    real = A.dtype.to_real()
    default = _limits.finfo(real).eps * max(A.shape[-2:])
    for word, value in (("atol", atol), ("rtol", rtol)):
        if isinstance(value, Tensor) and value.is_complex():
            raise RuntimeError(f"{name}: {word} tensor of complex type is not supported. Take its real part.")

    def wide(value):
        return value.to(real) if isinstance(value, Tensor) else _create.full((), value, dtype=real, device=A.device)

    if rtol is None and isinstance(atol, Tensor):
        rtol = where(atol > 0, 0.0, default)
    if rtol is None:
        rtol = 0.0 if atol is not None and atol > 0 else default
    atol, rtol = wide(0.0 if atol is None else atol), wide(rtol)
    batch = _create_broadcast(A.shape[:-2], atol.shape, rtol.shape)
    return _ops.expand(atol, batch), _ops.expand(rtol, batch)


def of_dims(name, A):
    """Refuse a vector before its dtype: which class of exception PyTorch raises hangs on how the tolerances are given, this is both."""
    if A.dim() < 2:
        raise RankError(f"{name}: The input tensor A must have at least 2 dimensions, but has {A.dim()} (shape {tuple(A.shape)}).")


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None) -> Tensor:
    """The pseudo-inverse (*, n, m) of matrices (*, m, n): singular values up to max(atol, rtol * largest) count as 0.

    rcond is another name of rtol.

    >>> import facula
    >>> facula.linalg.pinv(facula.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    of_dims("linalg.pinv", A)
    matrix("linalg.pinv", A)
    if 0 in A.shape[-2:]:
        return into("linalg.pinv", _ops.copy(_ops.transpose(A, -2, -1), None, 0), out)  # of no elements, and with A's history
    if hermitian:
        square("linalg.pinv", A)
    atol, rtol = tolerances("linalg.pinv", A, atol, rcond if rtol is None else rtol)
    spoilt = None
    if hermitian:
        finite("linalg.eigh", A, upper=False)
    else:
        A, spoilt = without_infinities("linalg.svd", A)
    A = _ops.expand(A, (*atol.shape, *A.shape[-2:])) if atol.dim() else A
    found = _ops._linalg_pinv(A, atol.detach(), rtol.detach(), hermitian)
    if spoilt is not None:
        found = _ops.add(found, spoiled(found, _ops.expand(spoilt, found.shape)))
    return into("linalg.pinv", found, out)


def pinverse(input, rcond=1e-15) -> Tensor:
    """The pseudo-inverse; singular values up to rcond * largest count as 0.

    >>> A = facula.tensor([[2.0, 0.0], [0.0, 0.0]])
    >>> facula.pinverse(A)
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    >>> A.pinverse()
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    return pinv(input, rtol=rcond)


def _is_vector(A, B):
    """Is B one right side for each matrix of A, rather than several as columns?"""
    return B.dim() == 1 or A.dim() - 1 == B.dim() and B.shape == A.shape[:-1]


def _fit(name, A, B, left=True):
    if B.shape[-2 if left else -1] != A.shape[-1]:
        raise ShapeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} ({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]}).")
    if (batch := A.shape[:-2]) and (other := B.shape[:-2]):  # before NumPy says it in its own way
        _create_broadcast(batch, other)


def solve_ex(A, B, *, left=True, check_errors=False, out=None):
    """(X in A X = B, info); see solve. Nothing is raised for singular matrices unless check_errors.

    >>> facula.linalg.solve_ex(facula.tensor([[2.0, 0.0], [0.0, 4.0]]), facula.tensor([2.0, 8.0]))
    torch.return_types.linalg_solve_ex(
    result=tensor([1., 2.]),
    info=tensor(0, dtype=torch.int32))
    """
    return into("linalg.solve_ex", return_types.solve_ex(*_solved("linalg.solve_ex", A, B, left, check_errors)), out)


def solve(A, B, *, left=True, out=None) -> Tensor:
    """X in A X = B (X A = B unless left), A (*, n, n), B (*, n, k) or (*, n). Raises LinAlgError where A is singular.

    >>> import facula
    >>> facula.linalg.solve(facula.tensor([[2.0, 0.0], [0.0, 4.0]]), facula.tensor([1.0, 1.0]))
    tensor([0.5000, 0.2500])
    """
    return into("linalg.solve", _solved("linalg.solve", A, B, left, True)[0], out)


def _solved(name, A, B, left, raising):
    if not A.numel() and A.dtype is B.dtype and A.dtype._kind == 2 and A.dtype.itemsize < 4:  # no kernel is asked
        X, info = _solved(name, A.to(BY_NAME["float32"]), B.to(BY_NAME["float32"]), left, raising)
        return X.to(A.dtype), info
    square(name, A)
    check(name, A, B)
    if not B.dim():
        raise ShapeError(f"{name}: The input tensor B must have at least 2 dimensions, or be vectors, it has none. Give it the rows of A.")
    vector = _is_vector(A, B)
    if vector and not left:
        raise ShapeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)")
    given = B
    B = _ops.unsqueeze(B, -1) if vector else B
    _fit(name, A, B, left)
    if left:
        X, info = _ops._linalg_solve_ex(A, B)
    else:
        X, info = _ops._linalg_solve_ex(A.mT, B.mT)
        X = X.mT
    if raising:
        refuse(name, info, _SINGULAR)
    if vector:
        X = X.squeeze(-1)
        X = columns(X) if X.dim() > 1 else X
    return X if left and not vector else _dispatch.one_node(X, "LinalgSolveExBackward0", A, given), info


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None) -> Tensor:
    """X in A X = B (X A = B unless left), where only A's upper (or lower) triangle is read; unitriangular: its diagonal counts as ones.

    >>> import facula
    >>> facula.linalg.solve_triangular(facula.tensor([[2.0, 0.0], [1.0, 1.0]]), facula.tensor([[2.0], [3.0]]), upper=False)
    tensor([[1.],
            [2.]])
    """
    square("linalg.solve_triangular", A)
    matrix("linalg.solve_triangular", A)
    matrix("linalg.solve_triangular", B, floating=False)
    _fit("linalg.solve_triangular", A, B, left)
    B = B.to(A.dtype)  # X has the dtype of A, whatever B's is
    if left:
        X = _ops._linalg_solve_triangular(A, B, bool(upper), bool(unitriangular))
    else:
        X = columns(_ops._linalg_solve_triangular(A.mT, _dispatch.gradient_lies(B, "columns").mT, not upper, bool(unitriangular)).mT)
        X = _dispatch.one_node(X, "LinalgSolveTriangularBackward0", A, B)
    return into("linalg.solve_triangular", X, out, (B,))


def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """(X in A X = input, a copy of A); transpose: with A's transpose. facula.linalg.solve_triangular is its successor.

    >>> b = facula.tensor([[2.0], [5.0]])
    >>> facula.triangular_solve(b, facula.tensor([[2.0, 0.0], [1.0, 4.0]]), upper=False).solution
    tensor([[1.],
            [1.]])
    >>> b.triangular_solve(facula.tensor([[2.0, 0.0], [1.0, 4.0]]), upper=False).solution
    tensor([[1.],
            [1.]])
    """
    _warned.superseded("triangular_solve", "X = linalg.solve_triangular(A, B, upper=...)")
    square("triangular_solve", A)
    matrix("triangular_solve", input, A)
    laid = _dispatch.gradient_lies(A, "rows")
    solved = solve_triangular(laid.mT if transpose else laid, input, upper=upper != transpose, unitriangular=unitriangular)
    lead = solved.shape[:-2]
    laid = laid if A.shape[:-2] == lead else _ops.expand(laid, (*lead, *A.shape[-2:]))
    return into("triangular_solve", return_types.triangular_solve(*(_dispatch.one_node(t, "TriangularSolveBackward0", input, A) for t in (solved, columns(laid)))), out, (input,))


def cholesky_solve(input, input2, upper=False, *, out=None) -> Tensor:
    """X in A X = input from A's Cholesky factor L, which is input2: A = L L^H, or L^H L if upper. The gradient of L is that of the product of whole matrices, as PyTorch's.

    >>> b = facula.tensor([[4.0], [16.0]])
    >>> facula.cholesky_solve(b, facula.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[1.],
            [1.]])
    >>> b.cholesky_solve(facula.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[1.],
            [1.]])
    """
    square("cholesky_solve", input2)
    matrix("cholesky_solve", input, input2)
    _fit("cholesky_solve", input2, input)
    return into("cholesky_solve", _ops._cholesky_solve(input, input2, bool(upper)), out)


def cholesky_inverse(input, upper=False, *, out=None) -> Tensor:
    """The inverse of A from its Cholesky factor.

    >>> factor = facula.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> facula.cholesky_inverse(factor)
    tensor([[0.2500, 0.0000],
            [0.0000, 0.0625]])
    >>> factor.cholesky_inverse()
    tensor([[0.2500, 0.0000],
            [0.0000, 0.0625]])
    """
    L = input
    square("cholesky_inverse", L)
    if L.numel() and not _dispatch.listened() and not L.is_meta:
        zero = (_ops.diagonal(L.detach(), 0, -2, -1) == 0).reshape(-1, L.shape[-1])
        if bool(zero.any()):
            where = zero.nonzero()[0].tolist()
            batch = f"(Batch element {where[0]}): " if L.dim() > 2 else ""
            raise LinAlgError(f"cholesky_inverse: {batch}" + _ZERO_PIVOT.format(k=where[1] + 1))
    return into("cholesky_inverse", _dispatch.one_node(cholesky_solve(eye_like(L), L, upper), "CholeskyInverseBackward0", L), out, (L,))


def in_range(pivots, least, most):
    if not pivots.numel() or pivots.is_meta:
        return True
    values = pivots._values_of_all()
    return least <= values.min().item() and values.max().item() <= most


def _rows(x, order):
    """x's rows (*, n, k) in this order."""
    batch = _create_broadcast(x.shape[:-2], order.shape[:-1])
    x = _ops.expand(x, (*batch, *x.shape[-2:]))
    order = _ops.expand(order, (*batch, order.shape[-1]))
    return _ops.gather(x, -2, _ops.expand(_ops.unsqueeze(order, -1), (*batch, order.shape[-1], x.shape[-1])))


def _create_broadcast(*shapes):
    from facula.tensor_core.functions.shape import broadcast_shapes

    return broadcast_shapes(*shapes)


def lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None) -> Tensor:
    """X in A X = B from lu_factor's results; left=False: X A = B; adjoint: with A's conjugate transpose.

    >>> LU, pivots = facula.linalg.lu_factor(facula.tensor([[4.0, 0.0], [0.0, 16.0]]))
    >>> facula.linalg.lu_solve(LU, pivots, facula.tensor([[4.0], [16.0]]))
    tensor([[1.],
            [1.]])
    """
    square("linalg.lu_solve", LU)
    matrix("linalg.lu_solve", LU, B)
    if pivots.dtype._name != "int32":
        raise RuntimeError(f"linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32, got {pivots.dtype}. Give those of lu_factor.")
    if pivots.shape != LU.shape[:-1]:
        raise (ShapeError if pivots.dim() else RankError)(f"linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix: {tuple(pivots.shape)} for {tuple(LU.shape)}.")
    _fit("linalg.lu_solve", LU, B, left)
    step = "LinalgLuSolveBackward0", LU, B
    if not left:  # X A = B is A^H X^H = B^H
        X = H(lu_solve(LU, pivots, H(B), adjoint=not adjoint))
        return into("linalg.lu_solve", _dispatch.one_node(X if X.numel() else X.resolve_conj(), *step), out)
    for least, most, word in ((1, float("inf"), "greater or equal to 1"), (1, LU.shape[-1], "smaller or equal to LU.size(-2)")):
        if not in_range(pivots, least, most):
            raise RuntimeError(f"linalg.lu_solve: Pivots given to lu_solve must all be {word}. Did you properly pass the result of lu_factor?")
    LU, B = _dispatch.gradient_lies(LU, "rows"), _dispatch.gradient_lies(B, "columns")
    order = _ops._lu_order(pivots, LU.shape[-1])
    if adjoint:  # A = P^T L U, so A^H = U^H L^H P
        y = _ops._linalg_solve_triangular(H(LU), B, False, False)
        y = _ops._linalg_solve_triangular(H(LU), y, True, True)
        back = _ops.scatter(order, -1, order, _ops.expand(_ranges.arange(order.shape[-1], device=order.device), order.shape))
        return into("linalg.lu_solve", _dispatch.one_node(columns(_rows(y, back)), *step), out)
    y = _ops._linalg_solve_triangular(LU, _rows(B, order), False, True)
    return into("linalg.lu_solve", _dispatch.one_node(_ops._linalg_solve_triangular(LU, y, True, False), *step), out)


def lu_solve_(input, LU_data, LU_pivots, *, out=None):
    """X in A X = input from lu_factor's results.

    >>> b = facula.tensor([[4.0], [16.0]])
    >>> facula.lu_solve(b, *facula.linalg.lu_factor(facula.tensor([[4.0, 0.0], [0.0, 16.0]])))
    tensor([[1.],
            [1.]])
    >>> b.lu_solve(*facula.linalg.lu_factor(facula.tensor([[4.0, 0.0], [0.0, 16.0]])))
    tensor([[1.],
            [1.]])
    """
    return lu_solve(LU_data, LU_pivots, input, out=out)


lu_solve_.__name__ = "lu_solve"


def ldl_solve(LD, pivots, B, *, hermitian=False, out=None) -> Tensor:
    """X in A X = B from ldl_factor's results.

    >>> A = facula.tensor([[2.0, 1.0], [1.0, 3.0]])
    >>> LD, pivots = facula.linalg.ldl_factor(A)
    >>> facula.linalg.ldl_solve(LD, pivots, facula.tensor([[3.0], [4.0]]))
    tensor([[1.],
            [1.]])
    """
    square("linalg.ldl_solve", LD)
    matrix("linalg.ldl_solve", LD, B)
    if pivots.dtype._kind != 1:
        raise DTypeError(f"linalg.ldl_solve: Expected pivots to be integers. Got {pivots.dtype._name}. Give ldl_factor's.")
    if pivots.shape != LD.shape[:-1]:
        raise ShapeError(f"linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape {list(pivots.shape)}.")
    _fit("linalg.ldl_solve", LD, B)
    return into("linalg.ldl_solve", _ops._linalg_ldl_solve(LD, pivots, B, bool(hermitian)), out, (B,))


_DRIVERS = ("gelsy", "gelsd", "gelss", "gels")


def lstsq(A, B, rcond=None, *, driver=None, out=None):
    """The X of least |A X - B| for each pair of matrices: (solution, residuals, rank, singular_values).

    residuals: |A X - B|^2 by column where m > n and every A has full rank, else empty. rank and singular_values are of the drivers
    that find them (gelsy finds no singular values, gels neither), else empty.
    rcond: singular values up to rcond * largest count as 0; eps * max(m, n) unless given.

    >>> facula.linalg.lstsq(facula.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), facula.tensor([[1.0], [3.0], [5.0]])).solution
    tensor([[1.],
            [2.]])
    """
    check("linalg.lstsq", A)
    if A.dim() < 2:
        raise ShapeError(f"torch.linalg.lstsq: input must have at least 2 dimensions, but has {A.dim()} (shape {tuple(A.shape)}).")
    if isinstance(B, Tensor) and not B.dim():
        raise ShapeError("torch.linalg.lstsq: other must have at least 1 dimension, but has none. Give it the rows of the input.")
    if isinstance(B, Tensor) and B.dtype is not A.dtype:
        raise DTypeError(f"torch.linalg.lstsq: Expected input and other to have the same dtype, but got {A.dtype._name} and {B.dtype._name}. Convert one with .to().")
    check("linalg.lstsq", A, B)
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise RuntimeError(f"linalg.lstsq: parameter `driver` should be one of {_DRIVERS}, got {driver!r}.")
    m, n = A.shape[-2:]
    if not 0 <= A.dim() - B.dim() <= 1:
        raise ShapeError(f"torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1, got {A.dim()} and {B.dim()} dims.")
    vector = _is_vector(A, B) if B.dim() < A.dim() else False
    if not vector and B.dim() < 2 or B.shape[-1 if vector else -2] != m:
        raise ShapeError(f"linalg.lstsq: input.size(-2) should match other.size(-{1 if vector else 2}), got {tuple(A.shape)} and {tuple(B.shape)}.")
    finite("linalg.lstsq", A)
    if _ops.interpreting and m > n and driver != "gelsy":  # where the ranks say what residuals are
        each = _dispatch.by_examples(lambda a, b: lstsq(a, b, rcond, driver=driver), A, B)
        if each is not None:
            return into("linalg.lstsq", return_types.linalg_lstsq(*each), out)
    B = _ops.unsqueeze(B, -1) if vector else B
    own, batch = A.shape[:-2], _create_broadcast(A.shape[:-2], B.shape[:-2])
    A, B = _ops.expand(A, (*batch, m, n)), _ops.expand(B, (*batch, m, B.shape[-1]))
    eps = _limits.finfo(A.dtype).eps * max(m, n)
    cut = eps if rcond is None else float(rcond)
    keeps = cut >= 1 and driver == "gelsy"  # the first column always counts there
    solution, residuals, rank, values = _ops._linalg_lstsq(A, B, 1 - eps if keeps else cut)
    if cut >= 1 and driver == "gelss":  # no singular value is above the largest
        solution, rank = solution * 0, rank * 0
    if not n and driver == "gels":  # nothing was solved, and nothing left over is looked for
        residuals = residuals * 0
    empty = _create.empty(0, dtype=residuals.dtype, device=A.device)
    full = m > n and driver != "gelsy" and A.shape[:-2].numel() and (A.is_meta or bool((rank == n).all()))
    found = driver != "gels"
    if own != batch and 0 not in batch:  # what is A's alone, once for each matrix there
        once = tuple(slice(None) if size == whole else slice(1) for size, whole in zip(own, batch))
        rank, values = rank[once].contiguous(), values[once].contiguous()
    result = return_types.linalg_lstsq(
        solution.squeeze(-1) if vector else solution, residuals if full else empty if residuals._origin is None else residuals.reshape(-1)[:0],
        rank if found else _create.empty(0, dtype=BY_NAME["int64"], device=A.device), values if driver in ("gelsd", "gelss") else empty,
    )  # fmt: skip
    return into("linalg.lstsq", result, out)


def tensorinv(A, ind=2, *, out=None) -> Tensor:
    """The inverse of tensordot with A: A's first `ind` dims against the rest, whose sizes must multiply to the same.

    >>> facula.linalg.tensorinv(2 * facula.eye(4).view(2, 2, 4)).shape
    torch.Size([4, 2, 2])
    """
    check("linalg.tensorinv", A)
    check_kind("linalg.tensorinv", "ind", 1, "int", ind)
    if ind <= 0:
        raise RuntimeError(f"linalg.tensorinv: Expected a strictly positive integer for 'ind', got {ind}.")
    if ind > A.dim():
        raise ShapeError(f"linalg.tensorinv: 'ind' is {ind}, of {A.dim()} dims. Give how many of them, at most all, are the rows.")
    rows, columns = A.shape[:ind], A.shape[ind:]
    if rows.numel() != columns.numel():
        raise ShapeError(f"linalg.tensorinv: Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {columns.numel()} != {rows.numel()}.")
    return into("linalg.tensorinv", inv(A.reshape(rows.numel(), columns.numel())).reshape(*columns, *rows), out)


def tensorsolve(A, B, dims=None, *, out=None) -> Tensor:
    """X in tensordot(A, X, X.ndim) = B; dims of A are moved to its end first.

    >>> facula.linalg.tensorsolve(2 * facula.eye(4).view(2, 2, 4), facula.tensor([[2.0, 4.0], [6.0, 8.0]]))
    tensor([1., 2., 3., 4.])
    """
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    shape = A.shape[B.dim() :]
    if shape.numel() != B.numel():
        raise ShapeError(f"linalg.tensorsolve: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got {shape.numel()} != {B.numel()}.")
    return into("linalg.tensorsolve", solve(A.reshape(B.numel(), shape.numel()), B.reshape(-1)).reshape(shape), out)
