"""Facula: PyTorch's system in separately installable parts. This file ships with facula-tensor-core alone.

>>> import facula as torch
>>> torch.tensor([1.0, 2.0]) + 1
tensor([2., 3.])
"""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)
__version__ = "0.1.0"

from facula.tensor_core import _ownership
from facula.tensor_core.api import *  # noqa: F403
from facula.tensor_core.api import __all__ as _names


def __getattr__(name):
    if name == "__all__":  # of `from facula import *`: what is installed; parts themselves are imported by name, as PyTorch's are
        return [*{*_names, *_ownership.IN_PLACE}, *_ownership.installed_names()]
    found = _ownership.attribute(name)
    if name in _ownership.NAMES:
        globals()[name] = found  # torch.no_grad is asked for in every loop
    return found


def __dir__():
    return sorted({*globals(), *_names, *_ownership.MODULES, *_ownership.NAMES, *_ownership.IN_PLACE})
