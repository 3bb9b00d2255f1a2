"""Compositions refuse arguments of a wrong kind as PyTorch's parser does: TypeError with function, argument and both kinds.

What a parameter takes is read from its name, which in PyTorch means one thing nearly everywhere; TAKES lists where it does not.
Rows check for themselves: their kinds stand in the table.
"""

import functools
from types import FunctionType

from facula.tensor_core._errors import IntegerOverflow, IntegersOverflow, NotATensorError
from facula.tensor_core.dispatch.arguments import LACKING, renamed
from facula.tensor_core.dispatch.foreign import ask, overriding
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import dtype

# kind: (types that are right at a glance, word for a message)
WORDS = {"tensor": "Tensor", "int": "int", "ints": "tuple of ints", "bool": "bool", "float": "float", "number": "Number", "real": "Number", "str": "str", "dtype": "torch.dtype"}
FAST = {
    "tensor": (Tensor,), "int": (), "ints": (), "bool": (bool,), "float": (float, int), "number": (int, float, bool), "real": (int, float, bool), "str": (str,), "dtype": (dtype,),
}  # fmt: skip

NAMES = {
    "tensor": """input input2 input3 other mat mat1 mat2 batch1 batch2 vec vec1 vec2 tensor index src source mask condition A B LU LD tau pivots LU_data LU_pivots
        x1 x2 a b boundaries sorted_sequence sorter count prob abs angle real imag values weights fweights aweights""",
    "int": """k diagonal offset dim dim1 dim2 chunks num_samples r N minlength start_dim end_dim length dim0 dim1 axis0 axis1 dimension bins
        storage_offset steps edge_order correction""",
    "bool": """keepdim keepdims upper largest sorted descending stable right out_int32 hermitian pivot left unitriangular check_errors return_inverse
        return_counts equal_nan include_self accumulate unpack_data unpack_pivots density increasing with_replacement full_matrices adjoint as_tuple
        sparse_grad invert assume_unique replacement transpose some compute_uv""",
    "float": "eps rtol atol",
    "number": "alpha beta value maxnorm",
    "str": "reduce rounding_mode indexing interpolation side mode driver UPLO norm compute_mode",
    "dtype": "dtype",
}  # fmt: skip
NUMPY = {"dim": "axis", "keepdim": "keepdims"}  # other names, which PyTorch takes too
UNNAMED = frozenset(("reductions.norm", "order.unique", "order.unique_consecutive"))  # but not for these, which it has in Python
ROWS = {  # and those of its rows whose documentation has others
    "A": ("input", "cholesky cholesky_ex cond eig eigh eigvals eigvalsh ldl_factor ldl_factor_ex lstsq matrix_exp matrix_norm matrix_power matrix_rank pinv tensorinv tensorsolve"),
    "B": ("b", "lstsq"), "x": ("input", "vector_norm"), "tensor": ("input", "one_hot"), "elements": ("element", "isin"), "test_elements": ("test_element", "isin"),
}  # fmt: skip
ROWS = {(function, name): other for name, (other, functions) in ROWS.items() for function in functions.split()} | {("tensorsolve", "B"): "other"}
KIND = {name: kind for kind, names in NAMES.items() for name in names.split()}

