"""Deprecated orders of arguments that PyTorch still takes, as older optimizers use: add_(alpha, other), addcmul_(value, t1, t2), addmm(beta, m, a, b).

Facula's own functions do not take them. They are taken while `enabled()` lasts, by methods that look at the number of arguments first.
"""

from __future__ import annotations

import functools
import numbers
import warnings

import facula
from facula import Tensor

__all__ = ["accept", "refuse"]

_TENSORS = {
    **dict.fromkeys(("add", "sub"), 1),
    **dict.fromkeys(("addcmul", "addcdiv", "addmm", "addmv", "addr", "addbmm", "baddbmm", "sspaddmm"), 2),
}  # name -> how many tensors follow the first one
_FACTOR = {"add": "alpha", "sub": "alpha", "addcmul": "value", "addcdiv": "value"}  # the others have beta and alpha


def _told(name: str) -> None:
    warnings.warn(
        f"This overload of {name} is deprecated: numbers before the tensors. Give them by keyword, after the tensors.", UserWarning, stacklevel=4
    )


def _sorted(name: str, written: str, args: tuple, options: dict):
    """(tensors, options) of arguments with numbers among them; as they are where that is no form of the function."""
    count = _TENSORS[name]
    numbers_, tensors = args[: len(args) - count], args[len(args) - count :]
    words = (_FACTOR[name],) if name in _FACTOR else ("beta", "alpha")
    fits = len(numbers_) <= len(words) and all(isinstance(n, numbers.Number) for n in numbers_) and all(isinstance(t, Tensor) for t in tensors)
    if not fits or any(word in options for word in words):
        return args, options
    _told(written)
    return tensors, {**dict(zip(words, numbers_)), **options}


def _method(name: str, written: str, plain):
    count = _TENSORS[name]

    @functools.wraps(plain)
    def method(self, *args, **options):
        if len(args) > count:
            args, options = _sorted(name, written, args, options)
        return plain(self, *args, **options)

    return method


def _function(name: str):
    plain, count = getattr(facula, name), _TENSORS[name]

    @functools.wraps(plain)
    def function(*args, **options):
        if len(args) > count + 1:
            first = 0 if name in _FACTOR else 1  # beta comes before the first tensor, alpha and value after it
            if isinstance(args[first], Tensor):
                rest, options = _sorted(name, name, args[:first] + args[first + 1 :], options)
                args = (args[first], *rest)
        return plain(*args, **options)

    return function


def __getattr__(name: str):
    if name not in _TENSORS:
        raise AttributeError(name)
    return globals().setdefault(name, _function(name))


_plain: dict[str, object] = {}


def accept() -> None:
    """Let the methods of tensors take these forms."""
    for name in _TENSORS:
        for written in (name, name + "_"):
            if (plain := getattr(Tensor, written, None)) is not None:
                _plain[written] = plain
                setattr(Tensor, written, _method(name, written, plain))


def refuse() -> None:
    """The methods as they were."""
    for written, plain in _plain.items():
        setattr(Tensor, written, plain)
    _plain.clear()
