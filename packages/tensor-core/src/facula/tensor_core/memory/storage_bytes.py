"""Bytes for storages from elsewhere: buffers in either byte order, and files."""

import sys

from facula.tensor_core.functions import create as _create
from facula.tensor_core.memory.interop import borrow, to


def swapped(data, size):
    """The bytes of every number of this size in the other order."""
    data = bytearray(data)
    for k in range(size // 2):
        data[k::size], data[size - 1 - k :: size] = data[size - 1 - k :: size], data[k::size]
    return data


def from_buffer(name, data, count, offset, dtype, byte_order):
    """The bytes that a storage takes from a buffer: `count` elements from `offset` on, all by default, in the machine's order."""
    size = dtype.itemsize
    if byte_order is None and size > 1:
        raise RuntimeError(f"{name}.from_buffer: byte_order is needed for {dtype}. Give 'native', 'little' or 'big'.")
    if byte_order not in (None, "native", "little", "big"):
        raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
    data = memoryview(data).cast("B")
    if not 0 <= offset <= len(data):
        raise ValueError(f"offset must be non-negative and no greater than buffer length ({len(data)}), but got {offset}")
    if count < 0:
        if (len(data) - offset) % size:
            raise ValueError(f"buffer size ({len(data) - offset}) must be a multiple of element size ({size})")
        count = (len(data) - offset) // size
    if offset + count * size > len(data):
        raise ValueError(f"buffer has only {len(data) - offset} elements after offset {offset}, but specified a size of {count}")
    data = data[offset : offset + count * size]
    if byte_order not in (None, "native", sys.byteorder):
        data = swapped(data, size // (2 if dtype.is_complex else 1))
    return data


def mapped(filename, shared, size, dtype):
    """A 1-d tensor over a file."""
    import ctypes
    import mmap
    import os

    nbytes = size * dtype.itemsize
    try:
        file = open(filename, "rb" if not shared else "r+b" if os.path.exists(filename) else "w+b")
    except OSError as error:
        raise RuntimeError(f"from_file: unable to open file {filename}: {error.strerror}. Look at its path and permissions.") from error
    with file:
        have = file.seek(0, 2)
        if have < nbytes:
            if not shared:
                raise RuntimeError(f"from_file: {filename} has {have} bytes, {nbytes} are wanted. Ask for fewer, or for shared=True to let it grow.")
            file.truncate(nbytes)
        if not nbytes:
            return _create.empty(0, dtype=dtype)
        kept = type("Mapped", (mmap.mmap,), {})(file.fileno(), nbytes, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
    kept.filename = filename if shared else None
    where = ctypes.addressof(ctypes.c_char.from_buffer(kept))
    return borrow(kept, where, nbytes, True, dtype, (size,), (1,))


def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A 1-d tensor of `size` elements over a file's bytes. shared: the file grows where needed, and writes go to it.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(bytes([1, 2, 3])), file.flush()
    ...     print(facula.from_file(file.name, size=3, dtype=facula.uint8))
    tensor([1, 2, 3], dtype=torch.uint8)
    """
    from facula.tensor_core import _state

    _create.plain(layout, pin_memory)
    made = mapped(filename, bool(shared), size, dtype or _state.get_default_dtype())
    if requires_grad:
        made.requires_grad = True
    return made if device is None else to(made, device)
