"""Adam and AdamW."""

from __future__ import annotations

from typing import Any, Iterable

import facula
from facula import Tensor

from ._by_lists import by_lists
from ._formula import FormulaOptimizer, add_scaled, check_implementation, check_lr, check_options, common, count, decay_rates, factor, flag

__all__ = ["Adam", "AdamW", "adam", "adamw"]


def refuse_tensors(group: dict) -> None:
    """PyTorch's classes of errors where its step of whole lists wants numbers, and the group has had tensors since."""
    for name, value, kind in (("lr", group["lr"], RuntimeError), *((f"beta{k + 1}", beta, ValueError) for k, beta in enumerate(group["betas"]))):
        if isinstance(value, Tensor):
            raise kind(f"{name} as a Tensor is not supported for capturable=False and foreach=True. Give a number, or leave foreach out.")


class Adam(FormulaOptimizer):
    """p -= lr * m' / (sqrt(v') + eps), m and v the running means of g and g^2, the primes their bias corrections.

    amsgrad takes the largest v so far. decoupled_weight_decay shrinks p by lr * weight_decay instead of adding to g (AdamW).
    differentiable: the step is recorded, and gradients reach an lr, weight_decay or betas that require grad.
    Source: Kingma and Ba (2014); Reddi et al. (2018); Loshchilov and Hutter (2017).

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9000, -1.9000])
    """

    _kernel = "_adam_"
    _younger = {"amsgrad": False, "maximize": False, "foreach": None, "capturable": False, "differentiable": False, "decoupled_weight_decay": False, "fused": None}

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_lr(lr)
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True. Leave foreach out.")
        check_options(eps=eps, betas=betas, weight_decay=weight_decay)
        tensors = [isinstance(beta, Tensor) for beta in betas]
        for k in (0, 1):
            if tensors[k] and foreach and not capturable:
                raise ValueError(f"betas[{k}] as a Tensor is not supported for capturable=False and foreach=True. Leave foreach out.")
            if tensors[k] and betas[k].numel() != 1:
                raise ValueError(f"Tensor betas[{k}] must be 1-element")
        if not all(tensors) and not all(isinstance(beta, float) for beta in betas):
            raise ValueError(f"betas must be either both floats or both Tensors, got {betas}")
        check_implementation(foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": tuple(beta.squeeze() if isinstance(beta, Tensor) else beta for beta in betas),
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        state = {"step": count(), "exp_avg": facula.zeros_like(p), "exp_avg_sq": facula.zeros_like(p)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = facula.zeros_like(p)
        return state

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        return "exp_avg", "exp_avg_sq", "max_exp_avg_sq" if group["amsgrad"] else None, "step"

    def _settings(self, group: dict) -> tuple:
        if group["foreach"] and not group["capturable"]:
            refuse_tensors(group)
        lr, decay, maximize = common(group)
        return lr, *decay_rates(group), decay, group["eps"], flag(group, "amsgrad"), maximize, bool(group["decoupled_weight_decay"])

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        lr, (beta1, beta2) = factor(group["lr"]), map(factor, group["betas"])
        state["step"] += 1
        step = state["step"].item()
        if group["decoupled_weight_decay"] and group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        m, v = state["exp_avg"], state["exp_avg_sq"]
        m.lerp_(grad, 1 - beta1)
        if isinstance(beta2, Tensor):
            v.lerp_(grad.square(), 1 - beta2)
        else:
            v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if group["amsgrad"]:
            largest = facula.maximum(state["max_exp_avg_sq"].clone(), v)  # what backward needs is not what is written into
            v = state["max_exp_avg_sq"].copy_(largest)
        denominator = v.sqrt().div((1 - beta2**step) ** 0.5).add(group["eps"])
        add_scaled(p, m / denominator, -lr / (1 - beta1**step))


class AdamW(Adam):
    """Adam with decoupled weight decay. Source: Loshchilov and Hutter (2017).

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.AdamW([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8990, -1.8980])
    """

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


_LISTS = "exp_avgs:exp_avg exp_avg_sqs:exp_avg_sq max_exp_avg_sqs:max_exp_avg_sq state_steps:step"
_OPTIONS = "foreach capturable differentiable fused grad_scale found_inf has_complex"
_SETTINGS = "amsgrad beta1 beta2 lr weight_decay eps maximize"
adam = by_lists(Adam, _LISTS, _OPTIONS + " decoupled_weight_decay", _SETTINGS)
adamw = by_lists(AdamW, _LISTS, _OPTIONS, _SETTINGS, decoupled_weight_decay=True)
