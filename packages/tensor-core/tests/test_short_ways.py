"""Loops that take a shorter way - halves in registers, integers as doubles, bytes by steps, runs that are easy - give what the long way gives."""

import math

import numpy as np
import pytest
from levels import LEVELS

import facula
from facula.tensor_core import _ops
from facula.tensor_core._lib import lib

HALVES = ("float16", "bfloat16")
pytestmark = pytest.mark.usefixtures("as_before")


def every_half(dtype, seed=None):
    bits = np.arange(1 << 16, dtype=np.uint16)
    if seed is not None:
        bits = np.random.default_rng(seed).permutation(bits)
    return facula.from_numpy(bits.view(np.int16)).view(getattr(facula, dtype))


def bits_of(x):
    """The bits of a half tensor, every NaN the same."""
    return np.where(np.isnan(x.float().numpy()), np.int16(0x7FFF), x.view(facula.int16).numpy())


ONE = ("neg", "abs", "relu", "square", "sqrt")
TWO = ("add", "sub", "mul", "div", "maximum", "minimum")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ONE + TWO)
def test_a_half_computes_in_float32_and_rounds_once(name, dtype, level):
    lib.fc_set_isa_level(level)
    for count in (1 << 16, 65531, 7):
        operands = [every_half(dtype)[-count:], every_half(dtype, 0)[-count:]][: 1 + (name in TWO)]
        options = {"alpha": 0.375} if name in ("add", "sub") and count != 7 else {}
        wide = getattr(facula, name)(*(x.float() for x in operands), **options)
        actual = getattr(facula, name)(*operands, **options)

        assert np.array_equal(bits_of(wide.to(actual.dtype)), bits_of(actual))


def test_a_factor_of_halves_is_not_rounded_first():
    x = facula.tensor([3.0, 1000.0], dtype=facula.float16)
    expected = [float(np.float16(np.float32(v) * np.float32(1.0009))) for v in (3.0, 1000.0)]

    assert expected == (x * 1.0009).tolist()
    assert expected == (x * facula.tensor(1.0009)).tolist()


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ("add", "sub", "rsub", "remainder", "fmod", "pow", "eq", "lt", "ge", "atan2", "hypot"))
def test_any_other_number_beside_a_half_is_rounded_to_its_dtype_first(name, dtype):
    x = every_half(dtype)[-65531:]
    for number in (0.1, 1.7, 3.3):
        held = facula.tensor(number, dtype=x.dtype)
        for other in (number, facula.tensor(number))[name in ("atan2", "hypot") :]:
            actual = getattr(facula, name)(x, other)

            assert np.array_equal(bits_of(getattr(facula, name)(x, held).to(x.dtype)), bits_of(actual.to(x.dtype)))


INTEGERS = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")


