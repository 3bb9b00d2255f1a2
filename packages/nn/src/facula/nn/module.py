"""Module: a tree of parameters, buffers and submodules with a forward."""

from __future__ import annotations

from collections import OrderedDict
from types import FunctionType
from typing import Any, Callable, TypeVar

from facula import Tensor

from . import _hooks
from ._hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._module_call import ModuleCall
from ._module_convert import ModuleConvert
from ._module_hooks import ModuleHooks
from ._module_state import ModuleState
from ._module_walk import ModuleWalk
from .parameter import Buffer, Parameter

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

# PyTorch's names of the process-wide registries
_global_forward_pre_hooks, _global_forward_hooks = _hooks.forward_pre_hooks, _hooks.forward_hooks
_global_forward_hooks_with_kwargs, _global_forward_hooks_always_called = _hooks.forward_hooks_with_kwargs, _hooks.forward_hooks_always_called
_global_backward_pre_hooks, _global_backward_hooks = _hooks.backward_pre_hooks, _hooks.backward_hooks

_set = object.__setattr__
# attributes that every module has beside `training`; written once, here
_DICTS = (
    ("_parameters", dict),
    ("_buffers", dict),
    ("_non_persistent_buffers_set", set),
    ("_backward_pre_hooks", OrderedDict),
    ("_backward_hooks", OrderedDict),
    ("_is_full_backward_hook", lambda: None),
    ("_forward_hooks", OrderedDict),
    ("_forward_hooks_with_kwargs", OrderedDict),
    ("_forward_hooks_always_called", OrderedDict),
    ("_forward_pre_hooks", OrderedDict),
    ("_forward_pre_hooks_with_kwargs", OrderedDict),
    ("_state_dict_hooks", OrderedDict),
    ("_state_dict_pre_hooks", OrderedDict),
    ("_load_state_dict_pre_hooks", OrderedDict),
    ("_load_state_dict_post_hooks", OrderedDict),
    ("_modules", dict),
)
_FUNCTIONS = ("facula.tensor_core.", "facula.nn.functional.")
_HOMES = ("_parameters", "_buffers", "_modules")


