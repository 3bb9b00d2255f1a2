"""The configurations that bench_modules.py times: for each class what its arguments, its inputs' shapes and its modes are drawn from.

A class is a function of a Drawn (bench_modules.py), which has the random numbers, and says what was drawn by `make` (a module), `call` (a function of
torch.nn.functional) or `step` (an optimizer). Inputs are pairs of a kind and a shape: `n` normal, `u` in (0, 1), `s` 1 or -1, `b` a mask,
and an integer for integers below it.
"""

from math import prod

CHANNELS = (1, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256)
LENGTHS = (5, 6, 7, 8, 10, 12, 14, 16, 20, 28, 32, 48, 56, 64)
BATCHES = (1, 1, 2, 3, 4, 8, 16, 32)
FEATURES = (1, 2, 3, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 512, 1000, 1024, 2048)
ROWS = (1, 2, 3, 4, 7, 8, 16, 32, 33, 64, 100, 128, 256, 512)
HEADS = (1, 2, 3, 4, 8)
SPANS = (1, 2, 3, 5, 8, 10, 16, 20, 32, 33, 50, 64, 100, 128, 200, 256)
MOST_MULTIPLIED = 3e8
MOST_ELEMENTS = 1_500_000


def sizes(d, n, choices=LENGTHS):
    """n sizes, mostly one of them; smaller for more dims."""
    some = [x for x in choices if x <= (64, 64, 20)[n - 1]]
    first = d.of(some)
    return tuple(first if d.chance(0.7) else d.of(some) for _ in range(n))


def each(d, n, *values):
    """One value for n dims, or one for each."""
    return d.of(values) if d.chance(0.7) else tuple(d.of(values) for _ in range(n))


def wide(x, n):
    return x if isinstance(x, tuple) else (x,) * n


def again(d, draw, fits):
    """Draws until it fits."""
    while True:
        if fits(*(drawn := draw())):
            return drawn


def conv(n, turned=False):
    def draw(d):
        while True:
            groups, batch, size = d.any(1, 1, 1, 1, 2, 4), d.of(BATCHES), sizes(d, n)
            inside, outside = groups * d.of(CHANNELS), groups * d.of(CHANNELS)
            if d.chance(0.25):  # depthwise
                groups = inside = d.of(CHANNELS)
                outside = inside * d.any(1, 1, 1, 2)
            kernel, stride = each(d, n, 1, 2, 3, 3, 3, 4, 5, 7), each(d, n, 1, 1, 1, 2, 3)
            dilation = each(d, n, 1, 1, 1, 1, 2)
            padding = each(d, n, 0, 0, 1, 1, 2, 3)
            work = batch * prod(size) * inside * outside // groups * prod(wide(kernel, n))
            elements = batch * prod(size) * max(inside, outside)
            if work <= MOST_MULTIPLIED * (prod(wide(stride, n)) if not turned else 1) and max(inside, outside) <= 256 and elements <= MOST_ELEMENTS:
                break
        more = {**({"stride": stride} if stride != 1 else {}), **({"padding": padding} if padding != 0 else {})}
        more |= {**({"dilation": dilation} if dilation != 1 else {}), **({"groups": groups} if groups > 1 else {})}
        more |= d.maybe(0.2, bias=False)
        if padding != 0 and not turned and d.chance(0.2):
            more["padding_mode"] = d.any("reflect", "replicate", "circular")
        if turned and d.chance(0.3) and stride != 1:
            more["output_padding"] = 1
        d.make([("n", (batch, inside, *size))], inside, outside, kernel, **more)

    return draw


def planes(d, n):
    """(batch, channels, sizes) of few enough elements."""
    return again(d, lambda: (d.of(BATCHES), d.of(CHANNELS), *sizes(d, n)), lambda *s: prod(s) <= MOST_ELEMENTS)


