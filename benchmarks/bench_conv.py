#!/usr/bin/env python3
"""Convolutions of LeNet, ResNet-18 and a depthwise net beside PyTorch, in three directions, and a whole training step.

Check against float64 NumPy sums by oracle-sized cases is the tests' work (tests/oracles/window.py); here each direction is
compared with float64 sums over windows on one sample before it is timed.

    tools/bench conv [--quick] [--only step] [--threads 1,2]
"""

from functools import partial

from _harness import Case, geometric_mean, main

#        name: batch, in, out, size, kernel, stride, padding, groups
SHAPES = {
    "lenet 1->32 28 k3": (64, 1, 32, 28, 3, 1, 0, 1),
    "lenet 32->64 26 k3": (64, 32, 64, 26, 3, 1, 0, 1),
    "lenet-5 1->6 28 k5 p2": (64, 1, 6, 28, 5, 1, 2, 1),
    "lenet-5 6->16 14 k5": (64, 6, 16, 14, 5, 1, 0, 1),
    "resnet 3->64 224 k7 s2": (1, 3, 64, 224, 7, 2, 3, 1),
    "resnet 64->64 56 k3": (1, 64, 64, 56, 3, 1, 1, 1),
    "resnet 64->128 56 k3 s2": (1, 64, 128, 56, 3, 2, 1, 1),
    "resnet 64->128 56 k1 s2": (1, 64, 128, 56, 1, 2, 0, 1),
    "resnet 128->128 28 k3": (1, 128, 128, 28, 3, 1, 1, 1),
    "resnet 256->256 14 k3": (1, 256, 256, 14, 3, 1, 1, 1),
    "resnet 512->512 7 k3": (1, 512, 512, 7, 3, 1, 1, 1),
    "resnet b8 64->64 56 k3": (8, 64, 64, 56, 3, 1, 1, 1),
    "resnet b8 256->256 14 k3": (8, 256, 256, 14, 3, 1, 1, 1),
    "resnet-20 b32 16->16 32 k3": (32, 16, 16, 32, 3, 1, 1, 1),
    "resnet-20 b32 64->64 8 k3": (32, 64, 64, 8, 3, 1, 1, 1),
    "1x1 b4 256->64 28": (4, 256, 64, 28, 1, 1, 0, 1),
    "depthwise b4 64 56 k3": (4, 64, 64, 56, 3, 1, 1, 64),
    "depthwise b4 128 28 k3 s2": (4, 128, 128, 28, 3, 2, 1, 128),
    "depthwise 96 56 k7": (1, 96, 96, 56, 7, 1, 3, 96),
    "1x1 b4 64->256 56": (4, 64, 256, 56, 1, 1, 0, 1),
    "resnext 128->128 56 k3 g32": (1, 128, 128, 56, 3, 1, 1, 32),
    "resnext 256->256 56 k3 s2 g32": (1, 256, 256, 56, 3, 2, 1, 32),
    "patches 3->192 224 k16 s16": (1, 3, 192, 224, 16, 16, 0, 1),
    "lenet-5 b1 1->6 28 k5 p2": (1, 1, 6, 28, 5, 1, 2, 1),
    "lenet-5 b1 6->16 14 k5": (1, 6, 16, 14, 5, 1, 0, 1),
    "resnet-20 b1 16->16 32 k3": (1, 16, 16, 32, 3, 1, 1, 1),
    "resnet-20 b1 64->64 8 k3": (1, 64, 64, 8, 3, 1, 1, 1),
}
SHAPES |= {"depthwise b4 960 7 k3": (4, 960, 960, 7, 3, 1, 1, 960), "depthwise b4 192 28 k7": (4, 192, 192, 28, 7, 1, 3, 192)}
LAST = ("depthwise b4 64 56 k3", "depthwise b4 128 28 k3 s2", "depthwise 96 56 k7", "1x1 b4 256->64 28", "1x1 b4 64->256 56",
        "resnet b8 64->64 56 k3", "resnet b8 256->256 14 k3", "resnet 3->64 224 k7 s2", "resnet 64->128 56 k3 s2")  # fmt: skip

#        name: function, input, weight, what follows the bias (stride, padding, ...)
OTHERS = {
    "aspp 256->256 33 k3 d12": ("conv2d", (1, 256, 33, 33), (256, 256, 3, 3), (1, 12, 12)),
    "transposed 21->21 32 k16 s8": ("conv_transpose2d", (1, 21, 32, 32), (21, 21, 16, 16), (8, 4)),
    "transposed 128->64 28 k4 s2": ("conv_transpose2d", (1, 128, 28, 28), (128, 64, 4, 4), (2, 1)),
    "1-d 1->512 16000 k10 s5": ("conv1d", (1, 1, 16000), (512, 1, 10), (5,)),
    "1-d b8 64->64 1000 k3": ("conv1d", (8, 64, 1000), (64, 64, 3), (1, 1)),
    "3-d 16->16 16 k3": ("conv3d", (1, 16, 16, 16, 16), (16, 16, 3, 3, 3), (1, 1)),
}
DIRECTIONS = ("forward", "to input", "to weight")


