"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any, Iterable

import facula
from facula import Tensor

from ._formula import FormulaOptimizer, check, check_implementation, check_lr, common, number

__all__ = ["SGD"]


class SGD(FormulaOptimizer):
    """p -= lr * g, with momentum v = momentum * v + (1 - dampening) * g in g's place, or g + momentum * v (nesterov).

    The first v is g, without dampening. weight_decay adds weight_decay * p to g. Source: Sutskever et al. (2013).
    """

    kernel = "_sgd_"
    sees_complex = True  # the formula is linear

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
        check_lr(lr)
        check(momentum >= 0.0, "momentum value", momentum)
        check(weight_decay >= 0.0, "weight_decay value", weight_decay)
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

    def fresh(self, p: Tensor, group: dict) -> dict[str, Any] | None:
        return {} if group["momentum"] != 0 else None

    def refuse(self, p: Tensor, grad: Tensor, group: dict) -> None:
        pass  # p.add_ takes a sparse gradient

    def columns(self, group: dict) -> tuple[str | None, ...]:
        return (None,)

    def settings(self, group: dict, first: bool = False) -> tuple:
        lr, decay, maximize = common(group)
        return lr, group["momentum"], group["dampening"], decay, group["nesterov"], maximize, first

    def step_group(self, group: dict) -> None:
        """One call without momentum; with it, one for the parameters that are moving and one for those that start."""
        if group["momentum"] == 0 or group["differentiable"]:
            return super().step_group(group)
        moving: tuple[list, ...] = ([], [], [])
        starting: tuple[list, ...] = ([], [], [])
        for p, grad, state, sparse in self.live(group):
            if sparse:
                self.step_one(p, grad, state, group)
                continue
            first = state.get("momentum_buffer") is None
            if first:
                state["momentum_buffer"] = facula.empty_like(p, requires_grad=False)
            for found, t in zip(starting if first else moving, (p, grad, state["momentum_buffer"])):
                found.append(t)
        for (params, grads, buffers), first in ((moving, False), (starting, True)):
            if params:
                self.run(params, grads, [buffers], group, self.settings(group, first))

    def update(self, p: Tensor, grad: Tensor, state: dict | None, group: dict) -> None:
        momentum = group["momentum"]
        if momentum != 0:
            buf = state.get("momentum_buffer")
            if buf is None:
                buf = state["momentum_buffer"] = grad.detach().clone()
            else:
                buf.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buf, alpha=momentum) if group["nesterov"] else buf
        p.add_(grad, alpha=-number(group["lr"]))
