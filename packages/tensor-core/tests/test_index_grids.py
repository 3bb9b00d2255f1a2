"""x[i[:, None], j], read as slices of slices where that is less work: NumPy's values, the strides of any other index, the same refusals."""

import facula
import numpy as np
import pytest

SHAPES = ((50, 60), (3, 50, 60), (50, 60, 3), (2, 40, 30, 3))
LAYOUTS = {
    "dense": lambda x: x,
    "turned": lambda x: x.transpose(0, -1).contiguous().transpose(0, -1),
    "one again": lambda x: x[:1].expand(x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ("float32", "bfloat16", "int64", "bool", "complex128"))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_columns_and_rows_of_positions(shape, dtype, layout):
    rng = np.random.default_rng(len(shape))
    x = LAYOUTS[layout](facula.from_numpy(rng.integers(0, 9, shape)).to(getattr(facula, dtype)))
    numbers = x.to(facula.complex128).numpy()
    for d in range(len(shape) - 1):
        # few and many of each, so that either selection comes first, or neither is worth it
        for rows, columns in ((40, 50), (100, 80), (5, 700), (700, 5), (1, 1100), (2, 3), (0, 2000)):
            i, j = rng.integers(-shape[d], shape[d], (rows, 1)), rng.integers(-shape[d + 1], shape[d + 1], columns)
            before = (slice(None),) * d
            for row in (j, j[None]):
                got = x[(*before, facula.from_numpy(i), facula.from_numpy(row))]
                long_way = x[(*before, *(facula.from_numpy(k.copy()) for k in np.broadcast_arrays(i, row)))]
                assert (numbers[(*before, i, row)] == got.to(facula.complex128).numpy()).all() and got.stride() == long_way.stride() and not got._is_view()


@pytest.mark.parametrize("at,message", [((50, 0), "index 50 .* dimension 0 with size 50"), ((0, -61), "index -61 .* dimension 1 with size 60"), ((-51, 60), "index -51 .* dimension 0")])
def test_places_out_of_bounds_are_named(at, message):
    i, j = facula.zeros(50, 1, dtype=facula.int64), facula.zeros(60, dtype=facula.int64)
    i[3], j[4] = at
    with pytest.raises(IndexError, match=message):
        facula.zeros(50, 60)[i, j]
