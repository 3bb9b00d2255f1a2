"""A batch norm in evaluation mode folded into the layer before it."""

from __future__ import annotations

import copy
from typing import Any

import facula
from facula import Tensor

from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _check(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval! Call eval() on both modules.")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of `conv` that does what conv and then `bn` do; transpose for a transposed convolution."""
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """(weight, bias) of the fused convolution."""
    bias = facula.zeros_like(bn_rm) if conv_b is None else conv_b
    scale = facula.rsqrt(bn_rv + bn_eps)
    if bn_w is not None:
        scale = scale * bn_w
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    fused_b = (bias - bn_rm) * scale
    if bn_b is not None:
        fused_b = fused_b + bn_b
    dtype = conv_w.dtype
    return (
        Parameter((conv_w * scale.reshape(shape)).to(dtype).detach(), conv_w.requires_grad),
        Parameter(fused_b.to(dtype if conv_b is None else conv_b.dtype).detach(), bias.requires_grad),
    )


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of `linear` that does what linear and then `bn` do."""
    _check(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, "
            f"got linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor, bn_b: Tensor
) -> tuple[Parameter, Parameter]:
    """(weight, bias) of the fused linear layer."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
