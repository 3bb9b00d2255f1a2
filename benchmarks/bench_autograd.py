#!/usr/bin/env python3
"""What recording and going backward cost, beside PyTorch. Small tensors: it is the calls that count; and one large one.

    tools/bench autograd [--quick] [--only record]
"""

from _harness import Case, main


def leaf(t, *shape):
    return t.ones(*shape).mul_(0.5).requires_grad_()


def recorded(f, *shapes):
    """A case that only records."""

    def make(t):
        args = [leaf(t, *s) for s in shapes]
        return lambda: f(t, *args)

    return make


def there_and_back(f, *shapes):
    """A case that goes forward and backward."""

    def make(t):
        args = [leaf(t, *s) for s in shapes]

        def step():
            for a in args:
                a.grad = None
            f(t, *args).backward()
            return args[0].grad

        return step

    return make


def linear_of(t):
    return t.nn.functional.linear


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


WHAT = {
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
    "10 products of 8, backward": there_and_back(products(10), (8,), (8,)),
    "10 products of 1e6, backward": there_and_back(products(10), (1_000_000,), (1_000_000,)),
    "mul, sum, backward": there_and_back(lambda t, x, y: (x * y).sum(), (4, 8), (4, 8)),
    "100 adds, backward": there_and_back(chain(100), (4, 8)),
    "100 products, backward": there_and_back(products(100), (4, 8), (4, 8)),
    "in place, backward": there_and_back(in_place, (4, 8)),
    "write 4 slices, backward": there_and_back(slices, (4,)),
}

# what is promised of PyTorch's time
LIMITS = {"record x ": 0.5, "record x.tanh": 0.5, "record x.relu": 0.5, "linear": 0.4, "10 products of 8": 0.4, "10 products of 1e6": 1.0}


def limit(name):
    return next((ratio for start, ratio in LIMITS.items() if name.startswith(start)), None)


CASES = [Case(name, make, limit(name)) for name, make in WHAT.items()]


if __name__ == "__main__":
    main("autograd", __doc__, CASES)
