#!/usr/bin/env python3
"""Functions over drawn shapes: one to four dims of any sizes, stored in any order, of any dtype, beside PyTorch.

    tools/bench drawn [--backward] [--seed 1] [--cases 3000] [--only softmax,sum] [--quick]

bench_ops.py times a few shapes well; what short dims, dims of one element and permuted layouts do to a loop is seen here. Both libraries
are called in turn in one process (_pairs.py), on one thread by processor time. The summary gives, by function, how many cases were timed, the
median ratio, how many are above 1 and 1.5, and the worst. A case's name tells its dtype, shape, the order of its dims in memory, and the dim.

--backward records each function once and times autograd.grad for all of its floating arguments; those without a derivative are left out.
The gradient lies as the result does (g alike), or is contiguous (flat), or is one number expanded, as below a sum (one).
"""

import operator
import random
from math import prod

from _drawn import drawn_parser, run_drawn
from _harness import Case

SIZES = (1, 2, 3, 4, 5, 7, 8, 10, 16, 17, 28, 32, 50, 64, 100, 128, 200, 256, 300, 512, 1000, 4096, 10000)
MOST = (1_000, 30_000, 300_000, 2_000_000)
DTYPES = (*["float32"] * 6, "float64", "int64", "uint8", "bfloat16", "int32", "float16")
FLOATS = ("float32", "float64", "bfloat16", "float16")
REAL = ("float32", "float64")
SINGLE = ("float32",)


class Drawn:
    """A shape, the order of its dims in memory, a dtype, two dims, and tensors of them in the library t."""

    def __init__(self, seed):
        r = random.Random(seed)
        self.seed, most, dims = seed, r.choice(MOST), r.choice((1, 2, 2, 3, 3, 4))
        while True:
            self.shape = [r.choice(SIZES) for _ in range(dims)]
            if 50 <= (count := prod(self.shape)) <= most:
                break
        self.count, self.order = count, list(range(dims))
        if r.random() < 0.45:
            r.shuffle(self.order)
        self.dtype, self.dim, self.other = r.choice(DTYPES), r.randrange(dims), r.randrange(dims)
        self.n, self.ndim, self.some = self.shape[self.dim], dims, r.choice((1, 5, self.shape[self.dim], 2 * self.shape[self.dim]))
        self.r = random.Random(seed + 1)

    def __str__(self):
        order = "" if self.order == sorted(self.order) else f" stored {self.order}"
        return f"{self.dtype} {tuple(self.shape)}{order} dim {self.dim}"

    def tensor(self, t, shape, order, dtype, salt):
        """Numbers in (-1, 1), or integers from 0 to 49, that both libraries get from NumPy."""
        import numpy as np

        array = np.random.default_rng(self.seed + salt).random([shape[d] for d in order], np.float32)
        x = t.from_numpy(array * 2 - 1 if dtype in FLOATS else array * 50).to(getattr(t, dtype))
        return x.permute([order.index(d) for d in range(len(order))])

    def x(self, t):
        return self.tensor(t, self.shape, self.order, self.dtype, 0)

    def y(self, t):
        """Another of its shape, contiguous."""
        return self.tensor(t, self.shape, sorted(self.order), self.dtype, 1)

    def index(self, t, shape, high):
        order = self.order if len(shape) == self.ndim else list(range(len(shape)))
        return self.tensor(t, shape, order, "int64", 2).remainder(high)


def both_dims(d):
    return tuple({d.dim, d.other})


def row(t, d, start):
    """One slice along the dim, shown along it."""
    return d.y(t).select(d.dim, start).unsqueeze(d.dim)


# name: (t, d) -> a call; the dtypes it is drawn for (none: all), and a condition on the shape
def of(function, dtypes=DTYPES, where=None):
    return function, dtypes, where


def dimmed(name, dtypes=DTYPES):
    """t.name(x, dim)"""
    return of(lambda t, d: (getattr(t, name), d.x(t), d.dim), dtypes)


