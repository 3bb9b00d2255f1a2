"""Which names a checkpoint asks for that are not data: read off the opcodes, nothing is built."""

from __future__ import annotations

import os
import pickle
import pickletools
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .._torch_names import python_3
from .checkpoint import Checkpoint
from .serialization import Unarchiver, safely

_TEXTS = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE"}
_PUTS, _GETS = {"PUT", "BINPUT", "LONG_BINPUT"}, {"GET", "BINGET", "LONG_BINGET"}


def globals_in(data: bytes) -> Iterator[tuple[str, str]]:
    """(module, name) of every global that a pickle names, in its order."""
    pushed: list = [None, None]  # STACK_GLOBAL takes what was pushed last; what is no text is None here
    memo: dict[int, str | None] = {}
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            module, _, name = argument.partition(" ")
            yield module, name
        elif opcode.name == "STACK_GLOBAL":
            module, name = pushed
            if module is not None and name is not None:
                yield module, name
        elif opcode.name in _PUTS or opcode.name == "MEMOIZE":
            memo[len(memo) if opcode.name == "MEMOIZE" else argument] = pushed[1]
            continue
        pushed = [pushed[1], argument if opcode.name in _TEXTS else memo.get(argument) if opcode.name in _GETS else None]


def get_unsafe_globals_in_checkpoint(f: str | os.PathLike | BinaryIO) -> list[str]:
    """The names, "module.name", that load(f, weights_only=True) would refuse.

    f: a path or a file open for reading, of the zip that save writes. Names that a pickle computes are not among them.

    Raises ValueError for a file that is no such zip.

    >>> import decimal, io
    >>> file = io.BytesIO()
    >>> facula.save(decimal.Decimal("1.5"), file)
    >>> _ = file.seek(0)
    >>> facula.serialization.get_unsafe_globals_in_checkpoint(file)
    ['decimal.Decimal']
    """
    if isinstance(f, (str, os.PathLike)):
        with Path(f).open("rb") as file:
            return get_unsafe_globals_in_checkpoint(file)
    start = f.tell()
    zipped = f.read(4) == b"PK\x03\x04"
    f.seek(start)
    if not zipped:
        raise ValueError(
            "get_unsafe_globals_in_checkpoint: Expected input to be a checkpoint returned by torch.save, a zip, but its first bytes are "
            "another format's. Save it anew with facula.save."
        )
    archive = Unarchiver(Checkpoint(f), None, safely)
    asked = {python_3(module, name) for module, name in globals_in(archive.checkpoint.read("data.pkl"))}
    return sorted(f"{module}.{name}" for module, name in asked if not _known(archive, module, name))


def _known(archive: Unarchiver, module: str, name: str) -> bool:
    try:
        archive.find_safe(module, name)
    except pickle.UnpicklingError:
        return False
    return True
