"""Distributions over countable values, given by probabilities or by logits."""

from __future__ import annotations

import math

import facula

from . import constraints
from .distribution import Distribution
from .exponential_family import ExponentialFamily
from .utils import (
    bernoulli_log_prob,
    broadcast_all,
    is_number,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)

__all__ = [
    "Bernoulli",
    "Categorical",
    "Geometric",
    "Multinomial",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
]


def _one_of(owner: str, probs, logits) -> str:
    if (probs is None) == (logits is None):
        both = "none" if probs is None else "both"
        raise ValueError(f"{owner}: Either `probs` or `logits` must be specified, but not both (got {both}). Give one.")
    return "logits" if probs is None else "probs"


class _Binary(Distribution):
    """One probability per event, given as probs or logits (log odds)."""

    def __init__(self, probs=None, logits=None, validate_args: bool | None = None) -> None:
        given = _one_of(type(self).__name__, probs, logits)
        value = logits if probs is None else probs
        (tensor,) = broadcast_all(value)
        setattr(self, given, tensor)
        self._given = given
        super().__init__(() if is_number(value) else tensor.shape, validate_args=validate_args)

    @property
    def _parameter(self):
        return getattr(self, self._given)

    @lazy_property
    def logits(self) -> facula.Tensor:
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> facula.Tensor:
        return logits_to_probs(self.logits, is_binary=True)


