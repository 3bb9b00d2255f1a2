"""TorchFunctionMode: blocks in which every function of a thread goes to an object's __torch_function__.

While no block is open anywhere, calls cost what they cost. The first one that opens changes the table of what can be called, and the last
one that closes changes it back:

    functions     of all kinds get the code of a question; they stay the objects that programs hold
    properties    of Tensor get a getter and a setter that ask
    C methods     of Tensor, which have neither, have a stand-in on it that is equal to them

Inside a question the mode that is asked is off the stack, so what its answer calls is seen by the modes around it, and by nobody else.
"""

import sys
import threading
import types

from facula.tensor_core import _ownership, _tensor
from facula.tensor_core._tensor import Tensor
from facula.tensor_core.dispatch import override
from facula.tensor_core.dispatch.spelled import kinds_of, spelled
from facula.tensor_core.memory import legacy

HEARD = {"tensor", "as_tensor", "asarray", "sparse_coo_tensor"}  # by modes, though no type is asked

_lock = threading.Lock()
_open = 0  # blocks in all threads
_parts = []  # of the table, once it was needed: each has put() and take()


def in_mode(modes, func, args, kwargs):
    """Ask the innermost mode, with itself off the stack meanwhile."""
    mode = modes.pop()
    try:
        args, kwargs = spelled(func, args, kwargs)
        result = mode.__torch_function__(func, kinds_of(func, args, kwargs), args, kwargs)
        if result is NotImplemented:
            raise TypeError(f"no implementation found for '{override.name_of(func)}': the mode {type(mode).__name__} returned NotImplemented. Call func(*args, **kwargs) there.")
        return result
    finally:
        modes.append(mode)


override.in_mode = in_mode


