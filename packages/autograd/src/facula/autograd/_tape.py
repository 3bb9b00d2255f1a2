"""The tape that the core calls: before and after a write, for a stale view, for the requires_grad flag, for out=."""

from __future__ import annotations

import gc
import sys
import warnings
import weakref
from collections.abc import Iterator
from typing import NamedTuple

import facula

from . import _record
from ._core import GradError, Tensor, alias, beside, empty_strided, epoch_advance, epoch_refresh, epoch_stale, grad_mode, is_complex, is_float, lib, row, tensor_version
from ._names import IN_PLACE
from ._node import Leaf, Node, Nowhere, Output, Swapped, nothing
from ._support import check_list, finish, pack_hooks, relined
from ._table import NONE, RULES, UNRECORDED, WRITTEN
from ._views import PIECES, Without, fixed, keep_retained, made, rebase, refreshed


_copy_into = row("copy_into_")

# views that a tensor becomes of itself, under PyTorch's names of their nodes
IN_PLACE_VIEWS = {
    "t_": "TBackward1", "transpose_": "TransposeBackward1", "swapaxes_": "TransposeBackward1", "swapdims_": "TransposeBackward1", "unsqueeze_": "UnsqueezeBackward1",
    "squeeze_": "SqueezeBackward3", "as_strided_": "AsStridedBackward1",
}  # fmt: skip


WAYS = ("facula.tensor_core._ops", "facula.tensor_core.dispatch.slow")  # between a write and the line that asked for it


class Lies(Node):
    """A step of a composition that gives a gradient its strides."""

    __slots__ = ()
    _layout = ("stride",)

    def _backward(self, g, inputs) -> tuple:
        stride = self._saved[0]
        return (g if tuple(g.stride()) == stride else beside(g, empty_strided(tuple(g.shape), stride, dtype=g.dtype, device=g.device)).copy_(g),)


class Step(Node):
    """A composition whose gradients are written as functions of the result's, and of tensors that it keeps."""

    __slots__ = ()
    _layout = ("gradients", "kept", "kept_version")

    def _backward(self, g, inputs) -> tuple:
        gradients, kept, versions = self._saved if type(self._saved) is tuple else self._thawed()
        check_list(self, "kept", kept, versions)
        return tuple([None if node is None else gradient(g, *kept) for node, gradient in zip(inputs, gradients)])


class KeepingStep(Step):
    """One that keeps some."""

    __slots__ = ()
    _keeps = True

    def name(self) -> str:
        return self._step[0]


class Write:
    """A write that is under way: its node, made from what was there before."""

    __slots__ = ("node", "out_at")

    def __init__(self, node, out_at) -> None:
        self.node, self.out_at = node, out_at


class Named(NamedTuple):
    """What refusals want to know of an op."""

    name: str


