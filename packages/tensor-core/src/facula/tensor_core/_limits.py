"""finfo and iinfo: what the numbers of a dtype can be."""

import builtins

from facula.tensor_core import _state, _types
from facula.tensor_core.dispatch.arguments import as_dtype
from facula.tensor_core.dispatch.run import LARGEST

# dtype: (bits, fraction bits, smallest exponent of a normal number, digits that a decimal keeps)
_FLOATS = {
    "float16": (16, 10, -14, 3, "float16"), "bfloat16": (16, 7, -126, 2, "bfloat16"), "float32": (32, 23, -126, 6, "float32"),
    "float64": (64, 52, -1022, 15, "float64"), "complex64": (32, 23, -126, 6, "float32"), "complex128": (64, 52, -1022, 15, "float64"),
    "float8_e4m3fn": (8, 3, -6, 0, "float8_e4m3fn"), "float8_e4m3fnuz": (8, 3, -7, 0, "float8_e4m3fnuz"), "float8_e5m2": (8, 2, -14, 0, "float8_e5m2"),
    "float8_e5m2fnuz": (8, 3, -15, 0, "float8_e5m2fnuz"), "float8_e8m0fnu": (8, 0, -127, 0, "float8_e8m0fnu"),
}  # fmt: skip
_ASKED = {}  # dtype: its finfo, which programs ask for in every forward pass


class _Info:
    def __eq__(self, other):
        return type(self) is type(other) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)


@_types.final
class finfo(_Info):
    """Limits of a floating dtype; of a complex one, its parts'. Raises TypeError for others.

    eps: the step from 1 to the next number. tiny, smallest_normal: the smallest number of full precision.
    resolution: a decimal's last digit that survives.

    >>> import facula
    >>> facula.finfo(facula.float32).eps
    1.1920928955078125e-07
    """

    def __new__(cls, type=None):
        try:
            return _ASKED[type]
        except (KeyError, TypeError):  # the first time, or nothing that can be looked up
            pass
        type = as_dtype(type) if isinstance(type, builtins.type) else _state.get_default_dtype() if type is None else type
        if getattr(type, "_name", None) not in _FLOATS:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle {getattr(type, '_name', type)!r}")
        return _ASKED.setdefault(type, object.__new__(cls)._set(type))

    def _set(self, type):
        self.bits, fraction, low, digits, self.dtype = _FLOATS[type._name]
        self.eps = 2.0**-fraction
        self.tiny = self.smallest_normal = 2.0**low
        self.max = LARGEST.get(type._name) or (2.0 - self.eps) * 2.0 ** (1 - low)
        self.min = self.tiny if type._name == "float8_e8m0fnu" else -self.max
        self.resolution = float(f"1e-{digits}")
        return self

    def __reduce__(self):
        return finfo, (getattr(_types, self.dtype),)

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


@_types.final
class iinfo(_Info):
    """Limits of an integer dtype. Raises TypeError for others.

    >>> import facula
    >>> facula.iinfo(facula.int8).max
    127
    """

    def __init__(self, type):
        if not isinstance(type, _types.dtype) or type._kind != 1:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle {getattr(type, '_name', type)!r}")
        self.bits, self.dtype = 8 * type.itemsize, type._name
        self.min = -(2 ** (self.bits - 1)) if type.is_signed else 0
        self.max = 2 ** (self.bits - type.is_signed) - 1

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


__all__ = ["finfo", "iinfo"]
