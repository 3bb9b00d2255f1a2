"""Processes that a program starts afresh (multiprocessing's spawn and forkserver, joblib's loky): `import torch` means Facula in them too."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from typing import Any, Callable

_before: list[tuple[Any, str, Any]] = []  # module, name, what it was
shadow = [False]


def _spawned(plain: Callable) -> Callable:
    """multiprocessing.spawn.get_command_line: the interpreter enters before it reads what it is to run."""

    def get_command_line(**options: Any) -> list[str]:
        command = plain(**options)
        if "-c" in command:
            at = command.index("-c") + 1
            command[at] = f"import facula.torch; facula.torch.enabled(shadow={shadow[0]}).__enter__(); {command[at]}"
        return command

    return get_command_line


def through(command: list[str]) -> list[str]:
    """`python -m module ...` as the command that runs the module on Facula."""
    return [command[0], "-m", "facula.torch", *(["--shadow"] if shadow[0] else []), *command[1:]] if command[1] == "-m" else command


def _executed(plain: Callable) -> Callable:
    """loky.backend.fork_exec.fork_exec, which runs a module."""
    return lambda cmd, *others, **options: plain(through(cmd), *others, **options)


# modules that start such processes (_enable's finder tells when a program first imports one): where the command is made, and what changes it
_SPAWN = ("multiprocessing.spawn", "get_command_line", _spawned)
STARTERS = {
    **dict.fromkeys(("multiprocessing.popen_spawn_posix", "multiprocessing.popen_spawn_win32", "multiprocessing.popen_forkserver"), _SPAWN),
    **{f"{loky}.popen_loky_posix": (f"{loky}.fork_exec", "fork_exec", _executed) for loky in ("loky.backend", "joblib.externals.loky.backend")},
}


def follow(name: str) -> None:
    """From now on, children started by this module find Facula under PyTorch's name."""
    home, function, change = STARTERS[name]
    module = importlib.import_module(home)
    if any(module is known for known, _, _ in _before):
        return
    plain = getattr(module, function)
    _before.append((module, function, plain))
    setattr(module, function, change(plain))
    if change is _spawned:
        server = importlib.import_module("multiprocessing.forkserver")._forkserver
        if "facula.torch._child" not in server._preload_modules:
            server.set_forkserver_preload(["facula.torch._child", *server._preload_modules])


def with_connection(spec: importlib.machinery.ModuleSpec) -> importlib.machinery.ModuleSpec:
    """multiprocessing with multiprocessing.connection, which PyTorch's import leaves there: programs name it without importing it."""
    plain = spec.loader.exec_module

    def exec_module(module: Any) -> None:
        plain(module)
        importlib.import_module("multiprocessing.connection")

    spec.loader.exec_module = exec_module
    return spec


def follow_all() -> None:
    """For a program that had imported them already."""
    if "multiprocessing" in sys.modules:
        importlib.import_module("multiprocessing.connection")
    for name in STARTERS:
        if name in sys.modules:
            follow(name)


def forget() -> None:
    """Children are started as they were before."""
    while _before:
        setattr(*_before.pop())