class Module(ModuleCall, ModuleHooks, ModuleState, ModuleConvert, ModuleWalk):
    """Base of all layers and models: assign parameters and modules to attributes, define forward, call the instance.

    >>> class Scale(facula.nn.Module):
    ...     def __init__(self, by):
    ...         super().__init__()
    ...         self.by = facula.nn.Parameter(facula.tensor(by))
    ...     def forward(self, x):
    ...         return self.by * x
    ...
    >>> Scale(3.0)(facula.tensor([1.0, 2.0]))
    tensor([3., 6.], grad_fn=<MulBackward0>)
    >>> [name for name, parameter in Scale(3.0).named_parameters()]
    ['by']
    """

    training: bool
    dump_patches: bool = False  # whether state dicts are to be compared with the source they were saved with: never
    call_super_init: bool = False  # whether __init__ passes its arguments on to the next base
    _younger: dict[str, Any] = {}  # attributes that the class got later, with what pickles from before mean
    T_destination = TypeVar("T_destination", bound=dict)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            what = args[0] if args else next(iter(kwargs))
            raise TypeError(f"{type(self).__name__}.__init__() does not take {what!r}. Module takes no arguments.")
        state = self.__dict__
        state["training"] = True
        for name, make in _DICTS:
            state[name] = make()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.partition(".")[0] == "facula":
            return
        # `activation = torch.relu` in a class is no method: in PyTorch it is a builtin, which binds to nothing.
        for name, value in list(vars(cls).items()):
            if type(value) is FunctionType and (value.__module__ or "").startswith(_FUNCTIONS) and "." not in value.__qualname__:
                setattr(cls, name, staticmethod(value))

    # -- registration

    def _check_new_name(self, kind: str, name: Any, home: dict) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in home:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under `name`; None reserves the name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameters before Module.__init__() call")
        self._check_new_name("parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(f"cannot assign '{_kind(param)}' object to parameter '{name}' (nn.Parameter or None required)")
            if param.grad_fn is not None:
                raise ValueError(f"cannot assign a non-leaf Tensor to parameter '{name}'. Parameters must be leaves: compute it in forward.")
            param = _hooks.registered(_hooks.parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state and not a parameter; a persistent one is part of the state_dict."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_new_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{_kind(tensor)}' object to buffer '{name}' (Tensor or None required)")
        self._buffers[name] = _hooks.registered(_hooks.buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under `name`; None reserves the name."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{_kind(module)} is not a Module subclass")
        self._check_new_name("module", name, self._modules)
        self._modules[name] = _hooks.registered(_hooks.module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as add_module."""
        self.add_module(name, module)

    # -- attributes

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        for home in _HOMES:
            members = state.get(home)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if isinstance(value, Parameter):
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module) and name not in state.get("_parameters", ()):
            if "_modules" not in state:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_modules")
            state["_modules"][name] = _hooks.registered(_hooks.module_registration_hooks, self, name, value)
        elif name in state.get("_parameters", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{_kind(value)}' as parameter '{name}' (nn.Parameter or None expected)")
            self.register_parameter(name, None)
        elif name in state.get("_modules", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{_kind(value)}' as child module '{name}' (nn.Module or None expected)")
            state["_modules"][name] = _hooks.registered(_hooks.module_registration_hooks, self, name, None)
        elif name in state.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{_kind(value)}' as buffer '{name}' (Buffer, Tensor or None expected)")
            self._register_as(name, value, self._buffer_persists(name, value))
        elif isinstance(value, Buffer):
            self._register_as(name, value, value.persistent)  # which refuses the name of another attribute
        else:
            _set(self, name, value)

    def _register_as(self, name: str, value: Any, persistent: bool) -> None:
        """register_buffer, which a subclass may have defined without `persistent`."""
        if type(self).register_buffer is not Module.register_buffer:
            from inspect import signature

            if "persistent" not in signature(self.register_buffer).parameters:
                if not persistent:
                    raise RuntimeError(f"buffer '{name}' is not persistent, and register_buffer of {self._get_name()} has no argument persistent. Give it one.")
                return self.register_buffer(name, value)
        return self.register_buffer(name, value, persistent)

    def _buffer_persists(self, name: str, value: Any) -> bool:
        if isinstance(value, Buffer):
            return value.persistent
        return name not in self._non_persistent_buffers_set

    def _forget(self, name: str, home: str) -> None:
        """Remove `name` everywhere but in `home`, where it is about to be written."""
        state = self.__dict__
        state.pop(name, None)
        for other in _HOMES:
            if other != home and other in state:
                state[other].pop(name, None)
        if "_non_persistent_buffers_set" in state and home != "_buffers":
            state["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name: str) -> None:
        for home in _HOMES:
            if name in self.__dict__[home]:
                del self.__dict__[home][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(n for n in names if not n[0].isdigit())

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        for name, make in _DICTS:  # a pickle from before one of them existed
            self.__dict__.setdefault(name, make())
        for name, usual in self._younger.items():
            if not hasattr(self, name):
                setattr(self, name, usual)
        if not _hooks.ever and any(self.__dict__[n] for n, _ in _DICTS if n.endswith("hooks")):
            _hooks.ever.append(True)

    def __getstate__(self) -> dict:
        return self.__dict__.copy()

    # -- looking up by dotted name

    def get_submodule(self, target: str) -> Module:
        """The module at the dotted path `target`; self where it is empty."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` at the dotted path `target`; strict refuses a path where nothing is yet."""
        path, _, name = target.rpartition(".")
        if not name:
            raise ValueError("set_submodule: target is empty. Give the dotted path of a submodule.")
        if not isinstance(module, Module):
            raise ValueError(f"set_submodule: module is {_kind(module)}, not an nn.Module. Give a module.")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def _get_member(self, target: str, what: str, belongs: Callable[[Module, str, Any], bool]) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        value = getattr(module, name)
        if not belongs(module, name, value):
            raise AttributeError(f"`{name}` is not {what}")
        return value

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at the dotted path `target`."""
        return self._get_member(target, "an nn.Parameter", lambda m, n, v: isinstance(v, Parameter))

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at the dotted path `target`."""
        return self._get_member(target, "a buffer", lambda m, n, v: n in m._buffers)

    def compile(self, *args: Any, **kwargs: Any) -> Module:
        """Self: forward runs as it is written, whatever backend, mode or options would ask for."""
        return self

    # -- text

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses of repr; override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = [f"({name}): " + _indented(repr(module)) for name, module in self._modules.items()]
        head = extra.split("\n") if extra else []
        if not lines and len(head) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(head + lines) + "\n)"


def _kind(value: Any) -> str:
    return value.type() if isinstance(value, Tensor) and hasattr(value, "type") else type(value).__name__


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
