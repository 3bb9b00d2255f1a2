"""torch.cpu: the one device that there is, asked as if it were an accelerator."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """Yes."""
    return True


is_initialized = is_available


def device_count() -> int:
    """One."""
    return 1


def current_device() -> str:
    return "cpu"


def set_device(device: Any) -> None:
    """Chooses the device; there is one."""


def synchronize(device: Any = None) -> None:
    """Waits until what was begun is done: it is, when a call returns."""
