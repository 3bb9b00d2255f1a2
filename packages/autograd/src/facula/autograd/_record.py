"""Makes, for each op with a derivative, its node class and its recorder, as readable generated text.

The recorder of `mul`, for example, is (see show("mul")):

    def record_mul(out, x, y):
        xo = x.origin if isinstance(x, Tensor) else None
        yo = y.origin if isinstance(y, Tensor) else None
        n = MulBackward0()
        ...
        n.inputs = (xo, yo)
        n.saved = (y if xo is not None else None, ..., x if yo is not None else None, ...)
        out.origin = n

and MulBackward0.backward(self, g, inputs) checks versions, calls the rules of the operands that need a gradient, sums
over broadcast dims and casts back after promotion. Text is made on an op's first use: generated for all ops at import
it would cost a third of a second.
"""

import linecache
import sys
from inspect import signature

from . import _core
from ._core import Tensor, alias, dtype, is_complex, is_float, ops, version
from ._node import Node, Output, tick
from ._table import LETTERS, NONE, RULES

# What generated functions see. `special` and `complex_seen` are process-wide switches for what is rare: hooks on saved
# tensors or anomaly mode somewhere, a complex tensor in some graph. A global read costs 2 ns, a look at a dtype 50.
NAMES = {
    "Tensor": Tensor, "version": version, "alias": alias, "dtype": dtype, "is_complex": is_complex, "is_float": is_float,
    "tick": tick, "Output": Output, "frame": sys._getframe, "special": False, "complex_seen": False,
}  # fmt: skip
INDENT = "    "


LIVE = []  # the global namespaces of generated functions, so that a switch reaches them all


def switch(name, value):
    """Turn a process-wide switch for all recorders, made and to be made."""
    NAMES[name] = value
    for names in LIVE:
        names[name] = value


def saw_complex():
    if not NAMES["complex_seen"]:
        switch("complex_seen", True)


class Operands:
    """The tensor operands of an op: letters, which may be numbers or absent, and lists."""

    def __init__(self, op):
        self.op = op
        self.params = [p.name for p in op.params]
        letters = iter(LETTERS)
        self.letter = {}  # parameter name -> letter
        self.lists, self.optional, self.loose = [], set(), set()
        for p in op.params:
            if p.type == "Tensor[]":
                self.lists.append(p.name)
            elif p.type.startswith("Tensor"):
                self.letter[p.name] = k = next(letters)
                if "?" in p.type:
                    self.optional.add(k)
                if op.kind in ("map2", "map3"):
                    self.loose.add(k)  # a Python number where PyTorch takes one
        self.letters = list(self.letter.values())
        self.broadcasts = op.kind in ("map2", "map3")
        self.arguments = [self.letter.get(p, "p_" + p) for p in self.params]

    def argument(self, name):
        """The name in generated text of what a rule calls `name`."""
        if name in self.letters:
            return name
        if name in self.letter:
            return self.letter[name]
        if name in self.params:
            return "p_" + name
        return None

    def is_tensor(self, k):
        return f"isinstance({k}, Tensor)" if k in self.loose else f"{k} is not None" if k in self.optional else None

    def origin(self, k):
        test = self.is_tensor(k)
        return f"{k}.origin if {test} else None" if test else f"{k}.origin"


