"""DLPack both ways: memory shared with NumPy and PyTorch, given back once, read-only where it is."""

import ctypes
import gc
import weakref

import facula
import numpy as np
import pytest
from facula.utils import dlpack

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
LAYOUTS = {
    "plain": lambda x: x,
    "transposed": lambda x: x.T if isinstance(x, np.ndarray) else x.t(),
    "sliced": lambda x: x[1:, ::2],
    "0-d": lambda x: x[1, 1],
    "no rows": lambda x: x[:0],
}
beside_numpy = pytest.mark.skipif(not hasattr(np, "from_dlpack"), reason="NumPy before 1.23 has no from_dlpack, and gives read-only arrays and bool to nobody")


@beside_numpy
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", DTYPES)
def test_numpy_gives_and_takes_every_dtype_and_layout(name, layout):
    array = LAYOUTS[layout](np.arange(12).reshape(3, 4).astype(name))
    array = np.asarray(array) if not isinstance(array, np.ndarray) else array
    tensor = facula.from_dlpack(array)
    back = np.from_dlpack(tensor)

    assert (getattr(facula, name), array.shape) == (tensor.dtype, tuple(tensor.shape))
    np.testing.assert_array_equal(array, back)
    assert array.size == 0 or array.ctypes.data == tensor.data_ptr() == back.ctypes.data


def test_pytorch_gives_and_takes():
    torch = pytest.importorskip("torch", reason="exchanges with PyTorch, which is not installed")
    for dtype in (*DTYPES, "bfloat16"):
        theirs = torch.arange(6).to(getattr(torch, dtype)).reshape(2, 3).t()
        ours = facula.from_dlpack(theirs)
        again = torch.from_dlpack(ours)
        old = torch.utils.dlpack.from_dlpack(dlpack.to_dlpack(ours))

        assert theirs.tolist() == ours.tolist() == again.tolist() == old.tolist()
        assert theirs.data_ptr() == ours.data_ptr() == again.data_ptr() == old.data_ptr()
        assert theirs.stride() == ours.stride() == again.stride()
    assert facula.from_dlpack(torch.utils.dlpack.to_dlpack(torch.ones(2))).tolist() == [1.0, 1.0]


@beside_numpy
def test_memory_lives_as_long_as_anyone_looks():
    array = np.arange(5.0)
    gone = weakref.ref(array)
    tensor = facula.from_dlpack(array)
    view = tensor[2:]
    out = np.from_dlpack(view)
    del array, tensor, view
    gc.collect()
    assert [2.0, 3.0, 4.0] == out.tolist() and gone() is not None
    del out
    gc.collect()
    facula.to_dlpack(facula.zeros(1))  # owners that foreign takers gave back are dropped at the next exchange

    assert gone() is None


def test_capsules_that_nobody_takes_let_go():
    array = np.arange(3.0)
    gone = weakref.ref(array)
    for make in (dlpack.to_dlpack, lambda t: t.__dlpack__(max_version=(1, 0))):
        make(facula.from_numpy(array))
    del array
    gc.collect()
    facula.to_dlpack(facula.zeros(1))

    assert gone() is None


def test_a_capsule_is_taken_once():
    capsule = dlpack.to_dlpack(facula.ones(2))
    first = dlpack.from_dlpack(capsule)

    assert "used_dltensor" in repr(capsule)
    with pytest.raises(RuntimeError, match="consumed only once"):
        dlpack.from_dlpack(capsule)
    assert [1.0, 1.0] == first.tolist()


@beside_numpy
def test_read_only_memory_stays_read_only():
    array = np.arange(3)
    array.flags.writeable = False
    tensor = facula.from_dlpack(array)
    with pytest.raises(RuntimeError, match="read-only"):
        tensor.fill_(1)

    assert not np.from_dlpack(tensor).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        dlpack.to_dlpack(tensor)


def test_copies_are_asked_for():
    x = facula.ones(2)

    assert x.data_ptr() != facula.from_dlpack(x, copy=True).data_ptr()
    assert x.data_ptr() == facula.from_dlpack(x, copy=False).data_ptr()
    assert (1, 0) == x.__dlpack_device__()
    assert "versioned" not in repr(x.__dlpack__()) and "versioned" in repr(x.__dlpack__(max_version=(1, 1)))


class _Managed(ctypes.Structure):
    """What a capsule holds, as dlpack.h has it: a tensor of two dims, its manager's field and its end."""

    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]  # fmt: skip


@pytest.mark.parametrize("wrong", ({"shape": None}, {"data": None}, {"strides": (2**62, 2**62)}, {"strides": (2**61, 1)}, {"ndim": -1}, {"shape": (2**62, 2**62)}, {}))
def test_a_capsule_whose_fields_do_not_fit_is_refused(wrong):
    memory = np.arange(6.0)
    fields = {"data": memory.ctypes.data, "shape": (2, 3), "strides": (3, 1), "ndim": 2, **wrong}
    for name in ("shape", "strides"):
        fields[name] = fields[name] and (ctypes.c_int64 * 2)(*fields[name])
    managed = _Managed(device=(1, 0), code=2, bits=64, lanes=1, **fields)
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    made = capsule(ctypes.addressof(managed), b"dltensor", None)
    if not wrong:
        assert memory.reshape(2, 3).tolist() == facula.from_dlpack(made).tolist()
        return

    with pytest.raises(RuntimeError, match="cannot be taken"):
        facula.from_dlpack(made)


class _Elsewhere:
    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **options):
        raise AssertionError("must not be asked")


REFUSED = (
    (lambda: facula.from_dlpack(3), RuntimeError, "int"),
    (lambda: facula.from_dlpack(np.arange(3)[::-1]), RuntimeError, "negative"),
    (lambda: facula.from_dlpack(_Elsewhere()), BufferError, "device type 2"),
    (lambda: facula.from_dlpack(facula.ones(1), device="meta"), BufferError, "meta"),
    (lambda: dlpack.to_dlpack(3), TypeError, "int"),
    (lambda: facula.empty(2, device="meta").__dlpack__(), BufferError, "meta"),
    (lambda: facula.empty(2, device="meta").__dlpack_device__(), ValueError, "meta"),
    (lambda: facula.ones(3)[::-1].__dlpack__(), BufferError, "-1"),
    (lambda: facula.ones(3).__dlpack__(stream=5), BufferError, "5"),
    (lambda: facula.ones(3).__dlpack__(stream=object()), TypeError, "object"),
    (lambda: facula.eye(2).to_sparse().__dlpack__(), BufferError, "strided"),
    (lambda: facula.ones(3).__dlpack__(dl_device=(2, 0)), BufferError, "(2, 0)"),
    (lambda: facula.from_dlpack(np.zeros(2, "longdouble")), (RuntimeError, BufferError, TypeError), ""),
)


@pytest.mark.parametrize("call,error,fact", REFUSED)
def test_what_cannot_be_shared_is_refused(call, error, fact):
    with pytest.raises(error) as caught:
        call()

    assert fact in str(caught.value)
