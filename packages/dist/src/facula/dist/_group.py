"""The process group: made once, asked for by everything else."""

from __future__ import annotations

import datetime
import importlib.util

from ._engines import MPIEngine, SingleEngine
from ._rendezvous import rendezvous

__all__ = [
    "Backend",
    "GroupMember",
    "ProcessGroup",
    "destroy_process_group",
    "get_backend",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "is_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "new_group",
]


class Backend(str):
    """A backend's name, in lower case."""

    GLOO = "gloo"
    MPI = "mpi"
    # names that programs ask for; no group is made with them
    NCCL = "nccl"
    UCC = "ucc"
    XCCL = "xccl"
    UNDEFINED = "undefined"

    def __new__(cls, name: str):
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """Some processes and the engine that moves bytes among them."""

    def __init__(self, backend: str, engine) -> None:
        self.backend = backend
        self.engine = engine

    def rank(self) -> int:
        return self.engine.rank

    def size(self) -> int:
        return self.engine.size

    def __repr__(self) -> str:
        return f"ProcessGroup(backend={self.backend}, rank={self.rank()}, size={self.size()})"


class _Members(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        return _world


class group(metaclass=_Members):
    """group.WORLD is the default process group, None before it is made."""


class GroupMember(metaclass=_Members):
    """GroupMember.WORLD is the default process group, None before it is made."""

    NON_GROUP_MEMBER = -100


_world: ProcessGroup | None = None


def is_available() -> bool:
    return True


def is_mpi_available() -> bool:
    """Whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def is_gloo_available() -> bool:
    """False: as backend "gloo" there is a world of one process alone."""
    return False


def is_nccl_available() -> bool:
    return False


def is_initialized() -> bool:
    return _world is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: datetime.timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
) -> None:
    """Makes the default process group.

    backend: "mpi" is every process that mpirun started, through mpi4py; it takes rank and size from MPI.
        "gloo" (the default) is a world of one process.
    init_method: "env://" (the default, from RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), "tcp://host:port" or
        "file:///path", where rank and world_size say who is there.
    timeout: how long others may take to arrive; a world of one waits for nobody, MPI waits for all.

    Raises ValueError if a group is there already or the method does not tell the rank, RuntimeError if the
    backend cannot serve that many processes.
    """
    global _world
    if _world is not None:
        raise ValueError(
            f"init_process_group: trying to initialize the default process group twice, it is {_world}. "
            "Call destroy_process_group first."
        )
    if timeout is not None and not isinstance(timeout, datetime.timedelta):
        raise TypeError(
            f"init_process_group: Expected timeout argument to be of type datetime.timedelta, got {timeout!r}. "
            "Write datetime.timedelta(seconds=...)."
        )
    name = Backend(backend or Backend.GLOO)
    if name == Backend.MPI:
        _world = ProcessGroup(name, _mpi_engine(rank, world_size))
        return
    if name != Backend.GLOO:
        raise ValueError(f"init_process_group: Unknown backend type {backend}. Use mpi, or gloo for one process.")
    rank, world_size = rendezvous(init_method or "env://", rank, world_size)
    if world_size != 1:
        raise RuntimeError(
            f"init_process_group: backend gloo serves a world of one process, this one has {world_size}. "
            "Use the mpi backend under mpirun."
        )
    _world = ProcessGroup(name, SingleEngine())


def _mpi_engine(rank: int, world_size: int) -> MPIEngine:
    engine = MPIEngine()
    for what, given, found in (("rank", rank, engine.rank), ("world_size", world_size, engine.size)):
        if given not in (-1, found):
            engine.close()
            raise RuntimeError(f"init_process_group: {what} is {given}, MPI says {found}. Leave it out with mpi.")
    return engine


def _group_of(given: ProcessGroup | None) -> ProcessGroup:
    found = given if given is not None else _world
    if found is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call init_process_group."
        )
    return found


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Ends the group (the default one if none is given)."""
    global _world
    found = _group_of(group)
    found.engine.close()
    if found is _world:
        _world = None


def get_rank(group: ProcessGroup | None = None) -> int:
    return _group_of(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    return _group_of(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    return _group_of(group).backend


def new_group(ranks: list[int] | None = None) -> ProcessGroup:
    """A group of all ranks, which is what `ranks` has to name."""
    world = _group_of(None)
    everyone = list(range(world.size()))
    if ranks is not None and sorted(ranks) != everyone:
        raise ValueError(f"new_group: ranks {ranks} of {everyone}. Name all of them; groups of some are not there yet.")
    engine = MPIEngine() if world.backend == Backend.MPI else SingleEngine()
    return ProcessGroup(world.backend, engine)