def pool(n, kind):
    def draw(d):
        shape, kernel = planes(d, n), each(d, n, 2, 2, 3, 3, 4, 5)
        more = d.maybe(0.5, stride=each(d, n, 1, 2, 3))
        if kind != "LP":
            more |= d.maybe(0.4, padding=1) | d.maybe(0.2, ceil_mode=True)
        if kind == "Max":
            more |= d.maybe(0.15, dilation=2)
        if kind == "Avg":
            more |= d.maybe(0.2, count_include_pad=False)
        d.make([("n", shape)], *([d.any(1, 2, 3)] if kind == "LP" else []), kernel, **more)

    return draw


def adaptive(n):
    def draw(d):
        d.make([("n", planes(d, n))], each(d, n, 1, 1, 2, 3, 5, 7))

    return draw


def batch_norm(n):
    def draw(d):
        shape = planes(d, n) if n > 1 or d.chance(0.6) else (d.of(ROWS), d.of(FEATURES))
        d.train = d.chance(0.6)
        d.make([("n", shape)], shape[1], **d.maybe(0.15, affine=False), **d.maybe(0.15, track_running_stats=False))

    return draw


def instance_norm(n):
    def draw(d):
        shape = planes(d, n)
        d.make([("n", shape)], shape[1], **d.maybe(0.5, affine=True))

    return draw


def rows(d):
    """A shape of one to three dims, the last one features."""
    return again(d, lambda: (*(d.of(ROWS) for _ in range(d.any(1, 1, 2))), d.of(FEATURES)), lambda *s: prod(s) <= MOST_ELEMENTS)


def row_norm(d):
    shape = rows(d)
    n = d.any(1, 1, 2) if len(shape) > 2 else 1
    more = d.maybe(0.2, elementwise_affine=False) | (d.maybe(0.15, bias=False) if d.name == "LayerNorm" else {})
    d.make([("n", shape)], shape[-n:], **more)


def group_norm(d):
    shape = planes(d, d.any(1, 2, 2, 3))
    groups = d.of([g for g in (1, 2, 4, 8, 16, 32, shape[1]) if shape[1] % g == 0])
    d.make([("n", shape)], groups, shape[1], **d.maybe(0.2, affine=False))


def linear(d):
    shape = rows(d)
    outside = d.of(FEATURES)
    if prod(shape) * outside > MOST_MULTIPLIED:
        outside = 3
    d.make([("n", shape)], shape[-1], outside, **d.maybe(0.2, bias=False))


def bilinear(d):
    batch, a, b, outside = again(
        d, lambda: (d.of(ROWS), d.of(FEATURES), d.of(FEATURES), d.of(FEATURES)), lambda n, a, b, o: n * a * b * o <= MOST_MULTIPLIED / 3 and a * b * o <= 1e6
    )
    d.make([("n", (batch, a)), ("n", (batch, b))], a, b, outside, **d.maybe(0.2, bias=False))


