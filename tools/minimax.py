#!/usr/bin/env python3
"""Prints the polynomial coefficients of csrc/core/mathfn_f32.h and mathfn_f64.h. Needs mpmath.

Each row of FITS is one polynomial P of fixed degree for which |weight(x) (f(x) - P(t(x)))| is smallest over an interval (Remez's
exchange, in 50 digits). Coefficients are rounded to the type one after the other from the lowest, the rest fitted anew each time,
so that the rounding of the large ones is made good by the small ones.

    python tools/minimax.py            all rows
    python tools/minimax.py exp_f32    one
    python tools/minimax.py gelu       a table, as is trig_table

Source: Cheney, Introduction to Approximation Theory (1966), chapter 3.
"""

import struct
import sys

import mpmath as mp

mp.mp.dps = 50
E = mp.e


def rounded(value, kind):
    if kind == "f64":
        return mp.mpf(float(value))
    return mp.mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def remez(f, weight, t, powers, low, high):
    """Coefficients of sum c_k t**powers[k] with the least weighted error on [low, high], and that error."""
    n = len(powers)
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / (24 * n)) for k in range(24 * n)]
    table = [(t(x), f(x), weight(x)) for x in grid]
    picks = [round((len(grid) - 1) * float(1 - mp.cos(mp.pi * k / n)) / 2) for k in range(n + 1)]
    best = None
    for _ in range(30):
        rows, right = [], []
        for j, k in enumerate(picks):
            u, y, w = table[k]
            rows.append([u**p for p in powers] + [(-1) ** j / w])
            right.append(y)
        solution = list(mp.lu_solve(mp.matrix(rows), mp.matrix(right)))
        c = solution[:-1]
        error = [w * (y - mp.fsum(a * u**p for a, p in zip(c, powers))) for u, y, w in table]
        worst = max(abs(e) for e in error)
        if best is None or worst < best[1]:
            best = c, worst
        if worst < abs(solution[-1]) * mp.mpf("1.001"):
            break
        runs = []  # the largest error of each run of one sign
        for k, e in enumerate(error):
            if runs and (error[runs[-1]] < 0) == (e < 0):
                runs[-1] = k if abs(e) > abs(error[runs[-1]]) else runs[-1]
            else:
                runs.append(k)
        while len(runs) > n + 1:
            runs.pop(0 if abs(error[runs[0]]) < abs(error[runs[-1]]) else -1)
        if len(runs) < n + 1:
            break
        picks = runs
    return best


def least_squares(f, weight, t, powers, low, high):
    """As remez, nearly: powers without the constant are no Haar system where t passes 0, and the exchange fails there.
    Lawson's reweighting of least squares at Chebyshev points does not."""
    m = 6 * len(powers) + 20
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / m) for k in range(m)]
    basis = [[weight(x) * t(x) ** p for p in powers] for x in grid]
    right = [weight(x) * f(x) for x in grid]
    share, best = [mp.mpf(1)] * m, None
    for _ in range(8):
        scaled = [[w * b for b in row] for w, row in zip(share, basis)]
        n = range(len(powers))
        normal = mp.matrix([[mp.fsum(scaled[k][i] * basis[k][j] for k in range(m)) for j in n] for i in n])
        c = list(mp.lu_solve(normal, mp.matrix([mp.fsum(scaled[k][i] * right[k] for k in range(m)) for i in n])))
        error = [abs(r - mp.fsum(a * b for a, b in zip(c, row))) for r, row in zip(right, basis)]
        worst = max(error)
        if best is None or worst < best[1]:
            best = c, worst
        share = [w * (e / worst + mp.mpf("1e-3")) for w, e in zip(share, error)]
    return best


def fit(f, weight, t, count, low, high, kind, first=0, step=1):
    powers = [first + step * k for k in range(count)]
    known, g, worst = [], f, None
    for k in range(count):
        solve = least_squares if k and low < 0 else remez
        c, worst = solve(g, weight, t, powers[k:], mp.mpf(low), mp.mpf(high))
        fixed = rounded(c[0], kind)
        known.append(fixed)
        g = lambda x, before=g, a=fixed, p=powers[k]: before(x) - a * t(x) ** p
    return known, worst


