"""compatibility: a mark on functions whose signature is promised to stay; subclasses of Tracer in libraries use it too."""

from __future__ import annotations

from typing import Callable, TypeVar

F = TypeVar("F", bound=Callable)


def compatibility(is_backward_compatible: bool = False) -> Callable[[F], F]:
    """Decorator: the function itself, with the promise noted on it."""

    def mark(function: F) -> F:
        function.__backwards_compatible__ = bool(is_backward_compatible)  # type: ignore[attr-defined]
        return function

    return mark
