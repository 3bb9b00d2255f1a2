"""The protocol of subclasses: an op on a Tensor of a user's class goes to that class's __torch_function__.

A plain tensor pays nothing for it, by three means:

    _h          on such a class is a property, which refuses to answer generated functions: their fast path fails as for any odd
                operand, and _dispatch asks here. Everybody else, and everybody within `disabled`, gets the handle; in its slot
                lies a tuple with the handle, so that C finds none there
    methods     the class gets ones of its own for those of Tensor, so that `x.split(2)` is seen as what it is
    functions   that are no rows are told to ask first (`watch`), once a class has a __torch_function__ of its own or a mode is
                entered; classes that have not only want results of their class, and the rows inside see to that

Loaded when the first such class is defined.
"""

import contextlib
import functools
import importlib
import sys
import types

from facula.tensor_core import _ops, _tensor
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.foreign import unpack
from facula.tensor_core.dispatch.spelled import named_kinds, spelled
from facula.tensor_core._tensor import Tensor, disabled_torch_function
from facula.tensor_core._threads import ThreadState

in_mode = None  # modes.py's, once a TorchFunctionMode is known: f(modes, func, args, kwargs) asks the innermost
_state = ThreadState()  # .off: how deep in blocks without the protocol; .modes: the stack of TorchFunctionModes
_slot = Tensor._h
_rows = _ops.__dict__

OPERATORS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div", "__mod__": "remainder", "__matmul__": "matmul",
    "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__neg__": "neg", "__pos__": "positive", "__abs__": "abs",
    "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor", "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_",
    "__ifloordiv__": "floor_divide_", "__imod__": "remainder_", "ndimension": "dim", "nelement": "numel",
}  # fmt: skip
PYTHONS = {"__pow__": "pow", "__ipow__": "pow_", "__rtruediv__": "__rdiv__"}  # operators that are functions in Python there, with other names
SIGNS = {"floor_divide": "__floordiv__", "pow": "__pow__", "bitwise_left_shift": "__lshift__", "bitwise_right_shift": "__rshift__"}  # rows whose operator is a function of its own there
# attributes that describe the object, or that Python asks for by itself: no operation
UNSEEN = {
    "__class__", "__new__", "__init__", "__init_subclass__", "__torch_function__", "__dict__", "__weakref__", "__slots__", "__doc__", "__module__", "__hash__",
    "__getattribute__", "__setattr__", "__delattr__", "__dir__", "__sizeof__", "__subclasshook__", "__reduce__", "__getstate__", "__str__", "__format__", "__copy__", "__array_priority__", "__iter__",
    "_h", "_shape", "_origin", "_viewed", "_grad", "as_subclass", "_make_subclass", "_values_of_all", "__firstlineno__", "__static_attributes__", "__annotations__",
}  # fmt: skip
BARE = ("grad", "_base", "_grad")  # properties whose tensors stay what they are


def disabled():
    return getattr(_state, "off", 0) > 0


class DisableTorchFunctionSubclass:
    """A block in which tensors of all classes are plain ones."""

    def __enter__(self):
        _state.off = getattr(_state, "off", 0) + 1
        return self

    def __exit__(self, *error):
        _state.off -= 1


class Enabled:
    """A block, inside one of those, in which they are not: for a user's own functions.

    >>> with facula.overrides.enable_reentrant_dispatch():
    ...     x = facula.ones(2) * 2
    >>> x
    tensor([2., 2.])
    """

    def __enter__(self):
        self.before, _state.off = getattr(_state, "off", 0), 0

    def __exit__(self, *error):
        _state.off = self.before


def overrides(kind):
    """Does a type say what functions mean for its instances?"""
    said = getattr(kind, "__torch_function__", None)
    if said is None or kind is Tensor or said is disabled_torch_function:
        return False
    return issubclass(kind, Tensor) or not hasattr(kind, "__dlpack__")  # PyTorch's own tensors have it too: they are data


# --- the question -----------------------------------------------------------------------------------------------------


def overriding(args, kwargs=None, plain=False):
    """The arguments (and members of lists) whose types say, one of each type, subclasses first. plain: a plain tensor too."""
    found = []
    for a in (*args, *kwargs.values()) if kwargs else args:
        for x in a if type(a) in (list, tuple) else (a,):
            kind = type(x)
            if (plain if kind is Tensor else overrides(kind)) and all(type(f) is not kind for f in found):
                at = next((k for k, f in enumerate(found) if issubclass(kind, type(f))), len(found))
                found.insert(at, x)
    return found


