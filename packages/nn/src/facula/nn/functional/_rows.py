"""The kernels of the core that have no public name of their own: row("_layer_norm") is the flat function of that row."""

from __future__ import annotations

from typing import Any, Callable

import facula
from facula import Tensor
from facula.tensor_core import extend


def row(name: str) -> Callable:
    """The flat function of a row: recorded by autograd, seen by interpreters, like every public one."""
    return extend.function(extend.ops[name])


def in_one_dtype(kernel: Callable, input: Tensor, *parts: Tensor | None) -> Tensor:
    """kernel(input, *parts), whose operands share a dtype; a half input with float32 parts is computed in float32, as in PyTorch."""
    if input.dtype in _HALVES and any(t is not None and t.dtype is facula.float32 for t in parts):
        wide = (t if t is None else t.float() for t in parts)
        return kernel(input.float(), *wide).to(input.dtype)
    return kernel(input, *parts)


_HALVES = (facula.float16, facula.bfloat16)
WIDE = (facula.float32, facula.float64)
REAL = (*WIDE, *_HALVES)


@extend.one_step(copy=extend.GOES_ON)
def stored(name: str, loss: Tensor, dtype: Any) -> Tensor:
    """A loss in the dtype of the tensor that PyTorch writes it into. Raises RuntimeError for one that cannot hold it."""
    if loss.dtype is dtype:
        return loss
    if not facula.can_cast(loss.dtype, dtype):
        raise extend.DTypeError(f"{name}: result type {loss.dtype._scalar_type} can't be cast to the desired output type {dtype._scalar_type}. Convert it with .float().")
    return loss.to(dtype)


def constant(name: str, **given: Tensor | None) -> None:
    """Refuse arguments with a history: of these the function is not differentiable, and a gradient that never comes would go unnoticed."""
    for word, t in given.items():
        if t is not None and t.requires_grad and facula.is_grad_enabled():
            raise extend.GradError(f"{name}: The function is not differentiable with respect to argument '{word}'. This input cannot have requires_grad True. Detach it.")


def only(name: str, dtype: Any, allowed: tuple) -> None:
    """Refuse a dtype that PyTorch's function is not defined for, where ours would compute something."""
    if dtype not in allowed:
        raise extend.DTypeError(f'{name}: "{name}" not implemented for {dtype} (but for {", ".join(d._name for d in allowed)}). Convert with input.float().')