class Tape:
    relined = staticmethod(relined)

    def before_write(self, op, self_, args) -> Write | None:
        """Refuse what has no right gradient; keep what the derivative needs of the old values."""
        if not grad_mode():
            return None
        others = [t for t in tensors(args) if t is not self_]
        if epoch_stale(self_):
            self.refresh(self_)
        base = self_._viewed
        if not (self_._origin is not None or (base is not None and base._origin is not None) or any(t._origin is not None for t in others)):
            return None
        if not is_float(self_):
            return None
        if op.name in UNRECORDED:
            return None
        self.refuse(op, self_, base)
        rule = RULES.get(op.name, RULES.get(op.name.rstrip("_")))
        if rule is None:
            raise GradError(f"{op.name}: has no derivative. Call it under no_grad(), or on detached tensors.")
        if rule is NONE:
            rule = WRITTEN.get(op.name)
            if rule is None:
                return None
        return self.prepared(op, self_, args, rule)

    def refuse(self, op, tensor, base) -> None:
        if tensor._origin is None and lib.fc_piece(tensor._h) and base is not None and base._origin is None:
            raise GradError(
                f"{op.name}: This view is the output of a function that returns multiple views. It is of split or unbind, or This view was created inside a custom Function: it cannot be modified inplace with grad mode enabled. "
                "Use the out-of-place operation, or take the view by indexing."
            )
        if base is not None and (base._origin is not None or tensor._origin is not None):
            if tensor._origin is None or type(tensor._origin) is Nowhere:
                made_in = getattr(tensor._origin, "_mode", "no_grad")
                now, block = ("in normal mode", "inference_mode()") if made_in == "inference" else ("with grad mode enabled", "no_grad()")
                raise GradError(f"{op.name}: A view was created in {made_in} mode and is being modified inplace {now}. Make both the view and the write inside {block}, or both outside.")
            why = fixed(tensor)
            if why:
                raise GradError(f"{op.name}: {why}. Use the out-of-place operation.")
        if isinstance(tensor._origin, Leaf):
            what = "a view of a leaf Variable" if base is not None else "a leaf Variable"
            raise GradError(f"{op.name}: {what} that requires grad is being used in an in-place operation. Write under no_grad(), or to a clone.")
        if base is not None and (isinstance(base._origin, Leaf) or (base._origin is None and tensor._origin is not None)):
            raise GradError(
                f"{op.name}: a view of a leaf Variable that requires grad is being used in an in-place operation. Write under no_grad(), or to a clone."
            )

    def prepared(self, op, tensor, args, rule) -> Write | None:
        recorder = _record.recorder_of(op, rule)
        before = tensor.clone() if recorder.wants_input else alias(tensor)
        before._origin = tensor._origin  # a copy of what was there is no step of its own
        after = alias(tensor)
        recorder(after, *[before if a is tensor and i == 0 else a for i, a in enumerate(args)])
        node = after._origin
        after._origin = None
        if node is None:
            return None
        caller = sys._getframe(3)  # prepared, before_write, the slow path, its caller
        while caller.f_globals.get("__name__") in WAYS:
            caller = caller.f_back
        node._code, node._at = caller.f_code, caller.f_lasti
        return Write(node, recorder.out_at)

    def takes(self, tensor, result) -> Tensor:
        """A tensor is written over with what was computed of it, and takes its history: a write of one step, though several rows computed it."""
        if epoch_stale(tensor):
            self.refresh(tensor)
        base, node = tensor._viewed, result._origin
        before = node._inputs.count(tensor._origin)  # of a view it has to be known which input it was: the base takes its place
        if not grad_mode() or isinstance(node, (Leaf, Output)) or base is not None and (before != 1 if tensor._origin is not None else not before):
            return _copy_into(tensor, result)
        name = type(node._shown()).__name__
        self.refuse(Named(name.partition("Backward")[0].lower() + "_"), tensor, base)
        if name in IN_PLACE:
            node._called(IN_PLACE[name])
        _copy_into(tensor.detach(), result.detach())
        self.after_write(None, tensor, (), Write(node, None))
        return tensor

    @staticmethod
    def one_node(node, name, inputs) -> None:
        """The node of a composition's last row is the whole to who looks at it: under its name, over the arguments' histories."""
        edges = tuple([None if t is None else t._origin for t in inputs])
        if node._inputs and node not in edges:  # neither a leaf nor what an argument was
            node._step = name, edges

    def gradient_lies(self, t, how) -> Tensor:
        """t, whose gradient lies by rows, by columns or like t, whatever the rows that read it make of it."""
        if epoch_stale(t):
            self.refresh(t)
        shown, of_shape = alias(t), {"rows": facula.empty, "columns": lambda shape, device: facula.empty(shape[:-2] + shape[:-3:-1], device=device).mT}
        new = facula.empty_like(t.detach()) if how == "like" else of_shape[how](tuple(t.shape), device="meta")
        shown._origin = made(Lies, (t._origin,), (tuple(new.stride()),))
        return shown

    def step(self, result, name, inputs, gradients, kept) -> None:
        for t in inputs:
            if epoch_stale(t):
                self.refresh(t)
        edges = tuple([t._origin for t in inputs])
        node = result._origin = made(KeepingStep if kept else Step, edges, (gradients, kept, [tensor_version(t) for t in kept]))
        node._step = name, edges
        caller = sys._getframe(2)  # step, one_step_of, the composition
        while caller.f_globals.get("__name__", "").startswith("facula.tensor_core"):
            caller = caller.f_back
        node._code, node._at = caller.f_code, caller.f_lasti
        if kept and pack_hooks():
            finish(node)

    def unrecorded(self, tensor) -> None:
        """A write without history makes views stale too: of those whose history cannot be rebuilt the next use is refused."""
        base = tensor._viewed
        if base is None:
            if tensor._origin is not None and not epoch_stale(tensor):
                epoch_advance(tensor)
        elif base._origin is not None:
            epoch_advance(base)
            if not fixed(tensor):
                epoch_refresh(tensor)

    def after_write(self, op, tensor, args, token) -> None:
        if token is None:
            if not grad_mode():
                for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
                    self.unrecorded(t)
            return
        node = token.node
        if token.out_at is not None and type(node._saved) is tuple and node._saved[token.out_at] is not None:
            saved = list(node._saved)
            saved[token.out_at + 1] = tensor_version(tensor)
            node._saved = tuple(saved)
        base = tensor._viewed
        if base is None:
            keep_retained(tensor, node)
            tensor._origin = node
        else:
            if epoch_stale(base):
                self.refresh(base)
            rebase(tensor, base, node)
            epoch_advance(base)
            epoch_refresh(tensor)
            return
        epoch_advance(tensor)

    def reshaped(self, tensor, view, name) -> Tensor:
        """view(tensor), whose history the tensor takes: it becomes that view of itself, by t_, squeeze_ and the like."""
        if epoch_stale(tensor):
            self.refresh(tensor)
        if grad_mode() and (tensor._origin is not None or tensor._viewed is not None and tensor._viewed._origin is not None):
            self.refuse(Named(name), tensor, tensor._viewed)
        seen = view(tensor)
        if not grad_mode():
            self.unrecorded(tensor)
        elif tensor._origin is not None:
            if (written := IN_PLACE_VIEWS.get(name)) is not None and seen._origin is not tensor._origin:
                seen._origin._called(written)
            tensor._origin = seen._origin  # what retain_grad() asked for stays with the shape that it was asked of
            if tensor._viewed is None:
                epoch_advance(tensor)
        epoch_refresh(seen)
        if "_forward" in seen.__dict__:  # a dual tensor's tangent
            tensor.__dict__["_forward"] = seen.__dict__["_forward"]
        return seen

    def adopts(self, tensor, source) -> None:
        """A tensor is about to look at source's memory, by set_: what has no gradient."""
        if not grad_mode():
            return
        self.refuse(Named("set_"), tensor, tensor._viewed)
        tensor._origin = made(Without, (tensor._origin, source._origin), ("set_",))
        tensor._origin._called("NotImplemented")

    def without(self, result, source, name) -> None:
        """What was made of source has a history through which no gradient goes."""
        if grad_mode():
            result._origin = made(Without, (source._origin,), (name,))
            result._origin._called("ToCopyBackward0")

    def refresh(self, tensor) -> None:
        """A view's base was written to since the view was made: rebuild its origin from the base's."""
        if tensor._viewed is None:
            lib.fc_epoch_ignore(tensor._h)
            return
        tensor._origin = refreshed(tensor)
        epoch_refresh(tensor)

    def wanted(self, tensor) -> bool:
        """Whether a stale tensor requires grad: to ask is no use that could be refused."""
        if fixed(tensor):
            return True
        self.refresh(tensor)
        return tensor._origin is not None

    def requires_grad(self, tensor, flag) -> None:
        if flag:
            if lib.fc_inference(tensor._h) and not lib.fc_may_write(tensor._h):
                raise GradError("requires_grad: setting it on an inference tensor outside of inference_mode is not allowed. Clone it to get a normal tensor.")
            if tensor._origin is not None and type(tensor._origin) is not Nowhere:
                if not isinstance(tensor._origin, Leaf):
                    raise GradError("requires_grad: you can only change requires_grad flags of leaf variables, and this tensor is a result with history. It requires grad already.")
                return
            if not is_float(tensor):
                raise GradError(f"requires_grad: Only Tensors of floating point and complex dtype can require gradients, this one is {tensor.dtype}. Convert it first.")
            if is_complex(tensor):
                _record.saw_complex()
            tensor._origin = Leaf(tensor)
            if "_grad_dtype" in tensor.__dict__:
                self.grad_dtype(tensor)
        elif tensor._origin is not None:
            if not isinstance(tensor._origin, Leaf):
                raise GradError("requires_grad: can only be changed on leaves, and this tensor is a result with history. Use detach().")
            tensor._origin = None

    def no_grad(self, tensor) -> None:
        """.grad, of a tensor that has none, is None: of one that will get none that is worth a warning."""
        origin = tensor._origin
        if not isinstance(origin, Leaf) and not tensor.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during autograd.backward(). "
                "If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor.",
                UserWarning,
                stacklevel=3,
            )

    def loosen(self, tensor, name) -> list | None:
        """A tensor's history, taken from it to be tied to another: its origin or, of a leaf, what hangs on its node."""
        origin, tensor._origin = tensor._origin, None
        if type(origin) is not Leaf:
            return origin
        extra, held = origin._extra, weakref.ref(origin)
        del origin  # which refers to the tensor: gone, unless a graph leads to it
        left = held()
        if left is not None and _is_kept(tensor):
            tensor._origin = left
            raise GradError(f"swap_tensors: {name} is kept by a graph or a view that is still there. Drop what was computed from it.")
        if left is not None:
            left._ref = None  # a weak reference that is nobody else's business
        return [extra, left, id(tensor)]

    def tie(self, tensor, history) -> None:
        """Give a tensor the history that another was loosened from."""
        if type(history) is list:
            extra, left, before = history
            if left is not None and before == id(tensor):  # not swapped after all
                tensor._origin, left._ref = left, weakref.ref(tensor)
                return
            tensor._origin = Leaf(tensor)
            tensor._origin._extra = extra
            if left is not None:
                left.__class__, left._extra, left._ref = Swapped, None, nothing
        else:
            tensor._origin = history

    def grad_dtype(self, tensor) -> None:
        """A leaf was told the dtype of its gradients."""
        tensor._origin._extended().dtype = tensor.__dict__["_grad_dtype"]

    def copy_out(self, op, out, args) -> None:
        without = RULES.get(op.name) is NONE and not (op.result == "SAME" and op.kind.startswith("map"))  # bits and divisors: PyTorch has no formula, and refuses
        if grad_mode() and not without and (any(t._origin is not None for t in tensors(args)) or any(t._origin is not None for t in tensors([out]))):
            raise GradError(f"{op.name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad. Drop out=, or use no_grad().")


    def pieces(self, name, tensor, pieces, dim) -> None:
        """split and unbind: their results are one node's, and may not be written in place (but for unsafe_split's, which are no views)."""
        if tensor._origin is None or not pieces:
            return
        if not grad_mode():
            for piece in pieces:
                piece._origin = None if piece._viewed is None or lib.fc_inference(piece._h) else Nowhere()
            return
        caller = sys._getframe(3)
        node = made(PIECES[name], (tensor._origin,), (dim, [p.shape for p in pieces]))
        node._code, node._at = caller.f_code, caller.f_lasti
        for i, piece in enumerate(pieces):
            piece._origin = Output(node, i, len(pieces))


def _is_kept(tensor) -> bool:
    """Whether a node saved the tensor itself, or a view looks into it. Slow: asked only where a graph leads to what is swapped."""
    for r in gc.get_referrers(tensor):
        if isinstance(r, Tensor) and r._viewed is tensor:
            return True
        if isinstance(r, Node) or type(r) in (tuple, list) and any(isinstance(n, Node) for n in gc.get_referrers(r)):
            return True
    return False


def tensors(args) -> Iterator:
    for a in args:
        if isinstance(a, Tensor):
            yield a
        elif type(a) in (tuple, list):
            yield from (t for t in a if isinstance(t, Tensor))
