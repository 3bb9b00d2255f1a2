"""Calls of functions and layers as lines of function_cases.txt: what each gives, its gradients, or the error's class.

F functional, N nn, I init, U utils, T the backend; f(shape) normal leaves, u(shape) leaves in (0, 1), i(shape, n) integers,
s(shape) of -1 and 1, t(value) a tensor, floats in float64.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from module_cases import _fingerprint, _leaves


def lines() -> list[str]:
    return Path(__file__).with_suffix(".txt").read_text().splitlines()


def _scope(T):
    rng, leaves = np.random.RandomState(7), []

    def leaf(a):
        leaves.append(T.tensor(np.asarray(a).tolist(), dtype=T.float64).requires_grad_())
        return leaves[-1]

    def constant(value):
        first = value
        while isinstance(first, list) and first:
            first = first[0]
        return T.tensor(value, dtype=T.float64) if isinstance(first, float) else T.tensor(value)

    return leaves, {
        "T": T,
        "F": T.nn.functional,
        "N": T.nn,
        "I": T.nn.init,
        "U": T.nn.utils,
        "f": lambda *shape: leaf(rng.randn(*shape)),
        "u": lambda *shape: leaf(rng.rand(*shape) * 0.9 + 0.05),
        "s": lambda *shape: T.tensor(np.sign(rng.randn(*shape)).tolist(), dtype=T.float64),
        "i": lambda shape, n: T.tensor(rng.randint(0, n, shape).tolist()),
        "t": constant,
    }


def _error(e: Exception) -> str:
    """The nearest class that is built in; Facula's refusals of a dtype are NotImplementedErrors, and so RuntimeErrors."""
    name = next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins")
    return "RuntimeError" if name == "NotImplementedError" else name


def facts(line: str, T):
    leaves, scope = _scope(T)
    T.manual_seed(5)
    try:
        outputs = _leaves(eval(line, scope), T)
    except Exception as e:
        return _error(e)
    found = [[str(t.dtype).split(".")[-1], t.tolist() if t.dtype == T.bool else _fingerprint(t)] for t in outputs]
    smooth = [t for t in outputs if t.requires_grad]
    if not smooth:
        return [found, None]
    rng = np.random.RandomState(8)
    sum((t * T.tensor(np.asarray(rng.randn(*t.shape)).tolist(), dtype=t.dtype)).sum() for t in smooth).backward()
    return [found, [None if t.grad is None else _fingerprint(t.grad) for t in leaves]]
