"""The von Mises distribution, on the circle."""

from __future__ import annotations

import math

import facula

from . import constraints
from .continuous import _Scalar
from .utils import lazy_property

__all__ = ["VonMises"]


def _log_i0(x):
    """log I0(x), without overflow."""
    return facula.special.i0e(x).log() + x.abs()


class VonMises(_Scalar):
    """Density exp(concentration cos(x - loc)) / (2 pi I0(concentration)) of angles; mean and variance are the circular ones.

    Drawn by rejection, in float64. Source: Best, Fisher, Efficient Simulation of the von Mises Distribution,
    Applied Statistics 28 (1979).

    >>> import facula
    >>> from facula.distributions import VonMises
    >>> VonMises(facula.tensor(0.0), facula.tensor(1.0)).mean
    tensor(0.)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc, concentration, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, loc=loc, concentration=concentration)
        self._batch_shape = self.loc.shape

    def _expanded(self, old, batch_shape) -> None:
        for name in ("variance", "_proposal"):
            self.__dict__.pop(name, None)

    @property
    def mean(self) -> facula.Tensor:
        return self.loc

    mode = mean

    @lazy_property
    def variance(self) -> facula.Tensor:
        """1 - I1(concentration) / I0(concentration)."""
        return 1 - facula.special.i1e(self.concentration) / facula.special.i0e(self.concentration)

    @lazy_property
    def _proposal(self):
        """The parameter of the wrapped Cauchy distribution that proposals come from."""
        kappa = self.concentration.double()
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return facula.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))  # rho cancels for small kappa

    def sample(self, sample_shape=()) -> facula.Tensor:
        with facula.no_grad():
            shape = self._extended_shape(sample_shape)
            kappa, r = self.concentration.double(), self._proposal
            found = facula.empty(shape, dtype=facula.float64)
            done = facula.zeros(shape, dtype=facula.bool)
            while not bool(done.all()):
                u1, u2, u3 = facula.rand((3, *shape), dtype=facula.float64).unbind()
                z = facula.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                found = facula.where(accept, (u3 - 0.5).sign() * f.acos(), found)
                done = done | accept
            return ((found + math.pi + self.loc.double()) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return self.concentration * facula.cos(value - self.loc) - math.log(2 * math.pi) - _log_i0(self.concentration)
