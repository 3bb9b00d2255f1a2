"""Sample arguments for the derivatives of linear algebra and of Fourier transforms."""

from backend import torch

F64, C128 = torch.float64, torch.complex128


def normal(*shape, dtype=F64):
    return torch.randn(*shape, dtype=dtype)


def square(*shape, dtype=F64):
    """Matrices far from singular ones, with eigenvalues apart."""
    n = shape[-1]
    return 0.3 * normal(*shape, n, dtype=dtype) + torch.diag(torch.arange(1.0, n + 1, dtype=F64)).to(dtype)


def both(make):
    return [lambda: make(F64), lambda: make(C128)]


def tolerance(*batch):
    return torch.zeros(batch, dtype=F64), torch.full(batch, 1e-10, dtype=F64)


def tall(*shape, dtype=F64):
    """Matrices with singular values apart."""
    m, n = shape[-2:]
    return 0.3 * normal(*shape, dtype=dtype) + torch.eye(m, n, dtype=F64).to(dtype) * torch.arange(1.0, n + 1, dtype=F64)


SAMPLES = {
    "_linalg_inv_ex": both(lambda d: (square(2, 3, dtype=d),)),
    "_linalg_solve_ex": [
        *both(lambda d: (square(2, 3, dtype=d), normal(2, 3, 2, dtype=d))), lambda: (square(3), normal(2, 3, 1)), lambda: (square(2, 1, 3), normal(2, 3, 2)),
    ],
    "_linalg_solve_triangular": [
        *both(lambda d: (square(2, 3, dtype=d), normal(2, 3, 2, dtype=d), True, False)), lambda: (square(3), normal(2, 3, 1), False, True),
        lambda: (square(2, 1, 3), normal(2, 3, 2), False, False), lambda: (square(2, 3), normal(3, 2), True, True),
    ],
    "_cholesky_solve": [
        *both(lambda d: (normal(2, 3, 2, dtype=d), square(2, 3, dtype=d), False)), lambda: (normal(3, 1), square(3), True), lambda: (normal(2, 3, 2), square(2, 1, 3), False),
    ],
    "_linalg_lstsq": [*both(lambda d: (tall(2, 4, 3, dtype=d), normal(2, 4, 2, dtype=d), 1e-10)), lambda: (tall(3, 5), normal(3, 2), 1e-10)],
    "_linalg_pinv": [
        *both(lambda d: (tall(2, 4, 3, dtype=d), *tolerance(2), False)), lambda: (tall(3, 4), *tolerance(), False), lambda: (square(3), *tolerance(), False),
    ],
    "_linalg_det": [*both(lambda d: (square(2, 3, dtype=d),)), lambda: (square(1),)],
    "_linalg_slogdet": both(lambda d: (square(2, 3, dtype=d),)),
    "_linalg_matrix_exp": both(lambda d: (normal(2, 3, 3, dtype=d),)),
    "_linalg_cholesky_ex": [*both(lambda d: (square(2, 3, dtype=d), False)), *both(lambda d: (square(3, dtype=d), True))],
    "_linalg_lu_factor_ex": [*both(lambda d: (square(2, 3, dtype=d),)), *both(lambda d: (tall(4, 3, dtype=d),)), *both(lambda d: (tall(3, 5, dtype=d),))],
    "_linalg_qr": [
        *both(lambda d: (tall(2, 4, 3, dtype=d), "reduced")), *both(lambda d: (tall(3, 5, dtype=d), "reduced")),
        lambda: (square(3), "complete"), lambda: (tall(3, 5), "complete"),
    ],
    "_linalg_eigh": [*both(lambda d: (square(2, 3, dtype=d), False, True)), lambda: (square(3), True, True)],
    "_linalg_eig": both(lambda d: (square(2, 3, dtype=d), True)),
    "_linalg_svd": [
        *both(lambda d: (tall(2, 4, 3, dtype=d), False, True)), *both(lambda d: (tall(3, 5, dtype=d), False, True)), lambda: (square(3), True, True),
    ],
    "_fft_c2c": [lambda: (normal(2, 5, dtype=C128), (1,), 0, True), lambda: (normal(3, 4, 2, dtype=C128), (0, -1), 1, False), lambda: (normal(4, dtype=C128), (0,), 2, False)],
    "_fft_r2c": [lambda: (normal(2, 5), (1,), 0, True), lambda: (normal(4, 3, 2), (1, 0), 1, True), lambda: (normal(4, 3), (0, 1), 2, False)],
    "_fft_c2r": [lambda: (normal(2, 3, dtype=C128), (1,), 0, 4), lambda: (normal(3, 4, 2, dtype=C128), (1, 0), 1, 5), lambda: (normal(2, dtype=C128), (0,), 2, 2)],
}  # fmt: skip


def _of_product(row):
    """Of a Hermitian positive matrix: the row reads one triangle, its gradient is for both."""
    return lambda x, *rest: row(x @ x.mH, *rest)


def _of_triangle(row):
    """The row reads one triangle, its gradient is that of the whole product: they agree where there is but the triangle."""
    return lambda b, x, upper: row(b, x.triu() if upper else x.tril(), upper)


def _of_sum(row):
    def invariant(x, *rest):
        values, vectors = row(x + x.mH, *rest)
        return values, vectors.abs() if x.is_complex() else vectors

    return invariant


def _sizes(row):
    """Complex vectors are given up to a phase: their sizes are not."""
    def invariant(x, *rest):
        return tuple(t.abs() if x.is_complex() else t for t in row(x, *rest))

    return invariant


def _eig(row):
    def invariant(x, *rest):
        values, vectors = row(x, *rest)
        return values, vectors.abs()

    return invariant


def _pinv(row):
    return lambda x, atol, rtol, hermitian: row(x, atol.detach(), rtol.detach(), hermitian)


def _dense(row):
    """gradcheck compares dense gradients."""

    def through(x, *rest):
        if not x.requires_grad:
            return row(x, *rest)
        x = x.clone()
        x.register_hook(lambda g: g.to_dense() if g is not None and g.is_sparse else g)
        return row(x, *rest)

    return through


# rows whose results are defined up to a choice, or which read half of their operand: the function of it that is checked
THROUGH = {"_gather_sparse_grad": _dense, "_cholesky_solve": _of_triangle, "_linalg_pinv": _pinv, "_linalg_cholesky_ex": _of_product, "_linalg_eigh": _of_sum, "_linalg_svd": _sizes, "_linalg_eig": _eig}
