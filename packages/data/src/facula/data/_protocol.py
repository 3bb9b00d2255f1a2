"""What the main process and its workers agree on. Light, so that a program without workers never loads multiprocessing."""

from __future__ import annotations

from typing import NamedTuple

RESUME, STOP = "resume", "stop"  # tasks that are not (number, index)
BATCH, ENDED, FAILED, READY = "batch", "ended", "failed", "ready"  # kinds of result


class WorkerInfo(NamedTuple):
    """id: 0 to num_workers - 1; seed: base seed + id, already given to `random` and `facula.manual_seed`.

    >>> facula.data.WorkerInfo(0, 2, 7, None).num_workers
    2
    """

    id: int
    num_workers: int
    seed: int
    dataset: object


info: WorkerInfo | None = None  # set once in a worker


def get_worker_info() -> WorkerInfo | None:
    """This worker's WorkerInfo; None in the main process.

    >>> facula.data.get_worker_info() is None
    True
    """
    return info
