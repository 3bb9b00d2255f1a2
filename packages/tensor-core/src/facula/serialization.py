"""facula.serialization: what load(weights_only=True) may use besides data."""

from facula.tensor_core.files.checkpoint import CheckpointError
from facula.tensor_core.files.serialization import add_safe_globals, clear_safe_globals, get_safe_globals, load, safe_globals, save

__all__ = ["CheckpointError", "add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

DEFAULT_PROTOCOL = 2  # of pickle, in the files that save writes
