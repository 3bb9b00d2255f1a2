"""Arguments large enough that several threads take part, for the rows whose kinds do not give them: what test_same_bits.py runs.

LARGE gives argument tuples as an oracle's cases= does. ROWED names the parameters that have a row for each row of the results;
where a row of LARGE is not in it, a result's rows are not its first dim, or there are none.
"""

from dataclasses import replace

import numpy as np

from . import ORACLES, nn
from .samples import Sample, bound, mapped, tensors

ONE, NONE = (1, 1, 1), (0, 0, 0)
SHIFT = ((1, 1, 1), (0, 1, 1), ONE, False)  # stride, padding, dilation, transposed: a 3 x 3 kernel keeps its image's size


def cases(op, draw):
    """[(word, arguments)]; `draw` makes a new source of random tensors."""
    oracle, n = ORACLES[op.name], len(tensors(op))
    if op.name in LARGE:
        made = LARGE[op.name](draw())
    elif op.kind.startswith("map") and not oracle.cases:
        t = draw()
        made = [tuple(t(301, 1009) for _ in range(n))]
    elif op.kind in ("fold", "scan"):
        made = [(draw()(37, 9001), {"dim": 1})]
    elif op.kind == "random":
        t = draw()
        made = [(t.value(t.rng.uniform(0.1, 0.9, (2, 30000) if op.name == "draw_binomial_" else (3, 20011))), *RANDOM.get(op.name, ()))]
    elif op.kind.startswith("map") or oracle.result == "LISTED":
        made = [enlarged(case) for case in oracle.cases(draw())]
    else:
        made = []
    return [(f"large {k}", bound(op, case)) for k, case in enumerate(made)]


RANDOM = {"random_range_": (-3, 90), "geometric_": (0.4,)}


def enlarged(case):
    """The tensors of a case, an optimizer's parameters and states, repeated along what is not 1."""

    def tile(sample):
        shape = sample.array.shape
        times = [20000] if len(shape) == 1 else [1] * (len(shape) - 2) + [(90 if len(shape) == 2 else 40) if size > 1 else 1 for size in shape[-2:]]
        return replace(sample, array=np.tile(sample.array, times)) if shape else sample

    return mapped(case, tile)


def small(t, *shape):
    return t.value(t.rng.uniform(-1, 1, shape))


def gates(t, mode, times, batch, hidden, projected=False):
    """A layer's arguments up to `reverse`, from one that shortens: sizes of steps never grow."""
    rows, size = (1, 1, 4, 3)[mode] * hidden, 24 if projected else hidden
    sizes = np.array([batch] * (times - 2) + [batch - 1, 2])
    return (small(t, int(sizes.sum()), rows), small(t, batch, size), small(t, batch, hidden) if mode == 2 else None, small(t, rows, size),
            small(t, rows), small(t, size, hidden) if projected else None, t.value(sizes, "int64"), mode)  # fmt: skip


def recurrence_back(t, mode, times, batch, hidden):
    u, h0, c0, w, _, _, sizes, mode = gates(t, mode, times, batch, hidden)
    kept = t.wide(t.rng.uniform(0.1, 0.9, (u.array.shape[0], {2: 5, 3: 4}.get(mode, 0) * hidden)))
    out = small(t, u.array.shape[0], hidden)
    return out, small(t, batch, hidden), small(t, batch, hidden) if mode == 2 else None, out, kept, h0, c0, w, None, sizes, mode, False


def attended(t, causal, mask=None, keep=None):
    return t(3, 4, 150, 32), t(3, 2, 170, 32), t(3, 2, 170, 24), mask, keep, causal, 0.2, 1.0


def attended_back(t, causal):
    q, k, v, *rest = attended(t, causal)
    return t(3, 4, 150, 24), q, k, v, t(3, 4, 150, 24), t.wide(np.full((3, 4, 150), 4.0)), *rest


