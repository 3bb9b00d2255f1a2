"""Attention over sequences of different lengths that lie one after the other, without padding."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import facula
from facula import Tensor

from ..functional import scaled_dot_product_attention

__all__ = ["AuxRequest", "varlen_attn", "varlen_attn_out"]


class AuxRequest(NamedTuple):
    """What varlen_attn gives beside its result: lse, the logarithm of the sum behind each softmax.

    >>> from facula.nn.attention.varlen import AuxRequest
    >>> AuxRequest(lse=True)
    AuxRequest(lse=True)
    """

    lse: bool = False


def varlen_attn(
    query: Tensor, key: Tensor, value: Tensor, cu_seq_q: Tensor, cu_seq_k: Tensor | None, max_q: int, max_k: int, *,
    return_aux: AuxRequest | None = None, scale: float | None = None, window_size: tuple[int, int] = (-1, -1), enable_gqa: bool = False,
    seqused_k: Tensor | None = None, block_table: Tensor | None = None, num_splits: int | None = None,
) -> Any:  # fmt: skip
    """scaled_dot_product_attention of each sequence by itself: (Tq, Hq, D); with return_aux.lse also the logsumexp of the scores, (Hq, Tq) float32.

    query (Tq, Hq, D), key and value (Tk, Hk, D); sequence n is rows cu_seq_q[n] to cu_seq_q[n + 1] of query and likewise of key. max_q, max_k:
    no sequence is longer. window_size: how many keys before and after its own place a query sees, -1 for all; queries are the last places of their
    keys. seqused_k: of each sequence the first so many keys alone. block_table (N, P): key and value are pages (pages, size, Hk, D), and row n lists
    those of sequence n; it wants seqused_k. num_splits: how kernels on a GPU divide the sum over keys. The order here is always the same.

    >>> from facula.nn.attention.varlen import varlen_attn
    >>> q = facula.zeros(3, 1, 1)
    >>> v = facula.tensor([1.0, 3.0, 5.0]).view(3, 1, 1)
    >>> ends = facula.tensor([0, 2, 3], dtype=facula.int32)
    >>> varlen_attn(q, q, v, ends, ends, 2, 2).flatten()
    tensor([2., 2., 5.])
    """
    heads, groups = query.size(1), key.size(-2)
    if not enable_gqa and heads != groups:
        raise ValueError(f"varlen_attn: Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={groups}. Try setting enable_gqa=True for GQA.")
    if heads % groups:
        raise ValueError(f"varlen_attn: Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={groups}.")
    if seqused_k is None and (block_table is not None or cu_seq_k is None):
        raise ValueError("varlen_attn: block_table, and cu_seq_k of None, want seqused_k. Give how many keys each sequence has.")
    if block_table is None and cu_seq_k is None:
        raise ValueError("varlen_attn: cu_seq_k is None and there is no block_table. Give one of them.")
    starts = cu_seq_q.tolist()
    outs, sums = [], []
    for n, (a, b) in enumerate(zip(starts, starts[1:])):
        keys, values = (_sequence(t, n, cu_seq_k, seqused_k, block_table) for t in (key, value))
        for name, length, most in (("query", b - a, max_q), ("key", keys.size(0), max_k)):
            if length > most:
                raise ValueError(f"varlen_attn: {name} sequence {n} has length {length}, more than the maximum {most} given. Give the longest length.")
        q, k, v = (t.transpose(0, 1).unsqueeze(0) for t in (query[a:b], keys, values))
        seen = _window(b - a, keys.size(0), *window_size)
        outs.append(scaled_dot_product_attention(q, k, v, seen, scale=scale, enable_gqa=enable_gqa) if k.size(2) else q.new_zeros((*q.shape[:3], v.size(3))))
        if return_aux is not None and return_aux.lse:
            k = k.repeat_interleave(heads // groups, 1)
            scores = (q.float() @ k.float().transpose(-2, -1)) * (1 / math.sqrt(q.size(-1)) if scale is None else scale)
            sums.append((scores if seen is None else scores.masked_fill(~seen, -math.inf)).logsumexp(-1))
    out = facula.cat(outs, 2).squeeze(0).transpose(0, 1) if outs else query.new_zeros((0, heads, value.size(-1)))
    if return_aux is None or not return_aux.lse:
        return out.contiguous()
    return out.contiguous(), facula.cat(sums, 2).squeeze(0) if sums else query.new_zeros((heads, 0), dtype=facula.float32)


def varlen_attn_out(out: Tensor, *args: Any, **options: Any) -> Any:
    """varlen_attn, its result written to `out`.

    >>> from facula.nn.attention.varlen import varlen_attn_out
    >>> q = facula.zeros(3, 1, 1)
    >>> v = facula.tensor([1.0, 3.0, 5.0]).view(3, 1, 1)
    >>> ends = facula.tensor([0, 2, 3], dtype=facula.int32)
    >>> out = facula.empty(3, 1, 1)
    >>> _ = varlen_attn_out(out, q, q, v, ends, ends, 2, 2)
    >>> out.flatten()
    tensor([2., 2., 5.])
    """
    found = varlen_attn(*args, **options)
    if isinstance(found, tuple):
        return out.copy_(found[0]), found[1]
    return out.copy_(found)


def _sequence(t: Tensor, n: int, starts: Tensor | None, used: Tensor | None, pages: Tensor | None) -> Tensor:
    """Keys or values of sequence n."""
    if pages is not None:
        return t[pages[n].long()].flatten(0, 1)[: int(used[n])]  # type: ignore[index]
    a, b = int(starts[n]), int(starts[n + 1])  # type: ignore[index]
    return t[a : b if used is None else min(b, a + int(used[n]))]


def _window(length: int, keys: int, left: int, right: int) -> Tensor | None:
    """Which keys each query sees; None for all."""
    if left < 0 and right < 0:
        return None
    apart = facula.arange(keys) - (facula.arange(length) + keys - length).unsqueeze(1)
    seen = facula.ones((length, keys), dtype=facula.bool)
    if left >= 0:
        seen &= apart >= -left
    if right >= 0:
        seen &= apart <= right
    return seen
