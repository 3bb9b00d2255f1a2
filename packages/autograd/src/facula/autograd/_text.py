"""The text of recorders and of backward methods."""

from __future__ import annotations

from inspect import signature

INDENT = "    "


class Lines(list):
    """Lines of text; `with` is a deeper level."""

    depth = 0

    def add(self, text) -> None:
        self.append(INDENT * self.depth + text)

    def open(self, text) -> Lines:
        self.add(text)
        self.depth += 1
        return self

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *exc) -> None:
        self.depth -= 1


class Variant:
    """How an op's operands come: all tensors alike, or with a number among them, or of other shapes or dtypes."""

    def __init__(self, saves, suffix="", numbers=(), changed=()) -> None:
        self.saves, self.suffix, self.numbers = saves, suffix, numbers
        self.changed = changed  # what promotion and broadcasting may have done to an operand: "_cast", "_small"
        self.live = [k for k in saves.active if k not in numbers]
        self.layout = [*saves.layout, *(k + end for k in self.live for end in changed)]

    @property
    def loose(self) -> bool:
        """Three operands, each of which may be a number: asked at run time instead of one variant for each case."""
        o = self.saves.operands
        return o.broadcasts and len(o.letters) > 2


def variants(o, saves) -> list:
    """The first is the usual one."""
    if not saves.casts:
        return [Variant(saves)]
    if len(o.letters) > 2:
        return [Variant(saves, changed=("_cast", "_small"))]
    x, y = o.letters
    all_ = [Variant(saves), Variant(saves, "_mixed", changed=("_cast", "_small"))]
    return all_ + [Variant(saves, "_" + k, (k,), ("_cast",)) for k in (y, x)]


def recorder_text(op, rule, o, saves, kinds) -> Lines:
    """record_<op>(out, *arguments): makes the node, unless nothing is recorded or no operand needs it."""
    t = Lines()
    arguments = ", ".join(o.arguments)
    with t.open(f"def record_{op.name}(out, {arguments}):"):
        with t.open("if modes._unusual and not recording():"):
            if op.kind == "view":  # requires grad, as its base does, but for an inference tensor
                t.add(f"out._origin = Nowhere() if not inference(out._h){' and is_float(out)' if rule.check else ''} else None")
            t.add("return")
        if rule.check:
            with t.open("if not is_float(out):"):
                t.add("return")
            with t.open("if is_complex(out):"):
                t.add("saw_complex()")
        if len(kinds) > 1:
            x, y = o.letters
            with t.open(f"if type({y}) is not Tensor and type({y}) in NUMBERS:"):
                t.add(f"return record_{op.name}_{y}(out, {arguments})")
            with t.open("try:"):
                t.add(f"s = pair({x}._h, {y}._h)  # 1: another shape or dtype, 2: written to before")
            with t.open("except AttributeError:  # a number has no handle"):
                t.add(f"return record_{op.name}_{x}(out, {arguments})")
            with t.open("if s & 1:"):
                t.add(f"return record_{op.name}_mixed(out, {arguments})")
        one(t, op, o, saves, kinds[0], 2)
    for v in kinds[1:]:
        t += ["", ""]
        with t.open(f"def record_{op.name}{v.suffix}(out, {arguments}):"):
            one(t, op, o, saves, v, 3)
    return t


def one(t, op, o, saves, v, depth) -> None:
    """A recorder's work in one variant; `depth` frames up is the line that called the op."""
    if not v.live and not saves.lists:
        t.add("return")
        return
    for k in v.live:
        test = f"isinstance({k}, Tensor)" if v.loose else f"{k} is not None" if k in o.optional else None
        t.add(f"{k}o = {k}._origin if {test} else None" if test else f"{k}o = {k}._origin")
    for name, k in o.letter.items():
        if k not in saves.active and k not in v.numbers:
            test = f"isinstance({k}, Tensor) and " if v.loose else f"{k} is not None and " if k in o.optional else ""
            with t.open(f"if {test}{k}._origin is not None:"):
                t.add(f"no_derivative({op.name!r}, {name!r})")
    if v.live and (len(v.live) < len(o.letters) or o.optional or v.loose):
        with t.open(f"if {' is None and '.join(k + 'o' for k in v.live)} is None:"):
            t.add("return")
    t.add(f"f = frame({depth})")
    if saves.lists:
        inputs = f"tuple([t._origin for t in p_{saves.lists[0]}])"
    else:
        inputs = f"({', '.join('None' if k in v.numbers else k + 'o' for k in saves.active)},)"
    make = f"n = node(Backward{v.suffix}, {inputs}, ({{}}), f.f_code, f.f_lasti)"
    extra = []
    if v.changed:
        casts(t, o, saves, v)
        extra = [k + end[1] for k in v.live for end in v.changed]
    if saves.casts and not v.changed and any(kind == "tensor" for _, kind in saves.wanted.values()):
        with t.open("if s:"):
            t.add(make.format(listed([*saves.entries(v.numbers), *extra])))
        with t.open("else:"):
            t.add(make.format(listed([*saves.entries(v.numbers, fresh=True), *extra])))
    else:
        t.add(make.format(listed([*saves.entries(v.numbers), *extra])))
    if op.results is None and op.kind != "own":
        t.add("out._origin = n")
    else:
        with t.open("if type(out) is tuple or type(out) is list:"):
            t.add("place(n, out, flat)")
        with t.open("else:"):
            t.add("out._origin = n")
    with t.open("if special:"):
        t.add("finish(n)")


