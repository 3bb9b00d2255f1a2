"""Ops that move elements, of tensors whose dims are short, of size 1, empty or in another order than memory's, give what NumPy gives."""

import numpy as np
import pytest
from levels import LEVELS

import facula
from facula.tensor_core._lib import lib

SHAPES = ((5, 7, 3), (5, 1, 7), (40, 9, 1), (1, 33, 2), (17, 3, 70), (2, 65, 3, 5), (300, 130), (4, 0, 3), (1, 1), (9000, 4), (3, 20000))
DTYPES = ("uint8", "int16", "float32", "float64", "complex128")


@pytest.fixture(params=(1, 3), autouse=True)
def _threads(request, as_before):
    facula.set_num_threads(request.param)


def layouts(shape, dtype, rng):
    """Arrays of this shape that lie in several ways, as NumPy and as Facula have them."""
    orders = [range(len(shape)), range(len(shape))[::-1], rng.permutation(len(shape))]
    for order in orders:
        base = rng.integers(0, 5, [2 * shape[d] if d == order[-1] else shape[d] for d in order]).astype(dtype)
        for whole in (True, False):
            part = base[..., : base.shape[-1] // 2] if not whole else np.ascontiguousarray(base[..., : base.shape[-1] // 2])
            a = part.transpose(np.argsort(order))
            x = facula.from_numpy(base if not whole else part)
            x = x[..., : base.shape[-1] // 2] if not whole else x
            yield a, x.permute(tuple(int(d) for d in np.argsort(order)))


def cases(dtypes=DTYPES):
    rng = np.random.default_rng(11)
    for shape in SHAPES:
        for dtype in dtypes if np.prod(shape) < 3000 else dtypes[:1]:
            for a, x in layouts(shape, dtype, rng):
                yield rng, a, x


def test_gather_and_scatter():
    for rng, a, x in cases():
        for d in range(a.ndim):
            shape = [n if k != d else rng.choice([1, n, 2 * n]) for k, n in enumerate(a.shape)]
            shape = shape if a.size else a.shape
            index = rng.integers(0, max(a.shape[d], 1), shape)
            turned = facula.from_numpy(np.ascontiguousarray(index.T)).permute(tuple(range(a.ndim))[::-1])
            values = rng.integers(0, 5, shape).astype(a.dtype)
            written, added = a.copy(), a.copy()
            for at in zip(*(k.ravel() for k in np.indices(shape)), strict=True) if index.size < 3000 else ():
                to = (*at[:d], index[at], *at[d + 1 :])
                written[to] = values[at]
                added[to] += values[at]

            assert np.array_equal(np.take_along_axis(a, index, d), facula.gather(x, d, turned).numpy())
            if index.size < 3000:
                assert np.array_equal(written, facula.scatter(x, d, turned, facula.from_numpy(values)).numpy())
                assert np.array_equal(added, facula.scatter_add(x, d, turned, facula.from_numpy(values)).numpy())


def test_slices_by_an_index():
    for rng, a, x in cases():
        for d in range(a.ndim):
            for count in (0, 1, 3, a.shape[d], 2 * a.shape[d] + 1):
                index = rng.integers(-a.shape[d], a.shape[d], count if a.shape[d] else 0)
                positive = facula.from_numpy(index % max(a.shape[d], 1))
                at = (slice(None),) * d

                assert np.array_equal(np.take(a, index, d), facula.index_select(x, d, positive).numpy())
                assert np.array_equal(a[(*at, index)], x[(*at, facula.from_numpy(index))].numpy())
                assert np.array_equal(a[(*at, index[:, None])], x[(*at, facula.from_numpy(index)[:, None])].numpy())


def test_an_index_out_of_bounds_is_named_before_anything_beyond_is_touched():
    for d, shape in ((0, (70, 3, 5)), (1, (70, 3, 5)), (2, (70, 3, 5)), (1, (70, 3, 1))):
        x = facula.zeros(shape)
        index = facula.zeros(shape, dtype=facula.int64)
        index[(-1,) * len(shape)] = shape[d]

        with pytest.raises(IndexError, match=str(shape[d])):
            facula.gather(x, d, index)
        with pytest.raises(IndexError, match=str(shape[d])):
            facula.scatter(x, d, index, x)
        with pytest.raises(IndexError, match="7"):
            x.transpose(0, -1).index_select(1, facula.tensor([0, 777]))


def test_triangles():
    for rng, a, x in cases():
        if a.ndim > 1:
            for k in (0, -1, 2, -1 - a.shape[-2], a.shape[-1], int(rng.integers(-9, 9))):

                assert np.array_equal(np.tril(a, k), facula.tril(x, k).numpy())
                assert np.array_equal(np.triu(a, k), facula.triu(x, k).numpy())
                assert facula.triu(x, k).is_contiguous()


def test_copies_flips_rolls_and_pads():
    for rng, a, x in cases():
        assert np.array_equal(a, x.contiguous().numpy())
        assert np.array_equal(a.T, facula.zeros(a.shape[::-1], dtype=x.dtype).copy_(x.permute(tuple(range(a.ndim))[::-1])).numpy())
        for d in range(a.ndim):
            dims = tuple({d, int(rng.integers(a.ndim))})
            pad = [(int(rng.integers(3)), int(rng.integers(3))) if k >= d else (0, 0) for k in range(a.ndim)]
            given = [n for pair in pad[::-1] for n in pair]

            assert np.array_equal(np.flip(a, dims), facula.flip(x, dims).numpy())
            assert np.array_equal(np.roll(a, 3, d), facula.roll(x, 3, d).numpy())
            assert np.array_equal(np.pad(a, pad, constant_values=7), facula.constant_pad_nd(x, given, 7).numpy())


def test_joining():
    for _, a, x in cases():
        for d in range(a.ndim):
            assert np.array_equal(np.concatenate([a, a[..., ::-1], a], d), facula.cat([x, x.flip(-1), x], d).numpy())
            assert np.array_equal(np.stack([a, a[..., ::-1], a], d), facula.stack([x, x.flip(-1), x], d).numpy())


@pytest.mark.parametrize("level", LEVELS)
def test_dense_rows_of_every_length_and_both_directions(level):
    lib.fc_set_isa_level(level)
    for dtype in DTYPES:
        for n in (*range(1, 70), 127, 128, 129, 300, 600):
            a = (np.arange(5 * (n + 3)) % 251).astype(dtype).reshape(5, n + 3)
            x = facula.from_numpy(a)[:, 1 : n + 1]
            out = facula.full((5, n + 2), 5, dtype=x.dtype)
            out[:, 1:-1] = x

            assert np.array_equal(a[:, n:0:-1], x.flip(1).numpy())
            assert np.array_equal(a[::-1, 1 : n + 1], x.flip(0).numpy())
            assert np.array_equal(a[:, 1 : n + 1], out[:, 1:-1].numpy())
            assert bool((out[:, 0] == 5).all()) and bool((out[:, -1] == 5).all())


def test_arithmetic_of_operands_that_lie_differently():
    for rng, a, x in cases(("float32", "int16", "complex128")):
        for order in (range(a.ndim), range(a.ndim)[::-1], rng.permutation(a.ndim)):
            back = tuple(int(d) for d in np.argsort(order))
            b = np.ascontiguousarray(rng.integers(0, 9, [a.shape[d] for d in order]).astype(a.dtype))
            y, b = facula.from_numpy(b).permute(back), b.transpose(back)
            out = facula.empty([a.shape[d] for d in order], dtype=x.dtype).permute(back)

            assert np.array_equal(a * b, (x * y).numpy())
            assert np.array_equal(a + 2 * b, facula.add(x, y, alpha=2, out=out).numpy())
            assert np.array_equal(a.astype(np.complex128) - b, (x.to(facula.complex128) - y).numpy())
            for d in range(a.ndim):
                if a.shape[d]:
                    one, same = y.narrow(d, 0, 1), b.take([0], d)

                    assert np.array_equal(a + same, (x + one).numpy())
                    assert np.array_equal(same - a, (one - x).numpy())
                    assert np.array_equal(np.where(a == same, a, b), facula.where(x == one, x, y).numpy())


@pytest.mark.parametrize("level", LEVELS)
def test_a_number_beside_each_row_of_any_length(level):
    lib.fc_set_isa_level(level)
    for dtype in DTYPES:
        for n in (*range(2, 70), 127, 255, 256, 257, 300, 1100):
            a = (np.arange(7 * n) % 11).astype(dtype).reshape(7, n)
            b = np.arange(7).astype(dtype).reshape(7, 1)

            assert np.array_equal(a + b, (facula.from_numpy(a) + facula.from_numpy(b)).numpy())
