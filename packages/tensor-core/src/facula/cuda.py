"""Questions about CUDA devices, of which this build has none: it says so, and refuses what needs one as PyTorch's CPU build does."""

import contextlib

has_half = has_magma = False


def is_available():
    """Is there a CUDA device to compute on?"""
    return False


def is_initialized():
    """Was a CUDA device used?"""
    return False


def is_bf16_supported(including_emulation=True):
    """Does the device compute in bfloat16?"""
    return False


def device_count():
    """How many CUDA devices there are."""
    return 0


def manual_seed(seed):
    """Seeds the current device's generator; there is none."""
    int(seed)


def manual_seed_all(seed):
    """Seeds every device's generator; there are none."""
    int(seed)


def empty_cache():
    """Gives cached device memory back; there is none."""


def memory_allocated(device=None):
    """Bytes in use on a device: none."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def memory_stats(device=None):
    """The allocator's statistics: of no device, none."""
    return {}


def reset_peak_memory_stats(device=None):
    """Forgets the peak; there is none."""


def get_rng_state_all():
    """The generators' states of all devices: none."""
    return []


def set_rng_state_all(new_states):
    """Sets them; there are none to set."""
    if list(new_states):
        _refuse("set_rng_state_all")


def get_arch_list():
    """The architectures that kernels were compiled for: none."""
    return []


def ipc_collect():
    """Frees memory of other processes that ended; there is none."""


def current_stream(device=None):
    """The stream in use. Raises AssertionError: there is no device."""
    _refuse("current_stream")


def _refuse(name):
    raise AssertionError(f"Torch not compiled with CUDA enabled: cuda.{name} needs a CUDA device and there is none. Ask cuda.is_available() first.")


def _needs(name):
    def refuse(*arguments, **options):
        _refuse(name)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises AssertionError: there is no CUDA device."
    return refuse


current_device, set_device, synchronize, init = map(_needs, ("current_device", "set_device", "synchronize", "init"))
get_device_name, get_device_properties, get_device_capability = map(_needs, ("get_device_name", "get_device_properties", "get_device_capability"))
get_rng_state, set_rng_state, initial_seed, seed, seed_all = map(_needs, ("get_rng_state", "set_rng_state", "initial_seed", "seed", "seed_all"))
mem_get_info, utilization, default_stream, set_stream = map(_needs, ("mem_get_info", "utilization", "default_stream", "set_stream"))


class device(contextlib.AbstractContextManager):
    """A block on a CUDA device. None or a negative index leaves everything as it is; others raise AssertionError."""

    def __init__(self, device):
        from facula.tensor_core._types import device as Device

        if isinstance(device, (str, Device)):
            place = Device(device)
            device = (place.index or 0) if place.type == "cuda" else -1
        self.idx = -1 if device is None else int(device)

    def __enter__(self):
        if self.idx >= 0:
            _refuse("device")
        return self

    def __exit__(self, *error):
        return None


OutOfMemoryError = type("OutOfMemoryError", (RuntimeError,), {"__doc__": "A device's memory is used up."})
