"""From a constraint to a transform of unconstrained numbers onto it."""

from __future__ import annotations

from collections.abc import Callable

from . import constraints as C
from . import transforms as T

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Constraint class -> function of the constraint that makes its transform.

    >>> from facula.distributions import biject_to, constraints
    >>> biject_to(constraints.positive)(facula.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """

    def __init__(self) -> None:
        self._makers: dict[type, Callable] = {}

    def register(self, constraint, factory=None):
        if factory is None:
            return lambda function: self.register(constraint, function)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, C.Constraint):
            raise TypeError(
                f"register: Expected constraint to be either a Constraint subclass or instance, but got {constraint}."
            )
        self._makers[kind] = factory
        return factory

    def __call__(self, constraint):
        if type(constraint) not in self._makers:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints. Register a transform for it."
            )
        return self._makers[type(constraint)](constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(constraint):
    def register(factory):
        biject_to.register(constraint, factory)
        return transform_to.register(constraint, factory)

    return register


def _affine_after(transform, loc, scale):
    return T.ComposeTransform([transform, T.AffineTransform(loc, scale)])


_both(C.real)(lambda c: T.identity_transform)
_both(C._GreaterThan)(
    lambda c: _affine_after(T.ExpTransform(), c.lower_bound, 1) if c is not C.positive else T.ExpTransform()
)
_both(C._GreaterThanEq)(
    lambda c: _affine_after(T.ExpTransform(), c.lower_bound, 1) if c is not C.nonnegative else T.ExpTransform()
)
_both(C._LessThan)(lambda c: _affine_after(T.ExpTransform(), c.upper_bound, -1))


@_both(C._HalfOpenInterval)
@_both(C._Interval)
def _interval(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if all(isinstance(bound, (int, float)) for bound in (low, high)) and (low, high) == (0, 1):
        return T.SigmoidTransform()
    return _affine_after(T.SigmoidTransform(), low, high - low)


biject_to.register(C.simplex, lambda c: T.StickBreakingTransform())
transform_to.register(C.simplex, lambda c: T.SoftmaxTransform())
transform_to.register(C.lower_cholesky, lambda c: T.LowerCholeskyTransform())
biject_to.register(
    C.independent, lambda c: T.IndependentTransform(biject_to(c.base_constraint), c.reinterpreted_batch_ndims)
)
transform_to.register(
    C.independent, lambda c: T.IndependentTransform(transform_to(c.base_constraint), c.reinterpreted_batch_ndims)
)
transform_to.register(C.positive_definite, lambda c: T.PositiveDefiniteTransform())
transform_to.register(C.positive_semidefinite, lambda c: T.PositiveDefiniteTransform())
_both(C.corr_cholesky)(lambda c: T.CorrCholeskyTransform())
biject_to.register(C.cat, lambda c: T.CatTransform([biject_to(part) for part in c.cseq], c.dim, c.lengths))
transform_to.register(C.cat, lambda c: T.CatTransform([transform_to(part) for part in c.cseq], c.dim, c.lengths))
biject_to.register(C.stack, lambda c: T.StackTransform([biject_to(part) for part in c.cseq], c.dim))
transform_to.register(C.stack, lambda c: T.StackTransform([transform_to(part) for part in c.cseq], c.dim))
