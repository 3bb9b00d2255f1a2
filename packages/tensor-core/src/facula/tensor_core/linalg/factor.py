"""Factorisations of matrices by elimination and reflection: cholesky, lu, ldl, qr."""

from facula.tensor_core import _ops, _warned, return_types
from facula.tensor_core.functions import create as _create, ranges as _ranges
from facula.tensor_core.dispatch.slow import gradient_lies, one_node
from facula.tensor_core._errors import DTypeError, RankError, ShapeError
from facula.tensor_core.linalg.solve import in_range
from facula.tensor_core.linalg.tools import H, check, columns, eye_like, into, matrix, of_nothing, refuse, square
from facula.tensor_core._tensor import Tensor

_NOT_POSITIVE = "The factorization could not be completed because the input is not positive-definite (the leading minor of order {k} is not positive-definite)."


def cholesky_ex(A, *, upper=False, check_errors=False, out=None):
    """(L, info) with A = L L^H (U^H U if upper); info: 0, or the order of the leading minor that is not positive.

    >>> facula.linalg.cholesky_ex(facula.tensor([[4.0, 2.0], [2.0, 5.0]]))
    torch.return_types.linalg_cholesky_ex(
    L=tensor([[2., 0.],
            [1., 2.]]),
    info=tensor(0, dtype=torch.int32))
    """
    if not A.numel() and (found := of_nothing(cholesky_ex, A, upper=upper, out=out)) is not None:
        return found
    square("linalg.cholesky_ex", A)
    L, info = _ops._linalg_cholesky_ex(A, bool(upper))
    if check_errors:
        refuse("linalg.cholesky_ex", info, _NOT_POSITIVE)
    return into("linalg.cholesky_ex", return_types.cholesky_ex(L, info), out)


