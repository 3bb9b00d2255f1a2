"""Python numbers into memory and back, in bulk, without NumPy: the array module packs, C converts."""

import array
import math

from facula.tensor_core import _tensor
from facula.tensor_core._errors import DTypeError
from facula.tensor_core._lib import buffer, lib
from facula.tensor_core._tensor import own_tensor
from facula.tensor_core._types import DTYPES, float64, int64

_CODES = {"int64": "q", "float64": "d", "float32": "f", "int32": "i", "int16": "h", "int8": "b", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q", "bool": "B"}


def pack(numbers, shape, dtype):
    """A tensor of this shape and dtype from a flat list of Python numbers. Raises RuntimeError where an int does not fit."""
    shape = list(shape)
    if any(isinstance(v, complex) for v in numbers) or dtype.kind == 3:
        if dtype.kind != 3:
            raise DTypeError(f"tensor: a complex number cannot be converted to {dtype.name} without losing its imaginary part. Give a complex dtype.")
        pairs = array.array("d", [part for v in numbers for part in (complex(v).real, complex(v).imag)])
        return _fill(pairs, shape, DTYPES[14], dtype)
    if dtype.kind == 2:
        return _fill(array.array("d", [float(v) for v in numbers]), shape, float64, dtype)
    if dtype.kind == 0:
        return _fill(array.array("B", [v != 0 for v in numbers]), shape, dtype, dtype)
    try:
        whole = [int(v) for v in numbers]
    except (ValueError, OverflowError):  # NaN, infinities
        raise RuntimeError(f"tensor: value cannot be converted to type {dtype.name} without overflow: {next(v for v in numbers if not math.isfinite(v))}.") from None
    try:
        return _fill(array.array(_CODES[dtype.name], whole), shape, dtype, dtype)
    except OverflowError:
        low, high = (0 if dtype.name.startswith("u") else -(2 ** (8 * dtype.itemsize - 1))), 2 ** (8 * dtype.itemsize - dtype.is_signed) - 1
        bad = next((v for v in whole if not (low or -high) <= v <= high), None)
        if bad is None:  # a small negative number in an unsigned dtype counts back from its top
            return _fill(array.array("q", whole), shape, int64, dtype)
        if not -(2**63) <= bad < 2**63:
            raise IntegerOverflow(f"tensor: Overflow when unpacking long long: {bad} does not fit {dtype.name}.") from None
        raise RuntimeError(f"tensor: value cannot be converted to type {dtype.name} without overflow: {bad}.") from None


class IntegerOverflow(RuntimeError, ValueError):
    """An integer beyond 64 bits."""


def _fill(packed, shape, have, want):
    t = own_tensor(lib.fc_empty(have.id, 0, len(shape), shape))
    data = memoryview(packed).cast("B")
    if len(data):
        buffer(lib.fc_data(t._h), len(data))[:] = data
    return t if have is want else own_tensor(lib.fc_to(t._h, want.id, 0, 1))


def unpack(tensor):
    """The elements as a flat list of Python numbers, in logical order."""
    if tensor.is_meta:
        raise NotImplementedError("tolist: Cannot copy out of meta tensor; no data!")
    kind = tensor.dtype.kind
    wide = {0: DTYPES[0], 1: DTYPES[8] if tensor.dtype.name == "uint64" else int64, 2: float64, 3: DTYPES[14]}[kind]
    t = own_tensor(lib.fc_to(tensor._h, wide.id, 0, 0))
    n = t.numel()
    raw = bytes(buffer(lib.fc_data(t._h), n * wide.itemsize)) if n else b""
    if kind == 0:
        return [b != 0 for b in raw]
    code = "d" if kind >= 2 else "Q" if wide.name == "uint64" else "q"
    flat = memoryview(raw).cast(code).tolist() if raw else []
    return [complex(flat[k], flat[k + 1]) for k in range(0, len(flat), 2)] if kind == 3 else flat


def tolist(self):
    """Nested lists of Python numbers; a plain number for a 0-d tensor.

    >>> import facula
    >>> facula.arange(3).tolist()
    [0, 1, 2]
    """
    if _tensor.leaving is not None:
        _tensor.leaving(self, "tolist")
    flat = unpack(self.detach())  # whose history is never stale
    shape = self.shape
    if not shape:
        return flat[0]
    for size in reversed(shape[1:]):
        if size == 0:
            flat = []
            break
        flat = [flat[k : k + size] for k in range(0, len(flat), size)]
    return flat if flat or 0 not in shape else _hollow(list(shape))


def _hollow(shape):
    return [_hollow(shape[1:]) for _ in range(shape[0])] if len(shape) > 1 and shape[0] else []
