"""Rows that read or write through an index tensor."""

import numpy as np

from . import O


def gather(x, dim, index):
    if x.ndim == 0:
        return x.reshape(1)[index]
    window = tuple(slice(None) if d == dim % x.ndim else slice(n) for d, n in enumerate(index.shape))
    return np.take_along_axis(x[window], index, axis=dim)


def places(x, dim, index):
    """Full index arrays of the elements that index names along dim."""
    where = list(np.indices(index.shape, sparse=True))
    where[dim % x.ndim] = index
    return tuple(where)


def written(x, dim, index, src, add):
    out = np.array(x)
    where = places(x, dim, index)
    src = src[tuple(slice(n) for n in index.shape)]
    if add:
        np.add.at(out, where, src)
    else:
        out[where] = src
    return out


def combined(ufunc):
    def oracle(x, dim, index, src):
        out = np.array(x)
        ufunc.at(out, places(x, dim, index), src[tuple(slice(n) for n in index.shape)])
        return out

    return oracle


def slices(x, dim, index, source, add):
    out = np.moveaxis(np.array(x), dim, 0)
    rows = np.moveaxis(source, dim, 0)
    if add:
        np.add.at(out, index, rows)
    else:
        out[index] = rows
    return np.moveaxis(out, 0, dim)


def size(x, dim, index, y, write):
    return write(abs(x), dim, index, abs(y), True)


def along(t, *shape, dim):
    """An index tensor without repetition along dim: writes have one answer."""
    ranks = np.argsort(t.rng.random(shape), axis=dim)
    return t.value(ranks, "int64")


ADD = dict(ulp=4, halves=4, specials=False)  # PyTorch adds halves one by one, rounding each time, and so do we

for _name in ("gather", "_gather_sparse_grad"):
    O(_name, lambda x, dim, index: gather(x, dim, index), cases=lambda t: [
        (t(4, 5), 0, t.index(4, 3, 5)),
        (t(4, 5), 1, t.index(5, 2, 7)),
        (t(3, 4, 5), -1, t.index(5, 3, 4, 2)),
        (t(3, 4), 0, t.index(3, 0, 4)),
    ])  # fmt: skip
O("index_select", lambda x, dim, index: np.take(x, index, axis=dim), cases=lambda t: [
    (t(4, 5), 0, t.index(4, 7)),
    (t(4, 5, 3), 1, t.index(5, 2)),
    (t(4, 5), -1, t.index(5, 0)),
])  # fmt: skip
O("scatter", lambda x, dim, index, src: written(x, dim, index, src, False), cases=lambda t: [
    (t(4, 5), 0, along(t, 4, 5, dim=0), t(4, 5)),
    (t(3, 4, 5), -1, along(t, 3, 4, 5, dim=-1), t(3, 4, 5)),
    (t(4, 5), 1, along(t, 2, 5, dim=1), t(4, 5)),
])  # fmt: skip
O("scatter_add", lambda x, dim, index, src: written(x, dim, index, src, True),
  scale=lambda x, dim, index, src: written(abs(x), dim, index, abs(src), True), cases=lambda t: [
    (t(4, 5), 0, t.index(4, 9, 5), t(9, 5)),
    (t(3, 4, 5), -1, t.index(5, 3, 4, 8), t(3, 4, 8)),
    (t(4, 5), 1, t.index(5, 0, 3), t(4, 5)),
], **ADD)  # fmt: skip
for _name, _ufunc in (("_scatter_prod", np.multiply), ("_scatter_max", np.maximum), ("_scatter_min", np.minimum)):
    O(_name, combined(_ufunc), cases=lambda t: [
        (t(4, 5), 0, t.index(4, 6, 5), t(6, 5)),
        (t(3, 4, 5), -1, t.index(5, 3, 4, 8), t(3, 4, 8)),
        (t(4, 5), 1, t.index(5, 0, 3), t(4, 5)),
    ], **{**ADD, "ulp": 8, "halves": 8})  # fmt: skip
O("index_add", lambda x, dim, index, source: slices(x, dim, index, source, True),
  scale=lambda x, dim, index, source: slices(abs(x), dim, index, abs(source), True), cases=lambda t: [
    (t(4, 5), 0, t.index(4, 9), t(9, 5)),
    (t(3, 4, 5), 1, t.index(4, 6), t(3, 6, 5)),
], **ADD)  # fmt: skip
O("index_copy", lambda x, dim, index, source: slices(x, dim, index, source, False), cases=lambda t: [
    (t(4, 5), 0, along(t, 4, dim=0), t(4, 5)),
    (t(3, 4, 5), -1, along(t, 5, dim=0), t(3, 4, 5)),
])  # fmt: skip
