"""torch.compiler: what programs ask and say about compilation, of which there is none here: functions run as they are."""

from __future__ import annotations

import contextlib
from typing import Any, Callable


def is_compiling() -> bool:
    """Is a compiler looking at this code?"""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def is_dynamo_supported() -> bool:
    """Is there a compiler? No: functions run as they are."""
    return False


is_inductor_supported = is_dynamo_supported


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


class TransformGetItemToIndex(contextlib.nullcontext):
    """A block in which x[i] with an i that vmap runs over is an index into x: it always is, here."""


def mark_static_address(t: Any, guard: bool = True) -> None:
    """A tensor that stays where it is: nothing is captured that would mind."""


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """A size that varies: nothing is compiled that would mind."""


mark_static = maybe_mark_dynamic = mark_unbacked = mark_dynamic
