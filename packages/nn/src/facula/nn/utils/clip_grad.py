"""Clipping gradients by norm and by value."""

from __future__ import annotations

import types
import warnings
from typing import Any, Iterable

import facula
from facula import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "clip_grad_norm"]


def _listed(tensors: Any) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all tensors taken as one vector. foreach names an implementation; there is one here.

    >>> facula.nn.utils.get_total_norm([facula.tensor([3.0]), facula.tensor([4.0])])
    tensor(5.)
    """
    norm_type = float(norm_type)
    with facula.no_grad():
        tensors = _listed(tensors)
        if not tensors:
            return facula.tensor(0.0)
        norms = [norm.to(tensors[0].device) for norm in facula._foreach_norm(tensors, norm_type)]
        total = facula.norm(facula.stack(norms), norm_type)
        if error_if_nonfinite and not bool(facula.isfinite(total)):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is non-finite ({total.item()}), so it "
                "cannot be clipped. To scale by it anyway, set `error_if_nonfinite=False`"
            )
        return total


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scale the gradients in place by min(1, max_norm / total_norm).

    >>> w = facula.zeros(2, requires_grad=True)
    >>> w.grad = facula.tensor([3.0, 4.0])
    >>> facula.nn.utils.clip_grads_with_norm_(w, 1.0, facula.tensor(5.0))
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    with facula.no_grad():
        # 1e-6 as in PyTorch; the product with a coefficient of 1 costs less than asking whether it is
        factor = facula.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        if factor.dim() and factor.numel() == 1 and (foreach is None or foreach):
            raise RuntimeError(f"clip_grads_with_norm_: scalar tensor expected to be 0 dim but total_norm has {factor.dim()} dimensions and 1 element. Give total_norm.squeeze().")
        grads = [p.grad for p in _listed(parameters) if p.grad is not None]
        if grads:
            facula._foreach_mul_(grads, [factor] * len(grads))


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients in place so that their common norm is at most max_norm; the norm they had.

    >>> w = facula.zeros(2, requires_grad=True)
    >>> w.grad = facula.tensor([3.0, 4.0])
    >>> facula.nn.utils.clip_grad_norm_(w, 1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    was_generator = isinstance(parameters, types.GeneratorType)
    parameters = _listed(parameters)
    if was_generator and not parameters:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total = get_total_norm([p.grad for p in parameters if p.grad is not None], norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of clip_grad_norm_.

    >>> w = facula.zeros(2, requires_grad=True)
    >>> w.grad = facula.tensor([3.0, 4.0])
    >>> facula.nn.utils.clip_grad_norm(w, 1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    warnings.warn("`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.", FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Iterable[Tensor] | Tensor, clip_value: float, foreach: bool | None = None) -> None:
    """Keep every element of the gradients within +-clip_value, in place. Raises RuntimeError where no parameter has a gradient.

    >>> w = facula.zeros(2, requires_grad=True)
    >>> w.grad = facula.tensor([0.5, -4.0])
    >>> facula.nn.utils.clip_grad_value_(w, 1.0)
    >>> w.grad
    tensor([ 0.5000, -1.0000])
    """
    clip_value = float(clip_value)
    grads = [p.grad for p in _listed(parameters) if p.grad is not None]
    if not grads:
        raise RuntimeError("clip_grad_value_: Expected at least one parameter with a gradient, got none. Call it behind backward().")
    with facula.no_grad():
        facula._foreach_clamp_min_(grads, -clip_value)
        facula._foreach_clamp_max_(grads, clip_value)
