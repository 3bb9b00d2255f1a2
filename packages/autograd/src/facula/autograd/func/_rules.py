"""How each kind of operation works on many examples at once. A rule gets the row and its arguments, in which a tensor with
examples stands as One(tensor with the examples along dim 0), and returns the result(s) with examples along dim 0; or None,
where it does not know and the examples are to be taken one by one.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import facula as F

from .._core import Tensor, extend
from ..rules._tools import of_all, several


class One:
    """An argument with examples; `ndim`, `shape` and `dtype` are one example's."""

    __slots__ = ("whole",)

    def __init__(self, whole) -> None:
        self.whole = whole

    @property
    def shape(self) -> tuple:
        return self.whole.shape[1:]

    @property
    def ndim(self) -> int:
        return self.whole.ndim - 1

    @property
    def dtype(self) -> F.dtype:
        return self.whole.dtype


def call(name, *args) -> Any:
    return extend.call(extend.ops[name], *args)


def size_of(args) -> int | None:
    for a in args:
        if isinstance(a, One):
            return a.whole.shape[0]
        if a.__class__ in (tuple, list):
            found = size_of(a)
            if found is not None:
                return found
    return None


def with_examples(a, n) -> Tensor:
    """The whole of an argument, its one value repeated where it has no examples."""
    return a.whole if isinstance(a, One) else a.expand(n, *a.shape)


def dim_of(dim, ndim, op) -> int:
    """dim of one example as a dim of the whole."""
    room = max(ndim, 1)
    if not -room <= dim < room:
        raise IndexError(f"{op.name}: Dimension out of range (expected to be in range of [{-room}, {room - 1}], but got {dim})")
    return dim % room + 1


def aligned(a, ndim) -> Tensor:
    """The whole with ones after the examples, so that examples of fewer dims broadcast as they would alone."""
    if not isinstance(a, One):
        return a
    w = a.whole
    return w if a.ndim == ndim else w.reshape(w.shape[0], *[1] * (ndim - a.ndim), *w.shape[1:])


def maps(op, args) -> Tensor:
    places = [k for k in op.tensors if isinstance(args[k], (One, Tensor))]
    ndim = max(args[k].ndim for k in places)
    found = list(args)
    promoted = places[1:] if op.name.startswith("where") else places
    kinds = {args[k].dtype for k in promoted}
    for k in places:
        found[k] = aligned(args[k], ndim)
    if len(kinds) > 1:  # a tensor without dims promotes differently from one of examples
        common = reduce(F.promote_types, kinds) if len({args[k].ndim == 0 for k in promoted}) == 1 else result_type(args, promoted)
        for k in promoted:
            found[k] = found[k].to(common)
    return extend.call(op, *found)


def result_type(args, places) -> F.dtype:
    alone = [F.empty(args[k].shape, dtype=args[k].dtype, device="meta") if isinstance(args[k], One) else args[k] for k in places]
    kind = F.result_type(alone[0], alone[1])
    for t in alone[2:]:
        kind = F.result_type(F.empty((1,) if any(a.ndim for a in alone[:2]) else (), dtype=kind, device="meta"), t)
    return kind


def folds(op, args) -> Tensor | tuple:
    x, at = args[0], [p.name for p in op.params].index("dim")
    keep = next((args[k] for k, p in enumerate(op.params) if p.name == "keepdim"), False)
    found, dim = list(args), args[at]
    whole, n = x.whole, x.ndim
    if "int" in op.params[at].type and dim is None:  # of all elements
        found[0], found[at] = whole.reshape(whole.shape[0], -1), 1
        out = extend.call(op, *found)
        kept = [o.reshape(o.shape[0], *[1] * n) if keep else o for o in (out if isinstance(out, tuple) else (out,))]
        return tuple(kept) if isinstance(out, tuple) else kept[0]
    if n == 0:  # as PyTorch: dim 0 of a number is the number
        if dim is not None:
            for d in dim if several(dim) else (dim,):
                dim_of(d, 0, op)
        found[0] = whole.reshape(-1, 1)
        found[at] = 1 if "int" in op.params[at].type else (1,)
        for k, p in enumerate(op.params):
            if p.name == "keepdim":
                found[k] = False
        return extend.call(op, *found)
    found[0] = whole
    if of_all(dim):
        found[at] = tuple(range(1, n + 1))
    else:
        found[at] = tuple(dim_of(d, n, op) for d in dim) if several(dim) else dim_of(dim, n, op)
    return extend.call(op, *found)


