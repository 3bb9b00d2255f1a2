"""unfold and fold, and the shuffles of channels and pixels."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._rows import REAL, only, row
from ._window import channels_last, ntuple, out_size, padded, some, taps

_permute, _regroup, _im2col, _col2im = row("permute"), row("_regroup"), row("_im2col"), row("_col2im")
_OF_ROWS = (facula.float32, facula.float64, facula.bfloat16, facula.float16)  # what the rows take; other dtypes are composed


def _pair(op: str, name: str, value: Any) -> tuple[int, int]:
    """One number twice, or two."""
    if type(value) is tuple and len(value) == 2 and type(value[0]) is type(value[1]) is int:
        return ntuple(value, 2, op)
    if type(value) is not int:
        extend.want_ints(op, name, None, value if isinstance(value, (list, tuple)) else (value,))
    if isinstance(value, (list, tuple)) and len(value) != 2:
        raise RuntimeError(f"{op}: It is expected {name} equals to 2, but got size {len(value)}: {value}. Give one number, or two.")
    return ntuple(value, 2, op)


def _windows(op: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple:
    """The four as pairs, in the ranges that windows have."""
    kernel, dilation, padding, stride = (
        _pair(op, "kernel_size", kernel_size), _pair(op, "dilation", dilation), _pair(op, "padding", padding), _pair(op, "stride", stride),
    )  # fmt: skip
    if min(kernel) < 1 or min(dilation) < 1 or min(padding) < 0 or min(stride) < 1:
        for name, pair in (("kernel_size", kernel), ("dilation", dilation), ("padding", padding), ("stride", stride)):
            if min(pair) < (least := int(name != "padding")):
                raise RuntimeError(f"{op}: {name} should be {'greater than zero' if least else 'non-negative'}, but got {pair}.")
    return kernel, dilation, padding, stride


def _kinds_of_windows(**given: Any) -> None:
    """Refuse what unfold takes neither for one number nor for several."""
    for k, (name, value) in enumerate(given.items()):
        if type(value) is not int:
            extend.check("unfold", name, k + 1, "ints", value)
        if isinstance(value, (list, tuple)):
            extend.want_ints("unfold", name, k + 1, value)
        elif isinstance(value, Tensor):
            raise TypeError(f"unfold(): argument '{name}' (position {k + 2}) must be int or tuple of ints, not a Tensor: iteration over a 0-d tensor. Convert it with int().")


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of (N, C, H, W) as columns: (N, C * KH * KW, L).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.unfold(facula.arange(4.0).view(1, 1, 2, 2), 2).shape
    torch.Size([1, 4, 1])
    """
    if type(input) is not Tensor:
        extend.want_tensor("unfold", "input", 0, input)
    if not (type(kernel_size) is type(dilation) is type(padding) is type(stride) is int):
        _kinds_of_windows(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    if input.dim() not in (3, 4):
        raise (extend.RankError if input.dim() < 3 else RuntimeError)(f"unfold: expected 3D or 4D (batch mode) tensor for input with possibly 0 batch size, but got {list(input.shape)}")
    kernel, dilation, padding, stride = _windows("unfold", kernel_size, dilation, padding, stride)
    some("unfold", input, 2)
    if input.dtype._kind == 1:
        only("unfold", input.dtype, REAL)
    x = input if input.dim() == 4 else input.unsqueeze(0)
    height, width = x.shape[2:]
    out = (
        out_size(height, kernel[0], stride[0], padding[0], dilation[0]), out_size(width, kernel[1], stride[1], padding[1], dilation[1]),
    )  # fmt: skip
    if min(out) < 1:
        raise RuntimeError(
            f"unfold: Given input with spatial size {tuple(input.shape[-2:])}, kernel_size={kernel}, dilation={dilation}, padding={padding}, "
            f"calculated shape of the array of sliding blocks as {out}, but its components must be at least one."
        )
    if x.dtype in _OF_ROWS and not extend.listening():
        result = _im2col(x, kernel, dilation, padding, stride)
        return result if x is input else extend.alone(result.squeeze(0))
    x = padded(x, padding, padding)
    parts = [part for _, part in taps(x, kernel, stride, dilation, out)]
    result = facula.stack(parts, 2).reshape(x.size(0), x.size(1) * len(parts), math.prod(out)).contiguous()
    result = extend.one_node(result, "Im2ColBackward0", input)
    return result if input.dim() == 4 else extend.alone(result.squeeze(0))


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The sum of columns (N, C * KH * KW, L) put back in their windows: (N, C, H, W). The transpose of unfold.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.fold(facula.ones(1, 4, 1), (2, 2), (2, 2))
    tensor([[[[1., 1.],
              [1., 1.]]]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("fold", "input", 0, input)
    size = _pair("fold", "output_size", output_size)
    kernel, dilation, padding, stride = _windows("fold", kernel_size, dilation, padding, stride)
    if input.dim() not in (2, 3):
        raise RuntimeError(f"fold: Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported, but got {input.dim()}D")
    x = input if input.dim() == 3 else input.unsqueeze(0)
    places = math.prod(kernel)
    if x.size(1) % places:
        raise RuntimeError(f"fold: Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got {x.size(1)} and {kernel}.")
    wide = tuple(n + 2 * p for n, p in zip(size, padding))
    out = tuple(out_size(n, k, s, 0, d) for n, k, s, d in zip(wide, kernel, stride, dilation))
    if min(out) < 1:
        raise RuntimeError(f"fold: Given output_size={size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, calculated shape of the array of sliding blocks as {out}, but its components must be at least one.")
    if x.size(2) != math.prod(out):
        raise RuntimeError(f"fold: Given output_size={size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, expected size of input's dimension 2 to match the calculated number of sliding blocks {math.prod(out)}, but got {x.size(2)}.")
    if x.dtype in _OF_ROWS and not extend.listening():
        result = _col2im(x, size, kernel, dilation, padding, stride)
        return result if x is input else extend.alone(result.squeeze(0))
    n, c = x.size(0), x.size(1) // places
    # where in the padded output each column element goes
    index = facula.arange(math.prod(wide), device=x.device).reshape(1, 1, *wide)
    index = facula.stack([part.reshape(-1) for _, part in taps(index, kernel, stride, dilation, out)], 0).reshape(-1)
    total = facula.zeros((n, c, math.prod(wide)), dtype=x.dtype, device=x.device).index_add(2, index, x.reshape(n, c, places * x.size(2)))
    result = total.reshape(n, c, *wide)
    result = result[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]].contiguous()
    return result if input.dim() == 3 else extend.alone(result.squeeze(0))


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, C r^2, H, W) as (*, C, H r, W r). Source: Shi et al. (2016).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.pixel_shuffle(facula.arange(4.0).view(1, 4, 1, 1), 2)
    tensor([[[[0., 1.],
              [2., 3.]]]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("pixel_shuffle", "input", 0, input)
    shape = input.shape
    if len(shape) < 3:
        raise RuntimeError(f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)")
    r = upscale_factor
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    c, h, w = shape[-3:]
    if c % (r * r):
        raise RuntimeError(f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)={c} is not divisible by {r * r}")
    c //= r * r
    if len(shape) == 4:  # 1 us for what stands below
        return _regrouped(input, (shape[0], c, r, r, h, w), (0, 1, 4, 2, 5, 3), (shape[0], c, h * r, w * r))
    if len(shape) == 3 and type(input) is Tensor and input.is_contiguous() and not extend.listening():
        return _regroup(input, (c, r, r, h, w), (0, 3, 1, 4, 2), (c, h * r, w * r))
    batch, n = shape[:-3], len(shape) - 3
    return _regrouped(input, (*batch, c, r, r, h, w), (*range(n), n, n + 3, n + 1, n + 4, n + 2), (*batch, c, h * r, w * r))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(*, C, H r, W r) as (*, C r^2, H, W).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.pixel_unshuffle(facula.arange(4.0).view(1, 1, 2, 2), 2).shape
    torch.Size([1, 4, 1, 1])
    """
    if type(input) is not Tensor:
        extend.want_tensor("pixel_unshuffle", "input", 0, input)
    if input.dim() < 3:
        raise RuntimeError(f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)")
    r = downscale_factor
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    shape = input.shape
    c, h, w = shape[-3:]
    if h % r or w % r:
        raise RuntimeError(f"pixel_unshuffle expects height and width to be divisible by downscale_factor, but {(h, w)} are not divisible by {r}")
    if len(shape) == 4:
        return _regrouped(input, (shape[0], c, h // r, r, w // r, r), (0, 1, 3, 5, 2, 4), (shape[0], c * r * r, h // r, w // r))
    batch, n = shape[:-3], len(shape) - 3
    return _regrouped(input, (*batch, c, h // r, r, w // r, r), (*range(n), n, n + 2, n + 4, n + 1, n + 3), (*batch, c * r * r, h // r, w // r))


def _regrouped(input: Tensor, split: tuple, order: tuple, shape: tuple) -> Tensor:
    """input of sizes split with its dims in another order, of sizes shape, lying as input does."""
    if type(input) is Tensor and not (len(input.shape) == 4 and channels_last(input)) and not extend.listening():
        return _regroup(input.contiguous(), split, order, shape)
    return _laid_like(_permute(input.reshape(split), order).reshape(shape), input)


def _laid_like(result: Tensor, input: Tensor) -> Tensor:
    """A result that moved input's elements about: in memory of its own, channels last where input has them there."""
    format = facula.channels_last if input.dim() == 4 and channels_last(input) else facula.contiguous_format
    result = result.clone(memory_format=format) if result._viewed is not None else result.contiguous(memory_format=format)
    return result if 1 not in result.shape else extend.lie_as(result, facula.empty(result.shape, device="meta", memory_format=format))


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """(N, g c, *) with the channels dealt out in turn: channel k of group j goes to place k g + j. Source: Zhang et al. (2017).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.channel_shuffle(facula.arange(4.0).view(1, 4, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    if input.dim() < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    shape = input.shape
    n, c, *rest = shape
    if c % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups.")
    return _regrouped(input, (n, groups, c // groups, *rest), (0, 2, 1, *range(3, len(shape) + 1)), shape)


native_channel_shuffle = channel_shuffle
