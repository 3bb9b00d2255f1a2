"""Invertible maps with the logarithm of their Jacobian, to make distributions from distributions."""

from __future__ import annotations

import math
import weakref

import facula

from . import constraints
from .utils import softplus, sum_rightmost

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class Transform:
    """A subclass defines domain, codomain, `_call` and `_inverse`, and `log_abs_det_jacobian` where it is a bijection.

    cache_size=1 remembers the last pair: the inverse of a value just computed is then exact and costs nothing.
    """

    bijective = False
    domain: constraints.Constraint
    codomain: constraints.Constraint

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"{type(self).__name__}: cache_size must be 0 or 1, got {cache_size}.")
        self._cache_size = cache_size
        self._cached = None, None
        self._inv = None

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_inv": None, "_cached": (None, None)}

    @property
    def inv(self) -> Transform:
        """The inverse; its inverse is this transform."""
        inverse = self._inv() if self._inv is not None else None
        if inverse is None:
            inverse = _Inverse(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self):
        """1 if increasing, -1 if decreasing."""
        raise NotImplementedError(f"{type(self).__name__} does not implement sign: it is not monotone.")

    def __call__(self, x):
        if self._cache_size == 0:
            return self._call(x)
        if x is self._cached[0]:
            return self._cached[1]
        y = self._call(x)
        self._cached = x, y
        return y

    def _inv_call(self, y):
        if self._cache_size == 0:
            return self._inverse(y)
        if y is self._cached[1]:
            return self._cached[0]
        x = self._inverse(y)
        self._cached = x, y
        return x

    def with_cache(self, cache_size: int = 1) -> Transform:
        """This transform with that cache size."""
        if cache_size == self._cache_size:
            return self
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._cache_size, new._cached, new._inv = cache_size, (None, None), None
        return new

    def _call(self, x):
        raise NotImplementedError(f"{type(self).__name__}: _call is not defined. Define it in the subclass.")

    def _inverse(self, y):
        raise NotImplementedError(f"{type(self).__name__}: _inverse is not defined. It cannot be inverted.")

    def log_abs_det_jacobian(self, x, y):
        """log |dy/dx| at the pair, one number for each event."""
        raise NotImplementedError(f"{type(self).__name__}: log_abs_det_jacobian is not defined. It is no bijection.")

    def forward_shape(self, shape):
        return shape

    def inverse_shape(self, shape):
        return shape

    def __eq__(self, other) -> bool:
        return self is other or (type(self) is type(other) and self._parameters() == other._parameters())

    def __hash__(self) -> int:
        return object.__hash__(self)

    def _parameters(self) -> dict:
        return {name: value for name, value in self.__dict__.items() if name not in ("_cache_size", "_cached", "_inv")}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform  # kept strongly: the other direction is weak

    @property
    def inv(self) -> Transform:
        return self._inv

    @property
    def domain(self):
        return self._inv.codomain

    @property
    def codomain(self):
        return self._inv.domain

    @property
    def bijective(self):
        return self._inv.bijective

    @property
    def sign(self):
        return self._inv.sign

    def __call__(self, x):
        return self._inv._inv_call(x)

    def _inv_call(self, y):
        return self._inv(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    def with_cache(self, cache_size: int = 1):
        return self._inv.with_cache(cache_size).inv

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)

    def __eq__(self, other) -> bool:
        return isinstance(other, _Inverse) and self._inv == other._inv

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"{type(self._inv).__name__}().inv"


