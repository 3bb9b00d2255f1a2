"""Where the time goes: every operation of the thread, and the graph's nodes and the user's blocks that they ran in.

    with facula.autograd.profiler.profile() as p:
        with facula.autograd.profiler.record_function("forward"):
            loss = model(x)
        loss.backward()
    print(p.key_averages().table(sort_by="self_cpu_time_total"))

An operation goes under PyTorch's name for it, "aten::mul". The profile listens at the core's interpret door: operations cost about a microsecond more while it is open, and it hears the
thread that opened it.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from ._core import Tensor, extend, lib
from ._events import EventList, FunctionEvent, FunctionEventAvg
from ._support import relined

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]

_thread = extend.ThreadState()


def active() -> list:
    """This thread's open profiles, the last one outermost to be told."""
    try:
        return _thread.profiles
    except AttributeError:
        _thread.profiles = []
        return _thread.profiles


def shapes_of(args) -> list:
    return [list(a.shape) if isinstance(a, Tensor) else [list(t.shape) for t in a if isinstance(t, Tensor)] if isinstance(a, (list, tuple)) else [] for a in args]


class profile:
    """A block whose operations are timed. enabled=False makes it do nothing.

    record_shapes keeps the shapes of the operands, profile_memory how much memory was allocated, with_stack the lines of Python
    that called each operation. There is one recorder, of the CPU: use_kineto (which of PyTorch's two records) and with_modules (the
    modules of scripted programs) change nothing, use_cpu=False and another use_device are refused.

    >>> with facula.autograd.profiler.profile() as run:
    ...     _ = facula.ones(2).exp()
    >>> "exp" in run.key_averages().table()
    True
    """

    def __init__(
        self, enabled=True, *, use_device=None, record_shapes=False, profile_memory=False, with_stack=False, with_modules=False, use_kineto=False, use_cpu=True
    ) -> None:
        if use_device not in (None, "cpu"):
            raise RuntimeError(f"profile: there is no {use_device} to record. Leave use_device out.")
        if not use_cpu:
            raise ValueError("profile: use_cpu=False leaves nothing to record. Leave it out, or set enabled=False.")
        self.enabled, self.record_shapes, self.profile_memory, self.with_stack = enabled, record_shapes, profile_memory, with_stack
        self.function_events = None
        self.entered = False

    def __enter__(self) -> profile:
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("profile: a profiler context manager is not reentrant. Make a new one.")
        self.entered = True
        self._events, self._open, self._node = [], [], None
        self._thread = threading.get_ident()
        self._door = extend.interpreter(self._heard)
        self._door.__enter__()
        active().append(self)
        return self

    def __exit__(self, *exc) -> None:
        if not self.enabled:
            return
        active().remove(self)
        self._door.__exit__(None, None, None)
        self._close_node()
        self.function_events = EventList(sorted(self._events, key=lambda e: e.start_us))
        self.function_events.shows_memory = self.profile_memory

    # ---- listening

    def _begin(self, name, kind, shapes=None, args=None) -> FunctionEvent:
        e = FunctionEvent(len(self._events), name, self._thread, time.perf_counter_ns() / 1e3, kind, shapes, lines() if self.with_stack else None, args)
        if self._open:
            e.cpu_parent = self._open[-1]
            e.cpu_parent.cpu_children.append(e)
        if self.profile_memory:
            e.cpu_memory_usage = -lib.fc_alloc_stat(0)
        self._events.append(e)
        self._open.append(e)
        return e

    def _end(self, e) -> None:
        e.end_us = time.perf_counter_ns() / 1e3
        if self.profile_memory:
            e.cpu_memory_usage += lib.fc_alloc_stat(0)
        while self._open and self._open.pop() is not e:
            pass

    def _heard(self, op, args, kwargs) -> Any:
        self._follow_node()
        name = op.name if not kwargs or op.name.endswith("_") else op.name + "_"
        e = self._begin("aten::" + name, "cpu_op", shapes_of(args) if self.record_shapes else None)
        try:
            return relined(extend.call(op, *args, **kwargs))
        finally:
            self._end(e)

    def _follow_node(self) -> None:
        """Open an event for the node whose backward() is running, if that changed. Known by its frame: nodes need not report."""
        frame = running_node()
        known = self._node
        if known is not None and known[0] is frame:
            return
        self._close_node()
        if frame is not None:
            self._node = frame, self._begin(frame.f_locals["self"].name(), "node")

    def _close_node(self) -> None:
        if self._node is not None:
            e, self._node = self._node[1], None
            if e in self._open:
                self._end(e)
                if e.cpu_children:
                    e.end_us = max(c.end_us for c in e.cpu_children)

    # ---- results

    def _found(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("profile: nothing has been profiled yet. Leave the block first (and enabled must be True).")
        return self.function_events

    def __str__(self) -> str:
        return "<unfinished profile>" if self.function_events is None else str(self.function_events)

    __repr__ = __str__

    def table(self, *args, **options) -> str:
        """See EventList.table."""
        return self._found().table(*args, **options)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0) -> EventList:
        """See EventList.key_averages."""
        return self._found().key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEvent:
        """See EventList.total_average."""
        return self._found().total_average()

    def export_chrome_trace(self, path) -> None:
        """See EventList.export_chrome_trace."""
        self._found().export_chrome_trace(path)

    def export_stacks(self, path, metric="self_cpu_time_total") -> None:
        """See EventList.export_stacks."""
        if not self.with_stack:
            raise RuntimeError("export_stacks: stacks were not recorded. Use profile(with_stack=True).")
        self._found().export_stacks(path, metric)

    @property
    def self_cpu_time_total(self) -> float:
        """Time in all events, in microseconds."""
        return self._found().self_cpu_time_total


def running_node() -> FrameType | None:
    """The frame of the innermost _backward() of a recorded operation, or None."""
    frame = sys._getframe(3)
    while frame is not None:
        code = frame.f_code
        if code.co_name.startswith("_backward") and (code.co_filename.startswith("<autograd of ") or code.co_filename.startswith(HERE)) and code.co_varnames[:1] == ("self",):
            return frame
        frame = frame.f_back
    return None


HERE = __file__[: -len("profiler.py")]


def lines() -> list:
    """The stack as "file(line): function", innermost first, without this library's own frames."""
    found, frame = [], sys._getframe(3)
    while frame is not None:
        code = frame.f_code
        if not (code.co_filename.startswith(HERE) or "/facula/tensor_core/" in code.co_filename or code.co_filename.startswith("<autograd")):
            found.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return found


class record_function:
    """A block, or a decorated function, that a profile shows under a name.

    >>> with facula.autograd.profiler.profile() as run:
    ...     with facula.autograd.profiler.record_function("mine"):
    ...         _ = facula.ones(2).exp()
    >>> "mine" in [event.key for event in run.key_averages()]
    True
    """

    def __init__(self, name, args=None) -> None:
        self.name, self.args = name, args
        self._events = []

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str) or not isinstance(self.args, (str, type(None))):
            raise RuntimeError(f"record_function: expected a str for name and a str or None for args, got {self.name!r} and {self.args!r}.")
        open_ = [(p, p._begin(self.name, "user_annotation", args=self.args)) for p in active()]
        self._events.append(open_)
        return self

    def __exit__(self, *exc) -> None:
        for p, e in self._events.pop():
            if e in p._open:
                p._end(e)

    def __call__(self, function) -> Callable:
        @functools.wraps(function)
        def inside(*args, **kwargs) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return inside
