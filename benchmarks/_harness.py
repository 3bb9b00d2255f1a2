"""One way to measure: fresh processes, interleaved, medians, checked before timed, results as JSON.

A benchmark is a list of Case and one line, `main("small", __doc__, CASES)`. Each case is made once for Facula and once for
PyTorch by the same function, which gets the library as `t`. The parent starts, round by round, one process for each library
(the order turns every round), each prints the fastest of several batches for every case, and the median over rounds counts.
Both must give the same numbers in their first call, or the case is reported as different and not timed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS, THEIRS = "facula", "torch"
BATCHES = 7
MARK = "RESULT "
sys.path += map(str, sorted(ROOT.glob("packages/*/src")))  # an installed Facula comes first, else the tree's


@dataclass(frozen=True)
class Case:
    """name; make(t) -> what is timed, a function without arguments; limit: the ratio to PyTorch that we promise.

    tol: how far the first results may differ, relative to the largest; None for results that are not comparable.
    peer: False where PyTorch has nothing of the kind. amount: units of work a call, for a column of units a second.
    """

    name: str
    make: Callable
    limit: float | None = None
    tol: float | None = 1e-4
    peer: bool = True
    family: str = ""
    amount: float = 0.0


# --- in the child: one library, every case --------------------------------------------------------------------------


def numbers(result, count=64):
    """The first numbers of a result, so that another process can compare them."""
    while isinstance(result, (tuple, list)) and result:
        result = result[0]
    if hasattr(result, "detach"):
        result = result.detach().reshape(-1)[:count].tolist()
        return [x for v in result for x in ((v.real, v.imag) if isinstance(v, complex) else (float(v),))]
    return [float(result)] if isinstance(result, (bool, int, float)) else []


def timed(call, seconds, clock=time.perf_counter):
    """(fastest, median) seconds of one call over batches that fill `seconds`."""
    call()
    start, count = clock(), 0
    while count == 0 or clock() - start < seconds / BATCHES:
        call()
        count += 1
    times = []
    for _ in range(BATCHES):
        start = clock()
        for _ in range(count):
            call()
        times.append((clock() - start) / count)
    return min(times), statistics.median(times)


def peak_kb():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def child(cases, library, options):
    t = importlib.import_module(library)
    for part in ("nn", "optim"):
        getattr(t, part)  # loaded before the first case, as both libraries' users have it
    t.set_num_threads(options.threads[0])
    clock = time.process_time if options.cpu else time.perf_counter
    found = {}
    for case in cases:
        if library == THEIRS and not case.peer:
            continue
        try:
            t.manual_seed(0)
            before = peak_kb()
            call = case.make(t)
            value = numbers(call())
            found[case.name] = {"s": timed(call, options.seconds, clock)[options.median], "value": value, "peak_kb": peak_kb() - before}
        except Exception as error:  # a row that is missing on one side is a fact to report, not an end
            found[case.name] = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
    print(MARK + json.dumps(found))


# --- in the parent --------------------------------------------------------------------------------------------------


def environ(threads):
    """What a child sees: the tree's sources, and the same number of threads for every library in it."""
    paths = [*map(str, sorted(ROOT.glob("packages/*/src"))), os.environ.get("PYTHONPATH", "")]
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "FACULA_NUM_THREADS")
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}  # as installed: byte code is there
    made = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONPYCACHEPREFIX": str(ROOT / "build/pycache")}
    return {**kept, **dict.fromkeys(names, str(threads)), **made}


