"""Adagrad, Adadelta, RMSprop."""

from __future__ import annotations

from typing import Any, Iterable

import facula
from facula import Tensor

from ._by_lists import by_lists
from ._formula import FormulaOptimizer, check_implementation, check_options, common, count, factor, refuse_foreach

__all__ = ["Adagrad", "Adadelta", "RMSprop", "adadelta", "adagrad", "rmsprop"]


class Adagrad(FormulaOptimizer):
    """p -= lr' g / (sqrt(sum of g^2) + eps), lr' = lr / (1 + (t - 1) lr_decay). Source: Duchi et al. (2011).

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.Adagrad([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9000, -1.9000])
    """

    _kernel = "_adagrad_"
    _younger = {"foreach": None, "maximize": False, "differentiable": False, "fused": None}

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, eps=eps)
        check_implementation(foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )
        for group in self.param_groups:  # PyTorch's state is there before the first step
            for p in group["params"]:
                self.state[p] = self._fresh(p, group)

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        start = self.defaults["initial_accumulator_value"]  # the constructor's, whatever the group says, as in PyTorch
        return {"step": count(), "sum": facula.full_like(p, complex(start, start) if p.is_complex() else start).detach()}

    def share_memory(self) -> None:
        """Move the accumulators to shared memory."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def _refuse(self, p: Tensor, grad: Tensor, group: dict) -> None:
        if not grad.is_sparse:
            return super()._refuse(p, grad, group)
        if group["fused"]:
            raise RuntimeError("Adagrad: `fused` does not support sparse grad or complex param. Leave fused out.")
        refuse_foreach(group)
        if group["weight_decay"] != 0:
            raise RuntimeError("Adagrad: weight_decay option is not compatible with sparse gradients. Leave it out.")

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        return "sum", "step"

    def _settings(self, group: dict) -> tuple:
        lr, decay, maximize = common(group)
        return lr, decay, group["lr_decay"], group["eps"], maximize, False

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        state["step"] += 1
        rate = factor(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        if grad.is_sparse:  # only the rows it lists
            grad = grad.coalesce()
            squares = grad * grad
            state["sum"].add_(squares)
            scale = state["sum"].sparse_mask(grad)._values().sqrt_().add_(group["eps"])
            p.add_(facula.sparse_coo_tensor(grad._indices(), grad._values() / scale, grad.size()), alpha=-rate)
            return
        state["sum"].addcmul_(grad, grad, value=1)
        p.addcdiv_(grad, state["sum"].sqrt().add(group["eps"]), value=-rate)


class Adadelta(FormulaOptimizer):
    """p -= lr * g * sqrt(d + eps) / sqrt(v + eps), d the running mean of the squared moves. Source: Zeiler (2012).

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.Adadelta([w])
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9968, -1.9968])
    """

    _kernel = "_adadelta_"

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        return {"step": count(), "square_avg": facula.zeros_like(p), "acc_delta": facula.zeros_like(p)}

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        return "square_avg", "acc_delta", "step"

    def _settings(self, group: dict) -> tuple:
        lr, decay, maximize = common(group)
        return lr, decay, group["rho"], group["eps"], maximize, False

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        rho, eps = group["rho"], group["eps"]
        state["step"] += 1
        v, d = state["square_avg"], state["acc_delta"]
        v.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        move = d.add(eps).sqrt() / v.add(eps).sqrt() * grad
        d.mul_(rho).addcmul_(move, move, value=1 - rho)
        p.add_(move, alpha=-factor(group["lr"]))


class RMSprop(FormulaOptimizer):
    """p -= lr * g / (sqrt(v) + eps), v the running mean of g^2; centered takes the variance. Source: Hinton (2012), lecture 6e.

    >>> import facula
    >>> from facula import optim
    >>> w = facula.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = optim.RMSprop([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 5.9605e-08, -1.0000e+00])
    """

    _kernel = "_rmsprop_"
    _younger = {"momentum": 0, "centered": False, **FormulaOptimizer._younger}

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any]:
        state = {"step": count(), "square_avg": facula.zeros_like(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = facula.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = facula.zeros_like(p)
        return state

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        return "square_avg", "grad_avg" if group["centered"] else None, "momentum_buffer" if group["momentum"] > 0 else None, "step"

    def _settings(self, group: dict) -> tuple:
        lr, decay, maximize = common(group)
        return lr, decay, group["alpha"], group["eps"], group["momentum"], maximize, False

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        alpha, lr = group["alpha"], factor(group["lr"])
        state["step"] += 1
        v = state["square_avg"]
        v.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            v = v.addcmul(mean, mean, value=-1)
        denominator = v.sqrt().add(group["eps"])
        if group["momentum"] > 0:
            state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, denominator)
            p.add_(state["momentum_buffer"], alpha=-lr)
        else:
            p.addcdiv_(grad, denominator, value=-lr)


adagrad = by_lists(
    Adagrad, "state_sums:sum state_steps:step", "fused grad_scale found_inf has_sparse_grad foreach differentiable has_complex",
    "lr weight_decay lr_decay eps maximize",
)  # fmt: skip
adadelta = by_lists(
    Adadelta, "square_avgs:square_avg acc_deltas:acc_delta state_steps:step", "capturable foreach differentiable has_complex", "lr rho eps weight_decay maximize"
)
rmsprop = by_lists(
    RMSprop, "square_avgs:square_avg grad_avgs:grad_avg momentum_buffer_list:momentum_buffer state_steps:step",
    "foreach maximize differentiable capturable has_complex", "lr alpha eps weight_decay momentum centered",
)  # fmt: skip
