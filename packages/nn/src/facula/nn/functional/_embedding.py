"""Embeddings: rows of a table by index, alone or reduced in bags."""

from __future__ import annotations

import facula
from facula import Tensor

from ._rows import row
from ._sparse_rows import sparse_rows

_lookup = row("_embedding")


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """int64 (*, num_classes), 1 at each index; num_classes -1 is the largest index plus one."""
    if tensor.dtype != facula.int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype}.")
    if tensor.numel() == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if tensor.numel() and int(tensor.min()) < 0:
        raise RuntimeError(f"Class values must be non-negative, got {int(tensor.min())}.")
    if num_classes == -1:
        num_classes = int(tensor.max()) + 1
    elif num_classes < 1:
        raise RuntimeError(f"num_classes should be positive, got {num_classes}")
    elif tensor.numel() and int(tensor.max()) >= num_classes:
        raise RuntimeError(f"Class values must be smaller than num_classes: {int(tensor.max())} and {num_classes}.")
    return facula.zeros((*tensor.shape, num_classes), dtype=facula.int64, device=tensor.device).scatter_(-1, tensor.unsqueeze(-1), 1)


def _padding_row(padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"embedding: padding_idx {padding_idx} must be within num_embeddings {rows}")
    return padding_idx % rows


def _renormalise(weight: Tensor, used: Tensor, max_norm: float, norm_type: float) -> None:
    """Shrink the rows that `used` names to at most max_norm, in place."""
    with facula.no_grad():
        rows = facula.unique(used.reshape(-1))
        picked = weight.detach().index_select(0, rows)
        norms = facula.norm(picked, norm_type, 1, True)
        scale = facula.where(norms > max_norm, max_norm / (norms + 1e-7), facula.ones_like(norms))
        weight.detach().index_copy_(0, rows, picked * scale)


def _by_frequency(rows: Tensor, index: Tensor, count: int) -> Tensor:
    """rows, whose gradient is divided by how often each index occurs."""
    uses = facula.bincount(index.reshape(-1), minlength=count)[index.reshape(-1)].to(rows.dtype).unsqueeze(1)
    return rows / uses + (rows - rows / uses).detach()


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of weight (V, D) at the indices: (*, D). The row padding_idx gets no gradient.

    max_norm: rows looked up are first shrunk, in place, to that p-norm at most. sparse: the gradient is a sparse tensor of these rows.
    """
    if input.dtype not in (facula.int64, facula.int32):
        raise RuntimeError(f"embedding: expected indices of dtype int64 or int32, but got {input.dtype}.")
    if weight.dim() != 2:
        raise RuntimeError(f"embedding: 'weight' must be 2-D, got {weight.dim()}-D")
    padding = _padding_row(padding_idx, weight.size(0))
    if max_norm is not None:
        _renormalise(weight, input, max_norm, norm_type)
    if sparse:
        if scale_grad_by_freq and weight.requires_grad:
            raise RuntimeError("embedding: scale_grad_by_freq is not supported with sparse gradients. Leave one of them out.")
        return sparse_rows(weight, input.long(), padding)
    return _lookup(weight, input.long(), -1 if padding is None else padding, scale_grad_by_freq)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sum, mean or maximum of each bag's rows: (B, D).

    input (B, N) is B bags of N; a 1-d input is cut at `offsets`. padding_idx rows count nothing. An empty bag is 0.
    """
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(f"embedding_bag: per_sample_weights was not None, which only mode='sum' supports, got mode={mode!r}.")
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(f"embedding_bag: per_sample_weights {tuple(per_sample_weights.shape)} must have the shape of input {tuple(input.shape)}.")
    if scale_grad_by_freq and mode == "max":
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    padding = _padding_row(padding_idx, weight.size(0))
    bag, bags = _bags(input, offsets, include_last_offset)
    flat = input.reshape(-1).long()
    if max_norm is not None:
        _renormalise(weight, flat, max_norm, norm_type)
    if flat.numel() and not bool(((flat >= 0) & (flat < weight.size(0))).all()):
        raise RuntimeError(f"embedding_bag: index out of range: {int(flat.min())} to {int(flat.max())} in a table of {weight.size(0)} rows.")
    scales = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if padding is not None:
        kept = (flat != padding).nonzero().reshape(-1)
        bag, flat = bag[kept], flat[kept]
        scales = None if scales is None else scales[kept]
    rows = sparse_rows(weight, flat, None) if sparse else weight.index_select(0, flat)
    if scale_grad_by_freq:
        rows = _by_frequency(rows, flat, weight.size(0))
    if scales is not None:
        rows = rows * scales.unsqueeze(1)
    if mode == "max":
        return _bag_max(rows, bag, bags)
    total = facula.zeros((bags, weight.size(1)), dtype=rows.dtype, device=rows.device).index_add(0, bag, rows)
    if mode == "sum":
        return total
    return total / facula.bincount(bag, minlength=bags).clamp(min=1).to(rows.dtype).unsqueeze(1)


def _bags(input: Tensor, offsets: Tensor | None, include_last_offset: bool) -> tuple[Tensor, int]:
    """(the bag of each index, the number of bags)."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences.")
        return facula.arange(input.size(0)).repeat_interleave(input.size(1)), input.size(0)
    if input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError(f"offsets has to be a 1D Tensor, but got {offsets.dim()} dims")
    starts = offsets.tolist()
    if include_last_offset:
        if not starts:
            raise RuntimeError("embedding_bag: include_last_offset: number of offsets should be at least 1")
        starts.pop()
    if starts and starts[0] != 0:
        raise RuntimeError(f"embedding_bag: offsets[0] has to be 0, i.e., the first sequence starts at position 0. However, got {starts[0]}")
    if starts and starts[-1] > input.size(0):
        raise RuntimeError(f"embedding_bag: offsets[-1] can not be greater than input's length {input.size(0)}, but got {starts[-1]}")
    ends = [*starts[1:], input.size(0)] if starts else []
    bag = [k for k, (a, b) in enumerate(zip(starts, ends)) for _ in range(b - a)]
    return facula.tensor(bag, dtype=facula.int64), len(starts)


def _bag_max(rows: Tensor, bag: Tensor, bags: int) -> Tensor:
    members: list[list[int]] = [[] for _ in range(bags)]
    for k, b in enumerate(bag.tolist()):
        members[b].append(k)
    empty = facula.zeros(rows.size(1), dtype=rows.dtype)
    return facula.stack([rows[m].max(0)[0] if m else empty for m in members], 0) if members else rows[:0]
