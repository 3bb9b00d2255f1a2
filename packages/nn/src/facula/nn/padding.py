"""Padding modules."""

from __future__ import annotations

from typing import Any

from facula import Tensor

from . import functional as F
from ._sizes import _ntuple
from .module import Module

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
    "ZeroPad3d",
]  # fmt: skip


class _PadNd(Module):
    _mode: str
    _sides: int

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(self._sides)(padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    _mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """A border of `value` at the last dim.

    >>> import facula
    >>> from facula import nn
    >>> nn.ConstantPad1d(1, 9.0)(facula.tensor([[1.0]]))
    tensor([[9., 1., 9.]])
    """

    _sides = 2


class ConstantPad2d(_ConstantPadNd):
    """A border of `value` at the last 2 dims.

    >>> facula.nn.ConstantPad2d(1, 9.0)(facula.tensor([[[1.0, 2.0]]]))
    tensor([[[9., 9., 9., 9.],
             [9., 1., 2., 9.],
             [9., 9., 9., 9.]]])
    """

    _sides = 4


class ConstantPad3d(_ConstantPadNd):
    """A border of `value` at the last 3 dims.

    >>> facula.nn.ConstantPad3d((1, 0, 0, 0, 0, 0), 9.0)(facula.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[9., 1., 2.]]]])
    """

    _sides = 6


class _ZeroPad:
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """A border of zeros at the last dim.

    >>> facula.nn.ZeroPad1d((1, 2))(facula.tensor([[1.0, 2.0]]))
    tensor([[0., 1., 2., 0., 0.]])
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """A border of zeros at the last 2 dims.

    >>> import facula
    >>> from facula import nn
    >>> nn.ZeroPad2d(1)(facula.ones(1, 1, 1))
    tensor([[[0., 0., 0.],
             [0., 1., 0.],
             [0., 0., 0.]]])
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """A border of zeros at the last 3 dims.

    >>> facula.nn.ZeroPad3d((1, 0, 0, 0, 0, 0))(facula.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[0., 1., 2.]]]])
    """


class ReflectionPad1d(_PadNd):
    """A border that mirrors the last dim.

    >>> import facula
    >>> from facula import nn
    >>> nn.ReflectionPad1d(1)(facula.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 1., 2., 3., 2.]])
    """

    _mode, _sides = "reflect", 2


class ReflectionPad2d(_PadNd):
    """A border that mirrors the last 2 dims.

    >>> facula.nn.ReflectionPad2d((1, 1, 0, 0))(facula.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[2., 1., 2., 3., 2.]]])
    """

    _mode, _sides = "reflect", 4


class ReflectionPad3d(_PadNd):
    """A border that mirrors the last 3 dims.

    >>> facula.nn.ReflectionPad3d((1, 1, 0, 0, 0, 0))(facula.tensor([[[[1.0, 2.0, 3.0]]]]))
    tensor([[[[2., 1., 2., 3., 2.]]]])
    """

    _mode, _sides = "reflect", 6


class ReplicationPad1d(_PadNd):
    """A border that repeats the edge of the last dim.

    >>> import facula
    >>> from facula import nn
    >>> nn.ReplicationPad1d(1)(facula.tensor([[1.0, 2.0]]))
    tensor([[1., 1., 2., 2.]])
    """

    _mode, _sides = "replicate", 2


class ReplicationPad2d(_PadNd):
    """A border that repeats the edges of the last 2 dims.

    >>> facula.nn.ReplicationPad2d(1)(facula.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.],
             [1., 1., 2., 2.],
             [1., 1., 2., 2.]]])
    """

    _mode, _sides = "replicate", 4


class ReplicationPad3d(_PadNd):
    """A border that repeats the edges of the last 3 dims.

    >>> facula.nn.ReplicationPad3d((1, 1, 0, 0, 0, 0))(facula.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.]]]])
    """

    _mode, _sides = "replicate", 6


class _CircularPadNd(_PadNd):
    def forward(self, input: Tensor) -> Tensor:
        least = self._sides // 2 + 1
        if input.dim() not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.dim()}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """A border that wraps around the last dim.

    >>> facula.nn.CircularPad1d(1)(facula.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[3., 1., 2., 3., 1.]]])
    """

    _mode, _sides = "circular", 2


class CircularPad2d(_CircularPadNd):
    """A border that wraps around the last 2 dims.

    >>> facula.nn.CircularPad2d(1)(facula.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[4., 3., 4., 3.],
             [2., 1., 2., 1.],
             [4., 3., 4., 3.],
             [2., 1., 2., 1.]]])
    """

    _mode, _sides = "circular", 4


class CircularPad3d(_CircularPadNd):
    """A border that wraps around the last 3 dims.

    >>> facula.nn.CircularPad3d((1, 0, 0, 0, 0, 0))(facula.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[2., 1., 2.]]]])
    """

    _mode, _sides = "circular", 6
