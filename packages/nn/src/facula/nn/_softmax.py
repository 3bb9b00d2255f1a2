"""Modules of the softmax and its kin: exponentials of a dim, divided by their sum."""

from __future__ import annotations

from facula import Tensor

from . import functional as F
from .module import Module

__all__ = ["LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class _AlongDim(Module):
    """A module with a dim, or None for PyTorch's guess by rank."""

    _younger = {"dim": None}

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_AlongDim):
    """softmax(-x) along `dim`.

    >>> import facula
    >>> from facula import nn
    >>> nn.Softmin(0)(facula.tensor([0.0, 1.0]))
    tensor([0.7311, 0.2689])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_AlongDim):
    """exp(x) / sum(exp(x)) along `dim`.

    >>> import facula
    >>> from facula import nn
    >>> nn.Softmax(0)(facula.tensor([0.0, 1.0]))
    tensor([0.2689, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """softmax over the channels of (N, C, H, W) or (C, H, W).

    >>> import facula
    >>> from facula import nn
    >>> nn.Softmax2d()(facula.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)


class LogSoftmax(_AlongDim):
    """log(softmax(x)) along `dim`.

    >>> import facula
    >>> from facula import nn
    >>> nn.LogSoftmax(0)(facula.tensor([0.0, 1.0]))
    tensor([-1.3133, -0.3133])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=5)
