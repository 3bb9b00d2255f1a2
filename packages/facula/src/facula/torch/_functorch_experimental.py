"""functorch.experimental: what facula.func has by these names, and the vmap that divides its examples into so many parts."""

from __future__ import annotations

from typing import Any, Callable

from facula.autograd.func._vmap import examples
from facula.func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_, vmap

__all__ = ["chunk_vmap", "functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]


def chunk_vmap(func: Callable, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", chunks: int = 2) -> Callable:
    """vmap over parts of the examples, one after the other, into `chunks` of which they are divided.

    >>> import facula
    >>> chunk_vmap(facula.sin, chunks=2)(facula.zeros(3))
    tensor([0., 0., 0.])
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        size = examples(getattr(func, "__name__", type(func).__name__), in_dims, args)[-1]
        return vmap(func, in_dims, out_dims, randomness, chunk_size=max(-(-size // chunks), 1))(*args, **kwargs)

    return call
