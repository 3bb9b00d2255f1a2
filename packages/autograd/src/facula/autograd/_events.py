"""What a profile found: events, their averages, tables of them, traces for chrome://tracing."""

from __future__ import annotations

import os

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg"]


class FunctionEvent:
    """One operation, node of the graph or record_function block: when it ran (microseconds) and in what.

    `cpu_time` includes the events inside it, `self_cpu_time_total` does not. Memory is in bytes: allocated minus freed meanwhile.

    >>> with facula.autograd.profiler.profile() as run:
    ...     _ = facula.ones(2).exp()
    >>> [event.name for event in run.function_events if "exp" in event.name]
    ['aten::exp']
    """

    count = 1

    def __init__(self, id, name, thread, start, kind, shapes=None, stack=None, args=None) -> None:
        self.id, self.name, self.thread, self.kind = id, name, thread, kind
        self.start_us, self.end_us = start, start
        self.input_shapes, self.stack, self.args = shapes, stack, args
        self.cpu_parent, self.cpu_children = None, []
        self.cpu_memory_usage = 0

    @property
    def key(self) -> str:
        return self.name

    @property
    def cpu_time(self) -> float:
        return self.end_us - self.start_us

    cpu_time_total = cpu_time

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time - sum(e.cpu_time for e in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum(e.cpu_memory_usage for e in self.cpu_children)

    def __repr__(self) -> str:
        return f"<FunctionEvent id={self.id} name={self.name} cpu_time={duration(self.cpu_time)} start_us={self.start_us:.1f} thread={self.thread} input_shapes={self.input_shapes}>"


class FunctionEventAvg:
    """Events of one name (and one shape of inputs, or one stack, where those are asked for), added up.

    >>> with facula.autograd.profiler.profile() as run:
    ...     _ = facula.ones(2).exp().exp()
    >>> [event.count for event in run.key_averages() if "exp" in event.key]
    [2]
    """

    def __init__(self, event) -> None:
        self.key = self.name = event.name
        self.kind, self.input_shapes, self.stack = event.kind, event.input_shapes, event.stack
        self.count, self.cpu_time_total, self.self_cpu_time_total = 0, 0.0, 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.cpu_parent = None

    def add(self, event) -> None:
        self.count += event.count
        nested = event.cpu_parent is not None and inside(event.cpu_parent, event.name)
        self.cpu_time_total += 0 if nested else event.cpu_time_total  # a block inside itself must not count twice
        self.self_cpu_time_total += event.self_cpu_time_total
        self.cpu_memory_usage += 0 if nested else event.cpu_memory_usage
        self.self_cpu_memory_usage += event.self_cpu_memory_usage

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return f"<FunctionEventAvg key={self.key} self_cpu_time={duration(self.self_cpu_time_total)} cpu_time={duration(self.cpu_time)} count={self.count}>"


def inside(event, name) -> bool:
    while event is not None:
        if event.name == name:
            return True
        event = event.cpu_parent
    return False


class EventList(list):
    """Events in the order they began, or averages.

    >>> with facula.autograd.profiler.profile() as run:
    ...     _ = facula.ones(2).exp()
    >>> type(run.key_averages()).__name__
    'EventList'
    """

    shows_memory = False

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        """Time in all events, in microseconds."""
        return sum(e.self_cpu_time_total for e in self)

    def _like(self, events) -> EventList:
        made = EventList(events)
        made.shows_memory = self.shows_memory
        return made

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0) -> EventList:
        """One entry per name; also per shape of the inputs, or per the last n lines of the stack."""
        groups = {}
        for e in self:
            key = e.name, e.kind, repr(e.input_shapes) if group_by_input_shape else None, tuple(e.stack[:group_by_stack_n]) if group_by_stack_n and e.stack else None
            if key not in groups:
                groups[key] = FunctionEventAvg(e)
                if not group_by_input_shape:
                    groups[key].input_shapes = None
                groups[key].stack = list(key[3] or ())
            groups[key].add(e)
        return self._like(groups.values())

    def total_average(self) -> FunctionEvent:
        """All events as one."""
        total = FunctionEventAvg(FunctionEvent(-1, "Total", 0, 0.0, "total"))
        for e in self:
            total.count += e.count
            total.cpu_time_total += e.cpu_time_total
            total.self_cpu_time_total += e.self_cpu_time_total
            total.self_cpu_memory_usage += e.self_cpu_memory_usage
        total.cpu_memory_usage = total.self_cpu_memory_usage
        return total

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None, top_level_events_only=False) -> str:
        """The events as text, sorted by a time, a memory usage or "count", largest first; None keeps their order."""
        events = [e for e in self if not top_level_events_only or e.cpu_parent is None]
        if sort_by is not None:
            if sort_by not in SORTS:
                raise AttributeError(f"table: cannot sort by {sort_by!r}. Use one of {', '.join(SORTS)}.")
            events.sort(key=lambda e: getattr(e, sort_by), reverse=True)
        if row_limit is not None and row_limit >= 0:
            events = events[:row_limit]
        total = self.self_cpu_time_total
        heads, rows = self._columns(events, total, max_name_column_width, max_shapes_column_width, max_src_column_width)
        widths = [max(len(r[k]) for r in [heads, *rows]) for k in range(len(heads))]
        rule = "  ".join("-" * w for w in widths)
        lines = [rule, aligned(heads, widths), rule, *(aligned(r, widths) for r in rows), rule]
        if header is not None:
            lines = ["=" * len(rule), header, *lines]
        return "\n".join([*lines, f"Self CPU time total: {duration(total)}", ""])

    def _columns(self, events, total, name_width, shapes_width, stack_width) -> tuple:
        heads = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
        if self.shows_memory:
            heads += ["CPU Mem", "Self CPU Mem"]
        heads.append("# of Calls")
        shapes = any(e.input_shapes is not None for e in events)
        stacks = any(e.stack for e in events)
        heads += ["Input Shapes"] * shapes + ["Source Location"] * stacks
        rows = []
        for e in events:
            row = [short(e.name, name_width), share(e.self_cpu_time_total, total), duration(e.self_cpu_time_total), share(e.cpu_time_total, total)]
            row += [duration(e.cpu_time_total), duration(e.cpu_time)]
            if self.shows_memory:
                row += [size(e.cpu_memory_usage), size(e.self_cpu_memory_usage)]
            row.append(str(e.count))
            row += [short(str(e.input_shapes if e.input_shapes is not None else []), shapes_width)] * shapes
            row += [short(e.stack[0] if e.stack else "", stack_width)] * stacks
            rows.append(row)
        return heads, rows

    def export_chrome_trace(self, path) -> None:
        """Write the events as a trace that chrome://tracing and Perfetto show."""
        import json

        found = []
        for e in self:
            args = {} if e.input_shapes is None else {"Input Dims": e.input_shapes}
            if e.args is not None:
                args["args"] = e.args
            found.append({"name": e.name, "cat": e.kind, "ph": "X", "ts": e.start_us, "dur": e.cpu_time, "pid": os.getpid(), "tid": e.thread, "args": args})
        written(path, json.dumps({"displayTimeUnit": "ms", "traceEvents": found}))

    def export_stacks(self, path, metric="self_cpu_time_total") -> None:
        """Write "frame;frame;frame microseconds" lines, which flame graph tools read. Needs with_stack=True."""
        if metric != "self_cpu_time_total":
            raise ValueError(f"export_stacks: metric should be 'self_cpu_time_total', not {metric!r}.")
        lines = []
        for e in self:
            value = int(getattr(e, metric))
            if e.stack and value > 0:
                lines.append(";".join(entry.translate(str.maketrans(" ;\t\n", "____")) for entry in reversed(e.stack)) + f" {value}\n")
        written(path, "".join(lines))


SORTS = ("cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "count")


def written(path, text) -> None:
    """Put text into a file, whole or not at all."""
    import tempfile  # 6 ms that importing facula need not wait for

    folder = os.path.dirname(os.path.abspath(os.fspath(path)))
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".part", delete=False, encoding="utf-8") as f:
        f.write(text)
    os.replace(f.name, path)


def aligned(cells, widths) -> str:
    return "  ".join(c.rjust(w) for c, w in zip(cells, widths))


def short(text, width) -> str:
    return text if width is None or len(text) <= width else text[: width - 3] + "..."


def share(part, total) -> str:
    return f"{100 * part / total:.2f}%" if total else "NaN"


def duration(us) -> str:
    return f"{us / 1e6:.3f}s" if us >= 1e6 else f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


def size(n) -> str:
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(n) >= factor:
            return f"{n / factor:.2f} {unit}"
    return f"{n} B"