def along_dim(op, args) -> Tensor | tuple | None:
    """Operations along one dim: running folds, softmax, sorting."""
    if any(isinstance(a, One) for a in args[1:]):
        return None
    at = [p.name for p in op.params].index("dim")
    found, x = list(args), args[0]
    found[at] = dim_of(args[at], x.ndim, op)
    if x.ndim:
        found[0] = x.whole
        return extend.call(op, *found)
    found[0] = x.whole.unsqueeze(1)
    if any(p.name == "keepdim" for p in op.params):
        return None
    out = extend.call(op, *found)
    return tuple(o.squeeze(1) for o in out) if isinstance(out, (tuple, list)) else out.squeeze(1)


def matmul(op, args) -> Tensor | None:
    x, y = args[:2]
    n = size_of(args)
    if not x.ndim or not y.ndim:
        return None
    left, right = (with_examples(a, n) for a in (x, y))
    if x.ndim == 1:
        left = left.unsqueeze(1)
    if y.ndim == 1:
        right = right.unsqueeze(-1)
    if y.ndim == 2 and not isinstance(y, One) and x.ndim > 1:
        right = y  # one matrix for all: a longer product
    else:
        ndim = max(left.ndim, right.ndim)
        left, right = (w.reshape(w.shape[0], *[1] * (ndim - w.ndim), *w.shape[1:]) for w in (left, right))
    out = call("matmul", left, right)
    if y.ndim == 1:
        out = out.squeeze(-1)
    return out.squeeze(-1 if y.ndim == 1 else -2) if x.ndim == 1 else out


def linear(op, args) -> One | None:
    x, weight, bias = args
    if not isinstance(weight, One) and not isinstance(bias, One):
        return extend.call(op, x.whole, weight, bias) if weight.ndim == 2 else None
    if weight.ndim != 2:
        return None
    across = One(weight.whole.transpose(1, 2)) if isinstance(weight, One) else weight.transpose(0, 1)
    out = matmul(op, (x, across))
    if out is None or bias is None:
        return out
    return maps(extend.ops["add"], (One(out), bias, 1))


def gathers(op, args) -> Tensor | None:
    x, dim, index = args[:3]
    n = size_of(args)
    if not x.ndim:
        return None
    place = dim_of(dim, x.ndim, op)
    if not op.name.startswith("index_"):  # whose index names slices, and not an element each
        if any(a.ndim != x.ndim for a in args[2:]):
            return None
        wholes = [with_examples(a, n) for a in (x, *args[2:])]
        return extend.call(op, wholes[0], place, *wholes[1:])
    if isinstance(index, One):
        return None
    wholes = [with_examples(a, n) for a in (x, *args[3:])]
    if any(w.ndim != x.ndim + 1 for w in wholes):
        return None
    return extend.call(op, wholes[0], place, index, *wholes[1:])


def cat(op, args) -> Tensor | None:
    tensors, dim = args
    if any(t.ndim == 0 or (t.ndim == 1 and t.shape[0] == 0) for t in tensors):
        return None
    n = size_of(args)
    return extend.call(op, [with_examples(t, n) for t in tensors], dim_of(dim, max(t.ndim for t in tensors), op))


def stack(op, args) -> Tensor:
    tensors, dim = args
    n = size_of(args)
    return extend.call(op, [with_examples(t, n) for t in tensors], dim_of(dim, tensors[0].ndim + 1, op))


def flip(op, args) -> Tensor | None:
    x, dims = args
    return extend.call(op, x.whole, tuple(dim_of(d, x.ndim, op) for d in dims)) if x.ndim else None


