"""What a rule's parameter names mean for one op: operands, what of them is kept, and when."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature

from ._table import LETTERS

MAPS = ("map2", "map3")


class Operands:
    """The tensor operands of an op: letters (some may be numbers or absent) and lists."""

    def __init__(self, op) -> None:
        self.op = op
        self.params = [p.name for p in op.params]
        letters = iter(LETTERS)
        self.letter = {}  # parameter name -> letter
        self.lists, self.optional = [], set()
        for p in op.params:
            if p.type.startswith("Tensor[]"):
                self.lists.append(p.name)
            elif "Tensor" in p.type:
                self.letter[p.name] = k = next(letters)
                if "?" in p.type:
                    self.optional.add(k)
        self.letters = list(self.letter.values())
        self.broadcasts = op.kind in MAPS  # then a Python number may stand where a tensor does
        self.arguments = [self.letter.get(p, "p_" + p) for p in self.params]

    def called(self, letter) -> str:
        """What PyTorch's own signatures call an operand."""
        name = next(p for p, k in self.letter.items() if k == letter)
        return "self" if name == "input" else name

    def argument(self, name) -> str | None:
        """The name in generated text of what a rule calls `name`."""
        if name in self.letters:
            return name
        return self.letter[name] if name in self.letter else "p_" + name if name in self.params else None


class Saves:
    """The union of what the rules name, each with the letters that want it, and the layout of what is kept."""

    def __init__(self, operands, rule) -> None:
        self.operands, self.rule = operands, rule
        self.lists = [key for key in rule.grads if key in operands.lists]
        self.active = [k for key in rule.grads if key not in operands.lists for k in key]
        if set(self.active) - set(operands.letters):
            raise TypeError(f"{rule.op_name}: has rules for {', '.join(rule.grads)}, but its operands are {', '.join(operands.letters + operands.lists) or 'no tensors'}.")
        self.wanted = {}  # name in the text -> (set of letters that want it, kind)
        for key, f in rule.grads.items():
            for name in signature(f).parameters:
                text, kind = self.resolve(name, key)
                if kind not in ("gradient", "_seen"):
                    self.wanted.setdefault(text, (set(), kind))[0].update([key] if key in self.lists else key)
        self.wanted = dict(sorted(self.wanted.items(), key=self.place))
        self.casts = operands.broadcasts and len(operands.letters) > 1
        self.layout = []
        for name, (_, kind) in self.wanted.items():
            self.layout += [name, name + "_version"] if kind in ("tensor", "list", "out") else [name]

    def place(self, entry) -> tuple:
        """PyTorch's order of what is kept, which hooks on saved tensors see: operands by their names there, then results."""
        name, (_, kind) = entry
        if kind != "tensor":
            return kind == "out", kind != "out", ""
        return False, False, self.operands.called(name)

    def resolve(self, name, key="?") -> tuple:
        """(name in the text, kind) of a rule's parameter."""
        o = self.operands
        if name in ("g", "gs", "needs") or (name[0] == "g" and name[1:].isdigit()):
            return name, "gradient"
        if name == "out" or (name[:3] == "out" and name[3:].isdigit()):
            return name, "out"
        if name.endswith("_seen") and name[:-5] in o.letters:
            return name[:-5], "_seen"
        if name.endswith("_origin") and name[:-7] in o.letters:
            return name[:-7] + "i", "gradient"
        for suffix in ("_shapes", "_shape", "_geometry", "_lies", "_format", "_dtypes", "_dtype"):
            if name.endswith(suffix) and o.argument(name[: -len(suffix)]):
                return o.argument(name[: -len(suffix)]) + suffix, suffix
        found = o.argument(name)
        if found is None:
            raise TypeError(f"{self.rule.op_name}: the rule for {key} asks for {name!r}, which is no operand, result or attribute ({', '.join(o.params)}).")
        return found, "tensor" if found in o.letters else "list" if found[2:] in o.lists else "attribute"

    @property
    def keeps(self) -> bool:
        return any(kind in ("tensor", "list", "out") for _, kind in self.wanted.values())

    @property
    def conjugates(self) -> bool:
        """Whether conj(rule(conj g)) differs from rule(g): the rule multiplies by something that may be complex."""
        scalars = {"p_" + p.name for p in self.operands.op.params if p.type in ("Scalar", "Scalar?")}
        return not self.rule.real and (self.keeps or bool(scalars & set(self.wanted)))

    def entries(self, numbers=(), fresh=False) -> Iterator[str]:
        """The texts of the kept values, where the letters in `numbers` are Python numbers. fresh: no tensor was ever written to."""
        for name, (who, kind) in self.wanted.items():
            test = self.condition(who, numbers)
            if kind == "tensor":
                yield from self.tensor_entries(name, test, numbers, fresh)
            elif kind == "list":
                yield f"tuple({name})"
                yield f"[None if t is None else version(t._h) for t in {name}]"
            elif kind == "out":  # new, so at version 0; a write in place puts the right one there afterwards
                source = f"out[{name[3:]}]" if name[3:] else "out"
                kept = f"{source}._h if type({source}) is Tensor else alias({source})"
                yield f"({kept}) if {test} else None" if test else kept
                yield f"0 if {test} else None" if test else "0"
            elif kind == "attribute":
                yield name
            elif kind == "_lies":
                yield self.lies(name[: -len(kind)], numbers)
            else:
                yield self.derived(name[: -len(kind)], kind)

    def tensor_entries(self, name, test, numbers, fresh) -> Iterator[str]:
        if test == "False":
            yield from ("None", "None")
        elif name in numbers:
            yield from (name, "None")
        else:
            here = f"{name} is not None" if name in self.operands.optional else None
            if self.operands.broadcasts and len(self.operands.letters) > 2:
                here = f"isinstance({name}, Tensor)"
            both = " and ".join(t for t in (f"({test})" if test else None, here) if t)
            yield f"{name} if {test} else None" if test else name
            yield "0" if fresh else f"version({name}._h) if {both} else None" if both else f"version({name}._h)"

    def lies(self, base, numbers) -> str:
        """How a matrix lies that is not kept itself: one that is can be asked later, for nothing."""
        kept = self.condition(self.wanted[base][0], numbers) if base in self.wanted else "False"
        return f"None if {kept} else lies({base}._h)" if kept else "None"

    def derived(self, base, kind) -> str:
        if kind == "_shape":
            shape = f"{base}._shape or {base}.shape"  # the slot, where somebody has read it already
            return f"({shape}) if {base} is not None else None" if base in self.operands.optional else shape
        if kind == "_dtype":
            return f"{base}.dtype"
        if kind == "_format":
            return f"format_of({base})"
        if kind == "_geometry":
            return f"({base}.shape, {base}.stride(), {base}.storage_offset())"
        return f"[t.{kind[1:-1]} for t in {base}]"

    def condition(self, who, numbers) -> str | None:
        """When something is kept: None for always, "False" for never."""
        if who & set(self.lists):
            return None
        able = [k for k in sorted(who) if k not in numbers]
        if not able:
            return "False"
        if set(able) >= {k for k in self.active if k not in numbers}:
            return None
        return " or ".join(f"{k}o is not None" for k in able)
