"""DataParallel: a batch split over devices. There is one device, so the batch stays whole."""

from __future__ import annotations

from typing import Any, Sequence

from ..module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """`module` run over the parts of a batch; without accelerators, as here, device_ids are none and the call is module's."""

    def __init__(self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict | None = None,
) -> Any:
    """What module gives for `inputs` (one argument, or a tuple of them) and module_kwargs."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*inputs, **(module_kwargs or {}))
