"""Adafactor."""

from __future__ import annotations

from typing import Any, Iterable

import facula
from facula import Tensor

from ._formula import FormulaOptimizer, common, count, number

__all__ = ["Adafactor"]


class Adafactor(FormulaOptimizer):
    """Adam's second moment kept as one row and one column for each matrix, and no first moment.

    eps = (floor of the second moment, floor of the relative step); d clips the update's root mean square.
    Source: Shazeer and Stern (2018).

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.Adafactor([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8419, -1.8419])
    """

    _kernel = "_adafactor_"
    _younger = {"foreach": None}
    _couples_decay = False

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "beta2_decay": beta2_decay,
                "eps": eps,
                "d": d,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _refuse(self, p: Tensor, grad: Tensor, group: dict) -> None:
        super()._refuse(p, grad, group)
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters. Optimize their real view.")

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        if p.dim() > 1:
            rows, cols = list(p.shape), list(p.shape)
            rows[-1] = cols[-2] = 1
            return {"step": count(), "row_var": p.grad.new_zeros(rows), "col_var": p.grad.new_zeros(cols)}
        return {"step": count(), "variance": facula.zeros_like(p.grad)}

    def _lists(self, states: list, group: dict) -> list[list[Tensor]]:
        """The row takes a vector's variance among the rows, and in the columns' place what it does not read: the count."""
        steps = [s["step"] for s in states]
        rows = [s["row_var"] if "row_var" in s else s["variance"] for s in states]
        return [rows, [s.get("col_var", step) for s, step in zip(states, steps)], steps]

    def _settings(self, group: dict) -> tuple:
        lr, decay, maximize = common(group)
        eps1, eps2 = group["eps"]
        return lr, decay, group["beta2_decay"], eps1, eps2, group["d"], maximize

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        lr, (eps1, eps2) = number(group["lr"]), group["eps"]
        eps1 = facula.finfo(p.dtype).eps if eps1 is None else eps1
        state["step"] += 1
        step = state["step"].item()
        fresh = step ** group["beta2_decay"]  # weight of the new gradient in the running means
        size = p.numel() ** 0.5
        rate = max(eps2, p.norm(2).item() / size) * min(lr, 1 / step**0.5)
        if group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            row, col = state["row_var"], state["col_var"]
            row.lerp_(grad.norm(dim=-1, keepdim=True).square().div(grad.size(-1)), fresh)
            col.lerp_(grad.norm(dim=-2, keepdim=True).square().div(grad.size(-2)), fresh)
            variance = (row @ col).div(row.mean(dim=-2, keepdim=True).clamp(min=eps1))
        else:
            variance = state["variance"].lerp_(grad * grad, fresh)
        move = variance.clamp(min=eps1 * eps1).rsqrt() * grad
        p.add_(move, alpha=-rate / max(1.0, move.norm(2).item() / (size * group["d"])))
