"""linear, bilinear and grouped products."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor, linear
from facula.tensor_core import extend

__all__ = ["bilinear", "grouped_mm", "linear"]


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """out[..., k] = x1 A[k] x2 + b[k].  input1: (*, I), input2: (*, J), weight: (K, I, J), bias: (K).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.bilinear(facula.tensor([[1.0, 2.0]]), facula.tensor([[3.0]]), facula.tensor([[[1.0], [1.0]]]))
    tensor([[9.]])
    """
    if type(input1) is not Tensor:
        extend.want_tensor("bilinear", "input1", 0, input1)
    if not (input1.dtype is input2.dtype is weight.dtype) or bias is not None and bias.dtype is not weight.dtype:
        found = ", ".join(f"{name}: {t.dtype._name}" for name, t in (("input1", input1), ("input2", input2), ("weight", weight), ("bias", bias)) if t is not None)
        raise RuntimeError(f"bilinear: All tensors must have the same dtype, got {found}. Convert them with .to().")
    if bias is not None and not bias.dim():
        raise IndexError("bilinear: expected bias to have 1 dim, got 0.")
    if bias is not None and bias.size(0) != weight.size(0):
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.size(0)} but expected {weight.size(0)}. Give one number for each output.")
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(f"bilinear: batch dimensions do not match: {tuple(input1.shape)} and {tuple(input2.shape)}.")
    for x, dim in ((input1, 1), (input2, 2)):
        if x.size(-1) != weight.size(dim):
            raise RuntimeError(f"bilinear: input{dim} has {x.size(-1)} features, weight {tuple(weight.shape)} wants {weight.size(dim)}.")
    if weight.dim() != 3:
        raise RuntimeError(f"bilinear: expected weight to have 3 dims, got {weight.dim()}.")
    k, i, j = weight.shape
    batch = input1.shape[:-1]
    rows = batch.numel()
    x1, x2 = input1.reshape(rows, i), extend.gradient_lies(input2, "rows").reshape(rows, j)
    right = linear(x2, weight.contiguous().reshape(k * i, j)).reshape(rows, k, i)
    out = (right * x1.unsqueeze(1)).sum(-1, dtype=right.dtype).reshape(*batch, k)
    return out if bias is None else out + bias


def grouped_mm(
    mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: Any = None
) -> Tensor:
    """Products group by group. offs: int32, where each group of a 2-d operand ends; what follows the last is 0 in the result.

    (M, K) with (G, K, N): rows of mat_a in groups, (M, N). (G, M, K) with (K, N): columns of mat_b in groups, (M, N).
    (M, K) with (K, N): K in groups, (G, M, N). (G, M, K) with (G, K, N), without offs: (G, M, N). bias is added to each group.

    >>> x = facula.tensor([[1.0], [2.0], [3.0]])
    >>> weights = facula.tensor([[[1.0]], [[10.0]]])
    >>> facula.nn.functional.grouped_mm(x, weights, offs=facula.tensor([1, 3], dtype=facula.int32)).flatten()
    tensor([ 1., 20., 30.])
    """
    a, b = mat_a.dim(), mat_b.dim()
    if out_dtype is not None:
        extend.check("grouped_mm", "out_dtype", None, "dtype", out_dtype)
    if a not in (2, 3) or b not in (2, 3):
        raise RuntimeError(f"grouped_mm: mat_a and mat_b must be 2-D or 3-D, got {a}-D and {b}-D")
    if (offs is None) != (a == b == 3):
        raise RuntimeError("grouped_mm: have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if mat_a.size(-1) != mat_b.size(-2):
        raise RuntimeError(f"grouped_mm: contraction sizes of {tuple(mat_a.shape)} and {tuple(mat_b.shape)} must match")
    if offs is not None and offs.dtype != facula.int32:
        raise RuntimeError(f"grouped_mm: offsets have to be int32, got {offs.dtype}")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError(f"grouped_mm: output dtype must match `mat_a` dtype {mat_a.dtype}, got {out_dtype}")
    if offs is None:
        out = facula.bmm(mat_a, mat_b)
        return out if bias is None else out + bias
    ends = offs.tolist()
    groups = [(start, end) for start, end in zip([0, *ends[:-1]], ends)]
    for k, m in enumerate((mat_a, mat_b)):
        if m.dim() == 3 and m.size(0) != len(groups):
            raise RuntimeError(f"grouped_mm: {'mat_a' if k == 0 else 'mat_b'} has {m.size(0)} matrices, offs names {len(groups)} groups")
    if a == 2 and b == 3:
        parts = [mat_a[s:e] @ m for (s, e), m in zip(groups, mat_b)]
    elif a == 3:
        parts = [m @ mat_b[:, s:e] for (s, e), m in zip(groups, mat_a)]
    else:
        parts = [mat_a[:, s:e] @ mat_b[s:e] for s, e in groups]
    parts = parts if bias is None else [p + bias for p in parts]
    if a == b:
        return facula.stack(parts)
    dim, size = (0, mat_a.size(0)) if a == 2 else (1, mat_b.size(1))
    rest = size - (ends[-1] if ends else 0)
    if rest or not parts:
        shape = (rest, mat_b.size(2)) if a == 2 else (mat_a.size(1), rest)
        parts.append(facula.zeros(shape, dtype=mat_a.dtype, device=mat_a.device))
    return facula.cat(parts, dim)
