"""Adam of sparse gradients."""

from __future__ import annotations

import math
from typing import Any, Iterable

import facula
from facula import Tensor

from ._formula import check, check_lr, check_options, number
from .optimizer import Optimizer

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam whose step touches only the rows that a sparse gradient lists: their means move, the others' stay as they are.

    The step count that corrects the bias is the parameter's, not the row's. Source: Kingma and Ba (2014), in lazy form.

    >>> table = facula.nn.Embedding(3, 2, sparse=True)
    >>> optimizer = facula.optim.SparseAdam(table.parameters(), lr=0.1)
    >>> before = table.weight.detach().clone()
    >>> table(facula.tensor([1])).sum().backward()
    >>> optimizer.step()
    >>> (table.weight.detach() != before).any(1)
    tensor([False,  True, False])
    """

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        check(lr > 0, "learning rate", lr)
        check(eps > 0, "epsilon value", eps)
        check_options(betas=betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        listed = [([i, k], p) for i, group in enumerate(self.param_groups) for k, p in enumerate(group["params"])]
        for kind, wanted, at in (
            ("Sparse", "requires dense parameter tensors", [i for i, p in listed if p.is_sparse]),
            ("Complex", "does not support complex parameters", [i for i, p in listed if p.is_complex()]),
        ):
            if at:
                raise ValueError(f"{kind} params at indices {at}: SparseAdam {wanted}. Give these to another optimizer.")

    def step(self, closure: Any = None) -> Any:
        """Move the rows that have a gradient; the loss that `closure` returned, if one was given."""
        loss = None
        if closure is not None:
            with facula.enable_grad():
                loss = closure()
        with facula.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._move(p, p.grad, group)
        return loss

    def _move(self, p: Tensor, grad: Tensor, group: dict) -> None:
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        state = self.state[p]
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = facula.zeros_like(p), facula.zeros_like(p)
        state["step"] += 1
        grad = (-grad if group.get("maximize") else grad).coalesce()
        if grad._nnz() == 0:
            return
        g, step, (beta1, beta2), where = grad._values(), state["step"], group["betas"], grad._indices().unbind()
        moved = []
        for mean, new, beta in ((state["exp_avg"], g, beta1), (state["exp_avg_sq"], g.pow(2), beta2)):
            old = mean[where]
            old.add_((new - old).mul_(1 - beta))
            mean.index_put_(where, old)
            moved.append(old)
        rate = number(group["lr"]) * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        p = p.detach()  # whose history no write has to look at
        p.index_put_(where, p[where].add_((moved[0] / moved[1].sqrt_().add_(group["eps"])).mul_(-rate)))
