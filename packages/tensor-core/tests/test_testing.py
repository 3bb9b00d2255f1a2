"""facula.testing, backends, cuda, version and the settings: what they answer where there is nothing below."""

import importlib
import math

import facula
import pytest
from facula.testing import assert_close, make_tensor

CLOSE = (
    "(1.0, 1.0 + 1e-8)", "(T([1.0]), T([1.0 + 1e-7]))", "(T([1.0]), T([1.01]))", "(T([1.0, 2.0]), T([1.0, 3.0]))", "(T([1, 2]), T([1, 2]))", "(T([1, 2]), T([1, 3]))", "(T(1.0), T(2.0))",
    "(T([1.0]), T([1.0, 2.0]))", "(T([1.0]), T([1]))", "(T([1.0]), T([1]), dict(check_dtype=False))", "(T([math.nan]), T([math.nan]))", "(T([math.nan]), T([math.nan]), dict(equal_nan=True))",
    "(T([math.inf]), T([math.inf]))", "(T([math.inf]), T([1.0]))", "([1.0, 2.0], [1.0, 2.0])", "([1.0, 2.0], [1.0])", "({'a': T([1.0])}, {'a': T([1.0])})", "({'a': 1}, {'b': 1})", "({'a': [1, 2]}, {'a': [1, 3]})",
    "(True, True)", "(True, False)", "(1, 1.0)", "(1, 1.0, dict(check_dtype=False))", "(None, None)", "('a', 'a')", "(1.0, 1.1, dict(rtol=0.2, atol=0.0))", "(1.0, 1.1, dict(rtol=0.2))", "(math.nan, math.nan)",
    "(T([1.0, 2.0]), T([1.0, 3.0]), dict(msg='mine'))", "(T([1j]), T([1j]))", "(T([1j]), T([2j]))", "(T([[1.0, 2.0]]).t(), T([[1.0], [2.0]]), dict(check_stride=True))", "(T([True]), T([False]))", "(T([]), T([]))",
    "(T([1.0]).half(), T([1.001]).half())", "(None, False)", "(T([1.0]), None)", "([None], [1])", "(T([1.0], device='meta'), T([2.0], device='meta'))", "(T([1.0], device='meta'), T([2.0]))",
    "(T([1.0], device='meta'), T([2.0]), dict(check_device=False))", "(T([1.0], device='meta'), T([2], device='meta'))", "(T([[1.0], [2.0]], device='meta').t(), T([[1.0, 2.0]]), dict(check_device=False, check_stride=True))",
)  # fmt: skip


