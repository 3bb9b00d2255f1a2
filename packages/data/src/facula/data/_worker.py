"""What runs in a worker process.

A worker has two one-way pipes. Tasks come in through a small thread, so that the main process never blocks
on a full pipe while this one blocks on the other; results go out straight from the loop. A pipe of its own
(rather than one queue for all) means that a worker that dies takes no lock with it.
"""

from __future__ import annotations

import os
import queue
import random
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler

import facula

from . import _protocol
from ._fetch import DatasetKind
from ._protocol import BATCH, ENDED, FAILED, READY, RESUME, STOP, WorkerInfo

PARENT_CHECK_SECONDS = 5.0  # how late a worker may notice that the main process is gone


class Failure:
    """An exception on its way to the main process, with the worker's traceback in its message."""

    def __init__(self, error: BaseException, where: str) -> None:
        self.kind = type(error)
        self.text = (
            f"Caught {self.kind.__name__} {where}.\n"
            f"Original {''.join(traceback.format_exception(type(error), error, error.__traceback__))}"
        )

    def reraise(self):
        if self.kind is KeyError:
            raise KeyError(_Verbatim(self.text))
        try:
            error = self.kind(self.text)
        except Exception:  # the type wants other arguments than one message
            error = RuntimeError(self.text)
        raise error


class _Verbatim(str):
    """A message that KeyError, which shows its argument's repr, leaves readable."""

    def __repr__(self) -> str:
        return str(self)


def seed_everything(base_seed: int, worker_id: int) -> int:
    seed = base_seed + worker_id
    random.seed(seed)
    facula.manual_seed(seed)
    # NumPy's legacy stream, with the state PyTorch gives it; where nobody has imported NumPy nobody uses it.
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
        numpy.random.seed(numpy.random.SeedSequence(entropy).generate_state(4))
    return seed


def _receive_tasks(tasks: Connection, inbox: queue.SimpleQueue) -> None:
    parent = os.getppid()
    while True:
        try:
            while not tasks.poll(PARENT_CHECK_SECONDS):
                if os.getppid() != parent:
                    os._exit(1)
            inbox.put(tasks.recv())
        except (EOFError, OSError):
            os._exit(1)  # the main process is gone: nobody to tell


def _send(results: Connection, kind: str, number: int | None, payload, where: str) -> None:
    """Sends a result; one that cannot be pickled becomes an error that says so, instead of a hang."""
    try:
        message = ForkingPickler.dumps((kind, number, payload))
    except Exception as error:
        failure = Failure(error, f"{where} while sending a result")
        try:
            message = ForkingPickler.dumps((FAILED, number, failure))
        except Exception:  # the exception's class itself cannot be pickled
            failure.kind = RuntimeError
            message = ForkingPickler.dumps((FAILED, number, failure))
    results.send_bytes(message)


def _send_failure(results: Connection, number: int | None, failure: Failure, where: str) -> None:
    try:
        ForkingPickler.dumps(failure.kind)
    except Exception:
        failure.kind = RuntimeError
    _send(results, FAILED, number, failure, where)


def worker_main(
    tasks: Connection,
    results: Connection,
    kind: int,
    dataset,
    batched: bool,
    collate_fn,
    drop_last: bool,
    base_seed: int,
    init_fn,
    worker_id: int,
    num_workers: int,
) -> None:
    where = f"in DataLoader worker process {worker_id}"
    inbox: queue.SimpleQueue = queue.SimpleQueue()
    threading.Thread(target=_receive_tasks, args=(tasks, inbox), daemon=True).start()
    facula.set_num_threads(1)
    seed = seed_everything(base_seed, worker_id)
    _protocol.info = WorkerInfo(worker_id, num_workers, seed, dataset)

    try:
        broken, fetcher = None, None
        try:
            if init_fn is not None:
                init_fn(worker_id)
            fetcher = DatasetKind.create_fetcher(kind, dataset, batched, collate_fn, drop_last)
        except Exception as error:
            broken = Failure(error, where)
        ended = False

        while (task := inbox.get()) != STOP:
            if task == RESUME:
                _send(results, READY, None, None, where)
                ended, broken = False, None
                try:
                    fetcher = DatasetKind.create_fetcher(kind, dataset, batched, collate_fn, drop_last)
                except Exception as error:
                    broken = Failure(error, where)
                continue
            if ended:
                continue
            number, index = task
            if broken is not None:
                _send_failure(results, number, broken, where)
                continue
            try:
                batch = fetcher.fetch(index)
            except Exception as error:
                if isinstance(error, StopIteration) and kind == DatasetKind.Iterable:
                    ended = True
                    _send(results, ENDED, number, None, where)
                else:
                    _send_failure(results, number, Failure(error, where), where)
                continue
            _send(results, BATCH, number, batch, where)
            del batch
    except (KeyboardInterrupt, BrokenPipeError):
        pass  # the main process is interrupted too, or has closed its end: it reports, this one leaves
