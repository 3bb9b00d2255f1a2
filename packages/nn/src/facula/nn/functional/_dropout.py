"""Dropouts. The draws are PyTorch's: one bernoulli_(1 - p) in the input's dtype, in memory order."""

from __future__ import annotations

import math
import warnings
from typing import Callable

import facula
from facula.tensor_core import extend
from facula import Tensor


def _check(p: float, error: type[Exception] = ValueError) -> None:
    if type(p) is not float:
        extend.check("dropout", "p", 1, "float", p)
    if not 0.0 <= p <= 1.0:
        raise (RuntimeError if p != p else error)(f"dropout probability has to be between 0 and 1, but got {p}")


def _dropout_first(p: float) -> None:
    if isinstance(p, (int, float)) and p == p:
        _check(p)


_alpha_dropout_first = _feature_alpha_dropout_first = _dropout1d_first = _dropout2d_first = _dropout3d_first = _dropout_first


def _scaled(input: Tensor, noise: Tensor, p: float) -> Tensor:
    return input * noise.bernoulli_(1 - p).div_(1 - p)


def kept(shape: tuple, like: Tensor, p: float) -> Tensor:
    """Which elements dropout leaves of a tensor of this shape and like's dtype, bool."""
    _check(p)
    return facula.empty(shape, dtype=like.dtype, device=like.device).bernoulli_(1 - p).bool()


def _alpha(input: Tensor, noise: Tensor, p: float) -> Tensor:
    # what a dropped unit is set to, -scale * alpha of SELU; a and b restore mean and variance. Source: Klambauer et al. (2017)
    low = 1.7580993408473766
    a = 1 / math.sqrt((low * low * p + 1) * (1 - p))
    noise.bernoulli_(1 - p)
    b = (noise - 1).mul_(low * a).add_(low * a * p)  # in place: integers refuse the factor
    return input * noise.mul_(a) + b


def _drop(input: Tensor, p: float, training: bool, inplace: bool, features: bool, how: Callable) -> Tensor:
    if p == 0 or not training or input.numel() == 0:
        return input
    if type(p) is not float:
        p = float(p)  # a tensor's probability would be one for each element, and draw otherwise
    if p == 1:
        result = input * facula.zeros_like(input, requires_grad=False)
    elif features:
        if input.dim() < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        result = how(input, facula.empty(input.shape[:2] + (1,) * (input.dim() - 2), dtype=input.dtype, device=input.device), p)
    else:
        result = how(input, facula.empty_like(input, requires_grad=False), p)
    return extend.written(input, result) if inplace else result


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability p and scale the others by 1 / (1 - p). Source: Hinton et al. (2012).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.dropout(facula.tensor([1.0, 2.0]), training=False)
    tensor([1., 2.])
    """
    if type(input) is not Tensor:
        _dropout_first(p)
        extend.want_tensor("dropout", "input", 0, input)
    if training is not True and training is not False:
        extend.check("dropout", "training", 2, "bool", training)
    _check(p)
    return _drop(input, p, training, inplace, False, _scaled)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of self-normalising activations.

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.functional.alpha_dropout(facula.zeros(3), 0.5, training=True)
    tensor([-0.7792, -0.7792,  0.7792])
    """
    _check(p)
    return _drop(input, p, training, inplace, False, _alpha)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels.

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.functional.feature_alpha_dropout(facula.zeros(1, 3, 2), 0.5, training=True)
    tensor([[[-0.7792, -0.7792],
             [-0.7792, -0.7792],
             [ 0.7792,  0.7792]]])
    """
    _check(p)
    return _drop(input, p, training, inplace, True, _alpha)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, L) or (C, L).

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.functional.dropout1d(facula.ones(1, 3, 2))
    tensor([[[0., 0.],
             [0., 0.],
             [2., 2.]]])
    """
    _check(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input.")
    return _batched_drop(input, p, training, inplace, 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, H, W). A 3-d input is taken as (N, C, L), as in PyTorch.

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.functional.dropout2d(facula.ones(1, 3, 2, 2)).sum((2, 3))
    tensor([[0., 0., 8.]])
    """
    _check(p)
    if input.dim() not in (3, 4):
        warnings.warn(f"dropout2d: Received a {input.dim()}-D input to dropout2d; it is meant for 4-D input.", stacklevel=2)
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3-D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired: it is taken as "
            "(N, C, L), not as (C, H, W). Use dropout1d for that.",
            stacklevel=2,
        )
    return _drop(input, p, training, inplace, True, _scaled)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W).

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.functional.dropout3d(facula.ones(1, 3, 2, 2, 2)).sum((2, 3, 4))
    tensor([[ 0.,  0., 16.]])
    """
    _check(p)
    if input.dim() not in (4, 5):
        warnings.warn(f"dropout3d: Received a {input.dim()}-D input to dropout3d; it is meant for 4-D or 5-D input.", stacklevel=2)
    return _batched_drop(input, p, training, inplace, 5)


def _batched_drop(input: Tensor, p: float, training: bool, inplace: bool, ndim: int) -> Tensor:
    if input.dim() != ndim:  # without batch; dropout3d's too few or too many dims, as well
        out = _drop(input.unsqueeze(0), p, training, inplace, True, _scaled).squeeze(0)
        return input if inplace else out
    return _drop(input, p, training, inplace, True, _scaled)
