"""Python numbers into memory and back, in bulk, without NumPy: the array module packs, C converts."""

import array

from facula.tensor_core import _ops, _tensor
from facula.tensor_core._errors import DTypeError, IntegerOverflow
from facula.tensor_core.dispatch.run import fitting
from facula.tensor_core._lib import buffer, lib
from facula.tensor_core._tensor import own_tensor
from facula.tensor_core._types import DTYPES, float32, float64, int64

_CODES = {"int64": "q", "float64": "d", "float32": "f", "int32": "i", "int16": "h", "int8": "b", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q", "bool": "B"}


def pack(numbers, shape, dtype):
    """A tensor of this shape and dtype from a flat list of Python numbers. Raises RuntimeError where an int does not fit."""
    shape = list(shape)
    if any(isinstance(v, complex) for v in numbers) or dtype._kind == 3:
        if dtype._kind != 3:
            raise DTypeError(f"tensor: a complex number cannot be converted to {dtype._name} without losing its imaginary part. Give a complex dtype.")
        pairs = array.array("d", [part for v in numbers for part in (complex(v).real, complex(v).imag)])
        return _fill(pairs, shape, DTYPES[14], dtype)
    if dtype._kind == 2:
        return _fill(array.array("d", [float(v) for v in numbers]), shape, float64, dtype)
    if dtype._kind == 0:
        return _fill(array.array("B", [v != 0 for v in numbers]), shape, dtype, dtype)
    whole = [v if type(v) is int else int(fitting("tensor", v, dtype)) for v in numbers]
    try:
        return _fill(array.array(_CODES[dtype._name], whole), shape, dtype, dtype)
    except OverflowError:
        high = 2 ** (8 * dtype.itemsize - dtype.is_signed) - 1
        low = -high - 1 if dtype.is_signed else -high if dtype.itemsize < 8 else 0
        bad = next((v for v in whole if not low <= v <= high), None)
        if bad is None:  # a small negative number in a narrow unsigned dtype counts back from its top
            return _fill(array.array("q", whole), shape, int64, dtype)
        if not -(2**63) <= bad < 2**63 or dtype._name == "uint64":
            raise IntegerOverflow(f"tensor: Overflow when unpacking long long: {bad} does not fit {dtype._name}.") from None
        raise RuntimeError(f"tensor: value cannot be converted to type {dtype._name} without overflow: {bad}.") from None


def _fill(packed, shape, have, want):
    t = own_tensor(lib.fc_empty(have._id, 0, len(shape), shape))
    data = memoryview(packed).cast("B")
    if len(data):
        buffer(lib.fc_data(t._h), len(data))[:] = data
    return t if have is want else own_tensor(lib.fc_to(t._h, want._id, 0, 1))


def tolist(self):
    """Nested lists of Python numbers; a plain number for a 0-d tensor.

    >>> import facula
    >>> facula.arange(3).tolist()
    [0, 1, 2]
    """
    if _tensor.leaving is not None:
        _tensor.leaving(self, "tolist")
    found = lib.to_numbers(self._h)
    if found is None:
        if self.is_meta:
            raise NotImplementedError("tolist: Cannot copy out of meta tensor; no data!")
        plain = self.detach()  # whose history is never stale
        found = lib.to_numbers(_ops.copy(plain, float32 if self.dtype._kind == 2 and self.dtype.itemsize < 4 else None, 0)._h)
    return found
