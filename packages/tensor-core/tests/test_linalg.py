"""facula.linalg: what factors multiply to, PyTorch's answers where it is installed, batches, dtypes, bad input.

The rows below it, each by the functions that use it: _linalg_inv_ex (inv, cond), _linalg_solve_ex (solve, tensorsolve), _linalg_solve_triangular (also
lu_solve), _cholesky_solve (also cholesky_inverse), _linalg_lstsq, _linalg_det, _linalg_slogdet (also logdet), _linalg_cholesky_ex, _linalg_lu_factor_ex (also lu), _linalg_ldl_factor_ex,
_linalg_ldl_solve, _linalg_qr, _linalg_geqrf (also ormqr, householder_product), _linalg_eigh, _linalg_eig, _linalg_svd (also matrix_rank, nuclear norms),
_linalg_pinv, _linalg_matrix_exp.
"""

import facula
import numpy as np
import pytest
from facula.tensor_core.linalg import one_thread

DTYPES = ("float32", "float64", "complex64", "complex128")
BATCHES = ((), (3,), (2, 1), (0,))


def drawn(*shape, dtype="float64", seed=0):
    rng = np.random.default_rng([seed, *shape])
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else a).astype(dtype)


def square(*batch, n=4, dtype="float64"):
    return drawn(*batch, n, n, dtype=dtype) + 2 * np.eye(n, dtype=dtype)


def positive(*batch, n=4, dtype="float64"):
    a = square(*batch, n=n, dtype=dtype)
    return a @ np.swapaxes(a, -1, -2).conj()


def near(expected, actual, dtype):
    actual = actual.numpy() if isinstance(actual, facula.Tensor) else actual
    np.testing.assert_allclose(actual, expected, rtol=0, atol=(2e-4 if dtype in ("float32", "complex64") else 1e-11) * max(1, np.abs(expected).max(initial=0)))


def H(x):
    return np.swapaxes(x.numpy() if isinstance(x, facula.Tensor) else x, -1, -2).conj()


L = facula.linalg
ALL = [pytest.param(b, d, id=f"{b}-{d}") for b in BATCHES for d in DTYPES]


@pytest.mark.parametrize("batch,dtype", ALL)
def test_systems_are_solved(batch, dtype):
    a, p, b = square(*batch, dtype=dtype), positive(*batch, dtype=dtype), drawn(*batch, 4, 3, dtype=dtype)
    A, P, B = map(facula.from_numpy, (a, p, b))
    triangle = np.tril(a)

    near(np.broadcast_to(np.eye(4), a.shape), A @ L.inv(A), dtype)
    near(b, A @ L.solve(A, B), dtype)
    near(H(b), L.solve(A, B.mH, left=False) @ A, dtype)
    near(b[..., 0], (A @ L.solve(A, B[..., 0]).unsqueeze(-1)).squeeze(-1), dtype)
    near(b, facula.from_numpy(triangle) @ L.solve_triangular(A, B, upper=False), dtype)
    near(b, facula.from_numpy(np.triu(a, 1) + np.eye(4, dtype=dtype)) @ L.solve_triangular(A, B, upper=True, unitriangular=True), dtype)
    near(H(b), L.solve_triangular(A, B.mH, upper=False, left=False) @ facula.from_numpy(triangle), dtype)
    near(b, P @ facula.cholesky_solve(B, L.cholesky(P)), dtype)
    near(b, P @ facula.cholesky_solve(B, L.cholesky(P, upper=True), upper=True), dtype)
    near(np.broadcast_to(np.eye(4), a.shape), P @ facula.cholesky_inverse(L.cholesky(P)), dtype)
    near(b, A @ L.lu_solve(*L.lu_factor(A), B), dtype)
    near(b, A.mH @ L.lu_solve(*L.lu_factor(A), B, adjoint=True), dtype)
    near(H(b), L.lu_solve(*L.lu_factor(A), B.mH, left=False) @ A, dtype)
    hermitian = A + A.mH
    near(b, hermitian @ L.ldl_solve(*L.ldl_factor(hermitian, hermitian=True), B, hermitian=True), dtype)
    symmetric = A + A.mT
    near(b, symmetric @ L.ldl_solve(*L.ldl_factor(symmetric), B), dtype)


