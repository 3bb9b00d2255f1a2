"""What models written for PyTorch import from within torch.nn.modules."""

from __future__ import annotations

from typing import Callable

import facula.nn.functional as F
from facula.nn._module_convert import _parse_to  # noqa: F401 - torch._C._nn._parse_to


def _get_activation_fn(activation: str) -> Callable:
    """relu or gelu by its name."""
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def _reparametrize_module(module, parameters_and_buffers, *, tie_weights: bool = False, strict: bool = False, stack_weights: bool = False):
    """A block in which the module has other parameters and buffers."""
    from facula.autograd.func._module import swapped

    return swapped(module, parameters_and_buffers, tie_weights, strict)


def __getattr__(name: str) -> Callable:
    return getattr(F, name)  # torch._C._nn.gelu and its like
