"""Memory formats of convolution weights."""

from __future__ import annotations

from typing import Any

from ..conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: Any, memory_format: Any, kinds: tuple[type, ...]) -> Any:
    for m in module.modules():
        if isinstance(m, kinds):
            m.weight.data = m.weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The weights of all Conv2d and ConvTranspose2d below in `memory_format`; returns the module.

    >>> conv = facula.nn.utils.convert_conv2d_weight_memory_format(facula.nn.Conv2d(2, 3, 2), facula.channels_last)
    >>> conv.weight.is_contiguous(memory_format=facula.channels_last)
    True
    """
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The weights of all Conv3d and ConvTranspose3d below in `memory_format`; returns the module.

    >>> conv = facula.nn.utils.convert_conv3d_weight_memory_format(facula.nn.Conv3d(2, 3, 2), facula.channels_last_3d)
    >>> conv.weight.is_contiguous(memory_format=facula.channels_last_3d)
    True
    """
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
