"""Convolution modules."""

from __future__ import annotations

import math
from typing import Any, Sequence

import facula
from facula import Tensor

from . import functional as F
from . import init
from ._sizes import _ntuple
from .module import Module
from .parameter import Parameter

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    ndim: int
    transposed = False
    _younger = {"padding_mode": "zeros"}

    def _setup(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        output_padding: Any, groups: int, bias: bool, padding_mode: str, device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        Module.__init__(self)
        if groups <= 0:
            raise ValueError(f"groups must be a positive integer, got {groups}")
        if in_channels % groups != 0:
            raise ValueError(f"in_channels must be divisible by groups: {in_channels} and {groups}")
        if out_channels % groups != 0:
            raise ValueError(f"out_channels must be divisible by groups: {out_channels} and {groups}")
        each = _ntuple(self.ndim)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in each(stride)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        else:
            padding = each(padding)
        if padding_mode not in _PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.padding = each(kernel_size), each(stride), padding
        self.dilation, self.output_padding, self.padding_mode = each(dilation), each(output_padding), padding_mode
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        shape = (first, second // groups, *self.kernel_size)
        self.weight = Parameter(facula.empty(shape, device=device, dtype=dtype))
        fresh = Parameter(facula.empty(out_channels, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", fresh)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the initial values again: uniform on +-1/sqrt(fan_in), weight then bias."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    @property
    def _reversed_padding_repeated_twice(self) -> Sequence[int]:
        """The padding in the form that F.pad takes."""
        if not isinstance(self.padding, str):
            return tuple(p for p in reversed(self.padding) for _ in range(2))
        totals = [d * (k - 1) if self.padding == "same" else 0 for k, d in zip(self.kernel_size, self.dilation)]
        return [p for t in reversed(totals) for p in (t // 2, t - t // 2)]

    def __getstate__(self) -> dict:
        # Pickled whole, the layer is read by PyTorch too, which keeps these as attributes.
        kept = {"transposed": self.transposed, "_reversed_padding_repeated_twice": self._reversed_padding_repeated_twice}
        return super().__getstate__() | kept

    def __setstate__(self, state: dict) -> None:
        super().__setstate__({key: value for key, value in state.items() if key not in ("transposed", "_reversed_padding_repeated_twice")})

    def extra_repr(self) -> str:
        parts = [str(self.in_channels), str(self.out_channels), f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        for name, plain in (("padding", 0), ("dilation", 1), ("output_padding", 0), ("groups", 1)):
            value = getattr(self, name)
            if value != ((plain,) * len(value) if isinstance(value, tuple) else plain):
                parts.append(f"{name}={value}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _Convolution(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._setup(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode, device, dtype
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        convolve = self._convolve
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            return convolve(input, weight, bias, self.stride, 0, self.dilation, self.groups)
        return convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        own = self._parameters
        if "weight" in own and "bias" in own:  # see Linear
            return self._conv_forward(input, own["weight"], own["bias"])
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Convolution):
    """Cross-correlation of (N, C, L); weight: (O, C / groups, K).

    >>> import facula
    >>> from facula import nn
    >>> nn.Conv1d(3, 8, 5, padding=2)(facula.zeros(1, 3, 10)).shape
    torch.Size([1, 8, 10])
    """

    ndim = 1
    _convolve = staticmethod(F.conv1d)


class Conv2d(_Convolution):
    """Cross-correlation of (N, C, H, W); weight: (O, C / groups, KH, KW).

    >>> import facula
    >>> from facula import nn
    >>> nn.Conv2d(3, 8, 3, stride=2)(facula.zeros(1, 3, 9, 9)).shape
    torch.Size([1, 8, 4, 4])
    """

    ndim = 2
    _convolve = staticmethod(F.conv2d)


class Conv3d(_Convolution):
    """Cross-correlation of (N, C, D, H, W); weight: (O, C / groups, KD, KH, KW).

    >>> import facula
    >>> from facula import nn
    >>> nn.Conv3d(1, 2, 3)(facula.zeros(1, 1, 4, 4, 4)).shape
    torch.Size([1, 2, 2, 2, 2])
    """

    ndim = 3
    _convolve = staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._setup(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias, padding_mode, device, dtype
        )

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """The output_padding that makes the result `output_size`."""
        n = self.ndim
        if output_size is None:
            return self.output_padding
        batched = input.dim() == n + 2
        if len(output_size) == n + 1 + batched:
            output_size = output_size[-n:]
        if len(output_size) != n:
            raise ValueError(f"{type(self).__name__}: for {input.dim()}D input, output_size must have {n} or {input.dim()} elements (got {len(output_size)})")
        least = [
            (size - 1) * s - 2 * p + d * (k - 1) + 1
            for size, s, p, d, k in zip(input.shape[-n:], self.stride, self.padding, self.dilation, self.kernel_size)
        ]
        for want, low, s in zip(output_size, least, self.stride):
            if not low <= want <= low + s - 1:
                most = [m + s - 1 for m, s in zip(least, self.stride)]
                raise ValueError(f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an input of {list(input.shape[-n:])})")
        return tuple(want - low for want, low in zip(output_size, least))

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.ndim - 1]
        extra = self._output_padding(input, output_size)
        return convolve(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed Conv1d; weight: (C, O / groups, K).

    >>> import facula
    >>> from facula import nn
    >>> nn.ConvTranspose1d(2, 3, 4, stride=2)(facula.zeros(1, 2, 5)).shape
    torch.Size([1, 3, 12])
    """

    ndim = 1


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed Conv2d; weight: (C, O / groups, KH, KW).

    >>> import facula
    >>> from facula import nn
    >>> nn.ConvTranspose2d(2, 3, 2, stride=2)(facula.zeros(1, 2, 4, 4)).shape
    torch.Size([1, 3, 8, 8])
    """

    ndim = 2


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed Conv3d; weight: (C, O / groups, KD, KH, KW).

    >>> import facula
    >>> from facula import nn
    >>> nn.ConvTranspose3d(1, 1, 2)(facula.zeros(1, 1, 2, 2, 2)).shape
    torch.Size([1, 1, 3, 3, 3])
    """

    ndim = 3
