"""Convolution and pooling against PyTorch where it is installed: random geometries, values and first and second gradients."""

import random

import facula
import facula.nn.functional as F
import pytest

torch = pytest.importorskip("torch")
T = torch.nn.functional


def both(shape, seed, dtype="float64"):
    torch.manual_seed(seed)
    theirs = torch.randn(shape, dtype=getattr(torch, dtype))
    return facula.from_numpy(theirs.numpy().copy()), theirs


def close(expected, actual, what):
    expected = expected.detach().resolve_conj()
    assert tuple(expected.shape) == tuple(actual.shape), what
    assert str(expected.dtype).split(".")[1] == str(actual.dtype).split(".")[1], what
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if expected.dtype in (torch.float64, torch.complex128) else {"rtol": 2e-4, "atol": 2e-4}
    torch.testing.assert_close(torch.from_numpy(actual.detach().numpy()), expected, msg=lambda m: f"{what}\n{m}", **tolerance)


def compare(ours, theirs, tensors, what, second=True):
    """Values, gradients of a random projection, and gradients of a projection of those."""
    x, y = [t[0] for t in tensors], [t[1] for t in tensors]
    for t in (*x, *y):
        t.requires_grad_(True)
    a, b = ours(*x), theirs(*y)
    close(b, a, what)
    v = both(tuple(b.shape), 99, str(b.dtype).split(".")[1])
    for t in v:
        t.requires_grad_(True)
    first_a = facula.autograd.grad(a, x, v[0], create_graph=second)
    first_b = torch.autograd.grad(b, y, v[1], create_graph=second)
    for g, h in zip(first_a, first_b, strict=True):
        close(h, g, f"{what}, gradient")
    if not second:
        return
    projections = [both(tuple(h.shape), 7 + k, str(h.dtype).split(".")[1]) for k, h in enumerate(first_b)]
    a = sum((g * p[0]).sum() for g, p in zip(first_a, projections))
    b = sum((h * p[1]).sum() for h, p in zip(first_b, projections))
    if b.is_complex():
        a, b = a.real, b.real
    second_a = facula.autograd.grad(a, [*x, v[0]], allow_unused=True)
    second_b = torch.autograd.grad(b, [*y, v[1]], allow_unused=True)
    for k, (t, g, h) in enumerate(zip([*y, v[1]], second_a, second_b)):
        close(torch.zeros_like(t) if h is None else h, facula.zeros(t.shape, dtype=getattr(facula, str(t.dtype)[6:])) if g is None else g, f"{what}, second gradient {k}")


