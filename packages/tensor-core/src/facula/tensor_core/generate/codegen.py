"""Writes _ops.py from the table that the compiled library carries: one flat Python function per row.

Flat means: no *args, no dict of keywords, no second Python call on the way to C. Everything unusual (an interpreter listening,
an output that is not as the result is, an operand that is no tensor, any failure) leaves by one call into dispatch/slow.py.
"""

from . import examples as _examples
from .row import AXIS, COLUMNS, DIM_FIRST, DIM_FOR_OUT, aliases, rows

# rows that are Python's operators: dunder name of each
OPERATORS = {
    "add": "__add__", "sub": "__sub__", "mul": "__mul__", "div": "__truediv__", "floor_divide": "__floordiv__",
    "remainder": "__mod__", "pow": "__pow__", "matmul": "__matmul__", "bitwise_and": "__and__", "bitwise_or": "__or__",
    "bitwise_xor": "__xor__", "eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__",
}  # fmt: skip

ASSIGNED = {f"{dunder[:2]}i{dunder[2:]}": name for name, dunder in OPERATORS.items() if name not in ("matmul", "eq", "ne", "lt", "le", "gt", "ge")}
ASSIGNED |= {"__ilshift__": "bitwise_left_shift", "__irshift__": "bitwise_right_shift"}

HEADER = '''"""Generated from csrc/ops.def by generate/codegen.py at build time. One flat function per row; do not edit."""

from facula.tensor_core.dispatch.slow import Op, Param, assign, call, failed, inplace, older_order, operator, place, record, unrecorded
from facula.tensor_core import _tensor
from facula.tensor_core._grad_mode import grad_mode
from facula.tensor_core._lib import NULL, lib
from facula.tensor_core.dispatch.arguments import LACKING, dim_masks, dtype_id, dtype_without_history, given_dim, no_flag, renamed, spread

# verbs that give a Tensor, and those that only write, which give a handle; both give None where something is unusual
map1, map2, map3, binary, ternary = lib.map1, lib.map2, lib.map3, lib.binary, lib.ternary
fold, scan, dot, gather_ = lib.fold, lib.scan, lib.dot, lib.gather
own, own_n, random, to = lib.own, lib.own_n, lib.fc_random, lib.to
view_op, view_dims, view_list, as_strided_ = lib.view_op, lib.view_dims, lib.view_list, lib.as_strided
write1, write2, write3, write2s = lib.fc_map1, lib.fc_map2, lib.fc_map3, lib.fc_map2s
result_of, fill, attr, dim_bits, has_origin = lib.result, lib.fc_fill, lib.fc_attr, lib.dim_bits, lib.has_origin
odd, odd_apart = lib.odd, lib.odd_apart  # does an output want the slow path?
ONE = 1
interpreting = False  # set by _dispatch while an interpreter listens in any thread

'''

def leave(row):
    arguments = row.tuple_text().replace("dim, ", f"dim if axis is None else renamed('{row.name}', 'axis', axis, dim, None), ") if row.name in AXIS else row.tuple_text()
    return f"return call(OPS[{row.id}], {arguments}{', out' if row.has_out else ''})"


# kinds whose verbs may read what they write, as long as it is the same tensor
SELF_WRITERS = ("map1", "map2", "map3", "fold", "scan", "dot")


def odd(row):
    """The test of `out=`, if the row takes one: all but what it finds goes to the verb, which answers the output."""
    if not row.has_out:
        return []
    return [f"out is not None and odd{'' if row.kind in SELF_WRITERS or row.over else '_apart'}(out, {', '.join(p.name for p in row.tensors)})"]


def out(row):
    return "out" if row.has_out else "NULL"


def guard(row, extra=()):
    if row.kind in ("fold", "scan"):
        kept = "keepdim" in row.names
        tests = " or ".join(["interpreting", "axis is not LACKING", *(["keepdims is not LACKING"] if kept else []), *odd(row), *extra])
        default = "LACKING" if row.name in DIM_FIRST else next((p.default for p in row.params if p.name == "dim"), None)
        names = f"        if axis is not LACKING:\n            dim = renamed('{row.name}', 'axis', axis, dim, {default})\n"
        names += f"        if keepdims is not LACKING:\n            keepdim = renamed('{row.name}', 'keepdims', keepdims, keepdim, False)\n" if kept else ""
        given = "keepdim or out is not None" if row.name in DIM_FOR_OUT else "keepdim"
        names += f"        dim = given_dim('{row.name}', dim, {given})\n" if row.name in DIM_FIRST else ""
        return f"    if {tests}:\n{names}        {leave(row)}\n"
    tests = ["interpreting", *(["axis is not None"] if row.name in AXIS else []), *odd(row), *extra]
    return f"    if {' or '.join(tests)}:\n        {leave(row)}\n"


