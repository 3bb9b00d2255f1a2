"""Kernels large enough to be split give the same bits on any number of threads, at any instruction set from AVX2 up, in any batch."""

from functools import partial

import pytest
from backend import torch

extend = pytest.importorskip("facula.tensor_core.extend")
if torch.__name__ == "torch":
    pytest.skip("is a promise of Facula's", allow_module_level=True)
F, lib = torch.nn.functional, extend.lib
pytestmark = pytest.mark.usefixtures("as_before")


def with_gradients(out, *operands):
    g = (torch.arange(out.numel()) % 7 - 3).reshape(tuple(out.shape)).to(out.dtype)
    return [out, *torch.autograd.grad(out, operands, g)]


def drawn(*shape):
    return torch.randn(*shape).requires_grad_()


def attention():
    operands = [drawn(3, 4, 200, 32) for _ in range(3)]
    return with_gradients(F.scaled_dot_product_attention(*operands, is_causal=True), *operands)


def recurrence(kind):
    module, x = getattr(torch.nn, kind)(40, 96), drawn(12, 64, 40)
    return with_gradients(module(x)[0], x, *module.parameters())


def ctc():
    x = torch.randn(50, 16, 30).log_softmax(2).detach().requires_grad_()
    targets = torch.arange(160).reshape(16, 10) % 29 + 1
    return with_gradients(F.ctc_loss(x, targets, torch.full((16,), 50), torch.full((16,), 10), reduction="none"), x)


def interpolation(**options):
    x = drawn(4, 16, 64, 64)
    return with_gradients(F.interpolate(x, scale_factor=1.7, **options), x)


def grid():
    x, places = drawn(4, 40, 64, 64), (torch.rand(4, 64, 64, 2) * 2.4 - 1.2).requires_grad_()
    return with_gradients(F.grid_sample(x, places, align_corners=False), x, places)


def volumes(mode):
    x, places = drawn(2, 20, 9, 20, 30), (torch.rand(2, 9, 20, 30, 3) * 2.4 - 1.2).requires_grad_()
    return with_gradients(F.grid_sample(x, places, mode, align_corners=False), x, places)


def cubic(padding):
    x, places = drawn(2, 20, 40, 30), (torch.rand(2, 50, 41, 2) * 2.4 - 1.2).requires_grad_()
    return with_gradients(F.grid_sample(x, places, "bicubic", padding, align_corners=True), x, places)


def norms():
    x = drawn(1000, 1009)
    parts = [x.softmax(0), x.log_softmax(1), F.layer_norm(x, (1009,)), F.rms_norm(x, (1009,)), F.batch_norm(x, None, None, training=True)]
    return [t for part in parts for t in with_gradients(part, x)]


def folds():
    rows, short, long = torch.randn(1000, 1009), torch.randn(100000, 10), torch.randn(3000001)
    return [long.sum(), long.amax(), long.var(), rows.sum(0), rows.sum(1), rows.amax(0), rows.amax(1), short.sum(0), short.sum(1), short.amax(1)]


def bags(mode):
    table, scale = drawn(3000, 40), drawn(20000) if mode == "sum" else None
    indices, starts = torch.arange(20000) * 7919 % 3000, torch.arange(0, 20000, 37)
    out = F.embedding_bag(indices, table, starts, mode=mode, per_sample_weights=scale, padding_idx=5)
    return with_gradients(out, table, *([] if scale is None else [scale]))


CASES = {
    "attention": attention, "ctc": ctc, "grid": grid, "norms": norms, "folds": folds,
    **{f"bag {mode}": partial(bags, mode) for mode in ("sum", "mean", "max")},
    **{kind: partial(recurrence, kind) for kind in ("LSTM", "GRU", "RNN")},
    **{f"volumes {mode}": partial(volumes, mode) for mode in ("bilinear", "nearest")}, **{f"cubic {how}": partial(cubic, how) for how in ("zeros", "border", "reflection")},
    "nearest": partial(interpolation, mode="nearest"), "bilinear": partial(interpolation, mode="bilinear"),
    "antialiased": partial(interpolation, mode="bicubic", antialias=True),
}  # fmt: skip


