"""Products of few rows or columns go other ways through memory than wide ones: with the same bits."""

import itertools

import numpy as np
import pytest
from levels import LEVELS

import facula
from facula.tensor_core._lib import lib

SIZES = tuple(itertools.product((1, 2, 3, 5, 9), (0, 1, 3, 100, 256, 257, 4200), (1, 3, 17, 65)))
INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")


def laid_out(array, way):
    """The array as it is, as the transpose of what is stored, or every second row and third column of a larger one."""
    if way == "transposed":
        return facula.from_numpy(np.ascontiguousarray(array.T)).t()
    if way == "spread":
        room = np.zeros((2 * array.shape[0] + 1, 3 * array.shape[1] + 1), array.dtype)
        room[: 2 * array.shape[0] : 2, : 3 * array.shape[1] : 3] = array
        return facula.from_numpy(room)[: 2 * array.shape[0] : 2, : 3 * array.shape[1] : 3]
    return facula.from_numpy(array.copy())


WAYS = tuple(itertools.product(("contiguous", "transposed", "spread"), repeat=2))


def near(got, a, b, plus=0, times=1):
    """Whether `plus + times * a @ b` is right to a few roundings of its terms' sizes, element by element."""
    exact = plus + times * (a.astype(complex) @ b.astype(complex))
    sizes = np.abs(plus) + times * (np.abs(a) @ np.abs(b))
    return (np.abs(got - exact) <= 4 * np.finfo(got.dtype).eps * sizes).all()


def pairs(draw, seed):
    """(a, b, how they lie) of every size, two of the ways each."""
    rng = np.random.default_rng(seed)
    for k, (m, depth, n) in enumerate(SIZES):
        for ways in (WAYS[k % len(WAYS)], WAYS[(3 * k + 4) % len(WAYS)]):
            yield draw(rng, (m, depth)), draw(rng, (depth, n)), ways


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype):
    info = np.iinfo(dtype)
    for a, b, ways in pairs(lambda rng, shape: rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True), 0):
        with np.errstate(over="ignore"):
            exact = (a.astype(np.uint64) @ b.astype(np.uint64)).astype(dtype)
        got = (laid_out(a, ways[0]) @ laid_out(b, ways[1])).numpy()
        assert np.array_equal(got, exact), (a.shape, b.shape, ways)


@pytest.mark.parametrize("dtype", ("complex64", "complex128", "float32", "float64"))
def test_bits_are_those_of_a_wide_product(dtype):
    def draw(rng, shape):
        real = rng.standard_normal(shape)
        return (real + 1j * rng.standard_normal(shape) if "complex" in dtype else real).astype(dtype)

    for a, b, ways in pairs(draw, 1):
        tall, wide = np.concatenate([a, np.ones((20, a.shape[1]), dtype)]), np.concatenate([b, np.ones((b.shape[0], 40), dtype)], 1)
        expected = (facula.from_numpy(tall) @ facula.from_numpy(wide)).numpy()[: a.shape[0], : b.shape[1]]
        got = (laid_out(a, ways[0]) @ laid_out(b, ways[1])).numpy()
        assert got.tobytes() == np.ascontiguousarray(expected).tobytes(), (a.shape, b.shape, ways)
        assert near(got, a, b), (a.shape, b.shape, ways)
        if a.shape[0] == b.shape[1] == 1:
            assert facula.dot(facula.from_numpy(a[0].copy()), facula.from_numpy(b[:, 0].copy())).item() == expected[0, 0].item()


