"""Densities, moments, entropies and divergences against numerical integration, which knows nothing of the formulas."""

import math

import numpy as np
import pytest
from backend import D, torch
from cases import CONTINUOUS, DISCRETE, t

POINTS = 200_001


def integrate(values, x):
    """Simpson's rule on an even grid."""
    h = (x[-1] - x[0]) / (len(x) - 1)  # the ends are moved in by a hair
    return h / 3 * (values[0] + values[-1] + 4 * values[1:-1:2].sum() + 2 * values[2:-1:2].sum())


def density(name):
    make, low, high = CONTINUOUS[name]
    d = make()
    # Just inside: some densities are 0 or infinite at the very end.
    x = np.linspace(low, high, POINTS)
    x[0] += 1e-9 * (high - low)
    x[-1] -= 1e-9 * (high - low)
    return d, x, np.exp(d.log_prob(torch.from_numpy(x)).numpy())


def optional(call):
    try:
        return call()
    except NotImplementedError:
        pytest.skip("has no closed form")


@pytest.mark.parametrize("name", CONTINUOUS)
def test_density_integrates_to_one(name):
    _, x, p = density(name)

    assert pytest.approx(1, abs=1e-5) == integrate(p, x)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_mean_variance_and_entropy_are_those_of_the_density(name):
    d, x, p = density(name)
    mean = optional(lambda: d.mean).item()

    expected = integrate(p * x, x)
    assert pytest.approx(expected, abs=1e-4) == mean
    assert pytest.approx(integrate(p * (x - expected) ** 2, x), abs=1e-4) == d.variance.item()
    entropy = optional(d.entropy).item()
    logs = np.where(p > 0, np.log(np.maximum(p, 1e-300)), 0)
    assert pytest.approx(-integrate(p * logs, x), abs=1e-4) == entropy


