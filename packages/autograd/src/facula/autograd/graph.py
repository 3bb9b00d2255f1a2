"""The graph's own tools: hooks on what is saved, hooks on several gradients, edges."""

from __future__ import annotations

import contextlib
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from facula.utils.hooks import RemovableHandle

from . import _engine
from ._api import origin_of
from ._core import GradError, Tensor, extend, lib, ones_like, ops
from ._node import Leaf, Node, Output
from ._support import pack_hooks
from ._dot import draw, to_dot, to_svg
from .anomaly_mode import special

__all__ = ["allow_mutation_on_saved_tensors", "draw", "to_dot", "to_svg", "saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "register_multi_grad_hook", "Node", "GradientEdge", "get_gradient_edge", "increment_version", "set_override_stale_capture_stream", "set_warn_on_accumulate_grad_stream_mismatch"]

_forbidden, _mutating = extend.ThreadState(), extend.ThreadState()


class saved_tensors_hooks:
    """A block in which each tensor saved for backward goes through pack_hook, and through unpack_hook when it is used.

    >>> x = facula.tensor([3.0], requires_grad=True)
    >>> with facula.autograd.graph.saved_tensors_hooks(lambda x: x.half(), lambda x: x.float()):
    ...     y = x.exp()
    >>> y.grad_fn.name()
    'ExpBackward0'
    """

    def __init__(self, pack_hook, unpack_hook) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        reason = getattr(_forbidden, "reason", None)
        if reason is not None:
            raise GradError(reason)
        special(1)
        pack_hooks().append((self.pack_hook, self.unpack_hook))

    def __exit__(self, *exc) -> None:
        if stack := pack_hooks():  # left more often than entered: nothing to take back
            stack.pop()
            special(-1)


class save_on_cpu(saved_tensors_hooks):
    """A block whose saved tensors wait in the memory of the CPU. pin_memory has a meaning on devices only.

    >>> x = facula.tensor([3.0], requires_grad=True)
    >>> with facula.autograd.graph.save_on_cpu():
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor([6.])
    """

    def __init__(self, pin_memory=False, device_type="cuda") -> None:
        def pack(t) -> tuple:
            return t.device, (t.detach().clone() if str(t.device) == "cpu" else t.to("cpu"))

        def unpack(packed) -> Tensor:
            device, t = packed
            return t if t.device == device else t.to(device)

        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message) -> Iterator[None]:
    """A block in which saved_tensors_hooks raises error_message.

    >>> with facula.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     try:
    ...         with facula.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
    ...             pass
    ...     except RuntimeError as error:
    ...         print(error)
    no hooks here
    """
    if pack_hooks():
        raise GradError(error_message)
    before = getattr(_forbidden, "reason", None)
    _forbidden.reason = error_message
    try:
        yield
    finally:
        _forbidden.reason = before


@dataclass(frozen=True)
class GradientEdge:
    """Where a gradient arrives: result `output_nr` of `node`. Stands for a tensor in grad() without keeping it alive.

    >>> x = facula.tensor([3.0], requires_grad=True)
    >>> edge = facula.autograd.graph.get_gradient_edge(x)
    >>> facula.autograd.grad(x * x, edge)
    (tensor([6.]),)
    """

    node: Node
    output_nr: int
    _origin: Node = None
    one: object = field(default=None, compare=False)  # where the tensor has one element: a gradient of 1 for it
    shape: object = field(default=None, compare=False)  # the tensor's, where it is known
    dtype: object = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self._origin is None:  # made by hand
            count = self.node._result_count()
            object.__setattr__(self, "_origin", self.node if count == 1 else Output(self.node, self.output_nr, count))


def get_gradient_edge(tensor) -> GradientEdge:
    """The edge at which this tensor's gradient arrives.

    >>> x = facula.tensor([3.0], requires_grad=True)
    >>> facula.autograd.graph.get_gradient_edge(x * x).output_nr
    0
    """
    origin = origin_of(tensor)
    if origin is None:
        raise GradError("get_gradient_edge: the tensor does not require grad. Call requires_grad_() first.")
    one = ones_like(tensor.detach()) if tensor.numel() == 1 and not tensor.is_complex() else None
    return GradientEdge(*origin._edge(), origin, one, tensor.shape, tensor.dtype)


