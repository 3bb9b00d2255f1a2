#!/usr/bin/env python3
"""Matrix products beside PyTorch on 1 and 2 threads: checked against NumPy, then timed.

    tools/bench matmul [--quick] [--only bmm] [--threads 1,2]
"""

from functools import partial

from _harness import Case, geometric_mean, main

SQUARES = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048)
#          name: (rows of x, features in, features out, with bias)
LINEARS = {"linear 1 x 512 -> 512": (1, 512, 512), "linear 16 x 32 -> 32": (16, 32, 32), "linear 64 x 784 -> 128": (64, 784, 128),
           "linear 128 x 512 -> 2048": (128, 512, 2048), "linear 8 x 1024 -> 1024": (8, 1024, 1024)}  # fmt: skip
#          name: (batch, M, K, N)
BATCHES = {"bmm 32 x 64 x 64 x 64": (32, 64, 64, 64), "bmm 8 x 128 x 64 x 128": (8, 128, 64, 128), "bmm 16 x 197 x 64 x 197": (16, 197, 64, 197)}
VECTORS = {"matrix 1024 times vector": 1024}


def arguments(name):
    """(function's name, shapes)"""
    if name in LINEARS:
        m, k, n = LINEARS[name]
        return "linear", ((m, k), (n, k), (n,))
    if name in BATCHES:
        b, m, k, n = BATCHES[name]
        return "matmul", ((b, m, k), (b, k, n))
    if name in VECTORS:
        return "matmul", ((VECTORS[name],) * 2, (VECTORS[name],))
    n = int(name.split()[1])
    return "matmul", ((n, n), (n, n))


def names():
    return [f"matmul {n}" for n in SQUARES] + [*LINEARS, *BATCHES, *VECTORS]


def flops(name):
    what, (x, y, *_) = arguments(name)
    n = y[0] if what == "linear" else y[-1] if len(y) > 1 else 1
    out = n
    for size in x:
        out *= size
    return 2 * out


def product(t, name):
    what, shapes = arguments(name)
    return partial(make(t, what), *(t.randn(*shape) for shape in shapes))


def check():
    import numpy as np

    import facula

    rng = np.random.default_rng(0)
    for name in names():
        what, shapes = arguments(name)
        x, y, *bias = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
        wide = np.float64 if x.size < 1 << 20 else np.float32
        exact = x.astype(wide) @ (y.T if what == "linear" else y).astype(wide) + sum(bias)
        found = make(facula, what)(*map(facula.from_numpy, (x, y, *bias))).numpy()
        assert np.abs(found - exact).max() < 1e-4 * np.abs(exact).max(), name


def make(torch, what):
    return torch.nn.functional.linear if what == "linear" else torch.matmul


# large products may take a twentieth longer than PyTorch's; small squares and a single sample may not
STRICT = {*(f"matmul {n}" for n in SQUARES if n < 256), "linear 1 x 512 -> 512"}
CASES = [Case(name, partial(product, name=name), 1.0 if name in STRICT else 1 / 0.95, tol=1e-3, amount=flops(name) / 1e9) for name in names()]


def summary(rows):
    means = ((n, geometric_mean(r["ratio"] for r in rows if r["threads"] == n and "ratio" in r)) for n in sorted({r["threads"] for r in rows}))
    return "\n" + "\n".join(f"{n} threads: geometric mean {mean:.2f}" for n, mean in means)


if __name__ == "__main__":
    main("matmul", __doc__, CASES, threads=(1, 2), summary=summary, unit="GFLOP", check=check)