def pairs(dtype):
    """Operands around every edge of the dtype and of what doubles hold."""
    info = np.iinfo(dtype)
    edges = [0, 1, 2, 3, 7, 10, 255, 2**31, 2**51, 2**51 - 1, 2**53 + 1, info.max, info.max - 1, info.max // 3]
    edges = sorted({v for e in edges for v in (e, -e, info.min, info.min + 1) if info.min <= v <= info.max})
    rng = np.random.default_rng(5)
    small = [tuple(v) for v in rng.integers(max(info.min, -1000), min(info.max, 1000), (600, 2)).tolist()]
    any_ = [tuple(v) for v in rng.integers(info.min, info.max, (600, 2), dtype=dtype, endpoint=True).tolist()]
    return {"edges": [(a, b) for a in edges for b in edges if b], "small": [p for p in small if p[1]], "any": [p for p in any_ if p[1]]}


def wrapped(value, dtype):
    bits = np.iinfo(dtype).bits
    value &= (1 << bits) - 1
    return value - (1 << bits) if np.dtype(dtype).kind == "i" and value >> (bits - 1) else value


def cut(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


DIVISIONS = {
    "floor_divide": (facula.floor_divide, lambda a, b: a // b),
    "remainder": (facula.remainder, lambda a, b: a % b),
    "fmod": (facula.fmod, lambda a, b: a - cut(a, b) * b),
    "trunc": (lambda x, y: facula.div(x, y, rounding_mode="trunc"), cut),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", DIVISIONS)
def test_integers_divide_exactly(name, dtype, level):
    lib.fc_set_isa_level(level)
    function, exact = DIVISIONS[name]
    for kind, both in pairs(dtype).items():
        x, y = (facula.from_numpy(np.array(column, dtype)) for column in zip(*both))

        assert [wrapped(exact(a, b), dtype) for a, b in both] == function(x, y).tolist(), kind


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("name", DIVISIONS)
def test_every_byte_divides_every_other(name, dtype, level):
    lib.fc_set_isa_level(level)
    function, exact = DIVISIONS[name]
    every = range(np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
    expected = [[wrapped(exact(a, b), dtype) for b in every if b] for a in every]
    x, y = facula.tensor(every, dtype=getattr(facula, dtype)), facula.tensor([b for b in every if b], dtype=getattr(facula, dtype))

    assert expected == function(x[:, None], y).tolist()


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", DIVISIONS)
def test_a_number_divides_as_the_dtype_holds_it(name, dtype):
    function, exact = DIVISIONS[name]
    values = [v for v in (-100, -7, 0, 5, 100) if v >= np.iinfo(dtype).min]
    x = facula.tensor(values, dtype=getattr(facula, dtype))
    for number in (7, 100) + ((-3,) if np.iinfo(dtype).min else ()):
        assert [exact(v, number) for v in values] == function(x, number).tolist()


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", DIVISIONS)
def test_one_zero_among_many_divisors_raises(name, dtype):
    y = facula.ones(1000, dtype=getattr(facula, dtype))
    y[777] = 0
    with pytest.raises(RuntimeError, match="zero"):
        DIVISIONS[name][0](facula.ones_like(y), y)


@pytest.mark.parametrize("dtype", ("int8", "uint8"))
def test_bytes_shift_as_python_does(dtype):
    info = np.iinfo(dtype)
    values = np.arange(info.min, info.max + 1)
    x, y = (facula.from_numpy(a.astype(dtype).ravel()) for a in np.meshgrid(values, values, indexing="ij"))
    by = [(int(a), int(b)) for a in values for b in values]
    left = [wrapped(a << b, dtype) if 0 <= b < 8 else 0 for a, b in by]
    right = [a >> b if 0 <= b < 8 else (-1 if a < 0 else 0) for a, b in by]

    assert left == (x << y).tolist()
    assert right == (x >> y).tolist()


@pytest.mark.parametrize("other", ("bool", *INTEGERS, "float64", "complex64", "complex128"))
@pytest.mark.parametrize("dtype", HALVES)
def test_a_half_becomes_what_its_float32_becomes(dtype, other):
    x = every_half(dtype)
    expected, actual = (v.to(getattr(facula, other)).numpy() for v in (x.float(), x))

    assert np.array_equal(expected, actual, equal_nan=np.dtype(actual.dtype).kind in "fc")


@pytest.mark.parametrize("other", ("bool", *INTEGERS, "float64", "complex64", "complex128"))
@pytest.mark.parametrize("dtype", HALVES)
def test_what_becomes_a_half_passes_through_float32(dtype, other):
    x = (facula.arange(5000, dtype=facula.float64) * 17.3 - 30000).to(getattr(facula, other))

    assert np.array_equal(bits_of(x.to(facula.float32).to(getattr(facula, dtype))), bits_of(x.to(getattr(facula, dtype))))


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("name", ("elu", "selu", "celu"))
def test_a_positive_run_beside_a_negative_element(name, dtype):
    function = getattr(facula.nn.functional, name) if name == "elu" else getattr(facula, name)
    x = facula.from_numpy(np.random.default_rng(0).uniform(0.01, 4, 2000).astype(dtype))
    mixed = x.clone()
    mixed[::5] = -1

    assert np.array_equal(function(mixed).numpy()[1::5], function(x).numpy()[1::5])
    assert math.isnan(function(facula.tensor([math.nan] * 3))[0].item())


@pytest.mark.parametrize("dtype", ("complex64", "complex128"))
def test_complex_division_by_zero_and_of_extremes(dtype):
    big = 1e38 if dtype == "complex64" else 1e307
    x = facula.tensor([complex(1, -2), complex(big, big), complex(1 / big, 0), complex(3, 4), complex(0, 0)] * 5, dtype=getattr(facula, dtype))
    y = facula.tensor([complex(0, 0), complex(big, -big), complex(2 / big, 0), complex(1, 2), complex(0, 0)] * 5, dtype=getattr(facula, dtype))
    quotient = (x / y).numpy()

    assert complex(math.inf, -math.inf) == quotient[0]
    assert np.allclose(quotient[1:4], [1j, 0.5, 2.2 - 0.4j])
    assert np.isnan(quotient[4].real) and np.isnan(quotient[4].imag)
    assert quotient[:5].tobytes() == quotient[-5:].tobytes()


def turned(a):
    return facula.from_numpy(np.ascontiguousarray(a.swapaxes(-1, -2))).transpose(-1, -2)


@pytest.mark.parametrize("shape", [(16, 16), (17, 33), (250, 400), (3, 40, 70), (2, 3, 17, 140)], ids=str)
@pytest.mark.parametrize("dtype", ("uint8", "int16", "float16", "float32", "float64", "complex128"))
def test_transposed_operands_are_turned_in_tiles(dtype, shape):
    rng = np.random.default_rng(1)
    a, b = (rng.integers(1, 60, shape).astype(dtype) for _ in range(2))
    plain = facula.from_numpy(b)
    for x, y in (
        (turned(a), plain),
        (plain, turned(a)),
        (turned(a)[..., 1:], plain[..., 1:]),
        (turned(a)[..., 1:, :], plain[..., 1:, :]),
        (plain, turned(a)[..., :1]),
        (plain, turned(a).to(facula.complex128)),
    ):
        expected = x.numpy() + y.numpy()
        out = facula.empty(expected.shape, dtype=facula.complex128)

        assert np.array_equal(expected, (x + y).numpy())
        assert np.array_equal(expected, facula.add(x, y, out=out).numpy())
        assert np.array_equal(x.numpy() == y.numpy(), (x == y).numpy())


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("columns", [2, 3, 7, 64, 400, 513])
def test_a_row_that_is_seen_again_gives_what_its_copies_give(columns, threads):
    rng = np.random.default_rng(columns)
    rows = 120_000 // columns
    before = facula.get_num_threads()
    facula.set_num_threads(threads)
    try:
        for wide, narrow in (("float32", "float32"), ("float32", "uint8"), ("uint8", "uint8"), ("float16", "float16"), ("int64", "bool"), ("complex64", "float32")):
            x = facula.from_numpy(rng.integers(0, 9, (rows, columns))).to(getattr(facula, wide))
            row = facula.from_numpy(rng.integers(0, 9, columns)).to(getattr(facula, narrow))
            copies = row.expand(rows, columns).contiguous()
            for f in (facula.add, facula.sub, facula.eq, facula.mul):
                for one, other in ((x, row), (row, x)):
                    if narrow != "bool" or f is not facula.sub:
                        expected = f(*(copies if t is row else t for t in (one, other)))

                        assert facula.equal(expected, f(one, other))
            assert facula.equal(facula.neg(x * 0 + copies), facula.neg((x * 0 + row)))
            if narrow != "bool":
                assert facula.equal(facula.square(copies), facula.square(row.expand(rows, columns)))
            assert facula.equal(x + copies, x.clone().add_(row))
    finally:
        facula.set_num_threads(before)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("shape", ((15, 40), (16, 16), (17, 70), (70, 17), (33, 95)))
def test_bytes_turn_as_a_copy_does(shape, level):
    lib.fc_set_isa_level(level)
    x = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)

    assert x.T.tolist() == facula.from_numpy(x).t().contiguous().tolist()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ("uint8", "int16", "float32", "float64", "complex128"))
def test_every_second_element_is_copied_and_computed_with(dtype, level):
    lib.fc_set_isa_level(level)
    for n in (*range(1, 70), 511, 513, 1025):
        for first in (0, 1):
            x = (np.arange(2 * n + 3) % 97).astype(dtype)[first : first + 2 * n : 2]
            view = facula.from_numpy(x.base)[first : first + 2 * n : 2]
            assert view.stride() == (2,)
            assert np.array_equal(view.contiguous().numpy(), x) and np.array_equal((view + view).numpy(), x + x)
            assert view.sum().item() == x.sum()


@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "float64", "complex64"))
def test_a_far_matrix_turns_as_a_near_one(dtype):
    x = facula.arange(1200 * 1100).remainder(251).to(getattr(facula, dtype)).view(1200, 1100)
    turned = x.t().contiguous()

    assert x.to(facula.complex64).numpy().T.tobytes() == turned.to(facula.complex64).numpy().tobytes()


@pytest.mark.parametrize("columns", range(1, 8))
def test_a_product_with_fewer_columns_than_lines_of_a_vector_is_that_of_more(columns):
    a, b = facula.randn(7, 700), facula.randn(16, 700)
    for x, y in ((a, b), (a.double(), b.double())):
        for rows in range(1, 8):
            assert facula.equal((x @ y.t())[:rows, :columns], x[:rows] @ y[:columns].t())


@pytest.mark.parametrize("dtype", ("float32", "int16", "int64"))
def test_short_lines_sort_as_long_ones(dtype):
    """Lines of every length that is merged, and both kinds of key: of 32 bits or less, and longer."""
    rng = np.random.default_rng(4)
    for n in (*range(1, 70), 127, 128, 129):
        x = rng.integers(-20, 20, (5, n)).astype(dtype) * (1 << 40 if dtype == "int64" else 1)
        value, index = facula.sort(facula.from_numpy(x), 1, stable=True)
        order = np.argsort(x, 1, kind="stable")

        assert np.array_equal(order, index.numpy()) and np.array_equal(np.take_along_axis(x, order, 1), value.numpy())


@pytest.mark.parametrize("level", LEVELS)
def test_int64_becomes_the_nearest_float64(level):
    lib.fc_set_isa_level(level)
    near = [s * (1 << p) + d for p in (0, 31, 52, 53, 54, 61, 62) for d in (-3, -1, 0, 1, 3) for s in (-1, 1)] + [-(1 << 63), (1 << 63) - 1]

    assert [float(v) for v in near] == facula.tensor(near).double().tolist()


@pytest.mark.parametrize("size", (1, 2, 3, 1023, 1024, 1025, 5000))
def test_bincount_counts_neighbours_apart(size):
    x = np.random.default_rng(size).integers(0, size, 1001)

    assert np.bincount(x, minlength=size).tolist() == facula.bincount(facula.from_numpy(x), minlength=size).tolist()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64", "bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))])
