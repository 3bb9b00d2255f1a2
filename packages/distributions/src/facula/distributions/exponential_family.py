"""Exponential families: densities exp(<t(x), theta> - F(theta) + k(x)) with natural parameters theta."""

from __future__ import annotations

import facula

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A subclass tells its natural parameters theta and the log normalizer F, as PyTorch's do; entropy follows from both.

    entropy = F(theta) - <theta, grad F(theta)> - E[k(x)]. Source: Nielsen, Nock, Entropies and Cross-entropies of
    Exponential Families (2010).

    >>> isinstance(facula.distributions.Normal(0.0, 1.0), facula.distributions.ExponentialFamily)
    True
    """

    @property
    def _natural_params(self) -> tuple:
        raise self._has_no("_natural_params")

    def _log_normalizer(self, *natural_params):
        raise self._has_no("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> float:
        """E[k(x)]."""
        raise self._has_no("_mean_carrier_measure")

    def entropy(self) -> facula.Tensor:
        normalizer, params, slopes = _slopes(self)
        total = normalizer - self._mean_carrier_measure
        for param, slope in zip(params, slopes):
            total = total - (param * slope).reshape(self._batch_shape + (-1,)).sum(-1)
        return total


def _slopes(p: ExponentialFamily) -> tuple:
    """(F, theta, grad F) of a family."""
    params = tuple(param.detach().requires_grad_() for param in p._natural_params)
    with facula.enable_grad():
        normalizer = p._log_normalizer(*params)
        slopes = facula.autograd.grad(normalizer.sum(), params, create_graph=True)
    return normalizer, params, slopes


def bregman(p: ExponentialFamily, q: ExponentialFamily):
    """The divergence of two members of one family: F(q) - F(p) - <q - p, grad F(p)>."""
    normalizer, params, slopes = _slopes(p)
    total = q._log_normalizer(*q._natural_params) - normalizer
    for theirs, ours, slope in zip(q._natural_params, params, slopes):
        term = (theirs - ours) * slope
        total = total - term.reshape(term.shape[: term.dim() - len(q.event_shape)] + (-1,)).sum(-1) if q.event_shape else total - term
    return total
