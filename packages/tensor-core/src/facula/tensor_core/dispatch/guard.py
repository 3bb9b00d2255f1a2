"""Compositions refuse arguments of a wrong kind as PyTorch's parser does: TypeError with function, argument and both kinds (kinds.py), before anything else is said of the call.

Rows check for themselves: their kinds stand in the table.
"""

import functools
from types import FunctionType

from facula.tensor_core._errors import IntegerOverflow
from facula.tensor_core.dispatch.arguments import LACKING, renamed
from facula.tensor_core.dispatch.foreign import ask, overriding
from facula.tensor_core.dispatch.kinds import FAST, check, kind_of, later, want_kinds
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import dtype

NUMPY = {"dim": "axis", "keepdim": "keepdims"}  # other names, which PyTorch takes too
UNNAMED = frozenset(("reductions.norm", "order.unique", "order.unique_consecutive"))  # but not for these, which it has in Python
ROWS = {  # and those of its rows whose documentation has others
    "A": ("input", "cholesky cholesky_ex cond eig eigh eigvals eigvalsh ldl_factor ldl_factor_ex lstsq matrix_exp matrix_norm matrix_power matrix_rank pinv tensorinv tensorsolve"),
    "B": ("b", "lstsq"), "x": ("input", "vector_norm"), "tensor": ("input", "one_hot"), "elements": ("element", "isin"), "test_elements": ("test_element", "isin"),
}  # fmt: skip
ROWS = {(function, name): other for name, (other, functions) in ROWS.items() for function in functions.split()} | {("tensorsolve", "B"): "other"}

# what is guarded, by module: everything public for None. Shorter functions look at their tensors themselves: a guard costs 0.1 us
GUARDED = {
    "functions.math": "cross cumulative_trapezoid trapezoid trapz diff tril_indices triu_indices",
    "functions.matrix": "chain_matmul vdot",
    "functions.fills": "index_fill take_along_dim",
    "functions.pointwise": "allclose isclose prelu frexp ldexp float_power mvlgamma polygamma isreal",
    "functions.order": "bincount bucketize histc kthvalue median mode msort nanmedian searchsorted unique unique_consecutive",
    "functions.rearranging": "constant_pad_nd diag diagflat repeat_interleave roll rot90 tile",
    "functions.index_key": "nonzero",
    "functions.overloads": "index_add scatter",
    "functions.reductions": "logcumsumexp norm",
    "functions.put": None, "functions.einsum": None, "functions.products": None, "functions.statistics": None, "functions.bins": None, "random.draws": "bernoulli binomial multinomial poisson",
}  # fmt: skip
# those that look for themselves at what they take, but for calls that fail anyway: 40 ns
AFTER = {
    "functions.ranges": "linspace logspace", "random.draws": "randperm normal rand_like randn_like", "functions.create": "eye", "functions.pointwise": "lerp nan_to_num",
    "functions.fills": "masked_fill",
}  # fmt: skip


# what is right at a glance, as text for the guard of a function; anything else is looked at closely
GLANCE = {
    "sizes": "type({0}) is not tuple", "tensor": "type({0}) is not _Tensor", "int": "type({0}) is not int or not -65536 < {0} < 65536", "bool": "{0} is not False and {0} is not True",
    "float": "type({0}) is not float and type({0}) is not int", "str": "type({0}) is not str", "dtype": "type({0}) is not _dtype",
}  # fmt: skip
GLANCE["size"], GLANCE["ints"] = GLANCE["int"], f"{GLANCE['sizes']} and ({GLANCE['int']})"
GLANCE["number"] = GLANCE["real"] = GLANCE["float"]