@pytest.mark.parametrize("dtype", ("float32", "float64", "complex64", "int64"))
def test_any_number_of_threads_gives_the_same_bits(dtype):
    """How a result is cut for them decides which loops read its operands."""
    rng, before = np.random.default_rng(4), facula.get_num_threads()
    try:
        for m, depth, n in itertools.product((2, 5, 7, 9, 12, 13, 33), (300, 4090, 4200), (3, 9, 16, 17, 24, 40)):
            a, b = rng.integers(-9, 10, (m, depth)).astype(dtype), rng.integers(-9, 10, (depth, n)).astype(dtype)
            ways = WAYS[(m + depth + n) % 4 + 3 * (m % 2)], ("transposed", "transposed")
            for pair in ways:
                x, y = laid_out(a, pair[0]), laid_out(b, pair[1])
                for threads in (1, 2, 3, 4, 5):
                    facula.set_num_threads(threads)
                    got = (x @ y).numpy()
                    assert np.array_equal(got, (a.astype("complex128" if "complex" in dtype else "float64") @ b).astype(dtype)), (a.shape, b.shape, pair, threads)
    finally:
        facula.set_num_threads(before)


@pytest.mark.parametrize("dtype", ("complex64", "complex128"))
@pytest.mark.parametrize("shape", [(1, 300), (300, 1), (2, 7), (1, 1)])
def test_what_is_added_to_thin_complex_products(dtype, shape):
    rng = np.random.default_rng(2)
    (m, n), depth = shape, 600
    a, b, c = ((rng.standard_normal(s) + 1j * rng.standard_normal(s)).astype(dtype) for s in ((5, m, depth), (5, depth, n), (5, m, n)))
    t = [facula.from_numpy(x) for x in (c, a, b)]
    assert near(facula.baddbmm(*t, beta=0.5, alpha=2).numpy(), a, b, 0.5 * c, 2)
    assert near(t[0].clone().baddbmm_(t[1], t[2], beta=0.5, alpha=2).numpy(), a, b, 0.5 * c, 2)
    assert near(facula.addmm(t[0][0], t[1][0], t[2][0], beta=0.5, alpha=2).numpy(), a[0], b[0], 0.5 * c[0], 2)


@pytest.mark.parametrize("dtype", ("complex64", "complex128", "int8", "int64"))
def test_repeated_lines(dtype):
    """Strides of 0 on either side."""
    rng = np.random.default_rng(3)
    line = rng.integers(-3, 4, 40).astype(dtype)
    other = rng.integers(-3, 4, (40, 40)).astype(dtype)
    x, y = facula.from_numpy(line), facula.from_numpy(other)
    for rows in (1, 2, 40):
        shown, repeated = x.expand(rows, 40), np.tile(line, (rows, 1))
        assert np.array_equal((shown @ y).numpy(), (repeated @ other).astype(dtype))
        assert np.array_equal((y @ shown.t()).numpy(), (other @ repeated.T).astype(dtype))
        assert np.array_equal((shown @ shown.t()).numpy(), (repeated @ repeated.T).astype(dtype))
    column = x[:1].expand(40, 1)
    assert np.array_equal((y @ column).numpy(), (other @ np.full((40, 1), line[0])).astype(dtype))
    assert np.array_equal((column.t() @ y.t()).numpy(), (np.full((1, 40), line[0]) @ other.T).astype(dtype))


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_lines_of_integers_of_every_length(dtype, level):
    """What is no whole vector goes as one that ends with the line."""
    lib.fc_set_isa_level(level)
    rng, info = np.random.default_rng(9), np.iinfo(dtype)
    for n in (*range(1, 140), 250, 257, 513):
        a, b = (rng.integers(info.min, info.max, (rows, n), dtype=dtype, endpoint=True) for rows in (2, 5))
        exact = (a.astype(np.uint64) @ b.T.astype(np.uint64)).astype(dtype)
        x, y = facula.from_numpy(a), facula.from_numpy(b)
        assert np.array_equal((x @ y.t()).numpy(), exact) and np.array_equal((y @ x[0]).numpy(), exact[0])


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("rows", (1, 3, 8))
def test_long_rows_of_integers_are_read_end_to_end(dtype, rows):
    """What no cache keeps: steps that are no multiple of those read together, columns that are none of a vector."""
    rng, info = np.random.default_rng(6), np.iinfo(dtype)
    a, b, c = (rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True) for shape in ((rows, 270), (270, 4205), (rows, 4205)))
    with np.errstate(over="ignore"):
        exact = (a.astype(np.uint64) @ b.astype(np.uint64)).astype(dtype)
        added = (3 * c.astype(np.uint64) + 2 * exact.astype(np.uint64)).astype(dtype)
    t = [facula.from_numpy(x) for x in (c, a, b)]
    assert np.array_equal((t[1] @ t[2]).numpy(), exact)
    assert np.array_equal((t[2].t() @ t[1].t()).numpy(), exact.T)
    assert np.array_equal(facula.addmm(*t, beta=3, alpha=2).numpy(), added)


