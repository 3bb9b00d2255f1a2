"""Products of halves are rounded once, whichever way they go: float16's are those of the widened operands, bfloat16's those of pairs of steps."""

import functools

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


def float32_product(x, y):
    """What is rounded: for bfloat16 the order of docs/numerics.md, where products of two numbers are exact in float32."""
    if x.dtype != facula.bfloat16:
        return x.float() @ y.float()
    x, y = x.float().numpy(), y.float().numpy()
    if x.shape[-1] % 2:
        x, y = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, 1)]), np.pad(y, [(0, 0)] * (y.ndim - 2) + [(0, 1), (0, 0)])

    def chain(steps):
        total = np.float32(0)
        for step in steps:
            for k in (2 * step + 1, 2 * step):
                total = x[..., :, k, None] * y[..., None, k, :] + total
        return total

    supers, steps = [], x.shape[-1] // 2
    for begin in range(0, steps, BLOCK):
        block = range(begin, min(begin + BLOCK, steps))
        chains = [chain(block[r::CHAINS]) for r in range(CHAINS)] if len(block) == BLOCK else [chain(block)]
        whole = functools.reduce(np.add, chains)
        if begin % SUPER:
            supers[-1] = supers[-1] + whole
        else:
            supers.append(whole)
    return facula.from_numpy(functools.reduce(np.add, supers, np.float32(0)) + np.zeros(np.matmul(x, y).shape, np.float32))


BLOCK, CHAINS, SUPER = 256, 4, 16 * 256
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
        expected = float32_product(x, y).to(x.dtype)
        for a, b in ((x, y), (turned(x), y), (x, turned(y)), (turned(x), turned(y))):
            assert (a @ b).equal(expected), (left, right)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_a_bias_is_added_before_the_rounding(dtype):
    for rows, inner, columns in ((1, 5000, 30), (5, 7, 3), (700, 7, 100), (300, 300, 300)):
        x, w, bias = halves(dtype, rows, inner), halves(dtype, columns, inner, seed=1), halves(dtype, columns, seed=2)
        linear, product = facula.nn.functional.linear, float32_product(x, w.mT)
        for b in (bias, bias[:1].expand(columns)):
            assert linear(x, w, b).equal((product + b.float()).to(x.dtype))


@pytest.mark.parametrize("level", LEVELS[-2:])
def test_denormal_numbers_of_bfloat16_count_as_zero(level):
    """Those that are given, and those that come out: as its instruction has it, at every level."""
    lib.fc_set_isa_level(level)
    x = facula.tensor([[1e-39, 1.0], [1e-30, 0.0]], dtype=facula.bfloat16)
    for rows in (1, 2, 50):
        left = x.repeat(25, 1)[:rows]
        got = left @ facula.tensor([[1e30, 1e-10], [0.5, 0.25]], dtype=facula.bfloat16)
        assert got[0].tolist() == [0.5, 0.25]
        assert rows == 1 or (abs(got[1, 0].item() - 1) < 0.01 and got[1, 1].item() == 0)


@pytest.mark.parametrize("level", LEVELS[-2:])
@pytest.mark.parametrize("dtype", ("bfloat16", "float16"))
@pytest.mark.parametrize("shape", [(1, 5, 1), (3, 300, 4), (64, 64, 64), (100, 257, 33), (2, 5000, 3), (70, 4200, 9), (29, 1, 521), (31, 40, 800)])
@pytest.mark.parametrize("beta, alpha", [(1, 1), (0.5, 2), (0, 1), (1, -1.5)])
def test_sums_with_products_round_once(dtype, shape, beta, alpha, level):
    """addmm, baddbmm and addmv of halves, turned, over an operand and with an output: one rounding of the float sum."""
    lib.fc_set_isa_level(level)
    rng, kind = np.random.default_rng(0), getattr(facula, dtype)
    draw = lambda *sizes: facula.from_numpy(rng.standard_normal(sizes)).to(kind)
    rows, steps, columns = shape
    x, y = draw(rows, steps), draw(steps, columns)
    for given in (draw(rows, columns), draw(columns), draw(rows, 1), draw(columns, rows).t()):
        exact = alpha * (x.double() @ y.double()) + (beta * given.double() if beta else 0)
        got = facula.addmm(given, x, y, beta=beta, alpha=alpha)
        assert (abs(got.double() - exact) <= abs(exact) * facula.finfo(kind).eps / 2 + 1e-5 * steps**0.5).all()
        turned = facula.addmm(given, x.t().contiguous().t(), y.t().contiguous().t(), beta=beta, alpha=alpha)
        assert facula.equal(turned, got)
        if given.shape == got.shape:
            assert facula.equal(given.clone().addmm_(x, y, beta=beta, alpha=alpha), got)
            assert facula.equal(facula.addmm(given, x, y, beta=beta, alpha=alpha, out=facula.empty_like(got)), got)
            assert facula.equal(facula.baddbmm(given[None], x[None], y[None], beta=beta, alpha=alpha)[0], got)
            batch = facula.stack((given, given * 2))
            twice = facula.baddbmm(batch, facula.stack((x, y.new_zeros(x.shape))), facula.stack((y, y)), beta=beta, alpha=alpha)
            assert facula.equal(twice[0], got) and facula.equal(twice[1], given * 2 * beta)
            assert facula.equal(facula.addmv(given[:, 0], x, y[:, 0], beta=beta, alpha=alpha), got[:, 0])
