"""What all operations share: the handle of one that was started, tensors as arrays and back, ranks in a group."""

from __future__ import annotations

import facula


class Work:
    """What async_op=True returns. The operation is already done; what `irecv` expects arrives in wait().

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> work = dist.all_reduce(facula.ones(1), async_op=True)
    >>> work.wait()
    True
    >>> work.is_completed()
    True
    >>> dist.destroy_process_group()
    """

    def __init__(self, finish=None) -> None:
        self._finish = finish

    def wait(self, timeout=None) -> bool:
        """True when it is done. timeout: how long a message may take to come, a timedelta; the group's by default. MPI waits for all."""
        if self._finish is not None:
            self._finish(_seconds(timeout))
            self._finish = None
        return True

    def is_completed(self) -> bool:
        return self._finish is None

    def is_success(self) -> bool:
        return True


def _seconds(timeout) -> float | None:
    return None if timeout is None else timeout.total_seconds()


def _done(async_op: bool) -> Work | None:
    return Work() if async_op else None


def _array(op: str, tensor):
    """The tensor's numbers, contiguous; bfloat16, which NumPy has not, as float32: moved exactly, reduced there and rounded once."""
    if not isinstance(tensor, facula.Tensor):
        raise TypeError(f"{op}: Invalid function argument, expected a Tensor, got {type(tensor).__name__}. Give one.")
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype is facula.bfloat16 else tensor).contiguous().numpy(force=True)


def _write(tensor, array) -> None:
    # Through detach(): the values change and the version counter with them, but nothing is recorded.
    tensor.detach().copy_(facula.from_numpy(array).reshape(tensor.shape))


def _check_rank(op: str, name: str, rank: int | None, engine) -> int:
    """The rank in the engine's group of a rank of the world; None is the group's first."""
    if rank is None:
        return 0
    if rank not in engine.ranks:
        raise ValueError(f"{op}: {name}={rank} in a world of {len(engine.ranks)}. The ranks are {engine.ranks}.")
    return engine.ranks.index(rank)