@pytest.mark.parametrize("text", CLOSE)
def test_assert_close_decides_as_pytorch_does(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    seen = []
    for X in (torch, facula):
        actual, expected, *how = eval(text, {"T": X.tensor, "math": math})
        try:
            seen.append(importlib.import_module(f"{X.__name__}.testing").assert_close(actual, expected, **(how[0] if how else {})))
        except Exception as error:
            seen.append(error)

    assert type(seen[0]) is type(seen[1]) or isinstance(seen[1], type(seen[0])), seen
    if "mine" in text:
        assert "mine" == str(seen[1])


def test_a_failure_says_how_many_and_where():
    with pytest.raises(AssertionError) as caught:
        assert_close({"w": [facula.zeros(2, 3), facula.ones(2)]}, {"w": [facula.zeros(2, 3), facula.tensor([1.0, 3.0])]})

    for fact in ("1 / 2", "50.0%", "2.0 at index (1,)", "1e-05", "item ['w'][1]"):
        assert fact in str(caught.value)


TOLD = (
    "([1, {'a': T([1.0])}], [1, {'a': T([0.0])}])", "([T([1.0]), [T([1.0]), (T([1.0]), T([0.0]))]], [T([1.0]), [T([1.0]), (T([1.0]), T([1.0]))]])", "([[1, 2]], [[1]])", "([{'a': 1}], [{'b': 1}])", "([True], [False])",
    "([T([1.0])], [T([1.0, 2.0])])", "(T(math.nan), T(math.nan))", "(T(1), T(2))", "(T(1.0), T(2.0))", "(1, 2)", "(1.0, 2.0)", "(1.0, 0.0)", "(T([1, 2]), T([1, 5]))", "(T([True]), T([False]))", "(T([1.0, 2.0]), T([1.0, 5.0]))",
    "([1], [2.0])", "(T([1.0, 0.0, 1.0])[::2], T([1.0, 1.0]), dict(check_stride=True))",
)  # fmt: skip


@pytest.mark.parametrize("text", TOLD)
def test_a_failure_is_told_as_pytorch_tells_it(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    told = []
    for X in (torch, facula):
        actual, expected, *how = eval(text, {"T": X.tensor, "math": math})
        with pytest.raises(AssertionError) as caught:
            importlib.import_module(f"{X.__name__}.testing").assert_close(actual, expected, **(how[0] if how else {}))
        told.append(str(caught.value))

    assert told[0] == told[1]


@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_made_tensors_keep_to_their_range(name):
    dtype = getattr(facula, name)
    x = make_tensor(50, 40, dtype=dtype)
    values = facula.view_as_real(x) if dtype.is_complex else x
    low, high = {0: (0, 1), 1: (-9 if dtype.is_signed else 0, 9), 2: (-9, 9), 3: (-9, 9)}[dtype._kind]

    assert (dtype, (50, 40)) == (x.dtype, tuple(x.shape))
    assert low <= values.float().min().item() and values.float().max().item() <= high
    assert not make_tensor(3, 4, dtype=dtype, noncontiguous=True).is_contiguous()
    assert bool((make_tensor(900, dtype=dtype, exclude_zero=True) != 0).all())
    if dtype._kind:
        narrow = make_tensor((900,), dtype=dtype, low=2, high=4)
        assert bool((narrow.real >= 2).all() if dtype.is_complex else (narrow >= 2).all())


@pytest.mark.parametrize("options", [dict(dtype=facula.int8, requires_grad=True), dict(dtype=facula.float32, low=3, high=1), dict(dtype=facula.float32, low=math.nan)])
def test_impossible_tensors_are_refused(options):
    with pytest.raises(ValueError):
        make_tensor(2, **options)


def test_there_is_no_device_and_it_says_so():
    assert not facula.cuda.is_available() and 0 == facula.cuda.device_count()
    facula.cuda.manual_seed_all(3), facula.cuda.empty_cache()
    with facula.cuda.device(None), facula.cuda.device("cpu"):
        pass
    for name in ("current_device", "synchronize", "get_device_name", "current_stream"):
        with pytest.raises(AssertionError, match=name):
            getattr(facula.cuda, name)()
    with pytest.raises(AssertionError, match="device"), facula.cuda.device(0):
        pass


@pytest.mark.parametrize("name", ["cuda", "cudnn", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum"])
def test_backends_are_modules(name):
    module = importlib.import_module(f"facula.backends.{name}")

    assert module is getattr(facula.backends, name)
    assert not getattr(module, "is_available", module.__dict__.get("is_built"))()


def test_switches_are_kept():
    from facula.backends import cudnn, mha

    with cudnn.flags(benchmark=True):
        assert cudnn.benchmark
    assert not cudnn.benchmark
    for library in (facula.backends.mkldnn, facula.backends.nnpack):
        with library.flags(enabled=True):
            pass
    assert facula.backends.nnpack.set_flags(False) == (True,) and facula.backends.nnpack.set_flags(True) == (False,)
    cuda = facula.backends.cuda
    with cuda.sdp_kernel(enable_flash=False):
        assert not cuda.flash_sdp_enabled() and cuda.math_sdp_enabled()
    cuda.enable_math_sdp(False)
    assert not cuda.math_sdp_enabled() and cuda.flash_sdp_enabled()
    cuda.enable_math_sdp(True)
    assert facula.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    mha.set_fastpath_enabled(False)
    assert not mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(True)
    assert facula.__version__ == facula.version.__version__ and facula.version.cuda is None


def test_settings_are_kept_and_checked():
    for mode in ("warn", 2, "default"):
        facula.set_deterministic_debug_mode(mode)
        assert {"warn": 1, 2: 2, "default": 0}[mode] == facula.get_deterministic_debug_mode()
    facula.use_deterministic_algorithms(True, warn_only=True)
    assert facula.are_deterministic_algorithms_enabled() and facula.is_deterministic_algorithms_warn_only_enabled()
    facula.use_deterministic_algorithms(False)
    facula.set_float32_matmul_precision("medium")
    assert "medium" == facula.get_float32_matmul_precision()
    facula.set_float32_matmul_precision("highest")
    for bad, error in ((lambda: facula.set_float32_matmul_precision(1), RuntimeError), (lambda: facula.set_deterministic_debug_mode(3), RuntimeError), (lambda: facula.set_num_interop_threads(2), RuntimeError)):
        with pytest.raises(error):
            bad()


QUESTIONS = (
    "X.typename(x)", "X.typename(3)", "X.typename('a')", "x.dim_order()", "x.t().dim_order()", "X.zeros(1, 2, 1).dim_order()", "X.get_device(x)", "X.is_signed(x)", "[v.tolist() for v in reversed(x)]", "x.is_set_to(x)", "x.is_set_to(x.t())",
    "x.is_pinned()", "x.is_shared()", "X.resolve_conj(x).tolist()", "x.resolve_neg().tolist()", "x.new_empty_strided((2, 2), (3, 1)).stride()", "X.is_distributed(x)", "X.set_flush_denormal(False)", "X.arange(3.0).apply_(lambda v: v * 2).tolist()", "X.arange(3).map_(X.tensor([5]), lambda a, b: a + b).tolist()", "X.arange(6).as_strided_((2, 2), (3, 1), 1).tolist()", "X.compiled_with_cxx11_abi()", "X.is_warn_always_enabled()",
)  # fmt: skip


@pytest.mark.parametrize("text", QUESTIONS)
def test_questions_are_answered_as_pytorch_answers(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    expected, actual = (eval(text, {"X": X, "x": X.arange(6).reshape(2, 3)}) for X in (torch, facula))

    assert expected == actual
