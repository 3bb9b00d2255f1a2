"""Operators of vision: boxes, regions of interest, losses of detection, layers that models share."""

from . import boxes, losses, misc, pooling
from .boxes import *
from .losses import *
from .misc import *
from .pooling import *

__all__ = sorted([*boxes.__all__, *losses.__all__, *misc.__all__, *pooling.__all__])
