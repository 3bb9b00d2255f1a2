"""Hooks around step, and around saving and loading an optimizer's state."""

from __future__ import annotations

import functools
import itertools
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Callable

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

_ids = itertools.count()
_step_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_step_post_hooks: OrderedDict[int, Callable] = OrderedDict()


class Handle:
    """Takes one hook out again: `remove()`, or leaving a `with` block."""

    def __init__(self, hooks: OrderedDict, hook: Callable, prepend: bool = False) -> None:
        self.id, self._hooks = next(_ids), hooks
        hooks[self.id] = hook
        if prepend:
            hooks.move_to_end(self.id, last=False)

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_optimizer_step_pre_hook(hook: Callable) -> Handle:
    """Run `hook(optimizer, args, kwargs)` before every step of every optimizer."""
    return Handle(_step_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable) -> Handle:
    """Run `hook(optimizer, args, kwargs)` after every step of every optimizer."""
    return Handle(_step_post_hooks, hook)


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
