"""The text of recorders and of backward methods."""

from inspect import signature

INDENT = "    "


class Lines(list):
    """Lines of text; `with` is a deeper level."""

    depth = 0

    def add(self, text):
        self.append(INDENT * self.depth + text)

    def open(self, text):
        self.add(text)
        self.depth += 1
        return self

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.depth -= 1


def recorder_text(op, rule, o, saves):
    """record_<op>(out, *arguments): makes the node, unless nothing is recorded or no operand needs it."""
    t = Lines()
    with t.open(f"def record_{op.name}(out, {', '.join(o.arguments)}):"):
        with t.open("if modes._unusual and not recording():"):
            if op.kind == "view":  # requires grad, as its base does
                t.add("out.origin = Nowhere()" if not rule.check else "out.origin = Nowhere() if is_float(out) else None")
            t.add("return")
        if rule.check:
            with t.open("if not is_float(out):"):
                t.add("return")
            with t.open("if is_complex(out):"):
                t.add("saw_complex()")
        if op.kind == "map2" and len(o.letters) == 2:
            x, y = o.letters
            with t.open(f"if {y}.__class__ in NUMBERS:"):
                one(t, op, o, saves, (y,))
                t.add("return")
            with t.open(f"if {x}.__class__ in NUMBERS:"):
                one(t, op, o, saves, (x,))
                t.add("return")
        one(t, op, o, saves, ())
    return t


def one(t, op, o, saves, numbers):
    """The recorder's work, with the letters in `numbers` being Python numbers."""
    live = [k for k in saves.active if k not in numbers]
    if not live and not saves.lists:
        return
    loose = o.broadcasts and len(o.letters) > 2
    for k in live:
        test = f"isinstance({k}, Tensor)" if loose else f"{k} is not None" if k in o.optional else None
        t.add(f"{k}o = {k}.origin if {test} else None" if test else f"{k}o = {k}.origin")
    for name, k in o.letter.items():
        if k not in saves.active and k not in numbers:
            test = f"isinstance({k}, Tensor) and " if loose else f"{k} is not None and " if k in o.optional else ""
            with t.open(f"if {test}{k}.origin is not None:"):
                t.add(f"no_derivative({op.name!r}, {name!r})")
    if live and (len(live) < len(o.letters) or o.optional or loose):
        with t.open(f"if {' is None and '.join(k + 'o' for k in live)} is None:"):
            t.add("return")
    t.add("n = Backward()")
    t.add("f = frame(2)")
    t.add("n.code = f.f_code")
    t.add("n.at = f.f_lasti")
    t.add("n.seq = tick()")
    t.add("n.extra = None")
    if saves.lists:
        t.add(f"n.inputs = tuple([t.origin for t in p_{saves.lists[0]}])")
    else:
        t.add(f"n.inputs = ({', '.join('None' if k in numbers else k + 'o' for k in saves.active)},)")
    values = list(saves.entries(numbers))
    if saves.casts:
        casts(t, o, saves, live, numbers, loose)
        for k in saves.active:
            values += ["None", "None"] if k in numbers else [f"{k}c", f"{k}s"]
    t.add(f"n.saved = ({', '.join(values)},)" if values else "n.saved = ()")
    if op.results is None and op.kind != "own":
        t.add("out.origin = n")
    else:
        with t.open("if out.__class__ is tuple or out.__class__ is list:"):
            t.add("place(n, out, flat)")
        with t.open("else:"):
            t.add("out.origin = n")
    with t.open("if special:"):
        t.add("finish(n)")


