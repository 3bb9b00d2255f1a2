"""DataLoader: batches of a dataset, in an order that a sampler gives, read here or by worker processes."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from typing import Generic

from ._collate import collate, default_collate, default_collate_fn_map, default_convert
from ._fetch import DatasetKind
from ._iterators import SingleProcessIterator, WorkersIterator, has_accelerator
from ._protocol import WorkerInfo, get_worker_info
from .dataset import Dataset, IterableDataset, T_co
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = [
    "DataLoader",
    "WorkerInfo",
    "collate",
    "default_collate",
    "default_collate_fn_map",
    "default_convert",
    "get_worker_info",
]


class _InfiniteConstantSampler(Sampler[None]):
    """The index sampler of an iterable dataset, whose order is its own."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """Batches of `dataset`: `for inputs, labels in DataLoader(dataset, batch_size=64, shuffle=True)`.

    batch_size: samples per batch; None gives single samples, not collated.
    shuffle, sampler, batch_sampler: the order, one of the three; batch_sampler gives lists of indices.
    num_workers: processes that read ahead, 0 reads in this one. Each loads its own copy of the dataset and is
        seeded with base seed + its number; prefetch_factor (default 2) batches are asked of each in advance.
    collate_fn: list of samples -> batch, `default_collate` by default.
    timeout: seconds to wait for a worker's batch, 0 for ever; a worker that dies is noticed either way.
    persistent_workers: keep the workers from one pass to the next. in_order=False: batches as they arrive.
    generator: source of the base seed and of the shuffle, default the global one.

    Every pass draws one int64 (the base seed) and then, if shuffled, the sampler's seed, as PyTorch does:
    the same seed gives the same batches.

    >>> loader = facula.data.DataLoader(range(5), batch_size=2)
    >>> list(loader)
    [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    # What an order or a worker is built from once; changing it later would have no effect.
    _fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler=None,
        batch_sampler=None,
        num_workers: int = 0,
        collate_fn=None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.persistent_workers = persistent_workers
        self.in_order = in_order

        self._dataset_kind = DatasetKind.Iterable if isinstance(dataset, IterableDataset) else DatasetKind.Map
        if self._dataset_kind == DatasetKind.Iterable:
            _check_iterable_order(shuffle, sampler, batch_sampler)
            shuffle, sampler = False, _InfiniteConstantSampler()
        if sampler is not None and shuffle:
            raise ValueError(
                "DataLoader: sampler option is mutually exclusive with shuffle, got both. Give one of them."
            )
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "DataLoader: batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                    f"drop_last, got batch_size={batch_size}, shuffle={shuffle}, sampler={sampler}, "
                    f"drop_last={drop_last}. Leave those at their defaults."
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError(
                "DataLoader: batch_size=None option disables auto-batching and is mutually exclusive with drop_last, "
                "got drop_last=True. Give a batch_size."
            )
        if sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)

        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self._IterableDataset_len_called: int | None = None  # of an iterable dataset, once len() was asked
        self._iterator = None
        self.check_worker_number_rationality()
        self.__initialized = True  # the mangled name is what programs turn off to change a loader

    def check_worker_number_rationality(self) -> None:
        """Warn where there are more workers than CPUs that this process may use."""
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if self.num_workers > cpus:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number of worker "
                f"in current system is {cpus} (the CPUs this process may use), which is smaller: excessive worker creation might get DataLoader running slow or even freeze.",
                stacklevel=3,
            )

    def __setattr__(self, name: str, value) -> None:
        if name in self._fixed and self.__dict__.get("_DataLoader__initialized"):
            raise ValueError(
                f"DataLoader: {name} attribute should not be set after {type(self).__name__} is initialized, "
                f"got {value!r}. Make a new loader."
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self):
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context) -> None:
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "DataLoader: multiprocessing_context can only be used with multi-process loading "
                    f"(num_workers > 0), but got num_workers=0 and {context!r}. Give workers, or no context."
                )
            import multiprocessing  # 20 ms that loading without workers does not pay

            if isinstance(context, str):
                valid = multiprocessing.get_all_start_methods()
                if context not in valid:
                    raise ValueError(
                        "DataLoader: multiprocessing_context option should specify a valid start method in "
                        f"{valid!r}, but got {context!r}. Use one of them."
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "DataLoader: multiprocessing_context option should be a valid context object or a string "
                    f"specifying the start method, but got {context!r}. Use multiprocessing.get_context."
                )
        self._context = context

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self):
        if self.persistent_workers and self._iterator is not None and self._iterator._pool.processes:
            self._iterator.restart()
            return self._iterator
        if self.pin_memory and not has_accelerator():
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory "
                "won't be used.",
                stacklevel=2,
            )
        if self.num_workers == 0:
            return SingleProcessIterator(self)
        iterator = WorkersIterator(self)
        if self.persistent_workers:
            self._iterator = iterator
        return iterator

    def __len__(self) -> int:
        """Number of batches. For an iterable dataset an estimate from its own length."""
        if self._dataset_kind == DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_iterator": None}  # no __setstate__: one that wraps a loader would hand it its own state


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers) -> None:
    if num_workers < 0:
        raise ValueError(
            "DataLoader: num_workers option should be non-negative; use num_workers=0 to disable multiprocessing "
            f"(got {num_workers})."
        )
    if timeout < 0:
        raise ValueError(f"DataLoader: timeout option should be non-negative, got {timeout}. Use 0 to wait for ever.")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            f"DataLoader: prefetch_factor option could only be specified in multiprocessing, got {prefetch_factor} with "
            "num_workers=0. let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 1:
        raise ValueError(
            f"DataLoader: prefetch_factor option should be non-negative and at least 1, got {prefetch_factor}. Use 2."
        )
    if persistent_workers and num_workers == 0:
        raise ValueError("DataLoader: persistent_workers option needs num_workers > 0, got 0. Give workers.")


def _check_iterable_order(shuffle, sampler, batch_sampler) -> None:
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}. "
                "The dataset's own iteration is the order."
            )
