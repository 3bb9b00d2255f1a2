"""facula.optim: optimizers and learning rate schedules."""

from __future__ import annotations

from .adam import Adam, AdamW
from .adam_variants import Adamax, NAdam, RAdam
from .adaptive import Adadelta, Adagrad, RMSprop
from .optimizer import Optimizer
from .rprop import ASGD, Rprop
from .sgd import SGD

__all__ = [name for name in dir() if name[0].isupper()]
