"""Times of small programs, one beside the other: `Timer` measures, `Measurement` is what it found, `Compare` makes a table.

>>> from facula.utils.benchmark import Timer
>>> found = Timer("x + 1", "import facula; x = facula.ones(4)").timeit(10)
>>> found.number_per_run, found.mean > 0
(10, True)
"""

from __future__ import annotations

import math
import textwrap
import timeit
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from typing import Any

import facula

__all__ = ["Compare", "Measurement", "TaskSpec", "Timer", "select_unit", "timer"]

timer = timeit.default_timer
_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))
_WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def select_unit(t: float) -> tuple[str, float]:
    """The unit, and its seconds, in which a time has digits before the point.

    >>> facula.utils.benchmark.select_unit(0.0025)
    ('ms', 0.001)
    """
    for name, seconds in _UNITS:
        if t >= seconds:
            return name, seconds
    return _UNITS[-1]


def _share(values: list[float], part: float) -> float:
    """The value below which that part of the sorted values lies."""
    at = part * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


@dataclass(repr=False)
class TaskSpec:
    """What is timed, and under which words its times are shown.

    >>> facula.utils.benchmark.TaskSpec("x + 1", "x = 1", label="add", sub_label="int").title
    'add: int'
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement, and the sub-label."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """The set-up as it is shown; nothing where there is none."""
        if self.setup in ("", "pass"):
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and set-up, each on lines of its own."""
        return "\n".join(f"{part}\n" if "\n" in part else part for part in (self.title, self.description or "", self.setup_str()) if part)

    def __hash__(self) -> int:
        return hash(astuple(self))


class Measurement:
    """Times of one statement. raw_times: seconds of each repetition of number_per_run calls; task_spec: what was timed.

    >>> m = facula.utils.benchmark.Timer("1 + 1").timeit(10)
    >>> m.number_per_run, m.median > 0
    (10, True)
    """

    def __init__(self, number_per_run: int, raw_times: list[float], task_spec: TaskSpec, metadata: dict[Any, Any] | None = None) -> None:
        self.number_per_run, self.raw_times, self.task_spec, self.metadata = number_per_run, list(raw_times), task_spec, metadata

    @property
    def times(self) -> list[float]:
        """Seconds of one call, of each repetition."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def mean(self) -> float:
        return sum(self.times) / len(self.times)

    @property
    def median(self) -> float:
        return _share(sorted(self.times), 0.5)

    @property
    def iqr(self) -> float:
        """How far apart the first and the third quarter are."""
        times = sorted(self.times)
        return _share(times, 0.75) - _share(times, 0.25)

    @property
    def significant_figures(self) -> int:
        """How many digits the spread leaves: of the median, at 95 %."""
        spread = max(self.iqr / 1.35 / math.sqrt(len(self.times)), 1e-12) * 1.645 * 2
        return 5 if len(self.times) > 1 and not self.iqr else max(1, min(5, int(math.floor(math.log10(self.median / spread))))) if len(self.times) > 1 else 1

    @property
    def has_warnings(self) -> bool:
        return len(self.times) > 1 and self.iqr > 0.1 * self.median

    def meets_confidence(self, threshold: float = 0.1) -> bool:
        """Is the spread a small part of the median?"""
        return len(self.times) > 3 and self.iqr < threshold * self.median

    @property
    def title(self) -> str:
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        return self.sub_label or self.stmt or "[Unknown]"

    def __getattr__(self, name: str) -> Any:
        if name in TaskSpec.__dataclass_fields__ and "task_spec" in self.__dict__:
            return getattr(self.task_spec, name)
        raise AttributeError(name)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Those of one task as one, whose repetitions are of one call, each task in the place of its first."""
        found: dict[TaskSpec, list[float]] = {}
        for m in measurements:
            found.setdefault(m.task_spec, []).extend(m.times)
        return [Measurement(1, times, task) for task, times in found.items()]

    def __repr__(self) -> str:
        unit, seconds = select_unit(self.median)
        lines = [f"<{type(self).__module__}.{type(self).__name__} object at {id(self):#x}>", self.task_spec.summarize()]
        times = f"{self.median / seconds:.2f} {unit}"
        n = len(self.times)
        lines.append(f"  {'Median: ' if n > 1 else ''}{times}")
        if n > 3:
            first, third = (_share(sorted(self.times), part) / seconds for part in (0.25, 0.75))
            lines.append(f"  IQR:    {self.iqr / seconds:.2f} {unit} ({first:.2f} to {third:.2f})")
        lines.append(f"  {n} measurement{'s' * (n > 1)}, {self.number_per_run} runs {'per measurement' if n > 1 else ''}, {self.num_threads} thread{'s' * (self.num_threads > 1)}")
        if self.has_warnings:
            share = self.iqr / self.median
            lines.append(f"  WARNING: Interquartile range is {share:.1%} of the median measurement.")
            lines.append(f"           This {'suggests significant environmental influence' if share > 0.25 else 'could indicate system fluctuation'}.")
        return "\n".join(lines)


