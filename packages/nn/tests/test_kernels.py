"""Functions with kernels of their own, with every option, beside PyTorch where it is installed: values and gradients."""

import math
from itertools import product

import numpy as np
import pytest
from backend import torch

other = pytest.importorskip("torch")
F32, F64 = "float32", "float64"
TOLERANCE = {F32: 4e-6, F64: 1e-11}


def tensor(T, a, dtype):
    """An array as a tensor; a floating one wants a gradient."""
    a = np.asarray(a)
    if a.dtype.kind != "f":
        return T.tensor(a.tolist())
    return T.tensor(a.tolist(), dtype=getattr(T, dtype)).requires_grad_()


def numbers(T, results, operands):
    """Results, and the gradients of a weighted sum of them."""
    total = sum((r * T.tensor(np.cos(np.arange(r.numel())).reshape(tuple(r.shape)).tolist(), dtype=r.dtype)).sum() for r in results)
    wanted = [t for t in operands if t.requires_grad]
    found = T.autograd.grad(total, wanted, allow_unused=True)
    return [t.detach().double().numpy() for t in (*results, *(g for g in found if g is not None))]


def agree(run, dtype):
    for expected, actual in zip(run(other, dtype), run(torch, dtype), strict=True):
        assert expected.shape == actual.shape
        np.testing.assert_allclose(actual, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def drawn(*shape):
    return np.random.RandomState(sum(shape)).randn(*shape)


# --- attention ------------------------------------------------------------------------------------------------------

ATTENTION = [  # query, key, value, mask, options
    ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6), None, {}),
    ((2, 2, 70, 8), (2, 2, 300, 8), (2, 2, 300, 4), None, {}),
    ((1, 2, 150, 8), (1, 2, 300, 8), (1, 2, 300, 4), None, {"is_causal": True}),
    ((1, 2, 300, 8), (1, 2, 150, 8), (1, 2, 150, 4), None, {"is_causal": True}),
    ((2, 4, 70, 8), (2, 2, 140, 8), (2, 2, 140, 4), (70, 140), {"enable_gqa": True, "scale": 0.3}),
    ((2, 3, 7, 8), (2, 3, 14, 8), (2, 3, 14, 4), (2, 1, 1, 14), {}),
    ((2, 3, 7, 8), (2, 3, 14, 8), (2, 3, 14, 4), (3, 7, 14), {}),
    ((3, 7, 8), (3, 14, 8), (3, 14, 4), (7, 1), {}),
    ((7, 8), (14, 8), (14, 4), (7, 14), {}),
    ((2, 2, 3, 7, 8), (2, 2, 3, 14, 8), (2, 2, 3, 14, 4), (2, 1, 3, 7, 14), {}),
    ((2, 1, 3, 7, 8), (1, 2, 3, 14, 8), (2, 2, 3, 14, 4), None, {}),
]


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("kind", ["bool", "added"])
@pytest.mark.parametrize("case", ATTENTION, ids=str)
def test_attention(case, kind, dtype):
    *shapes, mask_shape, options = case
    if mask_shape is None and kind == "added":
        pytest.skip("has no mask")

    def run(T, dtype):
        operands = [tensor(T, drawn(*s), dtype) for s in shapes]
        mask = None
        if mask_shape:
            seen = np.random.RandomState(5).rand(*mask_shape) > 0.4
            seen[..., 1 % mask_shape[-2], :] = False  # a query that sees nothing
            mask = tensor(T, seen if kind == "bool" else np.where(seen, drawn(*mask_shape), -math.inf), dtype).detach()
        return numbers(T, [T.nn.functional.scaled_dot_product_attention(*operands, mask, **options)], operands)

    agree(run, dtype)


def test_a_mask_may_want_a_gradient():
    def run(T, dtype):
        operands = [tensor(T, drawn(2, 3, 5, 4), dtype) for _ in range(3)]
        mask = tensor(T, drawn(5, 5), dtype)
        return numbers(T, [T.nn.functional.scaled_dot_product_attention(*operands, mask)], [*operands, mask])

    agree(run, F64)


# --- recurrences ----------------------------------------------------------------------------------------------------