def register_multi_grad_hook(tensors, fn, *, mode="all") -> _Handles:
    """Call fn once per backward: with the list of gradients when all that it reaches are known (the others are None), or (mode "any") with the first.

    >>> x, y = facula.tensor([2.0], requires_grad=True), facula.tensor([3.0], requires_grad=True)
    >>> handle = facula.autograd.graph.register_multi_grad_hook((x, y), print)
    >>> (x * y).backward()
    [tensor([3.]), tensor([2.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"register_multi_grad_hook: Expects mode to be one of ('all', 'any') but got {mode}.")
    tensors = [t for t in tensors if mode == "all" or t.requires_grad]
    origins, key = [origin_of(t) for t in tensors], object()
    if None in origins:
        raise Asserted(f"register_multi_grad_hook: Expected gradient function to be set, but tensor {origins.index(None)} does not require grad. Leave it out.")

    def arrived(i) -> Callable:
        def hook(g) -> None:
            seen = _engine.memory(key)  # of this backward: another thread's, and the next one, have their own
            first = not seen
            seen[i] = g
            if mode == "any":
                if first:
                    fn(g)
                return
            among = _engine.reached()
            if len(seen) == sum([origin in among for origin in origins]):
                fn([seen.get(k) for k in range(len(tensors))])

        return hook

    return _Handles([t.register_hook(arrived(i)) for i, t in enumerate(tensors)])


class _Handles(RemovableHandle):
    """One handle over several."""

    def __init__(self, handles) -> None:
        super().__init__(OrderedDict())
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


class Asserted(GradError, AssertionError):
    """What is an AssertionError in PyTorch."""


class _Kept:
    """One saved tensor within allow_mutation_on_saved_tensors: itself, or a copy from before it was written to."""

    __slots__ = ("tensor", "copied", "__weakref__")

    def __init__(self, tensor) -> None:
        self.tensor, self.copied = tensor, False


class _AllowMutationOnSavedContext:
    """What allow_mutation_on_saved_tensors yields: which saved tensors look into which memory."""

    def __init__(self) -> None:
        self.kept, self.open = {}, True  # storage id -> weak references

    def pack(self, tensor) -> _Kept:
        kept = _Kept(tensor.detach())
        of_storage = self.kept.setdefault(lib.fc_storage_id(tensor._h), [])
        of_storage[:] = [ref for ref in of_storage if ref() is not None]
        of_storage.append(weakref.ref(kept))
        return kept

    def unpack(self, kept) -> Tensor:
        if not self.open and not kept.copied:
            raise Asserted("Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was recorded. Call it inside.")
        return kept.tensor

    def before(self, op, args, kwargs) -> Any:
        """Copy what a write is about to change."""
        if op.writes or kwargs.get("out") is not None:
            target = kwargs.get("out", args[0])
            for t in target if isinstance(target, (list, tuple)) else (target,):
                for ref in self.kept.pop(lib.fc_storage_id(t._h), ()):
                    kept = ref()
                    if kept is not None:
                        kept.tensor, kept.copied = extend.call(ops["copy"], kept.tensor, None, 1), True
        return extend.call(op, *args, **kwargs)

    def clear(self) -> None:
        self.kept.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator:
    """A block in which tensors that were saved for backward may be written to: a write copies them first.

    >>> x = facula.tensor([3.0], requires_grad=True)
    >>> with facula.autograd.graph.allow_mutation_on_saved_tensors():
    ...     w = facula.tensor([2.0])
    ...     y = x * w
    ...     _ = w.zero_()
    ...     y.backward()
    >>> x.grad
    tensor([2.])
    """
    if getattr(_mutating, "on", False):
        raise GradError("allow_mutation_on_saved_tensors contexts cannot be nested. Leave the outer one first.")
    context = _AllowMutationOnSavedContext()
    _mutating.on = True
    try:
        with extend.interpreter(context.before), saved_tensors_hooks(context.pack, context.unpack):
            yield context
    finally:
        _mutating.on, context.open = False, False
        context.clear()


def increment_version(tensor) -> None:
    """Tell autograd that this tensor (or these) was written to by other means.

    >>> x = facula.ones(2)
    >>> facula.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    for t in [tensor] if isinstance(tensor, Tensor) else tensor:
        extend.bump(t)


_streams = {"override": False, "warn": True}


def set_override_stale_capture_stream(enabled) -> None:
    """What to do about streams left behind by the capture of a CUDA graph. There are no streams, so this is only remembered.

    >>> facula.autograd.graph.set_override_stale_capture_stream(False)
    """
    _streams["override"] = bool(enabled)


def set_warn_on_accumulate_grad_stream_mismatch(enabled) -> None:
    """Whether to warn where a gradient comes on another stream than its leaf's. There are no streams, so this is only remembered.

    >>> facula.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)
    """
    _streams["warn"] = bool(enabled)


_ = Leaf
