"""Schedules that rise and fall: CyclicLR, CosineAnnealingWarmRestarts, OneCycleLR."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable

from ..optimizer import Optimizer
from .scheduler import LRScheduler, check_optimizer, function_state, per_group, set_lr, set_momentum, with_groups

__all__ = ["CyclicLR", "CosineAnnealingWarmRestarts", "OneCycleLR"]


def _begin_momentum(optimizer: Optimizer, base: Any, high: Any, last_epoch: int) -> tuple[bool, list, list]:
    """(whether it is beta1, the lowest, the highest momentum of each group), each group set to its highest."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    lowest, highest = per_group("base_momentum", optimizer, base), per_group("max_momentum", optimizer, high)
    if last_epoch == -1:
        for low, top, group in zip(lowest, highest, optimizer.param_groups):
            set_momentum(group, top)
            group["max_momentum"], group["base_momentum"] = top, low
    return "betas" in optimizer.defaults, lowest, highest


def _triangular(cycle: float) -> float:
    return 1.0


def _halved(cycle: float) -> float:
    return 1 / (2.0 ** (cycle - 1))


def _exponential(gamma: float, step: float) -> float:
    return gamma**step


_HEIGHTS = {"triangular": _triangular, "triangular2": _halved, "exp_range": _exponential}


class CyclicLR(LRScheduler):
    """A saw between base_lr and max_lr, its height scaled by mode or by scale_fn. Source: Smith (2015).

    mode: "triangular" (the same height), "triangular2" (halved each cycle), "exp_range" (gamma^step).
    scale_fn(x): x is the cycle or the step, as scale_mode says; it replaces mode.

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.CyclicLR(optimizer, 0.1, 1.0, 2)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [0.55, 1.0, 0.55, 0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups):
                set_lr(group, lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: {mode!r}. Give 'triangular', 'triangular2' or 'exp_range'.")
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            began = _begin_momentum(optimizer, base_momentum, max_momentum, last_epoch)
            self.use_beta1, self.base_momentums, self.max_momentums = began
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is None:
            self._scale_fn_ref = _HEIGHTS[self.mode] if self.mode != "exp_range" else partial(_HEIGHTS[self.mode], self.gamma)
            self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x: float) -> float:
        """The height at cycle or step `x`, as a part of the full one."""
        return (self._scale_fn_ref if self._scale_fn_custom is None else self._scale_fn_custom)(x)

    def get_lr(self) -> list:
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ranges = list(zip(self.base_momentums, self.max_momentums))
            for (low, top), group in with_groups("CyclicLR", ranges, self.optimizer):
                set_momentum(group, top - (top - low) * height * scale)
        return [base + (top - base) * height * scale for base, top in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; of a callable object its attributes, of a plain function nothing."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)  # the mode says which it is
        fn = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None if fn is None else function_state(fn)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what state_dict gave; scale_fn stays."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        if state_dict["_scale_fn_custom"] is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])
        self._init_scale_fn()


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the initial lr to eta_min, again and again, each T_mult times as long. Source: SGDR (2016).

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [0.5, 1.0, 0.5, 1.0]
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min, self.T_cur = T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one step, or to `epoch`, which may lie between two."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        elif epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**restarts
        self.last_epoch = math.floor(epoch)
        self._apply(self.get_lr)


class OneCycleLR(LRScheduler):
    """Up from max_lr / div_factor to max_lr in pct_start of the steps, then down far below; momentum the other way.

    three_phase: down to the beginning as fast as up, then to the end. Source: Smith and Topin, Super-Convergence (2017).

    >>> import facula
    >>> from facula import optim
    >>> optimizer = optim.SGD([facula.tensor([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 2.0, 5)
    >>> [optimizer.step() or scheduler.step() or round(scheduler.get_last_lr()[0], 4) for step in range(4)]
    [1.901, 1.2225, 0.3765, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if total_steps is not None:
            self.total_steps = _positive("total_steps", total_steps)
        else:
            self.total_steps = _positive("epochs", epochs) * _positive("steps_per_epoch", steps_per_epoch)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        tops = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, top in zip(optimizer.param_groups, tops):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _begin_momentum(optimizer, base_momentum, max_momentum, last_epoch)[0]
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        anneal = self._anneal_func
        start = 0.0
        for phase in self._schedule_phases[:-1]:
            if step <= phase["end_step"]:
                break
            start = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        part = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                set_momentum(group, anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], part))
        return rates


    def _anneal_func(self, start: float, end: float, part: float) -> float:
        kind = getattr(self, "_anneal_func_type", None)
        if kind is None:  # a schedule pickled before PyTorch 2.3 kept the function
            return self.anneal_func(start, end, part)
        return (self._annealing_cos if kind == "cos" else self._annealing_linear)(start, end, part)

    @staticmethod
    def _annealing_cos(start: float, end: float, part: float) -> float:
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    @staticmethod
    def _annealing_linear(start: float, end: float, part: float) -> float:
        return (end - start) * part + start


def _positive(name: str, value: Any) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


def _phases(total: int, pct_start: float, three: bool) -> list[dict[str, Any]]:
    """The phases by the step where each ends and by the group options where its lr and momentum begin and end."""
    table = [(float(pct_start * total) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
    if three:
        table.append((float(2 * pct_start * total) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        table.append((total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
    else:
        table.append((total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"))
    keys = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(keys, row)) for row in table]