# (function, parameter): its kind, None for several that the function sorts out; ("*", ...) is no default but a set of functions
TAKES = {
    ("select_scatter", "index"): "int", ("tolerances", "atol"): None, ("tolerances", "rtol"): None, ("cdist", "p"): "float", ("cdist", "compute_mode"): None, ("diff", "prepend"): "tensor", ("diff", "append"): "tensor", ("pdist", "p"): "float", ("mvlgamma", "p"): "int", ("multigammaln", "p"): "int", ("histogram", "bins"): None, ("histogramdd", "bins"): None,
    ("isin", "test_elements"): None, ("index_fill", "value"): None, ("masked_fill", "value"): None, ("scatter", "src"): None, ("scatter", "value"): None,
    ("diff", "n"): "int", ("matrix_power", "n"): "int", ("trapezoid", "x"): "tensor", ("cumulative_trapezoid", "x"): "tensor", ("trapezoid", "y"): "tensor",
    ("cumulative_trapezoid", "y"): "tensor", ("vander", "x"): "tensor", ("vecdot", "x"): "tensor", ("vecdot", "y"): "tensor", ("vector_norm", "x"): "tensor",
    ("searchsorted", "input"): None, ("bucketize", "input"): None, ("normal", "mean"): None, ("prelu", "weight"): "tensor", ("sparse_coo_tensor", "values"): None,
    ("index_put", "values"): None, ("pow", "input"): None, ("float_power", "input"): None, ("where", "input"): None, ("where", "other"): None, ("div", "input"): None,
    ("div", "other"): None, ("true_divide", "input"): None, ("true_divide", "other"): None, ("full", "value"): None, ("tensor_split", "dim"): "int",
    ("matrix_rank", "atol"): None, ("matrix_rank", "rtol"): None, ("pinv", "atol"): None, ("pinv", "rtol"): None, ("lstsq", "B"): "tensor",
    ("from_file", "offset"): None, ("linspace", "steps"): None, ("logspace", "steps"): None, ("split", "tensor"): "tensor", ("randint", "size"): None,
    ("renorm", "dim"): "int", ("cov", "correction"): "int", ("use_deterministic_algorithms", "mode"): None, ("set_flush_denormal", "mode"): None,
    ("bernoulli", "p"): None, ("tensordot", "dims"): None, ("histc", "min"): "real", ("histc", "max"): "real", ("renorm", "maxnorm"): "real", ("xlogy", "input"): None, ("xlogy", "other"): None,
    ("xlog1py", "input"): None, ("xlog1py", "other"): None, ("zeta", "input"): None, ("zeta", "other"): None, ("repeat_interleave", "input"): "tensor",
    ("result_type", "tensor"): None, ("typename", "input"): None, ("cross", "dim"): "int", ("unflatten", "dim"): "int", ("round", "decimals"): "int",
    ("frombuffer", "count"): None, ("frombuffer", "offset"): None, ("isin", "elements"): None, ("std", "correction"): "number", ("var", "correction"): "number",
    ("std_mean", "correction"): "number", ("var_mean", "correction"): "number", ("segment_reduce", "data"): "tensor", ("segment_reduce", "unsafe"): "bool",
    ("segment_reduce", "axis"): "int", ("take_along_dim", "indices"): "tensor", ("histogram", "weight"): "tensor", ("histogramdd", "weight"): "tensor",
    ("vector_norm", "ord"): "number", ("dist", "p"): "number", ("tril_indices", "row"): "int", ("tril_indices", "col"): "int", ("triu_indices", "row"): "int",
    ("triu_indices", "col"): "int", ("nonzero_static", "size"): "int", ("fill", "value"): None, ("hash_tensor", "mode"): "int", ("unflatten", "sizes"): None,
}  # fmt: skip
SEVERAL = frozenset("fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn fftshift ifftshift gradient nanquantile all any logsumexp norm squeeze nanmean vector_norm matrix_norm hash_tensor max min std var std_mean var_mean count_nonzero quantile".split())

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


def kind_of(function, parameter):
    """What the parameter takes: a key of WORDS, or None for what nobody checks here."""
    function = function.rstrip("_")
    if (function, parameter) in TAKES:
        return TAKES[function, parameter]
    if parameter == "dim" and function in SEVERAL:
        return None
    return KIND.get(parameter)


