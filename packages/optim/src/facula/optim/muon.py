"""Muon."""

from __future__ import annotations

import math
from typing import Any, Iterable

import facula
from facula import Tensor

from ._formula import FormulaOptimizer, check_options, number

__all__ = ["Muon"]


def _orthogonalised(grad: Tensor, coefficients: tuple[float, float, float], eps: float, steps: int) -> Tensor:
    """A bfloat16 matrix near U V^T of grad's singular value decomposition, by quintic Newton-Schulz steps."""
    a, b, c = coefficients
    x = grad.to(facula.bfloat16)
    tall = x.size(0) > x.size(1)
    if tall:
        x = x.T
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = facula.addmm(x, facula.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


class Muon(FormulaOptimizer):
    """Momentum whose update is orthogonalised; for the 2-d weights of hidden layers only.

    adjust_lr_fn: "original" (also None) scales lr by sqrt(max(1, rows / cols)), "match_rms_adamw" by 0.2 sqrt(max(rows, cols)).
    Source: Jordan et al., Muon (2024).

    >>> w = facula.zeros(2, 2, requires_grad=True)
    >>> optimizer = facula.optim.Muon([w], lr=0.1, weight_decay=0.0)
    >>> w.grad = facula.eye(2)
    >>> optimizer.step()
    >>> bool((w.diagonal() < 0).all())
    True
    """

    _kernel = "_muon_"
    _younger = {}
    _couples_decay = False

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_options(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported. Give 'original' or 'match_rms_adamw'.")
        super().__init__(
            params,
            {
                "lr": lr,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "nesterov": nesterov,
                "ns_coefficients": ns_coefficients,
                "eps": eps,
                "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def _refuse(self, p: Tensor, grad: Tensor, group: dict) -> None:
        super()._refuse(p, grad, group)
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters. Optimize their real view.")

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        return {"momentum_buffer": facula.zeros_like(p.grad)}

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        return ("momentum_buffer",)

    def _settings(self, group: dict) -> tuple:
        if group["ns_steps"] >= 100:
            raise ValueError(f"Number of steps must be less than 100 for computational efficiency, got {group['ns_steps']}")
        match = group["adjust_lr_fn"] == "match_rms_adamw"
        a, b, c = group["ns_coefficients"]
        return (number(group["lr"]), group["weight_decay"], group["momentum"], a, b, c, group["eps"], group["ns_steps"], bool(group["nesterov"]), match)

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        buf, momentum, lr = state["momentum_buffer"], group["momentum"], number(group["lr"])
        buf.lerp_(grad, 1 - momentum)
        direction = grad.lerp(buf, momentum) if group["nesterov"] else buf
        direction = _orthogonalised(direction, group["ns_coefficients"], group["eps"], group["ns_steps"])
        rows, cols = p.shape
        scale = 0.2 * math.sqrt(max(rows, cols)) if group["adjust_lr_fn"] == "match_rms_adamw" else math.sqrt(max(1, rows / cols))
        p.mul_(1 - lr * group["weight_decay"])
        p.add_(direction, alpha=-lr * scale)
