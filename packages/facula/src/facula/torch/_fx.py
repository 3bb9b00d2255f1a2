"""torch.fx, as far as libraries touch it when imported: marks for a symbolic tracer, which is not here."""

from __future__ import annotations

from typing import Any, Callable


def wrap(fn_or_name: str | Callable) -> Any:
    """Marks a function as a leaf for symbolic tracing; without a tracer the function is as it was."""
    if not (isinstance(fn_or_name, str) or callable(fn_or_name)):
        raise RuntimeError(f"Unsupported type for global function {type(fn_or_name).__name__}. It must be either a callable or the string name of a function")
    return fn_or_name


class Proxy:
    """What a symbolic tracer passes in place of values: nothing here is one."""

    def __init__(self, *args: Any) -> None:
        raise RuntimeError("torch.fx.Proxy: Facula has no symbolic tracer. facula.jit.trace records real calls.")
