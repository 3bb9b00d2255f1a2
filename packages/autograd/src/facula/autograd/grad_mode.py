"""no_grad, enable_grad, set_grad_enabled, inference_mode: context managers that are also decorators."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from facula.tensor_core import extend

from . import _core, _engine

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "no_grad", "enable_grad", "enforce_grad_layout_policy", "set_grad_enabled", "inference_mode", "is_grad_enabled", "is_inference", "is_inference_mode_enabled",
    "set_multithreading_enabled",
]  # fmt: skip


_F = TypeVar("_F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread.

    >>> with facula.no_grad():
    ...     facula.is_grad_enabled()
    False
    """
    return _core.grad_mode()


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode.

    >>> with facula.inference_mode():
    ...     facula.is_inference_mode_enabled()
    True
    """
    return bool(_core.lib.fc_inference_mode())


def is_inference(input) -> bool:
    """Was this tensor, or the one that it is a view of, made in inference mode? Then it may neither be saved for backward nor, outside
    of that mode, be written to.

    >>> import facula
    >>> with facula.inference_mode():
    ...     x = facula.ones(2)
    >>> x.is_inference(), x.clone().is_inference()
    (True, False)
    """
    if not isinstance(input, _core.Tensor):
        raise TypeError(f"is_inference: expected a tensor, not {type(input).__name__}.")
    return not input.is_sparse and bool(_core.lib.fc_inference(input._h))


class Mode:
    """A context manager that may be entered again and again, also inside itself, and that decorates functions."""

    def __init__(self) -> None:
        self._before = []

    def __call__(self, function: _F) -> _F:
        if inspect.isclass(function):
            warnings.warn(f"{type(self).__name__}: Decorating classes is deprecated: {function.__name__} becomes a function. Decorate its methods.", FutureWarning, stacklevel=2)
        if inspect.isgeneratorfunction(function):
            return _generator(self.again, function)

        @functools.wraps(function)
        def inside(*args, **kwargs) -> Any:
            with self.again():
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]

    def again(self) -> Mode:
        return type(self)()

    def __exit__(self, *exc) -> None:
        _core.set_grad_mode(self._before.pop())


class _Bare(Mode):
    """A mode without arguments: @no_grad decorates as @no_grad() does."""

    @overload
    def __new__(cls, orig_func: _F) -> _F: ...  # type: ignore[misc]

    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...

    def __new__(cls, orig_func=None):
        mode = super().__new__(cls)
        if orig_func is None:
            return mode
        mode.__init__()
        return mode(orig_func)

    def __init__(self, orig_func=None) -> None:
        super().__init__()


class no_grad(_Bare):
    """A block, or a function, in which nothing is recorded.

    >>> x = facula.ones(1, requires_grad=True)
    >>> with facula.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __enter__(self) -> None:
        self._before.append(_core.set_grad_mode(False))


class enable_grad(_Bare):
    """A block, or a function, in which operations are recorded.

    >>> x = facula.ones(1, requires_grad=True)
    >>> with facula.no_grad(), facula.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    def __enter__(self) -> None:
        self._before.append(_core.set_grad_mode(not is_inference_mode_enabled()))


class set_grad_enabled(Mode):
    """Switch recording on or off: at once, and until the end of the block where it is used as one.

    >>> with facula.set_grad_enabled(False):
    ...     facula.is_grad_enabled()
    False
    """

    def __init__(self, mode) -> None:
        super().__init__()
        if mode is not True and mode is not False:
            extend.check("set_grad_enabled", "enabled", 0, "bool", mode)
        self.mode = bool(mode) and not is_inference_mode_enabled()
        self._start = _core.set_grad_mode(self.mode)

    def __call__(self, function: _F) -> _F:
        _core.set_grad_mode(self._start)  # as a decorator it changes nothing now
        return super().__call__(function)

    def again(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        _core.set_grad_mode(self.mode)
        self._before.append(self._start)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(Mode):
    """A block, or a function, that computes values only: nothing is recorded, not even under enable_grad.

    What it makes are inference tensors: see is_inference.

    >>> x = facula.ones(1, requires_grad=True)
    >>> with facula.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad, y.is_inference()
    (False, True)
    """

    @overload
    def __new__(cls, mode: _F) -> _F: ...  # type: ignore[misc]

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        if callable(mode):
            self.__init__()
            return self(mode)
        return self

    def __init__(self, mode=True) -> None:
        super().__init__()
        self.mode = bool(mode)

    def again(self) -> inference_mode:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self._before.append((is_inference_mode_enabled(), _core.set_grad_mode(not self.mode)))
        _core.lib.fc_set_inference(self.mode)

    def __exit__(self, *exc) -> None:
        inference, grad = self._before.pop()
        _core.lib.fc_set_inference(inference)
        _core.set_grad_mode(grad)


class _Said(Mode):
    """A mode that is a value of this thread: set at once, and set back at the end of the block where it is used as one."""

    def __init__(self, value) -> None:
        super().__init__()
        self.mode = bool(value)
        self._start = self._set(self.mode)

    def __call__(self, function) -> Any:
        self._set(self._start)
        return super().__call__(function)

    def again(self) -> _Said:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self._set(self.mode)
        self._before.append(self._start)

    def __exit__(self, *exc) -> None:
        self._set(self._before.pop())


class set_multithreading_enabled(_Said):
    """Whether backward may use threads of its own. It runs in the caller's here, so this is only remembered.

    >>> import facula
    >>> with facula.autograd.set_multithreading_enabled(False) as _:
    ...     facula.autograd.grad_mode.is_multithreading_enabled()
    False
    """

    def __init__(self, mode) -> None:
        super().__init__(mode)

    @staticmethod
    def _set(value) -> bool:
        before = is_multithreading_enabled()
        _said.threads = value
        return before


class enforce_grad_layout_policy(_Said):
    """Whether a new .grad must have its tensor's strides (the default). Without, a gradient that nobody else has is taken as it is.

    >>> import facula
    >>> p = facula.ones(2, 3).t().requires_grad_()
    >>> with facula.autograd.enforce_grad_layout_policy(False):
    ...     (p * 2).sum().backward()
    >>> p.grad.shape
    torch.Size([3, 2])
    """

    def __init__(self, enable=True) -> None:
        super().__init__(enable)

    @staticmethod
    def _set(value) -> bool:
        before = _engine.keeps_layout()
        _engine.current.loose = not value
        return before


_said = _core.extend.ThreadState()


def is_multithreading_enabled() -> bool:
    """What set_multithreading_enabled was told in this thread.

    >>> facula.autograd.is_multithreading_enabled()
    True
    """
    return getattr(_said, "threads", True)


def _generator(mode, function) -> Callable:
    """A generator function each of whose steps runs in the mode, and whose caller's steps do not."""

    @functools.wraps(function)
    def inside(*args, **kwargs) -> Any:
        with mode():
            steps = function(*args, **kwargs)
        send, value = steps.send, None
        try:
            while True:
                with mode():
                    out = send(value)
                try:
                    value = yield out
                    send = steps.send
                except GeneratorExit:
                    with mode():
                        steps.close()
                    raise
                except BaseException as error:
                    send, value = steps.throw, error
        except StopIteration as stop:
            return stop.value

    return inside
