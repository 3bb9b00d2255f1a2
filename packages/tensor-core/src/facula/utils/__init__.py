"""Utilities, each brought by the part that the ownership table names. This file ships with facula-tensor-core alone."""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)

from facula.tensor_core import _ownership


def set_module(obj, mod):
    """Say that obj belongs to a module of that name.

    >>> def double(x):
    ...     return 2 * x
    ...
    >>> facula.utils.set_module(double, "mine")
    >>> double.__module__
    'mine'
    """
    if not isinstance(mod, str):
        raise TypeError(f"set_module: the mod argument should be a string, not {type(mod).__name__}.")
    obj.__module__ = mod


def __getattr__(name):
    if name == "swap_tensors":
        from facula.tensor_core.memory.swap import swap_tensors

        return swap_tensors
    return _ownership.attribute(name, "facula.utils", _ownership.UTILS, {})
