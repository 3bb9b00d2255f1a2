"""The gamma distribution and those drawn through it."""

from __future__ import annotations

import math

import facula
from facula.autograd import Function
from facula.autograd.function import once_differentiable

from . import constraints
from .composite import TransformedDistribution
from .continuous import _Scalar
from .exponential_family import ExponentialFamily
from ._incomplete_beta import share_by_concentration
from .transforms import PowerTransform
from .utils import standard_normal

__all__ = ["Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"]

STEP = 1e-5  # of the central difference below, as a share of the shape


class _Drawn(Function):
    """x ~ Gamma(shape a, 1), with its derivative by a at the drawn quantile: dx/da = -(dF/da) / (dF/dx).

    dF/da is a central difference of the regularised incomplete gamma function in float64, of the tail that is smaller: good to 1e-8.
    Source: Figurnov, Mohamed, Mnih, Implicit Reparameterization Gradients (2018).
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, shape):
        x = facula._standard_gamma(shape)
        ctx.save_for_backward(shape, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        shape, x = (t.to(facula.float64) for t in ctx.saved_tensors)
        h = STEP * shape
        lower = (facula.special.gammainc(shape + h, x) - facula.special.gammainc(shape - h, x)) / (2 * h)
        upper = (facula.special.gammaincc(shape - h, x) - facula.special.gammaincc(shape + h, x)) / (2 * h)
        density = ((shape - 1) * x.log() - x - facula.lgamma(shape)).exp()
        return grad * (-facula.where(x > shape, upper, lower) / density).to(grad.dtype)


class _DrawnShares(Function):
    """Shares ~ Dirichlet(a), with their derivative by a: each share's own at its quantile, the others giving way in proportion."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, concentration):
        x = facula._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, concentration = ctx.saved_tensors
        moved = share_by_concentration(x, concentration, concentration.sum(-1, True).expand_as(concentration)).to(grad.dtype)
        return moved * (grad - (x * grad).sum(-1, True))


class _Positive(Function):
    """x, a tiny number where it rounded to 0; the derivative is that of x."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=facula.finfo(x.dtype).tiny)

    @staticmethod
    def backward(ctx, grad):
        return grad


class Gamma(ExponentialFamily, _Scalar):
    """Density rate^a x^(a - 1) exp(-rate x) / gamma(a), a = concentration.

    >>> import facula
    >>> from facula.distributions import Gamma
    >>> Gamma(facula.tensor(2.0), facula.tensor(4.0)).mean
    tensor(0.5000)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration, rate, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> facula.Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> facula.Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> facula.Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        shape = self._extended_shape(sample_shape)
        return _Positive.apply(_Drawn.apply(self.concentration.expand(shape)) / self.rate.expand(shape))

    def log_prob(self, value) -> facula.Tensor:
        value = facula.as_tensor(value, dtype=self.rate.dtype)
        self._validate_sample(value)
        a = self.concentration
        return facula.xlogy(a, self.rate) + facula.xlogy(a - 1, value) - self.rate * value - facula.lgamma(a)

    def entropy(self) -> facula.Tensor:
        a = self.concentration
        return a - facula.log(self.rate) + facula.lgamma(a) + (1.0 - a) * facula.digamma(a)

    def cdf(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return facula.special.gammainc(self.concentration, self.rate * value)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return facula.lgamma(x + 1) + (x + 1) * facula.log(-y.reciprocal())


class Chi2(Gamma):
    """The sum of df squared normal numbers: Gamma(df / 2, 1 / 2).

    >>> import facula
    >>> from facula.distributions import Chi2
    >>> Chi2(facula.tensor(3.0)).mean
    tensor(3.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self):
        return self.concentration * 2

    def _expanded(self, old, batch_shape) -> None:
        self.concentration, self.rate = old.concentration.expand(batch_shape), old.rate.expand(batch_shape)


class InverseGamma(TransformedDistribution):
    """The reciprocal of a Gamma(concentration, rate).

    >>> facula.distributions.InverseGamma(facula.tensor(3.0), facula.tensor(4.0)).mean
    tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive

    def __init__(self, concentration, rate, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self):
        return self.base_dist.concentration

    @property
    def rate(self):
        return self.base_dist.rate

    @property
    def mean(self) -> facula.Tensor:
        return facula.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self) -> facula.Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> facula.Tensor:
        a = self.concentration
        return facula.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def entropy(self) -> facula.Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Dirichlet(ExponentialFamily):
    """Shares that sum to 1, with density prod x_i^(a_i - 1) / B(a).

    >>> import facula
    >>> from facula.distributions import Dirichlet
    >>> Dirichlet(facula.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional. Give a vector of them.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        return _DrawnShares.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        a = self.concentration
        return facula.xlogy(a - 1.0, value).sum(-1) + facula.lgamma(a.sum(-1)) - facula.lgamma(a).sum(-1)

    @property
    def mean(self) -> facula.Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> facula.Tensor:
        less = (self.concentration - 1).clamp(min=0.0)
        mode = less / less.sum(-1, True)
        flat = (self.concentration < 1).all(dim=-1, keepdim=True)
        corner = facula.zeros_like(mode)
        corner[..., 0] = 1  # the density is infinite at every corner: PyTorch names the first
        return facula.where(flat, corner, mode)

    @property
    def variance(self) -> facula.Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> facula.Tensor:
        a, k = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        beta = facula.lgamma(a).sum(-1) - facula.lgamma(total)
        return beta - (k - total) * facula.digamma(total) - ((a - 1.0) * facula.digamma(a)).sum(-1)

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - facula.lgamma(x.sum(-1))


class Beta(ExponentialFamily, _Scalar):
    """Density x^(a - 1) (1 - x)^(b - 1) / B(a, b) on [0, 1]: a = concentration1, b = concentration0.

    >>> import facula
    >>> from facula.distributions import Beta
    >>> Beta(facula.tensor(1.0), facula.tensor(3.0)).mean
    tensor(0.2500)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _derived = ("concentration1", "concentration0")  # PyTorch reads them from a Dirichlet, so its repr is Beta()

    def __init__(self, concentration1, concentration0, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, concentration1=concentration1, concentration0=concentration0)

    @property
    def _dirichlet(self):
        return Dirichlet(facula.stack([self.concentration1, self.concentration0], -1), validate_args=False)

    @property
    def mean(self) -> facula.Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> facula.Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> facula.Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()) -> facula.Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        return self._dirichlet.log_prob(facula.stack([value, 1.0 - value], -1))

    def entropy(self) -> facula.Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self):
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x, y):
        return facula.lgamma(x) + facula.lgamma(y) - facula.lgamma(x + y)


