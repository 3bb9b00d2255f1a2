"""lobpcg: a few of the largest or smallest eigenpairs of a large symmetric matrix, by products with it alone."""

from facula.tensor_core import _ops
from facula.tensor_core.functions import joining as _joining, rearranging as _rearranging
from facula.tensor_core._limits import finfo
from facula.tensor_core.linalg.spectral import eigh
from facula.tensor_core.linalg.tools import check, square
from facula.tensor_core.random.draws import randn


def lobpcg(A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None):
    """(E, X): k eigenvalues of A x = e B x, descending if largest else ascending, and their vectors as columns.

    A, B: (*, m, m), symmetric, B positive definite (the identity unless given). X: (*, m, n) first guesses, random unless given;
    as many as n says; k: as many as X has by default, else 1. iK: a preconditioner, near A's inverse. niter: at most so many steps, 1000 by default, no limit for -1.
    tol: the residual relative to the sizes of A, B and x at which a pair counts as found, sqrt of eps by default.
    method: "ortho" or "basic"; one method serves both: it keeps its basis orthonormal.

    Where A requires grad the pairs found are those of eigh, whose derivative is recorded.
    Raises ValueError unless m >= 3 n, and where a gradient is wanted with B or of any argument but A.
    Source: Knyazev (2001), Toward the Optimal Preconditioned Eigensolver, SIAM J. Sci. Comput. 23(2).

    >>> A = facula.diag(facula.tensor([1.0, 2.0, 3.0, 4.0]))
    >>> _ = facula.manual_seed(0)
    >>> facula.lobpcg(A, k=1)[0].round()
    tensor([4.])
    """
    square("lobpcg", A)
    given = [t for t in (A, B, X, iK) if t is not None]
    check("lobpcg", *given)
    if any(t.requires_grad for t in given):
        if B is not None or any(t.requires_grad for t in given if t is not A):
            raise ValueError("lobpcg: has no derivative with B, nor of B, X and iK. Leave B out, and detach the others.")
        found = lobpcg(A.detach(), k, None, X, n, iK, niter, tol, largest, method)
        return _recorded(A, *found, largest is None or largest)
    if A.is_complex():
        raise RuntimeError(f"lobpcg: A must be real and symmetric, got {A.dtype._name}. Use facula.linalg.eigh.")
    if method not in (None, "basic", "ortho"):
        raise ValueError(f"lobpcg: method must be 'basic' or 'ortho', got {method!r}.")
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = X.shape[-1] if X is not None else k if n is None else n
    if m < 3 * n:
        raise ValueError(f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of requested eigenpairs (={n})")
    if not 0 < k <= n:
        raise ValueError(f"lobpcg: k must be from 1 to n={n}, got {k}.")
    X = randn(*A.shape[:-2], m, n, dtype=A.dtype, device=A.device) if X is None else X
    limit = 1000 if niter is None else niter if niter >= 0 else float("inf")
    tol = finfo(A.dtype).eps ** 0.5 if tol is None else tol
    if A.dim() == 2:
        values, vectors = _one(A, B, X, iK, limit, tol, largest is None or largest)
        return values[:k], vectors[:, :k]
    batch = A.shape[:-2]
    flat = [None if t is None else _ops.expand(t, (*batch, *t.shape[-2:])).reshape(-1, *t.shape[-2:]) for t in (A, B, X, iK)]
    found = [_one(*(None if t is None else t[j] for t in flat), limit, tol, largest is None or largest) for j in range(batch.numel())]
    values, vectors = (_joining.stack(list(part)).reshape(*batch, *part[0].shape) for part in zip(*found))
    return values[..., :k], vectors[..., :k]


def _recorded(A, values, vectors, largest):
    """The same pairs from eigh, which has the derivative, with the signs that were found."""
    k = values.shape[-1]
    E, V = eigh((A + A.mT) / 2)
    E, V = (_rearranging.flip(E[..., -k:], (-1,)), _rearranging.flip(V[..., -k:], (-1,))) if largest else (E[..., :k], V[..., :k])
    return E, V * _ops.sign((V.detach() * vectors).sum(-2, keepdim=True))


def _orthonormal(S, B):
    """A basis of S's columns, orthonormal by B; directions that hardly add to the others are left out."""
    scale = _ops.rsqrt(_ops.sum(S * S, 0).clamp_min(finfo(S.dtype).tiny))
    S = S * scale
    for _ in range(2):  # once more, for the rounding of the first
        weights, V = eigh(S.mT @ (S if B is None else B @ S))
        kept = weights > weights[-1] * finfo(S.dtype).eps * S.shape[-1]
        S = (S @ V[:, kept]) * _ops.rsqrt(weights[kept])
    return S


def _one(A, B, X, iK, limit, tol, largest):
    n = X.shape[-1]
    size_a = _ops.norm_p(A, None, p=2) / A.shape[-1] ** 0.5
    size_b = 1.0 if B is None else _ops.norm_p(B, None, p=2) / A.shape[-1] ** 0.5
    S, P, step = X, None, 0
    while True:
        S = _orthonormal(S, B)
        values, Z = eigh(S.mT @ (A @ S))
        if largest:
            values, Z = _rearranging.flip(values, (0,)), _rearranging.flip(Z, (1,))
        values, new = values[:n], S @ Z[:, :n]
        P = None if step == 0 else new - X @ (X.mT @ (new if B is None else B @ new))
        X = new
        R = A @ X - (X if B is None else B @ X) * values
        far = _ops.norm_p(R, 0, p=2) / (_ops.norm_p(X, 0, p=2) * (size_a + values.abs() * size_b))
        step += 1
        if step > limit or bool((far <= tol).all()):
            return values, X
        W = R if iK is None else iK @ R
        S = _joining.cat([X, W] if P is None else [X, P, W], 1)
