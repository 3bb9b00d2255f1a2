"""torch.utils.data.dataloader's words for what a loader reads from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from facula.data._fetch import DatasetKind as _DatasetKind  # noqa: F401 (the name that programs ask for)

_collate_fn_t = Callable[[list[TypeVar("_T")]], Any]


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Four numbers that seed NumPy's legacy stream in a worker."""
    import numpy

    return numpy.random.SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4).tolist()


def pin_memory(data: Any, device: Any = None) -> Any:
    """`data` with its tensors copied to page-locked memory. device: what they are for, deprecated by PyTorch; there is one."""
    from facula.data._iterators import pin

    return pin(data)