class ComposeTransform(Transform):
    """parts[0] first."""

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def with_cache(self, cache_size: int = 1):
        return self if cache_size == self._cache_size else ComposeTransform(self.parts, cache_size)

    @property
    def bijective(self):
        return all(part.bijective for part in self.parts)

    @property
    def domain(self):
        if not self.parts:
            return constraints.real
        domain = self.parts[0].domain
        # As many dimensions as any part needs of what reaches it.
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim = max(event_dim + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _deepened(domain, event_dim)

    @property
    def codomain(self):
        if not self.parts:
            return constraints.real
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim = max(event_dim + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _deepened(self.parts[-1].codomain, event_dim)

    @property
    def sign(self):
        return math.prod(part.sign for part in self.parts)

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        if not self.parts:
            return facula.zeros_like(x)
        total, event_dim = 0, self.domain.event_dim
        for i, part in enumerate(self.parts):
            following = y if i == len(self.parts) - 1 else part(x)
            total = total + sum_rightmost(part.log_abs_det_jacobian(x, following), event_dim - part.domain.event_dim)
            event_dim += part.codomain.event_dim - part.domain.event_dim
            x = following
        return total

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _deepened(constraint, event_dim: int):
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """As `base_transform`, with that many more dimensions belonging to one event."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def domain(self):
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self):
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self):
        return self.base_transform.bijective

    @property
    def sign(self):
        return self.base_transform.sign

    def _call(self, x):
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x, y):
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ExpTransform(Transform):
    """y = exp(x)."""

    domain, codomain, bijective, sign = constraints.real, constraints.positive, True, 1

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    """y = x^exponent, of positive numbers."""

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

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return facula.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x))."""

    domain, codomain, bijective, sign = constraints.real, constraints.unit_interval, True, 1

    def _call(self, x):
        limits = facula.finfo(x.dtype)
        return facula.sigmoid(x).clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y):
        limits = facula.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    """y = log(1 + exp(x))."""

    domain, codomain, bijective, sign = constraints.real, constraints.positive, True, 1

    def _call(self, x):
        return softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -softplus(-x)


class TanhTransform(Transform):
    """y = tanh(x)."""

    domain, codomain, bijective, sign = constraints.real, constraints.interval(-1.0, 1.0), True, 1

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x, y):
        # log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2x)), which does not cancel for large x.
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|; its inverse is the positive one."""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """y = loc + scale * x."""

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
        return _deepened(constraints.real, self._event_dim)

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

    def log_abs_det_jacobian(self, x, y):
        if isinstance(self.scale, facula.Tensor):
            result = self.scale.abs().log()
        else:
            result = facula.full_like(x, math.log(abs(self.scale)))
        return sum_rightmost(result.expand(facula.broadcast_shapes(x.shape, result.shape)), self._event_dim)

    def forward_shape(self, shape):
        parts = [part.shape for part in (self.loc, self.scale) if isinstance(part, facula.Tensor)]
        return facula.broadcast_shapes(shape, *parts)

    inverse_shape = forward_shape


class SoftmaxTransform(Transform):
    """y = exp(x) / sum(exp(x)): onto the simplex, not a bijection; its inverse is the logarithm."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        return facula.softmax(x, dim=-1)

    def _inverse(self, y):
        return y.log()


class StickBreakingTransform(Transform):
    """From K - 1 numbers to the simplex of K, by the shares that a stick is broken into.

    Source: Stan Reference Manual, section "Unit simplex", with its offset of log(K - k).
    """

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True

    def _shares(self, x):
        left = x.shape[-1] + 1 - facula.ones(x.shape[-1:], dtype=x.dtype).cumsum(-1)
        return x - left.log()

    def _call(self, x):
        z = SigmoidTransform()._call(self._shares(x))
        rest = (1 - z).cumprod(-1)
        one = facula.ones(x.shape[:-1] + (1,), dtype=x.dtype)
        return facula.cat([z, one], -1) * facula.cat([one, rest], -1)

    def _inverse(self, y):
        head = y[..., :-1]
        left = y.shape[-1] - facula.ones(head.shape[-1:], dtype=y.dtype).cumsum(-1)
        rest = (1 - head.cumsum(-1)).clamp(min=facula.finfo(y.dtype).tiny)
        return head.log() - rest.log() + left.log()

    def log_abs_det_jacobian(self, x, y):
        x = self._shares(x)
        return (-x - softplus(-x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        return self._longer(shape, 1)

    def inverse_shape(self, shape):
        return self._longer(shape, -1)

    @staticmethod
    def _longer(shape, by: int):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input: one of 1 dim or more is wanted.")
        return (*shape[:-1], shape[-1] + by)


class LowerCholeskyTransform(Transform):
    """A square matrix's lower triangle with the exponential of its diagonal."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


# the others are in a file of their own
from ._transforms_more import (  # noqa: E402
    CatTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    PositiveDefiniteTransform,
    ReshapeTransform,
    StackTransform,
)
