"""DLPack: tensors shared with NumPy, PyTorch, JAX, CuPy and others. The structs are csrc/core/dlpack.c's; the capsules are made here.

A capsule named "dltensor" (or "dltensor_versioned") is taken once: the taker renames it and later calls its deleter.
"""

import enum
from functools import cache

from facula.tensor_core import _ops
from facula.tensor_core.memory.interop import borrow_ids
from facula.tensor_core._lib import address, lib, pointer
from facula.tensor_core._tensor import Tensor, _owners, own_tensor
from facula.tensor_core._types import device as Device



class DLDeviceType(enum.IntEnum):
    """Kinds of memory as DLPack numbers them.

    >>> facula.ones(2).__dlpack_device__()
    (<DLDeviceType.kDLCPU: 1>, 0)
    """

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


CPU = DLDeviceType.kDLCPU
NAMES = (b"dltensor", b"dltensor_versioned")
USED = (b"used_dltensor", b"used_dltensor_versioned")
DEVICE_TYPE, DEVICE_ID, CODE, BITS, LANES, NDIM, FLAGS, MAJOR = range(8)  # fields of fc_dlpack_field


@cache
def _python():
    """Python's capsule functions, and the address of C's destructor for capsules."""
    import ctypes  # at the first exchange: 5 ms

    api = ctypes.pythonapi
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    api.PyCapsule_IsValid.argtypes = api.PyCapsule_SetName.argtypes = (ctypes.py_object, ctypes.c_char_p)
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    for name in NAMES + USED:  # capsules keep the address of their name: it must outlast this module
        api.Py_IncRef(ctypes.py_object(name))
    known = (ctypes.cast(f, ctypes.c_void_p).value for f in (api.PyCapsule_IsValid, api.PyCapsule_GetPointer))
    return api, address(lib.fc_dlpack_capsules(*map(pointer, known)))


class _Taken:
    """A managed tensor that we took: lets go of it when the last tensor over its memory went."""

    def __init__(self, managed, versioned):
        self.managed, self.versioned = managed, versioned

    def __del__(self, release=lib.fc_dlpack_release, pointer=pointer):  # the module may be gone by then
        release(pointer(self.managed), self.versioned)


def reap():
    """Drop the owners of memory that others borrowed through us and have given back."""
    while owner := lib.fc_dlpack_orphan():
        _owners.pop(owner, None)


def _exportable(tensor, copied=False):
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if tensor.is_sparse:
        raise BufferError("Can't export tensors with layout other than torch.strided. Convert with to_dense().")
    if tensor.is_meta:
        raise BufferError(f"__dlpack__: a tensor on {tensor.device} has no memory to share. Make it on the CPU.")
    if (lazy := lib.fc_lazy(tensor._h)) and (lazy & 1 or not copied):
        raise BufferError(f"Can't export tensors with the {'conjugate' if lazy & 1 else 'negative'} bit set. Call resolve_{'conj' if lazy & 1 else 'neg'}() first.")
    if any(s < 0 for s in tensor.stride()):
        raise BufferError(f"__dlpack__: strides {tensor.stride()} are not all positive, which takers refuse. Clone the tensor first.")


def capsule(tensor, versioned, copied=False):
    """A new capsule around the tensor's memory."""
    reap()
    _exportable(tensor)
    if not versioned and not lib.fc_storage_writable(tensor._h):
        raise BufferError("__dlpack__: the memory is read-only, which only DLPack 1.0 can say. Ask with max_version=(1, 0), or clone the tensor.")
    managed = lib.fc_to_dlpack(tensor._h, versioned, copied)
    if not managed:
        raise MemoryError("__dlpack__: no memory for the description of the tensor.")
    api, drop = _python()
    return api.PyCapsule_New(address(managed), NAMES[versioned], drop)


