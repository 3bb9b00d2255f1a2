"""_foreach functions: an op over lists, as PyTorch's."""

import facula
import pytest

CALLS = (
    "_foreach_add(a, b)", "_foreach_add(a, 2.0)", "_foreach_add(a, b, alpha=3)", "_foreach_add(a, [1.0, 2.0])", "_foreach_mul_(a, 0.5)", "_foreach_sub_(a, b, alpha=2)",
    "_foreach_div(a, b)", "_foreach_pow(a, 2)", "_foreach_sqrt(a)", "_foreach_neg_(a)", "_foreach_addcmul_(a, b, b, 0.5)", "_foreach_addcdiv(a, b, b, [1.0, 2.0])",
    "_foreach_lerp(a, b, 0.25)", "_foreach_maximum(a, b)", "_foreach_clamp_min_(a, 0.5)", "_foreach_maximum_(a, b)", "_foreach_minimum(a, [2.0, 0.5])", "_foreach_minimum_(a, 1.5)",
    "_foreach_zero_(a)", "_foreach_copy_(a, b)", "_foreach_norm(a)", "_foreach_clone(a)",
)  # fmt: skip


@pytest.mark.parametrize("text", CALLS)
def test_values_are_pytorchs(text):
    def run(X):
        a, b = [X.arange(1.0, 4.0), X.ones(2)], [X.full((3,), 2.0), X.full((2,), 0.5)]  # noqa: F841 (the texts name it)
        result = eval(f"X.{text}")
        return [x.tolist() for x in a], result if result is None else [x.tolist() for x in result]

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
