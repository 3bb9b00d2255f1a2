"""Parametrizations: weight_norm, spectral_norm, orthogonal."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor

from ..functional import normalize
from ..module import Module
from . import parametrize
from ._norms import as_matrix, iterate, norm_except_dim, sigma, usual_dim, weight_of

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_of(weight_g, weight_v, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """weight = g v / |v|: magnitude is original0, direction original1. Source: Salimans and Kingma (2016).

    >>> layer = facula.nn.utils.parametrizations.weight_norm(facula.nn.Linear(3, 2))
    >>> layer.parametrizations.weight.original0.shape, layer.parametrizations.weight.original1.shape
    (torch.Size([2, 1]), torch.Size([2, 3]))
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def from_hook(state_dict: dict, prefix: str, *_: Any) -> None:
        """Let a checkpoint of the hook form load."""
        for end, number in (("_g", 0), ("_v", 1)):
            old = f"{prefix}{name}{end}"
            if old in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.original{number}"] = state_dict.pop(old)

    module._register_load_state_dict_pre_hook(from_hook)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps = dim % weight.ndim, eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            drawn = [matrix.new_empty(n).normal_(0, 1) for n in matrix.shape]
            for name, x in zip(("_u", "_v"), drawn):
                self.register_buffer(name, normalize(x, dim=0, eps=eps))
            iterate(matrix, self._u, self._v, 15, eps, u_first=True)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            iterate(matrix, self._u, self._v, self.n_power_iterations, self.eps, u_first=True)
        return weight / sigma(matrix, self._u, self._v, conjugate=True)

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """weight / its largest singular value. Source: Miyato et al. (2018).

    >>> _ = facula.manual_seed(0)
    >>> layer = facula.nn.utils.parametrizations.spectral_norm(facula.nn.Linear(3, 3), n_power_iterations=50)
    >>> facula.linalg.matrix_norm(layer.weight, 2).round(decimals=2)
    tensor(1., grad_fn=<RoundBackward1>)
    """
    weight = _weight_of(module, name)
    dim = usual_dim(module) if dim is None else dim
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


def _weight_of(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def _orthonormal(matrix: Tensor) -> Tensor:
    """The Q of a QR factorisation whose R has a positive diagonal."""
    q, r = facula.linalg.qr(matrix)
    return q * r.diagonal(0, -2, -1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """base @ map(X): X is free, map(X) orthogonal, base, if there is one, the weight assigned last. Source: Lezcano (2019)."""

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.size(-2) < X.size(-1)
        X = X.mT if wide else X
        n, k = X.size(-2), X.size(-1)
        if self.orthogonal_map == "householder":
            q = _reflections(X)
        else:
            X = X.tril()
            if n != k:
                X = facula.cat([X, X.new_zeros(*X.shape[:-1], n - k)], -1)
            skew = X - X.mH
            if self.orthogonal_map == "matrix_exp":
                q = facula.linalg.matrix_exp(skew)
            else:
                one = facula.eye(n, dtype=X.dtype, device=X.device)
                q = facula.linalg.solve(one - 0.5 * skew, one + 0.5 * skew)
            q = q[..., :k]
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {tuple(self.shape)}. Got a tensor of shape {tuple(Q.shape)}.")
        if not hasattr(self, "base"):
            return self._reflected(Q)
        with facula.no_grad():
            start = -facula.eye(Q.size(-2), Q.size(-1), dtype=Q.dtype, device=Q.device).expand_as(Q).clone()
            Q = Q.detach().mT if Q.size(-2) < Q.size(-1) else Q.detach()
            n, k = Q.size(-2), Q.size(-1)
            if n != k:  # a basis of the rest, at random
                Q = facula.cat([Q, facula.randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)], -1)
                Q = _orthonormal(Q)
            elif not _is_orthonormal(Q):
                Q = _orthonormal(Q)
            self.base = Q.clone()
            return start

    def _reflected(self, Q: Tensor) -> Tensor:
        """The X whose reflections give Q, made orthogonal where it is not."""
        if self.orthogonal_map != "householder":
            raise NotImplementedError(f"orthogonal: it is not possible to assign to the matrix exponential or the Cayley parametrizations when use_trivialization=False ({self.orthogonal_map}). Leave it True.")
        with facula.no_grad():
            wide = Q.size(-2) < Q.size(-1)
            X, tau = facula.geqrf(Q.mT if wide else Q)
            signs = X.diagonal(0, -2, -1)
            signs.copy_(facula.where(tau == 0, -signs.sign(), signs.sign()))  # a reflection of length 0 turns nothing
            return X.mT if wide else X


def _is_orthonormal(q: Tensor) -> bool:
    one = facula.eye(q.size(-1), dtype=q.dtype, device=q.device)
    eps = 10 * q.size(-1) * facula.finfo(q.dtype).eps
    return bool(((q.mH @ q - one).abs() <= eps).all())


def _reflections(X: Tensor) -> Tensor:
    """The first k columns of the product of the Householder reflections below X's diagonal, with X's diagonal as signs."""
    n, k = X.size(-2), X.size(-1)
    below = X.tril(-1)
    tau = 2.0 / (1.0 + (below * below).sum(-2))
    one = facula.eye(n, k, dtype=X.dtype, device=X.device)
    vectors = below + one
    q = one.expand_as(X)
    for j in reversed(range(k)):
        v = vectors[..., j].unsqueeze(-1)
        q = q - tau[..., j, None, None] * (v @ (v.mT @ q))
    signs = X.diagonal(0, -2, -1).detach().trunc()  # +-1 where it was made by right_inverse
    return q * signs.unsqueeze(-2)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep a matrix (or batch) orthogonal: its columns, or rows if it is wide, are orthonormal.

    orthogonal_map: "matrix_exp" (usual for square), "cayley" or "householder".
    use_trivialization: map(X) times a base, the weight assigned last; without it only "householder" can be assigned to.

    >>> layer = facula.nn.utils.parametrizations.orthogonal(facula.nn.Linear(3, 3))
    >>> (layer.weight @ layer.weight.T).allclose(facula.eye(3), atol=1e-5)
    True
    """
    weight = _weight_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if not isinstance(orthogonal_map, str):
        raise TypeError(f"orthogonal: orthogonal_map is {type(orthogonal_map).__name__}, not the name of one. Write 'matrix_exp', 'cayley' or 'householder'.")
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    return parametrize.register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)
