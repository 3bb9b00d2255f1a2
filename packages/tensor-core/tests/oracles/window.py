"""Sliding windows: convolution and pooling, one window place at a time. Errors are measured at the sum of the terms' sizes."""

import itertools

import numpy as np

from . import O

WINDOW = dict(ulp=8, culp=16, specials=False)


def last(values, x):
    """The entries of an int[3] that x (N, C, ...) uses."""
    return tuple(values)[3 - (x.ndim - 2) :]


def places(kernel, dilation, stride, padding, small):
    """(place in the kernel, index of padded big that it reads for every position of small)"""
    for k in itertools.product(*map(range, kernel)):
        reads = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, s, n in zip(k, dilation, stride, small))
        yield k, (slice(None), slice(None), *reads)


def margins(small, big, kernel, stride, padding, dilation):
    """Zeros before and after big that every window stays inside."""
    return [(0, 0), (0, 0)] + [
        (p, max(p, (n - 1) * s + d * (k - 1) + 1 - p - b)) for n, b, k, s, p, d in zip(small, big, kernel, stride, padding, dilation)
    ]


def grouped(a, groups, axis):
    return a.reshape(*a.shape[:axis], groups, a.shape[axis] // groups, *a.shape[axis + 1 :])


def to_small(big, weight, small, stride, padding, dilation, groups):
    kernel = weight.shape[2:]
    wide = np.pad(big, margins(small, big.shape[2:], kernel, stride, padding, dilation))
    out = np.zeros((big.shape[0], groups, weight.shape[0] // groups, *small), big.dtype)
    for k, reads in places(kernel, dilation, stride, padding, small):
        out += np.einsum("goc,ngc...->ngo...", grouped(weight[(..., *k)], groups, 0), grouped(wide[reads], groups, 1))
    return out.reshape(big.shape[0], weight.shape[0], *small)


def to_big(small, weight, big, stride, padding, dilation, groups):
    kernel, sizes = weight.shape[2:], small.shape[2:]
    around = margins(sizes, big, kernel, stride, padding, dilation)
    wide = np.zeros((small.shape[0], weight.shape[1] * groups, *(b + p + q for b, (p, q) in zip(big, around[2:]))), small.dtype)
    for k, reads in places(kernel, dilation, stride, padding, sizes):
        term = np.einsum("goc,ngo...->ngc...", grouped(weight[(..., *k)], groups, 0), grouped(small, groups, 1))
        wide[reads] += term.reshape(wide[reads].shape)
    return wide[(slice(None), slice(None), *(slice(p, p + b) for b, (p, _) in zip(big, around[2:])))]


def to_weight(small, big, kernel, stride, padding, dilation, groups):
    sizes = small.shape[2:]
    wide = np.pad(big, margins(sizes, big.shape[2:], kernel, stride, padding, dilation))
    out = np.zeros((small.shape[1], big.shape[1] // groups, *kernel), small.dtype)
    for k, reads in places(kernel, dilation, stride, padding, sizes):
        term = np.einsum("ngop,ngcp->goc", *(grouped(a.reshape(*a.shape[:2], -1), groups, 1) for a in (small, wide[reads])))
        out[(..., *k)] = term.reshape(out.shape[:2])
    return out


def sizes(x, kernel, stride, padding, dilation, ceil=False):
    found = []
    for n, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation):
        room = n + 2 * p - d * (k - 1) - 1
        out = (-(-room // s) if ceil else room // s) + 1
        found.append(out - 1 if ceil and (out - 1) * s >= n + p else out)
    return tuple(found)


def convolution(x, y, z, stride, padding, dilation, transposed, output_padding, groups):
    s, p, d, e = (last(v, x) for v in (stride, padding, dilation, output_padding))
    if transposed:
        big = tuple((n - 1) * a - 2 * b + c * (k - 1) + f + 1 for n, k, a, b, c, f in zip(x.shape[2:], y.shape[2:], s, p, d, e))
        out = to_big(x, y, big, s, p, d, groups)
    else:
        out = to_small(x, y, sizes(x, y.shape[2:], s, p, d), s, p, d, groups)
    return out if z is None else out + z.reshape(-1, *(1,) * (x.ndim - 2))


def grad_input(x, y, size, stride, padding, dilation, transposed, groups):
    return (to_small if transposed else to_big)(x, y, last(size, x), last(stride, x), last(padding, x), last(dilation, x), groups)


def grad_weight(x, y, size, stride, padding, dilation, transposed, groups):
    small, big = (y, x) if transposed else (x, y)
    return to_weight(small, big, last(size, x), last(stride, x), last(padding, x), last(dilation, x), groups)



ONE, NONE = (1, 1, 1), (0, 0, 0)
O("convolution", convolution, scale=lambda x, y, z, stride, padding, dilation, transposed, output_padding, groups:
    convolution(abs(x), abs(y), None if z is None else abs(z), stride, padding, dilation, transposed, output_padding, groups), cases=lambda t: [
    (t(2, 3, 9), t(4, 3, 3), t(4), ONE, (0, 0, 1), ONE, False, NONE, 1),
    (t(2, 3, 8, 7), t(5, 3, 3, 2), None, (1, 2, 1), (0, 1, 0), (1, 1, 2), False, NONE, 1),
    (t(2, 4, 6, 6), t(6, 2, 1, 1), t(6), ONE, NONE, ONE, False, NONE, 2),
    (t(1, 5, 20, 20), t(17, 5, 3, 3), t(17), ONE, (0, 1, 1), ONE, False, NONE, 1),
    (t(2, 3, 9, 9), t(3, 1, 3, 3), t(3), (1, 2, 2), (0, 1, 1), ONE, False, NONE, 3),
    (t(1, 2, 4, 5, 6), t(3, 2, 2, 3, 2), t(3), (2, 1, 1), (1, 1, 0), ONE, False, NONE, 1),
    (t(2, 3, 5, 4), t(3, 2, 3, 2), t(2), (1, 2, 3), (0, 1, 0), ONE, True, (0, 1, 2), 1),
    (t(2, 4, 5), t(4, 1, 3), t(4), (1, 1, 2), (0, 0, 1), ONE, True, (0, 0, 1), 4),
    (t(1, 4, 5), t(4, 3, 3), None, ONE, (0, 0, 1), (1, 1, 2), True, (0, 0, 1), 2),
    (t(0, 3, 5), t(2, 3, 3), None, ONE, NONE, ONE, False, NONE, 1),
], **WINDOW)  # fmt: skip
O("convolution_grad_input", lambda x, y, size, stride, padding, dilation, transposed, groups:
    grad_input(x, y, size, stride, padding, dilation, transposed, groups),
    scale=lambda x, y, size, stride, padding, dilation, transposed, groups:
    grad_input(abs(x), abs(y), size, stride, padding, dilation, transposed, groups), cases=lambda t: [
    (t(2, 4, 4, 7), t(4, 3, 3, 1), (1, 8, 7), (1, 2, 1), (0, 1, 0), ONE, False, 1),
    (t(2, 4, 7), t(4, 1, 3), (1, 1, 7), ONE, (0, 0, 1), ONE, False, 4),
    (t(1, 8, 18, 18), t(8, 20, 3, 3), (1, 18, 18), ONE, (0, 1, 1), ONE, False, 1),
    (t(2, 3, 8, 7), t(4, 3, 3, 1), (1, 4, 7), (1, 2, 1), (0, 1, 0), ONE, True, 1),
], **WINDOW)  # fmt: skip
O("convolution_grad_weight", lambda x, y, kernel, stride, padding, dilation, transposed, groups:
    grad_weight(x, y, kernel, stride, padding, dilation, transposed, groups),
    scale=lambda x, y, kernel, stride, padding, dilation, transposed, groups:
    grad_weight(abs(x), abs(y), kernel, stride, padding, dilation, transposed, groups), cases=lambda t: [
    (t(2, 4, 4, 7), t(2, 3, 8, 7), (1, 3, 1), (1, 2, 1), (0, 1, 0), ONE, False, 1),
    (t(2, 4, 17), t(2, 4, 17), (1, 1, 3), ONE, (0, 0, 1), ONE, False, 4),
    (t(2, 6, 20, 20), t(2, 4, 20, 20), (1, 3, 3), ONE, (0, 1, 1), ONE, False, 2),
    (t(2, 3, 8, 7), t(2, 4, 4, 7), (1, 3, 1), (1, 2, 1), (0, 1, 0), ONE, True, 1),
], **WINDOW)  # fmt: skip


def spans(x, kernel, stride, padding, dilation, ceil):
    """For each window of x (N, C, ...): its position, its slices, and its number of places before clipping at the far end."""
    kernel, stride, padding, dilation = (last(v, x) for v in (kernel, stride, padding, dilation))
    for at in itertools.product(*map(range, sizes(x, kernel, stride, padding, dilation, ceil))):
        slices, whole = [], 1
        for j, n, k, s, p, d in zip(at, x.shape[2:], kernel, stride, padding, dilation):
            start, end = j * s - p, j * s - p + d * (k - 1) + 1
            whole *= min(end, n + p) - start
            slices.append(slice(start if start >= 0 else start % d, min(end, n), d))
        yield at, tuple(slices), whole


def adaptive(x, size):
    size = last(size, x)
    for at in itertools.product(*map(range, size)):
        yield at, tuple(slice(j * n // o, -(-(j + 1) * n // o)) for j, n, o in zip(at, x.shape[2:], size)), 0


def shape_of(x, windows):
    return x.shape[:2] + tuple(max(n) + 1 for n in zip(*(at for at, _, _ in windows)))


def maxima(x, windows):
    windows = list(windows)
    best = np.zeros(shape_of(x, windows), x.dtype)
    where = np.zeros(best.shape, np.int64)
    index = np.arange(int(np.prod(x.shape[2:]))).reshape(x.shape[2:])
    for at, slices, _ in windows:
        part = x[(slice(None), slice(None), *slices)].reshape(*x.shape[:2], -1)
        k = np.argmax(part, -1)
        best[(..., *at)] = np.take_along_axis(part, k[..., None], -1)[..., 0]
        where[(..., *at)] = index[slices].reshape(-1)[k]
    return best, where


def shares(windows, count_pad, divisor, x):
    for at, slices, whole in windows:
        inside = int(np.prod([len(range(*s.indices(n))) for s, n in zip(slices, x.shape[2:])]))
        yield at, (slice(None), slice(None), *slices), divisor or (whole if count_pad and whole else inside)


def means(x, windows, count_pad=False, divisor=0):
    windows = list(windows)
    out = np.zeros(shape_of(x, windows), x.dtype)
    for at, slices, share in shares(windows, count_pad, divisor, x):
        out[(..., *at)] = x[slices].reshape(*x.shape[:2], -1).sum(-1) / share
    return out


def means_grad(g, size, windows, count_pad=False, divisor=0):
    x = np.zeros(g.shape[:2] + last(size, g), g.dtype)
    for at, slices, share in shares(windows(x), count_pad, divisor, x):
        x[slices] += (g[(..., *at)] / share)[(..., *(None,) * (g.ndim - 2))]
    return x


def put_back(x, y, size):
    out = np.zeros((*x.shape[:2], int(np.prod(last(size, x)))), x.dtype)
    for n, c in np.ndindex(*x.shape[:2]):
        np.add.at(out[n, c], y[n, c].reshape(-1), x[n, c].reshape(-1))
    return out.reshape(*x.shape[:2], *last(size, x))


O("max_pool", lambda x, kernel, stride, padding, dilation, ceil_mode: maxima(x, spans(x, kernel, stride, padding, dilation, ceil_mode)),
    result=("SAME", "INDEX"), specials=False, cases=lambda t: [
    (t(2, 3, 9), (1, 1, 3), (1, 1, 2), (0, 0, 1), ONE, False),
    (t(2, 3, 8, 7), (1, 2, 2), (1, 2, 2), NONE, ONE, True),
    (t(1, 2, 9, 8), (1, 3, 2), (1, 1, 2), (0, 1, 1), (1, 2, 1), False),
    (t(1, 2, 4, 5, 6), (2, 3, 2), (2, 1, 1), (1, 1, 0), ONE, False),
])  # fmt: skip
O("_max_pool_values", lambda x, kernel, stride, padding, dilation, ceil_mode: maxima(x, spans(x, kernel, stride, padding, dilation, ceil_mode))[0],
    specials=False, cases=lambda t: [
    (t(2, 3, 9), (1, 1, 3), (1, 1, 2), (0, 0, 1), ONE, False),
    (t(2, 3, 8, 7), (1, 2, 2), (1, 2, 2), NONE, ONE, True),
    (t(1, 2, 9, 8), (1, 3, 2), (1, 1, 2), (0, 1, 1), (1, 2, 1), False),
    (t(1, 2, 4, 5, 6), (2, 3, 2), (2, 1, 1), (1, 1, 0), ONE, False),
])  # fmt: skip
O("adaptive_max_pool", lambda x, size: maxima(x, adaptive(x, size)), result=("SAME", "INDEX"), specials=False, cases=lambda t: [
    (t(2, 3, 9), (1, 1, 4)),
    (t(2, 3, 8, 7), (1, 3, 9)),
])  # fmt: skip
O("max_pool_grad", put_back, ulp=4, scale=lambda x, y, size: put_back(abs(x), y, size), specials=False, cases=lambda t: [
    (t(2, 3, 4), t.index(9, 2, 3, 4), (1, 1, 9)),
    (t(2, 3, 4, 3), t.index(56, 2, 3, 4, 3), (1, 8, 7)),
])  # fmt: skip
O("avg_pool", lambda x, kernel, stride, padding, ceil_mode, count_include_pad, divisor:
    means(x, spans(x, kernel, stride, padding, ONE, ceil_mode), count_include_pad, divisor),
    scale=lambda x, kernel, stride, padding, ceil_mode, count_include_pad, divisor:
    means(abs(x), spans(x, kernel, stride, padding, ONE, ceil_mode), count_include_pad, divisor), ulp=4, specials=False, cases=lambda t: [
    (t(2, 3, 9), (1, 1, 3), (1, 1, 2), (0, 0, 1), False, True, 0),
    (t(2, 3, 8, 7), (1, 3, 2), (1, 2, 2), (0, 1, 0), True, False, 0),
    (t(1, 2, 9, 8), (1, 3, 2), (1, 1, 2), (0, 1, 1), True, True, 0),
    (t(1, 2, 4, 5, 6), (2, 3, 2), (2, 1, 1), (1, 1, 0), False, True, 5),
])  # fmt: skip
O("avg_pool_grad", lambda x, size, kernel, stride, padding, ceil_mode, count_include_pad, divisor:
    means_grad(x, size, lambda big: spans(big, kernel, stride, padding, ONE, ceil_mode), count_include_pad, divisor),
    scale=lambda x, size, kernel, stride, padding, ceil_mode, count_include_pad, divisor:
    means_grad(abs(x), size, lambda big: spans(big, kernel, stride, padding, ONE, ceil_mode), count_include_pad, divisor),
    ulp=4, specials=False, cases=lambda t: [
    (t(2, 3, 5), (1, 1, 9), (1, 1, 3), (1, 1, 2), (0, 0, 1), False, True, 0),
    (t(2, 3, 5, 4), (1, 8, 7), (1, 3, 2), (1, 2, 2), (0, 1, 0), True, False, 0),
])  # fmt: skip
O("adaptive_avg_pool", lambda x, size: means(x, adaptive(x, size)), scale=lambda x, size: means(abs(x), adaptive(x, size)), ulp=4,
    specials=False, cases=lambda t: [
    (t(2, 3, 9), (1, 1, 4)),
    (t(2, 3, 8, 7), (1, 3, 9)),
    (t(1, 2, 4, 5, 6), (2, 3, 1)),
])  # fmt: skip
O("adaptive_avg_pool_grad", lambda x, size: means_grad(x, size, lambda big: adaptive(big, (1,) * (5 - x.ndim) + x.shape[2:])),
    scale=lambda x, size: means_grad(abs(x), size, lambda big: adaptive(big, (1,) * (5 - x.ndim) + x.shape[2:])), ulp=4,
    specials=False, cases=lambda t: [
    (t(2, 3, 4), (1, 1, 9)),
    (t(2, 3, 3, 9), (1, 8, 7)),
])  # fmt: skip


def columns(x, kernel, dilation, padding, stride):
    """Each window of each plane, element by element of the kernel."""
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)))
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, d, s in zip(x.shape[2:], kernel, dilation, stride)]
    out = np.zeros((*x.shape[:2], *kernel, *counts), x.dtype)
    for a, b in np.ndindex(*kernel):
        for i, j in np.ndindex(*counts):
            out[:, :, a, b, i, j] = x[:, :, i * stride[0] + a * dilation[0], j * stride[1] + b * dilation[1]]
    return out.reshape(x.shape[0], x.shape[1] * kernel[0] * kernel[1], -1)


def folded(x, size, kernel, dilation, padding, stride):
    """The transpose: a plane's number k shows where its element k was shown."""
    channels = x.shape[1] // (kernel[0] * kernel[1])
    number = columns(np.arange(1, size[0] * size[1] + 1).reshape(1, 1, *size), kernel, dilation, padding, stride)[0]
    out = np.zeros((x.shape[0], channels, size[0] * size[1] + 1), x.dtype)
    for n, c in np.ndindex(*out.shape[:2]):
        np.add.at(out[n, c], number.reshape(-1), x[n].reshape(channels, -1)[c])
    return out[:, :, 1:].reshape(*out.shape[:2], *size)


O("_im2col", columns, cases=lambda t: [
    (t(2, 3, 6, 7), (3, 2), (1, 1), (0, 0), (1, 1)),
    (t(2, 2, 9, 5), (2, 3), (2, 1), (1, 2), (1, 2)),
    (t(1, 2, 4, 20), (1, 3), (1, 1), (0, 1), (3, 1)),
    (t(1, 1, 3, 3), (3, 3), (2, 2), (2, 2), (1, 1)),
])  # fmt: skip
O("_col2im", folded, ulp=4, scale=lambda x, size, kernel, dilation, padding, stride: folded(abs(x), size, kernel, dilation, padding, stride), specials=False, cases=lambda t: [
    (t(2, 18, 24), (6, 7), (3, 2), (1, 1), (0, 0), (1, 1)),
    (t(2, 12, 36), (9, 5), (2, 3), (2, 1), (1, 2), (1, 2)),
    (t(1, 9, 9), (3, 3), (3, 3), (2, 2), (2, 2), (1, 1)),
])  # fmt: skip