class StudentT(_Scalar):
    """loc + scale * normal / sqrt(chi2 / df).

    >>> facula.distributions.StudentT(4.0, loc=facula.tensor(1.0)).mean
    tensor(1.)
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> facula.Tensor:
        return facula.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> facula.Tensor:
        return self.loc

    @property
    def variance(self) -> facula.Tensor:
        some = facula.where(self.df > 1, math.inf * facula.ones_like(self.df), math.nan)
        return facula.where(self.df > 2, self.scale.pow(2) * self.df / (self.df - 2), some)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        x = standard_normal(self._extended_shape(sample_shape), self.df.dtype)
        z = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * (x * facula.rsqrt(z / self.df))

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        y, df = (value - self.loc) / self.scale, self.df
        log_z = (
            self.scale.log()
            + 0.5 * df.log()
            + 0.5 * math.log(math.pi)
            + facula.lgamma(0.5 * df)
            - facula.lgamma(0.5 * (df + 1.0))
        )
        return -0.5 * (df + 1.0) * facula.log1p(y**2.0 / df) - log_z

    def entropy(self) -> facula.Tensor:
        df = self.df
        beta = facula.lgamma(0.5 * df) + math.lgamma(0.5) - facula.lgamma(0.5 * (df + 1))
        return (
            self.scale.log()
            + 0.5 * (df + 1) * (facula.digamma(0.5 * (df + 1)) - facula.digamma(0.5 * df))
            + 0.5 * df.log()
            + beta
        )


class FisherSnedecor(_Scalar):
    """The ratio of two chi2 numbers, each by its degrees of freedom.

    >>> facula.distributions.FisherSnedecor(2.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1, df2, validate_args: bool | None = None) -> None:
        self._broadcast(validate_args, df1=df1, df2=df2)

    @property
    def mean(self) -> facula.Tensor:
        return facula.where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> facula.Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return facula.where(self.df1 > 2, mode, math.nan)

    @property
    def variance(self) -> facula.Tensor:
        a, b = self.df1, self.df2
        return facula.where(b > 4, 2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4)), math.nan)

    def rsample(self, sample_shape=()) -> facula.Tensor:
        shape = self._extended_shape(sample_shape)
        above = Gamma(self.df1 * 0.5, self.df1, validate_args=False).rsample(sample_shape).view(shape)
        below = Gamma(self.df2 * 0.5, self.df2, validate_args=False).rsample(sample_shape).view(shape)
        return _Positive.apply(above / _Positive.apply(below))

    def log_prob(self, value) -> facula.Tensor:
        self._validate_sample(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        beta = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return beta + a * ratio.log() + (a - 1) * facula.log(value) - (a + b) * facula.log1p(ratio * value)
