"""Pooling modules."""

from __future__ import annotations

from typing import Any

from facula import Tensor

from . import functional as F
from ._sizes import _ntuple, _single
from .module import Module

__all__ = [
    "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d",
]  # fmt: skip


class _MaxPoolNd(Module):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return self._pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """Maximum of each window over the last dim.

    >>> import facula
    >>> from facula import nn
    >>> nn.MaxPool1d(2)(facula.tensor([[1.0, 3.0, 5.0, 2.0]]))
    tensor([[3., 5.]])
    """

    _pool = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """Maximum of each window over the last 2 dims.

    >>> import facula
    >>> from facula import nn
    >>> nn.MaxPool2d(2)(facula.arange(4.0).view(1, 2, 2))
    tensor([[[3.]]])
    """

    _pool = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """Maximum of each window over the last 3 dims.

    >>> import facula
    >>> from facula import nn
    >>> nn.MaxPool3d(2)(facula.arange(8.0).view(1, 2, 2, 2))
    tensor([[[[7.]]]])
    """

    _pool = staticmethod(F.max_pool3d)


class _MaxUnpoolNd(Module):
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        each = _ntuple(self._ndim)
        self.kernel_size, self.padding = each(kernel_size), each(padding)
        self.stride = each(kernel_size if stride is None else stride)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return self._unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The maxima of MaxPool1d put back in their places.

    >>> x = facula.nn.MaxPool1d(2, return_indices=True)(facula.tensor([[1.0, 4.0, 3.0, 2.0]]))
    >>> facula.nn.MaxUnpool1d(2)(*x)
    tensor([[0., 4., 3., 0.]])
    """

    _ndim, _unpool = 1, staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """The maxima of MaxPool2d put back in their places.

    >>> x = facula.nn.MaxPool2d(2, return_indices=True)(facula.tensor([[[1.0, 4.0], [3.0, 2.0]]]))
    >>> facula.nn.MaxUnpool2d(2)(*x)
    tensor([[[0., 4.],
             [0., 0.]]])
    """

    _ndim, _unpool = 2, staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """The maxima of MaxPool3d put back in their places.

    >>> x = facula.nn.MaxPool3d(2, return_indices=True)(facula.arange(8.0).view(1, 2, 2, 2))
    >>> facula.nn.MaxUnpool3d(2)(*x)
    tensor([[[[0., 0.],
              [0., 0.]],
    <BLANKLINE>
             [[0., 0.],
              [0., 7.]]]])
    """

    _ndim, _unpool = 3, staticmethod(F.max_unpool3d)


class _AvgPoolNd(Module):
    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """Mean of each window over the last dim.

    >>> import facula
    >>> from facula import nn
    >>> nn.AvgPool1d(2)(facula.tensor([[1.0, 3.0, 5.0, 7.0]]))
    tensor([[2., 6.]])
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding = _single(kernel_size), _single(padding)
        self.stride = _single(kernel_size if stride is None else stride)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolOver(_AvgPoolNd):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override
        )


class AvgPool2d(_AvgPoolOver):
    """Mean of each window over the last 2 dims.

    >>> import facula
    >>> from facula import nn
    >>> nn.AvgPool2d(2)(facula.arange(4.0).view(1, 2, 2))
    tensor([[[1.5000]]])
    """

    _pool = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPoolOver):
    """Mean of each window over the last 3 dims.

    >>> import facula
    >>> from facula import nn
    >>> nn.AvgPool3d(2)(facula.arange(8.0).view(1, 2, 2, 2))
    tensor([[[[3.5000]]]])
    """

    _pool = staticmethod(F.avg_pool3d)
    _younger = {"padding": 0, "ceil_mode": False, "count_include_pad": True}


class _FractionalMaxPool(Module):
    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name, n = type(self).__name__, self._ndim
        self.kernel_size = _ntuple(n)(kernel_size)
        if n == 3 and any(k <= 0 for k in self.kernel_size):  # PyTorch asks this of volumes alone
            raise ValueError(f"{name}: kernel_size must be greater than zero, got {kernel_size}")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else _ntuple(n)(output_size)
        self.output_ratio = tuple(output_ratio) if isinstance(output_ratio, (tuple, list)) else None if output_ratio is None else (output_ratio,) * n
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        return self._pool(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maximum over windows at random places, over the last 2 dims.

    >>> facula.nn.FractionalMaxPool2d(2, output_size=3)(facula.arange(25.0).view(1, 5, 5)).shape
    torch.Size([1, 3, 3])
    """

    _ndim, _pool = 2, staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maximum over windows at random places, over the last 3 dims.

    >>> facula.nn.FractionalMaxPool3d(2, output_size=3)(facula.arange(125.0).view(1, 5, 5, 5)).shape
    torch.Size([1, 3, 3, 3])
    """

    _ndim, _pool = 3, staticmethod(F.fractional_max_pool3d)


class _LPPoolNd(Module):
    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPoolNd):
    """p-norm of each window over the last dim.

    >>> facula.nn.LPPool1d(2, 2)(facula.tensor([[3.0, 4.0, 6.0, 8.0]]))
    tensor([[ 5., 10.]])
    """

    _pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """p-norm of each window over the last 2 dims.

    >>> facula.nn.LPPool2d(1, 2)(facula.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[10.]]])
    """

    _pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """p-norm of each window over the last 3 dims.

    >>> facula.nn.LPPool3d(1, 2)(facula.ones(1, 2, 2, 2)).flatten()
    tensor([8.])
    """

    _pool = staticmethod(F.lp_pool3d)


class _AdaptivePoolNd(Module):
    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPoolNd(_AdaptivePoolNd):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        return self._pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maximum over windows chosen so that the last dim becomes output_size.

    >>> facula.nn.AdaptiveMaxPool1d(2)(facula.tensor([[1.0, 3.0, 5.0, 7.0]]))
    tensor([[3., 7.]])
    """

    _pool = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maximum over windows chosen so that the last 2 dims become output_size.

    >>> import facula
    >>> from facula import nn
    >>> nn.AdaptiveMaxPool2d(1)(facula.arange(4.0).view(1, 2, 2))
    tensor([[[3.]]])
    """

    _pool = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maximum over windows chosen so that the last 3 dims become output_size.

    >>> facula.nn.AdaptiveMaxPool3d(1)(facula.arange(8.0).view(1, 2, 2, 2)).flatten()
    tensor([7.])
    """

    _pool = staticmethod(F.adaptive_max_pool3d)


class _AdaptiveAvgPoolNd(_AdaptivePoolNd):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Mean over windows chosen so that the last dim becomes output_size.

    >>> facula.nn.AdaptiveAvgPool1d(2)(facula.tensor([[1.0, 3.0, 5.0, 7.0]]))
    tensor([[2., 6.]])
    """

    _pool = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Mean over windows chosen so that the last 2 dims become output_size.

    >>> import facula
    >>> from facula import nn
    >>> nn.AdaptiveAvgPool2d(1)(facula.arange(4.0).view(1, 2, 2))
    tensor([[[1.5000]]])
    """

    _pool = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Mean over windows chosen so that the last 3 dims become output_size.

    >>> facula.nn.AdaptiveAvgPool3d(1)(facula.arange(8.0).view(1, 2, 2, 2)).flatten()
    tensor([3.5000])
    """

    _pool = staticmethod(F.adaptive_avg_pool3d)


