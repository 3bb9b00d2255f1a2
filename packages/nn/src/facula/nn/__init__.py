"""facula.nn: modules, parameters, losses, initial values."""

from __future__ import annotations

from . import attention, functional, init, parameter
from .activation import *
from .adaptive import *
from .multihead import *
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
from ._factory import factory_kwargs
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from .parameter_containers import *
from .parallel import DataParallel
from .pooling import *
from .rnn import *
from ._softmax import *
from .syncbatchnorm import SyncBatchNorm
from .transformer import *
from .vision import *
from . import parallel, utils

__all__ = [name for name in dir() if name[0].isupper()] + ["attention", "factory_kwargs", "functional", "init", "parallel", "parameter", "utils"]


def __getattr__(name: str) -> object:
    if name in ("common_types", "grad", "modules", "summary"):  # asked for by few programs: loaded when they ask
        import importlib

        loaded = importlib.import_module("facula.nn._summary" if name == "summary" else f"{__name__}.{name}")
        return loaded.summary if name == "summary" else loaded
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
