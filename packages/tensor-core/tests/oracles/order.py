"""Sorting, order statistics, counting."""

import numpy as np

from . import O


def sort(input, dim, descending):
    if input.ndim == 0:
        return input, np.zeros((), np.int64)
    if descending:
        turned = np.flip(input, dim)
        where = input.shape[dim] - 1 - np.flip(np.argsort(turned, axis=dim, kind="stable"), dim)
    else:
        where = np.argsort(input, axis=dim, kind="stable")
    return np.take_along_axis(input, where, dim), where


def points(x, dim, values, squeeze=False):
    """A check that indices point at these values; which of equals they name is not defined."""

    def check(indices):
        where = np.expand_dims(indices, dim) if squeeze else indices
        np.testing.assert_array_equal(np.take_along_axis(x, where, dim), np.expand_dims(values, dim) if squeeze else values)

    return check


def topk(input, k, dim, largest, sorted):
    values = np.take(sort(input, dim, largest)[0], np.arange(k), axis=dim)
    return values, points(input, dim, values)


def statistic(pick):
    def fold(input, dim, keepdim, **more):
        lines = np.moveaxis(input, dim, -1)
        flat = lines.reshape(-1, lines.shape[-1])
        values = np.array([pick(np.sort(line), **more) for line in flat], input.dtype).reshape(lines.shape[:-1])
        check = points(input, dim, values, squeeze=True)
        if keepdim:
            values = np.expand_dims(values, dim)
            return values, lambda where: check(np.squeeze(where, dim))
        return values, check

    return fold


def has_nan(line):
    return line.dtype.kind == "f" and np.isnan(line[-1])


def lower_median(line):
    return line[-1] if has_nan(line) else line[(len(line) - 1) // 2]


def nan_median(line):
    numbers = line[line == line]
    return numbers[(len(numbers) - 1) // 2] if len(numbers) else line[0]


def commonest(line):
    values, counts = np.unique(line, return_counts=True)
    return values[np.argmax(counts)]


kth = statistic(lambda line, k: line[k - 1])
median, nanmedian, mode = statistic(lower_median), statistic(nan_median), statistic(commonest)

LINES = lambda t: [(t(4, 9), 1, False), (t(4, 9), 0, True), (t(3, 4, 5), -2, False), (t(2, 100), -1, False)]
VALUES = ("SAME", "INDEX")


def histogram(input, bins, min, max):
    return np.histogram(input[np.isfinite(input)], bins, (min, max))[0]


def small(a):
    """Non-negative and small, for counting."""
    return np.abs(a.astype(np.int64)) % 7 if a.dtype != bool else a


O("_sort", sort, result=VALUES, cases=lambda t: [
    (t(4, 9), 1, False), (t(4, 9), 0, True), (t(3, 4, 5), -2, True), (t(2, 3000), -1, False), (t(0, 3), 1, False), (t(3, 0), 1, True),
])  # fmt: skip
O("_topk", topk, result=VALUES, cases=lambda t: [
    (t(4, 9), 3, 1, True, True), (t(4, 9), 2, 0, False, True), (t(2, 500), 7, -1, True, True), (t(4, 9), 9, 1, True, True), (t(4, 9), 0, 1, True, True),
])  # fmt: skip
O("_kthvalue", lambda input, k, dim, keepdim: kth(input, dim, keepdim, k=k), result=VALUES, cases=lambda t: [
    (t(4, 9), 3, 1, False), (t(4, 9), 1, 0, True), (t(2, 500), 77, -1, False),
])  # fmt: skip
O("_median", lambda input, dim, keepdim: median(input, dim, keepdim), result=VALUES, cases=LINES)
O("_nanmedian", lambda input, dim, keepdim: nanmedian(input, dim, keepdim), result=VALUES, cases=LINES)
O("_mode", lambda input, dim, keepdim: mode(input, dim, keepdim), result=VALUES, specials=False, cases=LINES)
O("_searchsorted", lambda sorted_sequence, input, right: np.searchsorted(sorted_sequence, input, "right" if right else "left"),
  result="INDEX", specials=False, cases=lambda t: [
    (t.ordered(9), t(4, 5), None, False), (t.ordered(9), t(4, 5), None, True), (t.ordered(100), t(3), None, False), (t.ordered(0), t(3), None, False),
])  # fmt: skip


def chosen(weights, uniforms):
    sums = np.cumsum(weights, -1)
    return np.minimum((uniforms[..., None] > (sums / sums[..., -1:])[..., None, :]).sum(-1), weights.shape[-1] - 1)


O("_multinomial", chosen, result="INDEX", specials=False, only=("float32", "float64"), cases=lambda t: [
    (t.value(t.rng.uniform(0.1, 1, shape)), t.value(t.rng.uniform(0, 1, (*shape[:-1], n)))) for shape, n in (((3, 7), 20), ((5,), 1), ((1,), 3), ((2, 100), 50), ((2, 3), 0))
])  # fmt: skip
O("_bincount", lambda input, size: np.bincount(input.astype(np.int64), minlength=size), result="INDEX", domain=small,
  only=("int64",),
  cases=lambda t: [(t(50), None, 7), (t(0), None, 3), (t(300), None, 9)])  # fmt: skip
O("_histogram", histogram, native=True, specials=False, cases=lambda t: [(t(100), 10, -4.0, 4.0), (t(4, 30), 3, 0.0, 1.0)])
