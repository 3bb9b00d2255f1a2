"""The edges of the API beside PyTorch's, where it is installed: odd arguments, empty tensors, refusals, strides.

Each line of edges/*.txt is a program that both libraries run: what it gives must agree in values, dtype, shape, strides, offset,
requires_grad and class, what it raises in class. In those files `!!` begins a section and its
set-up, `!` adds to the set-up, `|` continues a program, `#` is a remark. The value of a program is that of its last expression.
One that ends in `# raises RuntimeError` raises just that there; one without raises nothing, so that a slip in a program
or its set-up, which fails both alike, is no agreement. E(f, ...) is what f(...) gives or raises, where either is one of many values.
"""

import ast
import collections
import copy
import functools
import importlib
import io
import itertools
import math
import operator
import os
import pickle
import random
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import facula.torch

real = pytest.importorskip("torch")
importlib.import_module("torch.nn.utils.prune")
importlib.import_module("torch.optim.swa_utils")

with facula.torch.enabled(shadow=True):
    import torch as ours

HERE = Path(__file__).with_name("edges")
TOLERANCE = {"float64": 1e-7, "float32": 3e-5, "complex128": 1e-7, "complex64": 3e-5, "bfloat16": 2e-2, "float16": 2e-3}
PLAIN = (bool, int, str, bytes, type(None))
MARK = re.compile(r"  # raises (\w+)$")


def sections():
    """(file, line, set-up, [(line, program)]) of every section."""
    for file in sorted(HERE.glob("*.txt")):
        setup, programs, start = [], [], 1
        for at, line in enumerate(file.read_text().splitlines(), 1):
            if line.startswith("!"):
                if programs:
                    yield pytest.param("\n".join(setup), programs, id=f"{file.stem}:{start}")
                    setup, programs = ([] if line.startswith("!!") else setup), []
                if line.startswith("!!"):
                    setup, start = [], at
                setup = [*setup, line.lstrip("!")] if line.strip("! ") else setup
            elif line.startswith("|"):
                programs[-1] = (programs[-1][0], programs[-1][1] + "\n" + line[1:])
            elif line.strip() and not line.startswith("#"):
                programs.append((at, line))
        if programs:
            yield pytest.param("\n".join(setup), programs, id=f"{file.stem}:{start}")


def outcome(lib, setup, program):
    """What a program gives, or the exception that it raises."""
    names = {
        "torch": lib, "nn": lib.nn, "F": lib.nn.functional, "np": np, "math": math, "copy": copy, "pickle": pickle, "io": io,
        "itertools": itertools, "collections": collections, "random": random, "tempfile": tempfile, "os": os, "operator": operator,
        "functools": functools, "warnings": warnings, "inf": math.inf, "nan": math.nan, "E": attempt, "__name__": "edges",
    }  # fmt: skip
    setup, tree = compile(setup, "set-up", "exec"), ast.parse(program)  # outside of the trying: what is no Python would fail both alike
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    lib.manual_seed(0)
    random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(setup, names)  # so would a set-up that fails
            try:
                exec(compile(tree, "edges", "exec"), names)
                return eval(compile(ast.Expression(last.value), "edges", "eval"), names) if last else names.get("r")
            except Exception as error:
                return error
        finally:
            lib.set_default_dtype(lib.float32)


def attempt(f, *args, **options):
    """f(...), or the exception that it raises."""
    try:
        return f(*args, **options)
    except NameError:  # a slip of the program's
        raise
    except Exception as error:
        return error


def known(error):
    """The nearest class of an exception that is Python's or NumPy's own."""
    return next(c for c in type(error).__mro__ if not c.__module__.startswith(("torch", "edges")))


def array(t):
    t = t.detach()
    t = t.to_dense() if "sparse" in str(t.layout) else t
    t = t.resolve_conj().resolve_neg()
    return (t.float() if t.dtype.itemsize == 2 and t.dtype.is_floating_point else t).contiguous().numpy()