def test_both_extremes_of_long_memory_are_each_ones(dtype, level):
    lib.fc_set_isa_level(level)
    x = facula.tensor(np.random.default_rng(0).standard_normal(1_234_567) * 40).to(getattr(facula, dtype))
    zeros = facula.zeros(1_100_000, dtype=x.dtype)
    zeros[5::7] = -0.0
    for given in (x, zeros, *([facula.cat([x, facula.tensor([math.nan], dtype=x.dtype), x])] if x.is_floating_point() else [])):
        for threads in (1, 3):
            before = facula.get_num_threads()
            facula.set_num_threads(threads)
            least, greatest = facula.aminmax(given)
            facula.set_num_threads(before)

            for actual, expected in ((least, given.amin()), (greatest, given.amax())):
                assert facula.equal(actual, expected) or (actual.isnan() and expected.isnan())
                assert facula.signbit(actual) == facula.signbit(expected)


def test_long_reductions_have_many_results():
    """More blocks than one and more columns than are concluded at once."""
    x = facula.zeros(4097, 4099, dtype=facula.float16)
    at = np.arange(4099) * 7 % 4097
    x[facula.from_numpy(at), facula.arange(4099)] = 1
    assert (x.argmax(0).numpy() == at).all()
    assert (facula.linalg.vector_norm(x[:, :1001].float(), 0, dim=0) == 1).all()
    assert (x.float().std(0) > 0).all()


