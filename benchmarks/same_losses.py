#!/usr/bin/env python3
"""Same seed, same program, same numbers: the losses of six networks' first steps beside PyTorch's.

    PYTHONPATH=$(tools/pythonpath) python benchmarks/same_losses.py [--only gpt] [--torch-python PYTHON]

float32: 20 steps, at most 1e-5 relative apart; float64: 100 steps, at most 1e-8. Exits with 1 where they differ more.
--quick takes 20 steps of both. The last column is how far PyTorch is from itself with one thread more or less.

The ResNet is there twice. At a learning rate of 0.05 fourteen steps enlarge a difference in the last bit of float32 a hundred thousand
times, and ninety steps one of float64: PyTorch is 2e-2 and 8e-2 from itself, and nobody can be nearer to it than that. There the limit is
twice that distance.
"""

import importlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from _harness import MARK, OURS, THEIRS, environ, machine, parser, report, torch_version
from models import MODELS

LIMITS = {"float32": (20, 1e-5), "float64": (100, 1e-8)}
CHAOTIC = "resnet20 at 0.05"
PROGRAMS = {**MODELS, CHAOTIC: partial(MODELS["resnet20"], lr=0.05)}


def losses(library, name, dtype, steps, threads):
    t = importlib.import_module(library)
    t.set_num_threads(threads)
    t.manual_seed(0)
    run = PROGRAMS[name](t, getattr(t, dtype))
    return [float(run.step().detach()) for _ in range(steps)]


def elsewhere(python, library, name, dtype, steps, threads):
    command = [python, Path(__file__).resolve(), "--child", library, "--only", f"{name},{dtype},{steps}", "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, env=environ(threads))
    found = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if not found:
        return None, (done.stderr.strip().splitlines() or ["no output"])[-1]
    return json.loads(found[-1][len(MARK) :]), None


def apart(ours, theirs):
    """The largest relative difference, and the step where it is."""
    gaps = [abs(a - b) / max(abs(b), 1e-300) if a == a and b == b else float("inf") for a, b in zip(ours, theirs)]
    worst = max(range(len(gaps)), key=gaps.__getitem__)
    return gaps[worst], worst


def main():
    options = parser(__doc__).parse_args()
    threads = (options.threads or [2])[0]
    options.rounds, options.seconds, options.machine = 1, None, machine()
    if options.child:
        name, dtype, steps = options.only.split(",")
        print(MARK + json.dumps(losses(options.child, name, dtype, int(steps), threads)))
        return 0
    python = options.torch_python or sys.executable
    version = torch_version(python)
    if not version:
        sys.exit("same_losses: PyTorch is not in this Python. Name one that has it: --torch-python PYTHON")
    print(f"PyTorch {version}\n{'':18}{'dtype':10}{'steps':>6}{'apart':>12}{'at step':>9}{'limit':>9}{'itself':>10}")
    bad, rows = 0, []
    for name in (n for n in PROGRAMS if not options.only or n in options.only.split(",")):
        for dtype, (steps, limit) in LIMITS.items():
            steps = 20 if options.quick else steps
            runs = (sys.executable, OURS, threads), (python, THEIRS, threads), (python, THEIRS, 1 if threads > 1 else 2)
            with ThreadPoolExecutor() as pool:  # side by side: nothing is timed
                ours, theirs, (again, _) = pool.map(lambda run: elsewhere(run[0], run[1], name, dtype, steps, run[2]), runs)
            if ours[0] is None or theirs[0] is None:
                bad += 1
                print(f"{name:18}{dtype:10}{steps:>6}   {'Facula' if ours[0] is None else 'PyTorch'}: {ours[1] or theirs[1]}")
                continue
            gap, where = apart(ours[0], theirs[0])
            itself = apart(again, theirs[0])[0] if again else float("nan")
            if name == CHAOTIC:
                limit = 2 * itself
            bad += gap > limit
            print(f"{name:18}{dtype:10}{steps:>6}{gap:12.1e}{where:>9}{limit:>9.0e}{itself:>10.1e}{'' if gap <= limit else '   ABOVE'}", flush=True)
            rows.append({"case": name, "dtype": dtype, "threads": threads, "steps": steps, "apart": gap, "limit": limit, "itself": itself})
    report("same_losses", rows, options, version)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
