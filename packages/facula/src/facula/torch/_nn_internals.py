"""What models written for PyTorch import from within torch.nn.modules."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import facula
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


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> facula.Tensor:
    """(sz, sz): -inf above the diagonal, else 0."""
    return facula.nn.Transformer.generate_square_subsequent_mask(sz, device=device, dtype=dtype)


def apply_permutation(tensor: facula.Tensor, permutation: facula.Tensor, dim: int = 1) -> facula.Tensor:
    """tensor.index_select(dim, permutation), deprecated."""
    warnings.warn("apply_permutation is deprecated, please use tensor.index_select(dim, permutation) instead", FutureWarning, stacklevel=2)
    return tensor.index_select(dim, permutation)


def _addindent(s_: str, numSpaces: int) -> str:
    """The text with all lines but the first moved to the right."""
    return s_.replace("\n", "\n" + " " * numSpaces)


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dim of a softmax that was given none: 0 for 0, 1 or 3 dims, else 1."""
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.", stacklevel=stacklevel)
    return 0 if ndim in (0, 1, 3) else 1


def is_namedtuple(obj: Any) -> bool:
    """Is it of a class that collections.namedtuple made?"""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


_is_namedtuple = is_namedtuple


def __getattr__(name: str) -> Callable:
    return getattr(F, name)  # torch._C._nn.gelu and its like
