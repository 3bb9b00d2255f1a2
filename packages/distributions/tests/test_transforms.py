import math

import pytest
from backend import D, torch
from cases import t

biject_to, transform_to, C = D.biject_to, D.transform_to, D.constraints
T = D.transforms

ELEMENTWISE = {
    "exp": lambda: T.ExpTransform(),
    "sigmoid": lambda: T.SigmoidTransform(),
    "softplus": lambda: T.SoftplusTransform(),
    "tanh": lambda: T.TanhTransform(),
    "affine": lambda: T.AffineTransform(2.0, -3.0),
    "affine of tensors": lambda: T.AffineTransform(t(1.0), t(0.5)),
    "power": lambda: T.ComposeTransform([T.ExpTransform(), T.PowerTransform(t(2.5))]),
    "composed": lambda: T.ComposeTransform([T.AffineTransform(0.5, 2.0), T.TanhTransform()]),
    "inverse": lambda: T.ComposeTransform([T.SigmoidTransform(), T.ExpTransform().inv]),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_inverse_and_jacobian_are_those_of_the_map(name):
    transform = ELEMENTWISE[name]()
    x = t(-1.5, -0.3, 0.0, 0.4, 1.1).requires_grad_()
    y = transform(x)
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)

    assert pytest.approx(x.tolist(), abs=1e-9) == transform.inv(y).tolist()
    assert pytest.approx(slope.abs().log().tolist(), abs=1e-9) == transform.log_abs_det_jacobian(x, y).tolist()
    assert pytest.approx((-slope.abs().log()).tolist(), abs=1e-9) == transform.inv.log_abs_det_jacobian(y, x).tolist()
    assert transform is transform.inv.inv
    assert bool((slope.sign() == transform.sign).all())


def test_stick_breaking_maps_onto_the_simplex_with_its_jacobian():
    transform = T.StickBreakingTransform()
    x = t(0.3, -0.5, 1.2)
    y = transform(x)
    columns = []
    for i in range(3):
        h = torch.zeros(3, dtype=torch.float64)
        h[i] = 1e-6
        columns.append(((transform(x + h) - transform(x - h)) / 2e-6)[:3])

    assert pytest.approx(1) == y.sum().item()
    assert pytest.approx(x.tolist()) == transform.inv(y).tolist()
    expected = torch.linalg.det(torch.stack(columns, 1)).abs().log().item()
    assert pytest.approx(expected, abs=1e-5) == transform.log_abs_det_jacobian(x, y).item()


CONSTRAINED = {
    "real": lambda: C.real,
    "positive": lambda: C.positive,
    "greater_than": lambda: C.greater_than(3.0),
    "less_than": lambda: C.less_than(-1.0),
    "unit_interval": lambda: C.unit_interval,
    "interval": lambda: C.interval(-2.0, 5.0),
    "simplex": lambda: C.simplex,
    "real_vector": lambda: C.real_vector,
}


@pytest.mark.parametrize("name", CONSTRAINED)
@pytest.mark.parametrize("registry", [biject_to, transform_to], ids=["biject", "transform"])
def test_registered_transforms_reach_their_constraint(name, registry):
    constraint = CONSTRAINED[name]()
    y = registry(constraint)(t([-2.0, 0.1, 1.0], [0.5, -0.5, 3.0]))

    assert bool(constraint.check(y).all())


def test_lower_cholesky_is_reached():
    y = transform_to(C.lower_cholesky)(torch.ones(2, 3, 3, dtype=torch.float64))

    assert bool(C.lower_cholesky.check(y).all())
    assert math.e == pytest.approx(y[0, 1, 1].item())


def test_an_unknown_constraint_is_named():
    with pytest.raises(NotImplementedError, match="Simplex|OneHot"):
        biject_to(C.one_hot)


