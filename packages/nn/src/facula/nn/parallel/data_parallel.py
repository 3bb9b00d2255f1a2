"""DataParallel: a batch split over devices. There is one device, so the batch stays whole."""

from __future__ import annotations

from typing import Any, Sequence

from ..module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """`module` run over the parts of a batch; without accelerators, as here, device_ids are none and the call is module's.

    >>> model = facula.nn.DataParallel(facula.nn.Linear(3, 2))
    >>> model(facula.ones(4, 3)).shape
    torch.Size([4, 2])
    """

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
    """What module gives for `inputs` (one argument, or a tuple of them) and module_kwargs.

    >>> facula.nn.parallel.data_parallel(facula.nn.Linear(3, 2), facula.ones(4, 3)).shape
    torch.Size([4, 2])
    """
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*inputs, **(module_kwargs or {}))
