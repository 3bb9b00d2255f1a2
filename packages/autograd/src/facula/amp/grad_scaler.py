"""GradScaler: the loss times a scale, gradients divided by it again, steps with an infinity among them left out."""

from __future__ import annotations

import warnings
from typing import Any

import facula


class GradScaler:
    """Scales a loss so that float16 gradients do not vanish.

    The scale grows by growth_factor after growth_interval steps without infinities and shrinks by backoff_factor at each with one.

    >>> import facula
    >>> scaler = facula.amp.GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale(facula.tensor(2.0))
    tensor(8.)
    """

    def __init__(self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True) -> None:
        self._device = device
        if enabled and device == "cuda":
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", UserWarning, stacklevel=2)
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._enabled = enabled
        self._scale, self._growth_tracker = float(init_scale), 0
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._seen = {}  # id of an optimizer -> [it, whether its gradients hold an infinity, whether it stepped]

    def scale(self, outputs) -> facula.Tensor:
        """A tensor, or tensors in lists and tuples, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, facula.Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(o) for o in outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer) -> None:
        """Divide the gradients of the optimizer's parameters by the scale, once before its step: to clip them, say."""
        if not self._enabled:
            return
        state = self._seen.get(id(optimizer))
        if state is not None:
            raise RuntimeError(
                "unscale_() is being called after step()." if state[2] else "unscale_() has already been called on this optimizer since the last update()."
            )
        infinite = False
        with facula.no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if p.grad.dtype is facula.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    infinite = infinite or not bool(p.grad.isfinite().all())
                    p.grad.mul_(1.0 / self._scale)
        self._seen[id(optimizer)] = [optimizer, infinite, False]

    def step(self, optimizer, *args, **kwargs) -> Any:
        """optimizer.step(), unless a gradient is infinite or NaN; unscales first where that was not done."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        state = self._seen.get(id(optimizer))
        if state is not None and state[2]:
            raise RuntimeError("step() has already been called since the last update().")
        if state is None:
            self.unscale_(optimizer)
            state = self._seen[id(optimizer)]
        state[2] = True
        return None if state[1] else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None) -> None:
        """Move the scale by what the steps since the last update met, or set it."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._seen:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(infinite for _, infinite, _ in self._seen.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale *= self._growth_factor
                self._growth_tracker = 0
        self._seen.clear()

    def get_scale(self) -> float:
        """The scale; 1.0 where not enabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        return self._growth_factor

    def set_growth_factor(self, new_factor) -> None:
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        return self._backoff_factor

    def set_backoff_factor(self, new_factor) -> None:
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        return self._growth_interval

    def set_growth_interval(self, new_interval) -> None:
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        return self._enabled

    def state_dict(self) -> dict:
        """Scale and counters; empty where not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict) -> None:
        """Go on from a state_dict()."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")
        self._scale, self._growth_tracker = float(state_dict["scale"]), state_dict["_growth_tracker"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
