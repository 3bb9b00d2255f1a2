"""torch.cpu.amp: the older names of torch.amp for the CPU."""

import facula

from ._older_amp import of_device

__all__ = ["GradScaler", "autocast"]

autocast, GradScaler = of_device("cpu", facula.bfloat16, __name__)