@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (40, 33), (1, 3), (3, 1)])
@pytest.mark.parametrize("batch,dtype", ALL)
def test_factors_multiply_to_the_matrix(batch, dtype, shape):
    a = drawn(*batch, *shape, dtype=dtype)
    A = facula.from_numpy(a)
    P, low, U = L.lu(A)
    near(a, P @ low @ U, dtype)
    for mode in ("reduced", "complete"):
        Q, R = L.qr(A, mode)
        near(a, Q @ R, dtype)
        near(np.broadcast_to(np.eye(Q.shape[-1]), (*batch, Q.shape[-1], Q.shape[-1])), Q.mH @ Q, dtype)
        near(np.triu(R.numpy()), R, dtype)
    near(L.qr(A, "r")[1].abs().numpy(), L.qr(A)[1].abs(), dtype)
    for full in (False, True):
        U, S, Vh = L.svd(A, full)
        k = min(shape)
        near(a, (U[..., :k] * S.unsqueeze(-2).to(A.dtype)) @ Vh[..., :k, :], dtype)
        near(S.numpy(), L.svdvals(A), dtype)
    near(a, A @ L.pinv(A) @ A, dtype)
    if shape[0] >= shape[1]:
        packed, tau = facula.geqrf(A)
        Q = L.householder_product(packed, tau)
        near(a, Q @ packed[..., : shape[1], :].triu(), dtype)
        near(a, facula.ormqr(packed, tau, facula.cat([packed[..., : shape[1], :].triu(), A[..., shape[1] :, :] * 0], -2)), dtype)


@pytest.mark.parametrize("batch,dtype", ALL)
def test_eigenvectors_are_stretched(batch, dtype):
    a = square(*batch, dtype=dtype)
    A = facula.from_numpy(a)
    h = A + A.mH
    for side in "LU":
        values, v = L.eigh(h, side)
        near((v * values.unsqueeze(-2).to(v.dtype)).numpy(), h @ v, dtype)
        near(values.numpy(), L.eigvalsh(h, side), dtype)
        near(h.numpy(), v @ facula.diag_embed(values).to(v.dtype) @ v.mH, dtype)
    values, v = L.eig(A)
    near((v * values.unsqueeze(-2)).numpy(), A.to(v.dtype) @ v, dtype)
    assert values.dtype.is_complex


@pytest.mark.parametrize("batch,dtype", ALL)
def test_numbers_and_functions_of_matrices(batch, dtype):
    a = square(*batch, dtype=dtype)
    A = facula.from_numpy(a)
    sign, size = L.slogdet(A)
    near(np.linalg.det(a), L.det(A), dtype)
    near(np.linalg.det(a), sign * size.exp(), dtype)
    near(np.eye(4) if not batch else np.broadcast_to(np.eye(4), a.shape), L.matrix_exp(A) @ L.matrix_exp(-A), dtype)
    near(np.linalg.matrix_power(a, 5) if a.size else a, L.matrix_power(A, 5), dtype)
    near(np.broadcast_to(np.eye(4), a.shape), L.matrix_power(A, -2) @ A @ A, dtype)
    for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        near(np.linalg.norm(a, order, axis=(-2, -1)) if a.size else np.zeros(batch), L.matrix_norm(A, order), dtype)
        assert tuple(L.matrix_norm(A, order, keepdim=True).shape) == (*batch, 1, 1)
        near(np.linalg.norm(a[..., 0, :], order if not isinstance(order, str) else 3, axis=-1), L.vector_norm(A[..., 0, :], order if not isinstance(order, str) else 3, -1), dtype)


