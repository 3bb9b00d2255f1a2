"""Attention: whole score matrices, in long double."""

import numpy as np

from . import O


def grouped(x, groups):
    """(B, H, ...) as (B, groups, heads of a group, ...)."""
    return x.reshape(x.shape[0], groups, -1, *x.shape[2:])


def weights(q, k, mask, causal, scale):
    """(softmax of the scores, log-sum-exp) of (B, groups, heads, L, E) and (B, groups, S, E)."""
    scores = scale * np.einsum("bghie,bgje->bghij", q, k)
    if mask is not None:
        full = np.broadcast_to(mask, (q.shape[0], q.shape[1] * q.shape[2], *scores.shape[-2:])).reshape(scores.shape)
        scores = np.where(full, scores, -np.inf) if mask.dtype == bool else scores + full
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    peak = np.max(scores, -1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(peak), 0, peak))
    total = np.sum(e, -1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = np.where(total > 0, np.where(np.isinf(peak), 0, peak) + np.log(total), -np.inf)
    return e / np.where(total > 0, total, 1), lse[..., 0]


def attention(query, key, value, mask, keep, causal, scale, keep_scale):
    p, lse = weights(grouped(query, key.shape[1]), key, mask, causal, scale)
    p = p if keep is None else p * keep.reshape(p.shape) * keep_scale
    out = np.einsum("bghij,bgjv->bghiv", p, value)
    return out.reshape(*query.shape[:3], -1), lse.reshape(query.shape[:3])


def attention_backward(g, query, key, value, output, lse, mask, keep, causal, scale, keep_scale):
    groups = key.shape[1]
    q, g = grouped(query, groups), grouped(g, groups)
    p, _ = weights(q, key, mask, causal, scale)
    drop = 1 if keep is None else keep.reshape(p.shape) * keep_scale
    dp = np.einsum("bghiv,bgjv->bghij", g, value) * drop
    ds = scale * p * (dp - np.sum(p * dp, -1, keepdims=True))
    dq = np.einsum("bghij,bgje->bghie", ds, key).reshape(query.shape)
    return dq, np.einsum("bghij,bghie->bgje", ds, q), np.einsum("bghij,bghiv->bgjv", p * drop, g)


def seeing(t, *shape):
    """A boolean mask that leaves every query a key."""
    mask = t.bool(*shape)
    mask.array[..., 0] = True
    return mask


def operands(t):
    yield t(2, 2, 3, 4), t(2, 2, 5, 4), t(2, 2, 5, 3), None, None, False, 0.5, 1.0
    yield t(1, 4, 70, 4), t(1, 2, 140, 4), t(1, 2, 140, 3), None, t.bool(1, 4, 70, 140), True, 0.5, 1.25
    yield t(2, 2, 3, 4), t(2, 1, 5, 4), t(2, 1, 5, 3), seeing(t, 1, 2, 3, 5), None, False, 0.25, 1.0
    yield t(2, 2, 3, 4), t(2, 2, 5, 4), t(2, 2, 5, 3), t(2, 1, 1, 5), t.bool(2, 2, 3, 5), False, 1.0, 1.5


def backward_operands(t):
    for q, k, v, mask, keep, causal, scale, by in operands(t):
        wide = [None if a is None else a.array if a.array.dtype == bool else a.array.astype(np.longdouble) for a in (q, k, v, mask, keep)]
        out, lse = attention(*wide, causal, scale, by)
        yield t(*out.shape), q, k, v, t.value(out), t.wide(lse), mask, keep, causal, scale, by


HOW = dict(ulp=64, halves=64, scale="max", specials=False)  # backward reads the rounded result
O("_attention", attention, result=("SAME", "STAT"), cases=lambda t: list(operands(t)), **HOW)
O("_attention_backward", attention_backward, expanded=False, cases=lambda t: list(backward_operands(t)), **HOW)
