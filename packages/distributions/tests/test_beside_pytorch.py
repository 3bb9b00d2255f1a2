"""Distributions beside PyTorch's: densities, moments, entropies, samples from one seed, divergences, transforms."""

import warnings

import facula
import facula.distributions as ours
import pytest

torch = pytest.importorskip("torch")
theirs = torch.distributions

# name: arguments, each a number, a list (a float64 tensor) or, by keyword, either
MADE = {
    "ContinuousBernoulli 0.3": ("ContinuousBernoulli", ([0.3, 0.5, 0.4995, 0.9],), {}, [0.1, 0.2, 0.7, 1.0]),
    "ContinuousBernoulli logits": ("ContinuousBernoulli", (), {"logits": [-1.0, 0.0, 2.0]}, [0.1, 0.5, 0.9]),
    "ContinuousBernoulli large logits": ("ContinuousBernoulli", (), {"logits": [-1e4, 200.0, 1e4]}, [0.0, 0.5, 1.0]),
    "GeneralizedPareto": ("GeneralizedPareto", ([0.5, 0.0, 1.0], [1.0, 2.0, 0.5], [0.25, 0.0, -0.5]), {}, [1.0, 2.0, 1.5]),
    "VonMises": ("VonMises", ([0.3, -1.0], [0.5, 20.0]), {}, [0.2, -0.9]),
    "LogisticNormal": ("LogisticNormal", ([0.1, 0.2], [1.0, 0.5]), {}, [0.2, 0.3, 0.5]),
    "LowRankMultivariateNormal": ("LowRankMultivariateNormal", ([0.5, 0.0, 1.0], [[1.0], [0.5], [-1.0]], [0.5, 1.0, 2.0]), {}, [1.0, 2.0, 1.5]),
    "LKJCholesky": ("LKJCholesky", (3, [0.7, 2.0]), {}, [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]]),
    "Wishart": ("Wishart", ([4.0, 5.5], [[2.0, 0.5], [0.5, 1.0]]), {}, [[3.0, 0.5], [0.5, 2.0]]),
    "Wishart tril": ("Wishart", (3.5,), {"scale_tril": [[2.0, 0.0], [0.5, 1.0]]}, [[3.0, 0.5], [0.5, 2.0]]),
    "Wishart precision": ("Wishart", (3.5,), {"precision_matrix": [[2.0, 0.5], [0.5, 1.0]]}, [[3.0, 0.5], [0.5, 2.0]]),
    "Normal": ("Normal", ([0.3, -1.0], [0.5, 2.0]), {}, [0.1, 3.0]),
    "Gamma": ("Gamma", ([0.3, 1.0], [0.5, 2.0]), {}, [0.1, 3.0]),
}  # fmt: skip
QUANTITIES = ("mean", "mode", "variance", "stddev", "batch_shape", "event_shape", "covariance_matrix", "precision_matrix", "scale_tril", "has_rsample")
CALLS = ("entropy", "log_prob", "cdf", "icdf", "log_cdf", "log_survival_function")


SINGLE = ("GeneralizedPareto",)  # PyTorch's works in float32 alone


def value(x, lib, dtype="float64"):
    return lib.tensor(x, dtype=getattr(lib, dtype)) if isinstance(x, list) else x


def made(name, lib, space):
    kind, args, options, at = MADE[name]
    dtype = "float32" if name in SINGLE else "float64"
    d = getattr(space, kind)(*(value(a, lib, dtype) for a in args), **{k: value(v, lib, dtype) for k, v in options.items()})
    return d, value(at, lib, dtype)


def plain(x):
    if isinstance(x, BaseException):
        return type(x).__name__
    return x.tolist() if hasattr(x, "tolist") else tuple(x) if not isinstance(x, bool) else x


def attempt(call):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(call())
    except (NotImplementedError, AttributeError):
        return "not there"


def close(a, b, tolerance=1e-6):
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b))
    return a == b if isinstance(a, str) or isinstance(b, str) else pytest.approx(a, rel=tolerance, abs=tolerance, nan_ok=True) == b


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", MADE)
def test_moments_are_pytorchs(name, quantity):
    expected, actual = (attempt(lambda lib=lib, space=space: getattr(made(name, lib, space)[0], quantity)) for lib, space in ((torch, theirs), (facula, ours)))

    assert close(expected, actual), (expected, actual)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", MADE)
