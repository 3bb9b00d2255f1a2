"""Forward mode: dual tensors, whose tangents go along with the values.

Within a dual_level() operations go through the core's interpret door. A view of a dual tensor has the same view of its
tangent; any other operation's tangent comes from its derivative in the table: u -> u^T J is linear in u, so its own
derivative, applied to the tangent, is J times the tangent, exactly. One table serves both directions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from . import _core, _function
from ._api import grad as graph_grad
from ._core import GradError, TensorHandle, Tensor, extend, lib, tensor_of, tensor_version
from ._engine import laid_out
from ._node import Output
from ._support import relined, unhooked
from ._table import NONE, RULES
from ._views import Window
from .grad_mode import enable_grad

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class Level:
    """One dual level: a tangent counts only while its level is open."""

    def __init__(self, number) -> None:
        self.number, self.open, self.paused = number, True, False
        self.door = extend.interpreter(interpret)

    def __reduce__(self) -> tuple:
        """A copy of a tensor has no tangent, for its level is none that is open."""
        return Closed, ()


class Closed:
    """The level of tangents that were copied or pickled."""

    open = False


class UnpackedDualTensor(NamedTuple):
    """A dual tensor's value and tangent (None where there is none).

    >>> import facula.autograd.forward_ad as forward
    >>> with forward.dual_level():
    ...     print(forward.unpack_dual(forward.make_dual(facula.ones(1), facula.tensor([2.0]))).tangent)
    tensor([2.])
    """

    primal: object
    tangent: object


def current() -> Level | None:
    return getattr(_core.dual, "level", None)


def __getattr__(name) -> int:
    if name == "_current_level":  # the open level's number, -1 where none is: PyTorch's users look at it
        return -1 if current() is None else current().number
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def enter_dual_level() -> int:
    """Open a level, in which make_dual() may be called; answers its number.

    >>> import facula.autograd.forward_ad as forward
    >>> level = forward.enter_dual_level()
    >>> forward.unpack_dual(3 * forward.make_dual(facula.ones(1), facula.tensor([2.0]))).tangent
    tensor([6.])
    >>> forward.exit_dual_level(level=level)
    """
    if current() is not None:
        raise GradError("enter_dual_level: Nested forward mode AD is not supported at the moment. Leave the outer level first, or use facula.func.jvp.")
    level = Level(0)
    level.door.__enter__()
    _core.dual.level = level
    _core.dual_levels[0] += 1
    return level.number


def exit_dual_level(*, level=None) -> None:
    """Close the level: its tangents are gone.

    >>> import facula.autograd.forward_ad as forward
    >>> level = forward.enter_dual_level()
    >>> x = forward.make_dual(facula.ones(1), facula.ones(1))
    >>> forward.exit_dual_level(level=level)
    >>> with forward.dual_level():
    ...     print(forward.unpack_dual(x).tangent)
    None
    """
    now = current()
    if now is None or (level is not None and level != now.number):
        raise GradError(f"exit_dual_level: level {level} is not the open one ({None if now is None else now.number}). Leave levels in the order they were entered.")
    _core.dual.level = None
    _core.dual_levels[0] -= 1
    now.open = False
    now.door.__exit__(None, None, None)


class dual_level:
    """A block in which tensors may have tangents.

    >>> import facula.autograd.forward_ad as forward
    >>> with forward.dual_level():
    ...     x = forward.make_dual(facula.tensor([3.0]), facula.tensor([1.0]))
    ...     print(forward.unpack_dual(x * x).tangent)
    tensor([6.])
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc) -> None:
        exit_dual_level()


class _set_fwd_grad_enabled:
    """A block in which no tangents are computed (False), or again (True)."""

    def __init__(self, mode: bool) -> None:
        self.level, self.before = current(), None
        if self.level is not None:
            self.before, self.level.paused = self.level.paused, not mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc) -> None:
        if self.level is not None:
            self.level.paused = self.before


def tangent_of(t) -> Tensor | None:
    """The tangent of a tensor, or None. There are none in inference mode."""
    if not isinstance(t, Tensor):
        return None
    found = t.__dict__.get("_forward")
    if found is None and t._viewed is not None and (found := t._viewed.__dict__.get("_forward")) is not None:  # the base was written to since
        found = t.__dict__["_forward"] = found[0], Window(t._viewed, t).of(found[1])
    return found[1] if found is not None and found[0].open and not lib.fc_inference_mode() else None


def _printed(t) -> str | None:
    tangent = tangent_of(t)
    return None if tangent is None else f"tangent={tangent}"


extend.printed(_printed)


def attach(t, tangent) -> Tensor:
    if tangent.stride() != t.stride():  # views that the tensor allows must be possible of the tangent
        tangent = laid_out(tangent, t)
    t.__dict__["_forward"] = (current(), tangent)
    return t


