"""torch.cpu.amp and torch.cuda.amp: the older names of torch.amp, each bound to its device."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import facula


def _cast(value: Any, device_type: str, dtype: facula.dtype) -> Any:
    """`value` with the floating tensors of that device in dtype, in lists, tuples and mappings too; float64 stays."""
    if isinstance(value, facula.Tensor):
        wanted = value.is_floating_point() and value.device.type == device_type and value.dtype != facula.float64
        return value.to(dtype) if wanted else value
    if isinstance(value, (str, bytes)) or hasattr(value, "__array__"):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, Iterable):
        items = (_cast(v, device_type, dtype) for v in value)
        return type(value)(items) if isinstance(value, (list, tuple)) else items
    return value


def of_device(device: str, low: facula.dtype, module: str) -> tuple[type, type]:
    """The autocast and GradScaler of a device whose products are in `low` there, as classes of `module`; made, they warn that they are old."""

    def warn(name: str) -> None:
        warnings.warn(f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('{device}', args...)` instead.", FutureWarning, stacklevel=3)

    class autocast(facula.amp.autocast):
        __doc__ = f'torch.amp.autocast("{device}", ...).'

        def __init__(self, enabled: bool = True, dtype: facula.dtype = low, cache_enabled: bool = True) -> None:
            warn("autocast")
            super().__init__(device, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    class GradScaler(facula.amp.GradScaler):
        __doc__ = f'torch.amp.GradScaler("{device}", ...).'

        def __init__(
            self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True
        ) -> None:
            warn("GradScaler")
            super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    for made in (autocast, GradScaler):
        made.__module__, made.__qualname__ = module, made.__name__
    return autocast, GradScaler