def run_child(python, script, library, threads, options, only):
    command = [python, script, "--child", library, "--threads", str(threads), "--seconds", str(options.seconds), *options.passed]
    command += ["--cpu"] * options.cpu + ["--median"] * options.median
    if only:
        command += ["--only", ",".join(only)]
    done = subprocess.run(command, capture_output=True, text=True, env=environ(threads), cwd=ROOT)
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if not lines:
        raise SystemExit(f"{Path(script).name}: the process for {library} ended with {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(lines[-1][len(MARK) :])


def same(a, b, tol):
    top = max((abs(x) for x in (*a, *b) if math.isfinite(x)), default=0.0) or 1.0
    return len(a) == len(b) and all(x == y or (x != x and y != y) or abs(x - y) <= tol * top for x, y in zip(a, b))


def joined(case, rounds, threads):
    """One row of the report from the rounds' answers, {library: [answer of each round]}."""
    row = {"case": case.name, "threads": threads}
    if case.family:
        row["family"] = case.family
    for library, answers in rounds.items():
        answers = [a[case.name] for a in answers if case.name in a]
        errors = [a["error"] for a in answers if "error" in a]
        if errors:
            row[f"{library}_error"] = errors[0]
        elif answers:
            seconds = [a["s"] for a in answers]
            row[f"{library}_s"] = statistics.median(seconds)
            row[f"{library}_spread"] = (max(seconds) - min(seconds)) / statistics.median(seconds)
            row[f"{library}_peak_kb"] = statistics.median(a["peak_kb"] for a in answers)
    if f"{OURS}_s" in row and f"{THEIRS}_s" in row:
        ours, theirs = (rounds[n][0][case.name]["value"] for n in (OURS, THEIRS))
        if case.tol is not None and not same(ours, theirs, case.tol):
            row["differs"] = [ours[:4], theirs[:4]]
        row["ratio"] = row[f"{OURS}_s"] / row[f"{THEIRS}_s"]
    if case.limit is not None:
        row["limit"] = case.limit
    if case.amount and f"{OURS}_s" in row:
        row["rate"] = case.amount / row[f"{OURS}_s"]
    return row


def measured(script, cases, options):
    for threads in options.threads:
        groups = [[c] for c in cases] if options.apart else [list(cases)]
        for group in groups:
            only = [c.name for c in group] if options.apart or options.only else None
            rounds = {OURS: []} | ({THEIRS: []} if options.torch_python else {})
            for k in range(options.rounds):
                for library in list(rounds)[:: 1 if k % 2 == 0 else -1]:
                    python = sys.executable if library == OURS else options.torch_python
                    rounds[library].append(run_child(python, script, library, threads, options, only))
            yield from (joined(c, rounds, threads) for c in group)


def shown(seconds):
    return f"{seconds * 1e9:.0f} ns" if seconds < 1e-5 else f"{seconds * 1e6:.1f} us" if seconds < 1e-2 else f"{seconds * 1e3:.1f} ms"


def line(row, unit):
    ours = shown(row[f"{OURS}_s"]) if f"{OURS}_s" in row else "-"
    theirs = shown(row[f"{THEIRS}_s"]) if f"{THEIRS}_s" in row else "-"
    text = f"{row['case']:44}{row['threads']:>3}{ours:>12}{theirs:>12}"
    if unit:
        text += f"{row['rate']:10.1f}" if "rate" in row else " " * 10
    if "ratio" in row:
        text += f"{row['ratio']:8.2f}"
        if "limit" in row:
            text += f"   {'ok' if row['ratio'] <= row['limit'] else 'above'} {row['limit']:g}"
    for library in (OURS, THEIRS):
        text += f"   {library}: {row[f'{library}_error']}" if f"{library}_error" in row else ""
    return text + (f"   DIFFERS {row['differs']}" if "differs" in row else "")


def machine():
    """Where and of what the figures are."""
    try:
        with open("/proc/cpuinfo") as f:
            model = next((x.split(":")[1].strip() for x in f if x.startswith("model name")), platform.processor())
    except OSError:
        model = platform.processor()
    return {"cpu": model, "cpus": os.cpu_count(), "python": platform.python_version(), "commit": commit(), "load": os.getloadavg()[0]}


def commit():
    """The one that is measured, with + where files differ from it; nothing where there is no clone, or no git."""
    if not shutil.which("git"):
        return ""
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True).stdout.strip()
    return name + "+" * bool(changed)


