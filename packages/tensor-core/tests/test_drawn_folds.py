"""Folds of drawn shapes and layouts: what a view answers is what its contiguous copy answers, to the bit, and extremes are NumPy's."""

import itertools
import random

import numpy as np
import pytest

import facula
from facula.tensor_core import _ops

SIZES = (0, 1, 1, 2, 3, 5, 7, 16, 17, 31, 33, 64, 100, 257, 300)
DTYPES = "float32 float64 float16 bfloat16 int64 uint8 bool complex64 complex128".split()
FOLDS = "sum nansum mean amax amin any all logsumexp var std prod argmax argmin _aminmax max_index min_index norm_p count_nonzero".split()


def fold(name, x, d, keep, r):
    """The row's result over the dims d, or over their first where it takes one dim."""
    row = getattr(_ops, name)
    if name in ("max_index", "min_index"):
        return row(x, d[0], keep)
    if name in ("prod", "argmax", "argmin", "_aminmax"):
        return row(x, d[0] if len(d) < x.ndim else None, keep)
    if name == "norm_p":
        return row(x, d, p=r.choice((0, 1, 2, 3, float("inf"), -float("inf"))), keepdim=keep)
    return row(x, d) if name == "count_nonzero" else row(x, d, keepdim=keep)


def drawn(r):
    """(a view, its contiguous copy)"""
    shape = [r.choice(SIZES) for _ in range(r.randint(1, 5))]
    while np.prod([max(1, n) for n in shape]) > 200_000:
        shape[r.randrange(len(shape))] = 3
    dtype = getattr(facula, r.choice(DTYPES))
    x = (facula.randn(shape) * 3).to(dtype)
    if x.is_floating_point() and x.numel() and r.random() < 0.2:
        x.view(-1)[r.randrange(x.numel())] = r.choice((float("nan"), -0.0, float("inf")))
    order = r.sample(range(x.ndim), x.ndim)
    back = [order.index(d) for d in range(x.ndim)]

    def laid(t):
        return t.permute(order).contiguous().permute(back)

    kind = r.choice(("turned", "turned", "sliced", "stepped", "repeated"))
    if kind == "turned":
        return laid(x), x
    if kind == "repeated":
        for d, n in enumerate(shape):
            if n and r.random() < 0.4:
                x = x.narrow(d, 0, 1)
        view = laid(x).expand(shape)
        return view, view.contiguous()
    room = laid(facula.zeros([n + r.choice((0, 1, 3)) if kind == "sliced" else 2 * n for n in shape], dtype=dtype))
    view = room[tuple(slice(0, n) if kind == "sliced" else slice(0, None, 2) for n in shape)]
    view.copy_(x)
    return view, x


def outcome(name, x, d, keep, seed):
    try:
        found = fold(name, x, d, keep, random.Random(seed))
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        return type(error)
    found = [facula.view_as_real(t) if t.is_complex() else t for t in (found if isinstance(found, tuple) else (found,))]
    arrays = [np.array((t.float() if t.dtype is facula.bfloat16 else t).numpy()) for t in found]
    for a in arrays:
        if a.dtype.kind == "f":
            a[np.isnan(a)] = np.nan
    return [(a.shape, a.tobytes()) for a in arrays]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(40))
def test_a_view_folds_as_its_copy(seed):
    r = random.Random(seed)
    facula.manual_seed(seed)
    before = facula.get_num_threads()
    for _ in range(60):
        view, copy = drawn(r)
        d = tuple(sorted(r.sample(range(view.ndim), r.randint(1, view.ndim))))
        name, keep, salt = r.choice(FOLDS), r.random() < 0.5, r.random()
        facula.set_num_threads(1)
        expected = outcome(name, copy, d, keep, salt)
        for threads in (1, 3):
            facula.set_num_threads(threads)
            actual = outcome(name, view, d, keep, salt)

            assert actual == expected, f"{name} over {d} of {view.dtype} {tuple(view.shape)}, strides {view.stride()}, {threads} threads"
    facula.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8"])
@pytest.mark.parametrize("rows,columns", [(33, 257), (2, 513), (5, 129), (300, 257), (7, 1), (257, 3), (1000, 17), (65, 31)])
def test_extremes_are_where_numpy_finds_them(rows, columns, dtype):
    array = np.random.default_rng(rows).integers(0, 100, (rows, columns)).astype(dtype)
    for x in (facula.from_numpy(array), facula.from_numpy(np.ascontiguousarray(array.T)).t()):
        for dim in (0, 1):
            assert np.array_equal(x.argmax(dim).numpy(), array.argmax(dim))
            assert np.array_equal(x.argmin(dim).numpy(), array.argmin(dim))
            assert np.array_equal(x.max(dim).indices.numpy(), array.argmax(dim))
            assert np.array_equal(x.min(dim).values.numpy(), array.min(dim))


@pytest.mark.parametrize("shape", [(1000, 100), (4200, 3), (300, 5, 20), (3, 256, 4, 9), (2, 260, 4, 4), (257, 3, 7, 7), (300, 500, 2), (40, 5, 300, 3)])
@pytest.mark.parametrize("name", ("sum", "nansum", "mean", "prod", "logsumexp", "var", "std", "norm_p"))
@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16", "complex64"))
def test_every_order_of_dims_folds_to_the_same_bits(shape, name, dtype):
    """Of a long dim that is not the last, over all dims and over all but the first."""
    if dtype == "complex64" and name in ("logsumexp", "nansum"):
        return
    facula.manual_seed(5)
    x = facula.randn(shape, dtype=getattr(facula, dtype)) / 8 + 1
    layouts = [x.permute(order).contiguous().permute([order.index(d) for d in range(len(shape))]) for order in itertools.permutations(range(len(shape)))]
    for d in (tuple(range(len(shape))), tuple(range(1, len(shape)))):
        expected = outcome(name, x, d, False, 0)
        assert isinstance(expected, list)
        for view in layouts:
            assert outcome(name, view, d, False, 0) == expected, f"over {d}, strides {view.stride()}"


@pytest.mark.parametrize("shape", [(1,), (33,), (5000,), (20000,), (3, 9000), (40, 257), (600, 300), (2000, 5), (3, 20, 300), (4, 300, 256)])
@pytest.mark.parametrize("dtype", [*DTYPES, "int8"])
def test_every_second_element_folds_as_its_copy(shape, dtype):
    """Of memory that ends where the last of them ends."""
    facula.manual_seed(7)
    copy = (facula.randn(shape) * 3).to(getattr(facula, dtype))
    memory = facula.full((2 * copy.numel() - 1,), float("nan") if dtype[0] in "bfc" and dtype != "bool" else 1).to(copy.dtype)
    view = memory[::2].view(shape) if memory.numel() == 1 else memory.as_strided(shape, [2 * n for n in copy.stride()])
    view.copy_(copy)
    for name in FOLDS:
        for d in {tuple(range(len(shape))), (len(shape) - 1,), (0,), tuple(range(len(shape)))[:2]}:
            assert outcome(name, view, d, False, 3) == outcome(name, copy, d, False, 3), f"{name} over {d}"


@pytest.mark.parametrize("shape,d", [((0, 5000, 7), (1,)), ((0, 300, 20, 3), (1, 2)), ((3, 0, 5000), (2,))])
def test_no_result_of_many_elements(shape, d):
    for x in (facula.zeros(shape), facula.zeros(shape[::-1]).permute(*range(len(shape))[::-1])):
        assert facula.sum(x, d).numel() == 0 and facula.var(x, d).numel() == 0 and facula.amax(x, d).numel() == 0
