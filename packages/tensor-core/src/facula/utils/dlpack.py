"""Memory shared with other libraries: from_dlpack and to_dlpack."""

from facula.tensor_core.memory.dlpack import DLDeviceType, from_dlpack, to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
