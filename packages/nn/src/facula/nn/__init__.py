"""facula.nn: modules, parameters, losses, initial values."""

from __future__ import annotations

from . import functional, init, parameter
from .activation import *
from .adaptive import *
from .attention import *
from .containers import *
from .conv import *
from .distance import *
from .dropout import *
from .embedding import *
from .flatten import *
from .lazy import *
from .linear import *
from .loss import *
from .module import Module
from .normalization import *
from .padding import *
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from .parameter_containers import *
from .pooling import *
from .rnn import *
from .transformer import *
from .vision import *
from . import utils

__all__ = [name for name in dir() if name[0].isupper()] + ["functional", "init", "parameter", "utils"]
