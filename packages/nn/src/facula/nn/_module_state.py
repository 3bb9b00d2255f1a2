"""The half of Module that saves and loads state: state_dict, load_state_dict and their hooks."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from typing import Any, Callable, Mapping, NamedTuple

import facula
from facula import Tensor
from facula.utils import swap_tensors

from ._conversion import modes
from ._hooks import RemovableHandle, register
from .parameter import Parameter, is_lazy

EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"

    __str__ = __repr__


class LoadHook:
    """A load_state_dict pre-hook, and the module it was registered for, which it does not keep alive; a copy sets its own."""

    def __init__(self, hook: Callable, module: Any = None) -> None:
        self.hook, self.with_module = hook, module is not None
        self.set_module(module)

    def set_module(self, module: Any) -> None:
        """The module that the hook is called with."""
        self._module = None if module is None else weakref.ref(module)

    @property
    def module(self) -> Any:
        """The module, or None: there never was one, or it is gone."""
        return None if self._module is None else self._module()

    def __getstate__(self) -> dict:
        return {"hook": self.hook, "with_module": self.with_module, "module": self.module}

    def __setstate__(self, state: dict) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        self.set_module(state["module"])

    def __call__(self, *args: Any) -> None:
        if not self.with_module:
            self.hook(*args)
            return
        module = self.module
        if module is None:
            raise RuntimeError("load_state_dict pre-hook: called after the module it was registered for was destroyed.")
        self.hook(module, *args)


class ModuleState:
    """state_dict and load_state_dict; a base of Module only."""

    _version = 1

    def get_extra_state(self) -> Any:
        """What the state_dict should carry beyond parameters and buffers; override together with set_extra_state."""
        raise RuntimeError(f"get_extra_state: {type(self).__name__} does not define it. Override it, and set_extra_state too.")

    def set_extra_state(self, state: Any) -> None:
        """Take back what get_extra_state gave."""
        raise RuntimeError(
            f"set_extra_state: the state_dict has an extra state and {type(self).__name__} does not define this. Override it."
        )

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Run `hook(module, prefix, keep_vars)` before state_dict collects this module."""
        return register(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Run `hook(module, state_dict, prefix, local_metadata)` after; it edits state_dict in place and returns None."""
        hook._from_public_api = True
        return register(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("_register_state_dict_hook: this hook was previously registered via register_state_dict_post_hook. Use another.")
        return register(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Run `hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` before this module loads."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> RemovableHandle:
        return register(self._load_state_dict_pre_hooks, LoadHook(hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Run `hook(module, incompatible_keys)` after this module and those below it loaded."""
        return register(self._load_state_dict_post_hooks, hook)

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars or is_lazy(param) else param.detach()
        for name, buf in self._buffers.items():
            if buf is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buf if keep_vars or is_lazy(buf) else buf.detach()
        if type(self).get_extra_state is not ModuleState.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """An OrderedDict of name -> detached tensor (the tensor itself where keep_vars), with `_metadata` beside it."""
        if args:  # the old positional form: destination, prefix, keep_vars
            warnings.warn("state_dict: positional arguments are being deprecated. Write destination=, prefix=, keep_vars=.", FutureWarning, stacklevel=2)
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])[:3]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if replaced is not None:
                    raise RuntimeError("state_dict post-hook must return None: edit the state_dict in place.")
            elif replaced is not None:
                destination = replaced
        return destination

    def _load_from_state_dict(
        self,
        state_dict: dict,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        assign = local_metadata.get("assign_to_params_buffers", False)
        known = set()  # a name registered with None takes nothing, so what is given for it is unexpected
        for name, here in (*self._parameters.items(), *persistent.items()):
            if here is None:
                continue
            known.add(name)
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            problem = self._load_one(name, here, key, state_dict[key], assign)
            if problem:
                error_msgs.append(problem)
        self._load_extra_state(state_dict, prefix, strict, missing_keys, unexpected_keys)
        if strict:
            self._collect_unexpected(state_dict, prefix, known, unexpected_keys)

    def _load_one(self, name: str, here: Tensor, key: str, given: Any, assign: bool) -> str | None:
        """Copy or assign one value; the complaint, or None."""
        if not isinstance(given, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but received {type(given)}'
            )
        lazy_here = is_lazy(here)
        if is_lazy(given) and lazy_here:
            return None  # neither has a shape yet
        if is_lazy(given):
            return f'"{key}": can\'t access the shape of an uninitialized parameter or buffer, which the checkpoint has for an initialized one.'
        if not lazy_here and here.ndim == 0 and given.ndim == 1 and len(given) == 1:
            given = given[0]  # checkpoints from before 0-d tensors
        if not lazy_here and given.shape != here.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                f"the shape in current model is {here.shape}."
            )
        if not lazy_here and here.is_meta and not given.is_meta and not assign:
            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, "
                "which is a no-op. (Did you mean to pass `assign=True`?)",
                stacklevel=4,
            )
        try:
            if modes["swap"]:
                _swap_one(here, given, assign)
            elif assign:
                self._assign_one(name, here, given)
            else:
                with facula.no_grad():
                    here.copy_(given)
        except Exception as error:
            return (
                f'While {"swapping" if modes["swap"] else "copying"} the parameter named "{key}", whose dimensions in the model are {here.size()} and whose '
                f"dimensions in the checkpoint are {given.size()}, an exception occurred : {error.args}."
            )
        return None

    def _assign_one(self, name: str, here: Tensor, given: Tensor) -> None:
        if isinstance(here, Parameter):
            if not isinstance(given, Parameter):
                given = Parameter(given, requires_grad=here.requires_grad)
            else:
                given.requires_grad_(here.requires_grad)
        setattr(self, name, given)

    def _load_extra_state(self, state_dict: dict, prefix: str, strict: bool, missing: list[str], unexpected: list[str]) -> None:
        key = prefix + EXTRA_STATE
        if type(self).set_extra_state is not ModuleState.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing.append(key)
        elif strict and key in state_dict:
            unexpected.append(key)

    def _collect_unexpected(self, state_dict: dict, prefix: str, known: set[str], unexpected: list[str]) -> None:
        for key in state_dict:
            if key.startswith(prefix) and key != prefix + EXTRA_STATE:
                head, *rest = key[len(prefix) :].split(".", 1)
                if head not in (self._modules if rest else known):
                    unexpected.append(key)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> _IncompatibleKeys:
        """Copy parameters and buffers from `state_dict`; the keys that did not fit.

        strict: raise RuntimeError where keys are missing or unexpected. Shapes must agree either way.
        assign: take the given tensors themselves, keeping their dtype and device.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)  # hooks may edit it
        if metadata is not None:
            state_dict._metadata = metadata

        _load(self, state_dict, "", (metadata, assign, missing, unexpected, errors))
        if strict:
            for keys, what in ((unexpected, "Unexpected"), (missing, "Missing")):
                if keys:
                    errors.insert(0, what + " key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in keys)))
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(missing, unexpected)


def _swap_one(here: Tensor, given: Tensor, assign: bool) -> None:
    """Exchange `here` for what its module_load makes of the value."""
    with facula.no_grad():
        new = here.module_load(given, assign=assign)
        if new is given or new is here:
            raise RuntimeError("module_load returned one of self or other, please .detach() the result if returning one of the inputs in module_load")
        if isinstance(here, Parameter):
            new = new.requires_grad_(here.requires_grad) if isinstance(new, Parameter) else Parameter(new, here.requires_grad)
        swap_tensors(here, new)


def _by_child(state_dict: Any, prefix: str) -> dict[str, dict]:
    """What is there for each child, by its name; in one pass, for a look through all keys for every module takes their product."""
    below: dict[str, dict] = {}
    for key, value in state_dict.items():
        if key.startswith(prefix):
            name, dot, _ = key[len(prefix) :].partition(".")
            if dot:
                below.setdefault(name, {})[key] = value
    return below


def _load(module: Any, state_dict: Any, prefix: str, common: tuple) -> None:
    """Load a module and those below it; common: metadata, assign and the lists of what did not fit."""
    metadata, assign, missing, unexpected, errors = common
    local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local_metadata = {**local_metadata, "assign_to_params_buffers": True}
    module._load_from_state_dict(state_dict, prefix, local_metadata, True, missing, unexpected, errors)
    below = _by_child(state_dict, prefix)
    for name, child in module._modules.items():
        if child is not None:
            _load(child, below.get(name, {}), prefix + name + ".", common)
    incompatible = _IncompatibleKeys(missing, unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, incompatible) is not None:
            raise AssertionError("load_state_dict post hook: it returned a value. Edit incompatible_keys in place.")
