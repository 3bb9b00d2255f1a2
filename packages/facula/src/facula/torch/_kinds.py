"""torch.types: names for annotations."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import IO, Union

import facula

Number = Union[int, float, bool]
Tensor = facula.Tensor
Device = Union[facula.device, str, int, None]
Size, Storage, FileLike = facula.Size, Union[facula.UntypedStorage, facula.TypedStorage], Union[str, "os.PathLike[str]", IO[bytes]]
_device, _dtype, _size = facula.device, facula.dtype, Union[facula.Size, list, tuple]
_int, _float, _bool, _complex = int, float, bool, complex
_TensorOrTensors = Union[Tensor, Sequence[Tensor]]
MAP_LOCATION = Union[
    Callable[[facula.UntypedStorage, str], facula.UntypedStorage], facula.device, str, dict[str, str], None
]


class SourceChangeWarning(Warning):
    """torch.serialization's, of modules pickled whole whose source is another now. Nothing here gives it."""


def default_storage() -> type:
    """The storage class of the default dtype."""
    named = (getattr(facula, name) for name in dir(facula) if name.endswith("Storage"))
    return next(kind for kind in named if getattr(kind, "dtype", None) is facula.get_default_dtype())
