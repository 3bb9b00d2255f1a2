"""Writes _ops.pyi, the types of _ops.py, from the same table. Used at build time only."""

from .row import POSITIONAL, aliases, rows

HEADER = '''"""Generated from csrc/ops.def by generate/stubs.py at build time; do not edit."""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Sequence

from facula.tensor_core.random.generator import Generator
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import dtype as _dtype

Number = _bool | _int | _float | _complex

FUNCTIONS: tuple[str, ...]
'''

# a type word of a signature -> Python's, by names that no function takes away; `Tensor!` is written in place, `Scalar|Tensor` takes a number too
WORDS = {
    "Tensor": "Tensor", "Scalar": "Number", "int": "_int", "float": "_float", "bool": "_bool", "dtype": "_dtype", "dims": "_int | Sequence[_int]",
    "int[]": "Sequence[_int]", "Tensor[]": "Sequence[Tensor]", "generator": "Generator",
    "str": "str",
}  # fmt: skip


def hint(word, default):
    """The annotation of a parameter: `int[2]` takes one int too, `?` and a default of None take None."""
    optional = word.endswith("?") or default == "None" or "?" in word
    kinds = []
    for part in word.replace("!", "").replace("?", "").split("|"):
        if part.startswith("int[") and part != "int[]":
            part = "dims"
        kinds.append(WORDS[part])
    return " | ".join(kinds[::-1] + ["None"] * optional)


def returned(row):
    if row.results is None:
        return "Tensor"
    return f"tuple[{', '.join(['Tensor'] * len(row.results))}]" if row.results else "Tensor | None"


def stub(row, name, out, own=False):
    """The line of a function, or of the method whose `self` is the first parameter."""
    parts, star = [], False
    for p in row.params:
        if p.keyword and not star and row.name not in POSITIONAL:
            parts.append("*")
            star = True
        parts.append(f"{p.name}: {hint(p.type, p.default)}" + ("" if p.default is None else f" = {p.default}"))
    if out:
        parts += ["*"] * (not star) + ["out: Tensor | None = None"]
        star = True
    if row.kind == "fold" and "dim" in row.names:
        parts += ["*"] * (not star) + ["axis: _int | Sequence[_int] | None = None"]
    if own:
        parts[0] = "self"
    return f"def {name}({', '.join(parts)}) -> {returned(row)}: ...\n"


def functions(lib):
    """{name: (row, does it take out=)} of every function that _ops.py has."""
    by_name = {}
    for row in rows(lib):
        by_name[row.name] = row, row.has_out
        if row.kind in ("map1", "map2", "map3") and row.result in ("SAME", "FLOAT", "BOOL", "REAL"):
            by_name[row.name + "_"] = row, False
    for new, old in aliases(lib):
        by_name.update({new + tail: by_name[old + tail] for tail in ("", "_") if old + tail in by_name})
    return by_name


def generate(lib):
    """The text of _ops.pyi."""
    return "".join([HEADER, "\n", *(stub(row, name, out) for name, (row, out) in functions(lib).items())])
