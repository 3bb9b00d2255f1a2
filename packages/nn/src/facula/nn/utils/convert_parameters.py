"""Parameters as one vector, and back."""

from __future__ import annotations

from typing import Iterable

import facula
from facula import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of the parameters, one after the other.

    >>> facula.nn.utils.parameters_to_vector([facula.tensor([[1.0, 2.0]]), facula.tensor([3.0])])
    tensor([1., 2., 3.])
    """
    parameters = list(parameters)
    if any(p.device != parameters[0].device for p in parameters):
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
    return facula.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the parameters' data from one vector; they become views of it.

    >>> w, b = facula.zeros(1, 2), facula.zeros(1)
    >>> facula.nn.utils.vector_to_parameters(facula.tensor([1.0, 2.0, 3.0]), [w, b])
    >>> w, b
    (tensor([[1., 2.]]), tensor([3.]))
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected Tensor, but got: {type(vec).__name__}")
    at = 0
    for p in parameters:
        p.data = vec[at : at + p.numel()].view(p.shape).data
        at += p.numel()