def cholesky(A, *, upper=False, out=None) -> Tensor:
    """L, lower triangular, in A = L L^H (U in U^H U if upper). Raises LinAlgError where A is not positive definite.

    >>> import facula
    >>> facula.linalg.cholesky(facula.tensor([[4.0, 0.0], [0.0, 9.0]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    if not A.numel() and (found := of_nothing(cholesky, A, upper=upper, out=out)) is not None:
        return found
    square("linalg.cholesky", A)
    L, info = _ops._linalg_cholesky_ex(A, bool(upper))
    refuse("linalg.cholesky", info, _NOT_POSITIVE)
    return into("linalg.cholesky", L, out)


def cholesky_(input, upper=False, *, out=None):
    """facula.linalg.cholesky; of matrices without elements it asks nothing.

    >>> A = facula.tensor([[4.0, 2.0], [2.0, 5.0]])
    >>> facula.cholesky(A)
    tensor([[2., 0.],
            [1., 2.]])
    >>> A.cholesky()
    tensor([[2., 0.],
            [1., 2.]])
    """
    _warned.superseded("cholesky", "linalg.cholesky(A), with .mH for upper=True,")
    if isinstance(input, Tensor) and not input.numel():
        return into("cholesky", one_node(_ops.copy(input, None, 0), "CholeskyBackward0", input), out)
    return into("cholesky", one_node(cholesky(input, upper=upper), "CholeskyBackward0", input), out)


cholesky_.__name__ = "cholesky"


def _pivoting(name, pivot):
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU. Leave pivot=True.")


def lu_factor_ex(A, *, pivot=True, check_errors=False, out=None):
    """(LU, pivots, info): L below the diagonal (ones on it) and U from it on; pivots count rows from 1; info: the first zero pivot.

    >>> facula.linalg.lu_factor_ex(facula.tensor([[4.0, 2.0], [2.0, 5.0]])).info
    tensor(0, dtype=torch.int32)
    """
    if not A.numel() and (found := of_nothing(lu_factor_ex, A, whole=True, out=out)) is not None:
        return found
    matrix("linalg.lu_factor_ex", A)
    _pivoting("linalg.lu_factor_ex", pivot)
    LU, pivots, info = _ops._linalg_lu_factor_ex(A)
    if check_errors:
        refuse("linalg.lu_factor_ex", info, "U[{k},{k}] is zero and using it on lu_solve would result in a division by zero.")
    return into("linalg.lu_factor_ex", return_types.lu_factor_ex(LU, pivots, info), out, (A,))


def lu_factor(A, *, pivot=True, out=None):
    """(LU, pivots) for lu_solve; see lu_factor_ex. Raises LinAlgError where a pivot is zero.

    >>> facula.linalg.lu_factor(facula.tensor([[4.0, 2.0], [2.0, 5.0]]))
    torch.return_types.linalg_lu_factor(
    LU=tensor([[4.0000, 2.0000],
            [0.5000, 4.0000]]),
    pivots=tensor([1, 2], dtype=torch.int32))
    """
    if not A.numel() and (found := of_nothing(lu_factor, A, whole=True, out=out)) is not None:
        return found
    matrix("linalg.lu_factor", A)
    _pivoting("linalg.lu_factor", pivot)
    LU, pivots, info = _ops._linalg_lu_factor_ex(A)
    refuse("linalg.lu_factor", info, "U[{k},{k}] is zero and using it on lu_solve would result in a division by zero.")
    return into("linalg.lu_factor", return_types.lu_factor(LU, pivots), out, (A,))


def lu_(A, pivot=True, get_infos=False, out=None):
    """(LU, pivots), or (LU, pivots, info) if get_infos: facula.linalg.lu_factor and lu_factor_ex.

    >>> A = facula.tensor([[4.0, 2.0], [2.0, 5.0]])
    >>> facula.lu(A)
    (tensor([[4.0000, 2.0000],
            [0.5000, 4.0000]]), tensor([1, 2], dtype=torch.int32))
    >>> A.lu()
    (tensor([[4.0000, 2.0000],
            [0.5000, 4.0000]]), tensor([1, 2], dtype=torch.int32))
    """
    _warned.superseded("lu", "linalg.lu_factor, or lu_factor_ex for get_infos=True,")
    results = tuple(lu_factor_ex(A, pivot=pivot))[: 3 if get_infos else 2]
    if out is None:
        return results
    if len(out) != len(results):
        raise TypeError(f"lu: expected tuple of {len(results)} elements but got {len(out)}.")
    return tuple(o.resize_(r.shape).copy_(r) for o, r in zip(out, results))  # of any dtype


lu_.__name__ = "lu"


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """(P, L, U) with A = P L U, from lu_factor's results; those not asked for are empty.

    >>> P, L, U = facula.lu_unpack(*facula.linalg.lu_factor(facula.tensor([[1.0, 2.0], [4.0, 4.0]])))
    >>> P @ L @ U
    tensor([[1., 2.],
            [4., 4.]])
    """
    matrix("lu_unpack", LU_data, floating=False)
    if unpack_pivots and LU_pivots.dtype._name != "int32":
        raise RuntimeError(f"torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, got {LU_pivots.dtype}. Give those of lu_factor.")
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    P = L = U = None
    if unpack_data:
        L = one_node(LU_data[..., :k].tril(-1) + eye_like(LU_data, m, k), "LuUnpackBackward0", LU_data)
        U = one_node(LU_data[..., :k, :].triu(), "LuUnpackBackward0", LU_data)
    if unpack_pivots:
        if not in_range(LU_pivots, 1, m):
            raise RuntimeError("lu_unpack: pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive. Did you properly pass the result of lu_factor?")
        order = _ops._lu_order(LU_pivots, m)
        places = _ranges.arange(m, device=order.device).unsqueeze(-1)
        P = _ops.eq(places, order.unsqueeze(-2)).to(LU_data.dtype)  # column r has its one where row order[r] of A went

    def empty():
        return _create.empty(0, dtype=LU_data.dtype, device=LU_data.device)

    return into("lu_unpack", return_types.lu_unpack(*(empty() if x is None else x for x in (P, L, U))), out)


def lu(A, *, pivot=True, out=None):
    """(P, L, U) with A = P L U: P a permutation, L with ones on its diagonal.

    >>> P, L, U = facula.linalg.lu(facula.tensor([[1.0, 2.0], [4.0, 4.0]]))
    >>> P @ L @ U
    tensor([[1., 2.],
            [4., 4.]])
    """
    if not A.numel() and (found := of_nothing(lu, A, whole=True, out=out)) is not None:
        return found
    matrix("linalg.lu", A)
    _pivoting("linalg.lu", pivot)
    LU, pivots, _ = _ops._linalg_lu_factor_ex(A)
    P, *factors = lu_unpack(LU, pivots)
    return into("linalg.lu", return_types.linalg_lu(P, *(one_node(t, "LinalgLuBackward0", A) for t in factors)), out)


def ldl_factor_ex(A, *, hermitian=False, check_errors=False, out=None):
    """(LD, pivots, info) of symmetric (or Hermitian) matrices, in LAPACK's packing, for ldl_solve.

    >>> facula.linalg.ldl_factor_ex(facula.tensor([[2.0, 1.0], [1.0, 3.0]])).info
    tensor(0, dtype=torch.int32)
    """
    if not A.numel() and (found := of_nothing(ldl_factor_ex, A, hermitian=hermitian, out=out)) is not None:
        return found
    square("linalg.ldl_factor_ex", A)
    LD, pivots, info = _ops._linalg_ldl_factor_ex(A, bool(hermitian))
    if check_errors:
        refuse("linalg.ldl_factor_ex", info, "The factorization could not be completed because D[{k},{k}] is zero.")
    return into("linalg.ldl_factor_ex", return_types.ldl_factor_ex(LD, pivots, info), out)


def ldl_factor(A, *, hermitian=False, out=None):
    """(LD, pivots); see ldl_factor_ex. Raises LinAlgError where D is singular.

    >>> facula.linalg.ldl_factor(facula.tensor([[2.0, 1.0], [1.0, 3.0]]))
    torch.return_types.linalg_ldl_factor(
    LD=tensor([[2.0000, 0.0000],
            [0.5000, 2.5000]]),
    pivots=tensor([1, 2], dtype=torch.int32))
    """
    LD, pivots, _ = ldl_factor_ex(A, hermitian=hermitian, check_errors=True)
    return into("linalg.ldl_factor", return_types.ldl_factor(LD, pivots), out)


def qr(A, mode="reduced", *, out=None):
    """(Q, R) with A = Q R. mode: "reduced", "complete" (Q square), "r" (R alone; Q is empty).

    Raises RuntimeError for another mode.

    >>> import facula
    >>> facula.linalg.qr(facula.tensor([[0.0, 2.0], [1.0, 0.0]])).R.abs()
    tensor([[1., 0.],
            [0., 2.]])
    """
    matrix("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"linalg.qr: qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    return into("linalg.qr", return_types.linalg_qr(*_ops._linalg_qr(A, mode)), out)


def qr_(input, some=True, *, out=None):
    """facula.linalg.qr: "reduced" if some, else "complete".

    >>> A = facula.tensor([[3.0, 0.0], [4.0, 5.0]])
    >>> Q, R = facula.qr(A)
    >>> (Q @ R).round()
    tensor([[3., 0.],
            [4., 5.]])
    >>> [x.shape for x in A.qr()]
    [torch.Size([2, 2]), torch.Size([2, 2])]
    """
    _warned.superseded("qr", "linalg.qr(A, 'reduced' if some else 'complete')")
    return into("qr", return_types.qr(*qr(input, "reduced" if some else "complete")), out)


qr_.__name__ = "qr"


def geqrf(input, *, out=None):
    """(a, tau): R in and above a's diagonal, Q as Householder vectors below it, for householder_product.

    >>> A = facula.tensor([[3.0, 0.0], [4.0, 5.0]])
    >>> facula.geqrf(A).tau.shape
    torch.Size([2])
    >>> A.geqrf().tau.shape
    torch.Size([2])
    """
    matrix("geqrf", input)
    return into("geqrf", return_types.geqrf(*_ops._linalg_geqrf(input)), out, (input,))


def _reflect(v, tau, x):
    """(1 - tau v v^H) x."""
    return x - tau.unsqueeze(-1).unsqueeze(-1) * v @ (H(v) @ x)


def _reflectors(A, tau):
    """Column k of the reflectors: zeros, a one at row k, A's column below."""
    one = eye_like(A, A.shape[-2], A.shape[-1])
    V = A.tril(-1) + one
    return [(V[..., k : k + 1], tau[..., k]) for k in range(tau.shape[-1])]


