"""facula.amp: mixed precision. `autocast` chooses the dtype of each op, `GradScaler` keeps small gradients from vanishing.

    with facula.autocast("cpu", dtype=facula.bfloat16):
        loss = criterion(model(x), y)      # products in bfloat16, losses in float32
    loss.backward()
"""

from facula.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from facula.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
