"""torch.profiler over facula.autograd.profiler: profiles that a schedule starts and stops."""

from __future__ import annotations

import enum
import os
import socket
import time
from collections.abc import Iterable
from typing import Any, Callable

from facula.autograd import profiler as _recorder
from facula.autograd.profiler import record_function

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(enum.Enum):
    """What is timed. Only CPU has anything here."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What a step does."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Is PyTorch's own tracer there? No: Facula records by itself."""
    return False


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """step -> action: skip_first steps of nothing, then cycles of wait, warmup and active steps, repeat times (0: for ever)."""
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:  # the first cycle does not wait
            step += wait
        if repeat and step >= repeat * cycle:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == cycle - 1 else ProfilerAction.RECORD

    return action


def _default_schedule_fn(_: int) -> ProfilerAction:
    """Records from entry to exit."""
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """An on_trace_ready that writes each trace as a file of its own into dir_name."""

    def write(profiled: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        profiled.export_chrome_trace(
            os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else ""))
        )

    return write


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class profile:
    """A block whose operations are timed; step() tells the schedule that a step is over."""

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        acc_events: bool = False,
    ) -> None:
        self.activities = set(activities) if activities else supported_activities()
        self.schedule = schedule or _default_schedule_fn
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.profiler: _recorder.profile | None = None
        self._scheduled = schedule is not None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        if self.current_action in _RECORDING:
            self._record()

    def stop(self) -> None:
        if self.current_action in _RECORDING:
            self._finish(ready=True)

    def step(self) -> None:
        """The next step begins: what the schedule says of it is done."""
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if before in _RECORDING and (before is ProfilerAction.RECORD_AND_SAVE or self.current_action not in _RECORDING):
            self._finish(ready=before is ProfilerAction.RECORD_AND_SAVE)
            before = ProfilerAction.NONE
        if before not in _RECORDING and self.current_action in _RECORDING:
            self._record()

    def _record(self) -> None:
        self.profiler = _recorder.profile(
            record_shapes=self.record_shapes, profile_memory=self.profile_memory, with_stack=self.with_stack
        )
        self.profiler.__enter__()

    def _finish(self, ready: bool) -> None:
        self.profiler.__exit__(None, None, None)
        if ready and self.on_trace_ready:
            self.on_trace_ready(self)

    def _profiled(self) -> _recorder.profile:
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before what it recorded can be seen. Enter it first.")
        return self.profiler

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ):
        return self._profiled().key_averages(group_by_input_shape, group_by_stack_n)

    def events(self):
        return self._profiled().function_events

    def export_chrome_trace(self, path: str) -> None:
        """The events as a file of Chrome's trace viewer; .gz is packed."""
        import gzip
        import tempfile

        if not path.endswith(".gz"):
            return self._profiled().export_chrome_trace(path)
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "trace.json")
            self._profiled().export_chrome_trace(plain)
            with open(plain, "rb") as text, gzip.open(path, "wb") as packed:
                packed.write(text.read())

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        return self._profiled().export_stacks(path, metric)
