"""The slow path of every op: interpreters, `out=`, odd operands, stale origins, failures. Fast calls never come here."""

import threading
from typing import NamedTuple

from facula.tensor_core import _tensor, _warned
from facula.tensor_core.dispatch import run as _run
from facula.tensor_core._errors import MEMORY, STALE, GradError, IntegerOverflow, IntegersOverflow, explain, public_name
from facula.tensor_core._grad_mode import grad_mode
from facula.tensor_core._lib import lib
from facula.tensor_core._ownership import load
from facula.tensor_core.dispatch.foreign import ask_row, overriding
from facula.tensor_core.dispatch.kinds import kinds_first, refused
from facula.tensor_core._threads import ThreadState
from facula.tensor_core._tensor import Tensor, own_tensor  # noqa: F401 - own_tensor is for _ops.py


class Param(NamedTuple):
    """One argument of an op."""

    name: str
    type: str
    default: object
    keyword: bool

    required = ...  # the default of a parameter that must be given

    @property
    def tensor(self):
        return "Tensor" in self.type

    @property
    def listed_tensors(self):
        return self.type.startswith("Tensor[]")


class Op:
    """One row of the table: what the compiled library says of it, but for its body and its documentation, which nothing here reads."""

    __slots__ = ("id", "name", "kind", "signature", "types", "result", "params", "results", "attributes", "tensors", "writes")

    def __init__(self, id, name, kind, signature, types, result, params, results):
        self.id, self.name, self.kind, self.signature = id, name, kind, signature
        self.types, self.result, self.params, self.results = types, result, params, results
        self.tensors = tuple(k for k, p in enumerate(params) if p.tensor)
        self.writes = any("!" in p.type for p in params)  # the row itself works in place
        # positions of the named Scalars, which travel by fc_attr
        self.attributes = tuple(k for k, p in enumerate(params) if p.type in ("Scalar", "Scalar?") and kind in ("map1", "map2", "map3", "fold"))

    def __repr__(self):
        return f"<op {self.name}>"


def _not_installed(out, *args):
    raise RuntimeError("a tensor has an origin but facula-autograd is not there to record: pip install facula-autograd")


class _Recorders(list):
    """record[op.id](out, *args): grows with the table; autograd fills it."""


record = _Recorders()
tape = None  # autograd's, by extend.set_tape
override = None  # override.py's, once there is a subclass of a user's: f(op, args, out, how) answers for its tensors, NotImplemented for others
sparse = None  # _sparse's: f(op, args, out) answers for calls with a sparse tensor, NotImplemented for others


def one_node(result, name, *inputs):
    """The result of several rows that are one step to who looks at its history: a node of this name over these tensors (None: an argument without history).

    For rows that helpers call, and names that arguments decide: it makes a note on the node, where one_step costs nothing.
    """
    if type(result) is Tensor and result._origin is not None:
        tape.one_node(result._origin, name, inputs)
    return result


def gradient_lies(t, how):
    """t for the rows of a composition that is one step in PyTorch and gives its gradient back lying by "rows", by "columns", or "like" t."""
    return t if t._origin is None or type(t) is not Tensor or _listeners or not grad_mode() else tape.gradient_lies(t, how)


def one_step_of(result, name, inputs, gradients, kept=()):
    """The result of a composition without history, which gets that of one step: for each input the function that makes its gradient of the result's.

    kept: tensors that these functions get behind it, and that may not be written to before.
    """
    if any(t._origin is not None for t in inputs) and grad_mode():
        tape.step(result, name, inputs, gradients, kept)
    return result


def stepping(*tensors):
    """Has a composition to say itself what its gradients are, by one_step_of? Interpreters go by its rows."""
    return not _listeners and grad_mode() and any([t._origin is not None for t in tensors])


class Begun(str):
    """The name of a step that helpers may end, by rows that are GOES_ON: those belong to the step that their first operand came from."""


GOES_ON = object()
steps = {}  # code of a function -> {row: name}, as one_step was told


def one_step(**names):
    """The rows that a function calls itself are one step to who looks at its history: a node of a row in `names` goes under that name, over what the function's others began from.

    names: row=name, row=Begun(name), row=(name over tensors, name with a number among the operands) or row=GOES_ON. The tape looks here when somebody looks at a node.
    """

    def mark(function):
        steps[function.__code__] = names
        return function

    return mark


