"""torch.accelerator and torch.xpu where there is none."""

from __future__ import annotations


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None: there is no accelerator."""


def manual_seed(seed: int) -> None:
    """Seeds the current device; there is none."""
    int(seed)


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Frees cached device memory; there is none."""
