"""Makes, for each op with a derivative, its node class and its recorder, as readable generated text (see source("mul")).

    def record_mul(out, x, y):
        if modes._unusual and not recording():
            return
        if type(y) is not Tensor and type(y) in NUMBERS:
            return record_mul_y(out, x, y)
        ...
        s = pair(x._h, y._h)  # 1: another shape or dtype, 2: written to before
        if s & 1:
            return record_mul_mixed(out, x, y)
        xo = x._origin
        yo = y._origin
        f = frame(2)
        n = node(Backward, (xo, yo), (y if xo is not None else None, 0, x if yo is not None else None, 0), f.f_code, f.f_lasti)
        out._origin = n

and Backward._backward(self, g, inputs) checks versions and calls the rules of the operands that need a gradient; the
variants for numbers and for mixed operands have node classes of their own, whose backward sums over broadcast dims and
casts back after promotion. Text is made on an op's first use: made for all ops at import it would cost a third of a second.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable

from . import _core, _support
from ._core import ops
from ._names import NAMES
from ._node import Node, Output, saved_properties
from ._operands import Operands, Saves
from ._table import NONE, RULES
from ._text import backward_text, recorder_text, variants

LIVE = [_support.NAMES]  # the global namespaces of generated functions, so that a switch reaches them all


def switch(name, value) -> None:
    """Turn a process-wide switch for all recorders, made and to be made."""
    for names in LIVE:
        names[name] = value


def saw_complex() -> None:
    if not _support.NAMES["complex_seen"]:
        switch("complex_seen", True)


def compiled(op, rule) -> Callable:
    """The recorder of an op, with its node classes."""
    operands = Operands(op)
    saves = Saves(operands, rule)
    kinds = variants(operands, saves)
    text = recorder_text(op, rule, operands, saves, kinds)
    for v in kinds:
        text += ["", "", *backward_text(op, rule, operands, saves, v)]
    source = "\n".join(text) + "\n"
    filename = f"<autograd of {op.name}>"
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    names = dict(_support.NAMES, saw_complex=saw_complex, flat=rule.flat)
    names.update({"rule_" + key: f for key, f in rule.grads.items()})
    exec(compile(source, filename, "exec"), names)
    for v in kinds:
        names["Backward" + v.suffix] = type(rule.name, (Node,), {
            "__slots__": (), "_rule": rule, "_backward": names["_backward" + v.suffix], "_keeps": saves.keeps and not rule.lasting, "_layout": tuple(v.layout), "_numbers": v.numbers,
            "_numbered": staticmethod(NAMES[op.name]) if op.name in NAMES else None, "__module__": "facula.autograd", **saved_properties(v.layout, {letter: name for name, letter in operands.letter.items()}),
        })  # fmt: skip
    LIVE.append(names)
    recorder = names[f"record_{op.name}"]
    recorder.wants_input = "x" in saves.layout
    recorder.out_at = saves.layout.index("out") if "out" in saves.layout else None
    return recorder


def source(op_name) -> str:
    """The generated text of an op's recorder and backward."""
    compiled(ops[op_name], RULES[op_name])
    return "".join(linecache.cache[f"<autograd of {op_name}>"][2])


WRITERS = {}  # op name -> recorder for writes in place; the same text as in the record list, there made at first use


def recorder_of(op, rule) -> Callable:
    recorder = WRITERS.get(op.name)
    if recorder is None:
        recorder = WRITERS[op.name] = compiled(op, rule)
    return recorder


def first_use(op) -> Callable:
    """The entry of the record list until the op is first recorded: makes the recorder, puts it there and calls it."""

    def record(out, *args) -> None:
        recorder = _core.record[op.id] = compiled(op, RULES[op.name])
        recorder(out, *args)
        caller = sys._getframe(2)  # the recorder saw one frame too few
        origin = (out[0] if out.__class__ in (tuple, list) else out)._origin
        if type(origin) is Output:
            origin = origin._inputs[0]
        if origin is not None and origin._rule is RULES[op.name]:
            origin._code, origin._at = caller.f_code, caller.f_lasti

    return record


def missing(op) -> Callable:
    def record(out, *args) -> None:
        if _core.grad_mode():
            raise _core.GradError(f"{op.name}: has no derivative. Call it under no_grad(), or on detached tensors.")

    return record


def ignore(out, *args) -> None:
    """The recorder of an op whose results never have history."""


def fill() -> None:
    """Put an entry for every op into the core's record list."""
    for op in ops.values():
        rule = RULES.get(op.name)
        _core.record[op.id] = missing(op) if rule is None else ignore if rule is NONE else first_use(op)