def scalar_guards(row):
    """A named Scalar off its default, or that has none. The alpha that is True is not the one that is 1."""
    scalars = [p for p in row.params if p.type in ("Scalar", "Scalar?")]
    return ["alpha is not ONE" if (p.name, p.default) == ("alpha", "1") else f"{p.name} != {p.default}" if p.default is not None else "True" for p in scalars]


# numbers with conditions that the slow path knows: a factor of integers is whole, a factor of products is one that the dtype holds
PLAIN_NUMBER = {"alpha": "(type({0}) is int and (-128 < {0} < 128 or -32768 <= {0} < 32768 and {1}.dtype._kind == 2) or type({0}) is float and -65504 <= {0} <= 65504 and {1}.dtype._kind == 2)", **dict.fromkeys(("value", "threshold"), "type({0}) in (float, int) and -127 <= {0} <= 127")}
PLAIN_NUMBER |= dict.fromkeys(("nan", "posinf", "neginf"), "type({0}) is float")
PLAIN_NUMBER |= dict.fromkeys(("min", "max"), "(type({0}) in (float, int) and (-65504 <= {0} <= 65504 or {0} == inf or {0} == -inf))")
PLAIN_NUMBER["p"] = PLAIN_NUMBER["correction"] = "(type({0}) is float or type({0}) is int and -32768 <= {0} < 32768) and type(keepdim) is bool"


def named_numbers(row, again=None):
    """Named Scalars that have no default or are off it wait in C for the verb. The handles are read first: what waits must not outlive a failure."""
    again = again or leave(row)
    scalars = [p for p in row.params if p.type in ("Scalar", "Scalar?")]
    if not scalars:
        return ""
    off = " or ".join(dict.fromkeys(scalar_guards(row)))
    rules = {n: r for n, r in PLAIN_NUMBER.items() if n != "alpha" or row.types not in ("FLOATS", "RFLOATS")}
    if row.name == "celu":
        rules["alpha"] = "(type({0}) in (float, int) and -65504 <= {0} <= 65504 and {0})"  # x is divided by it
    plain = " and ".join(rules.get(p.name, "(type({0}) in (float, int) and -65504 <= {0} <= 65504)").format(p.name, row.tensors[0].name) for p in scalars)
    handles = ", ".join(f"{p.name}._h" for p in row.tensors)
    body = f"    if {off}:\n        try:\n            {handles}\n            plain = {plain}\n        except AttributeError:\n            {again}\n"
    body += f"        if not plain:\n            {again}\n"
    for k, p in enumerate(scalars):
        body += f"        if type({p.name}) is float:\n            attr({k}, 2, 0, {p.name}, 0.0)\n        else:\n            attr({k}, 1, {p.name}, 0.0, 0.0)\n"
    return body


def origin_tests(row):
    """One expression per tensor argument: does it require a gradient?"""
    for p in row.tensors:
        if p.listed:
            yield f"has_origin({p.name})"
        elif "?" in p.type:
            yield f"({p.name} is not None and {p.name}._origin is not None)"
        else:
            yield f"{p.name}._origin is not None"


def recorded(row, names, number=None):
    """Hand the call to the tape when an input has an origin. names: those to ask, None for every tensor argument; number: the one that may be a number."""
    tests = list(origin_tests(row)) if names is None else [f"{n}._origin is not None" for n in names]
    if not tests:
        return ""
    if number:
        tests[-1] = f"type({number}) is not float and type({number}) is not int and {number}._origin is not None"
    return f"    if {' or '.join(tests)}:\n        record[{row.id}](t, {', '.join(row.names)})\n"


def finish(row, names, base=None, again=None, number=None):
    based = f"    t._viewed = {base}\n" if base else ""
    return f"    if t is None:\n        {again or leave(row)}\n{based}" + recorded(row, names, number) + "    return t\n"


def attempt(row, line, again=None):
    return f"    try:\n        t = {line}\n    except (AttributeError, TypeError, OverflowError):\n        {again or leave(row)}\n"


