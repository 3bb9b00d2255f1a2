#!/usr/bin/env python3
"""Kernels of their own beside PyTorch: attention, recurrences, alignments, resampling, norms, losses, long folds, order, streams.

Each is called as a user calls it; "back" is the gradient alone, of a graph that is kept. The summary says what part of the bandwidth of
memcpy, by as many threads and measured in the same run, functions of 10^7 floats reach.

    tools/bench kernels [--quick] [--only lstm] [--threads 1,2]
    tools/bench kernels --only 10^7 --threads 1,2       what memory allows, and what is made of it
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from _harness import OURS, Case, geometric_mean, main


def attention(t, heads=8, length=1024, width=64, causal=False, batch=1):
    q, k, v = (t.randn(batch, heads, length, width).requires_grad_() for _ in range(3))
    return lambda: t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal), (q, k, v)


def recurrence(t, kind, steps, rows, inputs, hidden):
    module = getattr(t.nn, kind)(inputs, hidden)
    x = t.randn(steps, rows, inputs).requires_grad_()
    return lambda: module(x)[0], (x, *module.parameters())


def ctc(t):
    x = t.randn(100, 16, 30).log_softmax(2).detach().requires_grad_()
    targets, steps, lengths = t.arange(16 * 20).reshape(16, 20) % 29 + 1, t.full((16,), 100), t.full((16,), 20)
    return lambda: t.nn.functional.ctc_loss(x, targets, steps, lengths), (x,)


def interpolate(t, shape, **options):
    x = t.randn(*shape).requires_grad_()
    return lambda: t.nn.functional.interpolate(x, **options), (x,)


def grid_sample(t, mode):
    x, grid = t.randn(4, 16, 64, 64).requires_grad_(), (t.rand(4, 64, 64, 2) * 2 - 1).requires_grad_()
    return lambda: t.nn.functional.grid_sample(x, grid, mode, align_corners=False), (x, grid)


def call(t, shape, f, dtype="float32"):
    x = t.randn(*shape).to(getattr(t, dtype)).requires_grad_()
    return lambda: f(t, x), (x,)


BOTH = {  # forward and gradient
    "attention 8 x 1024 x 64": attention,
    "attention 8 x 1024 x 64 causal": partial(attention, causal=True),
    "attention 4 x 8 x 128 x 64": partial(attention, batch=4, length=128),
    **{
        f"{kind.lower()} {steps} x {rows} x {inputs}, {hidden}": partial(recurrence, kind=kind, steps=steps, rows=rows, inputs=inputs, hidden=hidden)
        for kind in ("LSTM", "GRU", "RNN")
        for steps, rows, inputs, hidden in ((50, 16, 64, 128), (100, 1, 32, 32))
    },
    "ctc 100 x 16 x 30": ctc,
    "interpolate nearest x2": partial(interpolate, shape=(4, 16, 64, 64), scale_factor=2, mode="nearest"),
    "interpolate bilinear x2": partial(interpolate, shape=(4, 16, 64, 64), scale_factor=2, mode="bilinear"),
    "interpolate bicubic x2": partial(interpolate, shape=(4, 16, 64, 64), scale_factor=2, mode="bicubic"),
    "interpolate antialias 512 -> 224": partial(interpolate, shape=(1, 3, 512, 512), size=(224, 224), mode="bilinear", antialias=True),
    "grid_sample bilinear": partial(grid_sample, mode="bilinear"),
    "grid_sample bicubic": partial(grid_sample, mode="bicubic"),
    "softmax 10000 x 1000": partial(call, shape=(10000, 1000), f=lambda t, x: x.softmax(1)),
    "softmax 100000 x 10": partial(call, shape=(100000, 10), f=lambda t, x: x.softmax(1)),
    "layer_norm 10000 x 1000": partial(call, shape=(10000, 1000), f=lambda t, x: t.nn.functional.layer_norm(x, (1000,))),
    "batch_norm 100 x 100 x 1000": partial(call, shape=(100, 100, 1000), f=lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True)),
    "cross_entropy 10000 x 1000": partial(call, shape=(10000, 1000), f=lambda t, x: t.nn.functional.cross_entropy(x, t.arange(10000) % 1000)),
}
FORWARD = {
    "mean of 10^7": partial(call, shape=(10**7,), f=lambda t, x: x.mean()),
    "var of 10^7": partial(call, shape=(10**7,), f=lambda t, x: x.var()),
    "amax of 10^7": partial(call, shape=(10**7,), f=lambda t, x: x.amax()),
    "column sums 10000 x 1000": partial(call, shape=(10000, 1000), f=lambda t, x: x.sum(0)),
    "row sums 10000 x 1000": partial(call, shape=(10000, 1000), f=lambda t, x: x.sum(1)),
    "row sums 10^6 x 10": partial(call, shape=(10**6, 10), f=lambda t, x: x.sum(1)),
    "sum of 8": partial(call, shape=(8,), f=lambda t, x: x.sum()),
    "sort 1000 x 1000": partial(call, shape=(1000, 1000), f=lambda t, x: x.sort()),
    "topk(10) 1000 x 1000": partial(call, shape=(1000, 1000), f=lambda t, x: x.topk(10)),
}

# how many tensors of 10^7 floats a call reads or writes
STREAMS = {"neg": 2, "relu": 2, "exp": 2, "tanh": 2, "gelu": 2, "add": 3, "mul": 3, "sum": 1, "softmax": 2, "layer_norm": 2}
MEMCPY = "memcpy of 10^7"
ROWS_OF = {"softmax": lambda t, x: x.softmax(1), "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, (1000,)), "gelu": lambda t, x: t.nn.functional.gelu(x)}


def stream(t, name):
    operands = [t.randn(10**4, 1000) for _ in range(2 if STREAMS[name] == 3 else 1)]
    f = ROWS_OF.get(name)
    return (lambda: f(t, *operands)) if f else (lambda: getattr(t, name)(*operands)), operands


def memcpy(t):
    """NumPy's, which lets go of the lock: a part for each thread."""
    to, source = np.ones((2, 10**7), np.float32)
    parts = list(zip(np.array_split(to, t.get_num_threads()), np.array_split(source, t.get_num_threads())))
    pool = ThreadPoolExecutor(len(parts))
    return (lambda: list(pool.map(lambda part: np.copyto(*part), parts))) if len(parts) > 1 else (lambda: np.copyto(*parts[0])), ()


