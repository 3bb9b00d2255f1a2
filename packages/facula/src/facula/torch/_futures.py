"""torch.futures: a value that somebody will set."""

from __future__ import annotations

import concurrent.futures
from typing import Any, Callable, Generic, TypeVar

T = TypeVar("T")


class Future(Generic[T]):
    """A value or an exception, set once, waited for by anybody. The callbacks run in the thread that sets it."""

    def __init__(self, *, devices: Any = None) -> None:
        if devices:
            raise ValueError(f"Future: Expected devices to have indices, got {devices}. Values are on the CPU: leave devices out.")
        self._future: concurrent.futures.Future = concurrent.futures.Future()

    def done(self) -> bool:
        return self._future.done()

    def wait(self) -> T:
        return self._future.result()

    def value(self) -> T:
        if not self.done():
            raise RuntimeError("Future.value: the future is not done yet. Call wait().")
        return self._future.result()

    def set_result(self, result: T) -> None:
        self._once("set_result")
        self._future.set_result(result)

    def _once(self, name: str) -> None:
        if self.done():
            raise RuntimeError(f"Future.{name}: Future can only be marked completed once, and it has its value already. Make a new one.")

    def set_exception(self, result: BaseException) -> None:
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._once("set_exception")
        self._future.set_exception(result)

    def __reduce__(self) -> Any:
        raise RuntimeError("Can not pickle torch.futures.Future. Send its value.")

    def add_done_callback(self, callback: Callable[[Future], None]) -> None:
        self._future.add_done_callback(lambda _: callback(self))

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """A future of what callback makes of this one when it is done."""
        after: Future = Future()

        def run(done: Future) -> None:
            try:
                after.set_result(callback(done))
            except BaseException as error:
                failed = RuntimeError(f"Got the following error when running the callback: {type(error).__name__}: {error}")
                failed.__cause__ = error
                after.set_exception(failed)

        self.add_done_callback(run)
        return after


def collect_all(futures: list[Future]) -> Future[list[Future]]:
    """A future of the list itself, done when each of them is; of the first one's exception that has one."""
    everything: Future = Future()
    waiting = len(futures)
    if not waiting:
        everything.set_result(futures)

    def one_done(_: Future) -> None:
        nonlocal waiting
        waiting -= 1
        if not waiting:
            errors = [error for error in (future._future.exception() for future in futures) if error is not None]
            everything.set_exception(errors[0]) if errors else everything.set_result(futures)

    if None in futures:
        raise RuntimeError("collect_all: Future can't be None. Leave it out.")
    for future in futures:
        future.add_done_callback(one_done)
    return everything


def wait_all(futures: list[Future]) -> list:
    """The values, when all are there."""
    return [future.wait() for future in collect_all(futures).wait()]
