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


def _none(name: str):
    def refuse(*args, **kwargs):
        raise RuntimeError(f"torch.accelerator.{name}: Cannot access accelerator device when none is available. Ask is_available() first.")

    refuse.__name__ = name
    refuse.__doc__ = "Raises RuntimeError: there is no accelerator."
    return refuse


for _name in (
    "current_device_idx current_device_index current_stream empty_host_cache get_device_capability get_memory_info max_memory_allocated "
    "max_memory_reserved memory_allocated memory_reserved memory_stats reset_accumulated_memory_stats reset_peak_memory_stats "
    "set_device_idx set_device_index set_stream synchronize"
).split():
    globals()[_name] = _none(_name)
