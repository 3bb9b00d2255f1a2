"""The derivative table: D(op, x=rule, y=rule) says what each operand's gradient is; the rules are in rules/.

A rule is a function whose parameter names are what it gets, and so what is kept for backward:

    g             the gradient of the result (g0, g1 of several results; gs: the list of them, None where there is none)
    x, y, z, w    the tensor operands by position (also under the signature's names)
    out           the result (out0, out1 of several), kept without its history
    x_shape       the shape of an operand; x_geometry: (shape, strides) of it; x_format: format_of() it; x_dtype
    x_seen        the operand where another operand's rule keeps it anyway, else None: for a look at its layout
    x_lies        how a matrix lies, where x_seen is None: fc_matrix_lies() of it
    x_origin      where the gradient of x goes, for one that has a history through x without keeping it
    needs         which operands of a joint rule need a gradient: tuple of bools in the order of the key
    dim, alpha    any other parameter of the signature

A key of one letter gives that operand's gradient, a key of several ("xyz") is a joint rule and gives a tuple, and the
name of a list operand ("tensors") gives a list. A rule may return None: no gradient.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import NoReturn

from ._core import NoDerivative, Tensor

LETTERS = "xyzwvutsrq"


@dataclass(frozen=True)
class Rule:
    op_name: str
    grads: dict  # key -> function
    name: str  # of the node class
    flat: tuple = ()  # results without derivative (indices)
    check: bool = False  # a result that may be an integer (a conversion): look before recording
    real: bool = False  # do not conjugate around this rule: it is written for complex numbers itself
    lasting: bool = False  # what it keeps is small and of nobody else: it stays, and a second backward needs no retain_graph


NONE = object()  # has no derivative at all: its result never has history (comparisons, argmax)
RULES = {}  # op name -> Rule or NONE
WRITTEN = {}  # op name -> Rule of a write in place, where that of the result would be NONE
UNRECORDED = set()  # names of ops whose writes in place ask nothing of the tape
REFUSED = set()  # the names of those that refuse()


def camel(op_name) -> str:
    words = "".join(part[:1].upper() + part[1:] for part in op_name.split("_") if part)
    return re.sub(r"\d[a-z]", lambda found: found[0].upper(), words) + "Backward0"


def D(op_name, *, node=None, flat=(), check=False, real=False, lasting=False, **grads) -> None:
    """Enter the derivative of an op."""
    if op_name in RULES:
        raise ValueError(f"{op_name}: has two derivatives. Remove one.")
    for f in grads.values():
        signature(f)  # a rule must be readable
    RULES[op_name] = Rule(op_name, grads, node or camel(op_name), tuple(flat), check, real, lasting)


def zero(*op_names, operands="x") -> None:
    """Ops whose derivative is zero wherever it exists: their results have history, their operands get zeros."""
    for op_name in op_names:
        D(op_name, **dict.fromkeys(operands, zeros))


def forgets(*op_names) -> None:
    """Ops without derivative that, in place, leave numbers with a history: nothing that was there before has influence, and gradients are zeros."""
    for op_name in op_names:
        WRITTEN[op_name] = Rule(op_name, dict.fromkeys("xy", zeros), camel(op_name))


def unrecorded(*op_names) -> None:
    """Ops that nothing refuses in place, not even where a leaf is written: what stands there keeps the history that it had."""
    UNRECORDED.update(op_names)


def none(*op_names) -> None:
    """Ops whose results are no numbers to differentiate: truth values, indices, random bits."""
    for op_name in op_names:
        if op_name in RULES:
            raise ValueError(f"{op_name}: has two derivatives. Remove one.")
        RULES[op_name] = NONE


def refuse(*op_names, operands="x", flat=(), node=None) -> None:
    """Ops whose derivative nobody has, or PyTorch refuses though it would be zero: their results have history, to go back through it is an error."""
    for op_name in op_names:
        name = op_name.lstrip("_")
        D(op_name, node=node or camel("_" + name.removeprefix("linalg_")), flat=flat, **dict.fromkeys(operands, refusal(name)))
        REFUSED.add(op_name)


def refusal(name) -> Callable:
    def refused(g) -> NoReturn:
        raise NoDerivative(f"derivative for aten::{name} is not implemented. Detach its arguments.")

    return refused


def alike(op_name, *others) -> None:
    """The others have the derivative that op_name has."""
    rule = RULES[op_name]
    for other in others:
        D(other, flat=rule.flat, check=rule.check, real=rule.real, lasting=rule.lasting, **rule.grads)


def zeros(g) -> Tensor:
    from ._core import zeros_like

    return zeros_like(g)
