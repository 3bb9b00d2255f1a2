"""Measures the table of docs/numerics.md and writes it there: the largest error in units of the last place, and PyTorch's beside it.

float64: random points of the interval, and special ones, against mpmath. float32: every 1009th number of the interval, by its bits, against
the float64 row of the same name, whose error the next columns tell.

    PYTHONPATH=$(tools/pythonpath) python tools/ulp_table.py [points] [name,name]      names: print them, write nothing
"""

import sys
from pathlib import Path

import mpmath as mp
import numpy as np

import facula
import facula.nn.functional
from facula.tensor_core import _ops

try:
    import torch
except ImportError:
    torch = None

mp.mp.dps = 30
PAGE = Path(__file__).resolve().parent.parent / "docs/numerics.md"
START, END = "<!-- table: tools/ulp_table.py -->", "<!-- end of table -->"
STRIDE = 1009


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def gelu_tanh(x):
    return x / (1 + mp.exp(-2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3)))


def log_ndtr(x):
    return mp.log1p(-ndtr(-x)) if x > 0 else mp.log(ndtr(x))


def normal_quantile(p):
    """From below 1/2, where 2 p - 1 keeps too few digits, by Newton's steps."""
    x = mp.sqrt(2) * mp.erfinv(2 * p - 1) if p > 1e-5 else -mp.sqrt(-2 * mp.log(p))
    for _ in range(0 if p > 1e-5 else 8):
        x -= mp.log(ndtr(x) / p) * ndtr(x) / mp.npdf(x)
    return x


# row: (exact, low, high)
ROWS = {
    "exp": (mp.exp, -87, 88), "exp2": (lambda x: mp.mpf(2) ** x, -125, 127), "expm1": (mp.expm1, -80, 80), "log": (mp.log, 0, 1e30), "log2": (lambda x: mp.log(x, 2), 0, 1e30),
    "log10": (mp.log10, 0, 1e30), "log1p": (mp.log1p, -0.99999, 1e30), "sqrt": (mp.sqrt, 0, 1e30), "rsqrt": (lambda x: 1 / mp.sqrt(x), 0, 1e30), "sin": (mp.sin, -1000, 1000),
    "cos": (mp.cos, -1000, 1000), "tan": (mp.tan, -1000, 1000), "asin": (mp.asin, -1, 1), "acos": (mp.acos, -1, 1), "atan": (mp.atan, -1e9, 1e9), "sinh": (mp.sinh, -80, 80),
    "cosh": (mp.cosh, -80, 80), "tanh": (mp.tanh, -80, 80), "asinh": (mp.asinh, -1e9, 1e9), "acosh": (mp.acosh, 1, 1e9), "atanh": (mp.atanh, -1, 1),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), -85, 80), "_log_sigmoid": (lambda x: -mp.log1p(mp.exp(-x)), -1e4, 80), "_logit": (lambda x: mp.log(x) - mp.log1p(-x), 0, 1),
    "sinc": (lambda x: mp.sinc(mp.pi * x), -10, 10), "erf": (mp.erf, -6, 6), "erfc": (mp.erfc, -6, 9), "erfinv": (mp.erfinv, -1, 1),
    "_special_ndtr": (ndtr, -12, 8), "_special_ndtri": (normal_quantile, 0, 1), "_special_log_ndtr": (log_ndtr, -1000, 12), "_special_erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), -9, 1000),
    "_special_entr": (lambda x: -x * mp.log(x), 0, 1e9), "lgamma": (lambda x: mp.log(abs(mp.gamma(x))) if abs(x) < 50 else mp.re(mp.loggamma(x)), 0, 1e9), "digamma": (mp.digamma, 2, 1e9),
    "i0": (lambda x: mp.besseli(0, x), -80, 80), "_special_i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), -1000, 1000), "_special_i1": (lambda x: mp.besseli(1, x), -80, 80),
    "_special_i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), -1000, 1000), "_special_modified_bessel_k0": (lambda x: mp.besselk(0, x), 0, 80),
    "_special_modified_bessel_k1": (lambda x: mp.besselk(1, x), 0, 80), "_silu": (lambda x: x / (1 + mp.exp(-x)), -80, 1e9), "_gelu": (lambda x: x * ndtr(x), -13, 1e9),
    "_gelu_tanh": (gelu_tanh, -9, 1e9), "_mish": (lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), -80, 1e9), "_softplus": (lambda x: mp.log1p(mp.exp(x)), -85, 19),
    "selu": (lambda x: mp.mpf(1.0507009873554805) * (x if x > 0 else mp.mpf(1.6732632423543772) * mp.expm1(x)), -80, 1e9),
}  # fmt: skip


