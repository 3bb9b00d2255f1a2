"""Names of the reference's dtypes that no tensor has here: programs put them into tables and compare with them."""

from __future__ import annotations

import facula
from facula import dtype

__all__ = ["ABSENT", "AbsentDtype"]


class AbsentDtype:
    """A dtype's name and facts. No tensor has it, so it equals no tensor's dtype; a function given it raises TypeError."""

    def __init__(self, name: str, itemsize: int, kind: str) -> None:
        self._name, self.itemsize = name, itemsize
        self.is_floating_point, self.is_complex, self.is_signed = kind == "float", kind == "complex", kind != "unsigned"

    @property
    def __class__(self) -> type:
        """Programs check the entries of their tables with isinstance(entry, torch.dtype)."""
        return dtype

    @property
    def _id(self) -> int:
        """What a function asks of the dtype that it is to use."""
        raise TypeError(f"{self!r}: no tensor has this dtype in Facula. Use float32, float16, bfloat16, complex64 or an integer dtype.")

    _kind = _id

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self):
        return _named, (self._name,)


def _named(name: str) -> AbsentDtype:
    return ABSENT[name]


ABSENT = {
    "complex32": AbsentDtype("complex32", 4, "complex"),
    "qint8": AbsentDtype("qint8", 1, "signed"),
    "quint8": AbsentDtype("quint8", 1, "unsigned"),
    "qint32": AbsentDtype("qint32", 4, "signed"),
    "quint4x2": AbsentDtype("quint4x2", 1, "unsigned"),
    "quint2x4": AbsentDtype("quint2x4", 1, "unsigned"),
}
ABSENT["chalf"] = ABSENT["complex32"]


def _cast(kind: dtype):
    def cast(input: facula.Tensor, non_blocking: bool = False) -> facula.Tensor:
        return input.to(kind, non_blocking)

    return cast


_cast_Byte, _cast_Char, _cast_Short, _cast_Int, _cast_Long = map(_cast, (facula.uint8, facula.int8, facula.int16, facula.int32, facula.int64))
_cast_Half, _cast_Float, _cast_Double = map(_cast, (facula.float16, facula.float32, facula.float64))
