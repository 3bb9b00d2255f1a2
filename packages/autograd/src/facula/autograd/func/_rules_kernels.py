"""How the rows of networks and of matrices work on many examples at once, by the contract of _rules.py.

Examples join the batch where what they meet is the same for all, the groups of a convolution where its weights are their own.
"""

from __future__ import annotations

import facula as F

from .._core import Tensor, extend
from ._rules import One, aligned, dim_of, gathers, size_of, with_examples


def merged(a, n) -> Tensor:
    """(N, ...) of n examples as (n N, ...)."""
    w = with_examples(a, n)
    return w.reshape(n * w.shape[1], *w.shape[2:])


def split(out, n) -> Tensor | tuple:
    if isinstance(out, tuple):
        return tuple(split(t, n) for t in out)
    return out.reshape(n, out.shape[0] // n, *out.shape[1:])


def beside(a, n) -> Tensor:
    """(N, C, ...) of n examples as (N, n C, ...)."""
    w = with_examples(a, n).transpose(0, 1)
    return w.reshape(w.shape[0], n * w.shape[2], *w.shape[3:])


def apart(out, n) -> Tensor:
    return out.reshape(out.shape[0], n, out.shape[1] // n, *out.shape[2:]).transpose(0, 1)


def joined(op, args) -> Tensor | tuple | None:
    """Rows that take each plane of the first dim by itself; what else has examples is not for them."""
    n, alike = size_of(args), ALIKE.get(op.name, len(op.tensors))
    tensors, others = args[:alike], args[alike:]
    if not n or min(a.ndim for a in tensors) < 2 or any(isinstance(a, One) for a in others):
        return None
    return split(extend.call(op, *[merged(a, n) for a in tensors], *others), n)


def resampled(op, args) -> Tensor | None:
    return joined(op, args) if args[-1] % args[0].ndim else None


def convolution(op, args) -> Tensor | None:
    x, weight, bias, *rest, groups = args
    n = size_of(args)
    if not n or x.ndim != weight.ndim:
        return None
    if not isinstance(weight, One) and not isinstance(bias, One):
        return split(extend.call(op, merged(x, n), weight, bias, *rest, groups), n)
    own = None if bias is None else merged(bias, n)
    return apart(extend.call(op, beside(x, n), merged(weight, n), own, *rest, groups * n), n)


def convolution_grad_input(op, args) -> Tensor | None:
    g, weight, *rest, groups = args
    n = size_of(args)
    if not n:
        return None
    if not isinstance(weight, One):
        return split(extend.call(op, merged(g, n), weight, *rest, groups), n)
    return apart(extend.call(op, beside(g, n), merged(weight, n), *rest, groups * n), n)


def convolution_grad_weight(op, args) -> Tensor | None:
    g, x, *rest, groups = args
    n = size_of(args)
    return split(extend.call(op, beside(g, n), beside(x, n), *rest, groups * n), n) if n else None


def class_loss(op, args) -> tuple | None:
    """Losses of class numbers: each line's, and each example's sum or mean of them."""
    x, target, weight, reduction, ignored, *smoothing = args
    n = size_of(args)
    if not n or x.ndim < 2 or isinstance(weight, One):
        return None
    loss, *kept = split(extend.call(op, merged(x, n), merged(target, n), weight, 0, ignored, *smoothing)[:-1], n)
    total = weights_of(with_examples(target, n), weight, ignored, x.dtype)
    if reduction:
        loss = loss.reshape(n, -1).sum(1)
        loss = loss / total if reduction == 1 else loss
    return loss, *kept, total


def class_loss_backward(op, args) -> Tensor | None:
    g, x, target, *kept, weight, reduction, ignored = args[: 7 if op.name == "_nll_loss_backward" else 8]
    n = size_of(args)
    if not n or x.ndim < 2 or isinstance(weight, One):
        return None
    *lse, total = kept
    lines = with_examples(target, n).shape
    own = with_examples(g, n)
    if reduction:
        own = own / with_examples(total, n) if reduction == 1 else own
        own = own.reshape(n, *[1] * (len(lines) - 1)).expand(lines)
    found = [merged(One(own), n), merged(x, n), merged(target, n), *[merged(a, n) for a in lse], F.ones((), dtype=x.dtype)]
    return split(extend.call(op, *found, weight, 0, ignored, *args[len(found) + 3 :]), n)


def weights_of(target, weight, ignored, dtype) -> Tensor:
    """The sum of the weights of each example's targets."""
    counts = target != ignored
    if weight is None:
        return counts.reshape(target.shape[0], -1).sum(1).to(dtype)
    return (weight[target.where(counts, 0)] * counts).reshape(target.shape[0], -1).sum(1)


def leading(op, args) -> Tensor | tuple | None:
    """Rows over the last two dims, to which the examples are one more dim before."""
    n, k = size_of(args), len(op.tensors)
    if not n or any(a is None or a.ndim < 2 or a.ndim != args[0].ndim for a in args[:k]):
        return None
    return extend.call(op, *[with_examples(a, n) for a in args[:k]], *args[k:])


def transformed(op, args) -> Tensor | None:
    x, dims, *rest = args
    return extend.call(op, x.whole, tuple(dim_of(d, x.ndim, op) for d in dims), *rest)


def of_indices(op, args) -> Tensor | None:
    """What stands in one table for all, by indices that each example has of its own."""
    table, indices, *rest = args
    return None if isinstance(table, One) else extend.call(op, table, indices.whole, *rest)


def indexed(op, args) -> Tensor | None:
    """Indices for dims that follow one another; each example may have its own for the first ones. dims: a bit for each dim that has some."""
    x, indices, dims = args
    run = dims // (dims & -dims) if dims else 0
    if not run or run & (run + 1):
        return None
    if not any(isinstance(i, One) for i in indices):
        return extend.call(op, x.whole, indices, dims << 1)
    if not dims & 1:
        return None
    n, ndim = size_of(args), max(i.ndim for i in indices)
    wholes = [aligned(i, ndim) for i in indices]
    if not isinstance(x, One):
        return extend.call(op, x, wholes, dims)
    return extend.call(op, x.whole, [F.arange(n).reshape(n, *[1] * ndim), *wholes], dims << 1 | 1)


def indexed_by_own(op, args) -> Tensor | None:
    """index_add and index_select: one long dim for all, in which the indices of each example are moved to its part."""
    x, dim, index, *source = args
    if not isinstance(index, One):
        return gathers(op, args)
    n = size_of(args)
    if not n or not x.ndim or index.ndim != 1 or any(s.ndim != x.ndim for s in source):
        return None
    place = dim_of(dim, x.ndim, op)
    whole, *source = (with_examples(a, n).movedim(place, 1) for a in (x, *source))
    size = whole.shape[1]
    if index.whole.numel() and not 0 <= int(index.whole.min()) <= int(index.whole.max()) < size:
        return None  # example by example, of which one says what is wrong
    moved = (index.whole + F.arange(n).unsqueeze(1) * size).reshape(-1)
    out = extend.call(op, merged(One(whole), n), 0, moved, *[merged(One(s), n) for s in source])
    return split(out, n).movedim(1, place)


def of_each(op, args) -> Tensor:
    return extend.call(op, args[0].whole, *args[1:])


# how many of a row's first arguments are alike, where not all that are tensors
ALIKE = {"_resample": 1, "_resample_backward": 1, "_group_norm": 1, "_attention": 3}

NAMED = {
    "convolution": convolution, "convolution_grad_input": convolution_grad_input, "convolution_grad_weight": convolution_grad_weight,
    "_cross_entropy": class_loss, "_nll_loss": class_loss, "_cross_entropy_backward": class_loss_backward, "_nll_loss_backward": class_loss_backward,
    "_resample": resampled, "_resample_backward": resampled, "_embedding": of_indices, "_one_hot": of_each, "index": indexed, "index_add": indexed_by_own, "index_select": indexed_by_own, "_triangle": leading, "_cdist": leading,
    **dict.fromkeys(("max_pool", "_max_pool_values", "max_pool_grad", "avg_pool", "avg_pool_grad", "adaptive_max_pool", "adaptive_avg_pool", "adaptive_avg_pool_grad", "_group_norm", "_attention"), joined),
    **dict.fromkeys(("_linalg_inv_ex", "_linalg_cholesky_ex", "_linalg_eigh", "_linalg_svd", "_linalg_det", "_linalg_slogdet", "_linalg_matrix_exp", "_linalg_qr", "_linalg_eig", "_linalg_lu_factor_ex", "_linalg_solve_ex", "_linalg_solve_triangular"), leading),
    **dict.fromkeys(("_fft_c2c", "_fft_r2c", "_fft_c2r"), transformed),
}  # fmt: skip