def recurrent(d):
    length, batch, inside, hidden = again(
        d, lambda: (d.of(SPANS), d.of(BATCHES), d.of(FEATURES), d.of(FEATURES)), lambda n, b, i, h: n * b * h * (i + h) <= 3e7 and h * (i + h) < 4e5 and n < 129
    )
    more = d.maybe(0.3, num_layers=2) | d.maybe(0.3, bidirectional=True) | d.maybe(0.4, batch_first=True) | d.maybe(0.15, bias=False)
    if d.name == "RNN":
        more |= d.maybe(0.3, nonlinearity="relu")
    if d.name == "LSTM" and hidden > 3:
        more |= d.maybe(0.15, proj_size=hidden // 2)
    if d.chance(0.2):
        d.packed = [length, *sorted((d.r.randint(1, length) for _ in range(batch - 1)), reverse=True)]  # equal lengths have no order of their own
    d.make([("n", (batch, length, inside) if "batch_first" in more else (length, batch, inside))], inside, hidden, **more)


def cell(d):
    batch, inside, hidden = again(d, lambda: (d.of(ROWS), d.of(FEATURES), d.of(FEATURES)), lambda b, i, h: b * h * (i + h) <= 3e7 and h * (i + h) < 1e6)
    d.make([("n", (batch, inside))], inside, hidden, **d.maybe(0.2, bias=False))


def embedding(d):
    shape = again(d, lambda: (d.of(ROWS), *([d.of(SPANS)] if d.chance(0.6) else [])), lambda *s: prod(s) <= 20_000)
    count = d.any(2, 10, 100, 1000, 10_000)
    width = d.of([w for w in FEATURES if w * prod(shape) <= MOST_ELEMENTS and w * count <= MOST_ELEMENTS])
    d.make([(count, shape)], count, width, **d.maybe(0.2, padding_idx=1), **d.maybe(0.1, scale_grad_by_freq=True))


def embedding_bag(d):
    embedding(d)
    if len(d.shapes[0][1]) == 1:
        d.shapes = [(d.shapes[0][0], (d.shapes[0][1][0], 5))]
    d.options = {"mode": d.any("sum", "mean", "max"), **d.maybe(0.2, padding_idx=1)}
    if d.options["mode"] == "sum" and d.chance(0.4):
        d.shapes = [(d.shapes[0][0], d.shapes[0][1])]


def attention(d):
    batch, heads, width = d.of(BATCHES), d.of(HEADS), d.any(1, 2, 4, 8, 16, 32, 64, 128)
    asked, keys = d.of(SPANS), d.of(SPANS)
    more = {}
    if d.chance(0.5):
        keys = asked
    if batch * heads * asked * keys * width > 3e7:
        batch = heads = 1
    inputs = [("n", (batch, heads, n, width)) for n in (asked, keys, keys)]
    if d.chance(0.3) and asked == keys:
        more = {"is_causal": True}
    elif d.chance(0.4):
        inputs.append((d.any("b", "n"), d.any((asked, keys), (batch, 1, 1, keys), (batch, heads, asked, keys))))
    d.graded = 3
    d.call("scaled_dot_product_attention", inputs, **more)


def multihead(d):
    batch, length, heads = d.of(BATCHES), d.of(SPANS), d.of(HEADS)
    width = heads * d.any(1, 2, 4, 8, 16, 32, 64)
    if batch * length * width * (width + length) > 5e7:
        batch = 1
    more = d.maybe(0.6, batch_first=True) | d.maybe(0.1, add_bias_kv=True) | d.maybe(0.1, bias=False)
    shape = ("n", (batch, length, width) if "batch_first" in more else (length, batch, width))
    d.make([shape] * 3, width, heads, **more)
    d.train = d.chance(0.5)


def encoder_layer(d):
    batch, length, heads = d.of(BATCHES), d.of(SPANS), d.of(HEADS)
    width = heads * d.any(1, 2, 4, 8, 16, 32, 64)
    if batch * length * width * (width + length) > 1e7:
        batch, length = 1, min(length, 50)
    more = {"dim_feedforward": d.any(width, 2 * width, 4 * width), "dropout": d.any(0.0, 0.1)}
    more |= d.maybe(0.6, batch_first=True) | d.maybe(0.4, norm_first=True) | d.maybe(0.3, activation="gelu")
    first = "batch_first" in more
    d.same = more["dropout"] == 0
    if d.name == "TransformerDecoderLayer":
        other = d.of(SPANS[:8])
        d.make([("n", (batch, k, width) if first else (k, batch, width)) for k in (length, other)], width, heads, **more)
    else:
        d.make([("n", (batch, length, width) if first else (length, batch, width))], width, heads, **more)
    d.train = d.chance(0.5)


def any_shape(d):
    return rows(d) if d.chance(0.5) else planes(d, d.any(1, 2, 2))


def pointwise(*arguments, **options):
    def draw(d):
        d.make([("n", any_shape(d))], *(a(d) if callable(a) else a for a in arguments), **options)

    return draw


def prelu(d):
    shape = any_shape(d)
    d.make([("n", shape)], d.any(1, shape[1]))


def along(d):
    shape = any_shape(d)
    d.make([("n", shape)], d.r.randrange(len(shape)))


def glu(d):
    shape = any_shape(d)
    dims = [k for k, n in enumerate(shape) if n % 2 == 0]
    shape, dim = (shape, d.of(dims)) if dims else ((*shape[:-1], 2 * shape[-1]), -1)
    d.make([("n", shape)], dim)


def dropout(n):
    def draw(d):
        d.train = d.chance(0.85)
        d.make([("n", planes(d, n) if n else any_shape(d))], d.any(0.1, 0.3, 0.5))

    return draw


def softmax2d(d):
    d.make([("n", planes(d, 2))])


def reduction(d):
    return d.any({}, {}, {"reduction": "sum"}, {"reduction": "none"})


def of_two(first="n", second="n", **options):
    def draw(d):
        shape = any_shape(d)
        d.graded = 1
        d.make([(first, shape), (second, shape)], **{k: d.of(v) for k, v in options.items()}, **reduction(d))

    return draw


def gaussian(d):
    shape = any_shape(d)
    d.graded = 1
    d.make([("n", shape), ("n", shape), ("u", shape)], **d.maybe(0.3, full=True), **reduction(d))


def classes(d):
    d.graded = 1
    more = reduction(d) | (d.maybe(0.2, label_smoothing=0.1) if d.name == "CrossEntropyLoss" else {})
    if d.chance(0.3):
        shape = planes(d, d.any(1, 2))
        return d.make([("n", shape), (shape[1], (shape[0], *shape[2:]))], **more)
    n, c = d.of(ROWS), d.of(FEATURES)
    if d.name == "MultiMarginLoss":
        more |= d.maybe(0.3, p=2)
    d.make([("n", (n, c)), ("u", (n, c)) if d.chance(0.15) and d.name == "CrossEntropyLoss" else (c, (n,))], **more)


def margin_classes(d):
    d.graded = 1
    n, c = d.of(ROWS), d.of(FEATURES)
    second = ("s", (n, c)) if d.name == "MultiLabelSoftMarginLoss" else (c, (n, c)) if d.name == "MultiLabelMarginLoss" else (c, (n,))
    d.make([("n", (n, c)), second], **reduction(d), **(d.maybe(0.3, p=2) if d.name == "MultiMarginLoss" else {}))


def ranking(d):
    shape = (d.of(ROWS),)
    d.graded = 2
    d.make([("n", shape), ("n", shape), ("s", shape)], margin=0.1, **reduction(d))


def cosine_embedding(d):
    n, c = d.of(ROWS), d.of(FEATURES)
    d.graded = 2
    d.make([("n", (n, c)), ("n", (n, c)), ("s", (n,))], margin=0.1, **reduction(d))


def triplet(d):
    shape = (d.of(ROWS), d.of(FEATURES))
    d.make([("n", shape)] * 3, **d.maybe(0.3, p=1), **d.maybe(0.3, swap=True), **reduction(d))


def pairs(d):
    shape = rows(d)
    d.make([("n", shape), ("n", shape)], **d.maybe(0.3, keepdim=True) if d.name == "PairwiseDistance" else {"dim": d.any(0, -1)})


def ctc(d):
    length, batch, count, target = d.of(SPANS), d.of(BATCHES), d.any(2, 5, 20, 30, 100), d.any(1, 3, 10, 20, 50)
    target = min(target, length)
    d.graded = 1
    d.call("ctc_loss", [("n", (length, batch, count)), (count - 1, (batch, target))], input_lengths=(length,) * batch, target_lengths=(target,) * batch, **reduction(d))


def upsample(d):
    mode = d.any("nearest", "nearest-exact", "linear", "bilinear", "bilinear", "bicubic", "trilinear", "area")
    n = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}.get(mode) or d.any(1, 2, 2, 3)
    shape = again(d, lambda: planes(d, n), lambda *s: prod(s) <= MOST_ELEMENTS / 2)
    more = d.maybe(0.3, align_corners=True) if "linear" in mode or mode == "bicubic" else {}
    if mode in ("bilinear", "bicubic") and d.chance(0.15):
        more["antialias"] = True
    where = {"scale_factor": d.any(0.5, 1.5, 2, 2, 3)} if d.chance(0.7) else {"size": sizes(d, n)}
    if prod(shape) * (3.0**n if "size" not in where else 8) > 4 * MOST_ELEMENTS:
        where = {"scale_factor": 0.5}
    d.call("interpolate", [("n", shape)], mode=mode, **where, **more)


