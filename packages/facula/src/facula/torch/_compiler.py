"""torch.compiler: what programs ask and say about compilation, of which there is none here: functions run as they are."""

from __future__ import annotations

import contextlib
from typing import Any, Callable


def is_compiling() -> bool:
    """Is a compiler looking at this code?"""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself: it is not compiled in any case."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: Callable) -> Callable:
    """The function itself."""
    return fn


assume_constant_result = substitute_in_graph = allow_in_graph


def reset() -> None:
    """Forgets what was compiled: nothing."""


def cudagraph_mark_step_begin() -> None:
    """Nothing to mark."""


def list_backends(exclude_tags: tuple = ()) -> list[str]:
    """None."""
    return []


@contextlib.contextmanager
def set_stance(stance: str = "default", **options: Any):
    """A block in which nothing is compiled either."""
    yield