def safe(f, at_zero):
    return lambda x: mp.mpf(at_zero) if x == 0 else f(x)


X = lambda x: x
SQUARE = lambda x: x * x
LN2, ONE = mp.log(2), lambda x: mp.mpf(1)
LOG_LOW, LOG_HIGH = mp.sqrt(2) / 2 - 1, mp.sqrt(2) - 1
S_HIGH = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
ERFC_Q = {"f32": (mp.mpf(2), mp.mpf("10.6")), "f64": (mp.mpf(3), mp.mpf("27.5"))}


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def erfc_row(kind, count):
    """(1 + 2a) erfcx(a) - 1 as a polynomial in q = (a - k) / (a + k): Shepherd and Laframboise (1981), Math. Comp. 36."""
    k, top = ERFC_Q[kind]
    back = lambda q: k * (1 + q) / (1 - q)
    f = lambda q: (1 + 2 * back(q)) * erfcx(back(q)) - 1
    return (f, lambda q: 1 / (1 + f(q)), X, count, -1, (top - k) / (top + k))


ERF_FAR_K = mp.mpf("2.375")


def erf_far_at(q):
    return ERF_FAR_K * (1 + q) / (1 - q)


def erf_far(q):
    """As erfc_row, between 0.93 and 6, where erf is 1 less what need not be right to its own last place."""
    return (1 + 2 * erf_far_at(q)) * erfcx(erf_far_at(q)) - 1


NORMAL_K = mp.mpf("2.5")


def normal_tail(q):
    a = NORMAL_K * (1 + q) / (1 - q)
    return (a + NORMAL_K) * erfcx(a / mp.sqrt(2)) / 2


def tail(a):
    return -mp.log(mp.erfc(a))


def log_tail(base):
    """(log_base(1 + x) - c x) / x**2, where c is what the code multiplies x by."""
    c = 1 / mp.log(base)
    return lambda x: -c / 2 if x == 0 else (mp.log1p(x) * c - c * x) / x**2


def exp2_part(x):
    return mp.expm1(x * LN2) / x if x else LN2


def lgamma_near(a):
    return ((mp.rgamma(a) - 1) / ((a - 1) * (a - 2)) + 0.5) / a


def lgamma_far(s):
    a = 1 / mp.sqrt(s)
    return (mp.loggamma(a) - ((a - 0.5) * mp.log(a) - a + mp.log(2 * mp.pi) / 2)) * a


def i1e_far(u):
    return mp.besseli(1, 1 / u) * mp.exp(-1 / u) / mp.sqrt(u)


def grown_near(order):
    """I / (x / 2)**order on [0, 8] as a function of z = (x / 2)**2."""
    return lambda z: mp.besseli(order, 2 * mp.sqrt(z)) / mp.sqrt(z) ** order if z else mp.mpf(1)


def bessel_near(order):
    """J / x**order on [0, 8] as a function of u = x**2 / 32 - 1, its roots divided out; with the next one beyond 8, without which the
    quotient would fall to a sixtieth."""
    roots = [mp.besseljzero(order, k) ** 2 for k in (1, 2, 3)]

    def f(u):
        z = 32 * (u + 1)
        x = mp.sqrt(z)
        return (mp.besselj(order, x) / x**order if x else mp.mpf(0.5) ** order) / mp.fprod(z - r for r in roots)

    return f


def bessel_rest(order):
    """What Y on (0, 8] is beside 2 / pi (log(x) J - (1 / x, if the order is 1)), over x**order."""

    def f(u):
        x = mp.sqrt(32 * (u + 1))
        return (mp.bessely(order, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(order, x) - (1 / x if order else 0))) / x**order

    return f


def bessel_phase(order, odd):
    """P or Q of J = sqrt(2 / (pi x)) (P cos(c) - Q / x sin(c)), c = x - (order / 2 + 1 / 4) pi, as a function of s = 1 / x**2 from x = 8 on."""

    def f(s):
        x = 1 / mp.sqrt(s)
        c, size = x - (mp.mpf(order) / 2 + mp.mpf(1) / 4) * mp.pi, mp.sqrt(mp.pi * x / 2)
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        return size * (y * mp.cos(c) - j * mp.sin(c)) * x if odd else size * (j * mp.cos(c) + y * mp.sin(c))

    return f


