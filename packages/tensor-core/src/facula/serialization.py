"""facula.serialization: what load(weights_only=True) may use besides data, how it maps files, and which byte order it takes them for."""

from facula.tensor_core.files.checkpoint import CheckpointError
from facula.tensor_core.files.config import (
    LoadEndianness,
    get_default_load_endianness,
    get_default_mmap_options,
    set_default_load_endianness,
    set_default_mmap_options,
)
from facula.tensor_core.files.names import get_unsafe_globals_in_checkpoint
from facula.tensor_core.files.serialization import add_safe_globals, clear_safe_globals, get_safe_globals, load, safe_globals, save

__all__ = [
    "CheckpointError", "LoadEndianness", "add_safe_globals", "clear_safe_globals", "get_default_load_endianness", "get_default_mmap_options", "get_safe_globals",
    "get_unsafe_globals_in_checkpoint", "load", "safe_globals", "save", "set_default_load_endianness", "set_default_mmap_options",
]  # fmt: skip

DEFAULT_PROTOCOL = 2  # of pickle, in the files that save writes
