"""LRScheduler, and how a schedule reads and writes the options of parameter groups."""

from __future__ import annotations

import types
import warnings
from typing import Any, Callable, Iterator

from facula import Tensor

from ..optimizer import Optimizer

__all__ = ["LRScheduler"]


def copied(value: Any) -> Any:
    """A Tensor's clone; anything else itself."""
    return value.clone() if isinstance(value, Tensor) else value


def per_group(name: str, optimizer: Optimizer, value: Any) -> list:
    """`value` once for each parameter group, from one value or a list of the right length."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * groups
    elif len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups has {groups}."
        )
    return [copied(v) for v in value]


def group_values(optimizer: Optimizer, key: str) -> list:
    """The option `key` of every group."""
    return [copied(group[key]) for group in optimizer.param_groups]


def with_groups(name: str, values: list, optimizer: Optimizer) -> Iterator[tuple[Any, dict]]:
    """(value, group) of each group in turn; at the end ValueError where there are more groups than values, or fewer."""
    groups = optimizer.param_groups
    yield from zip(values, groups)
    if len(values) != len(groups):
        raise ValueError(f"{name}: {len(values)} values for the {len(groups)} groups of optimizer.param_groups. Add groups before the schedule is made.")


def set_lr(group: dict, value: Any) -> None:
    """Set lr; one that is a Tensor is filled in place, so that whoever holds it sees the change."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group["lr"] = value


def set_momentum(group: dict, value: float) -> None:
    """Set momentum, or beta1 where the optimizer has betas."""
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def function_state(fn: Any) -> dict | None:
    """What a schedule's state keeps of a user's callable: its attributes, and of a plain function nothing."""
    return None if isinstance(fn, types.FunctionType) else fn.__dict__.copy()


def check_optimizer(optimizer: Any) -> None:
    """TypeError for what is not an Optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


class LRScheduler:
    """Base of the schedules: `step()` sets every group's lr to what `get_lr()` computes for `last_epoch`.

    last_epoch: -1 to begin; the index of the last step when resuming, and then groups must have "initial_lr".

    >>> class Halving(facula.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [lr * 0.5**self.last_epoch for lr in self.base_lrs]
    ...
    >>> optimizer = facula.optim.SGD([facula.zeros(1)], lr=1.0)
    >>> schedule = Halving(optimizer)
    >>> optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for k, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{k}] when resuming scheduler with last_epoch {last_epoch}. "
                    "Load the optimizer's state_dict first, or begin with last_epoch=-1."
                )
        self.base_lrs = group_values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        optimizer._scheduled_step = _step_function(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what state_dict gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[float | Tensor]:
        """The learning rate of each group, as the last step set it."""
        return self._last_lr

    def get_lr(self) -> list:
        """The learning rate of each group at last_epoch; for step to call."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr. A schedule must.")

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", stacklevel=3)

    def step(self, epoch: int | None = None) -> None:
        """Go on by one step, after the optimizer's. epoch: jump there instead (deprecated)."""
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warn_epoch()
        self._update_lr(epoch)

    def _warn_of_order(self) -> None:
        """Before the second step: did the optimizer make one, as far as can be seen?"""
        step = _step_function(self.optimizer)
        if step is not getattr(self.optimizer, "_scheduled_step", step):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
                f"Call it before `lr_scheduler.step()`, see {_ORDER}.",
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the opposite order: "
                f"else the first value of the learning rate schedule is skipped, see {_ORDER}.",
                stacklevel=3,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        if epoch is None:
            self.last_epoch += 1
            compute = self.get_lr
        else:
            self.last_epoch = epoch
            compute = getattr(self, "_get_closed_form_lr", self.get_lr)
        self._apply(compute)

    def _apply(self, compute: Callable[[], list]) -> None:
        self._get_lr_called_within_step = True
        try:
            values = compute()
        finally:
            self._get_lr_called_within_step = False
        for lr, group in with_groups(type(self).__name__, values, self.optimizer):
            set_lr(group, lr)
        self._last_lr = group_values(self.optimizer, "lr")

    def _current(self) -> list:
        return group_values(self.optimizer, "lr")

    def _scaled(self, factor: float) -> list:
        return [group["lr"] * factor for group in self.optimizer.param_groups]


_ORDER = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler."
)


def warn_epoch() -> None:
    """The warning that `step(epoch)` is on its way out."""
    warnings.warn(EPOCH_DEPRECATION_WARNING, stacklevel=3)


def _step_function(optimizer: Optimizer) -> Any:
    return getattr(optimizer.step, "__func__", optimizer.step)


class _LRScheduler(LRScheduler):
    """The name before PyTorch 2.0, which schedules written then inherit from."""
