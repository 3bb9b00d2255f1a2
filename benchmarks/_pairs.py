"""One process, two libraries, call against call: what a run over thousands of cases can afford.

A case is timed in pairs, a batch of Facula's calls and a batch of PyTorch's, the order turning. The ratio is the median of the pairs'
ratios. A case ends as soon as the pairs' ratios lie on one side of every limit (five pairs that agree), else when its time is up;
what is near a limit gets the most pairs. On several threads a batch waits until the other library's threads are asleep: PyTorch's spin for
3.6 ms after a call (Facula's for 0.07), nine batches long, on the core that the batch is to use. Then its own are woken by calls that
are not timed, so that what counts is a program that computes, not one that slept: a sleeper takes up to a millisecond to come, which
PyTorch's caller waits for in its first call and Facula's does not, in no call. `low` and `high` in the result are the quartiles of
the pairs' ratios.

What ends above the last limit is timed again in fresh processes: where a process's memory lies can cost a case a factor of three, once in
a thousand. The median over all processes counts, `again` in the result has the others' ratios.
"""

from __future__ import annotations

import importlib
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from _harness import MARK, OURS, THEIRS, environ, numbers, same

LIMITS = (1.0, 1.3, 1.5)
AGAIN = 4
FEWEST, MOST, BATCH = 5, 31, 4e-4
ASLEEP = 0.012  # seconds after which no thread of either library spins
AWAKE = 0.003  # seconds of calls after which all of its threads take part


def libraries(threads):
    """[facula, torch], or [facula] where PyTorch is not installed."""
    found = [importlib.import_module(OURS)]
    try:
        found.append(importlib.import_module(THEIRS))
    except ImportError:
        pass
    for t in found:
        t.nn, t.optim  # noqa: B018  loaded before the first case, as both libraries' users have it
        t.set_num_threads(threads)
    return found


def batch(call, count, clock):
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count


def count_for(call, clock):
    """How many calls fill a batch."""
    count = 1
    while True:
        took = batch(call, count, clock) * count
        if took >= BATCH / 2:
            return max(1, round(count * BATCH / took))
        count *= 4


def clear(ratios, limits=LIMITS):
    """All on one side of every limit, but for one that may be an accident among eight."""
    ordered = sorted(ratios)
    if len(ordered) >= 8:
        ordered = ordered[1:-1]
    return not any(ordered[0] <= limit <= ordered[-1] for limit in limits)


def paired(ours, theirs, seconds, clock, rest=0.0):
    """{ratio, low, high, pairs, seconds of each}. Both were called before. rest: seconds before each batch, which is then warmed up."""
    for call in (ours, theirs):  # what Python has specialised and caches hold counts, not a process's first calls: of histogram they took 70 us, later ones 29
        end = clock() + AWAKE
        while clock() < end:
            call()
    counts = count_for(ours, clock), count_for(theirs, clock)
    ratios, times = [], ([], [])
    end = time.perf_counter() + seconds
    while len(ratios) < MOST:
        order = (0, 1) if len(ratios) % 2 == 0 else (1, 0)
        pair = [0.0, 0.0]
        for k in order:
            if rest:
                time.sleep(rest)
                batch((ours, theirs)[k], max(1, round(counts[k] * AWAKE / BATCH)), clock)
            pair[k] = batch((ours, theirs)[k], counts[k], clock)
            times[k].append(pair[k])
        ratios.append(pair[0] / max(pair[1], 1e-12))
        late = time.perf_counter() > end
        if len(ratios) >= FEWEST and (late or clear(ratios)) or len(ratios) >= 2 and late and time.perf_counter() > end + 2 * seconds:
            break
    quartiles = statistics.quantiles(ratios, n=4, method="inclusive")
    return {"ratio": statistics.median(ratios), "low": quartiles[0], "high": quartiles[2], "pairs": len(ratios),
            f"{OURS}_s": min(times[0]), f"{THEIRS}_s": min(times[1])}  # fmt: skip


def one(case, found, threads, seconds, clock):
    """A row of the report: checked, then timed."""
    row = {"case": case.name, "threads": threads, "family": case.family}
    calls, values = {}, {}
    for t in found:
        if t.__name__ == THEIRS and not case.peer:
            continue
        try:
            t.manual_seed(0)
            calls[t.__name__] = case.make(t)
            values[t.__name__] = numbers(calls[t.__name__]())
        except Exception as error:  # a row that is missing on one side is a fact to report, not an end
            row[f"{t.__name__}_error"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            calls.pop(t.__name__, None)
    if len(calls) == 2:
        ours, theirs = values[OURS], values[THEIRS]
        if case.tol is not None and not same(ours, theirs, case.tol):
            row["differs"] = [ours[:4], theirs[:4]]
        row.update(paired(calls[OURS], calls[THEIRS], seconds, clock, ASLEEP if threads > 1 else 0.0))
    elif OURS in calls:
        row[f"{OURS}_s"] = batch(calls[OURS], count_for(calls[OURS], clock), clock)
    return row


def rows_of(cases, options, threads, say, rows=None):
    """A row for each case, said as it comes and put behind `rows`. A child (--child) times the cases named on its standard input, and prints their rows."""
    found = libraries(threads)
    # other processes' work is not in processor time; several threads' work is in it more than once
    clock = time.process_time if threads == 1 else time.perf_counter
    if options.child:
        wanted = set(json.load(sys.stdin))
        print(MARK + json.dumps([one(c, found, threads, options.seconds, clock) for c in cases if c.name in wanted]))
        sys.exit()
    rows = [] if rows is None else rows
    for case in cases:
        rows.append(one(case, found, threads, options.seconds, clock))
        say(rows[-1])
    above = {r["case"]: r for r in rows if r["threads"] == threads and r.get("ratio", 0) > LIMITS[-1] and "again" not in r}
    for _ in range(AGAIN if above else 0):
        command = [sys.executable, *sys.argv, "--child", "again", "--threads", str(threads)]
        done = subprocess.run(command, input=json.dumps(list(above)), capture_output=True, text=True, env=environ(threads), cwd=Path.cwd())
        lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
        if not lines:
            raise SystemExit(f"{Path(sys.argv[0]).name}: a process ended with {done.returncode}\n{done.stderr[-2000:]}")
        for row in json.loads(lines[-1][len(MARK) :]):
            above[row["case"]].setdefault("again", []).append(row["ratio"])
    for row in above.values():
        row["ratio"] = statistics.median([row["ratio"], *row.get("again", [])])
        say(row)
    return rows
