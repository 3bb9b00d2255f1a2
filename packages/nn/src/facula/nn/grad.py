"""The gradients of convolutions as functions."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import facula
from facula import Tensor

from . import functional as F

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _by_input(conv: Callable, input_size: Sequence[int], weight: Tensor, grad_output: Tensor, *options: Any) -> Tensor:
    with facula.enable_grad():
        x = facula.zeros(tuple(input_size), dtype=grad_output.dtype, device=grad_output.device, requires_grad=True)
        return facula.autograd.grad(conv(x, weight, None, *options), x, grad_output)[0]


def _by_weight(conv: Callable, input: Tensor, weight_size: Sequence[int], grad_output: Tensor, *options: Any) -> Tensor:
    with facula.enable_grad():
        w = facula.zeros(tuple(weight_size), dtype=grad_output.dtype, device=grad_output.device, requires_grad=True)
        return facula.autograd.grad(conv(input, w, None, *options), w, grad_output)[0]


def conv1d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of conv1d with respect to its input, of shape input_size.

    >>> facula.nn.grad.conv1d_input((1, 1, 3), facula.tensor([[[1.0, 10.0]]]), facula.ones(1, 1, 2))
    tensor([[[ 1., 11., 10.]]])
    """
    return _by_input(F.conv1d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of conv1d with respect to its weight, of shape weight_size.

    >>> facula.nn.grad.conv1d_weight(facula.tensor([[[1.0, 2.0, 3.0]]]), (1, 1, 2), facula.ones(1, 1, 2))
    tensor([[[3., 5.]]])
    """
    return _by_weight(F.conv1d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of conv2d with respect to its input, of shape input_size.

    >>> facula.nn.grad.conv2d_input((1, 1, 1, 3), facula.tensor([[[[1.0, 10.0]]]]), facula.ones(1, 1, 1, 2))
    tensor([[[[ 1., 11., 10.]]]])
    """
    return _by_input(F.conv2d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of conv2d with respect to its weight, of shape weight_size.

    >>> facula.nn.grad.conv2d_weight(facula.tensor([[[[1.0, 2.0, 3.0]]]]), (1, 1, 1, 2), facula.ones(1, 1, 1, 2))
    tensor([[[[3., 5.]]]])
    """
    return _by_weight(F.conv2d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of conv3d with respect to its input, of shape input_size.

    >>> facula.nn.grad.conv3d_input((1, 1, 1, 1, 3), facula.tensor([[[[[1.0, 10.0]]]]]), facula.ones(1, 1, 1, 1, 2))
    tensor([[[[[ 1., 11., 10.]]]]])
    """
    return _by_input(F.conv3d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of conv3d with respect to its weight, of shape weight_size.

    >>> facula.nn.grad.conv3d_weight(facula.tensor([[[[[1.0, 2.0, 3.0]]]]]), (1, 1, 1, 1, 2), facula.ones(1, 1, 1, 1, 2))
    tensor([[[[[3., 5.]]]]])
    """
    return _by_weight(F.conv3d, input, weight_size, grad_output, stride, padding, dilation, groups)
