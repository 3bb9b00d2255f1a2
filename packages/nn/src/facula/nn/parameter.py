"""Parameter, Buffer and their uninitialised forms."""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from typing import Any

import facula
from facula import Tensor
from facula.tensor_core.extend import check, disabled_torch_function, lib, make_subclass, state_of
from facula.tensor_core.extend import wrap as own_tensor

__all__ = ["Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer", "UninitializedTensorMixin", "is_lazy"]


class _ParameterKind(type(Tensor)):
    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or (cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False))


class Parameter(Tensor, metaclass=_ParameterKind):
    """A tensor that a Module registers when it is assigned to an attribute.

    data: the values, shared and not copied; None for an empty tensor.

    >>> import facula
    >>> from facula import nn
    >>> nn.Parameter(facula.tensor([1.0])).requires_grad
    True
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = facula.empty(0)
        if not isinstance(data, Tensor):
            raise AttributeError(f"Parameter: data is {type(data).__name__}, not a Tensor. Make one with facula.tensor(data).")
        if requires_grad is not True and requires_grad is not False:
            check("_make_subclass", "require_grad", 2, "bool", requires_grad)
        if type(data) not in (Tensor, Parameter) and data.layout is not facula.strided:
            made = data.detach().requires_grad_(requires_grad)  # in the layout's own class, where the pieces are
            made.__class__ = _in_layout(cls, type(made))
            return made
        if type(data) in (Tensor, Parameter) or isinstance(data, cls) or data.__torch_function__ is disabled_torch_function:
            return make_subclass(cls, data, requires_grad)
        made = data.detach().requires_grad_(requires_grad)  # of a user's class: it stays one, and is a parameter by a mark
        if type(made) is not type(data):
            raise RuntimeError(f"Parameter: detach() of {type(data).__name__} gives {type(made).__name__}. Its __torch_function__ must give the same class.")
        made._is_param = True
        return made

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) in memo:
            return memo[id(self)]
        copied = type(self)(self.data.clone(), self.requires_grad)
        memo[id(self)] = copied
        return copied

    def __repr__(self, **_: Any) -> str:
        own = super().__repr__()
        return "Parameter containing:\n" + (own if type(self).__name__ == "Parameter" else f"Parameter({own})")

    def __reduce_ex__(self, protocol: int) -> tuple:
        parts = self.data, self.requires_grad, OrderedDict()
        state = state_of(self)
        return (rebuild_parameter_with_state, (*parts, state)) if state else (rebuild_parameter, parts)


@cache
def _in_layout(cls: type, kind: type) -> type:
    """The parameter class cls over tensors that another class holds: sparse ones."""
    return type(cls)(cls.__name__, (cls, kind), {"__module__": cls.__module__, "_is_param": True})


def rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any = None) -> Parameter:
    """The reader of a pickled Parameter."""
    return Parameter(data, requires_grad)


def rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any) -> Parameter:
    """The reader of a pickled Parameter that had attributes."""
    parameter = Parameter(data, requires_grad)
    attributes = state[0] if type(state) is tuple and len(state) == 2 else state  # the rest are slots of its class, attributes of a Parameter
    if attributes is not None and (type(attributes) is not dict or not all(type(k) is str for k in attributes)):
        raise RuntimeError(f"load: a parameter's attributes come as {type(state).__name__}, not as a dict of names.")
    vars(parameter).update(attributes or {})
    if attributes is not state and type(state[1]) is dict and all(type(k) is str and not hasattr(Parameter, k) for k in state[1]):
        vars(parameter).update(state[1])
    return parameter


class _BufferKind(type(Tensor)):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferKind):
    """A plain Tensor marked so that assigning it to a Module's attribute registers a buffer.

    >>> class Centred(facula.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.mean = facula.nn.Buffer(facula.zeros(1))
    ...
    >>> dict(Centred().state_dict())
    {'mean': tensor([0.])}
    """

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Tensor:
        if data is None:
            data = facula.empty(0)
        buffer = data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


_slot = Tensor._h  # the slot that UninitializedTensorMixin hides


class UninitializedTensorMixin:
    """A parameter or buffer whose shape is not known yet: `materialize` gives it one.

    It holds an empty tensor of its device and dtype; every op on it is refused.

    >>> isinstance(facula.nn.LazyLinear(3).weight, facula.nn.parameter.UninitializedTensorMixin)
    True
    """

    _final: type | None = None

    def _empty(self) -> Tensor:
        """The empty tensor that it holds, as a plain one."""
        return own_tensor(lib.fc_alias(*_slot.__get__(self), 1))

    @property
    def _h(self) -> Any:
        raise ValueError(
            f"{type(self).__name__}: an uninitialized parameter or buffer has no values. Call the lazy module once, or give it a shape by materialize()."
        )

    @_h.setter
    def _h(self, handle: Any) -> None:
        _slot.__set__(self, (handle,))  # C takes no tuple for a handle

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor of `shape`, uninitialised; device and dtype default to the ones asked for at first."""
        made = facula.empty(shape, device=self.device if device is None else device, dtype=self.dtype if dtype is None else dtype)
        self._become(self._final)
        self.data = made

    def _become(self, kind: type) -> None:
        (handle,) = _slot.__get__(self)
        self.__class__ = kind
        self._h = handle

    @property
    def data(self) -> Tensor:
        return self._empty()

    @data.setter
    def data(self, value: Tensor) -> None:
        self._set(Tensor.data.fset, value)

    def _set(self, setter: Any, value: Any) -> None:
        """Call a property's setter, which looks at the tensor: it may while this is an initialized one."""
        kind = type(self)
        self._become(self._final)
        try:
            setter(self, value)
        finally:
            handle, self.__class__ = self._h, kind
            self._h = handle

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "shape: can't access the shape of an uninitialized parameter or buffer. Run one forward, or load it into a lazy module first."
        )

    dtype = property(lambda self: self._empty().dtype)
    device = property(lambda self: self._empty().device)
    requires_grad = property(lambda self: self._origin is not None, lambda self, flag: self._set(Tensor.requires_grad.fset, flag))

    grad_fn, is_leaf = None, True

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        self.requires_grad = requires_grad
        return self

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def share_memory_(self) -> Any:
        raise RuntimeError("share_memory_: can't share memory on an uninitialized parameter or buffer. Run one forward first.")

    def __repr__(self, **_: Any) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: int) -> tuple:
        return type(self), (self.requires_grad, self.device, self.dtype)

    def __deepcopy__(self, memo: dict) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


def is_lazy(param: Any) -> bool:
    """Whether `param` still waits for its shape.

    >>> facula.nn.parameter.is_lazy(facula.nn.LazyLinear(3).weight)
    True
    """
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter whose shape comes with the first input.

    >>> x = facula.nn.UninitializedParameter()
    >>> x.materialize((2,))
    >>> x.shape
    torch.Size([2])
    """

    _final = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> UninitializedParameter:
        check("_make_subclass", "require_grad", 2, "bool", requires_grad)
        return make_subclass(cls, facula.empty(0, device=device, dtype=dtype), requires_grad)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape comes with the first input.

    >>> x = facula.nn.UninitializedBuffer()
    >>> x.materialize((2,))
    >>> x.shape
    torch.Size([2])
    """

    _final = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> UninitializedBuffer:
        check("_make_subclass", "require_grad", 2, "bool", requires_grad)
        buffer = make_subclass(cls, facula.empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer

    def __init__(self, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> None:
        pass
