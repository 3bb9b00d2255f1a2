"""torch.SymInt and its kin: sizes that a symbolic tracer has not fixed. Programs ask whether a value is one; none is."""

from __future__ import annotations

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