def written(name, again):
    """Leave by `again` where the tape hears of a write to the tensor: it or what it is a view of has a history, but for one that nobody records."""
    body = where_no_tensor(f"heard = interpreting or {name}._origin is not None or ({name}._viewed is not None and {name}._viewed._origin is not None)", again)
    return body + f"    if heard and (interpreting or grad_mode()):\n        {again}\n"


# after an unrecorded write to what has a history: its views' histories are to be made anew
WRITTEN = "    if heard:\n        unrecorded({0})\n    return {0}\n"


def read(names, again):
    """Leave by `again` where one of what is read has a history, which the write would give to the tensor."""
    return where_no_tensor(f"read = {' or '.join(f'{n}._origin is not None' for n in names)}", again) + f"    if read and grad_mode():\n        {again}\n"


def where_no_tensor(line, again):
    """The line; leave by `again` where what it asks is no tensor."""
    return f"    try:\n        {line}\n    except AttributeError:\n        {again}\n"


def asked(p):
    """What comes before `._origin is not None` for an operand that may be a plain number."""
    return f"type({p.name}) is not float and type({p.name}) is not int and {p.name}" if "Scalar" in p.type else p.name


def with_numbers(row, out):
    """The call of a map3 of which some operands may be plain numbers; those before the first that counts have no say in the dtype."""
    return f"ternary({row.id}, {', '.join(p.name for p in row.tensors)}, {int(row.name == 'where_rows')}, {out})"


def map_function(row, name=None, out=True, again=None):
    """map1, map2, map3. `again` is what an operator does with operands that are not for it."""
    arguments = ", ".join(f"{p.name}._h" for p in row.tensors)
    body = row.head(name, out)
    called, out = out, out and row.has_out
    if called:
        body += guard(row) + named_numbers(row)
    else:
        body = f"def {name}({', '.join(p.name for p in row.tensors)}):\n"
        body += f"    if interpreting:\n        {again}\n"
    names = [p.name for p in row.tensors]
    if row.kind == "map2" and "Scalar" in row.tensors[1].type:
        x, y = names
        return body + f"    t = binary({row.id}, {x}, {y}{', out' if out else ''})\n" + finish(row, [x, y], again=again, number=y)
    if row.kind == "map3" and any("Scalar" in p.type for p in row.tensors):
        return body + f"    t = {with_numbers(row, 'out' if out else None)}\n" + finish(row, [asked(p) for p in row.tensors])
    body += attempt(row, f"{row.kind}({row.id}, {'out' if out else 'NULL'}, {arguments})", again)
    return body + finish(row, names, again=again)


def operator_function(row):
    x, y = (p.name for p in row.tensors)
    rest = "".join(f", {p.default}" for p in row.params if not p.tensor)
    again = f"return operator(OPS[{row.id}], {x}, {y}{rest})"
    name = "_op_" + row.name
    if row.kind == "dot":
        body = f"def {name}({x}, {y}):\n    if interpreting:\n        {again}\n"
        return body + attempt(row, f"dot({row.id}, NULL, {x}._h, {y}._h, NULL)", again) + finish(row, [x, y], again=again)
    plain = map_function(row, name, out=False, again=again)
    for p in row.params:  # the recorder gets every argument of the signature; an operator's others are at their default
        if not p.tensor:
            plain = plain.replace(f"](t, {', '.join(row.names)})", f"](t, {x}, {y}{rest})")
    return plain


def inplace_function(row):
    """`add_` and its kind: the row with its first tensor as out."""
    names = [p.name for p in row.tensors]
    x = names[0]
    again = f"return inplace(OPS[{row.id}], {row.tuple_text()})"
    body = row.head(row.name + "_", out=False)
    body += written(x, again)
    tail = f"    if t is None:\n        {again}\n" + WRITTEN.format(x)
    if row.kind == "map2" and "Scalar" in row.tensors[1].type:
        y = names[1]
        plain = "".join(f" and not ({guard})" for guard in scalar_guards(row))
        body += f"    kind = type({y})\n    if (kind is float or kind is int){plain}:\n        try:\n"
        body += f"            t = write2s({row.id}, {x}._h, {x}._h, 2 if kind is float else 1, 0 if kind is float else {y}, {y}, 0.0)\n"
        body += f"        except (AttributeError, TypeError, OverflowError):\n            {again}\n"
        body += tail.replace("    ", "        ", 1).replace("\n    ", "\n        ").rstrip(" ")
    arguments = ", ".join(f"{n}._h" for n in names)
    if names[1:]:
        body += read([asked(p) for p in row.tensors[1:]], again)
    if row.kind == "own":
        return body + attempt(row, f"lib.fc_own({row.id}, {x}._h, {few_arguments(row)})", again) + tail
    body += named_numbers(row, again)
    if row.kind == "map3" and any("Scalar" in p.type for p in row.tensors):
        return body + f"    t = {with_numbers(row, x)}\n" + tail
    body += attempt(row, f"{row.kind.replace('map', 'write')}({row.id}, {x}._h, {arguments})", again)
    return body + tail


