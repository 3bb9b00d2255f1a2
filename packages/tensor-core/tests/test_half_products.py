"""Products of halves are those of the widened operands, rounded once, whichever way they go."""

import numpy as np
import pytest
from levels import LEVELS

import facula
from facula.tensor_core._lib import lib

pytestmark = pytest.mark.usefixtures("as_before")


def halves(dtype, *shape, seed=0):
    return facula.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32)).to(getattr(facula, dtype))


def turned(x):
    return x.mT.contiguous().mT


SHAPES = (
    ((1, 1), (1, 1)), ((3, 0), (0, 4)), ((7, 5), (5, 9)), ((40, 3), (3, 600)), ((600, 2), (2, 40)), ((333, 17), (17, 350)), ((200, 300), (300, 210)),
    ((1, 5000), (5000, 3)), ((3, 9000), (9000, 21)), ((300, 4500), (4500, 7)), ((11, 3, 4), (11, 4, 5)), ((50, 1, 7), (50, 7, 1)), ((3, 6, 700), (3, 700, 4)),
    ((2, 9001), (9001, 90)), ((8, 4200), (4200, 300)), ((1, 300), (300, 900)),
    ((5, 2, 30, 9), (2, 9, 2)), ((4, 1, 6, 8), (1, 3, 8, 2)), ((30, 20, 40), (40, 50)), ((9, 2, 9001), (9, 9001, 2)),
)  # fmt: skip


@pytest.mark.parametrize("level", LEVELS[-2:])
@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_products_of_halves_are_rounded_once(dtype, threads, level):
    lib.fc_set_isa_level(level)
    facula.set_num_threads(threads)
    for left, right in SHAPES:
        x, y = halves(dtype, *left), halves(dtype, *right, seed=1)
        expected = (x.float() @ y.float()).to(x.dtype)
        for a, b in ((x, y), (turned(x), y), (x, turned(y)), (turned(x), turned(y))):
            assert (a @ b).equal(expected), (left, right)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_a_bias_is_added_before_the_rounding(dtype):
    for rows, inner, columns in ((1, 5000, 30), (5, 7, 3), (700, 7, 100), (300, 300, 300)):
        x, w, bias = halves(dtype, rows, inner), halves(dtype, columns, inner, seed=1), halves(dtype, columns, seed=2)
        linear = facula.nn.functional.linear
        assert linear(x, w, bias).equal(linear(x.float(), w.float(), bias.float()).to(x.dtype))
        assert linear(x, w, bias[:1].expand(columns)).equal(linear(x.float(), w.float(), bias[:1].float().expand(columns)).to(x.dtype))
