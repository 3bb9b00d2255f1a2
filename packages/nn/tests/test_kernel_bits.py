"""Kernels large enough to be split give the same bits on any number of threads, at any instruction set from AVX2 up, in any batch."""

from functools import partial

import pytest
from backend import torch

extend = pytest.importorskip("facula.tensor_core.extend")
if torch.__name__ == "torch":
    pytest.skip("is a promise of Facula's", allow_module_level=True)
F, lib = torch.nn.functional, extend.lib


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


def norms():
    x = drawn(1000, 1009)
    parts = [x.softmax(0), x.log_softmax(1), F.layer_norm(x, (1009,)), F.rms_norm(x, (1009,)), F.batch_norm(x, None, None, training=True)]
    return [t for part in parts for t in with_gradients(part, x)]


def folds():
    rows, short, long = torch.randn(1000, 1009), torch.randn(100000, 10), torch.randn(3000001)
    return [long.sum(), long.amax(), long.var(), rows.sum(0), rows.sum(1), rows.amax(0), rows.amax(1), short.sum(0), short.sum(1), short.amax(1)]


CASES = {
    "attention": attention, "ctc": ctc, "grid": grid, "norms": norms, "folds": folds,
    **{kind: partial(recurrence, kind) for kind in ("LSTM", "GRU", "RNN")},
    "nearest": partial(interpolation, mode="nearest"), "bilinear": partial(interpolation, mode="bilinear"),
    "antialiased": partial(interpolation, mode="bicubic", antialias=True),
}  # fmt: skip


@pytest.fixture(autouse=True)
def as_before():
    threads, level = torch.get_num_threads(), lib.fc_isa_level()
    yield level
    torch.set_num_threads(threads)
    lib.fc_set_isa_level(level)


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


def test_a_sample_of_attention_does_not_see_the_batch():
    q, k, v = (torch.randn(3, 4, 150, 16) for _ in range(3))
    together = F.scaled_dot_product_attention(q, k, v)

    assert bool((together[1:2] == F.scaled_dot_product_attention(q[1:2], k[1:2], v[1:2])).all())
