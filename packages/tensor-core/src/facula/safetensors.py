"""facula.safetensors: the safetensors format, written and read.

    8 bytes    N, little-endian
    N bytes    JSON: name -> {"dtype", "shape", "data_offsets": [begin, end]}, and "__metadata__": text -> text
    the rest   the tensors' elements, contiguous and little-endian, one after the other without gaps

Source: the format's specification, github.com/huggingface/safetensors.
"""

from __future__ import annotations

import json
import os
import sys
from reprlib import repr as short
from typing import Any

from facula.tensor_core import _types
from facula.tensor_core.files.checkpoint import CheckpointError, atomic
from facula.tensor_core.functions.conjugate import resolved
from facula.tensor_core._lib import buffer, lib
from facula.tensor_core._tensor import Tensor, own_tensor

__all__ = ["load", "load_file", "save", "save_file"]

HEADER_LIMIT = 100_000_000  # the reference implementation's
DTYPES = {
    "BOOL": _types.bool_, "U8": _types.uint8, "I8": _types.int8, "U16": _types.uint16, "I16": _types.int16, "F16": _types.float16,
    "BF16": _types.bfloat16, "U32": _types.uint32, "I32": _types.int32, "F32": _types.float32, "F64": _types.float64,
    "U64": _types.uint64, "I64": _types.int64, "C64": _types.complex64,
    "F8_E4M3": _types.float8_e4m3fn, "F8_E5M2": _types.float8_e5m2, "F8_E8M0": _types.float8_e8m0fnu,
    "F8_E4M3FNUZ": _types.float8_e4m3fnuz, "F8_E5M2FNUZ": _types.float8_e5m2fnuz,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def _parts(tensors: dict[str, Tensor], metadata: dict[str, str] | None) -> tuple[bytes, list[Tensor]]:
    """The header, and the contiguous tensors in the order of their data: wide elements first, so that all are aligned."""
    if sys.byteorder != "little":
        raise RuntimeError("safetensors: the format is little-endian, this machine is not.")
    header: dict[str, Any] = {}
    if metadata:
        if not all(isinstance(k, str) and isinstance(v, str) for k, v in metadata.items()):
            raise TypeError("safetensors: metadata maps text to text. Convert the values with str().")
        header["__metadata__"] = dict(metadata)
    order, at = [], 0
    for name, tensor in sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        if not isinstance(name, str) or name == "__metadata__" or tensor.dtype not in NAMES:
            raise ValueError(f"safetensors: {name!r} of {tensor.dtype} cannot be written. Names are text, dtypes: {', '.join(DTYPES)}.")
        dense = resolved(tensor.detach()).contiguous()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + dense.nbytes]}
        order.append(dense)
        at += dense.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text, order


def _bytes(tensor: Tensor) -> memoryview:
    return memoryview(buffer(lib.fc_data(tensor._h), tensor.nbytes)).cast("B") if tensor.nbytes else memoryview(b"")


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """The file's bytes.

    >>> data = facula.safetensors.save({"w": facula.tensor([1.0, 2.0])})
    >>> type(data).__name__
    'bytes'
    >>> facula.safetensors.load(data)["w"]
    tensor([1., 2.])
    """
    header, order = _parts(tensors, metadata)
    return b"".join([header, *map(_bytes, order)])


def save_file(tensors: dict[str, Tensor], filename: Any, metadata: dict[str, str] | None = None) -> None:
    """Write tensors to a file, which is replaced at once or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     facula.safetensors.save_file({"w": facula.tensor([1.0, 2.0])}, folder + "/w.safetensors")
    ...     print(facula.safetensors.load_file(folder + "/w.safetensors")["w"])
    tensor([1., 2.])
    """
    header, order = _parts(tensors, metadata)
    with atomic(filename) as file:
        file.write(header)
        for tensor in order:
            file.write(_bytes(tensor))


def _unique(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise CheckpointError("safetensors: a name stands twice in the header.")
    return found


def _header(data: memoryview) -> tuple[dict, memoryview]:
    """The checked header, and the bytes behind it."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(HEADER_LIMIT, len(data) - 8):
        raise CheckpointError(f"safetensors: a header of {length} bytes in a file of {len(data)}. It is damaged or no safetensors.")
    try:
        header = json.loads(bytes(data[8 : 8 + length]), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"safetensors: the header is no JSON: {error}") from None
    if type(header) is not dict:
        raise CheckpointError(f"safetensors: the header is {type(header).__name__}, not an object.")
    return header, data[8 + length :]


def _entry(name: str, entry: Any) -> tuple[Any, list[int], int, int]:
    """(dtype, shape, begin, end) of a header's entry, checked for itself."""
    try:
        dtype, shape, (begin, end) = DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        numbers = [*shape, begin, end]
    except (KeyError, TypeError, ValueError):
        raise CheckpointError(f"safetensors: the entry of {name!r} is {short(entry)}.") from None
    if type(shape) is not list or not all(type(n) is int and 0 <= n < 2**62 for n in numbers) or len(shape) > 64:
        raise CheckpointError(f"safetensors: shape and offsets of {name!r} are {short(numbers)}: not all are integers from 0 up.")
    count = dtype.itemsize
    for n in shape:
        count *= n
    if end - begin != count:
        raise CheckpointError(f"safetensors: {name!r} of shape {shape} and {dtype} needs {count} bytes, its offsets give {end - begin}.")
    return dtype, shape, begin, end


def load(data: Any) -> dict[str, Tensor]:
    """The tensors in a file's bytes. Raises RuntimeError (CheckpointError) for bytes that are no valid file.

    >>> facula.safetensors.load(facula.safetensors.save({"w": facula.tensor([1.0, 2.0])}))
    {'w': tensor([1., 2.])}
    """
    header, body = _header(memoryview(data).cast("B"))
    metadata = header.pop("__metadata__", {})
    if type(metadata) is not dict or not all(type(v) is str for v in metadata.values()):
        raise CheckpointError("safetensors: __metadata__ does not map text to text.")
    entries = {name: _entry(name, entry) for name, entry in header.items()}
    at = 0
    for name, (_, _, begin, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if begin != at:
            raise CheckpointError(f"safetensors: the data of {name!r} begins at {begin}, what is before ends at {at}.")
        at = end
    if at != len(body):
        raise CheckpointError(f"safetensors: the tensors have {at} bytes, the file holds {len(body)}.")
    return {name: _tensor(dtype, shape, body[begin:end]) for name, (dtype, shape, begin, end) in entries.items()}


def _tensor(dtype: Any, shape: list[int], data: memoryview) -> Tensor:
    h = lib.fc_empty(dtype._id, 0, len(shape), shape)
    if not h:
        if not len(data):
            raise CheckpointError(f"safetensors: an empty tensor of shape {shape} has strides that no integer holds.")
        raise MemoryError(f"safetensors: no memory for a tensor of shape {shape}")
    if len(data):
        memoryview(buffer(lib.fc_data(h), len(data))).cast("B")[:] = data
    return own_tensor(h)


def load_file(filename: Any, device: Any = "cpu") -> dict[str, Tensor]:
    """The tensors in a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     facula.safetensors.save_file({"w": facula.tensor([1.0, 2.0])}, folder + "/w.safetensors")
    ...     print(facula.safetensors.load_file(folder + "/w.safetensors"))
    {'w': tensor([1., 2.])}
    """
    if _types.device(device).type != "cpu":
        raise RuntimeError(f"safetensors: there is no device {device}. Load to the cpu.")
    with open(os.fspath(filename), "rb") as file:
        return load(file.read())
