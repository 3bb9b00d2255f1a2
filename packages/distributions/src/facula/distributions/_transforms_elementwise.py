"""Transforms of each element by itself."""

from __future__ import annotations

import math

import facula

from . import constraints
from ._transform import Transform, deepened
from .utils import softplus, sum_rightmost


class ExpTransform(Transform):
    """y = exp(x).

    >>> transform = facula.distributions.ExpTransform()
    >>> x = facula.tensor([0.0, 1.0])
    >>> transform(x), transform.log_abs_det_jacobian(x, transform(x))
    (tensor([1.0000, 2.7183]), tensor([0., 1.]))
    """

    domain, codomain, bijective, sign = constraints.real, constraints.positive, True, 1

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        return x


class PowerTransform(Transform):
    """y = x^exponent, of positive numbers.

    >>> facula.distributions.PowerTransform(facula.tensor(2.0))(facula.tensor([1.0, 3.0]))
    tensor([1., 9.])
    """

    domain, codomain, bijective = constraints.positive, constraints.positive, True

    def __init__(self, exponent, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent if isinstance(exponent, facula.Tensor) else facula.tensor(float(exponent))

    @property
    def sign(self):
        return self.exponent.sign()

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return facula.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)).

    >>> facula.distributions.SigmoidTransform()(facula.tensor([0.0, 1.0]))
    tensor([0.5000, 0.7311])
    """

    domain, codomain, bijective, sign = constraints.real, constraints.unit_interval, True, 1

    def _call(self, x):
        limits = facula.finfo(x.dtype)
        return facula.sigmoid(x).clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y):
        limits = facula.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    """y = log(1 + exp(x)).

    >>> facula.distributions.SoftplusTransform()(facula.tensor([0.0, 1.0]))
    tensor([0.6931, 1.3133])
    """

    domain, codomain, bijective, sign = constraints.real, constraints.positive, True, 1

    def _call(self, x):
        return softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        return -softplus(-x)


class TanhTransform(Transform):
    """y = tanh(x).

    >>> facula.distributions.TanhTransform()(facula.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    domain, codomain, bijective, sign = constraints.real, constraints.interval(-1.0, 1.0), True, 1

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        # log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2x)), which does not cancel for large x.
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|; its inverse is the positive one.

    >>> facula.distributions.AbsTransform()(facula.tensor([-1.0, 2.0]))
    tensor([1., 2.])
    """

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """y = loc + scale * x.

    >>> transform = facula.distributions.AffineTransform(1.0, 2.0)
    >>> transform(facula.tensor([0.0, 3.0])), transform.inv(facula.tensor([1.0, 7.0]))
    (tensor([1., 7.]), tensor([0., 3.]))
    """

    bijective = True

    def __init__(self, loc, scale, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self):
        return deepened(constraints.real, self._event_dim)

    codomain = domain

    @property
    def sign(self):
        if isinstance(self.scale, facula.Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        if isinstance(self.scale, facula.Tensor):
            result = self.scale.abs().log()
        else:
            result = facula.full_like(x, math.log(abs(self.scale)))
        return sum_rightmost(result.expand(facula.broadcast_shapes(x.shape, result.shape)), self._event_dim)

    def forward_shape(self, shape):
        parts = [part.shape for part in (self.loc, self.scale) if isinstance(part, facula.Tensor)]
        return facula.broadcast_shapes(shape, *parts)

    inverse_shape = forward_shape
