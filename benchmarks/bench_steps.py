#!/usr/bin/env python3
"""Training steps and single predictions of six networks beside PyTorch: seconds, and peak memory, each in a process of its own.

    tools/bench steps [--quick] [--threads 1,2] [--only gpt]

A step is forward, loss, backward and optimizer, float32. The summary gives the geometric mean and the worst ratio.
"""

from _harness import OURS, THEIRS, Case, geometric_mean, main
from models import MODELS, TITLES


def step(name):
    return lambda t: MODELS[name](t, t.float32).step


def single(name):
    def make(t):
        run = MODELS[name](t, t.float32)
        run.model.eval()

        def predict():
            with t.no_grad():
                return run.single()

        return predict

    return make


CASES = [Case(f"{name}: {TITLES[name]}", step(name), 1.25, tol=1e-3) for name in MODELS]
CASES += [Case(f"{name}: one sample", single(name), 0.6, tol=1e-3) for name in MODELS]


def summary(rows):
    lines = []
    for threads in sorted({r["threads"] for r in rows}):
        some = [r for r in rows if r["threads"] == threads and "ratio" in r]
        steps, singles = ([r["ratio"] for r in some if r["case"].endswith("one sample") == one] for one in (False, True))
        memory = [r[f"{OURS}_peak_kb"] / max(r[f"{THEIRS}_peak_kb"], 1) for r in some if not r["case"].endswith("one sample")]
        if steps:
            lines.append(f"{threads} threads, steps: geometric mean {geometric_mean(steps):.2f}, worst {max(steps):.2f}; peak memory worst {max(memory):.2f}")
        if singles:
            lines.append(f"{threads} threads, one sample: geometric mean {geometric_mean(singles):.2f}, worst {max(singles):.2f}")
    return "\n" + "\n".join(lines)


if __name__ == "__main__":
    main("steps", __doc__, CASES, threads=(2,), apart=True, summary=summary)
