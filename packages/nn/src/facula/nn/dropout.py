"""Dropout modules: active in training only."""

from __future__ import annotations

from facula import Tensor

from . import functional as F
from .module import Module

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Zero each element with probability p, scale the others by 1 / (1 - p).

    >>> import facula
    >>> from facula import nn
    >>> nn.Dropout(0.5).eval()(facula.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Zero whole channels of (N, C, L) or (C, L).

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.Dropout1d(0.5)(facula.ones(1, 3, 2))
    tensor([[[0., 0.],
             [0., 0.],
             [2., 2.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Zero whole channels of (N, C, H, W).

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.Dropout2d(0.5)(facula.ones(1, 3, 2, 2)).sum((2, 3))
    tensor([[0., 0., 8.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W).

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.Dropout3d(0.5)(facula.ones(1, 3, 2, 2, 2)).sum((2, 3, 4))
    tensor([[ 0.,  0., 16.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance of self-normalising activations.

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.AlphaDropout(0.5)(facula.zeros(3))
    tensor([-0.7792, -0.7792,  0.7792])
    >>> facula.nn.AlphaDropout(0.5).eval()(facula.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels.

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.FeatureAlphaDropout(0.5)(facula.zeros(1, 3, 2))
    tensor([[[-0.7792, -0.7792],
             [-0.7792, -0.7792],
             [ 0.7792,  0.7792]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
