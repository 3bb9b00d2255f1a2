"""A reader of pickles that can only build data: the default of facula.load.

It runs the opcodes of protocols 2 to 5 itself. Names reach it through `resolve`, which decides what exists; only what
`resolve` returned may be called, and only by the opcodes that call; a class only where it is a container or trusted.
Nothing is imported, memory and time stay proportional to the bytes read, and whatever is wrong with the bytes is an
UnpicklingError.
Source: the opcode table of Python's pickletools.
"""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from reprlib import repr as short  # a hostile object's whole repr may take forever
from typing import Any

__all__ = ["read_pickle", "read_pickle_at"]

KEY_BUDGET = 10_000  # values that one dict key may consist of: hashing nested tuples takes C stack and, shared, exponential time
# What calls may copy and keys may hold, in all, per byte of the pickle: a memo hands out a long value for two bytes, and a
# hundred thousand calls of it would make a hundred thousand copies. What pickle writes needs less than one.
COPIES = 16
MAPPINGS = (dict, OrderedDict, Counter, defaultdict)
CONTAINERS = (set, frozenset, *MAPPINGS)
SIZED = (str, bytes, bytearray, list, tuple, set, frozenset, dict)


def read_pickle(
    data: bytes,
    resolve: Callable[[str, str], Any],
    persistent: Callable[[Any], Any] | None = None,
    trusted: Callable[[type], bool] = lambda cls: False,
) -> Any:
    """The object that the pickle in `data` describes.

    resolve: (module, name) -> the value of that global; raises to refuse it.
    persistent: the object of a persistent id.
    trusted: may instances of this class be made and given their attributes?
    Raises pickle.UnpicklingError for anything that is not such a pickle.
    """
    return read_pickle_at(data, 0, resolve, persistent, trusted)[0]


