"""The process group: made once, asked for by everything else."""

from __future__ import annotations

import datetime
import importlib.util
import itertools
import socket

from ._engines import MPIEngine, SingleEngine
from ._rendezvous import address, rendezvous
from ._store import PrefixStore, Store

__all__ = [
    "Backend",
    "GroupMember",
    "ProcessGroup",
    "destroy_process_group",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
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
    """A backend's name, in lower case.

    >>> facula.dist.Backend("GLOO")
    'gloo'
    """

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
    """Some processes and the engine that moves bytes among them.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.group.WORLD.size(), dist.group.WORLD.rank()
    (1, 0)
    >>> dist.destroy_process_group()
    """

    def __init__(self, backend: str, engine, store: Store | None = None) -> None:
        self.backend = backend
        self.engine = engine
        self.store = store  # where the processes met: a file's last user removes it, which is not before the group ends

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
    """group.WORLD is the default process group, None before it is made.

    >>> facula.dist.group.WORLD is None
    True
    """


class GroupMember(metaclass=_Members):
    """GroupMember.WORLD is the default process group, None before it is made.

    >>> facula.dist.GroupMember.WORLD is None
    True
    """

    NON_GROUP_MEMBER = -100


_world: ProcessGroup | None = None


def is_available() -> bool:
    """Whether processes can be joined here: always.

    >>> facula.dist.is_available()
    True
    """
    return True


def is_mpi_available() -> bool:
    """Whether mpi4py is installed.

    >>> facula.dist.is_mpi_available() in (True, False)
    True
    """
    return importlib.util.find_spec("mpi4py") is not None


def is_gloo_available() -> bool:
    """True: the backend of that name is here, over TCP.

    >>> facula.dist.is_gloo_available()
    True
    """
    return True


def is_nccl_available() -> bool:
    """Whether NCCL is there: it needs GPUs, and there are none.

    >>> facula.dist.is_nccl_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Whether init_process_group has been called, and destroy_process_group not since.

    >>> facula.dist.is_initialized()
    False
    """
    return _world is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: datetime.timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: None = None,
    device_id: object = None,
) -> None:
    """Makes the default process group.

    backend: "mpi" is every process that mpirun started, through mpi4py; it takes rank and size from MPI.
        "gloo" (the default) is processes that meet at an address and talk over TCP.
    init_method: "env://" (the default, from RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), "tcp://host:port" or
        "file:///path", where rank and world_size say who is there.
    store: where the processes tell one another the address instead; then rank and world_size must be given.
    timeout: how long others may take to arrive and to answer, 30 minutes by default; MPI waits for all.

    Raises ValueError if a group is there already or the method does not tell the rank, RuntimeError if the
    backend cannot serve that many processes.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_rank(), dist.get_world_size()
    (0, 1)
    >>> dist.destroy_process_group()
    """
    global _world
    if store is not None and (init_method is not None or rank < 0 or world_size < 1):
        raise ValueError(f"init_process_group: with a store, give rank and world_size and no init_method; got rank={rank}, world_size={world_size}, {init_method!r}.")
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
    parts = dict(p.split(":", 1) for p in (backend or "").split(",") if ":" in p)  # "cpu:gloo,cuda:nccl"
    name = Backend(parts.get("cpu", backend if not parts else None) or Backend.GLOO)
    if name == Backend.MPI:
        _world = ProcessGroup(name, _mpi_engine(rank, world_size))
        return
    if name != Backend.GLOO:
        raise ValueError(f"init_process_group: Unknown backend type {backend}. Use gloo or mpi.")
    if store is None:
        rank, world_size = rendezvous(init_method or "env://", rank, world_size)
    elif rank >= world_size:
        raise ValueError(f"init_process_group: rank {rank} in a world of {world_size}. Ranks go from 0 to world size - 1.")
    if world_size == 1:
        _world = ProcessGroup(name, SingleEngine(), store)
        return
    from ._mesh import Mesh
    from ._socket_engine import SocketEngine

    where = address(init_method or "env://") if store is None else _address_in(store, rank)
    mesh = Mesh(rank, world_size, where, 1800.0 if timeout is None else timeout.total_seconds())
    _world = ProcessGroup(name, SocketEngine(mesh, list(range(world_size))), store)


