"""Linear algebra over batches: LU, Cholesky and what follows from them by cpu/linalg.c, the rest by NumPy (LAPACK below it). What neither has is
here: LDL, exp."""

import math

import numpy as np

from facula.tensor_core import _ops
from facula.tensor_core._lib import NULL, lib
from facula.tensor_core._tensor import own_tensor
from facula.tensor_core.dispatch.host import Spec, complex_of, real_of, row
from facula.tensor_core.linalg import host_ldl
from facula.tensor_core.linalg.one_thread import one_thread

_CONJUGATE, _DIAGONAL, _TRANSPOSE = (_ops.BY_NAME[name].id for name in ("conj_physical", "diagonal", "transpose"))


def _name(x):
    return x.dtype._name


def lapack(name, infer):
    """Enter a row that NumPy's LAPACK computes."""
    return lambda compute: row(name, infer)(one_thread(compute))


def broadcast(*shapes):
    return np.broadcast_shapes(*shapes)


def stacked(shape, one, count=1):
    """An array of results, one matrix (or number) of the batch at a time: one(k) for the flat index k."""
    if not shape:
        return tuple(one(0))
    results = [one(k) for k in range(math.prod(shape))]
    return tuple(np.stack([r[j] for r in results]).reshape((*shape, *results[0][j].shape)) for j in range(count))


def plain(t):
    """t, its elements as they are in memory."""
    return t if not lib.fc_lazy(t._h) else own_tensor(lib.fc_to(t._h, t.dtype._id, 0, 1))


def conjugate(t):
    return own_tensor(lib.fc_map1(_CONJUGATE, NULL, t._h)) if t.dtype._kind == 3 else t


# --- inverses and systems ---------------------------------------------------------------------------------------------


def _inverse(x):
    shape = tuple(x.shape)
    return [Spec(_name(x), shape, True), Spec("int32", shape[:-2])]


@row("_linalg_inv_ex", _inverse, into=True)
def inv_ex(outs, a):
    x, info = outs
    lib.fc_fill(x._h, 1, 0, 0.0, 0.0)
    lib.fc_fill(lib.fc_view_op(_DIAGONAL, x._h, 0, -2, -1, 0), 1, 1, 1.0, 0.0)
    return _solve(a, x, info)


def _solve(a, x, info):
    """Solutions in place of right-hand sides; info is that of a's factors."""
    lu, pivots, _ = (spec.empty(0) for spec in _lu(a))
    return lu_factor_ex((lu, pivots, info), a) or lib.fc_lu_solve(lu._h, pivots._h, x._h)