def need_tape():
    """The tape of facula-autograd, imported at first use."""
    if tape is None:
        load("Tensor.requires_grad", "facula.autograd", "facula-autograd", ModuleNotFoundError)
    return tape


# --- interpreters ---------------------------------------------------------------------------------------------------

_listening = ThreadState()  # .stack: this thread's interpreters, the last one is asked first
_listeners = 0  # in all threads: what `_ops.interpreting` shows
_lock = threading.Lock()


def push_interpreter(f):
    """How deep the stack was."""
    global _listeners
    from facula.tensor_core import _ops

    with _lock:
        stack = _listening.__dict__.setdefault("stack", [])
        depth = len(stack)
        stack.append(f)
        _listeners += 1
        _ops.interpreting = True
        _tensor.leaving = _leaving
    return depth


def pop_interpreter(depth):
    """An interruption may have come while the stack was a shorter one, or before one above was taken off: what counts is the depth."""
    global _listeners
    from facula.tensor_core import _ops

    with _lock:
        del _listening.stack[depth:]
        _listeners -= 1
        _ops.interpreting = _listeners > 0
        if not _listeners:
            _tensor.leaving = None


def _leaving(tensor, how):
    """Values become Python's (or NumPy's): tell this thread's topmost interpreter, if it wants to know."""
    stack = getattr(_listening, "stack", None)
    reads = getattr(stack[-1], "reads", None) if stack else None
    if reads is not None:
        reads(tensor, how)


def told_of_output(name, tensors) -> None:
    """A composition is about to write into out=: tell this thread's topmost interpreter, which may refuse."""
    stack = getattr(_listening, "stack", None)
    outputs = getattr(stack[-1], "outputs", None) if stack else None
    if outputs is not None:
        outputs(name, tensors)


def drawn_from(name, tensor):
    """Numbers are about to be drawn as a tensor's values say: tell this thread's topmost interpreter, which may refuse. What a check of those values may read."""
    stack = getattr(_listening, "stack", None)
    draws = getattr(stack[-1], "draws", None) if stack else None
    return tensor if draws is None else draws(name, tensor)


def by_examples(function, *args):
    """A composition is about to read values: the results of an interpreter of this thread that has several examples of an argument, or None."""
    for f in reversed(getattr(_listening, "stack", ())):
        examples = getattr(f, "examples", None)
        found = None if examples is None else examples(function, args)
        if found is not None:
            return found
    return None


def _interpret(op, args, kwargs):
    """Ask this thread's topmost interpreter, with itself off the stack meanwhile."""
    stack = _listening.stack
    f = stack.pop()
    try:
        return f(op, args, kwargs)
    finally:
        stack.append(f)


def _listened():
    return bool(getattr(_listening, "stack", None))


def listened():
    """Does an interpreter listen in this thread?"""
    return bool(_listeners) and _listened()


# --- the road -------------------------------------------------------------------------------------------------------


_NUMBERS = (float, int)


def has_origin(args):
    for a in args:
        if isinstance(a, Tensor):
            if a._origin is not None:
                return True
        elif type(a) in (list, tuple) and has_origin(a):
            return True
    return False


def refresh_stale(args):
    """Let the tape rebuild the origin of every operand that an in-place op elsewhere left behind."""
    found = False
    for a in args:
        if isinstance(a, Tensor):
            if lib.fc_epoch_stale(a._h):
                tape.refresh(a)
                found = True
        elif type(a) in (list, tuple):
            found = refresh_stale(a) or found
    return found


def execute(op, args, out=None):
    """Run the op by its verb; no interpreter, no recording. out: a handle's Tensor or None."""
    run = _run.BY_KIND[op.kind]
    try:
        result = run(op, args, out)
    except OverflowError as error:
        if "fit 64" in str(error):  # a Scalar's
            raise
        error = IntegersOverflow if any("[]" in p.type for p in op.params) else IntegerOverflow
        raise error(f"{op.name}: Overflow when unpacking long long: an argument is beyond 64 bits. Give a smaller one.") from None
    if result is None:
        if lib.fc_status() == STALE and refresh_stale((*args, out)):
            result = run(op, args, out)
        if result is None:
            raise explain(op, args, out)
    return result


