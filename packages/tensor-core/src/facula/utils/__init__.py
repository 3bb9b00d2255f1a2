"""Utilities, each brought by the part that the ownership table names. This file ships with facula-tensor-core alone."""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)

from facula.tensor_core import _ownership


def __getattr__(name):
    return _ownership.attribute(name, "facula.utils", _ownership.UTILS, {})
