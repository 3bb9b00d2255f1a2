"""Rows with a kernel of their own."""

import numpy as np

from . import O


def lu_order(pivots, n):
    order = np.tile(np.arange(n), (*pivots.shape[:-1], 1))
    for at in np.ndindex(pivots.shape[:-1]):
        for i, other in enumerate(pivots[at]):
            order[at][[i, other - 1]] = order[at][[other - 1, i]]
    return order


O("copy", lambda x: np.array(x), cases=lambda t: [(t(3, 4),), (t(),), (t(0, 3),)])
NAN = float("nan")  # arange counts in integers then, exactly
O("arange_of", lambda start, step, count, first, by: (start + step * np.arange(count) if first != first else first + by * np.arange(count)),
  cases=lambda t: [
    (0, 1, 7, t.dtype_object, NAN, 1.0), (2, 3, 20, t.dtype_object, NAN, 0.0), (1, 1, 0, t.dtype_object, NAN, 0.0),
    *([(0, 0, 9, t.dtype_object, 0.25, 0.5)] if t.dtype.startswith("float") else []),
], only=("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"))  # fmt: skip
O("linspace_of", lambda count, first, last: np.linspace(first, last, count), ulp=2, halves=2, cases=lambda t: [  # steps and counts of halves are halves, as PyTorch's
    (1, t.dtype_object, 2.0, 5.0), (0, t.dtype_object, 0.0, 1.0), (9, t.dtype_object, 0.0, 16.0),
    *([(10, t.dtype_object, 0.25, 1.0), (700, t.dtype_object, 3.0, 2.0)] if t.dtype.startswith("float") else []),
], only=("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"))  # fmt: skip
O("_triangle", lambda input, diagonal, upper: (np.triu if upper else np.tril)(input, diagonal), cases=lambda t: [
    (t(3, 4), 0, False), (t(3, 4), 0, True), (t(2, 4, 3), 1, False), (t(2, 4, 3), -2, True), (t(3, 3), 7, False), (t(3, 3), -7, False), (t(0, 3), 0, True), (t(2, 0), 0, False),
])  # fmt: skip
O("_triangle_indices", lambda rows, columns, diagonal, upper: np.stack((np.triu_indices if upper else np.tril_indices)(rows, diagonal, columns)), cases=lambda t: [
    (3, 4, 0, False, t.dtype_object), (4, 3, 1, True, t.dtype_object), (5, 5, -2, False, t.dtype_object), (3, 5, 9, False, t.dtype_object),
    (3, 5, -9, True, t.dtype_object), (0, 3, 0, False, t.dtype_object), (3, 4, -9, False, t.dtype_object), (2, 100, 30, True, t.dtype_object),
], only=("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"))  # fmt: skip
O("_lu_order", lu_order, only=("int32",), cases=lambda t: [
    (t.value(np.array([3, 3, 3])), 3), (t.value(np.array([[1, 4], [4, 2], [2, 2]])), 4), (t.value(np.zeros((0, 2))), 3), (t.value(np.zeros((2, 0))), 0),
])
O("_one_hot", lambda input, classes: np.eye(classes, dtype=np.int64)[input], cases=lambda t: [
    (t.index(5, 4, 3), 5), (t.index(1), 1), (t.index(3, 0), 3), (t.index(7, 700), 9),
], only=("int64",))  # fmt: skip
O("_hash", lambda input: np.bitwise_xor.reduce(input, -1), cases=lambda t: [
    (t.index(900, 4, 3),), (t.index(900, 7),), (t.index(900, 3, 0),), (t.index(900, 0, 3),), (t.index(900, 7, 700),),
], only=("int64",))  # fmt: skip
O("polar", lambda abs, angle: abs * np.cos(angle) + 1j * (abs * np.sin(angle)), specials=False, result="COMPLEX", culp=2.5, ulp=2.5, cases=lambda t: [
    (t(3, 5), t(3, 5)), (t(700), t(700)), (t(), t()), (t(0, 2), t(0, 2)),
], only=("float32", "float64"))  # fmt: skip


def written(input, mask, source):
    out = input.copy()
    out[mask] = source.reshape(-1)[: mask.sum()]
    return out