def householder_product(A, tau, *, out=None) -> Tensor:
    """The first columns of the product of reflectors (1 - tau_k v_k v_k^H), v_k in A's columns as geqrf leaves them.

    >>> A = facula.tensor([[3.0, 0.0], [4.0, 5.0]])
    >>> facula.linalg.householder_product(*facula.geqrf(A)).abs()
    tensor([[0.6000, 0.8000],
            [0.8000, 0.6000]])
    """
    _matrices_first("linalg.householder_product", A)
    m, n = A.shape[-2:]
    if m < n:
        raise ShapeError(f"linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1], got {m} and {n}.")
    _vector_then("linalg.householder_product", tau)
    matrix("linalg.householder_product", A)
    if tau.shape[-1] > n or tau.shape[:-1] != A.shape[:-2]:
        raise ShapeError(f"linalg.householder_product: tau of shape {tuple(tau.shape)} does not go with input of shape {tuple(A.shape)}.")
    if tau.dtype is not A.dtype:
        raise DTypeError(f"linalg.householder_product: tau dtype {tau.dtype._name} does not match input dtype {A.dtype._name}. Convert one.")
    given = A, tau
    A, tau = gradient_lies(A, "like"), gradient_lies(tau, "like")
    Q = _ops.copy_into_(_ops.copy(A, None, 0), eye_like(A, m, n))  # of no reflectors too it has A's history
    for v, t in reversed(_reflectors(A, tau)):
        Q = _reflect(v, t, Q)
    return into("linalg.householder_product", one_node(columns(Q), "LinalgHouseholderProductBackward0", *given), out, (A,))