class TorchFunctionMode:
    """A block in which every function of this thread goes to the mode's __torch_function__(func, types, args, kwargs).

    >>> import facula
    >>> from facula.overrides import TorchFunctionMode
    >>> class Names(TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     _ = facula.ones(2) + 1
    ones
    add
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError(f"{type(self).__name__}: __torch_function__ is not defined. Define it in the subclass.")

    def __enter__(self):
        override._state.__dict__.setdefault("modes", []).append(self)
        change(1)
        return self

    def __exit__(self, *error):
        change(-1)
        override._state.modes.pop()


# --- the table ----------------------------------------------------------------------------------------------------------


def change(by):
    """A block more or less."""
    global _open
    with _lock:
        if not _open:
            _parts or build()
            put()
        _open += by
        if not _open:
            take()


def put():
    for part in _parts:
        part.put()
    Tensor._modes = True  # any write to the class: what the interpreter remembers of its properties is out of date


def take():
    for part in _parts:
        part.take()
    del Tensor._modes


class changed_back:
    """A block in which functions and Tensor are what they are where no mode is on: for what looks into them."""

    def __enter__(self):
        _lock.acquire()
        if _open:
            take()

    def __exit__(self, *error):
        if _open:
            build()
            put()
        _lock.release()


def build():
    """What there is to change: functions of the public namespaces, and what Tensor has."""
    _parts.clear()
    facula = sys.modules["facula"]
    for home, names in ((Tensor, _ownership.TENSOR), (facula, _ownership.IN_PLACE)):  # what is made at first use is there from here on
        for name in names:
            getattr(home, name, None)
    seen = set()
    for home in override.homes():
        later = _ownership.LATER_FUNCTIONS if home.__name__ == "facula" else ()
        for name in {*vars(home), *later}:
            f = None if name.startswith("_") and name != "_assert" else getattr(home, name, None)
            if not isinstance(f, types.FunctionType) or not f.__globals__["__name__"].startswith("facula") or id(f) in seen or override.passed_over(home, name):
                continue
            seen.add(id(f))
            _parts.append((Function if heard(home, name) else Quiet)(f))
    for name, value in list(vars(Tensor).items()):
        if name in override.UNSEEN and name != "__format__" or override.foreign(getattr(value, "fget", value)):
            continue
        if isinstance(value, types.FunctionType):
            _parts.append(Function(value, vars(Tensor).get(override.OPERATORS.get(name), value)) if heard(Tensor, name) else Quiet(value))
        elif isinstance(value, property):
            _parts.append(Described(value))
        elif isinstance(value, types.MethodDescriptorType):
            _parts.append(Placed(name, Method(vars(Tensor)[override.OPERATORS.get(name, name)])))
        elif value is False:
            _parts.append(Placed(name, Described(property(lambda tensor: False)).put()))
    _parts.extend(Quiet(f) for f in (legacy.made, _tensor.make_subclass))


def heard(home, name):
    return name in HEARD or name not in override.NEVER or home.__name__ not in ("facula", "Tensor")


class Function:
    """A function whose code is that of a question while a mode is on. told: the function that the mode is told of."""

    def __init__(self, f, told=None):
        self.f = f
        self.own = f.__code__, f.__defaults__, f.__kwdefaults__
        if "_facula_" in (f.__kwdefaults__ or ()):  # it asks anyway
            self.asking = self.own if told is f or told is None else (f.__code__, None, {"_facula_": (f.__kwdefaults__["_facula_"][0], told, override.of_function)})
            return
        original = override.copied(f)
        self.asking = override.asking(f), None, {"_facula_": (original, told or f, override.of_function)}

    def put(self):
        f = self.f
        self.own = f.__code__, f.__defaults__, f.__kwdefaults__  # a guard writes itself at its first call
        f.__code__, f.__defaults__, f.__kwdefaults__ = self.asking

    def take(self):
        f = self.f
        f.__code__, f.__defaults__, f.__kwdefaults__ = self.own


class Quiet(Function):
    """A function of which modes hear nothing, and of what it calls neither."""

    def __init__(self, f):
        super().__init__(f)
        original, _, _ = self.asking[2]["_facula_"]
        self.asking = *self.asking[:2], {"_facula_": (original, f, unheard)}


def unheard(watched, args, kwargs):
    with DisableModes():
        return watched[0](*args, **kwargs)


class DisableModes:
    """A block in which this thread has no modes."""

    def __enter__(self):
        self.modes = override._state.__dict__.pop("modes", None)

    def __exit__(self, *error):
        if self.modes is not None:
            override._state.modes = self.modes


class DisableTorchFunction(override.DisableTorchFunctionSubclass):
    """A block in which tensors of all classes are plain ones, and no mode is asked."""

    def __enter__(self):
        self.without = DisableModes()
        self.without.__enter__()
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.without.__exit__()


class Described:
    """A property whose getter and setter ask."""

    def __init__(self, described):
        self.described, self.own = described, (described.fget, described.fset, described.fdel, described.__doc__)
        self.asking = tuple(f and self.question(f, how) for f, how in zip(self.own, ("__get__", "__set__", "__delete__"))) + (described.__doc__,)

    def question(self, f, how):
        described = self.described

        def asks(*args):
            if modes := getattr(override._state, "modes", None):
                return in_mode(modes, getattr(described, how), args, {})
            relevant = () if override.disabled() else override.overriding(args[:1])
            return override.answered(getattr(described, how), relevant, args, {}) if relevant else f(*args)

        return asks

    def put(self):
        self.described.__init__(*self.asking)
        return self.described

    def take(self):
        self.described.__init__(*self.own)


class Placed:
    """What lies on Tensor while a mode is on, in the place of something that cannot ask."""

    def __init__(self, name, stand_in):
        self.name, self.stand_in, self.own = name, stand_in, vars(Tensor)[name]

    def put(self):
        setattr(Tensor, self.name, self.stand_in)

    def take(self):
        if vars(Tensor)[self.name] is self.stand_in:
            setattr(Tensor, self.name, self.own)


class Method:
    """A method written in C, that asks. It is equal to that method: a table of functions that a library has made finds it."""

    def __init__(self, method):
        self.method, self.__name__, self.__qualname__, self.__doc__ = method, method.__name__, method.__qualname__, method.__doc__

    def __get__(self, tensor, owner=None):
        return self if tensor is None else types.MethodType(self, tensor)

    def __call__(self, *args, **kwargs):
        modes = getattr(override._state, "modes", None)
        return in_mode(modes, self, args, kwargs) if modes else self.method(*args, **kwargs)

    def __eq__(self, other):
        return self is other or self.method == other

    def __hash__(self):
        return hash(self.method)