def read_pickle_at(data, at, resolve, persistent=None, trusted=lambda cls: False, encoding="utf-8"):
    """read_pickle for one that begins at byte `at`, and the place behind it. encoding: of Python 2's texts, which are bytes; "bytes" leaves them so."""
    reader = Reader(data, resolve, persistent, trusted, encoding)
    reader.at = at
    try:
        return reader.run(), reader.at
    except RecursionError:
        raise pickle.UnpicklingError(f"load: nested too deeply at byte {reader.at} of the pickle") from None
    except (pickle.UnpicklingError, RuntimeError):
        raise
    except (IndexError, struct.error):
        raise pickle.UnpicklingError(f"load: the pickle ends or falls apart at byte {reader.at} of {len(data)}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise pickle.UnpicklingError(f"load: {error} (byte {reader.at} of the pickle)") from error


class Reader:
    """The stack machine: `stack` holds values, `below` the stacks under each mark, `memo` what was numbered."""

    def __init__(self, data, resolve, persistent, trusted, encoding):
        self.data, self.at, self.encoding = data, 0, encoding
        self.resolve, self.persistent, self.trusted = resolve, persistent, trusted
        self.stack, self.below, self.memo = [], [], {}
        self.callables = {}  # id -> what resolve returned
        self.left = COPIES * len(data) + KEY_BUDGET

    def run(self):
        while True:
            opcode = self.take(1)[0]
            if opcode == pickle.STOP[0]:
                return self.stack.pop()
            if opcode not in OPCODES:
                raise pickle.UnpicklingError(f"load: opcode {opcode:#04x} at byte {self.at - 1} is not for data. See weights_only.")
            OPCODES[opcode](self)

    def take(self, count):
        end = self.at + count
        if count < 0 or end > len(self.data):
            raise IndexError
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def line(self):
        end = self.data.index(b"\n", self.at)
        text = self.data[self.at : end].decode("utf-8")
        self.at = end + 1
        return text

    def older_text(self, form):
        piece = self.take(self.number(form))
        return piece if self.encoding == "bytes" else piece.decode(self.encoding)

    def to_mark(self):
        above, self.stack = self.stack, self.below.pop()
        return above

    def global_(self, module, name):
        value = self.resolve(module, name)
        if (value in CONTAINERS or self.trusted(value)) if isinstance(value, type) else callable(value):
            self.callables[id(value)] = value
        self.stack.append(value)

    def call(self, function, args):
        if id(function) not in self.callables:
            raise pickle.UnpicklingError(f"load: a call of {type(function).__name__}, which is no function, before byte {self.at}")
        if type(args) is not tuple:
            raise pickle.UnpicklingError(f"load: the arguments of a call are {type(args).__name__}, not a tuple")
        for arg in args:
            if isinstance(arg, SIZED):
                self.spend(len(arg))
        if function in (set, frozenset):
            args = tuple(map(self.members, args))
        elif function in MAPPINGS and args:
            args = (self.pairs(function, *args),)
        return function(*args)

    def spend(self, count):
        self.left -= count
        if self.left < 0:
            raise pickle.UnpicklingError(f"load: a pickle of {len(self.data)} bytes asks for copies of more than {COPIES} times that")

    def put(self, index):
        self.memo[index] = self.stack[-1]

    def set_items(self, items):
        target = self.stack[-1]
        if type(target) not in MAPPINGS and not self.trusted(type(target)):
            raise pickle.UnpicklingError(f"load: items are set on {type(target).__name__}, which is no dict")
        if len(items) % 2:
            raise IndexError
        for key, value in zip(items[::2], items[1::2]):
            target[self.key(key)] = value

    def append(self, items):
        target = self.stack[-1]
        if type(target) is not list and not self.trusted(type(target)):
            raise pickle.UnpicklingError(f"load: items are appended to {type(target).__name__}, which is no list")
        target.extend(items)

    def add(self, items):
        target = self.stack[-1]
        if type(target) is not set:
            raise pickle.UnpicklingError(f"load: items are added to {type(target).__name__}, which is no set")
        target.update(self.members(items))

    def build(self):
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is OrderedDict:  # a state_dict carries its _metadata so
            vars(target).update(self.attributes(state))
        elif self.trusted(type(target)):
            if hasattr(target, "__setstate__"):
                target.__setstate__(state)
            else:
                vars(target).update(self.attributes(state))
        else:
            raise pickle.UnpicklingError(f"load: attributes are set on {type(target).__name__}, which is not a safe class")

    def new_object(self):
        args, cls = self.stack.pop(), self.stack.pop()
        if not isinstance(cls, type) or not (self.trusted(cls) or cls in MAPPINGS):
            raise pickle.UnpicklingError(f"load: an instance is made of {short(cls)}, which is not a safe class")
        self.stack.append(cls.__new__(cls, *args))

    def attributes(self, state):
        if type(state) is not dict or not all(type(name) is str for name in state):
            raise pickle.UnpicklingError(f"load: attributes come as {type(state).__name__}, not as a dict of names")
        self.spend(len(state))
        return state

    def key(self, key):
        """key, after a look into its tuples: hash() recurses in C without a limit."""
        if isinstance(key, (tuple, frozenset)):
            todo, seen = [key], 0
            while todo:
                value = todo.pop()
                if not isinstance(value, (tuple, frozenset)):
                    continue
                seen += 1 + len(value)
                if seen > KEY_BUDGET:
                    raise pickle.UnpicklingError(f"load: a dict key consists of more than {KEY_BUDGET} values")
                todo.extend(value)
            self.spend(seen)
        return key

    def pairs(self, cls, items):
        if type(items) in MAPPINGS:
            return items
        if cls is Counter or type(items) is not list or not all(type(pair) in (list, tuple) and len(pair) == 2 for pair in items):
            raise pickle.UnpicklingError(f"load: a {cls.__name__} is made of something that is no dict or list of pairs")
        return [(self.key(key), value) for key, value in items]

    def members(self, members):
        if type(members) not in (list, tuple, set, frozenset):
            raise pickle.UnpicklingError(f"load: a set is made of {type(members).__name__}, not of a list")
        return [self.key(member) for member in members]


# --- the opcodes -------------------------------------------------------------------------------------------------------

OPCODES: dict[int, Callable[[Reader], Any]] = {}


def opcode(*codes):
    def keep(function):
        for code in codes:
            OPCODES[code[0]] = function
        return function

    return keep


def push(code, value_of):
    def run(r):
        value = value_of(r)  # may replace r.stack
        r.stack.append(value)

    OPCODES[code[0]] = run


def text(data):
    return str(data, "utf-8", "surrogatepass")


def long_of(data):
    return int.from_bytes(data, "little", signed=True)


push(pickle.NONE, lambda r: None)
push(pickle.NEWTRUE, lambda r: True)
push(pickle.NEWFALSE, lambda r: False)
push(pickle.BININT, lambda r: r.number("<i"))
push(pickle.BININT1, lambda r: r.number("<B"))
push(pickle.BININT2, lambda r: r.number("<H"))
push(pickle.LONG1, lambda r: long_of(r.take(r.number("<B"))))
push(pickle.LONG4, lambda r: long_of(r.take(r.number("<i"))))
push(pickle.BINFLOAT, lambda r: r.number(">d"))
push(pickle.BINUNICODE, lambda r: text(r.take(r.number("<I"))))
push(pickle.SHORT_BINUNICODE, lambda r: text(r.take(r.number("<B"))))
push(pickle.BINUNICODE8, lambda r: text(r.take(r.number("<Q"))))
push(pickle.BINBYTES, lambda r: bytes(r.take(r.number("<I"))))
push(pickle.SHORT_BINBYTES, lambda r: bytes(r.take(r.number("<B"))))
push(pickle.BINBYTES8, lambda r: bytes(r.take(r.number("<Q"))))
push(pickle.BYTEARRAY8, lambda r: bytearray(r.take(r.number("<Q"))))
push(pickle.SHORT_BINSTRING, lambda r: r.older_text("<B"))
push(pickle.BINSTRING, lambda r: r.older_text("<i"))
push(pickle.EMPTY_TUPLE, lambda r: ())
push(pickle.EMPTY_LIST, lambda r: [])
push(pickle.EMPTY_DICT, lambda r: {})
push(pickle.EMPTY_SET, lambda r: set())
push(pickle.TUPLE, lambda r: tuple(r.to_mark()))
push(pickle.LIST, lambda r: r.to_mark())
push(pickle.FROZENSET, lambda r: frozenset(r.members(r.to_mark())))
push(pickle.TUPLE1, lambda r: (r.stack.pop(),))
push(pickle.BINGET, lambda r: r.memo[r.number("<B")])
push(pickle.LONG_BINGET, lambda r: r.memo[r.number("<I")])


@opcode(pickle.PROTO)
def protocol(r):
    version = r.number("<B")
    if not 2 <= version <= 5:
        raise pickle.UnpicklingError(f"load: pickle protocol {version}; 2 to 5 are read")


@opcode(pickle.FRAME)
def frame(r):
    if r.number("<Q") > len(r.data) - r.at:
        raise IndexError


@opcode(pickle.MARK)
def mark(r):
    r.below.append(r.stack)
    r.stack = []


@opcode(pickle.POP)
def pop(r):
    if r.stack:
        r.stack.pop()
    else:
        r.to_mark()


@opcode(pickle.POP_MARK)
def pop_mark(r):
    r.to_mark()


@opcode(pickle.DUP)
def duplicate(r):
    r.stack.append(r.stack[-1])


@opcode(pickle.TUPLE2)
def pair(r):
    r.stack[-2:] = [(r.stack[-2], r.stack[-1])]


@opcode(pickle.TUPLE3)
def triple(r):
    r.stack[-3:] = [(r.stack[-3], r.stack[-2], r.stack[-1])]


@opcode(pickle.DICT)
def dict_of_marked(r):
    items = r.to_mark()
    r.stack.append({})
    r.set_items(items)


OPCODES[pickle.BINPUT[0]] = lambda r: r.put(r.number("<B"))
OPCODES[pickle.LONG_BINPUT[0]] = lambda r: r.put(r.number("<I"))
OPCODES[pickle.MEMOIZE[0]] = lambda r: r.put(len(r.memo))
OPCODES[pickle.APPEND[0]] = lambda r: r.append([r.stack.pop()])
OPCODES[pickle.APPENDS[0]] = lambda r: r.append(r.to_mark())
OPCODES[pickle.ADDITEMS[0]] = lambda r: r.add(r.to_mark())
OPCODES[pickle.SETITEMS[0]] = lambda r: r.set_items(r.to_mark())
OPCODES[pickle.BUILD[0]] = Reader.build
OPCODES[pickle.NEWOBJ[0]] = Reader.new_object


@opcode(pickle.SETITEM)
def set_item(r):
    value, key = r.stack.pop(), r.stack.pop()
    r.set_items([key, value])


@opcode(pickle.GLOBAL)
def global_by_lines(r):
    r.global_(r.line(), r.line())


@opcode(pickle.STACK_GLOBAL)
def global_by_stack(r):
    name, module = r.stack.pop(), r.stack.pop()
    if type(name) is not str or type(module) is not str:
        raise pickle.UnpicklingError("load: a global is not named by text")
    r.global_(module, name)


@opcode(pickle.REDUCE)
def reduce(r):
    args, function = r.stack.pop(), r.stack.pop()
    r.stack.append(r.call(function, args))


@opcode(pickle.BINPERSID)
def persistent_id(r):
    if r.persistent is None:
        raise pickle.UnpicklingError("load: a persistent id in a pickle that has none")
    r.stack.append(r.persistent(r.stack.pop()))