def right(kind, value):
    """Is the value of that kind? For those that are not right at a glance."""
    if kind == "tensor":
        return isinstance(value, Tensor)
    if kind in ("int", "number", "real", "float") and isinstance(value, Tensor):
        return value.numel() == 1 and not value.dim() and value._origin is None and (kind != "int" or value.dtype._kind == 1)
    if kind == "int":
        return hasattr(value, "__index__") and not isinstance(value, bool)
    if kind == "ints":  # one of them may stand alone
        return all(right("int", v) or k and isinstance(v, bool) for k, v in enumerate(value)) if isinstance(value, (tuple, list)) else right("int", value)
    if kind in ("number", "real", "float") and getattr(value, "ndim", 0):  # an array
        return False
    if kind in ("number", "real"):
        return isinstance(value, complex) or hasattr(value, "__float__")
    if kind == "float":
        return hasattr(value, "__float__") and not isinstance(value, complex)
    return isinstance(value, FAST[kind]) or kind == "bool" and type(value).__name__ in ("bool_", "bool") or kind == "dtype" and value in (float, int, bool, complex)


def refused(name, parameter, position, kind, value):
    """The exception for a value of a wrong kind."""
    place = "" if position is None else f" (position {position + 1})"
    error = NotATensorError if kind == "tensor" else TypeError
    return error(f"{name}(): argument '{parameter}'{place} must be {WORDS[kind]}, not {type(value).__name__}. Convert it.")


def want_tensor(name, parameter, position, value):
    """Refuse what is no Tensor and does not answer for itself. For short functions, which call it where a type is not Tensor itself."""
    if not isinstance(value, Tensor) and not overriding((value,)):
        raise refused(name, parameter, position, "tensor", value)


def want_tensors(name, tensors):
    """Refuse what is no sequence of Tensors."""
    if isinstance(tensors, Tensor) or not hasattr(tensors, "__iter__"):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}. Put it into a list.")
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor) and not overriding((t,)):
            raise TypeError(f"{name}(): expected Tensor as element {k} in argument 0, but got {type(t).__name__}. Convert it with facula.tensor.")


def check(name, parameter, position, kind, value):
    """Refuse a value of a wrong kind."""
    if not right(kind, value):
        raise refused(name, parameter, position, kind, value)
    if kind == "real" and isinstance(value, complex):
        raise RuntimeError(f"{name}(): value cannot be converted to type double without overflow: {parameter} is {value}. Take its real part.")
    if kind == "int" and not isinstance(value, Tensor) and not -(2**63) <= value.__index__() < 2**63:
        raise IntegerOverflow(f"{name}(): Overflow when unpacking long long: {parameter} is {value}. Give one of 64 bits.")


def real_order(name, p):
    """Refuse the order of a norm that is no real number."""
    if isinstance(p, complex):
        raise RuntimeError(f"{name}: Expected a non-complex scalar as the order of norm, got {p}: p must be real-valued. Take its absolute value.")


def want_ints(name, parameter, position, value):
    """Refuse what is neither a sequence of ints nor a tensor."""
    place = "" if position is None else f" (position {position + 1})"
    if not isinstance(value, (tuple, list, Tensor)):
        raise TypeError(f"{name}(): argument '{parameter}'{place} must be tuple of ints, not {type(value).__name__}. Give a tuple.")
    for k, v in enumerate(value):
        if type(v) is not int and (isinstance(v, bool) and not k or not hasattr(v, "__index__")):  # PyTorch looks for a bool in the first place alone
            raise TypeError(f"{name}(): argument '{parameter}'{place} must be tuple of ints, but found element of type {type(v).__name__} at pos {k}. Convert it.")
        if type(v) is int and not -(2**63) <= v < 2**63:
            raise IntegersOverflow(f"{name}(): argument '{parameter}'{place} failed to unpack the object at pos {k + 1}: Overflow when unpacking long long: {v}. Give one of 64 bits.")


# what is right at a glance, as text for the guard of a function; anything else is looked at closely
GLANCE = {
    "ints": "type({0}) is not tuple", "tensor": "type({0}) is not _Tensor", "int": "type({0}) is not int or not -65536 < {0} < 65536", "bool": "{0} is not False and {0} is not True",
    "float": "type({0}) is not float and type({0}) is not int", "str": "type({0}) is not str", "dtype": "type({0}) is not _dtype",
}  # fmt: skip
GLANCE["number"] = GLANCE["real"] = GLANCE["float"]


