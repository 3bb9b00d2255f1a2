"""The doors for other parts: the only module besides the public names that they may import.

    observe    fill `record[op.id]` and `set_tape(...)`: called after an op whose input has an origin (autograd's tape)
    interpret  `with interpreter(f):` - every op of this thread goes to f(op, args, kwargs) instead of running
"""

from facula.tensor_core import _grad_mode as modes
from facula.tensor_core import _ops, _threads
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.slow import GOES_ON, Begun, Op, Param, drawn_from, gradient_lies, one_node, one_step, record, steps
from facula.tensor_core._errors import ArgumentsError, DeviceError, DTypeError, GradError, IntegerOverflow, IntegersOverflow, RankError, ShapeError
from facula.tensor_core.dispatch.guard import guarded
from facula.tensor_core.dispatch.kinds import SIZES, check, kinds_first, right as of_kind, want_ints, want_tensor, want_tensors
from facula.tensor_core._lib import NULL, lib
from facula.tensor_core.memory.copying import state_of
from facula.tensor_core.dispatch.out import into, kept, written
from facula.tensor_core.dispatch.run import fitting
from facula.tensor_core.functions.shape import _alone as alone
from facula.tensor_core._grad_mode import grad_mode, set_grad_mode
from facula.tensor_core._threads import ThreadState
from facula.tensor_core._tensor import Tensor, disabled_torch_function, make_subclass, own_tensor
from facula.tensor_core._warned import once as warn_once

ABI = 1

ops = _ops.BY_NAME
record.extend(_dispatch._not_installed for _ in range(len(_ops.OPS) - len(record)))


def function(op):
    """The flat function of an op, for calling it as a user would (recorded, interpreted)."""
    return getattr(_ops, op.name)


def listening():
    """Whether an interpreter may listen, in any thread: a composition should then take the road whose rows every interpreter knows."""
    return _ops.interpreting


def call(op, *args, out=None):
    """Run an op by its row, as a user's call would: interpreters below, recording. `out is args[0]` means in place."""
    if isinstance(op, str):
        op = ops[op]
    if out is not None and out is args[0]:
        return _dispatch.inplace(op, args)
    if out is None and op.kind != "random":
        return getattr(_ops, op.name)(*args[: _positional(op)], **_keywords(op, args))
    return _dispatch.call(op, args, out)


def _positional(op):
    return next((k for k, p in enumerate(op.params) if p.keyword), len(op.params))


def _keywords(op, args):
    first = _positional(op)
    return {p.name: a for p, a in zip(op.params[first:], args[first:])}


def execute(op, *args, out=None):
    """Run an op by its verb alone: no interpreter, no recording."""
    return _dispatch.execute(op, args, out)


def gradients(tensors):
    """`.grad` of each, in a list."""
    try:
        return [t._grad for t in tensors]  # 14 ns each, 48 by the property
    except AttributeError:
        return [t.grad for t in tensors]


def zero_gradients(parameters):
    """Fill the gradients of the parameters with zeros."""
    from facula.tensor_core.functions.foreach import zero_gradients

    zero_gradients(parameters)


def set_tape(tape):
    """Install the tape: before_write, after_write, refresh, requires_grad, copy_out, pieces."""
    _dispatch.tape = tape


class interpreter:
    """Within the block, ops of this thread go to f(op, args, kwargs). While f runs it is off the stack.

    If f has an attribute `reads`, reads(tensor, name) is called when item, tolist, numpy, equal or nonzero is about to read values;
    if it has `outputs`, outputs(name, tensors) when a composition is about to write its result into out= (both are among the tensors);
    if it has `draws`, draws(name, tensor) when random numbers are about to be drawn as a tensor's values say: it gives the tensor in which
    a check of those values may look; and if it has `examples`, examples(function, args) when a composition reads values that only one example has:
    it gives the results of function of each example as one tensor, or None if it has one of all args alone.
    """

    def __init__(self, f):
        self.f = f

    def __enter__(self):
        self.depth = _dispatch.push_interpreter(self.f)
        return self.f

    def __exit__(self, *error):
        _dispatch.pop_interpreter(self.depth)


class below:
    """Within the block this thread's interpreter f and those above it do not listen; those below it do."""

    def __init__(self, f):
        self.f = f

    def __enter__(self):
        stack = _dispatch._listening.stack
        at = stack.index(self.f)
        self.above = stack[at:]
        del stack[at:]

    def __exit__(self, *error):
        _dispatch._listening.stack.extend(self.above)


def wrap(handle):
    """A Tensor around a new handle."""
    return own_tensor(handle)


