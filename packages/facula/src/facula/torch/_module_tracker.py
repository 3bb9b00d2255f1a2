"""torch.utils.module_tracker: which modules are at work, forward and backward, by their names."""

from __future__ import annotations

import logging
import weakref
from typing import Any, Callable

import facula
from facula.autograd._engine import current, queue_callback
from facula.autograd.graph import register_multi_grad_hook
from facula.nn._hooks import register_module_forward_hook, register_module_forward_pre_hook
from facula.utils import _pytree

__all__ = ["ModuleTracker"]

_log = logging.getLogger(__name__)


class ModuleTracker:
    """with ModuleTracker() as tracker: inside, `parents` has the names of the modules at work, "Global" always among them.

    A name is the class of the module that was called first, and the way from there: "Net.layers.0".
    Backward enters a module when the gradients of its result are known, and leaves it when those of its inputs are.
    """

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._named: weakref.WeakSet = weakref.WeakSet()  # those whose children have names too
        self._hooks: list = []
        self._ends = False  # is the end of this backward waited for?

    @property
    def is_bw(self) -> bool:
        """Is a backward running?"""
        return current.task is not None

    def __enter__(self) -> ModuleTracker:
        self._handles = register_module_forward_pre_hook(self._before), register_module_forward_hook(self._after)
        return self

    def __exit__(self, *error: object) -> None:
        for handle in (*self._handles, *self._hooks):
            handle.remove()
        self._hooks.clear()

    def _name_of(self, module: Any) -> str:
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._named:
            self._named.add(module)
            for key, child in module.named_children():
                self._names[child] = f"{name}.{key}"
                self._name_of(child)
        return name

    def _before(self, module: Any, args: Any) -> None:
        name = self._name_of(module)
        self._enter(name, "forward")
        self._when_known(args, lambda _: self._leave(name, "backward"))

    def _after(self, module: Any, args: Any, result: Any) -> None:
        name = self._name_of(module)
        self._leave(name, "forward")
        self._when_known(result, lambda _: self._enter(name, "backward"))

    def _when_known(self, tree: Any, act: Callable) -> None:
        tensors = [t for t in _pytree.tree_leaves(tree) if isinstance(t, facula.Tensor) and t.requires_grad]
        if tensors:
            self._hooks.append(register_multi_grad_hook(tensors, act))

    def _enter(self, name: str, during: str) -> None:
        if during == "backward" and not self._ends:
            self._ends = True
            queue_callback(self._over)
        if name in self.parents:
            _log.info("The module hierarchy tracking seems to be broken as this Module was already entered. %s during %s", name, during)
        self.parents.add(name)

    def _leave(self, name: str, during: str) -> None:
        if name not in self.parents:
            _log.info("The Module hierarchy tracking is confused as we're exiting a Module that was never entered. %s during %s", name, during)
        self.parents.discard(name)

    def _over(self) -> None:
        self.parents, self._ends = {"Global"}, False
