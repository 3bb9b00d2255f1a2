"""Tensors copied and pickled: views of one storage stay views of one storage."""

import copy
import copyreg
import sys

from facula.tensor_core.functions import create as _create
from facula.tensor_core.memory import storage as _storage
from facula.tensor_core.functions.conjugate import resolved, turned
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor, make_subclass
from facula.tensor_core._types import BY_NAME


def _leaf(self, what):
    if self.requires_grad and not self.is_leaf:
        raise RuntimeError(f"Only Tensors created explicitly by the user (graph leaves) support {what} at the moment. Detach or clone it first.")


def state_of(t):
    """What t holds besides its elements: its attributes, with slots of its class (attributes, slots), or what its class's __getstate__ says."""
    cls = type(t)
    if cls is Tensor:
        return dict(t.__dict__)
    own = getattr(cls, "__getstate__", None)
    if own is not getattr(Tensor, "__getstate__", None):  # from Python 3.11 on every object has one
        return own(t)
    slots = {name: getattr(t, name) for name in slots_of(cls) if hasattr(t, name)}
    return (dict(t.__dict__), slots) if slots else dict(t.__dict__)


def slots_of(cls):
    """The slots that a class of tensors adds."""
    return [name for name in copyreg._slotnames(cls) if not hasattr(Tensor, name)]


def set_state(t, state):
    """Give t what state_of said."""
    if (own := getattr(type(t), "__setstate__", None)) is not None:
        own(t, state)
        return
    attributes, slots = state if type(state) is tuple else (state, {})
    t.__dict__.update(attributes or {})
    for name, value in slots.items():
        setattr(t, name, value)


def __copy__(self):
    """Another tensor over the same memory."""
    return finished(type(self), self.detach(), self.requires_grad, state_of(self), self.grad if self.is_leaf else None)


def __deepcopy__(self, memo):
    if id(self) in memo:
        return memo[id(self)]
    _leaf(self, "the deepcopy protocol")
    if self.is_meta:
        made = _create.empty_strided(self.shape, self.stride(), dtype=self.dtype, device="meta")
    else:
        storage = copy.deepcopy(self.untyped_storage(), memo)
        made = resolved(_over(storage, self))
    made = memo[id(self)] = finished(type(self), made, self.requires_grad, None, None)
    set_state(made, copy.deepcopy(state_of(self), memo))
    if self.grad is not None:
        made.grad = copy.deepcopy(self.grad, memo)
    return made


def _over(storage, like):
    return _turned(_storage.over(storage, like.dtype, like.storage_offset(), tuple(like.shape), tuple(like.stride())), lib.fc_lazy(like._h))


def _turned(t, bits):
    return turned(t, bits).detach() if bits else t


def finished(cls, t, requires_grad, state, grad):
    """t as a tensor of cls with what state_of said of another, None for nothing."""
    if cls is not Tensor:
        t = make_subclass(cls, t)
    if state is not None:
        set_state(t, state)
    if requires_grad:
        t.requires_grad = True
    if grad is not None:
        t.grad = grad
    return t


def __reduce_ex__(self, protocol):
    """A result with a history is pickled as a leaf; one in shared memory is handed over to a process that is being started."""
    shared = sys.modules.get("facula.tensor_core.memory.shared")
    if shared is not None and (parts := shared.handed_over(self)) is not None:
        return parts
    extra = state_of(self)
    if self.is_meta:
        return _rebuild_meta, (type(self), self.dtype._name, tuple(self.shape), tuple(self.stride()), self.requires_grad, extra)
    return _rebuild, (type(self), self.untyped_storage(), self.dtype._name, self.storage_offset(), tuple(self.shape), tuple(self.stride()), self.requires_grad, extra, lib.fc_lazy(self._h))


def _rebuild(cls, storage, name, offset, shape, stride, requires_grad, extra, lazy=0):
    """A pickled tensor over its pickled storage."""
    return finished(cls, _turned(_storage.over(storage, BY_NAME[name], offset, shape, stride), lazy), requires_grad, extra, None)


def _rebuild_meta(cls, name, shape, stride, requires_grad, extra):
    return finished(cls, _create.empty_strided(shape, stride, dtype=BY_NAME[name], device="meta"), requires_grad, extra, None)


METHODS = ["__copy__", "__deepcopy__", "__reduce_ex__"]
