"""Sorts, of which topk is the front: beside NumPy's stable sort, in the lines that take each of the ways of csrc/cpu/sort_line.c and topk.c."""

import numpy as np
import pytest
from levels import LEVELS

import facula
from facula.tensor_core._lib import lib


def lines_of(kind, rng):
    """(401, 40) float32 of which many are alike: numbers, few of them, with NaN, zeros of both signs, mostly NaN and infinite."""
    x = rng.integers(0, 4, (401, 40)) if kind == "few" else rng.random((401, 40)) - 0.5
    if kind == "zeros":
        x = np.copysign(0.0, x)
    if kind in ("nan", "infinite"):
        x[rng.random(x.shape) < 0.3] = np.nan if kind == "nan" else -np.inf
    if kind == "infinite":
        x[rng.random(x.shape) < 0.9] = np.nan
    return x.astype(np.float32)


@pytest.mark.parametrize("largest", (True, False))
@pytest.mark.parametrize("kind", ("numbers", "few", "nan", "zeros", "infinite"))
def test_topk_is_the_front_of_the_sorted_line(kind, largest):
    x = facula.from_numpy(lines_of(kind, np.random.default_rng(0)))
    for lying in (x, x.t().contiguous().t()):
        for dim, k in ((0, 1), (0, 5), (0, 60), (1, 3), (1, 20), (1, 40)):
            value, index = facula.topk(lying, k, dim, largest=largest)
            expected, places = facula.sort(lying, dim, descending=largest, stable=True)

            assert places.narrow(dim, 0, k).tolist() == index.tolist()
            assert expected.narrow(dim, 0, k).contiguous().numpy().tobytes() == value.contiguous().numpy().tobytes()


def words_alike(n, rng):
    """Lines of which the 32 highest bits that vary do not tell all keys apart; of few values; of one; in order."""
    huge = rng.integers(-(2**62), 2**62, n)
    yield rng.standard_normal(n)
    yield np.where(rng.random(n) < 0.9, 1 + rng.integers(0, 50, n) * 2.0**-52, rng.standard_normal(n) * 1e300)
    yield np.where(rng.random(n) < 0.5, rng.integers(0, 1 << 20, n) * 2.0**-30, -rng.integers(0, 9, n) * 1e-310)
    yield rng.integers(-5, 5, n).astype(float)
    yield np.where(rng.random(n) < 0.8, (1 << 40) + rng.integers(0, 1 << 33, n), huge)
    yield np.where(rng.random(n) < 0.8, (1 << 40) + rng.integers(0, 4, n), huge)
    yield rng.integers(0, 2**64 - 1, n, dtype=np.uint64)
    yield np.full(n, 7.0)
    yield np.arange(n)


