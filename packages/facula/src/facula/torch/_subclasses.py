"""torch._subclasses: tensors that only pretend to have data. Facula has none; its meta tensors say so by their device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


def is_fake(x: Any) -> bool:
    """Does x pretend to have data? Nothing here does."""
    return False


@contextlib.contextmanager
def unset_fake_temporarily() -> Iterator[None]:
    """A block in which tensors do not pretend; they never do."""
    yield
