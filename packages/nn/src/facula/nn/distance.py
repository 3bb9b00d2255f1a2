"""PairwiseDistance and CosineSimilarity."""

from __future__ import annotations

from facula import Tensor

from . import functional as F
from .module import Module

__all__ = ["PairwiseDistance", "CosineSimilarity"]


class PairwiseDistance(Module):
    """p-norm of x1 - x2 + eps over the last dim.

    >>> import facula
    >>> from facula import nn
    >>> nn.PairwiseDistance()(facula.tensor([0.0, 0.0]), facula.tensor([3.0, 4.0]))
    tensor(5.0000)
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """Cosine of the angle between x1 and x2 over `dim`.

    >>> import facula
    >>> from facula import nn
    >>> nn.CosineSimilarity(0)(facula.tensor([1.0, 0.0]), facula.tensor([3.0, 4.0]))
    tensor(0.6000)
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