LINES = [((7, 1), 0), ((1, 9, 3), 0), ((40, 3), 1), ((9, 5, 7), 1), ((3, 5, 7), 1), ((20, 11, 17), 1), ((2, 20, 70), 1), ((300, 5), 0), ((2, 4097, 3), 1), ((40, 200), 1), ((2, 0, 3), 2)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", (facula.float32, facula.float64))
@pytest.mark.parametrize(("shape", "dim"), LINES)
def test_softmax_of_lines_in_tiles_is_that_of_each_line_alone(shape, dim, dtype, level):
    lib.fc_set_isa_level(level)
    x, g = (facula.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype) * 3 for seed in (0, 1))
    x.view(-1)[::97] = -math.inf
    for forward, backward in ((_ops.softmax, _ops._softmax_backward), (_ops.log_softmax, _ops._log_softmax_backward)):
        for threads in (1, 3):
            facula.set_num_threads(threads)
            out = forward(x, dim)
            dx = backward(g, out, dim)
            for a, b, c, d in zip(*(t.movedim(dim, -1).reshape(-1, shape[dim]) for t in (x, out, g, dx)), strict=True):
                assert np.array_equal(forward(a, 0).numpy(), b.numpy(), equal_nan=True)
                assert np.array_equal(backward(c, b.clone(), 0).numpy(), d.numpy(), equal_nan=True)


