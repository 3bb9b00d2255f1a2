"""Softmax, losses, normalisations, embedding, with their gradients. Errors are measured at the largest element of a result."""

import numpy as np

from . import O

HOW = dict(ulp=32, halves=4, scale="max", specials=False)


def softmax(x, dim):
    if x.ndim == 0:
        return np.ones_like(x)
    e = np.exp(x - np.max(x, axis=dim, keepdims=True, initial=-np.inf))
    return e / np.sum(e, axis=dim, keepdims=True)


def total(x, dim):
    return np.sum(x, axis=dim, keepdims=True) if x.ndim else x


ROWS = lambda t: [(t(3, 5), 1), (t(4, 5, 6), -2), (t(2, 300), -1), (t(7), 0), (t(), 0), (t(0, 3), 1)]
PAIRS = lambda t: [(t(3, 5), t(3, 5), 1), (t(4, 5, 6), t(4, 5, 6), -2), (t(2, 300), t(2, 300), -1)]

O("softmax", softmax, cases=ROWS, **HOW)
O("log_softmax", lambda x, dim: np.log(softmax(x, dim)), cases=ROWS, **HOW)
O("_softmax_backward", lambda g, result, dim: (g - total(g * result, dim)) * result, cases=PAIRS, **HOW)
O("_log_softmax_backward", lambda g, result, dim: g - np.exp(result) * total(g, dim), cases=PAIRS, **HOW)

# --- losses over class numbers: logits (N, C, d1, ...) or (C,), targets (N, d1, ...) or () ------------------------------


def classes_last(x):
    return np.moveaxis(x, 1 if x.ndim > 1 else 0, -1)


def classes_back(x, like):
    return np.moveaxis(x, -1, 1 if like.ndim > 1 else 0)


def one_hot(target, count, ignore_index):
    """(..., C): 1 at the target class, all 0 where it is ignored."""
    return (np.arange(count) == target[..., None]) & (target != ignore_index)[..., None]


def weights(x, weight):
    return np.ones(classes_last(x).shape[-1], np.longdouble) if weight is None else weight


def reduced(loss, total, reduction):
    return loss if reduction == 0 else np.sum(loss) / (total if reduction == 1 else 1)


def kept(target, ignore_index):
    return np.asarray(target != ignore_index)


def nll(input, target, weight, reduction, ignore_index):
    x, w = classes_last(input), weights(input, weight)
    hot = one_hot(target, x.shape[-1], ignore_index)
    total = np.sum(hot * w)
    return reduced(-np.sum(hot * w * x, -1), total, reduction), total


def nll_backward(g, input, target, total, weight, reduction, ignore_index):
    x, w = classes_last(input), weights(input, weight)
    g = g[..., None] / (total if reduction == 1 else 1)
    return classes_back(-g * one_hot(target, x.shape[-1], ignore_index) * w, input)


def log_sum_exp(x):
    peak = np.max(x, -1)
    return peak + np.log(np.sum(np.exp(x - peak[..., None]), -1))


def cross_entropy(input, target, weight, reduction, ignore_index, label_smoothing):
    x, w, s = classes_last(input), weights(input, weight), label_smoothing
    lse = log_sum_exp(x)
    hot = one_hot(target, x.shape[-1], ignore_index)
    every = np.broadcast_to(kept(target, ignore_index)[..., None], hot.shape)
    terms = ((1 - s) * hot + s / x.shape[-1] * every) * w * (lse[..., None] - x)
    total = np.sum(hot * w)
    return reduced(np.sum(terms, -1), total, reduction), lse, total


def cross_entropy_backward(g, input, target, lse, total, weight, reduction, ignore_index, label_smoothing):
    x, w, s = classes_last(input), weights(input, weight), label_smoothing
    p = np.exp(x - lse[..., None])
    hot = one_hot(target, x.shape[-1], ignore_index)
    every = kept(target, ignore_index)[..., None]
    own = (1 - s) * np.sum(hot * w, -1)[..., None] * (p - hot)
    smooth = s / x.shape[-1] * (p * np.sum(w) - w) * every
    g = g[..., None] / (total if reduction == 1 else 1)
    return classes_back(g * (own + smooth) * every, input)