def handle(tensor):
    """The tensor's C handle."""
    return tensor._h


def version(tensor):
    """How many times the tensor's memory was written in place; of a sparse one, that of its values."""
    return lib.fc_version(tensor._h if not tensor.is_sparse else tensor._v._h)


def bump(tensor):
    """Count one more write."""
    lib.fc_bump(tensor._h)


def epoch_advance(tensor):
    """An in-place op gave this memory a history: handles other than this one have not seen it, and are stale."""
    lib.fc_epoch_advance(tensor._h)


def epoch_refresh(tensor):
    """This handle's origin is right again."""
    lib.fc_epoch_refresh(tensor._h)


def epoch_stale(tensor):
    return bool(lib.fc_epoch_stale(tensor._h))


def channels_last(t):
    """Do a tensor's strides speak for channels last, of four or five dims?"""
    return lib.fc_suggested_format(t._h) in (2, 3)


def lies_oddly(t):
    """Has a tensor other strides than a new one's, be it of dims of size 1 alone?"""
    return bool(lib.fc_lies_oddly(t._h))


def lie_as(t, like):
    """t, which nobody else has, with like's strides of dims of size 1 where it lies like that otherwise."""
    lib.fc_lie_as(t._h, like._h)
    return t


def shares_storage(a, b):
    """Do two tensors look into one storage?"""
    return bool(lib.fc_same_storage(a._h, b._h))


def attach(name, function):
    """Give Tensor a method, a property or another attribute; it must be one that the ownership table grants."""
    setattr(Tensor, name, function)


def printed(fact):
    """From now on a Tensor's text ends with fact(tensor), where that is not None."""
    from facula.tensor_core._print import FURTHER

    FURTHER.append(fact)


def around(f, how):
    """From now on a call of the public function f, unless it is a row, is how(what f did, args, kwargs). It then costs a call more."""
    from facula.tensor_core.dispatch import override as _override

    _override.around(f, how)


def plain():
    """A block in which tensors of users' classes are plain ones: None where there is no such class."""
    if _dispatch.override is None:
        return None
    from facula.tensor_core.dispatch.override import DisableTorchFunctionSubclass

    return DisableTorchFunctionSubclass()


def subclassed():
    """A block, inside one of those, in which they are not: None where there is no such class."""
    if _dispatch.override is None:
        return None
    from facula.tensor_core.dispatch.override import Enabled

    return Enabled()


# --- grad mode ------------------------------------------------------------------------------------------------------

def elsewhere(work):
    """work() in a thread of its own that has this one's modes, ThreadStates and interpreters: where this one's stack may not grow further."""
    grad, inference = grad_mode(), lib.fc_inference_mode()

    def begin():
        set_grad_mode(grad)
        lib.fc_set_inference(inference)

    def whole():
        try:
            return work()
        finally:
            set_grad_mode(True)

    return _threads.elsewhere(whole, begin)


def read_pickle(data, resolve, trusted=lambda cls: False):
    """The object that a pickle describes, built of data alone: see files/pickle_reader.py. Its modules load at the first call."""
    from facula.tensor_core.files import pickle_reader as _pickle_reader

    return _pickle_reader.read_pickle(data, resolve, trusted=trusted)


def name_functions(home):
    """In files that save writes from now on, home(function) tells (module, name) of a function, or None; answers how to end that."""
    from facula.tensor_core.files import pickle_writer as _pickle_writer

    _pickle_writer.function_homes.append(home)
    return lambda: _pickle_writer.function_homes.remove(home)


__all__ = [
    "guarded", "want_ints", "check", "kinds_first", "SIZES",
    "ArgumentsError", "Begun", "DTypeError", "DeviceError", "GOES_ON", "GradError", "IntegerOverflow", "IntegersOverflow", "NULL", "Op", "Param", "RankError", "ShapeError", "Tensor", "ThreadState", "alone", "attach", "below", "bump", "call", "channels_last", "disabled_torch_function", "drawn_from", "elsewhere", "epoch_advance",
    "epoch_refresh", "epoch_stale", "execute", "fitting", "function", "grad_mode", "gradient_lies", "gradients", "handle", "interpreter", "into", "kept", "lib", "listening", "make_subclass", "modes", "name_functions", "of_kind", "one_node", "one_step", "ops", "plain", "printed", "read_pickle", "record", "set_grad_mode",
    "set_tape", "shares_storage", "state_of", "steps", "subclassed", "version", "want_tensor", "want_tensors", "warn_once", "wrap", "written", "zero_gradients",
]  # fmt: skip