def _takes_number(op, args):
    """May the second operand be a number, and is nothing else asked for?"""
    return "Scalar" in op.params[1].type and args[2:] in ((), (1,))


def call(op, args, out=None):
    """An op called in an unusual way, or one that failed on the fast path and is to be explained."""
    if op.kind == "map2" and type(args[1]) is complex and not _listeners and type(args[0]) is Tensor and out is None and _takes_number(op, args):  # x * 2j
        t = lib.map2s(op.id, None, args[0]._h, 3, 0, args[1].real, args[1].imag)
        if t is not None:
            if args[0]._origin is not None:
                record[op.id](t, *args)
            return t
    if op.kind == "map2" and not _listeners and type(args[0]) in _NUMBERS and type(args[1]) is Tensor and len(args) == 2 and out is None and "Scalar" in op.params[0].type:  # 2 ** x
        x, y = args
        whole = type(x) is int
        if not whole or -(2**63) <= x < 2**63:
            t = lib.map2r(op.id, None, 1 if whole else 2, x if whole else 0, x, 0.0, y._h)
            if t is not None:
                if y._origin is not None:
                    record[op.id](t, x, y)
                return t
    if override is not None and (found := override(op, args, out, "call")) is not NotImplemented:
        return found
    if op.name == "linear" and out is None and _broadcasts(*args):
        from facula.tensor_core.functions.matrix import linear_plus

        return linear_plus(*args)
    if _listeners and _listened():
        return _interpret(op, args, {} if out is None else {"out": out})
    if relevant := overriding(args):
        return ask_row(op, args, relevant)
    if (found := sparse(op, args, out)) is not NotImplemented:
        return found
    if op.writes:
        return inplace(op, args)
    args = _run.coerce(op, args)
    if out is not None:
        return _into(op, args, out)
    if op.kind in ("fold", "scan") and args[0]._origin is not None and (dtype := args[-1]) is not None and op.params[-1].name == "dtype" and dtype is not args[0].dtype:
        from facula.tensor_core import _ops

        x = _ops.copy(args[0], dtype)
        if x._origin is not None:
            return call(op, (x, *args[1:-1], None))  # its gradient has the dtype that it had before
        from facula.tensor_core.extend import grad_mode

        if grad_mode():
            raise GradError(f"{op.name}: Autograd not support dtype: {dtype}. Detach the input, or give a floating point dtype.")
    result = execute(op, args)
    if has_origin(args):
        record[op.id](result, *args)
    return result


def _broadcasts(input, weight, bias):
    """Is it a bias that linear's row does not take, for it is no vector of one number for each row of weight?"""
    if not (type(input) is type(weight) is type(bias) is Tensor) or bias.dtype is not weight.dtype or len(weight.shape) != 2 or not input.shape or not bias.shape:
        return False
    return len(bias.shape) > 1 or bias.shape[0] == 1 != weight.shape[0]


def failed(op, args):
    """A row that writes its arguments and did not end: explained, after a second attempt unless the first may have written some of them."""
    if lib.fc_status() == MEMORY:
        raise explain(op, args, None)
    return call(op, args)