def plain(name, dtypes=DTYPES):
    return of(lambda t, d: (getattr(t, name), d.x(t)), dtypes)


def flat4(d):
    return d.ndim == 4


def small(d):
    return d.count <= 200_000


CALLS = {
    **{name: dimmed(name) for name in ("sum", "amax", "amin", "argmax", "max", "any", "all", "prod", "cumsum", "cumprod", "cummax", "sort", "argsort", "median")},
    **{name: dimmed(name, FLOATS) for name in ("mean", "std", "softmax", "log_softmax", "logsumexp")},
    **{name: plain(name) for name in ("exp", "isnan", "clone", "nonzero", "unique")},
    **{name: plain(name, FLOATS) for name in ("tanh", "sigmoid", "log1p", "erf")},
    "sum of all": of(lambda t, d: (t.sum, d.x(t))),
    "var over two": of(lambda t, d: (t.var, d.x(t), both_dims(d)), FLOATS),
    "amax over two": of(lambda t, d: (t.amax, d.x(t), both_dims(d))),
    "norm": of(lambda t, d: (t.linalg.vector_norm, d.x(t), 2, d.dim), FLOATS),
    "topk": of(lambda t, d: (t.topk, d.x(t), max(1, d.n // 3), d.dim)),
    "kthvalue": of(lambda t, d: (t.kthvalue, d.x(t), d.n // 2 + 1, d.dim)),
    "quantile": of(lambda t, d: (t.quantile, d.x(t), 0.3, d.dim), REAL),
    "searchsorted": of(lambda t, d: (t.searchsorted, d.y(t).flatten().sort()[0], d.x(t))),
    "add": of(lambda t, d: (operator.add, d.x(t), d.y(t))),
    "add a slice": of(lambda t, d: (operator.add, d.x(t), row(t, d, 0))),
    "eq": of(lambda t, d: (operator.eq, d.x(t), d.y(t))),
    "where": of(lambda t, d: (t.where, d.x(t) > d.y(t), d.x(t), d.y(t))),
    "maximum": of(lambda t, d: (t.maximum, d.x(t), d.y(t))),
    "clamp": of(lambda t, d: (t.clamp, d.x(t), 0, 1)),
    "pow": of(lambda t, d: (operator.pow, d.x(t), 3)),
    "remainder": of(lambda t, d: (operator.mod, d.x(t), 7)),
    "lerp": of(lambda t, d: (t.lerp, d.x(t), d.y(t), 0.3), FLOATS),
    "addcmul": of(lambda t, d: (t.addcmul, d.x(t), d.y(t), d.y(t))),
    "outer": of(lambda t, d: (t.outer, d.y(t).flatten()[:300], d.y(t).flatten()[:300])),
    "to float32": of(lambda t, d: (t.Tensor.to, d.x(t), t.float32), DTYPES[6:]),
    "to int32": of(lambda t, d: (t.Tensor.to, d.x(t), t.int32), FLOATS),
    "cat": of(lambda t, d: (t.cat, [d.x(t), d.y(t), d.x(t)], d.dim)),
    "stack": of(lambda t, d: (t.stack, [d.x(t), d.y(t)], d.dim)),
    "flip": of(lambda t, d: (t.flip, d.x(t), (d.dim,))),
    "roll": of(lambda t, d: (t.roll, d.x(t), d.n // 3, d.dim)),
    "repeat_interleave": of(lambda t, d: (t.repeat_interleave, d.x(t), 2, d.dim)),
    "tril": of(lambda t, d: (t.tril, d.x(t)), DTYPES, lambda d: d.ndim > 1),
    "pad": of(lambda t, d: (t.nn.functional.pad, d.x(t), (1, 2) * min(2, d.ndim))),
    "masked": of(lambda t, d: (t.masked_select, d.x(t), d.x(t) > 0)),
    "index_select": of(lambda t, d: (t.index_select, d.x(t), d.dim, d.index(t, [d.some], d.n))),
    "x[.., i]": of(lambda t, d: (operator.getitem, d.x(t), (slice(None),) * d.dim + (d.index(t, [d.some], d.n),))),
    "gather": of(lambda t, d: (t.gather, d.x(t), d.dim, d.index(t, d.shape, d.n))),
    "scatter": of(lambda t, d: (t.scatter, d.x(t), d.dim, d.index(t, d.shape, d.n), d.y(t))),
    "index_add": of(lambda t, d: (t.index_add, d.x(t), d.dim, d.index(t, [d.n], d.n), d.y(t))),
    "unfold copy": of(lambda t, d: (lambda x: x.unfold(d.dim, max(1, d.n // 4), max(1, d.n // 8)).contiguous(), d.x(t))),
    "matmul": of(lambda t, d: (t.matmul, d.x(t), d.y(t).transpose(-1, -2)), FLOATS, lambda d: d.ndim > 1 and d.shape[-2] < 600),
    "linear": of(lambda t, d: (t.nn.functional.linear, d.x(t), t.ones(100, d.shape[-1], dtype=getattr(t, d.dtype))), ("float32", "float64", "bfloat16")),
    "vecdot": of(lambda t, d: (t.linalg.vecdot, d.x(t), d.y(t)), FLOATS),
    "layer_norm": of(lambda t, d: (t.nn.functional.layer_norm, d.x(t), d.shape[-1:]), FLOATS),
    "rms_norm": of(lambda t, d: (t.nn.functional.rms_norm, d.x(t), d.shape[-1:]), FLOATS),
    "batch_norm": of(lambda t, d: (t.nn.functional.batch_norm, d.x(t), None, None, None, None, True), FLOATS, lambda d: d.ndim > 1 and d.count > d.shape[1]),
    "mse_loss": of(lambda t, d: (t.nn.functional.mse_loss, d.x(t), d.y(t)), FLOATS),
    "cross_entropy": of(lambda t, d: (t.nn.functional.cross_entropy, d.x(t), d.index(t, d.shape[:1], d.shape[1])), SINGLE, lambda d: d.ndim == 2),
    "gelu": of(lambda t, d: (t.nn.functional.gelu, d.x(t)), FLOATS),
    "max_pool2d": of(lambda t, d: (t.nn.functional.max_pool2d, d.x(t), 2), SINGLE, lambda d: flat4(d) and min(d.shape[2:]) > 1),
    "conv2d": of(lambda t, d: (t.nn.functional.conv2d, d.x(t), t.ones(16, d.shape[1], 3, 3), None, 1, 1), SINGLE, lambda d: flat4(d) and small(d) and d.shape[1] <= 300),
    "interpolate": of(lambda t, d: (t.nn.functional.interpolate, d.x(t), None, 2, "bilinear"), SINGLE, lambda d: flat4(d) and small(d)),
    "avg_pool2d": of(lambda t, d: (t.nn.functional.avg_pool2d, d.x(t), 2), SINGLE, lambda d: flat4(d) and min(d.shape[2:]) > 1),
    "adaptive_avg_pool2d": of(lambda t, d: (t.nn.functional.adaptive_avg_pool2d, d.x(t), 3), SINGLE, flat4),
    "group_norm": of(lambda t, d: (t.nn.functional.group_norm, d.x(t), 2), FLOATS, lambda d: d.ndim > 2 and d.shape[1] % 2 == 0),
    "conv1d": of(lambda t, d: (t.nn.functional.conv1d, d.x(t), t.ones(16, d.shape[1], 3), None, 1, 1), SINGLE, lambda d: d.ndim == 3 and small(d) and d.shape[1] <= 300),
    "embedding": of(lambda t, d: (t.nn.functional.embedding, d.index(t, [d.some], d.shape[0]), d.x(t)), FLOATS, lambda d: d.ndim == 2),
    "dropout": of(lambda t, d: (t.nn.functional.dropout, d.x(t), 0.3, True), FLOATS),
    "expand": of(lambda t, d: (lambda x: x.unsqueeze(d.dim).expand(*d.shape[: d.dim], 3, *d.shape[d.dim :]).contiguous(), d.x(t)), FLOATS, lambda d: d.count <= 700_000),
    "contiguous": of(lambda t, d: (lambda x: x.transpose(d.dim, d.other).contiguous(), d.x(t)), FLOATS),
    "reshape": of(lambda t, d: (t.reshape, d.x(t), (-1,)), FLOATS),
    "einsum": of(lambda t, d: (t.einsum, "abc,adc->abd", d.x(t), d.y(t)), REAL, lambda d: d.ndim == 3 and d.shape[1] < 600),
    "cdist": of(lambda t, d: (t.cdist, d.x(t), d.y(t)), REAL, lambda d: d.ndim > 1 and d.shape[-2] < 300 and small(d)),
    "mul": of(lambda t, d: (operator.mul, d.x(t), d.y(t))),
    "div by a slice": of(lambda t, d: (operator.truediv, d.x(t), row(t, d, 0)), FLOATS),
    "mul by a column": of(lambda t, d: (operator.mul, d.x(t), d.y(t).select(-1, 0).unsqueeze(-1)), FLOATS),
    "attention": of(lambda t, d: (t.nn.functional.scaled_dot_product_attention, d.x(t), d.y(t), d.y(t)), SINGLE, lambda d: flat4(d) and d.shape[2] < 600),
}  # fmt: skip
NO_DERIVATIVE = {"argmax", "any", "all", "argsort", "isnan", "nonzero", "unique", "searchsorted", "eq", "to int32"}


def made(d, function, t):
    call, *arguments = function(t, d)
    return lambda: call(*arguments)


GRADIENTS = {
    "one": lambda t, like: t.ones((), dtype=like.dtype).expand(like.shape),
    "alike": lambda t, like: t.rand_like(like),
    "flat": lambda t, like: t.rand(like.shape, dtype=like.dtype),
}


def drawn_gradient(d):
    return [*GRADIENTS][d.seed % len(GRADIENTS)]


def made_backward(d, function, t):
    """The gradient of what a function answers with respect to its floating arguments, those in a list included."""
    call, *arguments = function(t, d)
    leaves = []

    def leaf(x):
        if isinstance(x, list):
            return [leaf(one) for one in x]
        if not isinstance(x, t.Tensor) or not x.is_floating_point():
            return x
        leaves.append(x.detach().requires_grad_())
        return leaves[-1]

    result = call(*map(leaf, arguments))
    result = result if isinstance(result, t.Tensor) else result[0]
    g = GRADIENTS[drawn_gradient(d)](t, result)
    return lambda: t.autograd.grad(result, leaves, g, retain_graph=True)


def cases(seed, count, only, backward=False):
    """As many cases as asked for, of one function after the other; those whose dtype or shape it does not take are drawn again."""
    make, floats = (made_backward, FLOATS) if backward else (made, DTYPES)
    names = [n for n in CALLS if not only or any(part in n for part in only)]
    names = [n for n in names if not (backward and n in NO_DERIVATIVE)]
    for k in range(count):
        name = names[k % len(names)]
        function, dtypes, where = CALLS[name]
        for again in range(1000):
            d = Drawn(seed * 1_000_003 + 1009 * k + again)
            if d.dtype in dtypes and d.dtype in floats and (where is None or where(d)):
                yield Case(f"{name} {d}{' g ' + drawn_gradient(d) if backward else ''}", lambda t, d=d, function=function: make(d, function, t), family=name, tol=None)
                break


def run():
    p = drawn_parser(__doc__)
    p.add_argument("--backward", action="store_true", help="time gradients instead")
    options = p.parse_args()
    run_drawn("drawn_backward" if options.backward else "drawn", options, lambda count: cases(options.seed, count, options.only, options.backward), 0.02)


if __name__ == "__main__":
    run()