class _Parameters:
    """Names and kinds of a function's parameters, and which may be None. kinds: of a function, parameter -> kind, `kind?` where it may be None;
    where they have NumPy's name of a parameter too, it is taken. first: of arguments by name, refuses what is refused before any kind is looked at."""

    def __init__(self, function, kinds=None, after=False, first=None):
        self.first = first
        kinds = kinds and kinds(function)
        code = function.__code__
        self.function = function
        every = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.names, self.keywords = every[: code.co_argcount], every[code.co_argcount :]
        name = function.__name__
        self.later = {n: later(name, n) if kinds is None else kinds.get(n) or later(name, n, False) for n in every}
        if "axis" in every and "dim" in every:
            self.later["axis"] = self.later["dim"]  # another name of it
        glance = (lambda n: kind_of(name, n)) if kinds is None else kinds.get
        self.kinds = {n: kind.rstrip("?") for n in every if not after and (kind := glance(n)) and kind.rstrip("?") in GLANCE}
        self.defaults = dict(zip(reversed(self.names), reversed(function.__defaults__ or ()))) | (function.__kwdefaults__ or {})
        named = f"{function.__module__.rpartition('.')[2]}.{function.__name__}" not in UNNAMED if kinds is None else kinds
        self.other = {n: other for n, other in NUMPY.items() if not after and named and n in every and other not in every and (kinds is None or other in kinds)}
        self.other |= {n: ROWS[function.__name__, n] for n in self.names if (function.__name__, n) in ROWS}
        self.optional = {n for n, value in self.defaults.items() if value is None} | {n for n, kind in self.later.items() if kind and kind[-1] == "?"}

    def text(self):
        """The guard in Python, with the function's own signature (values of defaults are its function object's)."""
        may_lack = self.may_lack()
        given = lambda n: f"{n}=None" if n in self.defaults or n in may_lack else n
        star = ["*"] * bool(self.keywords or self.other)
        tests = []
        for n, kind in self.kinds.items():
            test = GLANCE[kind].format(n)
            unless = "None" if n in self.optional else "_lacking" if self.defaults.get(n) is LACKING else ""
            tests.append(f"{n} is not {unless} and ({test})" if unless else test)
        passed = [*self.names, *(f"{n}={n}" for n in self.keywords)]
        body = "".join(self.either(n, other) for n, other in self.other.items())
        if tests:
            body += f"    if {' or '.join(tests)}:\n        return _closely({', '.join(['_self', *passed])})\n"
        body += "    try:\n"
        if self.keywords == ("out",):  # 30 ns
            body += f"        if out is None:\n            return _function({', '.join(self.names)})\n"
        body += f"        return _function({', '.join(passed)})\n"
        body += f"    except Exception:\n        _self.look({', '.join(passed)})\n        raise\n"
        head = ", ".join([*map(given, self.names), *star, *map(given, self.keywords), *(f"{other}=None" for other in self.other.values())])
        return f"def {self.function.__name__}({head}):\n{body}"

    def either(self, name, other):
        """Text: an argument by one of two names. Its own default stands in for _lacking, by which the guard knows that it was not given."""
        own = self.defaults.get(name, LACKING)  # an int, a bool, a tuple of ints or None
        default = "" if own is LACKING else f"    elif {name} is _lacking:\n        {name} = {own!r}\n"
        absent = "_lacking" if name in self.defaults else None
        return f"    if {other} is not _lacking:\n        {name} = _renamed('{self.function.__name__}', '{other}', {other}, {name}, {absent})\n{default}"

    def may_lack(self):
        """Parameters without a default that the guard gives one: the first that may come by another name, and those behind it. Their kinds refuse None."""
        bare = self.names[: len(self.names) - len(self.function.__defaults__ or ())]
        first = next((k for k, n in enumerate(bare) if n in self.other), len(bare))
        return bare[first:]

    def values(self):
        """__defaults__ and __kwdefaults__ of the guard."""
        function = self.function
        own = tuple(LACKING if n in self.other else self.defaults[n] for n in self.names if n in self.defaults)
        named = {n: LACKING if n in self.other else value for n, value in (function.__kwdefaults__ or {}).items()}
        return (None,) * len(self.may_lack()) + own or None, named | dict.fromkeys(self.other.values(), LACKING)

    def check(self, parameter, position, value):
        """Refuse a value of a wrong kind."""
        kind = self.kinds.get(parameter)
        if kind and type(value) not in FAST[kind] and not (value is None and parameter in self.optional) and value is not LACKING:
            check(self.function.__name__, parameter, position, kind, value)

    def before(self, args, options):
        """What is refused whatever the kinds are."""
        if self.first is not None:
            code, given = self.first.__code__, {**self.defaults, **dict(zip(self.names, args)), **options}
            self.first(*(given[n] for n in code.co_varnames[: code.co_argcount]))

    def look(self, *args, **options):
        """The call failed: refuse the first argument that is of a wrong kind, for that is what PyTorch says of it."""
        self.before(args, options)
        want_kinds(self.function.__name__, self.of_kind, {**dict(zip(self.names, args)), **options}, {n: k for k, n in enumerate(self.names)})

    def of_kind(self, parameter):
        kind = self.later.get(parameter)
        return kind and kind.rstrip("?") + "?" * (parameter in self.optional)