def differ(expected, actual):
    """What two results differ in, None if nothing."""
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        if not (isinstance(expected, Exception) and isinstance(actual, Exception)):
            return f"{expected!r} against {actual!r}"
        return None if isinstance(actual, known(expected)) else f"{type(expected).__name__} against {actual!r}"
    if isinstance(expected, real.Tensor):
        return differ_in_tensor(expected, actual)
    if isinstance(expected, (tuple, list)):
        if not isinstance(actual, type(expected).__mro__[-2]) or len(expected) != len(actual):
            return f"{expected!r} against {actual!r}"
        return next(filter(None, map(differ, expected, actual)), None)
    if isinstance(expected, collections.abc.Mapping):
        same = list(expected) == list(actual)
        return differ(list(expected.values()), list(actual.values())) if same else f"{list(expected)} against {list(actual)}"
    if isinstance(expected, (float, complex)) and isinstance(actual, (float, complex)):
        return None if np.allclose(expected, actual, rtol=3e-5, atol=1e-6, equal_nan=True) else f"{expected} against {actual}"
    if isinstance(expected, np.ndarray):
        same = expected.dtype == actual.dtype and expected.strides == actual.strides and np.array_equal(expected, actual)
        return None if same else f"{expected!r} against {actual!r}"
    if isinstance(expected, PLAIN):
        return None if type(expected) is type(actual) and expected == actual else f"{expected!r} against {actual!r}"
    if type(expected).__name__ in ("dtype", "device", "layout", "memory_format"):
        return None if str(expected) == str(actual) else f"{expected} against {actual}"
    return None if type(expected).__name__.strip("_") == type(actual).__name__.strip("_") else f"{expected!r} against {actual!r}"


def differ_in_tensor(expected, actual):
    if not isinstance(actual, ours.Tensor):
        return f"a tensor against {actual!r}"
    for name in ("dtype", "layout"):
        if str(getattr(expected, name)) != str(getattr(actual, name)):
            return f"{name}: {getattr(expected, name)} against {getattr(actual, name)}"
    if tuple(expected.shape) != tuple(actual.shape) or expected.requires_grad != actual.requires_grad:
        return f"shape {tuple(expected.shape)}, requires_grad {expected.requires_grad} against {tuple(actual.shape)}, {actual.requires_grad}"
    if expected.layout is real.strided and (expected.stride(), expected.storage_offset()) != (actual.stride(), actual.storage_offset()):
        return f"strides and offset {expected.stride()}, {expected.storage_offset()} against {actual.stride()}, {actual.storage_offset()}"
    if expected.is_meta:
        return None if actual.is_meta else "meta against cpu"
    tolerance = TOLERANCE.get(str(expected.dtype).removeprefix("torch."), 0)
    x, y = array(expected), array(actual)
    same = np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True) if tolerance else np.array_equal(x, y)
    return None if same else f"{x.tolist()} against {y.tolist()}"


def unmarked(program, expected):
    """How a program's mark differs from what it does on PyTorch, None if it does not."""
    mark = MARK.search(program)
    raised = known(expected).__name__ if isinstance(expected, Exception) else None
    if raised == (mark[1] if mark else None):
        return None
    does = f"raises {expected!r}" if raised else "raises nothing"
    return f"PyTorch {does}: {f'end the line in `  # raises {raised}`' if raised else 'drop the mark'}, if that is meant"


@pytest.mark.parametrize("setup,programs", list(sections()))
def test_programs_end_as_in_pytorch(setup, programs):
    real.distributions.Distribution.set_default_validate_args(True)  # PyTorch's compiler, which a program before may have loaded, switches it off
    wrong = []
    for line, program in programs:
        expected, actual = outcome(real, setup, program), outcome(ours, setup, program)
        found = unmarked(program, expected) or differ(expected, actual)
        if found:
            wrong.append(f"line {line}: {program}\n    {found[:400]}")

    assert not wrong, "\n".join(wrong)
