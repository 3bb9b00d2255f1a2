"""Functions of numbers whose easy runs take a shorter way: angles below 2**20, series, edges. The neighbours, and the instruction set, decide nothing."""

import math

import numpy as np
import pytest
from levels import LEVELS

import facula
from facula.tensor_core._lib import lib

pytestmark = pytest.mark.usefixtures("as_before")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["sin", "cos", "tan", "polar"])
def test_an_angle_does_not_depend_on_its_neighbours(name, dtype, level):
    lib.fc_set_isa_level(level)
    rng = np.random.default_rng(3)
    near = np.concatenate(
        [rng.uniform(-(2**20), 2**20, 300), rng.uniform(-9, 9, 300), 2.0 ** rng.uniform(-149, 20, 300)]
    ).astype(dtype)
    of = (lambda x: facula.polar(facula.ones_like(x), x)) if name == "polar" else getattr(facula, name)
    alone = of(facula.from_numpy(near)).numpy()
    beside = of(facula.from_numpy(np.append(near.repeat(2), near.dtype.type(2e20)))).numpy()[:-1:2]

    assert alone.tobytes() == beside.tobytes()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "x, sine, cosine, tangent",
    [
        ("0x1.6c6cbc45dc8dep+5", "0x1p+0", "-0x1.6d61b58c99c43p-61", "-0x1.66b9ebc4850c6p+60"),
        ("0x1.6c6cbc45dc8dep+6", "-0x1.6d61b58c99c43p-60", "-0x1p+0", "0x1.6d61b58c99c43p-60"),
        ("0x1.39c6fd67805a7p+18", "-0x1p+0", "-0x1.988efe18ff83fp-55", "0x1.40d0d167bccd6p+54"),
    ],
)
def test_doubles_closest_to_quarter_turns(x, sine, cosine, tangent, level):
    """Where most cancels of those below 2**20; the values are mpmath's, with 250 bits."""
    lib.fc_set_isa_level(level)
    angle = facula.tensor(float.fromhex(x), dtype=facula.float64)
    for of, expected in ((facula.sin, sine), (facula.cos, cosine), (facula.tan, tangent)):
        expected = float.fromhex(expected)
        assert abs(of(angle).item() - expected) <= math.ulp(expected)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_point_on_a_circle_is_its_cosine_and_sine(dtype, level):
    lib.fc_set_isa_level(level)
    generator = np.random.default_rng(3)
    near = facula.tensor(generator.standard_normal(999) * 10, dtype=getattr(facula, dtype))
    far = near * facula.tensor([1.0, 1e4, 1e18, 1e30], dtype=near.dtype)[facula.arange(999) % 4]
    far[:6] = facula.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-30], dtype=near.dtype)
    for angle in (near, far):
        point = facula.view_as_real(facula.polar(near.abs(), angle))

        for part, wave in zip(point.unbind(-1), (angle.cos(), angle.sin())):
            expected = near.abs() * wave
            assert np.array_equal(part.numpy(), expected.numpy(), equal_nan=True)
            finite = angle.isfinite().numpy()  # a NaN's sign is nobody's
            assert np.array_equal(np.signbit(part.numpy())[finite], np.signbit(expected.numpy())[finite])


SERIES = {
    "i0": lambda x: facula.i0(x),
    "i0e": lambda x: facula.special.i0e(x),
    "i1": lambda x: facula.special.i1(x),
    "i1e": lambda x: facula.special.i1e(x),
    "zeta": lambda x: facula.special.zeta(x.abs() + 1.001, x.abs() + 0.01),
    "zeta, large orders": lambda x: facula.special.zeta(x.abs() ** 3 + 1.001, x.abs() + 0.01),
    "trigamma": lambda x: facula.special.polygamma(1, x),
    "polygamma": lambda x: facula.special.polygamma(4, x),
    "erfcx": lambda x: facula.special.erfcx(x),
    "ndtri": lambda x: facula.special.ndtri(x),
    "lgamma": lambda x: facula.lgamma(x),
    "lgamma, below 0": lambda x: facula.lgamma(x),
    "erfinv": lambda x: facula.erfinv(x),
    "spherical_bessel_j0": lambda x: facula.special.spherical_bessel_j0(x),
}
WAVES = {name: getattr(facula.special, name) for name in ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1")}
SERIES |= {f"{name}, {side}": function for name, function in WAVES.items() for side in ("near", "far")}
# otherwise easy from -7.9 to 7.9, and hard at 20
EASY = {
    "trigamma": (0.001, 7.9), "polygamma": (0.001, 7.9), "erfcx": (1e-9, 26.9), "ndtri": (1e-9, 1 - 1e-7), "lgamma": (0.001, 30), "lgamma, below 0": (-1.99, 0),
    "erfinv": (-1, 1), "spherical_bessel_j0": (-900, 900), **{f"{name}, far": (8.1, 900) for name in WAVES}, **{f"{name}, near": (0.001, 7.9) for name in WAVES},
}  # fmt: skip
HARD = {
    "trigamma": [-2.5], "polygamma": [-2.5], "zeta": [np.nan], "zeta, large orders": [np.nan], "erfcx": [-3], "ndtri": [1e-30], "lgamma": [-0.5],
    "lgamma, below 0": [3, -40], "erfinv": [2], "spherical_bessel_j0": [1e30, np.nan],
    **{f"{name}, {side}": [1, 20, 1e30, -2, np.nan, np.inf] for name in WAVES for side in ("near", "far")},
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SERIES)
def test_a_series_does_not_depend_on_the_neighbours(name, dtype):
    rng = np.random.default_rng(5)
    easy = rng.uniform(*EASY.get(name, (-7.9, 7.9)), 700).astype(dtype)
    alone = SERIES[name](facula.from_numpy(easy)).numpy()
    for hard in HARD.get(name, [20]):
        mixed = np.append(easy.repeat(2), np.full(3, hard, dtype))
        mixed[1:400:50] = hard  # in the first run, too
        beside = SERIES[name](facula.from_numpy(mixed)).numpy()[:-3:2]

        assert alone.tobytes() == beside.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SERIES)
