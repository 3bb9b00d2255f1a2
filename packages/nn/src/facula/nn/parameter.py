"""Parameter, Buffer and their uninitialised forms."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import facula
from facula import Tensor
from facula.tensor_core.extend import make_subclass

__all__ = ["Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer", "UninitializedTensorMixin", "is_lazy"]


class Parameter(Tensor):
    """A tensor that a Module registers when it is assigned to an attribute.

    data: the values, shared and not copied; None for an empty tensor.
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = facula.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter: data is {type(data).__name__}, not a Tensor. Make one with facula.tensor(data).")
        return make_subclass(cls, data, requires_grad)

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) in memo:
            return memo[id(self)]
        copied = type(self)(self.data.clone(), self.requires_grad)
        memo[id(self)] = copied
        return copied

    def __repr__(self, **_: Any) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: int) -> tuple:
        return rebuild_parameter, (self.data, self.requires_grad, OrderedDict())


def rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any = None) -> Parameter:
    """The reader of a pickled Parameter."""
    return Parameter(data, requires_grad)


class _BufferKind(type(Tensor)):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferKind):
    """A plain Tensor marked so that assigning it to a Module's attribute registers a buffer."""

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Tensor:
        if data is None:
            data = facula.empty(0)
        buffer = data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


class UninitializedTensorMixin:
    """A parameter or buffer whose shape is not known yet: `materialize` gives it one.

    It holds an empty tensor of its device and dtype; everything that asks for values is refused."""

    _final: type | None = None

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor of `shape`, uninitialised; device and dtype default to the ones asked for at first."""
        made = facula.empty(
            shape, device=self.data.device if device is None else device, dtype=self.data.dtype if dtype is None else dtype
        )
        self.data = made
        self.__class__ = self._final

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "shape: not known for an uninitialized parameter or buffer. Run one forward, or load it into a lazy module first."
        )

    def share_memory_(self) -> Any:
        raise RuntimeError("share_memory_: an uninitialized parameter or buffer has no memory. Run one forward first.")

    def __repr__(self, **_: Any) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: int) -> tuple:
        return type(self), (self.requires_grad, self.data.device, self.data.dtype)

    def __deepcopy__(self, memo: dict) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]


def is_lazy(param: Any) -> bool:
    """Whether `param` still waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter whose shape comes with the first input."""

    _final = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> UninitializedParameter:
        return make_subclass(cls, facula.empty(0, device=device, dtype=dtype), requires_grad)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape comes with the first input."""

    _final = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> UninitializedBuffer:
        buffer = make_subclass(cls, facula.empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer

    def __init__(self, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> None:
        pass
