"""Hooks: the handle that takes one out again, and what saving a tensor that has some says."""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections import OrderedDict
from typing import Any, Callable

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

_ids = itertools.count()


class RemovableHandle:
    """Takes one hook out again: `remove()`, or leaving a `with` block.

    hooks_dict: an OrderedDict, held weakly, to which the caller adds the hook under the handle's `id`.
    extra_dict: a dict, or several, out of which the id goes, too.

    >>> hooks = OrderedDict()
    >>> with RemovableHandle(hooks) as handle:
    ...     hooks[handle.id] = print
    >>> len(hooks)
    0
    """

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.id = next(_ids)
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        extra = () if extra_dict is None else (extra_dict,) if isinstance(extra_dict, dict) else extra_dict
        self.extra_dict_ref = tuple([weakref.ref(d) for d in extra])

    def remove(self) -> None:
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            home = ref()
            if home is not None:
                home.pop(self.id, None)

    def __getstate__(self) -> tuple:
        return self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state: tuple) -> None:
        hooks, self.id, extra = state
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extra)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def unserializable_hook(f: Callable) -> Callable:
    """Marks a hook that a saved tensor leaves behind: `warn_if_has_hooks` tells of it no more.

    >>> hook = facula.utils.hooks.unserializable_hook(lambda gradient: None)
    >>> x = facula.ones(1, requires_grad=True)
    >>> _ = x.register_hook(hook)
    >>> facula.utils.hooks.warn_if_has_hooks(x)
    """
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """A warning for each hook on the tensor that was not marked with unserializable_hook.

    >>> facula.utils.hooks.warn_if_has_hooks(facula.ones(1, requires_grad=True))
    """
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(f"backward hook {hook!r} on tensor will not be serialized. Mark it with @torch.utils.hooks.unserializable_hook.", stacklevel=2)
