"""One pass over a loader's batches, here or through workers."""

from __future__ import annotations

import itertools
import warnings
import weakref

import facula

from ._fetch import DatasetKind
from ._protocol import ENDED, FAILED
from .sampler import draw_seed


class LoaderIterator:
    """What both iterators share: the order of random draws, counting, pinning.

    What they ask of a loader has PyTorch's names: libraries make loaders of their own for these classes.
    """

    def __init__(self, loader) -> None:
        self._loader = loader
        self._pins = loader.pin_memory and has_accelerator()
        # PyTorch's order: the base seed first, workers or not; a sampler draws at its own first index.
        self._base_seed = draw_seed(loader.generator)
        self._restart()

    def _restart(self) -> None:
        self._indices = iter(self._loader._index_sampler)
        self._yielded = 0

    def __iter__(self):
        return self

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def __next__(self):
        batch = self._next_batch()
        self._yielded += 1
        self._check_length()
        return pin(batch) if self._pins else batch

    def _check_length(self) -> None:
        declared = self._loader._IterableDataset_len_called
        if declared is None or self._yielded <= declared:
            return
        warnings.warn(
            f"Length of IterableDataset {type(self._loader.dataset).__name__} was reported to be {declared} (when "
            f"accessing len(dataloader)), but {self._yielded} samples have been fetched. For multiprocessing data-loading, this is so unless each worker "
            "reads its own part (facula.utils.data.get_worker_info), or every sample comes once per worker.",
            stacklevel=3,
        )

    def __getstate__(self):
        raise NotImplementedError(f"{type(self).__name__}: cannot be pickled, it holds a pass in progress. Pickle the loader.")


class SingleProcessIterator(LoaderIterator):
    def __init__(self, loader) -> None:
        if loader.timeout != 0:
            raise AssertionError(
                f"DataLoader: timeout={loader.timeout} with num_workers=0. A timeout needs workers: leave it at 0."
            )
        super().__init__(loader)
        self._fetcher = DatasetKind.create_fetcher(
            loader._dataset_kind, loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last
        )

    def _next_batch(self):
        return self._fetcher.fetch(next(self._indices))


class WorkersIterator(LoaderIterator):
    """Tasks are numbered in the sampler's order and dealt to the workers in turn; results come back in any
    order and wait here until their number is due (or not, with in_order=False)."""

    def __init__(self, loader) -> None:
        super().__init__(loader)
        self._iterable = loader._dataset_kind == DatasetKind.Iterable
        from ._pool import Pool  # loads multiprocessing

        self._pool = Pool(
            loader.multiprocessing_context,
            loader.num_workers,
            loader._dataset_kind,
            loader.dataset,
            loader._auto_collation,
            loader.collate_fn,
            loader.drop_last,
            self._base_seed,
            loader.worker_init_fn,
        )
        # Not __del__: collected with it in a cycle, the pool's pipes would be closed before it could say goodbye through them.
        weakref.finalize(self, self._pool.stop)
        self._begin()

    def restart(self) -> None:
        """A new pass with the same (persistent) workers."""
        self._restart()
        self._pool.resume()
        self._begin()

    def _begin(self) -> None:
        self._sent = 0  # the next task's number
        self._due = 0  # the next result's number
        self._where: dict[int, int] = {}  # task number -> worker, for tasks not yet given out as batches
        self._waiting: dict[int, object] = {}  # task number -> result that came early
        self._active = set(range(self._loader.num_workers))
        self._turn = itertools.cycle(range(self._loader.num_workers))
        for _ in range(self._loader.prefetch_factor * self._loader.num_workers):
            self._send_task()

    def _send_task(self) -> None:
        if not self._active:
            return
        try:
            index = next(self._indices)
        except StopIteration:
            return
        worker = next(w for w in self._turn if w in self._active)
        self._where[self._sent] = worker
        self._pool.send(worker, (self._sent, index))
        self._sent += 1

    def _next_batch(self):
        try:
            return self._wait_for_batch()
        except StopIteration:
            if not self._loader.persistent_workers:
                self.stop()
            raise
        except Exception:
            # After a worker's exception the pass may go on; after a dead worker or a timeout it cannot.
            if not isinstance(self._failure, Exception):
                self.stop()
            raise

    def _wait_for_batch(self):
        self._failure = None
        while True:
            self._skip_tasks_of_ended_workers()
            if not self._where:
                raise StopIteration
            number = self._due if self._loader.in_order else next(iter(self._waiting), self._due)
            if number in self._waiting:
                return self._give_out(number)
            workers = {self._where[n] for n in self._where if n not in self._waiting}
            worker, kind, number, payload = self._pool.receive(workers, self._loader.timeout)
            if kind == ENDED:
                self._active.discard(worker)
                del self._where[number]
                if not self._loader.persistent_workers:
                    self._pool.dismiss(worker)
                self._send_task()
            else:
                self._waiting[number] = (kind, payload)

    def _skip_tasks_of_ended_workers(self) -> None:
        """An ended worker answers nothing more: forget what it was still asked for."""
        if len(self._active) < self._loader.num_workers:
            for n in [n for n, w in self._where.items() if w not in self._active and n not in self._waiting]:
                del self._where[n]
        while self._due < self._sent and self._due not in self._where:
            self._due += 1

    def _give_out(self, number: int):
        kind, payload = self._waiting.pop(number)
        del self._where[number]
        self._send_task()
        if kind == FAILED:
            try:
                payload.reraise()
            except Exception as error:
                self._failure = error
                raise
        return payload

    def stop(self) -> None:
        self._where, self._waiting, self._active = {}, {}, set()
        self._pool.stop()

    _shutdown_workers = stop  # PyTorch's name, which trainers call


def has_accelerator() -> bool:
    """Is there a device that batches are pinned for?"""
    try:
        return facula.cuda.is_available()
    except ImportError:  # a build without the CUDA backend
        return False


def pin(batch):
    """`batch` with its tensors copied to page-locked memory; containers as they are."""
    if hasattr(batch, "pin_memory"):
        return batch.pin_memory()
    if isinstance(batch, dict):
        return {key: pin(value) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(pin(value) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(pin(value) for value in batch)
    return batch