def torch_version(python):
    if not python:
        return None
    code = "import torch; print(torch.__version__)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def parser(doc):
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="one round and short batches: do the figures have the right order?")
    p.add_argument("--rounds", type=int, help="processes for each library (default 5, quick 1)")
    p.add_argument("--seconds", type=float, help="time for each case in each process (default 0.2, quick 0.03)")
    p.add_argument("--threads", type=lambda s: [int(n) for n in s.split(",")], default=None, help="one or more, as 1,2")
    p.add_argument("--only", default="", help="cases whose names contain one of these, by comma")
    p.add_argument("--median", action="store_true", help="a process reports the median of its batches, not the fastest")
    p.add_argument("--cpu", action="store_true", help="processor time: for one thread on a machine that others use too")
    p.add_argument("--torch-python", help="an interpreter that has PyTorch (default: this one)")
    p.add_argument("--out", type=Path, help="the JSON file (default benchmarks/results/NAME.json; none with --only)")
    p.add_argument("--child", help=argparse.SUPPRESS)
    return p


def settle(options, threads=(1,), apart=False, passed=()):
    """Fills in what was not said."""
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.seconds = options.seconds or (0.03 if options.quick else 0.2)
    options.threads = options.threads or list(threads)
    options.apart, options.passed = apart, [str(x) for x in passed]
    if isinstance(options.only, str):
        options.only = [n for n in options.only.split(",") if n]
    return options


def chosen(cases, options):
    return [c for c in cases if not options.only or any(n in c.name for n in options.only)]


def out_of(options, name):
    """The file that the run writes, or None."""
    return options.out or (None if options.only else ROOT / "benchmarks/results" / f"{name}{'-quick' if options.quick else ''}.json")


def report(name, rows, options, torch, **more):
    options.out = out_of(options, name)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        head = {"benchmark": name, "machine": options.machine, "torch": torch, "rounds": options.rounds, "seconds": options.seconds,
                "statistic": "median" if options.median else "fastest", "clock": "processor" if options.cpu else "wall"}  # fmt: skip
        # a row is a line, with the digits that mean something: a thousand of them can be read, and compared
        lines = ",\n".join(json.dumps({k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in row.items()}) for row in rows)
        options.out.write_text(f'{json.dumps({**head, **more}, indent=1)[:-2]},\n "rows": [\n{lines}\n ]\n}}\n')
        print(f"written to {os.path.relpath(options.out)}")


def main(name, doc, cases, threads=(1,), apart=False, summary=None, options=None, passed=(), unit="", check=None):
    """Runs the cases as the command line says, prints a line each, writes the file. apart: a process for each case.

    summary: function of the rows, printed at the end. unit: of the cases' amounts. check: called before anything is timed.
    """
    options = settle(options or parser(doc).parse_args(), threads, apart, passed)
    if options.child:
        return child([c for c in cases if not options.only or c.name in options.only or chosen([c], options)], options.child, options)
    if check:
        check()
    script = Path(sys.argv[0]).resolve()
    options.machine = machine()
    torch = torch_version(options.torch_python or sys.executable)
    options.torch_python = (options.torch_python or sys.executable) if torch else None
    print(f"{options.machine}\nPyTorch {torch or 'is not there: Facula alone'}, {options.rounds} rounds\n")
    print(f"{'':44}{'thr':>3}{'Facula':>12}{'PyTorch':>12}{f'{unit}/s':>10}{'ratio':>8}" if unit else f"{'':44}{'thr':>3}{'Facula':>12}{'PyTorch':>12}{'ratio':>8}")
    rows = []
    for row in measured(script, chosen(cases, options), options):
        rows.append(row)
        print(line(row, unit), flush=True)
    if summary:
        print(summary(rows))
    report(name, rows, options, torch)
