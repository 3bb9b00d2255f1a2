"""Calls drawn from PyTorch's schemas, as lines of Python: what tools/torch_draws runs."""

import inspect
import json
import math
import random
import re

LEFT_OUT = re.compile(r"^_|^(from_file|backward|record_stream|rename_?|share_memory_|refine_names|align_\w+|data|sym_\w+|cudnn_\w+|miopen_\w+|mkldnn_\w+|manual_seed|save)$")
DTYPES = "float32 float32 float32 float64 int64 int64 bool complex64 float16 bfloat16 int32 uint8".split()
HOMES = ("", "linalg", "fft", "special", "nn.functional", "Tensor")

INDICES = re.compile(r"^(index|indices|target|offsets|input_lengths|target_lengths|sorter|repeats|crow_indices|col_indices|pivots|LU_pivots)$")
ONE_DIM = re.compile(r"^(bias|running_mean|running_var|vec|vec2|window|boundaries|offsets|input_lengths|target_lengths|tau)$")
STRINGS = {
    "reduction": "mean sum none", "rounding_mode": "floor trunc", "indexing": "ij xy", "UPLO": "L U", "side": "left right", "norm": "ortho forward", "reduce": "sum mean amax prod add multiply",
    "mode": "nearest constant bilinear reflect reduced", "padding_mode": "zeros border", "interpolation": "linear lower", "approximate": "none tanh", "equation": "ij,jk->ik", "driver": "gelsd", "padding": "same valid",
    "pad_mode": "reflect constant", "ord": "fro nuc",
}  # fmt: skip
NUMBERS = "0 1 2 3 0.5 -1 -0.5 2.5 1e-3 0.25".split()
WRONG = ('"a"', "None", "1.5", "3", "-1", "True", "1j", "[1]", "(1, 2)", "()", "[1.5]", '(1, "a")', "{}", "object()", "torch.float32", "torch.int64", "torch.ones(2)", "torch.tensor(2)", "torch.tensor([1, 2])",
         "[torch.ones(2)]", "[None]", 'torch.device("cpu")', "2**63", "float('nan')", "torch.strided", "slice(None)")  # fmt: skip
FAR = ("7", "-9", "100", "-1", "0", "2**63", "-(2**62)")


class Argument:
    """One of a call: its name, the schema's word for what it takes, and the text of its value."""

    def __init__(self, name, kind, keyword=False, optional=False, out=False):
        self.name, self.kind, self.keyword, self.optional, self.out, self.text = name, kind, keyword, optional, out, None

    @property
    def tensor(self):
        return self.kind.startswith("Tensor")


# --- what is called -------------------------------------------------------------------------------------------------


def of_schema(schema):
    """The arguments of an overload, as PyTorch writes them. None if it takes what has no text."""
    inside = re.sub(r"\(\w!? ?(-> ?\w)?[^)]*\)", "", re.search(r"\((.*)\) ->", str(schema))[1])
    words = {m[2]: m[1] for m in re.finditer(r"([A-Z]?\w+(?:\[\w*\])?\??(?:\[\])?\??) (\w+)(?=[,=]|$)", inside)}
    found = [Argument(a.name, words.get(a.name, ""), a.kwarg_only or a.is_out, a.has_default_value(), a.is_out) for a in schema.arguments]
    if found and found[0].kind == "str" and found[0].name == "self":
        return None  # a method of TorchScript's strings
    return None if any(not a.kind or re.match(r"Dimname|t\b|Any|Stream|Storage|__torch__|Dict|str\[\]", a.kind) for a in found) else found


def of_python(function, kinds):
    """The arguments of a function in Python, by its annotations, else by what overloads call so."""
    found = []
    for p in inspect.signature(function).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.name.startswith("_"):
            continue
        word = getattr(p.annotation, "__name__", "") if isinstance(p.annotation, type) else str(p.annotation)
        kind = {"Tensor": "Tensor", "bool": "bool", "int": "int", "float": "float", "str": "str", "dtype": "ScalarType"}.get(word.replace("torch.", "").removesuffix(" | None"))
        found.append(Argument(p.name, kind or kinds.get(p.name, "Tensor"), p.kind is p.KEYWORD_ONLY, p.default is not p.empty))
    return found


def homes_of(name):
    """Public names in Python of an operator."""
    for home in HOMES:
        short = name.removeprefix({"linalg": "linalg_", "fft": "fft_", "special": "special_"}.get(home, ""))
        if home in ("linalg", "fft", "special") and short == name:
            continue
        yield home, short


