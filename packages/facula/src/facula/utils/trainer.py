"""A training loop: Trainer(model, optimizer, loss).fit(loader, epochs), with callbacks, checkpoints and resuming."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

import facula

__all__ = ["Callback", "Checkpoint", "EarlyStopping", "Trainer", "accuracy"]


def accuracy(output, target) -> float:
    """Share of the rows of `output` (N, C) whose largest entry is where `target` (N,) says.

    >>> facula.utils.trainer.accuracy(facula.tensor([[0.1, 0.9], [0.8, 0.2]]), facula.tensor([1, 1]))
    0.5
    """
    return (output.argmax(1) == target).to(facula.float32).mean().item()


class Callback:
    """Called during `fit` with the trainer; override what is needed. `logs` are the epoch's numbers so far.

    >>> from facula.utils.trainer import Callback
    >>> class Told(Callback):
    ...     def on_epoch_end(self, trainer, epoch, logs):
    ...         print(epoch)
    ...
    >>> isinstance(Told(), Callback)
    True
    """

    def on_fit_begin(self, trainer: Trainer, loader) -> None: ...

    def on_epoch_begin(self, trainer: Trainer) -> None: ...

    def on_batch_end(self, trainer: Trainer, logs: dict[str, float]) -> None: ...

    def on_epoch_end(self, trainer: Trainer, logs: dict[str, float]) -> None: ...

    def on_fit_end(self, trainer: Trainer) -> None: ...


class Checkpoint(Callback):
    """Saves the trainer to `path` after every epoch, or with `monitor` after those that are the best so far.

    best: "min" or "max", which value of logs[monitor] is best.

    >>> from facula.utils.trainer import Checkpoint
    >>> Checkpoint("model.pt", monitor="val_loss").monitor
    'val_loss'
    """

    def __init__(self, path, monitor: str | None = None, best: str = "min") -> None:
        self.path = path
        self.monitor = monitor
        self.better = _comparison("Checkpoint", best)
        self.value: float | None = None

    def on_epoch_end(self, trainer: Trainer, logs: dict[str, float]) -> None:
        if self.monitor is not None:
            value = _monitored("Checkpoint", logs, self.monitor)
            if self.value is not None and not self.better(value, self.value):
                return
            self.value = value
        trainer.save(self.path)


class EarlyStopping(Callback):
    """Stops after `patience` epochs in a row in which logs[monitor] was not better than before.

    >>> from facula.utils.trainer import EarlyStopping
    >>> EarlyStopping(patience=2).patience
    2
    """

    def __init__(self, monitor: str = "val_loss", patience: int = 3, best: str = "min") -> None:
        self.monitor = monitor
        self.patience = patience
        self.better = _comparison("EarlyStopping", best)
        self.value: float | None = None
        self.waited = 0

    def on_epoch_end(self, trainer: Trainer, logs: dict[str, float]) -> None:
        value = _monitored("EarlyStopping", logs, self.monitor)
        if self.value is None or self.better(value, self.value):
            self.value, self.waited = value, 0
            return
        self.waited += 1
        trainer.stop = self.waited >= self.patience


def _comparison(owner: str, best: str) -> Callable[[float, float], bool]:
    if best not in ("min", "max"):
        raise ValueError(f'{owner}: best={best!r}. Use "min" or "max".')
    return (lambda new, old: new < old) if best == "min" else (lambda new, old: new > old)


def _monitored(owner: str, logs: dict[str, float], name: str) -> float:
    if name not in logs:
        raise KeyError(f"{owner}: monitors {name!r}, this epoch has {', '.join(logs)}. Choose one of them.")
    return logs[name]


class _Means:
    """Means over samples of numbers that are means over batches."""

    def __init__(self) -> None:
        self.samples = 0
        self.sums: dict[str, float] = {}

    def add(self, count: int, values: dict[str, float]) -> None:
        self.samples += count
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0.0) + value * count

    def values(self) -> dict[str, float]:
        return {name: total / self.samples for name, total in self.sums.items()}


class Trainer:
    """Model, optimizer and loss, and what it takes to fit them to a loader's batches of (inputs, targets).

    loss: function of (output, target) giving a tensor with one element, the mean over the batch.
    metrics: name -> function of (output, target) giving the batch's mean as a float.
    scheduler: stepped after every epoch.
    max_norm: clip the gradients to this norm.

    `history` holds one dict per epoch: loss, the metrics, val_ of each with validation, samples_per_second.

    >>> from facula.utils.trainer import Trainer
    >>> model = facula.nn.Linear(1, 1)
    >>> trainer = Trainer(model, facula.optim.SGD(model.parameters(), lr=0.1), facula.nn.functional.mse_loss)
    >>> data = facula.data.DataLoader(facula.data.TensorDataset(facula.ones(4, 1), facula.ones(4, 1)), batch_size=2)
    >>> history = trainer.fit(data, epochs=2)
    >>> len(history)
    2
    """

    def __init__(
        self,
        model,
        optimizer,
        loss: Callable,
        *,
        metrics: dict[str, Callable] | None = None,
        scheduler=None,
        max_norm: float | None = None,
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.loss = loss
        self.metrics = metrics or {}
        self.scheduler = scheduler
        self.max_norm = max_norm
        self.history: list[dict[str, float]] = []
        self.stop = False  # a callback sets it to end the fit after this epoch
        self._loader = None
        self._generator_state = None  # of a loader's own generator, from a checkpoint, until fit sees the loader

    @property
    def epoch(self) -> int:
        """How many epochs are done."""
        return len(self.history)

    def fit(
        self, loader, epochs: int, callbacks: Iterable[Callback] = (), *, validation=None
    ) -> list[dict[str, float]]:
        """Trains until `epochs` epochs are done in all (so a resumed trainer does the rest); returns the history.

        validation: a loader evaluated after every epoch.
        """
        callbacks = list(callbacks)
        self._loader, self.stop = loader, False
        if self._generator_state is not None and getattr(loader, "generator", None) is not None:
            loader.generator.set_state(self._generator_state)
        self._generator_state = None
        for callback in callbacks:
            callback.on_fit_begin(self, loader)
        try:
            while self.epoch < epochs and not self.stop:
                self._epoch(loader, callbacks, validation)
        finally:
            for callback in callbacks:
                callback.on_fit_end(self)
        return self.history

    def _epoch(self, loader, callbacks: list[Callback], validation) -> None:
        for callback in callbacks:
            callback.on_epoch_begin(self)
        self.model.train()
        means, start = _Means(), time.perf_counter()
        for inputs, targets in loader:
            means.add(len(targets), self.step(inputs, targets))
            for callback in callbacks:
                callback.on_batch_end(self, means.values())
        logs = means.values()
        logs["samples_per_second"] = means.samples / max(time.perf_counter() - start, 1e-9)
        if validation is not None:
            logs.update({f"val_{name}": value for name, value in self.evaluate(validation).items()})
        if self.scheduler is not None:
            self.scheduler.step()
        self.history.append(logs)
        for callback in callbacks:
            callback.on_epoch_end(self, logs)

    def step(self, inputs, targets) -> dict[str, float]:
        """One optimizer step on one batch; the batch's loss and metrics."""
        self.optimizer.zero_grad()
        output = self.model(inputs)
        loss = self.loss(output, targets)
        loss.backward()
        if self.max_norm is not None:
            facula.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.optimizer.step()
        return self._measure(output.detach(), targets, loss)

    def _measure(self, output, targets, loss) -> dict[str, float]:
        values = {name: function(output, targets) for name, function in self.metrics.items()}
        return {"loss": loss.item(), **values}

    def evaluate(self, loader) -> dict[str, float]:
        """Loss and metrics over a loader, in evaluation mode and without gradients."""
        training = self.model.training
        self.model.eval()
        means = _Means()
        try:
            with facula.no_grad():
                for inputs, targets in loader:
                    output = self.model(inputs)
                    means.add(len(targets), self._measure(output, targets, self.loss(output, targets)))
        finally:
            self.model.train(training)
        return means.values()

    def state_dict(self) -> dict:
        """Everything that going on exactly as if nothing had happened needs, the random state included."""
        generator = getattr(self._loader, "generator", None)
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict() if self.scheduler is not None else None,
            "history": [dict(logs) for logs in self.history],
            "rng_state": facula.get_rng_state(),
            "loader_rng_state": generator.get_state() if generator is not None else None,
        }

    def load_state_dict(self, state: dict) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        if (self.scheduler is None) != (state["scheduler"] is None):
            have, saved = ("no" if s is None else "a" for s in (self.scheduler, state["scheduler"]))
            raise ValueError(f"Trainer: has {have} scheduler, the checkpoint {saved} scheduler. Make them alike.")
        if self.scheduler is not None:
            self.scheduler.load_state_dict(state["scheduler"])
        self.history = [dict(logs) for logs in state["history"]]
        facula.set_rng_state(state["rng_state"])
        self._generator_state = state["loader_rng_state"]

    def save(self, path) -> None:
        """Writes `state_dict()` to a file that `load` reads, in place of an older one when it is whole."""
        part = f"{os.fspath(path)}.part"  # who interrupts a run keeps the checkpoint before
        facula.save(self.state_dict(), part)
        os.replace(part, path)

    def load(self, path) -> None:
        """Goes back to a saved state; `fit` then goes on from its epoch with the same random numbers."""
        self.load_state_dict(facula.load(path))
