"""Linear algebra by NumPy (LAPACK below it), over batches. Where NumPy has no such function it is here: LU, LDL, triangular solves, exp."""

import numpy as np

from facula.tensor_core.linalg import host_ldl
from facula.tensor_core.linalg import host_lu
from facula.tensor_core.dispatch.host import Spec, complex_of, real_of, row


def _name(x):
    return x.dtype.name


def broadcast(*shapes):
    return np.broadcast_shapes(*shapes)


def stacked(shape, one, count=1):
    """An array of results, one matrix (or number) of the batch at a time: one(k) for the flat index k."""
    results = [one(k) for k in range(int(np.prod(shape)))]
    return tuple(np.stack([r[j] for r in results]).reshape((*shape, *results[0][j].shape)) for j in range(count))


def one_by_one(a, whole, single, results):
    """whole(a), or single() of the matrices that LAPACK refuses: they are found by halving the batch."""
    try:
        return whole(a)
    except np.linalg.LinAlgError:
        batch = a.shape[:-2]
        flat = a.reshape(-1, *a.shape[-2:])
        if len(flat) < 2:
            return stacked(batch, lambda k: single(flat[k]), results)
        half = len(flat) // 2
        parts = zip(*(one_by_one(part, whole, single, results) for part in (flat[:half], flat[half:])))
        return tuple(np.concatenate(pair).reshape((*batch, *pair[0].shape[1:])) for pair in parts)


# --- inverses and systems ---------------------------------------------------------------------------------------------


def _inverse(x):
    shape = tuple(x.shape)
    return [Spec(_name(x), shape, True), Spec("int32", shape[:-2])]


@row("_linalg_inv_ex", _inverse)
def inv_ex(a):
    def single(m):
        try:
            return np.linalg.inv(m), np.int32(0)
        except np.linalg.LinAlgError:
            return np.full_like(m, np.nan), host_lu.factor(m[None])[2][0]

    return one_by_one(a, lambda a: (np.linalg.inv(a), np.zeros(a.shape[:-2], np.int32)), single, 2)


def _solution(a, b):
    batch = broadcast(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    return [Spec(_name(a), (*batch, *b.shape[-2:]), True), Spec("int32", tuple(a.shape[:-2]))]


@row("_linalg_solve_ex", _solution)
def solve_ex(a, b):
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    b = b[None] if b.ndim == a.ndim - 1 else b  # NumPy before 2 takes that for a batch of vectors
    try:
        return np.linalg.solve(a, b), np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        info = host_lu.factor(a.reshape(-1, *a.shape[-2:]))[2].reshape(a.shape[:-2])
        a = np.broadcast_to(a, (*batch, *a.shape[-2:])).reshape(-1, *a.shape[-2:])
        b = np.broadcast_to(b, (*batch, *b.shape[-2:])).reshape(-1, *b.shape[-2:])

        def single(k):
            try:
                return (np.linalg.solve(a[k], b[k]),)
            except np.linalg.LinAlgError:
                return (np.full_like(b[k], np.nan),)

        return *stacked(batch, single), info


def _triangular(a, b, upper, unitriangular):
    return _solution(a, b)[:1]


@row("_linalg_solve_triangular", _triangular)
def solve_triangular(a, b, upper, unitriangular):
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, (*batch, *b.shape[-2:])))
    if upper:  # from the last row up: the same walk, turned round
        host_lu.forward(a[..., ::-1, ::-1], x[..., ::-1, :], unitriangular)
    else:
        host_lu.forward(a, x, unitriangular)
    return x


@row("_cholesky_solve", lambda b, factor, upper: _solution(factor, b)[:1])
def cholesky_solve(b, factor, upper):
    other = np.conj(np.swapaxes(factor, -1, -2))
    first, second = (other, factor) if upper else (factor, other)
    return solve_triangular(second, solve_triangular(first, b, False, False), True, False)


def _least_squares(a, b, rcond):
    batch, (m, n), k = tuple(a.shape[:-2]), a.shape[-2:], b.shape[-1]
    real = real_of(_name(a))
    return [Spec(_name(a), (*batch, n, k), True, tall=max(m - n, 0)), Spec(real, (*batch, k)), Spec("int64", batch), Spec(real, (*batch, min(m, n)))]


