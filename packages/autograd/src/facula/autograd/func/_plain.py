"""functionalize and debug_unwrap: what tracers and debuggers ask of functions and of tensors inside a transform."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._core import Tensor


def functionalize(func, *, remove="mutations") -> Callable:
    """func with the same results and the same effects on its arguments.

    PyTorch's makes a trace free of writes ("mutations", "mutations_and_views"); what runs is what func computes.
    facula.jit.trace records writes as they are, so there is nothing to rewrite here.

    >>> import facula
    >>> facula.func.functionalize(lambda x: x.clone().add_(1))(facula.zeros(2))
    tensor([1., 1.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are: remove='mutations' and remove='mutations_and_views'.")
    if not callable(func):
        raise TypeError(f"functionalize: expected a function, not {type(func).__name__}.")

    @functools.wraps(func)
    def functionalized(*args, **kwargs) -> Any:
        return func(*args, **kwargs)

    return functionalized


def debug_unwrap(tensor, *, recurse=True) -> Tensor:
    """The tensor behind a stand-in of vmap: of one level, or (recurse) of all; others are themselves. For looking at values only.

    >>> import facula
    >>> seen = []
    >>> _ = facula.vmap(lambda x: seen.append(facula.func.debug_unwrap(x).tolist()) or x)(facula.ones(2))
    >>> seen
    [[1.0, 1.0]]
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"debug_unwrap: expected a tensor, not {type(tensor).__name__}.")
    while (whole := tensor.__dict__.get("_whole")) is not None:
        tensor = whole
        if not recurse:
            break
    return tensor
