"""torch._subclasses: tensors that only pretend to have data. Facula has none; its meta tensors say so by their device."""

from __future__ import annotations

from typing import Any


def is_fake(x: Any) -> bool:
    """Does x pretend to have data? Nothing here does."""
    return False
