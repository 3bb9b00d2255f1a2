"""Rprop and ASGD."""

from __future__ import annotations

from typing import Any, Iterable

import facula
from facula import Tensor

from ._by_lists import by_lists
from ._formula import FormulaOptimizer, check_lr, check_options, common, count, number, scalar_dtype

__all__ = ["Rprop", "ASGD", "asgd", "rprop"]


class Rprop(FormulaOptimizer):
    """A step size for each element, grown while the gradient's sign stays and shrunk when it turns. Source: Riedmiller and Braun (1993).

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.Rprop([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9000, -1.9000])
    """

    _kernel = "_rprop_"
    _couples_decay = False  # a group may say one, for other optimizers

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        lr = number(group["lr"])
        return {
            "step": count(),
            "prev": facula.zeros_like(p),
            "step_size": facula.full_like(p.grad, complex(lr, lr) if p.is_complex() else lr).detach(),
        }

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        return "prev", "step_size", "step"

    def _settings(self, group: dict) -> tuple:
        lr, _, maximize = common(group)
        shrink, grow = group["etas"]
        smallest, largest = group["step_sizes"]
        return lr, 0, shrink, grow, smallest, largest, maximize, False

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        shrink, grow = group["etas"]
        state["step"] += 1
        turn = (grad * state["prev"]).sign()
        one = facula.ones_like(turn)
        factor = facula.where(turn > 0, one * grow, facula.where(turn < 0, one * shrink, one))
        state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = facula.where(turn < 0, facula.zeros_like(grad), grad)  # after a turn, wait one step
        p.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)


class ASGD(FormulaOptimizer):
    """Stochastic gradient descent whose iterates are averaged in state["ax"] from step t0 on. Source: Polyak and Juditsky (1992).

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.ASGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8000, -1.6000])
    """

    _kernel = "_asgd_"

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr=lr, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        return {
            "step": count(),
            "eta": facula.tensor(number(group["lr"]), dtype=scalar_dtype()),
            "mu": facula.ones((), dtype=scalar_dtype()),
            "ax": facula.zeros_like(p),
        }

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        return "ax", "eta", "mu", "step"

    def _settings(self, group: dict) -> tuple:
        lr, decay, maximize = common(group)
        return lr, decay, group["lambd"], group["alpha"], group["t0"], maximize, False

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        lr, lambd = number(group["lr"]), group["lambd"]
        state["step"] += 1
        step, eta, mu = state["step"].item(), state["eta"].item(), state["mu"].item()
        p.mul_(1 - lambd * eta)
        p.add_(grad, alpha=-eta)
        if mu != 1:
            state["ax"].add_(p.sub(state["ax"]).mul(mu))
        else:
            state["ax"].copy_(p)
        state["eta"].copy_(facula.tensor(lr / (1 + lambd * lr * step) ** group["alpha"]))  # in the default dtype on the way, as PyTorch's are
        state["mu"].copy_(facula.tensor(1 / max(1, step - group["t0"])))


rprop = by_lists(
    Rprop, "prevs:prev step_sizes:step_size state_steps:step", "foreach capturable maximize differentiable has_complex",
    "step_size_min step_size_max etaminus etaplus", lr=0.0,  # of the first step alone, which is in step_sizes here
)  # fmt: skip
asgd = by_lists(
    ASGD, "axs:ax mus:mu etas:eta state_steps:step", "foreach maximize differentiable capturable has_complex", "lambd lr t0 alpha weight_decay"
)
