"""Ways that gradients of some shapes take: the same bits as of each line alone, on any number of threads."""

import numpy as np
import pytest

import facula
from facula.tensor_core import _ops

SLABS = [((300, 17, 50), (0, 1, 2), 1), ((70, 40, 64), (0, 1, 2), 0), ((3, 90, 700), (2, 0, 1), 2), ((2, 200, 500), (1, 2, 0), 1)]


@pytest.mark.parametrize("dtype", (facula.float16, facula.bfloat16, facula.float32))
@pytest.mark.parametrize(("shape", "order", "dim"), SLABS)
def test_large_staged_arguments_come_in_slabs_with_the_bits_of_each_line(shape, order, dim, dtype):
    x, g = (facula.from_numpy(np.random.default_rng(seed).normal(size=[shape[d] for d in order])).to(dtype).permute([order.index(d) for d in range(3)]) for seed in (0, 1))
    last = shape[-1:]
    for threads in (1, 3):
        facula.set_num_threads(threads)
        for forward, backward in ((_ops.softmax, _ops._softmax_backward), (_ops.log_softmax, _ops._log_softmax_backward)):
            out = forward(x, dim)
            dx = backward(g, out, dim)
            lines = [t.movedim(dim, -1).reshape(-1, shape[dim])[::97] for t in (x, out, g, dx)]
            for a, b, c, d in zip(*lines, strict=True):
                assert facula.equal(forward(a, 0), b)
                assert facula.equal(backward(c, b.clone(), 0), d)
        w = facula.linspace(0.5, 1.5, last[0]).to(dtype)
        out, mean, rstd = _ops._layer_norm(x, w, None, 1, 1e-5)
        dx, dw, db = _ops._layer_norm_backward(g, x, mean, rstd, None, 1)
        y, r = _ops._rms_norm(x, w, 1, 1e-5)
        dy, _ = _ops._rms_norm_backward(g, x, r, None, 1)
        assert dw.numel() == db.numel() == 0
        flat = [t.reshape(-1, *last)[::97] for t in (x, g, out, dx, y, dy)]
        for a, c, *expected in zip(*flat, strict=True):
            alone, m, s = _ops._layer_norm(a, w, None, 1, 1e-5)
            other, q = _ops._rms_norm(a, w, 1, 1e-5)
            found = (alone, _ops._layer_norm_backward(c, a, m, s, None, 1)[0], other, _ops._rms_norm_backward(c, a, q, None, 1)[0])
            assert all(map(facula.equal, found, expected))
        if shape[1] % 2 == 0:
            out = _ops._group_norm(x, None, None, 2, 1e-5)[0]
            assert facula.equal(_ops._group_norm(x[1:2], None, None, 2, 1e-5)[0], out[1:2])


def test_distances_of_few_columns_have_gradients_of_their_own_order():
    """A register of rows against row by row, whose lanes are columns: rows alone go the other way."""
    for p, r, m in ((40, 300, 3), (16, 7, 17), (5, 600, 1), (9, 33, 8)):
        x, y, g = (facula.from_numpy(np.random.default_rng(k).normal(size=s)).float() for k, s in enumerate(((2, p, m), (2, r, m), (2, p, r))))
        x[0, 1] = y[0, 2]
        out = facula.cdist(x, y)
        for threads in (1, 3):
            facula.set_num_threads(threads)
            dx = _ops._cdist_backward(g, x, y, out, 2.0)
            for b in range(2):
                for i in range(p):
                    at = (slice(b, b + 1), slice(i, i + 1))
                    assert facula.equal(_ops._cdist_backward(g[at], x[at], y[b : b + 1], out[at], 2.0)[0], dx[at][0])


@pytest.mark.parametrize("dtype", (facula.float32, facula.float64, facula.float16, facula.bfloat16, facula.int64, facula.complex64, facula.bool))
def test_adding_through_one_index_is_adding_slice_by_slice(dtype):
    r = np.random.default_rng(3)
    for shape, order, dim in (((7, 5), (0, 1), 0), ((7, 5), (1, 0), 1), ((4, 30, 3), (2, 0, 1), 1), ((3, 4, 90), (0, 1, 2), 1), ((50,), (0,), 0), ((6, 2, 3, 40), (1, 0, 3, 2), 2)):
        for length in (1, 11):
            index = facula.from_numpy(r.integers(-shape[dim], shape[dim], length))
            values = facula.from_numpy(r.integers(-8, 8, [length if d == dim else n for d, n in enumerate(shape)])).to(dtype)
            x = facula.zeros([shape[d] for d in order], dtype=dtype).permute([order.index(d) for d in range(len(shape))])
            expected = x.clone()
            for k, i in enumerate(index.tolist()):
                expected.select(dim, i).add_(values.select(dim, k))
            for threads in (1, 3):
                facula.set_num_threads(threads)
                assert facula.equal(_ops.index_put_rows_(x.clone(), [index], values, 1 << dim, True), expected)



@pytest.mark.parametrize(("stored", "to"), [("float16", "float32"), ("float32", "bfloat16"), ("int32", "float64"), ("float64", "uint8"), ("complex64", "complex128"), ("bool", "float32")])
def test_conversions_of_short_lines_are_those_of_each_element(stored, to):
    stored, to = getattr(facula, stored), getattr(facula, to)
    r = np.random.default_rng(5)
    for shape, order in (((40, 2, 30), (0, 2, 1)), ((33, 34), (1, 0)), ((9, 8, 7, 6), (0, 2, 3, 1)), ((50, 30, 7), (1, 0, 2)), ((30, 40), (0, 1))):
        flat = facula.from_numpy(r.integers(0, 100, shape)).to(stored)
        turned = flat.permute(order)
        expected = facula.tensor([[x] for x in turned.tolist()], dtype=stored).view(turned.shape).flatten()
        for threads in (1, 3):
            facula.set_num_threads(threads)
            assert facula.equal(turned.to(to, memory_format=facula.contiguous_format).flatten(), expected.to(to))
            out = facula.zeros(shape, dtype=to).permute(order)
            out.copy_(turned.contiguous())
            assert facula.equal(out.contiguous().flatten(), expected.to(to))
            wide = facula.zeros((*turned.shape, 2), dtype=to)[..., 0]
            wide.copy_(turned)
            assert facula.equal(wide.contiguous().flatten(), expected.to(to))
            assert facula.equal(flat[:, :1].expand(shape).to(to, memory_format=facula.contiguous_format), flat[:, :1].to(to).expand(shape).contiguous())
