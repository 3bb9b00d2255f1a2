"""Kullback-Leibler divergences, E_p[log p - log q], by pairs of types."""

from __future__ import annotations

import math
from collections.abc import Callable

import facula

from .bounded import ContinuousBernoulli
from .composite import Independent, TransformedDistribution
from .counts import Binomial, Poisson
from .continuous import Cauchy, Exponential, Laplace, Normal, Uniform
from .discrete import Bernoulli, Categorical, Geometric, OneHotCategorical
from .distribution import Distribution
from .exponential_family import ExponentialFamily, bregman
from .gamma import Beta, Dirichlet, Gamma
from .matrices import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal
from .transformed import EULER, Gumbel, HalfNormal, LogNormal, Pareto
from .utils import softplus, sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

_RULES: dict[tuple[type, type], Callable] = {}


def register_kl(type_p: type, type_q: type):
    """Decorator: the function of (p, q) below it is their divergence, and that of subclasses without one of their own.

    >>> class Mine(facula.distributions.Normal):
    ...     pass
    ...
    >>> @facula.distributions.register_kl(Mine, Mine)
    ... def rule(p, q):
    ...     return facula.tensor(7.0)
    ...
    >>> facula.distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0))
    tensor(7.)
    """
    for kind in (type_p, type_q):
        if not isinstance(kind, type):
            raise TypeError(f"register_kl: Expected a class of distributions but got {kind!r}.")

    def decorator(function):
        _RULES[type_p, type_q] = function
        return function

    return decorator


def kl_divergence(p: Distribution, q: Distribution) -> facula.Tensor:
    """E_p[log p - log q], for every element of the batch.

    Raises NotImplementedError if no rule fits the pair.

    >>> facula.distributions.kl_divergence(facula.distributions.Normal(0.0, 1.0), facula.distributions.Normal(facula.tensor(2.0), 1.0))
    tensor(2.)
    """
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            if (kind_p, kind_q) in _RULES:
                return _RULES[kind_p, kind_q](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}. Use register_kl."
    )


def _infinite(p, q):
    return facula.full(p.batch_shape, math.inf, dtype=p.mean.dtype)  # whatever q's shape: PyTorch's


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def _log_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    # A value that q never takes costs infinity, one that p never takes nothing.
    one = one.masked_fill((q.probs == 0).expand(one.shape), math.inf).masked_fill((p.probs == 0).expand(one.shape), 0)
    zero = zero.masked_fill((q.probs == 1).expand(zero.shape), math.inf).masked_fill(
        (p.probs == 1).expand(zero.shape), 0
    )
    return one + zero


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = terms.masked_fill((q.probs == 0).expand(terms.shape), math.inf)
    return terms.masked_fill((p.probs == 0).expand(terms.shape), 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - facula.log1p(-q.probs) / p.probs - q.logits


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    # Gil, On Renyi Divergence Measures for Continuous Alphabet Sources (2011)
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * facula.exp(-away / p.scale) - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    # Chyzak, Nielsen, A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions (2019)
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio = p.scale / q.scale
    shift, base = q.loc / q.scale, p.loc / q.scale
    last = facula.exp(shift - base + facula.lgamma(1 + ratio))
    return -ratio.log() - shift + base + ratio * EULER + last - (1 + EULER)


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    scale, alpha = p.scale / q.scale, q.alpha / p.alpha
    result = q.alpha * scale.log() - alpha.log() + alpha - 1
    return result.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed: "
            f"{tuple(p.event_shape)} and {tuple(q.event_shape)}."
        )
    n = p.event_shape[0]
    half_log_det = [d.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) for d in (q, p)]
    shape = facula.broadcast_shapes(p.batch_shape, q.batch_shape) + (n, n)
    lower_q, lower_p = q.scale_tril.expand(shape), p.scale_tril.expand(shape)
    trace = facula.linalg.solve_triangular(lower_q, lower_p, upper=False).pow(2).sum((-2, -1))
    away = (q.loc - p.loc).expand(shape[:-1]).unsqueeze(-1)
    distance = facula.linalg.solve_triangular(lower_q, away, upper=False).pow(2).sum((-2, -1))
    return half_log_det[0] - half_log_det[1] + 0.5 * (trace + distance - n)


@register_kl(Independent, Independent)
def _independent(p, q):
    n = p.reinterpreted_batch_ndims
    if n != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            f"KL of Independents: {n} and {q.reinterpreted_batch_ndims} reinterpreted dimensions. Make them equal."
        )
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), n)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL of transformed distributions: the transforms differ. Make them equal.")
    return kl_divergence(p.base_dist, q.base_dist)


# --- of different kinds: -entropy(p) - E_p[log q], see the table in _kl_mixed

@register_kl(Gamma, Gamma)
def _gamma(p, q):
    shapes = (p.concentration - q.concentration) * facula.digamma(p.concentration)
    return (
        q.concentration * (p.rate / q.rate).log()
        + facula.lgamma(q.concentration)
        - facula.lgamma(p.concentration)
        + shapes
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    norms = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return norms + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _beta(p, q):
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError("kl_divergence: KL between Binomials where q.total_count > p.total_count is not implemented. Estimate it by sampling.")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return facula.where(p.total_count > q.total_count, math.inf * facula.ones_like(kl), kl)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    logs = p._cont_bern_log_norm() + facula.log1p(-p.probs) - q._cont_bern_log_norm() - facula.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + logs


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p, q):
    if type(p) is not type(q):
        raise NotImplementedError(f"The cross KL-divergence between different exponential families cannot be computed: {type(p).__name__} and {type(q).__name__}.")
    return bregman(p, q)


from . import _kl_mixed  # noqa: E402, F401 - it registers
