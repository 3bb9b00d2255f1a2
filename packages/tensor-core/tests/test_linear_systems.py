"""LU, Cholesky and triangular systems of more than one block, of every layout, against what defines them."""

import facula
import numpy as np
import pytest

DTYPES = {"float32": 2e-4, "float64": 1e-11, "complex64": 4e-4, "complex128": 1e-11}
SIZES = (1, 31, 32, 33, 64, 97, 150)  # a block has 32 rows


def drawn(dtype, *shape, seed=0):
    r = np.random.default_rng(seed)
    real = r.standard_normal(shape)
    return facula.from_numpy((real + 1j * r.standard_normal(shape) if dtype.startswith("complex") else real).astype(dtype))


def near(actual, expected, tol):
    actual, expected = actual.resolve_conj().numpy(), expected.resolve_conj().numpy()
    assert actual.shape == expected.shape
    assert abs(actual - expected).max(initial=0) <= tol * max(1, abs(expected).max(initial=0))


def positive(x):
    return x @ x.mH + x.shape[-1] * facula.eye(x.shape[-1], dtype=x.dtype)


def contiguous(x):
    return x.contiguous()


def columns(x):
    return x.mT.contiguous().mT


def spread(x):
    wide = facula.zeros(*x.shape[:-1], 2 * x.shape[-1], dtype=x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m,n", [(n, n) for n in SIZES] + [(70, 40), (40, 70), (3, 100), (100, 3)])
def test_lu_is_a_permutation_times_two_triangles(m, n, dtype):
    A = drawn(dtype, 2, m, n)
    P, L, U = facula.linalg.lu(A)

    near(P @ L @ U, A, DTYPES[dtype])
    assert L.abs().max() <= (1 if dtype.startswith("float") else 2**0.5) + 1e-6  # pivots are the largest
    assert facula.equal(L, L.tril()) and facula.equal(U, U.triu())


@pytest.mark.parametrize("layout", [contiguous, columns, spread], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_solutions_solve(n, dtype, layout):
    tol = DTYPES[dtype] * n
    A, B = positive(drawn(dtype, 3, n, n)), drawn(dtype, 3, n, 5, seed=1)
    A, B = layout(A + 0.1 * drawn(dtype, 3, n, n, seed=2)), layout(B)
    for upper in (False, True):
        triangle = A.triu() if upper else A.tril()
        near(triangle @ facula.linalg.solve_triangular(A, B, upper=upper), B, tol)
        near(facula.linalg.solve_triangular(A, B.mT, upper=upper, left=False) @ triangle, B.mT, tol)
        ones = triangle - facula.diag_embed(triangle.diagonal(dim1=-2, dim2=-1)) + n * facula.eye(n, dtype=A.dtype)
        near(ones / n @ facula.linalg.solve_triangular(A / n, B, upper=upper, unitriangular=True), B, tol)
    factors = facula.linalg.lu_factor(A)
    near(A @ facula.linalg.lu_solve(*factors, B), B, tol)
    near(A.mH @ facula.linalg.lu_solve(*factors, B, adjoint=True), B, tol)
    near(A @ facula.linalg.solve(A, B), B, tol)
    near(A[:1] @ facula.linalg.solve(A[0], B), B, tol)
    near(A @ facula.linalg.inv(A), facula.eye(n, dtype=A.dtype).expand(3, n, n), tol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_cholesky_factors(n, dtype):
    A = positive(drawn(dtype, 2, n, n))
    B = drawn(dtype, 2, n, 4, seed=1)
    for upper in (False, True):
        L = facula.linalg.cholesky(A, upper=upper)

        near(L.mH @ L if upper else L @ L.mH, A, DTYPES[dtype])
        assert facula.equal(L, L.triu() if upper else L.tril())
        near(A @ facula.cholesky_solve(B, L, upper=upper), B, DTYPES[dtype] * n)


@pytest.mark.parametrize("place", [1, 20, 33, 64, 90])
def test_cholesky_says_which_minor_is_not_positive(place):
    A = positive(drawn("float64", 90, 90))
    A[place - 1, place - 1] = -1.0

    assert place == facula.linalg.cholesky_ex(A).info == facula.linalg.cholesky_ex(A, upper=True).info
    assert [0, place] == facula.linalg.cholesky_ex(facula.stack([positive(A), A])).info.tolist()


@pytest.mark.parametrize("place", [1, 20, 33, 64, 90])
def test_lu_says_which_pivot_is_zero(place):
    A = facula.eye(90, dtype=facula.float64)
    A[place - 1, place - 1] = 0.0

    assert place == facula.linalg.lu_factor_ex(A).info == facula.linalg.inv_ex(A).info
    assert 0 == facula.linalg.det(A)
    assert (0, -float("inf")) == tuple(v.item() for v in facula.linalg.slogdet(A))


def test_bits_do_not_depend_on_threads_or_batch():
    A, B = positive(drawn("float32", 3, 200, 200)), drawn("float32", 3, 200, 40)
    before, found = facula.get_num_threads(), []
    try:
        for threads in (1, 3):
            facula.set_num_threads(threads)
            found.append([facula.linalg.lu_factor(A)[0], facula.linalg.cholesky(A), facula.linalg.solve(A, B), facula.linalg.solve_triangular(A, B, upper=True)])
    finally:
        facula.set_num_threads(before)
    alone = [facula.linalg.lu_factor(A[1])[0], facula.linalg.cholesky(A[1]), facula.linalg.solve(A[1], B[1]), facula.linalg.solve_triangular(A[1], B[1], upper=True)]

    assert all(facula.equal(a, b) for a, b in zip(*found))
    assert all(facula.equal(a[1], b) for a, b in zip(found[0], alone))


def test_pivots_out_of_range_are_refused():
    LU, pivots = facula.linalg.lu_factor(facula.eye(3))
    for wrong in (0, 4, -1):
        pivots[1] = wrong
        with pytest.raises(RuntimeError, match="[Pp]ivots"):
            facula.linalg.lu_solve(LU, pivots, facula.ones(3, 1))
        with pytest.raises(RuntimeError, match="pivots"):
            facula.lu_unpack(LU, pivots)