def positive(t, n):
    return t.value(t.rng.uniform(0.5, 2, n))


def losses(t, *more):
    """(input, target, weight, reduction, ignore_index): every reduction, with and without weights and ignored targets."""
    yield t(5, 4), t.index(4, 5), None, 1, -100, *more
    yield t(5, 4), t.index(4, 5), positive(t, 4), 1, 2, *more
    yield t(5, 4), t.index(4, 5), positive(t, 4), 2, -100, *more
    yield t(2, 4, 3), t.index(4, 2, 3), positive(t, 4), 0, 1, *more
    yield t(4), t.index(4), None, 1, -100, *more


def backwards(t, gradient_of, stats, *more):
    """The same, with the gradient that comes in and what the forward kept."""
    for x, target, weight, reduction, ignore, *rest in losses(t, *more):
        g = t(*(target.array.shape if reduction == 0 else ()))
        wide = [None if a is None else a.array.astype(np.longdouble) for a in (x, weight)]
        out = gradient_of(wide[0], target.array, wide[1], reduction, ignore, *rest)
        yield g, x, target, *[t.wide(out[k]) for k in stats], weight, reduction, ignore, *rest


O("_nll_loss", nll, result=("SAME", "STAT"), cases=lambda t: list(losses(t)), **HOW)
O("_nll_loss_backward", nll_backward, cases=lambda t: list(backwards(t, nll, [1])), **HOW)
O("_cross_entropy", cross_entropy, result=("SAME", "STAT", "STAT"),
  cases=lambda t: [*losses(t, 0.0), *losses(t, 0.1)], **HOW)  # fmt: skip
O("_cross_entropy_backward", cross_entropy_backward,
  cases=lambda t: [*backwards(t, cross_entropy, [1, 2], 0.0), *backwards(t, cross_entropy, [1, 2], 0.1)], **HOW)  # fmt: skip

# --- normalisations: result = h * w + b, h = (x - mean) / sqrt(var + eps) over some axes -----------------------------------


def moments(x, axes, eps):
    mean = np.mean(x, axis=axes, keepdims=True)
    return mean, 1 / np.sqrt(np.var(x, axis=axes, keepdims=True) + eps)


def affine(h, w, b):
    h = h if w is None else h * w
    return h if b is None else h + b


def last(x, dims):
    return tuple(range(x.ndim - dims, x.ndim))


def first(x, dims):
    return tuple(range(x.ndim - dims))


def drop(stat, axes):
    return np.squeeze(stat, axes)


def through(g, h, rstd, axes):
    """The gradient through h = (x - mean) * rstd."""
    return rstd * (g - np.mean(g, axis=axes, keepdims=True) - h * np.mean(g * h, axis=axes, keepdims=True))


def layer_norm(input, weight, bias, dims, eps):
    axes = last(input, dims)
    mean, rstd = moments(input, axes, eps)
    return affine((input - mean) * rstd, weight, bias), drop(mean, axes), drop(rstd, axes)


def layer_norm_backward(g, input, mean, rstd, weight, dims):
    axes, rows = last(input, dims), first(input, dims)
    lead = mean.shape + (1,) * dims
    h = (input - mean.reshape(lead)) * rstd.reshape(lead)
    dx = through(g if weight is None else g * weight, h, rstd.reshape(lead), axes)
    return (dx, *((np.sum(g * h, rows), np.sum(g, rows)) if weight is not None else (None, None)))


def rms_norm(input, weight, dims, eps):
    axes = last(input, dims)
    rrms = 1 / np.sqrt(np.mean(input * input, axis=axes, keepdims=True) + eps)
    return affine(input * rrms, weight, None), drop(rrms, axes)


def rms_norm_backward(g, input, rrms, weight, dims):
    axes, rows = last(input, dims), first(input, dims)
    r = rrms.reshape(rrms.shape + (1,) * dims)
    gw = g if weight is None else g * weight
    h = input * r
    dx = r * (gw - h * np.mean(gw * h, axis=axes, keepdims=True))
    return dx, np.sum(g * h, rows) if weight is not None else None


def channel(v, x):
    return None if v is None else v.reshape((-1,) + (1,) * (x.ndim - 2))


def batch(x):
    return (0, *range(2, x.ndim))