def assigned_function(row):
    """`x += y` and its kind: what `add_` does, but an operand that is not for the row is asked itself."""
    return inplace_function(row).replace(f"def {row.name}_(", f"def _at_{row.name}(", 1).replace("return inplace(", "return assign(")


def asked_dtype(row):
    """The argument of a fold or scan that says the dtype: one that is given takes the slow path only where the conversion has a derivative."""
    return "-1 if dtype is None else dtype_without_history(input, dtype)" if "dtype" in row.names else "-1"


def dim_at_a_glance(row, begin, otherwise):
    """The bit masks of one dim; otherwise by more than a look, and the slow path says what is wrong with it: not before it has looked at the other arguments."""
    return (
        f"{begin} type(dim) is int and -64 <= dim < 64:\n        low, high = (1 << dim, 0) if dim >= 0 else (0, 1 << ~dim)\n"
        f"    else:\n        try:\n            low, high = {otherwise}\n        except (IndexError, RuntimeError, TypeError):\n            {leave(row)}\n"
    )


def fold_function(row):
    by_name = {p.name: p for p in row.params}
    body = row.head() + guard(row)
    if by_name["dim"].type == "int":
        body += dim_at_a_glance(row, "    if", "dim_masks(dim, 1)")
    else:
        if row.name in DIM_FIRST:
            body += f"    if dim is LACKING:\n        dim = given_dim('{row.name}', dim, True) if keepdim{' or out is not None' if row.name in DIM_FOR_OUT else ''} else None\n"
        body += "    if dim is None:\n        low = high = 0\n"
        body += dim_at_a_glance(row, "    elif", "dim_masks(dim, 1)" if by_name["dim"].type == "int?" else "dim_bits(dim) or dim_masks(dim)")
    keepdim = "keepdim" if "keepdim" in by_name else "False"
    body += named_numbers(row)
    body += attempt(row, f"fold({row.id}, {out(row)}, input._h, low, high, {keepdim}, {asked_dtype(row)})")
    return body + (several(row, ["input"]) if row.results else finish(row, ["input"]))


def scan_function(row):
    body = row.head() + guard(row)
    body += attempt(row, f"scan({row.id}, {out(row)}, input._h, dim, {asked_dtype(row)})")
    return body + (several(row, ["input"]) if row.results else finish(row, ["input"]))


def dot_function(row):
    arguments = [f"{p.name}._h" if "?" not in p.type else f"NULL if {p.name} is None else {p.name}._h" for p in row.tensors]
    arguments += ["NULL"] * (3 - len(arguments))
    body = row.head() + guard(row) + attempt(row, f"dot({row.id}, {out(row)}, {', '.join(arguments)})")
    return body + finish(row, None)


def gather_function(row):
    tensors = [f"{p.name}._h" for p in row.tensors] + ["NULL"]
    body = row.head() + guard(row)
    body += attempt(row, f"gather_({row.id}, {out(row)}, {tensors[0]}, dim, {tensors[1]}, {tensors[2]})")
    return body + finish(row, [p.name for p in row.tensors])


def several(row, names):
    """A tuple of results: the first is the verb's answer, the others wait in C."""
    body = f"    if t is None:\n        {leave(row)}\n"
    body += f"    t = (t, {', '.join(f'result_of({k})' for k in range(1, len(row.results)))})\n" if len(row.results) > 1 else "    t = (t,)\n"
    return body + recorded(row, names) + "    return t\n"


VIEW_BASE = "input if input._viewed is None else input._viewed"


