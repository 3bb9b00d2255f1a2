"""Distributions on the real line, drawn in PyTorch's random stream."""

from __future__ import annotations

import math

import facula

from . import constraints
from .distribution import Distribution
from .exponential_family import ExponentialFamily
from .utils import broadcast_all, is_number, standard_normal

__all__ = ["Cauchy", "Exponential", "Laplace", "Normal", "Uniform"]


class _Scalar(Distribution):
    """Parameters broadcast against each other make the batch; an event is one number."""

    def _broadcast(self, validate_args: bool | None, **parameters) -> None:
        values = broadcast_all(*parameters.values())
        for name, value in zip(parameters, values):
            setattr(self, name, value)
        # Plain numbers make a distribution without batch dimensions, which broadcast_all's tensors have too.
        shape = () if is_number(*parameters.values()) else values[0].shape
        super().__init__(shape, validate_args=validate_args)


class Normal(ExponentialFamily, _Scalar):
    """Density exp(-((x - loc) / scale)^2 / 2) / (scale sqrt(2 pi)).

    >>> import facula
    >>> from facula.distributions import Normal
    >>> Normal(0.0, 1.0).log_prob(facula.tensor(0.0))
    tensor(-0.9189)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> facula.Tensor:
        return self.loc

    mode = mean

    @property
    def stddev(self) -> facula.Tensor:
        return self.scale

    @property
    def variance(self) -> facula.Tensor:
        return self.scale.pow(2)

    def sample(self, sample_shape=()) -> facula.Tensor:
        shape = self._extended_shape(sample_shape)
        with facula.no_grad():
            return facula.normal(self.loc.expand(shape), self.scale.expand(shape))  # of loc's dtype, unlike rsample's

    def rsample(self, sample_shape=()) -> facula.Tensor:
        return self.loc + standard_normal(self._extended_shape(sample_shape), self.loc.dtype) * self.scale

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return -((value - self.loc) ** 2) / (2 * self.variance) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return 0.5 * (1 + facula.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value) -> facula.Tensor:
        return self.loc + self.scale * facula.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> facula.Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + facula.log(self.scale)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x, y):
        return -0.25 * x.pow(2) / y + 0.5 * facula.log(-math.pi / y)


class Uniform(_Scalar):
    """Density 1 / (high - low) on [low, high).

    >>> import facula
    >>> from facula.distributions import Uniform
    >>> Uniform(0.0, 4.0).log_prob(facula.tensor(1.0)).exp()
    tensor(0.2500)
    """

    has_rsample = True

    @property
    def arg_constraints(self):
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def __init__(self, low, high, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, low=low, high=high)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> facula.Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> facula.Tensor:
        return facula.full_like(self.low, math.nan)  # every value is one

    @property
    def variance(self) -> facula.Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape=()) -> facula.Tensor:
        uniform = facula.rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + uniform * (self.high - self.low)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        inside = (self.low.le(value) & self.high.gt(value)).to(self.low.dtype)
        return facula.log(inside) - facula.log(self.high - self.low)

    def cdf(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value) -> facula.Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> facula.Tensor:
        return facula.log(self.high - self.low)


class Exponential(ExponentialFamily, _Scalar):
    """Density rate exp(-rate x) for x >= 0.

    >>> import facula
    >>> from facula.distributions import Exponential
    >>> Exponential(facula.tensor(2.0)).mean
    tensor(0.5000)
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, rate=rate)

    @property
    def mean(self) -> facula.Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> facula.Tensor:
        return facula.zeros_like(self.rate)

    @property
    def stddev(self) -> facula.Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> facula.Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        return facula.empty(self._extended_shape(sample_shape), dtype=self.rate.dtype).exponential_() / self.rate

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return 1 - facula.exp(-self.rate * value)

    def icdf(self, value) -> facula.Tensor:
        return -facula.log1p(-value) / self.rate

    def entropy(self) -> facula.Tensor:
        return 1.0 - facula.log(self.rate)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -facula.log(-x)


class Laplace(_Scalar):
    """Density exp(-|x - loc| / scale) / (2 scale).

    >>> import facula
    >>> from facula.distributions import Laplace
    >>> Laplace(facula.tensor(0.0), facula.tensor(1.0)).log_prob(facula.tensor(0.0)).exp()
    tensor(0.5000)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> facula.Tensor:
        return self.loc

    mode = mean

    @property
    def variance(self) -> facula.Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> facula.Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape=()) -> facula.Tensor:
        eps = facula.finfo(self.loc.dtype).eps
        u = facula.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).uniform_(eps - 1, 1)
        return self.loc - self.scale * u.sign() * facula.log1p(-u.abs())

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return -facula.log(2 * self.scale) - facula.abs(value - self.loc) / self.scale

    def cdf(self, value) -> facula.Tensor:
        self._validate_sample(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * facula.expm1(-away.abs() / self.scale)

    def icdf(self, value) -> facula.Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * facula.log1p(-2 * term.abs())

    def entropy(self) -> facula.Tensor:
        return 1 + facula.log(2 * self.scale)


class Cauchy(_Scalar):
    """Density 1 / (pi scale (1 + ((x - loc) / scale)^2)); mean and variance do not exist.

    >>> import facula
    >>> from facula.distributions import Cauchy
    >>> Cauchy(facula.tensor(0.0), facula.tensor(1.0)).cdf(facula.tensor(1.0))
    tensor(0.7500)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> facula.Tensor:
        return facula.full(self._extended_shape(), math.nan, dtype=self.loc.dtype)

    @property
    def mode(self) -> facula.Tensor:
        return self.loc

    @property
    def variance(self) -> facula.Tensor:
        return facula.full(self._extended_shape(), math.inf, dtype=self.loc.dtype)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        return self.loc + facula.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).cauchy_() * self.scale

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return facula.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value) -> facula.Tensor:
        return facula.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> facula.Tensor:
        return math.log(4 * math.pi) + self.scale.log()
