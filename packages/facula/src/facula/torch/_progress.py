"""torch.hub.tqdm: tqdm's bar where it is installed, else a line that counts."""

from __future__ import annotations

import sys
from typing import Any

try:
    from tqdm import tqdm
except ImportError:

    class tqdm:  # type: ignore[no-redef]
        """How much of `total` is done, on one line of stderr."""

        def __init__(self, total: float | None = None, disable: bool = False, unit: str | None = None, *args: Any, **options: Any) -> None:
            self.total, self.disable, self.unit, self.n = total, disable, unit or "", 0

        def update(self, n: float) -> None:
            if self.disable:
                return
            self.n += n
            done = f"{100 * self.n / self.total:.1f} %" if self.total else f"{self.n} {self.unit}"
            print(f"\r{done}", end="", file=sys.stderr)

        def close(self) -> None:
            self.disable = True

        def set_description(self, *args: Any, **options: Any) -> None:
            """Nothing: there is room for the count alone."""

        def __enter__(self) -> tqdm:
            return self

        def __exit__(self, *error: Any) -> None:
            if not self.disable:
                print(file=sys.stderr)