def view_function(row):
    ints = [f"dtype_id({p.name})" if p.type == "dtype" else p.name for p in row.params[1:]]
    body = row.head() + guard(row)
    if row.name == "as_strided":
        body += f"    if len(size) != len(stride):\n        {leave(row)}\n"
        body += "    offset = lib.fc_offset(input._h) if storage_offset is None else storage_offset\n"
        body += attempt(row, "as_strided_(input._h, len(size), size, stride, offset)")
    elif row.params[1:] and row.params[1].type == "int[]":
        n = ints[0]
        body += f"    n = len({n})\n    try:\n"
        for count in range(5):
            dims = ", ".join([f"{n}[{k}]" for k in range(count)] + ["0"] * (4 - count))
            body += f"        {'if' if count == 0 else 'elif'} n == {count}:\n            t = view_dims({row.id}, input._h, n, {dims})\n"
        body += f"        else:\n            t = view_list({row.id}, input._h, n, {n})\n"
        body += f"    except (AttributeError, TypeError, OverflowError):\n        {leave(row)}\n"
    else:
        body += attempt(row, f"view_op({row.id}, input._h, {', '.join(ints + ['0'] * (4 - len(ints)))})")
    # other elements over the same bytes have no part in the base's gradient: to the tape they are no view
    return body + finish(row, ["input"], base=None if row.name == "view_dtype" else VIEW_BASE)


def own_arguments(row):
    """Expressions of the tensors, integers and doubles that travel, in signature order."""
    tensors, ints, doubles, lists = [], [], [], []
    for p in row.params:
        n = p.name
        if p.listed:
            lists.append(n)
            tensors.append(f"*{n}")  # C finds their handles
        elif p.tensor:
            tensors.append(f"{n}._h" if "?" not in p.type else f"NULL if {n} is None else {n}._h")
        elif p.type == "dtype":
            ints.append(f"dtype_id({n})")
        elif p.type == "int?":
            ints.append(f"-9223372036854775808 if {n} is None else {n}")
        elif p.width > 1:
            ints.append(f"*({n} if type({n}) is tuple and len({n}) == {p.width} else spread({n}, {p.width}))")
        elif p.type == "int[]":
            ints.append(f"len({n}), *{n}")
        elif p.width:
            ints.append(f"1 if {n} is True else 0 if {n} is False else no_flag({n})" if p.type == "bool" else n)  # where numbers travel truth values do not
        elif p.type in ("float", "Scalar"):
            doubles.append(n)
        elif p.type == "float?":
            doubles.append(f"nan if {n} is None else {n}")
    return tensors, ints, doubles, lists


def few_arguments(row):
    """What fc_own takes after the output; None for a row that has more."""
    tensors, ints, doubles, lists = own_arguments(row)
    if lists or any("*" in i for i in ints) or len(tensors) > 4 or len(ints) > 6 or len(doubles) > 2:
        return None
    return ", ".join(tensors + ["NULL"] * (4 - len(tensors)) + ints + ["0"] * (6 - len(ints)) + doubles + ["0.0"] * (2 - len(doubles)))


def own_function(row):
    tensors, ints, doubles, lists = own_arguments(row)
    body = row.head() + guard(row)
    if few := few_arguments(row):
        body += attempt(row, f"own({row.id}, {out(row)}, {few})")
    else:
        body += "    try:\n"
        # names of their own: a parameter may be called `tensors`, and must keep what it holds alive during the call
        body += f"        handles_ = [{', '.join(tensors)}]\n"
        body += f"        ints_ = [{', '.join([f'len({n})' for n in lists] + ints)}]\n"
        body += f"        t = own_n({row.id}, {out(row)}, len(handles_), handles_, len(ints_), ints_, {len(doubles)}, [{', '.join(doubles)}])\n"
        body += f"    except (AttributeError, TypeError, OverflowError):\n        {leave(row)}\n"
    written = [p for p in row.params if "!" in p.type]
    if row.results == ():
        return body + f"    if t is None:\n        {leave(row).replace('call(', 'failed(', 1)}\n    return {written[0].name if not written[0].listed else None}\n"
    return body + (several(row, None) if row.results else finish(row, None))


def random_function(row):
    ints = [p.name for p in row.params if p.type == "int"] + ["0", "0"]
    doubles = [p.name for p in row.params if p.type == "float"] + ["0.0", "0.0"]
    again = f"return inplace(OPS[{row.id}], {row.tuple_text()})"
    body = row.head(out=False)
    body += written("input", again)
    generator = "(generator or _tensor.default_generator)._g"
    body += attempt(row, f"random({row.id}, input._h, {generator}, {ints[0]}, {ints[1]}, {doubles[0]}, {doubles[1]})", again)
    return body + f"    if t is None:\n        {again}\n" + WRITTEN.format("input")


def to_function(row):
    body = row.head() + guard(row)
    body += attempt(row, "to(input._h, lib.fc_dtype(input._h) if dtype is None else dtype._id, memory_format, 1)")
    return body + finish(row, ["input"])