def conv_geometry(rng, ndim, transposed):
    groups = rng.choice([1, 1, 1, 2, 3])
    inside, outside = rng.choice([1, 2, 3, 5]), rng.choice([1, 2, 4])
    kernel = [rng.choice([1, 2, 3, 3, 5]) for _ in range(ndim)]
    stride = [rng.choice([1, 1, 2, 3]) for _ in range(ndim)]
    dilation = [rng.choice([1, 1, 2]) for _ in range(ndim)]
    padding = [rng.choice([0, 1, 2]) for _ in range(ndim)]
    extra = [rng.randrange(max(s, d)) for s, d in zip(stride, dilation)]
    size = [d * (k - 1) + 1 + rng.randrange(6 if ndim > 1 else 20) for k, d in zip(kernel, dilation)]
    if transposed:
        size = [max(2, n // 2 + p) for n, p in zip(size, padding)]
        out = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, s, p, d, k, e in zip(size, stride, padding, dilation, kernel, extra)]
        if min(out) < 1:
            padding = [0] * ndim
    batch = [] if rng.random() < 0.1 else [rng.choice([1, 2, 3])]
    x = (*batch, groups * inside, *size)
    weight = (groups * inside, outside, *kernel) if transposed else (groups * outside, inside, *kernel)
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    if transposed:
        how["output_padding"] = extra
    return x, weight, groups * outside, how


@pytest.mark.parametrize("seed", range(90))
def test_convolution_is_pytorchs(seed):
    rng = random.Random(seed)
    ndim, transposed = 1 + seed % 3, seed // 3 % 2 == 1
    dtype = ("float64", "float64", "float32", "complex128")[seed % 4]
    x, weight, outputs, how = conv_geometry(rng, ndim, transposed)
    name = f"conv_transpose{ndim}d" if transposed else f"conv{ndim}d"
    tensors = [both(x, seed, dtype), both(weight, seed + 1, dtype)] + ([both((outputs,), seed + 2, dtype)] if rng.random() < 0.5 else [])
    compare(
        lambda *t: getattr(F, name)(*t, **how), lambda *t: getattr(T, name)(*t, **how), tensors,
        f"{name}({x}, {weight}, {how}, {dtype})",
    )  # fmt: skip


@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_same_padding_is_pytorchs(kernel):
    tensors = [both((2, 3, 9, 7), 0), both((4, 3, kernel, 3), 1)]
    compare(lambda *t: F.conv2d(*t, padding="same", dilation=(2, 1)), lambda *t: T.conv2d(*t, padding="same", dilation=(2, 1)), tensors, "same")


def pool_geometry(rng, ndim):
    kernel = [rng.choice([1, 2, 3, 4]) for _ in range(ndim)]
    how = {
        "kernel_size": kernel,
        "stride": rng.choice([None, [rng.choice([1, 2, 3]) for _ in range(ndim)]]),
        "padding": [rng.randrange(k // 2 + 1) for k in kernel],
        "ceil_mode": rng.random() < 0.5,
    }
    size = [2 * k + rng.randrange(6 if ndim > 1 else 30) for k in kernel]
    return ([] if rng.random() < 0.1 else [rng.choice([1, 2])]) + [rng.choice([1, 3]), *size], how


@pytest.mark.parametrize("seed", range(45))
def test_pooling_is_pytorchs(seed):
    rng = random.Random(seed)
    ndim = 1 + seed % 3
    x, how = pool_geometry(rng, ndim)
    name, more = f"avg_pool{ndim}d", {"count_include_pad": rng.random() < 0.5}
    if ndim > 1 and rng.random() < 0.3:
        more["divisor_override"] = 3
    dtype = ("float64", "float32")[seed % 2]
    compare(lambda t: getattr(F, name)(t, **how, **more), lambda t: getattr(T, name)(t, **how, **more), [both(x, seed, dtype)], f"{name}({x}, {how}, {more})")

    name, more = f"max_pool{ndim}d", {"dilation": rng.choice([1, 1, 2])}
    compare(lambda t: getattr(F, name)(t, **how, **more), lambda t: getattr(T, name)(t, **how, **more), [both(x, seed, dtype)], f"{name}({x}, {how}, {more})")
    a, b = both(x, seed, dtype)
    for ours, theirs in zip(getattr(F, name)(a, **how, **more, return_indices=True), getattr(T, name)(b, **how, **more, return_indices=True)):
        close(theirs, ours, f"{name}({x}, {how}, {more})")


@pytest.mark.parametrize("seed", range(30))
def test_adaptive_pooling_is_pytorchs(seed):
    rng = random.Random(seed)
    ndim = 1 + seed % 3
    x = ([] if rng.random() < 0.1 else [2]) + [3] + [rng.randrange(1, 12) for _ in range(ndim)]
    size = [rng.choice([1, 2, 3, 5, 7]) for _ in range(ndim)]
    if ndim > 1 and rng.random() < 0.3:
        size[0] = None
    if ndim == 1:
        size = size[0]
    for kind in ("avg", "max"):
        name = f"adaptive_{kind}_pool{ndim}d"
        compare(lambda t: getattr(F, name)(t, size), lambda t: getattr(T, name)(t, size), [both(x, seed)], f"{name}({x}, {size})")


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_maxima_of_integers(dtype):
    x = torch.randint(0, 100, (2, 3, 8, 9)).to(getattr(torch, dtype))
    close(T.max_pool2d(x, 3, 2, 1), F.max_pool2d(facula.from_numpy(x.numpy()), 3, 2, 1), dtype)


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("call", [
    "conv{n}d(x, w, b, 2, 1)", "conv{n}d(x.contiguous(), w.contiguous(memory_format=LAST))", "conv_transpose{n}d(x, w.transpose(0, 1))", "max_pool{n}d(x, 2)",
    "avg_pool{n}d(x, 2, 1)", "adaptive_avg_pool{n}d(x, 2)", "adaptive_avg_pool{n}d(x, 1)", "adaptive_max_pool{n}d(x, 3)", "conv{n}d(x[:, :1].contiguous(memory_format=LAST), w[:, :1])",
    "conv{n}d(x[..., :1].contiguous(memory_format=LAST), w[..., :1])", "conv{n}d(x, w[:1])", "max_pool{n}d(x, 2, return_indices=True)[1]",
])  # fmt: skip
def test_channels_last_is_kept(call, ndim):
    results = []
    for X, f, pick in ((facula, F, 0), (torch, T, 1)):
        last = X.channels_last if ndim == 2 else X.channels_last_3d
        x, w, b = (both(shape, k)[pick] for k, shape in enumerate([(2, 3, *(6, 7, 8)[:ndim]), (4, 3, *(3, 3, 2)[:ndim]), (4,)]))
        x = x.contiguous(memory_format=last).requires_grad_()
        y = eval("f." + call.format(n=ndim), {"f": f, "x": x, "w": w, "b": b, "X": X, "LAST": last})
        if y.requires_grad:
            y.square().sum().backward()
        results.append((y, y.stride(), x.grad, x.grad is not None and x.grad.stride()))
    ours, theirs = results

    close(theirs[0], ours[0], call)
    assert theirs[1] == ours[1]
    if theirs[2] is not None:
        close(theirs[2], ours[2], call)
        assert theirs[3] == ours[3]


@pytest.mark.parametrize("ndim,shape", [(1, (3, 5)), (2, (4, 5)), (2, (2, 3, 3, 4, 5)), (2, (0, 5)), (3, (3, 4, 5)), (3, (2, 1, 2, 3, 4, 5)), (2, (2, 3, 0, 5))])
def test_a_pool_to_one_is_a_mean_of_any_dims(ndim, shape):
    x, expected = both(shape, 0)
    results = []
    for lib, t in ((F, x), (T, expected)):
        y = getattr(lib, f"adaptive_avg_pool{ndim}d")(t.requires_grad_(), 1)
        y.sum().backward()
        results.append((y, type(y.grad_fn).__name__, t.grad))
    ours, theirs = results
    close(theirs[0].nan_to_num(7), ours[0].nan_to_num(7), "means")
    close(theirs[2].nan_to_num(7), ours[2].nan_to_num(7), "gradient")
    assert theirs[1] == ours[1] and theirs[0].stride() == ours[0].stride()
    if len(shape) <= ndim:
        with pytest.raises(ValueError, match="at least"):
            getattr(F, f"adaptive_avg_pool{ndim}d")(x, (1,) * ndim if ndim > 1 else (1, 1))


def test_an_image_alone_is_pooled_to_one_that_lies_row_by_row():
    x, expected = (t.permute(2, 0, 1) for t in both((6, 5, 3), 0))
    assert T.adaptive_avg_pool2d(expected, 2).stride() == F.adaptive_avg_pool2d(x, 2).stride()


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_convolution_of_integers(dtype):
    x, w, v = (torch.randint(0, 100, shape).to(getattr(torch, dtype)) for shape in ((2, 4, 8, 9), (6, 2, 3, 2), (4, 3, 2, 3)))
    a, b, c = (facula.from_numpy(t.numpy()) for t in (x, w, v))
    close(T.conv2d(x, w, stride=2, padding=1, groups=2), F.conv2d(a, b, stride=2, padding=1, groups=2), dtype)
    if dtype == "int64":
        close(T.conv_transpose2d(x, v, stride=2, padding=1), F.conv_transpose2d(a, c, stride=2, padding=1), dtype)


@pytest.mark.parametrize("call", [
    "conv2d(x, w, stride=0)", "conv2d(x, w, padding=-1)", "conv2d(x, w[:, :1])", "conv2d(x, w, groups=2)", "conv2d(x, w, w[0, 0, 0])", "conv2d(x[0, 0], w)",
    "conv2d(x, w, padding='same', stride=2)", "conv2d(x, w, padding='full')", "conv2d(x, w.to(X.float32))", "conv2d(x, w, dilation=9)", "conv2d(x.to(X.int64), w)", "conv2d(x > 0, w > 0)",
    "conv_transpose2d(x, w)", "conv_transpose2d(x, w.transpose(0, 1), output_padding=1)", "conv_transpose2d(x, w.transpose(0, 1), padding=9)",
    "max_pool2d(x, 3, padding=2)", "max_pool2d(x, 0)", "max_pool2d(x, 9)", "max_pool2d(x, 2, stride=0)", "avg_pool2d(x, 2, divisor_override=0)", "avg_pool2d(x, 3, padding=2)",
    "max_pool2d(x[0, 0], 2)", "max_pool2d(x, 2, padding=2, dilation=2)", "adaptive_avg_pool2d(x, -1)", "adaptive_avg_pool2d(x[0, 0], 2)",
])  # fmt: skip
def test_refusals_are_pytorchs(call):
    x, w = both((2, 3, 6, 5), 0), both((4, 3, 3, 3), 1)
    with pytest.raises(Exception) as theirs:
        eval("T." + call, {"T": T, "x": x[1], "w": w[1], "X": torch})
    with pytest.raises(type(theirs.value)):
        eval("F." + call, {"F": F, "x": x[0], "w": w[0], "X": facula})
