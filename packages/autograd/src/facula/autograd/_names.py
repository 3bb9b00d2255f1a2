"""The names under which PyTorch's nodes go where one row here is several of its overloads: SumBackward0 of all elements, SumBackward1 over dims.

A name is worked out when somebody looks at a node, from what it kept and from which operands were numbers; recording knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ._core import GOES_ON, Begun, steps

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
    named = {(1, 1): "DotBackward0", (2, 1): "MvBackward0", (1, 2): "SqueezeBackward4", (2, 2): "MmBackward0"}
    return named.get((x, y), "UnsafeViewBackward0")  # there, products of more dims are one of matrices, or of batches, seen as those


def squeeze(kept, numbers) -> str:
    return f"SqueezeBackward{1 if len(kept['p_dims']) == 1 else 0}"


def linear(kept, numbers) -> str:
    rows = getattr(kept["x"], "ndim", 2)  # kept where the weight has a gradient
    if kept["z_shape"] is None:
        if rows == 1 and len(kept.get("y_shape") or (0, 0)) == 1:
            return "DotBackward0"
        return "MmBackward0" if rows == 2 else "SqueezeBackward4" if rows == 1 else "UnsafeViewBackward0"
    return "AddmmBackward0" if rows == 2 else "ViewBackward0"


def plus_product(kept, numbers) -> str:
    dims = len(kept["y_shape"]), len(kept["z_shape"])
    return "AddbmmBackward0" if kept["p_over"] else {(2, 1): "AddmvBackward0", (3, 3): "BaddbmmBackward0"}.get(dims, "AddmmBackward0")


def windows(base, rest="") -> Callable:
    """Of 1 dim they are those of 2 with one more in PyTorch, squeezed out at last."""

    def name(kept, numbers) -> str:
        ndim = len(kept["x_shape"]) - 2
        return "SqueezeBackward1" if ndim == 1 else f"{base}{ndim}D{rest}Backward0"

    return name


def cross_entropy(kept, numbers) -> str:
    if kept.get("p_label_smoothing"):
        return "AddBackward0"
    return "NllLoss2DBackward0" if kept["y"].ndim > 1 else "NllLossBackward0"


def regroup(kept, numbers) -> str:
    if len(kept["p_split"]) % 2:
        return "ChannelShuffleBackward0"
    return f"Pixel{'Shuffle' if kept['p_order'][-1] == len(kept['p_order']) // 2 else 'Unshuffle'}Backward0"


def padding(kept, numbers) -> str:
    base = ("ReflectionPad", "ReplicationPad", "Pad")[kept["p_mode"]]
    return f"{base}{len(kept['p_pad']) // 2}DBackward0" if base != "Pad" else "CopySlices"


NAMES = {
    **{op: over_dims(base) for op, base in SEVERAL.items()},
    **{op: by_number(op.capitalize()) for op in ("eq", "ne", "lt", "le", "gt", "ge")},
    "pow": by_number("Pow", y=0, x=2, neither=1),
    "rsub": by_number("Rsub", y=1, neither=0),
    "remainder": by_number("Remainder"),
    "fmod": by_number("Fmod"),
    "xlogy": by_number("Xlogy", y=2, x=1, neither=0),
    "copysign": by_number("Copysign", y=1, neither=0),
    "_special_zeta": by_number("SpecialZeta", y=2, x=1, neither=0),
    **dict.fromkeys(("trunc_divide", "_floor_quotient"), lambda kept, numbers: "DivBackward2"),
    "squeeze": squeeze,
    "clamp_min": by_number("ClampMin"),
    "clamp_max": by_number("ClampMax"),
    "lerp": lambda kept, numbers: f"LerpBackward{0 if isinstance(kept['z'], (int, float, complex)) else 1}",
    "copy": lambda kept, numbers: "CloneBackward0" if kept["p_dtype"] is None else "ToCopyBackward0",
    "matmul": matmul,
    "bernoulli_scalar_": lambda kept, numbers: "BernoulliBackward2",
    "random_full_": lambda kept, numbers: "RandomBackward2",
    "linear": linear,
    "_plus_product": plus_product,
    "amax": lambda kept, numbers: "MaxBackward1" if kept["p_dim"] is None else "AmaxBackward0",  # x.max()
    "amin": lambda kept, numbers: "MinBackward1" if kept["p_dim"] is None else "AminBackward0",
    "_triangle": lambda kept, numbers: "TriuBackward0" if kept["p_upper"] else "TrilBackward0",
    "avg_pool": windows("AvgPool"),
    "max_pool": windows("MaxPool", "WithIndices"),
    "_max_pool_values": windows("MaxPool", "WithIndices"),
    "adaptive_avg_pool": windows("AdaptiveAvgPool"),
    "adaptive_max_pool": windows("AdaptiveMaxPool"),
    "_cross_entropy": cross_entropy,
    "_nll_loss": cross_entropy,
    "_grid_sample": lambda kept, numbers: f"GridSampler{kept['x'].ndim - 2}DBackward0",
    "_pad_around": padding,
    "_regroup": regroup,
}


def told(node) -> Any:
    """What one_step was told of the node's row in the function that called it."""
    names = None if node._called_so else steps.get(getattr(node, "_code", None))
    return None if names is None or node._rule is None else names.get(node._rule.op_name)


