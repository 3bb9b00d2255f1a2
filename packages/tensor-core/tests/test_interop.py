"""Tensors from Python data, NumPy and buffers and back: values, dtypes, shapes, strides, sharing and refusals, beside PyTorch."""

import array
import math
import warnings

import facula
import numpy as np
import pytest

SAME = (
    "X.tensor(3)", "X.tensor(3.0)", "X.tensor(True)", "X.tensor(1j)", "X.tensor([])", "X.tensor([[], []])", "X.tensor([1, 2.5])", "X.tensor([1, True])", "X.tensor([1, 2j])", "X.tensor((1, 2))", "X.tensor(range(3))",
    "X.tensor([[1, 2], [3, 4]], dtype=X.float16)", "X.tensor(np.arange(3))", "X.tensor(np.float32(2))", "X.tensor([np.float32(2), np.float64(3)])", "X.tensor([np.arange(2), np.arange(2)])", "X.tensor([X.tensor(1), X.tensor(2)])",
    "X.tensor([X.tensor(1.0), 2])", "X.tensor([X.tensor([1.0]), X.tensor([2.0])])", "X.tensor([X.tensor([1.0, 2.0])])", "X.tensor('a')", "X.tensor([1, 'a'])", "X.tensor([[1], [1, 2]])", "X.tensor(None)", "X.tensor([None])", "X.tensor({})",
    "X.tensor(2**63)", "X.tensor(-2**63)", "X.tensor(300, dtype=X.uint8)", "X.tensor(-1, dtype=X.uint8)", "X.tensor(-300, dtype=X.uint8)", "X.tensor(128, dtype=X.int8)", "X.tensor(1e40)", "X.tensor(math.nan)", "X.tensor(math.nan, dtype=X.int32)",
    "X.tensor([1.5], dtype=X.int64)", "X.tensor([1j], dtype=X.float32)", "X.tensor([1], dtype=X.bool)", "X.tensor(bytearray(b'abc'))", "X.tensor(b'abc')", "X.tensor(array.array('i', [1, 2]))", "X.tensor(memoryview(b'abc'))",
    "X.tensor(np.array(['a']))", "X.tensor([1], device='meta')", "X.tensor([2**62, 1.5])", "X.tensor([X.tensor(1, dtype=X.int8)])", "X.tensor(np.bool_(True))", "X.tensor([np.int8(1), np.int8(2)])", "X.tensor(np.complex64(1j))", "X.tensor(np.uint16(3))",
    "X.as_tensor(np.arange(3))", "X.as_tensor([1, 2], dtype=X.float64)", "X.as_tensor(np.arange(3), dtype=X.float32)", "X.as_tensor(3)", "X.as_tensor(np.float64(3))", "X.as_tensor(np.arange(3)[::-1])", "X.as_tensor(X.tensor([1]), device='meta')",
    "X.as_tensor(np.arange(3), device='meta')", "X.asarray([1, 2])", "X.asarray(np.arange(3))", "X.asarray(3)", "X.asarray(b'abc')", "X.asarray(b'abc', dtype=X.uint8)", "X.asarray(bytearray(b'abcd'), dtype=X.int16)",
    "X.asarray(array.array('f', [1, 2]))", "X.asarray([1.0, 2.0], requires_grad=False)", "X.asarray(X.tensor([1.0]), copy=True)", "X.asarray(X.tensor([1.0]), copy=False)", "X.asarray([1], copy=False)", "X.asarray(np.arange(3), copy=False, dtype=X.float32)",
    "X.asarray(np.arange(3), dtype=X.float32)", "X.asarray(np.float32(3))", "X.asarray([1, 2], dtype=X.float32, device='cpu')", "X.asarray(np.arange(4)[::-1])", "X.asarray('a')", "X.asarray(None)",
    "X.from_numpy([1])", "X.from_numpy(np.array(['a']))", "X.from_numpy(np.array(1.0))", "X.from_numpy(np.arange(3)[::-1])", "X.from_numpy(np.arange(3, dtype='>i8'))", "X.from_numpy(np.zeros(3, dtype='i4,i4'))", "X.from_numpy(np.arange(6).reshape(2, 3).T)",
    "X.from_numpy(np.float32(1))", "X.from_numpy(np.array([1], dtype=object))", "X.from_numpy(np.broadcast_to(np.arange(3), (2, 3)))", "X.from_numpy(np.zeros(3, dtype=np.uint16))",
    "X.frombuffer(bytearray(b'abcd'), dtype=X.int16)", "X.frombuffer(bytearray(b'abcd'), dtype=X.int16, offset=2)", "X.frombuffer(bytearray(b'abcd'), dtype=X.uint8, count=2, offset=1)", "X.frombuffer(bytearray(b'abc'), dtype=X.int16)",
    "X.frombuffer(b'', dtype=X.uint8)", "X.frombuffer(b'abcd', dtype=X.uint8)", "X.frombuffer(bytearray(b'abcd'), dtype=X.uint8, offset=4)", "X.frombuffer(bytearray(b'abcd'), dtype=X.uint8, count=5)", "X.frombuffer(bytearray(b'abcd'), dtype=X.uint8, count=0)",
    "X.frombuffer(bytearray(b'ab'), dtype=X.uint8, offset=-1)", "X.frombuffer(3, dtype=X.uint8)", "np.asarray(X.arange(3))", "np.array(X.arange(3.0), dtype='f8')", "np.asarray(X.zeros(2, 3).t())", "np.array(X.tensor(3))",
    "X.tensor([1.0]).bfloat16().numpy()", "X.empty(2, device='meta').numpy()", "np.asarray(X.zeros(2, 0))", "X.arange(3) + np.arange(3)", "X.arange(3) == np.arange(3)", "np.float64(2) * X.arange(3)", "X.arange(3) * np.float64(2)", "np.ones(2) / X.ones(2)",
    "np.sin(X.arange(3.0))", "np.stack([X.arange(3), X.arange(3)])", "np.concatenate([X.arange(2.0), X.arange(2.0)])", "np.add(X.arange(3), 1)", "np.arange(3)[X.tensor([0, 2])]", "X.arange(3).__array__('f4')", "np.linalg.norm(X.tensor([3.0, 4.0]))",
    "np.maximum(X.tensor([3.0, 4.0]), 3.5)", "np.allclose(X.ones(2), np.ones(2))", "np.array([X.tensor(1), X.tensor(2)])", "X.ones(2) * np.ones((2, 2), 'f4')", "X.ones(2).__array_priority__", "float(X.tensor(2.5))", "list(X.arange(2))", "X.arange(3) == [0, 1, 2]",
    "X.promote_types(X.int8, X.uint8)", "X.promote_types(X.float16, X.bfloat16)", "X.promote_types(X.uint16, X.int8)", "X.result_type(X.ones(2, dtype=X.int8), 1.5)", "X.result_type(X.tensor(1.0), X.ones(2, dtype=X.int8))", "X.result_type(True, 1j)",
    "X.can_cast(X.float, X.int)", "X.set_default_dtype(X.int32)", "X.logspace(0, 2, 3, out=X.empty(0))", "X.linspace(0, 1, 3, device='meta')",
)  # fmt: skip


