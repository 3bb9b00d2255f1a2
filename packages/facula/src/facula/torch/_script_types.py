"""What a compiled function does with its arguments: they become what its annotations say, or it refuses them."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from typing import Any

from facula import Tensor

Fit = Callable[[Any], Any]


class Unfit(Exception):
    """The value is of another kind."""


def fit(kind: Any) -> Fit | None:
    """What makes a value one of that kind, or raises Unfit. None where a script takes what comes."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    outer, inner = typing.get_origin(kind), typing.get_args(kind)
    if outer in (typing.Union, types.UnionType):
        others = [one for one in inner if one is not type(None)]
        return _optional(fit(others[0])) if len(others) == 1 else None
    fits = [fit(one) for one in inner]
    if None in fits or outer not in _HOLDING:
        return None
    return _HOLDING[outer](*fits)


def name(kind: Any) -> str:
    """The kind as refusals name it."""
    return kind.__name__ if isinstance(kind, type) and not typing.get_args(kind) else str(kind).replace("typing.", "")


def _number(kind: type, *asked: str, never: type | tuple = ()) -> Fit:
    def convert(value: Any) -> Any:
        if isinstance(value, Tensor):
            if value.numel() != 1:
                raise Unfit
            value = value.item()
        elif isinstance(value, never) or not any(hasattr(type(value), method) for method in asked):
            raise Unfit
        return kind(value)

    return convert


def _is(kind: type) -> Fit:
    def convert(value: Any) -> Any:
        if not isinstance(value, kind):
            raise Unfit
        return value

    return convert


def _truth(value: Any) -> bool:
    if value is not None and not hasattr(type(value), "__bool__"):
        raise Unfit
    return bool(value)


def _optional(inner: Fit | None) -> Fit | None:
    return inner and (lambda value: None if value is None else inner(value))


def _list(one: Fit) -> Fit:
    def convert(value: Any) -> list:
        if not isinstance(value, (list, tuple)):
            raise Unfit
        return [one(item) for item in value]

    return convert


def _tuple(*fits: Fit) -> Fit:
    def convert(value: Any) -> tuple:
        try:
            items = tuple(value)
        except TypeError:
            raise Unfit from None
        if len(items) != len(fits):
            raise Unfit
        return tuple(one(item) for one, item in zip(fits, items))

    return convert


def _dict(key: Fit, one: Fit) -> Fit:
    def convert(value: Any) -> dict:
        if not isinstance(value, dict):
            raise Unfit
        return {key(k): one(v) for k, v in value.items()}

    return convert


_PLAIN: dict[Any, Fit] = {
    float: _number(float, "__float__", "__index__"), int: _number(int, "__int__", "__index__", never=float), bool: _truth, str: _is(str), Tensor: _is(Tensor),
}  # fmt: skip
_HOLDING: dict[Any, Callable[..., Fit]] = {list: _list, tuple: _tuple, dict: _dict}