def _matrices_first(name, *tensors):
    """Refuse what is no matrix, whatever its dtype is."""
    for t in tensors:
        if isinstance(t, Tensor) and t.dim() < 2:
            raise ShapeError(f"{name}: input must have at least 2 dimensions, but has {t.dim()} (shape {tuple(t.shape)}).")


def _vector_then(name, tau):
    if isinstance(tau, Tensor) and not tau.dim():
        raise IndexError(f"{name}: Dimension specified as -1 but tensor has no dimensions: tau has none. Give a vector.")


def orgqr(input, input2, *, out=None) -> Tensor:
    """facula.linalg.householder_product.

    >>> A = facula.tensor([[3.0, 0.0], [4.0, 5.0]])
    >>> Q = facula.orgqr(*facula.geqrf(A))
    >>> Q.abs()
    tensor([[0.6000, 0.8000],
            [0.8000, 0.6000]])
    >>> A.geqrf().a.orgqr(A.geqrf().tau).shape
    torch.Size([2, 2])
    """
    return householder_product(input, input2, out=out)


def ormqr(input, input2, input3, left=True, transpose=False, *, out=None) -> Tensor:
    """Q other (other Q unless left), with Q (or its conjugate transpose) the product of geqrf's reflectors: input and input2 are its results, input3 is other.

    >>> A = facula.tensor([[3.0, 0.0], [4.0, 5.0]])
    >>> h, tau = facula.geqrf(A)
    >>> facula.ormqr(h, tau, A, transpose=True).abs()
    tensor([[5., 4.],
            [0., 3.]])
    >>> h.ormqr(tau, A).shape
    torch.Size([2, 2])
    """
    tau, other = input2, input3
    _matrices_first("ormqr", input, other)
    _vector_then("ormqr", tau)
    matrix("ormqr", input, other)
    check("ormqr", input, tau, other)
    if input.dim() - tau.dim() != 1 or input.dim() != other.dim() or input.shape[:-2] != tau.shape[:-1] or input.shape[:-2] != other.shape[:-2]:
        raise (ShapeError if tau.dim() else RankError)(f"ormqr: Expected tau to have one dimension less than input, other as many, and their batches to be one, got {tuple(input.shape)}, {tuple(tau.shape)} and {tuple(other.shape)}.")
    if tau.shape[-1] > input.shape[-1]:
        raise ShapeError(f"ormqr: tau.shape[-1] must be less than or equal to input.shape[-1], got {tau.shape[-1]} and {input.shape[-1]}.")
    if other.shape[-2 if left else -1] != input.shape[-2]:
        raise ShapeError(f"ormqr: other.shape[-{2 if left else 1}] must be equal to input.shape[-2], got {tuple(other.shape)} and {tuple(input.shape)}.")
    if tau.shape[-1] != min(other.shape[-2 if left else -1], input.shape[-1]):
        raise ShapeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[-{2 if left else 1}], input.shape[-1]), got {tau.shape[-1]}.")
    h, x = gradient_lies(input, "like"), gradient_lies(other, "columns")
    turned = _turned(h, tau, x, transpose) if left else H(_turned(h, tau, H(x), not transpose))  # other Q is (Q^H other^H)^H
    return into("ormqr", one_node(columns(turned), "OrmqrBackward0", input, tau, other), out, (other,))


def _turned(h, tau, x, transpose):
    """Q x, or Q^H x, by reflector after reflector."""
    steps = _reflectors(h, tau)
    for v, t in steps if transpose else reversed(steps):
        x = _reflect(v, t.conj() if transpose and t.is_complex() else t, x)
    return x