class Saves:
    """The union of what the rules name, each with the condition under which it is kept and the text that gives it."""

    def __init__(self, operands, rule):
        self.operands, self.rule = operands, rule
        self.wanted = {}  # name in the text -> (set of letters that want it, kind)
        for key, f in rule.grads.items():
            for name in signature(f).parameters:
                found = self.resolve(name)
                if found is None:
                    raise TypeError(f"{rule.op_name}: the rule for {key} asks for {name!r}, which is no operand, result or attribute ({', '.join(operands.params)}).")
                if found[1] != "gradient":
                    self.wanted.setdefault(found[0], (set(), found[1]))[0].update(key if key not in operands.lists else operands.lists)

    def resolve(self, name):
        o = self.operands
        if name in ("g", "gs", "needs") or (name[0] == "g" and name[1:].isdigit()):
            return name, "gradient"
        if name == "out" or (name[:3] == "out" and name[3:].isdigit()):
            return name, "out"
        for suffix in ("_shapes", "_shape", "_geometry", "_dtypes", "_dtype"):
            if name.endswith(suffix) and o.argument(name[: -len(suffix)]):
                return o.argument(name[: -len(suffix)]) + suffix, suffix
        found = o.argument(name)
        if found is None:
            return None
        return found, "tensor" if found in o.letters else "list" if found[2:] in o.lists else "attribute"

    def condition(self, who):
        active = [k for k in self.rule.grads if k not in self.operands.lists]
        letters = {c for k in active for c in k}
        return None if who >= letters or who & set(self.operands.lists) else " or ".join(f"{k}o is not None" for k in sorted(who))

    def entries(self):
        """(name, expression) of each saved value; a tensor is followed by its version."""
        for name, (who, kind) in self.wanted.items():
            cond = self.condition(who)
            if kind == "tensor":
                tests = [t for t in (f"({cond})" if cond else None, self.operands.is_tensor(name)) if t]
                yield name, f"{name} if {cond} else None" if cond else name
                yield name + "_version", f"version({name}) if {' and '.join(tests)} else None" if tests else f"version({name})"
            elif kind == "list":
                yield name, f"tuple({name})"
                yield name + "_version", f"[None if t is None else version(t) for t in {name}]"
            elif kind == "out":
                source = f"out[{name[3:]}]" if name[3:] else "out"
                yield name, f"alias({source}) if {cond} else None" if cond else f"alias({source})"
                yield name + "_version", f"version({source}) if {cond} else None" if cond else f"version({source})"
            elif kind == "_shape":
                base = name[: -len(kind)]
                test = self.operands.is_tensor(base)
                yield name, f"{base}._shape if {test} else ()" if test else f"{base}._shape"
            elif kind == "_shapes":
                yield name, f"[t._shape for t in {name[: -len(kind)]}]"
            elif kind == "_dtypes":
                yield name, f"[dtype(t) for t in {name[: -len(kind)]}]"
            elif kind == "_geometry":
                base = name[: -len(kind)]
                yield name, f"({base}._shape, {base}.stride(), {base}.storage_offset())"
            elif kind == "_dtype":
                yield name, f"dtype({name[: -len(kind)]})"
            else:
                yield name, name

    @property
    def keeps(self):
        return any(kind in ("tensor", "list", "out") for _, kind in self.wanted.values())

    @property
    def conjugates(self):
        if self.rule.real:
            return False
        scalars = {"p_" + p.name for p in self.operands.op.params if p.type == "Scalar"}
        return self.keeps or bool(scalars & set(self.wanted))


def recorder_text(op, rule, operands, saves, layout):
    """Source of record_<op>(out, *arguments)."""
    o = operands
    lines = [f"def record_{op.name}(out, {', '.join(o.arguments)}):"]
    add = lambda text, depth=1: lines.append(INDENT * depth + text)  # noqa: E731
    if rule.check:
        add("if not is_float(out):")
        add("return", 2)
        add("if is_complex(out):")
        add("saw_complex()", 2)
    active = [c for key in rule.grads if key not in o.lists for c in key]
    for k in active:
        add(f"{k}o = {o.origin(k)}")
    for k in o.letters:
        if k not in active:
            test = o.is_tensor(k)
            add(f"if {test + ' and ' if test else ''}{k}.origin is not None:")
            add(f"no_derivative({op.name!r}, {next(p for p, c in o.letter.items() if c == k)!r})", 2)
    listed = [key for key in rule.grads if key in o.lists]
    if active:
        add(f"if {' is None and '.join(k + 'o' for k in active)} is None:")
        add("return", 2)
    add("n = Backward()")
    add("f = frame(2)")
    add("n.code = f.f_code")
    add("n.at = f.f_lasti")
    add("n.seq = tick()")
    add("n.extra = None")
    add("n.inputs = " + (f"tuple([t.origin for t in p_{listed[0]}])" if listed else f"({', '.join(k + 'o' for k in active)},)"))
    values = list(saves.entries())
    if o.broadcasts and len(o.letters) > 1:
        loose_pairs(o, active, add)
        for k in active:
            values.append((k + "_cast", f"{k}c"))
            values.append((k + "_small", f"{k}._shape if {k}o is not None and {k}._shape is not out._shape else None"))
    layout.extend(name for name, _ in values)
    if values:
        add("n.saved = (")
        for _, text in values:
            add(text + ",", 2)
        add(")")
    else:
        add("n.saved = ()")
    single = op.kind.startswith("map") or op.kind in ("scan", "dot", "gather")
    if not single:
        add("if out.__class__ is tuple or out.__class__ is list:")
        add("place(n, out, flat)", 2)
        add("else:")
    add("out.origin = n", 1 if single else 2)
    add("if special:")
    add("finish(n)", 2)
    return lines


