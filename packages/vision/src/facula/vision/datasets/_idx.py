"""The IDX format of MNIST and its relatives, plain or gzipped.

    bytes 0-1 zero, byte 2 the type, byte 3 the number of dims, then each dim as a big-endian uint32, then the data.

Source: LeCun, Cortes, Burges, The MNIST database, "the IDX file format".
"""

from __future__ import annotations

import gzip
import math
import os
import struct
import zlib

import facula

# IDX's type byte: NumPy's name of the type as stored.
_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_MAX_DIMS = 8
_CHUNK = 1 << 20


def read_idx(path: str | os.PathLike):
    """The tensor in an IDX file, gzipped or not (told by its first bytes, not by its name).

    Raises ValueError for a file that is not IDX, is shorter than its header says, or has bytes left over.
    Memory is taken as bytes arrive, never on the header's word alone.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])), file.flush()
    ...     print(facula.vision.datasets.read_idx(file.name))
    tensor([7, 9], dtype=torch.uint8)
    """
    import numpy

    path = os.fspath(path)
    with open(path, "rb") as plain:
        gzipped = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        with gzip.GzipFile(fileobj=plain) if gzipped else plain as file:
            try:
                kind, shape = _header(file, path)
                expected = math.prod(shape) * numpy.dtype(kind).itemsize
                data = _read_at_most(file, expected + 1)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise ValueError(f"read_idx: {path} is a damaged gzip file ({error}). Fetch it again.") from error
    if len(data) != expected:
        found = f"{len(data)} bytes" if len(data) < expected else "more"
        raise ValueError(
            f"read_idx: {path} should hold {expected} bytes of data ({shape}), it has {found}. Fetch it again."
        )
    array = numpy.frombuffer(data, dtype=kind)
    return facula.from_numpy(array.astype(array.dtype.newbyteorder("="))).reshape(shape)


def _header(file, path: str) -> tuple[str, tuple[int, ...]]:
    head = file.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _TYPES or not 0 < head[3] <= _MAX_DIMS:
        raise ValueError(
            f"read_idx: {path} does not start like an IDX file (first bytes {head.hex()}). "
            "Give the file that MNIST's authors publish, unpacked or gzipped."
        )
    dims = file.read(4 * head[3])
    if len(dims) < 4 * head[3]:
        raise ValueError(f"read_idx: {path} ends inside its header. Fetch it again.")
    shape = struct.unpack(f">{head[3]}I", dims)
    if math.prod(max(n, 1) for n in shape) >= 2**59:  # whatever the data: the strides would not fit
        raise ValueError(f"read_idx: {path} says that its shape is {shape}. Fetch it again.")
    return _TYPES[head[2]], shape


def _read_at_most(file, limit: int) -> bytearray:
    data = bytearray()
    while len(data) < limit and (chunk := file.read(min(_CHUNK, limit - len(data)))):
        data += chunk
    return data