def test_a_series_has_the_same_bits_on_every_level(name, dtype):
    low, high = EASY.get(name, (-7.9, 7.9))
    x = facula.from_numpy(np.random.default_rng(5).uniform(2 * low, 2 * high, 1700).astype(dtype))
    found = set()
    for level in LEVELS:
        if level > 2:
            lib.fc_set_isa_level(level)
            found.add(np.nan_to_num(SERIES[name](x).numpy(), nan=-77).tobytes())

    assert len(found) <= 1


EDGES = {
    "bessel_j0": [(0, 1), (math.inf, math.nan), (-math.inf, math.nan), (math.nan, math.nan)],
    "bessel_j1": [(0, 0), (math.inf, math.nan), (-math.inf, math.nan), (math.nan, math.nan)],
    "bessel_y0": [
        (0, -math.inf),
        (-0.0, -math.inf),
        (-1e-300, math.nan),
        (-20, math.nan),
        (math.inf, math.nan),
        (-math.inf, math.nan),
        (math.nan, math.nan),
    ],
    "bessel_y1": [
        (0, -math.inf),
        (-0.0, -math.inf),
        (5e-324, -math.inf),
        (-3, math.nan),
        (-20, math.nan),
        (math.inf, math.nan),
        (math.nan, math.nan),
    ],
    "spherical_bessel_j0": [(0, 1), (math.inf, 0), (-math.inf, 0), (math.nan, math.nan)],
    "ndtri": [
        (0, -math.inf),
        (-0.0, -math.inf),
        (1, math.inf),
        (-1e-300, math.nan),
        (1.5, math.nan),
        (math.inf, math.nan),
        (math.nan, math.nan),
    ],
    "erfinv": [
        (0, 0),
        (1, math.inf),
        (-1, -math.inf),
        (1.0000000000000002, math.nan),
        (math.inf, math.nan),
        (math.nan, math.nan),
    ],
    "gammaln": [
        (0, math.inf),
        (-1, math.inf),
        (-2, math.inf),
        (1, 0),
        (2, 0),
        (math.inf, math.inf),
        (-math.inf, math.inf),
        (math.nan, math.nan),
    ],
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", EDGES)
def test_edges_are_the_same_alone_and_among_others(name, level):
    lib.fc_set_isa_level(level)
    x, expected = (np.array(column) for column in zip(*EDGES[name]))
    for others in ([], [0.3], [0.3, 50.0, -0.7, 1e30]):
        given = facula.tensor([*x.tolist() * 90, *others], dtype=facula.float64)
        actual = getattr(facula.special, name)(given).numpy()[: 90 * len(x)]

        assert np.array_equal(np.tile(expected, 90), actual, equal_nan=True)


@pytest.mark.parametrize("level", LEVELS)
def test_zeta_of_a_run_in_which_few_are_defined(level):
    lib.fc_set_isa_level(level)
    orders, bases = [0.5, 1, 2, 2, 2, 2.5, 3, math.nan, 2], [3, 3, 0, -1, 1, -0.5, -0.5, 2, math.nan]
    expected = [
        math.nan,
        math.inf,
        math.inf,
        math.inf,
        math.pi**2 / 6,
        math.nan,
        0.4143983221,
        math.nan,
        math.nan,
    ]  # 7 zeta(3) - 8
    actual = facula.special.zeta(
        facula.tensor(orders * 90, dtype=facula.float64), facula.tensor(bases * 90, dtype=facula.float64)
    ).numpy()

    assert np.allclose(expected * 90, actual, rtol=1e-9, atol=0, equal_nan=True)


@pytest.mark.parametrize("level", LEVELS)
def test_a_float_times_a_power_of_two_is_rounded_once(level):
    """Into what is denormal too, and beyond all exponents."""
    lib.fc_set_isa_level(level)
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [[0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, 2.0**-126, 1.5e-40], rng.standard_normal(300)]
    ).astype(np.float32)
    n = np.array(
        [
            0,
            1,
            -1,
            127,
            128,
            -126,
            -127,
            -148,
            -149,
            -150,
            -151,
            276,
            277,
            -277,
            -278,
            299,
            300,
            -301,
            5000,
            -5000,
            2**31 - 1,
            -(2**31),
        ]
    )
    x, n = (v.ravel() for v in np.meshgrid(x, n))
    with np.errstate(all="ignore"):
        exact = np.ldexp(x, n.clip(-5000, 5000).astype(np.int32))
    made = facula.ldexp(facula.from_numpy(x.copy()), facula.from_numpy(n.copy())).numpy()

    assert np.isnan(made).tolist() == np.isnan(exact).tolist()
    assert made[~np.isnan(made)].tobytes() == exact[~np.isnan(made)].tobytes()
