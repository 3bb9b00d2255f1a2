"""Schedules made of schedules."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Sequence

from ..optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler, group_values, set_lr

__all__ = ["SequentialLR", "ChainedScheduler"]


class _Compound(LRScheduler):
    def _check(self, optimizer: Any, schedulers: Sequence, extra: str = "") -> None:
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name} expects at least one scheduler{extra}, but got no scheduler.")
        for k, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {k} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(f"{name} does not support `ReduceLROnPlateau`, whose `step` needs a metric, but got one at index {k}.")
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but {type(scheduler).__name__} at index {k} "
                    f"belongs to another {type(scheduler.optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, with the state of each schedule."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [s.state_dict() for s in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what state_dict gave."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


def _undo(scheduler: Any) -> None:
    """Take back the first step that a schedule's constructor made."""
    if hasattr(scheduler, "_schedulers"):
        for inner in scheduler._schedulers:
            _undo(inner)
    else:
        scheduler.last_epoch -= 1


class SequentialLR(_Compound):
    """schedulers[k] from step milestones[k - 1] to milestones[k].

    >>> optimizer = facula.optim.SGD([facula.zeros(1)], lr=1.0)
    >>> lr = facula.optim.lr_scheduler
    >>> schedule = lr.SequentialLR(optimizer, [lr.ConstantLR(optimizer, 0.5), lr.ExponentialLR(optimizer, 0.5)], [2])
    >>> seen = []
    >>> for step in range(4):
    ...     seen += schedule.get_last_lr()
    ...     optimizer.step(); schedule.step()
    >>> seen
    [0.5, 0.5, 1.0, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self._check(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, "
                f"but got number of schedulers {len(schedulers)} and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            set_lr(group, group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: LRScheduler | None = None) -> None:
        """Take back the first step that the constructor of `sched`, or of each of these schedules, made."""
        _undo(self if sched is None else sched)

    def _initial_step(self) -> None:  # when nested: the first of the inner ones begins
        self._schedulers[bisect_right(self._milestones, self.last_epoch)]._initial_step()

    def step(self) -> None:
        """Go on by one step."""
        self.last_epoch += 1
        k = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[k]
        if k > 0 and self._milestones[k - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Compound):
    """All schedulers at every step, each on the lr that the last one left.

    >>> optimizer = facula.optim.SGD([facula.zeros(1)], lr=1.0)
    >>> lr = facula.optim.lr_scheduler
    >>> schedule = lr.ChainedScheduler([lr.ExponentialLR(optimizer, 0.5), lr.StepLR(optimizer, 1, 0.1)])
    >>> optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.05]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if schedulers and optimizer is None:
            optimizer = schedulers[0].optimizer
        self._check(optimizer, schedulers, " to be chained")
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = group_values(optimizer, "lr")

    def step(self) -> None:
        """Go on by one step."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = group_values(self.optimizer, "lr")