def reached(library, home, name):
    for part in filter(None, home.split(".")):
        library = getattr(library, part)
    return getattr(library, name, None)


def targets(torch, facula, only):
    """(function by name, its arguments, is it a method) of all that both have."""
    kinds, found = {}, []
    for schema in sorted(torch._C._jit_get_all_schemas(), key=str):
        name = schema.name.removeprefix("aten::")
        if "::" in name or LEFT_OUT.match(name) or (arguments := of_schema(schema)) is None:
            continue
        kinds.update((a.name, a.kind) for a in arguments if a.name not in kinds)
        for home, short in homes_of(name):
            there = reached(torch, home, short)
            if callable(there) and callable(reached(facula, home, short)) and not (inspect.isfunction(there) and home == "nn.functional"):
                if home != "Tensor" or arguments and arguments[0].name == "self" and not any(a.out for a in arguments):
                    found.append((f"{home}.{short}".strip("."), arguments))
    for home in ("", "nn.functional"):
        for short in dir(reached(torch, "", home) if home == "" else torch.nn.functional):
            there = reached(torch, home, short)
            if inspect.isfunction(there) and there.__module__ in ("torch.functional", "torch.nn.functional") and not LEFT_OUT.match(short) and callable(reached(facula, home, short)):
                found.append((f"{home}.{short}".strip("."), of_python(there, kinds)))
    return [(name, arguments) for name, arguments in found if re.search(only, name)]


# --- what it is given -----------------------------------------------------------------------------------------------


def literal(r, shape, dtype, name):
    """Text of a nested list of values."""
    if shape:
        return "[" + ", ".join(literal(r, shape[1:], dtype, name) for _ in range(shape[0])) + "]"
    if INDICES.match(name):
        return str(r.randrange(3))
    if dtype == "bool":
        return r.choice(("True", "False"))
    if "int" in dtype:
        return str(r.randrange(0 if dtype[0] == "u" else -3, 6))
    part = lambda: repr(round(r.uniform(-2, 2), 2)) if r.random() < 0.97 else r.choice(("0.0", "float('inf')", "float('nan')"))
    return part() if dtype[0] != "c" else f"complex({part()}, {part()})"


def many(r, shape, dtype, name):
    """Text of a tensor of many elements, which a list would make hard to read."""
    numbers = f"torch.arange({math.prod(shape)}) * {r.choice((5, 7, 13))} % "
    numbers = f"({numbers}3)" if INDICES.match(name) or dtype == "bool" else f"({numbers}6)" if "int" in dtype else f"(({numbers}17 - 8) / 4)"
    return f"{numbers}.to(torch.{dtype}).reshape{tuple(shape)}"


def tensor(r, shape, dtype, name="", device=None):
    """Text of a tensor, some turned, some strided."""
    turned = len(shape) > 1 and r.random() < 0.2
    if math.prod(shape) > 9:
        text = many(r, shape, dtype, name) + (f'.to("{device}")' if device else "")
    else:
        text = f"torch.tensor({literal(r, shape, dtype, name)}, dtype=torch.{dtype}" + (f', device="{device}"' if device else "") + ")"
    return text + ".transpose(0, -1)" * turned + "[..., ::2]" * (not turned and len(shape) > 0 and shape[-1] > 3 and r.random() < 0.2)


