"""Derivatives of linear algebra. T is the transpose, H the conjugate transpose, g the gradient that comes in.

Rows marked `real` are not holomorphic (a modulus, a choice of sign or phase), and their formulas are written for complex numbers as they
stand: g is the gradient by the real inner product Re tr(g^H dX). Of the others the class conjugates.
Sources: Giles (2008), An extended collection of matrix derivative results; Seeger et al. (2017), Auto-Differentiating Linear Algebra.
"""

from __future__ import annotations

import facula as F

from .._core import Batched, GradError, extend, row
from .._table import D, refuse
from ._tools import sum_to

D("_linalg_inv_ex",   flat=(1,), x=lambda g, out0: -(out0.mT @ g @ out0.mT))
D("_linalg_solve_ex", flat=(1,), xy=lambda g, x, out0, x_shape, y_shape: of_system(g, x, out0, x_shape, y_shape))
D("_linalg_solve_triangular",    xy=lambda g, x, out, x_shape, y_shape, upper, unitriangular:
  of_triangular(g, x, out, x_shape, y_shape, upper, unitriangular))
D("_cholesky_solve", real=True,  xy=lambda g, y, out, x_shape, y_shape, upper: of_cholesky_solve(g, y, out, x_shape, y_shape, upper))
D("_linalg_lstsq",    flat=(2, 3), real=True, xy=lambda gs, x, y, out0: of_least_squares(gs, x, y, out0))
D("_linalg_pinv",     real=True, x=lambda g, x, out: of_pinv(g, x, out))

D("_linalg_det",      x=lambda g, x, out: spread(g) * of_det(x, out))
D("_linalg_slogdet",  real=True, x=lambda gs, x, out0: of_slogdet(gs, x, out0))
D("_linalg_matrix_exp", real=True, x=lambda g, x: of_exp(g, x))

D("_linalg_cholesky_ex",  flat=(1,),   real=True, x=lambda g, out0, upper: of_cholesky(g, out0, upper))
D("_linalg_lu_factor_ex", flat=(1, 2), x=lambda g, out0, out1: of_lu(g, out0, out1))
D("_linalg_qr",    real=True, x=lambda gs, x, out0, out1, mode: of_qr(gs, x, out0, out1, mode))
D("_linalg_eigh",  real=True, x=lambda gs, out0, out1: of_eigh(gs, out0, out1))
D("_linalg_eig",   real=True, x=lambda gs, x, out0, out1: of_eig(gs, x, out0, out1))
D("_linalg_svd",   real=True, x=lambda gs, x, out0, out1, out2: of_svd(gs, x, out0, out1, out2))

refuse("_linalg_geqrf")
refuse("_linalg_ldl_factor_ex", flat=(1, 2))
refuse("_linalg_ldl_solve", operands="xz")


def columns(t) -> F.Tensor:
    """t with its matrices column by column in memory, as LAPACK leaves results and so PyTorch gradients."""
    return t.mT.contiguous().mT


def spread(g) -> F.Tensor:
    """A number of each matrix, against the matrix."""
    return g.unsqueeze(-1).unsqueeze(-1)


def eye(n, like) -> F.Tensor:
    return F.eye(n, dtype=like.dtype, device=like.device)


def inverse(x) -> F.Tensor:
    return row("_linalg_inv_ex")(x)[0]


def solved(a, b) -> F.Tensor:
    """X in a X = b."""
    return row("_linalg_solve_ex")(a, b)[0]


def triangular(a, b, upper, unit=False) -> F.Tensor:
    return row("_linalg_solve_triangular")(a, b, upper, unit)


def half_diagonal(x) -> F.Tensor:
    """x with its diagonal halved."""
    return x - F.diag_embed(F.diagonal(x, 0, -2, -1)) / 2


# --- systems ------------------------------------------------------------------------------------------------------------


def of_system(g, a, out, a_shape, b_shape) -> tuple:
    of_b = solved(a.mT, g)
    return sum_to(-(of_b @ out.mT), a_shape), sum_to(of_b, b_shape)


def of_triangular(g, a, out, a_shape, b_shape, upper, unit) -> tuple:
    of_b = triangular(a.mT, g, not upper, unit)
    of_a = -(of_b @ out.mT)
    of_a = of_a.triu(int(unit)) if upper else of_a.tril(-int(unit))
    return sum_to(of_a, a_shape), sum_to(of_b, b_shape)


def of_cholesky_solve(g, factor, out, b_shape, factor_shape, upper) -> tuple:
    """dX = -A^-1 dA X for A = L L^H (U^H U) of the whole matrix, though only a triangle of it is read."""
    of_b = row("_cholesky_solve")(g, factor, upper)
    of_a = of_b @ out.mH
    of_a = of_a + of_a.mH
    return sum_to(of_b, b_shape), sum_to(-(factor @ of_a if upper else of_a @ factor), factor_shape)


def of_pinv(g, a, p) -> F.Tensor:
    """Golub and Pereyra (1973): dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P."""
    ph, gh = p.mH, g.mH
    left, right = eye(a.shape[-2], a) - a @ p, eye(a.shape[-1], a) - p @ a
    return columns(left @ (gh @ p) @ ph + ph @ (p @ gh) @ right - ph @ g @ ph)


