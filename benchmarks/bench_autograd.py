#!/usr/bin/env python3
"""What recording and going backward cost, beside PyTorch in the same run: check, then time. Small tensors: it is the calls that count.

    python benchmarks/bench_autograd.py [--out benchmarks/results/autograd-NN.json]
"""

import argparse
import json
import platform
import time

import facula

try:
    import torch
except ImportError:
    torch = None


def leaf(t, *shape):
    return t.ones(*shape).mul_(0.5).requires_grad_()


def recorded(f, *shapes):
    """A case that only records."""

    def make(t):
        args = [leaf(t, *s) for s in shapes]
        return lambda: f(t, *args), lambda: f(t, *args).detach()

    return make


def there_and_back(f, *shapes):
    """A case that goes forward and backward."""

    def make(t):
        args = [leaf(t, *s) for s in shapes]

        def step():
            f(t, *args).backward()

        def value():
            for a in args:
                a.grad = None
            step()
            return args[0].grad

        return step, value

    return make


def linear_of(t):
    return t.nn.functional.linear if t is torch else facula.linear


def mlp(t, x, w1, b1, w2, b2):
    linear = linear_of(t)
    return linear(linear(x, w1, b1).relu(), w2, b2).sum()


def chain(n):
    def f(t, x):
        y = x
        for _ in range(n):
            y = y + 1.0
        return y.sum()

    return f


def products(n):
    def f(t, x, w):
        y = x
        for _ in range(n):
            y = y * w
        return y.sum()

    return f


def in_place(t, x):
    y = x.clone()
    y.mul_(2.0)
    y.add_(1.0)
    return y.sum()


def slices(t, x):
    out = t.zeros(4)
    for i in range(4):
        out[i] = x[i] * 2.0
    return out.sum()


CASES = {
    "record x * y": recorded(lambda t, x, y: x * y, (4, 8), (4, 8)),
    "record x + y": recorded(lambda t, x, y: x + y, (4, 8), (4, 8)),
    "record x * 2.0": recorded(lambda t, x: x * 2.0, (4, 8)),
    "record x.tanh()": recorded(lambda t, x: x.tanh(), (4, 8)),
    "record x.relu()": recorded(lambda t, x: x.relu(), (4, 8)),
    "record x.sum()": recorded(lambda t, x: x.sum(), (4, 8)),
    "record x[0]": recorded(lambda t, x: x[0], (4, 8)),
    "record x.view(32)": recorded(lambda t, x: x.view(32), (4, 8)),
    "record linear": recorded(lambda t, x, w, b: linear_of(t)(x, w, b), (4, 8), (8, 8), (8,)),
    "linear 4x8, sum, backward": there_and_back(lambda t, x, w, b: linear_of(t)(x, w, b).sum(), (4, 8), (8, 8), (8,)),
    "mlp 8-32-2 batch 16, backward": there_and_back(mlp, (16, 8), (32, 8), (32,), (2, 32), (2,)),
    "mul, sum, backward": there_and_back(lambda t, x, y: (x * y).sum(), (4, 8), (4, 8)),
    "100 adds, backward": there_and_back(chain(100), (4, 8)),
    "100 products, backward": there_and_back(products(100), (4, 8), (4, 8)),
    "in place, backward": there_and_back(in_place, (4, 8)),
    "write 4 slices, backward": there_and_back(slices, (4,)),
}


def best(call, seconds=0.3):
    """(fastest, spread): seconds of one call over seven batches."""
    call()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds / 7:
        call()
        count += 1
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - start) / count)
    return min(times), max(times) / min(times) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="write the figures here as JSON")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    arguments = parser.parse_args()
    if torch is not None:
        torch.set_num_threads(1)
    facula.set_num_threads(1)
    rows = []
    print(f"{'':34s}{'facula':>10s}{'torch':>10s}  ratio   (microseconds)")
    for name, make in CASES.items():
        if arguments.only not in name:
            continue
        ours, value = make(facula)
        row = {"case": name}
        if torch is not None:
            theirs, expected = make(torch)
            gap = max(abs(a - b) for a, b in zip(value().reshape(-1).tolist(), expected().reshape(-1).tolist()))
            assert gap < 1e-4, f"{name}: differs from PyTorch by {gap}"
            row["torch_us"], row["torch_spread"] = [v * f for v, f in zip(best(theirs), (1e6, 1))]
        row["facula_us"], row["facula_spread"] = [v * f for v, f in zip(best(ours), (1e6, 1))]
        ratio = row["facula_us"] / row["torch_us"] if torch is not None else float("nan")
        row["ratio"] = ratio
        rows.append(row)
        print(f"{name:34s}{row['facula_us']:10.3f}{row.get('torch_us', float('nan')):10.3f}  {ratio:5.2f}")
    if arguments.out:
        machine = {"python": platform.python_version(), "machine": platform.processor() or platform.machine(), "torch": torch and torch.__version__}
        with open(arguments.out, "w") as file:
            json.dump({"machine": machine, "threads": 1, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