def ask(func, relevant, args, kwargs):
    """What the first of the types that has an answer answers; NotImplemented where none has."""
    kinds = named_kinds(func, relevant, args, kwargs)
    for x in relevant:
        result = x.__torch_function__(func, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


def answered(func, relevant, args, kwargs):
    result = ask(func, relevant, args, kwargs)
    if result is NotImplemented:
        kinds = [type(x) for x in relevant]
        raise TypeError(f"no implementation found for '{name_of(func)}' on types that implement __torch_function__: {kinds}. Handle it there, or call super().__torch_function__.")
    return result


def name_of(func):
    return f"torch.{getattr(func, '__qualname__', None) or getattr(func, '__name__', func)}"


def default(cls, func, kinds, args, kwargs):
    """Tensor.__torch_function__: func as for plain tensors, its results of class cls."""
    if not all(issubclass(cls, kind) for kind in kinds) or disabled():  # within the block below only functions of others ask again
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in BARE_GETTERS else converted(result, cls)


def converted(result, cls):
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) or type(result) is not Tensor else of_class(result, cls)
    if isinstance(result, (tuple, list)):
        parts = [converted(r, cls) for r in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def of_class(t, cls):
    """The tensor t, seen as one of class cls: same memory, same history. An alias where t is a leaf with a gradient of its own."""
    if t._origin is not None and t.is_leaf:
        t = _ops.alias(t)
    made = object.__new__(cls)
    with DisableTorchFunctionSubclass():
        made._h = t._h
    made._origin, made._viewed, made._shape = t._origin, t._viewed, None
    return made


# --- classes ------------------------------------------------------------------------------------------------------------


class Guarded:
    """The handle of a tensor whose class says what functions mean: not for generated functions, which then ask."""

    def __get__(self, tensor, owner=None):
        if tensor is None:
            return self
        if not disabled() and sys._getframe(1).f_globals is _rows:
            raise AttributeError("this tensor's class has a __torch_function__")
        return _slot.__get__(tensor)[0]

    def __set__(self, tensor, handle):
        _slot.__set__(tensor, (handle,))


class Seen:
    """What stands on a class for a method or property of Tensor."""


class Method(Seen):
    def __init__(self, name):
        self.name = name
        self.public = OPERATORS.get(name, name)

    def __get__(self, tensor, owner=None):
        if tensor is None or disabled():
            return getattr(Tensor, self.name).__get__(tensor, owner) if tensor is not None else getattr(Tensor, self.name)
        return types.MethodType(self.called, tensor)

    def called(self, tensor, *args, **kwargs):
        func = getattr(Tensor, self.public if len(args) < 2 else self.name)
        args = (tensor, *args)
        if modes := getattr(_state, "modes", None):
            return in_mode(modes, func, args, kwargs)
        relevant = overriding(args, kwargs)
        if self.name in OPERATIONS:  # Python asks the other operand, and words the refusal
            return ask(func, relevant, args, kwargs)
        return answered(func, relevant, args, kwargs)


class Attribute(Seen):
    def __init__(self, name):
        self.name = name

    def __get__(self, tensor, owner=None):
        described = Tensor.__dict__[self.name]
        if tensor is None:
            return described.__get__(None, owner)
        if disabled() or getattr(_state, "modes", None):  # (where a mode is on it is told by the property)
            return described.__get__(tensor, owner)
        return answered(described.__get__, [tensor], (tensor,), {})

    def __set__(self, tensor, value):
        described = Tensor.__dict__[self.name]
        if disabled() or getattr(_state, "modes", None):
            return described.__set__(tensor, value)
        answered(described.__set__, [tensor], (tensor, value), {})

    def __delete__(self, tensor):
        Tensor.__dict__[self.name].__delete__(tensor)


def unmoded():
    """A block in which functions and Tensor are as where no mode is on: for what looks into them, or changes them for good."""
    return contextlib.nullcontext() if in_mode is None else sys.modules["facula.tensor_core.dispatch.modes"].changed_back()


def prepare(cls):
    """Make a class's tensors ask its __torch_function__."""
    with unmoded():
        stand_before(cls)
        _dispatch.override = of_row
        watch_few()
        if getattr(cls.__torch_function__, "__func__", None) is not Tensor.__torch_function__.__func__:
            watch()


def stand_before(cls):
    """Put what asks on a class, for all that Tensor has."""
    if not isinstance(cls.__dict__.get("_h", None) or getattr(cls, "_h", None), (Guarded, types.MemberDescriptorType)):
        return  # its handle has a meaning of its own
    cls._h = Guarded()
    mro = [k for k in cls.__mro__ if k is not object]
    for name, value in list(Tensor.__dict__.items()):
        if name in UNSEEN:
            continue
        holder = next((k for k in mro if name in k.__dict__ and not isinstance(k.__dict__[name], Seen)), None)
        first = next(k for k in mro if name in k.__dict__)
        if holder is not Tensor:
            if holder is not first:  # what a class said stands in front of what was put on its sister
                setattr(cls, name, holder.__dict__[name])
            if not foreign(value):
                watch_function(value)  # what it reaches with super()
            continue
        if first is Tensor:
            seen = stand_in(name, value)
            if seen is not None:
                setattr(cls, name, seen)


def stand_in(name, value):
    from facula.tensor_core._ownership import Brought

    if foreign(value.fget if isinstance(value, property) else value):
        return None
    if isinstance(value, property) or isinstance(value, Brought) and name in PROPERTIES:
        return Attribute(name)
    if isinstance(value, (types.FunctionType, types.MethodDescriptorType, Brought)):
        return Method(name)
    return None


def foreign(value):
    """Is it a function that a program put on Tensor? It is called as it stands; the functions that it calls ask."""
    return isinstance(value, types.FunctionType) and value.__globals__.get("__name__", "").partition(".")[0] != "facula"


PROPERTIES = {"grad_fn", "is_leaf", "output_nr", "retains_grad", "_backward_hooks"}
OPERATIONS = {
    *OPERATORS, "__eq__", "__and__", "__or__", "__xor__", "__lshift__", "__rshift__", "__floordiv__", "__rsub__", "__rtruediv__", "__rfloordiv__", "__rmod__",
    "__pow__", "__rpow__", "__rmatmul__", "__rand__", "__ror__", "__rxor__", "__rlshift__", "__rrshift__",
}  # fmt: skip


class _Getters:
    """Which functions are the getters of BARE properties."""

    def __contains__(self, func):
        return getattr(func, "__name__", "") == "__get__" and any(func.__self__ is Tensor.__dict__.get(name) for name in BARE)


BARE_GETTERS = _Getters()

# --- rows -----------------------------------------------------------------------------------------------------------------


def of_row(op, args, out, how):
    """The slow path's question about a call of a row: NotImplemented where no argument overrides."""
    if disabled():
        return NotImplemented
    relevant = overriding(args if out is None else (*args, out))
    if not relevant:
        return NotImplemented
    if any(not isinstance(x, Tensor) for x in relevant):
        watch()
    func = public(op, how)
    given, kwargs = as_called(op, args)
    if out is not None and how == "call":
        kwargs["out"] = out
    if how == "operator":
        result = ask(func, relevant, given, kwargs)
        return Refused if result is NotImplemented else result
    return answered(func, relevant, given, kwargs)


Refused = object()  # an operator for which no type has an answer


def public(op, how):
    """The function that a user calls for a row: the public one, not its namesake among the methods, which a class sees itself."""
    import facula

    if how == "operator":
        return getattr(Tensor, SIGNS.get(op.name, op.name), None) or getattr(_ops, op.name)
    name = op.name if how == "call" or op.name.endswith("_") else op.name + "_"
    name = {"copy_into_": "copy_", "index_put_rows_": "index_put_"}.get(name, name)
    return vars(facula).get(name) or getattr(Tensor, name, None) or getattr(_ops, name, None) or getattr(_ops, op.name)


def as_called(op, args):
    """(args, kwargs) without what is at its default."""
    first = next((k for k, p in enumerate(op.params) if p.keyword), len(op.params))
    given = list(args[:first])
    while given and len(given) > 1 and at_default(op.params[len(given) - 1], given[-1]):
        given.pop()
    unpack(op, given)
    return tuple(given), {p.name: a for p, a in zip(op.params[first:], args[first:]) if not at_default(p, a)}


def at_default(param, value):
    return param.default is not param.required and not isinstance(value, Tensor) and type(value) is type(param.default) and value == param.default


# --- functions that are no rows -----------------------------------------------------------------------------------------

_watched = []
NEVER = {
    "tensor", "as_tensor", "is_tensor", "is_storage", "typename", "from_numpy", "asarray", "frombuffer", "manual_seed", "seed", "initial_seed", "get_rng_state",
    "set_rng_state", "save", "load", "set_printoptions", "is_inference_mode_enabled", "is_grad_enabled", "set_grad_enabled", "sparse_coo_tensor", "vmap", "cond", "while_loop",
    "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic", "no_grad", "enable_grad", "compile", "set_",
    "broadcast_shapes", "from_dlpack", "get_default_device", "get_default_dtype", "get_num_threads", "inference_mode", "is_anomaly_enabled", "set_default_device", "set_default_dtype",
    "set_num_threads", "to_dlpack", "range", "is_autocast_enabled", "is_autocast_cpu_enabled", "as_subclass",
}  # fmt: skip


CALLS = {"facula.nn.functional": {"sigmoid", "tanh"}}  # functions that are seen by what they call
ALONE = {  # what alone is seen of a module
    "facula.nn.init": {"constant_", "kaiming_uniform_", "normal_", "uniform_"},
    "facula.autograd": {"backward", "grad"},
}


def name_methods():
    """Give functions that are Tensor's alone the name that they have there: what a __torch_function__ sees."""
    for name, f in vars(Tensor).items():
        if isinstance(f, types.FunctionType) and f.__name__ != name and vars(Tensor).get(f.__name__) is not f:
            f.__name__ = PYTHONS.get(name, name)


FEW = ("zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like", "randint_like", "nonzero", "broadcast_tensors", "complex", "polar")


def watch_few():
    """Those whose results come from no row on their arguments."""
    import facula

    name_methods()
    for name in FEW:
        watch_function(getattr(facula, name))


def watch():
    """From now on public functions ask their arguments first. The functions stay the objects that they are."""
    if _watched:
        return
    _watched.append(True)
    name_methods()
    import facula
    from facula.tensor_core import _ownership

    for home in homes():
        later = (*_ownership.LATER_FUNCTIONS, *_ownership.IN_PLACE) if home is facula else ()
        watch_own(home, (name for name in {*vars(home), *later} if not name.startswith("_")))
    methods = {name for name in vars(Tensor) if not name.startswith("_") and (name in vars(facula) or name.endswith("_"))}
    watch_own(Tensor, methods | {"__getitem__", "__setitem__"})


def homes():
    """The modules with public functions of tensors, of parts that are there."""
    found = [sys.modules["facula"]]
    for name in ("facula.nn.functional", "facula.nn.init", "facula.linalg", "facula.fft", "facula.special", "facula.autograd"):
        with contextlib.suppress(ModuleNotFoundError):
            found.append(importlib.import_module(name))
    return found


def watch_own(home, names):
    for name in sorted(names):
        f = getattr(home, name, None)
        if not passed_over(home, name) and not (home.__name__ in ("facula", "Tensor") and name in NEVER) and isinstance(f, types.FunctionType) and f.__globals__["__name__"].startswith("facula"):
            watch_function(f)


def passed_over(home, name):
    """Is it a name of a module about which nobody is asked?"""
    return name in CALLS.get(home.__name__, ()) or name not in ALONE.get(home.__name__, (name,))


def watch_function(f):
    """Replace what f does by a question and, where nobody has an answer, what it did."""
    if not isinstance(f, types.FunctionType) or f.__globals__ is _rows or f.__kwdefaults__ and "_facula_" in f.__kwdefaults__:
        return
    import inspect

    original = copied(f)
    f.__signature__ = inspect.signature(f)
    f.__code__, f.__defaults__ = asking(f), None
    f.__kwdefaults__ = {"_facula_": (original, f, of_function)}


def copied(f):
    """Another function that does what f does at present."""
    original = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    original.__kwdefaults__ = f.__kwdefaults__
    original.__dict__.update(f.__dict__)  # a guard's signature is that of the function behind it
    return original


def asking(f):
    """The code of a question for f."""
    return _asking(len(f.__code__.co_freevars)).replace(co_name=f.__code__.co_name)


@functools.cache
def _asking(cells):
    """The code of a function that asks. It is compiled with as many cells as the function it is for has, since it takes over that
    function's closure: code to which cells are only added does not fill them, and who reads its frame's locals crashes the interpreter."""
    names = "".join(f"cell{k}, " for k in range(cells))
    inner = f"def asking(*args, _facula_, **kwargs):\n        return _facula_[2](_facula_, args, kwargs)\n        {names}"
    made = {}
    exec(compile(f"def outer({names}):\n    {inner}\n    return asking", "<asks for __torch_function__>", "exec"), made)
    return made["outer"](*range(cells)).__code__


_around = {}  # id of a function -> what runs instead of it, given it


def around(f, how):
    """From now on a call of f is how(what f did, args, kwargs), unless f is a row."""
    with unmoded():
        watch_function(f)
    _around[id(f)] = how


def of_function(watched, args, kwargs):
    original, itself, _ = watched
    if itself.__name__ == "einsum" and len(args) == 2 and isinstance(args[0], str) and isinstance(args[1], (tuple, list)):
        args = (args[0], *args[1])  # as PyTorch's, which asks the operands once it has them one by one
    off = disabled()
    modes = getattr(_state, "modes", None)
    if modes:
        return in_mode(modes, itself, args, kwargs)
    if not off:
        relevant = overriding(args, kwargs)
        if relevant:
            return answered(itself, relevant, *spelled(itself, args, kwargs))
    how = _around.get(id(itself))
    result = how(original, args, kwargs) if how else original(*args, **kwargs)
    return result if _dispatch.tape is None else _dispatch.tape.relined(result)


_tensor.of_class = of_class