_TENSOR_FIRST = frozenset("remainder bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split())  # take no output where a number is


def _into(op, args, out):
    from facula.tensor_core.dispatch import out as _out

    if op.name in _TENSOR_FIRST and not isinstance(args[0], Tensor):
        raise TypeError(f"{public_name(op)}() received an invalid combination of arguments: out where a number, {args[0]!r}, is first. Make a tensor of it.")
    _out.a_tensor(_out.public(op), out)
    if tape is not None and (out._origin is not None or has_origin(args)):
        tape.copy_out(op, out, args)
    try:
        written = _out.write(op, args, out)
    except Exception:
        if op.kind == "fold":  # whose names tell the kinds
            kinds_first(public_name(op), **{p.name: a for p, a in zip(op.params, args) if not p.tensor and p.default is not a})
        raise
    for t in out if isinstance(out, (tuple, list)) else (out,):
        unrecorded(t)
    return written


def older_order(name, value, stacklevel=3):
    """A call in the order of arguments that PyTorch once had, a number before the last tensors: taken, with PyTorch's warning."""
    if not _run.is_number(value) and not (isinstance(value, Tensor) and not value.dim()):
        raise TypeError(f"{name}() received an invalid combination of arguments: one more than it takes, and {type(value).__name__} is no number to scale by.")
    _warned.once(f"This overload of {name} is deprecated: the number that scales goes by its name. Consider using {name}(..., *, alpha or value = {value}).", stacklevel, of="an older order of arguments")


def inplace(op, args):
    """`x.op_(...)`: the first tensor is read and written (or, for rows that write in place anyway, just written)."""
    if op.kind == "map2" and type(args[1]) is complex and type(args[0]) is Tensor and _takes_number(op, args) and unheard(args[0]):  # x *= 2j
        if lib.fc_map2s(op.id, args[0]._h, args[0]._h, 3, 0, args[1].real, args[1].imag) is not None:
            unrecorded(args[0])
            return args[0]
    if override is not None and (found := override(op, args, None, "inplace")) is not NotImplemented:
        return found
    if _listeners and _listened():
        return _interpret(op, args, {"out": args[0]})
    if (found := sparse(op, args, args[0])) is not NotImplemented:
        return found
    try:
        args = _run.coerce(op, args)
    except TypeError:
        if relevant := overriding(args):
            return ask_row(op, args, relevant, "inplace")
        raise
    target = args[0]
    if not isinstance(target, (Tensor, list, tuple)):
        raise refused(public_name(op).rstrip("_") + "_", op.params[0].name, 0, "tensor", target)
    written = target if isinstance(target, (list, tuple)) else (target,)
    heard = tape is not None and (has_origin(args) or any(t._viewed is not None and t._viewed._origin is not None for t in written))
    refresh_stale(args) if tape is not None else None
    token = tape.before_write(op, target, args) if heard else None
    execute(op, args, None if op.writes else target)
    if heard:
        tape.after_write(op, target, args, token)
    return target if isinstance(target, Tensor) else None


def unheard(tensor, source=None):
    """May the tensor be written to, of what source holds, without the tape and without interpreters? unrecorded(tensor) is called after it."""
    if _listeners:
        return False
    base = tensor._viewed
    return tensor._origin is None and (base is None or base._origin is None) and (source is None or source._origin is None) or not grad_mode()


def unrecorded(tensor):
    """The tensor was written to, and nobody recorded it: where it has a history, or is a view of what has one, other views' are made anew."""
    base = tensor._viewed
    if base is None:
        if tensor._origin is not None:
            lib.fc_epoch_advance(tensor._h)
    elif base._origin is not None:
        tape.unrecorded(tensor)


def assign(op, args):
    """`x += y`: in place, and NotImplemented lets Python ask an operand that is not for the row."""
    if all(_run.is_operand(args[k]) for k in op.tensors) or overriding(args):
        return inplace(op, args)
    return NotImplemented


def place(op, args):
    """Rows without a flat verb: advanced indexing (the number of index tensors varies), and those that NumPy computes."""
    if override is not None and (found := override(op, args, None, "call")) is not NotImplemented:
        return found
    return execute(op, _run.coerce(op, args))


def _refused():
    from facula.tensor_core.dispatch.override import Refused

    return Refused


_TRUTH_WRAPPED = ("add", "mul", "bitwise_and", "bitwise_or", "bitwise_xor", "matmul")  # NumPy's answer to these goes through __array_wrap__


def operator(op, *args):
    """A Python operator whose operands need care; NotImplemented lets Python ask the other operand."""
    if override is not None and (found := override(op, args, None, "operator")) is not NotImplemented:
        return found if found is not _refused() else NotImplemented
    for k in op.tensors:
        if not _run.is_operand(args[k]):
            if not _run.is_array(args[k]):
                relevant = overriding(args)
                return ask_row(op, args, relevant, "operator") if relevant else NotImplemented
            from facula.tensor_core.memory import interop

            x, y = interop.beside_array(args[1 - k], args[k], op.name == "div")
            result = call(op, (x, y, *args[2:]) if k else (y, x, *args[2:]))
            return interop.wrapped_truth(result) if op.name in _TRUTH_WRAPPED and result.dtype._kind == 0 else result
    return call(op, args)
