"""The half of Module that changes what its tensors are: apply, to, half, cuda, train, requires_grad_, zero_grad."""

from __future__ import annotations

import warnings
from typing import Any, Callable, TypeVar

import facula
from facula import Tensor
from facula.tensor_core import extend
from facula.utils import swap_tensors

from ._conversion import modes
from .parameter import Parameter, UninitializedBuffer, is_lazy

M = TypeVar("M", bound="ModuleConvert")


def _fits(new: Tensor, old: Tensor) -> bool:
    """Can the old tensor take the new one's data, and stay the object that it is?"""
    return new.device == old.device and new.layout == old.layout


class ModuleConvert:
    """Conversions of all parameters and buffers in place; a base of Module only."""

    def _apply(self: M, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is None:
                continue
            with facula.no_grad():
                new = fn(param.data if is_lazy(param) else param)
            grad = None if is_lazy(param) else param.grad
            swap = modes["swap"] and not is_lazy(param)
            if swap:
                param.grad = None
                try:
                    swap_tensors(param, Parameter(new, param.requires_grad))
                except Exception as error:
                    param.grad = grad
                    raise RuntimeError(f"_apply(): Couldn't swap {self._get_name()}.{name}") from error
            elif is_lazy(param) or (_fits(new, param) and not modes["overwrite"]):
                param.data = new  # the same object: optimizers go on holding it
            else:
                param = self._parameters[name] = Parameter(new, param.requires_grad)
            if grad is not None:
                with facula.no_grad():
                    made = fn(grad).requires_grad_(grad.requires_grad)
                if swap:
                    swap_tensors(grad, made)
                    param.grad = grad
                elif param.grad is grad and _fits(made, grad):  # the parameter is the one that it was
                    grad.data = made
                else:
                    param.grad = made
        for name, buf in self._buffers.items():
            if buf is not None:
                new = fn(buf.data if is_lazy(buf) else buf)
                self._buffers[name] = UninitializedBuffer(device=new.device, dtype=new.dtype) if is_lazy(buf) else new
        return self

    def apply(self: M, fn: Callable[[Any], None]) -> M:
        """Call `fn` on every submodule and on self, children first; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self: M, *args: Any, **kwargs: Any) -> M:
        """Move and cast in place: `to(device)`, `to(dtype)`, `to(device, dtype)`, `to(tensor)`, memory_format for 4-d and 5-d.

        Only floating and complex parameters and buffers take the dtype; the others only move.
        """
        device, dtype, non_blocking, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"Module.to: dtype is {dtype}. Only floating and complex dtypes make sense for a module.")
        if dtype is not None and dtype.is_complex:
            warnings.warn(
                "Complex modules are a new feature under active development whose design may change, and some modules might not work as expected "
                "when using complex tensors as parameters or buffers.",
                stacklevel=2,
            )

        def convert(t: Tensor) -> Tensor:
            cast = dtype if t.is_floating_point() or t.is_complex() else None
            if memory_format is not None and t.dim() in (4, 5):
                return t.to(t.device if device is None else device, cast or t.dtype, non_blocking, memory_format=memory_format)
            return t.to(t.device if device is None else device, cast or t.dtype, non_blocking)

        return self._apply(convert)

    def _replicate_for_data_parallel(self: M) -> M:
        """A module that shares everything with this one, in dicts of its own, without its parameters."""
        twin = self.__new__(type(self))
        twin.__dict__ = {**self.__dict__, "_parameters": {}, "_buffers": self._buffers.copy(), "_modules": self._modules.copy()}
        twin.__dict__["_is_replica"] = True
        return twin

    def to_empty(self: M, *, device: Any, recurse: bool = True) -> M:
        """Move to `device` without the values: storage there is uninitialised."""
        return self._apply(lambda t: facula.empty_like(t, device=device), recurse=recurse)

    def _cast(self: M, dtype: Any) -> M:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self: M) -> M:
        """Cast floating parameters and buffers to float32."""
        return self._cast(facula.float32)

    def double(self: M) -> M:
        """Cast floating parameters and buffers to float64."""
        return self._cast(facula.float64)

    def half(self: M) -> M:
        """Cast floating parameters and buffers to float16."""
        return self._cast(facula.float16)

    def bfloat16(self: M) -> M:
        """Cast floating parameters and buffers to bfloat16."""
        return self._cast(facula.bfloat16)

    def type(self: M, dst_type: Any) -> M:
        """Cast all parameters and buffers to `dst_type`."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self: M) -> M:
        """Move to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self: M, device: Any = None) -> M:
        """Move to a GPU, the current one where `device` is None."""
        return self._apply(lambda t: t.cuda(device))

    def xpu(self: M, device: Any = None) -> M:
        """Move to an Intel GPU. Raises AssertionError: there is none."""
        return self._apply(lambda t: t.xpu(device))

    def mtia(self: M, device: Any = None) -> M:
        """Move to an MTIA device. Raises AssertionError: there is none."""
        return self._apply(lambda t: t.mtia(device))

    def ipu(self: M, device: Any = None) -> M:
        """Move to an IPU. Raises RuntimeError: there is none."""
        return self._apply(lambda t: t.ipu(device))

    def train(self: M, mode: bool = True) -> M:
        """Set training mode here and below; matters to Dropout, BatchNorm and the like."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: mode is {mode!r}, not a bool. Give True or False.")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: M) -> M:
        """Set evaluation mode: train(False)."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Set requires_grad of every parameter; returns self."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros where set_to_none is False."""
        if not set_to_none:
            return extend.zero_gradients(self.parameters())
        for param in self.parameters():
            if param.grad is not None:
                param.grad = None

    def share_memory(self: M) -> M:
        """Move all storage to shared memory."""
        for t in (*self.parameters(), *self.buffers()):
            if is_lazy(t):
                t.share_memory_()  # which refuses
        return self._apply(lambda t: t.share_memory_())