_meetings = itertools.count()


def _address_in(store: Store, rank: int) -> tuple[str, int]:
    """Where rank 0 listens, told by a store: on the store's own host, if it has one."""
    key = f"facula/meeting/{next(_meetings)}"
    if rank == 0:
        inner = store
        while isinstance(inner, PrefixStore):
            inner = inner.underlying_store
        host = getattr(inner, "host", "127.0.0.1")
        with socket.create_server((host, 0)) as door:  # closed again: the mesh listens there next
            port = door.getsockname()[1]
        store.set(key, f"{host} {port}")
    host, port = store.get(key).decode().split()
    return host, int(port)


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
    """Ends the group (the default one if none is given).

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.destroy_process_group()
    >>> dist.is_initialized()
    False
    """
    global _world
    found = _group_of(group)
    found.engine.close()
    if found is _world:
        _world = None


def get_rank(group: ProcessGroup | None = None) -> int:
    """This process's rank in the group, -1 where it is none of it.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_rank()
    0
    >>> dist.destroy_process_group()
    """
    return -1 if _rank_not_in_group(group) else _group_of(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many processes are in the group, -1 where this one is none of it.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_world_size()
    1
    >>> dist.destroy_process_group()
    """
    return -1 if _rank_not_in_group(group) else _group_of(group).size()


def _rank_not_in_group(group) -> bool:
    """Is this process none of the group's?"""
    return group is GroupMember.NON_GROUP_MEMBER


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name of the group's backend, "gloo" or "mpi"; by default that of all processes.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_backend()
    'gloo'
    >>> dist.destroy_process_group()
    """
    return _group_of(group).backend


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The ranks in the world of the group's processes.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_process_group_ranks(dist.group.WORLD)
    [0]
    >>> dist.destroy_process_group()
    """
    return list(_group_of(group).engine.ranks)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank in the world of the process that has group_rank in the group.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_global_rank(dist.group.WORLD, 0)
    0
    >>> dist.destroy_process_group()
    """
    ranks = get_process_group_ranks(group)
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"get_global_rank: Group rank {group_rank} is not part of a group of {len(ranks)}.")
    return ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in the group of a process of the world.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_group_rank(dist.group.WORLD, 0)
    0
    >>> dist.destroy_process_group()
    """
    ranks = get_process_group_ranks(group)
    if global_rank not in ranks:
        raise ValueError(f"get_group_rank: Global rank {global_rank} is not part of the group of {ranks}.")
    return ranks.index(global_rank)


_channels = itertools.count(1)


def new_group(
    ranks: list[int] | None = None,
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: None = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: object = None,
) -> ProcessGroup:
    """A group of these ranks, all by default. All processes of the world make it, in the same order.

    A process that is not among the ranks gets GroupMember.NON_GROUP_MEMBER. Over MPI groups of some are not there yet.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_world_size(dist.new_group([0]))
    1
    >>> dist.destroy_process_group()
    """
    world = _group_of(None)
    everyone = list(range(world.size()))
    chosen = everyone if ranks is None else sorted(ranks)
    if not set(chosen) <= set(everyone) or len(set(chosen)) != len(chosen):
        raise ValueError(f"new_group: ranks {ranks} of {everyone}. Name each of them once.")
    if backend is not None and backend.lower() != world.backend:
        raise ValueError(f"new_group: backend {backend!r} in a world of {world.backend!r}. All groups have the world's: leave it out.")
    if world.backend == Backend.MPI:
        if chosen != everyone:
            raise ValueError(f"new_group: ranks {ranks} of {everyone}. Name all of them; over MPI groups of some are not there yet.")
        return ProcessGroup(world.backend, MPIEngine())
    if world.size() == 1:
        return ProcessGroup(world.backend, SingleEngine())
    from ._socket_engine import SocketEngine

    channel = next(_channels)
    if world.rank() not in chosen:
        return GroupMember.NON_GROUP_MEMBER
    return ProcessGroup(world.backend, SocketEngine(world.engine.mesh, chosen, channel, None if timeout is None else timeout.total_seconds()))
