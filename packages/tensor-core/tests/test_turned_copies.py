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
