"""torch._guards: what a compiler notes about the code it reads. There is none here, so nothing is noted."""

from __future__ import annotations

from typing import Any


def active_fake_mode() -> None:
    """The block at work whose tensors only pretend to have data."""


def detect_fake_mode(inputs: Any = None) -> None:
    """The same, of that block or of these tensors."""
