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


LAID = {
    "as it is": lambda x: x,
    "turned": lambda x: x.permute(2, 0, 1),
    "gaps": lambda x: x[:, ::2, 1:],
    "expanded": lambda x: x[:, :1].expand(2, 5, 4),
    "a column": lambda x: x[1, :, 2],
    "one number": lambda x: x[1, 2, 3].expand(3, 2),
    "no dims": lambda x: x[1, 2, 3],
}


@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "float64", "complex128"))
@pytest.mark.parametrize("laid", LAID)
def test_take_reads_any_layout_where_it_lies(laid, dtype):
    x = LAID[laid](facula.arange(24).reshape(2, 3, 4).to(getattr(facula, dtype)))
    flat, n = x.numpy().reshape(-1), x.numel()
    for shape in ((), (0,), (7,), (3, 1, 2), (40, 50)):
        places = np.random.default_rng(1).integers(-n, n, shape)
        for index in (facula.tensor(places), facula.tensor(places.T), facula.tensor(places).mT if len(shape) > 1 else facula.tensor(places)):
            got = x.take(index)
            assert got.dtype is x.dtype and got.shape == index.shape and got.tolist() == flat[index.numpy()].tolist()
            assert got.is_contiguous()
    for bad in (n, -n - 1):
        with pytest.raises(IndexError, match="out of bounds"):
            x.take(facula.tensor([0, bad]))