def grid_sample(d):
    n = d.any(2, 2, 3)
    shape, size = planes(d, n), sizes(d, n)
    mode = d.any("bilinear", "bilinear", "nearest", *["bicubic"] * (n == 2))
    more = {"mode": mode, "padding_mode": d.any("zeros", "border", "reflection"), "align_corners": d.chance(0.5)}
    d.call("grid_sample", [("n", shape), ("n", (shape[0], *size, n))], **more)


def affine_grid(d):
    n = d.any(2, 2, 3)
    shape = planes(d, n)
    d.call("affine_grid", [("n", (shape[0], n, n + 1))], size=shape, align_corners=d.chance(0.5))


def shuffle(d):
    by = d.any(2, 2, 3, 4)
    n, c, *size = planes(d, 2)
    if d.name == "PixelShuffle":
        c *= by * by
    elif d.name == "ChannelShuffle":
        c *= by
    else:
        size = [x * by for x in size]
    d.make([("n", (n, c, *size))], by)


def fold(d):
    kernel, stride, padding, dilation = d.any(1, 2, 3, 3, 5), d.any(1, 2), d.any(0, 1), d.any(1, 1, 2)
    n, c, h, w = again(d, lambda: planes(d, 2), lambda n, c, h, w: n * c * h * w * kernel**2 < 2 * MOST_ELEMENTS and min(h, w) > dilation * (kernel - 1) + 1)
    more = {"stride": stride, "padding": padding, "dilation": dilation}
    if d.name == "Unfold":
        return d.make([("n", (n, c, h, w))], kernel, **more)
    count = prod((x + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1 for x in (h, w))
    d.make([("n", (n, c * kernel**2, count))], (h, w), kernel, **more)


def pad(n):
    def draw(d):
        shape = planes(d, n)
        width = d.of([1, 2, 3, tuple(d.r.randrange(4) for _ in range(2 * n))])
        d.make([("n", shape)], width, *([0.5] if d.name.startswith("Constant") else []))

    return draw


def response_norm(d):
    d.make([("n", planes(d, 2))], d.any(2, 3, 5))


def unpool(n):
    """What a pool with indices gave goes back."""

    def draw(d):
        n_, c, *size = planes(d, n)
        count = prod(size)
        d.graded = 1
        d.make([("n", (n_, c, *size)), (count, (n_, c, *size))], 2)

    return draw


def parameters(d):
    count = d.any(1, 2, 5, 10, 30, 100, 300)
    most, shapes = d.any(10, 1000, 10_000, 100_000), []
    for _ in range(count):
        size = max(1, round(most ** d.r.random()))
        shapes.append((size,) if d.chance(0.5) else (max(1, size // 8), 8))
    return shapes if sum(map(prod, shapes)) < 2e6 else parameters(d)


def optimizer(**choices):
    def draw(d):
        shapes = parameters(d)
        if d.name == "Muon":
            shapes = [s for s in shapes if len(s) == 2] or [(8, 8)]
        d.step(shapes, **{k: d.of(v) for k, v in choices.items() if d.chance(0.5) or k == "lr"})

    return draw


LEFT_FREE = {"weight_decay": (0.01,), "maximize": (True,)}
POINTWISE = (
    "ReLU ReLU6 ELU SELU CELU GELU SiLU Mish Hardtanh Hardshrink Hardsigmoid Hardswish LeakyReLU LogSigmoid Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink"
)
CLASSES = {
    **{f"Conv{n}d": conv(n) for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": conv(n, True) for n in (1, 2, 3)},
    **{f"{kind}Pool{n}d": pool(n, kind) for kind in ("Max", "Avg", "LP") for n in (1, 2, 3)},
    **{f"Adaptive{kind}Pool{n}d": adaptive(n) for kind in ("Max", "Avg") for n in (1, 2, 3)},
    **{f"MaxUnpool{n}d": unpool(n) for n in (1, 2, 3)},
    **{f"BatchNorm{n}d": batch_norm(n) for n in (1, 2, 3)},
    **{f"InstanceNorm{n}d": instance_norm(n) for n in (1, 2, 3)},
    "LayerNorm": row_norm, "RMSNorm": row_norm, "GroupNorm": group_norm, "LocalResponseNorm": response_norm,
    "Linear": linear, "Bilinear": bilinear, "RNN": recurrent, "LSTM": recurrent, "GRU": recurrent, "RNNCell": cell, "LSTMCell": cell, "GRUCell": cell,
    "Embedding": embedding, "EmbeddingBag": embedding_bag,
    "attention": attention, "MultiheadAttention": multihead, "TransformerEncoderLayer": encoder_layer, "TransformerDecoderLayer": encoder_layer,
    **{name: pointwise() for name in POINTWISE.split()},
    "RReLU": pointwise(), "Threshold": pointwise(0.1, 0.2), "PReLU": prelu, "GLU": glu, "Softmax": along, "LogSoftmax": along, "Softmin": along, "Softmax2d": softmax2d,
    "Dropout": dropout(0), "Dropout1d": dropout(1), "Dropout2d": dropout(2), "Dropout3d": dropout(3), "AlphaDropout": dropout(0), "FeatureAlphaDropout": dropout(2),
    "L1Loss": of_two(), "MSELoss": of_two(), "SmoothL1Loss": of_two(), "HuberLoss": of_two(), "SoftMarginLoss": of_two("n", "s"), "HingeEmbeddingLoss": of_two("n", "s"),
    "BCELoss": of_two("u", "u"), "BCEWithLogitsLoss": of_two("n", "u"), "KLDivLoss": of_two("n", "u"), "PoissonNLLLoss": of_two("n", "u", full=(True, False)),
    "GaussianNLLLoss": gaussian, "CrossEntropyLoss": classes, "NLLLoss": classes, "MultiMarginLoss": margin_classes, "MultiLabelMarginLoss": margin_classes,
    "MultiLabelSoftMarginLoss": margin_classes, "MarginRankingLoss": ranking, "CosineEmbeddingLoss": cosine_embedding, "TripletMarginLoss": triplet, "ctc_loss": ctc,
    "CosineSimilarity": pairs, "PairwiseDistance": pairs,
    "interpolate": upsample, "grid_sample": grid_sample, "affine_grid": affine_grid, "PixelShuffle": shuffle, "PixelUnshuffle": shuffle, "ChannelShuffle": shuffle, "Fold": fold, "Unfold": fold,
    **{f"{kind}Pad{n}d": pad(n) for kind in ("Zero", "Constant", "Reflection", "Replication", "Circular") for n in (1, 2, 3)},
    "SGD": optimizer(momentum=(0.9,), nesterov=(False,), lr=(0.01,), **LEFT_FREE),
    **{name: optimizer(**LEFT_FREE) for name in ("Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam")},
    "Adam": optimizer(amsgrad=(True,), **LEFT_FREE), "AdamW": optimizer(amsgrad=(True,), **LEFT_FREE),
    "RMSprop": optimizer(momentum=(0.9,), centered=(True,), **LEFT_FREE), "Rprop": optimizer(), "ASGD": optimizer(), "Adafactor": optimizer(), "Muon": optimizer(),
}  # fmt: skip
