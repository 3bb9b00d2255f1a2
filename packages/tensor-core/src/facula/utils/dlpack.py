"""Memory shared with other libraries: from_dlpack and to_dlpack."""

from facula.tensor_core.memory.dlpack import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
