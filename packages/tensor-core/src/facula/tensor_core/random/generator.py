"""Random generators and their states: PyTorch's engine, seeds and state bytes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from facula.tensor_core import _tensor
from facula.tensor_core.functions.conjugate import resolved
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import device as Device
from facula.tensor_core._types import uint8

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state", "thread_safe_generator",
]  # fmt: skip

STATE_BYTES = 5056
DEFAULT_SEED = 67280421310721  # a Generator's before it is seeded, as PyTorch's


def _seed_bits(value: Any) -> int:
    """The 64 bits of a seed; a negative one counts back from 2**64."""
    value = int(value)
    if not -(2**63) <= value < 2**64:
        raise ValueError(f"manual_seed: Overflow when unpacking long long: the seed {value} does not fit 64 bits. Take one from 0 to 2**64 - 1.")
    return value % 2**64


class Generator:
    """A stream of random numbers (mt19937): same seed, same numbers as PyTorch's on the CPU.

    >>> import facula
    >>> g = facula.Generator().manual_seed(1)
    >>> facula.randint(0, 100, (3,), generator=g)
    tensor([45, 39, 24])
    """

    __slots__ = ("_g", "__weakref__")

    def __init__(self, device: Any = None) -> None:
        if device is not None and Device(device).type != "cpu":
            raise RuntimeError(f"Generator: there is no generator for {device}. Make it for the cpu.")
        self._g = lib.fc_generator_new(DEFAULT_SEED)
        if not self._g:
            raise MemoryError("Generator: out of memory")

    def __del__(self, free=lib.fc_generator_free) -> None:
        try:  # no contextlib: the interpreter may have taken it down already
            free(self._g)
        except AttributeError:
            pass

    @property
    def device(self) -> Device:
        return Device("cpu")

    def manual_seed(self, seed: int) -> Generator:
        """This generator, started again from `seed`."""
        if isinstance(seed, (bool, Tensor)) or not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        lib.fc_generator_seed(self._g, _seed_bits(seed))
        return self

    def seed(self) -> int:
        """A seed from the system's noise, which the generator has been started with."""
        value = int.from_bytes(os.urandom(8), "little") >> 11  # 53 bits: exact as a float, as PyTorch's
        lib.fc_generator_seed(self._g, value)
        return value

    def initial_seed(self) -> int:
        """The seed that it was started with."""
        return lib.fc_generator_initial_seed(self._g)

    def get_state(self) -> Tensor:
        """The state as a uint8 tensor of 5056 elements, in PyTorch's layout."""
        state = own_tensor(lib.fc_empty(uint8._id, 0, 1, [STATE_BYTES]))
        lib.fc_generator_get_state(self._g, lib.fc_data(state._h))
        return state

    def set_state(self, state: Tensor) -> Generator:
        """The generator, which continues from a state that get_state (PyTorch's too) gave."""
        if not isinstance(state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
        if state.dtype is not uint8:
            raise TypeError(f"set_state: expected a torch.ByteTensor, but got {state.dtype}. Pass what get_state gave.")
        if state.numel() != STATE_BYTES:
            raise RuntimeError(
                f"set_state: Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state size to be {state.numel()}. "
                "Pass what get_state gave."
            )
        state = resolved(state.detach()).contiguous()
        if lib.fc_generator_set_state(self._g, lib.fc_data(state._h)):
            raise RuntimeError("set_state: Invalid mt19937 state: its position lies outside of its words. Pass what get_state gave.")
        return self

    def get_offset(self) -> int:
        """RuntimeError: the offset is a number of a GPU's generator, mt19937 has none."""
        raise RuntimeError("get_offset: a CPU Generator does not use offset. Take get_state.")

    def set_offset(self, offset: int) -> None:
        """RuntimeError, as get_offset."""
        raise RuntimeError("set_offset: a CPU Generator does not use offset. Give a state to set_state.")

    def graphsafe_get_state(self) -> Generator:
        """NotImplementedError: a GPU's graphs share a state, those of the CPU have a stream each."""
        raise NotImplementedError("graphsafe_get_state: not supported in a CPU Generator. Take get_state.")

    def graphsafe_set_state(self, state: Generator) -> Generator:
        """NotImplementedError, as graphsafe_get_state."""
        raise NotImplementedError("graphsafe_set_state: not supported in a CPU Generator. Give a state to set_state.")

    def clone_state(self) -> Generator:
        """Another generator that continues from this one's state."""
        return Generator().set_state(self.get_state())

    def __reduce__(self) -> tuple:
        return _rebuild, (self.get_state(),)

    def __setstate__(self, state: tuple) -> None:
        """What PyTorch's pickles say: a seed, an offset and the state that holds both."""
        self.set_state(state[2])

    def __repr__(self) -> str:
        return f"<Generator seed={self.initial_seed()}>"


def _rebuild(state: Tensor) -> Generator:
    return Generator().set_state(state)


default_generator = Generator()
default_generator.seed()
_tensor.default_generator = default_generator  # where the generated functions look for it


def manual_seed(seed: int) -> Generator:
    """The default generator, started from `seed`. A negative seed counts back from 2**64.

    >>> import facula
    >>> facula.manual_seed(0) is facula.default_generator
    True
    """
    return default_generator.manual_seed(_seed_bits(seed))


def seed() -> int:
    """A seed from the system's noise, which the default generator has been started with.

    >>> facula.seed() == facula.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator.

    >>> _ = facula.manual_seed(5)
    >>> facula.initial_seed()
    5
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """State of the default generator: a uint8 tensor of 5056 elements, exchangeable with PyTorch's.

    >>> state = facula.get_rng_state()
    >>> a = facula.rand(2)
    >>> facula.set_rng_state(state)
    >>> bool((a == facula.rand(2)).all())
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Continue the default generator from a state.

    >>> state = facula.get_rng_state()
    >>> a = facula.rand(2)
    >>> facula.set_rng_state(state)
    >>> bool((a == facula.rand(2)).all())
    True
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Iterable | None = None, enabled: bool = True, _caller: str = "fork_rng", _devices_kw: str = "devices", device_type: str | None = None
) -> Iterator[None]:
    """Within the block, draws go on from here; after it, the default generator is as it was before.

    devices: accelerators whose generators are to be restored too; there are none on this build's devices.
    _caller, _devices_kw: what an error calls this function and its argument, for one that calls it.

    >>> _ = facula.manual_seed(0)
    >>> with facula.fork_rng():
    ...     a = facula.rand(2)
    >>> bool((a == facula.rand(2)).all())
    True
    """
    if devices is not None and (devices := list(devices)) and enabled:
        raise RuntimeError(f"{_caller}: {device_type or 'cuda'} has no generator here, but {_devices_kw} are {devices}. Pass {_devices_kw}=[].")
    if not enabled:
        yield
        return
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)


def thread_safe_generator() -> Generator | None:
    """The generator to draw from in code that data loaders may run in threads; None, the default one: its draws are safe in every thread.

    >>> import facula
    >>> facula.random.thread_safe_generator() is None
    True
    """
    return None