def casts(t, o, saves, live, numbers, loose):
    """Set <k>c to an operand's dtype where promotion changed it, <k>s to its shape where it was broadcast; else None."""
    if numbers:
        with t.open(f"if {numbers[0]}.__class__ is complex:"):
            t.add("saw_complex()")
            for k in live:
                t.add(f"{k}c = None if is_complex({k}) else {k}.dtype")
        with t.open("else:"):
            t.add(f"{' = '.join(k + 'c' for k in live)} = None")
        t.add(f"{' = '.join(k + 's' for k in live)} = None")
        return
    if loose:
        t.add("mixed = True")
    else:
        x, y = o.letters
        t.add(f"mixed = not alike({x}._h, {y}._h)  # 0: another shape or dtype")
    with t.open("if mixed:"):
        with t.open("if is_complex(out):"):
            t.add("saw_complex()")
        for k in live:
            test = f"{k}o is not None and " if len(live) > 1 else ""
            t.add(f"{k}c = {k}.dtype if {test}{k}.dtype is not out.dtype else None")
            t.add(f"{k}s = {k}.shape if {test}{k}.shape is not out.shape else None")
    with t.open("else:"):
        t.add(f"{' = '.join([k + 'c' for k in live] + [k + 's' for k in live])} = None")


def backward_text(op, rule, o, saves):
    """Backward.backward(self, g, inputs): the gradients of the inputs."""
    t = Lines()
    used = {n for f in rule.grads.values() for n in signature(f).parameters}
    numbered = sorted(n for n in used if n[0] == "g" and n[1:].isdigit())
    several = "gs" in used or bool(numbered)
    conj = saves.conjugates and not several
    with t.open("def backward(self, g, inputs):"):
        unpack(t, saves)
        if several:
            t.add("gs = g if g.__class__ is list else [g]")
        for n in numbered:
            t.add(f"{n} = gs[{n[1:]}]")
        if conj:
            t.add("turned = complex_seen and is_complex(g)")
            with t.open("if turned:"):
                t.add("g = conj(g)")
        if saves.lists:
            t.add("needs = [i is not None for i in inputs]")
            t.add(f"grads = rule_{saves.lists[0]}({called(saves.lists[0], rule, saves)})")
            t.add("return [None if t is None else conj(t) for t in grads] if turned else grads" if conj else "return grads")
            return t
        t.add(f"{', '.join(k + 'i' for k in saves.active)}, = inputs")
        for key in rule.grads:
            if len(key) > 1:
                t.add(f"needs = ({', '.join(f'{k}i is not None' for k in key)})")
                t.add(f"{', '.join(k + 'g' for k in key)} = rule_{key}({called(key, rule, saves)})")
                after(t, key, saves, conj)
                continue
            with t.open(f"if {key}i is not None:"):
                t.add(f"{key}g = rule_{key}({called(key, rule, saves)})")
                after(t, key, saves, conj)
            with t.open("else:"):
                t.add(f"{key}g = None")
        t.add(f"return ({', '.join(k + 'g' for k in saves.active)},)")
    return t


def unpack(t, saves):
    """Take the saved values apart, check versions, give kept results their history where gradients are recorded."""
    if not saves.layout:
        return
    t.add("saved = self.saved")
    with t.open("if saved.__class__ is not tuple:"):
        t.add("saved = self.thawed()")
    t.add(f"{', '.join(saves.layout)}, = saved")
    for name, (_, kind) in saves.wanted.items():
        if kind == "list":
            t.add(f"check_list(self, {name[2:]!r}, {name}, {name}_version)")
        elif kind in ("tensor", "out"):
            with t.open(f"if {name}_version is not None and version({name}._h) != {name}_version:"):
                t.add(f"raise self.changed({name!r}, {name}, {name}_version)")
        if kind == "out":
            with t.open(f"if {name} is not None and recording():"):
                t.add(f"{name} = self.of_result({name})" if name == "out" else f"{name} = self.of_one_result({name}, {name[3:]}, flat)")


def after(t, key, saves, conj):
    """What the op class does to a rule's gradient."""
    for k in key:
        if conj:
            with t.open(f"if turned and {k}g is not None:"):
                t.add(f"{k}g = conj({k}g)")
        if saves.casts:
            with t.open(f"if {k}_cast is not None and {k}g is not None:"):
                t.add(f"{k}g = cast({k}g, {k}_cast)")
            with t.open(f"if {k}_small is not None and {k}g is not None:"):
                t.add(f"{k}g = sum_to({k}g, {k}_small)")


def called(key, rule, saves):
    return ", ".join(saves.resolve(name)[0] for name in signature(rule.grads[key]).parameters)
