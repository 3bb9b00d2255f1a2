"""autograd.Function: keyword arguments and lists of results."""

import pytest
from backend import leaf, torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k=2, shift=0):
        ctx.k = k
        return x * k + shift

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None, None


class Arranged(torch.autograd.Function):
    @staticmethod
    def forward(x, k=2):
        return x * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        assert 2 == len(inputs)
        ctx.k = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


@pytest.mark.parametrize(
    "function, args, kwargs, slope",
    [
        (Scaled, True, {"k": 3}, 3), (Scaled, False, {"k": 3}, 3), (Scaled, False, {}, 2), (Scaled, True, {}, 2),
        (Arranged, True, {"k": 3}, 3), (Arranged, False, {}, 2), (Arranged, True, {}, 2),
    ],
)  # fmt: skip
def test_keyword_arguments_take_their_places(function, args, kwargs, slope):
    x = leaf(1, 2)
    y = function.apply(x, **kwargs) if args else function.apply(x=x, **kwargs)
    y.sum().backward()

    assert [slope, slope] == x.grad.tolist()


@pytest.mark.parametrize("kwargs", [{"q": 1}, {"x": 1}])
def test_keyword_arguments_that_do_not_fit_are_refused(kwargs):
    with pytest.raises(TypeError):
        Scaled.apply(leaf(1), **kwargs)


class Listed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return [x * 2, x * 3]

    @staticmethod
    def backward(ctx, a, b):
        return 2 * a + 3 * b


@pytest.mark.facula_only  # PyTorch records nothing of a list
def test_a_list_of_results_stays_one():
    x = leaf(1, 2)
    out = Listed.apply(x)
    sum(out).sum().backward()

    assert type(out) is list and [5.0, 5.0] == x.grad.tolist()
