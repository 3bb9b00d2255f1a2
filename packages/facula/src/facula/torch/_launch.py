"""torch.distributed.run under the shim: the processes that it starts run on Facula too."""

from __future__ import annotations

import sys

from facula.dist import run as _run
from facula.dist.run import ChildFailedError, get_args_parser  # noqa: F401 - names of torch.distributed.run

from . import _children


def _python() -> list[str]:
    return [sys.executable, "-u", "-m", "facula.torch", *(["--shadow"] if _children.shadow[0] else [])]


def run(args) -> None:
    """Start the program of parsed arguments."""
    _run.run(args, _python())


def main(args: list[str] | None = None) -> None:
    """The command."""
    _run.main(args, _python())
