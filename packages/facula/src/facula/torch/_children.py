"""Processes that a program starts afresh (multiprocessing's spawn and forkserver): `import torch` means Facula in them too."""

from __future__ import annotations

import importlib
import sys
from typing import Any

# multiprocessing's modules that start such processes; _enable's finder tells when a program first imports one
STARTERS = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_spawn_win32", "multiprocessing.popen_forkserver")
_before: list[Any] = []
shadow = [False]


def _first() -> str:
    """What a fresh interpreter does before it reads what it is to run."""
    return f"import facula.torch; facula.torch.enabled(shadow={shadow[0]}).__enter__(); "


def follow(name: str) -> None:
    """From now on, children started by this module of multiprocessing find Facula under PyTorch's name."""
    if _before or name not in STARTERS:
        return
    spawn = importlib.import_module("multiprocessing.spawn")
    plain = spawn.get_command_line
    _before.append((spawn, plain))

    def get_command_line(**options: Any) -> list[str]:
        command = plain(**options)
        if "-c" in command:
            at = command.index("-c") + 1
            command[at] = _first() + command[at]
        return command

    spawn.get_command_line = get_command_line
    server = importlib.import_module("multiprocessing.forkserver")._forkserver
    if "facula.torch._child" not in server._preload_modules:
        server.set_forkserver_preload(["facula.torch._child", *server._preload_modules])


def follow_all() -> None:
    """For a program that had imported them already."""
    for name in STARTERS:
        if name in sys.modules:
            follow(name)


def forget() -> None:
    """Children are started as they were before."""
    while _before:
        spawn, plain = _before.pop()
        spawn.get_command_line = plain
