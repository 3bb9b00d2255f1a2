"""`torch.native_layer_norm`, `torch.embedding_bag` ...: functions of the top-level namespace that give what they computed on the way, too."""

from __future__ import annotations

import math
from typing import Sequence

import facula
from facula import Tensor
from facula.tensor_core import extend

from . import functional as F
from .functional._embedding import _MODES, bags
from .functional._kinds import check_kinds
from .functional._norm import _group_norm, _layer_norm, _move

_BAGS = tuple(_MODES)
_FLOATS = (facula.float32, facula.float64)


def native_layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(layer_norm, mean, 1 / standard deviation) of each normalized part.

    >>> facula.native_layer_norm(facula.tensor([1.0, 3.0]), (2,), None, None, 0.0)
    (tensor([-1.,  1.]), tensor([2.]), tensor([1.]))
    """
    n = len(normalized_shape)
    if n and _alike(input, weight, bias) and all(t is None or tuple(t.shape) == tuple(normalized_shape) for t in (weight, bias)) and tuple(input.shape[-n:]) == tuple(normalized_shape):
        result, mean, spread = _layer_norm(input, weight, bias, n, eps)
        shape = (*input.shape[:-n], *[1] * n)
        return result, mean.view(shape), spread.view(shape)
    dims = tuple(range(-n, 0))
    result = F.layer_norm(input, tuple(normalized_shape), weight, bias, eps)
    x = _as_summed(input, weight)
    mean = x.mean(dims, keepdim=True)
    spread = (x.var(dims, correction=0, keepdim=True) + float(eps)).rsqrt()
    return result, mean.detach(), spread.detach()


def _alike(*tensors: Tensor | None) -> bool:
    """Floats of one width, which have one kernel for the result and for what it took on the way, of which nobody wants derivatives?"""
    first = tensors[0].dtype
    return not extend.listening() and first in _FLOATS and tensors[0].numel() > 0 and all(t is None or t.dtype is first and t._origin is None for t in tensors)


def _as_summed(input: Tensor, weight: Tensor | None) -> Tensor:
    """What statistics are taken from: halves beside a weight of another dtype have them in the weight's."""
    return input if weight is None else input.to(weight.dtype)


