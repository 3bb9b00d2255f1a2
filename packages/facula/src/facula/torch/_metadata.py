"""What `importlib.metadata` tells of torch and torchvision while Facula serves them: a name and a version."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator

from ._names import FALLBACKS, REFERENCE


class _Served(importlib.metadata.Distribution):
    def __init__(self, name: str, version: str) -> None:
        self._text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"

    def read_text(self, filename: str) -> str | None:
        return self._text if filename == "METADATA" else None

    def locate_file(self, path):
        raise FileNotFoundError(f"{path}: Facula serves this package, there are no files of its own.")


def distributions(name: str | None) -> Iterator[importlib.metadata.Distribution]:
    """The one of that name; both where no name is given."""
    versions = {"torch": REFERENCE, "torchvision": FALLBACKS["torchvision.__version__"]()}
    for known, version in versions.items():
        if name is None or name.lower() == known:
            yield _Served(known, version)
