"""torch._utils: tensors put end to end and taken apart again, errors carried over from another process, devices by number."""

from __future__ import annotations

import importlib
import io
import sys
import traceback
from collections import defaultdict
from typing import Any, Callable, Iterable, Iterator

import facula
from facula import Tensor


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """All values in one row. The tensors share a dtype."""
    return facula.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Views of `flat` with the shapes of `tensors`, one after another."""
    parts, at = [], 0
    for like in tensors:
        parts.append(flat.narrow(0, at, like.numel()).view(like.shape))
        at += like.numel()
    return tuple(parts)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Groups of tensors of one type, each of at least size_limit bytes but the last of its type."""
    groups: dict[str, list[Tensor]] = defaultdict(list)
    for tensor in tensors:
        group = groups[tensor.type()]
        if group and sum(t.nbytes for t in group) + tensor.nbytes > size_limit:
            yield group
            group = groups[tensor.type()] = []
        group.append(tensor)
    yield from (group for group in groups.values() if group)


def _reorder_tensors_as(tensors: Iterable[Tensor], ordered_tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """The tensors in the order of types that ordered_tensors has."""
    groups: dict[str, list[Tensor]] = defaultdict(list)
    for tensor in tensors:
        groups[tensor.type()].append(tensor)
    queues = {kind: iter(group) for kind, group in groups.items()}
    return tuple(next(queues[t.type()]) for t in ordered_tensors)


def _element_size(dtype: facula.dtype) -> int:
    """Bytes of one element."""
    return dtype.itemsize


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """A device's number; -1 is the CPU. Where optional, None is the accelerator in use: there is none."""
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = facula.device(device)
    if isinstance(device, facula.device):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        if device.type == "cpu" or device.index is not None:
            return -1 if device.type == "cpu" else device.index
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got: {device}")
    return None


def _get_available_device_type() -> None:
    """The kind of accelerator that is there; none is."""


def _import_dotted_name(name: str) -> Any:
    """What a dotted name means."""
    first, *rest = name.split(".")
    found = importlib.import_module(first)
    for part in rest:
        found = getattr(found, part)
    return found


def _rebuild_tensor(storage: Any, storage_offset: int, size: tuple, stride: tuple, dtype: facula.dtype | None = None) -> Tensor:
    """A tensor on a storage."""
    return facula.empty(0, dtype=dtype or storage.dtype).set_(storage.untyped(), storage_offset, size, stride)


def _rebuild_tensor_v2(
    storage: Any, storage_offset: int, size: tuple, stride: tuple, requires_grad: bool, backward_hooks: Any, metadata: Any = None
) -> Tensor:
    """A tensor on a storage, with what belongs to its gradient."""
    return _finished(_rebuild_tensor(storage, storage_offset, size, stride), requires_grad, backward_hooks, metadata)


def _rebuild_tensor_v3(
    storage: Any, storage_offset: int, size: tuple, stride: tuple, requires_grad: bool, backward_hooks: Any, dtype: facula.dtype, metadata: Any = None
) -> Tensor:
    """A tensor of a dtype on bytes."""
    return _finished(_rebuild_tensor(storage, storage_offset, size, stride, dtype), requires_grad, backward_hooks, metadata)


def _finished(tensor: Tensor, requires_grad: bool, backward_hooks: Any, metadata: dict | None) -> Tensor:
    for name, turn in (("conj", facula.conj), ("neg", facula._neg_view)):
        tensor = turn(tensor) if (metadata or {}).get(name) else tensor
    tensor.requires_grad_(requires_grad)._backward_hooks = backward_hooks
    return tensor


def _rebuild_meta_tensor_no_storage(dtype: facula.dtype, size: tuple, stride: tuple, requires_grad: bool) -> Tensor:
    """A tensor of the meta device."""
    return facula.empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)


def _rebuild_sparse_tensor(layout: facula.layout, data: tuple) -> Tensor:
    """A sparse tensor of its parts, its size and, of COO, whether it is coalesced."""
    if layout is facula.sparse_coo:
        return facula.sparse_coo_tensor(*data[:3], is_coalesced=data[3] if data[3:] else None)
    return facula.sparse_compressed_tensor(*data[:4], layout=layout)


def _get_layout(name: str) -> facula.layout:
    """The layout of a name such as torch.strided."""
    return getattr(facula, name.removeprefix("torch."))


def _rebuild_from_type_v2(func: Callable[..., Tensor], new_type: type, args: tuple, state: Any) -> Tensor:
    """What func makes of args as a tensor of that class, with its attributes."""
    tensor = func(*args)
    if new_type is not Tensor and type(tensor) is not new_type:
        tensor = tensor.detach().as_subclass(new_type).requires_grad_(tensor.requires_grad)
    if hasattr(new_type, "__setstate__"):
        tensor.__setstate__(state)
        return tensor
    attributes, slots = state if type(state) is tuple else (state, {})
    vars(tensor).update(attributes or {})
    for name, value in slots.items():
        setattr(tensor, name, value)
    return tensor


def _load_from_bytes(b: bytes) -> Any:
    """The storage that a plain pickle holds as a file in it."""
    return facula.load(io.BytesIO(b))


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Tensor:
    """A parameter of that data."""
    parameter = facula.nn.Parameter(data, requires_grad)
    parameter._backward_hooks = backward_hooks
    return parameter


class KeyErrorMessage(str):
    """A message that KeyError, which shows its argument's repr, leaves readable."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception as its type and text, which pass where tracebacks cannot."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type, self.where = kind, where
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))

    def reraise(self) -> None:
        """Raise it here, with the first traceback in the message."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(KeyErrorMessage(message))
        try:
            error = self.exc_type(message)
        except Exception:
            raise RuntimeError(message) from None  # its class wants other arguments
        raise error


class classproperty:
    """A property of the class itself."""

    def __init__(self, func: Any) -> None:
        self.func = func

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self.func(owner)


def get_device_module(device: Any = None) -> Any:
    """The module of a device's kind, of the accelerator's or else the CPU's without one."""
    torch = importlib.import_module("torch")
    if device is None:
        return torch.cuda if torch.cuda.is_available() else torch.cpu
    if not isinstance(device, (str, torch.device)):
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None.")
    return _get_device_module(torch.device(device).type)


def _get_device_module(device_type: str) -> Any:
    """torch.cuda for "cuda", and so on."""
    module = getattr(importlib.import_module("torch"), device_type, None)
    if module is None:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'.")
    return module
