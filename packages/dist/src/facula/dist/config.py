"""The environment variables of the launcher's protocol, read here and nowhere else."""

from __future__ import annotations

import os

NAMES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "FACULA_DIST_KEY")


def from_environment() -> dict[str, str]:
    """Those of NAMES that are set.

    >>> type(facula.dist.config.from_environment()).__name__
    'dict'
    """
    return {name: os.environ[name] for name in NAMES if name in os.environ}
