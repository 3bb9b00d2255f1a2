"""Transforms of whole samples: pictures, videos, masks and boxes at once, each in its own way, by one draw."""

from ..autoaugment import AutoAugmentPolicy
from . import _augment, _auto_augment, _color, _container, _geometry, _misc, _transform, functional
from ._augment import *
from ._auto_augment import *
from ._color import *
from ._container import *
from ._geometry import *
from ._misc import *
from ._transform import *
from .functional import InterpolationMode

__all__ = [
    *_augment.__all__,
    *_auto_augment.__all__,
    *_color.__all__,
    *_container.__all__,
    *_geometry.__all__,
    *_misc.__all__,
    *_transform.__all__,
    "AutoAugmentPolicy",
    "InterpolationMode",
    "functional",
]
