"""Whether memory that a program does not set is the same in every run.

`fill_uninitialized_memory`, True unless a program sets it: while use_deterministic_algorithms(True) holds, `empty` and its kind,
and what `resize_` adds, are NaN, the largest integer or True.

>>> import facula
>>> facula.use_deterministic_algorithms(True)
>>> facula.empty(2)
tensor([nan, nan])
>>> facula.use_deterministic_algorithms(False)
"""

import sys
import types

from facula.tensor_core.functions import settings as _settings


class _Deterministic(types.ModuleType):
    """This module: its one name is a switch, not a value."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        return _settings.get_fill_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, wanted: bool) -> None:
        _settings.set_fill_uninitialized_memory(wanted)


sys.modules[__name__].__class__ = _Deterministic
