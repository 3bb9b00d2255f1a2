"""One instance of each distribution, in float64, with a grid that holds nearly all of its mass."""

from backend import D, torch


def t(*values):
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


# name: (make, lower end, upper end) for densities on the line
CONTINUOUS = {
    "Normal": (lambda: D.Normal(t(0.5), t(2.0)), -20, 21),
    "Uniform": (lambda: D.Uniform(t(-1.0), t(3.0)), -1, 3),
    "Exponential": (lambda: D.Exponential(t(1.5)), 0, 30),
    "Laplace": (lambda: D.Laplace(t(0.5), t(0.8)), -30, 31),
    "LogNormal": (lambda: D.LogNormal(t(0.1), t(0.4)), 0, 30),
    "HalfNormal": (lambda: D.HalfNormal(t(1.2)), 0, 15),
    "Gumbel": (lambda: D.Gumbel(t(0.5), t(0.8)), -5, 30),
    "Pareto": (lambda: D.Pareto(t(1.0), t(9.0)), 1, 60),
    "Weibull": (lambda: D.Weibull(t(1.2), t(2.5)), 0, 8),
    "Kumaraswamy": (lambda: D.Kumaraswamy(t(2.0), t(3.0)), 0, 1),
    "RelaxedBernoulli": (lambda: D.RelaxedBernoulli(t(2.0), t(0.4)), 0, 1),
    "Gamma": (lambda: D.Gamma(t(2.5), t(1.5)), 0, 40),
    "Chi2": (lambda: D.Chi2(t(5.0)), 0, 90),
    "InverseGamma": (lambda: D.InverseGamma(t(9.0), t(4.0)), 0, 30),
    "Beta": (lambda: D.Beta(t(2.5), t(3.0)), 0, 1),
    "StudentT": (lambda: D.StudentT(t(9.0), t(0.5), t(0.8)), -60, 61),
    "FisherSnedecor": (lambda: D.FisherSnedecor(t(5.0), t(24.0)), 0, 60),
    "MixtureSameFamily": (
        lambda: D.MixtureSameFamily(D.Categorical(t(0.3, 0.7)), D.Normal(t(-2.0, 1.0), t(0.5, 1.0))),
        -15,
        15,
    ),
    "Transformed": (
        lambda: D.TransformedDistribution(D.Normal(t(0.0), t(1.0)), [D.TanhTransform(), D.AffineTransform(1.0, -2.0)]),
        -1,
        3,
    ),
}

# name: (make, all values with any mass to speak of)
DISCRETE = {
    "Bernoulli": (lambda: D.Bernoulli(t(0.3)), lambda: t(0.0, 1.0)),
    "Geometric": (lambda: D.Geometric(t(0.3)), lambda: torch.arange(200, dtype=torch.float64)),
    "Categorical": (lambda: D.Categorical(t(0.2, 0.5, 0.3)), lambda: torch.arange(3)),
    "OneHotCategorical": (lambda: D.OneHotCategorical(t(0.2, 0.5, 0.3)), lambda: torch.eye(3, dtype=torch.float64)),
    "Poisson": (lambda: D.Poisson(t(2.5)), lambda: torch.arange(60, dtype=torch.float64)),
    "Binomial": (lambda: D.Binomial(t(6.0), t(0.3)), lambda: torch.arange(7, dtype=torch.float64)),
    "NegativeBinomial": (lambda: D.NegativeBinomial(t(3.0), t(0.4)), lambda: torch.arange(150, dtype=torch.float64)),
    "Multinomial": (
        lambda: D.Multinomial(3, t(0.2, 0.5, 0.3)),
        lambda: torch.tensor([[a, b, 3 - a - b] for a in range(4) for b in range(4 - a)], dtype=torch.float64),
    ),
}
