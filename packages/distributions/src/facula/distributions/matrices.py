"""Distributions of matrices, and of vectors by structured ones: Wishart, LKJ, normal vectors of low rank, logistic normal."""

from __future__ import annotations

import math
import warnings
from numbers import Number

import facula

from . import constraints
from .composite import TransformedDistribution
from .continuous import Normal
from .distribution import Distribution
from .exponential_family import ExponentialFamily
from .gamma import Beta, Chi2
from .multivariate_normal import _factor_of_inverse
from .transforms import StickBreakingTransform
from .utils import broadcast_all, lazy_property, standard_normal

__all__ = ["LKJCholesky", "LogisticNormal", "LowRankMultivariateNormal", "Wishart"]


class LogisticNormal(TransformedDistribution):
    """Normal vectors taken to the simplex by breaking a stick: one number more than the base has.

    >>> facula.distributions.LogisticNormal(facula.zeros(2), facula.ones(2)).sample().sum().round(decimals=3)
    tensor(1.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex

    def __init__(self, loc, scale, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base if base.batch_shape else base.expand([1]), StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self):
        return self.base_dist.base_dist.loc

    @property
    def scale(self):
        return self.base_dist.base_dist.scale


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with covariance W W^T + diag(D): W = cov_factor (..., n, rank), D = cov_diag (..., n).

    Only the small matrix I + W^T D^-1 W is factored: its determinant and inverse give those of the covariance
    (matrix determinant lemma, Woodbury identity).

    >>> facula.distributions.LowRankMultivariateNormal(facula.zeros(2), facula.tensor([[1.0], [1.0]]), facula.ones(2)).covariance_matrix
    tensor([[2., 1.],
            [1., 2.]])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("LowRankMultivariateNormal: loc must be at least one-dimensional, it is a number. Give a vector.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2 or cov_factor.shape[-2:-1] != event:
            raise ValueError(f"LowRankMultivariateNormal: cov_factor must be matrices of shape {event[0]} x m, got {tuple(cov_factor.shape)}.")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"LowRankMultivariateNormal: cov_diag must be vectors of shape {tuple(event)}, got {tuple(cov_diag.shape)}.")
        try:
            batch = facula.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            shapes = f"loc {tuple(loc.shape)}, cov_factor {tuple(cov_factor.shape)}, cov_diag {tuple(cov_diag.shape)}"
            raise ValueError(f"LowRankMultivariateNormal: Incompatible batch shapes: {shapes}") from error
        self.loc, self.cov_diag = loc.expand(batch + event), cov_diag.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + cov_factor.shape[-2:])
        self._factor, self._diag = cov_factor, cov_diag
        scaled = cov_factor.mT / cov_diag.unsqueeze(-2)
        self._small = facula.linalg.cholesky(scaled @ cov_factor + facula.eye(cov_factor.shape[-1], dtype=loc.dtype))
        super().__init__(batch, event, validate_args)

    def _expanded(self, old, batch_shape) -> None:
        for name in ("variance", "scale_tril", "covariance_matrix", "precision_matrix"):
            self.__dict__.pop(name, None)

    def _matrix(self, value):
        return value.expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self) -> facula.Tensor:
        return self.loc

    mode = mean

    @lazy_property
    def variance(self) -> facula.Tensor:
        return (self._factor.pow(2).sum(-1) + self._diag).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> facula.Tensor:
        return self._matrix(self._factor @ self._factor.mT + facula.diag_embed(self._diag))

    @lazy_property
    def scale_tril(self) -> facula.Tensor:
        # D^1/2 chol(I + D^-1/2 W W^T D^-1/2): what is factored has no eigenvalue below 1
        root = self._diag.sqrt().unsqueeze(-1)
        scaled = self._factor / root
        return self._matrix(root * facula.linalg.cholesky(scaled @ scaled.mT + facula.eye(root.shape[-2], dtype=root.dtype)))

    @lazy_property
    def precision_matrix(self) -> facula.Tensor:
        part = facula.linalg.solve_triangular(*self._with_small(self._factor.mT / self._diag.unsqueeze(-2)), upper=False)
        return self._matrix(facula.diag_embed(self._diag.reciprocal()) - part.mT @ part)

    def _with_small(self, right):
        return self._small.expand(facula.broadcast_shapes(self._small.shape[:-2], right.shape[:-2]) + self._small.shape[-2:]), right

    def rsample(self, sample_shape=()) -> facula.Tensor:
        shape = self._extended_shape(sample_shape)
        small = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype)
        each = standard_normal(shape, self.loc.dtype)
        return self.loc + (self._factor @ small.unsqueeze(-1)).squeeze(-1) + self._diag.sqrt() * each

    def _log_det(self):
        return 2 * self._small.diagonal(dim1=-2, dim2=-1).log().sum(-1) + self._diag.log().sum(-1)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        away = value - self.loc
        inner = ((self._factor.mT / self._diag.unsqueeze(-2)) @ away.unsqueeze(-1))
        inner = facula.linalg.solve_triangular(*self._with_small(inner), upper=False).squeeze(-1)
        distance = (away.pow(2) / self._diag).sum(-1) - inner.pow(2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self) -> facula.Tensor:
        return (0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())).expand(self._batch_shape)


class LKJCholesky(Distribution):
    """Cholesky factors L of correlation matrices of size dim: the density of L L^T is proportional to det^(concentration - 1).

    Drawn by the onion method. Source: Lewandowski, Kurowicka, Joe, Generating random correlation matrices based on vines
    and extended onion method, J. Multivariate Analysis 100 (2009).

    >>> factor = facula.distributions.LKJCholesky(3).sample()
    >>> (factor @ factor.T).diagonal().round(decimals=3)
    tensor([1., 1., 1.])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration=1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"LKJCholesky: Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        self._set_radii()
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def _set_radii(self) -> None:
        """The distribution of the squared length of what is left of the diagonal, row by row."""
        offset = facula.arange(self.dim - 1, dtype=self.concentration.dtype)
        offset = facula.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, (self.concentration + 0.5 * (self.dim - 2)).unsqueeze(-1) - 0.5 * offset)

    def _expanded(self, old, batch_shape) -> None:
        self._set_radii()

    def sample(self, sample_shape=()) -> facula.Tensor:
        with facula.no_grad():
            squared = self._beta.sample(sample_shape).unsqueeze(-1)
            direction = facula.randn(self._extended_shape(sample_shape), dtype=squared.dtype).tril(-1)
            direction = direction / direction.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0  # the first row has nothing left of its diagonal
            rows = squared.sqrt() * direction
            rest = (1 - rows.pow(2).sum(-1)).clamp(min=facula.finfo(rows.dtype).tiny).sqrt()
            return rows + facula.diag_embed(rest)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - facula.arange(2, self.dim + 1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        normalizer = 0.5 * n * math.log(math.pi) + facula.mvlgamma(alpha - 0.5, n) - facula.lgamma(alpha) * n
        return (order * diagonal.log()).sum(-1) - normalizer


class Wishart(ExponentialFamily):
    """Sums of df outer products of normal vectors with covariance S (or its inverse, or its Cholesky factor), df > n - 1.

    log p(X) = ((df - n - 1) log det X - tr S^-1 X - df (n log 2 + log det S)) / 2 - log Gamma_n(df / 2).
    Drawn by Bartlett's decomposition; samples that came out singular are drawn again, max_try_correction times at most.

    >>> facula.distributions.Wishart(facula.tensor(3.0), facula.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args: bool | None = None) -> None:
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise AssertionError(
                "Wishart: Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified, "
                f"got {', '.join(given) or 'none'}."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"Wishart: {name} must be at least two-dimensional, its shape is {tuple(matrix.shape)}.")
        n = matrix.shape[-1]
        df = facula.tensor(df, dtype=matrix.dtype) if isinstance(df, Number) else df
        batch = facula.broadcast_shapes(matrix.shape[:-2], df.shape)
        self.df = df.expand(batch)
        if bool((self.df <= n - 1).any()):
            raise ValueError(f"Wishart: Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        if bool((self.df < n).any()):
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2)
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        super().__init__(batch, matrix.shape[-2:], validate_args)
        factors = {"scale_tril": lambda m: m, "covariance_matrix": facula.linalg.cholesky, "precision_matrix": _factor_of_inverse}
        self._factor = factors[name](matrix)

    def _matrix(self, value):
        return value.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> facula.Tensor:
        return self._matrix(self._factor)

    @lazy_property
    def covariance_matrix(self) -> facula.Tensor:
        return self._matrix(self._factor @ self._factor.mT)

    @lazy_property
    def precision_matrix(self) -> facula.Tensor:
        return self._matrix(facula.cholesky_inverse(self._factor))

    @property
    def mean(self) -> facula.Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> facula.Tensor:
        factor = self.df - self._event_shape[-1] - 1
        return facula.where(factor > 0, factor, math.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> facula.Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape=()):
        n = self._event_shape[-1]
        radii = Chi2(self.df.unsqueeze(-1) - facula.arange(n, dtype=self._factor.dtype)).rsample(sample_shape).sqrt()
        radii = radii.clamp(min=facula.finfo(radii.dtype).eps)
        below = facula.randn(facula.Size(sample_shape) + self._batch_shape + (n * (n - 1) // 2,), dtype=radii.dtype)
        rows, columns = facula.tril_indices(n, n, offset=-1, device=below.device)
        noise = facula.diag_embed(radii)
        noise[..., rows, columns] = below
        factor = self._factor @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape=(), max_try_correction=None) -> facula.Tensor:
        sample_shape = facula.Size(sample_shape)
        found = self._bartlett_sampling(sample_shape)
        # PyTorch draws every sample that came out well a second time, and so its stream goes on
        again = self._any_of_batch(self.support.check(found))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            if not bool(again.any()):
                break
            found = self._replaced(found, again)
            again = self._any_of_batch(~self.support.check(found))
        return found

    def _any_of_batch(self, flags):
        """Whether any distribution of the batch has the flag, for each sample."""
        return flags.flatten(flags.dim() - len(self._batch_shape)).any(-1) if self._batch_shape else flags

    def _replaced(self, found, again):
        """found, with the samples that `again` marks drawn anew."""
        new = self._bartlett_sampling((int(again.sum()),))
        if not again.dim():
            return new[0]
        places = facula.nonzero(again.reshape(-1)).squeeze(1)
        return found.reshape((-1,) + found.shape[again.dim() :]).index_copy(0, places, new).reshape(found.shape)

    def _log_det_factor(self):
        return self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        n = self._event_shape[-1]
        factor = self._factor.expand(facula.broadcast_shapes(self._factor.shape, value.shape))
        trace = facula.cholesky_solve(value.expand(factor.shape), factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        normalizer = self.df * (n * math.log(2) / 2 + self._log_det_factor()) + facula.mvlgamma(self.df / 2, n)
        return (self.df - n - 1) / 2 * facula.linalg.slogdet(value).logabsdet - trace / 2 - normalizer

    def entropy(self) -> facula.Tensor:
        n, df = self._event_shape[-1], self.df
        slopes = facula.digamma(df.unsqueeze(-1) / 2 - 0.5 * facula.arange(n, dtype=df.dtype)).sum(-1)
        half = (n + 1) * (n * math.log(2) / 2 + self._log_det_factor())
        return half + facula.mvlgamma(df / 2, n) - (df - n - 1) / 2 * slopes + df * n / 2

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        n = self._event_shape[-1]
        return (y + (n + 1) / 2) * (n * math.log(2) - facula.linalg.slogdet(-2 * x).logabsdet) + facula.mvlgamma(y + (n + 1) / 2, n)