_PYTHON = {bool: facula.bool, int: facula.int64, float: facula.float64, complex: facula.complex128}  # as everywhere a dtype is asked for


def _parse_to(*args: Any, **kwargs: Any) -> tuple:
    """(device, dtype, non_blocking, memory_format) from the forms that `to` accepts."""
    args = [_PYTHON.get(a, a) if isinstance(a, type) else a for a in args]
    device = dtype = None
    if args and isinstance(args[0], Tensor) or isinstance(kwargs.get("tensor"), Tensor):
        other = args.pop(0) if args else kwargs.pop("tensor")
        device, dtype = other.device, other.dtype
    elif args and isinstance(args[0], facula.dtype):
        dtype = args.pop(0)
    elif args:
        device = args.pop(0)
        if args and (args[0] is None or isinstance(args[0], facula.dtype)):
            dtype = args.pop(0)
        elif args:
            raise TypeError(f"Module.to: what follows the device is a dtype, not {args[0]!r}. Give non_blocking by name.")
    device = kwargs.pop("device", device)
    dtype = kwargs.pop("dtype", dtype)
    dtype = _PYTHON.get(dtype, dtype)
    non_blocking = args.pop(0) if args else kwargs.pop("non_blocking", False)
    memory_format = kwargs.pop("memory_format", None)
    if len(args) == 1 or "copy" in kwargs:
        raise RuntimeError("Module.to: .to() does not accept copy argument, for a module is converted in place. Copy it with copy.deepcopy.")
    if args or kwargs:
        raise TypeError(f"Module.to: does not take {[*args, *kwargs]}. Give device, dtype, non_blocking, memory_format or a tensor.")
    if non_blocking is not True and non_blocking is not False:
        raise TypeError(f"Module.to: argument 'non_blocking' must be bool, not {type(non_blocking).__name__}. Write True or False.")
    return None if device is None else facula.device(device), dtype, non_blocking, memory_format
