"""How one batch is read: from a dataset with indices, or from an iterator."""

from __future__ import annotations

import itertools

from .dataset import fetch_rows


class MapFetcher:
    def __init__(self, dataset, batched: bool, collate_fn, drop_last: bool) -> None:
        self.dataset = dataset
        self.batched = batched
        self.collate_fn = collate_fn

    def fetch(self, index):
        return self.collate_fn(fetch_rows(self.dataset, index) if self.batched else self.dataset[index])


class IterableFetcher:
    """`index` is a list whose length is the batch size, or None without batching; its contents mean nothing."""

    def __init__(self, dataset, batched: bool, collate_fn, drop_last: bool) -> None:
        self.iterator = iter(dataset)
        self.batched = batched
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, index):
        if self.ended:
            raise StopIteration
        if not self.batched:
            return self.collate_fn(next(self.iterator))
        samples = list(itertools.islice(self.iterator, len(index)))
        self.ended = len(samples) < len(index)
        if not samples or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(samples)


class DatasetKind:
    """What a loader reads from. Map: items by index. Iterable: items as they come."""

    Map, Iterable = 0, 1

    @staticmethod
    def create_fetcher(kind: int, dataset, auto_collation: bool, collate_fn, drop_last: bool) -> MapFetcher | IterableFetcher:
        """What reads batches: fetch(indices)."""
        return (MapFetcher if kind == DatasetKind.Map else IterableFetcher)(dataset, auto_collation, collate_fn, drop_last)
