#!/usr/bin/env python3
"""Modules of drawn configurations, forward alone and forward and backward, and steps of optimizers over drawn parameters, beside PyTorch.

    tools/bench modules [--seed 1] [--cases 3000] [--only Conv,LSTM] [--quick]

What bench_drawn.py is to functions this is to torch.nn: widths, kernels, strides, groups, heads, lengths, masks and reductions are drawn
(modules_drawn.py), and both libraries are called in turn in one process (_pairs.py), on one thread by processor time. Drawn again is what
takes PyTorch less than 5 us or more than 5 ms (15 ms with its backward). The summary gives, by class, how many cases were timed, the median
ratio, how many are above 1 and 1.5, and the worst. --only with a whole name and an equals sign before it (=Conv1d) takes that class alone.
"""

import time
import warnings

from _harness import OURS, Case, machine, parser, report
from _pairs import libraries, one
from bench_drawn import summary
from modules_drawn import CLASSES, Drawn, optimizer_step

FEWEST, MOST = 5e-6, 5e-3


def forward(t, d):
    module, inputs = d.module(t), d.inputs(t)

    def call():
        with t.no_grad():
            return module(*inputs)

    return call


def both(t, d):
    """Gradients of all inputs and parameters that have one."""
    module, inputs = d.module(t), d.inputs(t)
    wanted = [x.requires_grad_() for k, x in enumerate(inputs) if x.is_floating_point() and k < d.graded]
    wanted += list(module.parameters()) if hasattr(module, "parameters") else []

    def result():
        out = module(*inputs)
        while isinstance(out, (tuple, list)):
            out = out[0]
        return out

    g = d.tensor(t, "n", result().shape, 77)
    return lambda: t.autograd.grad(result(), wanted, g, allow_unused=True)


def fits(torch, make, d, most):
    """Whether PyTorch has it, and takes as long as a case should."""
    try:
        call = make(torch, d)
        call()
        took = []
        for _ in range(3):
            start = time.process_time()
            call()
            took.append(time.process_time() - start)
    except (RuntimeError, ValueError, AssertionError, TypeError, IndexError, NotImplementedError):
        return False
    return FEWEST <= min(took) <= most


def cases(torch, seed, count, only):
    names = [n for n in CLASSES if not only or any(n == part[1:] if part.startswith("=") else part in n for part in only)]
    for k in range(count):
        name = names[k % len(names)]
        for again in range(100):
            d = Drawn(name, seed * 1_000_003 + 1009 * k + again)
            back = (k // len(names) % 2 == 1 or d.backward_alone) and d.graded > 0
            make = optimizer_step if d.optimizer else both if back else forward
            if fits(torch, make, d, MOST * (3 if back else 1)):
                kind = "" if d.optimizer else " and back" if back else ""
                yield Case(f"{d}{kind}", lambda t, d=d, make=make: make(t, d), family=name, tol=1e-3 if d.same else None)
                break


def run():
    p = parser(__doc__)
    p.add_argument("--seed", type=int, default=1, help="of the configurations (default 1)")
    p.add_argument("--cases", type=int, default=3000, help="how many (default 3000)")
    p.add_argument("--worst", type=int, default=40, help="how many to list")
    options = p.parse_args()
    options.seconds = options.seconds or 0.03
    options.rounds, options.median, options.cpu, options.only = 1, True, True, [n for n in options.only.split(",") if n]
    warnings.simplefilter("ignore")
    options.machine, found, rows = machine(), libraries(1), []
    if len(found) < 2:
        raise SystemExit("modules: PyTorch is not installed here. Run it with a Python that has it.")
    for case in cases(found[-1], options.seed, 300 if options.quick else options.cases, options.only):
        rows.append(one(case, found, 1, options.seconds, time.process_time))
    print(summary([r for r in rows if "ratio" in r], options.worst))
    for title, key in (("ran in PyTorch alone:", f"{OURS}_error"), ("differ:", "differs")):
        if some := [f"{r['case']}: {r[key]}" for r in rows if key in r and "torch_error" not in r]:
            print("", title, *some, sep="\n")
    report("modules", [r for r in rows if "ratio" in r], options, found[-1].__version__, seed=options.seed)


if __name__ == "__main__":
    run()
