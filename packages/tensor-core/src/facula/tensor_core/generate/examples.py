"""The examples of rows: a comment under a row of csrc/ops/*.def that opens with >>>, in the words of doctest.

    FC_MAP1(abs, ...)
    /* >>> facula.abs(facula.tensor([-1.0, 2.0]))
       tensor([1., 2.]) */

Where the first argument is a variable, set in a line before, the call is shown as a method too, and in place, both with the result
that stands there. Where the in-place form gives another one, such as the numbers that eq_ writes, a call of it comes last, with its own.
"""

import re

# macros whose line is no row
_UNDER = ("FC_ALIAS", "FC_TRAITS")
_ROW = re.compile(r"(FC_\w+)\((\w+)")


def read(folder):
    """{row: its example}, of every table in csrc/ops."""
    found = {}
    for table in sorted(folder.glob("*.def")):
        row, lines = None, None
        for line in table.read_text().splitlines():
            if lines is None and line.startswith("/* >>> "):
                lines = []
                line = line.replace("/* ", "   ", 1)
            elif lines is None:
                named = _ROW.match(line)
                row = named[2] if named and named[1] not in _UNDER else row
                continue
            lines.append(line.removesuffix(" */")[3:])
            if line.endswith(" */"):
                found[row], lines = lines, None
    return found


def _steps(lines):
    """A call and what it prints, in one text each."""
    return re.split(r"\n(?=>>> )", "\n".join(lines))


def _as_method(name, step):
    """The call as one of a method, None where it is not called with a variable."""
    found = re.match(rf">>> facula\.{name}\((\w+)(?:, (.*))?\)(\n|$)", step)
    return found and f">>> {found[1]}.{name}({found[2] or ''}){found[3]}{step[found.end() :]}"


def of_function(name, lines):
    """As a function and as a method."""
    steps = [step for step in _steps(lines) if f".{name}_(" not in step]
    return "\n".join([*steps, _as_method(name, steps[-1]) or ""]).rstrip("\n")


def of_inplace(name, lines):
    """What goes before the first call, and the last call in place."""
    *before, last = _steps(lines)
    if f".{name}_(" not in last:
        last = (_as_method(name, last) or last).replace(f".{name}(", f".{name}_(", 1)
    return "\n".join([*(step for step in before if "\n" not in step), last])