def place_function(row):
    if row.name == "index":
        body = row.head() + f"    if interpreting:\n        {leave(row)}\n    t = place(OPS[{row.id}], ({', '.join(row.names)}))\n"
        return body + recorded(row, None) + "    return t\n"
    names = [p.name for p in row.tensors if not p.listed]
    again = f"return inplace(OPS[{row.id}], {row.tuple_text()})"
    if row.name not in WRITTEN_IN_C:
        return row.head(out=False) + f"    {again}\n"
    body = row.head(out=False) + written("input", again)
    if names[1:]:
        body += read(names[1:], again)
    return body + f"    if {WRITTEN_IN_C[row.name]}:\n        {again}\n" + WRITTEN.format("input")


# rows that only write, what fails where the slow path has to see to it
WRITTEN_IN_C = {
    "fill_number_": "not (type(value) is float or type(value) is int and -9223372036854775808 <= value < 9223372036854775808)"
    " or fill(input._h, 2 if type(value) is float else 1, 0 if type(value) is float else value, value, 0.0)",
    **dict.fromkeys(("copy_into_", "place_into_"), "lib.fc_copy(input._h, source._h)"),
}


def host_function(row):
    body = row.head() + guard(row) + f"    t = place(OPS[{row.id}], {row.tuple_text()})\n"
    return body + recorded(row, None) + "    return t\n"


WRITERS = {
    "map1": map_function, "map2": map_function, "map3": map_function, "fold": fold_function, "scan": scan_function,
    "dot": dot_function, "gather": gather_function, "view": view_function, "own": own_function, "random": random_function,
    "to": to_function, "place": place_function, "host": host_function,
}  # fmt: skip


def with_doc(source, row, example, ending=""):
    """The function with its docstring; ending: of its name, "_" for the form in place."""
    head, newline, body = source.partition("\n")
    shown = "\n" + "".join(f"    {line}\n" for line in example.split("\n")) if example else ""
    return f'{head}{newline}    """{row.doc[0].upper()}{row.doc[1:]}.{" In place." * bool(ending)}\n\n    {row.name}{ending}({row.signature})\n{shown}    """\n{body}'


def op_literal(row):
    def params():
        for p in row.params:
            default = "Param.required" if p.default is None else p.default
            yield f"Param({p.name!r}, {p.type!r}, {default}, {p.keyword})"

    fields = (row.id, *(getattr(row, c) for c in COLUMNS if c not in ("body", "doc")))  # 50 KB that nobody would read
    return f"    Op({', '.join(map(repr, fields))}, ({''.join(p + ', ' for p in params())}), {row.results!r}),\n"


def generate(lib, tables):
    """The text of _ops.py; tables: csrc/ops, for the examples."""
    examples = _examples.read(tables)
    table = rows(lib)
    parts = [HEADER, "OPS = (\n", *(op_literal(row) for row in table), ")\nBY_NAME = {op.name: op for op in OPS}\n\n\n"]
    parts.append("nan, inf = float('nan'), float('inf')\n\n\n")
    names, inplaces, operators = [], [], []
    for row in table:
        example = examples.get(row.name, ())
        parts.append(with_doc(WRITERS[row.kind](row), row, example and _examples.of_function(row.name, example)) + "\n\n")
        names.append(row.name)
        if row.kind in ("map1", "map2", "map3") and row.result in ("SAME", "FLOAT", "BOOL", "REAL") or row.over:
            parts.append(with_doc(inplace_function(row), row, example and _examples.of_inplace(row.name, example), "_") + "\n\n")
            inplaces.append(row.name + "_")
        if row.name in OPERATORS:
            parts.append(operator_function(row) + "\n\n")
            operators.append(row.name)
        if row.name in ASSIGNED.values():
            parts.append(assigned_function(row) + "\n\n")
    known = {*names, *inplaces}
    others = {new + tail: old + tail for new, old in aliases(lib) for tail in ("", "_") if old + tail in known}
    parts += [f"{new} = {old}\n" for new, old in others.items()]
    parts.append(f"FUNCTIONS = {tuple(names + inplaces + list(others))!r}\n")
    pairs = ", ".join(f"{OPERATORS[n]!r}: _op_{n}" for n in operators)
    pairs += "".join(f", {dunder!r}: _at_{name}" for dunder, name in ASSIGNED.items())
    parts.append(f"OPERATORS = {{{pairs}}}\n")
    return "".join(parts)