def loose_pairs(o, active, add):
    """Set <k>c to the operand's dtype where promotion changed it, else None."""
    tests = []
    for i, k in enumerate(o.letters):
        for j in o.letters[i + 1 :]:
            tests.append(f"({o.is_tensor(k)} and {o.is_tensor(j)} and dtype({k}) is not dtype({j}))")
        tests.append(f"{k}.__class__ is complex")
    if len(o.letters) == 2:  # the common case, flat: 2 looks at a dtype where both are tensors, else none
        k, j = o.letters
        mixed = f"dtype({k}) is not dtype({j}) if {o.is_tensor(k)} and {o.is_tensor(j)} else {k}.__class__ is complex or {j}.__class__ is complex"
    else:
        mixed = " or ".join(tests)
    add(f"if {mixed}:")
    add("if is_complex(out):", 2)
    add("saw_complex()", 3)
    for k in active:
        add(f"{k}c = dtype({k}) if {k}o is not None and dtype({k}) is not dtype(out) else None", 2)
    add("else:")
    add(f"{' = '.join(k + 'c' for k in active)} = None", 2)


def backward_text(op, rule, operands, saves, layout):
    """Source of Backward.backward(self, g, inputs)."""
    o = operands
    lines = ["def backward(self, g, inputs):"]
    add = lambda text, depth=1: lines.append(INDENT * depth + text)  # noqa: E731
    if layout:
        add("saved = self.saved")
        add("if saved.__class__ is not tuple:")
        add("saved = self.thawed()", 2)
        add(f"{', '.join(layout)}, = saved")
    for name in layout:
        if name.endswith("_version"):
            value = name[:-8]
            if value[:2] == "p_":
                add(f"check_list(self, {value[2:]!r}, {value}, {name})")
            else:
                add(f"if {name} is not None and version({value}) != {name}:")
                add(f"raise self.changed({value!r}, {value}, {name})", 2)
    for name, (_, kind) in saves.wanted.items():
        if kind == "out":
            add(f"if {name} is not None and recording():")
            add(f"{name} = self.of_result({name})" if name == "out" else f"{name} = self.of_one_result({name}, {name[3:]})", 2)
    used = {n for f in rule.grads.values() for n in signature(f).parameters}
    several = "gs" in used or any(n[0] == "g" and n[1:].isdigit() for n in used)
    if several:
        add("gs = g if g.__class__ is list else [g]")
        for n in sorted(used):
            if n[0] == "g" and n[1:].isdigit():
                add(f"{n} = gs[{n[1:]}]")
    conj = saves.conjugates and not several
    if conj:
        add("turned = complex_seen and is_complex(g)")
        add("if turned:")
        add("g = conj(g)", 2)
    listed = [key for key in rule.grads if key in o.lists]
    if listed:
        add("needs = [i is not None for i in inputs]")
        add(f"grads = rule_{listed[0]}({call(listed[0], rule, saves)})")
        if conj:
            add("if turned:")
            add("grads = [None if t is None else conj(t) for t in grads]", 2)
        add("return grads")
        return lines
    active = [c for key in rule.grads for c in key]
    add(f"{', '.join(k + 'i' for k in active)}, = inputs")
    for key in rule.grads:
        if len(key) > 1:
            add(f"needs = ({', '.join(f'{k}i is not None' for k in key)})")
            add(f"{', '.join(k + 'g' for k in key)} = rule_{key}({call(key, rule, saves)})")
            after(o, key, layout, conj, add, 1)
        else:
            add(f"if {key}i is not None:")
            add(f"{key}g = rule_{key}({call(key, rule, saves)})", 2)
            after(o, key, layout, conj, add, 2)
            add("else:")
            add(f"{key}g = None", 2)
    add(f"return {', '.join(k + 'g' for k in active)},")
    return lines


