"""What the cases of op_families.py are given: numbers drawn once, wrapped in either library, in a layout."""

import mmap
from functools import cache

import numpy as np

SHAPES = {10: (2, 5), 1_000: (25, 40), 100_000: (250, 400), 10_000_000: (2_500, 4_000)}
LAYOUTS = ("contiguous", "transposed", "broadcast")
HUGE_PAGE = 1 << 21
CACHE_LINE = 64


@cache
def drawn(shape, kind, high=9):
    """Ordinary numbers of a kind: f in (0.1, 0.9), i in [1, high), b, or p, a permutation of the flat positions."""
    rng = np.random.default_rng(len(shape) * (shape[0] if shape else 1) + ord(kind))
    if kind == "f":
        return rng.uniform(0.1, 0.9, shape).astype(np.float32)
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind == "p":
        return rng.permutation(int(np.prod(shape))).reshape(shape)
    return rng.integers(0 if kind == "n" else 1, high, shape)


def copied(array):
    """A copy of its own, which begins at a cache line as memory of either library does: behind NumPy's 16 bytes in place a loop takes up to 1.6 times as long.

    A large one begins on a huge page and asks for them: else luck says which of two libraries reads small pages, at half the speed.
    """
    if array.nbytes < 2 * HUGE_PAGE:
        room = np.empty(array.nbytes + CACHE_LINE, np.uint8)
        start = -room.ctypes.data % CACHE_LINE
        copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        copy[...] = array
        return copy
    pages = mmap.mmap(-1, array.nbytes + HUGE_PAGE)
    pages.madvise(mmap.MADV_HUGEPAGE)
    start = -np.frombuffer(pages, np.uint8).ctypes.data % HUGE_PAGE
    copy = np.frombuffer(pages, array.dtype, array.size, start).reshape(array.shape)
    copy[...] = array
    return copy


class Inputs:
    """Tensors of one size and layout in the library t."""

    def __init__(self, t, size, layout="contiguous"):
        self.t, self.n, self.layout, self.shape = t, size, layout, SHAPES[size]
        self.rows, self.cols = self.shape

    def wrapped(self, array, dtype):
        array = np.ascontiguousarray(array)
        return self.t.from_numpy(copied(array)).to(getattr(self.t, dtype))

    def of(self, shape, dtype="float32"):
        kind = "f" if dtype in ("float32", "float64", "float16", "bfloat16", "complex64") else "b" if dtype == "bool" else "i"
        return self.wrapped(drawn(tuple(shape), kind), dtype)

    def x(self, dtype="float32"):
        """The first operand, (rows, cols): transposed in memory, or one row shown by stride 0."""
        if self.layout == "transposed":
            return self.of((self.cols, self.rows), dtype).t()
        return self.of((1, self.cols), dtype).expand(self.rows, self.cols) if self.layout == "broadcast" else self.of(self.shape, dtype)

    def plain(self, dtype="float32"):
        return self.of(self.shape, dtype)

    def flat(self, dtype="float32"):
        return self.of((self.n,), dtype)

    def mask(self):
        return self.of(self.shape, "bool")

    def index(self, high, shape=None):
        """Positions below high, in no order, some twice."""
        return self.wrapped(drawn(tuple(shape or self.shape), "n", high), "int64")

    def order(self, count):
        """A permutation of the positions below count."""
        return self.wrapped(drawn((count,), "p"), "int64")
