"""Divergences between distributions of different kinds: -entropy(p) - E_p[log q], from a few expectations under p."""

from __future__ import annotations

import math

import facula

from .bounded import ContinuousBernoulli
from .continuous import Exponential, Laplace, Normal, Uniform
from .counts import Binomial, Poisson
from .discrete import Bernoulli
from .gamma import Beta, Gamma
from .kl import _infinite, register_kl
from .transformed import EULER, Gumbel, Pareto

# --- expectations


def mean_log(p):
    """E[log x]."""
    if isinstance(p, Beta):
        return facula.digamma(p.concentration1) - facula.digamma(p.concentration1 + p.concentration0)
    if isinstance(p, Exponential):
        return -EULER - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1  # Uniform


def mean_log_rest(p):
    """E[log(1 - x)] of a Uniform within [0, 1]."""
    return (_x_log_x(1 - p.low) - _x_log_x(1 - p.high)) / (p.high - p.low) - 1


def mean_decay(p, scale):
    """E[exp(-x / scale)]."""
    if isinstance(p, Normal):
        return (p.variance / (2 * scale**2) - p.loc / scale).exp()
    if isinstance(p, Exponential):
        return p.rate / (p.rate + scale.reciprocal())
    if isinstance(p, Gamma):
        return (1 + (p.rate * scale).reciprocal()) ** -p.concentration
    return scale * ((-p.low / scale).exp() - (-p.high / scale).exp()) / (p.high - p.low)  # Uniform


def _x_log_x(x):
    return facula.xlogy(x, x)


# --- -E_p[log q], by q


def to_normal(p, q):
    return math.log(math.sqrt(2 * math.pi)) + q.scale.log() + (p.variance + (p.mean - q.loc).pow(2)) / (2 * q.scale.pow(2))


def to_exponential(p, q):
    return q.rate * p.mean - q.rate.log()


def to_gamma(p, q):
    a = q.concentration
    return q.rate * p.mean + facula.lgamma(a) - a * q.rate.log() + (1 - a) * mean_log(p)


def to_gumbel(p, q):
    return q.scale.log() + (p.mean - q.loc) / q.scale + (q.loc / q.scale).exp() * mean_decay(p, q.scale)


def to_pareto(p, q):
    return -q.alpha.log() - q.alpha * q.scale.log() + (q.alpha + 1) * mean_log(p)


def to_uniform(p, q):
    return (q.high - q.low).log().expand(facula.broadcast_shapes(p.batch_shape, q.batch_shape))


def to_continuous_bernoulli(p, q):
    return -p.mean * q.logits - facula.log1p(-q.probs) - q._cont_bern_log_norm()


def to_beta(p, q):
    a, b = q.concentration1, q.concentration0
    logs = facula.lgamma(a) + facula.lgamma(b) - facula.lgamma(a + b)
    return logs - (a - 1) * mean_log(p) - (b - 1) * mean_log_rest(p)


def to_laplace(p, q):
    # E|x - b| of a normal is the mean of a folded normal
    away = p.loc - q.loc
    z = away / p.scale
    folded = p.scale * math.sqrt(2 / math.pi) * facula.exp(-0.5 * z.pow(2)) + away * facula.erf(z / math.sqrt(2))
    return (2 * q.scale).log() + folded / q.scale


def to_poisson(p, q):
    return q.rate - p.mean * q.rate.log()  # of Bernoulli numbers, whose factorials are 1


# --- where p has mass that q has not, or a moment is infinite


def outside_unit(p, q):
    return (p.low < 0) | (p.high > 1)


def below_zero(p, q):
    return p.low < 0


def beyond(p, q):
    return (q.low > 0) | (q.high < 1)


def no_mean(p, q):
    return p.alpha <= 1


def no_variance(p, q):
    return p.alpha <= 2


def below_scale(p, q):
    return p.low < q.scale


PAIRS = {
    (Bernoulli, Poisson): (to_poisson, None),
    (Beta, ContinuousBernoulli): (to_continuous_bernoulli, None), (Beta, Exponential): (to_exponential, None), (Beta, Gamma): (to_gamma, None),
    (Beta, Normal): (to_normal, None), (Beta, Uniform): (to_uniform, beyond),
    (ContinuousBernoulli, Exponential): (to_exponential, None), (ContinuousBernoulli, Normal): (to_normal, None), (ContinuousBernoulli, Uniform): (to_uniform, beyond),
    (Exponential, Gamma): (to_gamma, None), (Exponential, Gumbel): (to_gumbel, None), (Exponential, Normal): (to_normal, None),
    (Gamma, Exponential): (to_exponential, None), (Gamma, Gumbel): (to_gumbel, None), (Gamma, Normal): (to_normal, None),
    (Gumbel, Normal): (to_normal, None), (Laplace, Normal): (to_normal, None), (Normal, Gumbel): (to_gumbel, None), (Normal, Laplace): (to_laplace, None),
    (Pareto, Exponential): (to_exponential, no_mean), (Pareto, Gamma): (to_gamma, no_mean), (Pareto, Normal): (to_normal, no_variance),
    (Uniform, Beta): (to_beta, outside_unit), (Uniform, ContinuousBernoulli): (to_continuous_bernoulli, outside_unit),
    (Uniform, Exponential): (to_exponential, below_zero), (Uniform, Gamma): (to_gamma, below_zero), (Uniform, Gumbel): (to_gumbel, None),
    (Uniform, Normal): (to_normal, None), (Uniform, Pareto): (to_pareto, below_scale),
}  # fmt: skip
INFINITE = {  # whatever the parameters
    Beta: (Pareto,), ContinuousBernoulli: (Pareto,), Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform), Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform), Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform), Pareto: (Beta, ContinuousBernoulli, Uniform), Poisson: (Bernoulli, Binomial),
}  # fmt: skip


def _rule(cross, infinite):
    def divergence(p, q):
        found = cross(p, q) - p.entropy()
        return found if infinite is None else found.masked_fill(infinite(p, q), math.inf)

    return divergence


for _pair, _how in PAIRS.items():
    register_kl(*_pair)(_rule(*_how))
for _p, _qs in INFINITE.items():
    for _q in _qs:
        register_kl(_p, _q)(_infinite)
