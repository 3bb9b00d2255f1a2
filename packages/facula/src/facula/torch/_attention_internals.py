"""What attention modules written after PyTorch's own import from torch.nn.functional."""

from __future__ import annotations

import warnings

import facula
from facula import Tensor
from facula.nn.functional import linear


def _none_or_dtype(input: Tensor | None) -> facula.dtype | None:
    """A tensor's dtype."""
    if input is not None and not isinstance(input, Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def _canonical_mask(
    mask: Tensor | None, mask_name: str, other_type: facula.dtype | None, other_name: str, target_type: facula.dtype, check_other: bool = True
) -> Tensor | None:
    """A mask to be added: of a bool one -inf where it is true, a floating one as it is."""
    if mask is None:
        return None
    if mask.dtype is not facula.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported, got {mask.dtype}")
    if check_other and other_type is not None and mask.dtype is not other_type:
        warnings.warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.", stacklevel=2)
    if mask.is_floating_point():
        return mask
    return facula.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _in_projection(
    q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, b_q: Tensor | None = None, b_k: Tensor | None = None, b_v: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value, each through its own linear map. Raises AssertionError for weights or biases of other sizes."""
    sizes = q.size(-1), k.size(-1), v.size(-1)
    for name, weight, bias, size in zip("qkv", (w_q, w_k, w_v), (b_q, b_k, b_v), sizes):
        if tuple(weight.shape) != (sizes[0], size):
            raise AssertionError(f"expecting {name} weights shape of {(sizes[0], size)}, but got {tuple(weight.shape)}")
        if bias is not None and tuple(bias.shape) != sizes[:1]:
            raise AssertionError(f"expecting {name} bias shape of {sizes[:1]}, but got {tuple(bias.shape)}")
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)
