"""Parametrizations: a parameter as a function of others, computed at every access."""

from __future__ import annotations

import contextlib
import copy
from typing import Any, Iterator, Sequence

import facula
from facula import Tensor

from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_caching = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Within the block each parametrized tensor is computed once.

    >>> layer = facula.nn.utils.parametrizations.weight_norm(facula.nn.Linear(3, 2))
    >>> with facula.nn.utils.parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _replace(tensor: Tensor, value: Tensor) -> None:
    """Make `tensor` hold `value`, whatever its shape."""
    with facula.no_grad():
        if tensor.shape == value.shape:
            if tensor is not value:
                tensor.copy_(value)
        else:
            tensor.data = value.detach().clone()


def _check_result(new: Any, dtype: Any, shape: Any, what: str, who: str = "A parametrization") -> None:
    if not isinstance(new, Tensor):
        raise ValueError(f"{who} must return a tensor. Got {type(new).__name__}.")
    if who != "A parametrization" and (new.dtype != dtype or new.shape != shape):
        what = "dtype" if new.dtype != dtype else "shape"
        raise ValueError(
            f"The tensor returned by {who} must have the same {what} as the tensor it inverts: {dtype} {tuple(shape)}, got {new.dtype} {tuple(new.shape)}."
        )
    if new.dtype != dtype:
        raise ValueError(f"Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled. {what}: {dtype}, parametrized: {new.dtype}")
    if new.shape != shape:
        raise ValueError(f"Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled. {what}: {tuple(shape)}, parametrized: {tuple(new.shape)}")


def _inverted(modules: Any, value: Any, required: bool) -> Any:
    """value through the right inverses, last first."""
    with facula.no_grad():
        for module in reversed(list(modules)):
            if hasattr(module, "right_inverse"):
                try:
                    value = module.right_inverse(value)
                except NotImplementedError:
                    if required:
                        raise
            elif required:
                raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
    return value


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor and what they start from: `original`, or `original0`, `original1`, ...

    >>> layer = facula.nn.utils.parametrizations.weight_norm(facula.nn.Linear(3, 2))
    >>> type(layer.parametrizations.weight).__name__, len(layer.parametrizations.weight)
    ('ParametrizationList', 1)
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = _inverted(self, original, required=False)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if new.dtype != dtype:
                raise ValueError(f"When `right_inverse` outputs one tensor, it may not change the dtype: {dtype} became {new.dtype}")
            _replace(original, new)
            _register(self, "original", original)
        else:
            for k, part in enumerate(new):
                if not isinstance(part, Tensor):
                    raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors. Got element {k} of the sequence with type {type(part).__name__}.")
                if isinstance(original, Parameter):
                    part = Parameter(part.detach(), original.requires_grad)
                _register(self, f"original{k}", part)
        if not unsafe:
            _check_result(self(), dtype, shape, "unparametrized")

    def _originals(self) -> list[Tensor]:
        return [self.original] if self.is_tensor else [getattr(self, f"original{k}") for k in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the parametrized tensor is `value`, as far as the parametrizations can."""
        value = _inverted(self, value, required=True)
        values = [value] if self.is_tensor else value
        if self.is_tensor and not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if not self.is_tensor and (not isinstance(value, Sequence) or len(value) != self.ntensors):
            raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got {value!r}.")
        for original, new in zip(self._originals(), values):
            if original.dtype != new.dtype:
                raise ValueError(f"The tensor returned by `right_inverse` has dtype {new.dtype} while `original` has dtype {original.dtype}")
            _replace(original, new)

    def forward(self) -> Tensor:
        first, *rest = (self._modules[str(k)] for k in range(len(self)))
        x = first(*self._originals())
        for module in rest:
            x = module(x)
        return x


def _parametrized_class(module: Module) -> None:
    """Give the module a class of its own, where properties can be put."""
    base = type(module)

    def __getstate__(self: Module) -> dict:
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict().")

    def __deepcopy__(self: Module, memo: dict) -> Module:
        replica = memo[id(self)] = self.__new__(type(self))
        replica.__dict__ = copy.deepcopy(self.__dict__, memo)
        return replica

    module.__class__ = type(f"Parametrized{base.__name__}", (base,), {"__getstate__": __getstate__, "__deepcopy__": __deepcopy__})


def _add_property(module: Module, name: str) -> None:
    def read(self: Module) -> Tensor:
        parametrization = self.parametrizations[name]
        if not _caching:
            return parametrization()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def write(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """Make module.<tensor_name> be parametrization(original); more than one compose in order. Returns the module.

    A `right_inverse` of the parametrization initialises the original and makes assignment work. unsafe: dtype, shape and
    invertibility are not checked.

    >>> class Positive(facula.nn.Module):
    ...     def forward(self, x):
    ...         return x.abs()
    ...
    >>> layer = facula.nn.utils.parametrize.register_parametrization(facula.nn.Linear(3, 2), "weight", Positive())
    >>> bool((layer.weight >= 0).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            now = getattr(module, tensor_name)
            new = parametrization(now)
            _check_result(new, now.dtype, now.shape, f"module.{tensor_name}")
            if hasattr(parametrization, "right_inverse"):
                with contextlib.suppress(NotImplementedError):
                    _check_result(parametrization.right_inverse(new), now.dtype, now.shape, "right_inverse", "parametrization.right_inverse")
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    listed = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _parametrized_class(module)
        module.parametrizations = ModuleDict()
    _add_property(module, tensor_name)
    module.parametrizations[tensor_name] = listed
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module, or its tensor of this name, is parametrized.

    >>> layer = facula.nn.utils.parametrizations.weight_norm(facula.nn.Linear(3, 2))
    >>> facula.nn.utils.parametrize.is_parametrized(layer, "weight"), facula.nn.utils.parametrize.is_parametrized(layer, "bias")
    (True, False)
    """
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make module.<tensor_name> a plain parameter or buffer again: of its present value, or of the original one.

    >>> layer = facula.nn.utils.parametrizations.weight_norm(facula.nn.Linear(3, 2))
    >>> layer = facula.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    >>> [name for name, parameter in layer.named_parameters()]
    ['bias', 'weight']
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    listed = module.parametrizations[tensor_name]
    if listed.is_tensor:
        original = listed.original
        if leave_parametrized:
            with facula.no_grad():
                _replace(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that the module had before it was parametrized.

    >>> layer = facula.nn.utils.parametrizations.weight_norm(facula.nn.Linear(3, 2))
    >>> type(layer).__name__, facula.nn.utils.parametrize.type_before_parametrizations(layer).__name__
    ('ParametrizedLinear', 'Linear')
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Module, to_module: Module, tensor_name: str | None = None) -> Module:
    """Give to_module the parametrizations of from_module and their originals; all, or those of one tensor.

    >>> layer = facula.nn.utils.parametrizations.weight_norm(facula.nn.Linear(3, 2))
    >>> other = facula.nn.utils.parametrize.transfer_parametrizations_and_params(layer, facula.nn.Linear(3, 2))
    >>> other.weight.equal(layer.weight)
    True
    """
    if is_parametrized(from_module):
        for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
            if not hasattr(to_module, name):
                setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
            source = from_module.parametrizations[name]
            for parametrization in source:
                register_parametrization(to_module, name, parametrization)
            target = to_module.parametrizations[name]
            for key in ["original"] if source.is_tensor else [f"original{k}" for k in range(source.ntensors)]:
                setattr(target, key, getattr(source, key))
    return to_module
