"""torch.utils._python_dispatch: tensors made of tensors, which a class says by __tensor_flatten__ and __tensor_unflatten__."""

from __future__ import annotations

from typing import Any

from facula import Tensor

from ._absent import one

TorchDispatchMode = one("torch.utils._python_dispatch.TorchDispatchMode")


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Does the class say how its tensors are taken apart and made again?"""
    return issubclass(t, Tensor) and t is not Tensor and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Is it a tensor of such a class?"""
    return is_traceable_wrapper_subclass_type(type(t))
