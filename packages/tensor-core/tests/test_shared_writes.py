"""Writes that threads share, and what is read or written past the caches: the same values as one element after the other."""

import numpy as np
import pytest
from levels import LEVELS

import facula
from facula.tensor_core._lib import lib

pytestmark = pytest.mark.usefixtures("as_before")


def on_threads(count, what):
    before = facula.get_num_threads()
    facula.set_num_threads(count)
    try:
        return what()
    finally:
        facula.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "complex128"])
@pytest.mark.parametrize("dim", (0, 1, 2))
@pytest.mark.parametrize("layout", ("plain", "turned", "one row"))
def test_of_places_written_twice_the_last_wins_on_any_threads(dtype, dim, layout):
    rng = np.random.default_rng(dim)
    shape = (40, 700, 33)
    index = rng.integers(-shape[dim], shape[dim], 900)
    wanted = tuple(900 if d == dim else n for d, n in enumerate(shape))
    values = rng.integers(0, 100, wanted)
    given = facula.from_numpy(values).to(getattr(facula, dtype))
    if layout == "turned":
        given = given.transpose(0, 2).contiguous().transpose(0, 2)
    if layout == "one row":
        values, given = np.broadcast_to(values[:1], wanted), given[:1].expand(wanted)
    expected = np.zeros(shape)
    for k, i in enumerate(index):
        expected[(slice(None),) * dim + (i,)] = values[(slice(None),) * dim + (k,)]

    for threads in (1, 3):
        x = facula.zeros(shape, dtype=given.dtype)
        on_threads(threads, lambda: x.__setitem__((slice(None),) * dim + (facula.from_numpy(index),), given))
        assert (expected == x.numpy()).all()


@pytest.mark.parametrize("inner", (1, 33, 600))
def test_slices_are_added_in_the_order_of_the_index_on_any_threads(inner):
    rng = np.random.default_rng(inner)
    index, rows = facula.from_numpy(rng.integers(0, 50, 900)), facula.from_numpy(rng.standard_normal((900, inner), np.float32))
    added = [on_threads(n, lambda: facula.zeros(50, inner).index_add_(0, index, rows)) for n in (1, 3)]
    expected = np.zeros((50, inner), np.float32)
    for i, row in zip(index.tolist(), rows.numpy()):
        expected[i] += row

    assert (expected == added[0].numpy()).all() and facula.equal(*added)


def lying(full):
    """The same values in other memory: turned, apart, within more, and what is one along a dim, or along all, shown again."""
    yield full.transpose(0, -1).contiguous().transpose(0, -1)
    yield facula.stack([full, full], -1)[..., 0]
    within = facula.zeros([n + 3 for n in full.shape], dtype=full.dtype)[(slice(1, -2),) * full.ndim]
    yield within.copy_(full)
    for d in range(full.ndim):
        yield full.narrow(d, 0, 1).expand(full.shape)
    yield full[(slice(1),) * full.ndim].expand(full.shape)


@pytest.mark.parametrize("dtype", ("float32", "bfloat16", "int64", "complex64", "bool"))
@pytest.mark.parametrize("shape", ((7,), (5, 6), (3, 4, 5), (40, 700), (3, 300, 40)), ids=str)
def test_slices_are_written_from_where_they_lie(shape, dtype):
    rng = np.random.default_rng(len(shape))
    new = lambda sizes: facula.from_numpy(rng.integers(0, 6, sizes)).to(getattr(facula, dtype))
    for d, size in enumerate(shape):
        x, full = new(shape), new([size + 3 if k == d else n for k, n in enumerate(shape)])
        index = facula.from_numpy(rng.integers(0, size, size + 3))
        for source in lying(full):
            for name in ("index_copy_", "index_add_")[: 1 if dtype == "bool" else 2]:
                expected = on_threads(1, lambda: getattr(x.clone(), name)(d, index, source.clone(memory_format=facula.contiguous_format)))
                for threads in (1, 3):
                    assert facula.equal(expected, on_threads(threads, lambda: getattr(x.clone(), name)(d, index, source))), (name, d, source.stride())


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ("uint8", "int8", "bool"))
def test_bytes_are_bfloat16_exactly(dtype, level):
    lib.fc_set_isa_level(level)
    x = np.arange(256).astype(np.uint8).repeat(9)
    given = facula.from_numpy(x).view(getattr(facula, dtype)) if dtype != "bool" else facula.from_numpy(x).bool()

    assert given.tolist() == given.to(facula.bfloat16).tolist()