def padded(op, args) -> Tensor | None:
    """The examples are a first dim, which gets no border."""
    x, pad, value = args
    return extend.call(op, x.whole, pad, value) if len(pad) <= 2 * x.ndim else None


def diag_embed(op, args) -> Tensor | None:
    x, offset, dim1, dim2 = args
    return extend.call(op, x.whole, offset, dim_of(dim1, x.ndim + 1, op), dim_of(dim2, x.ndim + 1, op)) if x.ndim else None


def copy(op, args) -> Tensor | None:
    x, dtype, memory_format = args
    return extend.call(op, x.whole, dtype, memory_format) if memory_format in (0, 1) else None


def normalised(op, args) -> One | None:
    """layer_norm and rms_norm with one weight for all examples."""
    return None if any(isinstance(a, One) for a in args[1:]) else extend.call(op, args[0].whole, *args[1:])


# ---- views: (whole, one example's shape, arguments) -> view of the whole ---------------------------------------------------


def view(w, shape, size) -> Tensor:
    size = [int(s) for s in size]
    if -1 in size:
        known = 1
        for s in size:
            known *= s if s != -1 else 1
        total = 1
        for s in shape:
            total *= s
        if known:
            size[size.index(-1)] = total // known
    try:
        return call("view", w, (w.shape[0], *size))
    except RuntimeError:
        return w.reshape(w.shape[0], *size)  # PyTorch copies here too


def expand(w, shape, size) -> Tensor:
    lead = len(size) - len(shape)
    w = w.reshape(w.shape[0], *[1] * lead, *shape) if lead else w
    return call("expand", w, (w.shape[0], *size))


def squeeze(w, shape, dims) -> Tensor:
    return call("squeeze", w, tuple(d % max(len(shape), 1) + 1 for d in dims) if shape else ())


def unsqueeze(w, shape, dim) -> Tensor:
    room = len(shape) + 1
    if not -room <= dim < room:
        raise IndexError(f"unsqueeze: Dimension out of range (expected to be in range of [{-room}, {room - 1}], but got {dim})")
    return call("unsqueeze", w, dim % room + 1)


def up(dim, shape) -> int:
    room = max(len(shape), 1)
    if not -room <= dim < room:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-room}, {room - 1}], but got {dim})")
    return dim % room + 1


VIEWS = {
    "view": view,
    "expand": expand,
    "squeeze": squeeze,
    "unsqueeze": unsqueeze,
    "alias": lambda w, shape: call("alias", w),
    "permute": lambda w, shape, dims: call("permute", w, (0, *[up(d, shape) for d in dims])),
    "transpose": lambda w, shape, a, b: call("transpose", w, up(a, shape), up(b, shape)) if shape else call("alias", w),
    "select": lambda w, shape, dim, index: call("select", w, up(dim, shape), index),
    "slice": lambda w, shape, dim, *rest: call("slice", w, up(dim, shape), *rest),
    "diagonal": lambda w, shape, offset, a, b: call("diagonal", w, offset, up(a, shape), up(b, shape)),
    "unfold": lambda w, shape, dim, size, step: call("unfold", w, up(dim, shape), size, step) if shape else None,
    "_conj": lambda w, shape: call("_conj", w),
    "_neg_view": lambda w, shape: call("_neg_view", w),
    "real_view": lambda w, shape: call("real_view", w),
    "complex_view": lambda w, shape: call("complex_view", w),
}

NAMED = {"linear": linear, "matmul": matmul, "cat": cat, "stack": stack, "flip": flip, "_roll": along_dim, "constant_pad_nd": padded, "diag_embed": diag_embed, "copy": copy, "_layer_norm": normalised, "_rms_norm": normalised}
NAMED |= dict.fromkeys(("softmax", "log_softmax", "_sort", "_topk", "_kthvalue", "_median", "_nanmedian", "_mode"), along_dim)
KINDS = {"map1": maps, "map2": maps, "map3": maps, "fold": folds, "scan": along_dim, "gather": gathers}
