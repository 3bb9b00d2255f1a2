"""Makes, for each op with a derivative, its node class and its recorder, as readable generated text (see source("mul")).

    def record_mul(out, x, y):
        if modes._unusual and not recording():
            return
        if y.__class__ in NUMBERS: ...
        xo = x.origin
        yo = y.origin
        n = Backward()
        ...
        n.inputs = (xo, yo)
        n.saved = (y if xo is not None else None, ..., x if yo is not None else None, ...)
        out.origin = n

and Backward.backward(self, g, inputs) checks versions, calls the rules of the operands that need a gradient, sums over
broadcast dims and casts back after promotion. Text is made on an op's first use: made for all ops at import it would
cost a third of a second.
"""

import linecache
import sys

from . import _core, _support
from ._core import ops
from ._node import Node, Output, saved_properties
from ._operands import Operands, Saves
from ._table import NONE, RULES
from ._text import backward_text, recorder_text

LIVE = [_support.NAMES]  # the global namespaces of generated functions, so that a switch reaches them all


def switch(name, value):
    """Turn a process-wide switch for all recorders, made and to be made."""
    for names in LIVE:
        names[name] = value


def saw_complex():
    if not _support.NAMES["complex_seen"]:
        switch("complex_seen", True)


def compiled(op, rule):
    """(node class, recorder) of an op."""
    operands = Operands(op)
    saves = Saves(operands, rule)
    text = recorder_text(op, rule, operands, saves)
    text += ["", "", *backward_text(op, rule, operands, saves), ""]
    source = "\n".join(text)
    filename = f"<autograd of {op.name}>"
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    names = dict(_support.NAMES, saw_complex=saw_complex, flat=rule.flat)
    names.update({"rule_" + key: f for key, f in rule.grads.items()})
    scope = {}
    exec(compile(source, filename, "exec"), names, scope)
    node = type(rule.name, (Node,), {
        "__slots__": (), "rule": rule, "backward": scope["backward"], "keeps": saves.keeps, "layout": tuple(saves.layout),
        "__module__": "facula.autograd", **saved_properties(saves.layout),
    })  # fmt: skip
    names["Backward"] = node
    LIVE.append(names)
    recorder = scope[f"record_{op.name}"]
    recorder.wants_input = "x" in saves.layout
    recorder.out_at = saves.layout.index("out") if "out" in saves.layout else None
    return node, recorder


def source(op_name):
    """The generated text of an op's recorder and backward."""
    compiled(ops[op_name], RULES[op_name])
    return "".join(linecache.cache[f"<autograd of {op_name}>"][2])


WRITERS = {}  # op name -> recorder for writes in place; the same text as in the record list, there made at first use


def recorder_of(op, rule):
    recorder = WRITERS.get(op.name)
    if recorder is None:
        _, recorder = compiled(op, rule)
        WRITERS[op.name] = recorder
    return recorder


def first_use(op):
    """The entry of the record list until the op is first recorded: makes the recorder, puts it there and calls it."""

    def record(out, *args):
        node, recorder = compiled(op, RULES[op.name])
        _core.record[op.id] = recorder
        recorder(out, *args)
        caller = sys._getframe(2)  # the recorder saw one frame too few
        origin = (out[0] if out.__class__ in (tuple, list) else out).origin
        if type(origin) is Output:
            origin = origin.inputs[0]
        if type(origin) is node:
            origin.code, origin.at = caller.f_code, caller.f_lasti

    return record


def missing(op):
    def record(out, *args):
        if _core.grad_mode():
            raise _core.GradError(f"{op.name}: has no derivative. Call it under no_grad(), or on detached tensors.")

    return record


def ignore(out, *args):
    """The recorder of an op whose results never have history."""


def fill():
    """Put an entry for every op into the core's record list."""
    for op in ops.values():
        rule = RULES.get(op.name)
        _core.record[op.id] = missing(op) if rule is None else ignore if rule is NONE else first_use(op)
