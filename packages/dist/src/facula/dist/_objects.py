"""Collectives on Python objects, which travel pickled."""

from __future__ import annotations

from ._group import ProcessGroup, _group_of
from ._work import _check_rank

__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "scatter_object_list",
]


def all_gather_object(object_list: list, obj, group: ProcessGroup | None = None) -> None:
    """Fills object_list[r] with the object of rank r. Objects travel pickled: only among programs that trust each other.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [None]
    >>> dist.all_gather_object(found, {"loss": 0.5})
    >>> found
    [{'loss': 0.5}]
    >>> dist.destroy_process_group()
    """
    for i, value in enumerate(_group_of(group).engine.all_gather_object(obj)):
        object_list[i] = value


def broadcast_object_list(object_list: list, src: int | None = None, group: ProcessGroup | None = None) -> None:
    """Replaces the list's items everywhere by those of rank `src` (pickled, see all_gather_object).

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [{"lr": 0.1}]
    >>> dist.broadcast_object_list(found, src=0)
    >>> found
    [{'lr': 0.1}]
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    src = _check_rank("broadcast_object_list", "src", src, engine)
    object_list[:] = engine.all_gather_object(list(object_list) if engine.rank == src else None)[src]


def gather_object(obj, object_gather_list: list | None = None, dst: int | None = None, group: ProcessGroup | None = None) -> None:
    """Fills the list on rank `dst` with the objects of all ranks (pickled, see all_gather_object).

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [None]
    >>> dist.gather_object("here", found, dst=0)
    >>> found
    ['here']
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    dst = _check_rank("gather_object", "dst", dst, engine)
    if (object_gather_list is None) == (engine.rank == dst):
        raise ValueError("gather_object: Argument object_gather_list must be specified on destination rank and only there. Give it there alone.")
    found = engine.all_gather_object(obj)
    if object_gather_list is not None:
        object_gather_list[:] = found


def scatter_object_list(output: list, input: list | None = None, src: int | None = None, group: ProcessGroup | None = None) -> None:
    """output[0] becomes the object that rank `src` has in its list for this rank (pickled, see all_gather_object).

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [None]
    >>> dist.scatter_object_list(found, ["here"], src=0)
    >>> found
    ['here']
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    src = _check_rank("scatter_object_list", "src", src, engine)
    if not output:
        raise ValueError("scatter_object_list: Expected argument scatter_object_output_list to be a list of size at least 1.")
    output[0] = engine.all_gather_object(input if engine.rank == src else None)[src][engine.rank]
