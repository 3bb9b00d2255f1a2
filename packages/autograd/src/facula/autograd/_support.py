"""What generated backward functions call: summing over broadcast dims, casting, conjugating, placing results."""

from __future__ import annotations

import contextlib
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any, NoReturn

import facula

from . import _core
from ._core import GradError, TensorHandle, Tensor, alias, extend, grad_mode, is_complex, is_float, lib, tensor_of, tensor_version
from ._node import Nowhere, Output


FORMATS = {0: facula.contiguous_format, 2: facula.channels_last, 3: facula.channels_last_3d}


def sum_to(g, shape) -> Tensor:
    """The gradient of a broadcast: g summed over the dims along which an operand of `shape` was repeated."""
    if g.shape == shape:
        return g
    extra = g.ndim - len(shape)
    dims = tuple(range(extra)) + tuple(d for d, n in enumerate(shape, extra) if n == 1 and g.shape[d] != 1)
    if dims:
        g = g.sum(dims, True)
    return g.view(shape) if extra else g


def format_of(t) -> int:
    """2 where the strides of t speak for channels last, 3 where those of one of five dims do, 4 where of one of three, else 0."""
    return lib.fc_suggested_format(t._h)


def formed(g, format) -> Tensor:
    """g in that memory format, contiguous for 0: with the strides of a new tensor, those of dims of size 1 included."""
    if format == 4:
        return g if lib.fc_is_contiguous(g._h, 4) else formed(g.transpose(1, 2), 0).transpose(1, 2)
    if lib.fc_is_contiguous(g._h, format) and (1 not in g.shape or g.stride() == facula.empty(g.shape, memory_format=FORMATS[format], device="meta").stride()):
        return g
    return g.clone(memory_format=FORMATS[format])


def cast(g, dtype) -> Tensor:
    """g in the operand's dtype; the real part where a real operand met a complex one."""
    if g.dtype is dtype:
        return g
    if is_complex(g) and not dtype.is_complex:
        g = _core.real(g)
    return g.to(dtype)


def conj(g) -> Tensor:
    return _core.conj(g)


def place(n, out, flat) -> None:
    """Give each differentiable result of node n its origin."""
    count = len(out)
    if count - len(flat) == 1 and 0 not in flat:
        out[0]._origin = n
        return
    for i, t in enumerate(out):
        if i not in flat:
            t._origin = Output(n, i, count)


def no_derivative(op_name, parameter) -> NoReturn:
    raise GradError(f"{op_name}: has no derivative with respect to {parameter}, which requires grad. Detach it first.")


def check_list(node, name, tensors, versions) -> None:
    for t, v in zip(tensors, versions):
        if v is not None and tensor_version(t) != v:
            raise node._changed(name, t, v)


# ---- the forward line under an interpreter ----------------------------------------------------------------------------

ROAD = {sys.modules[f"facula.tensor_core.{name}"].__file__ for name in ("_ops", "dispatch.slow", "extend")}
ROAD |= {sys.modules["facula.tensor_core.dispatch.slow"].__file__.replace("slow.py", name) for name in ("override.py", "modes.py")} | {"<asks for __torch_function__>"}  # which may not be loaded yet
HERE = (__file__[: -len("autograd/_support.py")] + "autograd/", __file__[: -len("autograd/_support.py")] + "amp/", "<autograd of ")


def on_the_road(code) -> bool:
    """Whether a line is one between a user's call of an operation and its kernel."""
    return code.co_filename in ROAD or code.co_filename.startswith(HERE)


def relined(result) -> Tensor | tuple:
    """What an interpreter of this package, or a function that asks first, answers: its node remembers the line that called the operation."""
    frame = None
    for t in result if result.__class__ in (tuple, list) else (result,):
        node = t._origin if isinstance(t, Tensor) else None
        if node.__class__ is Output:
            node = node._inputs[0]
        code = getattr(node, "_code", None)
        if code is None or not on_the_road(code):
            continue
        if frame is None:
            frame = sys._getframe(2)
            while frame.f_back is not None and on_the_road(frame.f_code):
                frame = frame.f_back
        node._code, node._at = frame.f_code, frame.f_lasti
    return result


# ---- what `special` stands for: hooks on saved tensors, anomaly mode -------------------------------------------------

_local = extend.ThreadState()


def pack_hooks() -> list:
    """This thread's stack of (pack, unpack)."""
    try:
        return _local.hooks
    except AttributeError:
        _local.hooks = []
        return _local.hooks


@contextlib.contextmanager
def unhooked() -> Iterator[None]:
    """A block whose nodes nobody else will see: what they save goes through no hooks."""
    hooks, _local.hooks = pack_hooks(), []
    try:
        yield
    finally:
        _local.hooks = hooks


anomaly = {"enabled": False, "check_nan": True}


at_work = threading.local()  # .node: in anomaly mode, the node that this thread's backward is running


def remember(n) -> None:
    """In anomaly mode: where a node was recorded, and in which node's backward."""
    if anomaly["enabled"]:
        extra = n._extended()
        extra.stack, extra.parent = "".join(traceback.format_stack()[:-4]), getattr(at_work, "node", None)  # 4 frames are our own