def bits(case, threads, level):
    torch.manual_seed(0)
    torch.set_num_threads(threads)
    lib.fc_set_isa_level(level)
    return [t.detach().numpy().tobytes() for t in CASES[case]()]


@pytest.mark.parametrize("case", CASES)
def test_bits_do_not_depend_on_threads_or_level(case, as_before):
    if as_before < 3:
        pytest.skip("this machine has no AVX2 and FMA")
    expected = bits(case, 1, as_before)

    for threads, level in ((2, as_before), (3, as_before), (8, as_before), (2, 3)):
        assert expected == bits(case, threads, level), f"{threads} threads, level {level}"


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("n", (1, 3, 15, 16, 17, 33, 64, 100, 127, 128, 129))
def test_softmax_does_not_see_the_rows_beside(n, dtype, as_before):
    if as_before < 3:
        pytest.skip("this machine has no AVX2 and FMA")
    x = torch.randn(37, n, dtype=getattr(torch, dtype), generator=torch.Generator().manual_seed(n)) * 5
    x[5, 0], x[9], x[11] = float("inf"), -0.0, 3
    for f in (F.softmax, F.log_softmax):
        columns = f(x.t().contiguous(), 0).t().contiguous()
        for level in (3, as_before):
            lib.fc_set_isa_level(level)

            assert columns.numpy().tobytes() == f(x, 1).numpy().tobytes() == torch.stack([f(row, 0) for row in x]).numpy().tobytes()


@pytest.mark.parametrize("options", [{"mode": "nearest"}, {"mode": "bilinear"}, {"mode": "bicubic"}, {"mode": "bicubic", "antialias": True}], ids=str)
@pytest.mark.parametrize("shape", [(2, 64, 9, 13), (2, 3, 40, 21), (17, 5, 7, 9), (1, 1, 30, 50)], ids=str)
def test_interpolation_does_not_see_how_an_image_lies(shape, options):
    for factor in (0.4, 1.7):
        found = set()
        for format in (torch.contiguous_format, torch.channels_last):
            x = torch.randn(*shape, generator=torch.Generator().manual_seed(0)).contiguous(memory_format=format).requires_grad_()
            results = with_gradients(F.interpolate(x, scale_factor=factor, **options), x)
            alone = F.interpolate(x[:1], scale_factor=factor, **options)

            assert torch.equal(alone, results[0][:1])
            found.add(b"".join(t.detach().contiguous().numpy().tobytes() for t in results))
        assert len(found) == 1


#                input, weight, stride, padding, dilation: dense ones read channels_last where they lie, small planes by channels are turned
CONVOLUTIONS = [((8, 64, 14, 14), (48, 64, 3, 3), 1, 1, 1), ((2, 3, 40, 41), (33, 3, 7, 7), 2, 3, 1), ((1, 32, 33, 33), (32, 32, 3, 3), 1, 12, 12),
                ((3, 16, 18, 18), (18, 16, 1, 1), 2, 0, 1), ((2, 300, 20, 20), (40, 300, 4, 4), 1, 2, 1), ((2, 24, 30, 30), (20, 24, 2, 2), 1, 3, 1),
                ((4, 100, 7, 7), (100, 1, 3, 3), 1, 1, 1), ((2, 130, 28, 28), (130, 1, 3, 3), 2, 1, 1), ((2, 33, 12, 12), (33, 1, 3, 3), 1, 2, 2),
                ((1, 256, 28, 28), (256, 8, 3, 3), 2, 1, 1), ((5, 12, 7, 7), (8, 3, 3, 3), 1, 1, 1),
                # rows of whole vectors
                ((1, 32, 32, 32), (32, 32, 3, 3), 1, 1, 1), ((2, 20, 31, 64), (17, 20, 3, 3), 2, 1, 1), ((3, 300, 7, 16), (3, 300, 3, 3), 1, 1, 1),
                ((1, 130, 9, 48), (30, 65, 1, 5), 1, (0, 2), 1), ((2, 6, 5, 16), (40, 6, 1, 1), 1, 0, 1),
                # taps that meet padding alone, dims of one place
                ((8, 18, 40, 1), (20, 18, 3, 3), 1, 1, 1), ((3, 7, 1, 9), (16, 7, 5, 3), 2, 2, 1), ((300, 20, 1, 1), (17, 20, 3, 3), 1, 1, 1),
                ((6, 30, 2, 3), (18, 10, 3, 5), (1, 2), (3, 2), (3, 1)), ((2, 40, 30, 1), (40, 1, 3, 3), 1, 1, 1),
                # the kernel is all of the image: a product of matrices
                ((5, 20, 3, 4), (33, 20, 3, 4), 1, 0, 1), ((1, 130, 1, 1), (40, 130, 3, 3), 1, 1, 1), ((300, 24, 2, 2), (18, 24, 2, 2), 2, 0, 1), ((7, 12, 3, 3), (8, 3, 3, 3), 1, 0, 1),
                # lines of a few places
                ((40, 33, 1, 3), (17, 33, 1, 3), 1, (0, 1), 1), ((70, 20, 5, 1), (20, 10, 3, 1), 1, (1, 0), 1)]  # fmt: skip


