"""Adamax, NAdam, RAdam."""

from __future__ import annotations

from typing import Any, Iterable

import facula
from facula import Tensor

from ._by_lists import by_lists
from ._formula import FormulaOptimizer, check_options, common, count, decay_rates, factor, scalar_dtype

__all__ = ["Adamax", "NAdam", "RAdam", "adamax", "nadam", "radam"]


class Adamax(FormulaOptimizer):
    """p -= lr / (1 - beta1^t) * m / u, u = max(beta2 u, |g| + eps). Source: Kingma and Ba (2014), section 7.

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.Adamax([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9000, -1.9000])
    """

    _kernel = "_adamax_"

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        return {"step": count(), "exp_avg": facula.zeros_like(p), "exp_inf": facula.zeros_like(p)}

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        return "exp_avg", "exp_inf", "step"

    def _settings(self, group: dict) -> tuple:
        lr, decay, maximize = common(group)
        return lr, decay, *decay_rates(group), group["eps"], maximize, False

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        beta1, beta2 = group["betas"]
        state["step"] += 1
        m, u = state["exp_avg"], state["exp_inf"]
        m.lerp_(grad, 1 - beta1)
        u.copy_(facula.maximum(u * beta2, grad.abs() + group["eps"]))
        p.addcdiv_(m, u, value=-factor(group["lr"]) / (1 - beta1 ** state["step"].item()))


class NAdam(FormulaOptimizer):
    """Adam with Nesterov momentum and a momentum schedule. Source: Dozat (2016).

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.NAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8944, -1.8944])
    """

    _kernel = "_nadam_"
    _younger = {"maximize": False, "foreach": None, "capturable": False, "differentiable": False, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        return {
            "step": count(),
            "mu_product": facula.ones((), dtype=scalar_dtype()),
            "exp_avg": facula.zeros_like(p),
            "exp_avg_sq": facula.zeros_like(p),
        }

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        return "exp_avg", "exp_avg_sq", "mu_product", "step"

    def _settings(self, group: dict) -> tuple:
        lr, decay, maximize = common(group)
        return lr, decay, *decay_rates(group), group["eps"], group["momentum_decay"], maximize, bool(group["decoupled_weight_decay"])

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        lr, (beta1, beta2) = factor(group["lr"]), group["betas"]
        state["step"] += 1
        step = state["step"].item()
        if group["decoupled_weight_decay"] and group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
        mu_next = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * group["momentum_decay"]))
        state["mu_product"] *= mu
        product = state["mu_product"].double() if group.get("differentiable") else state["mu_product"].item()
        m, v = state["exp_avg"], state["exp_avg_sq"]
        m.lerp_(grad, 1 - beta1)
        v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = v.div(1 - beta2**step).sqrt().add(group["eps"])
        now, ahead = -lr * (1.0 - mu) / (1.0 - product), -lr * mu_next / (1.0 - product * mu_next)
        if group.get("differentiable"):  # mu_product has a gradient too
            p.add_(now * grad / denominator).add_(ahead * m / denominator)
        else:
            p.addcdiv_(grad, denominator, value=now).addcdiv_(m, denominator, value=ahead)


class RAdam(FormulaOptimizer):
    """Adam whose adaptive rate waits until its variance can be estimated. Source: Liu et al. (2019).

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.RAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8000, -1.6000])
    """

    _kernel = "_radam_"
    _younger = {"foreach": None, "maximize": False, "differentiable": False, "decoupled_weight_decay": False, "capturable": False}

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        return {"step": count(), "exp_avg": facula.zeros_like(p), "exp_avg_sq": facula.zeros_like(p)}

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        return "exp_avg", "exp_avg_sq", "step"

    def _settings(self, group: dict) -> tuple:
        lr, decay, maximize = common(group)
        return lr, decay, *decay_rates(group), group["eps"], maximize, bool(group["decoupled_weight_decay"])

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        lr, (beta1, beta2) = factor(group["lr"]), group["betas"]
        state["step"] += 1
        step = state["step"].item()
        if group["decoupled_weight_decay"] and group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        m, v = state["exp_avg"], state["exp_avg_sq"]
        m.lerp_(grad, 1 - beta1)
        v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction2 = 1 - beta2**step
        move = m / (1 - beta1**step) * lr
        longest = 2 / (1 - beta2) - 1  # of the simple average that the moving one resembles
        length = longest - 2 * step * beta2**step / correction2
        if length > 5.0:
            rate = correction2**0.5 / v.sqrt().add(group["eps"])
            rectified = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
            move = move * rate * rectified
        p.sub_(move)


_MOMENTS = "exp_avgs:exp_avg exp_avg_sqs:exp_avg_sq "
adamax = by_lists(
    Adamax, "exp_avgs:exp_avg exp_infs:exp_inf state_steps:step", "foreach maximize differentiable capturable has_complex", "eps beta1 beta2 lr weight_decay"
)
nadam = by_lists(
    NAdam, _MOMENTS + "mu_products:mu_product state_steps:step", "decoupled_weight_decay foreach capturable differentiable has_complex maximize",
    "beta1 beta2 lr weight_decay momentum_decay eps",
)  # fmt: skip
radam = by_lists(
    RAdam, _MOMENTS + "state_steps:step", "decoupled_weight_decay foreach differentiable capturable has_complex maximize", "beta1 beta2 lr weight_decay eps"
)
