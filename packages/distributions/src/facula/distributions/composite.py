"""Distributions made of distributions."""

from __future__ import annotations

import facula

from . import constraints
from .discrete import Categorical
from .distribution import Distribution
from .transforms import ComposeTransform, Transform
from .utils import sum_rightmost

__all__ = ["Independent", "MixtureSameFamily", "TransformedDistribution"]


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` batch dimensions of a distribution made part of its event.

    >>> import facula
    >>> from facula.distributions import Independent, Normal
    >>> Independent(Normal(facula.zeros(2), facula.ones(2)), 1).event_shape
    torch.Size([2])
    """

    arg_constraints: dict[str, constraints.Constraint] = {}

    def __init__(self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args=None) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Independent: Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch)}. Give fewer."
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        cut, shape = len(batch) - reinterpreted_batch_ndims, batch + base_distribution.event_shape
        super().__init__(shape[:cut], shape[cut:], validate_args)

    def _expanded(self, old, batch_shape) -> None:
        events = self._event_shape[: self.reinterpreted_batch_ndims]
        self.base_dist = old.base_dist.expand(batch_shape + events)

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self):
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self):
        n = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_dist.support, n) if n else self.base_dist.support

    @property
    def mean(self) -> facula.Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> facula.Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> facula.Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape=()) -> facula.Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value) -> facula.Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> facula.Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> facula.Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError(
                "Independent: Enumeration over cartesian product is not implemented. Use itertools."
            )
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist!r}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """What a base distribution's samples become by transforms.

    log p(y) = log p_base(x) - log |dy/dx|, with x = inverse(y).

    >>> log_normal = facula.distributions.TransformedDistribution(facula.distributions.Normal(0.0, 1.0), [facula.distributions.ExpTransform()])
    >>> log_normal.log_prob(facula.tensor(1.0))
    tensor(-0.9189)
    """

    arg_constraints: dict[str, constraints.Constraint] = {}

    def __init__(self, base_distribution: Distribution, transforms, validate_args: bool | None = None) -> None:
        several = isinstance(transforms, list)
        self.transforms = list(transforms) if several else [transforms]
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(
                f"{type(self).__name__}: transforms must be a Transform or a list of Transforms, but was {transforms}."
            )
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        whole = ComposeTransform(self.transforms)
        if len(base_shape) < whole.domain.event_dim:
            raise ValueError(
                f"{type(self).__name__}: base_distribution needs to have shape with size at least {whole.domain.event_dim}, "
                f"but got {tuple(base_shape)}. Expand it."
            )
        shape = whole.forward_shape(base_shape)
        expanded = whole.inverse_shape(shape)
        if base_shape != expanded:
            event = len(base_distribution.event_shape)
            base_distribution = base_distribution.expand(expanded[: len(expanded) - event])
        deeper = whole.domain.event_dim - len(base_distribution.event_shape)
        self.base_dist = Independent(base_distribution, deeper) if deeper > 0 else base_distribution
        # Events may have grown by a transform, or by the base's own event dimensions that no transform touches.
        event_dim = max(
            whole.codomain.event_dim,
            len(self.base_dist.event_shape) + whole.codomain.event_dim - whole.domain.event_dim,
        )
        cut = len(shape) - event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args)

    def _expanded(self, old, batch_shape) -> None:
        whole = ComposeTransform(self.transforms)
        base_shape = whole.inverse_shape(batch_shape + self._event_shape)
        events = len(old.base_dist.event_shape)
        self.base_dist = old.base_dist.expand(base_shape[: len(base_shape) - events])

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self._event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    def sample(self, sample_shape=()) -> facula.Tensor:
        with facula.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()) -> facula.Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        event_dim, total = len(self._event_shape), 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            total = total - sum_rightmost(
                transform.log_abs_det_jacobian(x, value), event_dim - transform.domain.event_dim
            )
            value = x
        return total + sum_rightmost(self.base_dist.log_prob(value), event_dim - len(self.base_dist.event_shape))

    def _sign(self):
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return sign

    def cdf(self, value) -> facula.Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        # A decreasing map turns the distribution function round.
        sign = self._sign()
        return sign * (self.base_dist.cdf(value) - 0.5) + 0.5

    def icdf(self, value) -> facula.Tensor:
        return self._forward(self.base_dist.icdf(self._sign() * (value - 0.5) + 0.5))


class MixtureSameFamily(Distribution):
    """Component k, the last batch dimension of `component_distribution`, with probability of class k.

    >>> mixture = facula.distributions.MixtureSameFamily(facula.distributions.Categorical(facula.tensor([0.5, 0.5])), facula.distributions.Normal(facula.tensor([0.0, 4.0]), facula.ones(2)))
    >>> mixture.mean, mixture.variance
    (tensor(2.), tensor(5.))
    """

    arg_constraints: dict[str, constraints.Constraint] = {}

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args=None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical) or not isinstance(component_distribution, Distribution):
            raise ValueError(
                "MixtureSameFamily: The Mixture distribution needs to be an instance of Categorical and the component one "
                f"of Distribution, got {type(mixture_distribution).__name__} and {type(component_distribution).__name__}."
            )
        batch = component_distribution.batch_shape
        count = mixture_distribution.logits.shape[-1]
        if batch[-1] != count:  # an IndexError where there is no batch, as in PyTorch
            raise ValueError(
                f"MixtureSameFamily: mixture has {count} components, the component distribution's batch is {tuple(batch)}. "
                "Make its last batch dimension that number."
            )
        self._mixture_distribution = mixture_distribution.expand(batch[:-1])
        self._component_distribution = component_distribution
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch[:-1], component_distribution.event_shape, validate_args)

    def _expanded(self, old, batch_shape) -> None:
        self._mixture_distribution = old._mixture_distribution.expand(batch_shape)
        self._component_distribution = old._component_distribution.expand(
            batch_shape + (old._component_distribution.batch_shape[-1],)
        )

    @property
    def mixture_distribution(self):
        return self._mixture_distribution

    @property
    def component_distribution(self):
        return self._component_distribution

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def _weights(self):
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    def _pad(self, value):
        return value.unsqueeze(-1 - self._event_ndims)

    @property
    def mean(self) -> facula.Tensor:
        return (self._weights() * self._component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> facula.Tensor:
        # The law of total variance.
        dim = -1 - self._event_ndims
        within = (self._weights() * self._component_distribution.variance).sum(dim)
        between = (self._weights() * (self._component_distribution.mean - self._pad(self.mean)).pow(2)).sum(dim)
        return within + between

    def sample(self, sample_shape=()) -> facula.Tensor:
        with facula.no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            samples = self._component_distribution.sample(sample_shape)
            index = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            shape = chosen.shape + (1,) + tuple(self._event_shape)
            return samples.gather(-1 - self._event_ndims, index.expand(shape)).squeeze(-1 - self._event_ndims)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        parts = self._component_distribution.log_prob(self._pad(value))
        return facula.logsumexp(parts + facula.log_softmax(self._mixture_distribution.logits, dim=-1), dim=-1)

    def cdf(self, value) -> facula.Tensor:
        return (self._component_distribution.cdf(self._pad(value)) * self._mixture_distribution.probs).sum(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution!r},\n  {self._component_distribution!r})"
