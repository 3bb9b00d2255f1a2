"""The names under which PyTorch's nodes go where one row here is several of its overloads: SumBackward0 of all elements, SumBackward1 over dims.

A name is worked out when somebody looks at a node, from what it kept and from which operands were numbers; recording knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

SEVERAL = {"sum": "Sum", "mean": "Mean", "prod": "Prod"}  # 0: over all elements, 1: over dims


def over_dims(base) -> Callable:
    return lambda kept, numbers: f"{base}Backward{0 if kept['p_dim'] in (None, ()) else 1}"


def by_number(base, y=0, x=None, neither=1) -> Callable:
    """By which operand is a Python number."""

    def name(kept, numbers) -> str:
        return f"{base}Backward{x if 'x' in numbers and x is not None else y if 'y' in numbers else neither}"

    return name


def matmul(kept, numbers) -> str:
    x, y = len(kept["x_shape"]), len(kept["y_shape"])
    return {(1, 1): "DotBackward0", (2, 1): "MvBackward0", (2, 2): "MmBackward0", (3, 3): "BmmBackward0"}.get((x, y), "MmBackward0")


NAMES = {
    **{op: over_dims(base) for op, base in SEVERAL.items()},
    "pow": by_number("Pow", y=0, x=2, neither=1),
    "rsub": by_number("Rsub", y=1, neither=0),
    "remainder": by_number("Remainder"),
    "fmod": by_number("Fmod"),
    "xlogy": by_number("Xlogy", y=2, x=1, neither=0),
    "copysign": by_number("Copysign", y=1, neither=0),
    "clamp_min": by_number("ClampMin"),
    "clamp_max": by_number("ClampMax"),
    "lerp": lambda kept, numbers: f"LerpBackward{0 if isinstance(kept['z'], (int, float, complex)) else 1}",
    "copy": lambda kept, numbers: "CloneBackward0" if kept["p_dtype"] in (None, kept["x_dtype"]) else "ToCopyBackward0",
    "matmul": matmul,
    "linear": lambda kept, numbers: "MmBackward0" if kept["z_shape"] is None else "AddmmBackward0",
}


@cache
def renamed(kind, name) -> type:
    """A node class as another, under another name."""
    return type(name, (kind,), {"__slots__": (), "__module__": kind.__module__})
