"""The compiled library. The only file that says ffi."""

import os

try:
    from facula.tensor_core import _native as lib
except ImportError:
    if os.path.exists(os.path.join(os.path.dirname(__file__), "_native.abi3.so")):
        raise
    raise ImportError(
        f"facula: the compiled library is not in {os.path.dirname(__file__)}. In a clone, run tools/build; a zip cannot hold it: unpack that."
    ) from None

lib.claim()
ffi = lib.ffi

# A tensor's handle is an object of the binding's own, which lets the tensor go when it dies; no tensor is None, both ways.
NULL = None

ABI = 1
if lib.fc_abi_version() != ABI:
    raise ImportError(
        f"facula: the compiled library has ABI {lib.fc_abi_version()} but the Python files want {ABI}. Reinstall facula-tensor-core."
    )


def pointer(address):
    """The address (an int) as a C pointer."""
    return ffi.cast("void *", address)


_INTPTR = ffi.typeof("intptr_t")


def address(pointer):
    """A C pointer as an int."""
    return int(ffi.cast(_INTPTR, pointer))


def buffer(pointer, nbytes):
    """A writable buffer over C memory."""
    return ffi.buffer(pointer, nbytes)


def bytes_of(data):
    """A C pointer into a bytes-like object, to be kept alive by the caller."""
    return ffi.from_buffer(data)
