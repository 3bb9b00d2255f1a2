"""Copies whose source lies the other way round, of more than caches hold."""

import facula
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("as_before")


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("dtype", ("int8", "int16", "float32", "float64", "complex128"))
def test_turned_copies_that_no_cache_holds(dtype, threads):
    facula.set_num_threads(threads)
    size = np.dtype(dtype).itemsize
    for rows, columns in ((64, 100000 // size + 11), (250001 // size, 67), (1511, 1613), (3001, 7001 // size)):
        rows = max(rows, (6 << 20) // (columns * size) + 1)
        a = (np.arange(rows * columns, dtype=np.int64) * 2654435761 >> 7).astype(np.int8).astype(dtype).reshape(rows, columns)
        x = facula.from_numpy(a)
        assert (x.mT.contiguous().numpy() == a.T).all()
        within = facula.zeros(columns + 3, rows + 5, dtype=x.dtype)
        within[2:-1, 3:-2].copy_(x.mT)
        assert (within.numpy()[2:-1, 3:-2] == a.T).all() and not within[:2].any() and not within[:, :3].any() and not within[:, -2:].any()


@pytest.mark.parametrize("columns", range(1, 18))
@pytest.mark.parametrize("dtype", ("uint8", "int16"))
def test_rows_of_few_bytes_are_folded_as_they_are(dtype, columns):
    for rows in (1, 15, 16, 17, 31, 33, 100, 1000):
        a = (np.arange(rows * (columns + 3)) * 7919 >> 3).astype(dtype).reshape(rows, columns + 3)
        for x in (a[:, :columns], np.ascontiguousarray(a[:, :columns])):
            t = facula.from_numpy(a)[:, :columns] if x.base is not None else facula.from_numpy(x)
            assert t.sum(1).tolist() == x.sum(1, dtype=np.int64).tolist()
            assert t.amax(1).tolist() == x.max(1).tolist()
            assert (t.t().contiguous().numpy() == x.T).all()
