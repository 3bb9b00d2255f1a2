"""A sampler that gives each of several processes its own share of a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator

import facula

from .sampler import Sampler, T_co

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[T_co]):
    """Every `num_replicas`-th index from `rank` on, of one order that all ranks compute alike.

    With `shuffle` the order is the permutation of a generator seeded with `seed + epoch`: call `set_epoch`
    before each epoch. Without `drop_last` the first indices are repeated so that all ranks get as many.
    `num_replicas` and `rank` default to those of the process group (facula.distributed).

    >>> list(facula.data.DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
    [1, 3, 0]
    """

    def __init__(
        self,
        dataset,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        # By name, through the ownership table: data does not depend on facula-dist, and only these defaults ask for it.
        if num_replicas is None:
            num_replicas = getattr(facula, "distributed").get_world_size()  # noqa: B009
        if rank is None:
            rank = getattr(facula, "distributed").get_rank()  # noqa: B009
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"DistributedSampler: Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]. "
                "Give this process's own rank."
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        if drop_last:
            self.num_samples = len(dataset) // num_replicas
        else:
            self.num_samples = math.ceil(len(dataset) / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        if self.shuffle:
            generator = facula.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = facula.randperm(n, generator=generator).tolist()
        else:
            order = list(range(n))
        if not self.drop_last and n:
            order *= math.ceil(self.total_size / n)
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the permutation that the next iteration uses."""
        self.epoch = epoch
