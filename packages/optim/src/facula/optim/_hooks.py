"""Hooks around step, and around saving and loading an optimizer's state."""

from __future__ import annotations

import functools
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Callable

from facula.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    from .optimizer import Optimizer

NAMES = (  # of an optimizer's dicts
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)

_step_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_step_post_hooks: OrderedDict[int, Callable] = OrderedDict()


def register(hooks: OrderedDict, hook: Callable, prepend: bool = False) -> RemovableHandle:
    """Put `hook` into `hooks`, at the end or in front."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(optimizer, args, kwargs)` before every step of every optimizer.

    >>> from facula.optim.optimizer import register_optimizer_step_pre_hook
    >>> handle = register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: print("steps"))
    >>> facula.optim.SGD([facula.zeros(1, requires_grad=True)]).step()
    steps
    >>> handle.remove()
    """
    return register(_step_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(optimizer, args, kwargs)` after every step of every optimizer.

    >>> from facula.optim.optimizer import register_optimizer_step_post_hook
    >>> handle = register_optimizer_step_post_hook(lambda optimizer, args, kwargs: print("stepped"))
    >>> facula.optim.SGD([facula.zeros(1, requires_grad=True)]).step()
    stepped
    >>> handle.remove()
    """
    return register(_step_post_hooks, hook)


def with_hooks(step: Callable) -> Callable:
    """`step` between the hooks; 60 ns where there are none."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True  # a schedule warns when it steps before its optimizer
        pre, post = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        if not (pre or post or _step_pre_hooks or _step_post_hooks):
            return step(self, *args, **kwargs)
        args = (self, *args)  # as PyTorch's hooks see them
        for hook in (*_step_pre_hooks.values(), *pre.values()):
            replaced = hook(self, args, kwargs)
            if replaced is None:
                continue
            if not (isinstance(replaced, tuple) and len(replaced) == 2):
                raise RuntimeError(f"step pre-hook: must return None or a tuple of (new_args, new_kwargs), but got {replaced}.")
            args, kwargs = replaced
        result = step(*args, **kwargs)
        for hook in (*post.values(), *_step_post_hooks.values()):
            hook(self, args, kwargs)
        return result

    hooked.hooked = True
    return hooked
