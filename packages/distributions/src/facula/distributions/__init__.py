"""Probability distributions, drawn in PyTorch's random streams."""

from . import constraints, kl, transforms
from .bounded import ContinuousBernoulli, GeneralizedPareto
from .circular import VonMises
from .composite import Independent, MixtureSameFamily, TransformedDistribution
from .constraint_registry import biject_to, transform_to
from .continuous import Cauchy, Exponential, Laplace, Normal, Uniform
from .counts import Binomial, NegativeBinomial, Poisson
from .discrete import (
    Bernoulli,
    Categorical,
    Geometric,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from .distribution import Distribution
from .exponential_family import ExponentialFamily
from .gamma import Beta, Chi2, Dirichlet, FisherSnedecor, Gamma, InverseGamma, StudentT
from .kl import kl_divergence, register_kl
from .matrices import LKJCholesky, LogisticNormal, LowRankMultivariateNormal, Wishart
from .multivariate_normal import MultivariateNormal
from .transformed import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Kumaraswamy,
    LogNormal,
    Pareto,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    Weibull,
)
from .transforms import *  # noqa: F403
from .transforms import __all__ as _transforms

__all__ = [
    "ContinuousBernoulli",
    "ExponentialFamily",
    "GeneralizedPareto",
    "LKJCholesky",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "VonMises",
    "Wishart",
    "Beta",
    "Binomial",
    "Chi2",
    "Dirichlet",
    "FisherSnedecor",
    "Gamma",
    "InverseGamma",
    "NegativeBinomial",
    "Poisson",
    "StudentT",
    "Bernoulli",
    "Categorical",
    "Cauchy",
    "Distribution",
    "Exponential",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "Kumaraswamy",
    "Laplace",
    "LogNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "TransformedDistribution",
    "Uniform",
    "Weibull",
    "biject_to",
    "constraints",
    "kl",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
    *_transforms,
]
