#!/usr/bin/env python3
"""Modules of drawn configurations, forward alone and forward and backward, and steps of optimizers over drawn parameters, beside PyTorch.

    tools/bench modules [--seed 1] [--cases 3000] [--only Conv,LSTM] [--quick]

What bench_drawn.py is to functions this is to torch.nn: widths, kernels, strides, groups, heads, lengths, masks and reductions are drawn
(modules_drawn.py), and both libraries are called in turn in one process (_pairs.py), on one thread by processor time. Drawn again is what
takes PyTorch less than 5 us or more than 5 ms (15 ms with its backward). The summary gives, by class, how many cases were timed, the median
ratio, how many are above 1 and 1.5, and the worst. --only with a whole name and an equals sign before it (=Conv1d) takes that class alone.
"""

import importlib
import time

from _drawn import drawn_parser, run_drawn
from _harness import THEIRS, Case
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
    options = drawn_parser(__doc__).parse_args()
    run_drawn("modules", options, lambda count: cases(importlib.import_module(THEIRS), options.seed, count, options.only), 0.03)


if __name__ == "__main__":
    run()
