"""Derivatives of rows with a kernel of their own.

Their gradients are kernels too, and those have no rule: where a second derivative is asked for (grad mode is on during backward, or a forward level is open)
the same formula is composed of rows that have one.
"""

import math

import facula as F

from .._core import composing, extend, row
from .._support import format_of, formed
from .._table import D, none, refuse
from ._tools import only_where, straight, zeros
from .folds import norm_gradient

D("softmax",     x=lambda g, out, dim: softmax_gradient(g, out, dim))
D("log_softmax", x=lambda g, out, dim: log_softmax_gradient(g, out, dim))

D("_cross_entropy", node="NllLossBackward0", flat=(1, 2),
  x=lambda g, x, y, z, out1, out2, reduction, ignore_index, label_smoothing:
    cross_entropy_gradient(g, x, y, z, out1, out2, reduction, ignore_index, label_smoothing))
D("_nll_loss",      flat=(1,),
  x=lambda g, x, x_origin, y, z, out1, reduction, ignore_index: straight(nll_gradient(g, x, y, z, out1, reduction, ignore_index), x_origin, F.preserve_format))

D("_multi_margin",  node="MultiMarginLossBackward0", x=lambda g, x, y, z, p, margin: multi_margin_gradient(g, x, y, z, p, margin))
D("_multilabel_margin", node="MultilabelMarginLossBackward0", x=lambda g, x, y: multilabel_margin_gradient(g, x, y))

D("_layer_norm", node="NativeLayerNormBackward0", flat=(1, 2), xyz=lambda g, x, y, out1, out2, dims, eps, needs: layer_norm_gradients(g, x, y, out1, out2, dims, eps, needs))
D("_rms_norm", node="MulBackward0", flat=(1,),   xy=lambda g, x, y, out1, dims, eps: rms_norm_gradients(g, x, y, out1, dims, eps))
D("_batch_norm_train", node="NativeBatchNormBackward0", flat=(1, 2, 3), xyz=lambda g, x, y, out1, out2, eps: batch_norm_gradients(g, x, y, out1, out2, eps, True))
D("_batch_norm_eval", node="NativeBatchNormBackward0", flat=(1,),   xyzwv=lambda g, x, y, z, w, out1, eps, needs: batch_norm_eval_gradients(g, x, y, z, w, out1, eps, needs))
D("_group_norm", node="NativeGroupNormBackward0", flat=(1, 2), xyz=lambda g, x, y, out1, out2, groups, eps: group_norm_gradients(g, x, y, out1, out2, groups, eps))

D("_embedding", x=lambda g, x_shape, y, padding_idx, scale_grad_by_freq: embedding_gradient(g, x_shape, y, padding_idx, scale_grad_by_freq))
D("_embedding_bag", flat=(1,), xw=lambda g, x, y, z, w, out1, padding_idx, mode, scale_grad_by_freq:
  bag_gradients(g, x, y, z, w, out1, padding_idx, mode, scale_grad_by_freq))

D("_cdist",  node="CdistBackward0", x=lambda g, x, y, out, p: cdist_gradient(g, x, y, out, p), y=lambda g, x, y, out, p: cdist_gradient(turned(g), y, x, turned(out), p))
D("_cross",  node="LinalgCrossBackward0", x=lambda g, y, dim: row("_cross")(y, g, dim), y=lambda g, x, dim: row("_cross")(g, x, dim))
D("_pdist",  node="PdistBackward0", x=lambda g, x, out, p: pdist_gradient(g, x, out, p))

D("_sort",      flat=(1,), x=lambda g, x_shape, out1, dim: put(g, x_shape, dim, out1))
D("_topk",      flat=(1,), x=lambda g, x_shape, out1, dim: put(g, x_shape, dim, out1))
for _name in ("_kthvalue", "_median", "_nanmedian", "_mode"):
    D(_name, node={"_median": "MedianBackward1", "_nanmedian": "NanmedianBackward1"}.get(_name),    flat=(1,), x=lambda g, x_shape, out1, dim, keepdim: put_one(g, x_shape, dim, keepdim, out1))

