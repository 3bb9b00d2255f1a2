"""Stochastic gradient descent."""

from __future__ import annotations

from itertools import compress
from typing import Any, Iterable

import facula
from facula import Tensor

from ._by_lists import by_lists
from ._formula import FormulaOptimizer, add_scaled, check, check_implementation, common, factor, flag, refuse_fused

__all__ = ["SGD", "sgd"]


class SGD(FormulaOptimizer):
    """p -= lr * g, with momentum v = momentum * v + (1 - dampening) * g in g's place, or g + momentum * v (nesterov).

    The first v is g, without dampening. weight_decay adds weight_decay * p to g.
    differentiable: the step is recorded, and gradients reach an lr, momentum or weight_decay that requires grad. Source: Sutskever et al. (2013).

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.SGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8000, -1.6000])
    """

    _kernel = "_sgd_"
    _younger = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": False}
    _sees_complex = True  # the formula is linear

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("learning rate", lr), ("momentum value", momentum), ("weight_decay value", weight_decay)):
            check(not value < 0.0, name, value)  # NaN passes, in PyTorch too
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_implementation(foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any] | None:
        return {} if group["momentum"] != 0 else None

    def _refuse(self, p: Tensor, grad: Tensor, group: dict) -> None:
        refuse_fused(p, group)
        if grad.is_sparse and group["fused"]:  # else p.add_ takes it
            raise RuntimeError("SGD: `fused=True` does not support sparse gradients. Leave fused out.")

    def _settings(self, group: dict, first: bool = False) -> tuple:
        lr, decay, maximize = common(group)
        return lr, group["momentum"], group["dampening"], decay, flag(group, "nesterov"), maximize, first

    def _step_listed(self, params: list, grads: list, group: dict) -> None:
        """One call without momentum; with it, one for the parameters that are moving and one for those that start."""
        if group["fused"] and params[0].is_meta:  # the row takes these: here, unlike elsewhere, no state on the CPU stops it
            refuse_fused(params[0], group)
        if group["momentum"] == 0:
            return self._run(params, grads, [[]], group, self._settings(group))
        states = [*map(self.state.__getitem__, params)]
        moving = [s.get("momentum_buffer") is not None for s in states]
        if all(moving):
            return self._run(params, grads, [[s["momentum_buffer"] for s in states]], group, self._settings(group))
        buffers = [s["momentum_buffer"] if moves else facula.empty_like(p, requires_grad=False) for p, s, moves in zip(params, states, moving)]
        for first, these in ((False, moving), (True, [not m for m in moving])):
            some = [list(compress(x, these)) for x in (params, grads, buffers)]
            if some[0]:
                self._run(some[0], some[1], [some[2]], group, self._settings(group, first))
        for state, buffer in zip(states, buffers):
            if state.get("momentum_buffer") is None:  # the composition makes its own
                state["momentum_buffer"] = buffer

    def _update(self, p: Tensor, grad: Tensor, state: dict | None, group: dict) -> None:
        momentum = group["momentum"]
        if momentum != 0:
            buf = state.get("momentum_buffer")
            if buf is None:
                buf = grad.detach().clone()
            else:
                buf.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buf, alpha=momentum) if group["nesterov"] else buf
        add_scaled(p, grad, -factor(group["lr"]))
        if momentum != 0:
            state["momentum_buffer"] = buf  # after what can fail


sgd = by_lists(
    SGD, "momentum_buffer_list:momentum_buffer", "has_sparse_grad foreach fused grad_scale found_inf", "weight_decay momentum lr dampening nesterov maximize"
)