def _closely(self, checked, args, options):
    """The function after a look at every argument."""
    self.before(args, options)
    try:
        for k, (n, a) in enumerate(zip(self.names, args)):
            self.check(n, k, a)
        for n, a in options.items():
            self.check(n, None, a)
    except TypeError:
        if relevant := overriding(args):
            given = list(args)
            while given and (n := self.names[len(given) - 1]) in self.defaults and given[-1] is self.defaults[n]:
                given.pop()
            return ask(checked, relevant, tuple(given), {n: a for n, a in options.items() if a is not self.defaults.get(n, self)})
        raise
    except IntegerOverflow:
        self.look(*args, **options)  # for an argument behind it that is of a wrong kind
        raise
    try:
        return self.function(*args, **options)
    except Exception:
        self.look(*args, **options)
        raise


@functools.cache
def _parameters(function):
    return _Parameters(getattr(function, "__wrapped__", function))


def look(function, args, options):
    """A call of what is written over a function failed: refuse the first of its arguments that is of a wrong kind."""
    function = (function.__kwdefaults__ or {}).get("_facula_", (function,))[0]  # it may be watched by now, see _override: as it was
    _parameters(function).look(*args, **options)


def _first_call(*args, **options):
    return begin(*args, **options)  # noqa: F821 - each guard's own


def guarded(function, kinds=None, after=False, first=None):
    """The function with the kinds of its arguments checked; after: only once it failed. first: what else it refuses, before kinds (_Parameters).

    The guard is written at the first call: a function of the same signature that looks at types, 70 ns where *args and **options take 400.
    """

    def begin(*args, **options):
        if "_self" not in own:
            function = (inner.__kwdefaults__ or {}).get("_facula_", (inner,))[0]  # it may be watched by now, see _override: as it was
            own["_self"] = _Parameters(function, kinds, after, first)
            own["_closely"] = lambda self, *args, **options: _closely(self, checked, args, options)
            exec(compile(own["_self"].text(), function.__code__.co_filename, "exec"), own)
            made = own["_made"] = own[function.__name__]
            made.__defaults__, made.__kwdefaults__ = own["_self"].values()
        made = own["_made"]
        for f in own["_namesakes"]:
            if f.__code__ is _first_call.__code__:  # it may be watched by now, see _override, or until a mode ends
                f.__code__, f.__defaults__, f.__kwdefaults__ = made.__code__, made.__defaults__, made.__kwdefaults__
        return made(*args, **options)

    inner = function
    own = {"begin": begin, "_function": function, "_Tensor": Tensor, "_dtype": dtype, "_lacking": LACKING, "_renamed": renamed, "__name__": function.__module__}
    checked = FunctionType(_first_call.__code__, own, function.__name__)
    checked.__defaults__, checked.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    own["_namesakes"] = [checked]
    return functools.update_wrapper(checked, function)


_VARIADIC = 0x04  # the flag of code with *args


def guard(module, names=None, after=False):
    """Put guarded functions in the place of a module's, of all public ones if no names are given. _<name>_first, where there is one: see _Parameters."""
    for n, function in list(vars(module).items()):
        code = getattr(function, "__code__", None)
        if code is None or n[0] == "_" or function.__module__ != module.__name__ or not code.co_argcount or code.co_flags & _VARIADIC or hasattr(function, "__wrapped__"):
            continue
        if names is None or n in names.split():
            looking = guarded(function, after=after, first=getattr(module, f"_{n}_first", None))
            setattr(module, n, looking)
            methods = getattr(module, "METHODS", None)
            if isinstance(methods, dict):
                methods.update({m: looking for m, f in methods.items() if f is function})


def guard_all():
    """Guard what GUARDED lists."""
    from importlib import import_module

    for table, after in ((GUARDED, False), (AFTER, True)):
        for name, names in table.items():
            guard(import_module("facula.tensor_core." + name), names, after)
