"""torch.nn.modules.utils: one number spread over dims."""

from __future__ import annotations

from collections.abc import Iterable


def _ntuple(n: int, name: str = "parse"):
    def spread(x):
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    spread.__name__ = name
    return spread


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t, n: int) -> tuple:
    """Each element n times, the last one first: padding's order."""
    return tuple(x for x in reversed(t) for _ in range(n))


def __getattr__(name: str):
    if name == "consume_prefix_in_state_dict_if_present":
        from facula.nn.modules import utils

        return utils.consume_prefix_in_state_dict_if_present
    raise AttributeError(f"module 'torch.nn.modules.utils' has no attribute {name!r}")