def out_size(n, k, s, p):
    return (n + 2 * p - k) // s + 1


def flops(case):
    name = case.rsplit(", ", 1)[0].removesuffix(" last")
    if name not in SHAPES:
        return 0
    b, i, o, n, k, s, p, g = SHAPES[name]
    return 2 * b * o * (i // g) * k * k * out_size(n, k, s, p) ** 2


def directions(torch, b, i, o, n, k, s, p, g, last=False):
    """Three callables, each one kernel of the library. last: all of the tensors lie channels_last."""
    m = out_size(n, k, s, p)
    x, w, grad = torch.randn(b, i, n, n), torch.randn(o, i // g, k, k), torch.randn(b, o, m, m)
    bias = torch.randn(o)
    if last:
        x, w, grad = (t.contiguous(memory_format=torch.channels_last) for t in (x, w, grad))
    forward = partial(torch.nn.functional.conv2d, x, w, bias, s, p, 1, g)
    if torch.__name__ == "torch":
        back = partial(torch.ops.aten.convolution_backward, grad, x, w, [o], [s, s], [p, p], [1, 1], False, [0, 0], g)
        return forward, partial(back, [True, False, False]), partial(back, [False, True, False])
    from facula.tensor_core.extend import function, ops

    geometry = ((1, s, s), (0, p, p), (1, 1, 1), False, g)
    to_input, to_weight = (function(ops[f"convolution_grad_{w}"]) for w in ("input", "weight"))
    return forward, partial(to_input, grad, w, (1, n, n), *geometry), partial(to_weight, grad, x, (1, k, k), *geometry)


def step(torch):
    """One training step of a LeNet-like net (two 3 x 3 convolutions of 32 and 64 channels on 28 x 28, batch 64)."""
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                        nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10))  # fmt: skip
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x, y = torch.randn(64, 1, 28, 28), torch.randint(0, 10, (64,))

    def run():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()

    return run


def either_way(t, call, operands, back):
    """The call, or the gradients by its operands, through autograd."""
    if not back:
        return call
    for operand in operands:
        operand.requires_grad_()
    y = call()
    return partial(t.autograd.grad, y, operands, t.ones_like(y), retain_graph=True)


def other(name, x, w, options, back):
    def make(t):
        operands = [t.randn(*x), t.randn(*w)]
        return either_way(t, partial(getattr(t.nn.functional, name), *operands, None, *options), operands, back)

    return make


def pool(name, shape, options, last=False, back=False):
    def make(t):
        x = t.randn(*shape)
        if last:
            x = x.contiguous(memory_format=t.channels_last)
        return either_way(t, partial(getattr(t.nn.functional, name), x, *options), [x], back)

    return make


MANY = (64, 64, 24, 24)
POOLS = {"max_pool2d 64 x 64 x 24 x 24 k2": ("max_pool2d", MANY, (2,)), "max_pool2d k3 s2 p1": ("max_pool2d", MANY, (3, 2, 1)),
         "avg_pool2d k2": ("avg_pool2d", MANY, (2,)), "adaptive_avg_pool2d 1": ("adaptive_avg_pool2d", MANY, (1,)),
         "adaptive_avg_pool2d 24 to 7": ("adaptive_avg_pool2d", MANY, (7,)), "adaptive_max_pool2d 24 to 7": ("adaptive_max_pool2d", MANY, (7,)),
         "max_pool1d 64 x 64 x 1000 k2": ("max_pool1d", (64, 64, 1000), (2,)), "max_pool1d 16 x 64 x 500 k3 s2 p1": ("max_pool1d", (16, 64, 500), (3, 2, 1)),
         "max_pool3d 4 x 16 x 16 k2": ("max_pool3d", (4, 16, 16, 16, 16), (2,)),
         "max_pool2d 1 x 6 x 28 x 28 k2": ("max_pool2d", (1, 6, 28, 28), (2,)), "max_pool2d 1 x 16 x 10 x 10 k2": ("max_pool2d", (1, 16, 10, 10), (2,))}  # fmt: skip
IN_BOTH = [name for name, how in POOLS.items() if how[1] == MANY]  # formats, and with a gradient


def sampled(shape, places, back, **options):
    def make(t):
        x, grid = t.randn(*shape), t.rand(shape[0], *places, len(places)) * 2 - 1
        return either_way(t, partial(t.nn.functional.grid_sample, x, grid, align_corners=False, **options), [x, grid], back)

    return make


GRIDS = {"grid_sample 4 x 16 x 64 x 64": ((4, 16, 64, 64), (64, 64), {}), "grid_sample nearest": ((4, 16, 64, 64), (64, 64), {"mode": "nearest"}),
         "grid_sample bicubic": ((4, 16, 64, 64), (64, 64), {"mode": "bicubic"}), "grid_sample 1 x 1 x 28 x 28": ((1, 1, 28, 28), (28, 28), {}),
         "grid_sample 1 x 4 x 16 x 16 x 16": ((1, 4, 16, 16, 16), (16, 16, 16), {}), "grid_sample nearest 2 x 2 x 32 x 32 x 32": ((2, 2, 32, 32, 32), (32, 32, 32), {"mode": "nearest"})}  # fmt: skip


