"""Prints the Chebyshev tables of csrc/core/mathfn_bessel.h. Needs mpmath.

    python tools/chebyshev.py > tables

Each function is divided by what is singular or has zeros in its range, so that a plain series of it keeps relative accuracy; it is
interpolated at Chebyshev points in 50 digits and cut below 2**-57 of the largest coefficient.
"""

import mpmath as mp

mp.mp.dps = 50
POINTS = 90


def series(f):
    """Coefficients of f on [-1, 1] in Chebyshev polynomials."""
    nodes = [mp.cos(mp.pi * (k + mp.mpf(1) / 2) / POINTS) for k in range(POINTS)]
    values = [f(u) for u in nodes]
    found = []
    for j in range(POINTS):
        terms = (v * mp.cos(mp.pi * j * (k + mp.mpf(1) / 2) / POINTS) for k, v in enumerate(values))
        found.append(mp.fsum(terms) * (1 if j == 0 else 2) / POINTS)
    top = max(abs(c) for c in found)
    last = max(k for k, c in enumerate(found) if abs(c) > top * mp.mpf(2) ** -57)
    return found[: last + 1]


def k0_rest(u):
    x = mp.sqrt(2 * (u + 1))
    return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)


def k1_rest(u):
    x = mp.sqrt(2 * (u + 1))
    return x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x))


def k_far(order):
    def g(u):
        x = 4 / (u + 1)
        return mp.exp(x) * mp.sqrt(x) * mp.besselk(order, x)

    return g


LOW, HIGH = mp.mpf(-5), mp.mpf(2)
ZETA_LOW, ZETA_HIGH = mp.mpf(2) / 3 * mp.mpf(5) ** 1.5, mp.mpf(2) / 3 * mp.mpf(2) ** 1.5


def airy_middle(u):
    return mp.airyai(LOW + (u + 1) * (HIGH - LOW) / 2)


def airy_right(u):
    zeta = 2 * ZETA_HIGH / (u + 1)
    x = (mp.mpf(3) / 2 * zeta) ** (mp.mpf(2) / 3)
    return 2 * mp.sqrt(mp.pi) * mp.sqrt(mp.sqrt(x)) * mp.exp(zeta) * mp.airyai(x)


def airy_left(odd):
    """Ai(-x) = (P cos(zeta - pi/4) + Q / zeta sin(zeta - pi/4)) / (sqrt(pi) x**(1/4)), with (zeta0 / zeta)**2 = (u + 1) / 2."""

    def g(u):
        zeta = ZETA_LOW / mp.sqrt((u + 1) / 2)
        x = (mp.mpf(3) / 2 * zeta) ** (mp.mpf(2) / 3)
        c = zeta - mp.pi / 4
        size = mp.sqrt(mp.pi) * mp.sqrt(mp.sqrt(x))
        a, b = mp.airyai(-x), mp.airybi(-x)
        return size * (a * mp.sin(c) + b * mp.cos(c)) * zeta if odd else size * (a * mp.cos(c) - b * mp.sin(c))

    return g


TABLES = {
    "k0_low": k0_rest, "k1_low": k1_rest, "k0_high": k_far(0), "k1_high": k_far(1),
    "airy_middle": airy_middle, "airy_right": airy_right, "airy_p": airy_left(False), "airy_q": airy_left(True),
}  # fmt: skip

if __name__ == "__main__":
    for name, function in TABLES.items():
        found = series(function)
        print(f"static const f64 fc_{name}_cheb[{len(found)}] = {{")
        line = "   "
        for c in found:
            text = f" {mp.nstr(c, 18)},"
            if len(line) + len(text) > 120:
                print(line)
                line = "   "
            line += text
        print(line + "\n};")