def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(group_norm, mean, 1 / standard deviation) of each of the N * group groups; input has N * C * HxW elements.

    >>> facula.native_group_norm(facula.tensor([[1.0, 3.0]]), None, None, 1, 2, 1, 1, 0.0)
    (tensor([[-1.,  1.]]), tensor([[2.]]), tensor([[1.]]))
    """
    format = {4: facula.channels_last, 5: facula.channels_last_3d}.get(input.dim(), facula.contiguous_format)
    if not (input.is_contiguous() or input.is_contiguous(memory_format=format)):
        raise RuntimeError(f"native_group_norm: Expected X.is_contiguous(memory_format) to be true, but got false (strides {input.stride()}). Make it contiguous.")
    if group < 1:
        raise RuntimeError(f"native_group_norm: Expected num groups to be greater than 0, got {group}.")
    if input.dtype._kind != 2 and not C % group:
        raise extend.DTypeError(f'native_group_norm: "native_group_norm" not implemented for {input.dtype._scalar_type!r}. Convert with input.float().')
    if input.numel() != N * C * HxW:
        raise RuntimeError(f"native_group_norm: Expected X.numel() == N * C * HxW to be true, but got false: {input.numel()} elements for {N} * {C} * {HxW}.")
    x = input if tuple(input.shape[:2]) == (N, C) else input.reshape(N, C, HxW)  # as it lies, if it may
    if _alike(input, weight, bias) and not C % group and all(t is None or tuple(t.shape) == (C,) for t in (weight, bias)):
        result, mean, spread = _group_norm(x, weight, bias, group, eps)
        return tuple(extend.one_node(t, "NativeGroupNormBackward0", input, weight, bias) for t in (result.reshape(input.shape), mean, spread))
    result = F.group_norm(x, group, weight, bias, eps).reshape(input.shape)
    parts = _as_summed(input, weight).reshape(N, group, C // group * HxW)
    found = result, parts.mean(2), (parts.var(2, correction=0) + float(eps)).rsqrt()
    return tuple(extend.one_node(t, "NativeGroupNormBackward0", input, weight, bias) for t in found)


def _want_elements(name: str, input: Tensor) -> None:
    if not input.numel():
        raise RuntimeError(f"{name}: input tensor must have at least one element, but got input_sizes = {list(input.shape)}. Give some, or evaluate.")


def native_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: bool, momentum: float, eps: float,
    *, out: tuple | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """(batch_norm, mean, 1 / standard deviation) of each channel; the last two are empty where statistics are not taken from input.

    >>> facula.native_batch_norm(facula.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 1e-5)[1].round(decimals=3)
    tensor([2.])
    """
    if (running_mean is None) is not (running_var is None):
        raise ValueError("native_batch_norm: running_mean and running_var must either both be None or neither be None. Give both.")
    if input.dtype._kind != 2:
        raise extend.DTypeError(f'native_batch_norm: "batch_norm" not implemented for {input.dtype._scalar_type!r}. Convert with input.float().')
    if training:
        _want_elements("native_batch_norm", input)
        dims = (0, *range(2, input.dim()))
        mean, spread = input.mean(dims).detach(), (input.var(dims, correction=0) + eps).rsqrt().detach()
        spread = spread if eps else spread.masked_fill(spread == math.inf, 0.0)
    else:
        mean = spread = input.new_empty(0)
    found = facula.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False), mean, spread
    if out is None:
        return found
    if training:
        return extend.into("native_batch_norm", found, out)
    return extend.into("native_batch_norm", found[0], out[0]), *out[1:]  # which are left as they are


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """(dropout, which elements were kept).

    >>> _ = facula.manual_seed(0)
    >>> facula.native_dropout(facula.ones(4), 0.5, True)
    (tensor([0., 0., 2., 0.]), tensor([False, False,  True, False]))
    """
    if not input.numel():
        return input, facula.empty_like(input)
    if train is False or p == 0 and input.dtype._kind > 1:
        return input.clone(), facula.ones_like(input, dtype=facula.bool)
    if input.dtype._kind < 2:
        raise extend.DTypeError(f"native_dropout: result type Float can't be cast to the desired output type {input.dtype._scalar_type}. Convert with input.float().")
    kept = facula.empty_like(input, dtype=input.dtype.to_real()).bernoulli_(1 - p)
    return input * kept * (1 / (1 - p) if p < 1 else 0.0), kept.bool()


def batch_norm_update_stats(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float) -> tuple[Tensor, Tensor]:
    """(mean, variance) of each channel, the latter over the number of elements; the running ones, where given, move towards them as F.batch_norm's do.

    >>> facula.batch_norm_update_stats(facula.tensor([[1.0], [3.0]]), None, None, 0.1)
    (tensor([2.]), tensor([1.]))
    """
    if input.dtype._kind != 2:
        raise extend.DTypeError(f'batch_norm_update_stats: "batch_norm_update_stats" not implemented for {input.dtype._scalar_type!r}. Convert with input.float().')
    for name, t in (("running_mean", running_mean), ("running_var", running_var)):
        if t is not None and t.dtype is not input.dtype and not (input.dtype.itemsize == 2 and t.dtype is facula.float32):
            raise RuntimeError(f"batch_norm_update_stats: mixed dtype (CPU): expect parameter to have scalar type of {input.dtype._scalar_type}, but {name} has {t.dtype._scalar_type}. Convert it with .to().")
    _want_elements("batch_norm_update_stats", input)
    dims = (0, *range(2, input.dim()))
    count = input.numel() // input.size(1)
    with facula.no_grad():
        kept = next((t.dtype for t in (running_mean, running_var) if t is not None), input.dtype)
        x = input if input.dtype is kept else input.to(kept)
        mean, var = x.mean(dims), x.var(dims, correction=0)
        _move(running_mean, mean, momentum)
        _move(running_var, var * (count / (count - 1)) if count > 1 else var / 0.0, momentum)
    return mean, var


def embedding_bag(
    weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """(F.embedding_bag, the bag of each index, how many indices each bag has, the rows that maxima are from); mode 0 sum, 1 mean, 2 max.

    Indices that are padding_idx are not counted, sums count none. What is not of maxima has the bags' counts for the last.

    >>> facula.embedding_bag(facula.tensor([[1.0, 2.0], [3.0, 4.0]]), facula.tensor([0, 1, 1]), facula.tensor([0, 2]))[0]
    tensor([[4., 6.],
            [3., 4.]])
    """
    if weight.dim() != 2 or indices.dim() not in (1, 2) or not 0 <= mode < len(_BAGS):
        what = f"weight of 2 dims, indices of 1 or 2 and a mode from 0 to {len(_BAGS) - 1} are wanted, got {weight.dim()}, {indices.dim()} and {mode}"
        raise (extend.RankError if weight.dim() < 2 else RuntimeError)(f"embedding_bag: {what}. Reshape them, or choose another mode.")
    out, places, starts, flat = bags(indices, weight, offsets, None, 2, scale_grad_by_freq, _BAGS[mode], sparse, per_sample_weights, include_last_offset, padding_idx)
    bag = facula.searchsorted(starts, facula.arange(flat.numel()), right=True) - 1
    sizes = facula.zeros_like(starts)
    if mode:
        sizes.index_add_(0, bag, facula.ones_like(bag) if padding_idx is None else (flat != padding_idx % weight.size(0)).long())
    return out, bag, sizes, places.clamp(min=0) if mode == 2 else sizes.clone()


__all__ = [
    "batch_norm_update_stats", "embedding_bag", "native_batch_norm", "native_dropout", "native_group_norm", "native_layer_norm",
]  # fmt: skip

check_kinds(globals(), __all__)
