"""Networks for pictures, untrained; torchvision's names, keys of state_dict and initialisation."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from fnmatch import fnmatch
from types import ModuleType

from ._weights import KINDS as _KINDS
from ._weights import WeightsEnum, get_model_weights, get_weight
from .alexnet import *
from .convnext import *
from .densenet import *
from .efficientnet import *
from .googlenet import *
from .inception import *
from .maxvit import *
from .mnasnet import *
from .mobilenetv2 import *
from .mobilenetv3 import *
from .regnet import *
from .resnet import *
from .shufflenetv2 import *
from .small import *
from .squeezenet import *
from .swin_transformer import *
from .vgg import *
from .vision_transformer import *

globals().update(_KINDS["classification"])
_PARTS = ("detection", "segmentation", "video")


def _builders(module: ModuleType) -> dict[str, Callable]:
    return {n: value for n in module.__all__ if n.islower() and n[:4] != "get_" and callable(value := getattr(module, n)) and n != "list_models"}


def _all() -> dict[str, Callable]:
    """Every builder by its name, those of the subpackages too."""
    found = _builders(sys.modules[__name__])
    for part in _PARTS:
        found |= _builders(importlib.import_module(f"{__name__}.{part}"))
    return found


def list_models(module: ModuleType | None = None, include: str | Iterable[str] | None = None, exclude: str | Iterable[str] | None = None) -> list[str]:
    """The names that get_model knows, sorted: all, or those of one module, that fit a pattern such as "resnet*".

    >>> facula.vision.models.list_models(include="mobilenet*")
    ['mobilenet_v2', 'mobilenet_v3_large', 'mobilenet_v3_small']
    """
    fits = lambda name, patterns: any(fnmatch(name, p) for p in ([patterns] if isinstance(patterns, str) else patterns))
    names = [n for n, builder in _all().items() if module is None or builder is getattr(module, n, None)]
    return sorted(n for n in names if (not include or fits(n, include)) and not (exclude and fits(n, exclude)))


def get_model_builder(name: str) -> Callable:
    """The function that makes the network of that name.

    >>> facula.vision.models.get_model_builder("resnet18") is facula.vision.models.resnet18
    True
    """
    known = _all()
    if name.lower() not in known:
        raise ValueError(f"Unknown model {name}. Known: {', '.join(sorted(known))}")
    return known[name.lower()]


def get_model(name: str, **config):
    """The network of that name; config goes to its builder.

    >>> facula.vision.models.get_model("mlp", num_classes=3)(facula.ones(2, 64)).shape
    torch.Size([2, 3])
    """
    return get_model_builder(name)(**config)


def __getattr__(name: str):
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = sorted(n for n, value in globals().items() if n[0] != "_" and getattr(value, "__module__", "").startswith(__name__))