O("masked_scatter", written, cases=lambda t: [(t(3, 4), t.bool(3, 4), t(12)), (t(700), t.bool(700), t(7, 100)), (t(), t.bool(), t(1)), (t(0, 3), t.bool(0, 3), t(0))])
O("cat", lambda tensors, dim: np.concatenate(tensors, axis=dim), cases=lambda t: [
    ([t(2, 3), t(4, 3)], 0),
    ([t(2, 3), t(2, 1), t(2, 0)], 1),
    ([t(2, 3, 4), t(2, 3, 4)], -1),
    ([t(5)], 0),
])  # fmt: skip
O("stack", lambda tensors, dim: np.stack(tensors, axis=dim), cases=lambda t: [
    ([t(2, 3), t(2, 3)], 0), ([t(2, 3), t(2, 3)], -1), ([t(2, 3, 4), t(2, 3, 4), t(2, 3, 4)], 1), ([t(5)], 0), ([t(), t(), t()], 0), ([t(0, 2), t(0, 2)], 1),
])  # fmt: skip
O("_cat_flat", lambda tensors: np.concatenate([x.reshape(-1) for x in tensors]), cases=lambda t: [
    ([t(2, 3), t(4), t()],), ([t(3, 0), t(2, 3, 4)],), ([t(70, 80), t(5)],), ([t(0, 2)],),
])  # fmt: skip
O("flip", lambda input, dims: np.flip(input, dims), cases=lambda t: [
    (t(3, 4), (0,)), (t(3, 4), (0, -1)), (t(2, 3, 4), (2, 0)), (t(700), (0,)), (t(3, 4), ()), (t(), ()), (t(0, 3), (0, 1)),
])  # fmt: skip
O("_roll", lambda input, shift, dim: np.roll(input, shift, dim), cases=lambda t: [(t(3, 4), 1, 0), (t(3, 4), -6, -1), (t(700), 13, 0), (t(2, 3, 4), 0, 1), (t(0, 3), 2, 0)])


def bordered(input, pad, value):
    pairs = [(pad[2 * k], pad[2 * k + 1]) if 2 * k < len(pad) else (0, 0) for k in range(input.ndim)][::-1]
    inner = input[tuple(slice(max(-b, 0), n - max(-a, 0)) for (b, a), n in zip(pairs, input.shape))]
    return np.pad(inner, [(max(b, 0), max(a, 0)) for b, a in pairs], constant_values=input.dtype.type(value))


O("constant_pad_nd", bordered, cases=lambda t: [
    (t(3, 4), (1, 2), 1.0), (t(3, 4), (-1, 2, 1, -2), 0.0), (t(2, 3, 4), (0, 0, 2, 0), 1.0), (t(2, 3, 4), (1, 1, 1, 1, 1, 1), 0.0), (t(700), (3, 5), 1.0),
    (t(3, 4), (), 0.0), (t(3, 4), (0, 0), 0.0), (t(0, 3), (1, 1, 2, 0), 1.0), (t(3, 4), (-2, -2), 0.0),
])  # fmt: skip


def around(input, pad, mode):
    pairs = [(pad[2 * k], pad[2 * k + 1]) if 2 * k < len(pad) else (0, 0) for k in range(input.ndim)][::-1]
    inner = input[tuple(slice(max(-b, 0), n - max(-a, 0)) for (b, a), n in zip(pairs, input.shape))]
    return np.pad(inner, [(max(b, 0), max(a, 0)) for b, a in pairs], mode=("reflect", "edge", "wrap")[mode])


O("_pad_around", around, cases=lambda t: [
    *((x, pad, mode) for mode in (0, 1, 2) for x, pad in ((t(3, 4), (1, 2)), (t(3, 4), (2, -1, 1, 0)), (t(2, 3, 4), (0, 0, 2, 1)), (t(700), (300, 5)))),
    (t(3, 4), (5, 9), 1), (t(3, 4), (4, 4), 2), (t(2, 3, 4), (3, 3, 2, 2, 1, 1), 0),
])  # fmt: skip


def around_gradient(g, pad, mode):
    """Added up at the numbers of the input's places, which are shown as the input is."""
    shape = [n - sum(pad[2 * (g.ndim - 1 - d) : 2 * (g.ndim - d)]) for d, n in enumerate(g.shape)]
    out = np.zeros(int(np.prod(shape)), g.dtype)
    np.add.at(out, around(np.arange(out.size).reshape(shape), pad, mode).reshape(-1), g.reshape(-1))
    return out.reshape(shape)


