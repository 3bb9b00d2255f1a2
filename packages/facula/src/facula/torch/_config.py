"""torch.__config__: how the library was built."""

from __future__ import annotations

import facula


def show() -> str:
    """What computes, in one paragraph."""
    return f"Facula {facula.__version__}: C99 kernels, no BLAS, no GPU\n"


def parallel_info() -> str:
    """Threads in use."""
    return f"threads: {facula.get_num_threads()} of Facula's own pool\n"