FORWARD |= {f"{name} of 10^7": partial(stream, name=name) for name in STREAMS}
FORWARD[MEMCPY] = memcpy


def forward(t, make):
    t.manual_seed(0)
    run, _ = make(t)

    def plain():
        with t.no_grad():
            return run()

    return plain


def back(t, make):
    t.manual_seed(0)
    run, operands = make(t)
    out = run()
    g = (t.arange(out.numel()) % 7 - 3).reshape(tuple(out.shape)).to(out.dtype)
    return lambda: t.autograd.grad(out, operands, g, retain_graph=True)


CASES = [Case(name, partial(forward, make=make)) for name, make in {**BOTH, **FORWARD}.items()]
CASES += [Case(name + ", back", partial(back, make=make)) for name, make in BOTH.items()]


def summary(rows):
    ratios = [r["ratio"] for r in rows if "ratio" in r and r["case"] != MEMCPY]
    text = f"\ngeometric mean {geometric_mean(ratios):.2f}, worst {max(ratios, default=float('nan')):.2f}"
    took = {(r["case"], r["threads"]): r[f"{OURS}_s"] for r in rows if f"{OURS}_s" in r}
    for threads in sorted({threads for case, threads in took if case == MEMCPY}):
        copied = 2 / took[MEMCPY, threads]
        seconds = {name: took.get((f"{name} of 10^7", threads)) for name in STREAMS}
        parts = [f"{name} {100 * STREAMS[name] / s / copied:.0f} %" for name, s in seconds.items() if s]
        text += f"\nof memcpy's {copied * 4e-2:.1f} GB/s, {threads} thr: {', '.join(parts)}"
    return text


if __name__ == "__main__":
    main("kernels", __doc__, CASES, summary=summary)
