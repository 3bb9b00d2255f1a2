"""Reads the signatures of csrc/ops.def: the one description of an op's arguments. Used at build time only."""

import re
from typing import NamedTuple


class Param(NamedTuple):
    """One argument of an op: its name, its type word (`Tensor`, `int[2]`, ...), its default, and whether it is keyword-only."""

    name: str
    type: str
    default: str | None  # Python text; None for a required one
    keyword: bool

    @property
    def tensor(self):
        return "Tensor" in self.type

    @property
    def listed(self):
        return self.type.startswith("Tensor[]")

    @property
    def width(self):
        """How many integers it hands to C; 0 for what does not travel as an integer."""
        if self.type in ("int", "int?", "bool", "dtype"):
            return 1
        match = re.fullmatch(r"int\[(\d+)\]", self.type)
        return int(match[1]) if match else 0


PYTHON_WORDS = {"from": "from_", "lambda": "lambd"}  # keywords cannot name a parameter


def parse(signature):
    """(params, results) of a signature; results is the tuple of names behind `->`, or None for one plain result."""
    text, arrow, tail = signature.partition("->")
    results = tuple(re.findall(r"\w+", tail)) if arrow else None
    params, keyword = [], False
    for item in filter(None, (part.strip() for part in re.split(r",(?![^(]*\))", text))):
        if item == "*":
            keyword = True
            continue
        type, rest = item.split(" ", 1)
        name, equal, default = rest.partition("=")
        params.append(Param(PYTHON_WORDS.get(name, name), type, default if equal else None, keyword))
    return tuple(params), results
