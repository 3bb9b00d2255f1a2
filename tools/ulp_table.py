"""Measures the table of docs/numerics.md and writes it there: the largest error in ulps over random points, beside mpmath.

    PYTHONPATH=$(tools/pythonpath) python tools/ulp_table.py [points]
"""

import sys
from pathlib import Path

import mpmath as mp
import numpy as np

import facula
from facula.tensor_core import _ops

mp.mp.dps = 30
PAGE = Path(__file__).resolve().parent.parent / "docs/numerics.md"
START, END = "<!-- table: tools/ulp_table.py -->", "<!-- end of table -->"


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


# row: (exact, low, high, note)
ROWS = {
    "exp": (mp.exp, -80, 80), "exp2": (lambda x: mp.mpf(2) ** x, -100, 100), "expm1": (mp.expm1, -20, 20), "log": (mp.log, 0, 1e4), "log2": (lambda x: mp.log(x, 2), 0, 1e4),
    "log10": (mp.log10, 0, 1e4), "log1p": (mp.log1p, -0.999, 100), "sqrt": (mp.sqrt, 0, 1e6), "rsqrt": (lambda x: 1 / mp.sqrt(x), 0, 1e6), "sin": (mp.sin, -100, 100),
    "cos": (mp.cos, -100, 100), "tan": (mp.tan, -100, 100), "asin": (mp.asin, -1, 1), "acos": (mp.acos, -1, 1), "atan": (mp.atan, -50, 50), "sinh": (mp.sinh, -20, 20),
    "cosh": (mp.cosh, -20, 20), "tanh": (mp.tanh, -10, 10), "asinh": (mp.asinh, -1e3, 1e3), "acosh": (mp.acosh, 1, 1e3), "atanh": (mp.atanh, -0.999, 0.999),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), -80, 80), "erf": (mp.erf, -6, 6), "erfc": (mp.erfc, -5, 9), "erfinv": (mp.erfinv, -0.9999, 0.9999),
    "_special_ndtr": (ndtr, -12, 8), "_special_ndtri": (lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), 1e-6, 0.999), "_special_erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), -3, 50), "lgamma": (mp.loggamma, 2.5, 100), "digamma": (mp.digamma, 2, 100),
    "i0": (lambda x: mp.besseli(0, x), -30, 30), "_special_i1": (lambda x: mp.besseli(1, x), -30, 30), "_special_modified_bessel_k0": (lambda x: mp.besselk(0, x), 0, 40),
    "_special_modified_bessel_k1": (lambda x: mp.besselk(1, x), 0, 40), "_silu": (lambda x: x / (1 + mp.exp(-x)), -30, 30), "_gelu": (lambda x: x * ndtr(x), -10, 10),
    "_mish": (lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), -20, 20), "_softplus": (lambda x: mp.log1p(mp.exp(x)), -20, 19),
}  # fmt: skip


def worst(name, dtype, points):
    exact, low, high = ROWS[name]
    kind, bits = (np.float32, 24) if dtype == "float32" else (np.float64, 53)
    rng = np.random.default_rng(7)
    x = rng.uniform(low, high, points).astype(kind)
    x[: points // 4] = (x[: points // 4] * 10.0 ** rng.uniform(-4, 0, points // 4)).astype(kind)
    x = x[(x > low) & (x < high) & (x != 0)]
    y = getattr(_ops, name)(facula.tensor(x.tolist(), dtype=getattr(facula, dtype))).numpy()
    found = 0.0
    for a, b in zip(x, y):
        e = exact(mp.mpf(float(a)))
        unit = mp.mpf(2) ** (mp.floor(mp.log(abs(e), 2)) - (bits - 1)) if e else mp.mpf(2) ** -149
        found = max(found, float(abs(mp.mpf(float(b)) - e) / unit))
    return found


def table(points):
    lines = ["| function | from | to | float32 | float64 |", "|---|---|---|---|---|"]
    for name, (_, low, high) in ROWS.items():
        single, double = (worst(name, d, points) for d in ("float32", "float64"))
        lines.append(f"| {name.removeprefix('_special_').removeprefix('_')} | {low:g} | {high:g} | {single:.2f} | {double:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    text = PAGE.read_text()
    head, rest = text.split(START)
    tail = rest.split(END)[1]
    PAGE.write_text(f"{head}{START}\n{table(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)}\n{END}{tail}")
