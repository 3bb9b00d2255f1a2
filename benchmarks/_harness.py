"""What the comparing benchmarks share: the same cases timed in fresh processes, Facula's and PyTorch's in turn.

A benchmark file gives `cases`, a dict name -> (peer -> callable), and its unit of work. Run by itself it starts itself
again with --worker facula and --worker PyTorch, as often as --rounds says and alternating, so that whatever else the
machine does falls on both. A process reports, for each case, the fastest and the median of its batches; the table shows
the median over rounds of the fastest, or with --median of the medians.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("facula", "PyTorch")


def timed(call, seconds, clock=time.perf_counter):
    """(fastest, median) seconds of one call over batches of at least 2 ms that fill `seconds`; warm-up comes first."""
    call()
    start = clock()
    call()
    count = max(1, round(0.002 / max(clock() - start, 1e-7)))
    times, end = [], clock() + seconds
    while len(times) < 5 or clock() < end and len(times) < 1000:
        start = clock()
        for _ in range(count):
            call()
        times.append((clock() - start) / count)
    return min(times), statistics.median(times)


def peer_module(name, threads):
    """`import facula as torch`, or the real one, on so many threads."""
    if name == "PyTorch":
        import torch
    else:
        import facula as torch
    torch.set_num_threads(threads)
    return torch


def machine():
    model = next((x.split(":")[1].strip() for x in open("/proc/cpuinfo") if x.startswith("model name")), platform.processor())
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    return {"cpu": model, "cores": os.cpu_count(), "python": platform.python_version(), "commit": commit, "load": os.getloadavg()[0]}


def options_of(doc, name):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name contains one of these comma-separated words")
    parser.add_argument("--threads", default="1,2", help="comma-separated")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.1, help="time for one case in one process")
    parser.add_argument("--median", action="store_true", help="compare medians of batches instead of the fastest")
    parser.add_argument("--cpu", action="store_true", help="count processor time: for one thread on a machine that others use too")
    parser.add_argument("--torch-python", default=sys.executable, help="an interpreter that has PyTorch")
    parser.add_argument("--out", type=Path, default=ROOT / f"benchmarks/results/{name}.json")
    parser.add_argument("--worker", choices=PEERS, help=argparse.SUPPRESS)
    return parser.parse_args()


def wanted(cases, only):
    words = [w for w in only.split(",") if w]
    return {n: c for n, c in cases.items() if not words or any(w in n for w in words)}


def work(options, make_cases):
    """In a worker: {case: [fastest, median]} of each case that this peer has."""
    torch = peer_module(options.worker, int(options.threads))
    clock = time.process_time if options.cpu else time.perf_counter
    cases = wanted(make_cases(torch, options.worker), options.only)
    print(json.dumps({name: timed(call, options.seconds, clock) for name, call in cases.items()}))


def worker(options, peer, threads, file):
    python = options.torch_python if peer == "PyTorch" else sys.executable
    command = [python, file, "--worker", peer, "--threads", str(threads), "--seconds", str(options.seconds), "--only", options.only]
    command += ["--cpu"] * options.cpu
    environ = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, env=environ)
    if done.returncode:
        sys.exit(f"{peer}, {threads} threads:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def geometric(values):
    values = list(values)
    return statistics.geometric_mean(values) if values else float("nan")


def compare(name, doc, file, check, make_cases, unit, amount):
    """The whole benchmark: check(), rounds of both peers, a table, a file. amount(case) units of `unit` a call."""
    options = options_of(doc, name)
    if options.worker:
        return work(options, make_cases)
    check()
    report = {"machine": machine(), "unit": unit, "rounds": options.rounds, "statistic": "median" if options.median else "fastest",
              "clock": "processor time" if options.cpu else "wall", "rows": []}  # fmt: skip
    which = 1 if options.median else 0
    for threads in map(int, options.threads.split(",")):
        runs = {peer: [] for peer in PEERS}
        for _ in range(options.rounds):
            for peer in PEERS:
                runs[peer].append(worker(options, peer, threads, file))
        print(f"\n{threads} thread{'s' * (threads > 1)}, median of {options.rounds} processes each")
        print(f"{'case':44}{'us':>10}{'PyTorch us':>12}{unit:>10}{'ratio':>8}{'spread':>8}")
        ratios = []
        for case in runs["facula"][0]:
            ours = [run[case][which] for run in runs["facula"]]
            theirs = [run[case][which] for run in runs["PyTorch"]]
            a, b = statistics.median(ours), statistics.median(theirs)
            ratios.append(b / a)
            row = {"case": case, "threads": threads, "seconds": a, "torch_seconds": b, "ratio": b / a, "spread": max(ours) / min(ours) - 1}
            report["rows"].append(row)
            print(f"{case:44}{a * 1e6:10.1f}{b * 1e6:12.1f}{amount(case) / a:10.1f}{b / a:8.2f}{row['spread']:8.0%}")
        print(f"{'geometric mean of the ratios':76}{geometric(ratios):8.2f}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\nwritten to {options.out}")