class Timer:
    """Times a statement of Python, in its own names, on a fixed number of threads.

    >>> timer = facula.utils.benchmark.Timer("x + x", globals={"x": facula.ones(3)})
    >>> timer.timeit(100).median < 1
    True
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: str = "python",
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError(f"Timer: currently only a `str` stmt is supported, got {type(stmt).__name__}. Write the call as text.")
        if str(language).lower() not in ("python", "py") or global_setup:
            raise ValueError(f"Timer: language {language!r} with global_setup {global_setup!r}: only Python is timed here.")
        stmt, setup = textwrap.dedent(stmt).strip("\n"), textwrap.dedent(setup).strip("\n")
        names = {"torch": facula, **(globals or {})}  # as in PyTorch, programs leave its import out
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)
        self._timer = timeit.Timer(stmt, setup, timer=timer, globals=names)

    def _once(self, number: int) -> float:
        before = facula.get_num_threads()
        facula.set_num_threads(self._task_spec.num_threads)
        try:
            return max(self._timer.timeit(number), 1e-9)
        finally:
            facula.set_num_threads(before)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One repetition of so many calls, after a few to warm up."""
        self._once(max(number // 100, 2))
        return Measurement(number, [self._once(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> list[float]:
        """Seconds of each of `repeat` repetitions of `number` calls."""
        return [self._once(max(number, 1)) for _ in range(max(repeat, 1))]

    def _block(self, min_run_time: float) -> int:
        """So many calls that asking the clock is nothing beside them."""
        number, enough = 1, min(0.001, min_run_time / 1000)
        while self._once(number) < enough and number < 10**9:
            number *= 10
        return number

    def blocked_autorange(self, callback: Callable[[int, float], None] | None = None, min_run_time: float = 0.2) -> Measurement:
        """Repetitions for at least min_run_time seconds; callback(number, seconds) hears of each."""
        number, times = self._block(min_run_time), []
        while sum(times) < min_run_time:
            times.append(self._once(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Callable[[int, float], None] | None = None
    ) -> Measurement:
        """Repetitions until the spread is below threshold times the median, or max_run_time is over."""
        found = self.blocked_autorange(callback, min_run_time)
        while not found.meets_confidence(threshold) and sum(found.raw_times) < max_run_time:
            found.raw_times.append(self._once(found.number_per_run))
        return found


class Compare:
    """A table of measurements: a row for each sub_label, a column for each description.

    >>> from facula.utils.benchmark import Compare, Timer
    >>> times = [Timer(stmt, label="sums", description=stmt).timeit(10) for stmt in ("1 + 1", "2 + 2")]
    >>> "2 + 2" in str(Compare(times))
    True
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results = Measurement.merge(results)
        self._trim = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """More of them."""
        results = list(results)
        if not all(isinstance(r, Measurement) for r in results):
            raise ValueError("Compare: expected an instance of `Measurement` for each result.")
        self._results = Measurement.merge([*self._results, *results])

    def trim_significant_figures(self) -> None:
        """Show only digits that the spread leaves."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Accepted: the table is plain text."""

    def highlight_warnings(self) -> None:
        """Accepted: the table is plain text."""

    def print(self) -> None:
        """The table on standard output."""
        print(str(self))

    def _cell(self, m: Measurement | None, seconds: float) -> str:
        if m is None:
            return ""
        t = m.median / seconds
        if not self._trim or t <= 0:
            return f"{t:.1f}"
        step = 10.0 ** (math.floor(math.log10(t)) + 1 - m.significant_figures)
        return f"{round(t / step) * step:.{max(0, -math.floor(math.log10(step)))}f}"

    def __str__(self) -> str:
        return "\n".join(self._table(label) for label in dict.fromkeys(m.label for m in self._results))

    def _table(self, label: str | None) -> str:
        own = [m for m in self._results if m.label == label]
        unit, seconds = select_unit(min(m.median for m in own))
        columns = list(dict.fromkeys(m.description for m in own))
        rows = list(dict.fromkeys((m.num_threads, m.env, m.as_row_name) for m in own))
        cells = {(m.num_threads, m.env, m.as_row_name, m.description): self._cell(m, seconds) for m in own}
        names = {row: (f"({row[1]})  " if len({r[1] for r in rows}) > 1 else "") + row[2] for row in rows}
        first = max([len(n) + 6 for n in names.values()] + [12])
        widths = [max([len(str(c or ""))] + [len(cells.get((*r, c), "")) for r in rows]) + 2 for c in columns]
        lines, threads = [" " * first + "  |" + "  |".join(str(c or "").center(w) for c, w in zip(columns, widths))], None
        for row in rows:
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(len(lines[0]), "-"))
            lines.append(f"      {names[row]}".ljust(first) + "  |" + "  |".join(cells.get((*row, c), "").rjust(w - 1) + " " for c, w in zip(columns, widths)))
        title = f" {label or ''} ".center(len(lines[0]) - 2, "-")
        return "\n".join([f"[{title}]", *lines, "", f"Times are in {_WORDS[unit]} ({unit}).", ""])
