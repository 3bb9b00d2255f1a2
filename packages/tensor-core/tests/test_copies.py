"""`<view>_copy` functions, windows, and the other late modules of this part."""

import facula
import pytest

COPIES = (
    ("alias_copy", lambda f, x: f(x)), ("as_strided_copy", lambda f, x: f(x, (2, 2), (1, 3))), ("detach_copy", lambda f, x: f(x)), ("diagonal_copy", lambda f, x: f(x)),
    ("expand_copy", lambda f, x: f(x, (2, 3, 4))), ("narrow_copy", lambda f, x: f(x, 1, 1, 2)), ("permute_copy", lambda f, x: f(x, (1, 0))),
    ("select_copy", lambda f, x: f(x, 0, 1)), ("slice_copy", lambda f, x: f(x, 1, 0, 3, 2)), ("squeeze_copy", lambda f, x: f(x)), ("t_copy", lambda f, x: f(x)),
    ("transpose_copy", lambda f, x: f(x, 0, 1)), ("unfold_copy", lambda f, x: f(x, 1, 2, 1)), ("unsqueeze_copy", lambda f, x: f(x, 1)),
    ("view_copy", lambda f, x: f(x, (4, 3))), ("split_copy", lambda f, x: f(x, 2)), ("split_with_sizes_copy", lambda f, x: f(x, [1, 2])), ("unbind_copy", lambda f, x: f(x)),
)  # fmt: skip


@pytest.mark.parametrize("name,run", COPIES, ids=[c[0] for c in COPIES])
def test_copies_share_nothing_and_equal_pytorchs(name, run):
    x = facula.arange(12.0).reshape(3, 4)
    result = run(getattr(facula, name), x)
    before = [r.tolist() for r in (result if isinstance(result, tuple) else (result,))]
    x.zero_()

    assert before == [r.tolist() for r in (result if isinstance(result, tuple) else (result,))]
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    expected = run(getattr(torch, name), torch.arange(12.0).reshape(3, 4))
    assert before == [r.tolist() for r in (expected if isinstance(expected, tuple) else (expected,))]


WINDOWS = (
    "signal.windows.bartlett(n)", "signal.windows.blackman(n, sym=False)", "signal.windows.cosine(n)", "signal.windows.cosine(n, sym=False)",
    "signal.windows.exponential(n, tau=2.0)", "signal.windows.exponential(n, center=1.0, sym=False)", "signal.windows.gaussian(n, std=1.5)",
    "signal.windows.general_cosine(n, a=[0.5, 0.3, 0.2])", "signal.windows.general_hamming(n, alpha=0.6)", "signal.windows.hamming(n)", "signal.windows.hann(n)",
    "signal.windows.nuttall(n)", "bartlett_window(n)", "blackman_window(n, False)", "hamming_window(n)", "hamming_window(n, True, 0.6)",
    "hamming_window(n, False, 0.5, 0.5, dtype=X.float64)", "hann_window(n)", "hann_window(n, periodic=False, dtype=X.float64)",
    "empty_permuted((2, 3, n), (2, 0, 1)).zero_()", "nonzero_static(X.arange(n), size=3)", "fill(X.zeros(n), 3)",
)  # fmt: skip


@pytest.mark.parametrize("text", WINDOWS)
def test_values_and_layouts_are_pytorchs(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    for n in (0, 1, 2, 7, 16):
        actual, expected = eval("facula." + text.replace("X", "facula")), eval("torch." + text.replace("X", "torch"))

        assert (str(expected.dtype), tuple(expected.shape), expected.stride()) == (str(actual.dtype), tuple(actual.shape), actual.stride())
        assert torch.allclose(expected, torch.from_numpy(actual.numpy()), rtol=1e-6, atol=1e-7), n


REFUSED = (
    ("signal.windows.hann(-1)", ValueError, "-1"), ("signal.windows.hann(3, dtype=facula.int64)", ValueError, "int64"),
    ("signal.windows.general_cosine(3, a=[])", ValueError, "empty"), ("signal.windows.exponential(3, center=1.0)", ValueError, "Center"),
    ("signal.windows.gaussian(3, std=0)", ValueError, "0"), ("hann_window(-2)", RuntimeError, "-2"), ("hann_window(3, dtype=facula.int32)", RuntimeError, "int32"),
    ("empty_permuted((2, 3), (0, 0))", RuntimeError, "once"), ("nonzero_static(facula.ones(2), size=-1)", RuntimeError, "-1"), ("range(0, 3, 0)", RuntimeError, "step"),
    ("fill(facula.ones(2), facula.ones(2))", RuntimeError, "1 dimensions"),
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:range is deprecated")
@pytest.mark.parametrize("text,error,fact", REFUSED, ids=[r[0] for r in REFUSED])
def test_bad_arguments_are_refused(text, error, fact):
    with pytest.raises(error) as caught:
        eval("facula." + text)

    assert fact in str(caught.value)


@pytest.mark.parametrize("dtype", ("bool", "int8", "float16", "float32", "complex128"))
def test_equal_finds_one_difference_anywhere(dtype):
    """What lies in one line is compared in stretches that grow."""
    x = facula.zeros(20_000, dtype=getattr(facula, dtype))
    assert facula.equal(x, x.clone()) and facula.equal(x[3:], x.clone()[3:])
    for at in (0, 1, 511, 512, 4607, 4608, 19_998, 19_999):
        y = x.clone()
        y[at] = 1
        assert not facula.equal(x, y) and not facula.equal(y[at:], x[at:])
        assert at == 0 or facula.equal(x[:at], y[:at])
    if x.is_floating_point():
        x[19_999] = float("nan")
        assert not facula.equal(x, x)


@pytest.mark.parametrize("to", ("bool", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"))
@pytest.mark.parametrize("dtype", ("complex64", "complex128"))
def test_complex_numbers_become_what_their_real_parts_do(dtype, to):
    """But truth values, which ask both parts, and complex numbers, which keep them."""
    facula.manual_seed(0)
    z = facula.randn(3000, dtype=getattr(facula, dtype)) * 100
    z[:5] = facula.tensor([0, 1j, float("nan"), float("inf"), 300], dtype=z.dtype)
    to = getattr(facula, to)
    for some in (z, z[:1], z[:39], z[::2]):
        made = some.to(to)
        expected = (some.real != 0) | (some.imag != 0) if to is facula.bool else facula.complex(some.real.to(to.to_real()), some.imag.to(to.to_real())) if to.is_complex else some.real.to(to)
        assert made.dtype is to and made.tolist().__repr__() == expected.tolist().__repr__()
