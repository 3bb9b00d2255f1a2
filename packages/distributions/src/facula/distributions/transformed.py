"""Distributions that are others seen through a transform, and those of relaxed classes."""

from __future__ import annotations

import math

import facula

from . import constraints
from .composite import TransformedDistribution
from .continuous import Cauchy, Exponential, Normal, Uniform
from .discrete import _Binary, _OverCategorical
from .distribution import Distribution
from .transforms import AbsTransform, AffineTransform, ExpTransform, PowerTransform, SigmoidTransform
from .utils import broadcast_all, clamp_probs, softplus

__all__ = [
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Kumaraswamy",
    "LogNormal",
    "LogitRelaxedBernoulli",
    "Pareto",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "Weibull",
]

EULER = 0.57721566490153286060  # -digamma(1)


class _Named(TransformedDistribution):
    """Subclasses tell their parameters from the base's or keep them; expanding expands both."""

    def __init__(self, base: Distribution, transforms, validate_args) -> None:
        super().__init__(base, transforms, validate_args=validate_args)


class LogNormal(_Named):
    """The exponential of a Normal(loc, scale).

    >>> import facula
    >>> from facula.distributions import LogNormal
    >>> LogNormal(facula.tensor(0.0), facula.tensor(1.0)).mode
    tensor(0.3679)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive

    def __init__(self, loc, scale, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def loc(self):
        return self.base_dist.loc

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mean(self) -> facula.Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> facula.Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> facula.Tensor:
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> facula.Tensor:
        return self.base_dist.entropy() + self.loc


class _Half(_Named):
    """The absolute value of a symmetric distribution around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    _whole: type

    def __init__(self, scale, validate_args: bool | None = None) -> None:
        super().__init__(self._whole(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mode(self) -> facula.Tensor:
        return facula.zeros_like(self.scale)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return facula.where(value >= 0, log_prob, -math.inf)

    def cdf(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob) -> facula.Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> facula.Tensor:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """|x|, x from Normal(0, scale).

    >>> import facula
    >>> from facula.distributions import HalfNormal
    >>> HalfNormal(facula.tensor(1.0)).mean
    tensor(0.7979)
    """

    _whole = Normal

    @property
    def mean(self) -> facula.Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> facula.Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """|x|, x from Cauchy(0, scale).

    >>> facula.distributions.HalfCauchy(1.0).cdf(facula.tensor(1.0))
    tensor(0.5000)
    """

    _whole = Cauchy

    @property
    def mean(self) -> facula.Tensor:
        return facula.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def variance(self) -> facula.Tensor:
        return self.base_dist.variance

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return super().log_prob(facula.as_tensor(value, dtype=self.scale.dtype))


class Gumbel(_Named):
    """Distribution function exp(-exp(-(x - loc) / scale)).

    >>> import facula
    >>> from facula.distributions import Gumbel
    >>> Gumbel(facula.tensor(0.0), facula.tensor(1.0)).mean
    tensor(0.5772)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = facula.finfo(self.loc.dtype)
        shape = self.loc.shape
        low, high = (facula.full(shape, bound, dtype=self.loc.dtype) for bound in (limits.tiny, 1 - limits.eps))
        log = ExpTransform().inv
        steps = [log, AffineTransform(0, -facula.ones_like(self.scale)), log, AffineTransform(self.loc, -self.scale)]
        super().__init__(Uniform(low, high, validate_args), steps, validate_args)

    @property
    def mean(self) -> facula.Tensor:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> facula.Tensor:
        return self.loc

    @property
    def stddev(self) -> facula.Tensor:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> facula.Tensor:
        return self.stddev.pow(2)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self) -> facula.Tensor:
        return self.scale.log() + (1 + EULER)


class Pareto(_Named):
    """Density alpha scale^alpha / x^(alpha + 1) for x >= scale.

    >>> import facula
    >>> from facula.distributions import Pareto
    >>> Pareto(facula.tensor(1.0), facula.tensor(3.0)).mean
    tensor(1.5000)
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale, alpha, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        steps = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(Exponential(self.alpha, validate_args), steps, validate_args)

    @constraints.dependent_property
    def support(self):
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> facula.Tensor:
        alpha = self.alpha.clamp(min=1)  # infinite at and below 1
        return alpha * self.scale / (alpha - 1)

    @property
    def mode(self) -> facula.Tensor:
        return self.scale

    @property
    def variance(self) -> facula.Tensor:
        alpha = self.alpha.clamp(min=2)
        return self.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))

    def entropy(self) -> facula.Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(_Named):
    """Distribution function 1 - exp(-(x / scale)^concentration).

    >>> import facula
    >>> from facula.distributions import Weibull
    >>> Weibull(facula.tensor(1.0), facula.tensor(1.0)).mean
    tensor(1.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(facula.ones_like(self.scale), validate_args)
        steps = [PowerTransform(self.concentration.reciprocal()), AffineTransform(0, self.scale)]
        super().__init__(base, steps, validate_args)

    @property
    def mean(self) -> facula.Tensor:
        return self.scale * facula.exp(facula.lgamma(1 + self.concentration.reciprocal()))

    @property
    def mode(self) -> facula.Tensor:
        k = self.concentration
        return self.scale * ((k - 1) / k).pow(k.reciprocal())

    @property
    def variance(self) -> facula.Tensor:
        inverse = self.concentration.reciprocal()
        second = facula.exp(facula.lgamma(1 + 2 * inverse))
        return self.scale.pow(2) * (second - facula.exp(2 * facula.lgamma(1 + inverse)))

    def entropy(self) -> facula.Tensor:
        inverse = self.concentration.reciprocal()
        return EULER * (1 - inverse) + facula.log(self.scale * inverse) + 1


class Kumaraswamy(_Named):
    """Distribution function 1 - (1 - x^concentration1)^concentration0 on (0, 1).

    >>> facula.distributions.Kumaraswamy(facula.tensor(1.0), facula.tensor(1.0)).mean
    tensor(0.5000)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval

    def __init__(self, concentration1, concentration0, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(facula.zeros_like(self.concentration0), facula.ones_like(self.concentration0), validate_args)
        steps = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(base, steps, validate_args)

    @property
    def mode(self) -> facula.Tensor:
        """((a - 1) / (a b - 1))^(1 / a); NaN where the density has no peak inside: a < 1 or b < 1."""
        a, b = self.concentration1, self.concentration0
        log_mode = a.reciprocal() * (-b).log1p() - (-a * b).log1p() + (-a).log1p()
        return facula.where((a < 1) | (b < 1), float("nan"), log_mode.exp())

    def entropy(self) -> facula.Tensor:
        """Source: Michalowicz et al., Handbook of Differential Entropy (2013), table of distributions."""
        a, b = self.concentration1, self.concentration0
        harmonic = facula.digamma(b + 1) + 0.5772156649015329
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - facula.log(a * b)

    def _moment(self, n: int):
        a, b = self.concentration1, self.concentration0
        value = 1 + n / a
        return b * facula.exp(facula.lgamma(value) + facula.lgamma(b) - facula.lgamma(value + b))

    @property
    def mean(self) -> facula.Tensor:
        return self._moment(1)

    @property
    def variance(self) -> facula.Tensor:
        return self._moment(2) - self._moment(1).pow(2)


class LogitRelaxedBernoulli(_Binary):
    """The logit of a RelaxedBernoulli. Source: Maddison, Mnih, Teh, The Concrete Distribution (2016).

    >>> facula.distributions.transformed.LogitRelaxedBernoulli(facula.tensor(0.5), probs=facula.tensor([0.3])).sample().shape
    torch.Size([1])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args: bool | None = None) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(facula.rand(shape, dtype=probs.dtype))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        away = self.logits - value * self.temperature
        return facula.log(facula.as_tensor(self.temperature, dtype=away.dtype)) + away - 2 * softplus(away)


class RelaxedBernoulli(_Named):
    """A Bernoulli between 0 and 1, nearer to them the lower the temperature, which gradients go through.

    >>> x = facula.distributions.RelaxedBernoulli(facula.tensor(0.5), probs=facula.tensor([0.3])).sample()
    >>> bool(0 <= x <= 1)
    True
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(self, temperature, probs=None, logits=None, validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)

    @property
    def temperature(self):
        return self.base_dist.temperature

    @property
    def logits(self) -> facula.Tensor:
        return self.base_dist.logits

    @property
    def probs(self) -> facula.Tensor:
        return self.base_dist.probs


class _ExpRelaxedCategorical(_OverCategorical):
    """The logarithm of a RelaxedOneHotCategorical."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args: bool | None = None) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        u = clamp_probs(facula.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits + -((-(u.log())).log())) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        k = self._event_shape[0]
        temperature = facula.as_tensor(self.temperature, dtype=value.dtype)
        logits, value = facula.broadcast_tensors(self.logits, value)
        score = logits - value * temperature
        score = (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1)
        return score + math.lgamma(k) + (k - 1) * temperature.log()


class RelaxedOneHotCategorical(_Named):
    """A one-hot class inside the simplex, nearer to its corners the lower the temperature.

    Source: Jang, Gu, Poole, Categorical Reparameterization with Gumbel-Softmax (2016).

    >>> facula.distributions.RelaxedOneHotCategorical(facula.tensor(0.5), probs=facula.tensor([0.3, 0.7])).sample().sum().round(decimals=3)
    tensor(1.)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(self, temperature, probs=None, logits=None, validate_args: bool | None = None) -> None:
        super().__init__(_ExpRelaxedCategorical(temperature, probs, logits, validate_args), ExpTransform(), validate_args)

    @property
    def temperature(self):
        return self.base_dist.temperature

    @property
    def logits(self) -> facula.Tensor:
        return self.base_dist.logits

    @property
    def probs(self) -> facula.Tensor:
        return self.base_dist.probs
