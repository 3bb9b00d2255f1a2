"""Attention whose scores a function changes and whose mask a function says, over positions.

    def causal(b, h, q_idx, kv_idx):
        return q_idx >= kv_idx

    mask = create_block_mask(causal, B=None, H=None, Q_LEN=128, KV_LEN=128)
    out = flex_attention(query, key, value, block_mask=mask)

The functions get index tensors that broadcast to (batch, heads, queries, keys), so each is called once; PyTorch's vmap gives them
one position at a time, and the same functions serve both. Source: Dong et al., Flex Attention (2024), arXiv:2412.05496.
"""

from __future__ import annotations

import inspect
import math
from typing import Any, Callable, NamedTuple

import facula
from facula import Tensor

from ._block_mask import DEFAULT_BLOCK, BlockMask, MaskMod, indices, noop_mask, ordered, sliced

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask", "or_masks"]

_DEFAULT_SPARSE_BLOCK_SIZE = DEFAULT_BLOCK


class AuxRequest(NamedTuple):
    """What flex_attention is to return beside its result.

    >>> from facula.nn.attention.flex_attention import AuxRequest
    >>> AuxRequest(lse=True)
    AuxRequest(lse=True, max_scores=False)
    """

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for: logsumexp and largest score of every query's row.

    >>> from facula.nn.attention.flex_attention import AuxRequest, flex_attention
    >>> q = facula.zeros(1, 1, 2, 4)
    >>> out, aux = flex_attention(q, q, q, return_aux=AuxRequest(lse=True))
    >>> aux.lse
    tensor([[[0.6931, 0.6931]]])
    """

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """The positions that every mask lets through.

    >>> from facula.nn.attention.flex_attention import and_masks, create_mask
    >>> near = and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q - k < 2)
    >>> create_mask(near, None, None, 3, 3, device="cpu")[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [0, 1, 1]], dtype=torch.int32)
    """
    return _joined(mask_mods, facula.Tensor.logical_and, True)


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """The positions that some mask lets through.

    >>> from facula.nn.attention.flex_attention import create_mask, or_masks
    >>> seen = or_masks(lambda b, h, q, k: q > k, lambda b, h, q, k: k == 0)
    >>> create_mask(seen, None, None, 3, 3, device="cpu")[0, 0].int()
    tensor([[1, 0, 0],
            [1, 0, 0],
            [1, 1, 0]], dtype=torch.int32)
    """
    return _joined(mask_mods, facula.Tensor.logical_or, False)


def _joined(mask_mods: tuple[MaskMod, ...], join: Callable, start: bool) -> MaskMod:
    if not all(callable(mod) for mod in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        seen = facula.tensor(start)
        for mod in mask_mods:
            seen = join(seen, mod(b, h, q_idx, kv_idx))
        return seen

    return mask


def _positions_taken(fn: Callable) -> int:
    """How many arguments it must be given: 4, a mask_mod, or 5, a score_mod."""
    taken = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in inspect.signature(fn).parameters.values())
    if taken not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {taken}")
    return taken


def create_mask(mod_fn: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:
    """The mask as a tensor of bool, (B, H, Q_LEN, KV_LEN); None counts as 1. Of a score_mod: where it leaves 0 finite.

    >>> from facula.nn.attention.flex_attention import create_mask
    >>> create_mask(lambda b, h, q, k: q >= k, None, None, 2, 2, device="cpu")
    tensor([[[[ True, False],
              [ True,  True]]]])
    """
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    at = indices(*shape)
    seen = mod_fn(*at) if _positions_taken(mod_fn) == 4 else mod_fn(facula.zeros(shape), *at) != -math.inf
    device = "cpu" if device is None else device
    return seen.to(facula.bool).to(device).expand(shape).contiguous()


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """The mask of a function (b, h, q_idx, kv_idx) -> bool; B or H of None: it is the same for all.

    separate_full_blocks: blocks that let everything through are told apart, and the function is not asked there again.

    >>> from facula.nn.attention.flex_attention import create_block_mask
    >>> create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256, device="cpu").to_dense()[0, 0]
    tensor([[1, 0],
            [1, 1]], dtype=torch.int32)
    """
    if _positions_taken(mask_mod) != 4:
        raise AssertionError(f"create_block_mask: requires a mask_mod function of 4 positional arguments, got {mask_mod}.")
    rows, columns = size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    mask = facula.nn.functional.pad(mask, (0, -KV_LEN % columns, 0, -Q_LEN % rows))
    batch, heads, queries, keys = mask.shape
    seen = mask.reshape(batch, heads, queries // rows, rows, keys // columns, columns).sum((-3, -1))
    if not separate_full_blocks:
        return BlockMask.from_kv_blocks(*ordered(seen > 0), None, None, size, mask_mod, (Q_LEN, KV_LEN))
    full = seen == rows * columns
    return BlockMask.from_kv_blocks(*ordered((seen > 0) & ~full), *ordered(full), size, mask_mod, (Q_LEN, KV_LEN))


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: dict | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(query @ key.T * scale) where the mask lets through) @ value.

    query: (B, Hq, L, E), key: (B, Hkv, S, E), value: (B, Hkv, S, Ev); Hq is a multiple of Hkv with enable_gqa, else equal.
    score_mod(score, b, h, q_idx, kv_idx) -> score. scale: 1 / sqrt(E) by default. A query that sees nothing gives zeros.
    return_lse: also the logsumexp of every row, return_aux: an AuxOutput of what it asks for.
    kernel_options choose among kernels of a GPU; there is one way here.

    >>> from facula.nn.attention.flex_attention import flex_attention
    >>> q = facula.zeros(1, 1, 2, 1)
    >>> v = facula.tensor([1.0, 3.0]).view(1, 1, 2, 1)
    >>> flex_attention(q, q, v).flatten()
    tensor([2., 2.])
    >>> flex_attention(q, q, v, score_mod=lambda score, b, h, q, k: facula.where(q >= k, score, -facula.inf)).flatten()
    tensor([1., 2.])
    """
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError(f"flex_attention: query, key, and value must be 4D tensors, got {query.dim()}, {key.dim()} and {value.dim()} dims.")
    if return_lse and return_aux is not None:
        raise ValueError("flex_attention: Cannot specify both return_lse and return_aux. Ask for return_aux=AuxRequest(lse=True).")
    groups = query.shape[1] // key.shape[1]
    if query.shape[1] != key.shape[1] * groups or (groups > 1 and not enable_gqa):
        raise ValueError(f"flex_attention: {query.shape[1]} heads of queries and {key.shape[1]} of keys. Make them equal, or a multiple with enable_gqa=True.")
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    wide = facula.float64 if query.dtype is facula.float64 else facula.float32
    scores = ((query @ key.transpose(-2, -1)) * scale).to(wide)
    if score_mod is not None:
        scores = score_mod(scores, *indices(*scores.shape)).expand(scores.shape)
    if block_mask is not None:
        if block_mask.mask_mod is sliced:
            raise RuntimeError("flex_attention: Cannot use mask_mod from a sliced BlockMask. Set it to one made from the whole mask's.")
        if tuple(block_mask.seq_lengths) != scores.shape[-2:]:
            raise ValueError(
                f"flex_attention: block_mask was created for block_mask.shape={block_mask.shape} but got q_len={scores.shape[-2]} and kv_len={scores.shape[-1]}. "
                "Create a new one, or crop a larger one to its upper left corner with block_mask._adjust(q_len, kv_len)."
            )
        scores = scores.masked_fill(~block_mask._seen(), -math.inf)
    blind = (scores == -math.inf).all(-1, keepdim=True)
    weights = scores.softmax(-1).masked_fill(blind, 0.0)
    out = weights.to(query.dtype) @ value
    if return_aux is not None:
        return out, AuxOutput(scores.logsumexp(-1) if return_aux.lse else None, scores.amax(-1) if return_aux.max_scores else None)
    return (out, scores.logsumexp(-1)) if return_lse else out