def _solution(a, b):
    batch = broadcast(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    return [Spec(_name(a), (*batch, *b.shape[-2:]), True), Spec("int32", tuple(a.shape[:-2]))]


@row("_linalg_solve_ex", _solution, into=True)
def solve_ex(outs, a, b):
    x, info = outs
    return lib.fc_copy(x._h, b._h) or _solve(a, x, info)


def _triangular(a, b, upper, unitriangular):
    return _solution(a, b)[:1]


@row("_linalg_solve_triangular", _triangular, into=True)
def solve_triangular(outs, a, b, upper, unitriangular):
    return lib.fc_copy(outs[0]._h, b._h) or lib.fc_solve_triangular(plain(a)._h, outs[0]._h, 0, upper, unitriangular)


@row("_cholesky_solve", lambda b, factor, upper: _solution(factor, b)[:1], into=True)
def cholesky_solve(outs, b, factor, upper):
    x, factor = outs[0]._h, plain(factor)
    other = conjugate(factor)
    first, second = (other, factor) if upper else (factor, other)
    return lib.fc_copy(x, b._h) or lib.fc_solve_triangular(first._h, x, upper, upper, 0) or lib.fc_solve_triangular(second._h, x, not upper, upper, 0)


def _least_squares(a, b, rcond):
    batch, (m, n), k = tuple(a.shape[:-2]), a.shape[-2:], b.shape[-1]
    real = real_of(_name(a))
    return [Spec(_name(a), (*batch, n, k), True, tall=max(m - n, 0)), Spec(real, (*batch, k)), Spec("int64", batch), Spec(real, (*batch, min(m, n)))]


@lapack("_linalg_lstsq", _least_squares)
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


def _determinants(a, det, log):
    if a.is_contiguous():  # PyTorch factors the transpose then, which has the same determinant and other roundings
        a = own_tensor(lib.fc_view_op(_TRANSPOSE, a._h, -2, -1, 0, 0))
    lu, pivots, _ = outs = [spec.empty(0) for spec in _lu(a)]
    return lu_factor_ex(outs, a) or lib.fc_lu_det(lu._h, pivots._h, det._h, log._h)


@row("_linalg_det", lambda x: [Spec(_name(x), tuple(x.shape[:-2]))], into=True)
def det(outs, a):
    return _determinants(a, outs[0], outs[0])


@row("_linalg_slogdet", lambda x: [Spec(_name(x), tuple(x.shape[:-2])), Spec(real_of(_name(x)), tuple(x.shape[:-2]))], into=True)
def slogdet(outs, a):
    return _determinants(a, *outs)


# --- factorisations ---------------------------------------------------------------------------------------------------


def _adjoint(a):
    return np.swapaxes(a, -2, -1).conj()


@row("_linalg_cholesky_ex", lambda x, upper: [Spec(_name(x), tuple(x.shape), True), Spec("int32", tuple(x.shape[:-2]))], into=True)
def cholesky_ex(outs, a, upper):
    low, info = outs
    if not a.numel():
        return lib.fc_fill(info._h, 1, 0, 0.0, 0.0)
    return lib.fc_copy(low._h, a._h) or lib.fc_cholesky(low._h, info._h, upper)


def _lu(x):
    *batch, m, n = x.shape
    return [Spec(_name(x), tuple(x.shape), True), Spec("int32", (*batch, min(m, n))), Spec("int32", tuple(batch))]


@row("_linalg_lu_factor_ex", _lu, into=True)
def lu_factor_ex(outs, a):
    lu, pivots, info = outs
    if not a.numel():
        return lib.fc_fill(info._h, 1, 0, 0.0, 0.0)
    return lib.fc_copy(lu._h, a._h) or lib.fc_lu_factor(lu._h, pivots._h, info._h)


@lapack("_linalg_ldl_factor_ex", lambda x, hermitian: [Spec(_name(x), tuple(x.shape), True), Spec("int32", tuple(x.shape[:-1])), Spec("int32", tuple(x.shape[:-2]))])
def ldl_factor_ex(a, hermitian):
    batch, n = a.shape[:-2], a.shape[-1]
    flat = a.reshape(-1, n, n) if a.size else np.empty((int(np.prod(batch)), n, n), a.dtype)
    return stacked(batch, lambda k: host_ldl.factor(flat[k], hermitian), 3)


def _ldl_solution(ld, pivots, b, hermitian):
    return _solution(ld, b)[:1]


@lapack("_linalg_ldl_solve", _ldl_solution)
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


@lapack("_linalg_qr", _qr)
def qr(a, mode):
    if mode == "r":
        return np.empty(0, a.dtype), np.linalg.qr(a, "r")
    if 0 in a.shape[-2:]:
        return np.broadcast_to(np.eye(a.shape[-2]), (*a.shape[:-2], a.shape[-2], a.shape[-2])), np.zeros(())
    return tuple(np.linalg.qr(a, mode))


@lapack("_linalg_geqrf", lambda x: [Spec(_name(x), tuple(x.shape), True), Spec(_name(x), (*x.shape[:-2], min(x.shape[-2:])))])
def geqrf(a):
    h, tau = np.linalg.qr(a, "raw")
    return np.swapaxes(h, -2, -1), tau


def _eigh(x, upper, vectors):
    shape = tuple(x.shape)
    return [Spec(real_of(_name(x)), shape[:-1]), Spec(_name(x), shape if vectors else (0,), True)]


@lapack("_linalg_eigh", _eigh)
def eigh(a, upper, vectors):
    side = "U" if upper else "L"
    return tuple(np.linalg.eigh(a, side)) if vectors else (np.linalg.eigvalsh(a, side), np.empty(0, a.dtype))


def _eig(x, vectors):
    shape, dtype = tuple(x.shape), complex_of(_name(x))
    return [Spec(dtype, shape[:-1]), Spec(dtype, shape if vectors else (0,), True)]


@lapack("_linalg_eig", _eig)
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


@lapack("_linalg_svd", _svd)
def svd(a, full_matrices, vectors):
    if not vectors:
        return np.empty(0, a.dtype), np.linalg.svd(a, compute_uv=False), np.empty(0, a.dtype)
    if 0 in a.shape[-2:]:
        eyes = [np.broadcast_to(np.eye(n), (*a.shape[:-2], n, n)) for n in a.shape[-2:]]
        return eyes[0], np.zeros(()), eyes[1]
    return tuple(np.linalg.svd(a, full_matrices))


# --- functions of matrices --------------------------------------------------------------------------------------------


@lapack("_linalg_pinv", lambda x, atol, rtol, hermitian: [Spec(_name(x), (*x.shape[:-2], x.shape[-1], x.shape[-2]))])
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


@lapack("_linalg_matrix_exp", lambda x: [Spec(_name(x), tuple(x.shape))])
def matrix_exp(a):
    flat = a.reshape(-1, *a.shape[-2:])
    size = abs(flat).sum(-2).max(-1).astype(np.float64)
    times = np.ceil(np.log2(size / _THETA))
    result = np.empty(flat.shape, np.complex128 if np.iscomplexobj(a) else np.float64)
    for t in np.unique(times):  # matrices that are halved as often are computed together
        which = times == t
        result[which] = _exp(flat[which].astype(result.dtype), max(0, int(t)) if np.isfinite(t) else 0)
    result[~np.isfinite(size)] = np.nan
    result[size == 0] = np.eye(a.shape[-1])  # exactly
    return result.reshape(a.shape)


def _exp(wide, times):
    wide = wide / 2.0**times
    one = np.eye(wide.shape[-1])
    a2 = wide @ wide
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = wide @ (a6 @ (_B[13] * a6 + _B[11] * a4 + _B[9] * a2) + _B[7] * a6 + _B[5] * a4 + _B[3] * a2 + _B[1] * one)
    even = a6 @ (_B[12] * a6 + _B[10] * a4 + _B[8] * a2) + _B[6] * a6 + _B[4] * a4 + _B[2] * a2 + _B[0] * one
    result = np.linalg.solve(even - odd, even + odd)
    for _ in range(times):
        result = result @ result
    return result
