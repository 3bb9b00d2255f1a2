"""torch._higher_order_ops.associative_scan: running combinations along a dim."""

from __future__ import annotations

from typing import Any, Callable

import facula
from facula.utils._pytree import tree_flatten, tree_map, tree_unflatten


def associative_scan(combine_fn: Callable, xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise") -> Any:
    """y[0] = x[0], y[i] = combine_fn(y[i-1], x[i]) along dim, for tensors or trees of them; from the end if reverse.

    combine_mode: whether combine_fn works element by element; one way serves both here.
    """
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, spec = tree_flatten(xs)
    if not leaves:
        raise ValueError("associative_scan: Expected at least 1 xs leaf. Give a tensor.")
    order = range(leaves[0].shape[dim])
    steps = []
    for k in reversed(order) if reverse else order:
        now = tree_unflatten([x.select(dim, k) for x in leaves], spec)
        steps.append(combine_fn(steps[-1], now) if steps else now)
    if reverse:
        steps.reverse()
    return tree_map(lambda *parts: facula.stack(parts, dim), *steps)