# the same in Facula (X = facula) and PyTorch; a square, b its right sides, p positive, t tall, c complex, v a vector
SAME = (
    "X.linalg.inv(a)", "X.linalg.inv(c)", "X.inverse(a)", "a.inverse()", "X.linalg.inv_ex(a)", "X.linalg.det(a)", "a.det()", "X.det(c)", "X.logdet(p)", "a[0].logdet()",
    "X.linalg.slogdet(a)", "X.slogdet(c)", "a.slogdet()", "X.linalg.solve(a, b)", "X.linalg.solve(a[0], b)", "X.linalg.solve(a, b[0])", "X.linalg.solve(a, v)",
    "X.linalg.solve(a, a[..., 0])", "X.linalg.solve(a, b.mT, left=False)", "X.linalg.solve_ex(a, b)", "X.linalg.cholesky(p)", "X.cholesky(p)", "p.cholesky(True)",
    "X.linalg.cholesky_ex(p, upper=True)", "X.linalg.cholesky_ex(-p)[1]", "X.linalg.lu(t)", "X.linalg.lu_factor(a)", "X.linalg.lu_factor_ex(t)", "X.lu(a)", "X.lu(a, get_infos=True)",
    "a.lu()", "X.lu_unpack(*a.lu())", "X.lu_unpack(*a.lu(), unpack_data=False)", "X.lu_unpack(*a.lu(), unpack_pivots=False)", "X.lu_unpack(*t.lu())", "X.lu_solve(b, *a.lu())", "b.lu_solve(*a.lu())",
    "X.linalg.lu_solve(*X.linalg.lu_factor(a), b)", "X.linalg.ldl_factor(p)", "X.linalg.ldl_factor_ex(a + a.mT)[1:]", "X.linalg.ldl_factor_ex(c + c.mH, hermitian=True)[1:]",
    "X.linalg.qr(t)", "X.linalg.qr(t, 'complete')", "X.linalg.qr(t, mode='r')", "X.qr(t)", "t.qr(some=False)", "X.geqrf(t)", "X.orgqr(*X.geqrf(t))", "X.ormqr(*X.geqrf(t), t)",
    "X.ormqr(*X.geqrf(t), t, transpose=True)", "X.ormqr(*X.geqrf(t), t.mT, left=False)", "X.ormqr(*X.geqrf(c), c, transpose=True)", "X.linalg.householder_product(*X.geqrf(c))",
    "X.linalg.eigvalsh(p)", "X.linalg.eigh(p)[0]", "X.linalg.eigh(p, 'U')[0]", "X.linalg.eigvals(p).real.sort()[0]", "X.linalg.svdvals(t)", "X.linalg.svd(t)[1]", "X.linalg.svd(t, full_matrices=False)[0].abs()",
    "[z.abs() for z in X.svd(t)]", "t.svd(False)[2].abs()", "X.svd(t, compute_uv=False)", "X.linalg.pinv(t)", "X.pinverse(t)", "t.pinverse()", "X.linalg.pinv(p, hermitian=True)",
    "X.linalg.pinv(t, rtol=0.3)", "X.linalg.pinv(t, atol=1.0)", "X.linalg.pinv(t, atol=X.tensor([0.1, 0.0, 2.0], dtype=X.float64))", "X.linalg.pinv(t, 0.3)", "X.linalg.matrix_rank(t)",
    "X.linalg.matrix_rank(a, atol=1.0)", "X.linalg.matrix_rank(a, 1.5)", "X.linalg.matrix_rank(p, hermitian=True, rtol=0.5)", "X.linalg.matrix_exp(a)", "X.matrix_exp(c)", "a.matrix_exp()",
    "X.linalg.matrix_power(a, 0)", "X.linalg.matrix_power(a, 3)", "X.matrix_power(a, -2)", "a.matrix_power(1)", "X.linalg.matrix_power(X.tensor([[1, 1], [1, 0]]), 10)",
    "X.triangular_solve(b, a)", "b.triangular_solve(a, upper=False)", "X.triangular_solve(b, a, transpose=True)", "X.triangular_solve(b, a, unitriangular=True)",
    "X.linalg.solve_triangular(a, b, upper=True)", "X.linalg.solve_triangular(a, b.mT, upper=False, left=False)", "X.cholesky_solve(b, X.linalg.cholesky(p))", "X.cholesky_inverse(X.linalg.cholesky(p))",
    "X.linalg.lstsq(t, t[..., :2])", "X.linalg.lstsq(t, t[..., :2], driver='gelsd')", "X.linalg.lstsq(t, t[..., :2], driver='gels')", "X.linalg.lstsq(t.mT, t.mT[..., :2], driver='gelss')",
    "X.linalg.lstsq(c, c[..., :1])[0]", "X.linalg.tensorinv(X.eye(12).reshape(12, 3, 4) + 1e-3, 1)", "X.linalg.tensorinv(X.eye(12).reshape(4, 3, 3, 4) * 2)",
    "X.linalg.tensorsolve(X.eye(12).reshape(3, 4, 3, 4) * 3, X.ones(3, 4))", "X.linalg.tensorsolve(X.eye(12).reshape(3, 4, 3, 4) * 3, X.ones(3, 4), dims=(0, 1))",
    *(f"X.linalg.norm(t, {o}, {d}, {k})" for o, d in (("None", None), ("None", 0), ("None", (0, 1)), ("3", -1), ("0", -1), ("float('inf')", -1), ("'fro'", (0, 2)), ("'nuc'", (-1, 0)), ("-2", (0, 1)), ("1", (1, 2))) for k in (False, True)),
    "X.linalg.norm(t[0], 2)", "X.linalg.norm(v, 1)", "X.linalg.norm(c, 'nuc', (0, 2))", "X.linalg.norm(t.float(), dtype=X.float64)", "X.linalg.vector_norm(c, 1.5, (0, 1))", "X.linalg.vector_norm(t, float('-inf'))",
    "X.linalg.matrix_norm(t, float('inf'), (2, 0))", "X.linalg.matrix_rank(X.diag(X.tensor([1.0, 1e-9])), atol=-1)", "X.linalg.pinv(X.diag(X.tensor([1.0, 1e-9])), atol=-1.0)", "X.linalg.cond(a)", "X.linalg.cond(t)", "X.linalg.cond(a, -2)", "X.linalg.cond(a, 'fro')", "X.linalg.cond(a, 1)", "X.linalg.cond(X.zeros(2, 2), 1)", "X.linalg.cond(a, 'nuc')",
    "X.linalg.multi_dot([t[0], t[1].mT, t[2]])", "X.linalg.multi_dot([v, a[0], a[1], v])", "X.linalg.multi_dot((t[0], v))", "X.linalg.vecdot(t, t[0])", "X.linalg.vecdot(c, c, dim=0)", "X.linalg.cross(t[..., :3], t[:1, :, :3])",
    "X.linalg.cross(t[:, :1], t, dim=0)", "X.linalg.diagonal(a)", "X.linalg.diagonal(a, offset=1, dim1=0)", "X.linalg.vander(v)", "X.linalg.vander(t[0], N=3)", "X.linalg.vander(X.tensor([1, 2, 3], dtype=X.int32))", "X.linalg.matmul(a, b)",
    "X.linalg.inv(a[:0])", "X.linalg.det(a[:0])", "X.linalg.det(a[:, :0, :0])", "X.linalg.inv(a[:, :0, :0])", "X.linalg.svdvals(a[:, :0])", "X.linalg.qr(a[:, :0])", "X.linalg.eigh(a[:, :0, :0])[0]", "X.linalg.slogdet(a[:, :0, :0])",
    "X.linalg.pinv(a[:, :0])", "X.linalg.solve(a[:0], b[:0])", "X.linalg.matrix_rank(a[:, :0])",
)  # fmt: skip