none("_softmax_backward", "_log_softmax_backward", "_cross_entropy_backward", "_nll_loss_backward", "_multi_margin_backward", "_multilabel_margin_backward")
none("_layer_norm_backward", "_rms_norm_backward", "_batch_norm_backward", "_group_norm_backward", "_embedding_backward", "_embedding_bag_backward")
none("_cdist_backward", "_searchsorted", "_histogram")
refuse("_bincount", operands="y")
none("_adam_", "_sgd_", "_add_flat_", "_adagrad_", "_adadelta_", "_rmsprop_", "_adamax_", "_nadam_", "_radam_", "_rprop_", "_asgd_", "_adafactor_", "_muon_")


def softmax_gradient(g, out, dim) -> F.Tensor:
    if composing():
        return formed((g - F.sum(g * out, dim, True)) * out, 0)
    return row("_softmax_backward")(g, out, dim)


def log_softmax_gradient(g, out, dim) -> F.Tensor:
    if composing():
        return formed(g - F.exp(out) * F.sum(g, dim, True), 0)
    return row("_log_softmax_backward")(g, out, dim)


def picked_weights(g, x, target, weight, total, reduction, ignore_index) -> tuple:
    """(dim of the classes, targets that are all in range, gradient of each row, weight of each row)."""
    dim = 0 if x.ndim == 1 else 1
    kept = target != ignore_index
    target = F.where(kept, target, F.zeros_like(target))
    weights = kept.to(x.dtype) if weight is None else weight[target] * kept.to(x.dtype)
    rows = (g / total.to(x.dtype) if reduction == 1 else g) * kept.to(x.dtype)
    return dim, target, rows, weights


def cross_entropy_gradient(g, x, target, weight, lse, total, reduction, ignore_index, smoothing) -> F.Tensor:
    if not composing():
        return row("_cross_entropy_backward")(g, x, target, lse, total, weight, reduction, ignore_index, smoothing)
    dim, target, rows, weights = picked_weights(g, x, target, weight, total, reduction, ignore_index)
    p = F.softmax(x, dim)
    hot = F.scatter(F.zeros_like(x), dim, target.unsqueeze(dim), F.ones_like(target.unsqueeze(dim), dtype=x.dtype))
    dx = (rows * weights * (1 - smoothing)).unsqueeze(dim) * (p - hot)
    if smoothing:
        classes = F.ones((x.shape[dim],), dtype=x.dtype) if weight is None else weight
        across = classes.reshape([-1 if d == dim else 1 for d in range(x.ndim)])
        dx = dx + (rows * (smoothing / x.shape[dim])).unsqueeze(dim) * (p * classes.sum() - across)
    return formed(dx, 0)


def nll_gradient(g, x, target, weight, total, reduction, ignore_index) -> F.Tensor:
    if not composing():
        return row("_nll_loss_backward")(g, x, target, total, weight, reduction, ignore_index)
    dim, target, rows, weights = picked_weights(g, x, target, weight, total, reduction, ignore_index)
    return F.scatter_add(zeros(x.shape, x), dim, target.unsqueeze(dim), (-rows * weights).unsqueeze(dim))


def normal_gradients(g, h, r, w, along) -> F.Tensor:
    """dx of h * w, where h is x normalised over the dims `along` and r the reciprocal of its spread."""
    gw = g if w is None else g * w
    return r * (gw - F.mean(gw, along, True) - h * F.mean(gw * h, along, True))


def normalised(x, along, eps, rsqrt=F.rsqrt) -> tuple:
    """(x normalised over the dims `along`, the reciprocal of its spread), with history."""
    centred = x - F.mean(x, along, True)
    r = rsqrt(F.mean(centred * centred, along, True) + eps)
    return centred * r, r


def layer_norm_gradients(g, x, weight, mean, rstd, dims, eps, needs) -> tuple:
    lead = tuple(range(x.ndim - dims))
    if not composing():
        dx, dw, db = row("_layer_norm_backward")(g, x, mean, rstd, weight, dims)
        return dx, dw, db if weight is not None else formed(added(g, lead), 0) if needs[2] else None
    g, x = extend.gradient_lies(g, "rows"), extend.gradient_lies(x, "rows")
    h, r = normalised(x, tuple(range(x.ndim - dims, x.ndim)), eps)
    return formed(normal_gradients(g, h, r, weight, tuple(range(x.ndim - dims, x.ndim))), 0), formed(added(g * h, lead), 0), formed(added(g, lead), 0)


def added(t, dims) -> F.Tensor:
    return F.sum(t, dims) if dims else t


