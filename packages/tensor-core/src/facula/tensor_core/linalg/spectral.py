"""Eigenvalues and singular values of matrices, with their vectors: eig, eigh, svd, and low-rank ones."""

from facula.tensor_core import _ops, return_types
from facula.tensor_core.functions import create as _create
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.kinds import want_tensor
from facula.tensor_core.linalg.factor import qr
from facula.tensor_core.linalg.tools import H, finite, into, matrix, of_nothing, spoiled, square, without_infinities
from facula.tensor_core._tensor import Tensor


def _listens(A):
    from facula.tensor_core.extend import grad_mode

    return (A.requires_grad and grad_mode()) or _dispatch.listened()


def _side(name, UPLO):
    if UPLO not in ("L", "U", "l", "u"):
        raise RuntimeError(f"{name}: Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO in "Uu"


def eigh(A, UPLO="L", *, out=None):
    """(eigenvalues in ascending order, eigenvectors as columns) of Hermitian matrices, of which one triangle is read.

    >>> facula.linalg.eigh(facula.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    tensor([1., 2.])
    """
    if not A.numel() and (found := of_nothing(eigh, A, UPLO, whole=True, out=out)) is not None:
        return found
    square("linalg.eigh", A)
    upper = _side("linalg.eigh", UPLO)
    finite("linalg.eigh", A, upper)
    return into("linalg.eigh", return_types.linalg_eigh(*_ops._linalg_eigh(A, upper, True)), out)


def eigvalsh(A, UPLO="L", *, out=None) -> Tensor:
    """The eigenvalues of Hermitian matrices, ascending.

    >>> import facula
    >>> facula.linalg.eigvalsh(facula.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    if not A.numel() and (found := of_nothing(eigvalsh, A, UPLO, whole=True, out=out)) is not None:
        return found
    square("linalg.eigvalsh", A)
    upper = _side("linalg.eigvalsh", UPLO)
    finite("linalg.eigvalsh", A, upper)
    return into("linalg.eigvalsh", _ops._linalg_eigh(A, upper, _listens(A))[0], out)


def eig(A, *, out=None):
    """(eigenvalues, eigenvectors as columns), complex, of square matrices; of no particular order.

    >>> values, vectors = facula.linalg.eig(facula.tensor([[0.0, -1.0], [1.0, 0.0]]))
    >>> values
    tensor([0.+1.j, 0.-1.j])
    """
    square("linalg.eig", A)
    finite("linalg.eig", A)
    return into("linalg.eig", return_types.linalg_eig(*_ops._linalg_eig(A, True)), out)


def eigvals(A, *, out=None) -> Tensor:
    """The eigenvalues of square matrices, complex.

    >>> import facula
    >>> facula.linalg.eigvals(facula.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor([2.+0.j, 3.+0.j])
    """
    square("linalg.eigvals", A)
    finite("linalg.eigvals", A)
    return into("linalg.eigvals", _ops._linalg_eig(A, _listens(A))[0], out)


def _driver(name, driver):
    if driver is not None:
        raise RuntimeError(f"{name}: keyword argument `driver=` is only supported on CUDA inputs, got {driver!r}. Leave it out.")


def svd(A, full_matrices=True, *, driver=None, out=None):
    """(U, S, Vh) with A = U diag(S) Vh, S descending; full_matrices: U and Vh square.

    >>> facula.linalg.svd(facula.tensor([[3.0, 0.0], [0.0, 2.0]])).S
    tensor([3., 2.])
    """
    if not A.numel() and (found := of_nothing(svd, A, full_matrices, driver=driver, out=out)) is not None:
        return found
    matrix("linalg.svd", A)
    _driver("linalg.svd", driver)
    A, spoilt = without_infinities("linalg.svd", A)
    found = _ops._linalg_svd(A, bool(full_matrices), True)
    if spoilt is not None:
        found = [_ops.add(t, spoiled(t, spoilt if t.dim() == A.dim() else spoilt.squeeze(-1))) for t in found]  # which lie as they were
    return into("linalg.svd", return_types.linalg_svd(*found), out)


def svdvals(A, *, driver=None, out=None) -> Tensor:
    """The singular values of matrices, descending.

    >>> import facula
    >>> facula.linalg.svdvals(facula.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor([4., 3.])
    """
    if not A.numel() and (found := of_nothing(svdvals, A, driver=driver, out=out)) is not None:
        return found
    matrix("linalg.svdvals", A)
    _driver("linalg.svdvals", driver)
    A, spoilt = without_infinities("linalg.svdvals", A)
    found = _ops._linalg_svd(A, False, _listens(A))[1]
    return into("linalg.svdvals", found if spoilt is None else _ops.add(found, spoiled(found, spoilt.squeeze(-1))), out)


def svd_(input, some=True, compute_uv=True, *, out=None):
    """(U, S, V) with input = U diag(S) V^H; facula.linalg.svd answers V^H itself. Without compute_uv, U and V are zeros.

    >>> A = facula.tensor([[3.0, 0.0], [0.0, 2.0]])
    >>> facula.svd(A).S
    tensor([3., 2.])
    >>> A.svd().S
    tensor([3., 2.])
    """
    matrix("svd", input, floating=input.numel() > 0)
    if not compute_uv:
        m, n = input.shape[-2:]
        zeros = [_create.zeros(*input.shape[:-2], size, size, dtype=input.dtype, device=input.device) for size in (m, n)]
        return into("svd", return_types.svd(zeros[0], svdvals(input), zeros[1].mT), out)
    U, S, Vh = svd(input, full_matrices=not some)
    return into("svd", return_types.svd(U, S, H(Vh)), out)


svd_.__name__ = "svd"


def _basis(A, q, niter, M):
    """Q with q orthonormal columns whose span nearly holds A's: Halko, Martinsson, Tropp (2009), algorithm 4.4."""
    from facula.tensor_core.random.draws import randn

    def product(B, adjoint=False):
        first = (H(A) if adjoint else A) @ B
        return first if M is None else first - (H(M) if adjoint else M) @ B

    Q = qr(product(randn(A.shape[-1], q, dtype=A.dtype, device=A.device)))[0]
    for _ in range(niter):
        Q = qr(product(qr(product(Q, adjoint=True))[0]))[0]
    return Q


def svd_lowrank(A, q=6, niter=2, M=None):
    """(U, S, V) with A - M nearly U diag(S) V^H, q (at most min(m, n)) columns each, by random projections and niter power steps.

    >>> _ = facula.manual_seed(0)
    >>> facula.svd_lowrank(facula.tensor([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), q=2)[1].round()
    tensor([3., 2.])
    """
    matrix("svd_lowrank", A)
    q = 6 if q is None else q
    m, n = A.shape[-2:]
    if q < 0:
        raise RuntimeError(f"svd_lowrank: Trying to create tensor with negative dimension {q}: q is a number of columns. Give 0 or more.")
    if niter < 0:
        raise ValueError(f"svd_lowrank: niter(={niter}) must be non-negative integer")
    if M is not None:
        want_tensor("svd_lowrank", "M", 3, M)
        M = _ops.expand(M, A.shape)
    if m < n:
        U, S, V = svd_lowrank(H(A), q, niter, None if M is None else H(M))
        return V, S, U
    Q = _basis(A, q, niter, M)
    B = H(Q) @ A
    U, S, Vh = svd(B if M is None else B - H(Q) @ M, full_matrices=False)
    return Q @ U, S, H(Vh)


def pca_lowrank(A, q=None, center=True, niter=2):
    """(U, S, V) of A with its columns' means taken off (if center): principal directions are V's columns.

    >>> _ = facula.manual_seed(0)
    >>> U, S, V = facula.pca_lowrank(facula.tensor([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), q=1)
    >>> (S**2).round()
    tensor([10.])
    """
    matrix("pca_lowrank", A)
    q = min(6, *A.shape[-2:]) if q is None else q
    if not 0 <= q <= min(A.shape[-2:]):
        raise ValueError(f"pca_lowrank: q(={q}) must be non-negative integer and not greater than min(m, n)={min(A.shape[-2:])}")
    if niter < 0:
        raise ValueError(f"pca_lowrank: niter(={niter}) must be non-negative integer")
    if center and A.is_sparse:  # stays so: the means are taken off its products
        if A.dim() > 2:
            raise ValueError(f"pca_lowrank: input is expected to be 2-dimensional tensor where it is sparse, got {A.dim()} dims. Give one of the batch, or center=False.")
        return svd_lowrank(A, q, niter, A.sum(0).to_dense() / max(A.shape[0], 1))
    return svd_lowrank(A - A.mean(-2, True) if center else A, q, niter)
