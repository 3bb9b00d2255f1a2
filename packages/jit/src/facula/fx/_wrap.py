"""wrap: functions of a program that a tracer records instead of going into."""

from __future__ import annotations

import sys
from typing import Any, Callable

wrapped: dict[tuple[int, str], dict] = {}  # (id of a module's dict, name) -> that dict


def wrap(fn_or_name: str | Callable) -> Any:
    """Mark a function of the module that calls this as a leaf: symbolic_trace records calls of it.

    Call it at the top of a module, with the function's name or as a decorator.

    >>> try:
    ...     facula.fx.wrap(3)
    ... except RuntimeError:
    ...     print("a function, or its name")
    a function, or its name
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            f"wrap: unsupported type for global function, {type(fn_or_name).__name__}. It must be either a callable or the string name of a function."
        )
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError(f"wrap: called in {frame.f_code.co_name}. wrap must be called at the top level of a module.")
    wrapped[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def is_wrapped(f: Any) -> bool:
    """Has some module marked this function?"""
    return any(home.get(name) is f for (_, name), home in wrapped.items()) or hasattr(f, "__wrapped__") and any(
        home.get(name) is f.__wrapped__ for (_, name), home in wrapped.items()
    )
