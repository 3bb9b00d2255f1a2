"""Special functions at points whose values are stored to 20 digits (tools/make_special_values.py), in every floating dtype and layout.

The rows: erf erfc erfinv lgamma digamma i0 igamma igammac, _logit, _polygamma, and those named _special_ in the file of values.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from oracles.compare import spacing, values
from oracles.dtypes import PRECISION, WORDS

import facula
from facula.tensor_core import _ops, extend

TABLE = json.loads(Path(__file__).with_name("special_values.json").read_text())
ULP = {"float64": 6.0, "float32": 1.5, "float16": 0.6, "bfloat16": 0.6}
# an absolute error, in units of 2**-53 times max(1, |value|), where cancellation is in the function itself
LOOSE = {
    "digamma": 16, "lgamma": 8, "_polygamma": 40, "igamma": 60, "igammac": 400, "_special_zeta": 10, "erfinv": 4, "_special_ndtri": 6, "_special_airy_ai": 6,
    "_special_bessel_j0": 6, "_special_bessel_j1": 6, "_special_bessel_y0": 16, "_special_bessel_y1": 16, "_special_spherical_bessel_j0": 6,
    "_special_erfcx": 60, "_special_log_ndtr": 12, "_logit": 4,
}  # fmt: skip


def arguments(name, dtype):
    """(tensors as the op takes them, the exact values) of the points that the dtype holds exactly and whose values it can hold."""
    kind = getattr(facula, dtype)
    rows = TABLE[name]
    columns = [facula.tensor([r[k] for r in rows], dtype=facula.float64) for k in range(len(rows[0]) - 1)]
    exact = np.array([np.longdouble(r[-1]) for r in rows])
    held = np.abs(exact) < PRECISION[dtype].max
    for c in columns:
        held &= c.to(kind).to(facula.float64).numpy() == c.numpy()
    return [facula.tensor(c.numpy()[held].tolist(), dtype=kind) for c in columns], exact[held]


def called(name, tensors):
    row = getattr(_ops, name)
    if name == "_polygamma":
        x, n = tensors
        return facula.cat([row(x[k : k + 1], n=int(n[k])) for k in range(x.numel())])
    return row(*tensors)


KERNELS = [(name, dtype) for name in TABLE for dtype in ULP if dtype in WORDS[extend.ops[name].types]]


@pytest.mark.parametrize("name, dtype", KERNELS)
def test_values_are_the_stored_ones(name, dtype):
    tensors, exact = arguments(name, dtype)
    _, actual = values(called(name, tensors))
    floor = LOOSE.get(name, 60 if "polynomial" in name else 0) * np.longdouble(2) ** -53 * np.maximum(np.abs(exact), 1)
    allowed = ULP[dtype] * spacing(np.abs(exact), PRECISION[dtype]) + floor
    error = np.abs(actual.astype(np.longdouble) - exact)
    worst = int(np.argmax(error / allowed))

    assert error[worst] <= allowed[worst], f"{name}({[t[worst].item() for t in tensors]}) = {actual[worst]!r}, exact {exact[worst]}"


@pytest.mark.parametrize("name", [n for n in TABLE if n != "_polygamma"])
def test_strided_arguments_give_the_same_bits(name):
    tensors, _ = arguments(name, "float32")
    plain = called(name, tensors)
    doubled = [facula.stack([t, t], 1) for t in tensors]

    assert facula.equal(plain, called(name, [d[:, 1] for d in doubled]))
    assert facula.equal(plain, called(name, [d.t().contiguous()[0] for d in doubled]))


@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_axes_and_diagonals_have_the_nearest_angles(dtype):
    """Eighths of a circle, at every size of the point, and zeros with their signs."""
    sizes = [1, np.inf, *(2.0 ** (s * e) for e in ((30, 126) if dtype == "float32" else (300, 1022)) for s in (1, -1))]
    eighth = np.longdouble("0.785398163397448309615660845819875721")
    points = [(0.0, 1), (1, 1), (1, 0.0), (1, -0.0), (1, -1), (0.0, -1), (0.0, -0.0), (0.0, 0.0)]
    exact = np.array([k * eighth for k in (0, 1, 2, 2, 3, 4, 4, 0)]).astype(dtype)
    for size in sizes:
        y, x = ([float(np.copysign(0 if v == 0 else size, v)) for v in column] for column in zip(*points, strict=True))
        y, x = facula.tensor([y, x], dtype=getattr(facula, dtype))

        assert facula.atan2(y, x).tolist() == exact.tolist()
        assert facula.atan2(-y, x).tolist() == (-exact).tolist()
        assert not facula.signbit(facula.atan2(y, x)).any() and facula.signbit(facula.atan2(-y, x)).all()


@pytest.mark.parametrize(
    "name, x, exact",
    [
        ("bessel_j0", 2.404825557695773, -6.1087652597367303971e-17),
        ("bessel_j0", 5.520078110286311, -2.7522649432621831472e-17),
        ("bessel_j1", 3.8317059702075125, -6.1498073569949060914e-17),
        ("bessel_j1", 7.015586669815619, 2.8253394094789293756e-17),
    ],
)
def test_the_first_roots_of_a_bessel_function_keep_their_digits(name, x, exact):
    """At the numbers closest to them; all that is left there cancels out of x**2."""
    actual = getattr(facula.special, name)(facula.tensor([x] * 5 + [-x] + [40.0], dtype=facula.float64)).tolist()

    assert abs(actual[0] / exact - 1) < 2**-50
    assert actual[:5] == actual[:1] * 5 and abs(actual[5]) == abs(actual[0])


@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_zeta_of_no_order_is_infinite_at_a_pole(dtype):
    """As in PyTorch, beside what goes by loops and alone."""
    orders = facula.tensor([float("nan")] * 4 + [1.0, float("inf"), float("-inf"), 2.5], dtype=getattr(facula, dtype))
    bases = facula.tensor([-1.0, 0.0, 2.0, -0.5, float("nan"), float("nan"), 2.0, 3.0], dtype=orders.dtype)
    expected = ["inf", "inf", "nan", "nan", "inf", "nan", "nan"]
    together = facula.special.zeta(orders, bases)
    assert [repr(v) for v in together.tolist()[:7]] == expected
    assert [repr(facula.special.zeta(s, q).item()) for s, q in zip(orders[:7], bases)] == expected


@pytest.mark.parametrize("order,name", [(0, "i0"), (1, "i1")])
def test_a_modified_bessel_function_keeps_its_digits_where_its_series_ends(order, name):
    """Against the sum of its powers in fractions: sum of (x / 2)**(2 k + order) / (k! (k + order)!), (9.6.10) of Abramowitz and Stegun."""
    x = facula.linspace(0.5, 8.0, 61, dtype=facula.float64)
    found = getattr(facula.special, name)(x).tolist()
    for value, y in zip(x.tolist(), found):
        half = Fraction(value) / 2
        exact = float(sum(half ** (2 * k + order) / (math.factorial(k) * math.factorial(k + order)) for k in range(40)))

        assert abs(y - exact) <= 4 * math.ulp(exact), value
