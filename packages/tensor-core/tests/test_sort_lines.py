"""Sorts, of which topk is the front: beside NumPy's stable sort, in the lines that take each of the ways of csrc/cpu/sort_line.c and topk.c."""

import numpy as np
import pytest

import facula

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
