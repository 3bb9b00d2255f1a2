"""Averages of weights over training: AveragedModel, SWALR, update_bn.

AveragedModel is a Module, so this file needs facula-nn; nothing else in facula.optim does.
"""

from __future__ import annotations

import math
from copy import deepcopy
from itertools import chain
from typing import Any, Callable, Iterable

import facula
from facula import Tensor

from .lr_scheduler.scheduler import LRScheduler, per_group
from .optimizer import Optimizer

__all__ = [
    "AveragedModel", "update_bn", "SWALR", "get_ema_multi_avg_fn", "get_swa_multi_avg_fn", "get_ema_avg_fn", "get_swa_avg_fn",
]  # fmt: skip

Module = facula.nn.Module  # by the ownership table: a missing facula-nn is named there


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """The function (average, current, n) -> decay * average + (1 - decay) * current.

    >>> facula.optim.swa_utils.get_ema_avg_fn(0.75)(facula.tensor(0.0), facula.tensor(4.0), facula.tensor(1))
    tensor(1.)
    """
    _check_decay(decay)

    def ema_update(average: Tensor, current: Tensor, n: Any) -> Tensor:
        with facula.no_grad():
            return decay * average + (1 - decay) * current

    return ema_update


def get_swa_avg_fn() -> Callable:
    """The function (average, current, n) -> average + (current - average) / (n + 1).

    >>> facula.optim.swa_utils.get_swa_avg_fn()(facula.tensor(1.0), facula.tensor(4.0), facula.tensor(2))
    tensor(2.)
    """

    def swa_update(average: Tensor, current: Tensor, n: Any) -> Tensor:
        with facula.no_grad():
            return average + (current - average) / (n + 1)

    return swa_update


def _over_lists(one: Callable, share: Callable) -> Callable:
    """`one` over lists, in place: for floating numbers by lerp, with the share of the way that the average goes."""

    def update(averages: list[Tensor], currents: list[Tensor], n: Any) -> None:
        with facula.no_grad():
            if len(averages) != len(currents):
                raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(averages)} and {len(currents)}. Give one for each.")
            if averages and all([a.is_floating_point() for a in averages]):
                facula._foreach_lerp_(averages, currents, share(n))
                return
            for average, current in zip(averages, currents):
                if average.is_floating_point() or average.is_complex():
                    average.lerp_(current, share(n))
                else:
                    average.copy_(one(average, current, n))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """get_ema_avg_fn over lists, in place.

    >>> average = [facula.tensor([0.0])]
    >>> facula.optim.swa_utils.get_ema_multi_avg_fn(0.75)(average, [facula.tensor([4.0])], facula.tensor(1))
    >>> average
    [tensor([1.])]
    """
    return _over_lists(get_ema_avg_fn(decay), lambda n: 1 - decay)


def get_swa_multi_avg_fn() -> Callable:
    """get_swa_avg_fn over lists, in place.

    >>> average = [facula.tensor([1.0])]
    >>> facula.optim.swa_utils.get_swa_multi_avg_fn()(average, [facula.tensor([4.0])], facula.tensor(2))
    >>> average
    [tensor([2.])]
    """
    return _over_lists(get_swa_avg_fn(), lambda n: 1 / (float(n) + 1))


class AveragedModel(Module):
    """A copy of a model whose parameters are a running mean of the model's. Source: Izmailov et al. (2018).

    avg_fn(average, current, n) gives the new average, multi_avg_fn takes lists and works in place; the plain mean by default.
    use_buffers: average buffers too, else they are copied.

    >>> model = facula.nn.Linear(1, 1, bias=False)
    >>> average = facula.optim.swa_utils.AveragedModel(model)
    >>> for w in (1.0, 3.0):
    ...     _ = model.weight.data.fill_(w)
    ...     average.update_parameters(model)
    >>> average.module.weight.item()
    2.0
    """

    def __init__(
        self,
        model: Any,
        device: Any = None,
        avg_fn: Callable | None = None,
        multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("AveragedModel: both avg_fn and multi_avg_fn were given. Give one.")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", facula.tensor(0, dtype=facula.int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Any) -> None:
        """Take the model's present parameters into the mean."""

        def averaged(m: Any) -> list[Tensor]:
            return [t.detach() for t in (chain(m.parameters(), m.buffers()) if self.use_buffers else m.parameters())]

        here = averaged(self.module)
        there = [new.to(mean.device) for mean, new in zip(here, averaged(model))]
        if self.n_averaged == 0:
            facula._foreach_copy_(here, there)
        elif self.avg_fn is not None:
            for mean, new in zip(here, there):
                mean.copy_(self.avg_fn(mean, new, self.n_averaged))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(here, there, self.n_averaged)
        if not self.use_buffers:
            for mean, new in zip(self.module.buffers(), model.buffers()):
                mean.detach().copy_(new.detach().to(mean.device))
        self.n_averaged += 1


def update_bn(loader: Iterable, model: Any, device: Any = None) -> None:
    """Compute the running statistics of the model's batch norms afresh, over all of `loader` (batches, or lists that begin with one).

    >>> model = facula.nn.BatchNorm1d(1)
    >>> facula.optim.swa_utils.update_bn([facula.tensor([[1.0], [3.0]])], model)
    >>> model.running_mean
    tensor([2.])
    """
    norms = {m: m.momentum for m in model.modules() if hasattr(m, "reset_running_stats") and hasattr(m, "num_batches_tracked")}
    norms = {m: momentum for m, momentum in norms.items() if "BatchNorm" in type(m).__name__}
    if not norms:
        return
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a cumulative mean
    with facula.no_grad():
        for batch in loader:
            if isinstance(batch, (list, tuple)):
                batch = batch[0]
            model(batch if device is None else batch.to(device))
    for norm, momentum in norms.items():
        norm.momentum = momentum
    model.train(was_training)


def _cosine(t: float) -> float:
    return (1 - math.cos(math.pi * t)) / 2


def _linear(t: float) -> float:
    return t


_ANNEALED = {"cos": _cosine, "linear": _linear}


class SWALR(LRScheduler):
    """lr annealed to swa_lr in anneal_epochs steps, then constant. anneal_func: the weight of swa_lr, from the part of them that is over.

    >>> optimizer = facula.optim.SGD([facula.zeros(1)], lr=1.0)
    >>> schedule = facula.optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> for step in range(3):
    ...     optimizer.step(); schedule.step()
    >>> optimizer.param_groups[0]["lr"]
    0.5
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for lr, group in zip(per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = lr
        if anneal_strategy not in _ANNEALED:
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        self.anneal_func: Callable[[float], float] = _ANNEALED[anneal_strategy]
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and anneal_func."""
        return {key: value for key, value in super().state_dict().items() if key != "anneal_func"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what state_dict gave; anneal_func is then that of its strategy."""
        super().load_state_dict(state_dict)
        self.anneal_func = _ANNEALED[self._anneal_strategy]

    def _weight(self, step: int) -> float:
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def get_lr(self) -> list:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._weight(step - 1), self._weight(step)
        rates = []
        for group in self.optimizer.param_groups:
            swa_lr = group["swa_lr"]
            # the rate that the annealing began from, whatever other schedules did to it since
            start = swa_lr if before == 1 else (group["lr"] - before * swa_lr) / (1 - before)
            rates.append(swa_lr * now + start * (1 - now))
        return rates
