"""torch.utils._contextlib: blocks that are decorators too, of functions, generators and classes."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable


def _wrap_generator(make: Callable, function: Callable) -> Callable:
    """A generator that is inside the block whenever it runs, and outside while its caller does."""

    @functools.wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        step, given = generator.send, (None,)
        while True:
            try:
                with make():
                    found = step(*given)
            except StopIteration as end:
                return end.value
            try:
                sent = yield found
                step, given = generator.send, (sent,)
            except GeneratorExit:
                with make():
                    generator.close()
                raise
            except BaseException as error:
                step, given = generator.throw, (error,)

    return inside


def context_decorator(ctx: Any, func: Any) -> Any:
    """func with each call inside a block of its own: ctx itself, or what ctx() makes."""
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise TypeError(f"Passed in {ctx} is both callable and also a valid context manager. Pass one with a single meaning.")
    make = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise RuntimeError("Cannot decorate classes; it is ambiguous whether the constructor alone or all methods should be inside.")
    if inspect.isgeneratorfunction(func):
        return _wrap_generator(make, func)

    @functools.wraps(func)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with make():
            return func(*args, **kwargs)

    return inside


class _DecoratorContextManager:
    """A base of blocks: an instance decorates, each call getting a clone()."""

    def __call__(self, orig_func: Callable) -> Callable:
        return context_decorator(self.clone, orig_func)

    def __enter__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: define __enter__.")

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__}: define __exit__.")

    def clone(self) -> Any:
        """Another of the kind, made without arguments."""
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One whose class may be the decorator too."""

    def __new__(cls, orig_func: Callable | None = None) -> Any:
        return super().__new__(cls) if orig_func is None else cls()(orig_func)
