"""Constraints: what values a parameter or a sample may have. `check(value)` answers for every value in a batch."""

from __future__ import annotations

import itertools

import facula

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """is_discrete: whether the values are countable; event_dim: how many last dimensions are one value.

    >>> facula.distributions.constraints.positive.check(facula.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    is_discrete = False
    event_dim = 0

    def check(self, value) -> facula.Tensor:
        """A bool tensor of value's shape without the last `event_dim` dimensions."""
        raise NotImplementedError(f"{type(self).__name__}: check is not defined. Define it in the subclass.")

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in vars(self).items() if name.endswith("bound"))
        return f"{type(self).__name__.lstrip('_')}({bounds})"


class _Dependent(Constraint):
    """A constraint that only an instance knows, since it depends on other parameters.

    >>> facula.distributions.constraints.dependent(is_discrete=True, event_dim=0).is_discrete
    True
    """

    def __init__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    @property
    def is_discrete(self) -> bool:
        return self._known("is_discrete", self._is_discrete)

    @property
    def event_dim(self) -> int:
        return self._known("event_dim", self._event_dim)

    def _known(self, name, value):
        if value is None:
            raise NotImplementedError(f"constraints.dependent: .{name} cannot be determined statically. Ask the instance.")
        return value

    def __call__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is None else is_discrete,
            event_dim=self._event_dim if event_dim is None else event_dim,
        )

    def check(self, value) -> facula.Tensor:
        raise ValueError(
            "constraints.dependent: Cannot determine validity of a dependent constraint. Ask the instance."
        )


class _DependentProperty(property, _Dependent):
    """A property that is a constraint on an instance and a dependent one on the class.

    >>> class Box(facula.distributions.Distribution):
    ...     arg_constraints = {}
    ...     @facula.distributions.constraints.dependent_property(is_discrete=False, event_dim=0)
    ...     def support(self):
    ...         return facula.distributions.constraints.interval(0.0, 1.0)
    ...
    >>> Box().support.check(facula.tensor([0.5, 2.0]))
    tensor([ True, False])
    """

    def __init__(self, fn=None, *, is_discrete: bool | None = None, event_dim: int | None = None) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, function):
        return _DependentProperty(function, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Constraint) -> bool:
    """Does the constraint depend on the values of parameters?

    >>> facula.distributions.constraints.is_dependent(facula.distributions.constraints.dependent), facula.distributions.constraints.is_dependent(facula.distributions.constraints.real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _IndependentConstraint(Constraint):
    """As `base_constraint` with that many more dimensions belonging to one value.

    >>> facula.distributions.constraints.independent(facula.distributions.constraints.positive, 1).check(facula.tensor([[1.0, 2.0], [1.0, -1.0]]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError(f"independent: reinterpreted_batch_ndims must be an int, got {reinterpreted_batch_ndims!r}.")
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(f"independent: reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}.")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value) -> facula.Tensor:
        valid = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        if valid.dim() < n:
            raise ValueError(
                f"constraints.independent: Expected value.dim() >= {self.event_dim} but got {value.dim()}. "
                "Give whole events."
            )
        return valid.reshape(valid.shape[: valid.dim() - n] + (-1,)).all(-1) if n else valid

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value) -> facula.Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value) -> facula.Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _IntegerInterval(Constraint):
    """Whole numbers from lower_bound to upper_bound.

    >>> facula.distributions.constraints.integer_interval(0, 3).check(facula.tensor([0.0, 1.5, 4.0]))
    tensor([ True, False, False])
    """
    is_discrete = True

    def __init__(self, lower_bound, upper_bound) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def check(self, value) -> facula.Tensor:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerGreaterThan(Constraint):
    is_discrete = True

    def __init__(self, lower_bound) -> None:
        self.lower_bound = lower_bound

    def check(self, value) -> facula.Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Real(Constraint):
    def check(self, value) -> facula.Tensor:
        return value == value  # everything but NaN


class _GreaterThan(Constraint):
    """Numbers above lower_bound.

    >>> facula.distributions.constraints.greater_than(0.0).check(facula.tensor([0.0, 1.0]))
    tensor([False,  True])
    """
    def __init__(self, lower_bound) -> None:
        self.lower_bound = lower_bound

    def check(self, value) -> facula.Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_GreaterThan):
    """Numbers from lower_bound up.

    >>> facula.distributions.constraints.greater_than_eq(0.0).check(facula.tensor([0.0, -1.0]))
    tensor([ True, False])
    """
    def check(self, value) -> facula.Tensor:
        return self.lower_bound <= value


class _LessThan(Constraint):
    """Numbers below upper_bound.

    >>> facula.distributions.constraints.less_than(1.0).check(facula.tensor([0.5, 1.0]))
    tensor([ True, False])
    """
    def __init__(self, upper_bound) -> None:
        self.upper_bound = upper_bound

    def check(self, value) -> facula.Tensor:
        return value < self.upper_bound


