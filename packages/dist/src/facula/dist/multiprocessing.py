"""Python's multiprocessing with spawn() and the errors of its processes. Tensors travel by value."""

from __future__ import annotations

import multiprocessing as _python
import multiprocessing.connection
import signal
import sys
import traceback
from multiprocessing import *  # noqa: F403
from multiprocessing import __all__ as _names

__all__ = [
    *_names, "ProcessContext", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "get_all_sharing_strategies",
    "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip

_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = "file_descriptor" if sys.platform == "linux" else "file_system"


class ProcessException(Exception):
    """A process did not end well: its number and process id."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid


class ProcessRaisedException(ProcessException):
    """A process ended with an exception, whose traceback is in the message.

    >>> issubclass(facula.dist.multiprocessing.ProcessRaisedException, Exception)
    True
    """


class ProcessExitedException(ProcessException):
    """A process ended by a signal or with an exit code.

    >>> issubclass(facula.dist.multiprocessing.ProcessExitedException, Exception)
    True
    """

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name


def get_all_sharing_strategies() -> set[str]:
    """The strategies that set_sharing_strategy takes.

    >>> sorted(facula.dist.multiprocessing.get_all_sharing_strategies())
    ['file_descriptor', 'file_system']
    """
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """What set_sharing_strategy was told.

    >>> facula.dist.multiprocessing.get_sharing_strategy()
    'file_descriptor'
    """
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Remembered; tensors are copied to other processes, under either strategy.

    >>> facula.dist.multiprocessing.set_sharing_strategy("file_system")
    >>> facula.dist.multiprocessing.get_sharing_strategy()
    'file_system'
    >>> facula.dist.multiprocessing.set_sharing_strategy("file_descriptor")
    """
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"set_sharing_strategy: {new_strategy!r} is none of {sorted(_STRATEGIES)}.")
    _strategy = new_strategy


def _run(fn, index: int, args: tuple, errors) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears of it and ends this one
    try:
        fn(index, *args)
    except Exception:
        errors.send(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """The processes that start_processes(join=False) started.

    >>> facula.dist.multiprocessing.SpawnContext is facula.dist.multiprocessing.ProcessContext
    True
    """

    def __init__(self, processes, errors) -> None:
        self.processes, self.errors = processes, errors
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits for one to end: True when all have ended well. If one did not, the others are stopped and its error is raised."""
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(list(self.sentinels), timeout)
        bad = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                bad = index
        if bad is None:
            return not self.sentinels
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(grace_period or 30)
            if process.is_alive():
                process.kill()
                process.join()
        self._raise(bad)

    def _raise(self, index: int):
        process = self.processes[index]
        try:
            text = self.errors[index].recv()
        except EOFError:  # it had no time to say anything
            text = None
        if text is not None:
            raise ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}", index, process.pid
            )
        code = process.exitcode
        name = signal.Signals(-code).name if code < 0 else None
        how = f"signal {name}" if name else f"exit code {code}"
        raise ProcessExitedException(f"process {index} terminated with {how}", index, process.pid, code, name)


SpawnContext = ProcessContext


def start_processes(
    fn, args: tuple = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
):
    """fn(i, *args) in nprocs processes. join: wait for all of them; else a ProcessContext.

    >>> facula.dist.multiprocessing.start_processes(abs, nprocs=2, start_method="fork")
    """
    context = _python.get_context(start_method)
    processes, errors = [], []
    for index in range(nprocs):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, index, args, sender), daemon=daemon)
        process.start()
        sender.close()
        processes.append(process)
        errors.append(receiver)
    running = ProcessContext(processes, errors)
    if not join:
        return running
    while not running.join():
        pass
    return None


def spawn(fn, args: tuple = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"):
    """start_processes with fresh interpreters, as CUDA needs them."""
    if start_method != "spawn":
        import warnings

        warnings.warn(
            f"spawn only supports start_method=spawn (got: {start_method}). Use start_processes.",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
