#!/usr/bin/env python3
"""Every row of the ops table beside NumPy and, where this Python has it, PyTorch: check, then time.

Arguments come from the oracles of packages/tensor-core/tests, so a row without a benchmark does not exist.
Two figures a row: ns per call on 1-element tensors (what a call costs), and GB/s on tensors of --bytes each, beside the
measured copy bandwidth (what the loop costs). Products are timed in GFLOP/s by bench_matmul.py where there is one.

    tools/bench ops                      all rows, float32 (or the row's first dtype)
    python benchmarks/bench_ops.py --only exp,sum --bytes 67108864
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packages/tensor-core/tests"))

import test_ops  # noqa: E402
from oracles import ORACLES  # noqa: E402
from oracles.dtypes import WORDS, numpy_dtype  # noqa: E402
from oracles.layouts import tensor  # noqa: E402
from oracles.samples import Draw, Sample, bound, cases_of, mapped, tensors  # noqa: E402

import facula  # noqa: E402
from facula.tensor_core import _ops  # noqa: E402

try:
    import torch
except ImportError:
    torch = None


def best(call, seconds=0.05):
    """(fastest, spread): seconds of one call; repeats fill the time, the fastest of five batches counts."""
    call()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds / 5:
        call()
        count += 1
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - start) / count)
    return min(times), max(times) / min(times) - 1


def copy_bandwidth(nbytes):
    source = np.ones(nbytes // 4, np.float32)
    target = np.empty_like(source)
    return 2 * nbytes / best(lambda: np.copyto(target, source))[0] / 1e9


def peer(op, arguments):
    """torch's function of this name on the same arguments, or None."""
    function = getattr(torch, op.name, None) or getattr(torch.nn.functional, op.name, None)
    if not function:
        return None
    positional, named = spread(op, mapped(arguments, lambda s: torch.from_numpy(np.array(s.array))))
    try:
        function(*positional, **named)
    except (TypeError, RuntimeError):
        return None
    return partial(function, *positional, **named)


def drawn(op, dtype, size):
    """Arguments of about `size` elements for kinds with an obvious shape; else the oracle's first case."""
    oracle = ORACLES[op.name]
    t = Draw(oracle, dtype, specials=False)
    side = max(int(size**0.5), 1)
    if op.kind.startswith("map") and not oracle.cases:
        return bound(op, tuple(t(side, side) for _ in tensors(op)))
    if op.kind in ("fold", "scan"):
        return bound(op, (t(side, side), {"dim": 1 if side > 1 else 0}))
    return cases_of(op, oracle, dtype)[0][1]


def spread(op, arguments):
    """The arguments as a user gives them: leading tensors by position, the rest by name if not at its default."""
    pairs = [(p, v) for p, v in zip(op.params, arguments) if p.name != "out"]
    count = next((k for k, (p, _) in enumerate(pairs) if "Tensor" not in p.type), len(pairs))
    named = {p.name: v for p, v in pairs[count:] if "Tensor" in p.type or v != p.default}
    return [v for _, v in pairs[:count]], named


def moved(arguments, results):
    arrays = [a for a in arguments if isinstance(a, Sample)]
    return sum(a.array.nbytes for a in arrays) + sum(r.numel() * r.element_size() for r in results)


def measure(op, dtype, nbytes):
    oracle = ORACLES[op.name]
    itemsize = numpy_dtype(dtype).itemsize
    line = {"op": op.name, "dtype": dtype}
    for word, size in (("call", 1), ("loop", nbytes // itemsize)):
        arguments = drawn(op, dtype, size)
        ours = mapped(arguments, tensor)
        results = test_ops.call(op, ours)
        exact, _ = test_ops.answer(op, oracle, dtype, arguments) if size == 1 else (None, 0)
        if size == 1 and not isinstance(exact, tuple):
            assert tuple(np.shape(exact)) == tuple(results[0].shape), op.name
        function = getattr(_ops, op.name)
        positional, named = spread(op, ours)
        call = partial(function, *positional, **named)
        line[f"{word}_ns"], line[f"{word}_spread"] = (x * 1e9 if k == 0 else x for k, x in enumerate(best(call)))
        if torch:
            theirs = peer(op, arguments)
            line[f"{word}_torch_ns"] = theirs and best(theirs)[0] * 1e9
        if word == "loop":
            line["GBps"] = moved(arguments, results) / line["loop_ns"]
    return line


def machine():
    model = next((x.split(":")[1].strip() for x in open("/proc/cpuinfo") if x.startswith("model name")), platform.processor())
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    return {"cpu": model, "cores": os.cpu_count(), "python": platform.python_version(), "numpy": np.__version__,
            "torch": torch and torch.__version__, "commit": commit, "load": os.getloadavg()[0]}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="comma-separated rows")
    parser.add_argument("--bytes", type=int, default=1 << 22, help="size of each large tensor")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/ops.json")
    options = parser.parse_args()

    facula.set_num_threads(options.threads)
    if torch:
        torch.set_num_threads(options.threads)
    wanted = [n for n in options.only.split(",") if n] or [n for n in test_ops.OPS if n in ORACLES and not ORACLES[n].by]
    report = {"machine": machine(), "threads": options.threads, "bytes": options.bytes,
              "copy_GBps": copy_bandwidth(options.bytes), "rows": []}  # fmt: skip
    print(f"{report['machine']}\ncopy {report['copy_GBps']:.1f} GB/s\n")
    print(f"{'op':24}{'dtype':10}{'ns a call':>10}{'PyTorch':>10}{'GB/s':>8}{'us large':>10}{'PyTorch':>10}{'ratio':>8}")
    for name in wanted:
        op = test_ops.OPS[name]
        dtypes = [d for d in WORDS[op.types] if not ORACLES[name].only or d in ORACLES[name].only]
        line = measure(op, next((d for d in ("float32", *dtypes) if d in dtypes)), options.bytes)
        report["rows"].append(line)
        theirs, large = line.get("call_torch_ns"), line.get("loop_torch_ns")
        print(f"{name:24}{line['dtype']:10}{line['call_ns']:10.0f}{theirs or float('nan'):10.0f}{line['GBps']:8.2f}"
              f"{line['loop_ns'] / 1e3:10.1f}{(large or float('nan')) / 1e3:10.1f}{(large or float('nan')) / line['loop_ns']:8.2f}")  # fmt: skip
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1))
    print(f"\nwritten to {options.out}")


if __name__ == "__main__":
    main()