def bessel_start(order):
    """(J / x**order - its value at 0) / z as a function of z = x**2."""
    at_zero = mp.mpf(1) / (order + 1)

    def f(z):
        x = mp.sqrt(z)
        return (mp.besselj(order, x) / x**order - at_zero) / z if z > mp.mpf("1e-15") else -mp.mpf(1) / (16 if order else 4)

    return f


def relative(f):
    return lambda x: 1 / abs(f(x))


def erfinv_by(t):
    """erfinv(a) / a of a = sqrt(1 - e**-w), w = t t - 1, by Newton's steps on erfc from w = 3 on."""
    w = t * t - 1
    if w < mp.mpf(10) ** -20:
        return mp.sqrt(mp.pi) / 2
    a = mp.sqrt(-mp.expm1(-w))
    if w < 3:
        return mp.erfinv(a) / a
    p, x = mp.exp(-w) / (1 + a), mp.sqrt(w - mp.log(mp.pi * w) / 2) if w > 5 else mp.mpf("1.3")
    for _ in range(60):
        step = (mp.erfc(x) - p) * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
        x += step
        if abs(step) < mp.mpf(10) ** -40:
            break
    return x / a


def erfinv_weight(t):
    """What a start in error by e is in error by after one of Halley's steps: x**2 (x**2 + 1) / 3 e**3 of its value."""
    square = -mp.expm1(1 - t * t) * erfinv_by(t) ** 2
    return mp.cbrt(square * (square + 1) / 3 + mp.mpf(1) / 8) / erfinv_by(t)


