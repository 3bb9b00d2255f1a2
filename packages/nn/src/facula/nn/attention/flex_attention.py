"""Attention whose scores a function changes and whose mask a function says, over positions.

    def causal(b, h, q_idx, kv_idx):
        return q_idx >= kv_idx

    mask = create_block_mask(causal, B=None, H=None, Q_LEN=128, KV_LEN=128)
    out = flex_attention(query, key, value, block_mask=mask)

The functions get index tensors that broadcast to (batch, heads, queries, keys), so each is called once; PyTorch's vmap gives them
one position at a time, and the same functions serve both. Source: Dong et al., Flex Attention (2024), arXiv:2412.05496.
"""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple

import facula
from facula import Tensor

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask", "or_masks"]

_DEFAULT_SPARSE_BLOCK_SIZE = 128
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


class AuxRequest(NamedTuple):
    """What flex_attention is to return beside its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for: logsumexp and largest score of every query's row."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Everything is seen."""
    return batch.new_ones(size=(), dtype=facula.bool)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """The positions that every mask lets through."""
    return _joined(mask_mods, facula.Tensor.logical_and, True)


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """The positions that some mask lets through."""
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


def _indices(*sizes: int) -> list[Tensor]:
    """An index tensor for each dim, lying along it."""
    return [facula.arange(n).reshape([n if d == k else 1 for k in range(4)]) for d, n in enumerate(sizes)]


def create_mask(mod_fn: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = "cpu") -> Tensor:
    """The mask as a tensor of bool, (B, H, Q_LEN, KV_LEN); None counts as 1."""
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    seen = mod_fn(*_indices(*shape))
    return seen.to(facula.bool).to(device).expand(shape).contiguous()


class BlockMask:
    """A mask by its function, and the blocks of BLOCK_SIZE in which it lets anything through.

    kv_num_blocks (B, H, rows of blocks) counts them, kv_indices (B, H, rows, columns) names them, those that count first.
    """

    def __init__(self, seq_lengths: tuple[int, int], kv_num_blocks: Tensor, kv_indices: Tensor, BLOCK_SIZE: tuple[int, int], mask_mod: MaskMod) -> None:
        self.seq_lengths, self.kv_num_blocks, self.kv_indices, self.BLOCK_SIZE, self.mask_mod = seq_lengths, kv_num_blocks, kv_indices, BLOCK_SIZE, mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
    ) -> BlockMask:
        """The mask of given blocks; within them mask_mod decides, or everything is seen."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = _pair(BLOCK_SIZE)
        lengths = seq_lengths or (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        return cls(lengths, kv_num_blocks, kv_indices, size, mask_mod or noop_mask)

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def to_dense(self) -> Tensor:
        """Which blocks count, as 0 and 1: (B, H, rows of blocks, columns of blocks)."""
        columns = self.kv_indices.shape[-1]
        counts = facula.arange(columns) < self.kv_num_blocks.unsqueeze(-1)
        return facula.zeros(self.kv_indices.shape, dtype=facula.int32).scatter_reduce(-1, self.kv_indices.to(facula.int64), counts.to(facula.int32), "amax")

    def numel(self) -> int:
        """Elements of the mask."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """Percent of the mask in blocks that are left out."""
        computed = int(self.kv_num_blocks.sum()) * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100 * (1 - computed / self.numel())

    def to(self, device: Any) -> BlockMask:
        """The same mask with its blocks on the device."""
        return BlockMask(self.seq_lengths, self.kv_num_blocks.to(device), self.kv_indices.to(device), self.BLOCK_SIZE, self.mask_mod)

    def seen(self) -> Tensor:
        """Positions that are let through, broadcasting to (B, H, queries, keys)."""
        batch, heads, queries, keys = self.shape
        inside = self.mask_mod(*_indices(batch, heads, queries, keys))
        blocks = self.to_dense().bool().repeat_interleave(self.BLOCK_SIZE[0], -2).repeat_interleave(self.BLOCK_SIZE[1], -1)
        return inside.to(facula.bool) & blocks[..., :queries, :keys]

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def _pair(size: int | tuple[int, int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else tuple(size)


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
) -> BlockMask:
    """The mask of a function (b, h, q_idx, kv_idx) -> bool; B or H of None: it is the same for all."""
    rows, columns = size = _pair(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN)
    mask = facula.nn.functional.pad(mask, (0, -KV_LEN % columns, 0, -Q_LEN % rows))
    batch, heads, queries, keys = mask.shape
    blocks = mask.reshape(batch, heads, queries // rows, rows, keys // columns, columns).any(-1).any(-2).to(facula.int32)
    order = facula.argsort(blocks, -1, descending=True, stable=True).to(facula.int32)
    return BlockMask((Q_LEN, KV_LEN), blocks.sum(-1).to(facula.int32), order, size, mask_mod)


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
    """
    if not query.dim() == key.dim() == value.dim() == 4:
        raise ValueError(f"flex_attention: Expected query, key, and value to all be 4D tensors, got {query.dim()}, {key.dim()} and {value.dim()} dims.")
    groups = query.shape[1] // key.shape[1]
    if query.shape[1] != key.shape[1] * groups or (groups > 1 and not enable_gqa):
        raise ValueError(f"flex_attention: {query.shape[1]} heads of queries and {key.shape[1]} of keys. Make them equal, or a multiple with enable_gqa=True.")
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    wide = facula.float64 if query.dtype is facula.float64 else facula.float32
    scores = ((query @ key.transpose(-2, -1)) * scale).to(wide)
    if score_mod is not None:
        scores = score_mod(scores, *_indices(*scores.shape)).expand(scores.shape)
    if block_mask is not None:
        length, keys = scores.shape[-2:]
        if block_mask.seq_lengths[0] < length or block_mask.seq_lengths[1] < keys:
            raise ValueError(f"flex_attention: block_mask was created for {block_mask.seq_lengths} positions but got {length} queries and {keys} keys.")
        scores = scores.masked_fill(~block_mask.seen()[..., :length, :keys], -math.inf)
    blind = (scores == -math.inf).all(-1, keepdim=True)
    weights = scores.softmax(-1).masked_fill(blind, 0.0)
    out = weights.to(query.dtype) @ value
    if return_aux is not None:
        return out, AuxOutput(scores.logsumexp(-1) if return_aux.lse else None, scores.amax(-1) if return_aux.max_scores else None)
    return (out, scores.logsumexp(-1)) if return_lse else out