def described(X, text):
    try:
        value = eval(text, {"X": X, "np": np, "array": array, "math": math})
    except Exception as error:
        return error
    if isinstance(value, X.Tensor):
        return str(value.dtype), tuple(value.shape), value.stride(), None if value.is_meta else str(value.tolist()), str(value.device)
    return (str(value.dtype), value.tolist()) if isinstance(value, np.ndarray) else str(value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", SAME)
def test_it_answers_what_pytorch_answers(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    expected, actual = described(torch, text), described(facula, text)
    if isinstance(expected, Exception):
        assert isinstance(actual, type(expected)), (expected, actual)
    else:
        assert expected == actual


def test_memory_is_shared_with_numpy():
    a = np.arange(6.0).reshape(2, 3)
    for made in (facula.from_numpy(a), facula.as_tensor(a), facula.asarray(a), facula.from_dlpack(a)):
        made[0, 0] += 1
    back = made.numpy()
    back[0, 1] = 9

    assert [4.0, 9.0] == a[0, :2].tolist()
    assert np.shares_memory(np.asarray(made.t()), a) and np.shares_memory(made.to_numpy(), a)
    assert not np.shares_memory(np.array(made, copy=True), a) and not np.shares_memory(facula.tensor(a).numpy(), a)


def test_the_array_interface_describes_the_memory():
    x = facula.arange(6, dtype=facula.int32).reshape(2, 3).t()
    described = x.__array_interface__

    assert ("<i4", (3, 2), (4, 12), (x.data_ptr(), False)) == (described["typestr"], described["shape"], described["strides"], described["data"])
    array = np.asarray(x)
    array[2, 1] = 9
    assert 9 == x[2, 1] and np.shares_memory(array, x.numpy())


def test_the_array_interface_is_read_only_where_the_tensor_is():
    array = np.arange(3.0)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = facula.from_numpy(array)

    assert x.__array_interface__["data"][1] and not np.asarray(x).flags.writeable


WITHOUT_INTERFACE = {
    "requires grad": lambda: facula.ones(2, requires_grad=True), "no such dtype": lambda: facula.ones(2, dtype=facula.bfloat16),
    "meta": lambda: facula.ones(2, device="meta"), "empty": lambda: facula.ones(0, 2), "conjugated": lambda: facula.ones(2, dtype=facula.complex64).conj(),
    "sparse": lambda: facula.eye(2).to_sparse(), "compressed": lambda: facula.eye(2).to_sparse_csr(),
}  # fmt: skip


@pytest.mark.parametrize("which", WITHOUT_INTERFACE)
def test_what_numpy_cannot_look_into_has_no_array_interface(which):
    assert not hasattr(WITHOUT_INTERFACE[which](), "__array_interface__")


def test_an_array_keeps_the_memory_that_its_tensor_leaves():
    x = facula.full((300_000,), 7.0)
    a = np.asarray(x)
    x.data = facula.zeros(300_000)
    b = np.asarray(x)
    x.set_(facula.ones(2))
    others = [facula.full((300_000,), 3.0) for _ in range(8)]

    assert (7.0, 0.0) == (a.min(), b.max()) and 8 == len(others)


def test_the_memory_goes_with_the_last_array():
    import weakref

    x = facula.ones(4)
    gone = weakref.ref(x)
    array = np.asarray(x)
    del x
    assert gone() is not None and array.sum() == 4
    del array
    assert gone() is None


def test_memory_outlives_its_makers():
    import gc

    array_ = np.asarray(facula.ones(1000) * 2)
    tensor = facula.from_numpy(np.full(1000, 3.0))
    gc.collect()

    assert (2000.0, 3000.0) == (array_.sum(), tensor.sum().item())


@pytest.mark.parametrize("fill", ("arange(3, out=t)", "linspace(0, 1, 3, out=t)", "logspace(0, 1, 3, out=t)", "range(0, 2, out=t)", "eye(1, 3, out=t.view(1, 3))", "zeros(3, out=t)", "cumsum(facula.ones(3), 0, out=t)"))
def test_what_makes_a_tensor_refuses_read_only_outputs(fill):
    array = np.full(3, 7, np.float32)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        t = facula.from_numpy(array)
        with pytest.raises(RuntimeError, match="read-only"):
            eval(f"facula.{fill}")

    assert [7, 7, 7] == t.tolist()


def test_read_only_arrays_give_tensors_that_refuse_writes():
    a = np.arange(3)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        x = facula.from_numpy(a)
    with pytest.raises(RuntimeError, match="read-only"):
        x.add_(1)

    assert not x.numpy().flags.writeable


@pytest.mark.filterwarnings("ignore")
def test_the_default_device_is_that_of_factories():
    try:
        facula.set_default_device("meta")
        assert all(t.is_meta for t in (facula.zeros(2), facula.tensor([1]), facula.randn(2), facula.arange(3), facula.linspace(0, 1, 3)))
        assert facula.device("meta") == facula.get_default_device()
    finally:
        facula.set_default_device(None)
    assert not facula.zeros(1).is_meta


def test_many_dims_are_possible():
    x = facula.zeros([1] * 64)
    assert 64 == x.dim() == (x + 1).dim() and (1,) * 63 == tuple(x.sum(5).shape) and 1 == x.reshape(-1).numel()
    y = facula.arange(2**10).reshape([2] * 10).permute(*range(9, -1, -1))
    assert [int(f"{k:010b}"[::-1], 2) for k in range(2**10)] == y.flatten().tolist()
    with pytest.raises(RuntimeError, match="64"):
        x.unsqueeze(0)
    with pytest.raises(RuntimeError, match="64"):
        facula.zeros([1] * 65)


FORMATS = (
    "y", "y.clone()", "y.contiguous()", "y + 1", "y * y", "y + x", "x + y", "y.relu()", "y.half()", "y.to(X.float64)", "X.zeros_like(y)", "X.empty_like(y)", "X.rand_like(y)", "y.clone(memory_format=X.contiguous_format)", "y > 0", "y.exp()",
    "X.where(y > 0, y, 0.0)", "y.clamp(0, 1)", "-y", "y.to(memory_format=X.contiguous_format)", "x.to(memory_format=X.channels_last)", "x.contiguous(memory_format=X.channels_last)", "X.empty(2, 3, 4, 5, memory_format=X.channels_last)",
    "z.to(memory_format=X.channels_last_3d)", "z.contiguous(memory_format=X.channels_last_3d).relu()", "y.permute(0, 2, 3, 1)", "y[:, :, 1:]", "y[:1]", "x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2) + 1", "y + X.ones(3, 1, 1)",
    "X.empty(0).resize_(2, 3, 4, 5, memory_format=X.channels_last)", "X.empty(0).resize_as_(y, memory_format=X.contiguous_format)", "X.empty(0).resize_as_(x)", "y.detach()", "y.flatten(1)", "y.sum(1, keepdim=True)", "y.mean((2, 3), keepdim=True)", "X.cat([y, y])", "X.empty(2, 1, 4, 5).to(memory_format=X.channels_last)", "X.empty(2, 3, 1, 1).to(memory_format=X.channels_last)",
)  # fmt: skip


@pytest.mark.parametrize("text", FORMATS)
def test_memory_formats_are_kept_as_pytorch_keeps_them(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    seen = []
    for X in (torch, facula):
        x = X.zeros(2, 3, 4, 5)
        t = eval(text, {"X": X, "x": x, "y": x.to(memory_format=X.channels_last), "z": X.zeros(2, 3, 4, 5, 6)})
        formats = [X.contiguous_format] + [X.channels_last] * (t.dim() == 4) + [X.channels_last_3d] * (t.dim() == 5)
        seen.append((tuple(t.shape), t.stride(), [t.is_contiguous(memory_format=f) for f in formats]))

    assert seen[0] == seen[1]


OVERLAPS = (
    "X.zeros(1, 3).expand(4, 3).add_(1)", "X.zeros(3).expand(2, 3).copy_(X.ones(2, 3))", "X.zeros(5).unfold(0, 3, 1).mul_(2)", "X.zeros(1).expand(3).fill_(1)", "X.zeros(1).expand(3).normal_()", "X.zeros(5).as_strided((2, 3), (1, 1)).zero_()",
    "x[1:].add_(x[:-1])", "X.add(x[1:], 1, out=x[:-1])", "X.mul(x, x, out=x)", "x.t_() if x.dim() > 1 else x.add_(x)", "X.zeros(1, 3).expand(4, 3).index_put_((X.tensor([0]),), X.tensor(1.0))",
    "X.zeros(3, 3).as_strided((3, 3), (0, 1)).sub_(1)", "X.sum(x, 0, out=x[0])", "X.cumsum(x, 0, out=x)",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", OVERLAPS)
def test_writes_to_memory_that_overlaps_are_judged_as_by_pytorch(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    seen = []
    for X in (torch, facula):
        x = X.arange(6.0)
        try:
            seen.append(eval(text, {"X": X, "x": x}).tolist())
        except RuntimeError:
            seen.append("refused")

    assert seen[0] == seen[1]


def test_to_says_what_it_cannot_take():
    with pytest.raises(TypeError, match="list .* is neither dtype, device nor Tensor"):
        facula.ones(1).to([1])


@pytest.mark.parametrize(
    "text",
    (
        "x.where(c, X.zeros(1))", "x.where(c, 0)", "x.where(condition=c, other=3.5)", "X.tensor([1, 2]).where(c, 0.5)",
        "x.polygamma(1)", "x.clone().polygamma_(2)", "x.where(c, X.zeros(1, dtype=X.float64))", "x.where(x > 1, -x)", "X.tensor([True, False]).where(c, X.tensor(True))",
    ),
)  # fmt: skip
def test_methods_whose_function_takes_another_argument_first(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")

    def run(X):
        x, c = X.tensor([1.0, 2.0]), X.tensor([True, False])  # noqa: F841 (the texts name them)
        found = eval(text)
        return str(found.dtype).rpartition(".")[2], found.tolist()

    (dtype, expected), (found_dtype, found) = run(torch), run(facula)
    assert (dtype, pytest.approx(expected, rel=1e-6)) == (found_dtype, found)


def test_frombuffer_says_that_bytes_cannot_be_written():
    with pytest.warns(UserWarning, match="not writable"):
        x = facula.frombuffer(b"abcd", dtype=facula.uint8)

    assert [97, 98, 99, 100] == x.tolist()