def test_functions_are_pytorchs(name, call):
    def result(lib, space):
        d, at = made(name, lib, space)
        at = at.clamp(0.1, 0.9) if call == "icdf" else at
        return getattr(d, call)() if call == "entropy" else getattr(d, call)(at)

    expected, actual = attempt(lambda: result(torch, theirs)), attempt(lambda: result(facula, ours))

    assert close(expected, actual, 1e-6 if "VonMises" not in name else 1e-5), (expected, actual)


@pytest.mark.parametrize("name", [n for n in MADE if n != "Gamma"])
def test_samples_are_pytorchs(name):
    def drawn(lib, space):
        lib.manual_seed(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return made(name, lib, space)[0].sample((4,)).tolist()

    assert close(drawn(torch, theirs), drawn(facula, ours))


@pytest.mark.parametrize("name", [n for n in MADE if n != "Gamma"])
def test_an_expanded_distribution_is_pytorchs(name):
    def shapes(lib, space):
        d, at = made(name, lib, space)
        wide = d.expand((2, *d.batch_shape))
        return wide.batch_shape, wide.event_shape, wide.log_prob(at).tolist(), wide.sample().shape

    expected, actual = shapes(torch, theirs), shapes(facula, ours)

    assert close([tuple(expected[0]), tuple(expected[1]), expected[2], tuple(expected[3])], [tuple(actual[0]), tuple(actual[1]), actual[2], tuple(actual[3])], 1e-5)


# one or two members of every kind between which a divergence is defined
MEMBERS = {
    "Bernoulli": ([0.3],), "Beta": ([2.0], [3.0]), "Binomial": (5, [0.3]), "ContinuousBernoulli": ([0.3],), "Exponential": ([1.5],), "Gamma": ([2.0], [1.5]),
    "Gumbel": ([0.5], [1.2]), "Laplace": ([0.5], [1.2]), "Normal": ([0.5], [1.2]), "Pareto": ([0.5], [3.0]), "Poisson": ([1.5],), "Uniform": ([0.6], [0.9]),
    "LowRankMultivariateNormal": ([0.5, 1.0], [[1.0], [2.0]], [0.5, 1.0]), "MultivariateNormal": ([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]]), "Cauchy": ([0.5], [1.2]),
    "Dirichlet": ([0.5, 1.2],), "Categorical": ([0.5, 0.5],), "Geometric": ([0.4],), "HalfNormal": ([1.4],), "OneHotCategorical": ([0.5, 0.5],), "Wishart": ([4.0], [[2.0, 0.5], [0.5, 1.0]]),
}  # fmt: skip
PAIRS = sorted({(p.__name__, q.__name__) for p, q in theirs.kl._KL_REGISTRY} - {("Independent", "Independent"), ("TransformedDistribution", "TransformedDistribution"), ("ExponentialFamily", "ExponentialFamily")})


@pytest.mark.parametrize("p, q", [*PAIRS, ("Wishart", "Wishart")])
def test_divergences_are_pytorchs(p, q):
    def divergence(lib, space):
        first, second = (getattr(space, kind)(*(value(a, lib) for a in MEMBERS[kind])) for kind in (p, q))
        return space.kl_divergence(first, second).tolist()

    assert close(divergence(torch, theirs), divergence(facula, ours))


@pytest.mark.parametrize("p, q", [("Uniform", "Beta"), ("Uniform", "Pareto"), ("Uniform", "Exponential"), ("Beta", "Uniform"), ("Pareto", "Normal"), ("Uniform", "Gamma")])
def test_divergences_are_infinite_where_mass_is_missing(p, q):
    wide = {"Uniform": ([-1.0], [2.0]), "Pareto": ([0.5], [0.7])}
    made_ = [getattr(ours, kind)(*(value(a, facula) for a in (wide if kind in wide and k == 0 else MEMBERS)[kind])) for k, kind in enumerate((p, q))]

    assert [float("inf")] == ours.kl_divergence(*made_).tolist()


