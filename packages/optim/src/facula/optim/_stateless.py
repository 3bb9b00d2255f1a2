"""An optimizer working on other parameters for a while."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from typing import Any, Iterator

from facula import Tensor

from .optimizer import Optimizer

__all__ = ["swap_in_optimizer_params_and_state"]


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Within the block `optimizer` has swapin_parameters in its own parameters' order, and the state and options of
    swapin_optim_state, which is what state_dict() gives. What is written in place into these tensors stays; all else is as before after it.

    >>> w = facula.ones(1, requires_grad=True)
    >>> optimizer = facula.optim.SGD([w], lr=0.5)
    >>> other = facula.zeros(1, requires_grad=True)
    >>> with facula.optim.swap_in_optimizer_params_and_state(optimizer, {"w": other}, optimizer.state_dict()):
    ...     optimizer.param_groups[0]["params"][0] is other
    True
    """
    groups = swapin_optim_state["param_groups"]
    if len(groups) != len(optimizer.param_groups):
        raise ValueError(f"swap_in: the state has {len(groups)} parameter groups, the optimizer {len(optimizer.param_groups)}. They must agree.")
    wanted = sum(len(g["params"]) for g in optimizer.param_groups)
    if len(swapin_parameters) != wanted:
        raise ValueError(f"swap_in: {len(swapin_parameters)} parameters for an optimizer of {wanted}. Give one for each.")
    given = iter(swapin_parameters.values())
    state: defaultdict = defaultdict(dict)
    swapped = []
    for live, group in zip(optimizer.param_groups, groups):
        if len(live["params"]) != len(group["params"]):
            raise ValueError(f"swap_in: a group has {len(group['params'])} parameters in the state and {len(live['params'])} in the optimizer.")
        params = [next(given) for _ in live["params"]]
        for number, p in zip(group["params"], params):
            state[p] = dict(swapin_optim_state["state"].get(number, {}))
        swapped.append({**group, "params": params})
    before = optimizer.state, [dict(g) for g in optimizer.param_groups]
    try:
        for live, group in zip(optimizer.param_groups, swapped):
            live.update(group)
        optimizer.state = state
        yield
    finally:
        optimizer.state = before[0]
        for live, kept in zip(optimizer.param_groups, before[1]):
            live.clear()
            live.update(kept)
