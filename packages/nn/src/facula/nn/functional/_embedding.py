"""Embeddings: rows of a table by index, alone or reduced in bags."""

from __future__ import annotations

import warnings

import facula
from facula.tensor_core import extend
from facula import Tensor

from ._rows import row
from ._sparse_rows import sparse_rows

_lookup, _bag, _hot = row("_embedding"), row("_embedding_bag"), row("_one_hot")
_MODES = {"sum": 0, "mean": 1, "max": 2}  # as the row numbers them


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """int64 (*, num_classes), 1 at each index; num_classes -1 is the largest index plus one.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.one_hot(facula.tensor([0, 2]), 3)
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    if type(tensor) is not Tensor:
        extend.want_tensor("one_hot", "tensor", 0, tensor)
    if tensor.dtype != facula.int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype}.")
    if num_classes < 1:
        if tensor.numel() == 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        if num_classes != -1:
            raise RuntimeError(f"num_classes should be positive, got {num_classes}")
        num_classes = max(int(tensor.max()) + 1, 1)
    try:
        return _hot(tensor, num_classes)
    except IndexError:
        least = int(tensor.min())
        wrong = f"be non-negative, got {least}" if least < 0 else f"be smaller than num_classes: {int(tensor.max())} and {num_classes}"
        raise RuntimeError(f"Class values must {wrong}.") from None


def _padding_row(name: str, padding_idx: int | None, rows: int, kind: type[Exception]) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise kind(f"{name}: padding_idx must be within the number of embeddings, num_embeddings {rows}, got {padding_idx}")
    return padding_idx % rows


def _renormalise(weight: Tensor, used: Tensor, max_norm: float, norm_type: float) -> None:
    """Shrink the rows that `used` names to at most max_norm, in place."""
    if weight.is_meta:
        return
    with facula.no_grad():
        rows = facula.unique(used.reshape(-1).long())
        picked = weight.detach().index_select(0, rows)
        norms = facula.norm(picked, norm_type, 1, True)
        scale = facula.where(norms > max_norm, max_norm / (norms + 1e-7), facula.ones_like(norms))
        weight.detach().index_copy_(0, rows, picked * scale)


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

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.embedding(facula.tensor([2, 0]), facula.tensor([[1.0], [2.0], [3.0]]))
    tensor([[3.],
            [1.]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("embedding", "input", 0, input)
    if not isinstance(weight, Tensor):
        extend.want_tensor("embedding", "weight", 1, weight)
    dtype = input.dtype
    if dtype is facula.int64 and max_norm is None and padding_idx is None and not sparse and len(weight.shape) == 2:
        return _lookup(weight, input, -1, scale_grad_by_freq)
    if padding_idx is not None and not isinstance(padding_idx, Tensor) and (padding_idx > 0 or padding_idx < 0):  # before all kinds, as in PyTorch's Python, to which 0 is always there
        _padding_row("embedding", padding_idx, weight.size(0), AssertionError)
    for position, kind, name, given in ((2, "size", "padding_idx", -1 if padding_idx is None else padding_idx), (3, "bool", "scale_grad_by_freq", scale_grad_by_freq), (4, "bool", "sparse", sparse)):
        extend.check("embedding", name, position, kind, given)
    if dtype not in (facula.int64, facula.int32):
        raise RuntimeError(f"embedding: expected indices of dtype int64 or int32, but got {input.dtype}.")
    if weight.dim() != 2:
        raise RuntimeError(f"embedding: 'weight' must be 2-D, got {weight.dim()}-D")
    padding = _padding_row("embedding", padding_idx, weight.size(0), AssertionError) if padding_idx else padding_idx
    if max_norm is not None:
        _renormalise(weight, input, max_norm, norm_type)
    if sparse:
        if scale_grad_by_freq and weight.requires_grad:
            raise RuntimeError("embedding: scale_grad_by_freq is not supported with sparse gradients. Leave one of them out.")
        return sparse_rows(weight, input.long(), padding)
    return _lookup(weight, input.long(), -1 if padding is None else padding, scale_grad_by_freq)


def _embedding_bag_first(input: Tensor, weight: Tensor, per_sample_weights: Tensor | None) -> None:
    if type(weight) is not Tensor:
        extend.want_tensor("embedding_bag", "weight", 1, weight)
    if per_sample_weights is not None:
        extend.want_tensor("embedding_bag", "per_sample_weights", 8, per_sample_weights)
    if per_sample_weights is not None and isinstance(input, Tensor) and per_sample_weights.shape != input.shape:
        raise extend.ArgumentsError(f"embedding_bag: per_sample_weights {tuple(per_sample_weights.shape)} must have the same shape as the input {tuple(input.shape)}.")
    if weight.dim() != 2:
        raise extend.ArgumentsError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")


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

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.embedding_bag(facula.tensor([[0, 1], [1, 2]]), facula.tensor([[1.0], [2.0], [3.0]]), mode="sum")
    tensor([[3.],
            [5.]])
    """
    return bags(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)[0]