def interpolated(shape, size, mode, back=False, last=False, dtype="float32", **options):
    def make(t):
        x = t.randint(0, 256, shape, dtype=t.uint8) if dtype == "uint8" else t.randn(*shape)
        if last:
            x = x.contiguous(memory_format=t.channels_last)
        return either_way(t, partial(t.nn.functional.interpolate, x, size=size, mode=mode, **options), [x], back)

    return make


MODES = {"nearest": {"mode": "nearest"}, "bilinear": {"mode": "bilinear"}, "bicubic": {"mode": "bicubic"},
         "bilinear antialias": {"mode": "bilinear", "antialias": True}, "bicubic antialias": {"mode": "bicubic", "antialias": True}}  # fmt: skip


def direction(shape, k, last=False):
    return lambda t: directions(t, *shape, last)[k]


CASES = [
    Case(f"{name}, {what}", direction(shape, k), tol=None, family=what, amount=flops(f"{name}, {what}") / 1e9)
    for name, shape in SHAPES.items()
    for k, what in enumerate(DIRECTIONS)
]
CASES += [
    Case(f"{name} last, {what}", direction(SHAPES[name], k, True), tol=None, family=f"{what}, last", amount=flops(f"{name}, {what}") / 1e9)
    for name in LAST
    for k, what in enumerate(DIRECTIONS)
]
CASES += [Case(f"{name}, {'backward' if back else 'forward'}", other(*how, back), family="other", tol=None) for name, how in OTHERS.items() for back in (False, True)]
CASES += [Case(name, pool(*how), family="pool", tol=1e-3) for name, how in POOLS.items()]
CASES += [
    Case(f"{name}{' last' * last}{' backward' * back}", pool(*POOLS[name], last, back), family="pool", tol=None)
    for name in IN_BOTH
    for last, back in ((True, False), (False, True), (True, True))
]
CASES += [Case(f"{name}{' backward' * back}", sampled(*how[:2], back, **how[2]), family="grid", tol=None) for name, how in GRIDS.items() for back in (False, True)]
CASES += [
    Case(f"interpolate 64 x 56 to 112 {name}{' last' * last}{' backward' * back}", interpolated((1, 64, 56, 56), (112, 112), back=back, last=last, **how), family="interpolate", tol=None)
    for name, how in MODES.items()
    for last in (False, True)
    for back in (False, True)
]
CASES += [
    Case(f"interpolate bytes 3 x 256 x 341 to 224 {name}{' last' * last}", interpolated((1, 3, 256, 341), (224, 224), last=last, dtype="uint8", **how), family="interpolate bytes", tol=None)
    for name, how in MODES.items()
    for last in (False, True)
]
CASES += [Case("lenet training step", step, family="step", tol=None)]


def summary(rows):
    lines = []
    for threads in sorted({r["threads"] for r in rows}):
        for family in dict.fromkeys(r["family"] for r in rows):
            ratios = [r["ratio"] for r in rows if (r["threads"], r["family"]) == (threads, family) and "ratio" in r]
            lines.append(f"{threads} threads, {family}: geometric mean {geometric_mean(ratios):.2f}, worst {max(ratios, default=float('nan')):.2f}")
    return "\n" + "\n".join(lines)


def check():
    """<forward(x), g> = <x, to_input(g)> = <w, to_weight(g)> in float64 sums, and forward against NumPy's windows."""
    import numpy as np

    import facula

    facula.manual_seed(0)
    for name, shape in SHAPES.items():
        b, i, o, n, k, s, p, g = shape
        forward, to_input, to_weight = directions(facula, 1, *shape[1:])
        x, w, bias = (t.numpy().astype(np.float64) for t in forward.args[:3])
        grad = to_input.args[0].numpy().astype(np.float64)
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(x[0], ((0, 0), (p, p), (p, p))), (k, k), (1, 2))[:, ::s, ::s]
        per = i // g
        exact = np.concatenate([np.einsum("oikl,ihwkl->ohw", w[j * o // g : (j + 1) * o // g], windows[j * per : (j + 1) * per], optimize=True) for j in range(g)])
        found = forward().numpy()[0]
        assert np.abs(found - exact - bias[:, None, None]).max() < 1e-4 * np.abs(exact).max(), name
        want = (exact * grad[0]).sum()
        size = np.sqrt((exact**2).sum() * (grad**2).sum())
        assert abs((x * to_input().numpy()).sum() - want) < 1e-4 * size, f"{name}, to input"
        assert abs((w * to_weight().numpy()).sum() - want) < 1e-4 * size, f"{name}, to weight"


if __name__ == "__main__":
    main("conv", __doc__, CASES, threads=(1, 2), summary=summary, unit="GFLOP", check=check)
