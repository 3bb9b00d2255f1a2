"""Derivatives of attention's row: its own backward kernel and, where a second derivative is asked for, a composition."""

import facula as F

from .._core import composing, row
from .._table import D, none

D("_attention", node="ScaledDotProductFlashAttentionForCpuBackward0", flat=(1,), xyz=lambda g, x, y, z, w, v, out0, out1, causal, scale, keep_scale: attention_gradients(g, x, y, z, w, v, out0, out1, causal, scale, keep_scale))
none("_attention_backward")


def attention_gradients(g, q, k, v, mask, keep, out, lse, causal, scale, keep_scale) -> tuple:
    graph = composing()
    if graph:
        dq, dk, dv = composed_gradients(g, q, k, v, mask, keep, causal, scale, keep_scale)
    else:
        dq, dk, dv = row("_attention_backward")(g, q, k, v, out, lse, mask, keep, causal, scale, keep_scale)
    if keep is None and q.shape[3] == v.shape[3] and q.stride(3) == k.stride(3) == v.stride(3) == 1:
        return lying(dq, 1, 2), lying(dk, 1, 2), lying(dv, 1, 2)  # as PyTorch's fused kernel, which takes rows that lie whole, leaves them: heads inside
    return dq, lying(dk, 2, 3) if not graph and k.shape[1] == q.shape[1] else dk, dv  # the sum over a group's heads is contiguous


def composed_gradients(g, q, k, v, mask, keep, causal, scale, keep_scale) -> tuple:
    """Keys' by the transposed queries, as in PyTorch: there the keys themselves are what was transposed."""
    b, heads, length, e = q.shape
    groups, keys = k.shape[1:3]

    def grouped(t) -> F.Tensor:
        return t.reshape(b, groups, heads // groups, length, t.shape[-1])

    q, g, k, v = grouped(q), grouped(g), k.unsqueeze(2), v.unsqueeze(2)
    p = attention_weights(q, k, mask, causal, scale)
    dp = F.matmul(g, v.transpose(-2, -1))
    kept = p
    if keep is not None:
        keep = keep.reshape(p.shape).to(p.dtype) * keep_scale
        dp, kept = dp * keep, p * keep
    ds = p * (dp - F.sum(dp * p, -1, True)) * scale
    dq = F.matmul(ds, k).reshape(b, heads, length, e)
    dk, dv = F.matmul(q.transpose(-2, -1), ds).transpose(-2, -1), F.matmul(kept.transpose(-2, -1), g)
    return (dq, dk.squeeze(2), dv.squeeze(2)) if groups == heads else (dq, F.sum(dk, 2), F.sum(dv, 2))


def lying(t, a, b) -> F.Tensor:
    """t lying as if new with dims a and b exchanged, where they have one place too."""
    turned = t.transpose(a, b)
    return F.empty_like(turned, memory_format=F.contiguous_format).copy_(turned).transpose(a, b)


def attention_weights(q, k, mask, causal, scale) -> F.Tensor:
    """softmax of the scores of (B, groups, heads of a group, L, E); a row that sees nothing is 0."""
    scores = F.matmul(q, k.transpose(-2, -1)) * scale
    left_out = F.zeros(scores.shape, dtype=F.bool)
    if causal:
        left_out = left_out | F.ones(scores.shape[-2:], dtype=F.bool).triu(1)
    if mask is not None:
        if mask.shape[1] > 1:
            mask = mask.reshape(mask.shape[0], q.shape[1], q.shape[2], *mask.shape[2:])
        else:
            mask = mask.unsqueeze(1)
        if mask.dtype is F.bool:
            left_out = left_out | F.logical_not(mask)
        else:
            scores = scores + mask
            left_out = left_out | (mask == -float("inf"))
    blind = left_out.all(-1, True)
    scores = F.where(blind, F.zeros_like(scores), F.where(left_out, F.full_like(scores, -float("inf")), scores))
    return F.where(blind, F.zeros_like(scores), F.softmax(scores, -1))
