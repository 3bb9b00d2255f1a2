"""Losses of distances between embeddings."""

from __future__ import annotations

from typing import Any, Callable

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._distance import pairwise_distance
from ._reduction import check, checked, legacy, reduced


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target (x1 - x2) + margin), target being 1 or -1.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.margin_ranking_loss(facula.tensor([1.0, 2.0]), facula.tensor([3.0, 0.0]), facula.tensor([1.0, 1.0]), reduction="none")
    tensor([2., 0.])
    """
    reduction = checked(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()}"
        )
    return margin_ranking(input1, input2, target, margin, reduction)


def margin_ranking(input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: str) -> Tensor:
    """margin_ranking_loss of what broadcasts."""
    return reduced((-target * (input1 - input2) + float(margin)).clamp(min=0), reduction)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """x where target is 1, max(0, margin - x) where it is -1.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.hinge_embedding_loss(facula.tensor([0.25, 0.25]), facula.tensor([1.0, -1.0]), reduction="none")
    tensor([0.2500, 0.7500])
    """
    reduction = checked(size_average, reduce, reduction)
    zero = facula.zeros_like(input)
    margin = float(margin) if input.dtype._kind > 1 else facula.full_like(input, margin)  # of integers' losses are integers
    apart = facula.where(target != 1, (margin - input).clamp(min=0), zero)
    together = facula.where(target != -1, input, zero)
    return reduced(apart + together, reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.cosine_embedding_loss(facula.tensor([[1.0, 0.0]]), facula.tensor([[0.0, 1.0]]), facula.tensor([1]))
    tensor(1.)
    """
    reduction = checked(size_average, reduce, reduction)
    if target.dim() > 1:
        raise RuntimeError(f"cosine_embedding_loss: 0D or 1D target tensor expected, multi-target not supported, got {tuple(target.shape)}. Flatten it.")
    if target.dim() + 1 != input1.dim() or target.dim() + 1 != input2.dim():
        raise RuntimeError(
            f"cosine_embedding_loss: {target.dim()}D target tensor expects {target.dim() + 1}D input tensors, "
            f"but found inputs with sizes {tuple(input1.shape)} and {tuple(input2.shape)}."
        )
    dim, eps = target.dim(), 1e-12  # added to the squared norms, as PyTorch's kernel does
    products = (input1 * input2).sum(dim)
    squares = ((input1 * input1).sum(dim) + eps) * ((input2 * input2).sum(dim) + eps)
    cosine = products / squares.sqrt()
    zero = facula.zeros_like(cosine)
    loss = facula.where(target == 1, 1 - cosine, zero) + facula.where(target == -1, (cosine - float(margin)).clamp(min=0), zero)
    return reduced(loss, reduction)


def _triplet_margin_loss_first(margin: float, size_average: bool | None, reduce: bool | None, reduction: str) -> None:
    _triplet_margin_with_distance_loss_first(margin, reduction if size_average is None and reduce is None else "mean")


def _triplet_margin_with_distance_loss_first(margin: float, reduction: str) -> None:
    check(reduction)
    if isinstance(margin, (int, float)) and margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(a, p) - d(a, n) + margin), d the p-norm distance. Source: Balntas et al. (2016).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.triplet_margin_loss(facula.tensor([[0.0]]), facula.tensor([[1.0]]), facula.tensor([[3.0]]), margin=2.5)
    tensor(0.5000)
    """
    if type(anchor) is not Tensor:
        extend.want_tensor("triplet_margin_loss", "anchor", 0, anchor)
    _triplet_margin_loss_first(margin, size_average, reduce, reduction)
    return triplet(anchor, positive, negative, margin, p, eps, swap, legacy(size_average, reduce, reduction))


def triplet(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float, p: float, eps: float, swap: bool, reduction: str) -> Tensor:
    """triplet_margin_loss of any margin.

    >>> import facula
    >>> triplet(facula.tensor([[0.0]]), facula.tensor([[1.0]]), facula.tensor([[0.5]]), -0.25, 2, 1e-6, False, "mean")
    tensor(0.2500)
    """
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "triplet_margin_loss: anchor, positive and negative are expected to have the same number of dimensions, "
            f"but got: {anchor.dim()}D, {positive.dim()}D and {negative.dim()}D."
        )
    return _triplet(anchor, positive, negative, lambda a, b: pairwise_distance(a, b, p, eps), margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: Any = False,
    reduction: str = "mean",
) -> Tensor:
    """triplet_margin_loss under any distance. swap is anything that is true or false.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.triplet_margin_with_distance_loss(facula.tensor([[0.0]]), facula.tensor([[1.0]]), facula.tensor([[3.0]]), margin=2.5)
    tensor(0.5000)
    """
    extend.check("triplet_margin_with_distance_loss", "margin", None, "number", margin)
    _triplet_margin_with_distance_loss_first(margin, reduction)
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "triplet_margin_with_distance_loss: anchor, positive and negative are expected to have the same number of "
            f"dimensions, but got: {anchor.dim()}D, {positive.dim()}D and {negative.dim()}D."
        )
    return _triplet(anchor, positive, negative, pairwise_distance if distance_function is None else distance_function, margin, swap, reduction)


def _triplet(
    anchor: Tensor, positive: Tensor, negative: Tensor, distance: Any, margin: float, swap: bool, reduction: str
) -> Tensor:
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:  # the harder of the two negatives
        far = facula.minimum(far, distance(positive, negative))
    return reduced((near - far + float(margin)).clamp(min=0), reduction)
