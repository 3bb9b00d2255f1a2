"""Advanced indexing and whole-tensor writes."""

import numpy as np

from . import O


def key(x, indices, dims):
    """NumPy's index: an array for each bit set in dims, `:` elsewhere."""
    arrays = iter(indices)
    return tuple(next(arrays) if dims >> d & 1 else slice(None) for d in range(x.ndim))


def placed(x, indices, y, dims, accumulate):
    out = np.array(x)
    if accumulate:
        np.add.at(out, key(x, indices, dims), y)
    else:
        out[key(x, indices, dims)] = y
    return out


O("index", lambda x, indices, dims: x[key(x, indices, dims)], cases=lambda t: [
    (t(4, 5), [t.index(4, 3)], 0b01),
    (t(4, 5), [t.index(5, 2, 3)], 0b10),
    (t(4, 5, 3), [t.index(4, 3, 1), t.index(5, 2)], 0b011),
    (t(4, 5, 3), [t.index(4, 6), t.index(3, 6)], 0b101),
    (t(4, 5), [t.index(4, 0)], 0b01),
])  # fmt: skip
O("index_put_rows_", lambda x, indices, values, dims, accumulate: placed(x, indices, values, dims, accumulate),
  scale=lambda x, indices, values, dims, accumulate: placed(abs(x), indices, abs(values), dims, accumulate),
  ulp=4, halves=4, specials=False, cases=lambda t: [
    (t(4, 5), [t.value([2, 0, 3], "int64")], t(3, 5), 0b01, False),
    (t(4, 5, 3), [t.value([[0], [3]], "int64"), t.value([1, 4], "int64")], t(2, 2, 3), 0b011, False),
    (t(4, 5), [t.index(4, 9)], t(9, 5), 0b01, True),
    (t(4, 5), [t.index(4, 9), t.index(5, 9)], t(9), 0b11, True),
])  # fmt: skip
O("copy_into_", lambda x, source: np.broadcast_to(source, x.shape), cases=lambda t: [
    (t(3, 4), t(3, 4)), (t(3, 4), t(4)), (t(), t()), (t(0, 3), t(3)),
])  # fmt: skip
O("place_into_", lambda x, source: np.broadcast_to(source, x.shape), cases=lambda t: [(t(3, 4), t(3, 4)), (t(), t()), (t(0, 3), t(0, 3))])
O("fill_number_", lambda x, value: np.full_like(x, value), cases=lambda t: [(t(3, 4), t.scalar()), (t(), t.scalar()), (t(0, 3), t.scalar())])