@row("_linalg_lstsq", _least_squares)
def lstsq(a, b, rcond):
    batch = a.shape[:-2]
    if not a.size or not b.size:
        rank, real = min(a.shape[-2:]) if a.size else 0, abs(b[:0]).dtype
        shapes = ((*batch, a.shape[-1], b.shape[-1]), (*batch, b.shape[-1]), batch, (*batch, min(a.shape[-2:])))
        x, _, ranks, values = (np.zeros(s, t) for s, t in zip(shapes, (b.dtype, real, np.int64, real)))
        return x, (b.real**2 + b.imag**2).sum(-2), ranks + rank, values
    fa, fb = a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:])

    def single(k):
        x, _, rank, s = np.linalg.lstsq(fa[k], fb[k], rcond=rcond)
        r = fb[k] - fa[k] @ x
        return x, (r.real**2 + r.imag**2).sum(0), np.int64(rank), s

    return stacked(batch, single, 4)


# --- determinants -----------------------------------------------------------------------------------------------------


@row("_linalg_det", lambda x: [Spec(_name(x), tuple(x.shape[:-2]))])
def det(a):
    return np.linalg.det(a)


@row("_linalg_slogdet", lambda x: [Spec(_name(x), tuple(x.shape[:-2])), Spec(real_of(_name(x)), tuple(x.shape[:-2]))])
def slogdet(a):
    return tuple(np.linalg.slogdet(a))


# --- factorisations ---------------------------------------------------------------------------------------------------


def _adjoint(a):
    return np.swapaxes(a, -2, -1).conj()


def _whole_cholesky(a):
    low = np.linalg.cholesky(a)
    if np.isnan(np.diagonal(low, axis1=-2, axis2=-1)).any():  # which not every LAPACK refuses
        raise np.linalg.LinAlgError
    return low, np.zeros(a.shape[:-2], np.int32)


@row("_linalg_cholesky_ex", lambda x, upper: [Spec(_name(x), tuple(x.shape), True), Spec("int32", tuple(x.shape[:-2]))])
def cholesky_ex(a, upper):
    a = _adjoint(a) if upper else a
    low, info = one_by_one(a, _whole_cholesky, host_lu.cholesky, 2)
    return (_adjoint(low) if upper else low), info


def _lu(x):
    *batch, m, n = x.shape
    return [Spec(_name(x), tuple(x.shape), True), Spec("int32", (*batch, min(m, n))), Spec("int32", tuple(batch))]


@row("_linalg_lu_factor_ex", _lu)
def lu_factor_ex(a):
    if not a.size:
        return a, np.zeros((*a.shape[:-2], min(a.shape[-2:])), np.int32), np.zeros(a.shape[:-2], np.int32)
    lu, pivots, info = host_lu.factor(a.reshape(-1, *a.shape[-2:]))
    return lu.reshape(a.shape), pivots.reshape(*a.shape[:-2], -1), info.reshape(a.shape[:-2])


@row("_linalg_ldl_factor_ex", lambda x, hermitian: [Spec(_name(x), tuple(x.shape), True), Spec("int32", tuple(x.shape[:-1])), Spec("int32", tuple(x.shape[:-2]))])
def ldl_factor_ex(a, hermitian):
    batch, n = a.shape[:-2], a.shape[-1]
    flat = a.reshape(-1, n, n) if a.size else np.empty((int(np.prod(batch)), n, n), a.dtype)
    return stacked(batch, lambda k: host_ldl.factor(flat[k], hermitian), 3)


def _ldl_solution(ld, pivots, b, hermitian):
    return _solution(ld, b)[:1]


@row("_linalg_ldl_solve", _ldl_solution)
def ldl_solve(ld, pivots, b, hermitian):
    batch = broadcast(ld.shape[:-2], b.shape[:-2])
    ld = np.broadcast_to(ld, (*batch, *ld.shape[-2:])).reshape(-1, *ld.shape[-2:])
    pivots = np.broadcast_to(pivots, (*batch, pivots.shape[-1])).reshape(-1, pivots.shape[-1])
    b = np.broadcast_to(b, (*batch, *b.shape[-2:])).reshape(-1, *b.shape[-2:])
    return stacked(batch, lambda k: (host_ldl.solve(ld[k], pivots[k], b[k], hermitian),))[0]


def _qr(x, mode):
    *batch, m, n = x.shape
    k = m if mode == "complete" else min(m, n)
    q = Spec(_name(x), (0,)) if mode == "r" else Spec(_name(x), (*batch, m, k), True)
    return [q, Spec(_name(x), (*batch, k, n), True)]


@row("_linalg_qr", _qr)
def qr(a, mode):
    if mode == "r":
        return np.empty(0, a.dtype), np.linalg.qr(a, "r")
    if 0 in a.shape[-2:]:
        return np.broadcast_to(np.eye(a.shape[-2]), (*a.shape[:-2], a.shape[-2], a.shape[-2])), np.zeros(())
    return tuple(np.linalg.qr(a, mode))


