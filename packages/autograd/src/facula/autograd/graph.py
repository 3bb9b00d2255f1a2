"""The graph's own tools: hooks on what is saved, hooks on several gradients, edges."""

import contextlib
import threading
from dataclasses import dataclass

from ._api import origin_of
from ._core import GradError, Tensor
from ._node import Handle, Hooks, Leaf, Node
from ._support import pack_hooks
from .anomaly_mode import special

__all__ = ["saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "register_multi_grad_hook", "Node", "GradientEdge", "get_gradient_edge", "increment_version"]

_forbidden = threading.local()


class saved_tensors_hooks:
    """A block in which each tensor saved for backward goes through pack_hook, and through unpack_hook when it is used."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        reason = getattr(_forbidden, "reason", None)
        if reason is not None:
            raise GradError(reason)
        special(1)
        pack_hooks().append((self.pack_hook, self.unpack_hook))

    def __exit__(self, *exc):
        pack_hooks().pop()
        special(-1)


class save_on_cpu(saved_tensors_hooks):
    """A block whose saved tensors wait in the memory of the CPU. pin_memory has a meaning on devices only."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(t):
            return t.device, (t.detach().clone() if str(t.device) == "cpu" else t.to("cpu"))

        def unpack(packed):
            device, t = packed
            return t if t.device == device else t.to(device)

        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """A block in which saved_tensors_hooks raises error_message."""
    before = getattr(_forbidden, "reason", None)
    _forbidden.reason = error_message
    try:
        yield
    finally:
        _forbidden.reason = before


@dataclass(frozen=True)
class GradientEdge:
    """Where a gradient arrives: result `output_nr` of `node`. Stands for a tensor in grad() without keeping it alive."""

    node: Node
    output_nr: int
    origin: Node = None


def get_gradient_edge(tensor):
    """The edge at which this tensor's gradient arrives."""
    origin = origin_of(tensor)
    if origin is None:
        raise GradError("get_gradient_edge: the tensor does not require grad. Call requires_grad_() first.")
    return GradientEdge(*origin.edge(), origin)


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call fn once per backward: with the list of gradients when all are known, or (mode "any") with the first."""
    if mode not in ("all", "any"):
        raise ValueError(f"register_multi_grad_hook: mode must be 'all' or 'any', not {mode!r}.")
    tensors = list(tensors)
    lock = threading.Lock()
    seen = {}

    def arrived(i):
        def hook(g):
            with lock:
                first = not seen
                seen[i] = g
                done = len(seen) == len(tensors)
                grads = [seen.get(k) for k in range(len(tensors))]
                if done:
                    seen.clear()
            if mode == "any" and first:
                fn(g)
            elif mode == "all" and done:
                fn(grads)

        return hook

    return _Handles([t.register_hook(arrived(i)) for i, t in enumerate(tensors)])


class _Handles(Handle):
    """One handle over several."""

    def __init__(self, handles):
        super().__init__(Hooks())
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()


def increment_version(tensor):
    """Tell autograd that this tensor (or these) was written to by other means."""
    from ._core import extend

    for t in [tensor] if isinstance(tensor, Tensor) else tensor:
        extend.bump(t)


_ = Leaf