@pytest.mark.parametrize("dtype", (facula.float32, facula.float64))
@pytest.mark.parametrize("shape", [(4, 1), (33, 5), (130, 32), (50, 100), (8193, 3), (3, 7, 1), (0, 4)])
def test_normalised_short_rows_are_those_of_each_row_alone(shape, dtype):
    x, g, w, b = (facula.from_numpy(np.random.default_rng(seed).normal(size=s)).to(dtype) for seed, s in enumerate((shape, shape, shape[-1:], shape[-1:])))
    seen = []
    for level in LEVELS:  # the lowest has the long way alone, and nothing here is fused
        lib.fc_set_isa_level(level)
        for threads in (1, 3):
            facula.set_num_threads(threads)
            for affine in ((w, b), (None, None)):
                out, mean, rstd = _ops._layer_norm(x, *affine, 1, 1e-5)
                dx, dw, db = _ops._layer_norm_backward(g, x, mean, rstd, affine[0], 1)
                y, r = _ops._rms_norm(x, affine[0], 1, 1e-5)
                seen.append((out, mean, rstd, dx, dw, db, y, r, *_ops._rms_norm_backward(g, x, r, affine[0], 1)))
                for row, expected in zip(x.view(-1, shape[-1])[:20], out.view(-1, shape[-1]), strict=False):
                    assert facula.equal(_ops._layer_norm(row, *affine, 1, 1e-5)[0], expected)
    for k, results in enumerate(seen):
        for a, b in zip(seen[k % 2], results, strict=True):
            assert facula.equal(a, b)


@pytest.mark.parametrize("dtype", (facula.float32, facula.float64))
@pytest.mark.parametrize("shape", [(5, 3, 2), (4100, 2, 3), (40, 33, 5), (2, 20, 16), (1, 7, 3), (70, 4), (9, 64, 1), (3, 2, 17), (7, 1, 2, 2), (0, 2, 3)])
def test_small_planes_are_normalised_as_one_by_one(shape, dtype):
    channels = shape[1:2]
    x, g, w, b = (facula.from_numpy(np.random.default_rng(seed).normal(size=s)).to(dtype) for seed, s in enumerate((shape, shape, channels, channels)))
    seen = []
    for level in LEVELS:  # the lowest has the long way alone, and nothing here is fused
        lib.fc_set_isa_level(level)
        for threads in (1, 3):
            facula.set_num_threads(threads)
            for affine in ((w, b), (w, None), (None, b), (None, None)):
                results = []
                if shape[0] > 0:
                    out, mean, invstd, var = _ops._batch_norm_train(x, *affine, 1e-5)
                    results += [out, mean, invstd, var]
                    for train in (True, False):
                        results += _ops._batch_norm_backward(g, x, mean, invstd, affine[0], train)
                    results += _ops._batch_norm_eval(x, mean, var, *affine, 1e-5)
                for groups in {1, shape[1]}:
                    out, mean, rstd = _ops._group_norm(x, *affine, groups, 1e-5)
                    results += [out, mean, rstd, *_ops._group_norm_backward(g, x, mean, rstd, affine[0], groups)]
                seen.append(results)
    for k, results in enumerate(seen):
        for expected, actual in zip(seen[k % 4], results, strict=True):
            assert np.array_equal(expected.numpy(), actual.numpy(), equal_nan=True)