def turned(t) -> F.Tensor:
    return t.transpose(-2, -1)


def distance_gradient(g, apart, out, p) -> F.Tensor:
    """norm_gradient of differences; with p = inf each of them that is as far has the whole gradient, not its share."""
    if p == 0:
        return F.zeros_like(apart)
    if p == float("inf"):
        return F.sgn(apart) * only_where(F.abs(apart) == out.unsqueeze(-1), g.unsqueeze(-1))
    return norm_gradient(g, apart, out, (-1,), p, False)


def cdist_gradient(g, x, y, out, p) -> F.Tensor:
    """Of x's rows; those of y are the same with both turned."""
    if not composing():
        return row("_cdist_backward")(g, x, y, out, p)
    return F.sum(distance_gradient(g, x.unsqueeze(-2) - y.unsqueeze(-3), out, p), -2)


def pdist_gradient(g, x, out, p) -> F.Tensor:
    i, j = F.triu_indices(*[x.shape[0]] * 2, 1, device=x.device)
    if composing():
        each = distance_gradient(g, F.index_select(x, 0, i) - F.index_select(x, 0, j), out, p)
        return F.index_add(F.index_add(x * 0, 0, i, each), 0, j, -each)
    n, count = x.shape[0], i.shape[0]
    place = F.full((n, n), count)  # of each pair in the list, both ways round; on the diagonal a zero behind its end
    place[i, j] = place[j, i] = F.arange(count)
    square = lambda t: F.index_select(F.cat([t, F.zeros(1, dtype=t.dtype)]), 0, place.reshape(-1)).reshape(n, n)
    return row("_cdist_backward")(square(g), x, x, square(out), p)


def rms_norm_gradients(g, x, weight, rrms, dims, eps) -> tuple:
    if not composing():
        dx, dw = row("_rms_norm_backward")(g, x, rrms, weight, dims)
        if g.stride() != dx.stride() and 0 not in g.stride():  # PyTorch multiplies g by what follows
            dx = F.empty_like(g).copy_(dx)
            dw = F.empty_like(g).copy_(dw) if dw is not None and dw.shape == g.shape else dw
        return dx, dw
    along = tuple(range(x.ndim - dims, x.ndim))
    r = F.rsqrt(F.mean(x * x, along, True) + eps)
    gw = g if weight is None else g * weight
    return r * (gw - x * r * F.mean(gw * x * r, along, True)), added(g * x * r, tuple(range(x.ndim - dims)))


def batch_norm_gradients(g, x, weight, mean, invstd, eps, train) -> tuple:
    if not composing():
        return row("_batch_norm_backward")(g, x, mean, invstd, weight, train)
    along = (0, *range(2, x.ndim))
    shape = [-1 if d == 1 else 1 for d in range(x.ndim)]
    w = None if weight is None else weight.reshape(shape)
    g, x = extend.gradient_lies(g, "rows"), extend.gradient_lies(x, "like")  # second gradients: x's lies like x, and g's by rows
    if train:
        h, r = normalised(x, along, eps, F.rsqrt if eps else or_zero)
        dx = normal_gradients(g, h, r, w, along)
    else:
        r = invstd.reshape(shape).to(x.dtype)
        h = (x - mean.reshape(shape)) * r
        dx = g * r if w is None else g * (r * w)
    return formed(dx, of_images(x)), F.sum(g * h, along), F.sum(g, along)


def or_zero(variance) -> F.Tensor:
    """1 / sqrt(variance), and 0 for 0: a constant channel."""
    return only_where(variance != 0, F.rsqrt(F.where(variance != 0, variance, 1)))


def of_images(x) -> int:
    """The format of gradients of images and volumes, which lines have none of."""
    return format_of(x) if x.ndim > 3 else 0


def batch_norm_eval_gradients(g, x, mean, var, weight, invstd, eps, needs) -> tuple:
    """Those of x, mean, var, weight, bias; the statistics have one only where somebody asks."""
    if composing():
        invstd = F.rsqrt(var + eps)
    dx, dw, db = batch_norm_gradients(g, x, weight, mean, invstd, eps, False)
    if not (needs[1] or needs[2]):
        return dx, None, None, dw, db
    w = 1 if weight is None else weight
    return dx, -db * invstd * w, dw * invstd * invstd * w * -0.5, dw, db


