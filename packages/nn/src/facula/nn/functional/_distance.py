"""Distances and similarities."""

from __future__ import annotations

import facula
from facula.tensor_core import extend
from facula import Tensor


def _norm(x: Tensor, p: float, dim: int, keepdim: bool = False) -> Tensor:
    return facula.norm(x, p, dim, keepdim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """p-norm of x1 - x2 + eps over the last dim.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.pairwise_distance(facula.tensor([0.0, 0.0]), facula.tensor([3.0, 4.0]))
    tensor(5.0000)
    """
    return _norm(x1 - x2 + (eps if type(eps) is float else float(eps)), p, -1, keepdim)  # so of integers it is one of floats


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """<x1, x2> / (max(|x1|, eps) max(|x2|, eps)) over `dim`.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.cosine_similarity(facula.tensor([1.0, 0.0]), facula.tensor([3.0, 4.0]), dim=0)
    tensor(0.6000)
    """
    common = facula.result_type(x1, x2)
    if not common.is_floating_point:
        raise RuntimeError(f"cosine_similarity: expected common dtype to be floating point, yet common dtype is {common}. Convert one with .to().")
    if x1.dtype._kind < 2 or x2.dtype._kind < 2:
        x1, x2 = x1.to(common), x2.to(common)
    if eps < 0:
        raise RuntimeError(f"cosine_similarity: eps must be non-negative, got {eps}. Leave it out.")
    x1, x2 = facula.broadcast_tensors(x1, x2)  # each is normalised in its own dtype
    length1, length2 = _at_least(_norm(x1, 2, dim, True), eps), _at_least(_norm(x2, 2, dim, True), eps)
    return (x1 / length1 * (x2 / length2)).sum(dim)


def _at_least(length: Tensor, eps: float) -> Tensor:
    """length clamped, with the gradient of what is not: PyTorch's similarity has it go through lengths below eps, too."""
    if not length.requires_grad:
        return length.clamp(min=eps)
    length = length.clone()
    with facula.no_grad():
        length.clamp_(min=eps)
    return length


def pdist(input: Tensor, p: float = 2) -> Tensor:
    """p-norm distances of all pairs of rows (i < j) of an (N, M) matrix, in row order.

    >>> facula.nn.functional.pdist(facula.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    if type(input) is not Tensor:
        extend.want_tensor("pdist", "input", 0, input)
    return facula.pdist(input, p)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """x / max(p-norm of x over `dim`, eps).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.normalize(facula.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    length = _norm(input, p, dim, True).clamp_min(eps).expand_as(input)
    return input / length if out is None else facula.div(input, length, out=out)
