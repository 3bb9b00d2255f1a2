"""facula.optim: optimizers and learning rate schedules."""

from __future__ import annotations

import sys
from typing import Any

from . import adafactor, adam, adam_variants, adaptive, lr_scheduler, muon, rprop
from ._stateless import swap_in_optimizer_params_and_state
from .adafactor import Adafactor
from .adam import Adam, AdamW
from .adam_variants import Adamax, NAdam, RAdam
from .adaptive import Adadelta, Adagrad, RMSprop
from .lbfgs import LBFGS
from .muon import Muon
from .optimizer import Optimizer
from .rprop import ASGD, Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler",
    "swa_utils", "swap_in_optimizer_params_and_state",
]  # fmt: skip

# the paths of PyTorch, which has one file for each
for _path, _home in {
    "adamw": adam, "adamax": adam_variants, "nadam": adam_variants, "radam": adam_variants, "adadelta": adaptive,
    "adagrad": adaptive, "rmsprop": adaptive, "asgd": rprop, "_adafactor": adafactor, "_muon": muon,
}.items():  # fmt: skip
    sys.modules[f"{__name__}.{_path}"] = _home


def __getattr__(name: str) -> Any:
    if name == "swa_utils":  # needs facula-nn: loaded at first use
        from importlib import import_module

        return import_module(".swa_utils", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