def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule over the tensor's memory, for another library's from_dlpack.

    max_version: the newest version the taker knows, as (major, minor); below (1, 0) the capsule is of the old kind.
    copy: True exports a copy; False raises BufferError where one is needed.
    """
    if stream is not None and type(stream) is not int:
        raise TypeError(f"__dlpack__: stream must be an int or None, got {type(stream).__name__}.")
    if stream not in (None, -1):
        raise BufferError(f"__dlpack__: stream must be None for a CPU tensor, got {stream!r}.")
    if dl_device is not None and tuple(dl_device) != (CPU, 0):
        raise BufferError(f"__dlpack__: the tensor is on device {(CPU, 0)}, asked for {tuple(dl_device)}. Move it first.")
    _exportable(self, bool(copy))
    tensor = _ops.copy(self, None, 1) if copy else self
    return capsule(tensor, max_version is not None and max_version[0] >= 1, bool(copy))


def __dlpack_device__(self):
    """(device type, index) as DLPack numbers them: (1, 0) is the CPU."""
    if self.is_meta:
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
    return CPU, 0


def to_dlpack(tensor):
    """A capsule of the old kind over the tensor's memory; from_dlpack of any library takes it once.

    >>> capsule = facula.to_dlpack(facula.tensor([1, 2]))
    >>> facula.from_dlpack(capsule)
    tensor([1, 2])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"to_dlpack: expected a Tensor, not {type(tensor).__name__}.")
    return capsule(tensor.detach() if tensor.requires_grad else tensor, False)


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor over the memory of another library's array (an object with `__dlpack__`, or a capsule).

    A read-only array gives a tensor that refuses writes. copy: True always copies, False raises where a copy is needed.

    >>> import facula, numpy
    >>> facula.from_dlpack(numpy.arange(3))
    tensor([0, 1, 2])
    """
    reap()
    if device is not None and Device(device).type != "cpu":
        raise BufferError(f"from_dlpack: device {device} is not available here. Use 'cpu'.")
    if hasattr(ext_tensor, "__dlpack__"):
        if hasattr(ext_tensor, "__dlpack_device__"):
            kind, index = ext_tensor.__dlpack_device__()
            if int(kind) != CPU:
                raise BufferError(f"from_dlpack: the array is on device type {int(kind)} ({index}), and only the CPU (1) is here. Move it first.")
        ext_tensor = _ask(ext_tensor, copy)
    elif copy is not None or device is not None:
        raise TypeError(f"from_dlpack: copy and device need an object with __dlpack__, got {type(ext_tensor).__name__}.")
    return _take(ext_tensor)


def _ask(array, copy):
    """The array's capsule, of the newest kind that it can make."""
    options = {"max_version": (1, 0)}
    if copy is not None:
        options["copy"] = copy
    try:
        return array.__dlpack__(**options)
    except TypeError:
        if copy is not None:
            raise
        return array.__dlpack__()  # from before version 1


def _take(capsule):
    api, _ = _python()
    versioned = next((k for k, name in enumerate(NAMES) if type(capsule).__name__ == "PyCapsule" and api.PyCapsule_IsValid(capsule, name)), None)
    if versioned is None:
        what = repr(capsule) if type(capsule).__name__ == "PyCapsule" else type(capsule).__name__
        raise RuntimeError(f"from_dlpack received an invalid capsule: {what}. Note that DLTensor capsules can be consumed only once, so you might have already constructed a tensor from it once.")
    managed = api.PyCapsule_GetPointer(capsule, NAMES[versioned])
    field = [lib.fc_dlpack_field(pointer(managed), versioned, k) for k in range(8)]
    if versioned and field[MAJOR] != 1:
        raise BufferError(f"from_dlpack: the capsule is of version {field[MAJOR]}, and 1 is known here.")
    id = next(borrow_ids)
    h = lib.fc_from_dlpack(pointer(managed), versioned, id)
    if not h:
        raise _refusal(field)
    _owners[id] = _Taken(managed, versioned)
    api.PyCapsule_SetName(capsule, USED[versioned])
    return own_tensor(h)


def _refusal(field):
    from facula.tensor_core._errors import STATUS

    code = STATUS[lib.fc_status()]
    if code == "device":
        return BufferError(f"from_dlpack: the memory is on device type {field[DEVICE_TYPE]}, and only the CPU (1) is here. Move it first.")
    if code == "dtype":
        return RuntimeError(f"from_dlpack: no dtype here for DLPack's type code {field[CODE]} of {field[BITS]} bits and {field[LANES]} lanes. Convert the array first.")
    if code == "view":
        return RuntimeError(f"from_dlpack: stride {lib.fc_status_detail(1)} of dim {lib.fc_status_detail(0)} is negative, which tensors do not have. Copy the array first.")
    return RuntimeError(f"from_dlpack: an array of {field[NDIM]} dims cannot be taken (at most 64, of sizes and strides that fit memory, which is there).")


METHODS = ["__dlpack__", "__dlpack_device__"]
__all__ = ["from_dlpack", "to_dlpack"]