O("_pad_around_backward", around_gradient, ulp=64, culp=64, scale=lambda g, pad, mode: around_gradient(abs(g), pad, mode), specials=False, cases=lambda t: [
    *((g, pad, mode) for mode in (0, 1, 2) for g, pad in ((t(3, 7), (1, 2)), (t(4, 5), (2, -1, 1, 0)), (t(2, 6, 4), (0, 0, 2, 1)), (t(1005), (300, 5)))),
    (t(3, 18), (5, 9), 1), (t(3, 12), (4, 4), 2), (t(4, 7, 10), (1, 1, 2, 2, 1, 1), 0),
])  # fmt: skip
O("_regroup", lambda input, split, order, shape: input.reshape(split).transpose(order).reshape(shape), cases=lambda t: [
    (t(8, 2, 3), (2, 2, 2, 2, 3), (0, 3, 1, 4, 2), (2, 4, 6)), (t(4), (2, 2), (1, 0), (4,)), (t(0, 4), (0, 2, 2), (2, 0, 1), (0, 4)), (t(), (), (), ()), (t(6, 700), (2, 3, 700), (1, 0, 2), (6, 700)),
])  # fmt: skip


def embedded(input, offset, dim1, dim2):
    n = input.shape[-1]
    out = np.zeros((*input.shape[:-1], n + abs(offset), n + abs(offset)), input.dtype)
    at = np.arange(n)
    out[..., at + max(-offset, 0), at + max(offset, 0)] = input
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


O("diag_embed", embedded, cases=lambda t: [
    (t(4), 0, -2, -1), (t(2, 3), 1, 0, 2), (t(2, 3), -2, -1, 0), (t(40), 3, -2, -1), (t(0), 0, -2, -1), (t(2, 0), 1, 0, 1),
])  # fmt: skip


def norms(d, p):
    d = abs(d)
    if p in (0, np.inf):
        return (d != 0).sum(-1).astype(d.dtype) if p == 0 else d.max(-1, initial=0)
    return (d**p).sum(-1) ** (d.dtype.type(1) / d.dtype.type(p))


def pairs(x, p):
    i, j = np.triu_indices(len(x), 1)
    return norms(x[i] - x[j], p)


def cdist_backward(g, x1, x2, distance, p):
    x, y, out = x1, x2, distance
    d, g, out = x[..., :, None, :] - y[..., None, :, :], g[..., None], out[..., None]
    if p == 0:
        return x * 0
    if p == np.inf:
        return (g * np.sign(d) * (abs(d) == out)).sum(-2)
    return (g * np.sign(d) * (abs(d) / out) ** (p - 1)).sum(-2)


POWERS = (0.0, 1.0, 2.0, 3.5, np.inf)
RFLOATS = ("float16", "bfloat16", "float32", "float64")
O("_cdist", lambda x, y, p: norms(x[..., :, None, :] - y[..., None, :, :], p), ulp=16, halves=4, specials=False, only=RFLOATS, cases=lambda t: [
    *((t(5, 3), t(7, 3), p) for p in POWERS), (t(2, 3, 4), t(2, 70, 4), 2.0), (t(3, 300), t(2, 300), 1.0), (t(0, 3), t(4, 3), 2.0), (t(2, 0), t(3, 0), 2.0),
])  # fmt: skip
O("_pdist", pairs, ulp=16, halves=4, specials=False, only=RFLOATS, cases=lambda t: [*((t(5, 3), p) for p in POWERS), (t(140, 4), 2.0), (t(1, 3), 2.0), (t(0, 3), 2.0)])
# the distance that comes with the gradient is any: slopes are g (|d| / distance)^(p - 1)
O("_cdist_backward", cdist_backward, ulp=64, scale="max", specials=False, only=("float32", "float64"), cases=lambda t: [
    *((t(5, 7), t(5, 3), t(7, 3), t.wide(np.full((5, 7), 2.0)), p) for p in POWERS[:4]), (t(2, 4, 300), t(2, 4, 3), t(2, 300, 3), t.wide(np.full((2, 4, 300), 3.0)), 2.0),
])  # fmt: skip
O("_cross", lambda x, y, dim: np.cross(x, y, axis=dim), ulp=4, scale="max", specials=False, cases=lambda t: [(t(4, 3), t(4, 3), 1), (t(3, 5), t(3, 5), 0), (t(2, 3, 4), t(2, 3, 4), -2)])
