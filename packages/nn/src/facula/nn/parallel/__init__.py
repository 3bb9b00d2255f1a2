"""Running one module over several devices. With one device, the machine's CPU, each of these is a plain call."""

from __future__ import annotations

from typing import Any

from .data_parallel import DataParallel, data_parallel
from .pieces import gather, parallel_apply, replicate, scatter

__all__ = ["DataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]


def __getattr__(name: str) -> Any:
    if name == "DistributedDataParallel":  # facula-dist's
        import facula

        return facula.distributed.DistributedDataParallel
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