def batch_norm_train(input, weight, bias, eps):
    mean, invstd = moments(input, batch(input), eps)
    out = affine((input - mean) * invstd, channel(weight, input), channel(bias, input))
    return out, mean.reshape(-1), invstd.reshape(-1), np.var(input, axis=batch(input))


def batch_norm_eval(input, mean, var, weight, bias, eps):
    invstd = 1 / np.sqrt(var + eps)
    h = (input - channel(mean, input)) * channel(invstd, input)
    return affine(h, channel(weight, input), channel(bias, input)), invstd


def batch_norm_backward(g, input, mean, invstd, weight, train):
    r = channel(invstd, input)
    h = (input - channel(mean, input)) * r
    gw = g if weight is None else g * channel(weight, input)
    dx = through(gw, h, r, batch(input)) if train else gw * r
    return dx, np.sum(g * h, batch(input)), np.sum(g, batch(input))


def grouped(x, groups):
    return x.reshape(x.shape[0], groups, -1)


def group_norm(input, weight, bias, groups, eps):
    x = grouped(input, groups)
    mean, rstd = moments(x, -1, eps)
    h = ((x - mean) * rstd).reshape(input.shape)
    return affine(h, channel(weight, input), channel(bias, input)), mean[..., 0], rstd[..., 0]


def group_norm_backward(g, input, mean, rstd, weight, groups):
    x = grouped(input, groups)
    h = (x - mean[..., None]) * rstd[..., None]
    gw = g if weight is None else g * channel(weight, input)
    dx = through(grouped(gw, groups), h, rstd[..., None], -1).reshape(input.shape)
    return dx, np.sum(g * h.reshape(input.shape), batch(input)), np.sum(g, batch(input))


def kept_stats(t, x, axes):
    return [t.wide(drop(s, axes)) for s in moments(x.array.astype(np.longdouble), axes, 1e-5)]


def layer_backward(t, shape, dims, weight):
    x = t(*shape)
    return t(*shape), x, *kept_stats(t, x, last(x.array, dims)), t(*shape[len(shape) - dims :]) if weight else None, dims


def rms_backward(t, shape, dims, weight):
    x = t(*shape)
    r = rms_norm(x.array.astype(np.longdouble), None, dims, 1e-5)[1]
    return t(*shape), x, t.wide(r), t(*shape[len(shape) - dims :]) if weight else None, dims


def batch_backward(t, shape, weight, train):
    x = t(*shape)
    return t(*shape), x, *kept_stats(t, x, batch(x.array)), t(shape[1]) if weight else None, train


def group_backward(t, shape, groups, weight):
    x = t(*shape)
    mean, rstd = (s[..., 0] for s in moments(grouped(x.array.astype(np.longdouble), groups), -1, 1e-5))
    return t(*shape), x, t.wide(mean), t.wide(rstd), t(shape[1]) if weight else None, groups


