"""What optimizers that treat each parameter by itself have in common: they state an initial state and an update."""

from __future__ import annotations

from typing import Any, Callable

import facula
from facula import Tensor

from .optimizer import Optimizer


def check(ok: bool, what: str, value: Any) -> None:
    """ValueError `Invalid <what>: <value>` unless ok."""
    if not ok:
        raise ValueError(f"Invalid {what}: {value}")


def check_lr(lr: Any) -> None:
    """A learning rate is a number that is not negative, or a Tensor of one element."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check(lr >= 0.0, "learning rate", lr)


def check_implementation(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """foreach and fused name PyTorch's implementations. There is one here, so they choose nothing; contradictions are refused."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def number(x: Any) -> float:
    """The Python number of a number or of a Tensor of one element."""
    return x.item() if isinstance(x, Tensor) else x


def count() -> Tensor:
    """A step count: float32 and 0-d, as PyTorch saves it."""
    return facula.zeros((), dtype=facula.float32)


class FormulaOptimizer(Optimizer):
    """step = for each parameter with a gradient: fresh(p, group) once, then update(p, gradient, state, group).

    A complex parameter is its real view, as are gradient and state, unless `sees_complex` is set."""

    sees_complex = False
    couples_decay = True  # weight decay is weight_decay * p added to the gradient, before update

    def fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        """The state of a parameter before its first step."""
        raise NotImplementedError(f"{type(self).__name__} does not define fresh.")

    def update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        """One step of one parameter, in place."""
        raise NotImplementedError(f"{type(self).__name__} does not define update.")

    def step(self, closure: Callable | None = None) -> Any:
        """Move every parameter that has a gradient; the loss that `closure` returned, if one was given."""
        with facula.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            loss = _evaluated(closure)
            for group in self.param_groups:
                self.step_group(group)
        return loss

    def step_group(self, group: dict) -> None:
        """One step of one group."""
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            self.refuse(p, grad, group)
            state = self.state[p]
            if not state:
                state.update(self.fresh(p, group))
            if group.get("differentiable"):  # what earlier steps saved for backward stays as it was
                for key, value in state.items():
                    if isinstance(value, Tensor):
                        state[key] = value.clone()
            self.step_one(p, grad, state, group)

    def step_one(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        """Sign and coupled weight decay, then update on real tensors."""
        if group.get("maximize"):
            grad = -grad
        decay = group.get("weight_decay", 0)
        if decay != 0 and self.couples_decay and not group.get("decoupled_weight_decay"):
            grad = grad.add(p, alpha=number(decay))
        if p.is_complex() and not self.sees_complex:
            real = {k: facula.view_as_real(v) if isinstance(v, Tensor) and v.is_complex() else v for k, v in state.items()}
            self.update(facula.view_as_real(p), facula.view_as_real(grad), real, group)
            for key, value in real.items():  # what update rebound rather than wrote into
                if key not in state or not isinstance(value, Tensor):
                    state[key] = value
        else:
            self.update(p, grad, state, group)

    def refuse(self, p: Tensor, grad: Tensor, group: dict) -> None:
        """RuntimeError for gradients that the formula does not take."""
        if grad.is_sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients. Use SparseAdam, or a dense gradient.")
        if group.get("capturable") and p.device.type == "cpu":
            raise AssertionError("If capturable=True, params and state_steps must be on supported devices: ['cuda'].")


def _evaluated(closure: Callable | None) -> Any:
    if closure is None:
        return None
    with facula.enable_grad():
        return closure()
