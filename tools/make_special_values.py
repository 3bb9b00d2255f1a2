"""Writes packages/tensor-core/tests/special_values.json: special functions at a few points, exact to 20 digits. Needs mpmath.

    python tools/make_special_values.py
"""

import json
from pathlib import Path

import mpmath as mp

mp.mp.dps = 40
ROOT = Path(__file__).resolve().parent.parent
R2 = mp.sqrt(2)

wide = [-30.25, -8.5, -5.5, -3.75, -2.25, -1.5, -0.875, -0.25, -1e-3, 1e-5, 0.125, 0.5, 1.25, 2.5, 4.75, 7.0, 9.5, 25.0, 80.0]
positive = [1e-6, 1e-3, 0.125, 0.5, 0.9375, 1.25, 1.96875, 2.0625, 3.5, 5.5, 7.875, 8.25, 12.0, 30.5, 95.0]
moderate = [x for x in wide if abs(x) < 26]
unit = [-0.9990234375, -0.75, -0.25, -1e-4, 1e-5, 0.125, 0.5, 0.875, 0.99609375]
shares = [1e-10, 1e-3, 0.0625, 0.25, 0.375, 0.5, 0.6875, 0.9375, 0.9990234375]
points = [-3.25, -1.0, -0.625, -0.125, 0.25, 0.5, 0.96875, 1.0, 2.75]
degrees = [0, 1, 2, 3, 5, 7, 10, 12]
shapes = [0.125, 0.5, 1.0, 3.5, 9.75, 30.0, 150.0]
# where formulas change, and beside the roots
bessel = [5e-300, 1.40625, 1.4375, 2.234375, 2.2421875, 8.0, 8.0000152587890625, 8.653727912911013, 11.791534439014281, 1048575.5, 1048576.5, 1e15]
steps = [-1e-300, -1.2e-16, -0.9999999999999999, -1.0000000000000002, -1.0625, -1.6931596527909907, -1.9999999999999998, -2.0000000000000004]
ends = [1e-300, 0.6499999999999999, 0.65, 0.9999999999999999]


def ndtr(x):
    return mp.erfc(-x / R2) / 2


def zeta(s, q):
    return mp.zeta(s, q)