O("_layer_norm", layer_norm, result=("SAME", "STAT", "STAT"), cases=lambda t: [
    (t(4, 7), t(7), t(7), 1, 1e-5), (t(4, 3, 5), t(3, 5), t(3, 5), 2, 1e-3), (t(4, 7), None, None, 1, 1e-5), (t(2, 300), t(300), None, 1, 1e-5),
], **HOW)  # fmt: skip
O("_layer_norm_backward", layer_norm_backward, cases=lambda t: [
    layer_backward(t, (4, 7), 1, True), layer_backward(t, (4, 3, 5), 2, True), layer_backward(t, (4, 7), 1, False),
], **HOW)  # fmt: skip
O("_rms_norm", rms_norm, result=("SAME", "STAT"), cases=lambda t: [
    (t(4, 7), t(7), 1, 1e-5), (t(4, 3, 5), t(3, 5), 2, 1e-3), (t(4, 7), None, 1, 1e-5),
], **HOW)  # fmt: skip
O("_rms_norm_backward", rms_norm_backward, cases=lambda t: [
    rms_backward(t, (4, 7), 1, True), rms_backward(t, (4, 3, 5), 2, True), rms_backward(t, (4, 7), 1, False),
], **HOW)  # fmt: skip
O("_batch_norm_train", batch_norm_train, expanded=False, result=("SAME", "STAT", "STAT", "STAT"), cases=lambda t: [
    (t(6, 3), t(3), t(3), 1e-5), (t(4, 3, 5, 2), t(3), t(3), 1e-3), (t(4, 3, 5), None, None, 1e-5),
], **HOW)  # fmt: skip
O("_batch_norm_eval", batch_norm_eval, result=("SAME", "STAT"), cases=lambda t: [
    (t(6, 3), t.wide([0.5, -1, 2]), t.wide([1, 2, 0.25]), t(3), t(3), 1e-5), (t(4, 3, 5), t.wide([0.5, -1, 2]), t.wide([1, 2, 0.25]), None, None, 1e-5),
], **HOW)  # fmt: skip
O("_batch_norm_backward", batch_norm_backward, cases=lambda t: [
    batch_backward(t, (6, 3), True, True), batch_backward(t, (4, 3, 5), True, False), batch_backward(t, (4, 3, 5, 2), False, True),
], **HOW)  # fmt: skip
O("_group_norm", group_norm, result=("SAME", "STAT", "STAT"), cases=lambda t: [
    (t(2, 6, 5), t(6), t(6), 3, 1e-5), (t(2, 6), None, None, 2, 1e-3), (t(2, 3, 4, 5), t(3), t(3), 3, 1e-5),
], **HOW)  # fmt: skip
O("_group_norm_backward", group_norm_backward, cases=lambda t: [
    group_backward(t, (2, 6, 5), 3, True), group_backward(t, (2, 6, 5), 2, False), group_backward(t, (2, 3, 4, 5), 3, True),
], **HOW)  # fmt: skip

# --- embedding ----------------------------------------------------------------------------------------------------------


def embedding_backward(g, indices, rows, padding_idx, scale_grad_by_freq):
    out = np.zeros((rows, *g.shape[indices.ndim :]), g.dtype)
    np.add.at(out, indices.reshape(-1), g.reshape(-1, *g.shape[indices.ndim :]))
    if scale_grad_by_freq:
        out /= np.maximum(np.bincount(indices.reshape(-1), minlength=rows), 1).reshape((-1,) + (1,) * (out.ndim - 1))
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


O("_embedding", lambda weight, indices: weight[indices], cases=lambda t: [(t(7, 3), t.index(7, 5)), (t(7, 3), t.index(7, 2, 4)), (t(7, 3), t.index(7))])
O("_embedding_backward", embedding_backward, cases=lambda t: [
    (t(9, 3), t.index(4, 9), 4, -1, False), (t(2, 5, 3), t.index(4, 2, 5), 6, 2, False), (t(9, 3), t.index(4, 9), 4, -1, True),
], **HOW)  # fmt: skip


def bag_of(indices, starts):
    return np.searchsorted(starts, np.arange(indices.size), side="right") - 1


def embedding_bag(weight, indices, starts, per_sample_weights, padding_idx, mode, scale_grad_by_freq):
    bag, kept = bag_of(indices, starts), np.ones(indices.size, bool) if padding_idx is None else indices != padding_idx
    out, places = np.zeros((starts.size, weight.shape[1]), weight.dtype), np.full((starts.size, weight.shape[1]), -1)
    for b in range(starts.size):
        at = indices[(bag == b) & kept]
        scale = 1 if per_sample_weights is None else per_sample_weights[(bag == b) & kept, None]
        if at.size and mode == 2:
            best = weight[at].argmax(0)
            out[b], places[b] = weight[at].max(0), at[best]
        elif at.size:
            out[b] = (weight[at] * scale).sum(0) / (at.size if mode == 1 else 1)
    return out, places if mode == 2 else np.zeros(0, np.int64)


def embedding_bag_backward(g, weight, indices, starts, per_sample_weights, places, padding_idx, mode, scale_grad_by_freq):
    bag, kept = bag_of(indices, starts), np.ones(indices.size, bool) if padding_idx is None else indices != padding_idx
    out, ds = np.zeros_like(weight), np.zeros(0 if per_sample_weights is None else indices.size, weight.dtype)
    if mode == 2:
        for b, j in zip(*np.nonzero(places >= 0)):
            out[places[b, j], j] += g[b, j]
        return out, ds
    for k in np.nonzero(kept)[0]:
        row = g[bag[k]] * (1 if per_sample_weights is None else per_sample_weights[k])
        row = row / (kept & (bag == bag[k])).sum() if mode == 1 else row
        out[indices[k]] += row / (indices == indices[k]).sum() if scale_grad_by_freq else row
        if per_sample_weights is not None:
            ds[k] = (g[bag[k]] * weight[indices[k]]).sum()
    return out, ds