def of_least_squares(gs, a, b, x) -> tuple:
    of_x, of_residuals = gs[0], gs[1]
    of_a = of_b = None
    if of_x is not None:
        atol = F.zeros(a.shape[:-2], dtype=a.dtype.to_real(), device=a.device)
        rtol = atol + F.finfo(a.dtype).eps * max(a.shape[-2:])
        p = row("_linalg_pinv")(a, atol, rtol, False)
        of_a, of_b = of_pinv(of_x @ b.mH, a, p), p.mH @ of_x
    if of_residuals is not None:  # the solution is where they do not depend on it
        r = 2 * (a @ x - b) * of_residuals.unsqueeze(-2)
        of_a = r @ x.mH if of_a is None else of_a + r @ x.mH
        of_b = -r if of_b is None else of_b - r
    return of_a, of_b


# --- numbers and functions of a matrix --------------------------------------------------------------------------------


def of_det(x, det) -> F.Tensor:
    """det(x) x^-T; where some matrix is singular the cofactors, which stay finite: by singular values, A = U S V^H."""
    x = extend.gradient_lies(x, "columns")
    found, info = row("_linalg_inv_ex")(x)
    if not (isinstance(info, Batched) or bool(info.any())):  # inside vmap nobody may look
        return columns(spread(det) * found.mT)
    u, s, vh = row("_linalg_svd")(x, False, True)
    n = s.shape[-1]
    others = F.where(F.eye(n, dtype=F.bool, device=x.device), 1.0, s.unsqueeze(-2).expand(*s.shape, n))
    rest = F.prod(others, -1).to(x.dtype)
    phase = row("_linalg_det")(u) * row("_linalg_det")(vh)
    return spread(phase) * ((vh.mH * rest.unsqueeze(-2)) @ u.mH).mT


def of_slogdet(gs, x, sign) -> F.Tensor:
    of_sign, of_size = gs
    x = extend.gradient_lies(x, "columns")
    weight = F.zeros_like(sign) if of_size is None else of_size.to(x.dtype)
    if x.is_complex() and of_sign is not None:  # the phase turns with the imaginary part of tr(A^-1 dA)
        weight = weight - 1j * (of_sign.conj() * sign).imag
    return columns(spread(weight) * inverse(x).mH)


def of_exp(g, x) -> F.Tensor:
    """The upper right block of exp [[A^H, g], [0, A^H]]: Mathias (1996), SIAM J. Matrix Anal. 17(3)."""
    n = x.shape[-1]
    xh = x.mH
    top, low = F.cat([xh, g], -1), F.cat([F.zeros_like(xh), xh], -1)
    return row("_linalg_matrix_exp")(F.cat([top, low], -2))[..., :n, n:]


# --- factorisations ---------------------------------------------------------------------------------------------------


def of_cholesky(g, low, upper) -> F.Tensor:
    """L^-H phi(L^H g) L^-1, phi the lower triangle and its mirror, both halved."""
    low, g = (low.mH, g.mH) if upper else (low, g)
    phi = (low.mH @ g).tril()
    phi = (phi + phi.tril(-1).mH) / 2
    lh = low.mH
    return columns(triangular(lh, triangular(lh, phi, True).mH, True).mH)


def of_lu(g, lu, pivots) -> F.Tensor:
    """P L^-T [tril(L^T gL, -1) + triu(gU U^T)] U^-T for the square part; what is beyond it is a product with a triangle."""
    m, n = lu.shape[-2:]
    k = min(m, n)
    square, of_l, of_u = lu[..., :k, :k], g[..., :k, :k].tril(-1), g[..., :k, :k].triu()
    beyond = None
    if m > n:
        low = lu[..., k:, :]
        beyond = solve_right(square, g[..., k:, :])
        of_u = of_u - (low.mT @ beyond).triu()
    elif n > m:
        high = lu[..., :, k:]
        beyond = triangular(square.mT, g[..., :, k:], True, True)
        of_l = of_l - (beyond @ high.mT).tril(-1)
    lower, u = square.tril(-1) + eye(k, lu), square.triu()
    inner = (lower.mT @ of_l).tril(-1) + (of_u @ u.mT).triu()
    inner = solve_right(square, triangular(square.mT, inner, True, True))
    whole = inner if beyond is None else F.cat([inner, beyond], -2 if m > n else -1)
    return F.lu_unpack(lu, pivots, unpack_data=False)[0] @ whole


def solve_right(u, b) -> F.Tensor:
    """b U^-T for the upper triangle of u."""
    return triangular(u, b.mT, True).mT