def bags(
    input: Tensor, weight: Tensor, offsets: Tensor | None, max_norm: float | None, norm_type: float, scale_grad_by_freq: bool, mode: str,
    sparse: bool, per_sample_weights: Tensor | None, include_last_offset: bool, padding_idx: int | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """embedding_bag, the rows that maxima are from, where each bag starts, and the indices in a row."""
    if weight.dtype is facula.int64 and input.is_floating_point():
        warnings.warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, and should now be `embedding_bag(input, weight, ...)`.", stacklevel=3)
        weight, input = input, weight
    _embedding_bag_first(input, weight, per_sample_weights)
    starts = _starts(input, offsets, include_last_offset)
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(f"embedding_bag: per_sample_weights was not None, which is only supported for mode='sum', got mode={mode!r}.")
    if scale_grad_by_freq and mode == "max":
        raise extend.ArgumentsError("max mode does not support scaling the gradient by the frequency")
    if sparse and mode == "max":
        raise extend.ArgumentsError("max mode does not support sparse weights")
    padding = _padding_row("embedding_bag", padding_idx, weight.size(0), RuntimeError)
    if input.dtype._name not in ("int64", "int32"):
        raise RuntimeError(f"embedding_bag: expected tensor for argument 'indices' to have one of the following scalar types: Long, Int; but got {input.dtype}. Convert it with .long().")
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        raise RuntimeError(
            f"embedding_bag: expected weight ({weight.dtype}) and per_sample_weights ({per_sample_weights.dtype}) to have the same type as "
            "each other. Convert one with .to()."
        )
    flat = input.reshape(-1).long()
    if max_norm is not None:
        _renormalise(weight, flat if padding is None else flat[flat != padding], max_norm, norm_type)
    scales = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if sparse:  # a table of the rows that are used, whose gradient is sparse; padding is what is no row of it
        if scale_grad_by_freq and weight.requires_grad:
            raise RuntimeError("embedding_bag: scale_grad_by_freq is not supported with sparse gradients. Leave one of them out.")
        weight, places = sparse_rows(weight, flat, padding), facula.arange(flat.size(0), device=flat.device)
        flat = places if padding is None else facula.where(flat == padding, -1, places)
        padding = None if padding is None else -1
    try:
        return *_bag(weight, flat, starts, scales, padding, _MODES[mode], scale_grad_by_freq), starts, flat
    except IndexError as error:
        raise RuntimeError(f"embedding_bag: Expected idx >= 0 && idx < num_embeddings, {error}") from None


def _starts(input: Tensor, offsets: Tensor | None, include_last_offset: bool) -> Tensor:
    """Where each bag begins in the flat input."""
    if input.dim() == 2:
        if offsets is not None:
            raise extend.ArgumentsError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences.")
        return facula.arange(input.size(0), device=input.device) * input.size(1)
    if input.dim() != 1:
        raise extend.ArgumentsError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise extend.ArgumentsError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise extend.ArgumentsError(f"offsets has to be a 1D Tensor, but got {offsets.dim()} dims")
    if offsets.dtype._kind > 1:
        raise RuntimeError(f"embedding_bag: Expected tensor for argument 'offsets' to have one of the following scalar types: Long, Int; but got {offsets.dtype}. Convert it with .long().")
    starts = offsets.long()
    if include_last_offset:
        if not starts.numel():
            raise RuntimeError("embedding_bag: include_last_offset: number of offsets should be at least 1")
        starts = starts[:-1]
    if starts.numel() and not starts.is_meta:
        first, last = int(starts[0]), int(starts[-1])
        if first != 0:
            raise RuntimeError(f"embedding_bag: offsets[0] has to be 0, i.e., the first sequence starts at position 0. However, got {first}")
        if last > input.size(0):
            raise RuntimeError(f"embedding_bag: offsets[-1] can not be greater than input's length {input.size(0)}, but got {last}")
    return starts
