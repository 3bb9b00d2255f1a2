"""torch._C: the few of the reference's internals that libraries call, with what they mean here."""

from __future__ import annotations

from typing import Any

import facula
from facula.tensor_core.extend import disabled_torch_function as _disabled_torch_function_impl  # noqa: F401
from facula.tensor_core.extend import shares_storage

_TensorMeta = type(facula.Tensor)


class _Base(type):
    """Metaclass of what stands here under a class of users: it answers as that class does, and makes nothing itself."""

    def __new__(meta, name: str, bases: tuple, names: dict):
        if bases:
            raise RuntimeError(f"{name}: cannot subclass {bases[0].__name__} directly. Subclass {type.__getattribute__(bases[0], 'seen').__name__}.")
        return type.__new__(meta, name, bases, names)

    def __call__(cls, *args: Any, **kwargs: Any):
        raise RuntimeError(f"{cls.__name__}: cannot be constructed directly. Construct {type.__getattribute__(cls, 'seen').__name__}, or a subclass of it.")

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, type.__getattribute__(cls, "seen"))

    def __subclasscheck__(cls, sub: type) -> bool:
        return issubclass(sub, (type.__getattribute__(cls, "seen"),)) or sub is cls

    def __getattribute__(cls, name: str):
        own = name in ("__name__", "__qualname__", "__module__", "__class__", "__mro__", "__dict__", "__bases__")
        return type.__getattribute__(cls, name) if own else getattr(type.__getattribute__(cls, "seen"), name)


class TensorBase(metaclass=_Base):
    seen = facula.Tensor


class StorageBase(metaclass=_Base):
    seen = facula.UntypedStorage


_TensorBase = TensorBase
_has_cuda = _has_cudnn = _has_magma = _has_mps = _has_xpu = False  # what the reference was built with
Generator, Size, device, dtype, layout = facula.Generator, facula.Size, facula.device, facula.dtype, facula.layout


def _log_api_usage_once(event: str) -> None:
    """A note of an API's first use, for whoever installed a logger; none can be installed here."""
    str(event)


def _are_functorch_transforms_active() -> bool:
    """Is a vmap at work in this thread? The other transforms change nothing about how tensors behave."""
    from facula.autograd.func._vmap import levels

    return bool(levels())


def _current_graph_task_id() -> int:
    """A number for the backward that this thread is in; -1 outside of one."""
    from facula.autograd._engine import task_number

    return task_number()


def __getattr__(name: str):
    if name in ("DisableTorchFunction", "DisableTorchFunctionSubclass"):
        from facula import overrides

        return getattr(overrides, name)
    if name == "_nn":
        from . import _nn_internals

        return _nn_internals
    raise AttributeError(f"module 'torch._C' has no attribute {name!r}")


def _get_tracing_state() -> None:
    """The tracer at work: jit.trace listens from outside, nothing asks for it."""


def _mps_is_available() -> bool:
    return False


def _is_tracing() -> bool:
    """Is jit.trace at work in this thread?"""
    return facula.jit.is_tracing()


def _get_accelerator(check: bool | None = None) -> Any:
    """The device that computes: the CPU where nothing else is."""
    return facula.device("cuda" if facula.cuda.is_available() else "cpu")


def _get_default_device() -> str:
    """The kind of device that new tensors lie on."""
    return facula.get_default_device().type


def _get_cudnn_enabled() -> bool:
    """What torch.backends.cudnn.enabled says where nobody set it."""
    return True


def _is_alias_of(a: Any, b: Any) -> bool:
    """Do two tensors lie in one storage?"""
    return shares_storage(a, b)


def _get_privateuse1_backend_name() -> str:
    """The kind of device that an extension may bring."""
    return "privateuseone"


def _is_torch_function_mode_enabled() -> bool:
    """Is a TorchFunctionMode entered in this thread?"""
    import sys

    protocol = sys.modules.get("facula.tensor_core.dispatch.override")
    return protocol is not None and bool(getattr(protocol._state, "modes", None))
