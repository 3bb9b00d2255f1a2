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
    named = {(1, 1): "DotBackward0", (2, 1): "MvBackward0", (1, 2): "SqueezeBackward4", (2, 2): "MmBackward0", (3, 3): "BmmBackward0"}
    return named.get((x, y), "UnsafeViewBackward0")  # there, products of more dims are one of matrices seen as those


def linear(kept, numbers) -> str:
    rows = getattr(kept["x"], "ndim", 2)  # kept where the weight has a gradient
    if kept["z_shape"] is None:
        return "MmBackward0" if rows == 2 else "SqueezeBackward4" if rows == 1 else "UnsafeViewBackward0"
    return "AddmmBackward0" if rows == 2 else "ViewBackward0"


def windows(base):
    return lambda kept, numbers: f"{base}{len(kept['x_shape']) - 2}DBackward0"


NAMES = {
    **{op: over_dims(base) for op, base in SEVERAL.items()},
    **{op: by_number(op.capitalize()) for op in ("eq", "ne", "lt", "le", "gt", "ge")},
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
    "linear": linear,
    "amax": lambda kept, numbers: "MaxBackward1" if kept["p_dim"] is None else "AmaxBackward0",  # x.max()
    "amin": lambda kept, numbers: "MinBackward1" if kept["p_dim"] is None else "AminBackward0",
    "_triangle": lambda kept, numbers: "TriuBackward0" if kept["p_upper"] else "TrilBackward0",
    "adaptive_avg_pool": windows("AdaptiveAvgPool"),
    "adaptive_max_pool": windows("AdaptiveMaxPool"),
}


@cache
def renamed(kind, name) -> type:
    """A node class as another, under another name."""
    return type(name, (kind,), {"__slots__": (), "__module__": kind.__module__, "numbered": None})