def classes(t, *shape):
    """Logits (N, C, ...) and class numbers."""
    return t(*shape), t.index(shape[1], shape[0], *shape[2:])


def kept_back(t, *shape, reduction=1):
    """The gradient of a loss, its operands, and what the forward kept: (lse, total)."""
    x, target = classes(t, *shape)
    return t(*(target.array.shape if reduction == 0 else ())), x, target, t.wide(np.full(target.array.shape, 6.0)), t.wide(float(target.array.size))


def aligned(t, back):
    times, batch, count = 60, 23, 30
    x = t.rng.uniform(-2, 2, (times, batch, count))
    x = t.value(x - np.log(np.exp(x).sum(2, keepdims=True)))
    rest = (t.value(np.arange(batch * 12).reshape(batch, 12) % (count - 1) + 1, "int64"), t.value(np.full(batch, times), "int64"), t.value(np.full(batch, 12), "int64"))
    return (t(batch), x, *rest, t.wide(np.full(batch, 90.0)), t.wide(t.rng.uniform(-90, -1, (batch, times, 25))), 0, True) if back else (x, *rest, 0, False)


def placed(t, *shape):
    return t.value(t.rng.uniform(-1.2, 1.2, shape))


def taps(t, out, size, dtype=None):
    places = t.index(size, out, 3)
    return places, t(out, 3) if dtype is None else Sample(t.rng.integers(0, 40, (out, 3)).astype(dtype), dtype)


def bags(t, mode, scaled):
    return t(300, 40), t.index(300, 9000), t.value(np.arange(0, 9000, 37), "int64"), t(9000) if scaled else None, 5, mode, False


def bags_back(t, mode, scaled):
    weight, indices, starts, scale, *_ = bags(t, mode, scaled)
    return t(244, 40), weight, indices, starts, scale, t.index(300, 244, 40) if mode == 2 else t.value(np.zeros(0), "int64"), 5, mode, False


