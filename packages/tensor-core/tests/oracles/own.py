"""Rows with a kernel of their own."""

import numpy as np

from . import O

O("copy", lambda x: np.array(x), cases=lambda t: [(t(3, 4),), (t(),), (t(0, 3),)])
NAN = float("nan")  # arange counts in integers then, exactly
O("arange_of", lambda start, step, count, first, by: (start + step * np.arange(count) if first != first else first + by * np.arange(count)),
  cases=lambda t: [
    (0, 1, 7, t.dtype_object, NAN, 1.0), (2, 3, 20, t.dtype_object, NAN, 0.0), (1, 1, 0, t.dtype_object, NAN, 0.0),
    *([(0, 0, 9, t.dtype_object, 0.25, 0.5)] if t.dtype.startswith("float") else []),
], only=("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"))  # fmt: skip
O("linspace_of", lambda count, first, last: np.linspace(first, last, count), ulp=2, cases=lambda t: [
    (1, t.dtype_object, 2.0, 5.0), (0, t.dtype_object, 0.0, 1.0), (9, t.dtype_object, 0.0, 16.0),
    *([(10, t.dtype_object, 0.25, 1.0), (700, t.dtype_object, 3.0, 2.0)] if t.dtype.startswith("float") else []),
], only=("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"))  # fmt: skip
O("_triangle", lambda input, diagonal, upper: (np.triu if upper else np.tril)(input, diagonal), cases=lambda t: [
    (t(3, 4), 0, False), (t(3, 4), 0, True), (t(2, 4, 3), 1, False), (t(2, 4, 3), -2, True), (t(3, 3), 7, False), (t(3, 3), -7, False), (t(0, 3), 0, True), (t(2, 0), 0, False),
])  # fmt: skip
O("cat", lambda tensors, dim: np.concatenate(tensors, axis=dim), cases=lambda t: [
    ([t(2, 3), t(4, 3)], 0),
    ([t(2, 3), t(2, 1), t(2, 0)], 1),
    ([t(2, 3, 4), t(2, 3, 4)], -1),
    ([t(5)], 0),
])  # fmt: skip
