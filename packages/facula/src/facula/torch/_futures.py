"""torch.futures: a value that somebody will set."""

from __future__ import annotations

import concurrent.futures
from typing import Any, Callable, Generic, TypeVar

T = TypeVar("T")


class Future(Generic[T]):
    """A value or an exception, set once, waited for by anybody. The callbacks run in the thread that sets it."""

    def __init__(self, *, devices: Any = None) -> None:
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
        if self.done():
            raise RuntimeError("Future.set_result: the future has its value already. Make a new one.")
        self._future.set_result(result)

    def set_exception(self, result: BaseException) -> None:
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._future.set_exception(result)

    def add_done_callback(self, callback: Callable[[Future], None]) -> None:
        self._future.add_done_callback(lambda _: callback(self))

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """A future of what callback makes of this one when it is done."""
        after: Future = Future()

        def run(done: Future) -> None:
            try:
                after.set_result(callback(done))
            except BaseException as error:
                after.set_exception(error)

        self.add_done_callback(run)
        return after


def collect_all(futures: list[Future]) -> Future[list[Future]]:
    """A future of the list itself, done when each of them is."""
    everything: Future = Future()
    waiting = len(futures)
    if not waiting:
        everything.set_result(futures)

    def one_done(_: Future) -> None:
        nonlocal waiting
        waiting -= 1
        if not waiting:
            everything.set_result(futures)

    for future in futures:
        future.add_done_callback(one_done)
    return everything


def wait_all(futures: list[Future]) -> list:
    """The values, when all are there."""
    return [future.wait() for future in collect_all(futures).wait()]