REFUSED = (
    "X.linalg.inv(t)", "X.linalg.inv(v)", "X.linalg.inv(a * 0)", "X.linalg.inv(a.long())", "X.linalg.inv(a.half())", "X.linalg.inv_ex(a * 0, check_errors=True)", "X.linalg.det(t)", "X.linalg.det(a.long())", "X.linalg.slogdet(v)",
    "X.linalg.solve(a * 0, b)", "X.linalg.solve(a, b[:, :2])", "X.linalg.solve(a, b.float())", "X.linalg.solve(t, b)", "X.linalg.solve(a, v, left=False)", "X.linalg.cholesky(-p)", "X.linalg.cholesky(t)", "X.linalg.cholesky_ex(-p, check_errors=True)",
    "X.linalg.lu_factor(a * 0)", "X.linalg.lu(a, pivot=False)", "X.linalg.lu(v)", "X.linalg.qr(a, 'some')", "X.linalg.qr(v)", "X.linalg.eigh(t)", "X.linalg.eigh(p, 'X')", "X.linalg.eig(a * float('nan'))",
    "X.linalg.svd(a, driver='gesvd')", "X.linalg.svd(v)", "X.linalg.pinv(v)", "X.linalg.pinv(t, hermitian=True)", "X.linalg.matrix_rank(v)", "X.linalg.matrix_power(t, 2)", "X.linalg.matrix_power(a, 1.5)", "X.linalg.matrix_exp(t)",
    "X.linalg.matrix_norm(v)", "X.linalg.matrix_norm(a, 3)", "X.linalg.matrix_norm(a, dim=(0, 0))", "X.linalg.matrix_norm(a.long())", "X.linalg.vector_norm(a.long())", "X.linalg.vector_norm(a[:0], float('inf'))", "X.linalg.norm(a, 2)", "X.linalg.norm(a, 'fro', 0)",
    "X.linalg.cond(t, 1)", "X.linalg.cond(a, 3)", "X.linalg.multi_dot([a[0]])", "X.linalg.multi_dot([a, a])", "X.linalg.multi_dot([t[0], t[0]])", "X.linalg.cross(a, a)", "X.linalg.cross(t[:3], t[0])", "X.linalg.vander(v, N=1)",
    "X.linalg.tensorinv(a)", "X.linalg.tensorinv(a, 0)", "X.linalg.tensorsolve(a, v)", "X.linalg.lstsq(a, b, driver='x')", "X.linalg.lstsq(a, b[:, :2])", "X.linalg.solve_triangular(t, b, upper=True)", "X.linalg.lu_solve(*X.linalg.lu_factor(a), b[:, :2])",
    "X.linalg.ldl_factor(a * 0)", "X.linalg.householder_product(t.mT, v)", "X.linalg.inv(a, out=X.empty(3, 4, 4, dtype=X.int64))", "X.linalg.inv(3)", "X.cholesky_solve(b[:, :2], p)", "X.lu_unpack(a, X.zeros(3, 4))",
)  # fmt: skip