RECURRENT = [
    ("RNN", {}), ("RNN", {"nonlinearity": "relu"}), ("LSTM", {}), ("GRU", {}), ("GRU", {"bias": False}), ("LSTM", {"proj_size": 3}),
    ("RNN", {"bidirectional": True}), ("LSTM", {"bidirectional": True, "num_layers": 2}),
    ("GRU", {"bidirectional": True, "num_layers": 2, "batch_first": True}),
    ("LSTM", {"bias": False, "proj_size": 2, "bidirectional": True, "num_layers": 2}),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("lengths", [None, [4, 3, 3, 1], [2, 4, 1, 3]], ids=["padded", "sorted", "unsorted"])
@pytest.mark.parametrize("case", RECURRENT, ids=str)
def test_recurrent(case, lengths, dtype):
    name, options = case

    def run(T, dtype):
        T.manual_seed(0)
        module = getattr(T.nn, name)(5, 7, **options).to(getattr(T, dtype))
        x = tensor(T, drawn(4, 4, 5), dtype)
        given = x
        if lengths:
            sort = lengths == sorted(lengths, reverse=True)
            given = T.nn.utils.rnn.pack_padded_sequence(x, lengths, options.get("batch_first", False), sort)
        out, state = module(given)
        state = state if isinstance(state, tuple) else (state,)
        return numbers(T, [out.data if lengths else out, *state], [x, *module.parameters()])

    agree(run, dtype)


# --- alignments -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction, zero_infinity, blank, joined, leaf", product(("none", "mean", "sum"), (True, False), (0, 4), *[(True, False)] * 2))
def test_ctc_loss(reduction, zero_infinity, blank, joined, leaf):
    targets = [1, 2, 2, 3, 1, 2, 2, 2, 2] if joined else [[1, 2, 2, 3], [3, 1, 3, 3], [2, 2, 2, 2]]

    def run(T, dtype):
        x = tensor(T, drawn(9, 3, 5), dtype)
        log_probs = T.nn.functional.log_softmax(x, 2)
        if leaf:
            log_probs = x = log_probs.detach().requires_grad_()
        lengths = T.tensor([9, 5, 6]), T.tensor([3, 2, 4])  # the last is impossible: three blanks are wanted
        loss = T.nn.functional.ctc_loss(log_probs, T.tensor(targets), *lengths, blank, reduction, zero_infinity)
        if not zero_infinity:
            return [loss.detach().double().numpy()]
        return numbers(T, [loss.reshape(-1)], [x])

    agree(run, F64)


# --- resampling -----------------------------------------------------------------------------------------------------

MODES = {
    (2, 3, 7): ("nearest", "nearest-exact", "linear"),
    (2, 3, 7, 5): ("nearest", "nearest-exact", "bilinear", "bicubic"),
    (2, 3, 4, 5, 6): ("nearest", "nearest-exact", "trilinear"),
}
INTERPOLATED = [
    (shape, mode, align, antialias)
    for shape, modes in MODES.items()
    for mode in modes
    for align in ((None,) if "nearest" in mode else (True, False))
    for antialias in ((False, True) if mode in ("bilinear", "bicubic") else (False,))
]


@pytest.mark.parametrize("size, factor", [(3, None), (11, None), (None, 2.0), (None, 0.6), (None, 1.7)])
@pytest.mark.parametrize("case", INTERPOLATED, ids=str)
def test_interpolate(case, size, factor):
    shape, mode, align, antialias = case

    def run(T, dtype):
        x = tensor(T, drawn(*shape), dtype)
        return numbers(T, [T.nn.functional.interpolate(x, size, factor, mode, align, antialias=antialias)], [x])

    agree(run, F64)
    agree(run, F32)


@pytest.mark.parametrize("format", ["contiguous_format", "channels_last"])
@pytest.mark.parametrize("shape, size", [((2, 3, 4, 4), 7), ((1, 3, 33, 47), (10, 90)), ((3, 20, 17, 9), (40, 4))], ids=str)
@pytest.mark.parametrize("mode, antialias", [("nearest", False), ("bilinear", False), ("bicubic", False), ("bilinear", True), ("bicubic", True)])
def test_interpolate_bytes(mode, antialias, shape, size, format):
    def run(T):
        x = (T.arange(math.prod(shape)) * 7919 % 251).to(T.uint8).reshape(shape).contiguous(memory_format=getattr(T, format))
        out = T.nn.functional.interpolate(x, size, mode=mode, antialias=antialias)
        return tuple(out.stride()), out.tolist()

    assert run(other) == run(torch)


@pytest.mark.parametrize("mode, padding, align", product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (True, False)))
@pytest.mark.parametrize("shapes", [((2, 3, 5, 6), (2, 4, 7, 2)), ((2, 20, 5, 1), (2, 4, 17, 2)), ((2, 3, 4, 5, 6), (2, 3, 4, 2, 3))], ids=str)
def test_grid_sample(shapes, mode, padding, align):
    if mode == "bicubic" and len(shapes[0]) == 5:
        pytest.skip("bicubic is for images")

    def run(T, dtype):
        x, grid = tensor(T, drawn(*shapes[0]), dtype), tensor(T, np.clip(drawn(*shapes[1]), -2.5, 2.5), dtype)
        return numbers(T, [T.nn.functional.grid_sample(x, grid, mode, padding, align)], [x, grid])

    agree(run, F64)