@pytest.mark.parametrize("dtype,scale", [("float32", 1), ("bfloat16", 1), ("bfloat16", 2.0**-62)])
@pytest.mark.parametrize("x,w,stride,padding,dilation", CONVOLUTIONS, ids=str)
def test_convolution_does_not_see_how_images_lie(x, w, stride, padding, dilation, dtype, scale, as_before):
    if as_before < 3:
        pytest.skip("this machine has no AVX2 and FMA")
    groups, found = x[1] // w[1], {}
    for threads, level in ((1, as_before), (3, as_before), (2, 3)):
        torch.set_num_threads(threads)
        lib.fc_set_isa_level(level)
        for image in (torch.contiguous_format, torch.channels_last):
            for kernel in (torch.contiguous_format, torch.channels_last):
                torch.manual_seed(0)
                operands = [(drawn(*shape) * size).to(getattr(torch, dtype)) for shape, size in ((x, scale), (w, scale), (w[:1], scale**2))]
                laid = [operands[0].detach().contiguous(memory_format=image), operands[1].detach().contiguous(memory_format=kernel), operands[2].detach()]
                out = F.conv2d(*(t.requires_grad_() for t in laid), stride, padding, dilation, groups)
                results = with_gradients(out, *laid)
                found[threads, level, image, kernel] = [t.detach().contiguous().float().numpy().tobytes() for t in results]
    if w[1] == 1:  # a few channels at a time are too few to be turned
        parts = [F.conv2d(*(t[c : c + 10].detach() if k else t[:, c : c + 10].detach() for k, t in enumerate(laid)), stride, padding, dilation, 10) for c in range(0, groups - 9, 10)]
        assert torch.equal(torch.cat(parts, 1), out[:, : 10 * len(parts)].detach())
    first = next(iter(found.values()))

    assert [] == [how for how, bits in found.items() if bits != first]


