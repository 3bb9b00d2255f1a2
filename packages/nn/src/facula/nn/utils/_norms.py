"""The formulas of weight and spectral normalisation, shared by the hooks and the parametrizations."""

from __future__ import annotations

from numbers import Integral

import facula
from facula import Tensor

from ..functional import normalize


def norm_except_dim(v: Tensor, dim: int, pow: int = 2) -> Tensor:
    """The norm over all dims but one, kept; over all dims where dim is -1. IndexError where v has no such dim."""
    if isinstance(dim, bool) or not isinstance(dim, Integral):
        raise TypeError(f"norm_except_dim(): argument 'dim' (position 3) must be int, not {type(dim).__name__}. Give a dim, or None for all of them.")
    if dim == -1:
        return v.norm(pow)
    if not v.size(dim):  # which says what is out of range
        raise RuntimeError(f"norm_except_dim: cannot reshape tensor of 0 elements into shape [0, -1]: dim {dim} of {tuple(v.shape)} has no slices. Take another dim.")
    dims = [d for d in range(v.dim()) if d != dim % v.dim()]
    return v.norm(pow, dims, True) if dims else v.abs()


def weight_of(g: Tensor, v: Tensor, dim: int) -> Tensor:
    """g v / |v|. Source: Salimans and Kingma (2016)."""
    return v * (g / norm_except_dim(v, dim))


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """weight with `dim` as rows and all else as columns."""
    if dim:
        weight = weight.permute(dim, *(d for d in range(weight.dim()) if d != dim))
    return weight.reshape(weight.size(0), -1)


def iterate(matrix: Tensor, u: Tensor, v: Tensor, times: int, eps: float, u_first: bool) -> None:
    """Power iterations towards the largest singular value's vectors, in place. Source: Miyato et al. (2018).

    u_first: the parametrization's order, which conjugates where the hook, as PyTorch's, transposes only.
    """
    back = matrix.mH if u_first else matrix.t()
    with facula.no_grad():
        for _ in range(times):
            for which in ("u", "v") if u_first else ("v", "u"):
                if which == "u":
                    u.copy_(normalize(matrix @ v, dim=0, eps=eps))
                else:
                    v.copy_(normalize(back @ u, dim=0, eps=eps))


def sigma(matrix: Tensor, u: Tensor, v: Tensor, conjugate: bool = False) -> Tensor:
    """u^T W v, or u^H W v, with the vectors as they are now, whatever is done to them later."""
    return ((u.conj_physical() if conjugate and u.is_complex() else u.clone()) * (matrix @ v.clone())).sum()


def usual_dim(module: object) -> int:
    """The dim of outputs: 1 in transposed convolutions, else 0."""
    return 1 if getattr(module, "transposed", False) else 0
