"""_foreach functions: an op over lists, as PyTorch's."""

import facula
import pytest

CALLS = (
    "_foreach_add(a, b)", "_foreach_add(a, 2.0)", "_foreach_add(a, b, alpha=3)", "_foreach_add(a, [1.0, 2.0])", "_foreach_mul_(a, 0.5)", "_foreach_sub_(a, b, alpha=2)",
    "_foreach_div(a, b)", "_foreach_pow(a, 2)", "_foreach_sqrt(a)", "_foreach_neg_(a)", "_foreach_addcmul_(a, b, b, 0.5)", "_foreach_addcdiv(a, b, b, [1.0, 2.0])",
    "_foreach_lerp(a, b, 0.25)", "_foreach_maximum(a, b)", "_foreach_clamp_min_(a, 0.5)", "_foreach_maximum_(a, b)", "_foreach_minimum(a, [2.0, 0.5])", "_foreach_minimum_(a, 1.5)",
    "_foreach_zero_(a)", "_foreach_copy_(a, b)", "_foreach_norm(a)", "_foreach_norm(a, inf)", "_foreach_clone(a)", "_foreach_pow(2.0, a)", "_foreach_max(a)",
    "_foreach_add_(a, b, alpha=-0.5)", "_foreach_lerp_(a, b, a)", "_foreach_mul_(a, X.tensor(3.0))", "_foreach_mm(m, m)", "_foreach_powsum(a, 3)", "_foreach_powsum(a, -inf)",
    "_foreach_sub(a, [1, 2.5])", "_foreach_div_(a, 4)", "_foreach_clamp_max(a, inf)", "_foreach_round(b)", "_foreach_addcmul(a, b, b, X.tensor([2.0, 3.0]))",
)  # fmt: skip


@pytest.mark.parametrize("text", CALLS)
def test_values_are_pytorchs(text):
    def run(X):
        names = {"X": X, "inf": float("inf"), "a": [X.arange(1.0, 4.0), X.ones(2)], "b": [X.full((3,), 2.0), X.full((2,), 0.5)], "m": [X.ones(2, 2), X.eye(3)]}
        a, result = names["a"], eval(f"X.{text}", names)
        return [x.tolist() for x in a], result if result is None else [x.flatten().tolist() for x in result]

    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    for expected, actual in zip(run(torch), run(facula)):
        assert (expected is None) == (actual is None) and len(expected or ()) == len(actual or ())
        for e, x in zip(expected or (), actual or ()):
            assert pytest.approx(e, rel=1e-6) == x


def test_bad_lists_are_refused():
    with pytest.raises(RuntimeError, match="2 and 1"):
        facula._foreach_add([facula.ones(1)] * 2, [facula.ones(1)])
    with pytest.raises(TypeError, match="Tensor"):
        facula._foreach_sqrt(facula.ones(2))


LISTS = {
    "two dtypes": lambda X: [X.ones(2), X.ones(3, dtype=X.float64), X.ones(1)],
    "integers between": lambda X: [X.ones(2), X.tensor([3, 4]), X.ones(1)],
    "halves": lambda X: [X.tensor([0.1, 3.0, -7.7, 50.0], dtype=X.bfloat16), X.tensor([0.1, 3.0, 1e-4], dtype=X.float16)],
    "complex": lambda X: [X.tensor([1 + 2j]), X.tensor([[1 + 2j]]).t()],
    "columns": lambda X: [X.arange(6.0).reshape(2, 3).t(), X.arange(6.0)[::2]],
    "one twice": lambda X: [X.arange(3.0)] * 2,
    "none and all": lambda X: [X.ones(0, 3), X.ones(())],
    "halves without dims": lambda X: [X.tensor(1.5, dtype=X.bfloat16), X.tensor([1.5], dtype=X.float16)],
    "leaves": lambda X: [X.ones(2, requires_grad=True), X.ones(2)],
    "results": lambda X: [X.ones(2, requires_grad=True) * 2, X.ones(2)],
    "views of results": lambda X: [(X.ones(4, requires_grad=True) * 2)[1:], X.ones(2)],
}
OVER = (
    "mul(x, 3)", "add_(x, x)", "add_(x, y, alpha=0.5)", "sub(x, y, alpha=2)", "mul_(x, [0.5] * len(x))", "exp(x)", "neg_(x)", "addcmul_(x, y, y, value=0.5)", "lerp_(x, y, 0.25)",
    "add(x, y, alpha=200)", "mul(x, 0.3)", "add(x, 0.7)", "lerp(x, y, 0.3)", "addcdiv(x, y, y, 0.3)", "tanh(x)", "max(x)", "clone(x)", "copy_(x, y)", "zero_(x)", "norm(x)", "clamp_min(x, 2)", "pow(x, 2)", "div_(x, y)", "mul(x, X.tensor(2.0, dtype=X.float64))",
)  # fmt: skip


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("text", OVER)
def test_lists_of_every_kind_are_pytorchs(text, kind, grad):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    if kind != "leaves" and not grad and "results" not in kind:
        pytest.skip("the mode concerns histories")
    if "results" in kind or kind == "leaves":
        pytest.importorskip("facula.autograd")

    def numbers(X, t):
        t = t.detach().resolve_conj().resolve_neg()
        return [str(t.dtype), tuple(t.shape), [float(f"{v:.5g}") for v in (X.view_as_real(t) if t.is_complex() else t).flatten().tolist()]]

    def run(X):
        with X.set_grad_enabled(grad):
            names = {"X": X, "x": LISTS[kind](X), "y": [t.detach().clone() + 1 for t in LISTS[kind](X)]}
            try:
                result = eval(f"X._foreach_{text}", names)
            except (RuntimeError, TypeError) as error:
                return isinstance(error, RuntimeError), [numbers(X, t) for t in names["x"]]
            return [numbers(X, t) for t in result or ()], [numbers(X, t) for t in names["x"]], [t._version for t in names["x"]], [t.requires_grad for t in names["x"]]

    assert run(torch) == run(facula)


def test_a_write_under_no_grad_leaves_views_with_their_history():
    pytest.importorskip("facula.autograd")

    def slope(X):
        w = X.ones(3, requires_grad=True)
        view = (w * 1)[1:]
        whole = w[:2]
        with X.no_grad():
            X._foreach_add_([w], [X.ones(3)])
        (view.sum() + (whole * whole.detach()).sum()).backward()
        return w.grad.tolist()

    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")

    assert slope(torch) == slope(facula)


@pytest.mark.parametrize("call", ["sub(a, X.ones(2))", "clamp_min_(a, X.ones(2))", "lerp(a, a, X.ones(2))", "add(a, X.ones(2))", "powsum([X.ones(2, dtype=X.int64)])", "norm([X.ones(2, dtype=X.float64)], 2, X.float32)"])
def test_what_pytorch_refuses_is_refused_by_its_class(call):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    for X in (torch, facula):
        with pytest.raises(Exception) as raised:
            eval(f"X._foreach_{call}", {"X": X, "a": [X.ones(2)]})

        assert isinstance(raised.value, TypeError if "X.ones(2))" in call and "add" not in call else RuntimeError)
