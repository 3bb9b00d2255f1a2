"""torch.fx.experimental: what a running symbolic tracer would say; there is none."""

from __future__ import annotations


def get_proxy_mode() -> None:
    """The tracer at work in this thread: none."""