LARGE = {
    "matmul": lambda t: [(t(130, 700), t(700, 150)), (t(23, 40, 60), t(23, 60, 50)), (t(3, 700), t(700, 900)), (t(40, 9001), t(9001))],
    "linear": lambda t: [(t(130, 700), t(150, 700), t(150))],
    "_plus_product": lambda t: [(t(130, 150), t(130, 700), t(700, 150), 0.5, 2.0, False), (t(23, 40, 50), t(23, 40, 60), t(23, 60, 50), 0.5, 2.0, False), (t(130), t(130, 700), t(700), 0.5, 2.0, False)],
    # planes, one channel at a time, of thirty-odd channels that are turned, few channels, groups, a volume, dilated, strided
    "convolution": lambda t: [(t(23, 20, 13, 17), t(34, 20, 3, 3), t(34), *SHIFT, NONE, 1), (t(23, 40, 14, 14), t(40, 1, 3, 3), None, *SHIFT, NONE, 40),
        (t(5, 3, 40, 41), t(33, 3, 7, 7), t(33), (1, 2, 2), (0, 3, 3), ONE, False, NONE, 1), (t(5, 16, 20, 20), t(32, 4, 3, 3), None, *SHIFT, NONE, 4),
        (t(5, 12, 5, 16, 16), t(9, 12, 3, 3, 3), None, ONE, ONE, ONE, False, NONE, 1), (t(5, 32, 24, 24), t(20, 32, 3, 3), None, ONE, (0, 5, 5), (1, 5, 5), False, NONE, 1),
        (t(5, 32, 18, 18), t(40, 32, 1, 1), None, ONE, NONE, ONE, False, NONE, 1), (t(5, 20, 13, 17), t(20, 24, 3, 3), None, (1, 2, 2), NONE, ONE, True, (0, 1, 1), 1),
        (t(7, 30, 900), t(33, 30, 5), None, ONE, (0, 0, 2), ONE, False, NONE, 1)],
    "convolution_grad_input": lambda t: [(t(23, 34, 7, 9), t(34, 20, 3, 3), (1, 13, 17), (1, 2, 2), (0, 1, 1), ONE, False, 1),
        (t(23, 40, 14, 14), t(40, 1, 3, 3), (1, 14, 14), *SHIFT, 40), (t(5, 32, 20, 20), t(32, 4, 3, 3), (1, 20, 20), *SHIFT, 4)],
    "convolution_grad_weight": lambda t: [(t(23, 34, 13, 17), t(23, 20, 13, 17), (1, 3, 3), *SHIFT, 1), (t(23, 40, 14, 14), t(23, 40, 14, 14), (1, 3, 3), *SHIFT, 40),
        (t(5, 32, 20, 20), t(5, 16, 20, 20), (1, 3, 3), *SHIFT, 4)],
    # rows side by side where they are short, lines one by one, columns
    "softmax": lambda t: [(t(3700, 50), 1), (t(37, 5150), 1), (t(37, 64, 31), 2), (t(23, 301, 40), 1)],
    "log_softmax": lambda t: [(t(3700, 50), 1), (t(37, 5150), 1), (t(37, 64, 31), 2), (t(23, 301, 40), 1)],
    "_softmax_backward": lambda t: [(t(3700, 50), t(3700, 50), 1), (t(37, 5150), t(37, 5150), 1), (t(23, 301, 40), t(23, 301, 40), 1)],
    "_log_softmax_backward": lambda t: [(t(3700, 50), t(3700, 50), 1), (t(37, 5150), t(37, 5150), 1), (t(23, 301, 40), t(23, 301, 40), 1)],
    "_cross_entropy": lambda t: [(*classes(t, 3700, 50), None, 0, -100, 0.1), (*classes(t, 37, 5150), t(5150), 1, -100, 0.0), (*classes(t, 23, 40, 301), None, 2, 3, 0.1)],
    "_cross_entropy_backward": lambda t: [(*kept_back(t, 3700, 50, reduction=0), None, 0, -100, 0.1), (*kept_back(t, 37, 5150), None, 1, -100, 0.0), (*kept_back(t, 23, 40, 301), None, 1, 3, 0.1)],
    "_nll_loss": lambda t: [(*classes(t, 37000, 5), None, 0, -100), (*classes(t, 37000, 5), t(5), 1, -100), (*classes(t, 23, 4, 3001), None, 2, 3)],
    "_nll_loss_backward": lambda t: [(*kept_back(t, 37000, 5)[:3], t.wide(37000.0), None, 1, -100), (*kept_back(t, 23, 4, 3001)[:3], t.wide(69023.0), None, 2, 3)],
    "_multi_margin": lambda t: [(*classes(t, 3700, 50), None, 2, 1.0)],
    "_multi_margin_backward": lambda t: [(t(3700), *classes(t, 3700, 50), t(50), 1, 1.0)],
    "_multilabel_margin": lambda t: [(t(370, 50), t.index(50, 370, 50))],
    "_multilabel_margin_backward": lambda t: [(t(370), t(370, 50), t.index(50, 370, 50))],
    "_layer_norm": lambda t: [(t(37, 5150), t(5150), t(5150), 1), (t(3700, 50), None, None, 1)],
    "_layer_norm_backward": lambda t: [nn.layer_backward(t, (37, 5150), 1, True), nn.layer_backward(t, (3700, 50), 1, False)],
    "_rms_norm": lambda t: [(t(37, 5150), t(5150), 1), (t(3700, 50), None, 1)],
    "_rms_norm_backward": lambda t: [nn.rms_backward(t, (37, 5150), 1, True), nn.rms_backward(t, (3700, 50), 1, False)],
    "_group_norm": lambda t: [(t(37, 6, 515), t(6), t(6), 3)],
    "_group_norm_backward": lambda t: [nn.group_backward(t, (37, 6, 515), 3, True)],
    "_batch_norm_train": lambda t: [(t(23, 40, 300), t(40), t(40), 1e-5), (t(3000, 50), None, None, 1e-5)],
    "_batch_norm_eval": lambda t: [(t(23, 40, 300), t.wide(np.arange(40) / 9), t.wide(np.arange(40) / 9 + 1), t(40), t(40), 1e-5)],
    "_batch_norm_backward": lambda t: [nn.batch_backward(t, (23, 40, 300), True, True), nn.batch_backward(t, (3000, 50), False, False)],
    "_embedding": lambda t: [(t(900, 40), t.index(900, 23, 211))],
    "_embedding_backward": lambda t: [(t(23, 211, 40), t.index(900, 23, 211), 900, 5, True)],
    "_embedding_bag": lambda t: [bags(t, 0, True), bags(t, 1, False), bags(t, 2, False)],
    "_embedding_bag_backward": lambda t: [bags_back(t, 0, True), bags_back(t, 1, False), bags_back(t, 2, False)],
    "_attention": lambda t: [attended(t, True), attended(t, False, t(1, 1, 150, 170), t.bool(3, 4, 150, 170))],
    "_attention_backward": lambda t: [attended_back(t, True), attended_back(t, False)],
    "_rnn": lambda t: [(*gates(t, mode, 9, 12, 72), False) for mode in range(4)] + [(*gates(t, 2, 9, 12, 72, True), True)],
    "_rnn_backward": lambda t: [recurrence_back(t, mode, 9, 12, 72) for mode in range(4)],
    "_ctc_loss": lambda t: [aligned(t, False)],
    "_ctc_loss_backward": lambda t: [aligned(t, True)],
    "_resample": lambda t: [(t(23, 41, 90), *taps(t, 66, 41), 1), (t(2300, 41), *taps(t, 66, 41), 1)],
    "_resample_backward": lambda t: [(t(23, 66, 90), *taps(t, 66, 41), 41, 1), (t(2300, 66), *taps(t, 66, 41), 41, 1)],
    "_resample_bytes": lambda t: [(t(23, 41, 190), *taps(t, 66, 41, "int16"), 1, 7), (t(2300, 41), *taps(t, 66, 41, "int16"), 1, 7), (t(5, 97, 41, 3), *taps(t, 66, 41, "int16"), 2, 7)],
    "_affine_grid": lambda t: [(t(300, 2, 3), (40, 33), False), (t(300, 3, 4), (9, 10, 11), True)],
    "_grid_sample": lambda t: [(t(5, 20, 30, 31), placed(t, 5, 40, 33, 2), mode, padding, False) for mode in range(3) for padding in range(3)]
        + [(t(5, 20, 5, 9, 11), placed(t, 5, 6, 30, 31, 3), mode, 0, True) for mode in range(2)],
    "_grid_sample_backward": lambda t: [(t(5, 20, 40, 33), t(5, 20, 30, 31), placed(t, 5, 40, 33, 2), mode, 0, False) for mode in range(3)]
        + [(t(5, 20, 6, 30, 31), t(5, 20, 5, 9, 11), placed(t, 5, 6, 30, 31, 3), 0, 1, True)],
    "_cdist": lambda t: [(t(130, 40), t(151, 40), p) for p in (0.0, 1.0, 2.0, 3.5, np.inf)],
    "_cdist_backward": lambda t: [(t(130, 151), t(130, 40), t(151, 40), t.wide(np.full((130, 151), 9.0)), p) for p in (1.0, 2.0, 3.5)],
    "_pdist": lambda t: [(t(230, 40), 2.0)],
    "_cross": lambda t: [(t(23000, 3), t(23000, 3), 1), (t(37, 3, 900), t(37, 3, 900), 1)],
    "_sort": lambda t: [(t(37, 515), 1), (t(23, 90, 40), 1)],
    "_topk": lambda t: [(t(37, 515), 9, 1), (t(37, 515), 300, 1, False)],
    "_kthvalue": lambda t: [(t(37, 515), 77, 1)],
    "_median": lambda t: [(t(37, 515), 1)],
    "_nanmedian": lambda t: [(t(37, 515), 1)],
    "_mode": lambda t: [(t(37, 515), 1)],
    "_searchsorted": lambda t: [(t.ordered(500), t(40, 900))],
    "_multinomial": lambda t: [(t.value(t.rng.uniform(0.1, 1, (37, 500))), t.value(t.rng.uniform(0, 1, (37, 900))))],
    "_histogram": lambda t: [(t(300, 900), 40, -4.0, 4.0)],
    "_bincount": lambda t: [(Sample(t.rng.integers(0, 900, 90000), t.dtype), None, 900)],
    "_one_hot": lambda t: [(t.index(90, 37, 300), 90)],
    "_hash": lambda t: [(t.index(9000, 370, 300),)],
    "_triangle": lambda t: [(t(37, 90, 91), 1, False), (t(37, 90, 91), -3, True)],
    "_triangle_indices": lambda t: [(300, 400, 5, True, t.dtype_object)],
    "polar": lambda t: [(t(37, 3001), t(37, 3001))],
    "masked_scatter": lambda t: [(t(37, 3001), t.bool(37, 3001), t(37 * 3001))],
    "arange_of": lambda t: [(0, 1, 120, t.dtype_object, float("nan"), 1.0), (0, 0, 120000, t.dtype_object, 0.25, 0.0005)],
    "linspace_of": lambda t: [(120001, t.dtype_object, 0.0, 97.0)],
    "copy": lambda t: [(t(301, 1009),)],
    "cat": lambda t: [([t(37, 900), t(37, 2100)], 1), ([t(90, 900), t(41, 900)], 0)],
    "stack": lambda t: [([t(37, 900)] * 3, 1)],
    "_cat_flat": lambda t: [([t(37, 900), t(37, 2100)],)],
    "_add_flat_": lambda t: [([t(370, 900), t(37, 2100)], t(370 * 900 + 37 * 2100), 0.5)],
    "flip": lambda t: [(t(37, 3001), (1,))],
    "_roll": lambda t: [(t(37, 3001), 900, 1)],
    "constant_pad_nd": lambda t: [(t(37, 3001), (3, 5), 1.0)],
    "_pad_around": lambda t: [(t(37, 3001), (30, 500), 0)],
    "_pad_around_backward": lambda t: [(t(37, 3001), (30, 500), 0)],
    "_regroup": lambda t: [(t(36, 90, 71), (4, 3, 3, 90, 71), (0, 3, 1, 4, 2), (4, 270, 213))],
    "diag_embed": lambda t: [(t(37, 90), 2, -2, -1)],
    "gather": lambda t: [(t(37, 900), 1, t.index(900, 37, 3001))],
    "_gather_sparse_grad": lambda t: [(t(37, 900), 1, t.index(900, 37, 3001))],
    "index_select": lambda t: [(t(37, 900), 1, t.index(900, 3001))],
    "scatter": lambda t: [(t(37, 3001), 1, t.index(1, 37, 1), t(37, 1)), (t(3001, 37), 0, t.value(np.argsort(t.rng.random((3001, 37)), 0), "int64"), t(3001, 37))],
    "scatter_add": lambda t: [(t(37, 900), 1, t.index(900, 37, 3001), t(37, 3001)), (t(90, 70), 0, t.index(90, 3001, 70), t(3001, 70))],
    **{name: lambda t: [(t(37, 900), 1, t.index(900, 37, 3001), t(37, 3001))] for name in ("_scatter_prod", "_scatter_max", "_scatter_min")},
    "index_add": lambda t: [(t(90, 300), 0, t.index(90, 901), t(901, 300)), (t(37, 90, 20), 1, t.index(90, 301), t(37, 301, 20))],
    "index_copy": lambda t: [(t(900, 300), 0, t.value(np.argsort(t.rng.random(900)), "int64"), t(900, 300))],
    "index": lambda t: [(t(900, 70), [t.index(900, 3001)], 0b01), (t(90, 70, 20), [t.index(90, 3001), t.index(70, 3001)], 0b011)],
    "index_put_rows_": lambda t: [(t(900, 70), [t.value(np.argsort(t.rng.random(900)), "int64")], t(900, 70), 0b01, False), (t(90, 70), [t.index(90, 3001)], t(3001, 70), 0b01, True)],
    "copy_into_": lambda t: [(t(301, 1009), t(1009))],
    "place_into_": lambda t: [(t(301, 1009), t(301, 1009))],
    "where_rows": lambda t: [(t.bool(301, 1009), t(301, 1009), t(1009))],
    "fill_number_": lambda t: [(t(301, 1009), t.scalar())],
    "max_pool": lambda t: [(t(23, 20, 13, 17), (1, 3, 3), (1, 2, 2), (0, 1, 1), ONE, False)],
    "_max_pool_values": lambda t: [(t(23, 20, 13, 17), (1, 3, 3), (1, 2, 2), (0, 1, 1), ONE, False)],
    "max_pool_grad": lambda t: [(t(23, 20, 6, 8), t.index(13 * 17, 23, 20, 6, 8), (1, 13, 17))],
    "avg_pool": lambda t: [(t(23, 20, 13, 17), (1, 5, 5), (1, 2, 2), (0, 1, 1), False, True, 0)],
    "avg_pool_grad": lambda t: [(t(23, 20, 6, 8), (1, 13, 17), (1, 3, 3), (1, 2, 2), NONE, False, True, 0)],
    "adaptive_max_pool": lambda t: [(t(23, 20, 13, 17), (1, 2, 3))],
    "adaptive_avg_pool": lambda t: [(t(23, 20, 13, 17), (1, 2, 3))],
    "adaptive_avg_pool_grad": lambda t: [(t(23, 20, 2, 3), (1, 13, 17))],
    "_im2col": lambda t: [(t(23, 20, 13, 17), (3, 2), (1, 1), (1, 0), (2, 1))],
    "_col2im": lambda t: [(t(23, 120, 112), (13, 17), (3, 2), (1, 1), (1, 0), (2, 1))],
}  # fmt: skip

