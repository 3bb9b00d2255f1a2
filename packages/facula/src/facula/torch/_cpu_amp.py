"""torch.cpu.amp: the older names of torch.amp for the CPU."""

from __future__ import annotations

import facula

__all__ = ["GradScaler", "autocast"]


class autocast(facula.amp.autocast):
    """torch.amp.autocast("cpu", ...)."""

    def __init__(self, enabled: bool = True, dtype: facula.dtype = facula.bfloat16, cache_enabled: bool = True) -> None:
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(facula.amp.GradScaler):
    """torch.amp.GradScaler("cpu", ...)."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