def after(o, key, layout, conj, add, depth):
    for k in key:
        if conj:
            add(f"if turned and {k}g is not None:", depth)
            add(f"{k}g = conj({k}g)", depth + 1)
        if k + "_cast" in layout:
            add(f"if {k}_cast is not None and {k}g is not None:", depth)
            add(f"{k}g = cast({k}g, {k}_cast)", depth + 1)
            add(f"if {k}_small is not None and {k}g is not None:", depth)
            add(f"{k}g = sum_to({k}g, {k}_small)", depth + 1)


def call(key, rule, saves):
    return ", ".join(saves.resolve(name)[0] for name in signature(rule.grads[key]).parameters)


def compiled(op, rule):
    """(node class, recorder) of an op."""
    from . import _support

    o = Operands(op)
    for key in rule.grads:
        if key not in o.lists and set(key) - set(o.letters):
            raise TypeError(f"{op.name}: has a rule for {key!r} but the operands {', '.join(o.letters + o.lists) or 'of no tensor'}.")
    saves = Saves(o, rule)
    layout = []
    text = recorder_text(op, rule, o, saves, layout)
    backward = backward_text(op, rule, o, saves, layout)
    source = "\n".join([*text, "", "", *backward, ""])
    filename = f"<autograd of {op.name}>"
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    names = dict(NAMES)
    names.update(_support.names(), flat=rule.flat, saw_complex=saw_complex)
    names.update({"rule_" + key: f for key, f in rule.grads.items()})
    scope = {}
    exec(compile(source, filename, "exec"), names, scope)
    node = type(rule.name, (Node,), {
        "__slots__": (), "rule": rule, "backward": scope["backward"], "keeps": saves.keeps, "layout": tuple(layout),
        "__module__": "facula.autograd",
    })  # fmt: skip
    names["Backward"] = node
    LIVE.append(names)
    recorder = scope[f"record_{op.name}"]
    recorder.wants_input = "x" in layout
    recorder.out_at = layout.index("out") if "out" in layout else None
    return node, recorder


def recorder_of(op, rule):
    """The recorder of an op that writes in place, made when first asked for (it is not in the record list)."""
    recorder = WRITERS.get(op.name)
    if recorder is None:
        _, recorder = compiled(op, rule)
        WRITERS[op.name] = recorder
    return recorder


WRITERS = {}


def first_use(op):
    """The entry of the record list until the op is first recorded: makes the recorder, puts it there and calls it."""

    def record(out, *args):
        node, recorder = compiled(op, RULES[op.name])
        NODES[op.name] = node
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
        raise _core.GradError(f"{op.name}: has no derivative. Call it under no_grad(), or on detached tensors.")

    return record


def ignore(out, *args):
    """The recorder of an op whose results never have history."""


NODES = {}  # op name -> node class, of the ops recorded so far


def fill():
    """Put an entry for every op into the core's record list."""
    for op in ops.values():
        rule = RULES.get(op.name)
        _core.record[op.id] = missing(op) if rule is None else ignore if rule is NONE else first_use(op)
