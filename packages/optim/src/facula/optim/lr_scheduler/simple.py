"""Schedules that are one formula. get_lr works from the current lr, so that schedules can be chained;
_get_closed_form_lr from the initial one."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from typing import Any, Iterable

from ..optimizer import Optimizer
from .scheduler import LRScheduler, check_optimizer, function_state, with_groups

__all__ = [
    "LambdaLR", "MultiplicativeLR", "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR",
    "CosineAnnealingLR",
]  # fmt: skip


class _Lambdas(LRScheduler):
    """What LambdaLR and MultiplicativeLR have in common: a function for each group, whose attributes are its state."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * groups
        elif len(lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        for fn in lr_lambda:
            if not callable(fn):
                raise TypeError(f"lr_lambda should be a function, but got {type(fn).__name__}")
        self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; of a callable object its attributes, of a plain function nothing."""
        state = super().state_dict()
        state["lr_lambdas"] = [function_state(fn) for fn in state.pop("lr_lambdas")]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what state_dict gave; the functions stay."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for fn, state in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if state is not None:
                fn.__dict__.update(state)


class LambdaLR(_Lambdas):
    """initial lr * lr_lambda(epoch).

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9**epoch)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [0.9, 0.81, 0.729, 0.6561]
    """

    def get_lr(self) -> list:
        self._warn_outside_step()
        return [base * fn(self.last_epoch) for fn, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_Lambdas):
    """lr * lr_lambda(epoch) at every step.

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [0.5, 0.25, 0.125, 0.0625]
    """

    def get_lr(self) -> list:
        self._warn_outside_step()
        if self._is_initial:
            return self._current()
        return [g["lr"] * fn(self.last_epoch) for fn, g in with_groups("MultiplicativeLR", self.lr_lambdas, self.optimizer)]


class StepLR(LRScheduler):
    """lr * gamma every step_size steps.

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.StepLR(optimizer, 2)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [1.0, 0.1, 0.1, 0.01]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._current()
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """lr * gamma at each of the milestones.

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.MultiStepLR(optimizer, [1, 3])
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [0.1, 0.1, 0.01, 0.01]
    """

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self._current()
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """lr * factor for the first total_iters steps.

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.ConstantLR(optimizer, 0.5, 2)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [0.5, 1.0, 1.0, 1.0]
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError(f"Constant multiplicative factor expected to be between 0 and 1, got {factor}.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        if self.last_epoch != self.total_iters:
            return self._current()
        return self._scaled(1.0 / self.factor)

    def _get_closed_form_lr(self) -> list:
        return [base * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """lr times a factor that goes from start_factor to end_factor in total_iters steps.

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=4)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [0.625, 0.75, 0.875, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(f"Starting multiplicative factor expected to be greater than 0 and less or equal to 1, got {start_factor}.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError(f"Ending multiplicative factor expected to be between 0 and 1, got {end_factor}.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._current()
        rise = self.end_factor - self.start_factor
        return self._scaled(1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self) -> list:
        rise, done = self.end_factor - self.start_factor, min(self.total_iters, self.last_epoch)
        return [base * (self.start_factor + rise * done / self.total_iters) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """lr * gamma at every step.

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [0.5, 0.25, 0.125, 0.0625]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        return self._current() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """initial lr * (1 - epoch / total_iters)^power, and 0 after.

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.PolynomialLR(optimizer, 4)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [0.75, 0.5, 0.25, 0.0]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._current()
        left, before = 1.0 - self.last_epoch / self.total_iters, 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._scaled((left / before) ** self.power)

    def _get_closed_form_lr(self) -> list:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial lr to eta_min in T_max steps, and back. Source: Loshchilov and Hutter, SGDR (2016).

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [0.8536, 0.5, 0.1464, 0.0]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        if self._is_initial:
            return self._current()
        low = self.eta_min
        if self._step_count == 1 and self.last_epoch > 0:
            return [low + (b - low) * (1 + math.cos(self.last_epoch * math.pi / self.T_max)) / 2 for b in self.base_lrs]
        groups = self.optimizer.param_groups
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the quotient below would be 0 / 0
            rise = 1 - math.cos(math.pi / self.T_max)
            return [g["lr"] + (b - low) * rise / 2 for b, g in with_groups("CosineAnnealingLR", self.base_lrs, self.optimizer)]
        now, before = (1 + math.cos(math.pi * e / self.T_max) for e in (self.last_epoch, self.last_epoch - 1))
        return [now / before * (g["lr"] - low) + low for g in groups]

    def _get_closed_form_lr(self) -> list:
        low, height = self.eta_min, 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [low + (base - low) * height / 2 for base in self.base_lrs]


