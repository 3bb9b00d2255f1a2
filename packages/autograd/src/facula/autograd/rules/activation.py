"""Derivatives of activations. Each gradient is a row of its own, one pass over memory; where a second derivative is asked for (grad
mode is on during backward) the same formula is composed of rows that have derivatives themselves."""

import math

import facula as F

from .._core import composing, row
from .._table import D, none, zeros
from ._tools import only_where, strided

D("relu",       x=lambda g, out: row("_relu_backward")(out, g))
D("sigmoid",    x=lambda g, out: fused("_sigmoid_backward", sigmoid, g, out))
D("tanh",       x=lambda g, out: fused("_tanh_backward", tanh, g, out))
D("_silu",      x=lambda g, x: fused("_silu_backward", silu, g, x))
D("_mish",      x=lambda g, x: fused("_mish_backward", mish, g, x))
D("_gelu",      x=lambda g, x: fused("_gelu_backward", gelu, g, x))
D("_gelu_tanh", node="GeluBackward0", x=lambda g, x: fused("_gelu_tanh_backward", gelu_tanh, g, x))
D("_softplus",  x=lambda g, x, beta, threshold: fused("_softplus_backward", softplus, g, x, beta=beta, threshold=threshold))
D("_elu",       x=lambda g, x, alpha, scale, input_scale: elu_gradient(g, x, alpha, scale, input_scale))
D("celu",       x=lambda g, x, alpha: elu_gradient(g, x, alpha, 1, 1 / alpha))
D("selu", node="EluBackward0", x=lambda g, x: elu_gradient(g, x, 1.6732632423543772, 1.0507009873554805, 1))
D("_leaky_relu", x=lambda g, x, negative_slope: row("_leaky_relu_backward")(x, g, negative_slope=negative_slope))
D("_prelu", node="PreluKernelBackward0", x=lambda g, x, y: row("_prelu_backward")(x, y, g),     y=lambda g, x: fused("_prelu_weight_backward", prelu_weight, x, g))
D("_hardtanh",  x=lambda g, x, min_val, max_val: row("_hardtanh_backward")(g, x, min_val=min_val, max_val=max_val))
D("_hardsigmoid", x=lambda g, x: fused("_hardsigmoid_backward", hardsigmoid, g, x))
D("_hardswish", x=lambda g, x: fused("_hardswish_backward", hardswish, g, x))
D("_log_sigmoid", x=lambda g, x: fused("_log_sigmoid_backward", log_sigmoid, g, x))
D("_softsign",  node="DivBackward0", x=lambda g, x: fused("_softsign_backward", softsign, g, x))
D("_softshrink", x=lambda g, x, lambd: row("_shrink_backward")(g, x, lambd=lambd))
D("hardshrink", x=lambda g, x, lambd: row("_shrink_backward")(g, x, lambd=lambd))
D("_tanhshrink", node="SubBackward0", x=lambda g, x: g * F.square(F.tanh(x)))
D("threshold",  x=lambda g, x, threshold: row("_threshold_backward")(x, g, threshold=threshold))
D("_mse",       x=lambda g, x, y: fused("_mse_backward", mse, x, y, g),     y=lambda g, x, y: fused("_mse_backward", mse, y, x, g))
D("_smooth_l1", x=lambda g, x, y, beta: fused("_smooth_l1_backward", smooth_l1, x, y, g, beta=beta),
                y=lambda g, x, y, beta: fused("_smooth_l1_backward", smooth_l1, y, x, g, beta=beta))
D("_huber",     x=lambda g, x, y, delta: fused("_huber_backward", huber, x, y, g, delta=delta),
                y=lambda g, x, y, delta: fused("_huber_backward", huber, y, x, g, delta=delta))
D("_soft_margin", x=lambda g, x, y: fused("_soft_margin_backward", soft_margin, y, x, g),     y=lambda g, x, y: fused("_soft_margin_backward", soft_margin, x, y, g))
D("_logits_cross_entropy", y=lambda g, x, y: fused("_logits_cross_entropy_backward", logits_cross_entropy, y, x, g),     x=lambda g, y: -y * g)
D("_weighted_logits_cross_entropy", y=lambda g, x, y, z: weighted_logits(z * x, x, y, g),     x=lambda g, y, z: (log_sigmoid_of(-y) - log_sigmoid_of(y) * z) * g,
                z=lambda g, x, y: -x * log_sigmoid_of(y) * g)
D("_glu",       x=lambda g, y: g * F.sigmoid(y),        y=lambda g, x, y: fused("_glu_gate_backward", glu_gate, g, x, y))
D("_binary_cross_entropy", x=lambda g, x, y: fused("_binary_cross_entropy_backward", cross_entropy, x, y, g),     y=lambda g, x: (F.log1p(-x) - F.log(x)) * g)