def make_dual(tensor, tangent, *, level=None) -> Tensor:
    """A dual tensor: the value of `tensor`, sharing its memory, with a tangent of the same shape and dtype.

    >>> import facula.autograd.forward_ad as forward
    >>> with forward.dual_level():
    ...     x = forward.make_dual(facula.tensor([0.0]), facula.tensor([2.0]))
    ...     print(forward.unpack_dual(x.exp()).tangent)
    tensor([2.])
    """
    now = current()
    if now is None:
        raise GradError("make_dual: no level is open. Call it inside `with dual_level():`.")
    if level is not None and level != now.number:
        raise GradError(f"make_dual: level {level} is not open, {now.number} is.")
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(t, Tensor):
            raise TypeError(f"make_dual: {name} must be a tensor, not {type(t).__name__}.")
        if not _core.is_float(t):
            raise ValueError(f"make_dual: Expected {name} to be floating point or complex, but got {t.dtype}. Convert it.")
    if tangent.shape != tensor.shape:
        raise GradError(f"make_dual: Trying to set a forward gradient that has a different size than that of the original Tensor: {tuple(tangent.shape)} and {tuple(tensor.shape)}. Make them equal.")
    if tangent.dtype is not tensor.dtype:
        raise GradError(f"make_dual: the tangent is {tangent.dtype} and its tensor {tensor.dtype}. Make them equal.")
    if tangent_of(tensor) is not None:
        raise GradError("make_dual: the tensor has a tangent at this level already. Unpack it first.")
    if tangent_of(tangent) is not None:
        raise GradError("make_dual: the tangent has a forward gradient at the same level itself. Unpack it first.")
    dual = _core.alias(tensor)
    dual._origin = tensor._origin
    return attach(dual, tangent if alike(tensor, tangent) else lying_as(tensor, tangent))


def alike(tensor, tangent) -> bool:
    """Whether the tangent lies in its memory as the tensor does in its own: else views that the tensor allows are not possible of it, and it is copied."""
    if tensor.is_sparse or type(tangent) is _core.Batched or type(tensor) is _core.Batched:
        return True
    if lib.fc_lazy(tensor._h) != lib.fc_lazy(tangent._h) or lib.fc_storage_bytes(tensor._h) != lib.fc_storage_bytes(tangent._h):
        return False
    return tensor.storage_offset() == tangent.storage_offset() or not tensor.numel()


def lying_as(tensor, tangent) -> Tensor:
    """A copy of the tangent with the tensor's strides, conjugated or negated where the tensor is."""
    bits = lib.fc_lazy(tensor._h)
    if bits != lib.fc_lazy(tangent._h):
        tangent = _core.turned(tangent, bits).resolve_conj().resolve_neg()
        return _core.turned(laid_out(tangent, tensor), bits)
    return laid_out(tangent, tensor)


def unpack_dual(tensor, *, level=None) -> UnpackedDualTensor:
    """The value and the tangent of a dual tensor; of any other tensor, itself and None.

    >>> import facula.autograd.forward_ad as forward
    >>> with forward.dual_level():
    ...     primal, tangent = forward.unpack_dual(3 * forward.make_dual(facula.tensor([2.0]), facula.tensor([1.0])))
    >>> primal, tangent
    (tensor([6.]), tensor([3.]))
    """
    now = current()
    if now is None:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"unpack_dual: argument 'tensor' must be Tensor, not {type(tensor).__name__}.")
    tangent = tangent_of(tensor)
    if tangent is not None and level is not None and level != now.number:
        raise GradError(f"unpack_dual: level {level} is not open, {now.number} is.")
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    primal = _core.alias(tensor)
    primal._origin = tensor._origin
    return UnpackedDualTensor(primal, tangent)


# ---- operations -------------------------------------------------------------------------------------------------------


def interpret(op, args, kwargs) -> Any:
    return relined(interpreted(op, args, kwargs))


