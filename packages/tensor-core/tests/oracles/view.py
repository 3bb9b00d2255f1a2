"""Views: the same elements under another descriptor."""

import numpy as np

from . import O
from .dtypes import COMPLEX_NAMES, INT_NAMES, REAL_NAMES


def slice_(x, dim, start, length, step):
    where = start + step * np.arange(length)
    return np.take(x, where, axis=dim)


def strided(x, size, stride, storage_offset):
    offset = storage_offset or 0
    flat = np.ascontiguousarray(x).reshape(-1)
    where = offset + sum((i * s for i, s in zip(np.indices(size), stride)), np.zeros(size, int))
    return flat[where]


def windows(x, dimension, size, step):
    all_windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dimension)
    return all_windows[tuple(slice(None, None, step) if d == dimension % x.ndim else slice(None) for d in range(x.ndim))]


O("view", lambda x, size: x.reshape(size), layouts=False, cases=lambda t: [
    (t(3, 4), [2, 6]),
    (t(3, 4), [-1]),
    (t(3, 4), [3, 2, -1, 1]),
    (t(0, 4), [2, 0, 2]),
    (t(), [1, 1]),
])  # fmt: skip
O("expand", lambda x, size: np.broadcast_to(x, [n if s == -1 else s for n, s in zip((1,) * (len(size) - x.ndim) + x.shape, size)]),
  cases=lambda t: [(t(3, 1), [3, 4]), (t(3, 1), [2, -1, 4]), (t(), [2, 3]), (t(1, 3), [0, 3])])  # fmt: skip
O("permute", lambda x, dims: x.transpose(dims), cases=lambda t: [(t(2, 3, 4), [2, 0, 1]), (t(2, 3), [-1, 0]), (t(), [])])
O("transpose", lambda x, dim0, dim1: x.swapaxes(dim0, dim1), cases=lambda t: [(t(2, 3, 4), 0, 2), (t(2, 3, 4), -1, 1)])
O("select", lambda x, dim, index: np.take(x, index, axis=dim), cases=lambda t: [(t(4, 5), 0, 2), (t(4, 5, 2), 1, -1), (t(3), 0, 0)])
O("slice", slice_, cases=lambda t: [(t(7, 3), 0, 1, 3, 2), (t(3, 7), 1, 6, 3, -2), (t(3, 7), -1, 2, 0, 1)])
O("unsqueeze", lambda x, dim: np.expand_dims(x, dim), cases=lambda t: [(t(2, 3), 0), (t(2, 3), -1), (t(), 0)])
O("squeeze", lambda x, dims: np.squeeze(x, tuple(d for d in dims if x.shape[d] == 1)), cases=lambda t: [
    (t(1, 3, 1), [0]), (t(1, 3, 1), [0, -1]), (t(2, 3), [1]),
])  # fmt: skip
O("diagonal", lambda x, offset, dim1, dim2: np.diagonal(x, offset, dim1, dim2), cases=lambda t: [
    (t(3, 4),), (t(3, 4), 1), (t(4, 3), -2), (t(2, 3, 4), 0, 1, 2), (t(2, 3, 4), 1, -1, 0),
])  # fmt: skip
O("unfold", windows, cases=lambda t: [(t(7), 0, 3, 2), (t(2, 7), 1, 3, 1), (t(5, 2), 0, 5, 1)])
O("as_strided", strided, layouts=False, cases=lambda t: [
    (t(12), [3, 4], [4, 1]), (t(12), [2, 3], [1, 3], 2), (t(3, 4), [2, 2], [0, 1]),
])  # fmt: skip
O("alias", lambda x: x, cases=lambda t: [(t(2, 3),)])
O("_conj", np.conj, only=COMPLEX_NAMES, cases=lambda t: [(t(2, 3),), (t(),)])
O("_neg_view", np.negative, only=(*INT_NAMES, *REAL_NAMES, *COMPLEX_NAMES), cases=lambda t: [(t(2, 3),), (t(),)])
O("view_dtype", lambda x: x.view("int32"), layouts=False, native=True, only=("float32", "int8"), result={"float32": "int32", "int8": "int32"},
  cases=lambda t: [(t(3, 4), t.named("int32"))])  # fmt: skip
O("real_view", lambda x: np.stack([x.real, x.imag], -1), cases=lambda t: [(t(2, 3),)], only=COMPLEX_NAMES, result="REAL")
O("complex_view", lambda x: x[..., 0] + 1j * x[..., 1], layouts=False, only=("float32", "float64"),
  result={"float32": "complex64", "float64": "complex128"}, specials=False, cases=lambda t: [(t(2, 3, 2),)])  # fmt: skip
