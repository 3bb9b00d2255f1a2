"""torch._C: the few of the reference's internals that libraries call, with what they mean here."""

from __future__ import annotations


def _log_api_usage_once(event: str) -> None:
    """A note of an API's first use, for whoever installed a logger; none can be installed here."""
    str(event)
