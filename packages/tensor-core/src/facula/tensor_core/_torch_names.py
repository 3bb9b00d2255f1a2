"""The names that PyTorch's checkpoint format uses, and what they mean here. One table each way, computed from one list."""

from __future__ import annotations

import importlib
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING  # the standard library's own, which pickle reads by
from collections import Counter, OrderedDict
from typing import Any

from facula.tensor_core import _types
from facula.tensor_core._tensor import Tensor

STORAGES = {
    "FloatStorage": _types.float32, "DoubleStorage": _types.float64, "HalfStorage": _types.float16, "BFloat16Storage": _types.bfloat16,
    "LongStorage": _types.int64, "IntStorage": _types.int32, "ShortStorage": _types.int16, "CharStorage": _types.int8,
    "ByteStorage": _types.uint8, "BoolStorage": _types.bool_, "ComplexFloatStorage": _types.complex64,
    "ComplexDoubleStorage": _types.complex128,
}  # fmt: skip
STORAGE_OF = {dtype: name for name, dtype in STORAGES.items()}  # dtypes that lack one travel as bytes (UntypedStorage)

# functions of other parts: imported when a file names them
ELSEWHERE = {
    ("torch._utils", "_rebuild_parameter"): ("facula.nn.parameter", "rebuild_parameter"),
    ("torch._utils", "_rebuild_parameter_with_state"): ("facula.nn.parameter", "rebuild_parameter_with_state"),
    ("torch.nn.parameter", "Parameter"): ("facula.nn.parameter", "Parameter"),
}


class Name:
    """A global of the format, to be written by name: it need not exist here."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self) -> None:
        raise TypeError(f"{self.module}.{self.name} is only a name")


class StorageType:
    """What `torch.FloatStorage` is in a file: a dtype, None for bytes."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype


def _bytes_of_text(text, encoding):
    """Protocol 2's spelling of bytes."""
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise TypeError(f"_codecs.encode of {type(text).__name__} to {encoding!r}")
    return text.encode("latin1")


def _bytearray(data=b"", encoding=None):
    if type(data) is str and encoding in ("latin1", "latin-1"):
        data = data.encode("latin1")
    if type(data) not in (bytes, bytearray):
        raise TypeError(f"a bytearray of {type(data).__name__}")
    return bytearray(data)


def _complex(real=0.0, imag=0.0):
    return complex(float(real), float(imag))


def _size(values=()):
    if type(values) not in (list, tuple) or not all(type(v) is int for v in values):
        raise TypeError(f"a Size of {type(values).__name__}, not of a tuple of integers")
    return _types.Size(values)


def _device(*args):
    return _types.device(*args)


def _layout(name):
    return {f"torch.{layout._name}": layout for layout in (_types.strided, _types.sparse_coo, _types.sparse_csr, _types.sparse_csc, _types.sparse_bsr, _types.sparse_bsc)}[name]


DATA = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("builtins", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("builtins", "complex"): _complex,
    ("builtins", "bytearray"): _bytearray,
    ("_codecs", "encode"): _bytes_of_text,
    ("torch", "Size"): _size,
    ("torch", "device"): _device,
    ("torch", "Tensor"): Tensor,
    ("torch.serialization", "_get_layout"): _layout,
    ("torch.storage", "UntypedStorage"): StorageType(None),
    **{("torch", name): StorageType(dtype) for name, dtype in STORAGES.items()},
    **{("torch", dtype._name): dtype for dtype in _types.DTYPES},
    **{
        ("torch", f._name): f
        for f in (_types.contiguous_format, _types.preserve_format, _types.channels_last, _types.channels_last_3d)
    },
}


def python_3(module: str, name: str) -> tuple[str, str]:
    """The global that pickles of protocol 2, as save writes them, name as in Python 2: __builtin__.xrange is builtins.range."""
    return NAME_MAPPING.get((module, name)) or (IMPORT_MAPPING.get(module, module), name)


def find_data(module: str, name: str) -> Any:
    """The value of a global that stands for data; KeyError for any other."""
    module, name = python_3(module, name)
    if (module, name) in ELSEWHERE:
        return elsewhere(*ELSEWHERE[module, name])
    return DATA[module, name]


def elsewhere(module: str, name: str) -> Any:
    """A function of another part; where that is not installed, a Parameter is read as the tensor that it holds."""
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError:
        return _plain_parameter


def _plain_parameter(data, requires_grad=False, backward_hooks=None, state=None):
    return data


# what is written for our own objects
WRITTEN: dict[tuple[str, str], Name] = {ours: Name(*theirs) for theirs, ours in ELSEWHERE.items()}
NAMES: dict[tuple[str, str], Name] = {}


def torch_name(module: str, name: str) -> Name:
    """The one Name object of a global: the pickler writes it once and then refers to it."""
    return NAMES.setdefault((module, name), Name(module, name))
