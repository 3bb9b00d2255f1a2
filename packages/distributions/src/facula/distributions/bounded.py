"""The continuous Bernoulli and the generalized Pareto distribution: on an interval, drawn by the inverse of their cdf."""

from __future__ import annotations

import math

import facula

from . import constraints
from .continuous import _Scalar
from .discrete import _Binary
from .exponential_family import ExponentialFamily
from .utils import bernoulli_log_prob, broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli", "GeneralizedPareto"]


class ContinuousBernoulli(ExponentialFamily, _Binary):
    """Density C(p) p^x (1 - p)^(1 - x) on [0, 1], with C(p) = 2 artanh(1 - 2p) / (1 - 2p).

    Where p is within `lims` those formulas cancel, and their Taylor expansions about 1/2 are used.
    Source: Loaiza-Ganem, Cunningham, The continuous Bernoulli (2019).

    >>> facula.distributions.ContinuousBernoulli(facula.tensor([0.25])).mean
    tensor([0.4102])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args: bool | None = None) -> None:
        self._lims = lims
        if probs is not None:
            (clamped,) = broadcast_all(probs)
            if validate_args is not None and not constraints.unit_interval.check(clamped).all():  # the default looks at what the clamp leaves
                raise ValueError(f"ContinuousBernoulli: the parameter probs has invalid values, outside of [0, 1]: {probs}. Give probabilities.")
            clamped = clamp_probs(clamped)
            probs = clamped if isinstance(probs, facula.Tensor) else clamped.item()
        super().__init__(probs, logits, validate_args)

    @lazy_property
    def probs(self):
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    @property
    def param_shape(self):
        return self._parameter.shape

    def _near_half(self):
        return (self.probs > self._lims[0]) & (self.probs < self._lims[1])

    def _safe(self):
        """probs, moved out of the region where the formulas cancel."""
        return facula.where(self._near_half(), self._lims[0], self.probs)

    def _split(self, usual, series):
        """`usual` where it does not cancel, else `series` in probs - 1/2."""
        return facula.where(self._near_half(), series(self.probs - 0.5), usual)

    def _cont_bern_log_norm(self):
        """log C(p)."""
        p = self._safe()
        low, high = facula.where(p <= 0.5, p, 0.0), facula.where(p >= 0.5, p, 1.0)
        usual = (facula.log1p(-p) - p.log()).abs().log() - facula.where(p <= 0.5, facula.log1p(-2 * low), (2 * high - 1).log())
        return self._split(usual, lambda x: math.log(2) + (4 / 3 + 104 / 45 * x**2) * x**2)

    @property
    def mean(self) -> facula.Tensor:
        p = self._safe()
        return self._split(p / (2 * p - 1) + 1 / (facula.log1p(-p) - p.log()), lambda x: 0.5 + (1 / 3 + 16 / 45 * x**2) * x)

    @property
    def variance(self) -> facula.Tensor:
        p = self._safe()
        usual = p * (p - 1) / (1 - 2 * p) ** 2 + 1 / (facula.log1p(-p) - p.log()) ** 2
        return self._split(usual, lambda x: 1 / 12 - (1 / 15 - 128 / 945 * x**2) * x**2)

    @property
    def stddev(self) -> facula.Tensor:
        return self.variance.sqrt()

    def rsample(self, sample_shape=()) -> facula.Tensor:
        return self.icdf(facula.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def sample(self, sample_shape=()) -> facula.Tensor:
        with facula.no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return bernoulli_log_prob(self.logits, value) + self._cont_bern_log_norm()

    def cdf(self, value) -> facula.Tensor:
        self._validate_sample(value)
        p = self._safe()
        usual = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        found = facula.where(self._near_half(), value, usual)
        return facula.where(value <= 0, 0.0, facula.where(value >= 1, 1.0, found))

    def icdf(self, value) -> facula.Tensor:
        p = self._safe()
        usual = (facula.log1p(-p + value * (2 * p - 1)) - facula.log1p(-p)) / (p.log() - facula.log1p(-p))
        return facula.where(self._near_half(), value, usual)

    def entropy(self) -> facula.Tensor:
        log0, log1 = facula.log1p(-self.probs), self.probs.log()
        return self.mean * (log0 - log1) - self._cont_bern_log_norm() - log0

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        """log((exp(x) - 1) / x), whose cancellation at 0 is that of C at 1/2."""
        near = (x > self._lims[0] - 0.5) & (x < self._lims[1] - 0.5)
        safe = facula.where(near, self._lims[0] - 0.5, x)
        return facula.where(near, 0.5 * x + x**2 / 24 - x**4 / 2880, (safe.exp() - 1).abs().log() - safe.abs().log())


class GeneralizedPareto(_Scalar):
    """P(X > x) = (1 + k z)^(-1 / k), z = (x - loc) / scale, k = concentration; exp(-z) for k = 0. For k < 0 it ends at loc - scale / k.

    >>> facula.distributions.GeneralizedPareto(0.0, 1.0, 0.0).log_prob(facula.tensor(2.0))
    tensor(-2.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        upper = facula.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, upper)

    def _branches(self):
        """(whether the concentration is 0, the concentration with 1 in its place)."""
        zero = facula.isclose(self.concentration, facula.zeros_like(self.concentration))
        return zero, facula.where(zero, 1.0, self.concentration)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        return self.icdf(facula.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        z, (zero, k) = (value - self.loc) / self.scale, self._branches()
        power = 1 / k + 1 + facula.zeros_like(z)
        return -self.scale.log() - facula.where(zero, z, facula.where(power == 0, power, power * facula.log1p(k * z)))

    def log_survival_function(self, value) -> facula.Tensor:
        """log P(X > value)."""
        self._validate_sample(value)
        z, (zero, k) = (value - self.loc) / self.scale, self._branches()
        return facula.where(zero, -z, -facula.log1p(k * z) / k)

    def log_cdf(self, value) -> facula.Tensor:
        return facula.log1p(-self.log_survival_function(value).exp())

    def cdf(self, value) -> facula.Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value) -> facula.Tensor:
        zero, k = self._branches()
        log_left = facula.log1p(-value)
        return facula.where(zero, self.loc - self.scale * log_left, self.loc + self.scale / k * facula.expm1(-k * log_left))

    @property
    def mean(self) -> facula.Tensor:
        k = facula.where(self.concentration < 1, self.concentration, 0.5)
        return facula.where(self.concentration < 1, self.loc + self.scale / (1 - k), math.nan)

    @property
    def mode(self) -> facula.Tensor:
        return self.loc

    @property
    def variance(self) -> facula.Tensor:
        k = facula.where(self.concentration < 0.5, self.concentration, 0.25)
        return facula.where(self.concentration < 0.5, self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k)), math.nan)

    def entropy(self) -> facula.Tensor:
        return (self.scale.log() + self.concentration + 1).expand(self._batch_shape)