def test_infinite_divergences_have_the_first_ones_shape():
    def divergence(lib, space):
        return space.kl_divergence(space.Gumbel(0.0, 1.0), space.Beta(value([0.5, 2.0], lib), 3.0)).tolist()

    assert float("inf") == divergence(facula, ours) == divergence(torch, theirs)


FAMILIES = ("Bernoulli", "ContinuousBernoulli", "Exponential", "Gamma", "Normal")


@pytest.mark.parametrize("name", FAMILIES)
def test_a_familys_entropy_follows_from_its_normalizer(name):
    d = getattr(ours, name)(*(value(a, facula) for a in MEMBERS[name]))

    assert isinstance(d, ours.ExponentialFamily)
    assert pytest.approx(d.entropy().tolist()) == ours.ExponentialFamily.entropy(d).tolist()


@pytest.mark.parametrize("name", ["Bernoulli", "Beta", "Dirichlet", "Exponential", "Gamma", "Normal", "Poisson"])
def test_a_familys_divergence_follows_from_its_normalizer(name):
    from facula.distributions.exponential_family import bregman

    p = getattr(ours, name)(*(value(a, facula) for a in MEMBERS[name]))
    q = getattr(ours, name)(*(value(a, facula) * 0.5 for a in MEMBERS[name]))

    assert pytest.approx(ours.kl_divergence(p, q).tolist()) == bregman(p, q).tolist()


