"""Scans of lines that go many at a time, across memory or alone give what each line gives by itself."""

import itertools

import numpy as np
import pytest

import facula


@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16", "float16", "int64", "uint8"))
@pytest.mark.parametrize("name", ("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"))
def test_short_lines_scan_as_one_does(name, dtype):
    if name == "logcumsumexp" and dtype in ("int64", "uint8"):
        return
    rng = np.random.default_rng(8)
    scan = getattr(facula, name)
    for lines, n in ((1, 1), (5, 1), (700, 1), (3, 2), (131, 3), (1100, 7), (9, 17), (300, 65), (6, 1030)):
        x = rng.integers(-3, 4, (lines, n)).astype(np.float64) if name != "cumsum" else rng.standard_normal((lines, n)) * 3
        if dtype.startswith(("float", "bf")) and name != "cumsum":
            x[rng.random(x.shape) < 0.05] = np.nan
        x = facula.from_numpy(abs(x) if dtype == "uint8" else x).to(getattr(facula, dtype))
        results = [scan(lying, 1) for lying in (x, x.t().contiguous().t(), facula.stack([x, x, x], 2)[..., 1])]
        results += [scan(x.t().contiguous(), 0), scan(facula.stack([x, x, x], 2), 1), [scan(row, 0) for row in x]]
        for part in range(2 if name in ("cummax", "cummin") else 1):
            pick = lambda r: r[part] if name in ("cummax", "cummin") else r
            one = facula.stack([pick(r) for r in results[-1]])
            for got in (*map(pick, results[:3]), pick(results[3]).t(), *pick(results[4]).unbind(2)):
                assert facula.equal(got.isnan(), one.isnan()) and facula.equal(got[~got.isnan()], one[~one.isnan()]), (lines, n)


def one_line(name, line):
    """(values, places) by the definition: a number that is no worse than the best, or NaN, is the new one, unless that is NaN."""
    best, at, values, places = line[0], 0, [], []
    for k, v in enumerate(line):
        if v != v or (v >= best if name == "cummax" else v <= best):
            best, at = v, k
        values.append(best)
        places.append(at)
    return values, places


@pytest.mark.parametrize("dtype", ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"))
@pytest.mark.parametrize("name", ("cummax", "cummin"))
def test_extremes_of_few_and_of_many_numbers(name, dtype):
    """Blocks with a new best, without one, and both in turn; truth values as any byte but 0."""
    rng = np.random.default_rng(9)
    for n, most in itertools.product((1, 15, 16, 17, 70, 333), (1, 2, 5, 100)):
        x = rng.integers(0, most + 1, (3, n)).astype(np.float64)
        x[:, n // 2 :] -= most if dtype[0] not in "bu" and n % 2 else 0
        if "float" in dtype:
            x[1, rng.random(n) < 0.02] = np.nan
        t = facula.from_numpy(x.astype("uint8")).view(facula.bool) if dtype == "bool" else facula.from_numpy(x).to(getattr(facula, dtype))
        exact = [one_line(name, row) for row in ((x != 0) * 1.0 if dtype == "bool" else x).tolist()]
        values, places = (np.array(part) for part in zip(*exact))
        for lying in (t, t.t().contiguous().t(), facula.stack([t, t], 2)[..., 0]):
            got = getattr(facula, name)(lying, 1)
            assert np.array_equal(got.indices.numpy(), places), (n, most)
            assert np.array_equal(got.values.to(facula.float64).numpy(), values, equal_nan=True), (n, most)


def outputs(name, x, value):
    """Pairs of an input and where its scan goes: in x's order of dims, in the logical one, with gaps, and the input itself."""
    new = lambda: facula.empty(*x.shape, dtype=value.dtype)
    yield x, new()
    yield x, facula.empty_like(x, dtype=value.dtype)
    yield x, facula.empty(*x.shape, 2, dtype=value.dtype)[..., 0]
    over = facula.empty_like(x).copy_(x)
    if value.dtype == x.dtype:
        yield over, over


@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16", "int64", "int32", "complex64"))
@pytest.mark.parametrize("name", ("cumsum", "cumprod", "logcumsumexp", "cummax"))
def test_outputs_in_every_order_of_dims_and_the_input_itself_are_written(name, dtype):
    if (name == "logcumsumexp" and dtype[0] in "ci") or (name == "cummax" and dtype[0] == "c"):
        return
    scan = getattr(facula, name)
    rng = np.random.default_rng(3)
    for shape in ((5,), (7, 9), (2, 1, 3), (70, 30, 3), (0, 3), (250, 150), (1, 40000)):
        for order in itertools.permutations(range(len(shape))):
            x = facula.from_numpy(rng.standard_normal(shape) * 2).to(getattr(facula, dtype)).permute(order)
            for d in range(len(shape)):
                whole = scan(x.clone(), d)
                value, index = (whole, None) if name != "cummax" else whole
                for source, out in outputs(name, x, value):
                    place, strides, version = None if index is None else facula.empty_like(index), out.stride(), out._version
                    scan(source, d, out=out if index is None else (out, place))
                    assert out.stride() == strides and out._version == version + 1, (shape, order, d)
                    assert facula.equal(out.nan_to_num(), value.nan_to_num()) and (index is None or facula.equal(place, index)), (shape, order, d)
