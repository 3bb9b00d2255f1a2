"""GradScaler: the loss times a scale, gradients divided by it again, steps with an infinity among them left out."""

from __future__ import annotations

import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

import facula

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """Where an optimizer is between two updates.

    >>> [state.name for state in facula.amp.grad_scaler.OptState]
    ['READY', 'UNSCALED', 'STEPPED']
    """

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _ready() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


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
        self._enabled = enabled
        if not enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._init_growth_tracker = init_scale, 0
        self._scale: facula.Tensor | None = None  # 0-d float32, made where the first loss lies
        self._growth_tracker: facula.Tensor | None = None
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._per_optimizer_states: defaultdict[int, dict[str, Any]] = defaultdict(_ready)  # by the id of an optimizer

    def _begun(self, name: str) -> facula.Tensor:
        """The scale, which the first loss makes."""
        if self._scale is None:
            raise AssertionError(f"{name}: nothing was scaled yet, so there is no scale. Call scaler.scale(loss) first.")
        return self._scale

    def scale(self, outputs) -> Any:
        """A tensor, or tensors in lists and tuples, times the scale; of another iterable an iterator."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, facula.Tensor):
            if self._scale is None:
                self._scale = facula.full((), self._init_scale, dtype=facula.float32, device=outputs.device)
                self._growth_tracker = facula.full((), self._init_growth_tracker, dtype=facula.int32, device=outputs.device)
            return outputs * self._scale.to(outputs.device)
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer) -> None:
        """Divide the gradients of the optimizer's parameters by the scale, once before its step: to clip them, say."""
        if not self._enabled:
            return
        divisor = self._begun("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        found = self._infinities(optimizer)
        inverse = divisor.double().reciprocal().float()  # of a large scale a float32 quotient would be further off
        with facula.no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if p.grad.dtype is facula.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    p.grad.mul_(inverse.to(p.grad.device))
        state["found_inf_per_device"] = found
        state["stage"] = OptState.UNSCALED

    @staticmethod
    def _infinities(optimizer) -> dict[facula.device, facula.Tensor]:
        """For each device with gradients, 1.0 where one is infinite or NaN, else 0.0."""
        found: dict[facula.device, bool] = {}
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    found[p.grad.device] = found.get(p.grad.device, False) or not bool(p.grad.isfinite().all())
        return {device: facula.full((), float(bad), device=device) for device, bad in found.items()}

    def _found_inf_per_device(self, optimizer) -> dict[facula.device, facula.Tensor]:
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]

    def step(self, optimizer, *args, **kwargs) -> Any:
        """optimizer.step(), unless a gradient is infinite or NaN; unscales first where that was not done.

        An optimizer whose _step_supports_amp_scaling is true does both by itself: it is told the scale by its attributes grad_scale and
        found_inf (tensors, there during the step), or is given this scaler where its step has a parameter grad_scaler.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._begun("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_told(optimizer, state, args, kwargs)
            state["stage"] = OptState.STEPPED
            return result
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        found = state["found_inf_per_device"]
        if not found:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if any(bad.item() for bad in found.values()) else optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _step_told(self, optimizer, state: dict[str, Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        """The step of an optimizer that looks after scales itself."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. "
                "It tells the optimizer by its attributes grad_scale and found_inf then.", FutureWarning, stacklevel=3,
            )  # fmt: skip
            return optimizer.step(*args, **kwargs, grad_scaler=self)
        given = getattr(optimizer, "grad_scale", None)
        if state["stage"] is OptState.READY:
            state["found_inf_per_device"] = self._infinities(optimizer)
            given = self._begun("step") * (1 if given is None else given)
        found = sum(state["found_inf_per_device"].values(), facula.zeros(()))
        optimizer.grad_scale, optimizer.found_inf = given, found
        result = optimizer.step(*args, **kwargs)
        del optimizer.grad_scale, optimizer.found_inf
        return result

    def update(self, new_scale=None) -> None:
        """Move the scale by what the steps since the last update met, or set it."""
        if not self._enabled:
            return
        scale = self._begun("update")
        tracker = self._growth_tracker
        assert tracker is not None  # made with the scale
        found = [bad for state in self._per_optimizer_states.values() for bad in state["found_inf_per_device"].values()]
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
        elif new_scale is not None:
            if new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad:
                raise AssertionError(f"update: new_scale must be a float or a tensor of one element on {self._device} that wants no gradient, got {new_scale!r}.")
            scale.copy_(new_scale)
        elif not found:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(bad.item() for bad in found):
            scale.mul_(self._backoff_factor)
            tracker.zero_()
        elif int(tracker.add_(1).item()) == self._growth_interval:
            grown = scale * self._growth_factor
            if bool(grown.isfinite()):
                scale.copy_(grown)
            tracker.zero_()
        self._per_optimizer_states = defaultdict(_ready)

    def get_scale(self) -> float:
        """The scale; 1.0 where not enabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

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
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker(),
        }  # fmt: skip

    def load_state_dict(self, state_dict) -> None:
        """Go on from a state_dict()."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError("GradScaler: pickled between a step and its update. Call update() first.")
            state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker(), _scale=None, _growth_tracker=None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