@pytest.mark.parametrize("name", CONTINUOUS)
def test_cdf_is_the_integral_and_icdf_its_inverse(name):
    d, x, p = density(name)
    middle = torch.tensor(float(x[2 * (POINTS // 6)]), dtype=torch.float64)
    below = optional(lambda: d.cdf(middle)).item()

    cut = 2 * (POINTS // 6) + 1
    assert pytest.approx(integrate(p[:cut], x[:cut]), abs=1e-5) == below
    if 1e-6 < below < 1 - 1e-6:
        assert pytest.approx(middle.item(), abs=1e-5) == optional(lambda: d.icdf(t(below))).item()


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities_sum_to_one_with_their_moments(name):
    make, values = DISCRETE[name]
    d, x = make(), values()
    p = d.log_prob(x).exp()

    assert pytest.approx(1) == p.sum().item()
    if name != "Categorical":
        weights = p.reshape(-1, *[1] * (x.dim() - 1))
        mean = (weights * x).sum(0)
        assert pytest.approx(mean.tolist()) == d.mean.tolist()
        assert pytest.approx((weights * (x - mean) ** 2).sum(0).tolist()) == d.variance.tolist()
    entropy = optional(d.entropy).item()
    assert pytest.approx(-(p * p.log()).sum().item(), rel=1e-6) == entropy


@pytest.mark.parametrize("name", [n for n in DISCRETE if DISCRETE[n][0]().has_enumerate_support])
def test_enumerated_support_is_all_values(name):
    make, values = DISCRETE[name]

    assert values().tolist() == make().enumerate_support().tolist()
    assert (len(values()), 2) == tuple(make().expand((2,)).enumerate_support().shape[:2])


PAIRS = [
    ("Normal", lambda: D.Normal(t(-0.5), t(1.0))),
    ("Normal", lambda: D.Laplace(t(-0.5), t(1.0))),
    ("Uniform", lambda: D.Uniform(t(-2.0), t(3.5))),
    ("Uniform", lambda: D.Normal(t(0.0), t(2.0))),
    ("Exponential", lambda: D.Exponential(t(0.4))),
    ("Exponential", lambda: D.Normal(t(0.0), t(2.0))),
    ("Laplace", lambda: D.Laplace(t(0.0), t(1.5))),
    ("Laplace", lambda: D.Normal(t(0.0), t(1.5))),
    ("LogNormal", lambda: D.LogNormal(t(0.0), t(1.0))),
    ("HalfNormal", lambda: D.HalfNormal(t(0.7))),
    ("Gumbel", lambda: D.Gumbel(t(0.0), t(1.0))),
    ("Pareto", lambda: D.Pareto(t(0.5), t(2.0))),
]


@pytest.mark.parametrize("name,make", PAIRS, ids=lambda v: v if isinstance(v, str) else "")
def test_divergence_is_the_integral(name, make):
    p, x, density_p = density(name)
    q = make()
    log_q = q.log_prob(torch.from_numpy(x)).numpy()
    log_p = np.where(density_p > 0, np.log(np.maximum(density_p, 1e-300)), 0)

    expected = integrate(np.where(density_p > 0, density_p * (log_p - np.where(density_p > 0, log_q, 0)), 0), x)
    assert pytest.approx(expected, abs=1e-4) == D.kl_divergence(p, q).item()


@pytest.mark.parametrize("name", ["Bernoulli", "Geometric", "Categorical", "OneHotCategorical"])
def test_divergence_of_discrete_ones_is_the_sum(name):
    make, values = DISCRETE[name]
    p, x = make(), values()
    q = type(p)(t(0.6)) if name in ("Bernoulli", "Geometric") else type(p)(t(0.5, 0.25, 0.25))
    log_p, log_q = p.log_prob(x), q.log_prob(x)

    assert pytest.approx((log_p.exp() * (log_p - log_q)).sum().item()) == D.kl_divergence(p, q).item()


@pytest.mark.parametrize(
    "p,q",
    [
        (lambda: D.Normal(t(0.0), t(1.0)), lambda: D.Uniform(t(0.0), t(1.0))),
        (lambda: D.Uniform(t(0.0), t(2.0)), lambda: D.Uniform(t(0.0), t(1.0))),
        (lambda: D.Bernoulli(t(0.5)), lambda: D.Bernoulli(t(0.0))),
        (lambda: D.Categorical(t(0.5, 0.5)), lambda: D.Categorical(t(1.0, 0.0))),
    ],
)
def test_divergence_is_infinite_where_q_has_no_mass(p, q):
    assert math.inf == D.kl_divergence(p(), q()).item()


@pytest.mark.facula_only
def test_divergence_without_a_rule_names_the_pair():
    with pytest.raises(NotImplementedError, match="Normal.*Bernoulli"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Bernoulli(0.5))


COVARIANCE = [[2.0, 0.6, 0.1], [0.6, 1.0, -0.2], [0.1, -0.2, 0.5]]
LOC = [1.0, -1.0, 0.5]


def normal(form):
    matrix = t(*COVARIANCE)
    given = {
        "covariance_matrix": matrix,
        "precision_matrix": torch.linalg.inv(matrix),
        "scale_tril": torch.linalg.cholesky(matrix),
    }
    return D.MultivariateNormal(t(*LOC), **{form: given[form]})


@pytest.mark.parametrize("form", ["covariance_matrix", "precision_matrix", "scale_tril"])
def test_multivariate_normal_by_the_textbook(form):
    d, x = normal(form), np.array([0.3, 0.2, 0.1])
    S = np.array(COVARIANCE)
    away = x - np.array(LOC)

    expected = -0.5 * (away @ np.linalg.inv(S) @ away + np.log(np.linalg.det(2 * np.pi * S)))
    assert pytest.approx(expected) == d.log_prob(torch.from_numpy(x)).item()
    assert pytest.approx(0.5 * np.log(np.linalg.det(2 * np.pi * np.e * S))) == d.entropy().item()
    assert np.allclose(S, d.covariance_matrix.numpy())
    assert np.allclose(np.linalg.inv(S), d.precision_matrix.numpy())
    assert np.allclose(np.diag(S), d.variance.numpy())
    assert (2, 4, 3) == tuple(d.expand((4,)).sample((2,)).shape)
    other = D.MultivariateNormal(t(0.0, 0.0, 0.0), torch.eye(3, dtype=torch.float64))
    kl = 0.5 * (np.trace(S) + np.dot(LOC, LOC) - 3 - np.log(np.linalg.det(S)))
    assert pytest.approx(kl) == D.kl_divergence(d, other).item()


def test_relaxed_one_hot_density_integrates_to_one():
    # Two classes: the simplex is a line, its point (x, 1 - x).
    d = D.RelaxedOneHotCategorical(t(1.5), t(0.3, 0.7))
    x = np.linspace(0, 1, POINTS)
    x[0], x[-1] = 1e-9, 1 - 1e-9
    p = np.exp(d.log_prob(torch.from_numpy(np.stack([x, 1 - x], -1))).numpy())

    assert pytest.approx(1, abs=1e-4) == integrate(p, x)
