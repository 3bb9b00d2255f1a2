"""Benchmarks whose cases are drawn from a seed: their options, their run on one thread, and what they say by family."""

import operator
import statistics
import sys
import warnings

from _harness import OURS, machine, parser, report, shown, torch_version
from _pairs import rows_of


def drawn_parser(doc):
    p = parser(doc)
    p.add_argument("--seed", type=int, default=1, help="of the cases (default 1)")
    p.add_argument("--cases", type=int, default=3000, help="how many (default 3000)")
    p.add_argument("--worst", type=int, default=40, help="how many to list")
    return p


def line(row):
    return f"{row['case']:76}{shown(row['facula_s']):>10}{shown(row['torch_s']):>10}{row['ratio']:7.2f}  {row['low']:.2f}-{row['high']:.2f} in {row['pairs']}"


def summary(rows, worst):
    lines = [f"\n{'':20}{'cases':>6}{'median':>8}{'above 1':>9}{'1.5':>5}   worst"]
    for title in [*dict.fromkeys(r["family"] for r in rows), "all"]:
        some = [r for r in rows if title in (r["family"], "all")]
        ratios, most = [r["ratio"] for r in some], max(some, key=operator.itemgetter("ratio"))
        lines.append(f"{title:20}{len(some):>6}{statistics.median(ratios):8.2f}{sum(x > 1 for x in ratios):>9}{sum(x > 1.5 for x in ratios):>5}   {most['ratio']:.2f} {most['case']}")
    return "\n".join(lines + [""] + [line(r) for r in sorted(rows, key=operator.itemgetter("ratio"), reverse=True)[:worst]])


def run_drawn(name, options, cases, seconds):
    """cases(count) gives as many; seconds: for each of them, if --seconds does not say."""
    options.seconds = options.seconds or seconds
    options.rounds, options.median, options.cpu, options.only = 1, True, True, [n for n in options.only.split(",") if n]
    warnings.simplefilter("ignore")
    options.machine, torch = machine(), torch_version(sys.executable)
    if not torch:
        raise SystemExit(f"{name}: PyTorch is not installed here. Run it with a Python that has it.")
    rows = rows_of(cases(300 if options.quick else options.cases), options, 1, lambda row: None)
    timed = [r for r in rows if "ratio" in r]
    print(summary(timed, options.worst))
    for title, key in (("ran in PyTorch alone:", f"{OURS}_error"), ("differ:", "differs")):
        if some := [f"{r['case']}: {r[key]}" for r in rows if key in r and "torch_error" not in r]:
            print("", title, *some, sep="\n")
    report(name, timed, options, torch, seed=options.seed)
