"""The call of a Module: forward, and the hooks around it when there are any."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from . import _hooks

_global = (_hooks.forward_pre_hooks, _hooks.forward_hooks, _hooks.backward_pre_hooks, _hooks.backward_hooks)
_pre, _post, _back_pre, _back = _global
_ever = _hooks.ever


def _missing(self: Any, *input: Any) -> Any:
    """What the module computes; every subclass defines it."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class ModuleCall:
    """__call__; a base of Module only."""

    forward: Callable[..., Any] = _missing  # a variable to type checkers: a subclass's method has the parameters that it likes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _ever and (
            self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks
            or _pre or _post or _back_pre or _back
        ):  # fmt: skip
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple, kwargs: dict) -> Any:
        called: set = set()
        if not (self._forward_hooks_always_called or _hooks.forward_hooks_always_called):
            return self._call_inner(args, kwargs, called)
        try:
            return self._call_inner(args, kwargs, called)
        except Exception:
            self._call_always(args, kwargs, called)
            raise

    def _call_inner(self, args: tuple, kwargs: dict, called: set) -> Any:
        for hooks, takes_kwargs in ((_pre, {}), (self._forward_pre_hooks, self._forward_pre_hooks_with_kwargs)):
            for key, hook in list(hooks.items()):
                args, kwargs = _after_pre_hook(self, hook, args, kwargs, key in takes_kwargs)
        gates = None
        kinds = (_back.values(), _hooks.backward_hooks_are_full), (self._backward_hooks.values(), self._is_full_backward_hook)
        full = [hook for hooks, whole in kinds if whole is True for hook in hooks]
        before = [*_back_pre.values(), *self._backward_pre_hooks.values()]
        if full or before:
            gates = _hooks.BackwardGates(self, full, before)
            args = gates.inputs(args)
        result = self.forward(*args, **kwargs)
        for key, hook, takes_kwargs in self._all_forward_hooks():
            called.add(key)
            replaced = hook(self, args, kwargs, result) if takes_kwargs else hook(self, args, result)
            if replaced is not None:
                result = replaced
        old = [hook for hooks, whole in kinds if whole is False for hook in hooks]
        if gates is not None:
            result = gates.outputs(result)
        if old:
            _hooks.hook_last_operation(self, args, result, old)
        return result

    def _all_forward_hooks(self) -> list[tuple]:
        everywhere = [(k, h, k in _hooks.forward_hooks_with_kwargs) for k, h in _post.items()]
        return everywhere + [(k, h, k in self._forward_hooks_with_kwargs) for k, h in self._forward_hooks.items()]

    def _call_always(self, args: tuple, kwargs: dict, called: set) -> None:
        """Forward failed: run the hooks that asked to be called even so, and that have not been."""
        for key, hook, takes_kwargs in self._all_forward_hooks():
            always = key in self._forward_hooks_always_called or key in _hooks.forward_hooks_always_called
            if not always or key in called:
                continue
            try:
                hook(self, args, kwargs, None) if takes_kwargs else hook(self, args, None)
            except Exception as error:
                warnings.warn(f"forward hook with always_call=True raised {error!r} after forward had failed", stacklevel=2)


def _after_pre_hook(module: Any, hook: Any, args: tuple, kwargs: dict, takes_kwargs: bool) -> tuple[tuple, dict]:
    if takes_kwargs:
        result = hook(module, args, kwargs)
        if result is None:
            return args, kwargs
        if isinstance(result, tuple) and len(result) == 2:
            return result
        raise RuntimeError(f"forward pre-hook: must return None or a tuple of (args, kwargs), got {result!r}")
    result = hook(module, args)
    if result is None:
        return args, kwargs
    return result if isinstance(result, tuple) else (result,), kwargs
