"""Distributions over counts."""

from __future__ import annotations

import facula

from . import constraints
from .continuous import _Scalar
from .discrete import _one_of
from .distribution import Distribution
from .exponential_family import ExponentialFamily
from .gamma import Gamma
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits, softplus

__all__ = ["Binomial", "NegativeBinomial", "Poisson"]


class Poisson(ExponentialFamily, _Scalar):
    """P(k) = rate^k exp(-rate) / k!.

    >>> import facula
    >>> from facula.distributions import Poisson
    >>> Poisson(facula.tensor(3.0)).variance
    tensor(3.)
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, rate=rate)

    @property
    def mean(self) -> facula.Tensor:
        return self.rate

    @property
    def mode(self) -> facula.Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> facula.Tensor:
        return self.rate

    def sample(self, sample_shape=()) -> facula.Tensor:
        with facula.no_grad():
            return facula.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return facula.xlogy(value, rate) - rate - facula.lgamma(value + 1)

    @property
    def _natural_params(self):
        return (self.rate.log(),)

    def _log_normalizer(self, x):
        return x.exp()


class _Counts(Distribution):
    """total_count and one probability, given as probs or logits, broadcast against each other."""

    def __init__(self, total_count=1, probs=None, logits=None, validate_args: bool | None = None) -> None:
        self._given = _one_of(type(self).__name__, probs, logits)
        self.total_count, value = broadcast_all(total_count, logits if probs is None else probs)
        self.total_count = self.total_count.to(value.dtype)
        setattr(self, self._given, value)
        super().__init__(value.shape, validate_args=validate_args)

    @property
    def param_shape(self):
        return getattr(self, self._given).shape

    @lazy_property
    def logits(self) -> facula.Tensor:
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> facula.Tensor:
        return logits_to_probs(self.logits, is_binary=True)


class Binomial(_Counts):
    """Successes among total_count trials, each with probability probs.

    >>> import facula
    >>> from facula.distributions import Binomial
    >>> Binomial(4, facula.tensor(0.5)).log_prob(facula.tensor(2.0)).exp()
    tensor(0.3750)
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> facula.Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> facula.Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> facula.Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()) -> facula.Tensor:
        shape = self._extended_shape(sample_shape)
        with facula.no_grad():
            return facula.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        n = self.total_count
        ways = facula.lgamma(n + 1) - facula.lgamma(value + 1) - facula.lgamma(n - value + 1)
        return ways + value * self.logits - n * softplus(self.logits)

    def entropy(self) -> facula.Tensor:
        """Raises NotImplementedError where total_count differs within the batch."""
        values = self.enumerate_support(False)
        log_prob = self.log_prob(values)
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> facula.Tensor:
        """Raises NotImplementedError where total_count differs within the batch."""
        n = int(self.total_count.max())
        if not int(self.total_count.min()) == n:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return self._enumerate(facula.arange(1 + n, dtype=self.total_count.dtype), expand)


class NegativeBinomial(_Counts):
    """Successes of probability probs before total_count failures.

    >>> facula.distributions.NegativeBinomial(facula.tensor(3.0), probs=facula.tensor(0.5)).mean
    tensor(3.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args: bool | None = None) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @property
    def mean(self) -> facula.Tensor:
        return self.total_count * facula.exp(self.logits)

    @property
    def mode(self) -> facula.Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> facula.Tensor:
        return self.mean / facula.sigmoid(-self.logits)

    def sample(self, sample_shape=()) -> facula.Tensor:
        with facula.no_grad():
            rate = Gamma(self.total_count, facula.exp(-self.logits), validate_args=False).sample(sample_shape)
            return facula.poisson(rate)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        n = self.total_count
        either = n * -softplus(self.logits) + value * -softplus(-self.logits)
        ways = facula.lgamma(n + value) - facula.lgamma(1.0 + value) - facula.lgamma(n)
        return either + facula.where(n + value == 0.0, facula.zeros_like(ways), ways)
