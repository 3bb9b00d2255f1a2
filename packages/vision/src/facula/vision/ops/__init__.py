"""Operators of vision: boxes, regions of interest, losses of detection, layers that models share."""

from . import boxes, losses, misc, pooling, pyramid
from .boxes import *
from .losses import *
from .misc import *
from .pooling import *
from .pyramid import *

__all__ = sorted([*boxes.__all__, *losses.__all__, *misc.__all__, *pooling.__all__, *pyramid.__all__])
