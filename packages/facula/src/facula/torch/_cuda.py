"""torch.cuda where there is no GPU: the questions programs ask first, and what PyTorch raises for the rest."""

from __future__ import annotations

import contextlib


class OutOfMemoryError(RuntimeError):
    """Too little memory on a device. Nothing here raises it."""


def is_available() -> bool:
    return False


def is_initialized() -> bool:
    return False


_queued_calls: list = []


def _lazy_call(callable, **kwargs) -> None:
    """Keep what is to be called when CUDA is initialised; without a device that does not come."""
    _queued_calls.append((callable, kwargs))


def device_count() -> int:
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return False


def manual_seed(seed: int) -> None:
    """Seeds the current device; there is none, as on PyTorch's CPU build."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seeds all devices; there are none."""
    int(seed)


def empty_cache() -> None:
    """Frees cached device memory; there is none."""


def memory_allocated(device=None) -> int:
    """0: nothing lies on a device."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def reset_peak_memory_stats(device=None) -> None:
    """Forgets the peak; there is none."""


reset_max_memory_allocated = reset_peak_memory_stats


def get_rng_state_all() -> list:
    """The generators' states of all devices; there are none."""
    return []


_initialized = False  # no device was ever asked for


class stream(contextlib.nullcontext):
    """A block whose work goes to a stream: without a device there is none, so it changes nothing."""

    def __init__(self, stream: None = None) -> None:
        if stream is not None:
            raise RuntimeError(f"torch.cuda.stream: expected a stream or None, got {stream!r}. Without a device there are none: pass None.")
        super().__init__()


def is_current_stream_capturing() -> bool:
    return False


class _TypeOfNone(type):
    """Metaclass of FloatTensor and its like: no tensor is one, none can be made."""

    def __instancecheck__(cls, thing: object) -> bool:
        return False

    def __call__(cls, *data, **options):
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled. Use torch.{cls.__name__}.")


for _kind in "BFloat16 Bool Byte Char Double Float Half Int Long Short".split():
    globals()[f"{_kind}Tensor"] = _TypeOfNone(f"{_kind}Tensor", (), {"__module__": "torch.cuda"})


def _no_device(name: str):
    def refuse(*args, **kwargs):
        # AssertionError is what PyTorch's CPU build raises.
        raise AssertionError(
            f"torch.cuda.{name}: no CUDA device, Torch not compiled with CUDA enabled. Ask torch.cuda.is_available() first."
        )

    refuse.__name__ = name
    return refuse


current_device = _no_device("current_device")
get_device_name = _no_device("get_device_name")
get_device_properties = _no_device("get_device_properties")
get_device_capability = _no_device("get_device_capability")
set_device = _no_device("set_device")
synchronize = _no_device("synchronize")