def interpreted(op, args, kwargs) -> Any:
    """An operation within a level. kwargs is empty, or names `out`: the first argument where the operation works in place."""
    out = kwargs.get("out")
    if current().paused:
        return extend.call(op, *args, **kwargs)
    if not any(tangent_of(t) is not None for t in spread(args)):
        if out is not None and tangent_of(out) is not None:
            refuse_output(op.name)
        return extend.call(op, *args, **kwargs)
    if out is not None and out is not args[0]:
        refuse_output(op.name)
    if out is not None or op.writes:
        return in_place(op, args)
    if op.kind == "view":
        result, v = extend.call(op, *args), tangent_of(args[0])
        tangent = Window.at(geometry(args[0]), *args[1:]).of_alone(v) if op.name == "as_strided" else extend.call(op, v, *args[1:])
        result.__dict__["_forward"] = current(), tangent  # a view of the tangent: writes to one are writes to both
        return result
    result, tangents = pushed(op, args)
    if _core.grad_mode() and any(isinstance(t, Tensor) and t._origin is not None for t in spread(args)):
        result = extend.call(op, *args)  # so that what is saved for backward has its tangents: those of gradients come from them
    given = [v for v in map(tangent_of, spread(args)) if v is not None]
    for t, v in zip(result if isinstance(result, (tuple, list)) else (result,), tangents):
        if v is not None:  # where the derivative is the identity it is an operand's tangent: a write to the result is none to the operand
            attach(t, v.clone() if any(lib.fc_same_storage(v._h, u._h) for u in given) else v)
            attach_saved(t)
    return result


def refuse_output(name) -> NoReturn:
    raise NotImplementedError(f"Trying to use forward AD with {name.lstrip('_')} that does not support it because it is an out= function. Leave out= out.")


def outputs(name, tensors) -> None:
    if not current().paused and any(tangent_of(t) is not None for t in tensors):
        refuse_output(name)


interpret.outputs = outputs


def geometry(t) -> tuple:
    return tuple(t.shape), t.stride(), t.storage_offset()


def attach_saved(t) -> None:
    """The alias of a result that its node keeps has the result's tangent."""
    node = t._origin if not isinstance(t._origin, Output) else t._origin._inputs[0]
    if node is None or type(node._saved) is not tuple:
        return
    node._saved = tuple([tensor_of(v) if type(v) is TensorHandle else v for v in node._saved])
    for kept in node._saved:
        if isinstance(kept, Tensor) and kept._origin is None and kept.shape == t.shape and lib.fc_data(kept._h) == lib.fc_data(t._h) and tangent_of(kept) is None:
            kept.__dict__["_forward"] = t.__dict__["_forward"]


def spread(args) -> Iterator:
    for a in args:
        if a.__class__ in (tuple, list):
            yield from a
        else:
            yield a


def in_place(op, args) -> Tensor:
    """A write: its tangent, from the operation on copies, is written to the tangent in the same way."""
    target = args[0]
    if not isinstance(target, Tensor):
        raise GradError(f"{op.name}: writes to several tensors and has no forward derivative. Call it on tensors without tangents.")
    changed, (tangent,) = pushed(op, args, True)
    extend.call(op, *args, out=target)
    own = tangent_of(target)
    if own is None and tangent is not None:
        own = blank(target, tangent)
    if own is not None:
        own.zero_() if tangent is None else own.copy_(tangent)
    return target


def blank(t, like) -> Tensor:
    """A tangent of zeros for t, laid out as t, for every example of `like`; of a view, a part of its base's."""
    base = t if t._viewed is None else t._viewed
    whole = tangent_of(base)
    if whole is None:
        whole = _core.beside(like, _core.zeros_strided(tuple(base.shape), base.stride(), base.dtype, base.device))
        attach(base, whole)
    if base is not t:
        attach(t, Window(base, t).of(whole))
    return tangent_of(t)


# Operations that are linear in these operands together. Of several elements that they write to one place one stays, and so does its
# tangent; the derivative the other way goes to all of them.
OVERWRITES = {"scatter": (0, 3), "index_copy": (0, 3), "index_put_rows_": (0, 2)}


def overwritten(op, args) -> Tensor:
    """The tangent of a result of such an operation: the same operation on tangents."""
    given = list(args)
    for k in OVERWRITES[op.name]:
        v = tangent_of(args[k])
        given[k] = _core.zeros_like(args[k]) if v is None else v
    if not op.writes:
        return extend.call(op, *given)
    given[0] = _core.met_by(given[0].clone(), given[1])
    return extend.call(op, *given, out=given[0])