@row("_linalg_geqrf", lambda x: [Spec(_name(x), tuple(x.shape), True), Spec(_name(x), (*x.shape[:-2], min(x.shape[-2:])))])
def geqrf(a):
    h, tau = np.linalg.qr(a, "raw")
    return np.swapaxes(h, -2, -1), tau


def _eigh(x, upper, vectors):
    shape = tuple(x.shape)
    return [Spec(real_of(_name(x)), shape[:-1]), Spec(_name(x), shape if vectors else (0,), True)]


@row("_linalg_eigh", _eigh)
def eigh(a, upper, vectors):
    side = "U" if upper else "L"
    return tuple(np.linalg.eigh(a, side)) if vectors else (np.linalg.eigvalsh(a, side), np.empty(0, a.dtype))


def _eig(x, vectors):
    shape, dtype = tuple(x.shape), complex_of(_name(x))
    return [Spec(dtype, shape[:-1]), Spec(dtype, shape if vectors else (0,), True)]


@row("_linalg_eig", _eig)
def eig(a, vectors):
    return tuple(np.linalg.eig(a)) if vectors else (np.linalg.eigvals(a), np.empty(0, a.dtype))


def _svd(x, full_matrices, vectors):
    *batch, m, n = x.shape
    k, dtype = min(m, n), _name(x)
    if not vectors:
        return [Spec(dtype, (0,)), Spec(real_of(dtype), (*batch, k)), Spec(dtype, (0,))]
    return [
        Spec(dtype, (*batch, m, m if full_matrices else k), True), Spec(real_of(dtype), (*batch, k)),
        Spec(dtype, (*batch, n if full_matrices else k, n), True),
    ]  # fmt: skip


@row("_linalg_svd", _svd)
def svd(a, full_matrices, vectors):
    if not vectors:
        return np.empty(0, a.dtype), np.linalg.svd(a, compute_uv=False), np.empty(0, a.dtype)
    if 0 in a.shape[-2:]:
        eyes = [np.broadcast_to(np.eye(n), (*a.shape[:-2], n, n)) for n in a.shape[-2:]]
        return eyes[0], np.zeros(()), eyes[1]
    return tuple(np.linalg.svd(a, full_matrices))


# --- functions of matrices --------------------------------------------------------------------------------------------


@row("_linalg_pinv", lambda x, atol, rtol, hermitian: [Spec(_name(x), (*x.shape[:-2], x.shape[-1], x.shape[-2]))])
def pinv(a, atol, rtol, hermitian):
    if hermitian:
        s, u = np.linalg.eigh(a)
        vh, size = _adjoint(u), abs(s)
    else:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        size = s
    cut = np.maximum(atol[..., None], rtol[..., None] * size.max(-1, keepdims=True))
    inverse = np.where(size > cut, 1 / s, 0).astype(s.dtype)
    return (_adjoint(vh) * inverse[..., None, :]) @ _adjoint(u)


# the coefficients of Higham's approximant of degree 13 (The Scaling and Squaring Method..., SIAM J. Matrix Anal. 26, 2005)
_B = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920,
    40840800, 960960, 16380, 182, 1,
)  # fmt: skip
_THETA = 5.371920351148152  # up to this norm the approximant is exact to double precision


@row("_linalg_matrix_exp", lambda x: [Spec(_name(x), tuple(x.shape))])
def matrix_exp(a):
    flat = a.reshape(-1, *a.shape[-2:])
    return np.stack([_exp(m) for m in flat]).reshape(a.shape)


def _exp(a):
    wide = a.astype(np.complex128 if np.iscomplexobj(a) else np.float64)
    size = abs(wide).sum(0).max()
    if not np.isfinite(size):
        return np.full_like(a, np.nan)
    if not size:
        return np.eye(len(a), dtype=wide.dtype)  # exactly
    times = max(0, int(np.ceil(np.log2(size / _THETA))))
    wide = wide / 2.0**times
    one = np.eye(len(a))
    a2 = wide @ wide
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = wide @ (a6 @ (_B[13] * a6 + _B[11] * a4 + _B[9] * a2) + _B[7] * a6 + _B[5] * a4 + _B[3] * a2 + _B[1] * one)
    even = a6 @ (_B[12] * a6 + _B[10] * a4 + _B[8] * a2) + _B[6] * a6 + _B[4] * a4 + _B[2] * a2 + _B[0] * one
    result = np.linalg.solve(even - odd, even + odd)
    for _ in range(times):
        result = result @ result
    return result
