"""The dtypes as an independent reader knows them: words of the ops table, precision, rounding."""

from dataclasses import dataclass

import numpy as np

INT_NAMES = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
REAL_NAMES = ("float16", "bfloat16", "float32", "float64")
COMPLEX_NAMES = ("complex64", "complex128")
ALL_NAMES = ("bool", *INT_NAMES, *REAL_NAMES, *COMPLEX_NAMES)

WORDS = {
    "ALL": ALL_NAMES,
    "STORED": ALL_NAMES,  # float8 has its own test: test_float8.py
    "NUMS": (*INT_NAMES, *REAL_NAMES, *COMPLEX_NAMES),
    "REALS": ("bool", *INT_NAMES, *REAL_NAMES),
    "SPECIAL": ("bool", *INT_NAMES, "float32", "float64"),
    "REALNUMS": (*INT_NAMES, *REAL_NAMES),
    "FLOATS": (*REAL_NAMES, *COMPLEX_NAMES),
    "RFLOATS": REAL_NAMES,
    "INTS": ("bool", *INT_NAMES),
    "LAPACK": ("float32", "float64", *COMPLEX_NAMES),
    "INTEGERS": INT_NAMES,
}


def dtypes_of(op, oracle):
    """Those of a row that its oracle speaks of."""
    return [d for d in WORDS[op.types] if not oracle.only or d in oracle.only]


@dataclass(frozen=True)
class Precision:
    bits: int  # of the significand, the hidden one included
    emin: int  # exponent of the smallest normal number
    max: float


PRECISION = {
    "float16": Precision(11, -14, 65504.0),
    "bfloat16": Precision(8, -126, float.fromhex("0x1.fep127")),
    "float32": Precision(24, -126, float.fromhex("0x1.fffffep127")),
    "float64": Precision(53, -1022, float.fromhex("0x1.fffffffffffffp1023")),
}
PRECISION["complex64"], PRECISION["complex128"] = PRECISION["float32"], PRECISION["float64"]


def numpy_dtype(name):
    """What holds the values in NumPy, which has no bfloat16."""
    return np.dtype("float32" if name == "bfloat16" else name)


def is_floating(name):
    return name in REAL_NAMES


def is_complex(name):
    return name in COMPLEX_NAMES


def is_integral(name):
    return name == "bool" or name in INT_NAMES


def result_dtype(word, name):
    """The dtype of a result, from the row's result word and the dtype of the operands."""
    if word == "BOOL":
        return "bool"
    if word == "INDEX":
        return "int64"
    if word == "WIDE" and is_integral(name):
        return "int64"
    if word == "FLOAT" and is_integral(name):
        return "float32"
    if word == "STAT" and name in ("float16", "bfloat16"):
        return "float32"
    if word == "REAL" and is_complex(name):
        return "float32" if name == "complex64" else "float64"
    if word == "COMPLEX":
        return "complex128" if name == "float64" else "complex64"
    if word in ALL_NAMES:
        return word
    return name


def to_bfloat16(array):
    """Values of a float32 array rounded to bfloat16 (to nearest, ties to even), still float32."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(array), array, rounded.view(np.float32)).astype(np.float32).reshape(np.shape(array))


def widened(array, to_float=False):
    """The same values in the widest type: long double, its complex, or the integers as they are.

    to_float: integers become what they are in float32, the type that a FLOAT row computes them in.
    """
    if array.dtype.kind == "c":
        return array.astype(np.clongdouble)
    if array.dtype.kind == "f":
        return array.astype(np.longdouble)
    if to_float:
        return array.astype(np.float32).astype(np.longdouble)
    return array