def u(n, x):
    """sum of (-1)^k (n - k choose k) (2 x)^(n - 2 k)"""
    n = int(n)
    return mp.fsum((-1) ** k * mp.binomial(n - k, k) * (2 * x) ** (n - 2 * k) for k in range(n // 2 + 1)) if n >= 0 else mp.mpf(0)


def t(n, x):
    return (u(n, x) - u(n - 2, x)) / 2 if n else mp.mpf(1)


def hermite(n, x, scale):
    """n! sum of (-1)^m (scale x)^(n - 2 m) / (m! (n - 2 m)! 2^m), the last for scale 1 alone"""
    n = int(n)
    return mp.fsum((-1) ** m * mp.factorial(n) * (scale * x) ** (n - 2 * m) / mp.factorial(m) / mp.factorial(n - 2 * m) / mp.mpf(2) ** (m if scale == 1 else 0) for m in range(n // 2 + 1))


def laguerre(n, x):
    return mp.fsum((-1) ** k * mp.binomial(n, k) * x**k / mp.factorial(k) for k in range(int(n) + 1))


def legendre(n, x):
    n = int(n)
    return mp.fsum((-1) ** k * mp.binomial(n, k) * mp.binomial(2 * n - 2 * k, n) * x ** (n - 2 * k) for k in range(n // 2 + 1)) / mp.mpf(2) ** n


def v(n, x):
    return u(n, x) - u(n - 1, x)


def w(n, x):
    return u(n, x) + u(n - 1, x)


ONE = {
    "erf": (mp.erf, wide), "erfc": (mp.erfc, moderate), "erfinv": (mp.erfinv, unit + ends), "lgamma": (lambda x: mp.log(abs(mp.gamma(x))), wide + positive + steps),
    "digamma": (mp.digamma, [x for x in wide if x != 1.25] + positive), "i0": (lambda x: mp.besseli(0, x), wide),
    "_special_i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), wide), "_special_i1": (lambda x: mp.besseli(1, x), wide),
    "_special_i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), wide), "_special_ndtr": (ndtr, moderate),
    "_special_ndtri": (lambda p: R2 * mp.erfinv(2 * p - 1), shares), "_special_log_ndtr": (lambda x: mp.log(ndtr(x)), wide),
    "_special_entr": (lambda x: -x * mp.log(x), positive), "_special_erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), moderate),
    "_special_bessel_j0": (lambda x: mp.besselj(0, x), wide + bessel), "_special_bessel_j1": (lambda x: mp.besselj(1, x), wide + bessel),
    "_special_bessel_y0": (lambda x: mp.bessely(0, x), positive + bessel), "_special_bessel_y1": (lambda x: mp.bessely(1, x), positive + bessel),
    "_special_modified_bessel_k0": (lambda x: mp.besselk(0, x), positive), "_special_modified_bessel_k1": (lambda x: mp.besselk(1, x), positive),
    "_special_scaled_modified_bessel_k0": (lambda x: mp.besselk(0, x) * mp.exp(x), positive),
    "_special_scaled_modified_bessel_k1": (lambda x: mp.besselk(1, x) * mp.exp(x), positive),
    "_special_spherical_bessel_j0": (lambda x: mp.sin(x) / x, wide + bessel), "_special_airy_ai": (mp.airyai, moderate),
    "_logit": (lambda p: mp.log(p / (1 - p)), shares),
}  # fmt: skip
TWO = {
    "_polygamma": (lambda x, n: mp.polygamma(int(n), x), positive, [0, 1, 2, 5]),
    "igamma": (lambda a, x: mp.gammainc(a, 0, x, regularized=True), shapes, [0.0625, 0.5, 1.0, 4.0, 10.5, 31.0, 140.0]),
    "igammac": (lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), shapes, [0.0625, 0.5, 1.0, 4.0, 10.5, 31.0, 140.0]),
    "_special_zeta": (zeta, [1.125, 2.0, 3.5, 12.0], [0.25, 1.0, 2.5, 40.0]),
    "_special_chebyshev_polynomial_t": (lambda x, n: t(n, x), points, degrees),
    "_special_chebyshev_polynomial_u": (lambda x, n: u(n, x), points, degrees),
    "_special_chebyshev_polynomial_v": (lambda x, n: v(n, x), points, degrees),
    "_special_chebyshev_polynomial_w": (lambda x, n: w(n, x), points, degrees),
    "_special_shifted_chebyshev_polynomial_t": (lambda x, n: t(n, 2 * x - 1), points, degrees),
    "_special_shifted_chebyshev_polynomial_u": (lambda x, n: u(n, 2 * x - 1), points, degrees),
    "_special_shifted_chebyshev_polynomial_v": (lambda x, n: v(n, 2 * x - 1), points, degrees),
    "_special_shifted_chebyshev_polynomial_w": (lambda x, n: w(n, 2 * x - 1), points, degrees),
    "_special_hermite_polynomial_h": (lambda x, n: hermite(n, x, 2), points, degrees),
    "_special_hermite_polynomial_he": (lambda x, n: hermite(n, x, 1), points, degrees),
    "_special_laguerre_polynomial_l": (lambda x, n: laguerre(n, x), points, degrees),
    "_special_legendre_polynomial_p": (lambda x, n: legendre(n, x), points, degrees),
}

if __name__ == "__main__":
    table = {name: [[float(x), mp.nstr(mp.re(f(mp.mpf(x))), 20)] for x in xs] for name, (f, xs) in ONE.items()}
    table |= {name: [[float(x), float(y), mp.nstr(mp.re(f(mp.mpf(x), mp.mpf(y))), 20)] for x in xs for y in ys] for name, (f, xs, ys) in TWO.items()}
    lines = ",\n".join(f'"{name}": {json.dumps(rows)}' for name, rows in table.items())
    (ROOT / "packages/tensor-core/tests/special_values.json").write_text("{\n" + lines + "\n}\n")