_FIRST = ("linear convolution convolution_grad_input softmax log_softmax _layer_norm _rms_norm _group_norm _sort _topk _kthvalue _median _nanmedian _mode "
          "max_pool _max_pool_values avg_pool avg_pool_grad adaptive_max_pool adaptive_avg_pool adaptive_avg_pool_grad _resample _resample_backward _resample_bytes "
          "_cdist _triangle flip _im2col _col2im _roll diag_embed _one_hot _hash index_select")  # fmt: skip
ROWED = {
    **{name: 0 for name in _FIRST.split()},  # the first one
    **{name: "g result" for name in ("_softmax_backward", "_log_softmax_backward")},
    "max_pool_grad": "grad indices", "_attention": "query key value mask keep", "_attention_backward": "g query key value output lse", "_grid_sample": "input grid",
    "_grid_sample_backward": "g input grid", "_cdist_backward": "g x1 distance", "_cross": "input other", "_embedding": "indices", "_multinomial": "weights uniforms",
    "gather": "input index", "matmul": "input other", "_plus_product": "input mat1 mat2", "_cross_entropy_backward": "g input target lse", "polar": "abs angle",
    "_batch_norm_eval": "input",
}  # fmt: skip


def with_rows(op, arguments, rows):
    """The arguments with only these rows of what goes by rows; what has another number of them is every row's."""
    named = ROWED.get(op.name, 0)
    named = [op.params[named].name] if named == 0 else named.split()
    count = next(len(a.array) for p, a in zip(op.params, arguments) if p.name in named and a.array.ndim)

    def cut(sample):
        return replace(sample, array=sample.array[rows]) if sample.array.ndim and len(sample.array) == count else sample

    return [mapped(a, cut) if p.name in named else a for p, a in zip(op.params, arguments)]
