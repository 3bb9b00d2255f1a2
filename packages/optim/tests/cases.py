"""Every optimizer and every schedule as a line, and what they do: numbers that PyTorch and Facula must agree on.

`python cases.py > stored.json` (where PyTorch is installed) writes PyTorch's, for places where it is not.
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np

OPTIMIZERS = """
SGD(lr=0.1)
SGD(lr=0.1, weight_decay=0.1, maximize=True)
SGD(lr=0.1, momentum=0.9)
SGD(lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.1)
SGD(lr=0.1, momentum=0.9, nesterov=True)
Adam()
Adam(amsgrad=True, weight_decay=0.1)
Adam(lr=0.05, maximize=True, eps=1e-3, betas=(0.8, 0.9))
Adam(decoupled_weight_decay=True, weight_decay=0.1)
AdamW()
AdamW(lr=0.05, amsgrad=True, maximize=True)
Adagrad()
Adagrad(lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.3, eps=1e-3, maximize=True)
Adadelta()
Adadelta(lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.1, maximize=True)
RMSprop()
RMSprop(centered=True, eps=1e-3)
RMSprop(momentum=0.5, weight_decay=0.1)
RMSprop(centered=True, momentum=0.9, alpha=0.4, eps=1e-2, maximize=True)
Adamax()
Adamax(betas=(0.3, 0.5), eps=1e-2, weight_decay=0.1, maximize=True)
NAdam()
NAdam(decoupled_weight_decay=True, weight_decay=0.1)
NAdam(weight_decay=0.1, momentum_decay=0.1, maximize=True)
RAdam()
RAdam(decoupled_weight_decay=True, weight_decay=0.1)
RAdam(lr=0.01, weight_decay=0.1, betas=(0.7, 0.9), maximize=True)
Rprop()
Rprop(etas=(0.25, 1.5), step_sizes=(1e-3, 0.125), maximize=True)
ASGD()
ASGD(t0=10.0, lambd=0.1, alpha=0.5, weight_decay=0.1, maximize=True)
Adafactor()
Adafactor(lr=0.1, weight_decay=0.1, d=2.0, eps=(1e-6, 1e-2), beta2_decay=-0.5)
"""

SCHEDULES = """
LambdaLR(o, lambda k: 0.95 ** k)
MultiplicativeLR(o, lambda k: 0.95)
StepLR(o, 30, 0.5)
MultiStepLR(o, [10, 30, 30, 70], 0.3)
ConstantLR(o, 0.5, 20)
LinearLR(o, 0.25, 0.75, 40)
ExponentialLR(o, 0.97)
PolynomialLR(o, 60, 2.0)
CosineAnnealingLR(o, 30, 0.01)
CosineAnnealingWarmRestarts(o, 10, 2, 0.01)
CyclicLR(o, 0.01, 0.2, 7, 13)
CyclicLR(o, 0.01, 0.2, 8, mode="triangular2", cycle_momentum=False)
CyclicLR(o, 0.01, 0.2, 8, mode="exp_range", gamma=0.97)
OneCycleLR(o, 0.3, total_steps=101)
OneCycleLR(o, 0.3, epochs=11, steps_per_epoch=10, anneal_strategy="linear", three_phase=True)
SequentialLR(o, [S.ConstantLR(o, 0.1, 20), S.ExponentialLR(o, 0.9)], [20])
SequentialLR(o, [S.LinearLR(o, 0.1, 1.0, 10), S.CosineAnnealingLR(o, 50), S.StepLR(o, 5)], [10, 60])
ChainedScheduler([S.ConstantLR(o, 0.1, 20), S.ExponentialLR(o, 0.9)])
"""

SHAPES = ((3, 4), (5,), (), (2, 2, 7))


def lines(table):
    return table.strip().splitlines()


def tensors(T, dtype):
    """(parameters, where they are drawn to): one of them complex, one without elements."""
    rng = np.random.RandomState(0)

    def drawn(complex_, shape):
        a = rng.randn(*shape) + (1j * rng.randn(*shape) if complex_ else 0)
        made = {T.float32: T.complex64, T.float64: T.complex128}[dtype] if complex_ else dtype
        return T.tensor(np.asarray(a).tolist(), dtype=made)

    kinds = [(False, s) for s in SHAPES] + [(True, (2,)), (False, (0,))]
    return [drawn(*k).requires_grad_() for k in kinds], [drawn(*k) for k in kinds]


def make(T, line, params):
    name, _, options = line.partition("(")
    return eval(f"Optimizer(params, {options}", {"Optimizer": getattr(T.optim, name), "params": params})


def parameters(T, line, dtype):
    params, targets = tensors(T, dtype)
    keep = [k for k, p in enumerate(params) if not ("Adafactor" in line and (p.is_complex() or not p.numel()))]
    return [params[k] for k in keep], [targets[k] for k in keep]


def advance(T, optimizer, params, targets, first, last):
    """Steps first .. last - 1 on a moving quadratic; now and then a parameter has no gradient."""
    for k in range(first, last):
        for j, (p, t) in enumerate(zip(params, targets)):
            p.grad = None if (k + j) % 7 == 3 else (p.detach() - t) * (1.0 + 0.5 * ((k * 7) % 5 - 2))
        optimizer.step()


def plain(T, value):
    """Tensors as (dtype, shape, numbers), nested."""
    if isinstance(value, T.Tensor):
        t = value.detach()
        t = T.view_as_real(t) if t.is_complex() else t
        return [str(value.dtype).rpartition(".")[2], list(value.shape), t.double().reshape(-1).tolist()]
    if isinstance(value, dict):
        return {str(k): plain(T, v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(T, v) for v in value]
    return value


def steps(T, line, dtype, differentiable=False):
    """Parameters after 1, 2, 10 and 50 steps, and the state_dict at the end."""
    params, targets = parameters(T, line, dtype)
    optimizer = make(T, line, params)
    for group in optimizer.param_groups:
        group["differentiable"] = differentiable or group.get("differentiable", False)
    found, at = [], 0
    for until in (1, 2, 10, 50):
        advance(T, optimizer, params, targets, at, until)
        found.append(plain(T, params))
        at = until
    for group in optimizer.param_groups:
        group["differentiable"] = False
    return {"params": found, "state": plain(T, optimizer.state_dict())}


def schedule(T, line):
    """Rates (and momenta) of two groups over 100 steps."""
    params = [T.ones(1, requires_grad=True), T.ones(1, requires_grad=True)]
    optimizer = T.optim.SGD([{"params": [params[0]]}, {"params": [params[1]], "lr": 0.5}], lr=0.1, momentum=0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = eval("S." + line, {"S": T.optim.lr_scheduler, "o": optimizer})
        found = []
        for _ in range(100):
            optimizer.step()
            found.append([[g["lr"], g["momentum"]] for g in optimizer.param_groups])
            made.step()
        assert [g["lr"] for g in optimizer.param_groups] == made.get_last_lr()
    return found


def plateau(T):
    """ReduceLROnPlateau over a made-up course of losses, for every mode."""
    found = []
    for options in ({}, {"mode": "max", "factor": 0.5, "patience": 3}, {"threshold_mode": "abs", "threshold": 0.1, "cooldown": 4, "min_lr": 1e-3}):
        optimizer = T.optim.SGD([T.ones(1, requires_grad=True)], lr=0.1)
        made = T.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        for k in range(100):
            optimizer.step()
            made.step(1 / (k + 1) + 0.1 * ((k * 7) % 5))
            found.append(optimizer.param_groups[0]["lr"])
    return found


def difference(expected, actual, tolerance, path=""):
    """Where two plain values differ first, with both; None where nowhere. Numbers are compared beside the largest of their list."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if set(expected) != set(actual):
            return f"{path}: {sorted(expected)} and {sorted(actual)}"
        pairs = [(k, expected[k], actual[k]) for k in expected]
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return f"{path}: {len(expected)} and {len(actual)} elements"
        if expected and all(type(v) is float for v in (*expected, *actual)):
            e, a = np.array(expected), np.array(actual)
            worst = np.argmax(np.abs(e - a))
            return None if abs(e - a)[worst] <= tolerance * np.abs(e).max() else f"{path}/{worst}: {e[worst]} and {a[worst]}"
        pairs = [(k, *both) for k, both in enumerate(zip(expected, actual))]
    elif type(expected) is float and type(actual) in (int, float):
        return None if abs(expected - actual) <= tolerance * abs(expected) else f"{path}: {expected} and {actual}"
    else:
        return None if expected == actual else f"{path}: {expected!r} and {actual!r}"
    for key, e, a in pairs:
        found = difference(e, a, tolerance, f"{path}/{key}")
        if found:
            return found
    return None


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.13g}")
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else value


if __name__ == "__main__":
    import torch

    known = {line: steps(torch, line, torch.float64) for line in lines(OPTIMIZERS)}
    known |= {line: schedule(torch, line) for line in lines(SCHEDULES)} | {"plateau": plateau(torch)}
    json.dump(rounded(known), sys.stdout, separators=(",", ":"), indent=None)
