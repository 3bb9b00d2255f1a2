"""Folds of what no cache holds: threads, levels and layouts change no bit, rows and columns are what they are alone, blocks are joined pairwise."""

import facula
import numpy as np
import pytest
from facula.tensor_core._lib import lib
from levels import LEVELS

BLOCK = 4096
SHAPES = ((1500, 1601), (700, 3001), (5, 400_000), (2100, 700), (300, 4100, 2))
FOLDS = {
    "sum": facula.sum,
    "nansum": facula.nansum,
    "mean": facula.mean,
    "prod": facula.prod,
    "amax": facula.amax,
    "var": facula.var,
    "logsumexp": facula.logsumexp,
    "norm": lambda x, d=None: facula.linalg.vector_norm(x, dim=d),
    "argmax": facula.argmax,
}
REAL = {"amax", "argmax", "nansum", "logsumexp"}


@pytest.fixture(autouse=True)
def as_it_was():
    threads = facula.get_num_threads()
    yield
    facula.set_num_threads(threads)
    lib.fc_set_isa_level(LEVELS[-1])


def numbers(shape, dtype):
    facula.manual_seed(3)
    x = facula.randn(shape, dtype=facula.complex64 if dtype[0] == "c" else facula.float32) / 8 + 1
    x = x.to(getattr(facula, dtype))
    x.view(-1)[17] = float("nan") if dtype == "float32" else -0.0
    return x


def bits(t):
    return (facula.view_as_real(t) if t.is_complex() else t).reshape(-1).view(facula.uint8).numpy().tobytes()


@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16", "float16", "complex64", "complex128"))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_large_folds_have_one_result(shape, dtype):
    x = numbers(shape, dtype)
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)
    for name, fold in FOLDS.items():
        if dtype[0] == "c" and name in REAL:
            continue
        for d in (*range(len(shape)), *([()] if name != "logsumexp" else [])):
            where = () if d == () else (d,)
            found = {}
            for threads in (1, 2, 3, 5):
                facula.set_num_threads(threads)
                for level in LEVELS[-2:]:
                    lib.fc_set_isa_level(level)
                    for k, view in enumerate((x, turned)):
                        found[bits(fold(view, *where))] = (threads, level, k)
            assert len(found) == 1, (name, d, list(found.values()))
            if not where:
                continue
            k = shape[1 - d] // 3 if d < 2 else 1
            one = fold(x.narrow(1 - d if d < 2 else 0, k, 1).contiguous(), d)  # is in a cache
            assert bits(fold(x, d).narrow(0, k, 1)) == bits(one)


@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16"))
@pytest.mark.parametrize("name", ("sum", "prod", "nansum"))
def test_blocks_of_a_long_row_are_joined_pairwise(name, dtype):
    for n in (2_100_000, 1_048_576 + BLOCK * 3 + 5):
        x = numbers((n,), dtype)
        wide = x.float() if dtype == "bfloat16" else x
        parts = [FOLDS[name](wide[k : k + BLOCK]).numpy() for k in range(0, n, BLOCK)]
        while len(parts) > 1:
            pairs = [(np.add if name != "prod" else np.multiply)(*parts[k : k + 2]) for k in range(0, len(parts) - 1, 2)]
            parts = pairs + parts[len(parts) - len(parts) % 2 :]
        expected = facula.from_numpy(np.array(parts[0])).to(x.dtype)
        for threads in (1, 2, 4):
            facula.set_num_threads(threads)
            assert bits(FOLDS[name](x)) == bits(expected)