class Bernoulli(ExponentialFamily, _Binary):
    """1 with probability probs, else 0.

    >>> import facula
    >>> from facula.distributions import Bernoulli
    >>> Bernoulli(0.25).log_prob(facula.tensor(1.0)).exp()
    tensor(0.2500)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    @property
    def mean(self) -> facula.Tensor:
        return self.probs

    @property
    def mode(self) -> facula.Tensor:
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        return mode.masked_fill(self.probs == 0.5, float("nan"))

    @property
    def variance(self) -> facula.Tensor:
        return self.probs * (1 - self.probs)

    @property
    def param_shape(self):
        return self._parameter.shape

    def sample(self, sample_shape=()) -> facula.Tensor:
        with facula.no_grad():
            return facula.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return bernoulli_log_prob(self.logits, value)

    def entropy(self) -> facula.Tensor:
        return -bernoulli_log_prob(self.logits, self.probs)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        return (facula.logit(self.probs),)

    def _log_normalizer(self, x):
        return facula.log1p(x.exp())

    def enumerate_support(self, expand: bool = True) -> facula.Tensor:
        return self._enumerate(facula.arange(2, dtype=self._parameter.dtype), expand)


class Geometric(_Binary):
    """Failures before the first success: P(k) = (1 - probs)^k probs, k = 0, 1, ...

    >>> import facula
    >>> from facula.distributions import Geometric
    >>> Geometric(facula.tensor(0.25)).mean
    tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            raise ValueError(
                f"Expected parameter probs of distribution {self!r} to be positive but found invalid values:\n{self.probs}"
            )

    @property
    def mean(self) -> facula.Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> facula.Tensor:
        return facula.zeros_like(self.probs)

    @property
    def variance(self) -> facula.Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()) -> facula.Tensor:
        with facula.no_grad():
            u = facula.empty(self._extended_shape(sample_shape), dtype=self.probs.dtype)
            u.uniform_(facula.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        # 0 * log(0) is to be 0: at probs = 1 only k = 0 has a probability.
        safe = self.probs.masked_fill((self.probs == 1) & (value == 0), 0)
        return value * (-safe).log1p() + self.probs.log()

    def entropy(self) -> facula.Tensor:
        return -bernoulli_log_prob(self.logits, self.probs) / self.probs


class Categorical(Distribution):
    """One of C classes, 0 to C - 1, by probabilities or logits of shape (..., C), normalised here.

    >>> import facula
    >>> from facula.distributions import Categorical
    >>> Categorical(facula.tensor([0.25, 0.75])).log_prob(facula.tensor(1)).exp()
    tensor(0.7500)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args: bool | None = None) -> None:
        self._given = _one_of("Categorical", probs, logits)
        value = logits if probs is None else probs
        if value.dim() < 1:
            raise ValueError(f"Categorical: `{self._given}` parameter must be at least one-dimensional, got a number.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - facula.logsumexp(logits, dim=-1, keepdim=True)
        self._num_events = value.shape[-1]
        super().__init__(value.shape[:-1], validate_args=validate_args)

    @property
    def _parameter(self):
        return getattr(self, self._given)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> facula.Tensor:
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> facula.Tensor:
        return logits_to_probs(self.logits)

    @property
    def param_shape(self):
        return self._parameter.shape

    @property
    def mean(self) -> facula.Tensor:
        return facula.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self) -> facula.Tensor:
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape=()) -> facula.Tensor:
        sample_shape = facula.Size(sample_shape)
        with facula.no_grad():
            flat = self.probs.reshape(-1, self._num_events)
            drawn = facula.multinomial(flat, sample_shape.numel(), True).T
            return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        value, logits = facula.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> facula.Tensor:
        # A logit of -inf times a probability of 0 is to be 0.
        logits = self.logits.clamp(min=facula.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> facula.Tensor:
        return self._enumerate(facula.arange(self._num_events), expand)


class _OverCategorical(Distribution):
    """Vectors over the classes of a Categorical, which holds the parameters."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, probs=None, logits=None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, (self._categorical._num_events,), validate_args)

    def _expanded(self, old, batch_shape) -> None:
        self._categorical = old._categorical.expand(batch_shape)

    @property
    def probs(self) -> facula.Tensor:
        return self._categorical.probs

    @property
    def logits(self) -> facula.Tensor:
        return self._categorical.logits

    @property
    def param_shape(self):
        return self._categorical.param_shape


class OneHotCategorical(_OverCategorical):
    """As Categorical, a class given by a vector with one 1.

    >>> facula.distributions.OneHotCategorical(facula.tensor([0.0, 1.0])).sample()
    tensor([0., 1.])
    """

    support = constraints.one_hot
    has_enumerate_support = True

    @property
    def mean(self) -> facula.Tensor:
        return self.probs

    @property
    def mode(self) -> facula.Tensor:
        return self._one_hot(self.probs.argmax(dim=-1))

    @property
    def variance(self) -> facula.Tensor:
        return self.probs * (1 - self.probs)

    def _one_hot(self, index):
        zeros = facula.zeros(index.shape + self._event_shape, dtype=self.probs.dtype)
        return zeros.scatter(-1, index.unsqueeze(-1), 1.0)

    def sample(self, sample_shape=()) -> facula.Tensor:
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> facula.Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> facula.Tensor:
        n = self._event_shape[0]
        values = facula.eye(n, dtype=self.probs.dtype).reshape((n,) + (1,) * len(self._batch_shape) + (n,))
        return values.expand((n,) + tuple(self._batch_shape) + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot samples whose gradient is that of the probabilities.

    Source: Bengio, Leonard, Courville, Estimating or Propagating Gradients Through Stochastic Neurons (2013).

    >>> p = facula.tensor([0.0, 1.0], requires_grad=True)
    >>> facula.distributions.OneHotCategoricalStraightThrough(p).rsample().detach()
    tensor([0., 1.])
    """

    has_rsample = True

    def rsample(self, sample_shape=()) -> facula.Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_OverCategorical):
    """How often each class comes in `total_count` draws of a Categorical.

    >>> import facula
    >>> from facula.distributions import Multinomial
    >>> Multinomial(3, facula.tensor([0.5, 0.5])).log_prob(facula.tensor([1.0, 2.0])).exp()
    tensor(0.3750)
    """

    def __init__(self, total_count: int = 1, probs=None, logits=None, validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(
                f"Multinomial: inhomogeneous total_count is not supported, got {total_count!r}. Give an int."
            )
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> facula.Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> facula.Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def entropy(self) -> facula.Tensor:
        """n H - log n! + the expected log x_i! of every class, whose count x_i is binomial."""
        n, p = self.total_count, self.probs
        k = facula.arange(1.0, n + 1, dtype=p.dtype).reshape(-1, *(1,) * p.dim())  # log 0! is 0
        ways = math.lgamma(n + 1) - facula.lgamma(k + 1) - facula.lgamma(n - k + 1)
        chance = facula.exp(ways + facula.xlogy(k, p) + facula.xlogy(n - k, 1 - p))
        return n * self._categorical.entropy() - math.lgamma(n + 1) + (chance * facula.lgamma(k + 1)).sum((0, -1))

    def sample(self, sample_shape=()) -> facula.Tensor:
        drawn = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = facula.zeros(self._extended_shape(sample_shape), dtype=self.probs.dtype)
        return counts.scatter_add(-1, drawn, facula.ones(drawn.shape, dtype=counts.dtype))

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        logits, value = facula.broadcast_tensors(self.logits, value)
        # 0 times a logit of -inf is to be 0: a class that cannot come and did not.
        logits = logits.masked_fill((value == 0) & (logits == -float("inf")), 0)
        ways = facula.lgamma(value.sum(-1) + 1) - facula.lgamma(value + 1).sum(-1)
        return ways + (logits * value).sum(-1)
