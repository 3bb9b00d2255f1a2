"""How training shows itself: one line per epoch, and in a terminal a bar within it."""

from __future__ import annotations

import sys

from facula.utils.trainer import Callback, Trainer


def _shown(logs: dict[str, float]) -> str:
    parts = [f"loss {logs['loss']:.4f}"]
    if "accuracy" in logs:
        parts.append(f"accuracy {100 * logs['accuracy']:6.2f} %")
    if "val_accuracy" in logs:
        parts.append(f"held out {100 * logs['val_accuracy']:6.2f} %")
    if "samples_per_second" in logs:
        parts.append(f"{logs['samples_per_second']:8,.0f} samples/s")
    return "  ".join(parts)


class Progress(Callback):
    """Lines on stdout; with tqdm, and stderr a terminal, a bar on stderr while an epoch runs."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.bar = None
        self.tqdm = None
        if sys.stderr.isatty():
            try:
                from tqdm import tqdm

                self.tqdm = tqdm
            except ImportError:
                pass

    def on_fit_begin(self, trainer: Trainer, loader) -> None:
        self.batches = len(loader)

    def _label(self, number: int) -> str:
        return f"epoch {number:>{len(str(self.epochs))}}/{self.epochs}"

    def on_epoch_begin(self, trainer: Trainer) -> None:
        if self.tqdm is not None:
            self.bar = self.tqdm(total=self.batches, desc=self._label(trainer.epoch + 1), unit="batch", leave=False)

    def on_batch_end(self, trainer: Trainer, logs: dict[str, float]) -> None:
        if self.bar is not None:
            self.bar.set_postfix_str(_shown(logs), refresh=False)
            self.bar.update()

    def on_epoch_end(self, trainer: Trainer, logs: dict[str, float]) -> None:
        self._close()
        print(f"{self._label(trainer.epoch)}  {_shown(logs)}", flush=True)

    def on_fit_end(self, trainer: Trainer) -> None:
        self._close()

    def _close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
