"""facula.profiler, PyTorch's newer face of the profiler: schedules of steps, and what to do with each finished trace.

    with facula.profiler.profile(schedule=schedule(wait=1, warmup=1, active=2)) as p:
        for batch in batches:
            train(batch)
            p.step()
    print(p.key_averages().table(sort_by="self_cpu_time_total"))
"""

from __future__ import annotations

import enum
import os
import socket
import time
from collections.abc import Callable
from typing import Any

from facula.autograd import profiler as _profiler
from facula.autograd.profiler import record_function

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "supported_activities", "tensorboard_trace_handler"]


class ProfilerActivity(enum.Enum):
    """What a profile listens to. Only the CPU is there.

    >>> [activity.name for activity in facula.profiler.supported_activities()]
    ['CPU']
    """

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What happens in a step.

    >>> facula.profiler.schedule(wait=1, warmup=1, active=2)(2)
    <ProfilerAction.RECORD: 2>
    >>> facula.profiler.ProfilerAction.NONE.name
    'NONE'
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


RECORDS = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set:
    """What can be listened to.

    >>> import facula
    >>> facula.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0) -> Callable:
    """A function of the step's number: skip_first steps of nothing, then cycles of `wait` steps of nothing, `warmup` and `active` ones.

    repeat: how many cycles there are, 0 for no end. skip_first_wait: 1 leaves the waiting out of the first cycle.

    >>> import facula
    >>> what = facula.profiler.schedule(wait=1, warmup=1, active=2)
    >>> [what(k).name for k in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(f"schedule: Invalid profiler schedule arguments: wait={wait}, warmup={warmup}, active={active}, repeat={repeat}. active is 1 or more, the others are not negative.")

    def action(step) -> ProfilerAction:
        step -= skip_first
        if skip_first_wait:
            step += wait
        if step < (wait if skip_first_wait else 0):
            return ProfilerAction.NONE
        cycle = wait + warmup + active
        if repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        step %= cycle
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False) -> Callable:
    """For on_trace_ready: writes each trace to its own file in a folder, <worker>.<time>.pt.trace.json, for TensorBoard's profiler.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with facula.profiler.profile(on_trace_ready=facula.profiler.tensorboard_trace_handler(folder, "me")):
    ...         _ = facula.ones(2).exp()
    ...     print(os.listdir(folder)[0][:3])
    me.
    """

    def handler(prof) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        path = os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json")
        prof.export_chrome_trace(path)
        if use_gzip:
            import gzip

            with open(path, "rb") as f, gzip.open(path + ".gz", "wb") as packed:
                packed.write(f.read())
            os.remove(path)

    return handler


class profile:
    """A block whose operations are timed, all of them or in the steps that a schedule names; step() says that one is over.

    on_trace_ready(self) is called when a cycle of the schedule, or the block, is over. record_shapes, profile_memory and
    with_stack as in facula.autograd.profiler.profile.

    >>> import facula
    >>> with facula.profiler.profile() as p:
    ...     _ = facula.ones(2) + 1
    >>> "add" in p.key_averages().table()
    True
    """

    def __init__(
        self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False,
        with_modules=False, acc_events=False, use_cuda=None,
    ) -> None:  # fmt: skip
        activities = supported_activities() if activities is None else set(activities)
        if not activities or not all(isinstance(a, ProfilerActivity) for a in activities):
            raise AssertionError(f"profile: activities must be ProfilerActivity members, at least one, got {activities}.")
        if with_flops or with_modules:
            raise ValueError("profile: with_flops and with_modules are not recorded here. Leave them out.")
        self.activities, self.schedule, self.on_trace_ready = activities, schedule, on_trace_ready
        self.acc_events = acc_events
        self._options = {"record_shapes": record_shapes, "profile_memory": profile_memory, "with_stack": with_stack}
        self.step_num, self.profiler, self._open = 0, None, None
        self.current_action = self._action()

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self.schedule is None else self.schedule(self.step_num)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error) -> None:
        self.stop()

    def start(self) -> None:
        """Begin, as the with statement does."""
        self._begin_if_wanted()

    def stop(self) -> None:
        """End: what is being recorded is finished and handed to on_trace_ready."""
        if self._open is not None:
            self._finish()

    def step(self) -> None:
        """A step is over, the next one begins."""
        before = self.current_action
        self.step_num += 1
        self.current_action = self._action()
        if self._open is not None and (before is ProfilerAction.RECORD_AND_SAVE or self.current_action not in RECORDS):
            self._finish()
        self._begin_if_wanted()

    def _begin_if_wanted(self) -> None:
        if self._open is None and self.current_action in RECORDS:
            self._open = _profiler.profile(**self._options)
            self._open.__enter__()

    def _finish(self) -> None:
        done, self._open = self._open, None
        done.__exit__(None, None, None)
        if self.acc_events and self.profiler is not None:
            done.function_events[:0] = self.profiler.function_events
        self.profiler = done
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _found(self) -> profile:
        if self.profiler is None:
            raise AssertionError("profile: nothing has been profiled yet. Leave the block, or let a step of the schedule be recorded, first.")
        return self.profiler

    def events(self) -> Any:
        """The events of the last trace."""
        return self._found().function_events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False) -> Any:
        """The events of the last trace, added up by name (and shapes, or lines of the stack)."""
        return self._found().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path) -> None:
        """Write the last trace for chrome://tracing and Perfetto."""
        self._found().export_chrome_trace(os.fspath(path))

    def export_stacks(self, path, metric="self_cpu_time_total") -> None:
        """Write the last trace's stacks for flame graphs. Needs with_stack=True."""
        self._found().export_stacks(path, metric)
