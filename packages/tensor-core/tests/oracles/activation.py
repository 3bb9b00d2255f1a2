"""Activations and their gradients, and special functions that NumPy and the math module have."""

import math

import numpy as np

from . import O, elsewhere

ONE = np.longdouble(1)
erf = np.vectorize(lambda v: math.erf(float(v)), otypes=[np.longdouble])
erfc = np.vectorize(lambda v: math.erfc(float(v)), otypes=[np.longdouble])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def tame(a):
    """Within [-30, 30], where no formula here overflows or cancels to nothing."""
    return np.where(np.isfinite(a), np.fmod(a, 30), 0) if a.dtype.kind == "f" else a


def Phi(x):
    return erfc(-x / np.sqrt(2 * ONE)) / 2


def phi(x):
    return np.exp(-x * x / 2) / np.sqrt(2 * ONE * np.pi)


def softplus(x, beta, threshold):
    return np.where(x * beta > threshold, x, np.log1p(np.exp(np.minimum(x * beta, threshold + 1))) / beta)


def elu(x, alpha, scale, inner):
    return np.where(x > 0, x * scale, np.expm1(np.minimum(x, 0) * inner) * (alpha * scale))


def elu_gradient(g, x, alpha, scale, inner):
    return np.where(x > 0, g * scale, g * inner * alpha * scale * np.exp(np.minimum(x, 0) * inner))


def gelu_tanh_gradient(g, x):
    c = np.sqrt(2 / (ONE * np.pi))
    t = np.tanh(c * (x + 0.044715 * x**3))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x))


def mish_gradient(g, x):
    t = np.tanh(np.log1p(np.exp(x)))
    return g * (t + x * sigmoid(x) * (1 - t * t))


def silu_gradient(g, x):
    return g * sigmoid(x) * (1 + x * (1 - sigmoid(x)))


def share(a):
    """Within [0, 1], and no product of two is denormal."""
    if a.dtype.kind != "f":
        return a
    rest = np.fmod(np.where(np.isfinite(a), abs(a), 0), 1)
    return np.where(rest < 1e-15, 0, rest)


def floored(x):
    return np.maximum(x, -100)


def bce_size(x, y):
    return abs((y - 1) * floored(np.log1p(-x))) + abs(y * floored(np.log(x)))


def smooth_l1(r, beta):
    return np.where(abs(r) < beta, 0.5 * r * r / beta, abs(r) - 0.5 * beta)


def huber(r, delta):
    return np.where(abs(r) <= delta, 0.5 * r * r, delta * (abs(r) - 0.5 * delta))


def few(a):
    """Within [-5, 5], where products are of the size of tame numbers."""
    return np.fmod(tame(a), 5) if a.dtype.kind == "f" else a


def size(x, y):
    return abs(x) * (1 + abs(y))


def with_numbers(**numbers):
    """Cases of a row with named scalars: at their defaults, and at these."""
    from .samples import SHAPE

    def cases(t, n):
        def draw(*shape):
            t.drawn = 0
            return tuple(t(*shape) for _ in range(n))

        return [(*draw(*SHAPE), {}), (*draw(*SHAPE), dict(numbers)), (*draw(), dict(numbers)), (*draw(0, 3), dict(numbers))]

    return cases


def one(**numbers):
    return lambda t: with_numbers(**numbers)(t, 1)


def two(**numbers):
    return lambda t: with_numbers(**numbers)(t, 2)


def three(**numbers):
    return lambda t: with_numbers(**numbers)(t, 3)


