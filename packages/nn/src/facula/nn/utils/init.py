"""skip_init."""

from __future__ import annotations

from typing import Any

from ..module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> Any:
    """module_cls(*args, **kwargs) with uninitialised parameters: made on the meta device, then moved.

    >>> facula.nn.utils.skip_init(facula.nn.Linear, 3, 2).weight.shape
    torch.Size([2, 3])
    """
    import inspect  # 8 ms that importing nn does not pay

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError(f"Module must support a 'device' arg to skip initialization: {module_cls.__name__}")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
