"""torch.__future__: how Module.to and its like change parameters. Here they are changed in place; the switches say so."""

from __future__ import annotations


def get_overwrite_module_params_on_conversion() -> bool:
    """Are parameters replaced rather than changed in place? Never."""
    return False


def get_swap_module_params_on_conversion() -> bool:
    """Are they swapped? Never."""
    return False