@pytest.mark.parametrize("dtype", ("complex64", "complex128", "float32", "bfloat16", "float16"))
@pytest.mark.parametrize("rows", (1, 2, 4))
def test_long_rows_that_no_cache_keeps_give_the_bits_of_a_wide_product(dtype, rows):
    rng, kind = np.random.default_rng(7), getattr(facula, dtype)
    real = lambda *shape: facula.from_numpy(rng.standard_normal(shape)).to(kind)
    draw = (lambda *shape: real(*shape) + 1j * real(*shape)) if "complex" in dtype else real
    a, b = draw(25, 531), draw(531, 4099 if "complex" in dtype else 8200)
    assert facula.equal(a[:rows] @ b, (a @ b)[:rows])
    assert facula.equal(b.t() @ a[:rows].t(), (a @ b)[:rows].t())


@pytest.mark.parametrize("steps", (256, 300, 4100, 8500))
@pytest.mark.parametrize("columns", (2, 7, 8, 19, 150))
def test_lines_of_float16_are_read_as_they_lie(steps, columns):
    """Alone, in a batch, behind a bias: the bits of the same columns side by side in a wide product."""
    rng = np.random.default_rng(8)
    draw = lambda *shape: facula.from_numpy(rng.standard_normal(shape)).half()
    a, lines, bias = draw(3, 20, steps), draw(3, columns, steps), draw(columns)
    b = lines.transpose(1, 2)
    wide = facula.matmul(a, b.contiguous())
    for rows in (1, 2, 3, 4):
        some = a[:, :rows]
        assert facula.equal(some @ b, wide[:, :rows])
        assert facula.equal((lines @ some.transpose(1, 2)).transpose(1, 2), wide[:, :rows])
        assert facula.equal(some[1] @ b[1], wide[1, :rows])
        apart = facula.empty(steps, rows, dtype=facula.float16).copy_(some[1].t()).t()
        assert facula.equal(facula.addmm(bias, apart, b[1]), facula.addmm(bias, a[1], b.contiguous()[1])[:rows])
    assert facula.equal(facula.mv(lines[2], a[2, 0]), wide[2, 0])


@pytest.mark.parametrize("dtype", ("complex64", "complex128"))
@pytest.mark.parametrize("shape", [(1, 700), (3, 5), (3, 300), (9, 257), (40, 4200)])
def test_complex_products_turn_and_keep_what_is_real(dtype, shape):
    """x y is y x bit for bit, whichever loops either takes, and a number times its conjugate is real (docs/decisions/056)."""
    rng = np.random.default_rng(5)
    a, b = (facula.from_numpy((rng.standard_normal(s) + 1j * rng.standard_normal(s)).astype(dtype)) for s in (shape, (shape[1], 7)))
    assert facula.equal(facula.view_as_real(a @ b), facula.view_as_real((b.t() @ a.t()).t()))
    square = facula.view_as_real(a @ a.mH)
    assert facula.equal(square[..., 0], square[..., 0].t())
    assert facula.equal(square[..., 1], -square[..., 1].t())
    assert not square[..., 1].diagonal().any()
    assert facula.vdot(a[0], a[0]).imag == 0