@pytest.mark.parametrize("descending", (False, True))
@pytest.mark.parametrize("n", (1, 2, 16, 17, 127, 128, 129, 500, 3000))
def test_wide_keys_are_sorted_stably(n, descending):
    for line in words_alike(n, np.random.default_rng(n)):
        rank = np.unique(line, return_inverse=True)[1]
        expected = np.argsort(-rank if descending else rank, kind="stable")
        x = facula.from_numpy(line)

        assert facula.sort(x, descending=descending, stable=True)[1].tolist() == expected.tolist()
        for k in {1, (n + 1) // 3, (3 * n + 3) // 4}:
            assert facula.topk(x, k, largest=descending)[1].tolist() == expected[:k].tolist()


@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16", "float16", "int64", "uint8"))
def test_the_best_of_many_are_collected(dtype):
    """Those of a long line, which is cut down where what may be among them becomes too much: in any order, with ties and NaN."""
    rng = np.random.default_rng(7)
    for trial in range(12):
        n = int(rng.integers(2048, 9000))
        x = facula.from_numpy(rng.standard_normal(n) * 50 if trial % 3 else rng.integers(0, 9, n).astype(float)).to(getattr(facula, dtype))
        if x.is_floating_point() and trial % 4 == 1:
            x[rng.integers(0, n, 20)] = float("nan")
        x = (x, x.sort()[0], x.sort(descending=True)[0])[trial % 5 % 3]
        for k in (65, n // 16, n // 15):
            for lying, largest in ((x, True), (facula.stack([x, x.flip(0)], 1), False)):
                value, index = facula.topk(lying, k, 0, largest=largest)
                expected, places = facula.sort(lying, 0, descending=largest, stable=True)

                assert facula.equal(places[:k], index)
                assert facula.equal(lying.gather(0, index).nan_to_num(7), value.nan_to_num(7))


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ("float32", "int32"))
def test_a_few_of_short_lines_are_picked_eight_abreast(dtype, level):
    lib.fc_set_isa_level(level)
    rng = np.random.default_rng(11)
    for n in (2, 8, 17, 18, 33, 100, 256, 1024, 1025):
        numbers = rng.integers(-9, 9, (3, 13, n)).astype(dtype) if n % 2 else (rng.standard_normal((3, 13, n)) * 1000).astype(dtype)
        least = [np.nan, -np.inf, -0.0, 0.0] if dtype == "float32" else [-(2**31), 2**31 - 1]
        numbers[rng.random(numbers.shape) < 0.1] = rng.choice(least)
        numbers[1, 2] = least[0]
        x = facula.from_numpy(numbers)
        for lying in (x, x[:, 1::2], x[..., :-1], x[:, :1].expand(3, 13, n), x.transpose(0, 1), x[0, 0]):
            for k in {1, min(3, lying.shape[-1]), min(5, lying.shape[-1])}:
                for largest in (True, False):
                    value, index = facula.topk(lying, k, largest=largest)
                    expected, places = facula.sort(lying, descending=largest, stable=True)

                    assert places[..., :k].tolist() == index.tolist()
                    assert expected[..., :k].contiguous().numpy().tobytes() == value.contiguous().numpy().tobytes()


EXTREMES = {"float32": (np.nan, np.inf, -np.inf, -0.0), "float64": (np.nan, np.inf, -np.inf), "int64": (2**63 - 1, -(2**63)), "int32": (2**31 - 1, -(2**31)), "uint8": (255, 0), "float16": (np.nan, np.inf)}


@pytest.mark.parametrize("dtype", EXTREMES)
def test_places_among_sorted_elements_are_numpys(dtype):
    """Few keys are compared with all values, many in two steps; keys are made first, or as they are read; one line, or several."""
    rng = np.random.default_rng(3)
    for n in (1, 2, 20, 63, 64, 65, 127, 128, 129, 200, 1000, 1027):
        for values in (3, 40, 300, 1100):
            line, v = (np.concatenate([rng.integers(0, 90, m), rng.choice(EXTREMES[dtype], m // 10)]).astype(dtype) for m in (n, values))
            line, v = np.sort(line), rng.permutation(v)
            rows = np.sort(rng.integers(0, 100, (3, n)).astype(dtype), 1)
            wanted = rng.integers(0, 100, (3, values)).astype(dtype)
            for side in ("left", "right"):
                assert facula.searchsorted(facula.from_numpy(line), facula.from_numpy(v), side=side).tolist() == np.searchsorted(line, v, side).tolist()
                expected = [np.searchsorted(r, w, side).tolist() for r, w in zip(rows, wanted)]
                assert facula.searchsorted(facula.from_numpy(rows), facula.from_numpy(wanted), side=side).tolist() == expected


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16", "float16", "int64", "int32", "int16", "uint8", "int8"))
def test_short_lines_side_by_side_are_as_one_by_one(dtype):
    """Level v2 takes lines one by one; the others sort up to 32 lines of up to 128 elements by one network."""
    rng = np.random.default_rng(6)
    for count, n in ((2, 1), (3, 2), (33, 3), (7, 5), (64, 8), (40, 17), (9, 32), (35, 63), (31, 100), (2, 127), (70, 128), (5, 129)):
        x = rng.integers(0, 2 * n, (count, n)).astype(np.float64) - (0 if dtype == "uint8" else n)
        if dtype.startswith(("float", "bf")):
            x[rng.random(x.shape) < 0.1] = np.nan
            x[0] = np.nan
            x[x == 0] = np.where(rng.random((x == 0).sum()) < 0.5, 0.0, -0.0)
        x = facula.from_numpy(np.nan_to_num(x) if dtype.startswith(("int", "uint")) else x).to(getattr(facula, dtype))
        calls = (
            *((facula.sort, (1, d), {}) for d in (False, True)),
            *((facula.topk, (k, 1, largest), {}) for k in {1, n // 2 + 1, n} for largest in (False, True)),
            *((facula.kthvalue, (k, 1), {}) for k in {1, n // 2 + 1, n}),
            *((f, (1,), {}) for f in (facula.median, facula.nanmedian)),
        )
        layouts = (x, x.t().contiguous().t(), facula.stack([x, x], 2)[..., 1], x.flip(0), x[:1].expand(count, n))
        for f, args, options in calls:
            for lying in layouts:
                got = []
                for level, threads in ((2, 1), *((level, threads) for level in LEVELS[1:] for threads in (1, 3))):
                    lib.fc_set_isa_level(level)
                    facula.set_num_threads(threads)
                    value, index = f(lying, *args, **options)
                    got.append((value.contiguous().view(-1).view(facula.uint8).tolist(), index.tolist()))
                assert all(g == got[0] for g in got), (f, args, count, n)


@pytest.mark.parametrize("n", (2, 7, 40))
def test_short_lines_lie_in_every_dim(n):
    x = np.random.default_rng(n).permutation(6 * n * 35).reshape(6, n, 35).astype(np.float32)
    for dims in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)):
        lying = facula.from_numpy(np.ascontiguousarray(x.transpose(dims))).permute(tuple(int(d) for d in np.argsort(dims)))
        value, index = facula.sort(lying, 1)
        assert np.array_equal(value.numpy(), np.sort(x, 1)) and np.array_equal(index.numpy(), np.argsort(x, 1))
        assert facula.topk(lying, 2, 1)[1].tolist() == np.argsort(-x, 1)[:, :2].tolist()
        assert facula.kthvalue(lying, 2, 1)[1].tolist() == np.argsort(x, 1)[:, 1].tolist()