@pytest.mark.parametrize("call", [partial(F.conv2d, padding=1), partial(F.conv2d, stride=2, padding=2, groups=3), partial(F.conv_transpose2d, stride=2), F.conv2d], ids=str)
@pytest.mark.parametrize("batch,channels", [(1, 9), (2, 12), (5, 33), (3, 300)])
def test_a_convolution_of_bfloat16_is_a_sum_of_floats_rounded_once(call, batch, channels):
    """Beside sums of doubles: half a unit of bfloat16, which has 8 bits, and what sums of floats lose."""
    torch.manual_seed(0)
    groups = call.keywords.get("groups", 1) if isinstance(call, partial) else 1
    x, w = torch.randn(batch, channels, 7, 6), torch.randn(channels, channels // groups, 3, 3)
    wide, narrow = ([t.bfloat16().to(dtype).requires_grad_() for t in (x, w)] for dtype in (torch.float64, torch.bfloat16))
    slope = torch.randn(call(x, w).shape).bfloat16()
    found = [(out := call(*leaves), *torch.autograd.grad(out, leaves, slope.to(out.dtype))) for leaves in (wide, narrow)]

    for exact, result in zip(*found):
        assert result.dtype == torch.bfloat16
        assert bool(((result.double() - exact).abs() <= exact.abs() * 2**-8 + exact.abs().max() * 1e-5).all())


def test_a_sample_of_attention_does_not_see_the_batch():
    q, k, v = (torch.randn(3, 4, 150, 16) for _ in range(3))
    together = F.scaled_dot_product_attention(q, k, v)

    assert bool((together[1:2] == F.scaled_dot_product_attention(q[1:2], k[1:2], v[1:2])).all())


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("batch", [1, 3, 20])
def test_many_steps_at_once_are_the_steps_one_by_one(kind, batch):
    module, x = getattr(torch.nn, kind)(40, 72), torch.randn(9, batch, 40)
    together, state = module(x)[0], None
    for t in range(9):
        out, state = module(x[t : t + 1], state)

        assert torch.equal(together[t], out[0])


@pytest.mark.parametrize("options", [{}, {"padding": 1}, {"stride": 1, "padding": 1}, {"stride": 3, "dilation": 2}])
def test_a_maximum_of_many_windows_is_each_windows(options):
    x = torch.randint(0, 5, (2, 3, 19, 150)).float()
    x[0, 0, 3, 7:9] = float("nan")
    x[1, 1] = -float("inf")
    for dtype in (torch.float32, torch.float64):
        values, places = F.max_pool2d(x.to(dtype), 3, **{"stride": 2, **options}, return_indices=True)
        slow, where = F.max_pool2d(x.nan_to_num(9, None, -9).to(torch.int64), 3, **{"stride": 2, **options}, return_indices=True)

        assert torch.equal(values.nan_to_num(9, None, -9).to(torch.int64), slow)
        assert torch.equal(places[1], where[1])


@pytest.mark.parametrize("kernel, stride, padding", [(3, (3, 1, 1), 0), (4, 1, 1), ((2, 3, 4), (1, 2, 1), 1), (2, 1, 0)])
def test_a_mean_of_one_plane_is_that_of_many(kernel, stride, padding):
    """Windows of one plane go side by side along its rows, those of many planes plane beside plane."""
    for dtype in (torch.float32, torch.float64):
        x = torch.randn(20, 1, 9, 9, 29, dtype=dtype)
        alone = torch.cat([F.avg_pool3d(plane.unsqueeze(0), kernel, stride, padding) for plane in x])

        assert torch.equal(alone, F.avg_pool3d(x, kernel, stride, padding))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_attention_reads_heads_where_they_lie(dtype):
    """Heads that are columns of one tensor: the bits of copies, and a result that lies as the query."""
    packed = torch.randn(2, 70, 3 * 4 * 8, generator=torch.Generator().manual_seed(3)).to(getattr(torch, dtype))
    found = []
    for heads in (lambda t: t, lambda t: t.contiguous()):
        x = packed.detach().clone().requires_grad_()
        q, k, v = (heads(t.view(2, 70, 4, 8).transpose(1, 2)) for t in x.chunk(3, -1))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        (out * torch.linspace(-1, 1, out.numel()).view_as(out).to(out.dtype)).sum().backward()
        assert out.stride() == ((2240, 8, 32, 1) if not found else (2240, 560, 8, 1))
        found.append((out.detach(), x.grad))
    assert torch.equal(found[0][0], found[1][0]) and torch.equal(found[0][1], found[1][1])


def steps(x):
    """A number for each channel, which halves have."""
    return torch.arange(1, x.size(1) + 1).to(x.dtype) / 4


HALVES = {
    **{f"{name} {shape} along {dim}": (shape, partial(lambda name, dim, x: getattr(torch, name)(x, dim), name, dim))
       for name in ("softmax", "log_softmax")
       for shape, dim in (((40, 10), 1), ((3, 200, 5), 1), ((2, 300, 40), 1), ((100, 4, 70), 0), ((17, 600), 1), ((1, 128, 14, 7), 1), ((9, 1, 3), 1))},
    **{f"batch_norm {shape}": (shape, lambda x: F.batch_norm(x, *[steps(x)] * 4))
       for shape in ((4, 3, 30, 30), (2, 5, 700), (3, 4, 2, 2), (8, 40, 100), (2, 3, 1, 513))},
    **{f"{name} {shape}": (shape, partial(lambda name, by, x: getattr(F, name)(x, by), name, by))
       for name, by, shape in (("channel_shuffle", 3, (2, 6, 5, 7)), ("pixel_shuffle", 2, (2, 8, 3, 5)), ("pixel_unshuffle", 4, (8, 12, 32, 32)))},
    "prelu": ((4, 5, 37), lambda x: F.prelu(x, steps(x))),
}  # fmt: skip


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("case", HALVES)
def test_halves_that_are_widened_on_the_way_are_rounded_floats(case, dtype, threads, as_before):
    torch.manual_seed(0)
    torch.set_num_threads(threads)
    shape, call = HALVES[case]
    x = (torch.randn(*shape) * 3).to(getattr(torch, dtype))

    assert torch.equal(call(x.float()).to(x.dtype), call(x))


IMAGES = {
    "max_pool": lambda x: F.max_pool2d(x, 3, 2, 1), "avg_pool": lambda x: F.avg_pool2d(x, 2), "adaptive": lambda x: F.adaptive_avg_pool2d(x, 3),
    "adaptive max": lambda x: F.adaptive_max_pool2d(x, 3), "nearest": lambda x: F.interpolate(x, scale_factor=2), "batch_norm": lambda x: F.batch_norm(x, *[steps(x)] * 2),
    "bilinear": lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), "depthwise": lambda x: F.conv2d(x, (x[:1].permute(1, 0, 2, 3)[..., :3, :3]).detach().contiguous(), groups=x.size(1)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("case", IMAGES)
def test_images_of_halves_that_lie_channels_last_are_rounded_floats_that_lie_so(case, dtype, as_before):
    x = torch.randn(2, 24, 10, 9, generator=torch.Generator().manual_seed(0)).to(getattr(torch, dtype)).contiguous(memory_format=torch.channels_last)
    wide, narrow = (with_gradients(IMAGES[case](leaf), leaf) for leaf in (x.float().requires_grad_(), x.clone().requires_grad_()))

    for expected, result in zip(wide, narrow):
        assert torch.equal(expected.to(x.dtype), result)
        assert expected.stride() == result.stride()


@pytest.mark.parametrize("shape", [(2, 3, 17), (3, 5, 40, 41), (1, 4, 9000), (2, 2, 3, 3)], ids=str)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_batch_norm_of_halves_and_its_gradients_are_rounded_floats(dtype, training, shape, as_before):
    torch.manual_seed(0)
    dtype, x, g, w, b = getattr(torch, dtype), torch.randn(shape) * 2 + 1, torch.randn(shape), torch.randn(shape[1]), torch.randn(shape[1])
    x, g = x.to(dtype), g.to(dtype)

    def results(x, g):
        x, *parts = leaves = [t.detach().clone().requires_grad_() for t in (x, w, b)]
        y = F.batch_norm(x, torch.zeros(shape[1]), torch.ones(shape[1]), *parts, training=training)
        return y, *torch.autograd.grad(y, leaves, g)

    expected = results(x.float(), g.float())
    for threads in (1, 3):
        torch.set_num_threads(threads)
        assert all(torch.equal(a, e.to(a.dtype)) for a, e in zip(results(x, g), expected))


@pytest.mark.parametrize("options", [{"size": 2}, {"scale_factor": 2}, {"scale_factor": 1.5, "mode": "bicubic"}, {"size": 3, "mode": "bilinear", "align_corners": True}], ids=str)
def test_interpolation_asked_for_again_is_the_same_and_refuses_as_at_first(options):
    torch.manual_seed(0)
    x = torch.randn(1, 2, 3, 4).requires_grad_()
    first, again = (with_gradients(F.interpolate(x, **options), x) for _ in range(2))

    assert all(torch.equal(a, b) for a, b in zip(first, again))
    for wrong in ({"size": 2.0}, {"size": 2, "align_corners": 1}, {"size": 2, "scale_factor": 2}):
        with pytest.raises((TypeError, ValueError)):
            F.interpolate(x, **{**options, "size": None, "scale_factor": None, **wrong})
