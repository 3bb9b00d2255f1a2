"""linear and bilinear."""

from __future__ import annotations

import facula
from facula import Tensor, linear

__all__ = ["bilinear", "linear"]


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """out[..., k] = x1 A[k] x2 + b[k].  input1: (*, I), input2: (*, J), weight: (K, I, J), bias: (K)."""
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(f"bilinear: batch dimensions do not match: {tuple(input1.shape)} and {tuple(input2.shape)}.")
    for x, dim in ((input1, 1), (input2, 2)):
        if x.size(-1) != weight.size(dim):
            raise RuntimeError(f"bilinear: input{dim} has {x.size(-1)} features, weight {tuple(weight.shape)} wants {weight.size(dim)}.")
    k, i, j = weight.shape
    batch = input1.shape[:-1]
    x1, x2 = input1.reshape(-1, i), input2.reshape(-1, j)
    left = facula.matmul(x1, weight.permute(1, 0, 2).reshape(i, k * j)).reshape(-1, k, j)
    out = (left * x2.unsqueeze(1)).sum(-1).reshape(*batch, k)
    return out if bias is None else out + bias