@pytest.mark.parametrize("dtype", (facula.float32, facula.float64))
@pytest.mark.parametrize("shape", [(2, 3, 9), (40, 3, 5), (33, 1, 4, 3), (3, 5, 6, 31), (2, 9, 3, 4, 5), (5, 2, 40, 40)])
def test_pools_of_short_rows_are_those_of_each_plane_alone(shape, dtype):
    x = facula.from_numpy(np.random.default_rng(0).normal(size=shape)).to(dtype)
    x.view(-1)[::7] = 1.5
    x.view(-1)[::29] = math.nan
    for kernel, stride, pad, dilation in ((2, 1, 0, 1), (3, 2, 1, 1), (2, 3, 1, 2)):
        three = [[v if d >= 5 - len(shape) else one for d in range(3)] for v, one in ((kernel, 1), (stride, 1), (pad, 0), (dilation, 1))]
        for threads in (1, 3):
            facula.set_num_threads(threads)
            pools = [lambda x: _ops.max_pool(x, *three, False), lambda x: (_ops._max_pool_values(x, *three, False),)]
            if len(shape) < 5 or min(shape[2:]) >= kernel:
                pools.append(lambda x: (_ops.avg_pool(x, *three[:3], False, False, 0),))
            for pool in pools:
                for k, result in enumerate(pool(x)):
                    alone = [pool(plane[None, None])[k][0, 0] for plane in x.view(-1, *shape[2:])]
                    assert np.array_equal(facula.stack(alone).numpy().reshape(result.shape), result.numpy(), equal_nan=True)


@pytest.mark.parametrize("dtype", (facula.float32, facula.float64))
@pytest.mark.parametrize("shape", [(4, 3), (37, 1), (130, 64), (20, 65), (0, 5)])
def test_cross_entropy_of_few_classes_is_that_of_each_row_alone(shape, dtype):
    rng = np.random.default_rng(0)
    x, g, w = (facula.from_numpy(rng.normal(size=s)).to(dtype) for s in (shape, shape[:1], shape[1:]))
    target = facula.from_numpy(rng.integers(0, shape[1], shape[0]))
    target[1::5] = -100
    x.view(-1)[::31] = -math.inf
    for weight in (None, w.abs()):
        for smoothing in (0.0, 0.25):
            for threads in (1, 3):
                facula.set_num_threads(threads)
                loss, lse, total = _ops._cross_entropy(x, target, weight, 0, -100, smoothing)
                dx = _ops._cross_entropy_backward(g, x, target, lse, total, weight, 0, -100, smoothing)
                for k in range(shape[0]):
                    one = slice(k, k + 1)
                    alone = _ops._cross_entropy(x[one], target[one], weight, 0, -100, smoothing)
                    d_alone = _ops._cross_entropy_backward(g[one], x[one], target[one], alone[1], alone[2], weight, 0, -100, smoothing)
                    for a, b in ((alone[0], loss[one]), (alone[1], lse[one]), (d_alone, dx[one])):
                        assert np.array_equal(a.numpy(), b.numpy(), equal_nan=True)


def test_a_table_of_halves_is_looked_up_as_it_lies():
    index = facula.tensor([[65535, 0], [31745, 7]])
    for dtype in HALVES:
        table = every_half(dtype)
        assert facula.equal(table.view(facula.int16)[index], _ops._embedding(table, index).view(facula.int16))
        turned = facula.stack([table, table.flip(0)]).t()
        assert np.array_equal(bits_of(turned[index]), bits_of(_ops._embedding(turned, index)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", HALVES)
def test_the_neighbour_of_a_half_is_a_half(dtype, level):
    lib.fc_set_isa_level(level)
    x = every_half(dtype)
    x = facula.sort(x[facula.isfinite(x) & (x != 0)]).values  # but for the two zeros in the middle each is the next one's neighbour
    up, down = (facula.nextafter(x, x.new_full((), to)) for to in (math.inf, -math.inf))
    middle = x.numel() // 2
    assert up[middle - 1] == 0 == down[middle] and bool(facula.signbit(facula.nextafter(x[:1] * 0, -x[-1:])))
    for part in (slice(None, middle), slice(middle, None)):
        assert facula.equal(up[part][:-1], x[part][1:]) and facula.equal(down[part][1:], x[part][:-1])
    assert facula.nextafter(x[:1], x[:1] * math.nan).isnan().item() and facula.equal(facula.nextafter(x, x), x)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
def test_what_is_chosen_of_eight_is_what_is_true(dtype):
    rng = np.random.default_rng(0)
    for count in (*range(40), 255 * 8, 255 * 8 + 1, 5000):
        for share in (0.0, 0.05, 0.3, 0.9, 1.0):
            true, x = rng.random(count) < share, (rng.random(count) * 100).astype(dtype)
            mask = facula.from_numpy(true)

            assert np.array_equal(facula.masked_select(facula.from_numpy(x), mask).numpy(), x[true])
            assert np.array_equal(facula.nonzero(mask).numpy()[:, 0], np.nonzero(true)[0])
