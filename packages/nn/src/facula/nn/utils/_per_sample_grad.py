"""call_for_per_sample_grads: a module's forward whose backward leaves one gradient for each sample."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import facula
from facula.nn.modules import Module
from facula.utils import _pytree as pytree

__all__ = ["call_for_per_sample_grads"]


class _OneForEach(facula.autograd.Function):
    """A parameter, once for each sample; the gradients of the copies become its grad_sample, and it gets no grad."""

    @staticmethod
    def forward(ctx, parameter, batch_size, scale):
        ctx.parameter, ctx.scale = parameter, scale
        return parameter.detach().expand(batch_size, *parameter.shape)

    @staticmethod
    def backward(ctx, grad):
        before = getattr(ctx.parameter, "grad_sample", None)
        grad = grad * ctx.scale if ctx.scale != 1 else grad
        ctx.parameter.grad_sample = grad if before is None else before + grad
        return None, None, None


def call_for_per_sample_grads(
    module: Module, *, batch_size: int | None = None, loss_reduction: str = "sum", batch_first: bool = True
) -> Callable[..., Any]:
    """The forward of module; a backward through its results puts (batch_size, *shape) gradients into each parameter's grad_sample.

    Every sample runs by itself, so a module that mixes samples, such as BatchNorm in training, cannot be asked.
    batch_size: that of the tensors among the arguments, if not given.
    loss_reduction: "sum", or "mean" for a loss that is a mean over samples: gradients are multiplied by batch_size then.
    batch_first: the samples are the first dim of every tensor, or else the second.

    Raises RuntimeError where samples cannot be told, or a grad_sample is left from a call before.

    >>> import facula
    >>> from facula.nn.utils._per_sample_grad import call_for_per_sample_grads
    >>> linear = facula.nn.Linear(2, 1)
    >>> call_for_per_sample_grads(linear)(facula.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    >>> linear.weight.grad_sample
    tensor([[[1., 2.]],
    <BLANKLINE>
            [[3., 4.]]])
    """
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(f"call_for_per_sample_grads: Expected loss_reduction argument to be sum or mean, got {loss_reduction!r}.")
    if not isinstance(module, Module):
        raise RuntimeError(f"call_for_per_sample_grads: Module passed must be nn.Module, got {type(module).__name__}.")
    if batch_size is not None and not isinstance(batch_size, int):
        raise RuntimeError(f"call_for_per_sample_grads: Batch size passed must be None or an integer, got {type(batch_size).__name__}.")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"call_for_per_sample_grads: Batch size must be positive, got {batch_size}.")
    for name, parameter in module.named_parameters():
        if getattr(parameter, "grad_sample", None) is not None:
            raise RuntimeError(f"call_for_per_sample_grads: {name} has a grad_sample, to which another backward would add. Set it to None first.")
    dim = 0 if batch_first else 1

    @functools.wraps(module.forward)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = pytree.tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, facula.Tensor)]
        samples = batch_size or _samples(tensors, dim)
        scale = samples if loss_reduction == "mean" else 1
        wanted = {name: _OneForEach.apply(p, samples, scale) for name, p in module.named_parameters() if p.requires_grad}

        def one(own: dict[str, facula.Tensor], sample: list[facula.Tensor]) -> Any:
            rest = iter(sample)
            given = [next(rest).unsqueeze(dim) if isinstance(leaf, facula.Tensor) else leaf for leaf in leaves]
            a, k = pytree.tree_unflatten(given, structure)
            result = facula.func.functional_call(module, own, a, k)
            return pytree.tree_map(lambda t: t.squeeze(dim) if isinstance(t, facula.Tensor) else t, result)

        return facula.func.vmap(one, in_dims=(0, dim), out_dims=dim, randomness="different")(wanted, tensors)

    return wrapper


def _samples(tensors: list[facula.Tensor], dim: int) -> int:
    found = {t.shape[dim] for t in tensors}
    if len(found) != 1:
        what = f"tensors of {sorted(found)} samples" if found else "no tensor"
        raise RuntimeError(f"call_for_per_sample_grads: {what} among the arguments. Give batch_size.")
    return found.pop()