class _Parameters:
    """Names and kinds of a function's parameters, and which may be None. kinds: of a function, parameter -> kind, `kind?` where it may be None;
    where they have NumPy's name of a parameter too, it is taken."""

    def __init__(self, function, kinds=None):
        kinds = kinds and kinds(function)
        code = function.__code__
        self.function = function
        every = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.names, self.keywords = every[: code.co_argcount], every[code.co_argcount :]
        self.kinds = {n: kind_of(function.__name__, n) if kinds is None else kinds.get(n, "").rstrip("?") for n in every}
        self.defaults = dict(zip(reversed(self.names), reversed(function.__defaults__ or ()))) | (function.__kwdefaults__ or {})
        named = f"{function.__module__.rpartition('.')[2]}.{function.__name__}" not in UNNAMED if kinds is None else kinds
        self.other = {n: other for n, other in NUMPY.items() if named and n in every and other not in every and (kinds is None or other in kinds)}
        self.other |= {n: ROWS[function.__name__, n] for n in self.names if (function.__name__, n) in ROWS}
        self.optional = {n for n, value in self.defaults.items() if value is None} | {n for n, kind in (kinds or {}).items() if kind.endswith("?")}

    def text(self):
        """The guard in Python, with the function's own signature (values of defaults are its function object's)."""
        may_lack = self.may_lack()
        given = lambda n: f"{n}=None" if n in self.defaults or n in may_lack else n
        star = ["*"] * bool(self.keywords or self.other)
        tests = []
        for n, kind in self.kinds.items():
            if kind:
                test = GLANCE[kind].format(n)
                unless = "None" if n in self.optional else "_lacking" if self.defaults.get(n) is LACKING else ""
                tests.append(f"{n} is not {unless} and ({test})" if unless else test)
        passed = [*self.names, *(f"{n}={n}" for n in self.keywords)]
        body = "".join(self.either(n, other) for n, other in self.other.items())
        body += f"    if {' or '.join(tests) or 'False'}:\n        return _closely({', '.join(['_self', *passed])})\n"
        if self.keywords == ("out",):  # 30 ns
            body += f"    if out is None:\n        return _function({', '.join(self.names)})\n"
        head = ", ".join([*map(given, self.names), *star, *map(given, self.keywords), *(f"{other}=None" for other in self.other.values())])
        return f"def {self.function.__name__}({head}):\n{body}    return _function({', '.join(passed)})\n"

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
        kind = self.kinds[parameter]
        if kind and type(value) not in FAST[kind] and not (value is None and parameter in self.optional) and value is not LACKING:
            check(self.function.__name__, parameter, position, kind, value)


def _closely(self, checked, args, options):
    """The function after a look at every argument."""
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
    return self.function(*args, **options)


def _first_call(*args, **options):
    return begin(*args, **options)  # noqa: F821 - each guard's own


def guarded(function, kinds=None):
    """The function with the kinds of its arguments checked.

    The guard is written at the first call: a function of the same signature that looks at types, 70 ns where *args and **options take 400.
    """

    def begin(*args, **options):
        if "_self" not in own:
            function = (inner.__kwdefaults__ or {}).get("_facula_", (inner,))[0]  # it may be watched by now, see _override: as it was
            own["_self"] = _Parameters(function, kinds)
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


def guard(module, names=None):
    """Put guarded functions in the place of a module's, of all public ones if no names are given."""
    for n, function in list(vars(module).items()):
        code = getattr(function, "__code__", None)
        if code is None or n[0] == "_" or function.__module__ != module.__name__ or not code.co_argcount or code.co_flags & _VARIADIC or hasattr(function, "__wrapped__"):
            continue
        if names is None or n in names.split():
            setattr(module, n, guarded(function))


def guard_all():
    """Guard what GUARDED lists."""
    from importlib import import_module

    for name, names in GUARDED.items():
        guard(import_module("facula.tensor_core." + name), names)