def operands(X):
    numbers = dict(a=square(3), b=drawn(3, 4, 2), p=positive(3), t=drawn(3, 5, 4), c=square(3, dtype="complex128"), v=drawn(4))
    return {name: X.from_numpy(value.copy()) for name, value in numbers.items()}


def flat(value):
    return [r for v in value for r in flat(v)] if isinstance(value, (tuple, list)) else [value]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", SAME)
def test_it_answers_what_pytorch_answers(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    expected, actual = (flat(eval(text, {"X": X, **operands(X)})) for X in (torch, facula))

    assert len(expected) == len(actual)
    for e, r in zip(expected, actual):
        assert (tuple(e.shape), str(e.dtype)) == (tuple(r.shape), str(r.dtype))
        np.testing.assert_allclose(r.numpy(), e.resolve_conj().numpy(), rtol=1e-5 if e.dtype == torch.float32 else 1e-8, atol=1e-6 if e.dtype == torch.float32 else 1e-10)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", REFUSED)
def test_it_refuses_what_pytorch_refuses(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    errors = []
    for X in (torch, facula):
        with pytest.raises(Exception) as caught:
            eval(text, {"X": X, **operands(X)})
        errors.append(caught.value)
    if isinstance(errors[0], torch.linalg.LinAlgError):
        assert isinstance(errors[1], L.LinAlgError), errors
    else:
        assert isinstance(errors[1], type(errors[0])), errors


# strides are LAPACK's, column by column, as PyTorch reports them
STRIDED = (
    "X.linalg.inv(a)", "X.linalg.solve(a, b)", "X.linalg.qr(t)", "X.linalg.svd(t)", "X.linalg.eigh(p)", "X.linalg.eig(a)", "X.linalg.lu_factor(t)", "X.linalg.cholesky(p)", "X.linalg.lu(t)",
    "X.linalg.solve_triangular(a, b, upper=True)", "X.linalg.matrix_exp(a)", "X.geqrf(t)",
)  # fmt: skip


@pytest.mark.parametrize("text", STRIDED)
def test_strides_are_pytorchs(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    expected, actual = ([r.stride() for r in flat(eval(text, {"X": X, **operands(X)}))] for X in (torch, facula))

    assert expected == actual


META = (
    *STRIDED, "X.linalg.inv_ex(c)", "X.linalg.det(a)", "X.linalg.slogdet(c)", "X.linalg.pinv(t)", "X.linalg.svdvals(t)", "X.linalg.eigvals(a)", "X.linalg.matrix_norm(t, 2)", "X.linalg.lstsq(t, t)",
    "X.linalg.ldl_factor_ex(p)", "X.linalg.matrix_power(a, 3)", "X.linalg.cond(a)", "X.fft.fft(t)", "X.fft.rfft2(t)", "X.fft.irfftn(c)", "X.fft.hfft(c)", "X.stft(v, 4, return_complex=True)",
)  # fmt: skip


@pytest.mark.parametrize("text", META)
def test_meta_tensors_say_what_would_come(text):
    on_cpu = operands(facula)
    on_meta = {name: facula.empty_strided(t.shape, t.stride(), dtype=t.dtype, device="meta") for name, t in on_cpu.items()}
    expected, actual = (flat(eval(text, {"X": facula, **given})) for given in (on_cpu, on_meta))

    assert [(e.shape, e.stride(), e.dtype) for e in expected] == [(r.shape, r.stride(), r.dtype) for r in actual]
    assert all(r.is_meta for r in actual)


def test_out_is_filled_and_resized():
    a = facula.from_numpy(square(2))
    out = facula.empty(0, dtype=facula.float64)
    assert L.inv(a, out=out) is out and out.shape == a.shape
    near(L.inv(a).numpy(), out, "float64")
    q, r = facula.empty(0, dtype=facula.float64), facula.empty(0, dtype=facula.float64)
    L.qr(a, out=(q, r))

    near(a.numpy(), q @ r, "float64")


def test_a_failing_matrix_of_a_batch_is_named():
    a = facula.from_numpy(np.stack([np.eye(3), np.diag([1.0, 0.0, 1.0]), np.eye(3)]))
    with pytest.raises(L.LinAlgError, match="Batch element 1.*2"):
        L.inv(a)
    inverse, info = L.inv_ex(a)
    assert [0, 2, 0] == info.tolist()
    near(np.eye(3), inverse[2], "float64")
    with pytest.raises(L.LinAlgError, match="Batch element 1.*order 2"):
        L.cholesky(a - 0.5 * facula.diag(facula.tensor([0.0, 1.0, 0.0], dtype=facula.float64)))


FOUND_BY_SEARCH = ("svd", "svdvals", "eig", "eigvals", "eigh", "eigvalsh", "pinv", "matrix_rank", "cond", "lstsq")  # whose search need not end


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FOUND_BY_SEARCH)
def test_what_is_not_finite_is_refused_or_nan(name, dtype):
    for value in (float("inf"), -float("inf"), float("nan")):
        for k in range(9):
            a = facula.tensor(square(n=3, dtype=dtype))
            a.view(-1)[k] = value
            more = [a.new_ones(3, 2)] if name == "lstsq" else []
            for options in ({}, {"hermitian": True}) if name in ("pinv", "matrix_rank") else ({},):
                try:
                    result = getattr(facula.linalg, name)(a, *more, **options)
                except facula.linalg.LinAlgError as error:
                    assert "finite" in str(error) or "NaN" in str(error)
                    continue
                parts = result if isinstance(result, tuple) else [result]
                below = facula.isfinite(facula.tril(a)).all()  # of a Hermitian one no more is read
                if name == "matrix_rank":
                    assert 0 <= int(result) <= 3
                elif name == "cond":
                    assert not facula.isfinite(result)
                else:
                    assert (below and ("h" in name or options)) or all(x.isnan().all() for x in parts if x.numel())


def test_low_rank_approximations_are_near():
    facula.manual_seed(0)
    a = facula.randn(30, 5, dtype=facula.float64) @ facula.randn(5, 20, dtype=facula.float64)
    for m in (a, a.mT, a.unsqueeze(0)):
        U, S, V = facula.svd_lowrank(m, 6)
        near(m.numpy(), (U * S.unsqueeze(-2)) @ V.mT, "float64")
    U, S, V = facula.pca_lowrank(a, 5)
    near((a - a.mean(0)).numpy(), (U * S) @ V.mT, "float64")
    with pytest.raises(ValueError, match="21"):
        facula.pca_lowrank(a, 21)


def test_low_rank_approximations_draw_as_pytorch_does():
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    a = drawn(9, 7)
    for f in (lambda X, m: X.svd_lowrank(m, 3), lambda X, m: X.pca_lowrank(m, 3)):
        results = []
        for X in (torch, facula):
            X.manual_seed(3)
            results.append([t.abs().numpy() for t in f(X, X.from_numpy(a))])
        for e, r in zip(*results):
            near(e, r, "float64")


def test_lobpcg_finds_the_ends_of_the_spectrum():
    facula.manual_seed(0)
    a = facula.from_numpy(positive(3, n=40))
    values, vectors = L.eigh(a)
    for largest in (True, False):
        E, X = facula.lobpcg(a, k=2, n=4, largest=largest)
        expected = values.flip(-1)[:, :2] if largest else values[:, :2]
        assert ((3, 2), (3, 40, 2)) == (tuple(E.shape), tuple(X.shape))
        np.testing.assert_allclose(E.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose((a @ X).numpy(), (X * E.unsqueeze(-2)).numpy(), atol=1e-4)
    b = facula.from_numpy(positive(n=40) + 40 * np.eye(40))
    E, X = facula.lobpcg(a[0], 3, B=b, iK=L.inv(a[0]), largest=False, tol=1e-10)
    np.testing.assert_allclose((a[0] @ X).numpy(), ((b @ X) * E).numpy(), atol=1e-7)
    np.testing.assert_allclose(E.numpy(), L.eigvals(L.solve(b, a[0])).real.sort()[0][:3].numpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="40.*14"):
        facula.lobpcg(a, 14)


def test_methods_and_names_are_those_of_the_table():
    from facula.tensor_core import _ownership
    from facula.tensor_core.fft import short_time as _stft
    from facula.tensor_core.linalg import names as _linalg

    defined = [n for n, f in vars(_stft).items() if getattr(f, "__module__", None) == _stft.__name__ and not n.startswith("_")]
    for module, public in ((_linalg, _linalg.PUBLIC), (_stft, defined)):
        names = _ownership.LATER[module.__name__]

        assert sorted(names) == sorted(public)
        assert all(hasattr(facula, n) and (n in _ownership.LATER_NO_METHOD or hasattr(facula.Tensor, n)) for n in names)


FACTORISATIONS = {
    "eigh": lambda a: L.eigh(a @ a.mT), "svd": L.svd, "qr": L.qr, "eigvals": lambda a: (L.eigvals(a),), "pinv": lambda a: (L.pinv(a),), "matrix_exp": lambda a: (L.matrix_exp(a / 100),),
    "lstsq": lambda a: L.lstsq(a, a[:, :3])[:1],
}  # fmt: skip


@pytest.mark.skipif(one_thread.openblas() is None, reason="NumPy computes with another LAPACK than OpenBLAS")
@pytest.mark.parametrize("name", FACTORISATIONS)
def test_openblas_works_on_one_thread_and_keeps_its_setting(name, monkeypatch):
    get, put = one_thread.openblas()
    before, seen = get(), []
    for each in ("eigh", "svd", "qr", "eigvals", "solve", "lstsq"):
        real = getattr(np.linalg, each)
        monkeypatch.setattr(np.linalg, each, lambda *args, real=real, **options: (seen.append(get()), real(*args, **options))[1])
    try:
        put(3)
        FACTORISATIONS[name](facula.from_numpy(square(n=8)))
        assert {1} == set(seen) and 3 == get()
    finally:
        put(before)


@pytest.mark.skipif(one_thread.openblas() is None, reason="NumPy computes with another LAPACK than OpenBLAS")
def test_calls_that_overlap_keep_openblas_on_one_thread():
    get, put = one_thread.openblas()
    before, seen = get(), []
    inner = one_thread.one_thread(lambda: seen.append(get()))
    try:
        put(3)
        one_thread.one_thread(lambda: (inner(), seen.append(get())))()
        seen.append(get())
        with pytest.raises(ZeroDivisionError):
            one_thread.one_thread(lambda: 1 // 0)()
        seen.append(get())
    finally:
        put(before)

    assert [1, 1, 3, 3] == seen