def bag_case(t, scaled, *options):
    return t(7, 3), t.index(7, 11), t.value(np.array([0, 4, 4, 9]), "int64"), t(11) if scaled else None, *options


def bag_backward(t, scaled, padding_idx, mode, by_frequency):
    places = t.value(np.array([[0, 2, 6], [-1, -1, -1], [3, 3, 1], [5, 0, 2]]) if mode == 2 else np.zeros(0), "int64")
    return (t(4, 3), *bag_case(t, scaled), places, padding_idx, mode, by_frequency)


O("_embedding_bag", embedding_bag, result=("SAME", "int64"), cases=lambda t: [
    bag_case(t, False, None, 0, False), bag_case(t, True, 2, 0, False), bag_case(t, False, 2, 1, False), bag_case(t, False, 1, 2, False),
], **HOW)  # fmt: skip
O("_embedding_bag_backward", embedding_bag_backward, cases=lambda t: [
    bag_backward(t, False, None, 0, False), bag_backward(t, True, 2, 0, True), bag_backward(t, False, 2, 1, True), bag_backward(t, False, 1, 2, False),
], **HOW)  # fmt: skip


def multi_margin_slopes(x, target, w, p, margin):
    """How much of each term counts, and its slope by what it is short: (N, C) both."""
    own = np.arange(x.shape[1]) == target[:, None]
    short_by = margin - x[own][:, None] + x
    scale = (1 if w is None else w[target][:, None]) * (short_by > 0) * ~own / x.dtype.type(x.shape[1])
    return own, short_by**p * scale, (2 * short_by if p == 2 else 1) * scale


def multi_margin(input, target, weight, p, margin):
    return multi_margin_slopes(input, target, weight, p, margin)[1].sum(1)


def multi_margin_backward(g, input, target, weight, p, margin):
    own, _, slope = multi_margin_slopes(input, target, weight, p, margin)
    return g[:, None] * (slope - own * slope.sum(1, keepdims=True))


def pairs_of_labels(x, target):
    """(row, label, class that is none) wherever the label is not ahead by 1."""
    for r, line in enumerate(target):
        labels = [int(j) for j in line[: np.argmax(np.append(line, -1) < 0)]]
        for j in labels:
            yield from ((r, j, k) for k in range(x.shape[1]) if k not in labels and 1 - x[r, j] + x[r, k] > 0)


def multilabel_margin(input, target):
    out = np.zeros(len(input), input.dtype)
    for r, j, k in pairs_of_labels(input, target):
        out[r] += (1 - input[r, j] + input[r, k]) / input.shape[1]
    return out


def multilabel_margin_backward(g, input, target):
    out = np.zeros_like(input)
    for r, j, k in pairs_of_labels(input, target):
        out[r, j] -= g[r] / input.shape[1]
        out[r, k] += g[r] / input.shape[1]
    return out


def margins(t, *first):
    yield *first, t(5, 4), t.index(4, 5), None, 1, 1.0
    yield *first, t(5, 4), t.index(4, 5), positive(t, 4), 2, 0.7
    yield *first, t(5, 70), t.index(70, 5), None, 2, 1.0


def labelled(t, *first):
    for n in (4, 70):
        target = t.index(n, 5, n)
        target.array[:, 3] = -1
        target.array[0, 0] = -1
        yield *first, t(5, n), target


O("_multi_margin", multi_margin, cases=lambda t: list(margins(t)), **HOW)
O("_multi_margin_backward", multi_margin_backward, cases=lambda t: list(margins(t, t(5))), **HOW)
O("_multilabel_margin", multilabel_margin, cases=lambda t: list(labelled(t)), **HOW)
O("_multilabel_margin_backward", multilabel_margin_backward, cases=lambda t: list(labelled(t, t(5))), **HOW)
