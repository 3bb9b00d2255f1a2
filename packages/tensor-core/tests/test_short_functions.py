"""Functions that take a shorter way - slices whole, rows by their first columns, few numbers as Python's, results straight into outputs - give what the long way gives."""

import numpy as np
import pytest

import facula

REDUCE = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


@pytest.fixture(params=[1, 3], ids="threads {}".format)
def threads(request):
    before = facula.get_num_threads()
    facula.set_num_threads(request.param)
    yield request.param
    facula.set_num_threads(before)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("how", REDUCE)
def test_slices_are_reduced_as_their_elements(how, dtype, order, threads):
    generator = np.random.default_rng(1)
    for dim in range(3):
        shape = [7, 9, 33]
        x = generator.integers(-2, 3, shape).astype(dtype)
        index = generator.integers(0, shape[dim], 11)
        shape[dim] = 11
        source = generator.integers(-2, 3, shape).astype(dtype)
        if x.dtype.kind == "f":
            x[0, 0, 0] = source[1, 1, 1] = np.nan
        expected = np.moveaxis(x.copy(), dim, 0)
        for k, i in enumerate(index):
            expected[i] = REDUCE[how](expected[i], np.moveaxis(source, dim, 0)[k])
        stored = facula.from_numpy(x).permute(order).contiguous().permute([order.index(d) for d in range(3)])

        actual = stored.index_reduce(dim, facula.from_numpy(index), facula.from_numpy(source), how)

        assert np.array_equal(np.moveaxis(expected, 0, dim), actual.numpy(), equal_nan=x.dtype.kind == "f")


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("same", [0, 3, 20, 90], ids="the first {} columns alike".format)
def test_rows_are_told_apart_by_any_column(same, dtype):
    generator = np.random.default_rng(2)
    rows = generator.integers(0, 2, (41, 100))
    rows[:, :same] = 1
    rows[7] = rows[30]
    expected, inverse, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    x = facula.tensor(rows.tolist(), dtype=getattr(facula, dtype))

    found = x.unique(dim=0, return_inverse=True, return_counts=True)

    assert [expected.tolist(), inverse.reshape(-1).tolist(), counts.tolist()] == [part.tolist() for part in found]
    assert expected.T.tolist() == x.T.unique(dim=1).tolist()


def test_few_rows_with_nan_are_all_distinct():
    x = facula.tensor([[1.0, facula.nan], [1.0, facula.nan], [1.0, 0.0], [1.0, -0.0]])

    assert 3 == x.unique(dim=0).shape[0]
    assert [1, 1, 2] == sorted(x.unique(dim=0, return_counts=True)[1].tolist())


def test_a_hash_is_the_exclusive_or_of_bits():
    x = facula.arange(2 * 3 * 5).reshape(2, 3, 5) * 7919
    values = x.numpy()
    for dims in ((0,), (1,), (2,), (0, 2), (2, 1), (0, 1, 2)):
        expected = np.bitwise_xor.reduce(values.astype(np.uint64), dims[0]) if len(dims) == 1 else None
        if expected is None:
            expected = np.bitwise_xor.reduce(np.moveaxis(values, dims, range(len(dims))).reshape(-1, *(n for d, n in enumerate(values.shape) if d not in dims)), 0).astype(np.uint64)

        assert expected.tolist() == x.hash_tensor(dims).tolist()
        assert [1 if d in dims else n for d, n in enumerate(values.shape)] == list(x.hash_tensor(dims, keepdim=True).shape)
    assert x.hash_tensor().item() == x.permute(2, 0, 1).hash_tensor().item()


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_points_on_and_beyond_the_edges_are_counted_as_numpy_counts(weighted, density):
    points = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 1.0], [0.5, 2.5], [-0.1, 1.0], [1.0, -1.0], [0.25, 1.0], [0.25, 1.0]])
    edges = [np.array([0.0, 0.25, 1.0]), np.array([0.0, 1.0, 1.5, 2.0])]
    weight = np.arange(1.0, 9.0) if weighted else None
    expected = np.histogramdd(points, edges, weights=weight, density=density)[0]

    hist = facula.histogramdd(facula.from_numpy(points), [facula.from_numpy(e) for e in edges], weight=None if weight is None else facula.from_numpy(weight), density=density).hist

    assert np.allclose(expected, hist.numpy(), rtol=1e-15, atol=0)


OUTPUTS = {
    "arange": (lambda out: facula.arange(1, 4, out=out), [1, 2, 3]), "linspace": (lambda out: facula.linspace(1, 3, 3, out=out), [1, 2, 3]),
    "logspace": (lambda out: facula.logspace(0, 2, 3, 2, out=out), [1, 2, 4]), "full": (lambda out: facula.full((3,), 7, out=out), [7, 7, 7]),
    "narrow_copy": (lambda out: facula.narrow_copy(facula.arange(5).to(out.dtype), 0, 1, 3, out=out), [1, 2, 3]),
    "zeros": (lambda out: facula.zeros(3, out=out), [0, 0, 0]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_written_where_it_lies(name, dtype):
    call, expected = OUTPUTS[name]
    memory = facula.full((6,), 9, dtype=getattr(facula, dtype))
    out = memory[::2]

    assert call(out) is out
    assert expected == out.tolist()
    assert [9, 9, 9] == memory[1::2].tolist()
    for other in (facula.empty(0, dtype=out.dtype), facula.empty(3, dtype=out.dtype)):
        assert expected == call(other).tolist()


@pytest.mark.parametrize("call", [lambda out: facula.zeros(3, out=out), lambda out: facula.arange(3, out=out)])
def test_a_leaf_is_no_output(call):
    with pytest.raises(RuntimeError, match="grad"):
        call(facula.empty(3, requires_grad=True))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "uint8"])
@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin", "mean", "any"])
def test_columns_of_few_elements_fold_as_rows_of_them(name, dtype, threads):
    if dtype == "complex64" and name[0] == "a" or name == "mean" and dtype in ("int64", "uint8"):
        return
    fold = getattr(facula, name)
    for n in (1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 65):
        x = facula.randn(n, 2 * 64 + 3).mul(3).to(getattr(facula, dtype))
        if x.dtype._kind >= 2:
            x[:, 5], x[::2, 6], x[n // 2, 7] = -0.0, -0.0, facula.nan
        turned = x.t().contiguous()

        for columns, rows in ((x, turned), (x[:, 1:], turned[1:])):
            expected, actual = (t.view(facula.int32).tolist() if t.dtype in (facula.float32, facula.complex64) else t.nan_to_num(7).tolist() for t in (fold(rows, 1), fold(columns, 0)))
            assert expected == actual, n


def test_a_number_beside_turned_matrices_is_there_in_every_tile():
    x, y = facula.randn(300, 70), facula.randn(70, 300)
    for weight in (0.3, 0.7, facula.tensor(0.3)):
        assert facula.equal(facula.lerp(x.t().contiguous(), y, weight), facula.lerp(x.t(), y, weight))
        assert facula.equal(facula.lerp(x.t().contiguous().half(), y.half(), weight), facula.lerp(x.half().t(), y.half(), weight))
