"""Sobol sequences: their own properties, and PyTorch's bits where it is installed."""

import importlib.util

import facula
import numpy
import pytest
from facula.quasirandom import SobolEngine

with_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="compares with PyTorch, which is not installed")


@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 7, 40, 1111])
def test_every_dimension_is_stratified(dimension, scramble):
    """2**m points have one in each of 2**m equal intervals."""
    points = SobolEngine(dimension, scramble, seed=3).draw_base2(6, dtype=facula.float64).numpy()

    assert (numpy.sort((points * 64).astype(int), axis=0) == numpy.arange(64)[:, None]).all()


# what is done to an engine of 5 dimensions; leaves tensors
USES = {
    "draw": lambda t, e: [e.draw(100), e.draw(), e.draw(7, dtype=t.float64), e.quasi],
    "first alone": lambda t, e: [e.draw(), e.draw(), e.draw(2)],
    "none": lambda t, e: [e.draw(3), e.draw(2)],
    "powers": lambda t, e: [e.draw_base2(3), e.draw_base2(3), e.draw_base2(4)],
    "forward": lambda t, e: [e.fast_forward(13).draw(4), e.fast_forward(1).draw(1), e.quasi],
    "forward by one": lambda t, e: [e.fast_forward(1).draw(4)],
    "reset": lambda t, e: [e.draw(9), e.reset().draw(9), e.quasi],
    "out": lambda t, e: [e.draw(9, out=t.empty(0)), e.draw(3, out=t.empty(3, 5, dtype=t.float64), dtype=t.float64)],
    "state": lambda t, e: [e.shift, e.sobolstate, e._first_point],
}


@with_torch
@pytest.mark.parametrize("how", [(False, None), (True, 0), (True, 123456), (True, None)])
@pytest.mark.parametrize("use", USES)
def test_numbers_are_pytorch_s(use, how):
    import torch

    results = []
    for t in (torch, facula):
        t.manual_seed(11)
        results.append([x.numpy() for x in USES[use](t, t.quasirandom.SobolEngine(5, *how))] + [t.rand(3).numpy()])

    assert all(a.dtype == b.dtype and numpy.array_equal(a, b) for a, b in zip(*results))


@with_torch
def test_direction_numbers_of_all_dimensions_are_pytorch_s():
    import torch

    assert numpy.array_equal(torch.quasirandom.SobolEngine(1111).sobolstate.numpy(), SobolEngine(1111).sobolstate.numpy())


@pytest.mark.parametrize("dimension", [0, -1, 1112])
def test_other_dimensions_are_refused(dimension):
    with pytest.raises(ValueError, match=str(dimension)):
        SobolEngine(dimension)


def test_powers_of_two_alone_are_balanced():
    engine = SobolEngine(2)
    engine.draw(3)
    with pytest.raises(ValueError, match=r"3\+2\*\*2=7"):
        engine.draw_base2(2)


def test_repr():
    assert "SobolEngine(dimension=3, scramble=True, seed=4)" == repr(SobolEngine(3, True, 4))