def theirs(name):
    plain = name.removeprefix("_special_").removeprefix("_")
    if name == "_gelu_tanh":
        return lambda x: torch.nn.functional.gelu(x, approximate="tanh")
    return next(getattr(place, n) for place in (torch, torch.special, torch.nn.functional) for n in (plain, plain.replace("log_sigmoid", "logsigmoid")) if hasattr(place, n))


def called(name, library, x):
    f = getattr(_ops, name) if library is facula else theirs(name)
    return f(library.from_numpy(x)).numpy()


def every_float(low, high):
    """Each STRIDE-th float32 strictly between, by its bits."""
    ends = [np.array([abs(v)], np.float32).view(np.uint32)[0] for v in (low, high)]
    parts = []
    if high > 0:
        parts.append(np.arange(ends[0] if low > 0 else 1 << 23, ends[1], STRIDE, dtype=np.uint32).view(np.float32))
    if low < 0:
        parts.append(-np.arange(1 << 23, ends[0], STRIDE, dtype=np.uint32).view(np.float32))
    x = np.concatenate(parts)
    return x[(x > low) & (x < high)]


def worst_float32(name, library):
    _, low, high = ROWS[name]
    x = every_float(low, high)
    exact, y = called(name, facula, x.astype(np.float64)), called(name, library, x).astype(np.float64)
    unit = np.exp2(np.maximum(np.floor(np.log2(np.maximum(np.abs(exact), 2.0**-126))), -126) - 23)
    kept = np.abs(exact) < 3.4e38
    return float(np.max((np.abs(y - exact) / unit)[kept]))


def points_float64(low, high, count):
    rng = np.random.default_rng(7)
    x = rng.uniform(max(low, -1e3), min(high, 1e3), count)
    x[: count // 4] *= 10.0 ** rng.uniform(-12, 0, count // 4)
    if low in (-1, 1, 0) or high == 1:
        near = [v + s * 10.0 ** -rng.uniform(0, 15, count // 8) for v, s in ((low, 1), (high, -1)) if abs(v) <= 1]
        x = np.concatenate([x, *near])
    return x[(x > low) & (x < high) & (x != 0)]


def worst_float64(name, libraries, count):
    exact, low, high = ROWS[name]
    x = points_float64(low, high, count)
    results = [called(name, library, x) for library in libraries]
    found = [0.0] * len(libraries)
    for k, value in enumerate(x):
        e = exact(mp.mpf(float(value)))
        unit = mp.mpf(2) ** (mp.floor(mp.log(abs(e), 2)) - 52) if e else mp.mpf(2) ** -1074
        for j, y in enumerate(results):
            found[j] = max(found[j], float(abs(mp.mpf(float(y[k])) - e) / unit))
    return found


def shown(v):
    return f"{v:.2f}" if v < 100 else f"{v:.0e}".replace("e+0", "e").replace("e+", "e")


def table(points, names):
    libraries = [facula, torch] if torch else [facula]
    heads = [f"{who}{d}" for d in ("float32", "float64") for who in ("", "PyTorch's ")[: len(libraries)]]
    lines = [f"| function | from | to | {' | '.join(heads)} |", "|---" * (3 + len(heads)) + "|"]
    for name in names:
        _, low, high = ROWS[name]
        cells = [worst_float32(name, library) for library in libraries] + worst_float64(name, libraries, points)
        lines.append(f"| {name.removeprefix('_special_').removeprefix('_')} | {low:g} | {high:g} | {' | '.join(map(shown, cells))} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    made = table(points, sys.argv[2].split(",") if len(sys.argv) > 2 else ROWS)
    if len(sys.argv) < 3:
        text = PAGE.read_text()
        head, rest = text.split(START)
        PAGE.write_text(f"{head}{START}\n{made}\n{END}{rest.split(END)[1]}")
