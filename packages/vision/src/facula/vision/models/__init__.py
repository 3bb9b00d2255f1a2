"""Networks for pictures, untrained; torchvision's names, keys of state_dict and initialisation."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch
from types import ModuleType

from ._weights import ENUMS as _ENUMS
from ._weights import WeightsEnum
from .alexnet import *
from .convnext import *
from .densenet import *
from .efficientnet import *
from .googlenet import *
from .inception import *
from .mobilenetv2 import *
from .mobilenetv3 import *
from .resnet import *
from .small import *
from .squeezenet import *
from .vgg import *
from .vision_transformer import *

globals().update(_ENUMS)


def list_models(module: ModuleType | None = None, include: str | Iterable[str] | None = None, exclude: str | Iterable[str] | None = None) -> list[str]:
    """The names that get_model knows, sorted: those of this module, or of the one given, that fit a pattern such as "resnet*".

    >>> facula.vision.models.list_models(include="mobilenet*")
    ['mobilenet_v2', 'mobilenet_v3_large', 'mobilenet_v3_small']
    """
    fits = lambda name, patterns: any(fnmatch(name, p) for p in ([patterns] if isinstance(patterns, str) else patterns))
    names = [n for n in __all__ if n.islower() and n not in ("get_model", "list_models") and (module is None or globals()[n] is getattr(module, n, None))]
    return sorted(n for n in names if (not include or fits(n, include)) and not (exclude and fits(n, exclude)))


def get_model(name: str, **config):
    """The network of that name; config goes to its builder.

    >>> facula.vision.models.get_model("mlp", num_classes=3)(facula.ones(2, 64)).shape
    torch.Size([2, 3])
    """
    if name not in list_models():
        raise ValueError(f"Unknown model {name}. Known: {', '.join(list_models())}")
    return globals()[name](**config)


__all__ = sorted(n for n, value in globals().items() if n[0] != "_" and getattr(value, "__module__", "").startswith(__name__))