X = [[0.5, -1.0, 2.0], [0.1, 0.2, 0.3]]
TRANSFORMS = {
    "corr cholesky": (lambda D, lib: D.CorrCholeskyTransform(), X),
    "positive definite": (lambda D, lib: D.PositiveDefiniteTransform(), [[0.5, 0.0], [1.0, -0.3]]),
    "cdf": (lambda D, lib: D.CumulativeDistributionTransform(D.Normal(lib.tensor(0.5, dtype=lib.float64), lib.tensor(2.0, dtype=lib.float64))), X),
    "reshape": (lambda D, lib: D.ReshapeTransform((2, 3), (3, 2)), X),
    "cat": (lambda D, lib: D.CatTransform([D.ExpTransform(), D.TanhTransform()], -1, [1, 2]), X),
    "cat of vectors": (lambda D, lib: D.CatTransform([D.StickBreakingTransform(), D.StickBreakingTransform()], 0, [1, 1]), X),
    "stack": (lambda D, lib: D.StackTransform([D.ExpTransform(), D.TanhTransform()], 0), X),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_pytorchs(name):
    make, x = TRANSFORMS[name]

    def seen(D, lib):
        t, at = make(D, lib), value(x, lib)
        y = t(at)
        log = attempt(lambda: t.log_abs_det_jacobian(at, y))
        return [y.tolist(), t.inv(y).tolist(), log, t.bijective, bool(t.codomain.check(y).all()), tuple(attempt(lambda: t.forward_shape(at.shape)))]

    assert close(seen(theirs, torch), seen(ours, facula))


CONSTRAINTS = {
    "corr_cholesky": (lambda c: c.corr_cholesky, [[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.9]]),
    "cat": (lambda c: c.cat([c.positive, c.unit_interval], -1, [1, 2]), [2.0, 0.5, 0.1], [-1.0, 2.0, 0.5]),
    "stack": (lambda c: c.stack([c.positive, c.unit_interval], -1), [[2.0, 0.5]], [[-1.0, 2.0]]),
    "mixture": (lambda c: c.MixtureSameFamilyConstraint(c.positive), [1.0, 2.0], [-1.0, 1.0]),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_are_pytorchs(name):
    make, *values = CONSTRAINTS[name]
    for v in values:
        expected, actual = make(theirs.constraints), make(ours.constraints)

        assert expected.check(value(v, torch)).tolist() == actual.check(value(v, facula)).tolist()
        assert (expected.event_dim, expected.is_discrete) == (actual.event_dim, actual.is_discrete)


@pytest.mark.parametrize("name", ["corr_cholesky", "cat", "stack", "positive_definite"])
def test_unconstrained_numbers_are_taken_there(name):
    make = CONSTRAINTS[name][0] if name in CONSTRAINTS else lambda c: c.positive_definite
    x = {"corr_cholesky": [0.3], "positive_definite": [[0.5, 0.0], [1.0, -0.3]], "cat": [0.1, 0.2, 0.3], "stack": [[0.1, 0.2]]}[name]
    expected, actual = (D.transform_to(make(D.constraints))(value(x, lib)).tolist() for D, lib in ((theirs, torch), (ours, facula)))

    assert close(expected, actual)


def f64(*values):
    return facula.tensor(values, dtype=facula.float64)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: ours.Wishart(f64(3.0)), AssertionError), (lambda: ours.Wishart(0.5, facula.eye(2)), ValueError), (lambda: ours.Wishart(3.0, facula.ones(2)), ValueError),
        (lambda: ours.LKJCholesky(1), ValueError), (lambda: ours.LowRankMultivariateNormal(f64(1.0), f64(1.0), f64(1.0)), ValueError),
        (lambda: ours.LowRankMultivariateNormal(f64(1.0), facula.ones(1, 1), f64(1.0, 2.0)), ValueError), (lambda: ours.ContinuousBernoulli(), ValueError),
        (lambda: ours.ContinuousBernoulli(1.5, validate_args=True), ValueError), (lambda: ours.GeneralizedPareto(0.0, -1.0, 0.0), ValueError),
        (lambda: ours.GeneralizedPareto(0.0, 1.0, 0.5).log_prob(f64(-1.0)), ValueError), (lambda: ours.ReshapeTransform((2,), (3,)), ValueError),
        (lambda: ours.CorrCholeskyTransform()(f64(1.0, 2.0)), ValueError), (lambda: ours.CatTransform([ours.ExpTransform()], 0, [1, 2]), AssertionError),
        (lambda: ours.StackTransform([ours.ExpTransform()])(f64(1.0, 2.0)), AssertionError), (lambda: ours.constraints.cat([1]), AssertionError),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("diag", [0, -1, 1])
def test_triangles_as_vectors(diag):
    m = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
    expected = theirs.utils.tril_matrix_to_vec(value(m, torch), diag)
    actual = ours.utils.tril_matrix_to_vec(value(m, facula), diag)

    assert expected.tolist() == actual.tolist()
    assert theirs.utils.vec_to_tril_matrix(expected, diag).tolist() == ours.utils.vec_to_tril_matrix(actual, diag).tolist()
    with pytest.raises(ValueError):
        ours.utils.vec_to_tril_matrix(f64(1.0, 2.0), 0)
    with pytest.raises(ValueError):
        ours.utils.tril_matrix_to_vec(value(m, facula), 3)


SHOWN = """
Beta(2., 3.)|Beta(t([1., 2.]), 3.)|Dirichlet(t([1., 2.]))|Gamma(1., 2.)|Categorical(t([1., 1.]))|Categorical(logits=t([[0., 1.]]))|Bernoulli(.3)
Binomial(5, t([.1, .2]))|Independent(Normal(t([0., 1.]), 1.), 1)|MixtureSameFamily(Categorical(t([1., 1.])), Normal(t([0., 1.]), 1.))
MixtureSameFamily(Categorical(t([1., 1.])), Independent(Normal(t([[0., 1.], [1., 2.]]), 1.), 1))|RelaxedBernoulli(t(.5), probs=t(.4))
OneHotCategorical(t([1., 1.]))|Geometric(.2)|Kumaraswamy(1., 2.)|LKJCholesky(3, 1.)|Multinomial(3, t([1., 1.]))|VonMises(0., 1.)|Wishart(3., t([[1., 0.], [0., 1.]]))
FisherSnedecor(1., 2.)|Chi2(2.)|LogisticNormal(t([0., 0.]), t([1., 1.]))|TransformedDistribution(Normal(0., 1.), [ExpTransform(), SigmoidTransform()])
""".replace("\n", "|").strip("|").split("|")


@pytest.mark.parametrize("text", SHOWN)
def test_a_distribution_and_its_support_are_shown_as_pytorchs(text):
    expected, actual = (eval(f"[d := {text}, d.support]", {**vars(space), "t": lib.tensor}) for space, lib in ((theirs, torch), (ours, facula)))

    assert repr(expected) == repr(actual)