class Drawing:
    """Good values for the arguments of one call: tensors of one dtype and of shapes that often fit."""

    def __init__(self, r):
        self.r, self.dtype = r, r.choice(DTYPES)
        self.shape = r.choice(([3, 3], [3, 3], [3, 3, 3], [3, 3, 3, 3], [3], [2, 3], [4, 4], [], [0], [1, 3], [2, 3, 4], [3, 3, 5, 5], [2, 0]))
        self.device = "meta" if r.random() < 0.03 else None

    def value(self, a):
        """Text of a value that the argument takes."""
        r, kind = self.r, a.kind
        if kind.endswith("?") and r.random() < 0.5:
            return "None"
        kind = kind.removesuffix("?")
        if kind == "Tensor":
            return self.one(a.name)
        if kind.startswith("Tensor"):
            return "[" + ", ".join(self.one(a.name) for _ in range(r.randrange(1, 3))) + "]"
        if several := re.match(r"(\w+)\[(\d*)\]", kind):
            if a.name == "dim" or a.name == "dims":
                return str(tuple(r.sample(range(max(len(self.shape), 1)), r.randrange(0, len(self.shape) + 1))))
            n = int(several[2] or r.choice((1, 2, len(self.shape))))
            return "(" + "".join(self.number(Argument(a.name, several[1])) + ", " for _ in range(n)) + ")"
        return self.number(Argument(a.name, kind))

    def one(self, name):
        r = self.r
        if name == "out" or name.startswith("out") and name[3:].isdigit():
            return f"torch.empty(0, dtype=torch.{self.dtype})"
        shape = [3] if ONE_DIM.match(name) else r.choice((self.shape, self.shape, self.shape, self.shape, self.shape[-1:], [], [1] * len(self.shape)))
        dtype = "int64" if INDICES.match(name) else "bool" if name in ("mask", "condition") else self.dtype if r.random() < 0.8 else r.choice(DTYPES)
        return tensor(r, shape if name not in ("self", "input") else self.shape, dtype, name, self.device)

    def number(self, a):
        r, kind, name = self.r, a.kind, a.name
        if kind in ("int", "SymInt"):
            n = len(self.shape)
            return str(r.randrange(-n, n) if n and name.startswith(("dim", "axis", "start_dim", "end_dim")) else r.choice((0, 1, 1, 2, 2, 3, -1)) if name != "dim" else 0)
        if kind == "str":
            return json.dumps(r.choice(STRINGS.get(name, "mean").split()))
        simple = {"bool": ("True", "False"), "ScalarType": tuple(f"torch.{d}" for d in DTYPES), "Layout": ("torch.strided",), "Device": ('"cpu"', 'torch.device("cpu")'), "Generator": ("None",)}
        simple["MemoryFormat"] = ("torch.contiguous_format", "torch.preserve_format", "torch.channels_last")
        return r.choice(simple.get(kind, NUMBERS if kind != "complex" else ("1j", "2.0")))


def drawn(r, arguments):
    """Arguments with good values; of those that have defaults some."""
    drawing, made = Drawing(r), []
    for a in arguments:
        if not a.optional or r.random() < 0.35:
            b = Argument(a.name, a.kind, a.keyword, a.optional)
            b.text = drawing.value(a)
            b.keyword = a.keyword or len(made) < arguments.index(a) or bool(made) and (made[-1].keyword or r.random() < 0.25)
            made.append(b)
    return made


def spoilt(r, made, method):
    """A fault in one of the arguments (a method's own tensor stays one), in place."""
    first = 1 if method else 0
    ways = ["wrong kind"] * 5 + ["extra", "extra name"] + ["other tensor", "other tensor"] * any(a.tensor for a in made) + ["far"] * 2 + ["missing", "renamed"]
    way = r.choice(ways)
    if way == "extra" and (not made or not made[-1].keyword):
        a = Argument("extra", "")
        a.text = r.choice(WRONG)
        made.append(a)
    elif way in ("extra", "extra name"):
        a = Argument(r.choice(("extra", "out", "dtype", "axis", "dim", "x1", "keepdims")), "", True)
        if a.name not in [b.name for b in made]:
            a.text = r.choice(WRONG)
            made.append(a)
    elif way == "other tensor" and (places := [a for a in made if a.kind == "Tensor" or a.kind == "Tensor?"]):
        r.choice(places).text = tensor(r, r.choice(([], [0], [2], [5], [3, 2], [2, 3, 4], [1, 2, 3, 3])), r.choice(DTYPES))
    elif len(made) > first:
        k = r.randrange(first, len(made))
        if way == "missing":
            del made[k]
        elif way == "renamed" and made[-1].keyword:
            made[-1].name += "s"
        elif way == "far" and (places := [a for a in made if "int" in a.kind.lower()]):
            r.choice(places).text = r.choice(FAR)
        else:
            made[k].text = r.choice(WRONG)


def call_text(name, made):
    """The call as a line of Python."""
    home = name.startswith("Tensor.") and made
    rest = made[1:] if home else made
    names = {"self": "input"}
    given = sorted(rest, key=lambda a: a.keyword)
    inside = ", ".join(f"{names.get(a.name, a.name)}={a.text}" if a.keyword else a.text for a in given)
    return f"{made[0].text}.{name[7:]}({inside})" if home else f"torch.{name}({inside})"


def draws(torch, facula, options):
    """(faults, name, call) of all."""
    for name, arguments in targets(torch, facula, options.only):
        r = random.Random(f"{options.seed} {name} {[a.name for a in arguments]}")
        for _ in range(options.count):
            for faults in options.faults:
                made = drawn(r, arguments)
                for _ in range(faults):
                    spoilt(r, made, name.startswith("Tensor."))
                yield faults, name, call_text(name, made)