CHECKS = [
    (lambda: C.boolean, [0.0, 1.0, 0.5], [True, True, False]),
    (lambda: C.nonnegative_integer, [0.0, 2.0, -1.0, 0.5], [True, True, False, False]),
    (lambda: C.positive_integer, [0.0, 2.0], [False, True]),
    (lambda: C.integer_interval(1, 3), [0.0, 1.0, 3.0, 2.5], [False, True, True, False]),
    (lambda: C.half_open_interval(0.0, 1.0), [0.0, 1.0], [True, False]),
    (lambda: C.real, [0.0, math.nan, math.inf], [True, False, True]),
    (lambda: C.simplex, [[0.5, 0.5], [0.5, 0.6], [1.5, -0.5]], [True, False, False]),
    (lambda: C.one_hot, [[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]], [True, False, False]),
    (lambda: C.lower_triangular, [[[1.0, 0.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 3.0]]], [True, False]),
    (lambda: C.symmetric, [[[1.0, 2.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 3.0]]], [True, False]),
    (lambda: C.positive_definite, [[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]], [True, False]),
    (lambda: C.independent(C.positive, 1), [[1.0, 2.0], [1.0, -1.0]], [True, False]),
]


@pytest.mark.parametrize("make,values,expected", CHECKS)
def test_constraints_answer_for_every_value(make, values, expected):
    assert expected == make().check(torch.tensor(values)).tolist()


def test_a_cached_transform_gives_back_the_very_value():
    transform = T.ExpTransform(cache_size=1)
    x = t(1.0)

    assert x is transform.inv(transform(x))


EQUAL = [
    (lambda: T.AffineTransform(torch.zeros(3), torch.ones(3)), lambda: T.AffineTransform(torch.zeros(3), torch.ones(3)), True),
    (lambda: T.AffineTransform(torch.zeros(3), torch.ones(3)), lambda: T.AffineTransform(0.0, 1.0), True),
    (lambda: T.AffineTransform(torch.zeros(3), torch.ones(3)), lambda: T.AffineTransform(torch.zeros(2), torch.ones(2)), False),
    (lambda: T.AffineTransform(torch.zeros(3), torch.ones(3)), lambda: T.AffineTransform(torch.zeros(3), torch.ones(2, 1)), True),
    (lambda: T.AffineTransform(torch.zeros(3), torch.ones(3)), lambda: T.AffineTransform(torch.arange(3.0), 1.0), False),
    (lambda: T.ComposeTransform([T.ExpTransform()]), lambda: T.ComposeTransform([T.ExpTransform()]), True),
    (lambda: T.ComposeTransform([T.ExpTransform()]).inv, lambda: T.ComposeTransform([T.ExpTransform().inv]), True),
    (lambda: T.identity_transform.inv, lambda: T.identity_transform, True),
    (lambda: T.ExpTransform(), lambda: T.AbsTransform(), False),
]


@pytest.mark.parametrize("a,b,expected", EQUAL)
def test_transforms_are_equal_by_their_parameters(a, b, expected):
    assert expected is (a() == b())


def test_the_inverse_of_a_composition_is_one_of_inverses():
    composed = T.ComposeTransform([T.ExpTransform(), T.AffineTransform(1.0, 2.0)])

    assert [T.AffineTransform(1.0, 2.0).inv, T.ExpTransform().inv] == composed.inv.parts
    assert composed.inv.inv is composed
    assert composed.inv is composed.inv


def test_the_dims_of_an_event_are_one_number_where_they_stay():
    assert 0 == T.ExpTransform().event_dim
    assert 1 == T.SoftmaxTransform().event_dim
    with pytest.raises(ValueError, match="domain.event_dim or .codomain.event_dim"):
        T.ReshapeTransform((2, 2), (4,)).event_dim


@pytest.mark.parametrize("registry", [biject_to, transform_to], ids=["biject", "transform"])
def test_bounds_of_an_interval_may_be_tensors(registry):
    constraint = C.interval(torch.zeros(3, dtype=torch.float64), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))

    assert bool(constraint.check(registry(constraint)(t([-2.0, 0.1, 1.0]))).all())
