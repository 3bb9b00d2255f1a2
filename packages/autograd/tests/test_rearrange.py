"""rearrange by patterns, and the functions of torch.func that only look."""

import pytest
from backend import BACKEND, leaf, torch

func = torch.func
X = torch.arange(24.0).reshape(2, 3, 4)
GOOD = {
    "b h w -> b w h": lambda: X.transpose(1, 2),
    "b h w -> (b h) w": lambda: X.reshape(6, 4),
    "b h w -> h (b w)": lambda: X.transpose(0, 1).reshape(3, 8),
    "b h (w c) -> b c h w": lambda: X.reshape(2, 3, 2, 2).permute(0, 3, 1, 2),
    "... w -> w ...": lambda: X.permute(2, 0, 1),
    "b ... -> b (...)": lambda: X.reshape(2, 12),
    "b h w -> b 1 h w": lambda: X.unsqueeze(1),
    "b h w -> b () h w": lambda: X.unsqueeze(1),
    "(b one) h w -> one b h w": lambda: X.unsqueeze(0),
    "b h w -> b h w": lambda: X,
}
SIZES = {"b h (w c) -> b c h w": {"c": 2}, "(b one) h w -> one b h w": {"one": 1}}


@pytest.mark.parametrize("pattern", GOOD)
def test_a_pattern_is_a_reshape_and_a_permutation(pattern):
    found = func.rearrange(X, pattern, **SIZES.get(pattern, {}))

    assert GOOD[pattern]().tolist() == found.tolist()


def test_a_list_is_stacked_and_gradients_flow():
    x = leaf(1, 2, 3, 4, shape=(2, 2))

    func.rearrange([x, x * 2], "n a b -> (a b) n").sum().backward()

    assert [[3.0, 3.0], [3.0, 3.0]] == x.grad.tolist()


@pytest.mark.parametrize(
    "pattern, sizes",
    [
        ("b h w -> b h", {}), ("b h w", {}), ("b h h -> b h", {}), ("b h w -> b h (w", {}), ("b h w -> b ((h w))", {}), ("a b -> b a", {}),
        ("a b c d -> d a b c", {}), ("b h (w c) -> b h w c", {}), ("b h (w c) -> b h w c", {"c": 3}), ("b h w -> w h b", {"z": 2}), ("b-b h w -> h w", {}),
    ],
)  # fmt: skip
def test_a_pattern_that_does_not_fit_is_refused(pattern, sizes):
    with pytest.raises(Exception):
        func.rearrange(X, pattern, **sizes)


def test_functionalize_computes_the_same():
    def f(x):
        y = x.clone()
        y[0].add_(1)
        return y * x

    x = leaf(1, 2)

    assert f(x).tolist() == func.functionalize(f)(x).tolist()
    assert f(x).tolist() == func.functionalize(f, remove="mutations_and_views")(x).tolist()
    with pytest.raises(RuntimeError):
        func.functionalize(f, remove="everything")(x)


def test_functionalize_keeps_effects_on_arguments():
    x = torch.zeros(2)

    func.functionalize(lambda x: x.add_(1))(x)

    assert [1.0, 1.0] == x.tolist()


def test_debug_unwrap_shows_all_examples():
    seen = []

    torch.vmap(lambda x: seen.append(func.debug_unwrap(x).tolist()) or x)(torch.ones(2, 1))

    assert [[[1.0], [1.0]]] == seen


@pytest.mark.skipif(BACKEND == "torch", reason="PyTorch gives AttributeError")
def test_debug_unwrap_takes_tensors():
    assert func.debug_unwrap(X) is X
    with pytest.raises(TypeError):
        func.debug_unwrap(1.0)
