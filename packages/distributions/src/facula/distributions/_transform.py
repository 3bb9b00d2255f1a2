"""Invertible maps with the logarithm of their Jacobian: what each is, its inverse, and several as one."""

from __future__ import annotations

import math
import weakref

import facula

from . import constraints
from .utils import sum_rightmost


class Transform:
    """A subclass defines domain, codomain, `_call` and `_inverse`, and `log_abs_det_jacobian` where it is a bijection.

    cache_size=1 remembers the last pair: the inverse of a value just computed is then exact and costs nothing.

    >>> exp = facula.distributions.ExpTransform()
    >>> isinstance(exp, facula.distributions.Transform), exp(facula.tensor([0.0])), exp.inv(facula.tensor([1.0]))
    (True, tensor([1.]), tensor([0.]))
    """

    bijective = False
    domain: constraints.Constraint
    codomain: constraints.Constraint

    def __init__(self, cache_size: int = 0) -> None:
        self._check_cache_size(cache_size)
        self._cache_size = cache_size
        self._cached_x_y = None, None
        self._inv = None
        super().__init__()  # a transform with weights is a Module as well

    def _check_cache_size(self, cache_size: int) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"{type(self).__name__}: cache_size must be 0 or 1, got {cache_size}.")

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_inv": None, "_cached_x_y": (None, None)}

    @property
    def event_dim(self) -> int:
        """How many dims one event has, where it has as many before as after."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError(
                f"{type(self).__name__}: an event has {self.domain.event_dim} dims before and {self.codomain.event_dim} after. "
                "Please use either .domain.event_dim or .codomain.event_dim"
            )
        return self.domain.event_dim

    @property
    def inv(self) -> Transform:
        """The inverse; its inverse is this transform."""
        inverse = self._inv() if self._inv is not None else None
        if inverse is None:
            inverse = self._inverted()
            self._inv = weakref.ref(inverse)
        return inverse

    def _inverted(self) -> Transform:
        return _InverseTransform(self)

    @property
    def sign(self):
        """1 if increasing, -1 if decreasing."""
        raise NotImplementedError(f"{type(self).__name__} does not implement sign: it is not monotone.")

    def __call__(self, x):
        if self._cache_size == 0:
            return self._call(x)
        if x is self._cached_x_y[0]:
            return self._cached_x_y[1]
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y):
        if self._cache_size == 0:
            return self._inverse(y)
        if y is self._cached_x_y[1]:
            return self._cached_x_y[0]
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def with_cache(self, cache_size: int = 1) -> Transform:
        """This transform with that cache size."""
        if cache_size == self._cache_size:
            return self
        self._check_cache_size(cache_size)
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._cache_size, new._cached_x_y, new._inv = cache_size, (None, None), None
        return new

    def _call(self, x):
        raise NotImplementedError(f"{type(self).__name__}: _call is not defined. Define it in the subclass.")

    def _inverse(self, y):
        raise NotImplementedError(f"{type(self).__name__}: _inverse is not defined. It cannot be inverted.")

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        """log |dy/dx| at the pair, one number for each event."""
        raise NotImplementedError(f"{type(self).__name__}: log_abs_det_jacobian is not defined. It is no bijection.")

    def forward_shape(self, shape):
        return shape

    def inverse_shape(self, shape):
        return shape

    def __eq__(self, other) -> bool:
        if self is other or type(self) is not type(other):
            return self is other
        mine, others = self._parameters(), other._parameters()
        return mine.keys() == others.keys() and all(_same(value, others[name]) for name, value in mine.items())

    def __hash__(self) -> int:
        return object.__hash__(self)

    def _parameters(self) -> dict:
        return {name: value for name, value in self.__dict__.items() if name not in ("_cache_size", "_cached_x_y", "_inv")}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _same(a, b) -> bool:
    """Whether two parameters are equal; tensors are where all that they broadcast to are."""
    if not isinstance(a, facula.Tensor) and not isinstance(b, facula.Tensor):
        return a == b
    shapes = [tuple(getattr(value, "shape", ())) for value in (a, b)]
    if any(m != n and 1 not in (m, n) for m, n in zip(reversed(shapes[0]), reversed(shapes[1]))):
        return False
    return bool(facula.as_tensor(a == b).all())


class _InverseTransform(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform  # kept strongly: the other direction is weak

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_cached_x_y": (None, None)}  # with what it inverts

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
    def bijective(self) -> bool:
        return self._inv.bijective

    @property
    def sign(self):
        return self._inv.sign

    def __call__(self, x):
        return self._inv._inv_call(x)

    def _inv_call(self, y):
        return self._inv(y)

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def with_cache(self, cache_size: int = 1):
        return self._inv.with_cache(cache_size).inv

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)

    def __eq__(self, other) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


class ComposeTransform(Transform):
    """parts[0] first.

    >>> double, shift = facula.distributions.AffineTransform(0.0, 2.0), facula.distributions.AffineTransform(1.0, 1.0)
    >>> facula.distributions.ComposeTransform([double, shift])(facula.tensor([1.0, 2.0]))
    tensor([3., 5.])
    """

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @property
    def inv(self) -> Transform:
        """The inverses of the parts, the last first; its inverse is this transform."""
        return self._inv if isinstance(self._inv, Transform) else super().inv

    def _inverted(self) -> Transform:
        inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
        inverse._inv = self  # kept strongly: the other direction is weak
        return inverse

    def with_cache(self, cache_size: int = 1):
        return self if cache_size == self._cache_size else ComposeTransform(self.parts, cache_size)

    @property
    def bijective(self) -> bool:
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
        return deepened(domain, event_dim)

    @property
    def codomain(self):
        if not self.parts:
            return constraints.real
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim = max(event_dim + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return deepened(self.parts[-1].codomain, event_dim)

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

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
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


def deepened(constraint, event_dim: int):
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """As `base_transform`, with that many more dimensions belonging to one event.

    >>> transform = facula.distributions.IndependentTransform(facula.distributions.ExpTransform(), 1)
    >>> x = facula.tensor([0.0, 1.0])
    >>> transform.log_abs_det_jacobian(x, transform(x))
    tensor(1.)
    """

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
    def bijective(self) -> bool:
        return self.base_transform.bijective

    @property
    def sign(self):
        return self.base_transform.sign

    def _call(self, x):
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"
