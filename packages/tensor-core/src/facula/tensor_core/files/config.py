"""What load does where a call does not say: how a file is mapped, the byte order of files without a mark, what the environment forces."""

from __future__ import annotations

import enum
import mmap
import os
import warnings


class LoadEndianness(enum.Enum):
    """The byte order of a file that does not tell its own.

    >>> [order.name for order in facula.serialization.LoadEndianness]
    ['NATIVE', 'LITTLE', 'BIG']
    """

    NATIVE = 1
    LITTLE = 2
    BIG = 3


_options: dict = {"mmap": getattr(mmap, "MAP_PRIVATE", None), "endianness": None}  # Windows has no such flags


def get_default_load_endianness() -> LoadEndianness | None:
    """What set_default_load_endianness was given; None means little.

    >>> facula.serialization.get_default_load_endianness() is None
    True
    """
    return _options["endianness"]


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """The byte order of files without a mark. Raises TypeError for what is no LoadEndianness.

    >>> facula.serialization.set_default_load_endianness(facula.serialization.LoadEndianness.LITTLE)
    >>> facula.serialization.get_default_load_endianness().name
    'LITTLE'
    >>> facula.serialization.set_default_load_endianness(None)
    """
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError(f"set_default_load_endianness: wants a LoadEndianness or None, got {type(endianness).__name__}. Use LoadEndianness.LITTLE.")
    _options["endianness"] = endianness


def unmarked_byteorder(native: str) -> str:
    """The byte order of a file without a mark."""
    return {None: "little", LoadEndianness.NATIVE: native}.get(_options["endianness"]) or _options["endianness"].name.lower()


def get_default_mmap_options() -> int | None:
    """The flag of the module mmap with which load(mmap=True) maps a file.

    >>> import mmap
    >>> facula.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    True
    """
    return _options["mmap"]


class set_default_mmap_options:
    """Map files with mmap.MAP_PRIVATE, as they are otherwise, or mmap.MAP_SHARED: then what is written to a tensor is written to the file.

    A call, or a block's context. Raises ValueError for another flag.

    >>> import mmap
    >>> with facula.serialization.set_default_mmap_options(mmap.MAP_SHARED):
    ...     print(facula.serialization.get_default_mmap_options() == mmap.MAP_SHARED)
    True
    """

    def __init__(self, flags: int) -> None:
        if _options["mmap"] is None:
            raise RuntimeError("set_default_mmap_options: there are no such options on Windows. Leave it out.")
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(f"set_default_mmap_options: flags are {flags!r}, which is neither mmap.MAP_PRIVATE nor mmap.MAP_SHARED. Use one of them.")
        self.prev, _options["mmap"] = _options["mmap"], flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _options["mmap"] = self.prev


def mapped(path: str | os.PathLike) -> mmap.mmap | None:
    """The file in memory, as the options say; None for an empty one, which cannot be mapped."""
    shared = _options["mmap"] is not None and _options["mmap"] != mmap.MAP_PRIVATE
    with open(path, "r+b" if shared else "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return None
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)


def weights_only_of_environment(weights_only: bool | None) -> bool | None:
    """weights_only, or what TORCH_FORCE_WEIGHTS_ONLY_LOAD and TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD make of it.

    The first overrules the call, the second only a call that says nothing.
    """
    force, relax = (os.environ.get(f"TORCH_FORCE_{word}WEIGHTS_ONLY_LOAD", "0").lower() in ("1", "y", "yes", "true") for word in ("", "NO_"))
    if force and relax:
        raise RuntimeError("load: TORCH_FORCE_WEIGHTS_ONLY_LOAD and TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD are both set, only one can be. Unset one.")
    if force:
        return True
    if relax and weights_only is None:
        warnings.warn("load: TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD is set and weights_only was not given: forcing weights_only=False, what the file says is run.", UserWarning, stacklevel=4)
        return False
    return weights_only
