"""functional_call by the name it had before facula.func."""

from __future__ import annotations

import warnings
from typing import Any

from facula import Tensor

from ..module import Module

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """facula.func.functional_call, which is the name to use.

    >>> layer = facula.nn.Linear(2, 1, bias=False)
    >>> facula.nn.utils.stateless.functional_call(layer, {"weight": facula.tensor([[1.0, 10.0]])}, facula.tensor([2.0, 3.0]))
    tensor([32.])
    """
    warnings.warn("nn.utils.stateless.functional_call is deprecated. Please use `torch.func.functional_call`, which is facula.func's.", FutureWarning, stacklevel=2)
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(
    module: Module, parameters_and_buffers: dict[str, Tensor], args: Any = None, kwargs: Any = None, *, tie_weights: bool = True, strict: bool = False
) -> Any:
    from facula.func import functional_call as call  # nn starts without autograd

    return call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
