"""Samplers: in which order a loader reads. Each draws exactly PyTorch's random numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Generic, TypeVar

import facula

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T_co = TypeVar("T_co", covariant=True)


def draw_seed(generator=None) -> int:
    """One int64 from the stream that loaders and samplers seed themselves with."""
    return int(facula.empty((), dtype=facula.int64).random_(generator=generator).item())


def _positive(owner: str, name: str, value) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(
            f"{owner}: {name} should be a positive integer value, but got {name}={value!r}. Give one of at least 1."
        )


def _boolean(owner: str, name: str, value, error=ValueError) -> None:
    if not isinstance(value, bool):
        raise error(f"{owner}: {name} should be a boolean value, but got {name}={value!r}. Give True or False.")


class Sampler(Generic[T_co]):
    """Base of all samplers: `__iter__` gives indices (or lists of them); `__len__` is optional.

    >>> class Backwards(facula.data.Sampler):
    ...     def __init__(self, data):
    ...         self.n = len(data)
    ...     def __iter__(self):
    ...         return iter(range(self.n - 1, -1, -1))
    ...
    >>> list(facula.data.DataLoader("abc", sampler=Backwards("abc"), batch_size=None))
    ['c', 'b', 'a']
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__}: __iter__ is not defined. Define it in the subclass.")


class SequentialSampler(Sampler[int]):
    """0, 1, ..., len(data_source) - 1.

    >>> list(facula.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A shuffled order, or with `replacement` independent draws; `num_samples` defaults to `len(data_source)`.

    Without a generator a fresh one is seeded by one draw from the global stream at each iteration's start.
    Without replacement and `num_samples` above the length, whole permutations follow each other.

    >>> sorted(facula.data.RandomSampler(range(4)))
    [0, 1, 2, 3]
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator=None
    ) -> None:
        _boolean("RandomSampler", "replacement", replacement, TypeError)
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        _positive("RandomSampler", "num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = self.generator
        if generator is None:
            generator = facula.Generator()
            generator.manual_seed(draw_seed())
        draw = self._with_replacement if self.replacement else self._permutations
        yield from draw(len(self.data_source), generator)

    def _with_replacement(self, n: int, generator) -> Iterator[int]:
        # 32 at a time, then the rest, even when none are left: an empty draw takes nothing from the stream.
        for _ in range(self.num_samples // 32):
            yield from facula.randint(n, (32,), dtype=facula.int64, generator=generator).tolist()
        yield from facula.randint(n, (self.num_samples % 32,), dtype=facula.int64, generator=generator).tolist()

    def _permutations(self, n: int, generator) -> Iterator[int]:
        for _ in range(self.num_samples // n):
            yield from facula.randperm(n, generator=generator).tolist()
        # Drawn even when the slice is empty: a shared generator's stream must match PyTorch's afterwards.
        yield from facula.randperm(n, generator=generator).tolist()[: self.num_samples % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order.

    >>> sorted(facula.data.SubsetRandomSampler([5, 3, 8]))
    [3, 5, 8]
    """

    def __init__(self, indices: Sequence[int], generator=None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in facula.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn by weight (they need not sum to 1), with or without replacement.

    >>> list(facula.data.WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator=None) -> None:
        _positive("WeightedRandomSampler", "num_samples", num_samples)
        _boolean("WeightedRandomSampler", "replacement", replacement)
        weights = facula.as_tensor(weights, dtype=facula.float64)
        if weights.dim() != 1:
            raise ValueError(
                "WeightedRandomSampler: weights should be a 1d sequence but given weights have shape "
                f"{tuple(weights.shape)}. Flatten them."
            )
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        draws = facula.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from draws.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` indices from another sampler; `drop_last` leaves a shorter last one out.

    >>> list(facula.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool) -> None:
        _positive("BatchSampler", "batch_size", batch_size)
        _boolean("BatchSampler", "drop_last", drop_last)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        full, rest = divmod(len(self.sampler), self.batch_size)
        return full if self.drop_last or not rest else full + 1
