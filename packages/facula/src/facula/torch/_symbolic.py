"""torch.SymInt and its kin: sizes that a symbolic tracer has not fixed. Programs ask whether a value is one; none is. Functions of them work on numbers."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any


class _Symbolic:
    def __init__(self, *args: Any) -> None:
        raise RuntimeError(f"torch.{type(self).__name__}: Facula has no symbolic tracer. Sizes are int, float and bool.")


class SymInt(_Symbolic):
    """An int that is not known yet."""


class SymFloat(_Symbolic):
    """A float that is not known yet."""


class SymBool(_Symbolic):
    """A bool that is not known yet."""


def sym_int(a: Any) -> int:
    """a as an int, towards zero."""
    return builtins.int(a)


def sym_float(a: Any) -> float:
    """a as a float."""
    return builtins.float(a)


def sym_not(a: Any) -> bool:
    """Not a."""
    return not a


def _both_numbers(name: str, a: Any, b: Any) -> None:
    for number in (a, b):
        if not isinstance(number, (int, float)):
            raise AssertionError(f"{name}: expected int or float, but got {type(number)}. Give numbers.")


def sym_max(a: float, b: float) -> float:
    """The larger number, a float if one of them is."""
    _both_numbers("sym_max", a, b)
    return builtins.float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a: float, b: float) -> float:
    """The smaller number, a float if one of them is."""
    _both_numbers("sym_min", a, b)
    return builtins.float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """t if b else f, both of one type."""
    if not isinstance(b, bool):
        raise AssertionError(f"sym_ite: expected bool, but got {type(b)}. Compare first.")
    if type(t) is not type(f):
        raise AssertionError(f"sym_ite: type mismatch: {type(t)} vs {type(f)}. Convert one.")
    return t if b else f


def sym_sum(*args: Any) -> Any:
    """The sum of numbers, or of one list of them."""
    numbers: Iterable[Any] = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    return sum(numbers)
