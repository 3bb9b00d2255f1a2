"""torch.distributed.elastic.multiprocessing.errors: what a process started by the launcher leaves behind when it fails."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from typing import Any

from facula.dist.run import ChildFailedError

__all__ = ["ChildFailedError", "record"]


def record(fn: Callable) -> Callable:
    """fn, whose error is written to the file that TORCHELASTIC_ERROR_FILE names before it goes on; without one it only goes on."""

    @functools.wraps(fn)
    def recorded(*args: Any, **options: Any) -> Any:
        try:
            return fn(*args, **options)
        except SystemExit as ended:
            if ended.code != 0:
                raise
        except Exception as error:
            _write(error)
            raise

    return recorded


def _write(error: Exception) -> None:
    file = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if file:
        more = {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
        with open(file, "w") as out:
            json.dump({"message": {"message": f"{type(error).__name__}: {error}", "extraInfo": more}}, out)
