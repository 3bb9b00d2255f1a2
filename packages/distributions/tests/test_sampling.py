"""Samples: PyTorch's streams, shapes, gradients, refusals."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from backend import D, torch
from cases import CONTINUOUS, DISCRETE, t


def f(*values):
    return torch.tensor(values if len(values) > 1 else values[0])


# in float32: what a program has that does not say otherwise
DRAWN = {
    "Normal": lambda: D.Normal(f(0.0, 1.0), f(1.0, 2.0)),
    "Uniform": lambda: D.Uniform(f(0.0, 1.0), f(1.0, 3.0)),
    "Exponential": lambda: D.Exponential(f(0.5, 2.0)),
    "Laplace": lambda: D.Laplace(f(0.0, 1.0), f(1.0, 2.0)),
    "Cauchy": lambda: D.Cauchy(f(0.0, 1.0), f(1.0, 2.0)),
    "Bernoulli": lambda: D.Bernoulli(f(0.3, 0.6)),
    "Geometric": lambda: D.Geometric(f(0.3, 0.9)),
    "Categorical": lambda: D.Categorical(f([0.3, 0.1, 0.6], [0.2, 0.2, 0.6])),
    "OneHotCategorical": lambda: D.OneHotCategorical(f([0.3, 0.1, 0.6], [0.2, 0.2, 0.6])),
    "Multinomial": lambda: D.Multinomial(5, f([0.3, 0.1, 0.6], [0.2, 0.2, 0.6])),
    "LogNormal": lambda: D.LogNormal(f(0.0, 1.0), f(1.0, 0.5)),
    "HalfNormal": lambda: D.HalfNormal(f(1.0, 0.5)),
    "HalfCauchy": lambda: D.HalfCauchy(f(1.0, 0.5)),
    "Gumbel": lambda: D.Gumbel(f(0.0, 1.0), f(1.0, 0.5)),
    "Pareto": lambda: D.Pareto(f(1.0, 0.5), f(3.0, 4.0)),
    "Weibull": lambda: D.Weibull(f(1.0, 0.5), f(1.5, 4.0)),
    "Kumaraswamy": lambda: D.Kumaraswamy(f(1.5, 2.0), f(3.0, 2.0)),
    "RelaxedBernoulli": lambda: D.RelaxedBernoulli(f(0.7), f(0.3, 0.6)),
    "RelaxedOneHotCategorical": lambda: D.RelaxedOneHotCategorical(f(0.7), f([0.3, 0.1, 0.6], [0.2, 0.2, 0.6])),
    "MultivariateNormal": lambda: D.MultivariateNormal(f([0.0, 1.0], [2.0, 3.0]), f([2.0, 0.5], [0.5, 1.0])),
    "Gamma": lambda: D.Gamma(f(0.5, 3.0), f(1.0, 2.0)),
    "Chi2": lambda: D.Chi2(f(1.5, 3.0)),
    "InverseGamma": lambda: D.InverseGamma(f(2.5, 3.0), f(1.0, 2.0)),
    "Dirichlet": lambda: D.Dirichlet(f([0.5, 3.0, 1.0], [2.0, 1.0, 4.0])),
    "Beta": lambda: D.Beta(f(0.5, 3.0), f(1.0, 2.0)),
    "StudentT": lambda: D.StudentT(f(2.5, 3.0), f(1.0, 2.0)),
    "FisherSnedecor": lambda: D.FisherSnedecor(f(2.5, 3.0), f(1.0, 2.0)),
    "Poisson": lambda: D.Poisson(f(2.5, 30.0)),
    "Binomial": lambda: D.Binomial(f(6.0, 40.0), f(0.3, 0.6)),
    "NegativeBinomial": lambda: D.NegativeBinomial(f(3.0, 5.0), f(0.4, 0.2)),
    "MixtureSameFamily": lambda: D.MixtureSameFamily(
        D.Categorical(f([0.3, 0.7], [0.5, 0.5])), D.Normal(f([0.0, 5.0], [9.0, 1.0]), 1.0)
    ),
}
RECORD = Path(__file__).with_name("drawn.json")  # PyTorch 2.13.0's, after manual_seed(7); written by record()


def draw(name):
    torch.manual_seed(7)
    return DRAWN[name]().sample((3,)).tolist()


def record():
    RECORD.write_text("{\n" + ",\n".join(f" {json.dumps(n)}: {json.dumps(draw(n))}" for n in DRAWN) + "\n}\n")


@pytest.mark.parametrize("name", DRAWN)
def test_samples_are_pytorchs_for_the_seed(name):
    expected = json.loads(RECORD.read_text())[name]

    # Draws are equal bit for bit; functions of them (logarithms, products of matrices) to float32's last places.
    np.testing.assert_allclose(draw(name), expected, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("name", DRAWN)
def test_shapes_are_sample_batch_and_event(name):
    d = DRAWN[name]()
    shape = d.batch_shape + d.event_shape

    assert shape == d.sample().shape
    assert (3, 2) + tuple(shape) == tuple(d.sample((3, 2)).shape)
    assert (3, 2) + tuple(d.batch_shape) == tuple(d.log_prob(d.sample((3, 2))).shape)
    wide = d.expand((4, 2))
    assert (4, 2) + tuple(d.event_shape) == tuple(wide.sample().shape)
    value = d.sample()
    assert torch.equal(d.log_prob(value).expand(4, 2), wide.log_prob(value.expand((4, 2) + tuple(d.event_shape))))


@pytest.mark.parametrize("name", DRAWN)
def test_distributions_show_their_parameters(name):
    assert name in repr(DRAWN[name]())


def test_numbers_make_a_distribution_without_batch():
    assert () == tuple(D.Normal(0, 1).batch_shape)
    assert (2,) == tuple(D.Normal(0, torch.ones(2)).batch_shape)
    assert "Normal(loc: 0.0, scale: 1.0)" == repr(D.Normal(0.0, 1.0))


REPARAMETRISED = {
    "Normal": (lambda a, b: D.Normal(a, b), 0.3, 1.2),
    "Uniform": (lambda a, b: D.Uniform(a, b), 0.3, 1.2),
    "Laplace": (lambda a, b: D.Laplace(a, b), 0.3, 1.2),
    "Cauchy": (lambda a, b: D.Cauchy(a, b), 0.3, 1.2),
    "LogNormal": (lambda a, b: D.LogNormal(a, b), 0.3, 0.5),
    "Gumbel": (lambda a, b: D.Gumbel(a, b), 0.3, 1.2),
    "Weibull": (lambda a, b: D.Weibull(a, b), 0.8, 1.7),
    "Kumaraswamy": (lambda a, b: D.Kumaraswamy(a, b), 0.8, 1.7),
    "Pareto": (lambda a, b: D.Pareto(a, b), 0.8, 3.0),
    "RelaxedBernoulli": (lambda a, b: D.RelaxedBernoulli(b, a), 0.3, 1.2),
}


@pytest.mark.parametrize("name", REPARAMETRISED)
def test_gradients_go_through_samples(name):
    make, a, b = REPARAMETRISED[name]

    def value(a, b):
        torch.manual_seed(3)
        return make(a, b).rsample((20,)).sin().sum()

    leaves = [t(a).requires_grad_(), t(b).requires_grad_()]
    value(*leaves).backward()

    h = 1e-6
    expected = [
        (value(t(a + h), t(b)) - value(t(a - h), t(b))).item() / (2 * h),
        (value(t(a), t(b + h)) - value(t(a), t(b - h))).item() / (2 * h),
    ]
    assert pytest.approx(expected, rel=1e-5, abs=1e-6) == [leaf.grad.item() for leaf in leaves]


def test_samples_carry_no_gradient_and_straight_through_ones_do():
    logits = f(0.1, 0.2, 0.7).requires_grad_()

    assert not D.Normal(logits, 1.0).sample().requires_grad
    d = D.OneHotCategoricalStraightThrough(logits=logits)
    (d.rsample() * f(1.0, 2.0, 3.0)).sum().backward()
    assert logits.grad.abs().sum() > 0


def test_log_prob_is_differentiable_in_the_parameters():
    logits = f(0.0, 0.0).requires_grad_()
    D.Categorical(logits=logits).log_prob(torch.tensor(0)).backward()

    assert [0.5, -0.5] == logits.grad.tolist()


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_samples_have_the_mean_they_should(name):
    make = (CONTINUOUS.get(name) or DISCRETE[name])[0]
    d = make()
    n = 20_000
    sample = d.sample((n,)).to(torch.float64)
    try:
        mean, stddev = d.mean, d.stddev
    except NotImplementedError:
        pytest.skip("has no closed form")
    if bool(mean.isnan().any()):
        pytest.skip("has no mean")
    error = ((sample.mean(0) - mean).abs() / (stddev / math.sqrt(n))).max().item()
    assert error < 5


REFUSED = [
    (lambda: D.Normal(0.0, -1.0), ValueError, "scale"),
    (lambda: D.Normal("a", 1.0), ValueError, ""),
    (lambda: D.Uniform(1.0, 0.0), ValueError, ""),
    (lambda: D.Bernoulli(0.5, 0.5), ValueError, "both"),
    (lambda: D.Bernoulli(), ValueError, ""),
    (lambda: D.Bernoulli(1.5), ValueError, "probs"),
    (lambda: D.Categorical(f(0.5)), ValueError, "one-dimensional"),
    (lambda: D.Geometric(f(0.0)), ValueError, ""),
    (lambda: D.Normal(0.0, 1.0).log_prob(3.0), ValueError, "Tensor"),
    (lambda: D.Bernoulli(0.5).log_prob(f(0.5)), ValueError, "support"),
    (lambda: D.Exponential(1.0).log_prob(f(-1.0)), ValueError, "support"),
    (lambda: D.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3)), ValueError, "broadcast"),
    (lambda: D.OneHotCategorical(f(0.5, 0.5)).log_prob(f(0.0, 0.0, 1.0)), ValueError, "event_shape"),
    (lambda: D.Independent(D.Normal(0.0, 1.0), 1), ValueError, ""),
    (lambda: D.MultivariateNormal(f(0.0, 0.0)), ValueError, "one of"),
    (lambda: D.MultivariateNormal(f(0.0, 0.0), f([1.0, 2.0], [2.0, 1.0])), ValueError, "covariance_matrix"),
    (lambda: D.Bernoulli(0.5).rsample(), NotImplementedError, ""),
]


@pytest.mark.parametrize("make,error,fact", REFUSED)
def test_what_cannot_be_is_refused(make, error, fact):
    with pytest.raises(error, match=fact):
        make()


def test_checking_can_be_left_out():
    assert -math.inf == D.Uniform(0.0, 1.0, validate_args=False).log_prob(f(3.0)).item()


def test_independent_makes_batch_dimensions_part_of_the_event():
    d = D.Independent(D.Normal(torch.zeros(4, 3), 1.0), 1)

    assert ((4,), (3,)) == (tuple(d.batch_shape), tuple(d.event_shape))
    assert (5, 4) == tuple(d.log_prob(d.sample((5,))).shape)
    assert (2, 4) == tuple(d.expand((2, 4)).entropy().shape)


def test_gradients_of_gamma_samples_are_those_of_their_quantiles():
    # E x = a, so dx/da is 1 on average; at a = 1/2, x = z^2 / 2 with normal z, whose moments are known too
    for a in (0.5, 3.0, 40.0):
        shape = t(a).expand(20_000).clone().requires_grad_()
        torch.manual_seed(1)
        x = D.Gamma(shape, t(1.0)).rsample()
        x.sum().backward()
        error = shape.grad.std().item() / math.sqrt(20_000)

        assert abs(shape.grad.mean().item() - 1) < 5 * error
        # E x^2 = a + a^2: the gradient of x^2 is 1 + 2a on average
        slopes = 2 * x.detach() * shape.grad
        assert abs(slopes.mean().item() - 1 - 2 * a) < 5 * slopes.std().item() / math.sqrt(20_000)


@pytest.mark.parametrize("a", [[0.05, 3.0], [1.0, 2.0, 3.0], [50.0, 80.0], [1000.0, 3000.0]])
def test_shares_move_with_their_concentration_as_their_quantiles_do(a):
    """The mean of a share is a / sum(a): the mean gradient of many draws is its derivative, by chance alone apart."""
    torch.manual_seed(0)
    c = torch.tensor(a, dtype=torch.float64, requires_grad=True)
    D.Dirichlet(c).rsample((4000,)).mean(0)[0].backward()
    total = sum(a)
    expected = [(total - a[0]) / total**2] + [-a[0] / total**2] * (len(a) - 1)

    assert all(abs(e - g) < 0.05 * max(map(abs, expected)) for e, g in zip(expected, c.grad.tolist())), (expected, c.grad.tolist())
