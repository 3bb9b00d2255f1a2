"""Networks for pictures, untrained; torchvision's names, keys of state_dict and initialisation."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch
from types import ModuleType

from . import alexnet as _alexnet
from . import densenet as _densenet
from . import googlenet as _googlenet
from . import inception as _inception
from . import mobilenetv2 as _mobilenetv2
from . import mobilenetv3 as _mobilenetv3
from . import resnet as _resnet
from . import small as _small
from . import squeezenet as _squeezenet
from . import vgg as _vgg
from ._weights import ENUMS as _ENUMS
from ._weights import WeightsEnum

_MODULES = (_resnet, _vgg, _alexnet, _squeezenet, _densenet, _googlenet, _inception, _mobilenetv2, _mobilenetv3, _small)
_BLOCKS = ("BasicBlock", "Bottleneck")
__all__ = sorted({n for m in _MODULES for n in m.__all__ if n not in _BLOCKS} | {"WeightsEnum", "get_model", "list_models", *_ENUMS})
globals().update(_ENUMS)
globals().update({n: getattr(m, n) for m in _MODULES for n in m.__all__ if n not in _BLOCKS})


def list_models(module: ModuleType | None = None, include: str | Iterable[str] | None = None, exclude: str | Iterable[str] | None = None) -> list[str]:
    """The names that get_model knows, sorted: those of this module, or of the one given, that fit a pattern such as "resnet*"."""
    fits = lambda name, patterns: any(fnmatch(name, p) for p in ([patterns] if isinstance(patterns, str) else patterns))
    names = [n for n in __all__ if n.islower() and n not in ("get_model", "list_models") and (module is None or globals()[n] is getattr(module, n, None))]
    return sorted(n for n in names if (not include or fits(n, include)) and not (exclude and fits(n, exclude)))


def get_model(name: str, **config):
    """The network of that name; config goes to its builder."""
    if name not in list_models():
        raise ValueError(f"Unknown model {name}. Known: {', '.join(list_models())}")
    return globals()[name](**config)
