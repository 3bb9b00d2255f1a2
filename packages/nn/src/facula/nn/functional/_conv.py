"""Convolutions and their transposes, over 1, 2 or 3 spatial dims."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor

from ._window import batched, ntuple, out_size, padded, taps


def _same_padding(kernel: tuple, stride: tuple, dilation: tuple) -> tuple[tuple, tuple]:
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for k, d in zip(kernel, dilation)]
    return tuple(t // 2 for t in total), tuple(t - t // 2 for t in total)


def _check(name: str, x: Tensor, weight: Tensor, bias: Tensor | None, groups: int, transposed: bool) -> None:
    if weight.dim() != x.dim():
        raise RuntimeError(f"{name}: weight {list(weight.shape)} has {weight.dim()} dims, {x.dim()} are wanted.")
    if groups <= 0:
        raise RuntimeError(f"{name}: groups is {groups}, must be positive.")
    channels = weight.size(0) if transposed else weight.size(1) * groups
    if x.size(1) != channels:
        raise RuntimeError(
            f"{name}: given groups={groups}, weight of size {list(weight.shape)}, expected input{list(x.shape)} to have "
            f"{channels} channels, but got {x.size(1)} channels instead"
        )
    if weight.size(0) % groups:
        raise RuntimeError(f"{name}: weight of size {list(weight.shape)} at dim 0 is not divisible by groups {groups}.")
    outputs = weight.size(1) * groups if transposed else weight.size(0)
    if bias is not None and (bias.dim() != 1 or bias.size(0) != outputs):
        raise RuntimeError(f"{name}: expected bias to be 1-dimensional with {outputs} elements, but got bias of size {list(bias.shape)}")


def _by_taps(x: Tensor, weight: Tensor, stride: tuple, dilation: tuple, groups: int, out: tuple) -> Tensor:
    """sum over the kernel's places of weight there times the input there; x is padded. (N, C, *) -> (N, O, *out)."""
    n, o = x.size(0), weight.size(0)
    total = None
    for place, part in taps(x, tuple(weight.shape[2:]), stride, dilation, out):
        w = weight[(slice(None), slice(None)) + place].reshape(1, groups, o // groups, weight.size(1))
        term = facula.matmul(w, part.reshape(n, groups, weight.size(1), -1))
        total = term if total is None else total + term
    return total.reshape(n, o, *out)


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
            raise RuntimeError(f"{name}: negative padding {before} is not supported. Slice the input.")
    if any(s <= 0 for s in stride) or any(d <= 0 for d in dilation):
        raise RuntimeError(f"{name}: stride {stride} and dilation {dilation} must be positive.")
    x = padded(x, before, after)
    out = tuple(out_size(n, k, s, 0, d) for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation))
    if any(n <= 0 for n in out):
        raise RuntimeError(
            f"{name}: the padded input {list(x.shape[2:])} is smaller than the kernel {list(kernel)} with dilation {list(dilation)}."
        )
    result = _by_taps(x, weight, stride, dilation, groups, out)
    if bias is not None:
        result = result + bias.reshape((1, -1) + (1,) * ndim)
    return result.squeeze(0) if added else result


def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """Cross-correlation of (N, C, L) with (O, C / groups, K)."""
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """Cross-correlation of (N, C, H, W) with (O, C / groups, KH, KW)."""
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """Cross-correlation of (N, C, D, H, W) with (O, C / groups, KD, KH, KW)."""
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def _spread(x: Tensor, stride: tuple) -> Tensor:
    """x with stride - 1 zeros between its elements along each spatial dim."""
    for dim, s in enumerate(stride, 2):
        if s > 1:
            zeros = facula.zeros((*x.shape, s - 1), dtype=x.dtype, device=x.device)
            wide = facula.cat([x.unsqueeze(-1), zeros], -1)
            order = list(range(x.dim() + 1))
            order.insert(dim + 1, order.pop())
            n = x.size(dim)
            x = wide.permute(order).reshape(*x.shape[:dim], n * s, *x.shape[dim + 1 :]).narrow(dim, 0, (n - 1) * s + 1)
    return x


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
    """The gradient of a convolution by its input: a convolution of the spread input with the flipped kernel."""
    name = f"conv_transpose{ndim}d"
    x, added = batched(input, ndim, name)
    _check(name, x, weight, bias, groups, True)
    stride, dilation = ntuple(stride, ndim, "stride"), ntuple(dilation, ndim, "dilation")
    padding, extra = ntuple(padding, ndim, "padding"), ntuple(output_padding, ndim, "output_padding")
    for s, d, e in zip(stride, dilation, extra):
        if e >= max(s, d):
            raise RuntimeError(f"{name}: output padding must be smaller than either stride or dilation, but got {extra}, {stride}, {dilation}")
    kernel = tuple(weight.shape[2:])
    inner, outer = weight.size(0) // groups, weight.size(1)
    flipped = weight.flip(tuple(range(2, weight.dim())))
    flipped = flipped.reshape(groups, inner, outer, *kernel).transpose(1, 2).reshape(groups * outer, inner, *kernel)
    x = _spread(x, stride)
    reach = [d * (k - 1) for k, d in zip(kernel, dilation)]
    before = [r - p for r, p in zip(reach, padding)]
    after = [b + e for b, e in zip(before, extra)]
    for dim, (b, a) in enumerate(zip(before, after), 2):  # padding beyond the kernel's reach cuts
        if b < 0 or a < 0:
            x = x.narrow(dim, max(-b, 0), x.size(dim) - max(-b, 0) - max(-a, 0))
    x = padded(x, tuple(max(b, 0) for b in before), tuple(max(a, 0) for a in after))
    result = _conv(ndim, x, flipped, bias, 1, 0, dilation, groups)
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
    """Transposed conv1d; weight: (C, O / groups, K)."""
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
    """Transposed conv2d; weight: (C, O / groups, KH, KW)."""
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
    """Transposed conv3d; weight: (C, O / groups, KD, KH, KW)."""
    return _conv_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """conv1d of (T, N, C) with weight (K, C, O)."""
    return conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)
