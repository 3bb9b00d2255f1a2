"""The base of all distributions."""

from __future__ import annotations

import math
import warnings

import facula

from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """Batches of independent distributions over events.

    A sample has shape sample_shape + batch_shape + event_shape. Parameters and values are checked against
    `arg_constraints` and `support` unless validate_args is False.

    >>> normal = facula.distributions.Normal(facula.zeros(3), facula.ones(3))
    >>> isinstance(normal, facula.distributions.Distribution), normal.batch_shape, normal.event_shape
    (True, torch.Size([3]), torch.Size([]))
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _derived: tuple[str, ...] = ()  # parameters that PyTorch computes from others, and its repr leaves out

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: got {value!r}. Give True or False.")
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args: bool | None = None) -> None:
        self._batch_shape = facula.Size(batch_shape)
        self._event_shape = facula.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        try:
            named = self.arg_constraints
        except NotImplementedError:
            return self._not_checked("arg_constraints", "Please set `arg_constraints = {}` or initialize")
        for name, constraint in named.items():
            lazy = isinstance(getattr(type(self), name, None), lazy_property) and name not in self.__dict__
            if lazy or constraints.is_dependent(constraint):
                continue
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of distribution {self!r} to satisfy "
                    f"the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def _not_checked(self, what: str, advice: str) -> None:
        """A subclass that does not say what is valid gets a warning, and is not checked."""
        warnings.warn(
            f"{type(self)} does not define `{what}`. {advice} the distribution with `validate_args=False` to turn off validation.",
            stacklevel=4,
        )

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """Parameter name -> what it may be."""
        raise NotImplementedError(f"{type(self).__name__}: arg_constraints is not defined. Define it in the subclass.")

    @property
    def support(self) -> constraints.Constraint | None:
        """What a value may be."""
        raise NotImplementedError(f"{type(self).__name__}: support is not defined. Define it in the subclass.")

    @property
    def batch_shape(self) -> facula.Size:
        return self._batch_shape

    @property
    def event_shape(self) -> facula.Size:
        return self._event_shape

    @property
    def mean(self) -> facula.Tensor:
        raise self._has_no("mean")

    @property
    def mode(self) -> facula.Tensor:
        raise self._has_no("mode")

    @property
    def variance(self) -> facula.Tensor:
        raise self._has_no("variance")

    @property
    def stddev(self) -> facula.Tensor:
        return self.variance.sqrt()

    def _has_no(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not implement {what}: it has no closed form here.")

    def _get_checked_instance(self, cls, _instance=None):
        """What `expand` of a user's subclass fills in: `_instance`, or an empty object of this one's class.

        Raises NotImplementedError for a class that has an `__init__` of its own and no `expand`.
        """
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def expand(self, batch_shape, _instance=None):
        """The same distribution with its parameters broadcast to `batch_shape`; no memory is copied.

        _instance: an object of a subclass to fill in, as `_get_checked_instance` made it; what it holds already stays.
        """
        batch_shape = facula.Size(batch_shape)
        new = self.__new__(type(self)) if _instance is None else _instance
        new.__dict__.update({**self.__dict__, **new.__dict__})
        for name, constraint in self.arg_constraints.items():
            value = self.__dict__.get(name)
            if isinstance(value, facula.Tensor):
                event = value.shape[value.dim() - constraint.event_dim :]
                new.__dict__[name] = value.expand(batch_shape + event)
        new._batch_shape = batch_shape
        new._expanded(self, batch_shape)
        return new

    def _expanded(self, old, batch_shape) -> None:
        """For what a subclass holds besides its parameters."""

    def sample(self, sample_shape=()) -> facula.Tensor:
        """Samples without gradients."""
        with facula.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        """Samples as a function of the parameters, which gradients go through."""
        raise self._has_no("rsample")

    def sample_n(self, n: int) -> facula.Tensor:
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value) -> facula.Tensor:
        """Logarithm of the density, or of the probability, at `value`."""
        raise self._has_no("log_prob")

    def cdf(self, value) -> facula.Tensor:
        raise self._has_no("cdf")

    def icdf(self, value) -> facula.Tensor:
        raise self._has_no("icdf")

    def enumerate_support(self, expand: bool = True) -> facula.Tensor:
        """All values, along a new first dimension."""
        raise self._has_no("enumerate_support")

    def entropy(self) -> facula.Tensor:
        raise self._has_no("entropy")

    def perplexity(self) -> facula.Tensor:
        return self.entropy().exp()

    def _extended_shape(self, sample_shape=()):
        return facula.Size(sample_shape) + self._batch_shape + self._event_shape

    def _enumerate(self, values, expand: bool):
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values

    def _validate_sample(self, value) -> None:
        """Raises ValueError if `value` cannot be one of this distribution's."""
        if not self._validate_args:
            return
        name = type(self).__name__
        if not isinstance(value, facula.Tensor):
            raise ValueError(f"{name}: The value argument to log_prob must be a Tensor, got {type(value).__name__}.")
        events = len(self._event_shape)
        if value.shape[value.dim() - events :] != self._event_shape:
            raise ValueError(
                f"{name}: The right-most size of value must match event_shape: {tuple(value.shape)} vs "
                f"{tuple(self._event_shape)}."
            )
        expected = self._batch_shape + self._event_shape
        if any(a != 1 and b != 1 and a != b for a, b in zip(reversed(value.shape), reversed(expected))):
            raise ValueError(
                f"{name}: Value is not broadcastable with batch_shape+event_shape: {tuple(value.shape)} vs "
                f"{tuple(expected)}."
            )
        try:
            support = self.support
        except NotImplementedError:
            return self._not_checked("support", "Define it, or initialize")
        if not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        def shown(value) -> str:
            if math.prod(value.shape) == 1:
                return str(value.item()) if value.dim() == 0 else str(value)
            return str(value.shape)

        kept = (name for name in self.arg_constraints if name not in self._derived)
        names = [name for name in kept if isinstance(self.__dict__.get(name), facula.Tensor)]
        return f"{type(self).__name__}({', '.join(f'{name}: {shown(self.__dict__[name])}' for name in names)})"
