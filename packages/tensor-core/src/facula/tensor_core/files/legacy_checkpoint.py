"""PyTorch's checkpoint format before 1.6: five pickles in a row, then every storage's length and elements."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from facula.tensor_core.files.checkpoint import CheckpointError, LoadedStorage
from facula.tensor_core.files.serialization import Reader, Unarchiver, text

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001


class NoCheckpoint(CheckpointError, pickle.UnpicklingError):
    """A pickle that save did not write: PyTorch raises one or the other, by weights_only."""


class LegacyUnarchiver(Unarchiver):
    """Storages are made while the pickle is read and filled afterwards, from what follows it."""

    def __init__(self, data: bytes, map_location: Any, read: Reader) -> None:
        super().__init__(None, map_location, read)
        self.data, self.claimed = data, 0
        self.checks: list[Callable[[], None]] = []

    def when_filled(self, check):
        self.checks.append(check)

    def new_storage(self, dtype, nbytes, key):
        self.claimed += nbytes
        if dtype is None or self.claimed > len(self.data):
            raise CheckpointError(f"load: the storages claim {self.claimed} bytes of a file of {len(self.data)}. It is damaged.")
        storage = LoadedStorage(dtype, nbytes)
        storage.typed(dtype)
        return storage

    def run(self):
        """The object, and the place behind it."""
        magic, at = self.read(self, self.data, 0)
        protocol, at = self.read(self, self.data, at) if magic == MAGIC else (None, at)
        if protocol != PROTOCOL:
            raise NoCheckpoint("load: Invalid magic number: the file is a pickle but no checkpoint. Was it written by save?")
        _, at = self.read(self, self.data, at)  # the writer's byte order (always little) and sizes of C types
        result, at = self.read(self, self.data, at)
        keys, at = self.read(self, self.data, at)
        if type(keys) is not list:
            raise CheckpointError(f"load: the list of storages is {type(keys).__name__}.")
        for key in map(text, keys):
            at = self.fill(self.storages.get(key) if type(key) is str else None, at)
        for check in self.checks:
            check()
        self.settle()
        return result, at

    def fill(self, storage: LoadedStorage | None, at: int) -> int:
        """Reads a storage's elements; the place behind them."""
        if storage is None:
            raise CheckpointError("load: the file lists a storage that no tensor uses.")
        count = int.from_bytes(self.data[at : at + 8], "little")
        end = at + 8 + storage.held
        if count * storage.dtype.itemsize != storage.held or end > len(self.data):
            raise CheckpointError(f"load: a storage of {storage.held} bytes has {count} elements in the file. It is damaged or cut off.")
        if storage.device.type == "cpu":
            storage.view[:] = memoryview(self.data)[at + 8 : end]  # no copy: they may be gigabytes
        return end


def write_legacy(file: BinaryIO, pickled: bytes, storages: dict[str, Any], itemsizes: dict[str, int]) -> None:
    """The whole file. itemsizes: bytes per element of each storage."""
    sizes = {"protocol_version": PROTOCOL, "little_endian": sys.byteorder == "little", "type_sizes": {"short": 2, "int": 4, "long": 4}}
    for part in (MAGIC, PROTOCOL, sizes):
        file.write(pickle.dumps(part, 2))
    file.write(pickled)
    file.write(pickle.dumps(sorted(storages), 2))
    for key in sorted(storages):
        data = memoryview(storages[key])
        file.write((data.nbytes // itemsizes[key]).to_bytes(8, "little"))
        file.write(data)


def load_legacy(data: bytes, map_location: Any, read: Reader) -> tuple[Any, int]:
    """The object at the beginning of such bytes, and the place behind it."""
    return LegacyUnarchiver(data, map_location, read).run()