def group_norm_gradients(g, x, weight, mean, rstd, groups, eps) -> tuple:
    if not composing():
        return row("_group_norm_backward")(g, x, mean, rstd, weight, groups)
    n, c = x.shape[:2]
    shape = (n, groups, c // groups, math.prod(x.shape[2:]))
    h, r = normalised(x.reshape(shape), (2, 3), eps)
    w = None if weight is None else weight.reshape(1, groups, c // groups, 1)
    dx = normal_gradients(g.reshape(shape), h, r, w, (2, 3)).reshape(x.shape)
    along = (0, *range(2, x.ndim))
    return formed(dx, of_images(x)) if x.ndim > 3 else dx, F.sum(g * h.reshape(x.shape), along), F.sum(g, along)


def embedding_gradient(g, shape, index, padding_idx, by_frequency) -> F.Tensor:
    if not composing():
        return row("_embedding_backward")(g, index, shape[0], padding_idx, by_frequency)
    flat = index.reshape(-1)
    rows = g.reshape(flat.shape[0], *shape[1:])
    across = (-1, *[1] * (len(shape) - 1))
    if by_frequency:
        rows = rows / row("_bincount")(flat, None, shape[0])[flat].to(g.dtype).reshape(across)
    if padding_idx >= 0:
        rows = rows * (flat != padding_idx).to(g.dtype).reshape(across)
    return F.index_add(zeros(shape, g), 0, flat, rows)


def bag_gradients(g, weight, index, starts, scales, places, padding, mode, by_frequency) -> tuple:
    """Gradients of the table and of the scales; None for the latter where there are none."""
    if not composing():
        dw, ds = row("_embedding_bag_backward")(g, weight, index, starts, scales, places, padding, mode, by_frequency)
        return dw, None if scales is None else ds
    if mode == 2:
        kept = places >= 0
        return F.scatter_add(zeros(weight.shape, g), 0, F.where(kept, places, F.zeros_like(places)), g * kept.to(g.dtype)), None
    bag = F.searchsorted(starts, F.arange(index.shape[0]), right=True) - 1
    counts = F.ones_like(index) if padding is None else (index != padding).to(index.dtype)
    rows, kept = g[bag], counts.to(g.dtype).unsqueeze(1)
    at = index if padding is None else F.where(counts != 0, index, F.zeros_like(index))
    if mode == 1:
        rows = rows / F.index_add(F.zeros_like(starts), 0, bag, counts).clamp(min=1)[bag].to(g.dtype).unsqueeze(1)
    rows = rows * kept
    ds = None if scales is None else F.sum(rows * weight[at], 1)
    if by_frequency:
        rows = rows / row("_bincount")(at, None, weight.shape[0])[at].to(g.dtype).unsqueeze(1)
    return F.index_add(zeros(weight.shape, g), 0, at, rows if scales is None else rows * scales.unsqueeze(1)), ds


def put(g, shape, dim, index) -> F.Tensor:
    """g at the places it was taken from."""
    return F.scatter_add(zeros(shape, g), dim, index, g) if shape else g


def put_one(g, shape, dim, keepdim, index) -> F.Tensor:
    if not shape:
        return g
    return put(g, shape, dim, index) if keepdim else put(g.unsqueeze(dim), shape, dim, index.unsqueeze(dim))


def multi_margin_gradient(g, x, target, weight, p, margin) -> F.Tensor:
    """Composed where a second derivative is asked for; p == 1 has none but in g."""
    if not composing():
        return row("_multi_margin_backward")(g, x, target, weight, p, margin)
    own = target.unsqueeze(1)
    short_by = margin - x.gather(1, own) + x
    slope = F.where(short_by > 0, 2 * short_by if p == 2 else F.ones_like(short_by), 0.0) / x.size(1)
    slope = (slope if weight is None else slope * weight[target].unsqueeze(1)).scatter(1, own, 0.0)
    return g.unsqueeze(1) * slope.scatter(1, own, -slope.sum(1, True))


def multilabel_margin_gradient(g, x, target) -> F.Tensor:
    """A step function of x times g."""
    if not composing():
        return row("_multilabel_margin_backward")(g, x, target)
    return g.unsqueeze(1) * row("_multilabel_margin_backward")(F.ones_like(g.detach()), x.detach(), target)