FITS = {
    # name: f, weight, t(x), count, low, high (, first power, step)
    "exp": {
        "f32": (safe(lambda x: (mp.expm1(x) - x) / x**2, 0.5), lambda x: x * x / mp.exp(x), X, 5, -LN2 / 2, LN2 / 2),
        "f64": (safe(lambda x: (mp.expm1(x) - x) / x**2, 0.5), lambda x: x * x / mp.exp(x), X, 11, -LN2 / 2, LN2 / 2),
    },
    "expm1": {
        "f32": (safe(lambda x: (mp.expm1(x) - x) / x**2, 0.5), safe(lambda x: x * x / abs(mp.expm1(x)), 1e-9), X, 6, -LN2 / 2, LN2 / 2),
        "f64": (safe(lambda x: (mp.expm1(x) - x) / x**2, 0.5), safe(lambda x: x * x / abs(mp.expm1(x)), 1e-9), X, 12, -LN2 / 2, LN2 / 2),
    },
    "exp2": {
        "f32": (exp2_part, lambda x: abs(x) / 2**x + mp.mpf("1e-9"), X, 6, -0.5, 0.5),
        "f64": (exp2_part, lambda x: abs(x) / 2**x + mp.mpf("1e-9"), X, 12, -0.5, 0.5),
    },
    "log": {
        "f32": (
            safe(lambda x: (mp.log1p(x) - x + x * x / 2) / x**3, mp.mpf(1) / 3),
            safe(lambda x: abs(x**3 / mp.log1p(x)), 1e-9), X, 8, LOG_LOW, LOG_HIGH,
        ),
    },
    # atanh(s) = s + s**3 P(s**2), s = f / (2 + f)
    "log_atanh": {
        "f64": (
            safe(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3, mp.mpf(2) / 3),
            safe(lambda s: abs(s**2), 1e-9), SQUARE, 7, 0, S_HIGH,
        ),
    },
    "sin": {
        "f64": (safe(lambda x: (mp.sin(x) - x) / x**3, mp.mpf(-1) / 6), safe(lambda x: x**3 / mp.sin(x), 1e-9), SQUARE, 6, 0, mp.pi / 4),
    },
    "cos": {
        "f64": (safe(lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4, mp.mpf(1) / 24), lambda x: x**4 + mp.mpf("1e-9"), SQUARE, 6, 0, mp.pi / 4),
    },
    # of a float, evaluated in double
    "sin_single": {
        "f64": (safe(lambda x: (mp.sin(x) - x) / x**3, mp.mpf(-1) / 6), safe(lambda x: x**3 / mp.sin(x), 1e-9), SQUARE, 4, 0, mp.pi / 4),
    },
    "cos_single": {
        "f64": (safe(lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4, mp.mpf(1) / 24), lambda x: x**4 + mp.mpf("1e-9"), SQUARE, 3, 0, mp.pi / 4),
    },
    "tanh": {
        "f32": (safe(lambda x: (mp.tanh(x) - x) / x**3, mp.mpf(-1) / 3), safe(lambda x: x**3 / mp.tanh(x), 1e-9), SQUARE, 5, 0, 0.7),
        "f64": (safe(lambda x: (mp.tanh(x) - x) / x**3, mp.mpf(-1) / 3), safe(lambda x: x**3 / mp.tanh(x), 1e-9), SQUARE, 12, 0, 0.65),
    },
    "sinh": {
        "f32": (safe(lambda x: (mp.sinh(x) - x) / x**3, mp.mpf(1) / 6), safe(lambda x: x**3 / mp.sinh(x), 1e-9), SQUARE, 4, 0, 1),
        "f64": (safe(lambda x: (mp.sinh(x) - x) / x**3, mp.mpf(1) / 6), safe(lambda x: x**3 / mp.sinh(x), 1e-9), SQUARE, 7, 0, 1),
    },
    # erf(x) = x + x P(x**2)
    "erf": {
        "f32": (safe(lambda x: mp.erf(x) / x - 1, 2 / mp.sqrt(mp.pi) - 1), safe(lambda x: x / mp.erf(x), 1), SQUARE, 7, 0, 1),
        "f64": (safe(lambda x: mp.erf(x) / x - 1, 2 / mp.sqrt(mp.pi) - 1), safe(lambda x: x / mp.erf(x), 1), SQUARE, 13, 0, 0.93),
    },
    # erf(a) = 1 - 2**-P(a) beyond
    "erf_tail": {"f32": (lambda a: tail(a) / LN2, lambda a: mp.erfc(a) / mp.erf(a), X, 8, 0.92, 4)},
    "erf_far": {"f64": (erf_far, lambda q: mp.exp(-erf_far_at(q) ** 2) / (1 + 2 * erf_far_at(q)), X, 13, (mp.mpf("0.93") - ERF_FAR_K) / (mp.mpf("0.93") + ERF_FAR_K), (6 - ERF_FAR_K) / (6 + ERF_FAR_K))},
    "erfc": {"f32": erfc_row("f32", 12), "f64": erfc_row("f64", 24)},
    # Phi(-a) = e**(-a a / 2) P(q) / (a + k), q = (a - k) / (a + k) = 1 - 2 k / (a + k), k = 5/2
    "normal": {"f32": (normal_tail, lambda q: 1 / normal_tail(q), X, 10, -1, (mp.mpf("14.5") - NORMAL_K) / (mp.mpf("14.5") + NORMAL_K))},
    "atan": {
        "f32": (safe(lambda x: (mp.atan(x) - x) / x**3, mp.mpf(-1) / 3), safe(lambda x: x**3 / mp.atan(x), 1e-9), SQUARE, 5, 0, mp.tan(mp.pi / 8)),
        "f64": (safe(lambda x: (mp.atan(x) - x) / x**3, mp.mpf(-1) / 3), safe(lambda x: x**3 / mp.atan(x), 1e-9), SQUARE, 11, 0, mp.tan(mp.pi / 8)),
    },
    # asin(s) = s + s z P(z), z = s**2 <= 1/4
    "asin": {
        "f32": (safe(lambda x: (mp.asin(x) - x) / x**3, mp.mpf(1) / 6), safe(lambda x: x**3 / mp.asin(x), 1e-9), SQUARE, 5, 0, 0.5),
        "f64": (safe(lambda x: (mp.asin(x) - x) / x**3, mp.mpf(1) / 6), safe(lambda x: x**3 / mp.asin(x), 1e-9), SQUARE, 13, 0, 0.5),
    },
    "log2": {"f32": (log_tail(2), safe(lambda x: abs(x**2 / mp.log(1 + x, 2)), 1e-9), X, 9, LOG_LOW, LOG_HIGH)},
    # log((1 + s) / (1 - s)) = 2 s + 2/3 s**3 + s**5 P(s**2), for a logarithm in two doubles
    "log_pair": {
        "f64": (
            safe(lambda s: (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5, mp.mpf(2) / 5),
            lambda s: s**4 + mp.mpf("1e-12"), SQUARE, 8, 0, S_HIGH,
        ),
    },
    # for float, in double arithmetic: log2((1 + s) / (1 - s)) = s P(s**2); 2**r = 1 + r P(r)
    "log2_mid": {"f64": (safe(lambda s: 2 * mp.atanh(s) / s / LN2, 2 / LN2), ONE, SQUARE, 7, 0, S_HIGH)},
    "log2_start": {"f64": (safe(lambda s: 2 * mp.atanh(s) / s / LN2, 2 / LN2), ONE, SQUARE, 4, 0, S_HIGH)},
    "exp2_mid": {"f64": (exp2_part, lambda x: abs(x) / 2**x + mp.mpf("1e-9"), X, 7, -0.5, 0.5)},
    # special functions of a float, in double. 1 / Gamma(a) = 1 + (a - 1)(a - 2)(a P(a) - 1/2); Stirling's rest P(1 / a**2) / a
    "lgamma_near": {"f64": (lgamma_near, lambda a: abs(a * (a - 1) * (a - 2) / mp.rgamma(a)), X, 19, mp.mpf("1e-6"), 2.5)},
    "lgamma_far": {"f64": (lgamma_far, mp.sqrt, X, 8, mp.mpf("1e-8"), mp.mpf("0.16"))},
    "digamma": {"f64": (lambda s: (-mp.log(s) / 2 - mp.sqrt(s) / 2 - mp.digamma(1 / mp.sqrt(s))) / s, X, X, 7, mp.mpf("1e-8"), mp.mpf(1) / 16)},
    "trigamma": {"f64": (lambda s: (mp.psi(1, 1 / mp.sqrt(s)) - mp.sqrt(s) - s / 2) / s**1.5, X, X, 8, mp.mpf("1e-8"), mp.mpf(1) / 36)},
    "sinpi": {"f64": (safe(lambda x: mp.sin(mp.pi * x) / x, mp.pi), safe(lambda x: x / mp.sin(mp.pi * x), 1 / mp.pi), SQUARE, 8, 0, 0.5)},
    # erfinv(a) = a P(t), t = sqrt(1 + w), w = -log(1 - a a): of a float, and as the start for a double
    "erfinv": {"f64": (erfinv_by, lambda t: 1 / erfinv_by(t), X, 18, 1, mp.sqrt(mp.mpf("17.95")))},
    "erfinv_start": {"f64": (erfinv_by, erfinv_weight, X, 18, 1, mp.sqrt(38))},
    # e**-a I1(a) = a P(a) to 5, sqrt(u) P(u) of u = 1 / a beyond
    "i1e_near": {"f64": (safe(lambda a: mp.besseli(1, a) * mp.exp(-a) / a, 0.5), safe(lambda a: a * mp.exp(a) / mp.besseli(1, a), 2), X, 15, 0, 5)},
    "i0_near": {"f64": (grown_near(0), lambda z: 1 / grown_near(0)(z), X, 16, 0, 16)},
    "i1_near": {"f64": (grown_near(1), lambda z: 1 / grown_near(1)(z), X, 16, 0, 16)},
    "j0_start": {"f64": (bessel_start(0), lambda z: z / mp.besselj(0, mp.sqrt(z)) + mp.mpf("1e-9"), X, 8, 0, 2)},
    "j1_start": {"f64": (bessel_start(1), lambda z: z + mp.mpf("1e-9"), X, 9, 0, 5)},
    "y0_start": {"f64": (lambda z: bessel_rest(0)(z / 32 - 1), ONE, X, 10, mp.mpf("1e-12"), 5)},
    "y1_start": {"f64": (lambda z: bessel_rest(1)(z / 32 - 1), ONE, X, 10, mp.mpf("1e-12"), 5)},
    "j0_near": {"f64": (bessel_near(0), relative(bessel_near(0)), X, 14, -1, 1)},
    "j1_near": {"f64": (bessel_near(1), relative(bessel_near(1)), X, 14, -1, 1)},
    "y0_rest": {"f64": (bessel_rest(0), ONE, X, 17, mp.mpf("1e-12") - 1, 1)},
    "y1_rest": {"f64": (bessel_rest(1), ONE, X, 16, mp.mpf("1e-12") - 1, 1)},
    "bessel_p0": {"f64": (bessel_phase(0, False), ONE, X, 12, mp.mpf("1e-8"), mp.mpf(1) / 64)},
    "bessel_q0": {"f64": (bessel_phase(0, True), mp.sqrt, X, 12, mp.mpf("1e-8"), mp.mpf(1) / 64)},
    "bessel_p1": {"f64": (bessel_phase(1, False), ONE, X, 12, mp.mpf("1e-8"), mp.mpf(1) / 64)},
    "bessel_q1": {"f64": (bessel_phase(1, True), mp.sqrt, X, 12, mp.mpf("1e-8"), mp.mpf(1) / 64)},
    "i1e_far": {"f64": (i1e_far, lambda u: 1 / i1e_far(u), X, 10, mp.mpf("1e-4"), 0.2)},
}  # fmt: skip


def literal(value, kind):
    text = float(value).hex()
    if kind == "f32":
        head, _, rest = text.partition("p")
        return (head.rstrip("0") or head) + "p" + rest + "f"
    return text


def trig_table():
    """2**(8 j) 2 / pi, from the first multiple of 8 on modulo 4, as four doubles that add up to it."""
    with mp.workdps(500):
        for j in range(122):
            rest = mp.mpf(2) ** (8 * j) * 2 / mp.pi
            rest -= 4 * mp.nint(rest / 4)
            words = []
            for _ in range(4):
                words.append(float(rest))
                rest -= mp.mpf(words[-1])
            print("    {" + ", ".join(w.hex() for w in words) + "},")


def gelu_table():
    """The columns of csrc/core/mathfn_f32_gelu.h from 1/16 up: center, G(center) and the coefficients of (G(center + d) - G(center)) / d."""
    of = lambda a: a * erfcx(a / mp.sqrt(2)) / 2
    for column in range(16):
        low = mp.mpf(2) ** (column // 2 - 4) * (1 + mp.mpf(column % 2) / 2)
        high = min(low * (mp.mpf(4) / 3 if column % 2 else mp.mpf(3) / 2), mp.mpf("14.5"))
        low, center = (low if column else mp.mpf(0)), mp.mpf(0)
        if column:
            middle = struct.unpack("i", struct.pack("f", float((low + high) / 2)))[0]
            near = [mp.mpf(struct.unpack("f", struct.pack("i", middle + k))[0]) for k in range(-400, 401)]
            center = min(near, key=lambda c: abs(of(c) / rounded(of(c), "f32") - 1))
        value = rounded(of(center), "f32")
        slope = mp.diff(of, center) if column else mp.mpf("0.5")
        part = lambda d, c=center, v=value, at_zero=slope: (of(c + d) - v) / d if abs(d) > mp.mpf("1e-12") else at_zero
        weight = lambda d, c=center, p=part: 1 / p(d) if c == 0 else abs(d) / of(c + d) + mp.mpf("1e-9")
        c, worst = fit(part, weight, X, 6, low - center, high - center, "f32")
        print(", ".join(literal(v, "f32") for v in (center, value, *c)), f"/* {mp.nstr(mp.log(worst, 2), 4)} bits */")


TABLES = {"trig_table": trig_table, "gelu": gelu_table}


def main(wanted):
    if wanted and wanted[0] in TABLES:
        return TABLES[wanted[0]]()
    for name, kinds in FITS.items():
        for kind, row in kinds.items():
            if wanted and f"{name}_{kind}" not in wanted and name not in wanted:
                continue
            c, worst = fit(*row[:6], kind, *row[6:])
            print(f"/* {name}_{kind}: error {mp.nstr(mp.log(worst, 2), 4)} bits */")
            for v in c:
                print(f"    {literal(v, kind)}, /* {mp.nstr(v, 10)} */")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