def of_whole(node) -> str | None:
    """The name that the node has as the last of a function that is one step; None where it is none."""
    name = told(node)
    if name is GOES_ON:
        return begun(node)
    return name[bool(node._numbers)] if type(name) is tuple else name


def begun(node) -> str | None:
    """The name of the step that the node's first input is, where the node goes on with it."""
    name = of_whole(node._inputs[0]) if told(node) is GOES_ON and node._inputs[0] is not None else None
    return name if type(name) is Begun else None


@cache
def renamed(kind, name, for_good=False) -> type:
    """A node class as another, under another name."""
    return type(str(name), (kind,), {"__slots__": (), "__module__": kind.__module__, "_numbered": None} | ({"_called_so": True} if for_good else {}))


# how many edges a node has there, where ours has one for an operand that is a number, or none for one without derivative
EDGES = {
    **dict.fromkeys(
        (
            "PowBackward0", "PowBackward2", "RemainderBackward0", "FmodBackward0", "RsubBackward1", "MaskedFillBackward0", "ClampBackward1", "ClampMinBackward0",
            "ClampMaxBackward0", "IndexFillBackward0", "SoftMarginLossBackward0", "EqBackward0", "NeBackward0", "LtBackward0", "LeBackward0", "GtBackward0", "GeBackward0", "XlogyBackward1",
            "XlogyBackward2", "CopysignBackward1",
        ),
        1,
    ),
    **dict.fromkeys(
        (
            "LerpBackward0", "HuberLossBackward0", "SmoothL1LossBackward0", "BinaryCrossEntropyWithLogitsBackward0", "MmBackward0", "DivBackward0", "DivBackward2", "SubBackward0", "MulBackward0", "AddBackward0",
            "ComplexBackward0", "FillBackward3", "BinaryCrossEntropyBackward0", "MseLossBackward0", "CopyBackwards",
        ),
        2,
    ),
}  # fmt: skip


def lined_up(name, row, edges) -> tuple:
    """The edges of a node of this name in PyTorch's order and number, which differs by those that lead nowhere. row: what it is of."""
    if row == "linear" and name == "AddmmBackward0":  # the last argument is the first there
        edges.insert(0, edges.pop())
    if row == "_batch_norm_eval":  # the statistics, which are there only where somebody asks for their gradients
        edges[1:3] = [e for e in edges[1:3] if e[0] is not None]
    if name == "ClampBackward0" and len(edges) == 2:  # one bound of two
        edges.insert(1 if row == "clamp_max" else 2, (None, 0))
    wanted = EDGES.get(name)
    if wanted is not None:
        for at in (-1, 0):
            while len(edges) > wanted and edges[at][0] is None:
                edges.pop(at)
        while len(edges) > wanted and edges[-1] in edges[:-1]:  # one argument of several rows
            edges.pop()
        edges += [(None, 0)] * (wanted - len(edges))
    return tuple(edges)


# in place, under names of their own
IN_PLACE = {name: name.replace("Backward0", "Backward1") for name in ("CeluBackward0", "EluBackward0", "LeakyReluBackward0", "PolygammaBackward0", "ThresholdBackward0")}