def pushed(op, args, writes=False) -> tuple:
    """(the operation's result, the tangent of each result or None)."""
    if op.name == "_gather_sparse_grad":
        op = extend.ops["gather"]  # tangents are dense
    rule = RULES.get(op.name, RULES.get(op.name.rstrip("_")))
    if rule is NONE:
        result = extend.call(op, *args)
        return result, [None] * (len(result) if isinstance(result, (tuple, list)) else 1)
    if op.name in OVERWRITES:
        return None if writes else extend.call(op, *args), [overwritten(op, args)]
    outside = _core.grad_mode()
    xs, vs, kept = [], [], False

    def given(a, first=False) -> Any:
        nonlocal kept
        if a.__class__ in (tuple, list):
            return a.__class__(given(t) for t in a)
        v = tangent_of(a)
        if v is None:
            kept = kept or (isinstance(a, Tensor) and a._origin is not None)
            return a.clone() if first else a
        if outside and (a._origin is not None or v._origin is not None):
            kept = True
            x = _core.row("alias")(a) if a._origin is not None else a.detach().requires_grad_()
        else:
            x = a.detach().requires_grad_()
        xs.append(x)
        vs.append(v)
        return x.clone() if first else x

    with enable_grad(), unhooked():
        again = [given(a, writes and k == 0) for k, a in enumerate(args)]
        if writes:
            result = (extend.call(op, *again, out=again[0]),)
        else:
            result = extend.call(op, *again)
        several = isinstance(result, (tuple, list))
        results = list(result) if several else [result]
        try:
            tangents = [along(r, xs, vs) for r in results]
        except (NotImplementedError, _core.NoDerivative) as error:
            if isinstance(error, TypeError):  # a kernel's refusal of a dtype
                raise
            raise NotImplementedError(f"Trying to use forward AD with {op.name.lstrip('_')} that does not support it: {error}") from error
    if not (outside and kept):
        results = [r.detach() if r._origin is not None else r for r in results]
        tangents = [v if v is None or v._origin is None else v.detach() for v in tangents]
    return (type(result)(results) if several else results[0]), tangents


def along(out, xs, vs) -> Tensor | None:
    """The derivative of one result along the tangents vs of xs."""
    if out._origin is None or not _core.is_float(out):
        return None
    u = _core.zeros(tuple(out.shape), out.dtype, out.device).requires_grad_()
    back = graph_grad([out], xs, [u], True, True, allow_unused=True)
    used = [(g, v) for g, v in zip(back, vs) if g is not None and g.requires_grad]
    if not used:
        return _core.zeros(tuple(out.shape), out.dtype, out.device)
    (tangent,) = graph_grad([g for g, _ in used], [u], [v for _, v in used], True, True, allow_unused=True)
    return _core.zeros(tuple(out.shape), out.dtype, out.device) if tangent is None else tangent


def apply(function, args) -> Any:
    """A Function called with dual tensors: its forward on the values, then its jvp on the tangents."""
    level = current()
    if level is None or level.paused or not any(tangent_of(a) is not None for a in args):
        return NotImplemented
    node = function._node_class()
    level.paused, node._marked = True, ()
    before = {id(a): tensor_version(tangent_of(a)) for a in args if tangent_of(a) is not None}
    try:
        out = function._recorded(node, args, sys._getframe(2))
        tangents = [tangent_of(a) for a in args]
        if node.materialize_grads:
            tangents = [_core.zeros(tuple(a.shape), a.dtype, a.device) if v is None and isinstance(a, Tensor) and _core.is_float(a) else v for a, v in zip(args, tangents)]
        found = node._pushed(tangents, len(out) if isinstance(out, tuple) else 1)
    finally:
        level.paused = False
    marked, node._marked = node._marked, None
    outs = out if isinstance(out, tuple) else (out,)
    results = list(outs)
    for k, (o, v) in enumerate(zip(outs, found)):
        if v is None:
            continue
        if not isinstance(o, Tensor) or not _core.is_float(o) or k in node._flat:
            raise GradError(f"{node.name()}: jvp returned a tangent for result {k}, which is not differentiable. You should return None at that position instead.")
        if v.shape != o.shape:
            raise GradError(f"{node.name()}: jvp returned a tangent of shape {tuple(v.shape)} for a result of shape {tuple(o.shape)}.")
        at = next((i for i, a in enumerate(args) if a is o), None)
        if at is not None and any(o is t for t in marked):
            if id(o) in before and (tangent_of(o) is not v or tensor_version(v) == before[id(o)]):
                raise GradError(
                    f"{node.name()}: An inplace custom Function is not modifying the forward mode gradients inplace. "
                    "If the forward is modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
                )
        else:
            check_view(node, o, v, [a for a in args if isinstance(a, Tensor)])
            if at is not None:
                o = results[k] = _function.view(o)
        attach(o, v)
    return type(out)(results) if isinstance(out, (tuple, list)) else results[0]


def check_view(node, out, v, args) -> None:
    """The tangent of a view of an argument must be a view of that argument's tangent."""
    seen = next((a for a in args if out is a or (out._viewed is not None and out._viewed is (a if a._viewed is None else a._viewed))), None)
    tangent = tangent_of(seen)
    if tangent is None:
        return
    said = f"{node.name()}: A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view"
    if v._viewed is None:
        raise GradError(f"{said}. Make the same view of the tangent.")
    if v._viewed is not (tangent if tangent._viewed is None else tangent._viewed):
        raise GradError(f"{said} of the {'given tangent' if tangent._viewed is None else 'same base as the given tangent'}. Make the same view of the tangent.")


_function.INSTEAD.append(apply)
