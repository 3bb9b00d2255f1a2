"""Causal masks as tensors: which end of the keys a rectangular mask is aligned to."""

from __future__ import annotations

import enum
from typing import Any

import facula
from facula import Tensor
from facula.tensor_core.extend import make_subclass

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """UPPER_LEFT: query i sees keys 0 .. i. LOWER_RIGHT: the last query sees all keys, the one before all but one, ...

    >>> from facula.nn.attention.bias import CausalVariant
    >>> [variant.name for variant in CausalVariant]
    ['UPPER_LEFT', 'LOWER_RIGHT']
    """

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A boolean (seq_len_q, seq_len_kv) mask, True where a query sees a key; an attn_mask that knows that it is causal.

    >>> from facula.nn.attention.bias import causal_upper_left
    >>> mask = causal_upper_left(2, 2)
    >>> q = facula.ones(1, 1, 2, 4)
    >>> facula.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=mask).shape
    torch.Size([1, 1, 2, 4])
    """

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> CausalBias:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        shift = seq_len_kv - seq_len_q if variant is CausalVariant.LOWER_RIGHT else 0
        mask = make_subclass(cls, facula.ones(seq_len_q, seq_len_kv, dtype=facula.bool).tril(shift))
        mask.variant, mask.seq_len_q, mask.seq_len_kv = variant, seq_len_q, seq_len_kv
        return mask

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        pass

    def __repr__(self) -> str:
        return repr(self.as_subclass(Tensor))


def _sizes(size: tuple[Any, ...]) -> tuple[int, int]:
    if len(size) != 2:
        raise AssertionError("causal bias only supports 2D tensors")
    return size


def causal_upper_left(*size: int) -> CausalBias:
    """CausalBias whose first query sees the first key alone.

    >>> from facula.nn.attention.bias import causal_upper_left
    >>> causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    return CausalBias(CausalVariant.UPPER_LEFT, *_sizes(size))


def causal_lower_right(*size: int) -> CausalBias:
    """CausalBias whose last query sees every key.

    >>> from facula.nn.attention.bias import causal_lower_right
    >>> causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    return CausalBias(CausalVariant.LOWER_RIGHT, *_sizes(size))