# Slopes that are constant in pieces: linear in g, and where they change with x they do so by leaps, which count as zero.
D("_relu_backward",       node="ThresholdBackwardBackward0", x=zeros, y=lambda g, x: row("_relu_backward")(x, g))
D("_threshold_backward",  node="ThresholdBackwardBackward0", x=zeros, y=lambda g, x, threshold: row("_threshold_backward")(x, g, threshold=threshold))
D("_leaky_relu_backward", node="LeakyReluBackwardBackward0", x=zeros, y=lambda g, x, negative_slope: row("_leaky_relu_backward")(x, g, negative_slope=negative_slope))
D("_hardtanh_backward",   node="HardtanhBackwardBackward0", y=zeros, x=lambda g, y, min_val, max_val: row("_hardtanh_backward")(g, y, min_val=min_val, max_val=max_val))
D("_shrink_backward",     node="SoftshrinkBackwardBackward0", y=zeros, x=lambda g, y, lambd: row("_shrink_backward")(g, y, lambd=lambd))
D("_prelu_backward",      node="PreluKernelBackwardBackward0", x=zeros, y=lambda g, x, z: below(x, g * z), z=lambda g, x, y: row("_prelu_backward")(x, y, g))

none("_sigmoid_backward", "_tanh_backward", "_silu_backward", "_mish_backward", "_gelu_backward", "_gelu_tanh_backward", "_softplus_backward", "_elu_backward")
none("_prelu_weight_backward", "_hardsigmoid_backward", "_hardswish_backward", "_log_sigmoid_backward", "_softsign_backward", "_glu_gate_backward")
none("_mse_backward", "_smooth_l1_backward", "_huber_backward", "_soft_margin_backward", "_binary_cross_entropy_backward", "_logits_cross_entropy_backward")


def fused(name, formula, *operands, **numbers) -> F.Tensor:
    """The row, or the formula where that is to be differentiated again or the row has no such dtype."""
    if composing() or operands[0].dtype.is_complex:
        found = formula(*operands, **numbers)
        one = operands[0].stride()
        if all(t.stride() == one for t in operands) or operands[0].dtype.is_complex:
            return found
        return strided(found, row(name)(*(t.detach() for t in operands), **numbers).stride())
    return row(name)(*operands, **numbers)


def sigmoid(g, out) -> F.Tensor:
    return g * out * (1 - out)


def tanh(g, out) -> F.Tensor:
    return g * (1 - out * out)


def silu(g, x) -> F.Tensor:
    s = F.sigmoid(x)
    return g * s * (1 + x * (1 - s))


def mish(g, x) -> F.Tensor:
    t = F.tanh(row("_softplus")(x))
    return g * (t + x * F.sigmoid(x) * (1 - t * t))


def gelu(g, x) -> F.Tensor:
    return g * (0.5 * F.erfc(x * -math.sqrt(0.5)) + x * F.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi)))


def gelu_tanh(g, x) -> F.Tensor:
    c, z = math.sqrt(2 / math.pi), x * x
    t = F.tanh(c * (x + 0.044715 * z * x))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (c * (1 + 3 * 0.044715 * z)))


def softplus(g, x, beta, threshold) -> F.Tensor:
    return F.where(x * beta > threshold, g, g * F.sigmoid(x * beta))


def elu_gradient(g, x, alpha, scale, input_scale) -> F.Tensor:
    return fused("_elu_backward", elu, g, x, alpha=alpha, scale=scale, input_scale=input_scale)


def elu(g, x, alpha, scale, input_scale) -> F.Tensor:
    """exp of what is negative: the branch not taken must not put inf * 0 into a gradient, and there is no slope's slope at 0."""
    return F.where(x > 0, g * scale, g * (input_scale * alpha * scale) * F.exp(F.where(x >= 0, 0.0, x * input_scale)))


def prelu_weight(x, g) -> F.Tensor:
    return below(x, g * x)


def below(x, g) -> F.Tensor:
    return only_where(F.logical_not(x > 0), g)


def hardsigmoid(g, x) -> F.Tensor:
    return only_where((x > -3) & (x < 3), g / 6)


def hardswish(g, x) -> F.Tensor:
    return F.where(x <= -3, F.zeros_like(g), F.where(x < 3, g * (x / 3 + 0.5), g))


def mse(x, y, g) -> F.Tensor:
    return (2 * (x - y) * g).contiguous()


def smooth_l1(x, y, g, beta) -> F.Tensor:
    return (g * row("_hardtanh")((x - y) / beta)).contiguous()


def huber(x, y, g, delta) -> F.Tensor:
    return (g * row("_hardtanh")(x - y, min_val=-delta, max_val=delta)).contiguous()


def soft_margin(y, x, g) -> F.Tensor:
    return -y * F.sigmoid(-y * x) * g


def weighted_logits(t, y, x, g) -> F.Tensor:
    """t: the target times the positive class's weight."""
    return ((t + 1 - y) * F.sigmoid(x) - t) * g


def log_sigmoid_of(x) -> F.Tensor:
    return row("_log_sigmoid")(x)


def logits_cross_entropy(x, y, g) -> F.Tensor:
    return (F.sigmoid(x) - y) * g


def log_sigmoid(g, x) -> F.Tensor:
    return g * F.sigmoid(-x)


def softsign(g, x) -> F.Tensor:
    return g / F.square(1 + F.abs(x))


def glu_gate(g, x, gate) -> F.Tensor:
    s = F.sigmoid(gate)
    return g * x * (1 - s) * s


def cross_entropy(x, y, g) -> F.Tensor:
    return (x - y) * g / F.clamp_min((1 - x) * x, 1e-12)