class _Interval(Constraint):
    """Numbers from lower_bound to upper_bound.

    >>> facula.distributions.constraints.interval(0.0, 1.0).check(facula.tensor([0.5, 2.0]))
    tensor([ True, False])
    """
    def __init__(self, lower_bound, upper_bound) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def check(self, value) -> facula.Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    """Numbers from lower_bound up to, but not, upper_bound.

    >>> facula.distributions.constraints.half_open_interval(0.0, 1.0).check(facula.tensor([0.0, 1.0]))
    tensor([ True, False])
    """
    def check(self, value) -> facula.Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value) -> facula.Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts, not negative, whose sum is upper_bound.

    >>> facula.distributions.constraints.multinomial(3).check(facula.tensor([[1.0, 2.0], [2.0, 2.0]]))
    tensor([ True, False])
    """
    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound) -> None:
        self.upper_bound = upper_bound

    def check(self, value) -> facula.Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)

    def __repr__(self) -> str:
        return "Multinomial()"  # its bound may be a tensor


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value) -> facula.Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value) -> facula.Tensor:
        return (value.tril() == value).flatten(-2).all(-1) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value) -> facula.Tensor:
        square = value.shape[-2] == value.shape[-1]
        return facula.full(value.shape[:-2], square, dtype=facula.bool)


class _Symmetric(_Square):
    def check(self, value) -> facula.Tensor:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return facula.isclose(value, value.transpose(-2, -1), atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value) -> facula.Tensor:
        symmetric = super().check(value)
        return facula.linalg.eigvalsh(value).ge(0).all(-1) & symmetric if bool(symmetric.all()) else symmetric


class _PositiveDefinite(_Symmetric):
    def check(self, value) -> facula.Tensor:
        symmetric = super().check(value)
        return facula.linalg.cholesky_ex(value).info.eq(0) & symmetric if bool(symmetric.all()) else symmetric


class _CorrCholesky(Constraint):
    """Cholesky factors of correlation matrices: rows of length 1."""

    event_dim = 2

    def check(self, value) -> facula.Tensor:
        tolerance = facula.finfo(value.dtype).eps * value.shape[-1] * 10
        unit = ((value.detach().pow(2).sum(-1).sqrt() - 1.0).abs() <= tolerance).all(-1)
        return lower_cholesky.check(value) & unit


class _Several(Constraint):
    """One constraint for each part along a dimension."""

    def __init__(self, cseq, dim: int) -> None:
        self.cseq, self.dim = list(cseq), dim
        if not all(isinstance(c, Constraint) for c in self.cseq):
            raise AssertionError(f"constraints: all elements of cseq must be Constraint instances, got {cseq}.")

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    def _checked(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"constraints: dim {self.dim} out of range for value with {value.dim()} dimensions.")
        return value


class _Cat(_Several):
    """Constraints of pieces of some lengths along dim.

    >>> facula.distributions.constraints.cat([facula.distributions.constraints.positive, facula.distributions.constraints.real], lengths=[1, 2]).check(facula.tensor([-1.0, -1.0, 1.0]))
    tensor([False,  True,  True])
    """

    def __init__(self, cseq, dim: int = 0, lengths=None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"constraints.cat: lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)}).")

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def check(self, value) -> facula.Tensor:
        self._checked(value)
        starts = [0, *itertools.accumulate(self.lengths)]
        return facula.cat([c.check(value.narrow(self.dim, start, n)) for c, start, n in zip(self.cseq, starts, self.lengths)], self.dim)


class _Stack(_Several):
    """Constraints of the slices along dim.

    >>> facula.distributions.constraints.stack([facula.distributions.constraints.positive, facula.distributions.constraints.real]).check(facula.tensor([-1.0, -1.0]))
    tensor([False,  True])
    """

    def __init__(self, cseq, dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> int:
        most = max(c.event_dim for c in self.cseq)
        return most + 1 if self.dim + most < 0 else most

    def check(self, value) -> facula.Tensor:
        slices = self._checked(value).unbind(self.dim)
        return facula.stack([c.check(part) for c, part in zip(self.cseq, slices)], self.dim)


class MixtureSameFamilyConstraint(Constraint):
    """What a mixture's value may be: what all its components' values may be.

    >>> facula.distributions.constraints.MixtureSameFamilyConstraint(facula.distributions.constraints.positive).check(facula.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"MixtureSameFamilyConstraint: base_constraint must be a Constraint, got {type(base_constraint).__name__}.")
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value) -> facula.Tensor:
        if value.dim() < self.event_dim:
            raise ValueError(f"MixtureSameFamilyConstraint: Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return found.reshape(found.shape[: value.dim() - self.event_dim] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
cat = _Cat
stack = _Stack
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
