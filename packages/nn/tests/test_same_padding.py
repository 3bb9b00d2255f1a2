"""padding="same" where the zeros on the two sides differ in number: told of once in a program, as PyTorch does."""

import warnings

import facula
import facula.nn.functional as F
import pytest

UNEVEN = [(1, 2, 1), (2, 2, 1), (2, 4, 3), (3, 2, 1)]
EVEN = [(1, 3, 1), (2, 2, 2), (2, 3, 1), (3, 5, 1)]


def heard(ndim, kernel, dilation):
    """Which warnings two calls of a convolution give together."""
    conv = getattr(F, f"conv{ndim}d")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(2):
            conv(facula.ones(1, 1, *(6,) * ndim), facula.ones(1, 1, *(kernel,) * ndim), padding="same", dilation=dilation)
    return [w.category.__name__ for w in said]


@pytest.fixture(autouse=True)
def nothing_was_said(monkeypatch):
    from facula.tensor_core import _warned

    monkeypatch.setattr(_warned, "_given", set())


@pytest.mark.parametrize("ndim, kernel, dilation", UNEVEN)
def test_zeros_on_one_side_are_told_of_once(ndim, kernel, dilation):
    assert ["UserWarning"] == heard(ndim, kernel, dilation)


@pytest.mark.parametrize("ndim, kernel, dilation", EVEN)
def test_as_many_zeros_on_both_sides_are_not(ndim, kernel, dilation):
    assert [] == heard(ndim, kernel, dilation)