O("relu", lambda x: np.maximum(x, 0))
O("_relu_backward", lambda x, y: np.where(x <= 0, 0, y))
O("sigmoid", lambda x: sigmoid(x), ulp=2)
O("_sigmoid_backward", lambda x, y: x * (1 - y) * y, ulp=2.5, domain=tame, halves=0.6)
O("_tanh_backward", lambda x, y: x * (1 - y * y), ulp=2.5, scale=lambda x, y: abs(x) * (1 + y * y), domain=tame, halves=0.6)
O("_silu", lambda x: x * sigmoid(x), ulp=3, culp=8, domain=tame)
O("_silu_backward", lambda x, y: silu_gradient(x, y), ulp=4, scale=lambda x, y: size(x, y), domain=tame)
O("_mish", lambda x: x * np.tanh(np.log1p(np.exp(x))), ulp=4, domain=tame)
O("_mish_backward", lambda x, y: mish_gradient(x, y), ulp=4, scale=lambda x, y: size(x, y), domain=tame)
O("_gelu", lambda x: x * Phi(x), ulp=8, scale=lambda x: abs(x) * 1e-6, domain=tame)
O("_gelu_backward", lambda x, y: x * (Phi(y) + y * phi(y)), ulp=4, scale=lambda x, y: size(x, y), domain=tame)
O("_gelu_tanh", lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / (ONE * np.pi)) * (x + 0.044715 * x**3))), ulp=4, scale=lambda x: abs(x), domain=tame)
O("_gelu_tanh_backward", lambda x, y: gelu_tanh_gradient(x, y), ulp=8, scale=lambda x, y: abs(x) * (1 + abs(y) ** 3), domain=tame, halves=0.6)
O("_softplus", lambda x, beta, threshold: softplus(x, beta, threshold), ulp=3, domain=tame, cases=one(beta=2.0, threshold=3.0))
O("_softplus_backward", lambda x, y, beta, threshold: np.where(y * beta > threshold, x, x * sigmoid(y * beta)), ulp=3, domain=tame, cases=two(beta=2.0, threshold=3.0))
O("_elu", lambda x, alpha, scale, input_scale: elu(x, alpha, scale, input_scale), ulp=3, domain=tame, cases=one(alpha=1.5, scale=0.5, input_scale=0.75))
O("_elu_backward", lambda x, y, alpha, scale, input_scale: elu_gradient(x, y, alpha, scale, input_scale), ulp=4, domain=tame, cases=two(alpha=1.5, scale=0.5, input_scale=0.75))
O("celu", lambda x, alpha: elu(x, alpha, 1, 1 / (ONE * alpha)), ulp=3, domain=tame, cases=one(alpha=2.0))
O("selu", lambda x: elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1), ulp=3, domain=tame)
O("_leaky_relu", lambda x, negative_slope: np.where(x > 0, x, x * negative_slope), ulp=1.5, cases=one(negative_slope=0.25))
O("_leaky_relu_backward", lambda x, y, negative_slope: np.where(x > 0, y, y * negative_slope), ulp=1.5, cases=two(negative_slope=0.25))
O("_prelu", lambda x, y: np.where(x > 0, x, x * y))
O("_prelu_backward", lambda x, y, z: np.where(x > 0, z, z * y))
O("_prelu_weight_backward", lambda x, y: np.where(x > 0, 0, x * y))
O("_hardtanh", lambda x, min_val, max_val: np.minimum(np.maximum(x, min_val), max_val), cases=lambda t: one(min_val=0, max_val=6)(t)[1:])
O("_hardtanh_backward", lambda x, y, min_val, max_val: np.where((y > min_val) & (y < max_val), x, 0), cases=two(min_val=0, max_val=6))
O("_hardsigmoid", lambda x: np.minimum(np.maximum(x + 3, 0), 6) / 6, ulp=1.5, scale=0.5)
O("_hardsigmoid_backward", lambda x, y: np.where((y > -3) & (y < 3), x / 6, 0), ulp=1.5)
O("_hardswish", lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6, ulp=3, scale=lambda x: abs(x), domain=tame)
O("_hardswish_backward", lambda x, y: np.where(y <= -3, 0, np.where(y < 3, x * (y / 3 + 0.5), x)), ulp=3, scale=lambda x, y: size(x, y), domain=tame)
O("_log_sigmoid", lambda x: -np.log1p(np.exp(-x)), ulp=3, domain=tame)
O("_log_sigmoid_backward", lambda x, y: x * sigmoid(-y), ulp=3, domain=tame)
O("_softsign", lambda x: x / (1 + abs(x)), ulp=1.5)
O("_softsign_backward", lambda x, y: x / (1 + abs(y)) ** 2, ulp=3, domain=tame)
O("_softshrink", lambda x, lambd: np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0)), cases=one(lambd=0.25))
O("hardshrink", lambda x, lambd: np.where((x > lambd) | (x < -lambd) | np.isnan(x), x, 0), cases=one(lambd=0.25))
O("_shrink_backward", lambda x, y, lambd: np.where((y >= -lambd) & (y <= lambd), 0, x), cases=two(lambd=0.25))
O("_tanhshrink", lambda x: x - np.tanh(x), ulp=3, scale=lambda x: abs(x), culp=6)
O("threshold", lambda x, threshold, value: np.where(x <= threshold, value, x), cases=lambda t: one(threshold=2, value=1)(t)[1:])
O("_threshold_backward", lambda x, y, threshold: np.where(x <= threshold, 0, y), cases=two(threshold=0.25))
O("_glu", lambda x, y: x * sigmoid(y), ulp=3, domain=tame)
O("_glu_gate_backward", lambda x, y, z: x * y * (1 - sigmoid(z)) * sigmoid(z), ulp=4, scale=lambda x, y, z: abs(x * y) * sigmoid(z), domain=tame)
O("_mse", lambda x, y: (x - y) ** 2, ulp=2)
O("_mse_backward", lambda x, y, z: 2 * (x - y) * z, ulp=2, domain=tame)
O("_smooth_l1", lambda x, y, beta: smooth_l1(x - y, beta), ulp=2.5, scale=lambda x, y, beta: abs(x - y), cases=two(beta=0.5))
O("_smooth_l1_backward", lambda x, y, z, beta: np.where(abs(x - y) >= beta, z * np.sign(x - y), z * (x - y) / beta), ulp=2, cases=three(beta=0.5))
O("_huber", lambda x, y, delta: huber(x - y, delta), ulp=2.5, scale=lambda x, y, delta: abs(x - y), cases=two(delta=0.5))
O("_huber_backward", lambda x, y, z, delta: np.where(abs(x - y) >= delta, z * np.sign(x - y) * delta, z * (x - y)), ulp=2, cases=three(delta=0.5))
O("_soft_margin", lambda x, y: np.log1p(np.exp(-x * y)), ulp=3, scale=lambda x, y: abs(x * y), domain=few)
O("_soft_margin_backward", lambda x, y, z: -x * sigmoid(-x * y) * z, ulp=4, scale=lambda x, y, z: abs(x * z) * (1 + abs(x * y)) * sigmoid(-x * y), domain=few)
O("_logits_cross_entropy", lambda x, y: (1 - x) * y + np.log1p(np.exp(-y)), ulp=4, scale=lambda x, y: abs((1 - x) * y) + np.log1p(np.exp(-y)), domain=tame)
O("_logits_cross_entropy_backward", lambda x, y, z: (sigmoid(x) - y) * z, ulp=4, scale=lambda x, y, z: (1 + abs(y)) * abs(z), domain=tame)
O("_binary_cross_entropy", lambda x, y: (y - 1) * floored(np.log1p(-x)) - y * floored(np.log(x)), ulp=4, scale=lambda x, y: bce_size(x, y), domain=share)
O("_binary_cross_entropy_backward", lambda x, y, z: z * (x - y) / np.maximum((1 - x) * x, 1e-12), ulp=4, domain=share)