def of_qr(gs, x, q, r, mode) -> F.Tensor:
    m, n = x.shape[-2:]
    if mode == "r":
        raise GradError("linalg_qr: The derivative of linalg.qr depends on Q, which mode 'r' does not compute. Use linalg.qr(A, mode='reduced').")
    if mode == "complete" and m > n:
        raise GradError("linalg_qr: The QR decomposition is not differentiable when mode='complete' and nrows > ncols. Use mode='reduced'.")
    of_q, of_r = (F.zeros_like(t) if g is None else g for g, t in zip(gs, (q, r)))
    if m >= n:
        return of_square_qr(of_q, of_r, q, r)
    rest = of_r[..., m:]  # A = [A1 A2], R = [R1 Q^H A2]
    first = of_square_qr(of_q + x[..., m:] @ rest.mH, of_r[..., :m], q, r[..., :m])
    return F.cat([first, q @ rest], -1)


def of_square_qr(of_q, of_r, q, r) -> F.Tensor:
    """(gQ + Q z(gR R^H - Q^H gQ)) R^-H, z(W) the upper triangle made Hermitian."""
    w = of_r @ r.mH - q.mH @ of_q
    upper = half_diagonal(w.triu())
    return columns(triangular(r, (of_q + q @ (upper + upper.mH)).mH, True).mH)


def differences(values) -> F.Tensor:
    """values[j] - values[i] at (i, j), 1 on the diagonal."""
    e = values.unsqueeze(-2) - values.unsqueeze(-1)
    return e + eye(values.shape[-1], e)


def want_no_phases(what, along) -> None:
    """Refuse a loss that depends on the phases of complex vectors, which are free; along: V^H times V's gradient, its diagonal imaginary where it does."""
    if not along.is_complex() or along.is_meta or isinstance(along, Batched):  # inside vmap nobody may look
        return
    turned = F.diagonal(along.detach(), 0, -2, -1).imag
    if not F.allclose(turned, F.zeros_like(turned), rtol=1e-2, atol=1e-2):
        raise RuntimeError(
            f"{what} are determined up to a factor e^(i phi) each, and the loss depends on these factors: it is ill-defined. "
            "Take what does not, such as v.abs() or v @ v.mH."
        )


def of_eigh(gs, values, v) -> F.Tensor:
    of_values, of_v = gs
    if of_v is None:
        return (v * of_values.unsqueeze(-2)) @ v.mH
    inner = v.mH @ of_v
    want_no_phases("linalg_eigh_backward: the eigenvectors", inner)
    inner = (inner - inner.mH) / 2  # vectors stay orthonormal: they only turn, and the gradient is Hermitian as the matrix is
    inner = (inner - F.diag_embed(F.diagonal(inner, 0, -2, -1))) / differences(values)
    if of_values is not None:
        inner = inner + F.diag_embed(of_values).to(inner.dtype)
    return v @ inner @ v.mH


def of_eig(gs, x, values, v) -> F.Tensor:
    of_values, of_v = gs
    if of_v is None:
        inner = of_values.unsqueeze(-1) * v.mH
    else:
        vh = v.mH
        along = vh @ of_v
        want_no_phases("linalg_eig_backward: the eigenvectors", along)
        # vectors have length 1: the part along themselves has no influence
        inner = along - (vh @ v) * F.diagonal(along, 0, -2, -1).real.unsqueeze(-2)
        inner = (inner - F.diag_embed(F.diagonal(inner, 0, -2, -1))) / differences(values).conj()
        if of_values is not None:
            inner = inner + F.diag_embed(of_values)
        inner = inner @ vh
    whole = solved(v.mH, inner)
    return whole if x.is_complex() else whole.real


def of_svd(gs, x, u, s, vh) -> F.Tensor:
    """Townsend (2016), Differentiating the Singular Value Decomposition; vectors beyond min(m, n) have no influence."""
    of_u, of_s, of_vh = gs
    k = s.shape[-1]
    m, n = x.shape[-2:]
    u, vh = u[..., :k], vh[..., :k, :]
    if of_u is None and of_vh is None:
        return (u * of_s.unsqueeze(-2)) @ vh
    squares = differences(s * s)
    inner = None
    if x.is_complex():  # a pair of vectors shares its phase
        want_no_phases("svd_backward: the singular vectors", sum(v.mH @ of_v[..., :k] for v, of_v in ((u, of_u), (vh.mH, None if of_vh is None else of_vh.mH)) if of_v is not None))
    if of_u is not None:
        of_u = of_u[..., :k]
        along = u.mH @ of_u
        skew = along - along.mH
        inner = skew / squares * s.unsqueeze(-2)
        if x.is_complex():  # of the phases that each pair of vectors shares, V's are held
            inner = inner + F.diag_embed(F.diagonal(skew, 0, -2, -1) / (2 * s))
    if of_vh is not None:
        of_vh = of_vh[..., :k, :]
        along = vh @ of_vh.mH
        turned = s.unsqueeze(-1) * ((along - along.mH) / squares)
        inner = turned if inner is None else inner + turned
    if of_s is not None:
        inner = inner + F.diag_embed(of_s).to(inner.dtype)
    whole = u @ inner @ vh
    if of_u is not None and m > k:
        off = of_u / s.unsqueeze(-2)
        whole = whole + (off - u @ (u.mH @ off)) @ vh
    if of_vh is not None and n > k:
        off = of_vh / s.unsqueeze(-1)
        whole = whole + u @ (off - (off @ vh.mH) @ vh)
    return whole
