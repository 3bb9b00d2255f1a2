"""Choosing how scaled_dot_product_attention computes. One kernel computes it here, so a choice changes no result."""

from __future__ import annotations

import contextlib
import enum
from typing import Any, Iterator

from . import bias

__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "bias", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """The ways of computing attention that PyTorch names.

    >>> facula.nn.attention.SDPBackend.MATH.name
    'MATH'
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    # The reference's is no number, and prints as a name.
    __str__, __format__ = enum.Enum.__str__, enum.Enum.__format__


_AVAILABLE = {SDPBackend.MATH, SDPBackend.FLASH_ATTENTION}


@contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict]:
    """Within the block only `backends` are allowed; there must be one that a CPU has (MATH or FLASH_ATTENTION).

    set_priority: the order of `backends` is the order of preference.

    >>> q = facula.ones(1, 1, 2, 4)
    >>> with facula.nn.attention.sdpa_kernel(facula.nn.attention.SDPBackend.MATH):
    ...     facula.nn.functional.scaled_dot_product_attention(q, q, q).shape
    torch.Size([1, 1, 2, 4])
    """
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    for backend in chosen:
        if not isinstance(backend, SDPBackend):
            raise AssertionError(f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {type(backend)}")
    global allowed
    before, allowed = allowed, list(dict.fromkeys(chosen))
    try:
        yield {}
    finally:
        allowed = before


allowed: list[SDPBackend] | None = None  # what the enclosing sdpa_kernel allows; None outside of any


def check_allowed() -> None:
    """Raise where the enclosing sdpa_kernel leaves nothing that a CPU can run."""
    if not _AVAILABLE.intersection(allowed or ()):
        raise RuntimeError(
            "scaled_dot_product_attention: No viable backend: sdpa_kernel allows "
            f"{[b.name for b in allowed or ()]}, a CPU has MATH and FLASH_ATTENTION. Allow one of them."
        )


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    return list(SDPBackend)[1:] if allowed is None else list(allowed)
