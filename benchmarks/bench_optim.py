#!/usr/bin/env python3
"""A step of every optimizer over 100 small parameters (8x8), beside PyTorch's default of the same class.

    tools/bench optim [--quick] [--only Adam]
"""

from functools import partial

from _harness import Case, geometric_mean, main

OPTIONS = {
    "SGD": {"lr": 1e-3},
    "SGD momentum": {"lr": 1e-3, "momentum": 0.9},
    "Adam": {},
    "Adam amsgrad": {"amsgrad": True},
    "AdamW": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Adagrad": {},
    "Adadelta": {},
    "Adafactor": {},
    "ASGD": {},
    "RMSprop": {},
    "Rprop": {},
    "Muon": {},
    "SparseAdam": {},
    "LBFGS": {"lr": 1e-6, "max_iter": 4, "history_size": 10},  # it hardly moves, so every call does the same
    "LBFGS strong Wolfe": {"lr": 1e-6, "max_iter": 4, "history_size": 10, "line_search_fn": "strong_wolfe"},
}


def step(t, name):
    t.manual_seed(0)
    parameters = [t.nn.Parameter(t.randn(8, 8)) for _ in range(100)]
    for p in parameters:
        p.grad = t.randn(8, 8)
        if name == "SparseAdam":
            p.grad = p.grad.to_sparse(1)
    optimizer = getattr(t.optim, name.split()[0])(parameters, **OPTIONS[name])
    plain = [p.data for p in parameters]

    def loss():  # half the sum of squares: its gradient is the parameters
        for p, x in zip(parameters, plain):
            p.grad.copy_(x)
        return t.ones(())

    closure = loss if name.startswith("LBFGS") else None

    def call():
        optimizer.step(closure)
        return parameters[0]

    return call


CASES = [Case(name, partial(step, name=name), 0.3) for name in OPTIONS]


def summary(rows):
    ratios = [r["ratio"] for r in rows if "ratio" in r]
    return f"\ngeometric mean {geometric_mean(ratios):.2f}, worst {max(ratios, default=float('nan')):.2f}"


if __name__ == "__main__":
    main("optim", __doc__, CASES, summary=summary)
