"""Derivatives of what copies, fills and joins."""

import facula as F

from .._core import row
from .._support import cast, formed, sum_to
from .._table import D, _zeros, zero

D("copy",  node="CloneBackward0", check=True, x=lambda g, dtype, x_dtype: g if dtype is None else cast(g, x_dtype))
D("copy_into_", node="CopyBackwards", x=_zeros, y=lambda g, y_shape, y_dtype: cast(sum_to(g, y_shape), y_dtype))
D("place_into_", node="CopyBackwards", x=_zeros, y=lambda g, y_shape, y_dtype: cast(sum_to(g, y_shape), y_dtype))
zero("fill_number_")
D("_triangle", x=lambda g, diagonal, upper: F.triu(g, diagonal) if upper else F.tril(g, diagonal))
D("cat",   tensors=lambda g, tensors_shapes, tensors_dtypes, dim: pieces(g, tensors_shapes, tensors_dtypes, dim))
D("_roll", x=lambda g, shift, dim: row("_roll")(g, -shift, dim))
D("constant_pad_nd", x=lambda g, pad: F.constant_pad_nd(g, [-w for w in pad]))
D("_pad_around", node="PadBackward0", x=lambda g, x_format, pad, mode: formed(around_gradient(g, pad, mode), x_format if mode != 2 and x_format != 4 else 0))
D("_regroup", x=lambda g, x_shape, split, order: row("_regroup")(g, [split[d] for d in order], [order.index(d) for d in range(len(order))], tuple(x_shape)))
D("diag_embed", x=lambda g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2))
D("stack", tensors=lambda g, tensors_dtypes, dim: [cast(t, d) for t, d in zip(F.unbind(g, dim), tensors_dtypes)])


def around_gradient(g, pad, mode) -> F.Tensor:
    """What each place got back from where it was shown: dim by dim the border is laid over what was kept, which is then put into input's places."""
    cut = []
    for k in range(len(pad) // 2):
        d = g.ndim - 1 - k
        before, after = max(pad[2 * k], 0), max(pad[2 * k + 1], 0)
        kept = g.shape[d] - before - after
        total = g.narrow(d, before, kept) if before or after else g
        for width, at, low in ((before, 0, True), (after, before + kept, False)):
            if not width:
                continue
            border = g.narrow(d, at, width)
            if mode == 1:
                border, width = F.sum(border, d, True), 1
            elif mode == 0:
                border = F.flip(border, (d,))
            first = (0 if low else kept - 1) if mode == 1 else (1 if low else kept - 1 - width) if mode == 0 else kept - width if low else 0
            total = total + F.constant_pad_nd(border, (*(0,) * (2 * k), first, kept - first - width))
        g = total
        cut += [max(-pad[2 * k], 0), max(-pad[2 * k + 1], 0)]
    return F.constant_pad_nd(g, cut) if any(cut) else g


def pieces(g, shapes, dtypes, dim) -> list:
    """The parts of g that came from each tensor; legacy empty tensors of one dim had no part."""
    found, at = [], 0
    for shape, dtype in zip(shapes, dtypes):
        if tuple(shape) == (0,) and g.ndim != 1:
            found.append(F.zeros((0,), dtype=dtype, device=g.device))
            continue
        found.append(cast(g.narrow(dim, at, shape[dim]), dtype))
        at += shape[dim]
    return found
