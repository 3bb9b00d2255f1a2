"""torch.torch_version: the version as text that compares as versions do ("2.9" < "2.13")."""

from __future__ import annotations

import re
from typing import Any, Iterable

_PARTS = re.compile(r"v?(\d+(?:\.\d+)*)(?:[-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?(\d*))?(?:[-_.]?post(\d*))?(?:[-_.]?dev(\d*))?(?:\+(.*))?", re.I)
_STAGES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


def _key(text: str) -> tuple:
    """What versions are compared by, in the order of PEP 440."""
    match = _PARTS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a version: {text!r}")
    release, stage, number, post, dev, local = match.groups()
    numbers = [int(n) for n in release.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    if stage:
        before = (1, _STAGES.get(stage.lower(), stage.lower()), int(number or 0))
    else:
        before = (2,) if dev is None or post is not None else (0,)
    labels = [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in re.split(r"[-_.]", local or "") if p]
    return tuple(numbers), before, -1 if post is None else int(post or 0), (1,) if dev is None else (0, int(dev or 0)), labels


class TorchVersion(str):
    """A version. Beside another, a tuple of its first numbers, or a text it compares as a version; beside other text, as text."""

    @staticmethod
    def _text(other: Any) -> str:
        if isinstance(other, str):
            return other
        if isinstance(other, Iterable):
            return ".".join(str(part) for part in other)
        raise TypeError(f"a version compares with text or a tuple of numbers, not with {type(other).__name__}.")

    def _compared(self, other: Any, name: str) -> bool:
        try:
            text = self._text(other)
            return getattr(tuple, name)(_key(str(self)), _key(text))
        except ValueError:
            return getattr(str, name)(self, other if isinstance(other, str) else str(other))

    def __lt__(self, other: Any) -> bool:
        return self._compared(other, "__lt__")

    def __le__(self, other: Any) -> bool:
        return self._compared(other, "__le__")

    def __gt__(self, other: Any) -> bool:
        return self._compared(other, "__gt__")

    def __ge__(self, other: Any) -> bool:
        return self._compared(other, "__ge__")

    def __eq__(self, other: Any) -> bool:
        return self._compared(other, "__eq__")

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)
