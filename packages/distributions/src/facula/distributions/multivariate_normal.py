"""Normal vectors."""

from __future__ import annotations

import math

import facula

from . import constraints
from .distribution import Distribution
from .utils import lazy_property, standard_normal

__all__ = ["MultivariateNormal"]


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc` (..., n) and a covariance, its inverse or its Cholesky factor (..., n, n).

    log p(x) = -(n log(2 pi) + |L^-1 (x - loc)|^2) / 2 - sum log diag L, with covariance L L^T.

    >>> import facula
    >>> from facula.distributions import MultivariateNormal
    >>> MultivariateNormal(facula.zeros(2), facula.eye(2)).log_prob(facula.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("MultivariateNormal: loc must be at least one-dimensional, it is a number. Give a vector.")
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                "MultivariateNormal: Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified, "
                f"got {', '.join(given) or 'none'}."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(
                f"MultivariateNormal: {name} must be at least two-dimensional, its shape is {tuple(matrix.shape)}."
            )
        batch = facula.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(batch + (-1,))
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        super().__init__(batch, loc.shape[-1:], validate_args)
        # The factor itself, not expanded: the same for the whole batch when one matrix was given.
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = facula.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _factor_of_inverse(matrix)

    def _matrix(self, value):
        return value.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> facula.Tensor:
        return self._matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> facula.Tensor:
        return self._matrix(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> facula.Tensor:
        return self._matrix(facula.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> facula.Tensor:
        return self.loc

    mode = mean

    @property
    def variance(self) -> facula.Tensor:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        eps = standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + (self._unbroadcasted_scale_tril @ eps.unsqueeze(-1)).squeeze(-1)

    def _log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        away = (value - self.loc).unsqueeze(-1)
        factor = self._unbroadcasted_scale_tril
        solved = facula.linalg.solve_triangular(factor.expand(away.shape[:-2] + factor.shape[-2:]), away, upper=False)
        squares = solved.squeeze(-1).pow(2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + squares) - self._log_det()

    def entropy(self) -> facula.Tensor:
        half = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det()
        return half.expand(self._batch_shape)


def _factor_of_inverse(precision):
    """The lower Cholesky factor of the inverse, by factoring the matrix read backwards."""
    flipped = facula.linalg.cholesky(facula.flip(precision, (-2, -1)))
    upper = facula.flip(flipped, (-2, -1)).mT
    eye = facula.eye(precision.shape[-1], dtype=precision.dtype).expand(precision.shape)
    return facula.linalg.solve_triangular(upper, eye, upper=False)
