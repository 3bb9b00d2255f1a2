"""torch.profiler: what libraries ask beside facula.profiler."""

from __future__ import annotations

from facula.profiler import ProfilerAction


def kineto_available() -> bool:
    """Is PyTorch's own tracer there? No: Facula records by itself."""
    return False


def _default_schedule_fn(_: int) -> ProfilerAction:
    """Records from entry to exit."""
    return ProfilerAction.RECORD