def finish(n) -> None:
    """The rest of recording where something is special."""
    remember(n)
    hooks = pack_hooks()
    if hooks and n._keeps:
        n._saved = Packed(n, *hooks[-1])


CAME_BACK = object()  # the version of a tensor that a hook unpacked: whatever it has then


class Packed:
    """Saved values whose tensors went through a pack hook; unpacked when they are asked for."""

    __slots__ = ("values", "unpacker")

    def __init__(self, node, pack, unpack) -> None:
        self.unpacker = unpack
        self.values = []
        names = node._layout
        for i, value in enumerate(node._saved):
            value = tensor_of(value) if type(value) is TensorHandle else value
            versioned = i + 1 < len(names) and names[i + 1] == names[i] + "_version"
            if versioned and isinstance(value, Tensor):
                value = packed(pack, value)
            elif versioned and type(value) is tuple:
                value = tuple(packed(pack, v) if isinstance(v, Tensor) else v for v in value)
            elif names[i].endswith("_version"):
                value = [None] * len(value) if type(value) is list else CAME_BACK
            self.values.append(value)

    def unpack(self) -> tuple:
        stack = pack_hooks()
        depth = len(stack)
        found = [opened(v, self.unpacker) for v in self.values]
        if len(stack) > depth:  # a hook entered a block that nobody will leave: it ends here
            from .anomaly_mode import special

            special(depth - len(stack))
            del stack[depth:]
        for i, value in enumerate(found):
            if value is CAME_BACK:
                found[i] = tensor_version(found[i - 1]) if isinstance(found[i - 1], Tensor) else None
        return tuple(found)


def opened(value, unpack) -> Any:
    """A box's tensor, a tuple with its boxes opened, anything else as it is."""
    if isinstance(value, Box):
        return value.open(unpack)
    return tuple([opened(v, unpack) for v in value]) if type(value) is tuple and any(isinstance(v, Box) for v in value) else value


class Box:
    """What a pack hook made of one tensor, and the origin it had."""

    __slots__ = ("content", "_origin", "dtype", "shape")

    def __init__(self, content, tensor) -> None:
        self.content, self._origin = content, tensor._origin
        self.dtype, self.shape = tensor.dtype, tensor.shape

    def open(self, unpack) -> Tensor:
        tensor = unpack(self.content)
        if not isinstance(tensor, Tensor):
            raise TypeError(f"saved_tensors_hooks: Output of saved tensor unpack_hook expected to be a Tensor, but got {type(tensor).__name__}. Return what was packed.")
        if self._origin is not tensor._origin:
            tensor = tensor.detach()
            tensor._origin = self._origin
        return tensor


def packed(pack, tensor, kind=None) -> Box:
    version = tensor_version(tensor)
    box = (kind or Box)(pack(tensor), tensor)
    if tensor_version(tensor) != version:
        raise GradError("saved_tensors_hooks: A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be modified by in-place operations. Change a copy.")
    return box


class Own(Box):
    """A box with an unpack hook of its own."""

    __slots__ = ("unpack",)

    def open(self, _) -> Tensor:
        return super().open(self.unpack)


def hooked(node, name, pack, unpack) -> Packed:
    """What a node saved, with one of its tensors gone through pack: it comes back through unpack."""
    if not callable(pack) or not callable(unpack):
        raise TypeError(f"register_hooks: two functions are needed, but got {pack!r} and {unpack!r}.")
    found = node._saved
    if found is None:
        node._thawed()
    if type(found) is tuple:
        found = Packed.__new__(Packed)
        found.unpacker, found.values = None, [tensor_of(v) if type(v) is TensorHandle else v for v in node._saved]
    at = node._layout.index(name)
    tensor = found.values[at]
    if tensor is None:
        raise GradError(f"{node.name()}: {name} is None: Calling register_hooks on a saved tensor with value None is forbidden. Ask unpack() first.")
    if isinstance(tensor, Box):
        raise GradError(f"{node.name()}: {name} has had its hooks already: Calling register_hooks on a saved tensor whose hooks have already been set is not allowed.")
    box = packed(lambda t: pack(t.detach()), tensor, Own)
    box.unpack = unpack
    found.values[at] = box
    if at + 1 < len(node._layout) and node._layout[at + 1] == name + "_version":
        found.values[at + 1] = CAME_BACK
    return found


# What generated functions see. `special` and `complex_seen` are process-wide switches for what is rare: hooks on saved
# tensors or anomaly mode somewhere, a complex tensor in some graph. A global read costs 2 ns, a look at a dtype 50.
NAMES = dict(
    Tensor=Tensor, Nowhere=Nowhere, Output=Output, NUMBERS=frozenset((int, float, bool, complex)), modes=extend.modes, recording=grad_mode, version=lib.saved_version, inference=lib.fc_inference,
    alias=alias, node=lib.node, TensorHandle=TensorHandle, tensor_of=tensor_of, pair=lib.fc_pair, is_complex=is_complex, is_float=is_float, frame=sys._getframe, sum_to=sum_to, format_of=format_of, lies=lib.fc_matrix_lies, cast=cast, conj=conj,
    place=place, no_derivative=no_derivative, check_list=check_list, finish=finish, special=False, complex_seen=False,
)  # fmt: skip
