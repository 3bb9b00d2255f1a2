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
    """A copy of `conv` that does what conv and then `bn` do; transpose for a transposed convolution.

    >>> conv, norm = facula.nn.Conv1d(1, 2, 3).eval(), facula.nn.BatchNorm1d(2).eval()
    >>> x = facula.ones(1, 1, 4)
    >>> facula.nn.utils.fuse_conv_bn_eval(conv, norm)(x).allclose(norm(conv(x)), atol=1e-6)
    True
    """
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
    """(weight, bias) of the fused convolution.

    >>> w, b = facula.nn.utils.fuse_conv_bn_weights(facula.ones(1, 1, 1), None, facula.tensor([2.0]), facula.tensor([4.0]), 0.0, facula.tensor([1.0]), facula.tensor([0.0]))
    >>> w, b
    (Parameter containing:
    tensor([[[0.5000]]]), Parameter containing:
    tensor([-1.]))
    """
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
    """A copy of `linear` that does what linear and then `bn` do.

    >>> linear, norm = facula.nn.Linear(3, 2).eval(), facula.nn.BatchNorm1d(2).eval()
    >>> x = facula.ones(4, 3)
    >>> facula.nn.utils.fuse_linear_bn_eval(linear, norm)(x).allclose(norm(linear(x)), atol=1e-6)
    True
    """
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
    """(weight, bias) of the fused linear layer.

    >>> w, b = facula.nn.utils.fuse_linear_bn_weights(facula.ones(1, 1), None, facula.tensor([2.0]), facula.tensor([4.0]), 0.0, facula.tensor([1.0]), facula.tensor([0.0]))
    >>> w, b
    (Parameter containing:
    tensor([[0.5000]]), Parameter containing:
    tensor([-1.]))
    """
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