O("_weighted_logits_cross_entropy", lambda x, y, z: (1 - x) * y + ((z - 1) * x + 1) * np.log1p(np.exp(-y)), ulp=6, scale=lambda x, y, z: abs((1 - x) * y) + (abs((z - 1) * x) + 1) * np.log1p(np.exp(-y)), domain=tame)

# special functions
O("sinc", lambda x: np.where(x == 0, 1, np.sin(np.pi * ONE * np.where(x == 0, 1, x)) / (np.pi * ONE * np.where(x == 0, 1, x))), ulp=4, culp=16, scale=lambda x: 1 / np.maximum(abs(x), 1) * (1 + abs(x)), domain=lambda a: tame(a) / 8 if a.dtype.kind == "f" else a % 7 if a.dtype.kind in "iu" else a / 8 if a.dtype.kind == "c" else a)
O("xlogy", lambda x, y: np.where(np.isnan(y), np.nan, np.where(x == 0, 0, x * np.log(np.where(x == 0, 1, y)))), ulp=3)
O("_special_xlog1py", lambda x, y: np.where(np.isnan(y), np.nan, np.where(x == 0, 0, x * np.log1p(np.where(x == 0, 1, y)))), ulp=3)
elsewhere("test_special.py", "erf", "erfc", "erfinv", "lgamma", "digamma", "_polygamma", "igamma", "igammac", "_logit", "i0")
elsewhere("special_values.json", *(
    f"_special_{name}" for name in (
        "zeta", "i0e", "i1", "i1e", "ndtr", "ndtri", "log_ndtr", "entr", "erfcx", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_k0",
        "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0", "airy_ai", "hermite_polynomial_h",
        "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p", *(f"chebyshev_polynomial_{k}" for k in "tuvw"),
        *(f"shifted_chebyshev_polynomial_{k}" for k in "tuvw"),
    )
))  # fmt: skip
