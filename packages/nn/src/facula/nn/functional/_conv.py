"""Convolutions and their transposes, over 1, 2 or 3 spatial dims."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._rows import row
from ._window import batched, ntuple, out_size, padded

_convolution, _squeeze, _unsqueeze = row("convolution"), row("squeeze"), row("unsqueeze")
_UNEVEN = "Using padding='same' with even kernel lengths and odd dilation takes a copy of the input with zeros on one side. Give an odd kernel where that matters."


def _same_padding(kernel: tuple, stride: tuple, dilation: tuple) -> tuple[tuple, tuple]:
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for k, d in zip(kernel, dilation)]
    return tuple(t // 2 for t in total), tuple(t - t // 2 for t in total)


def _check(name: str, x: Tensor, weight: Tensor, bias: Tensor | None, groups: int, transposed: bool) -> None:
    if weight.dim() != x.dim():
        raise RuntimeError(f"{name}: weight {list(weight.shape)} has {weight.dim()} dims, {x.dim()} are wanted.")
    extend.check(name, "groups", 6, "size", groups)
    if groups <= 0:
        raise RuntimeError(f"{name}: non-positive groups is not supported, got {groups}")
    channels = weight.size(0) if transposed else weight.size(1) * groups
    if x.size(1) != channels:
        raise RuntimeError(
            f"{name}: Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(x.shape)} to have "
            f"{channels} channels, but got {x.size(1)} channels instead"
        )
    if not weight.size(0):
        raise RuntimeError(f"{name}: Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {list(weight.shape)} instead")
    if weight.size(0) % groups:
        raise RuntimeError(
            f"{name}: Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size {list(weight.shape)} instead"
        )
    outputs = weight.size(1) * groups if transposed else weight.size(0)
    if bias is not None and (bias.dim() != 1 or bias.size(0) != outputs):
        raise RuntimeError(f"{name}: Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {outputs} elements, but got bias of size {list(bias.shape)}")


def _check_places(name: str, x: Tensor) -> None:
    if x.size(0) and x.size(1) and not x.numel():
        raise RuntimeError(f"{name}: only zero batch or zero channel inputs are supported, but got input shape: {list(x.shape)}")


def _check_steps(name: str, stride: tuple, dilation: tuple) -> None:
    if any(s <= 0 for s in stride):
        raise RuntimeError(f"{name}: non-positive stride is not supported, got {stride}")
    if any(d <= 0 for d in dilation):
        raise RuntimeError(f"{name}: dilation should be greater than zero, got {dilation}")


def _want_tensors(name: str, input: Any, weight: Any, bias: Any) -> None:
    if type(input) is not Tensor:
        extend.want_tensor(name, "input", 0, input)
    if not isinstance(weight, Tensor):
        extend.want_tensor(name, "weight", 1, weight)
    if bias is not None and not isinstance(bias, Tensor):
        extend.want_tensor(name, "bias", 2, bias)


def _want_steps(name: str, groups: Any, **steps: Any) -> None:
    """Refuse what is neither an int nor a sequence of them, before sizes are looked at."""
    for what, given in steps.items():
        if not (what == "padding" and isinstance(given, str)) and not extend.of_kind("ints", given):
            raise TypeError(f"{name}(): argument '{what}' must be tuple of ints, not {given!r}. Give an int, or one for each dim.")
    extend.check(name, "groups", None, "size", groups)


def _three(values: tuple, absent: int) -> tuple:
    """What the rows take: d, h, w, where the spatial dims that are not there stand first."""
    return (absent,) * (3 - len(values)) + values


@lru_cache(maxsize=1024, typed=True)  # True is no 1: it is refused
def _plain(ndim: int, stride: Any, padding: Any, dilation: Any) -> tuple | None:
    """stride, padding, dilation as the row takes them; None where padding has to be worked out."""
    if isinstance(padding, str):
        return None
    stride, padding, dilation = ntuple(stride, ndim, "stride"), ntuple(padding, ndim, "padding"), ntuple(dilation, ndim, "dilation")
    return _three(stride, 1), _three(padding, 0), _three(dilation, 1)


def _conv(
    ndim: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    name = f"conv{ndim}d"
    _want_tensors(name, input, weight, bias)
    try:  # the row checks too: what it refuses is said below, by the sizes that are wrong
        plain = _plain(ndim, stride, padding, dilation)
        rank = len(input.shape)
        alone = rank == ndim + 1
        if plain is not None and (alone or rank == ndim + 2):  # the row takes one to three spatial dims, whichever was meant
            result = _convolution(_unsqueeze(input, 0) if alone else input, weight, bias, *plain, False, (0, 0, 0), groups)
            if result.numel() and input.numel():
                return _squeeze(result, (0,)) if alone else result
    except (RuntimeError, TypeError, ValueError):
        pass
    _want_steps(name, groups, stride=stride, padding=padding, dilation=dilation)
    x, added = batched(input, ndim, name)
    _check(name, x, weight, bias, groups, False)
    stride, dilation = ntuple(stride, ndim, "stride"), ntuple(dilation, ndim, "dilation")
    kernel = tuple(weight.shape[2:])
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise RuntimeError(f"{name}: invalid padding string {padding!r}. Give 'same' or 'valid'.")
        before, after = _same_padding(kernel, stride, dilation) if padding == "same" else ((0,) * ndim,) * 2
    else:
        before = after = ntuple(padding, ndim, "padding")
        if any(p < 0 for p in before):
            raise RuntimeError(f"{name}: negative padding is not supported, got {before}. Slice the input.")
    _check_steps(name, stride, dilation)
    if before != after:
        extend.warn_once(_UNEVEN, stacklevel=3)
    both = tuple(min(b, a) for b, a in zip(before, after))
    x = padded(x, tuple(b - p for b, p in zip(before, both)), tuple(a - p for a, p in zip(after, both)))
    out = tuple(out_size(n, k, s, p, d) for n, k, s, p, d in zip(x.shape[2:], kernel, stride, both, dilation))
    if any(n <= 0 for n in out):
        sizes = " x ".join(str(n + 2 * p) for n, p in zip(x.shape[2:], both))
        spans = " x ".join(str(d * (k - 1) + 1) for k, d in zip(kernel, dilation))
        raise RuntimeError(
            f"{name}: Calculated padded input size per channel: ({sizes}). Kernel size: ({spans}). Kernel size can't be greater than actual input size"
        )
    if not x.numel() and not x.size(1):  # no channels give none, as PyTorch has it
        result = (x.reshape(-1) * weight.reshape(-1)).reshape(x.size(0), 0, *out)
        if bias is not None:  # its gradient is zeros
            result = result + bias[:0].reshape(-1, *(1 for _ in out))
        return result.squeeze(0) if added else result
    _check_places(name, x)
    result = _convolution(x, weight, bias, _three(stride, 1), _three(both, 0), _three(dilation, 1), False, (0, 0, 0), groups)
    return result.squeeze(0) if added else result


def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """Cross-correlation of (N, C, L) with (O, C / groups, K).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.conv1d(facula.tensor([[[1.0, 2.0, 3.0]]]), facula.tensor([[[1.0, 1.0]]]))
    tensor([[[3., 5.]]])
    """
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """Cross-correlation of (N, C, H, W) with (O, C / groups, KH, KW).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.conv2d(facula.ones(1, 1, 3, 3), facula.ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """Cross-correlation of (N, C, D, H, W) with (O, C / groups, KD, KH, KW).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.conv3d(facula.ones(1, 1, 2, 2, 2), facula.ones(1, 1, 2, 2, 2))
    tensor([[[[[8.]]]]])
    """
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def _conv_transpose(
    ndim: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Tensor:
    """The gradient of a convolution by its input."""
    name = f"conv_transpose{ndim}d"
    _want_tensors(name, input, weight, bias)
    if not ndim < input.dim() < ndim + 3:
        _want_steps(name, groups, stride=stride, padding=padding, output_padding=output_padding, dilation=dilation)
    x, added = batched(input, ndim, name)
    _check(name, x, weight, bias, groups, True)
    stride, dilation = ntuple(stride, ndim, "stride"), ntuple(dilation, ndim, "dilation")
    padding, extra = ntuple(padding, ndim, "padding"), ntuple(output_padding, ndim, "output_padding")
    for s, d, e in zip(stride, dilation, extra):
        if e >= max(s, d):
            raise RuntimeError(f"{name}: output padding must be smaller than either stride or dilation, but got {extra}, {stride}, {dilation}")
    if any(p < 0 for p in padding):
        raise RuntimeError(f"{name}: negative padding is not supported, got {padding}. Slice the result.")
    if any(e < 0 for e in extra):
        raise RuntimeError(f"{name}: negative output_padding is not supported, got {extra}. Slice the result.")
    _check_steps(name, stride, dilation)
    sizes = zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, extra)
    out = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, d, e in sizes]
    _check_places(name, x)
    if any(n <= 0 for n in out):
        raise RuntimeError(f"{name}: the input {list(x.shape[2:])} gives a result of size {out}, which is too small. Pad less.")
    result = _convolution(x, weight, bias, _three(stride, 1), _three(padding, 0), _three(dilation, 1), True, _three(extra, 0), groups)
    return result.squeeze(0) if added else result


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Transposed conv1d; weight: (C, O / groups, K).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.conv_transpose1d(facula.tensor([[[1.0, 2.0]]]), facula.tensor([[[1.0, 10.0]]]))
    tensor([[[ 1., 12., 20.]]])
    """
    return _conv_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Transposed conv2d; weight: (C, O / groups, KH, KW).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.conv_transpose2d(facula.ones(1, 1, 1, 1), facula.ones(1, 1, 2, 2))
    tensor([[[[1., 1.],
              [1., 1.]]]])
    """
    return _conv_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Transposed conv3d; weight: (C, O / groups, KD, KH, KW).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.conv_transpose3d(facula.ones(1, 1, 1, 1, 1), facula.ones(1, 1, 2, 2, 2)).shape
    torch.Size([1, 1, 2, 2, 2])
    """
    return _conv_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """conv1d of (T, N, C) with weight (K, C, O).

    >>> facula.conv_tbc(facula.ones(4, 1, 1), facula.ones(2, 1, 1), facula.zeros(1)).flatten()
    tensor([2., 2., 2.])
    """
    for what, t, rank in (("input", input, 3), ("weight", weight, 3), ("bias", bias, 1)):
        if t.dim() != rank:
            raise RuntimeError(f"conv_tbc: {what} must have {rank} dims, but got {t.dim()}. Reshape it.")
    places = input.size(0) + 2 * pad - weight.size(0) + 1
    if places < 0:
        raise RuntimeError(f"conv_tbc: Trying to create tensor with negative dimension {places}: {[places, input.size(1), weight.size(2)]}. Pad more.")
    if places == 0:  # nothing to compute, as PyTorch has it
        return (input[:0, :, :1] + weight[:0, :1] + bias).expand(0, input.size(1), weight.size(2)).clone(memory_format=facula.contiguous_format)
    return conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1).clone(memory_format=facula.contiguous_format)
