"""Small programs over a backend T. What each returns (tensors, numbers, text, exception classes) must be what PyTorch's does.

They stand in the files *_program_cases.py, which `all_programs` reads.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

PROGRAMS = []


def all_programs():
    for file in sorted(Path(__file__).parent.glob("*_program_cases.py")):
        import_module(file.stem)
    return PROGRAMS


def program(f):
    PROGRAMS.append(f)
    return f


def error(f, *args, **kwargs):
    """The exception class by name: the nearest one that is built in."""
    try:
        f(*args, **kwargs)
    except Exception as e:
        return next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins")
    return "nothing raised"


def data(T, *shape, grad=False):
    n = 1
    for k in shape:
        n *= k
    t = (T.arange(n, dtype=T.float64) * 0.7 + 1).sin().reshape(shape)
    return t.requires_grad_() if grad else t


def net(T):
    T.manual_seed(1)
    return T.nn.Sequential(T.nn.Linear(3, 4), T.nn.BatchNorm1d(4), T.nn.Sequential(T.nn.ReLU(), T.nn.Linear(4, 2, bias=False))).double()