def listed(values) -> str:
    """The inside of a tuple display."""
    return "".join(f"{value}, " for value in values)


def casts(t, o, saves, v) -> None:
    """Set <k>c to an operand's dtype where promotion changed one (a rule meets the operands as they were), <k>s to its shape where it was broadcast; else None."""
    if v.numbers:
        with t.open(f"if type({v.numbers[0]}) is complex:"):
            t.add("saw_complex()")
            for k in v.live:
                t.add(f"{k}c = None if is_complex({k}) else {k}.dtype")
        with t.open("else:"):
            t.add(f"{' = '.join(k + 'c' for k in v.live)} = None")
        return
    with t.open("if is_complex(out):"):
        t.add("saw_complex()")
    for k in v.live:
        odd = " or ".join([f"{k}.dtype is not out.dtype", *(f"getattr({j}, 'dtype', out.dtype) is not out.dtype" for j in v.live if j != k)])  # a number under vmap
        test = f"{k}o is not None and " if len(v.live) > 1 else ""
        t.add(f"{k}c = {k}.dtype if {test}({odd}) else None")
        t.add(f"{k}s = {k}.shape if {test}{k}.shape is not out.shape else None")


def backward_text(op, rule, o, saves, v) -> Lines:
    """_backward(self, g, inputs) of one variant's node: the gradients of the inputs."""
    t = Lines()
    used = {n for f in rule.grads.values() for n in signature(f).parameters}
    numbered = sorted(n for n in used if n[0] == "g" and n[1:].isdigit())
    several = "gs" in used or bool(numbered)
    conj = saves.conjugates and not several
    with t.open(f"def _backward{v.suffix}(self, g, inputs):"):
        unpack(t, saves, v, len(op.results or ()))
        if several:
            t.add("gs = g if type(g) is list else [g]")
        for n in numbered:
            t.add(f"{n} = gs[{n[1:]}]")
        if conj:
            t.add("turned = complex_seen and is_complex(g)")
            with t.open("if turned:"):
                t.add("given, g = g, conj(g)")
        if saves.lists:
            t.add("needs = [i is not None for i in inputs]")
            t.add(f"grads = rule_{saves.lists[0]}({called(saves.lists[0], rule, saves)})")
            t.add("return [None if t is None else given if t is g else conj(t) for t in grads] if turned else grads" if conj else "return grads")
            return t
        t.add(f"{', '.join(k + 'i' for k in saves.active)}, = inputs")
        for key in sorted(rule.grads, key=lambda key: o.called(key[0])):  # PyTorch's order: where gradients of gradients meet, the one that came first says how the sum lies
            if key in v.numbers:
                t.add(f"{key}g = None")
                continue
            if len(key) > 1:
                t.add(f"needs = ({', '.join(f'{k}i is not None' for k in key)})")
                t.add(f"{', '.join(k + 'g' for k in key)} = rule_{key}({called(key, rule, saves)})")
                after(t, key, v, conj)
                continue
            with t.open(f"if {key}i is not None:"):
                t.add(f"{key}g = rule_{key}({called(key, rule, saves)})")
                after(t, key, v, conj)
            with t.open("else:"):
                t.add(f"{key}g = None")
        t.add(f"return ({', '.join(k + 'g' for k in saves.active)},)")
    return t


def unpack(t, saves, v, count) -> None:
    """Take the saved values apart, check versions, give kept results their history where gradients are recorded."""
    if not v.layout:
        return
    t.add("saved = self._saved")
    with t.open("if type(saved) is not tuple:"):
        t.add("saved = self._thawed()")
    t.add(f"{', '.join(v.layout)}, = saved")
    for name, (_, kind) in saves.wanted.items():
        if kind == "list":
            t.add(f"check_list(self, {name[2:]!r}, {name}, {name}_version)")
        elif kind in ("tensor", "out"):
            if name in v.numbers:
                continue
            if kind == "out":
                with t.open(f"if type({name}) is TensorHandle:"):
                    t.add(f"{name} = tensor_of({name})")
            there = f"{name}_version" if v.loose else name
            with t.open(f"if {there} is not None and version({name}._h) != {name}_version:"):
                t.add(f"raise self._changed({name!r}, {name}, {name}_version)")
        if kind == "out":
            with t.open(f"if {name} is not None and recording():"):
                t.add(f"{name} = self._of_result({name})" if name == "out" else f"{name} = self._of_one_result({name}, {name[3:]}, flat, {count})")


def after(t, key, v, conj) -> None:
    """What the op class does to a rule's gradient."""
    for k in key:
        if conj:
            with t.open(f"if turned and {k}g is not None:"):
                t.add(f"{k}g = given if {k}g is g else conj({k}g)")
        if "_cast" in v.changed:
            with t.open(f"if {k}_cast is not None and {k}g is not None:"):
                t.add(f"{k}g = cast({k}g, {k}_cast)")
        if "_small" in v.changed:
            with t.open(f"if {k}_small is not None and {k}g is not None:"):
                t.add(f"{k}g = sum_to({k}g, {k}_small)")


def called(key, rule, saves) -> str:
    return ", ".join(saves.resolve(name)[0] for name in signature(rule.grads[key]).parameters)
