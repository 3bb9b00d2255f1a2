"""AdaptiveLogSoftmaxWithLoss."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import facula
from facula import Tensor

from . import functional as F
from .containers import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """log_softmax over many classes in clusters: frequent ones in the head, the rest behind ever narrower projections.

    cutoffs: where the clusters begin, rising; classes must be sorted by falling frequency. Source: Grave et al. (2016).

    >>> loss = facula.nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[5, 10])
    >>> loss.log_prob(facula.ones(3, 8)).shape
    torch.Size([3, 20])
    >>> loss(facula.ones(3, 8), facula.tensor([0, 7, 19])).output.shape
    torch.Size([3])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs) or any(int(c) != c for c in cutoffs)
        ):  # fmt: skip
            raise ValueError(f"cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 and n_classes-1: {cutoffs}, n_classes {n_classes}")
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for k in range(self.n_clusters):
            width, classes = int(in_features // div_value ** (k + 1)), self.cutoffs[k + 1] - self.cutoffs[k]
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, device=device, dtype=dtype),
                    Linear(width, classes, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw the initial values again."""
        self.head.reset_parameters()
        for down, up in self.tail:
            down.reset_parameters()
            up.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """(log-probability of each target, mean loss); input (N, in_features) or (in_features)."""
        if input_.dim() not in (1, 2) or target_.dim() != input_.dim() - 1:
            raise RuntimeError(f"AdaptiveLogSoftmaxWithLoss: expected input of 1 or 2 dims and target of one less, got {input_.dim()} and {target_.dim()}")
        single = target_.dim() == 0
        x, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if single else (input_, target_)
        if x.size(0) != target.size(0):
            raise RuntimeError(f"Input and target should have the same size in the batch dimension: {x.size(0)} and {target.size(0)}")
        if target.numel() and not bool(((target >= 0) & (target < self.n_classes)).all()):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range [{int(target.min())}, {int(target.max())}] were found.")
        head = F.log_softmax(self.head(x), 1)
        place = target  # in the head: the class itself, or its cluster's
        for k in range(self.n_clusters):
            member = (target >= self.cutoffs[k]) & (target < self.cutoffs[k + 1])
            place = facula.where(member, facula.full_like(target, self.shortlist_size + k), place)
        out = head.gather(1, place.unsqueeze(1)).squeeze(1)
        for k, project in enumerate(self.tail):
            rows = (place == self.shortlist_size + k).nonzero().reshape(-1)
            if rows.numel():
                inner = F.log_softmax(project(x.index_select(0, rows)), 1)
                found = inner.gather(1, (target[rows] - self.cutoffs[k]).unsqueeze(1)).squeeze(1)
                out = out.index_add(0, rows, found)
        return _ASMoutput(out.squeeze(0) if single else out, -out.mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """Log-probabilities of all classes: (N, n_classes)."""
        head = F.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for k, project in enumerate(self.tail):
            parts.append(F.log_softmax(project(input), 1) + head[:, self.shortlist_size + k].unsqueeze(1))
        return facula.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The likeliest class of each row."""
        best = self.head(input).argmax(1)
        beyond = best >= self.shortlist_size
        if not bool(beyond.any()):
            return best
        return facula.where(beyond, self.log_prob(input).argmax(1), best)
