"""Losses of detection, and layers that drop whole samples."""

from __future__ import annotations

import facula
from facula import nn
from facula.nn import functional as F

__all__ = ["StochasticDepth", "complete_box_iou_loss", "distance_box_iou_loss", "generalized_box_iou_loss", "sigmoid_focal_loss", "stochastic_depth"]


def _reduced(name: str, loss, reduction: str):
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"{name}: Invalid Value for arg 'reduction': '{reduction}'. Supported: 'none', 'mean', 'sum'")
    return loss.sum() if reduction == "sum" else loss.mean() if loss.numel() else 0.0 * loss.sum()


def sigmoid_focal_loss(inputs, targets, alpha: float = 0.25, gamma: float = 2, reduction: str = "none") -> facula.Tensor:
    """Cross entropy of sigmoids, less for what is right already. Source: Lin et al., arXiv:1708.02002, equation 5.

    alpha: weight of the positive class, 1 - alpha of the negative; below 0 for none.

    >>> facula.vision.ops.sigmoid_focal_loss(facula.tensor([0.0, 1.0]), facula.tensor([1.0, 1.0]))
    tensor([0.0433, 0.0057])
    """
    if not (0 <= alpha <= 1) and alpha != -1:
        raise ValueError(f"Invalid alpha value: {alpha}. alpha must be in the range [0,1] or -1 for ignore.")
    p = facula.sigmoid(inputs)
    entropy = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    right = p * targets + (1 - p) * (1 - targets)
    loss = entropy * (1 - right) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return _reduced("sigmoid_focal_loss", loss, reduction)


def generalized_box_iou_loss(boxes1, boxes2, reduction: str = "none", eps: float = 1e-7) -> facula.Tensor:
    """1 - generalized IoU of each box with its partner (N, 4).

    >>> facula.vision.ops.generalized_box_iou_loss(facula.tensor([[0.0, 0.0, 1.0, 1.0]]), facula.tensor([[1.0, 0.0, 2.0, 1.0]]))
    tensor([1.])
    """
    corner, opposite = facula.max(boxes1[:, :2], boxes2[:, :2]), facula.min(boxes1[:, 2:], boxes2[:, 2:])
    inside = (opposite > corner).all(1)
    both = facula.where(inside, (opposite - corner).prod(1), facula.zeros((), dtype=boxes1.dtype))
    union = (boxes1[:, 2:] - boxes1[:, :2]).prod(1) + (boxes2[:, 2:] - boxes2[:, :2]).prod(1) - both
    around = (facula.max(boxes1[:, 2:], boxes2[:, 2:]) - facula.min(boxes1[:, :2], boxes2[:, :2])).prod(1)
    loss = 1 - (both / (union + eps) - (around - union) / (around + eps))
    return _reduced("generalized_box_iou_loss", loss, reduction)


def _parts(boxes1, boxes2, eps: float):
    """IoU of each box with its partner, and the squared distance of their centres by the squared diagonal around both."""
    corner, opposite = facula.max(boxes1[:, :2], boxes2[:, :2]), facula.min(boxes1[:, 2:], boxes2[:, 2:])
    both = facula.where((opposite > corner).all(1), (opposite - corner).prod(1), facula.zeros((), dtype=boxes1.dtype))
    union = (boxes1[:, 2:] - boxes1[:, :2]).prod(1) + (boxes2[:, 2:] - boxes2[:, :2]).prod(1) - both
    around = facula.max(boxes1[:, 2:], boxes2[:, 2:]) - facula.min(boxes1[:, :2], boxes2[:, :2])
    apart = (boxes1[:, :2] + boxes1[:, 2:] - boxes2[:, :2] - boxes2[:, 2:]) / 2
    return both / (union + eps), apart.square().sum(1) / (around.square().sum(1) + eps)


def distance_box_iou_loss(boxes1, boxes2, reduction: str = "none", eps: float = 1e-7) -> facula.Tensor:
    """1 - distance IoU of each box with its partner (N, 4). Source: Zheng et al., arXiv:1911.08287.

    >>> facula.vision.ops.distance_box_iou_loss(facula.tensor([[0.0, 0.0, 1.0, 1.0]]), facula.tensor([[1.0, 0.0, 2.0, 1.0]]))
    tensor([1.2000])
    """
    iou, apart = _parts(boxes1, boxes2, eps)
    return _reduced("distance_box_iou_loss", 1 - iou + apart, reduction)


def complete_box_iou_loss(boxes1, boxes2, reduction: str = "none", eps: float = 1e-7) -> facula.Tensor:
    """1 - complete IoU of each box with its partner (N, 4): aspect ratios count too. Source: Zheng et al., arXiv:1911.08287.

    >>> facula.vision.ops.complete_box_iou_loss(facula.tensor([[0.0, 0.0, 1.0, 1.0]]), facula.tensor([[1.0, 0.0, 2.0, 1.0]]))
    tensor([1.2000])
    """
    iou, apart = _parts(boxes1, boxes2, eps)
    (w1, h1), (w2, h2) = ((b[:, 2:] - b[:, :2]).unbind(1) for b in (boxes1, boxes2))
    v = 4 / facula.pi**2 * (facula.atan(w2 / h2) - facula.atan(w1 / h1)) ** 2
    with facula.no_grad():
        alpha = v / (1 - iou + v + eps)
    return _reduced("complete_box_iou_loss", 1 - iou + apart + alpha * v, reduction)


def stochastic_depth(input, p: float, mode: str, training: bool = True) -> facula.Tensor:
    """0 with probability p, else input / (1 - p): for the whole "batch" or each "row". Source: arXiv:1603.09382.

    >>> _ = facula.manual_seed(0)
    >>> facula.vision.ops.stochastic_depth(facula.ones(4, 1), 0.5, "row").flatten()
    tensor([0., 0., 2., 0.])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return input
    shape = [input.shape[0] if mode == "row" else 1] + [1] * (input.dim() - 1)
    noise = facula.empty(shape, dtype=input.dtype).bernoulli_(1 - p)
    return input * (noise.div_(1 - p) if p < 1 else noise)


class StochasticDepth(nn.Module):
    """stochastic_depth as a layer.

    >>> facula.vision.ops.StochasticDepth(0.5, "row").eval()(facula.ones(2, 2))
    tensor([[1., 1.],
            [1., 1.]])
    """

    def __init__(self, p: float, mode: str) -> None:
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, input) -> facula.Tensor:
        return stochastic_depth(input, self.p, self.mode, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}, mode={self.mode}"
