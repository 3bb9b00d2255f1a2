"""What `torch.compile(module)` gives: a module around the one given, as in PyTorch, that runs it as it is.

Programs unwrap by `_orig_mod`, ask isinstance for OptimizedModule, and find "_orig_mod." before the keys of its state dict.
"""

from __future__ import annotations

from typing import Any

from facula.nn import Module

# Set on the wrapper; everything else a program sets is set on the module within.
_OWN = {"_orig_mod", "forward", "__dict__"}


class OptimizedModule(Module):
    """A module under torch.compile. What is not its own it asks of the module within, `_orig_mod`."""

    def __init__(self, mod: Module, *context: Any) -> None:
        super().__init__()
        self._orig_mod = mod

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._orig_mod(*args, **kwargs)

    def __len__(self) -> int:
        return len(self._orig_mod)

    @property
    def training(self) -> bool:
        return self._orig_mod.training

    @training.setter
    def training(self, value: bool) -> None:
        if "_orig_mod" in self.__dict__.get("_modules", ()):  # not yet while it is made
            self._orig_mod.training = value

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules", {})
        if "_orig_mod" not in modules:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} yet")
        within = modules["_orig_mod"]
        return within if name == "_orig_mod" else getattr(within, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN or name == "training" or "_orig_mod" not in self.__dict__.get("_modules", ()):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in _OWN:
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __reduce__(self) -> tuple:
        return type(self), (self._orig_mod,)
