"""Places of grid_sample go many at a time: each has the bits that it has alone, its gradient too, on any number of threads."""

import itertools

import pytest

import facula
from facula.nn import functional as F

MODES = [(mode, dims) for mode, dims in itertools.product(("bilinear", "nearest", "bicubic"), (2, 3)) if (mode, dims) != ("bicubic", 3)]


def sample(x, grid, options):
    """The values at each place, and what each place's gradient is."""
    grid = grid.clone().requires_grad_()
    y = F.grid_sample(x, grid, **options)
    return y.detach(), facula.autograd.grad(y, grid, facula.ones_like(y))[0]


def same(one, other):
    return bool(((one == other) | (one.isnan() & other.isnan())).all())


@pytest.mark.parametrize("dtype", [facula.float32, facula.float64])
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode,dims", MODES)
@pytest.mark.parametrize("channels", [1, 3])
def test_a_place_has_the_bits_that_it_has_alone(mode, dims, padding, align, dtype, channels):
    facula.manual_seed(0)
    x = facula.randn(1, channels, *(5, 1, 4)[3 - dims :], dtype=dtype)
    grid = facula.randn(1, *(1, 1, 43)[3 - dims :], dims, dtype=dtype)
    grid[..., 3, 0], grid[..., 40, -1], grid[..., 41, :] = float("nan"), float("inf"), 1.0
    options = {"mode": mode, "padding_mode": padding, "align_corners": align}
    threads = facula.get_num_threads()
    facula.set_num_threads(3)
    try:
        values, slopes = sample(x, grid, options)
    finally:
        facula.set_num_threads(threads)
    alone = [sample(x, grid[..., p : p + 1, :], options) for p in range(43)]

    assert same(values, facula.cat([v for v, _ in alone], -1))
    assert same(slopes, facula.cat([s for _, s in alone], -2))


def test_no_places_give_nothing():
    assert F.grid_sample(facula.ones(1, 2, 3, 3), facula.ones(1, 0, 4, 2), align_corners=True).shape == (1, 2, 0, 4)
