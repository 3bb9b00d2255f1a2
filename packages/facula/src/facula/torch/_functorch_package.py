"""functorch, the package that comes with PyTorch: what facula.func has, deprecated, and modules as functions in the way before functional_call."""

from __future__ import annotations

import copy
import functools
import warnings
from typing import Any, Callable, Iterable

import facula
from facula import Tensor, func
from facula.func import functional_call, stack_module_state

__version__ = "2.13.0"


def _deprecated(function: Callable, instead: str) -> Callable:
    """The function, which warns whoever calls it."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"functorch.{function.__name__} is deprecated as of PyTorch 2.0. Please use `torch.{instead}` instead.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    return call


def _blank(model: Any, disable_autograd_tracking: bool, with_buffers: bool) -> tuple:
    """(a copy of the module for its structure, names and values of its parameters, the same of its buffers)."""
    parameters = dict(model.named_parameters())
    buffers = dict(model.named_buffers()) if with_buffers else {}
    values = {k: v.detach() if disable_autograd_tracking else v for k, v in parameters.items()}
    return copy.deepcopy(model), values, buffers


class FunctionalModuleWithBuffers(facula.nn.Module):
    """A module as a function: call(parameters, buffers, *args)."""

    def __init__(self, stateless_model: Any, param_names: Iterable[str], buffer_names: Iterable[str]) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names, self.buffer_names = tuple(param_names), tuple(buffer_names)

    @classmethod
    def _create_from(cls, model: Any, disable_autograd_tracking: bool = False) -> tuple:
        blank, parameters, buffers = _blank(model, disable_autograd_tracking, True)
        return cls(blank, parameters, buffers), tuple(parameters.values()), tuple(buffers.values())

    def forward(self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        state = dict(zip((*self.param_names, *self.buffer_names), (*params, *buffers)))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(facula.nn.Module):
    """A module without buffers as a function: call(parameters, *args)."""

    def __init__(self, stateless_model: Any, param_names: Iterable[str]) -> None:
        super().__init__()
        self.stateless_model, self.param_names = stateless_model, tuple(param_names)

    @classmethod
    def _create_from(cls, model: Any, disable_autograd_tracking: bool = False) -> tuple:
        blank, parameters, _ = _blank(model, disable_autograd_tracking, False)
        return cls(blank, parameters), tuple(parameters.values())

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        return functional_call(self.stateless_model, dict(zip(self.param_names, params)), args, kwargs)


def make_functional_with_buffers(model: Any, disable_autograd_tracking: bool = False) -> tuple:
    """(function of parameters, buffers and arguments, parameters, buffers)."""
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)


def make_functional(model: Any, disable_autograd_tracking: bool = False) -> tuple:
    """(function of parameters and arguments, parameters). Of a module without buffers."""
    if any(True for _ in model.buffers()):
        raise RuntimeError("make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead.")
    return FunctionalModule._create_from(model, disable_autograd_tracking)


def combine_state_for_ensemble(models: Any) -> tuple:
    """(function of stacked parameters, stacked buffers and arguments, for vmap; the parameters; the buffers)."""
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    parameters, buffers = stack_module_state(list(models))
    made = FunctionalModuleWithBuffers(copy.deepcopy(models[0]), parameters, buffers)
    return made, tuple(parameters.values()), tuple(buffers.values())


vmap = _deprecated(func.vmap, "vmap")
functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp = [
    _deprecated(getattr(func, name), f"func.{name}") for name in ("functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp")
]
make_functional, make_functional_with_buffers = [_deprecated(made, "func.functional_call") for made in (make_functional, make_functional_with_buffers)]
combine_state_for_ensemble = _deprecated(combine_state_for_ensemble, "func.stack_module_state")
