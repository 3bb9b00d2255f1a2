"""What lies channels_last is read and written so by kernels of its own: values, places and gradients have the bits of contiguous tensors."""

import pytest
from backend import torch

extend = pytest.importorskip("facula.tensor_core.extend")
if torch.__name__ == "torch":
    pytest.skip("is a promise of Facula's", allow_module_level=True)
F, lib = torch.nn.functional, extend.lib
pytestmark = pytest.mark.usefixtures("as_before")

# what is called; the shapes of the input and of further operands
CASES = {
    "max_pool2d(x, 2)": [(3, 70, 12, 13)],
    "max_pool2d(x, 3, 2, 1, return_indices=True)": [(3, 33, 12, 13)],
    "max_pool2d(x, (2, 3), 1, 1, 2, True)": [(2, 5, 12, 13)],
    "max_pool3d(x, 2, 1)": [(2, 40, 5, 6, 7)],
    "avg_pool2d(x, 3, 2, 1)": [(3, 70, 12, 13)],
    "avg_pool2d(x, 5, 1, 2, True, False)": [(3, 33, 11, 13)],
    "avg_pool2d(x, 3, 2, 1, True, True, 7)": [(1, 2, 12, 13)],
    "adaptive_avg_pool2d(x, (5, 4))": [(3, 70, 13, 17)],
    "adaptive_avg_pool2d(x, (2, 3))": [(3, 33, 13, 17)],
    "adaptive_avg_pool2d(x, 1)": [(3, 70, 13, 17)],
    "adaptive_max_pool2d(x, (5, 4), True)": [(3, 37, 13, 17)],
    "conv2d(x, w, b)": [(3, 40, 9, 11), (24, 40, 1, 1), (24,)],
    "conv2d(x, w, b, 2)": [(3, 40, 9, 11), (24, 40, 1, 1), (24,)],
    "conv2d(x, w, b, 1, 1)": [(3, 20, 9, 11), (24, 20, 3, 3), (24,)],
    "conv_transpose2d(x, w, b)": [(3, 40, 9, 11), (40, 24, 1, 1), (24,)],
    "conv2d(x, w, b, 1, 1, 1, 64)": [(3, 64, 14, 21), (64, 1, 3, 3), (64,)],
    "conv2d(x, w, None, 2, 1, 1, 23)": [(3, 23, 14, 21), (23, 1, 3, 3)],
    "conv2d(x, w, b, (3, 2), (0, 2), (2, 1), 70)": [(2, 70, 14, 35), (70, 1, 2, 5), (70,)],
    "conv2d(x, w, b, 1, 4, 3, 16)": [(2, 16, 7, 5), (16, 1, 3, 3), (16,)],
    "conv2d(x, w, b, 1, 3, 1, 33)": [(2, 33, 7, 9), (33, 1, 7, 7), (33,)],
    "conv2d(x, w, b, 4, 0, 1, 17)": [(2, 17, 11, 18), (17, 1, 3, 2), (17,)],
    "conv_transpose2d(x, w, b, 2, 1, 1, 23)": [(3, 23, 7, 5), (23, 1, 3, 3), (23,)],
    "conv_transpose2d(x, w, b, 3, 0, 2, 40, 2)": [(2, 40, 7, 18), (40, 1, 2, 3), (40,)],
    "conv3d(x, w, b, (1, 2, 1), 1, 1, 20)": [(2, 20, 4, 6, 5), (20, 1, 3, 2, 3), (20,)],
}  # fmt: skip
MACHINES = [(1, 4), (2, 3), (3, 4), (8, 3)]


def drawn(shape, dtype):
    """Some ties, some NaN and -0 among them."""
    t = (torch.randn(shape) * 4).round() / 4
    return torch.where(t > 2.4, torch.tensor(float("nan")), t).to(dtype)


def results(call, operands):
    operands = [t.detach().requires_grad_() for t in operands]
    made = eval("f." + call, {"f": F, **dict(zip("xwb", operands))})
    made = made if isinstance(made, tuple) else (made,)
    g = ((torch.arange(made[0][0].numel()) % 7 - 3) / 3).to(made[0].dtype).reshape(made[0].shape[1:]).expand(made[0].shape)
    g = g.contiguous(memory_format=format_of(operands[0]))
    return [t.detach() for t in (*made, *torch.autograd.grad(made[0], operands, g))]


def format_of(t):
    last = torch.channels_last if t.ndim == 4 else torch.channels_last_3d
    return last if t.is_contiguous(memory_format=last) and not t.is_contiguous() else torch.contiguous_format


def bits(t):
    return torch.where(t.isnan(), torch.tensor(9e9, dtype=t.dtype), t).numpy().tobytes() if t.is_floating_point() else t.numpy().tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("call", CASES)
def test_channels_last_has_the_bits_of_contiguous(call, dtype, as_before):
    torch.manual_seed(3)
    operands = [drawn(shape, getattr(torch, dtype)) for shape in CASES[call]]
    torch.set_num_threads(1)
    expected = results(call, operands)
    last = torch.channels_last if operands[0].ndim == 4 else torch.channels_last_3d
    for threads, level in MACHINES:
        torch.set_num_threads(threads)
        lib.fc_set_isa_level(min(level, as_before))
        for lying in (0b1, 0b11):
            found = results(call, [t.contiguous(memory_format=last) if lying >> k & 1 and t.ndim > 2 else t for k, t in enumerate(operands)])
            differing = [k for k, (a, b) in enumerate(zip(expected, found)) if bits(a.contiguous()) != bits(b.contiguous())]

            assert differing == [], (threads, level, lying)
    first = results(call, [t[:1].contiguous(memory_format=last) if t is operands[0] else t for t in operands])

    assert bits(first[0].contiguous()) == bits(expected[0][:1].contiguous())
