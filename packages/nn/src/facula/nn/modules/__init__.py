"""facula.nn.modules: the paths by which PyTorch's programs import modules, such as `nn.modules.batchnorm._BatchNorm`.

Each path is a module made here from the files that hold its classes; the classes themselves are those of facula.nn.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from facula.nn import *

HOMES = {
    "activation": "activation multihead _softmax",
    "adaptive": "adaptive",
    "batchnorm": "normalization lazy syncbatchnorm",
    "channelshuffle": "vision",
    "container": "containers parameter_containers",
    "conv": "conv lazy",
    "distance": "distance",
    "dropout": "dropout",
    "flatten": "flatten",
    "fold": "vision",
    "instancenorm": "normalization lazy",
    "lazy": "lazy",
    "linear": "linear multihead lazy",
    "linear_cross_entropy_options": "functional._linear_cross_entropy",
    "loss": "loss",
    "module": "module",
    "normalization": "normalization",
    "padding": "padding",
    "pixelshuffle": "vision",
    "pooling": "pooling",
    "rnn": "rnn",
    "sparse": "embedding",
    "transformer": "transformer",
    "upsampling": "vision",
    "utils": "_sizes",
}


class _Registries(ModuleType):
    """nn.modules.module: a registry of hooks that a program replaces there takes the new one's entries, for calls look at it."""


def _registry(name: str) -> property:
    def replace(self: ModuleType, value: Any) -> None:
        entries, registry = dict(value), vars(self)[name]
        registry.clear()
        registry.update(entries)

    return property(lambda self: vars(self)[name], replace)


for _path, _homes in HOMES.items():
    _made = (_Registries if _path == "module" else ModuleType)(f"{__name__}.{_path}", f"What torch.nn.modules.{_path} holds.")
    for _home in _homes.split():
        _names = vars(importlib.import_module("facula.nn." + _home))
        _made.__dict__.update({k: v for k, v in _names.items() if not k.startswith("__") and not isinstance(v, ModuleType)})
    for _name in vars(_made) if _path == "module" else ():
        if _name.startswith("_global_"):
            setattr(_Registries, _name, _registry(_name))
    sys.modules[_made.__name__] = _made
    globals()[_path] = _made

from facula import nn as _nn  # noqa: E402 - the classes, once all paths are there

_is_module = lambda value: isinstance(value, type) and issubclass(value, _nn.Module)  # noqa: E731
__all__ = [n for n in _nn.__all__ if _is_module(getattr(_nn, n)) or n == "LinearCrossEntropyOptions"]
globals().update({n: getattr(_nn, n) for n in __all__})
