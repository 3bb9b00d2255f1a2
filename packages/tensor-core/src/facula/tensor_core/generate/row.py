"""The rows of csrc/ops.def as the compiled library carries them, and what the signature of each becomes in Python. Used at build time only."""

from .signature import parse

COLUMNS = ("name", "kind", "signature", "types", "result", "body", "doc")
_ALIAS, _TRAITS = 7, 8  # the columns of fc_op_text that list aliases, and the traits of a row

# rows whose number PyTorch also takes before the last tensors, as it did once: add_(alpha, other); `last` is the tensor that then comes last
OLDER = {"add": "alpha", "sub": "alpha", "addcmul": "value", "addcdiv": "value"}

# public rows beside folds and scans whose dim may come as axis, NumPy's name for it: then it is None, and C refuses that
AXIS = ("index_select", "scatter_add", "index_copy", "unsqueeze")

# rows whose number PyTorch takes by position too, behind the last tensor
POSITIONAL = ("rsub",)

# rows that take no output, for PyTorch gives them none
OUTLESS = ("isnan", "isinf", "isfinite", "relu", "celu", "selu", "rsub", "count_nonzero", "diag_embed")

# folds that take an output with a dim alone; None is one
DIM_FOR_OUT = ("sum", "prod")

# folds that take no keepdim without a dim, though None is one
DIM_FIRST = ("sum", "mean", "prod")


class Row:
    """A row of the table: its columns, its parameters, and the head of its function."""

    def __init__(self, lib, op):
        for column, name in enumerate(COLUMNS):
            setattr(self, name, text(lib.fc_op_text(op, column)))
        self.id = op
        self.over = "OVER" in (text(lib.fc_op_text(op, _TRAITS)) or "").split(" | ")  # an own row that may write its result over its first tensor
        self.params, self.results = parse(self.signature)
        self.tensors = [p for p in self.params if p.tensor]
        self.has_out = self.kind in ("map1", "map2", "map3", "fold", "scan", "dot", "gather") or self.kind == "own"
        self.has_out = self.has_out and self.results is None and not any("!" in p.type for p in self.params) and self.name not in OUTLESS

    @property
    def names(self):
        return [p.name for p in self.params]

    def tuple_text(self):
        return "(" + "".join(f"{n}, " for n in self.names) + ")"

    def head(self, name=None, out=True):
        parts, star, axis = [], False, False
        for p in self.params:
            if p.keyword and not star and self.name not in POSITIONAL:
                parts += ["last=None"] if self.name in OLDER else []
                parts.append("*")
                star = True
            axis = axis or p.name == "dim" and (self.kind == "scan" or self.name in AXIS)
            default = "None" if p.default is None and axis else p.default  # which may come as axis, and what follows by its name then
            default = "LACKING" if p.name == "dim" and self.name in DIM_FIRST else default
            parts.append(p.name if default is None else f"{p.name}={default}")
        if out and self.has_out:
            parts += ["out=None"] if star else ["*", "out=None"]
        if self.kind in ("fold", "scan") and "dim" in self.names:
            parts += [] if "*" in parts else ["*"]
            parts += ["axis=LACKING"]  # NumPy's name of dim, as PyTorch takes it; None is given, too
            parts += ["keepdims=LACKING"] if "keepdim" in self.names else []
        elif self.name in AXIS and name in (None, self.name):
            parts += ["axis=None"] if "*" in parts else ["*", "axis=None"]
        return f"def {name or self.name}({', '.join(parts)}):\n" + self.older_order(name or self.name, out)

    def older_order(self, name, out):
        """The number among the tensors: 3 ns for a test."""
        if self.name not in OLDER:
            return ""
        first, number, *rest = [p.name for p in self.tensors]
        given = ", ".join([first, *rest, "last", f"{OLDER[self.name]}={number}", *(["out=out"] if out and self.has_out else [])])
        return f"    if last is not None:\n        older_order('{name}', {number})\n        return {name}({given})\n"


def text(pointer):
    """A C string as str, without ffi: bytes until the first zero."""
    if not pointer:
        return None
    found = bytearray()
    k = 0
    while (byte := pointer[k]) != b"\0":
        found += byte
        k += 1
    return found.decode()


def rows(lib):
    """All rows, by their numbers."""
    return [Row(lib, op) for op in range(lib.fc_op_count())]


def aliases(lib):
    """(another name, the row's name) of every alias."""
    k = 0
    while (pair := text(lib.fc_op_text(k, _ALIAS))) is not None:
        new, _, old = pair.partition("=")
        yield new, old
        k += 1
