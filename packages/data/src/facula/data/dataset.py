"""Datasets: what can be indexed (Dataset) or walked through (IterableDataset), and their combinations."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import facula

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Dataset(Generic[T_co]):
    """Anything with `__getitem__`; with `__len__` too, samplers can walk it.

    A subclass may add `__getitems__(indices) -> list`, which a loader then calls once per batch.

    >>> class Squares(facula.data.Dataset):
    ...     def __getitem__(self, k):
    ...         return k * k
    ...     def __len__(self):
    ...         return 4
    ...
    >>> list(facula.data.DataLoader(Squares(), batch_size=2))
    [tensor([0, 1]), tensor([4, 9])]
    """

    def __getitem__(self, index) -> T_co:
        raise NotImplementedError(f"{type(self).__name__}: __getitem__ is not defined. Define it in the subclass.")

    # No default __len__: list() and bool() would call one that raises (the same reason as in PyTorch).

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """A stream of samples: define `__iter__`. With workers each one iterates its own copy (see `get_worker_info`).

    >>> class Count(facula.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3))
    ...
    >>> list(facula.data.DataLoader(Count(), batch_size=2))
    [tensor([0, 1]), tensor([2])]
    """

    def __add__(self, other: Dataset[T_co]):
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[facula.Tensor, ...]]):
    """Rows of tensors that agree in their first dimension: sample i is `(tensors[0][i], tensors[1][i], ...)`.

    >>> facula.data.TensorDataset(facula.tensor([[1, 2], [3, 4]]), facula.tensor([0, 1]))[1]
    (tensor([3, 4]), tensor(1))
    """

    def __init__(self, *tensors) -> None:
        lengths = [t.size(0) for t in tensors]
        # AssertionError is what PyTorch raises here.
        if any(n != lengths[0] for n in lengths):
            raise AssertionError(
                f"TensorDataset: Size mismatch between tensors, first dimensions are {lengths}. Give tensors of equal length."
            )
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[T_co]):
    """Datasets of equal length side by side: a sample is a tuple (positional) or a dict (keywords) of theirs.

    >>> facula.data.StackDataset(x=[1, 2], y=["a", "b"])[1]
    {'x': 2, 'y': 'b'}
    """

    def __init__(self, *args, **kwargs) -> None:
        if args and kwargs:
            raise ValueError(
                f"StackDataset: Supported either positional or keyword datasets, got {len(args)} and {len(kwargs)}. Give all of them one way."
            )
        if not args and not kwargs:
            raise ValueError("StackDataset: got 0 datasets. At least one dataset should be passed.")
        self.datasets: tuple | dict = args or kwargs
        lengths = [len(d) for d in self._members()]
        if any(n != lengths[0] for n in lengths):
            raise ValueError(f"StackDataset: Size mismatch between datasets, lengths are {lengths}. Make them equal.")
        self._length = lengths[0]

    def _members(self) -> list:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _sample(self, parts):
        return dict(zip(self.datasets, parts)) if isinstance(self.datasets, dict) else tuple(parts)

    def __getitem__(self, index):
        return self._sample([d[index] for d in self._members()])

    def __getitems__(self, indices: list) -> list:
        columns = []
        for dataset in self._members():
            column = fetch_rows(dataset, indices)
            if len(column) != len(indices):
                raise ValueError(
                    f"StackDataset: Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}. "
                    "Return one sample per index from __getitems__."
                )
            columns.append(column)
        return [self._sample(row) for row in zip(*columns)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Map-style datasets end to end.

    >>> a, b = facula.data.TensorDataset(facula.tensor([1, 2])), facula.data.TensorDataset(facula.tensor([3]))
    >>> len(a + b), facula.data.ConcatDataset([a, b])[2]
    (3, (tensor(3),))
    """

    @staticmethod
    def cumsum(sequence) -> list[int]:
        return list(itertools.accumulate(len(part) for part in sequence))

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("ConcatDataset: datasets should not be an empty iterable. Give at least one.")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise AssertionError(
                    f"ConcatDataset: does not support IterableDataset, got {type(dataset).__name__}. Use ChainDataset."
                )
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError(
                    f"ConcatDataset: index {idx} in {len(self)} samples, "
                    "absolute value of index should not exceed dataset length. Use a smaller one."
                )
            idx += len(self)
        part = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[part][idx - (self.cumulative_sizes[part - 1] if part else 0)]

    @property
    def cummulative_sizes(self) -> list[int]:
        warnings.warn("`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[T_co]):
    """Iterable datasets one after the other.

    >>> class Count(facula.data.IterableDataset):
    ...     def __init__(self, n):
    ...         self.n = n
    ...     def __iter__(self):
    ...         return iter(range(self.n))
    ...
    >>> list(facula.data.ChainDataset([Count(2), Count(3)]))
    [0, 1, 0, 1, 2]
    """

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = datasets

    def _parts(self):
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(
                    f"ChainDataset only supports IterableDataset, got {type(dataset).__name__}. Use ConcatDataset."
                )
            yield dataset

    def __iter__(self) -> Iterator:
        for dataset in self._parts():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._parts())


class Subset(Dataset[T_co]):
    """The samples of `dataset` at `indices`.

    >>> list(facula.data.Subset("abc", [2, 0]))
    ['c', 'a']
    """

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        # A loader asks __getitems__ first, so an overridden __getitem__ alone would silently not be used.
        if type(self).__getitem__ is not Subset.__getitem__ and type(self).__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{type(self).__name__}: overrides __getitem__ but not __getitems__, which a loader calls. "
                "Define __getitems__(self, indices) as well."
            )
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        return fetch_rows(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def fetch_rows(dataset, indices) -> list:
    """The samples at `indices`, by one `__getitems__` call where the dataset has it."""
    many = getattr(dataset, "__getitems__", None)
    return many(indices) if callable(many) else [dataset[i] for i in indices]


def random_split(dataset: Dataset[T], lengths: Sequence[int | float], generator=None) -> list[Subset[T]]:
    """Non-overlapping random subsets of the given lengths, or fractions that sum to 1.

    With fractions, each gets `floor(fraction * len(dataset))` and what is left goes one by one from the first.
    One `randperm` of all samples is drawn from `generator` (default: the global one).

    >>> a, b = facula.data.random_split(range(10), [0.8, 0.2])
    >>> len(a), len(b), sorted([*a, *b])
    (8, 2, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_of_fractions(lengths, total)
    if sum(lengths) != total:
        raise ValueError(
            f"random_split: Sum of input lengths does not equal the length of the input dataset "
            f"({sum(lengths)} against {total}). Make them equal, or give fractions that sum to 1."
        )
    order = facula.randperm(total, generator=generator).tolist()
    return [Subset(dataset, order[end - n : end]) for end, n in zip(itertools.accumulate(lengths), lengths)]


def _lengths_of_fractions(fractions, total: int) -> list[int]:
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(
                f"random_split: Fraction at index {i} is not between 0 and 1, it is {fraction}. Use fractions that sum to 1."
            )
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return lengths
