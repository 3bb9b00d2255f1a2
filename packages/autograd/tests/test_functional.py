"""autograd.functional: Jacobians, Hessians and their products."""

import pytest
from backend import leaf, near, plain, torch

F = torch.autograd.functional


def test_jacobian_of_one_input():
    assert near([[2, 0], [0, 4]], F.jacobian(lambda x: x * x, plain(1, 2)))


def test_jacobian_of_a_scalar_function():
    assert near([2, 4], F.jacobian(lambda x: (x * x).sum(), plain(1, 2)))


def test_jacobian_of_two_inputs_and_two_outputs():
    J = F.jacobian(lambda x, y: (x * y, x.sum()), (plain(1, 2), plain(3, 4)))

    assert near([[3, 0], [0, 4]], J[0][0]) and near([[1, 0], [0, 2]], J[0][1])
    assert near([1, 1], J[1][0]) and near([0, 0], J[1][1])


def test_jacobian_strict_refuses_independent_inputs():
    with pytest.raises(RuntimeError):
        F.jacobian(lambda x, y: x * 2, (plain(1), plain(2)), strict=True)


def test_jacobian_with_create_graph():
    x = leaf(1, 2)
    F.jacobian(lambda x: x * x, x, create_graph=True).sum().backward()

    assert near([2, 2], x.grad)


def test_jacobian_vectorized():
    assert near([[2, 0], [0, 4]], F.jacobian(lambda x: x * x, plain(1, 2), vectorize=True))


def test_hessian():
    assert near([[6, 0], [0, 12]], F.hessian(lambda x: (x * x * x).sum(), plain(1, 2)))
    H = F.hessian(lambda x, y: (x * x * y).sum(), (plain(1), plain(3)))

    assert near([[6]], H[0][0]) and near([[2]], H[0][1]) and near([[2]], H[1][0]) and near([[0]], H[1][1])


def test_vjp():
    out, g = F.vjp(lambda x: x * x, plain(1, 2), plain(1, 10))

    assert near([1, 4], out) and near([2, 40], g) and not out.requires_grad


def test_vjp_of_a_scalar_needs_no_vector():
    assert near([2, 4], F.vjp(lambda x: (x * x).sum(), plain(1, 2))[1])
    with pytest.raises(RuntimeError):
        F.vjp(lambda x: x * x, plain(1, 2))


def test_jvp():
    out, t = F.jvp(lambda x, y: x * y, (plain(1, 2), plain(3, 4)), (plain(1, 1), plain(0, 1)))

    assert near([3, 8], out) and near([3, 4 + 2], t)


def test_hvp_and_vhp():
    for product in (F.hvp, F.vhp):
        value, h = product(lambda x: (x * x * x).sum(), plain(1, 2), plain(1, 10))

        assert near(9, value) and near([6, 120], h)


def test_wrong_vector_is_refused():
    with pytest.raises(RuntimeError):
        F.vjp(lambda x: x * x, plain(1, 2), plain(1, 2, 3))


def two(x, y):
    return x * x * y, (x * y).sum()


@pytest.mark.parametrize("options", [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}, {"create_graph": True}])
def test_jacobian_of_two_results_with_respect_to_two_inputs(options):
    (ax, ay), (bx, by) = F.jacobian(two, (plain(1, 2), plain(3, -1)), **options)

    assert near([[6, 0], [0, -4]], ax) and near([[1, 0], [0, 4]], ay) and near([3, -1], bx) and near([1, 2], by)


@pytest.mark.parametrize("options", [{}, {"vectorize": True}, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}])
def test_hessian_with_respect_to_two_inputs(options):
    (xx, xy), (yx, yy) = F.hessian(lambda x, y: (x * x * y).sum(), (plain(1, 2), plain(3, -1)), **options)

    assert near([[6, 0], [0, -2]], xx) and near([[2, 0], [0, 4]], xy) and near([[2, 0], [0, 4]], yx) and near([[0, 0], [0, 0]], yy)


@pytest.mark.facula_only
@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_jacobian_of_nothing(strategy):
    assert (0, 2) == tuple(F.jacobian(lambda x: x[:0], plain(1, 2), vectorize=True, strategy=strategy).shape)
    assert (2, 0) == tuple(F.jacobian(lambda x: plain(1, 2) * x.sum(), plain(1, 2)[:0], vectorize=True, strategy=strategy).shape)


def test_strict_is_refused_with_vectorize():
    with pytest.raises(RuntimeError, match="strict"):
        F.jacobian(lambda x: x, plain(1), strict=True, vectorize=True)


def test_an_unknown_strategy_is_refused():
    with pytest.raises((ValueError, AssertionError)):
        F.jacobian(lambda x: x, plain(1), strategy="sideways")


STRICT = {  # of functions whose derivative does not depend on the input, asked for a derivative that can be differentiated
    "vjp": lambda strict: F.vjp(lambda x: x * 1, leaf(1, 2), plain(1, 1), create_graph=True, strict=strict),
    "jvp": lambda strict: F.jvp(lambda x: x * 1, leaf(1, 2), plain(1, 1), create_graph=True, strict=strict),
    "jacobian": lambda strict: F.jacobian(lambda x: x * 1, leaf(1, 2), create_graph=True, strict=strict),
    "hessian": lambda strict: F.hessian(lambda x: x.sum(), plain(1, 2), strict=strict),
    "hessian again": lambda strict: F.hessian(lambda x: (x * x).sum(), leaf(1, 2), create_graph=True, strict=strict),
    "hvp": lambda strict: F.hvp(lambda x: x.sum(), plain(1, 2), plain(1, 1), strict=strict),
    "vhp again": lambda strict: F.vhp(lambda x: (x * x).sum(), leaf(1, 2), plain(1, 1), create_graph=True, strict=strict),
}


@pytest.mark.parametrize("name", STRICT)
def test_strict_wants_derivatives_that_depend_on_the_inputs(name):
    STRICT[name](False)
    with pytest.raises(RuntimeError, match="independent"):
        STRICT[name](True)


@pytest.mark.parametrize("name", ["hessian", "hvp", "vhp"])
def test_what_is_not_a_tensor_is_named_first(name):
    with pytest.raises(TypeError, match="outputs"):
        getattr(F, name)(lambda x: (x.sum(), "more"), plain(1, 2), *([plain(1, 1)] if name != "hessian" else []))
