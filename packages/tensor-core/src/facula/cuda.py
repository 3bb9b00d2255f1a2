"""Questions about CUDA devices, of which this build has none: it says so, and refuses what needs one as PyTorch's CPU build does."""

import contextlib

has_half = has_magma = False


def is_available():
    """Is there a CUDA device to compute on?

    >>> facula.cuda.is_available()
    False
    """
    return False


def is_initialized():
    """Was a CUDA device used?

    >>> facula.cuda.is_initialized()
    False
    """
    return False


def is_bf16_supported(including_emulation=True):
    """Does the device compute in bfloat16?

    >>> facula.cuda.is_bf16_supported()
    False
    """
    return False


def device_count():
    """How many CUDA devices there are.

    >>> facula.cuda.device_count()
    0
    """
    return 0


def manual_seed(seed):
    """Seeds the current device's generator; there is none.

    >>> facula.cuda.manual_seed(0)
    """
    int(seed)


def manual_seed_all(seed):
    """Seeds every device's generator; there are none.

    >>> facula.cuda.manual_seed_all(0)
    """
    int(seed)


def empty_cache():
    """Gives cached device memory back; there is none.

    >>> facula.cuda.empty_cache()
    """


def memory_allocated(device=None):
    """Bytes in use on a device: none.

    >>> facula.cuda.memory_allocated()
    0
    """
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_cached = max_memory_cached = memory_allocated
default_generators = ()


def memory_stats(device=None):
    """The allocator's statistics: of no device, none.

    >>> facula.cuda.memory_stats()
    {}
    """
    return {}


memory_stats_as_nested_dict = memory_stats


def host_memory_stats():
    """The statistics of the allocator of pinned memory: there is none.

    >>> facula.cuda.host_memory_stats()
    {}
    """
    return {}


host_memory_stats_as_nested_dict = host_memory_stats


def reset_peak_memory_stats(device=None):
    """Forgets the peak; there is none.

    >>> facula.cuda.reset_peak_memory_stats()
    """


reset_max_memory_allocated = reset_max_memory_cached = reset_accumulated_memory_stats = reset_peak_memory_stats


def reset_peak_host_memory_stats():
    """Forgets the peak of pinned memory; there is none.

    >>> facula.cuda.reset_peak_host_memory_stats()
    """


reset_accumulated_host_memory_stats = reset_peak_host_memory_stats


def caching_allocator_enable(value=True):
    """Whether device memory is kept for the next tensor; there is none to keep.

    >>> facula.cuda.caching_allocator_enable(False)
    """
    bool(value)


@contextlib.contextmanager
def caching_allocator_disabled():
    """A block in which device memory is given back at once; there is none.

    >>> with facula.cuda.caching_allocator_disabled():
    ...     print("within")
    within
    """
    yield


def is_tf32_supported():
    """Does the device multiply in TF32?

    >>> facula.cuda.is_tf32_supported()
    False
    """
    return False


def get_gencode_flags():
    """The flags that kernels were compiled with: none.

    >>> facula.cuda.get_gencode_flags()
    ''
    """
    return ""



def get_rng_state_all():
    """The generators' states of all devices: none.

    >>> facula.cuda.get_rng_state_all()
    []
    """
    return []


def set_rng_state_all(new_states):
    """Sets them; there are none to set.

    >>> facula.cuda.set_rng_state_all([])
    """
    if list(new_states):
        _refuse("set_rng_state_all")


def get_arch_list():
    """The architectures that kernels were compiled for: none.

    >>> facula.cuda.get_arch_list()
    []
    """
    return []


def ipc_collect():
    """Frees memory of other processes that ended; there is none.

    >>> facula.cuda.ipc_collect()
    """


def current_stream(device=None):
    """The stream in use. Raises AssertionError: there is no device.

    >>> try:
    ...     facula.cuda.current_stream()
    ... except AssertionError as error:
    ...     print(str(error).split(":")[0])
    Torch not compiled with CUDA enabled
    """
    _refuse("current_stream")


def _refuse(name):
    raise AssertionError(f"Torch not compiled with CUDA enabled: cuda.{name} needs a CUDA device and there is none. Ask cuda.is_available() first.")


def _needs(name):
    def refuse(*arguments, **options):
        _refuse(name)

    refuse.__name__ = refuse.__qualname__ = name
    shown = f"try:\n    ...     facula.cuda.{name}()\n    ... except AssertionError as error:\n    ...     print(str(error).split(':')[0])\n    Torch not compiled with CUDA enabled"
    refuse.__doc__ = f"Raises AssertionError: there is no CUDA device.\n\n    >>> {shown}\n    "
    return refuse


current_device, set_device, synchronize, init = map(_needs, ("current_device", "set_device", "synchronize", "init"))
get_device_name, get_device_properties, get_device_capability = map(_needs, ("get_device_name", "get_device_properties", "get_device_capability"))
get_rng_state, set_rng_state, initial_seed, seed, seed_all = map(_needs, ("get_rng_state", "set_rng_state", "initial_seed", "seed", "seed_all"))
mem_get_info, utilization, default_stream, set_stream = map(_needs, ("mem_get_info", "utilization", "default_stream", "set_stream"))

memory_summary, memory_snapshot, memory_usage, device_memory_used = map(_needs, ("memory_summary", "memory_snapshot", "memory_usage", "device_memory_used"))
get_per_process_memory_fraction, set_per_process_memory_fraction = map(_needs, ("get_per_process_memory_fraction", "set_per_process_memory_fraction"))
get_sync_debug_mode, set_sync_debug_mode, can_device_access_peer = map(_needs, ("get_sync_debug_mode", "set_sync_debug_mode", "can_device_access_peer"))
current_blas_handle, current_solver_handle, list_gpu_processes = map(_needs, ("current_blas_handle", "current_solver_handle", "list_gpu_processes"))
clock_rate, power_draw, temperature = map(_needs, ("clock_rate", "power_draw", "temperature"))


class device(contextlib.AbstractContextManager):
    """A block on a CUDA device. None or a negative index leaves everything as it is; others raise AssertionError.

    >>> with facula.cuda.device(None):
    ...     print("on the CPU")
    on the CPU
    """

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


class device_of(device):
    """A block on the device of a tensor: one on the CPU leaves everything as it is.

    >>> with facula.cuda.device_of(facula.ones(1)):
    ...     print("on the CPU")
    on the CPU
    """

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else -1)


from facula.tensor_core._errors import AcceleratorError, OutOfMemoryError  # noqa: E402, F401 - their older names
