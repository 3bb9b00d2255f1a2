"""Gradients of overlapping windows: whole, place by place, or through an index of every element, in one order."""

import pytest
from backend import torch


@pytest.mark.parametrize("size,step", [(3, 1), (8, 3), (20, 7), (25, 1), (16, 8)])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "bfloat16"])
def test_overlapping_windows_are_added_in_their_order(dtype, size, step):
    for shape in ((40, 50, 30), (300, 64), (2000,)):
        for dim in range(-len(shape), len(shape)):
            x = torch.randn(*shape).to(getattr(torch, dtype)).requires_grad_()
            windows = x.unfold(dim, size, step)
            g = torch.randn(*windows.shape).to(x.dtype)
            places = torch.arange(x.numel()).view(shape).unfold(dim, size, step)
            expected = torch.zeros(x.numel(), dtype=x.dtype).index_add_(0, places.reshape(-1), g.reshape(-1))

            assert torch.equal(expected.view(shape), torch.autograd.grad(windows, x, g)[0])
