"""What a module passes on to the functions that make its tensors."""

from __future__ import annotations

from typing import Any

_NAMES = ("device", "dtype", "memory_format")


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """The keyword arguments for facula.empty and its like among kwargs: device, dtype, memory_format, and those under "factory_kwargs".

    Raises TypeError for other names, and for one that is given both ways.

    >>> from facula import nn
    >>> nn.factory_kwargs({"dtype": "float64", "factory_kwargs": {"device": "cpu"}})
    {'device': 'cpu', 'dtype': 'float64'}
    """
    if kwargs is None:
        return {}
    if unknown := sorted(kwargs.keys() - {*_NAMES, "factory_kwargs"}):
        raise TypeError(f"factory_kwargs: unexpected kwargs {', '.join(unknown)}. Only {', '.join(_NAMES)} and factory_kwargs are known.")
    found = dict(kwargs.get("factory_kwargs", {}))
    for name in _NAMES:
        if name in kwargs:
            if name in found:
                raise TypeError(f"factory_kwargs: {name} specified twice, as {kwargs[name]!r} and in factory_kwargs as {found[name]!r}. Give one.")
            found[name] = kwargs[name]
    return found
