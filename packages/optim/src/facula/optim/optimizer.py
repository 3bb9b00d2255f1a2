"""Optimizer: parameter groups, state, their saving and loading."""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict
from copy import deepcopy
from types import MappingProxyType
from typing import Any, Callable, Iterable

import facula
from facula import Tensor
from facula.tensor_core import extend
from facula.utils.hooks import RemovableHandle

from ._hooks import NAMES, register, register_optimizer_step_post_hook, register_optimizer_step_pre_hook, with_hooks

__all__ = ["Optimizer", "register_optimizer_step_pre_hook", "register_optimizer_step_post_hook", "required"]

required = object()  # the default of a parameter group's option that has none


class Optimizer:
    """Base of all optimizers: holds `param_groups` (dicts of options) and `state` (a dict for each parameter).

    params: tensors, (name, tensor) pairs or dicts with "params" and options. defaults: the options of a group that gives none.

    >>> class Descent(facula.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...     @facula.no_grad()
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p.sub_(group["lr"] * p.grad)
    ...
    >>> w = facula.tensor([1.0], requires_grad=True)
    >>> (w * w).backward()
    >>> Descent([w], lr=0.25).step()
    >>> w.detach()
    tensor([0.5000])
    """

    # those of a wrapper that leaves __init__ out
    _optimizer_step_pre_hooks = _optimizer_step_post_hooks = MappingProxyType({})

    def __init__(self, params: Iterable, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._make_hooks()
        if isinstance(params, Tensor):
            raise TypeError(
                f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {type(params).__name__}. "
                "Give [tensor]."
            )
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not getattr(step, "hooked", False):
            cls.step = with_hooks(step)

    def _make_hooks(self) -> None:
        for name in NAMES:
            self.__dict__.setdefault(name, OrderedDict())

    def _patch_step_function(self) -> None:
        """Wrappers of an optimizer that leave __init__ out call this to have the hooks run around their step."""
        self._make_hooks()
        if not getattr(type(self).step, "hooked", False):
            type(self).step = with_hooks(type(self).step)

    def __getstate__(self) -> dict:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for k, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {k}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
            lines.append("")
        if len(lines) > 1:
            lines.pop()
        return "\n".join(lines) + "\n)"

    # -- hooks

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Run `hook(optimizer, args, kwargs)` before step; it may return new (args, kwargs)."""
        return register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Run `hook(optimizer, args, kwargs)` after step."""
        return register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Run `hook(optimizer)` before state_dict."""
        return register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Run `hook(optimizer, state_dict)` after state_dict; what it returns replaces the dict."""
        return register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Run `hook(optimizer, state_dict)` before load_state_dict; what it returns replaces the dict."""
        return register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Run `hook(optimizer)` after load_state_dict."""
        return register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # -- state

    def state_dict(self) -> dict[str, Any]:
        """{"state": number -> state, "param_groups": options with parameter numbers}: parameters by their order."""
        for pre in self._optimizer_state_dict_pre_hooks.values():
            pre(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for post in self._optimizer_state_dict_post_hooks.values():
            replaced = post(self, result)
            if replaced is not None:
                result = replaced
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take state and options from what state_dict gave; tensors are copied to each parameter's dtype and device."""
        state_dict = state_dict.copy()
        for pre in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = pre(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        saved = deepcopy(state_dict["param_groups"])
        here = self.param_groups
        if len(here) != len(saved):
            raise ValueError(f"loaded state dict has a different number of parameter groups: {len(saved)}, the optimizer has {len(here)}")
        for k, (old, new) in enumerate(zip(here, saved)):
            if len(old["params"]) != len(new["params"]):
                raise ValueError(
                    f"loaded state dict contains a parameter group that doesn't match the size of optimizer's group {k}: "
                    f"{len(new['params'])} parameters, the optimizer has {len(old['params'])}"
                )
        params = dict(zip((n for g in saved for n in g["params"]), (p for g in here for p in g["params"])))
        home = {n: g for g in saved for n in g["params"]}
        state: defaultdict = defaultdict(dict)
        for number, value in state_dict["state"].items():
            if number in params:
                state[params[number]] = _fitted(value, params[number], home[number])
            else:
                state[number] = value
        for old, new in zip(here, saved):
            new["params"] = old["params"]
            if "param_names" in old and "param_names" not in new:
                new["param_names"] = old["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for post in self._optimizer_load_state_dict_post_hooks.values():
            post(self)

    # -- parameters

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros where set_to_none is False."""
        for group in self.param_groups:
            if not set_to_none:
                extend.zero_gradients(group["params"])
                continue
            for p in group["params"]:
                p.grad = None

    def step(self, closure: Callable | None = None) -> Any:
        """Move every parameter that has a gradient; the loss that `closure` returned, if one was given."""
        raise NotImplementedError(f"{type(self).__name__} does not define step. An optimizer must.")

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group: a dict with "params" and the options that differ from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, Tensor):
            given = [given]
        elif isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        params, names = _named(list(given))
        param_group["params"] = params
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        if names is not None:
            param_group["param_names"] = names
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        self._check_against_others(param_group)
        self.param_groups.append(param_group)

    def _check_against_others(self, group: dict[str, Any]) -> None:
        params = group["params"]
        if len({id(p) for p in params}) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "in future, this will cause an error; see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=4,
            )
        if self.param_groups and ("param_names" in group) != ("param_names" in self.param_groups[0]):
            given = "with names" if "param_names" in group else "without names"
            raise ValueError(f"all optimizer param groups should be with/without names. cannot add param group {given} to the optimizer")
        taken = {id(p) for g in self.param_groups for p in g["params"]}
        if any(id(p) in taken for p in params):
            raise ValueError("some parameters appear in more than one parameter group")


def _named(given: list) -> tuple[list, list | None]:
    """(tensors, names or None) of a list of tensors or of (name, tensor) pairs."""
    pairs = [isinstance(x, tuple) for x in given]
    if not any(pairs):
        return given, None
    if not all(pairs):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    names = [name for name, _ in given]
    return [p for _, p in given], names


def _fitted(value: Any, param: Tensor, group: dict, key: Any = None) -> Any:
    """A loaded state value with its tensors on the parameter's device and, where it is floating, in its dtype."""
    if isinstance(value, Tensor):
        if key == "step":  # counts stay float32 on the CPU, whatever the parameter is
            return value.to(dtype=facula.float32, device=param.device) if group.get("capturable") or group.get("fused") else value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {k: _fitted(v, param, group, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fitted(v, param, group) for v in value)
    return value
