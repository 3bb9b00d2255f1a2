"""BlockMask: a mask by its function, and which of its blocks let something, or everything, through."""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, NoReturn

import facula
from facula import Tensor

DEFAULT_BLOCK = 128
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
TENSORS = (
    "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices",
)  # fmt: skip


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Everything is seen.

    >>> from facula.nn.attention.flex_attention import noop_mask
    >>> noop_mask(*facula.tensor([0, 0, 1, 2]))
    tensor(True)
    """
    return batch.new_ones(size=(), dtype=facula.bool)


def sliced(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> NoReturn:
    """Stands for the function of a part of a mask, whose positions are no longer the function's."""
    raise RuntimeError("Cannot use mask_mod from a sliced BlockMask: its positions begin elsewhere. Set mask_mod to one made from the whole mask's.")


def indices(*sizes: int) -> list[Tensor]:
    """An index tensor for each dim, lying along it."""
    return [facula.arange(n).reshape([n if d == k else 1 for k in range(4)]) for d, n in enumerate(sizes)]


def ordered(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Of a table of 0 and 1: how many ones a row has, and all columns of it, those of ones first."""
    return blocks.sum(-1).to(facula.int32), facula.argsort(blocks.to(facula.int32), -1, descending=True, stable=True).to(facula.int32)


def table(counts: Tensor, columns: Tensor) -> Tensor:
    """The way back: 1 where a block counts, int32."""
    valid = facula.arange(columns.shape[-1], device=columns.device) < counts.unsqueeze(-1)
    return facula.zeros(columns.shape, dtype=facula.int32, device=columns.device).scatter_reduce(-1, columns.long(), valid.to(facula.int32), "amax")


class BlockMask:
    """A mask by its function mask_mod(b, h, q_idx, kv_idx), and the blocks of BLOCK_SIZE = (queries, keys) that it does not shut.

    kv_num_blocks (B, H, rows of blocks) counts those of a row in which mask_mod decides, kv_indices (B, H, rows, columns) names them,
    first of all; full_kv_num_blocks and full_kv_indices say the same of blocks that let everything through, where mask_mod is not asked.
    q_num_blocks, q_indices and the full ones: the same by columns. seq_lengths: of queries and keys.

    >>> from facula.nn.attention.flex_attention import create_block_mask
    >>> mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256, device="cpu")
    >>> mask.shape, mask.sparsity()
    ((1, 1, 256, 256), 25.0)
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (DEFAULT_BLOCK, DEFAULT_BLOCK),
        mask_mod: MaskMod = noop_mask,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for name, counts, columns in (("kv", full_kv_num_blocks, full_kv_indices), ("q", full_q_num_blocks, full_q_indices)):
            if (counts is None) != (columns is None):
                raise AssertionError(f"BlockMask: full_{name}_num_blocks and full_{name}_indices must be both provided or omitted")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK,
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """The mask of given blocks; in those that are not full mask_mod decides, or everything is seen."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("BlockMask: full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        by_query: list[Tensor | None] = []
        for counts, columns in ((kv_num_blocks, kv_indices), (full_kv_num_blocks, full_kv_indices)):
            by_query += (None, None) if counts is None or not compute_q_blocks else ordered(table(counts, columns).transpose(-2, -1))
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
        lengths = seq_lengths or (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        return cls(lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *by_query, size, mask_mod or noop_mask)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """seq_lengths, the tensors, BLOCK_SIZE, mask_mod; the pairs as two values each, or as they are."""
        lengths, size = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        return (*lengths, *(getattr(self, name) for name in TENSORS), *size, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some batches, heads and rows of blocks; dims stay. Its mask_mod has to be set anew, from this one's."""
        given = index if isinstance(index, tuple) else (index,)
        at = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in given)
        return self._of_blocks([None if t is None else t[at] for t in self._kv()], sliced, self.seq_lengths)

    def _kv(self) -> list[Tensor | None]:
        return [getattr(self, name) for name in TENSORS[:4]]

    def _of_blocks(self, blocks: list[Tensor | None], mask_mod: MaskMod, lengths: tuple[int, int]) -> BlockMask:
        return BlockMask.from_kv_blocks(*blocks, self.BLOCK_SIZE, mask_mod, lengths, self.q_indices is not None)

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The upper left corner of the mask."""
        rows, columns = (-(-n // size) for n, size in zip((new_q_len, new_kv_len), self.BLOCK_SIZE))
        blocks: list[Tensor | None] = []
        for counts, named in (self._kv()[:2], self._kv()[2:]):
            blocks += (None, None) if counts is None else ordered(table(counts, named)[..., :rows, :columns])
        return self._of_blocks(blocks, self.mask_mod, (new_q_len, new_kv_len))

    def to_dense(self) -> Tensor:
        """Which blocks count, as 0 and 1: (B, H, rows of blocks, columns of blocks)."""
        some = table(self.kv_num_blocks, self.kv_indices)
        return some if self.full_kv_num_blocks is None else some | table(self.full_kv_num_blocks, self.full_kv_indices)

    def numel(self) -> int:
        """Elements of the mask."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """Percent of the mask in blocks that are left out."""
        count = int(self.kv_num_blocks.sum()) + (0 if self.full_kv_num_blocks is None else int(self.full_kv_num_blocks.sum()))
        return 100 * (1 - count * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to(self, device: Any) -> BlockMask:
        """The same mask with its blocks on the device."""
        moved = [None if t is None else t.to(device) for t in (getattr(self, name) for name in TENSORS)]
        return BlockMask(self.seq_lengths, *moved, self.BLOCK_SIZE, self.mask_mod)

    def _seen(self) -> Tensor:
        """Positions that are let through, broadcasting to (B, H, queries, keys)."""
        batch, heads, queries, keys = self.shape
        seen = self.mask_mod(*indices(batch, heads, queries, keys)).to(facula.bool) & self._spread(self.kv_num_blocks, self.kv_indices)
        return seen if self.full_kv_num_blocks is None else seen | self._spread(self.full_kv_num_blocks, self.full_kv_indices)

    def _spread(self, counts: Tensor, columns: Tensor) -> Tensor:
        by_position = table(counts, columns).bool().repeat_interleave(self.BLOCK_SIZE[0], -2).repeat_interleave(self.BLOCK_SIZE[1], -1)
        return by_position[..., : self.seq_lengths[0], : self.seq_lengths[1]]

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of each batch and head, at most `limit`: full, half and empty squares, of several blocks where there are more than grid_size."""
        blocks = self.to_dense()
        *batch, rows, columns = blocks.shape
        most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        down, across = (1 if m < 1 else max(1, -(-n // m)) for n, m in zip((rows, columns), most))
        pictures = []
        for at in itertools.product(*map(range, batch)):
            if len(pictures) == limit:
                pictures += ["...", "To print out more, set BlockMask.to_string(limit=N)", "You can also index (BlockMask[batch, head]) to choose a specific batch or head"]
                break
            lines = [str(at)]
            for r in range(0, rows, down):
                shares = [float(blocks[at][r : r + down, c : c + across].float().mean()) for c in range(0, columns, across)]
                lines.append("".join(("█" if s == 1 else " " if s == 0 else "░") * 2 for s in shares))
            pictures.append("\n".join(lines) + "\n")
        return "\n".join(pictures)

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"

    def __repr__(self) -> str:
        sizes = "".join(f"    {name}={None if t is None else t.shape},\n" for name, t in ((name, getattr(self, name)) for name in TENSORS))
        name = getattr(self.mask_mod, "__name__", self.mask_mod)
        return f"BlockMask(\n{sizes}    BLOCK_SIZE={self.BLOCK_SIZE},\n    shape={self.shape},\n    sparsity={self.sparsity():.2f}%,\n    mask_mod={name}\n)"