@pytest.mark.parametrize("dtype", ("float32", "int16"))
def test_what_passes_the_caches_is_all_there(dtype):
    """Copies of more bytes than caches hold: rows shown again, every second column of a turned matrix."""
    rows, cols = 2101, 9001
    x = (np.arange(rows * cols, dtype=np.int64) % 30011).reshape(cols, rows).astype(dtype)
    turned, row = facula.from_numpy(x).t(), facula.from_numpy(x[:1, :1].repeat(cols, 1) + 7)
    for threads in (1, 3):
        z = facula.zeros(rows, cols, dtype=turned.dtype)
        on_threads(threads, lambda: z.copy_(row.expand(rows, cols)))
        assert (z.numpy() == row.numpy()).all()
        on_threads(threads, lambda: z[1:, ::2].copy_(turned[1:, ::2]))
        assert (z.numpy()[1:, ::2] == x.T[1:, ::2]).all() and (z.numpy()[:, 1::2] == row.numpy()[:, 1::2]).all() and (z.numpy()[0] == row.numpy()).all()


@pytest.mark.parametrize("level", LEVELS)
def test_a_dot_product_from_memory_is_that_of_its_halves(level):
    """Blocks one by one, as those of more bytes than caches hold are read, have the sums of blocks side by side."""
    lib.fc_set_isa_level(level)
    n = (16 << 20) // 4
    x, y = (facula.from_numpy(np.random.default_rng(k).standard_normal(n, np.float32)) for k in (0, 1))

    assert facula.equal(facula.dot(x, y), (x.reshape(1, n) @ y.reshape(n, 1)).reshape(()))
    assert facula.equal(facula.dot(x, y), on_threads(3, lambda: facula.dot(x, y)))


@pytest.mark.parametrize("dtype", ("uint8", "float32", "complex128"))
def test_views_with_gaps_are_filled_past_the_caches_and_nothing_else(dtype):
    wide = (24 << 20) // facula.empty(0, dtype=getattr(facula, dtype)).element_size() // 1001
    for first, last in ((1, wide), (3, wide - 5), (0, wide - 1)):
        for threads in (1, 3):
            x = facula.zeros(1001, wide, dtype=getattr(facula, dtype))
            y = facula.full((1001, wide), 2, dtype=x.dtype)
            on_threads(threads, lambda: x.t().__setitem__(slice(first, last), 3))
            assert (x[:, first:last] == 3).all() and not x[:, :first].any() and not x[:, last:].any()
            on_threads(threads, lambda: x[:, first:last].copy_(y[:, : last - first]))
            assert (x[:, first:last] == 2).all() and not x[:, :first].any() and not x[:, last:].any()


@pytest.mark.parametrize("dtype", ("float32", "bfloat16", "int64"))
def test_a_number_is_written_to_slices_along_every_dim(dtype):
    x = facula.arange(3 * 40 * 50).view(3, 40, 50).to(getattr(facula, dtype))
    for d, size in enumerate(x.shape):
        index = facula.from_numpy(np.random.default_rng(d).integers(0, size, 2 * size))
        expected = x.to(facula.float64).numpy()
        expected[(slice(None),) * d + (index.numpy(),)] = 7
        number = facula.tensor(7, dtype=x.dtype).expand([2 * size if k == d else n for k, n in enumerate(x.shape)])
        for threads in (1, 3):
            for got in (on_threads(threads, lambda: x.clone().index_fill_(d, index, 7)), on_threads(threads, lambda: x.index_copy(d, index, number))):
                assert (expected == got.to(facula.float64).numpy()).all()
