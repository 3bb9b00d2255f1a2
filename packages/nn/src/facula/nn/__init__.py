"""facula.nn: modules, parameters, losses, initial values."""

from __future__ import annotations

from . import functional, init, parameter
from .activation import *  # noqa: F403
from .containers import *  # noqa: F403
from .distance import *  # noqa: F403
from .dropout import *  # noqa: F403
from .flatten import *  # noqa: F403
from .linear import *  # noqa: F403
from .loss import *  # noqa: F403
from .module import Module
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from .parameter_containers import *  # noqa: F403

__all__ = [name for name in dir() if not name.startswith("_") and name != "annotations"]
