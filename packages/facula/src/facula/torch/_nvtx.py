"""torch.cuda.nvtx: marks for NVIDIA's profiler. Without CUDA they raise, as in PyTorch's CPU build."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A block under a name; made without CUDA too, as a decorator of functions that nobody calls."""
    _refuse(msg, *args, **kwargs)
    yield


range_push = range_pop = range_start = range_end = mark = _refuse
