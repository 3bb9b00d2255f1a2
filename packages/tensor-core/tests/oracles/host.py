"""Rows that NumPy computes: a factorisation is held to account by what its factors multiply to, a transform by its sum."""

from . import O, elsewhere
from .dtypes import COMPLEX_NAMES

import numpy as np

elsewhere(
    "test_linalg.py",
    "_linalg_inv_ex", "_linalg_solve_ex", "_linalg_solve_triangular", "_cholesky_solve", "_linalg_lstsq", "_linalg_det", "_linalg_slogdet", "_linalg_cholesky_ex",
    "_linalg_lu_factor_ex", "_linalg_ldl_factor_ex", "_linalg_ldl_solve", "_linalg_qr", "_linalg_geqrf", "_linalg_eigh", "_linalg_eig", "_linalg_svd",
    "_linalg_pinv", "_linalg_matrix_exp",
)  # fmt: skip


def transform(x, dim, sign, norm):
    """The sum that defines it, over one dim after the other, in long double."""
    x = np.asarray(x).astype(np.clongdouble)
    for d in dim:
        n = x.shape[d]
        turns = np.outer(np.arange(n), np.arange(n)) % n * (np.longdouble(2) / n)
        matrix = np.cos(turns * PI) + sign * 1j * np.sin(turns * PI)
        x = np.moveaxis(np.tensordot(matrix, x, (1, d)), 0, d) / (1, np.sqrt(np.longdouble(n)), n)[norm]
    return x


PI = np.longdouble("3.14159265358979323846264338327950288")


def half(x, dim, norm, onesided):
    whole = transform(x, dim, -1, norm)
    return np.take(whole, np.arange(x.shape[dim[-1]] // 2 + 1), dim[-1]) if onesided else whole


def whole(x, dim, norm, last_dim_size):
    """The half's conjugates put behind it; of the terms that are their own twins the real part counts."""
    x = np.moveaxis(transform(x, dim[:-1], 1, norm), dim[-1], -1)
    n = last_dim_size
    full = np.zeros((*x.shape[:-1], n), np.clongdouble)
    full[..., : x.shape[-1]] = x
    full[..., 0] = full[..., 0].real
    for k in range(1, (n + 1) // 2):
        full[..., n - k] = full[..., k].conj()
    if n % 2 == 0:
        full[..., n // 2] = full[..., n // 2].real
    return np.moveaxis(transform(full, (-1,), 1, norm).real, -1, dim[-1])


REAL = ("float32", "float64")
O("_fft_c2c", lambda x, dim, norm, forward: transform(x, dim, -1 if forward else 1, norm), only=COMPLEX_NAMES, culp=16, scale="max", specials=False, cases=lambda t: [
    (t(3, 7), [1], 0, True), (t(8, 3), [0], 1, False), (t(4, 3, 5), [2, 0], 2, True), (t(0, 4), [1], 0, True), (t(1), [0], 0, False),
])  # fmt: skip
O("_fft_r2c", half, only=REAL, ulp=16, scale="max", specials=False, result={"float32": "complex64", "float64": "complex128"}, cases=lambda t: [
    (t(3, 7), [1], 0, True), (t(8, 3), [0], 1, True), (t(4, 3, 5), [2, 0], 2, True), (t(3, 6), [1], 0, False), (t(1), [0], 0, True),
])  # fmt: skip
O("_fft_c2r", whole, only=COMPLEX_NAMES, ulp=16, scale="max", specials=False, result={"complex64": "float32", "complex128": "float64"}, cases=lambda t: [
    (t(3, 4), [1], 0, 7), (t(5, 3), [0], 1, 8), (t(4, 3, 5), [2, 0], 2, 6), (t(2), [0], 0, 2), (t(1), [0], 0, 1),
])  # fmt: skip
