"""Gradients of facula.linalg, facula.fft, stft and istft through their public functions, beside PyTorch's."""

import importlib

import numpy as np
import pytest
from backend import BACKEND

if BACKEND == "torch":
    pytest.skip("compares Facula with PyTorch", allow_module_level=True)

import facula

CALLS = (
    "L.inv(a)", "L.inv(c)", "L.solve(a, b)", "L.solve(a, b.mT, left=False)", "L.solve(a, v)", "L.det(a)", "L.det(c)", "L.slogdet(a)[1]", "L.slogdet(c)[0]", "X.logdet(p)", "L.cholesky(p @ p.mT)", "X.cholesky_solve(b, L.cholesky(p @ p.mT))",
    "X.cholesky_inverse(L.cholesky(p @ p.mT))", "L.lu_solve(*L.lu_factor(a), b)", "L.lu(a)[1]", "L.lu(t)[2]", "L.lu(t.mT)[1]", "L.qr(t)[1]", "L.qr(t)[0]", "L.qr(t.mT)[1]", "L.qr(c)[1].abs()", "L.eigvalsh(p + p.mT)", "L.eigh(p + p.mT)[1].abs()", "L.eigvals(a).abs().sort()[0]",
    "L.svdvals(t)", "L.svd(t, full_matrices=False)[0].abs()", "L.svd(t)[2][..., :4, :].abs()", "L.svdvals(c)", "L.pinv(t)", "L.pinv(t.mT)", "L.pinv(p @ p.mT, hermitian=True)", "L.lstsq(t, t[..., :2] ** 2)[0]", "L.lstsq(t, t[..., :2] ** 2, driver='gelsd')[1]",
    "L.matrix_exp(a)", "L.matrix_exp(c)", "L.matrix_power(a, 3)", "L.matrix_power(a, -2)", "L.matrix_norm(t)", "L.matrix_norm(t, 'nuc')", "L.matrix_norm(t, 2)", "L.matrix_norm(t, 1)", "L.vector_norm(t, 3, 1)", "L.norm(c)", "L.cond(a)",
    "L.multi_dot([t, a, a, v])", "L.vecdot(t, t ** 2)", "L.vecdot(c, c.mT)", "L.cross(t[:, :3], t[:, 1:])", "L.vander(v)", "L.tensorinv(a.reshape(2, 2, 4), 2)", "L.tensorsolve(a.reshape(4, 2, 2), v)", "L.householder_product(t, v)", "L.solve_triangular(a, b, upper=True)",
    "L.solve_triangular(a, b.mT, upper=False, left=False, unitriangular=True)", "X.ormqr(t, v, t)", "a.inverse().det()", "X.svd(t)[1]", "X.pinverse(t)",
    "f.fft(t)", "f.ifft(c, norm='ortho')", "f.rfft(t)", "f.irfft(c)", "f.irfft(c, 5)", "f.rfft2(t)", "f.irfftn(c, norm='forward')", "f.hfft(c)", "f.ihfft(t)", "f.fftn(t, (6, 2))", "f.hfft2(c)", "f.fftshift(t)",
    "X.stft(w, 8, window=u, return_complex=True)", "X.stft(w, 8, hop_length=3, normalized=True, onesided=False, return_complex=True)", "X.istft(X.stft(w, 8, window=u, return_complex=True), 8, window=u)",
)  # fmt: skip


def gradients(X, text):
    rng = np.random.default_rng(3)

    def leaf(*shape, shift=0.0, imaginary=False):
        value = rng.standard_normal(shape) + shift
        value = value + 1j * rng.standard_normal(shape) if imaginary else value
        return X.from_numpy(np.asarray(value)).requires_grad_()

    given = {
        "a": leaf(4, 4, shift=2 * np.eye(4)), "b": leaf(4, 2), "c": leaf(4, 4, shift=2 * np.eye(4), imaginary=True), "p": leaf(4, 4, shift=3 * np.eye(4)), "t": leaf(5, 4), "v": leaf(4),
        "w": leaf(40), "u": X.from_numpy(np.hanning(8) + 0.1).requires_grad_(),
    }  # fmt: skip
    result = eval(text, {"X": X, "L": importlib.import_module(f"{X.__name__}.linalg"), "f": importlib.import_module(f"{X.__name__}.fft"), **given})
    weights = X.from_numpy(np.asarray(rng.standard_normal(tuple(result.shape)) + (1j * rng.standard_normal(tuple(result.shape)) if result.is_complex() else 0)))
    product = (result * weights).sum()
    (product.abs() if product.is_complex() else product).backward()
    return {name: None if t.grad is None else t.grad.resolve_conj().numpy() for name, t in given.items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", CALLS)
def test_gradients_agree_with_pytorchs(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    expected, actual = gradients(torch, text), gradients(facula, text)
    for name, e in expected.items():
        if e is None:
            assert actual[name] is None
        else:
            np.testing.assert_allclose(actual[name], e, rtol=1e-6, atol=1e-9 * max(1, abs(e).max()), err_msg=f"{text}, {name}")


def test_the_gradient_of_a_singular_matrix_s_determinant_is_its_cofactors():
    x = facula.from_numpy(np.diag([1.0, 2.0, 0.0, 3.0])).requires_grad_()
    facula.linalg.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), np.diag([0.0, 0.0, 6.0, 0.0]), atol=1e-12)


REFUSED = ("L.qr(t, 'complete')[0]", "L.qr(t, 'r')[1]")


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_derivative_says_so(text):
    t = facula.ones(5, 4, dtype=facula.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="mode"):
        eval(text, {"L": facula.linalg, "t": t + facula.eye(5, 4, dtype=facula.float64)}).sum().backward()
