"""torch.distributed.tensor and .device_mesh, as far as libraries name them: how a tensor would lie on several processes.

The placements are values; tensors spread over processes are not here, and asking for one says so.
"""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from typing import Any

default_pg_timeout = datetime.timedelta(minutes=30)  # how long others may take to join a group


def is_torchelastic_launched() -> bool:
    """Did torchrun start this process?"""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def get_process_group_ranks(group: Any = None) -> list[int]:
    """The ranks of a group: all, groups of some are not there."""
    import facula.dist

    return list(range(facula.dist.get_world_size(group)))


class Placement:
    """How one dimension of a mesh of processes divides a tensor."""

    def is_shard(self, dim: int | None = None) -> bool:
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Replicate(Placement):
    """Everybody has all of it."""


@dataclass(frozen=True)
class Shard(Placement):
    """Everybody has a chunk along dim: ceil(size / processes) elements, the last ones fewer or none."""

    dim: int

    @staticmethod
    def local_shard_size_and_offset(curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        """The length of this rank's chunk and where it starts."""
        chunk = -(-curr_local_size // num_chunks)
        start = min(rank * chunk, curr_local_size)
        return min(chunk, curr_local_size - start), start


@dataclass(frozen=True)
class _StridedShard(Shard):
    """A chunk of each of split_factor groups along dim."""

    split_factor: int = 1


@dataclass(frozen=True)
class Partial(Placement):
    """Everybody has a term; reduce_op of all is the tensor."""

    reduce_op: str = "sum"


def _refuse(name: str) -> RuntimeError:
    return RuntimeError(
        f"{name}: Facula spreads no tensor over processes. Use facula.distributed's collectives, or DistributedDataParallel."
    )


class DeviceMesh:
    """Processes in rows and columns: none is made here."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise _refuse("DeviceMesh")


class DTensor:
    """A tensor spread over processes: no tensor here is one."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise _refuse("DTensor")

    @staticmethod
    def from_local(*args: Any, **options: Any) -> DTensor:
        raise _refuse("DTensor.from_local")


def init_device_mesh(
    device_type: str, mesh_shape: tuple[int, ...], *, mesh_dim_names: tuple[str, ...] | None = None
) -> DeviceMesh:
    """Raises RuntimeError: see DeviceMesh."""
    raise _refuse("init_device_mesh")


def distribute_tensor(
    tensor: Any, device_mesh: Any = None, placements: Any = None, *, src_data_rank: int | None = 0
) -> DTensor:
    """Raises RuntimeError: see DTensor."""
    raise _refuse("distribute_tensor")


def distribute_module(module: Any, device_mesh: Any = None, *args: Any, **options: Any) -> Any:
    """Raises RuntimeError: see DTensor."""
    raise _refuse("distribute_module")


def compute_local_shape_and_global_offset(global_shape: Any, mesh: Any, placements: Any) -> tuple:
    """Raises RuntimeError: see DTensor."""
    raise _refuse("compute_local_shape_and_global_offset")


def _get_default_group() -> Any:
    """The group of all processes."""
    from facula import distributed

    if distributed.group.WORLD is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return distributed.group.WORLD
